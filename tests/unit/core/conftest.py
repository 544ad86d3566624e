"""Small tasks for testing the core: a sum, numbered problems and a guessing game."""

from dataclasses import dataclass

import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.gym_ids import register_ids
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import integer
from rlvr_envs.core.task import IndexedTask, InteractiveTask, Reply, Task
from rlvr_envs.core.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class SumConfig:
    limit: int = 1000
    n_terms: int = 2

    def __post_init__(self):
        if self.limit < 1 or self.n_terms < 2:
            raise ConfigError(f"need limit >= 1 and n_terms >= 2, got {self}")

    @classmethod
    def at(cls, difficulty):
        return cls(limit=10 ** (difficulty + 3))


@dataclass(frozen=True, slots=True)
class SumProblem:
    terms: tuple[int, ...]
    total: int = hidden()


class SumTask(Task[SumConfig, SumProblem]):
    """Add numbers."""

    def generate(self, rng):
        terms = tuple(integer(rng, 1, self.config.limit) for _ in range(self.config.n_terms))
        return SumProblem(terms, sum(terms))

    def prompt(self, problem):
        return f"What is {' + '.join(map(str, problem.terms))}?"

    def verify(self, problem, answer):
        if answer == "break the verifier":
            raise RuntimeError("broken")
        right = answer == str(problem.total)
        return Verdict.correct() if right else Verdict.wrong("that is not the sum")

    def solve(self, problem):
        return str(problem.total)


class ProductTask(SumTask):
    """Another task, for mixtures."""

    def prompt(self, problem):
        return f"Add up {', '.join(map(str, problem.terms))}."


class RowsTask(SumTask, IndexedTask[SumConfig, SumProblem]):
    """Three numbered problems."""

    def __len__(self):
        return 3

    def problem_at(self, index):
        if not 0 <= index < 3:
            raise ConfigError(f"rows are numbered 0 to 2, got {index}")
        return SumProblem((index, 1), index + 1)

    generate = IndexedTask.generate


@dataclass(frozen=True, slots=True)
class GuessProblem:
    limit: int
    secret: int = hidden()


class GuessSession:
    def __init__(self, problem):
        self.problem = problem

    def reply(self, action):
        if action == "break the task":
            raise RuntimeError("broken")
        if not action.isdecimal():
            return Reply("Say a number.")
        guess = int(action)
        if guess == self.problem.secret:
            return Reply("Yes!", Verdict.correct())
        return Reply("Higher." if guess < self.problem.secret else "Lower.")


class GuessTask(InteractiveTask[SumConfig, GuessProblem]):
    """Guess a number."""

    def generate(self, rng):
        return GuessProblem(self.config.limit, integer(rng, 1, self.config.limit))

    def prompt(self, problem):
        return f"Guess my number between 1 and {problem.limit}."

    def begin(self, problem):
        return GuessSession(problem)

    def play(self, problem):
        low, high, actions = 1, problem.limit, []
        while not actions or int(actions[-1]) != problem.secret:
            middle = (low + high) // 2
            actions.append(str(middle))
            low, high = (middle + 1, high) if middle < problem.secret else (low, middle - 1)
        return actions


SMALL_TASKS = ("TestSum-v0", "TestProduct-v0", "TestRows-v0", "TestGuess-v0")


@pytest.fixture(autouse=True)
def small_tasks():
    """Register the small tasks for one test."""
    register("TestSum-v0", domain="puzzles", answer_format="tag")(SumTask)
    register("TestProduct-v0", domain="puzzles", answer_format="boxed", weight=3.0)(ProductTask)
    register("TestRows-v0", domain="puzzles", answer_format="tag", weight=0.0)(RowsTask)
    register("TestGuess-v0", domain="search", answer_format="raw", max_turns=20)(GuessTask)
    register_ids()
    yield
    for task_id in SMALL_TASKS:
        registry._SPECS.pop(f"rlvr/{task_id}", None)
