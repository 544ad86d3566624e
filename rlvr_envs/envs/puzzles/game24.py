"""The game of 24: use every number once to reach 24, or another target."""

from dataclasses import dataclass, replace

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.core.task import Task, Variant
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.arithmetic import (
    LARGEST_NUMBER,
    MAX_NUMBERS,
    Term,
    closest_of_a_few,
    combined,
    judge_expression,
    random_term,
    search_effort,
    worked_backwards,
)

_DRAWS = 200
_EFFORT_LIMIT = 200_000

# Numbers, the largest number, the range of targets, and the problems to compare.
_LEVELS = (
    *((2, 40, 4, 60, 1), (3, 12, 24, 24, 1), (3, 24, 24, 24, 4), (4, 13, 24, 24, 1)),
    *((4, 24, 24, 24, 4), (4, 24, 24, 100, 6), (5, 25, 24, 200, 4), (5, 30, 100, 1_000, 4)),
    *((5, 50, 200, 5_000, 4), (6, 50, 200, 5_000, 1), (6, 60, 300, 50_000, 2)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Game24Config(TaskConfig):
    """How many numbers there are, and the range of the target."""

    n_numbers: int = knob(4, "numbers", low=2, high=MAX_NUMBERS)
    max_number: int = knob(13, "largest given number", low=1, high=LARGEST_NUMBER)
    min_target: int = 24
    max_target: int = 24
    n_compared: int = knob(
        1, "problems that are drawn, of which the one that a search finds last is taken", low=1
    )

    def check(self) -> None:
        low, high = self.n_numbers, self.n_numbers * self.max_number
        if not low <= self.min_target <= self.max_target:
            raise ConfigError(
                f"need n_numbers <= min_target <= max_target, got {low}, {self.min_target} and "
                f"{self.max_target}"
            )
        if self.min_target > high:
            raise ConfigError(
                f"min_target must be at most n_numbers * max_number = {high}, got {self.min_target}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "Game24Config":
        """More numbers, then rarer solutions, and from level 5 on larger and larger targets."""
        beyond = max(0, difficulty - len(_LEVELS) + 1)
        n_numbers, max_number, low, high, n_compared = _LEVELS[difficulty - beyond]
        more = 1 + min(beyond, 1_000)
        return cls(
            n_numbers=n_numbers,
            max_number=max_number * more,
            min_target=low * more,
            max_target=high * more,
            n_compared=n_compared,
        )


@dataclass(frozen=True, slots=True)
class Game24Problem:
    """The numbers and the target; the expression is one of many that may reach it."""

    numbers: tuple[int, ...]
    target: int
    expression: str = hidden()


@register("Game24-v0", domain="puzzles")
class Game24Task(Task[Game24Config, Game24Problem]):
    """Write an expression that uses each given number exactly once and has a target value.

    Description:
        A hidden expression with the target's value is drawn: from random numbers where the range
        of targets is wide; otherwise backwards from the target, or forwards with a last number
        that makes the value right. All its intermediate results are whole numbers; those of other
        solutions need not be. Of a few such problems, the one that takes a search longest is taken.

    Observation:
        The numbers and the target, which is 24 by default.

    Action:
        An expression with ``+``, ``-``, ``*``, ``/`` and parentheses.

    Reward:
        1 for an expression with the target's value that uses each number exactly once,
        otherwise 0.

    Verification:
        A dedicated parser reads the expression and computes its exact value, and the numbers in
        it are counted. No known gaps.

    Difficulty:
        The numbers grow in count, and solutions become rare: first because the hardest of a few
        problems is taken, later because the target is so large that it takes the right products.

    References:
        Yao et al., "Tree of Thoughts", 2023, uses the game with four numbers as a benchmark.
    """

    def generate(self, rng: Rng) -> Game24Problem:
        problems = [self._draw(rng) for _ in range(self.config.n_compared)]
        return max(problems, key=self.effort) if len(problems) > 1 else problems[0]

    def _draw(self, rng: Rng) -> Game24Problem:
        config = self.config
        count, largest = config.n_numbers, config.max_number
        target = integer(rng, config.min_target, config.max_target)
        for attempt in range(_DRAWS):
            if config.max_target > 2 * config.min_target:
                found = _forwards(rng, (config.min_target, config.max_target), count, largest)
            elif attempt % 2 == 0 and count < 8:
                found = _reach(rng, target, count, largest)
            else:
                found = _close(rng, target, count, largest)
            if found is not None:
                break
        else:
            target = min(target, count * largest)
            summands = _summands(rng, target, count, largest)
            found = Term(target, " + ".join(map(str, summands))), summands
        term, numbers = found
        order = rng.permutation(len(numbers)).tolist()
        return Game24Problem(tuple(numbers[i] for i in order), term.value, term.text)

    def prompt(self, problem: Game24Problem) -> str:
        numbers = ", ".join(map(str, problem.numbers))
        repeated = len(set(problem.numbers)) < len(problem.numbers)
        twice = " (use a number as often as it is listed)" if repeated else ""
        return (
            f"Here are {len(problem.numbers)} numbers: {numbers}. Write an arithmetic expression "
            f"with the value {problem.target}. Use each of these numbers exactly once{twice} and "
            "no other numbers. You may use the operations +, -, *, / and parentheses. Division is "
            "exact, so intermediate results may be fractions. Answer with the expression alone, "
            "written like (9 - 8) * 2."
        )

    def verify(self, problem: Game24Problem, answer: str) -> Verdict:
        return judge_expression(answer, problem.numbers, problem.target, use_all=True)

    def solve(self, problem: Game24Problem) -> str:
        return problem.expression

    def variant(self, problem: Game24Problem, rng: Rng) -> Variant[Game24Problem]:
        """List the numbers in another order."""
        order = rng.permutation(len(problem.numbers)).tolist()
        changed = replace(problem, numbers=tuple(problem.numbers[i] for i in order))
        return Variant(changed, lambda text: text, ("order",))

    def explain(self, problem: Game24Problem) -> list[str]:
        """Return what is left to reach after each step back from the target."""
        return worked_backwards(problem.expression, problem.target)

    def effort(self, problem: Game24Problem) -> int:
        """Count the results that a depth-first search computes until it has the target."""
        return search_effort(problem.numbers, problem.target, use_all=True, limit=_EFFORT_LIMIT)

    def baseline(self, rng: Rng, problem: Game24Problem) -> str:
        """Take the best of ten random expressions."""
        return closest_of_a_few(rng, problem.numbers, problem.target, use_all=True)


def _forwards(
    rng: Rng, targets: tuple[int, int], count: int, largest: int
) -> tuple[Term, list[int]] | None:
    """Draw numbers and an expression of them all; None if its value is no possible target."""
    drawn = integers(rng, 1, largest, count)
    term = random_term(rng, drawn, targets[1])
    return (term, list(drawn)) if term is not None and term.value >= targets[0] else None


def _reach(rng: Rng, target: int, count: int, largest: int) -> tuple[Term, list[int]] | None:
    """Draw an expression of so many numbers with a value, and the numbers; None if it fails.

    The right operand is drawn at random, and the left one must then make the value up.
    """
    if count == 1:
        return (Term(target, str(target)), [target]) if target <= largest else None
    for _ in range(3 if count <= 3 else 1):
        drawn = integers(rng, 1, largest, integer(rng, 1, count - 1))
        right = random_term(rng, drawn, largest * target)
        operation = pick(rng, "+-*/")
        needed = right and _left_operand(target, operation, right.value)
        if not right or not needed:
            continue
        left = _reach(rng, needed, count - len(drawn), largest)
        term = left and combined(left[0], operation, right)
        if left and term:
            return term, [*left[1], *drawn]
    return None


def _close(rng: Rng, target: int, count: int, largest: int) -> tuple[Term, list[int]] | None:
    """Draw all numbers but one, and an expression of them that the last one can make right."""
    drawn = integers(rng, 1, largest, count - 1)
    left = random_term(rng, drawn, 2 * target + largest)
    if left is None:
        return None
    value = left.value
    last = {
        "+": target - value,
        "-": value - target,
        "*": target // value if target % value == 0 else 0,
        "/": value // target if value % target == 0 else 0,
    }
    for operation in pick(rng, ("+-*/", "*/-+")):
        if 1 <= last[operation] <= largest:
            term = combined(left, operation, Term(last[operation], str(last[operation])))
            if term is not None:
                return term, [*drawn, last[operation]]
    return None


def _left_operand(target: int, operation: str, right: int) -> int | None:
    """Return the positive whole number that gives the target with the right operand, if any."""
    if operation == "*":
        return target // right if target % right == 0 else None
    if operation == "/":
        return target * right
    needed = target - right if operation == "+" else target + right
    return needed if needed > 0 else None


def _summands(rng: Rng, total: int, count: int, largest: int) -> list[int]:
    """Write a total as a sum of so many positive numbers, none larger than allowed."""
    numbers = []
    for left in range(count - 1, -1, -1):
        low, high = max(1, total - left * largest), min(largest, total - left)
        numbers.append(integer(rng, low, high))
        total -= numbers[-1]
    return numbers
