"""Countdown: reach a target from some of the given numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.arithmetic import (
    LARGEST_NUMBER,
    MAX_NUMBERS,
    closest_of_a_few,
    judge_expression,
    random_term,
    search_effort,
    worked_backwards,
)

_DRAWS = 60
_EFFORT_LIMIT = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CountdownConfig(TaskConfig):
    """How many numbers there are, and how large they and the target are."""

    n_numbers: int = knob(4, "numbers", low=2, high=MAX_NUMBERS)
    max_number: int = knob(50, "the largest number given", low=5, high=LARGEST_NUMBER)
    max_target: int = 300

    def check(self) -> None:
        if self.max_target < 2 * self.max_number:
            raise ConfigError(
                f"max_target is at least twice max_number, got {self.max_target} and "
                f"{self.max_number}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "CountdownConfig":
        """The count of numbers grows from 2 to 8 at rung 10 and on; they and the target grow."""
        return cls(
            n_numbers=min(MAX_NUMBERS, 2 + (3 * difficulty + 2) // 5),
            max_number=min(LARGEST_NUMBER, 15 + 10 * difficulty),
            max_target=30 * (difficulty + 1) ** 2,
        )


@dataclass(frozen=True, slots=True)
class CountdownProblem:
    """The numbers and the target; the expression is one of many that may reach it."""

    numbers: tuple[int, ...]
    target: int
    expression: str = hidden()


@register("Countdown-v0", domain="puzzles")
class CountdownTask(Task[CountdownConfig, CountdownProblem]):
    """Write an expression of given numbers, each used at most once, that has a target value.

    Description:
        A random expression of most of the numbers sets the target. Targets that two of the
        numbers reach, or that are small, are drawn again where there are more numbers.

    Observation:
        The numbers and the target.

    Action:
        An expression with ``+``, ``-``, ``*``, ``/`` and parentheses.

    Reward:
        1 for an expression with the target's value that uses no number more often than it is
        given, otherwise 0.

    Verification:
        A parser of its own reads the expression, its value is an exact fraction, and the numbers
        in it are counted. Fractions on the way are fine. No known gaps.

    Difficulty:
        The numbers grow in count and size, and the target with them.

    References:
        Yuan et al., "From f(x) and g(x) to f(g(x)): LLMs Learn New Skills in RL by Composing Old
        Ones", 2025, which tests on this game whether a skill transfers.
    """

    def generate(self, rng: Rng) -> CountdownProblem:
        config = self.config
        best: CountdownProblem | None = None
        for _ in range(_DRAWS):
            numbers = integers(rng, 2, config.max_number, config.n_numbers)
            spare = integer(rng, 0, config.n_numbers // 4)
            term = random_term(rng, numbers[spare:], config.max_target)
            if term is None or term.value in numbers:
                continue
            order = rng.permutation(len(numbers)).tolist()
            problem = CountdownProblem(tuple(numbers[i] for i in order), term.value, term.text)
            if len(numbers) == 2 or _needs_three(problem, config.max_number):
                return problem
            best = best or problem
        if best is not None:
            return best
        numbers = integers(rng, 2, config.max_number, config.n_numbers)
        return CountdownProblem(numbers, sum(numbers), " + ".join(map(str, numbers)))

    def prompt(self, problem: CountdownProblem) -> str:
        numbers = ", ".join(map(str, problem.numbers))
        return (
            f"Here are some numbers: {numbers}. Write an expression whose value is exactly "
            f"{problem.target}. It may use each of these numbers at most once (a number that is "
            "listed twice may be used twice), the operations +, -, *, / and parentheses, and no "
            "other numbers. You need not use all the numbers. Division is exact, so fractions may "
            "occur on the way. Answer with the expression alone, for example (8 - 3) * 2."
        )

    def verify(self, problem: CountdownProblem, answer: str) -> Verdict:
        return judge_expression(answer, problem.numbers, problem.target, use_all=False)

    def solve(self, problem: CountdownProblem) -> str:
        return problem.expression

    def explain(self, problem: CountdownProblem) -> list[str]:
        """Return what is left to reach after each step back from the target."""
        return worked_backwards(problem.expression, problem.target)

    def effort(self, problem: CountdownProblem) -> int:
        """Count the results that a depth-first search computes until it has the target."""
        return search_effort(problem.numbers, problem.target, use_all=False, limit=_EFFORT_LIMIT)

    def baseline(self, rng: Rng, problem: CountdownProblem) -> str:
        """Take the best of ten random expressions."""
        return closest_of_a_few(rng, problem.numbers, problem.target, use_all=False)


def _needs_three(problem: CountdownProblem, least: int) -> bool:
    """Return whether the target is not small and no two numbers reach it."""
    numbers: Sequence[int] = problem.numbers
    pairs = [(a, b) for i, a in enumerate(numbers) for b in numbers[:i]]
    reached = {value for a, b in pairs for value in (a + b, abs(a - b), a * b)}
    reached |= {max(a, b) // min(a, b) for a, b in pairs if max(a, b) % min(a, b) == 0}
    return problem.target >= least and problem.target not in reached
