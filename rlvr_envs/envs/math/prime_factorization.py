"""Prime factorisation of an integer, as a product of prime powers."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import digits, trial_division
from rlvr_envs.generators.mathematics.plain_answers import squeeze
from rlvr_envs.generators.mathematics.primes import (
    Factors,
    draw_factors,
    draw_prime,
    factor_small,
)
from rlvr_envs.generators.mathematics.steps import factoring, prime_powers, times

_TIMES = re.compile(r"\\cdot|\\times|\\ast|[×·⋅∙]|(?<!\*)\*(?!\*)")
_POWER = re.compile(
    r"([0-9]{1,1000})(?:(?:\^|\*\*)(?:\{([0-9]{1,6})\}|\(([0-9]{1,6})\)|([0-9]{1,6})))?"
)
_NAME = re.compile(r"\A[a-zA-Z]=")
_WRAPPED = re.compile(r"\(([^()]*(?:\([0-9]*\))?)\)(?=$|\^|\*\*)")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_RAISED = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,6}")
_MAX_PART = 2_000  # times the largest exponent: how large an algebraic factor may be


# The cofactor, the primes and how many of them there are, at the first levels.
_LEVELS = ((2_700, 2, 0), (70, 120, 1), (120, 300, 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class PrimeFactorizationConfig(TaskConfig):
    """How the integer is built, and how it is shown."""

    kinds: tuple[str, ...] = knob(
        ("plain",),
        "plain is a cofactor times primes, close a product of two primes with a small difference, "
        "powers a difference of powers, binomial a binomial coefficient",
        choices=("plain", "close", "powers", "binomial"),
    )
    max_cofactor: int = knob(200, "a cofactor is drawn from 2..max_cofactor", low=2, high=10**9)
    max_prime: int = knob(1_000, "primes are drawn from the upper half of 2..max_prime", low=2)
    n_primes: int = knob(1, "how many such primes multiply the cofactor", low=0)
    max_power: int = knob(
        8,
        "exponents of powers are drawn from 4..max_power; binomial coefficients grow with them",
        low=4,
        high=60,
    )

    @classmethod
    def at(cls, difficulty: int) -> "PrimeFactorizationConfig":
        """A small composite integer, then one prime times a cofactor, and two from level 3 on.

        The primes grow by half a level. Two close primes come in at level 4, differences of powers
        and binomial coefficients, which are factored before they are computed, at level 5.
        """
        if difficulty < len(_LEVELS):
            cofactor, prime, count = _LEVELS[difficulty]
            return cls(max_cofactor=cofactor, max_prime=prime, n_primes=count)
        kinds = ("plain", "close", "powers", "binomial")[: max(1, 2 * difficulty - 6)]
        return cls(
            kinds=kinds,
            max_cofactor=40 + 5 * difficulty,
            max_prime=70 * 3 ** (difficulty - 3) // 2 ** (difficulty - 3),
            n_primes=2,
            max_power=min(2 * difficulty - 2, 60),
        )


@dataclass(frozen=True, slots=True)
class PrimeFactorizationProblem:
    """The integer, its primes with their exponents, ascending, and how it is shown in LaTeX.

    ``shown`` is empty for an integer that is written out.
    """

    n: int
    factors: tuple[tuple[int, int], ...] = hidden()
    shown: str = ""


@register("PrimeFactorization-v0", domain="math")
class PrimeFactorizationTask(Task[PrimeFactorizationConfig, PrimeFactorizationProblem]):
    """Write an integer as a product of primes.

    Description:
        The integer is a small random cofactor times one or two large random primes; or a product
        of two primes with a small difference, which is a difference of two squares; or a
        difference of powers or a binomial coefficient, which are factored by their formulas.

    Observation:
        The integer, written out or as a formula.

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
        Products of close primes and formulas, for which trial division is no way, come in.

    References:
        Knuth, The Art of Computer Programming, volume 2, section 4.5.4.
    """

    def generate(self, rng: Rng) -> PrimeFactorizationProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        if kind == "close":
            factors = _close(rng, config.max_prime)
        elif kind == "powers":
            return _powers(rng, config.max_power)
        elif kind == "binomial":
            return _binomial(rng, config.max_power)
        else:
            factors = _composite(rng, config)
        return PrimeFactorizationProblem(math.prod(p**e for p, e in factors), factors)

    def prompt(self, problem: PrimeFactorizationProblem) -> str:
        shown = f"${problem.shown}$" if problem.shown else str(problem.n)
        return (
            f"Find the prime factorisation of {shown}. Answer with a product of prime powers "
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
        if not problem.shown:
            return factoring(problem.n, problem.factors)
        parts = [part for part in _parts(problem) if part > 1]
        if "binom" in problem.shown:
            steps = [f"No prime is larger than {parts[-1]}. Count each prime in the quotient."]
            steps += [f"{prime} is left {exponent} times." for prime, exponent in problem.factors]
            return steps
        steps = [f"By the divisors of the exponent it is {times(parts)} = {problem.n}."]
        for part in parts:
            factors = _ascending(factor_small(part))
            steps.append(f"{prime_powers(factors)} = {part}")
        return steps

    def effort(self, problem: PrimeFactorizationProblem) -> int:
        """Count trial divisions, or squares tried for a difference of two, each by its digits.

        Formulas are split first: powers into cyclotomic factors, binomials prime by prime.
        """
        if problem.shown:
            return sum(_tries(part, _ascending(factor_small(part))) for part in _parts(problem))
        return _tries(problem.n, problem.factors)

    def baseline(self, rng: Rng, problem: PrimeFactorizationProblem) -> str:
        """Divide by the primes below 10, and take the rest for a prime."""
        rest, found = problem.n, []
        for prime in (2, 3, 5, 7):
            while rest % prime == 0:
                rest //= prime
                found.append(prime)
        return " * ".join(map(str, [*found, rest] if rest > 1 or not found else found))


def _composite(rng: Rng, config: PrimeFactorizationConfig) -> Factors:
    """Draw a cofactor times primes, which is no prime itself."""
    factors: Factors = ()
    while sum(exponent for _, exponent in factors) < 2:
        factors = draw_factors(rng, config.max_cofactor, config.max_prime, config.n_primes)
        if config.max_cofactor < 4 and config.n_primes == 0:
            break
    return factors


def _close(rng: Rng, max_prime: int) -> Factors:
    """Draw two primes whose difference is small beside them."""
    low = draw_prime(rng, 5 * max_prime, 10 * max_prime)
    high = draw_prime(rng, low + 2, low + 2 + low // 4)
    return ((low, 1), (high, 1))


def _powers(rng: Rng, max_power: int) -> PrimeFactorizationProblem:
    """Draw a difference of powers whose algebraic factors are small enough to split by hand."""
    while True:
        exponent = integer(rng, max(4, max_power // 2), max_power)
        base = integer(rng, 2, 12)
        other = integer(rng, 1, base - 1)
        if math.gcd(base, other) > 1:
            continue
        parts = _cyclotomic(base, other, exponent)
        if max(parts) <= _MAX_PART * max_power:
            break
    found: Counter[int] = Counter()
    for part in parts:
        found.update(factor_small(part))
    small = "" if other == 1 else f"^{{{exponent}}}"
    shown = f"{base}^{{{exponent}}} - {other}{small}"
    return PrimeFactorizationProblem(base**exponent - other**exponent, _ascending(found), shown)


def _cyclotomic(base: int, other: int, exponent: int) -> list[int]:
    """Return the factors of a difference of powers that belong to the divisors of its exponent."""
    parts: dict[int, int] = {}
    for k in range(1, exponent + 1):
        if exponent % k == 0:
            known = math.prod(part for j, part in parts.items() if k % j == 0)
            parts[k] = (base**k - other**k) // known
    return list(parts.values())


def _binomial(rng: Rng, max_power: int) -> PrimeFactorizationProblem:
    """Draw a binomial coefficient; no prime in it is larger than its upper number."""
    top = integer(rng, 2 * max_power, 6 * max_power)
    chosen = integer(rng, 3, top - 3)
    found: Counter[int] = Counter()
    for factor in range(2, top + 1):
        for prime, exponent in factor_small(factor).items():
            # Each factor of top! counts once, and those of chosen! and (top - chosen)! are divided.
            times = 1 - (factor <= chosen) - (factor <= top - chosen)
            found[prime] += exponent * times
    shown = f"\\binom{{{top}}}{{{chosen}}}"
    return PrimeFactorizationProblem(math.comb(top, chosen), _ascending(found), shown)


def _ascending(found: Mapping[int, int]) -> Factors:
    return tuple(sorted((prime, exponent) for prime, exponent in found.items() if exponent))


def _parts(problem: PrimeFactorizationProblem) -> list[int]:
    """Return the integers into which a formula splits before any is divided."""
    numbers = [int(each) for each in re.findall("[0-9]+", problem.shown)]
    if "binom" not in problem.shown:
        return _cyclotomic(numbers[0], numbers[2], numbers[1])
    top, chosen = numbers
    return list(range(max(chosen, top - chosen) + 1, top + 1))


def _tries(part: int, factors: Factors) -> int:
    """Return the digits that are handled until a number is split, by divisors or by squares."""
    primes = [prime for prime, exponent in factors for _ in range(exponent)]
    cost = trial_division(factors)
    if len(primes) == 2 and primes[0] > 2:
        squares = sum(primes) // 2 - math.isqrt(part)
        return min(cost, squares * digits(part) ** 2)
    return cost


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
