"""The inverse of an integer modulo another."""

import math
from dataclasses import dataclass

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.steps import euclid, operand
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True, kw_only=True)
class ModularInverseConfig(TaskConfig):
    """How large the modulus may be, and to which power the integer is raised."""

    max_modulus: int = knob(2_000, "the modulus is drawn from 7..max_modulus", low=7)
    max_exponent: int = knob(
        1, "the integer is given as a power with an exponent from 1..max_exponent", low=1
    )

    @classmethod
    def at(cls, difficulty: int) -> "ModularInverseConfig":
        """The modulus grows fivefold a level, and twofold from level 4 on.

        From there the integer is a power that has to be reduced first, by repeated squaring.
        """
        beyond = max(0, difficulty - 3)
        return cls(
            max_modulus=150 * 5 ** min(difficulty, 3) * 2**beyond,
            max_exponent=4**beyond,
        )


@dataclass(frozen=True, slots=True)
class ModularInverseProblem:
    """An integer, a modulus coprime to it, the inverse, and the power that is to be inverted."""

    value: int
    modulus: int
    inverse: int = hidden()
    exponent: int = 1


@register("ModularInverse-v0", domain="math")
class ModularInverseTask(WorkedTask[ModularInverseConfig, ModularInverseProblem]):
    """Find the inverse of an integer modulo another.

    Description:
        The integer is coprime to the modulus and is not its own inverse. At higher levels a power
        of it is to be inverted. The answer is the inverse between 0 and the modulus.

    Observation:
        The integer or its power, and the modulus.

    Action:
        One integer.

    Reward:
        1 for the inverse in the requested range, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The modulus grows; powers to be reduced come in, and their exponents grow.

    References:
        Knuth, The Art of Computer Programming, volume 2, section 4.5.2 (Euclid's algorithm,
        extended).
    """

    def generate(self, rng: Rng) -> ModularInverseProblem:
        config = self.config
        value = modulus = 0
        while math.gcd(value, modulus) != 1 or value * value % modulus == 1:
            modulus = integer(rng, 7, config.max_modulus)
            value = integer(rng, 2, modulus - 2)
        exponent = integer(rng, (config.max_exponent + 1) // 2, config.max_exponent)
        return ModularInverseProblem(value, modulus, pow(value, -exponent, modulus), exponent)

    def prompt(self, problem: ModularInverseProblem) -> str:
        value, modulus = str(problem.value), problem.modulus
        times = ""
        if problem.exponent > 1:
            value, times = f"{value}^{{{problem.exponent}}}", " \\cdot "
        return (
            f"Find the multiplicative inverse of ${value}$ modulo {modulus}: the integer $x$ with "
            f"$0 < x < {modulus}$ and ${value}{times}x \\equiv 1 \\pmod{{{modulus}}}$."
        )

    def verify(self, problem: ModularInverseProblem, answer: str) -> Verdict:
        return judge_math(str(problem.inverse), answer, answer_type="integer")

    def solve(self, problem: ModularInverseProblem) -> str:
        return str(problem.inverse)

    def explain(self, problem: ModularInverseProblem) -> list[str]:
        """Return the power reduced, then Euclid's divisions, each remainder a multiple of it."""
        modulus = problem.modulus
        steps, value = _reduced(problem.value, problem.exponent, modulus)
        steps += [f"Write Euclid's remainders as multiples of {value} modulo {modulus}."]
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

    def baseline(self, rng: Rng, problem: ModularInverseProblem) -> str:
        """Take the factor whose product is the first one beyond the modulus."""
        return str(problem.modulus // problem.value + 1)


def _reduced(base: int, exponent: int, modulus: int) -> tuple[list[str], int]:
    """Return the steps of repeated squaring, and the power modulo the modulus."""
    steps, value = [], base
    for bit in bin(exponent)[3:]:
        square = value * value % modulus
        steps.append(f"{value} * {value} mod {modulus} = {square}")
        value = square
        if bit == "1":
            value = square * base % modulus
            steps.append(f"{square} * {base} mod {modulus} = {value}")
    return steps, value
