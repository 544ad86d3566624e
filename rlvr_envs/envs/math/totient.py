"""Arithmetic functions of a factorised integer: Euler's totient, count and sum of divisors."""

import math
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.primes import Factors, draw_factors, factor_small
from rlvr_envs.generators.mathematics.steps import factoring, prime_powers, times
from rlvr_envs.verifiers.symbolic import judge_math

_QUESTIONS = {
    "totient": (
        "Find Euler's totient $\\varphi({n})$: the number of integers from 1 to {n} that are "
        "coprime to {n}."
    ),
    "divisor_count": "How many positive divisors does {n} have, including 1 and {n} itself?",
    "divisor_sum": ("What is the sum of all positive divisors of {n}, including 1 and {n} itself?"),
}
KINDS = tuple(_QUESTIONS)
_TRIED = 10**6  # trial division by larger primes is no worked solution that anyone would read


@dataclass(frozen=True, slots=True, kw_only=True)
class TotientConfig(TaskConfig):
    """The functions to evaluate, and how the integer is built."""

    kinds: tuple[str, ...] = knob(
        KINDS, "some of totient, divisor_count and divisor_sum", choices=KINDS
    )
    max_cofactor: int = knob(200, "a cofactor is drawn from 2..max_cofactor", low=2, high=10**9)
    max_prime: int = knob(1_000, "primes are drawn from the upper half of 2..max_prime", low=2)
    n_primes: int = knob(1, "how many such primes multiply the cofactor", low=0)

    @classmethod
    def at(cls, difficulty: int) -> "TotientConfig":
        """The primes double each level, the cofactor grows, every third level adds a prime."""
        return cls(
            max_cofactor=40 + 20 * difficulty,
            max_prime=12 * 2**difficulty,
            n_primes=1 + difficulty // 3,
        )


@dataclass(frozen=True, slots=True)
class TotientProblem:
    """The function, its argument and its value."""

    kind: str
    n: int
    value: int = hidden()


@register("Totient-v0", domain="math")
class TotientTask(Task[TotientConfig, TotientProblem]):
    """Evaluate Euler's totient, the number of divisors or the sum of divisors of an integer.

    Description:
        The integer is a random cofactor times random primes. So the generator knows the
        factorisation, and the agent has to find it.

    Observation:
        The integer and one of the three functions.

    Action:
        One integer.

    Reward:
        1 for the value of the function, otherwise 0.

    Verification:
        Exact, on integers. Primes beyond 3.3e24 are strong probable primes, not proven ones.

    Difficulty:
        The primes, how many of them there are, and the cofactor grow.

    References:
        Hardy and Wright, An Introduction to the Theory of Numbers, chapter 16.
    """

    def generate(self, rng: Rng) -> TotientProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        factors = draw_factors(rng, config.max_cofactor, config.max_prime, config.n_primes)
        n = math.prod(prime**exponent for prime, exponent in factors)
        return TotientProblem(kind, n, _value(kind, factors))

    def prompt(self, problem: TotientProblem) -> str:
        return _QUESTIONS[problem.kind].format(n=problem.n)

    def verify(self, problem: TotientProblem, answer: str) -> Verdict:
        return judge_math(str(problem.value), answer, answer_type="integer")

    def solve(self, problem: TotientProblem) -> str:
        return str(problem.value)

    def explain(self, problem: TotientProblem) -> list[str]:
        if self.config.max_prime > _TRIED:
            return []
        factors = tuple(sorted(factor_small(problem.n).items()))
        return [
            *factoring(problem.n, factors),
            f"{problem.n} = {prime_powers(factors)}",
            _RULES[problem.kind],
            *_product(problem.kind, factors),
        ]


def _value(kind: str, factors: Factors) -> int:
    if kind == "totient":
        return math.prod((prime - 1) * prime ** (power - 1) for prime, power in factors)
    if kind == "divisor_count":
        return math.prod(power + 1 for _, power in factors)
    return math.prod((prime ** (power + 1) - 1) // (prime - 1) for prime, power in factors)


_RULES = {
    "totient": "The totient of a prime power p^e is (p - 1) * p^(e - 1). Multiply these.",
    "divisor_count": "A prime power p^e has e + 1 divisors. Multiply these.",
    "divisor_sum": "The divisors of a prime power p^e add up to 1 + p + ... + p^e. Multiply these.",
}


def _product(kind: str, factors: Factors) -> list[str]:
    """Return the value of the function at each prime power, and the product."""
    values = [_value(kind, (factor,)) for factor in factors]
    steps = []
    for (prime, power), value in zip(factors, values, strict=True):
        if kind == "totient":
            work = f"({prime} - 1) * {prime}^{power - 1}"
        elif kind == "divisor_count":
            work = f"{power} + 1"
        else:
            work = " + ".join(str(prime**k) for k in range(power + 1))
        steps.append(f"For {prime}^{power}: {work} = {value}")
    return [*steps, f"{times(values)} = {_value(kind, factors)}"] if len(values) > 1 else steps
