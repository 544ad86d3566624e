"""Greatest common divisor of several integers."""

import math
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import effort
from rlvr_envs.generators.mathematics.steps import euclid
from rlvr_envs.generators.mathematics.words import listed
from rlvr_envs.verifiers.symbolic import judge_math

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71)


@dataclass(frozen=True, slots=True, kw_only=True)
class GcdConfig(TaskConfig):
    """How many numbers there are, and how large."""

    n_numbers: int = knob(2, "how many numbers share the divisor", low=2)
    max_divisor: int = knob(30, "the planted divisor is drawn from 1..max_divisor", low=1)
    max_cofactor: int = knob(
        50, "each number is the divisor times a factor from 2..max_cofactor", low=3
    )

    @classmethod
    def at(cls, difficulty: int) -> "GcdConfig":
        """The divisor and the factors about triple a level; every third level adds a number."""
        return cls(
            n_numbers=2 + difficulty // 3,
            max_divisor=8 + 12 * 3**difficulty,
            max_cofactor=9 + 6 * 3**difficulty,
        )


@dataclass(frozen=True, slots=True)
class GcdProblem:
    """The numbers, and their greatest common divisor."""

    numbers: tuple[int, ...]
    divisor: int = hidden()


@register("Gcd-v0", domain="math")
class GcdTask(Task[GcdConfig, GcdProblem]):
    """Find the greatest common divisor of a list of integers.

    Description:
        Each number is a planted divisor times a random factor, so the answer is spread evenly
        rather than being 1 most of the time. It is never one of the numbers. Of 3 to 20 numbers,
        all but one always share a larger divisor, so every number counts.

    Observation:
        The numbers, and the request for their greatest common divisor.

    Action:
        One integer.

    Reward:
        1 for the greatest common divisor, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The planted divisor, the factors and the count of numbers grow: the method stays Euclid's,
        so only size can grow.

    References:
        Euclid, Elements, book VII, propositions 1-3.
    """

    def generate(self, rng: Rng) -> GcdProblem:
        config = self.config
        planted = integer(rng, 1, config.max_divisor)
        while True:
            factors = self._factors(rng)
            if math.gcd(*factors) not in factors:
                break
        numbers = tuple(planted * factor for factor in factors)
        return GcdProblem(numbers, math.gcd(*numbers))

    def _factors(self, rng: Rng) -> tuple[int, ...]:
        """Return a factor for each number; of three or more, a prime divides all but each one."""
        count = self.config.n_numbers
        factors = integers(rng, 2, self.config.max_cofactor, count)
        if count == 2:
            return factors
        primes = [_PRIMES[i] for i in rng.permutation(min(2 * count, len(_PRIMES)))[:count]]
        primes += [1] * (count - len(primes))
        whole = math.prod(primes)
        return tuple(
            (factor - (factor % prime == 0)) * (whole // prime)
            for factor, prime in zip(factors, primes, strict=True)
        )

    def prompt(self, problem: GcdProblem) -> str:
        return f"What is the greatest common divisor of {listed(list(map(str, problem.numbers)))}?"

    def verify(self, problem: GcdProblem, answer: str) -> Verdict:
        return judge_math(str(problem.divisor), answer, answer_type="integer")

    def solve(self, problem: GcdProblem) -> str:
        return str(problem.divisor)

    def effort(self, problem: GcdProblem) -> int:
        """Count the digit operations of Euclid's algorithm, from number to number."""
        common, *others = problem.numbers
        cost = 0
        for number in others:
            cost += effort.euclid(common, number)
            common = math.gcd(common, number)
        return cost

    def baseline(self, rng: Rng, problem: GcdProblem) -> str:
        """Answer the largest number up to 10 that divides all numbers."""
        return str(max(d for d in range(1, 11) if not any(n % d for n in problem.numbers)))

    def explain(self, problem: GcdProblem) -> list[str]:
        steps = []
        common = problem.numbers[0]
        for number in problem.numbers[1:]:
            high, low = max(common, number), min(common, number)
            steps += [f"{division}." for division in euclid(high, low)]
            common = math.gcd(high, low)
            steps.append(f"The last divisor is {common}, so gcd({high}, {low}) = {common}.")
        return steps
