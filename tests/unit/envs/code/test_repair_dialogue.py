"""RepairDialogue: what comes back, when the episode ends, and that hidden tests stay hidden."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.code import repair_dialogue
from rlvr_envs.envs.code.repair_dialogue import (
    RepairDialogueConfig,
    RepairDialogueProblem,
    RepairDialogueTask,
)
from rlvr_envs.generators.programs.broken_programs import Test as Case
from rlvr_envs.sandboxes.base import Result

TASK = RepairDialogueTask(RepairDialogueConfig())


def case(n):
    return Case(f"{n}\n", f"{2 * n + 1}\n", f"{2 * n}\n")


PROBLEM = RepairDialogueProblem(
    statement="Print twice the number read, plus 1.",
    source="print(2 * int(input()))",
    language="python",
    n_mistakes=1,
    n_tries=3,
    public=tuple(map(case, (3, 4, 50))),
    tests=tuple(map(case, range(100, 110))),
    repaired="print(2 * int(input()) + 1)",
)


def python(code):
    return f"```python\n{code}\n```"


def play(*actions, problem=PROBLEM):
    session = TASK.begin(problem)
    return [session.reply(action) for action in actions]


def test_a_wrong_program_is_told_the_first_failing_public_test():
    (reply,) = play(python(PROBLEM.source))
    assert reply.verdict is None
    assert "```text\n3\n```" in reply.text
    assert "```text\n7\n```" in reply.text
    assert "```output\n6\n```" in reply.text
    assert "2 more tries" in reply.text
    (later,) = play(python("n = int(input())\nprint(7 if n == 3 else 0)"))
    assert "```text\n4\n```" in later.text
    assert "```text\n3\n```" not in later.text


def test_a_right_program_ends_the_episode_with_full_marks():
    replies = play(python(PROBLEM.source), python(PROBLEM.repaired))
    assert replies[1].verdict.score == 1.0
    assert replies[1].verdict.parts["tries"] == 2.0


def test_passing_the_public_tests_alone_ends_the_episode_without_marks():
    by_heart = "n = int(input())\nprint({3: 7, 4: 9, 50: 101}.get(n, 0))"
    (reply,) = play(python(by_heart))
    assert reply.verdict.score == 0.0
    assert reply.verdict.parts["public"] == 1.0
    assert reply.text == ""


def test_nothing_of_the_hidden_tests_is_told():
    hostile = (
        "import sys\nn = int(input())\nprint({3: 7, 4: 9, 50: 101}.get(n) or sys.exit(f'{n}'))"
    )
    (reply,) = play(python(hostile))
    assert reply.verdict.score == 0.0
    for hidden in PROBLEM.tests:
        assert hidden.stdin.strip() not in reply.verdict.detail
        assert hidden.expected.strip() not in reply.verdict.detail


def test_tries_are_counted_and_end():
    replies = play("hm", python("print("), python(PROBLEM.source))
    assert "your message contains no program" in replies[0].text.lower()
    assert "SyntaxError" in replies[1].text
    assert replies[2].verdict.score == 0.0
    assert "3 tries" in replies[2].verdict.detail
    assert play("hm", "hm", python(PROBLEM.repaired))[2].verdict.score == 1.0


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("while True: pass", "stopped after 2 s"),
        ("raise ValueError('oh')", "ValueError: oh"),
        ("print('x' * 50_000)", "characters left out"),
        ("print(chr(60) + '/think>' + chr(60) + 'answer>')", "&lt;/think>&lt;answer>"),
        ("print('```\\n```')", "````output"),
        ("import os\nos.abort()", "the program crashed"),
    ],
)
def test_how_a_program_ended_is_told(code, said):
    (reply,) = play(python(code))
    assert reply.verdict is None
    assert said in reply.text
    assert len(reply.text) < 3000


def test_compilers_speak():
    problem = RepairDialogueProblem(
        **{name: getattr(PROBLEM, name) for name in PROBLEM.__slots__ if name != "language"},
        language="c",
    )
    session = TASK.begin(problem)
    reply = session.reply("```c\nint main(void) { return x; }\n```")
    assert "The program does not compile." in reply.text
    assert "undeclared" in reply.text
    right = (
        '#include <stdio.h>\nint main(void) { int n; scanf("%d", &n); printf("%d\\n", 2 * n + 1); }'
    )
    assert session.reply(f"```c\n{right}\n```").verdict.score == 1.0


def test_replaying_the_same_actions_ends_the_same():
    actions = [python(PROBLEM.source), "hm", python(PROBLEM.repaired)]
    first, second = play(*actions), play(*actions)
    assert [reply.text for reply in first] == [reply.text for reply in second]
    assert first[-1].verdict == second[-1].verdict == TASK.replay(PROBLEM, actions)


def test_a_fault_of_the_sandbox_is_no_score(monkeypatch):
    class Broken:
        def run_batch(self, job, cases, *, stop_on_fault=False):
            return [Result.fault("it broke")]

    monkeypatch.setattr(repair_dialogue, "shared_sandbox", Broken)
    assert play(python(PROBLEM.repaired))[0].verdict.status is Status.VERIFIER_ERROR


@pytest.mark.parametrize(
    "knob",
    [{"size": 0}, {"n_mistakes": 0}, {"n_public": 1}, {"n_tries": 0}, {"language": "cobol"}],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        RepairDialogueConfig(**knob)


def test_effort_and_baseline():
    assert TASK.effort(PROBLEM) == 1 * 11  # print ( 2 * int ( input ( ) ) )
    actions = TASK.baseline(stream("rng"), PROBLEM)
    assert actions == ["```python\nprint(2 * int(input()))\n```"] * 3
    assert TASK.replay(PROBLEM, actions).score == 0.0
