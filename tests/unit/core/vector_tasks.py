"""Tasks for test_vector, in a module of their own so that worker processes can import them."""

import os
from dataclasses import dataclass

from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import integer
from rlvr_envs.core.task import InteractiveTask, Reply, Task
from rlvr_envs.core.verdict import Verdict

SUM = "rlvr/VectorSum-v0"
COUNTDOWN = "rlvr/VectorCountdown-v0"


@dataclass(frozen=True, slots=True, kw_only=True)
class SumConfig:
    limit: int = 10**6

    @classmethod
    def at(cls, difficulty):
        return cls(limit=10 ** (difficulty + 1))


@dataclass(frozen=True, slots=True)
class SumProblem:
    a: int
    b: int
    total: int = hidden()


@register("VectorSum-v0", domain="math", weight=0, answer_format="raw")
class SumTask(Task[SumConfig, SumProblem]):
    """Add two numbers; three answers are hostile."""

    def generate(self, rng):
        a, b = integer(rng, 0, self.config.limit), integer(rng, 0, self.config.limit)
        return SumProblem(a, b, a + b)

    def prompt(self, problem):
        return f"{problem.a} + {problem.b}"

    def verify(self, problem, answer):
        if answer == "hang":
            9**9**9
        if answer == "die":
            os._exit(7)
        if answer == "raise":
            raise RuntimeError("planted")
        if answer == "none":
            return None
        if answer == "half":
            return Verdict.graded(0.5, "half", share=0.5)
        return Verdict.correct() if answer == str(problem.total) else Verdict.wrong(f"not {answer}")

    def solve(self, problem):
        return str(problem.total)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountdownConfig:
    longest: int = 3

    @classmethod
    def at(cls, difficulty):
        return cls(longest=difficulty + 1)


@dataclass(frozen=True, slots=True)
class CountdownProblem:
    start: int


class CountdownSession:
    def __init__(self, start):
        self.left = start

    def reply(self, action):
        if action == "stop":
            return Reply("stopped", Verdict.wrong("stopped early"))
        self.left -= 1
        return Reply(f"left: {self.left}", None if self.left else Verdict.correct())


@register("VectorCountdown-v0", domain="puzzles", weight=0, answer_format="raw", max_turns=9)
class CountdownTask(InteractiveTask[CountdownConfig, CountdownProblem]):
    """Say anything until the count is down."""

    def generate(self, rng):
        return CountdownProblem(integer(rng, 2, self.config.longest + 2))

    def prompt(self, problem):
        return f"left: {problem.start}"

    def begin(self, problem):
        return CountdownSession(problem.start)

    def play(self, problem):
        return ["go"] * problem.start
