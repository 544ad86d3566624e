"""Exact arithmetic with complex numbers whose parts are rational."""

from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.evaluation import (
    Value,
    combine,
    left_to_right,
    operations,
    work,
)
from rlvr_envs.generators.mathematics.expressions import Expression, join
from rlvr_envs.generators.mathematics.latex import in_parentheses, power, signed_sum
from rlvr_envs.generators.mathematics.stated_numbers import stated_complex

OPERATORS = "+-*|"  # the last is a division written as a fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class ComplexArithmeticConfig(TaskConfig):
    """The length of the expression and the size of the numbers."""

    n_numbers: int = knob(3, "complex numbers in the expression", low=2)
    max_part: int = knob(9, "real and imaginary parts are drawn from -max_part..max_part", low=1)
    max_power: int = knob(3, "the largest exponent of a power", low=1)
    n_operators: int = knob(
        4, "how many of + - * and division occur, in this order", low=1, high=len(OPERATORS)
    )

    @classmethod
    def at(cls, difficulty: int) -> "ComplexArithmeticConfig":
        """A number every second level, larger parts, powers from level 3; division from level 2."""
        return cls(
            n_numbers=2 + difficulty // 2,
            max_part=5 + difficulty,
            max_power=1 + (difficulty + 1) // 4,
            n_operators=min(2 + difficulty, len(OPERATORS)),
        )


@dataclass(frozen=True, slots=True)
class ComplexArithmeticProblem:
    """The expression in LaTeX, and the two parts of its value."""

    expression: str
    real: Fraction = hidden()
    imaginary: Fraction = hidden()


@register("ComplexArithmetic-v0", domain="math")
class ComplexArithmeticTask(Task[ComplexArithmeticConfig, ComplexArithmeticProblem]):
    """Evaluate an expression of complex numbers exactly.

    Description:
        Numbers with non-zero integer parts, some raised to a power, are joined by sums,
        differences, products and quotients into a random tree. A division by zero is replaced
        by a sum.

    Observation:
        The expression in LaTeX.

    Action:
        The value as a + bi, where a and b may be fractions; also (a + bi)/c.

    Reward:
        1 for the exact value, otherwise 0.

    Verification:
        Exact, on rational parts. An expression that is not evaluated earns 0.

    Difficulty:
        The number of numbers, their parts, the operators and the powers grow.

    References:
        Gauss, Theoria residuorum biquadraticorum, 1832 (arithmetic of a + bi).
    """

    def generate(self, rng: Rng) -> ComplexArithmeticProblem:
        config = self.config
        pieces = [self._number(rng) for _ in range(config.n_numbers)]
        draws = iter(integers(rng, 0, 2**40, 2 * config.n_numbers))
        while len(pieces) > 1:
            at = next(draws) % (len(pieces) - 1)
            operator = OPERATORS[next(draws) % config.n_operators]
            left, right = pieces[at], pieces[at + 1]
            if operator == "|" and not any(right.value):
                operator = "+"
            value = combine(operator, left.value, right.value)
            if operator != "|":
                left, right = _bracketed(left), _bracketed(right)
            pieces[at : at + 2] = [join(operator, left, right, value)]
        return ComplexArithmeticProblem(pieces[0].text, *pieces[0].value)

    def _number(self, rng: Rng) -> Expression[Value]:
        limit = self.config.max_part
        value = (Fraction(nonzero(rng, limit)), Fraction(nonzero(rng, limit)))
        text = signed_sum([(value[0], ""), (value[1], "i")])
        exponent = integer(rng, 1, self.config.max_power)
        if exponent == 1:
            return Expression(text, value, _NUMBER)
        result = value
        for _ in range(exponent - 1):
            result = combine("*", result, value)
        return Expression(power(in_parentheses(text), exponent), result)

    def prompt(self, problem: ComplexArithmeticProblem) -> str:
        return (
            f"Calculate the exact value of this expression:\n\n$${problem.expression}$$\n\n"
            "Answer in the form $a + bi$, where $a$ and $b$ are integers or fractions."
        )

    def verify(self, problem: ComplexArithmeticProblem, answer: str) -> Verdict:
        found = stated_complex(answer)
        if found is None:
            return Verdict.unparsable("expected one complex number, as a + bi")
        right = found == (problem.real, problem.imaginary)
        return Verdict.correct() if right else Verdict.wrong("the number is wrong")

    def solve(self, problem: ComplexArithmeticProblem) -> str:
        return _written((problem.real, problem.imaginary))

    def effort(self, problem: ComplexArithmeticProblem) -> int:
        """Count the digit operations of the calculation, innermost first, with all reductions."""
        return work(problem.expression)

    def baseline(self, rng: Rng, problem: ComplexArithmeticProblem) -> str:
        """Calculate from left to right, without a look at brackets, precedence and powers."""
        return _written(left_to_right(problem.expression))

    def explain(self, problem: ComplexArithmeticProblem) -> list[str]:
        steps, _ = operations(problem.expression)
        return steps


_NUMBER = 0  # the rank of a written number, which binds more loosely than any operator


def _written(value: Value) -> str:
    return signed_sum(zip(value, ("", "i"), strict=True))


def _bracketed(piece: Expression[Value]) -> Expression[Value]:
    """Return a written number in parentheses, other expressions as they are."""
    if piece.rank != _NUMBER:
        return piece
    return Expression(in_parentheses(piece.text), piece.value)
