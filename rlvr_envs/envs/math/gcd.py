"""Greatest common divisor of several integers."""

import math
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.steps import euclid
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True, kw_only=True)
class GcdConfig(TaskConfig):
    """How many numbers there are, and how large."""

    n_numbers: int = knob(2, "how many numbers share the divisor", low=2)
    max_divisor: int = knob(30, "the planted divisor is drawn from 1..max_divisor", low=1)
    max_cofactor: int = knob(
        50, "each number is the divisor times a factor from 1..max_cofactor", low=2
    )

    @classmethod
    def at(cls, difficulty: int) -> "GcdConfig":
        """The divisor and the factors triple a rung; every third adds a number."""
        return cls(
            n_numbers=2 + difficulty // 3,
            max_divisor=9 * 3**difficulty,
            max_cofactor=9 * 3**difficulty,
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
        rather than being 1 most of the time.

    Observation:
        The numbers, and the request for their greatest common divisor.

    Action:
        One integer.

    Reward:
        1 for the greatest common divisor, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The planted divisor, the factors and the count of numbers grow.

    References:
        Euclid, Elements, book VII, propositions 1-3.
    """

    def generate(self, rng: Rng) -> GcdProblem:
        config = self.config
        planted = integer(rng, 1, config.max_divisor)
        factors = integers(rng, 1, config.max_cofactor, config.n_numbers)
        numbers = tuple(planted * factor for factor in factors)
        return GcdProblem(numbers, math.gcd(*numbers))

    def prompt(self, problem: GcdProblem) -> str:
        numbers = ", ".join(map(str, problem.numbers))
        return f"What is the greatest common divisor of {numbers}?"

    def verify(self, problem: GcdProblem, answer: str) -> Verdict:
        return judge_math(str(problem.divisor), answer, answer_type="integer")

    def solve(self, problem: GcdProblem) -> str:
        return str(problem.divisor)

    def explain(self, problem: GcdProblem) -> list[str]:
        steps = []
        common = problem.numbers[0]
        for number in problem.numbers[1:]:
            high, low = max(common, number), min(common, number)
            steps += [f"{division}." for division in euclid(high, low)]
            common = math.gcd(high, low)
            steps.append(f"The last divisor is {common}, so gcd({high}, {low}) = {common}.")
        return steps
