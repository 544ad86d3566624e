"""A task whose verifier fails on some answers."""

import os
from dataclasses import dataclass

from rlvr_envs.core.registry import register
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict


@dataclass(frozen=True, kw_only=True)
class BrokenConfig:
    @classmethod
    def at(cls, difficulty):
        return cls()


@dataclass(frozen=True)
class BrokenProblem:
    number: int


@register("TestBroken-v0", domain="math")
class BrokenTask(Task[BrokenConfig, BrokenProblem]):
    """Repeat a number."""

    def generate(self, rng):
        return BrokenProblem(int(rng.integers(10**9)))

    def prompt(self, problem):
        return f"Repeat {problem.number}."

    def verify(self, problem, answer):
        if answer == "break":
            raise RuntimeError("this verifier is broken")
        if answer == "say which process":
            return Verdict.wrong(str(os.getpid()))
        if answer == "end the process":
            os._exit(1)
        return Verdict.graded(float(answer == str(problem.number)))

    def solve(self, problem):
        return str(problem.number)
