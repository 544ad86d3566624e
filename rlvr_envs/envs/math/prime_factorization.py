"""Prime factorisation of an integer, as a product of prime powers."""

import math
import re
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.plain_answers import squeeze
from rlvr_envs.generators.mathematics.primes import Factors, draw_factors
from rlvr_envs.generators.mathematics.steps import factoring

_TIMES = re.compile(r"\\cdot|\\times|\\ast|[×·⋅∙]|(?<!\*)\*(?!\*)")
_POWER = re.compile(
    r"([0-9]{1,1000})(?:(?:\^|\*\*)(?:\{([0-9]{1,6})\}|\(([0-9]{1,6})\)|([0-9]{1,6})))?"
)
_NAME = re.compile(r"\A[a-zA-Z]=")
_WRAPPED = re.compile(r"\(([^()]*(?:\([0-9]*\))?)\)(?=$|\^|\*\*)")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimeFactorizationConfig(TaskConfig):
    """How the integer is built."""

    max_cofactor: int = knob(200, "a cofactor is drawn from 2..max_cofactor", low=2, high=10**9)
    max_prime: int = knob(1_000, "primes are drawn from the upper half of 2..max_prime", low=2)
    n_primes: int = knob(1, "how many such primes multiply the cofactor", low=0)

    @classmethod
    def at(cls, difficulty: int) -> "PrimeFactorizationConfig":
        """The primes triple each level; from level 3 on, two of them multiply the cofactor."""
        return cls(
            max_cofactor=60 + 20 * difficulty,
            max_prime=20 * 3**difficulty,
            n_primes=1 if difficulty < 3 else 2,
        )


@dataclass(frozen=True, slots=True)
class PrimeFactorizationProblem:
    """The integer, and its primes with their exponents, ascending."""

    n: int
    factors: tuple[tuple[int, int], ...] = hidden()


@register("PrimeFactorization-v0", domain="math")
class PrimeFactorizationTask(Task[PrimeFactorizationConfig, PrimeFactorizationProblem]):
    """Write an integer as a product of primes.

    Description:
        The integer is a small random cofactor times one or two large random primes.

    Observation:
        The integer.

    Action:
        A product such as ``2^3 * 5 * 7``, with the usual signs for multiplication and powers.

    Reward:
        1 for a product of primes that equals the integer, otherwise 0.

    Verification:
        Exact: the product must use the same primes as the known factorisation, as often, in any
        order; a prime may also be repeated instead of raised to a power. Composite factors, a
        factor 1 and sums earn nothing. Primes beyond 3.3e24 are strong probable primes.

    Difficulty:
        The primes grow, and so does the work of trial division; from level 3 on there are two.

    References:
        Knuth, The Art of Computer Programming, volume 2, section 4.5.4.
    """

    def generate(self, rng: Rng) -> PrimeFactorizationProblem:
        config = self.config
        factors = draw_factors(rng, config.max_cofactor, config.max_prime, config.n_primes)
        return PrimeFactorizationProblem(math.prod(p**e for p, e in factors), factors)

    def prompt(self, problem: PrimeFactorizationProblem) -> str:
        return (
            f"Find the prime factorisation of {problem.n}. Answer with a product of prime powers "
            "in the form $p^a \\cdot q^b \\cdots$. You may leave out exponents of 1."
        )

    def verify(self, problem: PrimeFactorizationProblem, answer: str) -> Verdict:
        given = _read_product(answer, problem.n)
        if given is None:
            return Verdict.unparsable("expected a product of powers such as 2^3 * 5 * 7")
        if given == problem.factors:
            return Verdict.correct()
        known = {prime for prime, _ in problem.factors}
        if {base for base, _ in given} <= known:
            return Verdict.wrong("a prime is missing or has a wrong exponent")
        return Verdict.wrong("a factor is not a prime factor of this number")

    def solve(self, problem: PrimeFactorizationProblem) -> str:
        return " \\cdot ".join(
            str(prime) if exponent == 1 else f"{prime}^{{{exponent}}}"
            for prime, exponent in problem.factors
        )

    def explain(self, problem: PrimeFactorizationProblem) -> list[str]:
        return factoring(problem.n, problem.factors)


def _read_product(answer: str, n: int) -> Factors | None:
    """Return the bases and exponents of a product, equal bases joined, ascending.

    The number itself may stand before the product, as in ``12 = 2^2 * 3``.
    """
    raised = _RAISED.sub(lambda found: "^" + found.group().translate(_SUPERSCRIPTS), answer)
    text = squeeze(raised)
    if text is None:
        return None
    text = _NAME.sub("", text, count=1).removeprefix(f"{n}=")
    found: dict[int, int] = {}
    for part in _TIMES.split(text):
        match = _POWER.fullmatch(_WRAPPED.sub(r"\1", part) if part.startswith("(") else part)
        if match is None:
            return None
        base, exponent = int(match[1]), int(match[2] or match[3] or match[4] or 1)
        found[base] = found.get(base, 0) + exponent
    return tuple(sorted(found.items()))
