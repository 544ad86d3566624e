"""Arithmetic functions of a factorised integer: Euler's totient, count and sum of divisors."""

import math
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import trial_division, written
from rlvr_envs.generators.mathematics.primes import (
    Factors,
    draw_factors,
    factor_small,
    is_prime,
)
from rlvr_envs.generators.mathematics.steps import factoring, prime_powers, times
from rlvr_envs.verifiers.symbolic import judge_math

_QUESTIONS = {
    "totient": (
        "Find Euler's totient $\\varphi({n})$: the number of integers from 1 to {n} that are "
        "coprime to {n}."
    ),
    "divisor_count": "How many positive divisors does {n} have, including 1 and {n} itself?",
    "divisor_sum": "What is the sum of all positive divisors of {n}, including 1 and {n} itself?",
    "power_divisors": "How many positive divisors does ${n}^{{{k}}}$ have?",
    "coprime_sum": "What is the sum of the integers from 1 to {n} that are coprime to {n}?",
    "preimage": (
        "What is the largest positive integer $m$ with $\\varphi(m) = {n}$? Here $\\varphi(m)$ is "
        "Euler's totient: the number of integers from 1 to $m$ that are coprime to $m$."
    ),
}
KINDS = tuple(_QUESTIONS)
_TRIED = 10**6  # trial division by larger primes is no worked solution that anyone would read


