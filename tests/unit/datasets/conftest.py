"""Rows of two small tasks: halving a number, and guessing one in several turns."""

import json
from dataclasses import dataclass

import pytest

import rlvr_envs
from rlvr_envs.core import registry
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import integer
from rlvr_envs.core.task import InteractiveTask, Reply, Task
from rlvr_envs.core.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class HalvingConfig:
    largest: int = 1000

    @classmethod
    def at(cls, difficulty):
        return cls(largest=10 ** (difficulty + 2))


@dataclass(frozen=True, slots=True)
class HalvingProblem:
    number: int
    half: int = hidden()


class HalvingTask(Task[HalvingConfig, HalvingProblem]):
    """Halve an even number."""

    def generate(self, rng):
        half = integer(rng, 1, self.config.largest)
        return HalvingProblem(2 * half, half)

    def prompt(self, problem):
        return f"What is half of {problem.number}?"

    def verify(self, problem, answer):
        if answer == "break":
            raise RuntimeError("planted")
        return Verdict.graded(float(answer == str(problem.half)))

    def solve(self, problem):
        return str(problem.half)


@dataclass(frozen=True, slots=True)
class SecretProblem:
    limit: int
    secret: int = hidden()


class SecretSession:
    def __init__(self, problem):
        self.problem = problem

    def reply(self, action):
        if action == str(self.problem.secret):
            return Reply("Yes.", Verdict.correct())
        return Reply("larger" if int(action) < self.problem.secret else "smaller")


class SecretTask(InteractiveTask[HalvingConfig, SecretProblem]):
    """Guess a number."""

    def generate(self, rng):
        return SecretProblem(8, integer(rng, 1, 8))

    def prompt(self, problem):
        return f"Guess my number between 1 and {problem.limit}."

    def begin(self, problem):
        return SecretSession(problem)

    def play(self, problem):
        return [str(guess) for guess in range(1, problem.secret + 1)]


@pytest.fixture(autouse=True)
def small_tasks():
    register("TestHalving-v0", domain="math")(HalvingTask)
    register("TestSecret-v0", domain="search", answer_format="raw", max_turns=9)(SecretTask)
    yield
    for name in ("TestHalving", "TestSecret"):
        registry._SPECS.pop(f"rlvr/{name}-v0")


@pytest.fixture
def halving_rows():
    return [rlvr_envs.make_problem("TestHalving-v0", seed=n, difficulty=n % 3) for n in range(6)]


@pytest.fixture
def secret_rows():
    return [rlvr_envs.make_problem("TestSecret-v0", seed=n) for n in range(4)]


@pytest.fixture
def write(tmp_path):
    """Write records (or raw lines) to a JSONL file and return its path."""

    def write(name, records):
        lines = [r if isinstance(r, str) else json.dumps(r) for r in records]
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
        return tmp_path / name

    return write
