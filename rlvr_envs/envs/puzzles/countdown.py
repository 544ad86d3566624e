"""Countdown: reach a target from some of the given numbers."""

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
    fewest_numbers,
    judge_expression,
    random_term,
    search_effort,
    worked_backwards,
)

_DRAWS = 60
_MOST_NEEDED = 6  # numbers: whether fewer of them suffice is found out by trying
_MOST_TO_TRY = 8  # numbers of which more than three may be needed
_LEAST_TARGET = 3  # the example in the prompt has the value 2
_EFFORT_LIMIT = 200_000

# Numbers, how many of them the target needs, the largest number and the largest target.
_LEVELS = (
    *((2, 2, 40, 80), (3, 2, 40, 80), (3, 3, 30, 150), (4, 3, 40, 300), (4, 4, 50, 600)),
    *((5, 4, 50, 1_000), (5, 5, 60, 5_000), (6, 5, 60, 10_000), (6, 6, 80, 100_000)),
    *((7, 5, 60, 20_000), (7, 6, 100, 200_000)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CountdownConfig(TaskConfig):
    """How many numbers there are, and how large they and the target are."""

    n_numbers: int = knob(4, "numbers", low=2, high=MAX_NUMBERS)
    max_number: int = knob(50, "the largest number given", low=5, high=LARGEST_NUMBER)
    max_target: int = 300
    n_needed: int = knob(3, "numbers that the target needs at least", low=2, high=_MOST_NEEDED)

    def check(self) -> None:
        if self.n_needed > max(self.n_numbers, 3) or (
            self.n_needed > 3 and self.n_numbers > _MOST_TO_TRY
        ):
            raise ConfigError(
                f"n_needed is at most n_numbers, and at most 3 where n_numbers is above "
                f"{_MOST_TO_TRY}, got {self}"
            )
        if self.max_target < 2 * self.max_number:
            raise ConfigError(
                f"max_target is at least twice max_number, got {self.max_target} and "
                f"{self.max_number}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "CountdownConfig":
        """The target needs more of more numbers, up to 6 of 7; beyond level 10 they get larger."""
        if difficulty < len(_LEVELS):
            n_numbers, n_needed, max_number, max_target = _LEVELS[difficulty]
        else:
            n_numbers, n_needed, max_number, max_target = _LEVELS[-1]
            more = min(difficulty, 1_000) - len(_LEVELS) + 2
            max_number, max_target = max_number * more, max_target * more
        return cls(
            n_numbers=n_numbers,
            n_needed=n_needed,
            max_number=max_number,
            max_target=max_target,
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
        A random expression of most of the numbers sets the target. Targets that fewer numbers
        reach than asked for, by whole results, are drawn again. If none of many targets needs so
        many, one that needs most is taken.

    Observation:
        The numbers and the target.

    Action:
        An expression with ``+``, ``-``, ``*``, ``/`` and parentheses.

    Reward:
        1 for an expression with the target's value that uses no number more often than it is
        given, otherwise 0.

    Verification:
        A dedicated parser reads the expression and computes its exact value, and the numbers in
        it are counted. Intermediate results may be fractions. No known gaps.

    Difficulty:
        At first, a choice of two numbers reaches the target. Later the target needs most of the
        numbers, so that short sums are of no help, and it is so large that few expressions have
        its value.

    References:
        Yuan et al., "From f(x) and g(x) to f(g(x)): LLMs Learn New Skills in RL by Composing Old
        Ones", 2025, which tests on this game whether a skill transfers.
    """

    def generate(self, rng: Rng) -> CountdownProblem:
        config = self.config
        best, most = None, 0
        for _ in range(_DRAWS):
            numbers = integers(rng, 2, config.max_number, config.n_numbers)
            used = integer(rng, min(config.n_needed, config.n_numbers), config.n_numbers)
            term = random_term(rng, numbers[:used], config.max_target)
            if term is None or term.value < _LEAST_TARGET:
                continue
            needed = fewest_numbers(numbers, term.value, most=config.n_needed)
            if needed > most:
                order = rng.permutation(len(numbers)).tolist()
                best = CountdownProblem(tuple(numbers[i] for i in order), term.value, term.text)
                most = needed
            if most == min(config.n_needed, config.n_numbers):
                break
        if best is not None and most > 1:
            return best
        numbers = integers(rng, 2, config.max_number, config.n_numbers)
        return CountdownProblem(numbers, sum(numbers), " + ".join(map(str, numbers)))

    def prompt(self, problem: CountdownProblem) -> str:
        numbers = ", ".join(map(str, problem.numbers))
        repeated = len(set(problem.numbers)) < len(problem.numbers)
        once = "at most as often as it is listed" if repeated else "at most once"
        return (
            f"Here are {len(problem.numbers)} numbers: {numbers}. Write an arithmetic expression "
            f"with the value {problem.target}. Use each number {once} and no other numbers. You "
            "need not use all of them. You may use the operations +, -, *, / and parentheses. "
            "Division is exact, so intermediate results may be fractions. Answer with the "
            "expression alone, written like (9 - 8) * 2."
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
