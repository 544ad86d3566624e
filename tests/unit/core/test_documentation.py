"""Documentation: sections of a task's docstring, and those of its base classes."""

from rlvr_envs.core.documentation import SECTIONS, sections, summary
from rlvr_envs.core.task import InteractiveTask, Task


class Shared(Task):
    """What several tasks have in common.

    Attributes:
        size: no section.

    Description:
        Not of any task that extends this.

    Reward:
        1 for a right answer.

        Otherwise 0.

    Verification:
        Of the base.
    """


class Own(Shared):
    """Say a thing.

    Verification:
        Of the task: more lines
        than one.

    Description:
        First in the usual order.
    """


class Undocumented(InteractiveTask):
    pass


def test_a_task_inherits_the_sections_that_it_lacks():
    found = sections(Own)
    assert list(found) == [name for name in SECTIONS if name in found]
    assert found["Description"] == "First in the usual order."
    assert found["Verification"] == "Of the task: more lines\nthan one."
    assert found["Reward"] == "1 for a right answer.\n\nOtherwise 0."
    assert found["Episode End"] == "After one step."
    assert found["Version History"] == "v0: first version."
    assert summary(Own) == "Say a thing."


def test_what_only_a_task_can_say_is_not_inherited():
    class Silent(Own):
        pass

    assert "Description" not in sections(Silent)
    assert sections(Silent)["Verification"] == sections(Own)["Verification"]


def test_an_interactive_task_does_not_end_after_one_step():
    assert sections(Undocumented)["Episode End"] == "After the answer, or at the turn limit."
    assert summary(Undocumented) == ""
