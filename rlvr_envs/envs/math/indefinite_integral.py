"""Indefinite integrals, made by differentiating an antiderivative."""

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
from rlvr_envs.generators.mathematics.integration_steps import integral_steps
from rlvr_envs.verifiers.symbolic import judge_antiderivative

_LAST_KIND = len(antiderivatives.KINDS) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class IndefiniteIntegralConfig(TaskConfig):
    """What the integrand is made of."""

    first_kind: int = knob(0, "the simplest kind of integral that may occur")
    last_kind: int = knob(4, "the hardest; 7 is the hardest that there is")
    n_terms: int = knob(1, "how many integrals are added", low=1)
    degree: int = knob(2, "of the polynomials inside them", low=1)
    max_coefficient: int = knob(9, "of those polynomials, in absolute value", low=2)

    def check(self) -> None:
        if not 0 <= self.first_kind <= self.last_kind <= _LAST_KIND:
            raise ConfigError(f"need 0 <= first_kind <= last_kind <= {_LAST_KIND}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "IndefiniteIntegralConfig":
        """Kinds get harder up to rung 9, terms more up to rung 12.

        Degrees and coefficients keep growing.
        """
        return cls(
            first_kind=min(difficulty // 3, 3),
            last_kind=min(difficulty, _LAST_KIND),
            n_terms=min(1 + difficulty // 4, 4),
            degree=2 + difficulty // 4,
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
        The answer is differentiated and compared with the integrand, so every antiderivative
        passes, whatever its form or constant. The identity is tested at sample points.

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
            "Give an antiderivative as an expression in $x$, for $x > 0$."
        )

    def verify(self, problem: IndefiniteIntegralProblem, answer: str) -> Verdict:
        return judge_antiderivative(problem.integrand, answer, variable="x")

    def solve(self, problem: IndefiniteIntegralProblem) -> str:
        return problem.antiderivative

    def explain(self, problem: IndefiniteIntegralProblem) -> list[str]:
        found = integral_steps(from_text(problem.integrand))
        return [] if found is None else found[0]
