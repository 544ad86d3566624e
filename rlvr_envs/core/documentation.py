"""What is documented of a task: the headed sections of its docstring, and those it inherits.

A section that says the same of all tasks of a kind stands in the docstring of their base class,
except for those that only the task itself can fill: `OWN`.
"""

import inspect
import re
from typing import Any

from rlvr_envs.core.task import Task

SECTIONS = (
    "Description",
    "Observation",
    "Action",
    "Reward",
    "Episode End",
    "Verification",
    "Difficulty",
    "References",
    "Version History",
)
OWN = ("Description", "Difficulty", "References")
_HEADING = re.compile(rf"^({'|'.join(SECTIONS)}):\n", re.MULTILINE)


def summary(task_type: type[Task[Any, Any]]) -> str:
    """Return the first line of a task's docstring, which says what is asked."""
    return inspect.cleandoc(task_type.__doc__ or "").partition("\n")[0]


def sections(task_type: type[Task[Any, Any]]) -> dict[str, str]:
    """Return the text of each section that a task or one of its bases has, in their usual order."""
    found = _written(task_type)
    for base in task_type.__mro__[1:]:
        inherited = {name: text for name, text in _written(base).items() if name not in OWN}
        found = inherited | found
    return {name: found[name] for name in SECTIONS if name in found}


def _written(cls: type) -> dict[str, str]:
    _, *parts = _HEADING.split(inspect.cleandoc(cls.__doc__ or ""))
    texts = (inspect.cleandoc(f"\n{text}") for text in parts[1::2])
    return {name: text for name, text in zip(parts[::2], texts, strict=True) if text}
