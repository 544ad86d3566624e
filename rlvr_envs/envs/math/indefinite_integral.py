"""Indefinite integrals, built by differentiating an antiderivative."""

import re
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import antiderivatives
from rlvr_envs.generators.mathematics.calculus import latex
from rlvr_envs.generators.mathematics.calculus_steps import from_text
from rlvr_envs.generators.mathematics.effort import symbols
from rlvr_envs.generators.mathematics.integration_steps import hurried_integral, integral_steps
from rlvr_envs.verifiers.symbolic import judge_antiderivative

_FUNCTION = re.compile(r"\\(?:sin|cos|ln|arctan|sqrt)|e\^")
_LAST_KIND = len(antiderivatives.KINDS) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class IndefiniteIntegralConfig(TaskConfig):
    """The parts of the integrand."""

    first_kind: int = knob(0, "the simplest kind of integral that may occur, from 0")
    last_kind: int = knob(4, "the hardest kind of integral that may occur, up to 7")
    n_terms: int = knob(1, "number of integrals that are added", low=1)
    degree: int = knob(2, "degree of the polynomials in the antiderivative", low=1)
    max_coefficient: int = knob(9, "the largest absolute value of their coefficients", low=2)

    def check(self) -> None:
        if not 0 <= self.first_kind <= self.last_kind <= _LAST_KIND:
            raise ConfigError(f"need 0 <= first_kind <= last_kind <= {_LAST_KIND}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "IndefiniteIntegralConfig":
        """Kinds get harder up to level 9, terms are added up to level 11; degrees grow always."""
        return cls(
            first_kind=min(difficulty // 3, 3),
            last_kind=min(difficulty, _LAST_KIND),
            n_terms=min(1 + (difficulty + 1) // 3, 5),
            degree=2 + (difficulty + 2) // 4,
            max_coefficient=9 + 2 * difficulty,
        )


@dataclass(frozen=True, slots=True)
class IndefiniteIntegralProblem:
    """An integrand in LaTeX, and one of its antiderivatives."""

    integrand: str
    antiderivative: str = hidden()


@register("IndefiniteIntegral-v0", domain="math")
class IndefiniteIntegralTask(Task[IndefiniteIntegralConfig, IndefiniteIntegralProblem]):
    """Find an antiderivative.

    Description:
        The integrand is a sum of derivatives of chosen functions: polynomials, sines and
        exponentials, logarithms, compositions (substitution), products (by parts), rational
        functions (partial fractions), and exponentials times sines.

    Observation:
        The integral.

    Action:
        An expression in x, with or without a constant of integration.

    Reward:
        1 for any antiderivative of the integrand, otherwise 0.

    Verification:
        The answer is differentiated and compared with the integrand at sample points. So every
        antiderivative passes, in any form and with any constant.

    Difficulty:
        The kinds of integral, the number of terms, the degrees and the coefficients grow.

    References:
        Spivak, Calculus, chapter 19.
    """

    def generate(self, rng: Rng) -> IndefiniteIntegralProblem:
        config = self.config
        pair = antiderivatives.draw(
            rng,
            (config.first_kind, config.last_kind),
            config.n_terms,
            config.degree,
            config.max_coefficient,
        )
        return IndefiniteIntegralProblem(latex(pair.integrand), latex(pair.antiderivative))

    def prompt(self, problem: IndefiniteIntegralProblem) -> str:
        return (
            f"Find the indefinite integral $$\\int \\left( {problem.integrand} \\right) dx.$$ "
            "Assume $x > 0$. Answer with one antiderivative as an expression in $x$. You may leave "
            "out the constant of integration."
        )

    def verify(self, problem: IndefiniteIntegralProblem, answer: str) -> Verdict:
        return judge_antiderivative(problem.integrand, answer, variable="x")

    def solve(self, problem: IndefiniteIntegralProblem) -> str:
        return problem.antiderivative

    def effort(self, problem: IndefiniteIntegralProblem) -> int:
        """Count the symbols of the integrand and an antiderivative; a function counts as ten."""
        text = problem.integrand + problem.antiderivative
        return symbols(text) + 9 * len(_FUNCTION.findall(text))

    def baseline(self, rng: Rng, problem: IndefiniteIntegralProblem) -> str:
        """Integrate powers of x, and take everything else for constant."""
        return latex(hurried_integral(from_text(problem.integrand)))

    def explain(self, problem: IndefiniteIntegralProblem) -> list[str]:
        found = integral_steps(from_text(problem.integrand))
        return [] if found is None else found[0]
