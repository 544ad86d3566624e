"""Subset sum: as many numbers as possible that add up to the target exactly."""

import itertools
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integers, pick
from rlvr_envs.core.task import Variant
from rlvr_envs.generators.optimisation.lists import listed, read_distinct
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)

# More than any level has; the tables of the exact search have a bit for each sum.
_MAX_NUMBERS, _MAX_VALUE = 160, 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SubsetSumConfig(OptimisationConfig):
    """How many numbers there are, and how large; the exact search leaves ``budget`` unused."""

    n_planted: int = knob(6, "planted numbers, whose sum is the target", low=3)
    n_decoys: int = knob(3, "sums of two or three planted numbers, which they can replace", low=0)
    n_fillers: int = knob(3, "numbers drawn like the planted ones", low=0)
    max_value: int = knob(20, "largest planted number", low=2, high=_MAX_VALUE)

    def check(self) -> None:
        if self.n_decoys + self.n_fillers < 1:
            raise ConfigError(f"need n_decoys + n_fillers >= 1, got {self}")
        if self.n_planted + self.n_decoys + self.n_fillers > _MAX_NUMBERS:
            raise ConfigError(
                f"n_planted, n_decoys and n_fillers add up to at most {_MAX_NUMBERS}, got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "SubsetSumConfig":
        """Numbers are added, as in NP-Engine's bands, and grow faster than there.

        Among NP-Engine's numbers, which reach 15 at most, so many are equal that taking the
        smallest ones and mending the sum is nearly always optimal.
        """
        return cls(
            budget=budget_at(difficulty),
            n_planted=ramp(difficulty, 4, easy=5, medium=6, hard=9, bench=11),
            n_decoys=ramp(difficulty, 1, easy=3, medium=3, hard=3, bench=4),
            n_fillers=ramp(difficulty, 3, easy=3, medium=4, hard=4, bench=5),
            max_value=ramp(difficulty, 10, easy=16, medium=40, hard=120, bench=300),
        )


@dataclass(frozen=True, slots=True)
class SubsetSumProblem:
    """Numbers at positions from 1."""

    numbers: tuple[int, ...]
    target: int
    reference: Reference = hidden()


@register("SubsetSum-v0", domain="np_hard")
class SubsetSumTask(OptimisationTask[SubsetSumConfig, SubsetSumProblem]):
    """Choose as many numbers as possible whose sum is exactly the target.

    Description:
        Planted numbers add up to the target. Decoys are sums of a few planted numbers: with them
        the target is reached by fewer numbers. Fillers are drawn like the planted numbers, so
        that the smallest numbers seldom have the right sum.

    Observation:
        The target, and each number with its position.

    Action:
        The positions of the chosen numbers, each once, in any order.

    Reward:
        Scheme ``over_greedy``: how far the count of chosen numbers lies between that of taking,
        from the largest down, every number that still fits, which earns 0, and the greatest
        possible, which earns 1. Where that greedy misses the target, and in the scheme ``ratio``,
        the score is the count divided by the greatest possible. A sum that misses the target
        earns 0.

    Verification:
        The chosen numbers are added up. The greatest count comes from a dynamic program over
        counts and sums, and is always proven. No known gaps.

    Difficulty:
        Only the size grows: more numbers, and larger ones.

    References:
        Li et al., "NP-Engine", 2025 (arXiv:2510.16476), for the variant with the greatest count
        and the size bands. Bellman, "Dynamic Programming", 1957.
    """

    sense: ClassVar[Literal["max", "min"]] = "max"
    draws: ClassVar[int] = 60

    def draw(self, rng: Rng) -> SubsetSumProblem:
        config = self.config
        planted = integers(rng, 1, config.max_value, config.n_planted)
        items = list(planted)
        for _ in range(config.n_decoys):
            parts = rng.permutation(len(planted))[: min(pick(rng, (2, 2, 3)), len(planted) - 1)]
            items.append(sum(planted[i] for i in parts.tolist()))
        items += integers(rng, 1, config.max_value, config.n_fillers)
        numbers = tuple(items[i] for i in rng.permutation(len(items)).tolist())
        target = sum(planted)
        chosen, states = _most_numbers(numbers, target)
        best = len(chosen)
        answer = listed(i + 1 for i in chosen)
        return SubsetSumProblem(
            numbers, target, Reference(best, best, True, None, answer, effort=states)
        )

    def prompt(self, problem: SubsetSumProblem) -> str:
        lines = "\n".join(f"{i}: {number}" for i, number in enumerate(problem.numbers, start=1))
        greedy = sum(problem.numbers[i - 1] for i in _largest_first(problem)) == problem.target
        credit = self.partial_credit(
            "it has more numbers than taking, from the largest down, every number that still fits"
            if greedy
            else ""
        )
        return (
            f"Here are {len(problem.numbers)} numbers (position: number):\n\n{lines}\n\nChoose as "
            f"many numbers as possible whose sum is exactly {problem.target}. Use each position at "
            f"most once. {credit} Answer with the positions of the chosen numbers "
            "(not the numbers themselves), separated by commas."
        )

    def measure(self, problem: SubsetSumProblem, answer: str) -> int:
        chosen = read_distinct(answer, low=1, high=len(problem.numbers), what="position")
        total = sum(problem.numbers[i - 1] for i in chosen)
        if total != problem.target:
            raise Infeasible(f"the numbers add up to {total}, not to {problem.target}")
        return len(chosen)

    def variant(self, problem: SubsetSumProblem, rng: Rng) -> Variant[SubsetSumProblem] | None:
        """List the numbers in another order."""
        old = rng.permutation(len(problem.numbers)).tolist()

        def answer(text: str) -> str:
            return listed(sorted(1 + old.index(int(i) - 1) for i in text.split(",")))

        changed = replace(problem, numbers=tuple(problem.numbers[i] for i in old))
        made = self.varied(problem, changed, answer(self.solve(problem)), rng)
        return None if made is None else Variant(made, answer, ("order",))

    def explain(self, problem: SubsetSumProblem) -> list[str]:
        """Return a bound on the count, and the numbers that are taken with what is left."""
        ordered, left = sorted(problem.numbers), problem.target
        totals = list(itertools.accumulate(ordered))
        most = sum(total <= left for total in totals)
        steps = [
            f"The {most} smallest numbers add up to {totals[most - 1]}"
            + (f", one more makes {totals[most]}" if most < len(totals) else "")
            + f", so no more than {most} of them can have the sum {left}."
        ]
        chosen = read_distinct(self.solve(problem), low=1, high=len(ordered), what="position")
        for position in sorted(chosen, key=lambda i: -problem.numbers[i - 1]):
            number = problem.numbers[position - 1]
            left -= number
            steps.append(f"Take {number} (position {position}): {left} is left.")
        return [*steps, self.conclusion(problem, "The count")]

    def baseline(self, rng: Rng, problem: SubsetSumProblem) -> str:
        """Take every number that still fits, from the largest down.

        Where that misses the target, the answer is infeasible.
        """
        return listed(sorted(_largest_first(problem)))

    def neighbour(self, problem: SubsetSumProblem, answer: str, rng: Rng) -> str:
        """Replace a number by one or two others of the same sum, or two by one."""
        numbers = problem.numbers
        chosen = read_distinct(answer, low=1, high=len(numbers), what="position")
        outside = sorted(set(range(1, len(numbers) + 1)) - set(chosen))
        out = {pick(rng, chosen), pick(rng, chosen)}
        wanted = sum(numbers[i - 1] for i in out)
        into = [(i,) for i in outside if numbers[i - 1] == wanted] + [
            (i, j)
            for i in outside
            for j in outside
            if i < j and numbers[i - 1] + numbers[j - 1] == wanted
        ]
        if not into:
            return answer
        return listed(sorted({*chosen, *pick(rng, into)} - out))


def _largest_first(problem: SubsetSumProblem) -> list[int]:
    """Return the positions of the numbers that still fit, from the largest number down."""
    left, chosen = problem.target, []
    for i in sorted(range(len(problem.numbers)), key=lambda i: -problem.numbers[i]):
        if problem.numbers[i] <= left:
            left -= problem.numbers[i]
            chosen.append(i + 1)
    return chosen


def _most_numbers(numbers: tuple[int, ...], target: int) -> tuple[list[int], int]:
    """Return the indices of as many numbers as possible with the sum ``target``, and the work.

    Bit s of ``layers[i][k]`` says that k of the first i numbers can add up to s. The work is the
    number of such sums.
    """
    within = (1 << (target + 1)) - 1
    layers = [[1] + [0] * len(numbers)]
    for number in numbers:
        last = layers[-1]
        layers.append(
            [last[0]] + [one | less << number & within for less, one in itertools.pairwise(last)]
        )
    states = sum(reached.bit_count() for layer in layers for reached in layer)
    count = max(k for k, reached in enumerate(layers[-1]) if reached >> target & 1)
    chosen = []
    for i in reversed(range(len(numbers))):
        if layers[i][count] >> target & 1:
            continue  # the target is met without number i
        chosen.append(i)
        target -= numbers[i]
        count -= 1
    return chosen[::-1], states
