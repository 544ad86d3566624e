"""Set cover: as few sets as possible that together contain every element."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.optimisation.lists import listed, read_distinct
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)
from rlvr_envs.solvers import cp_sat

_MAX_SIZE = 400  # elements, or sets: more than any level has


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCoverConfig(OptimisationConfig):
    """How many elements and sets there are."""

    n_elements: int = knob(15, "elements to cover", low=4, high=_MAX_SIZE)
    n_sets: int = knob(10, "sets to choose from", low=3, high=_MAX_SIZE)
    largest_percent: int = knob(
        40, "largest share of the elements in one set, in percent", low=1, high=100
    )

    @classmethod
    def at(cls, difficulty: int) -> "SetCoverConfig":
        """Elements and sets are added, through NP-Engine's bands."""
        return cls(
            budget=budget_at(difficulty),
            n_elements=ramp(difficulty, 8, easy=12, medium=22, hard=28, bench=36),
            n_sets=ramp(difficulty, 7, easy=9, medium=14, hard=22, bench=28),
        )


@dataclass(frozen=True, slots=True)
class SetCoverProblem:
    """Elements and sets are numbered from 1; every element is in some set."""

    n_elements: int
    sets: tuple[tuple[int, ...], ...]
    reference: Reference = hidden()


@register("SetCover-v0", domain="np_hard")
class SetCoverTask(OptimisationTask[SetCoverConfig, SetCoverProblem]):
    """Choose as few sets as possible so that every element is in one of them.

    Description:
        The sets are random and of random sizes. An element that no set drew is put into one.

    Observation:
        The number of elements, and the sets.

    Action:
        The numbers of the chosen sets, each once, in any order.

    Reward:
        Scheme ``over_greedy``: how far the number of sets lies between that of always taking the
        set with the most elements not covered yet, which earns 0, and the fewest known, which
        earns 1. ``ratio`` begins instead at going through the sets in the order given and taking
        each that holds an element not covered yet, which costs no thought; taking every set is no
        better. Sets that leave an element out earn 0.

    Verification:
        The elements of the chosen sets are collected. The fewest sets come from CP-SAT, and the
        row says whether they are proven to be fewest. No known gaps.

    Difficulty:
        Only the size grows: more elements and sets.

    References:
        Karp, "Reducibility among combinatorial problems", 1972. Li et al., "NP-Engine", 2025
        (arXiv:2510.16476), for the generator and the size bands.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"

    def draw(self, rng: Rng) -> SetCoverProblem:
        sets = self._sets(rng)
        covers = [_largest_gain(sets, [first]) for first in range(1, len(sets) + 1)]
        known = min((_needed(sets, cover) for cover in covers), key=len)
        reference = Reference.known(len(known), listed(sorted(known)), trivial=_in_order(sets))
        return SetCoverProblem(self.config.n_elements, sets, reference)

    def _sets(self, rng: Rng) -> tuple[tuple[int, ...], ...]:
        n = self.config.n_elements
        largest = max(2, n * self.config.largest_percent // 100)
        sets = [
            set(rng.permutation(n)[: integer(rng, 2, largest)].tolist())
            for _ in range(self.config.n_sets)
        ]
        for element in sorted(set(range(n)).difference(*sets)):
            pick(rng, sets).add(element)
        return tuple(tuple(element + 1 for element in sorted(members)) for members in sets)

    def improve(self, rng: Rng, problem: SetCoverProblem) -> Reference:
        sets, known = problem.sets, problem.reference
        model = cp_sat.new_model()
        taken = [model.new_bool_var("") for _ in sets]
        for element in range(1, problem.n_elements + 1):
            model.add_bool_or([x for x, held in zip(taken, sets, strict=True) if element in held])
        model.minimize(sum(taken))
        hint = read_distinct(known.answer, low=1, high=len(sets), what="set")
        for number, x in enumerate(taken, start=1):
            model.add_hint(x, number in hint)
        solved = cp_sat.solve(model, taken, budget=self.config.budget)
        if solved is None:
            return dataclasses.replace(known, bound=1)
        return Reference(
            objective=solved.objective,
            bound=solved.bound,
            proven=solved.proven,
            trivial=known.trivial,
            answer=listed(i for i, x in enumerate(solved.values, start=1) if x),
            effort=solved.effort,
        )

    def prompt(self, problem: SetCoverProblem) -> str:
        sets = "\n".join(f"{i}: {listed(held)}" for i, held in enumerate(problem.sets, start=1))
        credit = self.partial_credit(
            "it has fewer sets than taking again and again the set with the most numbers that are "
            "not covered yet (in a tie, the first)",
            "it has fewer sets than taking, in the given order, every set with a number that is "
            "not covered yet",
        )
        return (
            f"Here are {len(problem.sets)} sets of numbers from 1 to {problem.n_elements}, one on "
            f"each line (set number: its numbers):\n\n{sets}\n\nFind a minimum set cover: choose "
            f"as few sets as possible so that every number from 1 to {problem.n_elements} is in at "
            f"least one chosen set. {credit} Answer with the numbers of the chosen sets (in front "
            "of the colons), separated by commas."
        )

    def measure(self, problem: SetCoverProblem, answer: str) -> int:
        chosen = read_distinct(answer, low=1, high=len(problem.sets), what="set")
        covered = {element for number in chosen for element in problem.sets[number - 1]}
        left = problem.n_elements - len(covered)
        if left:
            raise Infeasible(f"the chosen sets leave out {left} of {problem.n_elements} numbers")
        return len(chosen)

    def effort(self, problem: SetCoverProblem) -> int:
        """Return the work of CP-SAT, and a step for each number in the sets."""
        return problem.reference.effort + sum(map(len, problem.sets))

    def explain(self, problem: SetCoverProblem) -> list[str]:
        """Return set by set which numbers are missing, beginning with those in the fewest sets."""
        sets = problem.sets
        chosen = set(read_distinct(self.solve(problem), low=1, high=len(sets), what="set"))
        missing = set(range(1, problem.n_elements + 1))
        steps = []
        while missing:
            holders = {
                e: [i for i, held in enumerate(sets, 1) if e in held] for e in sorted(missing)
            }
            rarest = min(holders, key=lambda e: len(holders[e]))
            taken = max(
                chosen.intersection(holders[rarest]), key=lambda i: len(missing & {*sets[i - 1]})
            )
            missing -= set(sets[taken - 1])
            places = f"set{'s' * (len(holders[rarest]) > 1)} {listed(holders[rarest])}"
            steps.append(
                f"Number {rarest} is only in {places}. Take set {taken}. Missing then: "
                f"{listed(sorted(missing)) or 'nothing'}."
            )
        return [*steps, self.conclusion(problem, "The number of sets")]

    def baseline(self, rng: Rng, problem: SetCoverProblem) -> str:
        """Take the set with the most elements that are not covered yet, until all are."""
        return listed(sorted(_largest_gain(problem.sets)))

    def neighbour(self, problem: SetCoverProblem, answer: str, rng: Rng) -> str:
        """Drop one or two sets, cover what is left greedily, and drop what is not needed."""
        kept = read_distinct(answer, low=1, high=len(problem.sets), what="set")
        for _ in range(integer(rng, 1, min(2, len(kept) - 1) or 1)):
            kept.remove(pick(rng, kept))
        offered = [kept[i] for i in rng.permutation(len(kept)).tolist()]
        extra = pick(rng, range(1, len(problem.sets) + 1))
        cover = _largest_gain(problem.sets, [*dict.fromkeys([*offered, extra])])
        return listed(sorted(_needed(problem.sets, cover)))


def _largest_gain(sets: Sequence[Sequence[int]], start: Sequence[int] = ()) -> list[int]:
    """Return a cover that begins with ``start`` and goes on with the set of the largest gain."""
    chosen = list(start)
    missing = set().union(*sets).difference(*(sets[number - 1] for number in chosen))
    while missing:
        gains = [len(missing.intersection(held)) for held in sets]
        best = gains.index(max(gains))
        chosen.append(best + 1)
        missing.difference_update(sets[best])
    return chosen


def _needed(sets: Sequence[Sequence[int]], cover: Sequence[int]) -> list[int]:
    """Return the cover without those sets that the others make superfluous, in turn."""
    kept = list(cover)
    for number in cover:
        others = [other for other in kept if other != number]
        if set(sets[number - 1]) <= {element for i in others for element in sets[i - 1]}:
            kept = others
    return kept


def _in_order(sets: Sequence[Sequence[int]]) -> int:
    """Return how many sets are taken by taking each that holds something new, in order."""
    covered: set[int] = set()
    count = 0
    for held in sets:
        count += not covered.issuperset(held)
        covered.update(held)
    return count
