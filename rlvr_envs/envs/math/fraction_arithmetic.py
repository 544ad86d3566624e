"""Sums, products and quotients of fractions, in nested parentheses."""

from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integers
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.evaluation import left_to_right, operations, work
from rlvr_envs.generators.mathematics.expressions import Expression, grow
from rlvr_envs.generators.mathematics.latex import number
from rlvr_envs.generators.mathematics.stated_numbers import judge_rational

OPERATORS = "+-*/|"  # the last is a division written as one large fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class FractionArithmeticConfig(TaskConfig):
    """The number of fractions, their size, and the operators between them."""

    n_fractions: int = knob(4, "number of fractions in the expression", low=2)
    max_denominator: int = knob(12, "denominators are drawn from 2..max_denominator", low=3)
    n_operators: int = knob(
        4,
        "how many of + - * / and the large fraction bar occur, in this order",
        low=1,
        high=len(OPERATORS),
    )

    @classmethod
    def at(cls, difficulty: int) -> "FractionArithmeticConfig":
        """One more fraction a level and larger denominators; all operators from level 3."""
        return cls(
            n_fractions=2 + difficulty,
            max_denominator=10 + 2 * difficulty,
            n_operators=min(2 + difficulty, len(OPERATORS)),
        )


@dataclass(frozen=True, slots=True)
class FractionArithmeticProblem:
    """The expression in LaTeX, and its exact value."""

    expression: str
    value: Fraction = hidden()


@register("FractionArithmetic-v0", domain="math")
class FractionArithmeticTask(Task[FractionArithmeticConfig, FractionArithmeticProblem]):
    """Evaluate an expression of fractions exactly.

    Description:
        Positive fractions in lowest terms are joined into a random tree by the four operators
        and by large fraction bars. No fraction is an integer. An operator that would divide by
        zero or give zero is replaced by another.

    Observation:
        The expression in LaTeX.

    Action:
        One fraction, integer, mixed number or exact decimal.

    Reward:
        1 for the exact value, in lowest terms or not, otherwise 0.

    Verification:
        Exact, on rationals. An expression that is not evaluated earns 0.

    Difficulty:
        The number of fractions, their denominators and the choice of operators grow.

    References:
        Saxton et al., Analysing Mathematical Reasoning Abilities of Neural Models,
        arXiv:1904.01557 (arithmetic modules).
    """

    def generate(self, rng: Rng) -> FractionArithmeticProblem:
        config = self.config
        count = config.n_fractions
        bottoms = integers(rng, 2, config.max_denominator, count)
        tops = integers(rng, 0, 2**40, count)
        atoms = [_atom(top, bottom) for top, bottom in zip(tops, bottoms, strict=True)]
        operators = OPERATORS[: config.n_operators]
        made = grow(rng, atoms, operators, 16 + 4 * count)
        return FractionArithmeticProblem(made.text, made.value)

    def prompt(self, problem: FractionArithmeticProblem) -> str:
        return (
            "Calculate the exact value of the following expression, as a fraction or an integer:"
            f"\n\n$${problem.expression}$$"
        )

    def verify(self, problem: FractionArithmeticProblem, answer: str) -> Verdict:
        return judge_rational(problem.value, answer)

    def solve(self, problem: FractionArithmeticProblem) -> str:
        return number(problem.value)

    def effort(self, problem: FractionArithmeticProblem) -> int:
        """Count the digit operations of the calculation, innermost first, with all reductions."""
        return work(problem.expression)

    def baseline(self, rng: Rng, problem: FractionArithmeticProblem) -> str:
        """Calculate from left to right, without a look at brackets and precedence."""
        return number(left_to_right(problem.expression)[0])

    def explain(self, problem: FractionArithmeticProblem) -> list[str]:
        steps, _ = operations(problem.expression)
        return steps


def _atom(draw: int, bottom: int) -> Expression[Fraction]:
    """Return a fraction below 2 that is no integer, in lowest terms."""
    top = 1 + draw % (2 * bottom - 2)
    value = Fraction(top + (top >= bottom), bottom)
    return Expression(number(value), value)
