"""Bin packing: all items in as few bins as possible."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.generators.optimisation.groups import check_partition, grouped, read_groups
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
)
from rlvr_envs.solvers import cp_sat

_MAX_EFFORT = 0.4  # deterministic seconds, reached where nearly no search succeeds
_MAX_BINS, _MAX_CAPACITY = 200, 10**6  # more than any level has


@dataclass(frozen=True, slots=True, kw_only=True)
class BinPackingConfig(OptimisationConfig):
    """How many bins are planted, and how finely they are cut into items."""

    n_bins: int = knob(4, "bins that the planted packing fills", low=2, high=_MAX_BINS)
    max_parts: int = knob(4, "most items in a planted bin; from 2 to 5", low=2, high=5)
    capacity: int = knob(40, "capacity of a bin", low=10, high=_MAX_CAPACITY)
    slack_percent: int = knob(
        4, "largest share of a planted bin that stays free, in percent", low=0, high=25
    )

    @classmethod
    def at(cls, difficulty: int) -> "BinPackingConfig":
        """A bin is added at each level, and sizes grow; level 0 may have more items in a bin."""
        return cls(
            budget=budget_at(difficulty),
            n_bins=min(_MAX_BINS, 2 + difficulty),
            max_parts=5 if difficulty == 0 else 4,
            capacity=min(_MAX_CAPACITY, 40 + 10 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class BinPackingProblem:
    """Items are numbered from 1."""

    sizes: tuple[int, ...]
    capacity: int
    reference: Reference = hidden()


@register("BinPacking-v0", domain="np_hard", answer_format="tag")
class BinPackingTask(OptimisationTask[BinPackingConfig, BinPackingProblem]):
    """Pack all items into as few bins as possible.

    Description:
        Planted bins, full or nearly so, are cut into a few items each and the items are mixed.
        Problems that first-fit decreasing solves, or filling bin after bin in the given order,
        are drawn again.

    Observation:
        The capacity of a bin, and the sizes of the items.

    Action:
        The numbers of the items in each bin, one bin a line.

    Reward:
        Scheme ``over_greedy``: how far the number of bins lies between that of first-fit
        decreasing, which earns 0, and the best known, which earns 1; ``ratio`` begins instead at
        filling bin after bin with the items in their order. A packing that overfills a bin,
        leaves an item out or uses one twice earns 0.

    Verification:
        The packing is checked and its bins are counted. The planted packing is optimal, since
        the items together are too large for one bin fewer. No known gaps.

    Difficulty:
        Only the size grows: more bins and items, and larger numbers.

    References:
        Martello and Toth, "Knapsack Problems", 1990, chapter 8. Falkenauer, "A hybrid grouping
        genetic algorithm for bin packing", Journal of Heuristics 2, 1996, for planted bins that
        are full.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"
    draws: ClassVar[int] = 40

    def draw(self, rng: Rng) -> BinPackingProblem:
        """Draw a problem and its planted packing, whose bins are too full for one bin fewer."""
        capacity, n_bins = self.config.capacity, self.config.n_bins
        most = capacity * self.config.slack_percent // 100
        spare = capacity - 1  # all slack together stays below one bin
        pieces: list[int] = []
        owners: list[int] = []
        for owner in range(n_bins):
            slack = integer(rng, 0, min(most, spare))
            spare -= slack
            parts = _cut(rng, capacity - slack, integer(rng, 2, self.config.max_parts))
            pieces += parts
            owners += [owner] * len(parts)
        order = rng.permutation(len(pieces)).tolist()
        sizes = tuple(pieces[i] for i in order)
        bins: list[list[int]] = [[] for _ in range(n_bins)]
        for number, i in enumerate(order, 1):
            bins[owners[i]].append(number)
        trivial = len(next_fit(sizes, capacity))
        reference = Reference(n_bins, n_bins, True, trivial, grouped(sorted(bins)))
        return BinPackingProblem(sizes, capacity, reference)

    def prompt(self, problem: BinPackingProblem) -> str:
        items = ", ".join(f"{i}: {size}" for i, size in enumerate(problem.sizes, 1))
        credit = self.partial_credit(
            "it uses fewer bins than putting the items, from the largest to the smallest, into the "
            "first bin with enough room",
            "it uses fewer bins than packing the items in the given order, one bin after another",
        )
        return (
            f"Solve this bin packing problem. Every bin has capacity {problem.capacity}: the sizes "
            f"of the items in a bin may add up to at most {problem.capacity}. These are the items "
            f"(number: size):\n\n{items}\n\nPut every item into exactly one bin and use as few "
            f"bins as possible. {credit} Answer with one line for each bin: the numbers (not the "
            "sizes) of its items, separated by commas."
        )

    def measure(self, problem: BinPackingProblem, answer: str) -> int:
        bins = read_groups(answer, what="bin")
        check_partition(bins, len(problem.sizes), what="item")
        for number, items in enumerate(bins, 1):
            load = sum(problem.sizes[i - 1] for i in items)
            if load > problem.capacity:
                raise Infeasible(f"bin {number} holds {load}, more than {problem.capacity}")
        return len(bins)

    def effort(self, problem: BinPackingProblem) -> int:
        """Return how long CP-SAT looks for a packing as good, in deterministic microseconds.

        It gives up when the budget ends, and after `_MAX_EFFORT` at the latest.
        """
        count = problem.reference.objective
        model = cp_sat.new_model()
        inside = [[model.new_bool_var("") for _ in range(count)] for _ in problem.sizes]
        for row in inside:
            model.add_exactly_one(row)
        for place in range(count):
            loads = zip(problem.sizes, inside, strict=True)
            model.add(sum(size * row[place] for size, row in loads) <= problem.capacity)
        budget = min(self.config.budget, _MAX_EFFORT)
        solved = cp_sat.solve(model, [], budget=budget)
        return round(budget * 1e6) if solved is None else solved.effort

    def explain(self, problem: BinPackingProblem) -> list[str]:
        """Return how many bins are needed at least, and then each bin."""
        total, capacity = sum(problem.sizes), problem.capacity
        least = -(-total // capacity)
        steps = [f"The sizes add up to {total}, so at least {least} bins of {capacity} are needed."]
        for number, items in enumerate(read_groups(self.solve(problem), what="bin"), 1):
            sizes = [problem.sizes[i - 1] for i in items]
            steps.append(
                f"Bin {number}, items {', '.join(map(str, items))}: "
                f"{' + '.join(map(str, sizes))} = {sum(sizes)}"
            )
        return [*steps, self.conclusion(problem, "The number of bins")]

    def baseline(self, rng: Rng, problem: BinPackingProblem) -> str:
        """Put the items, from the largest down, into the first bin that has room."""
        return grouped(first_fit(problem, _decreasing(problem)))

    def neighbour(self, problem: BinPackingProblem, answer: str, rng: Rng) -> str:
        """Empty a bin or two and put their items, in random order, where there is room."""
        bins = read_groups(answer, what="bin")
        for _ in range(integer(rng, 1, 2) if len(bins) > 1 else 0):
            bins.append(bins.pop(integer(rng, 0, len(bins) - 2)))
        kept, loose = bins[:-2], [item for items in bins[-2:] for item in items]
        order = [loose[i] for i in rng.permutation(len(loose)).tolist()]
        return grouped(first_fit(problem, order, kept))


def _cut(rng: Rng, total: int, parts: int) -> list[int]:
    """Cut a total into parts, none smaller than a sixth of it, at random places."""
    least = max(1, total // 6)
    left = total - parts * least
    places = sorted(integers(rng, 0, left, parts - 1))
    return [least + b - a for a, b in zip([0, *places], [*places, left], strict=True)]


def _decreasing(problem: BinPackingProblem) -> list[int]:
    return sorted(range(1, len(problem.sizes) + 1), key=lambda i: -problem.sizes[i - 1])


def first_fit(
    problem: BinPackingProblem, order: Iterable[int], bins: Iterable[list[int]] = ()
) -> list[list[int]]:
    """Put items in turn into the first bin with room, opening new ones, and return the bins."""
    packed = [list(items) for items in bins]
    room = [problem.capacity - sum(problem.sizes[i - 1] for i in items) for items in packed]
    for item in order:
        size = problem.sizes[item - 1]
        place = next((k for k, left in enumerate(room) if left >= size), len(packed))
        if place == len(packed):
            packed.append([])
            room.append(problem.capacity)
        packed[place].append(item)
        room[place] -= size
    return packed


def next_fit(sizes: Iterable[int], capacity: int) -> list[list[int]]:
    """Fill bin after bin with the items in their order, never looking back."""
    bins: list[list[int]] = [[]]
    room = capacity
    for item, size in enumerate(sizes, 1):
        if size > room:
            bins.append([])
            room = capacity
        bins[-1].append(item)
        room -= size
    return bins
