"""A tool that is missing is said to the caller: no answer is at fault, and none can be judged."""

import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import DependencyError, ToolchainMissing
from rlvr_envs.core.executor import Processes
from rlvr_envs.core.parallel import ParallelJudge


@pytest.fixture
def without_tool(monkeypatch):
    task_type = registry.find("Gcd-v0").task_type

    def refuse(self, problem, answer):
        raise ToolchainMissing("apt-get install abacus")

    monkeypatch.setattr(task_type, "verify", refuse)
    monkeypatch.setattr(task_type, "judged_in_sandbox", True)


def test_a_step_raises(without_tool):
    env = TextEnv("rlvr/Gcd-v0")
    env.reset(seed=0)
    with pytest.raises(DependencyError, match="abacus"):
        env.step(r"\boxed{3}")


def test_judging_many_raises(without_tool):
    env = TextEnv("rlvr/Gcd-v0")
    env.reset(seed=0)
    with Processes(2) as executor, pytest.raises(DependencyError, match="abacus"):
        ParallelJudge(executor).judge([env.instance] * 3, [r"\boxed{3}"] * 3)


def test_sandboxed_answers_are_judged_in_this_process(monkeypatch):
    task_type = registry.find("Gcd-v0").task_type
    monkeypatch.setattr(task_type, "judged_in_sandbox", True)
    env = TextEnv("rlvr/Gcd-v0")
    env.reset(seed=0)
    solution = env.instance.solution()
    with Processes(2) as executor:
        judge = ParallelJudge(executor)
        judge.judge([env.instance], ["?"])  # asks once whether workers can import the task
        monkeypatch.setattr(executor._pool, "take", lambda **_: pytest.fail("a worker was asked"))
        verdicts = judge.judge([env.instance] * 3, [solution, "?", solution])
    assert [verdict.score for verdict in verdicts] == [1.0, 0.0, 1.0]