@dataclass(frozen=True, slots=True, kw_only=True)
class TotientConfig(TaskConfig):
    """The functions to evaluate, and how the integer is built."""

    kinds: tuple[str, ...] = knob(
        KINDS, "which functions of the integer, or of its power, are asked for", choices=KINDS
    )
    max_cofactor: int = knob(200, "a cofactor is drawn from 2..max_cofactor", low=2, high=10**9)
    max_prime: int = knob(1_000, "primes are drawn from the upper half of 2..max_prime", low=2)
    n_primes: int = knob(1, "how many such primes multiply the cofactor", low=0)
    max_exponent: int = knob(
        9, "exponents of power_divisors are drawn from 2..max_exponent", low=2, high=10**6
    )

    @classmethod
    def at(cls, difficulty: int) -> "TotientConfig":
        """The primes grow by a quarter a level, the cofactor too, every fifth level adds a prime.

        The divisors of a power join from level 2, the sum of coprime integers from 4; the largest
        integer with a given totient, for which no formula exists, joins at level 6.
        """
        kinds = ("totient", "divisor_sum", "power_divisors", "coprime_sum", "preimage")
        return cls(
            kinds=kinds[: 2 + min(difficulty // 2, 3)],
            max_cofactor=300 + 20 * difficulty,
            max_prime=20 * 5**difficulty // 4**difficulty,
            n_primes=1 + difficulty // 5,
            max_exponent=9 + 10 * difficulty,
        )


@dataclass(frozen=True, slots=True)
class TotientProblem:
    """The question, its integer, its answer, and the exponent of the integer if it has one."""

    kind: str
    n: int
    value: int = hidden()
    exponent: int = 1


@register("Totient-v0", domain="math")
class TotientTask(Task[TotientConfig, TotientProblem]):
    """Evaluate Euler's totient, the number of divisors or a like function of an integer.

    Description:
        The integer is a random cofactor times random primes. So the generator knows the
        factorisation, and the agent has to find it.

    Observation:
        The integer and one of the functions.

    Action:
        One integer.

    Reward:
        1 for the value of the function, otherwise 0.

    Verification:
        Exact, on integers. Primes beyond 3.3e24 are strong probable primes, not proven ones.

    Difficulty:
        The primes, how many of them there are, and the cofactor grow; functions of powers, sums
        of coprime integers and the search for an integer with a given totient come in.

    References:
        Hardy and Wright, An Introduction to the Theory of Numbers, chapter 16.
    """

    def generate(self, rng: Rng) -> TotientProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        if kind == "preimage":
            some = integer(rng, 30 * config.max_prime, 60 * config.max_prime)
            n = _value("totient", tuple(factor_small(some).items()))
            return TotientProblem(kind, n, max(_preimages(n)))
        factors = draw_factors(rng, config.max_cofactor, config.max_prime, config.n_primes)
        n = math.prod(prime**exponent for prime, exponent in factors)
        exponent = integer(rng, 2, config.max_exponent) if kind == "power_divisors" else 1
        return TotientProblem(kind, n, _value(kind, factors, exponent), exponent)

    def prompt(self, problem: TotientProblem) -> str:
        return _QUESTIONS[problem.kind].format(n=problem.n, k=problem.exponent)

    def verify(self, problem: TotientProblem, answer: str) -> Verdict:
        return judge_math(str(problem.value), answer, answer_type="integer")

    def solve(self, problem: TotientProblem) -> str:
        return str(problem.value)

    def explain(self, problem: TotientProblem) -> list[str]:
        if self.config.max_prime > _TRIED:
            return []
        if problem.kind == "preimage":
            return _tried(problem.n)
        factors = tuple(sorted(factor_small(problem.n).items()))
        return [
            *factoring(problem.n, factors),
            f"{problem.n} = {prime_powers(factors)}",
            _RULES[problem.kind].format(k=problem.exponent),
            *_product(problem, factors),
        ]

    def effort(self, problem: TotientProblem) -> int:
        """Count the digits of the worked solution, and those handled by trial division before."""
        factors = tuple(sorted(factor_small(problem.n).items()))
        return trial_division(factors) + written(self.explain(problem))

    def baseline(self, rng: Rng, problem: TotientProblem) -> str:
        """Divide by the primes below 10, and take the rest for a prime."""
        rest, found = problem.n, dict[int, int]()
        for prime in (2, 3, 5, 7):
            while rest % prime == 0:
                rest //= prime
                found[prime] = found.get(prime, 0) + 1
        if rest > 1:
            found[rest] = 1
        kind = "divisor_sum" if problem.kind == "preimage" else problem.kind
        return str(_value(kind, tuple(found.items()), problem.exponent))


def _value(kind: str, factors: Factors, exponent: int = 1) -> int:
    """Return the value of a function of the integer with these factors, or of a power of it."""
    if kind == "totient":
        return math.prod((prime - 1) * prime ** (power - 1) for prime, power in factors)
    if kind == "coprime_sum":  # k and n - k are coprime to n together
        n: int = math.prod(prime**power for prime, power in factors)
        return (n * _value("totient", factors) + 1) // 2
    if kind in ("divisor_count", "power_divisors"):
        return math.prod(exponent * power + 1 for _, power in factors)
    return math.prod((prime ** (power + 1) - 1) // (prime - 1) for prime, power in factors)


def _candidates(totient: int) -> list[int]:
    """Return the primes that may divide an integer with this totient, descending."""
    return [d + 1 for d in reversed(_divisors(totient)) if is_prime(d + 1)]


def _divisors(value: int) -> list[int]:
    small = [d for d in range(1, math.isqrt(value) + 1) if value % d == 0]
    return sorted({*small, *(value // d for d in small)})


def _preimages(totient: int) -> list[int]:
    """Return all integers with this totient."""
    found = []
    primes = _candidates(totient)
    partial = [(1, totient, 0)]  # a product, the totient of the rest, and the next prime to use
    for product, rest, start in partial:  # the list grows as it is read
        if rest == 1:
            found.append(product)
        for at in range(start, len(primes)):
            power, left = primes[at], rest
            if left % (primes[at] - 1):
                continue
            left //= primes[at] - 1
            partial.append((product * power, left, at + 1))
            while left % primes[at] == 0:
                left, power = left // primes[at], power * primes[at]
                partial.append((product * power, left, at + 1))
    return found


def _tried(totient: int) -> list[str]:
    """Return the steps to the largest integer with a totient."""
    found = sorted(_preimages(totient))
    return [
        f"If a prime p divides m, then p - 1 divides {totient}.",
        f"The divisors: {', '.join(map(str, _divisors(totient)))}",
        f"So p is one of {', '.join(map(str, _candidates(totient)))}.",
        f"The products of their powers with the totient {totient}: {', '.join(map(str, found))}",
        f"The largest one is {found[-1]}.",
    ]


_RULES = {
    "totient": "The totient of a prime power p^e is (p - 1) * p^(e - 1). Multiply these.",
    "divisor_count": "A prime power p^e has e + 1 divisors. Multiply these.",
    "divisor_sum": "The divisors of a prime power p^e add up to 1 + p + ... + p^e. Multiply these.",
    "power_divisors": "In the power {k}, each exponent e is {k} times as large. Multiply {k}e + 1.",
    "coprime_sum": "If k is coprime to n, so is n - k: half of n times the totient is the sum.",
}


def _product(problem: TotientProblem, factors: Factors) -> list[str]:
    """Return the value of the function at each prime power, and the product."""
    kind = "totient" if problem.kind == "coprime_sum" else problem.kind
    values = [_value(kind, (factor,), problem.exponent) for factor in factors]
    steps = []
    for (prime, power), value in zip(factors, values, strict=True):
        if kind == "totient":
            work = f"({prime} - 1) * {prime}^{power - 1}"
        elif kind == "power_divisors":
            work = f"{problem.exponent} * {power} + 1"
        elif kind == "divisor_count":
            work = f"{power} + 1"
        else:
            work = " + ".join(str(prime**k) for k in range(power + 1))
        steps.append(f"For {prime}^{power}: {work} = {value}")
    whole = math.prod(values)
    if len(values) > 1:
        steps.append(f"{times(values)} = {whole}")
    if problem.kind == "coprime_sum":
        steps.append(f"{problem.n} * {whole} / 2 = {_value('coprime_sum', factors)}")
    return steps
