"""Tiny tasks to evaluate: a sum, a game of several turns, numbered problems, and broken ones."""

from dataclasses import dataclass

import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.task import IndexedTask, InteractiveTask, Reply, Task
from rlvr_envs.core.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class SumConfig:
    limit: int = 3

    def __post_init__(self):
        if self.limit < 1:
            raise ConfigError(f"need limit >= 1, got {self}")

    @classmethod
    def at(cls, difficulty):
        return cls(limit=3 + 2 * difficulty)


@dataclass(frozen=True, slots=True)
class Pair:
    first: int
    second: int


class PlusTask(Task[SumConfig, Pair]):
    def generate(self, rng):
        first, second = rng.integers(0, self.config.limit, 2).tolist()
        return Pair(first, second)

    def prompt(self, problem):
        return f"What is {problem.first} + {problem.second}?"

    def verify(self, problem, answer):
        if not answer.isdecimal():
            return Verdict.unparsable("expected an integer")
        missed = abs(int(answer) - problem.first - problem.second)
        return Verdict.graded(max(0.0, 1 - missed / 2), "the sum is missed by a little")

    def solve(self, problem):
        return str(problem.first + problem.second)


class BreakablePlusTask(PlusTask):
    """Its verifier fails while `broken` is set."""

    broken = True

    def verify(self, problem, answer):
        if type(self).broken:
            raise RuntimeError("no verifier today")
        return super().verify(problem, answer)


class UnposableTask(PlusTask):
    def generate(self, rng):
        raise RuntimeError("nothing to ask")


class ListedTask(IndexedTask[SumConfig, Pair]):
    def __len__(self):
        return 5

    def problem_at(self, index):
        return Pair(index, 100)

    prompt, verify, solve = PlusTask.prompt, PlusTask.verify, PlusTask.solve


class NearPlusTask(PlusTask):
    """An optimisation task: the nearer a sum, the better; none may be above 1,000."""

    def verify(self, problem, answer):
        if not answer.isdecimal():
            return Verdict.unparsable("not a number", feasible=0.0, ratio=0.0)
        if int(answer) > 1000:
            return Verdict.wrong("too large", feasible=0.0, ratio=0.0)
        ratio = 1 / (1 + abs(int(answer) - problem.first - problem.second))
        return Verdict.graded(ratio**2, feasible=1.0, ratio=ratio)


class HotColdSession:
    def __init__(self, target):
        self._target = target

    def reply(self, action):
        if action == "crash":
            raise RuntimeError("the game fell over")
        if action == str(self._target):
            return Reply("found", Verdict.correct())
        return Reply("colder")


class HotColdTask(InteractiveTask[SumConfig, Pair]):
    generate = PlusTask.generate

    def prompt(self, problem):
        return "Find the number."

    def begin(self, problem):
        return HotColdSession(problem.first)

    def play(self, problem):
        return ["no idea", str(problem.first)]


class BoardlessTask(HotColdTask):
    """A game that cannot begin."""

    def begin(self, problem):
        raise RuntimeError("no board")


TASKS = {
    "EvalPlus-v0": (PlusTask, {"domain": "math"}),
    "EvalNearPlus-v0": (NearPlusTask, {"domain": "np_hard"}),
    "EvalTagPlus-v0": (PlusTask, {"domain": "puzzles", "answer_format": "tag"}),
    "EvalBreakable-v0": (BreakablePlusTask, {"domain": "math"}),
    "EvalUnposable-v0": (UnposableTask, {"domain": "math"}),
    "EvalListed-v0": (ListedTask, {"domain": "math"}),
    "EvalBoardless-v0": (BoardlessTask, {"domain": "search", "answer_format": "raw"}),
    "EvalHotCold-v0": (
        HotColdTask,
        {"domain": "search", "answer_format": "raw", "max_turns": 3},
    ),
}


@pytest.fixture(autouse=True)
def tasks():
    for name, (task_type, options) in TASKS.items():
        register(name, **options)(task_type)
    yield
    for name in TASKS:
        registry._SPECS.pop(f"rlvr/{name}")
    BreakablePlusTask.broken = True


@pytest.fixture
def mend():
    """Call it to repair the verifier of EvalBreakable-v0."""

    def repair():
        BreakablePlusTask.broken = False

    return repair


@pytest.fixture
def chat_server(monkeypatch):
    """An endpoint that follows a script; waits between attempts are short."""
    from fakes.scripted_chat import Server

    from rlvr_envs.evaluation import endpoint

    monkeypatch.setattr(endpoint, "FIRST_WAIT_S", 0.01)
    server = Server()
    yield server
    server.stop()
