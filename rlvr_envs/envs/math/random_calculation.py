"""Random arithmetic expressions of a given number of steps."""

import math
import re
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integers
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.evaluation import operations
from rlvr_envs.generators.mathematics.expressions import Expression, grow
from rlvr_envs.generators.mathematics.latex import number
from rlvr_envs.generators.mathematics.stated_numbers import judge_rational, stated_rational

ATOMS = ("integer", "fraction", "square", "cube")


@dataclass(frozen=True, slots=True, kw_only=True)
class RandomCalculationConfig(TaskConfig):
    """The length of the expression, its operands, and how answers are scored."""

    n_steps: int = knob(5, "operators in the expression", low=1)
    max_integer: int = knob(100, "integers are drawn from 2..max_integer", low=2)
    atoms: tuple[str, ...] = knob(ATOMS, "kinds of operands, each equally likely", choices=ATOMS)
    graded: bool = knob(False, "give partial credit for answers close to the value")

    @classmethod
    def at(cls, difficulty: int) -> "RandomCalculationConfig":
        """A step or two more a level, larger integers, one more kind of operand up to level 3.

        Only size grows: the point is a calculation that nobody has seen.
        """
        kinds = ("integer", "square", "fraction", "cube")
        return cls(
            n_steps=1 + 3 * difficulty // 2,
            max_integer=40 + 10 * difficulty,
            atoms=kinds[: 1 + difficulty],
        )


@dataclass(frozen=True, slots=True)
class RandomCalculationProblem:
    """The expression in LaTeX, and its exact value."""

    expression: str
    value: Fraction = hidden()


@register("RandomCalculation-v0", domain="math")
class RandomCalculationTask(WorkedTask[RandomCalculationConfig, RandomCalculationProblem]):
    """Evaluate a random arithmetic expression exactly.

    Description:
        Integers, fractions, squares and cubes are joined by the four operators into a random
        tree. Expressions are drawn at random, so a model is unlikely to have seen them in
        training. An operator that would divide by zero, or make the numerator or denominator
        very long, is replaced by another.

    Observation:
        The expression in LaTeX.

    Action:
        One integer, fraction or decimal that equals the value.

    Reward:
        1 for the exact value, otherwise 0. With ``graded`` an answer a to a value b earns
        1 - 0.5 min(|a-b|, 1) - 0.5 min(|a-b| / (|b| + 1e-6), 1), and less than 1 unless a = b.

    Verification:
        Exact, on rationals. An answer that is itself an expression to be evaluated earns 0.

    Difficulty:
        The steps, the size of the integers and the kinds of operands grow. Nothing but size can
        grow in plain arithmetic.

    References:
        Wu et al., Reasoning or Memorization? Unreliable Results of Reinforcement Learning Due to
        Data Contamination, arXiv:2507.10532 (the RandomCalculation data set and the graded
        reward).
    """

    def generate(self, rng: Rng) -> RandomCalculationProblem:
        config = self.config
        count = config.n_steps + 1
        kinds = integers(rng, 0, len(config.atoms) - 1, count)
        tops = integers(rng, 2, config.max_integer, count)
        bottoms = integers(rng, 2, config.max_integer, count)
        atoms = [
            _atom(config.atoms[kind], top, bottom)
            for kind, top, bottom in zip(kinds, tops, bottoms, strict=True)
        ]
        # A single division would be its own answer, copied as a fraction.
        operators = "+-*/" if config.n_steps > 1 else "+-*"
        made = grow(rng, atoms, operators, 24 + 2 * config.n_steps)
        return RandomCalculationProblem(made.text, made.value)

    def prompt(self, problem: RandomCalculationProblem) -> str:
        operators = problem.expression.count("\\times") + problem.expression.count("\\div")
        order = " Multiply and divide from left to right." if operators > 1 else ""
        near = " A close answer earns partial credit." if self.config.graded else ""
        return (
            f"Evaluate the expression exactly.{order}\n\n$${problem.expression}$$\n\n"
            f"Answer with one integer or fraction.{near}"
        )

    def verify(self, problem: RandomCalculationProblem, answer: str) -> Verdict:
        found = stated_rational(answer)
        if found is None or not self.config.graded:
            return judge_rational(problem.value, answer)
        return Verdict.graded(closeness(found, problem.value))

    def solve(self, problem: RandomCalculationProblem) -> str:
        return number(problem.value)

    def explain(self, problem: RandomCalculationProblem) -> list[str]:
        steps, _ = operations(problem.expression)
        return steps

    def baseline(self, rng: Rng, problem: RandomCalculationProblem) -> str:
        """Add all numbers up, whatever stands between them."""
        return str(sum(map(int, re.findall("[0-9]+", problem.expression))))


def closeness(answer: Fraction, value: Fraction) -> float:
    """Return the graded score: 1 at the value, below 1 and at least 0 elsewhere."""
    gap = abs(answer - value)
    if gap == 0:
        return 1.0
    relative = gap / (abs(value) + Fraction(1, 10**6))
    score = 1 - min(gap, Fraction(1)) / 2 - min(relative, Fraction(1)) / 2
    return min(float(score), math.nextafter(1.0, 0.0))


def _atom(kind: str, top: int, bottom: int) -> Expression[Fraction]:
    if kind == "fraction":
        return Expression(f"\\frac{{{top}}}{{{bottom}}}", Fraction(top, bottom))
    if kind == "square":
        return Expression(f"{top}^2", Fraction(top**2))
    if kind == "cube":
        return Expression(f"{top}^3", Fraction(top**3))
    return Expression(str(top), Fraction(top))
