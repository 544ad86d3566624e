"""Simultaneous congruences: the smallest number with given remainders."""

import math
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics import effort
from rlvr_envs.verifiers.mathtext.normalise import split_modulus
from rlvr_envs.verifiers.symbolic import judge_math

_TRIED = 12  # a worked solution tries values up to this one by one, and calculates larger ones


@dataclass(frozen=True, slots=True, kw_only=True)
class ChineseRemainderConfig(TaskConfig):
    """The number of congruences and the size of their moduli."""

    n_moduli: int = knob(3, "number of congruences", low=2)
    max_modulus: int = knob(30, "the moduli are distinct numbers from 3..max_modulus")
    max_factor: int = knob(1, "x comes with factors from 1..max_factor", low=1)

    def check(self) -> None:
        if self.max_modulus < 2 * self.n_moduli + 2:
            raise ConfigError(f"need max_modulus >= 2 * n_moduli + 2, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "ChineseRemainderConfig":
        """The moduli double each level; every second level adds a congruence.

        From level 3 on, x has a factor in each congruence, which must be divided out first.
        """
        return cls(
            n_moduli=2 + difficulty // 2,
            max_modulus=14 * 2**difficulty,
            max_factor=1 if difficulty < 3 else 4 * difficulty,
        )


@dataclass(frozen=True, slots=True)
class ChineseRemainderProblem:
    """The congruences ``factor x = remainder (mod modulus)``, and the least solution."""

    moduli: tuple[int, ...]
    remainders: tuple[int, ...]
    factors: tuple[int, ...]
    solution: int = hidden()


@register("ChineseRemainder-v0", domain="math")
class ChineseRemainderTask(Task[ChineseRemainderConfig, ChineseRemainderProblem]):
    """Find the smallest non-negative solution of simultaneous congruences.

    Description:
        The solution is drawn uniformly below the least common multiple of the moduli, so it is
        the smallest one and the congruences are consistent. It is no smaller than any modulus, so
        no remainder is the answer. The moduli are distinct but need not be coprime. A factor of x
        is coprime to its modulus.

    Observation:
        The congruences, one per line.

    Action:
        One integer.

    Reward:
        1 for the smallest non-negative solution, otherwise 0.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The moduli and the count of congruences grow, and x gets factors.

    References:
        Sunzi Suanjing, chapter 3, problem 26; Ore, "The general Chinese remainder theorem", 1952.
    """

    def generate(self, rng: Rng) -> ChineseRemainderProblem:
        config = self.config
        moduli: list[int] = []
        # At least half of the range is always free, so each modulus takes two draws on average.
        while len(moduli) < config.n_moduli:
            modulus = integer(rng, 3, config.max_modulus)
            if modulus not in moduli:
                moduli.append(modulus)
            if len(moduli) == config.n_moduli and math.lcm(*moduli) < 2 * max(moduli):
                moduli.pop()  # it and all others divide one of them
        solution = integer(rng, max(moduli), math.lcm(*moduli) - 1)
        factors = tuple(_coprime(rng, config.max_factor, modulus) for modulus in moduli)
        remainders = tuple(f * solution % m for f, m in zip(factors, moduli, strict=True))
        return ChineseRemainderProblem(tuple(moduli), remainders, factors, solution)

    def prompt(self, problem: ChineseRemainderProblem) -> str:
        lines = "\n".join(
            f"${'' if factor == 1 else factor}x \\equiv {remainder} \\pmod{{{modulus}}}$"
            for factor, remainder, modulus in zip(
                problem.factors, problem.remainders, problem.moduli, strict=True
            )
        )
        return (
            "Find the smallest non-negative integer $x$ that satisfies all of these congruences:\n"
            f"{lines}"
        )

    def verify(self, problem: ChineseRemainderProblem, answer: str) -> Verdict:
        # A copied congruence is no answer, even where its remainder is the solution.
        stated = split_modulus(answer)
        if stated is not None and stated[1] != math.lcm(*problem.moduli):
            return Verdict.wrong("the answer states a wrong modulus")
        return judge_math(str(problem.solution), answer, answer_type="integer")

    def solve(self, problem: ChineseRemainderProblem) -> str:
        return str(problem.solution)

    def effort(self, problem: ChineseRemainderProblem) -> int:
        """Count the digit operations of joining the congruences, with Euclid's algorithm."""
        cost, period = 0, 1
        for factor, modulus in zip(problem.factors, problem.moduli, strict=True):
            if factor > 1:
                cost += 2 * effort.euclid(modulus, factor) + effort.multiplying(modulus, modulus)
            cost += 2 * effort.euclid(period, modulus) + effort.multiplying(period, modulus)
            period = math.lcm(period, modulus)
        return cost

    def baseline(self, rng: Rng, problem: ChineseRemainderProblem) -> str:
        """Answer the least number that fits the first congruence and is above all moduli."""
        modulus, most = problem.moduli[0], max(problem.moduli)
        return str(most + (problem.remainders[0] - most) % modulus)

    def explain(self, problem: ChineseRemainderProblem) -> list[str]:
        """Return the congruences without their factors, joined one after another."""
        moduli, remainders = problem.moduli, []
        steps = []
        for factor, told, modulus in zip(problem.factors, problem.remainders, moduli, strict=True):
            inverse = pow(factor, -1, modulus)
            remainders.append(inverse * told % modulus)
            if factor > 1:
                steps.append(
                    f"{factor} * {inverse} mod {modulus} = 1, so x leaves {inverse} * {told} mod "
                    f"{modulus} = {remainders[-1]} on division by {modulus}."
                )
        x, period = remainders[0], moduli[0]
        steps.append(f"The first congruence says x = {x} + {period} * t.")
        for modulus, remainder in zip(moduli[1:], remainders[1:], strict=True):
            steps.append(f"Now {x} + {period} * t must leave {remainder} on division by {modulus}.")
            steps += self._least(x, period, modulus, remainder)
            while x % modulus != remainder:
                x += period
            period = math.lcm(period, modulus)
            steps.append(f"All solutions so far are x = {x} + {period} * t.")
        steps.append(f"The smallest one that is not negative has t = 0: x = {x}.")
        return steps

    def _least(self, x: int, period: int, modulus: int, remainder: int) -> list[str]:
        """Return the steps to the least t for which ``x + period t`` leaves the remainder."""
        common = math.gcd(period, modulus)
        slope, small, gap = (
            period // common,
            modulus // common,
            (remainder - x) // common % (modulus // common),
        )
        t = pow(slope, -1, small) * gap % small
        if t <= _TRIED:
            tried = ", ".join(str((x + k * period) % modulus) for k in range(t + 1))
            lines = [f"For t = 0, 1, 2 and so on the remainders are {tried}."]
        else:
            inverse = pow(slope, -1, small)
            lines = [
                f"So {period} * t mod {modulus} must be {(remainder - x) % modulus}.",
                f"Divided by {common}: {slope} * t mod {small} must be {gap}.",
                f"{slope} * {inverse} mod {small} = 1, so t = {inverse} * {gap} mod {small} = {t}.",
            ]
        return [*lines, f"So t = {t}: {x} + {period} * {t} = {x + period * t}."]


def _coprime(rng: Rng, limit: int, modulus: int) -> int:
    """Return a factor up to the limit that is coprime to the modulus; larger ones are likelier."""
    draw = integer(rng, 1, limit)
    return next(factor for factor in range(draw, 0, -1) if math.gcd(factor, modulus) == 1)
