"""The inverse of an integer modulo another."""

import math
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.steps import euclid, operand
from rlvr_envs.verifiers.symbolic import judge_math

_ATTEMPTS = 200  # a draw succeeds at least one time in ten for moduli that could be written down


@dataclass(frozen=True, slots=True, kw_only=True)
class ModularInverseConfig(TaskConfig):
    """How large the modulus may be."""

    max_modulus: int = knob(2_000, "the modulus is drawn from 7..max_modulus", low=7)

    @classmethod
    def at(cls, difficulty: int) -> "ModularInverseConfig":
        """The modulus grows eightfold a level, and with it the steps of Euclid's algorithm."""
        return cls(max_modulus=40 * 8**difficulty)


@dataclass(frozen=True, slots=True)
class ModularInverseProblem:
    """An integer, a modulus coprime to it, and the inverse."""

    value: int
    modulus: int
    inverse: int = hidden()


@register("ModularInverse-v0", domain="math")
class ModularInverseTask(Task[ModularInverseConfig, ModularInverseProblem]):
    """Find the inverse of an integer modulo another.

    Description:
        The integer is coprime to the modulus and is neither 1 nor -1 modulo it, which are their
        own inverses. The answer is the inverse between 0 and the modulus.

    Observation:
        The integer and the modulus.

    Action:
        One integer.

    Reward:
        1 for the inverse in the requested range, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The modulus grows.

    References:
        Knuth, The Art of Computer Programming, volume 2, section 4.5.2 (Euclid's algorithm,
        extended).
    """

    def generate(self, rng: Rng) -> ModularInverseProblem:
        modulus = integer(rng, 7, self.config.max_modulus)
        for _ in range(_ATTEMPTS):
            value = integer(rng, 2, modulus - 2)
            if math.gcd(value, modulus) == 1:
                break
        else:
            value = modulus - 1
        return ModularInverseProblem(value, modulus, pow(value, -1, modulus))

    def prompt(self, problem: ModularInverseProblem) -> str:
        value, modulus = problem.value, problem.modulus
        return (
            f"Find the multiplicative inverse of {value} modulo {modulus}: the integer $x$ with "
            f"$0 < x < {modulus}$ and ${value}x \\equiv 1 \\pmod{{{modulus}}}$."
        )

    def verify(self, problem: ModularInverseProblem, answer: str) -> Verdict:
        return judge_math(str(problem.inverse), answer, answer_type="integer")

    def solve(self, problem: ModularInverseProblem) -> str:
        return str(problem.inverse)

    def explain(self, problem: ModularInverseProblem) -> list[str]:
        """Return Euclid's divisions, each remainder written as a multiple of the value."""
        value, modulus = problem.value, problem.modulus
        steps = [f"Write Euclid's remainders as multiples of {value} modulo {modulus}."]
        older, newer = 0, 1
        for division in euclid(modulus, value):
            if not division.remainder:
                break
            older, newer = newer, older - division.quotient * newer
            steps.append(
                f"{division}, so {value} * {operand(newer)} mod {modulus} = {division.remainder}."
            )
        if newer != problem.inverse:
            steps.append(f"{operand(newer)} mod {modulus} = {problem.inverse}.")
        return steps
