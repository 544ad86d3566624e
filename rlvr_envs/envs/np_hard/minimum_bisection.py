"""Minimum bisection: cut a weighted graph into two halves as cheaply as possible."""

import itertools
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.graphs.undirected import check_order, edge, random_numbers
from rlvr_envs.generators.graphs.weighted import WeightedEdges, describe_weighted
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

_MAX_LINKS = 20  # of one traitor
_JOINED_PERCENT = 50  # of the pairs inside a community
_BRIDGE_PERCENT = (5, 30)  # weight of the bridge beside that of the planted cut
_HEAVY, _LIGHT, _BRIDGE, _TRAITOR = (8, 10), (1, 2), (3, 5), (9, 10)  # ranges of weights


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimumBisectionConfig(OptimisationConfig):
    """How many vertices there are, and how the communities mislead."""

    n_vertices: int = 12
    noise_percent: int = knob(
        5,
        "pairs between the loose and the tight communities with a noise edge, in percent",
    )
    traitor_percent: int = knob(20, "share of the loose community that are traitors, in percent")
    links_per_traitor: int = knob(3, "heavy edges to the tight communities", low=1, high=_MAX_LINKS)

    def check(self) -> None:
        check_order(self.n_vertices, least=6)
        for name in ("noise_percent", "traitor_percent"):
            if not 0 <= getattr(self, name) <= 100:
                raise ConfigError(f"{name} is from 0 to 100, got {getattr(self, name)}")

    @classmethod
    def at(cls, difficulty: int) -> "MinimumBisectionConfig":
        """Vertices are added, up to NP-Engine's largest bands, and more of them are traitors."""
        return cls(
            budget=budget_at(difficulty),
            n_vertices=ramp(difficulty, 12, easy=16, medium=28, hard=42, bench=50),
            noise_percent=10 if difficulty <= 6 else 2,
            traitor_percent=min(40, 15 + 2 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class MinimumBisectionProblem:
    """A weighted graph whose vertices are numbered from 1."""

    n_vertices: int
    edges: WeightedEdges
    reference: Reference = hidden()


@register("MinimumBisection-v0", domain="np_hard")
class MinimumBisectionTask(OptimisationTask[MinimumBisectionConfig, MinimumBisectionProblem]):
    """Split the vertices into two equal halves with as little weight between them as possible.

    Description:
        Half of the vertices are a loose community of light edges; the others are two tight
        communities of heavy edges, with a bridge of middling weight between them. Cutting the
        bridge looks cheap, but then the loose community must be cut as well. Traitors belong to
        the loose community and have heavy edges to the tight ones; noise adds light edges.

    Observation:
        The edges and their weights.

    Action:
        The numbers of the vertices of one half, whichever, each once and in any order. An odd
        vertex may be on either side.

    Reward:
        Scheme ``over_greedy``: how far the weight of the cut lies between that of growing a group
        from vertex 1, always by the vertex with the most weight to it, which earns 0, and the
        smallest known, which earns 1; ``ratio`` begins instead at the cut in numeric order. The
        numbers are random, so any split written down without a look at the edges is as good on
        average. A split into unequal parts earns 0.

    Verification:
        The weights of the edges between the halves are added up. The smallest known cut is the
        best of several Kernighan-Lin searches from the planted split and others. Up to 16 vertices,
        that is up to level 2, CP-SAT usually proves it or finds a smaller one; beyond, no solver
        proves these sizes in time, and the row says that it is not proven. An answer that beats it
        earns full marks.

    Difficulty:
        Only the size grows: more vertices, and more traitors among them.

    References:
        Kernighan and Lin, "An efficient heuristic procedure for partitioning graphs", 1970. Li et
        al., "NP-Engine", 2025 (arXiv:2510.16476), for the communities and the size bands.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"
    draws: ClassVar[int] = 60

    def draw(self, rng: Rng) -> MinimumBisectionProblem:
        n = self.config.n_vertices
        numbers = random_numbers(rng, n)
        edges = tuple(
            sorted(
                (*edge(numbers[a], numbers[b]), weight)
                for (a, b), weight in self._weights(rng).items()
            )
        )
        planted = numbers[1 : n // 2 + 1]
        numeric = cut_weight(edges, range(1, n // 2 + 1))
        reference = Reference.known(cut_weight(edges, planted), listed(planted), trivial=numeric)
        return MinimumBisectionProblem(n, edges, reference)

    def improve(self, rng: Rng, problem: MinimumBisectionProblem) -> Reference:
        n, known = problem.n_vertices, problem.reference
        planted = read_distinct(known.answer, low=1, high=n, what="vertex")
        found = small_cut(n, problem.edges, planted, rng, budget=self.config.budget)
        return Reference(
            objective=found.weight,
            bound=found.bound,
            proven=found.weight == found.bound,
            trivial=known.trivial,
            answer=listed(found.half),
            effort=found.effort,
        )

    def _weights(self, rng: Rng) -> dict[tuple[int, int], int]:
        """Draw the communities: vertices up to n/2 are loose, the others tight in two parts."""
        config, n = self.config, self.config.n_vertices
        half = n // 2
        middle = half + (n - half + 1) // 2
        loose = range(1, half + 1)
        tight = [range(half + 1, middle + 1), range(middle + 1, n + 1)]
        weights = {}
        for community in tight:
            for pair in itertools.combinations(community, 2):
                if integer(rng, 1, 100) <= _JOINED_PERCENT:
                    weights[pair] = integer(rng, *_HEAVY)
        for pair in itertools.combinations(loose, 2):
            if integer(rng, 1, 100) <= _JOINED_PERCENT or pair[1] == pair[0] + 1:
                weights[pair] = integer(rng, *_LIGHT)
        for pair in itertools.product(loose, range(half + 1, n + 1)):
            if integer(rng, 1, 100) <= config.noise_percent:
                weights[pair] = integer(rng, *_LIGHT)
        for traitor in loose[: max(1, half * config.traitor_percent // 100)]:
            for _ in range(config.links_per_traitor):
                weights[traitor, integer(rng, half + 1, n)] = integer(rng, *_TRAITOR)
        cut = sum(weight for (a, b), weight in weights.items() if a <= half < b)
        weights.update(_bridge(rng, [(b, c) for b in tight[0] for c in tight[1]], cut))
        return weights

    def prompt(self, problem: MinimumBisectionProblem) -> str:
        n = problem.n_vertices
        graph = describe_weighted(n, problem.edges, name="An undirected graph")
        sizes = f"{n // 2} vertices each" if n % 2 == 0 else f"{n // 2} and {n // 2 + 1} vertices"
        credit = self.partial_credit(
            "its total weight is below that of growing a group from vertex 1, each time by the "
            "vertex with the largest total weight of edges to it (in a tie, the lowest number), "
            f"until it has {n // 2} vertices",
            f"its total weight is below that of the split into vertices 1 to {n // 2} and the rest",
        )
        return (
            f"{graph}\n\nFind a minimum bisection: split the vertices into two groups of {sizes} "
            "so that the total weight of the edges between the groups is as small as possible. "
            f"{credit} Answer with the numbers of the vertices in one group (either one), "
            "separated by commas."
        )

    def measure(self, problem: MinimumBisectionProblem, answer: str) -> int:
        n = problem.n_vertices
        half = read_distinct(answer, low=1, high=n, what="vertex")
        if len(half) not in (n // 2, n - n // 2):
            raise Infeasible(f"a group of {len(half)} of {n} vertices is not a half")
        return cut_weight(problem.edges, half)

    def explain(self, problem: MinimumBisectionProblem) -> list[str]:
        """Return how the group grows, with the weight between it and the rest."""
        half = read_distinct(self.solve(problem), low=1, high=problem.n_vertices, what="vertex")
        group: list[int] = []
        steps = []
        while len(group) < len(half):
            left = [v for v in half if v not in group]
            newest = min(left, key=lambda v: cut_weight(problem.edges, [*group, v]))
            group.append(newest)
            weight = cut_weight(problem.edges, group)
            steps.append(f"Take {newest}: the weight between the group and the rest is {weight}.")
        return [*steps, self.conclusion(problem, "The weight between the groups")]

    def baseline(self, rng: Rng, problem: MinimumBisectionProblem) -> str:
        """Grow a group from vertex 1, each time by the vertex with the most weight to it."""
        n = problem.n_vertices
        ties = [0] * (n + 1)
        group, newest = [1], 1
        while len(group) < n // 2:
            for a, b, weight in problem.edges:
                if newest in (a, b):
                    ties[a + b - newest] += weight
            outside = (v for v in range(1, n + 1) if v not in group)
            newest = max(outside, key=lambda v: (ties[v], -v))
            group.append(newest)
        return listed(sorted(group))

    def neighbour(self, problem: MinimumBisectionProblem, answer: str, rng: Rng) -> str:
        """Swap two vertices of different groups."""
        n = problem.n_vertices
        half = read_distinct(answer, low=1, high=n, what="vertex")
        others = sorted(set(range(1, n + 1)) - set(half))
        half[integer(rng, 0, len(half) - 1)] = pick(rng, others)
        return listed(sorted(half))


def _bridge(rng: Rng, pairs: list[tuple[int, int]], cut: int) -> dict[tuple[int, int], int]:
    """Draw edges between the tight communities."""
    left = cut * integer(rng, *_BRIDGE_PERCENT) // 100
    bridge = {}
    for place in rng.permutation(len(pairs)).tolist():
        if left <= 0:
            break
        weight = integer(rng, *_BRIDGE)
        bridge[pairs[place]] = weight
        left -= weight
    return bridge


# Small cuts of a weighted graph into two halves: exact for small graphs, else a local search.


_Array = npt.NDArray[np.int64]
_EXACT = 16  # vertices up to which CP-SAT proves the smallest cut within its budget
_RANDOM_STARTS = 8  # of the local search
_PATIENCE = 8  # swaps without a new smallest cut, after which a pass ends
_FAR = 2**40
_PER_MICROSECOND = 10  # pairs of vertices weighed, roughly, to count work


@dataclass(frozen=True, slots=True)
class SmallCut:
    """One half, the weight of the cut, a lower bound, and the work in microseconds."""

    half: list[int]
    weight: int
    bound: int
    effort: int


def cut_weight(edges: WeightedEdges, half: Collection[int]) -> int:
    """Return the weight of the edges between a set of vertices and the others."""
    inside = frozenset(half)
    return sum(weight for a, b, weight in edges if (a in inside) != (b in inside))


def small_cut(
    n: int, edges: WeightedEdges, half: Collection[int], rng: Rng, *, budget: float
) -> SmallCut:
    """Return the smallest cut found, which is proven only in small graphs.

    A local search starts from the given half and from random ones; its work alone is counted.
    """
    padded = n + n % 2  # an odd graph gets a vertex without edges, so that halves are equal
    weights = np.zeros((padded, padded), dtype=np.int64)
    for a, b, weight in edges:
        weights[a - 1, b - 1] = weights[b - 1, a - 1] = weight
    best, best_side, work = _FAR, np.zeros(padded, dtype=np.int64), 0
    random_halves = (1 + rng.permutation(padded)[: padded // 2] for _ in range(_RANDOM_STARTS))
    for start in (half, *random_halves):
        side, weighed = _kernighan_lin(weights, _sides(padded, start))
        work += weighed
        cut = int((weights * (np.outer(side, side) < 0)).sum()) // 2
        if cut < best:
            best, best_side = cut, side
    side = best_side if n == padded or best_side[n] < 0 else -best_side  # the larger half
    found = [v + 1 for v in np.flatnonzero(side > 0).tolist()]
    effort = work // _PER_MICROSECOND
    if n > _EXACT:
        return SmallCut(found, best, 0, effort)
    solved = _exact(n, edges, found, budget)
    if solved is None:
        return SmallCut(found, best, 0, effort)
    found = [v for v in range(1, n + 1) if solved.values[v - 1]]
    return SmallCut(found, solved.objective, solved.bound, effort)


def _sides(n: int, half: Collection[int]) -> _Array:
    """Return 1 for the vertices of one half and -1 for the others, as many of each."""
    side = np.full(n, -1, dtype=np.int64)
    side[[vertex - 1 for vertex in half]] = 1
    if len(half) < n // 2:
        side[n - 1] = 1
    return side


def _kernighan_lin(weights: _Array, side: _Array) -> tuple[_Array, int]:
    """Return the sides after passes of swaps, and how many pairs were weighed.

    A pass swaps the best pair of vertices not swapped yet, even at a loss, and keeps the swaps up
    to the smallest cut; passes go on while they help (Kernighan and Lin, 1970).
    """
    work = 0
    while True:
        better, gained, weighed = _pass(weights, side)
        work += weighed
        if gained <= 0:
            return side, work
        side = better


def _pass(weights: _Array, start: _Array) -> tuple[_Array, int, int]:
    side, free = start.copy(), np.ones(len(start), dtype=bool)
    best, best_side, total, waited, work = 0, start, 0, 0, 0
    while waited < _PATIENCE and free.any():
        pull = -side * (weights @ side)  # what moving a vertex alone would take off the cut
        left, right = np.flatnonzero(free & (side > 0)), np.flatnonzero(free & (side < 0))
        gains = pull[left][:, None] + pull[right] - 2 * weights[left][:, right]
        place = int(gains.argmax())
        swapped = [left[place // len(right)], right[place % len(right)]]
        total += int(gains.flat[place])
        work += gains.size
        side[swapped] *= -1
        free[swapped] = False
        waited += 1
        if total > best:
            best, best_side, waited = total, side.copy(), 0
    return best_side, best, work


def _exact(
    n: int, edges: WeightedEdges, half: Collection[int], budget: float
) -> cp_sat.Solved | None:
    model = cp_sat.new_model()
    inside = [model.new_bool_var("") for _ in range(n)]
    model.add(sum(inside) == (n + 1) // 2)
    cut = []
    for a, b, weight in edges:
        crossing = model.new_bool_var("")
        model.add_bool_or([~inside[a - 1], inside[b - 1], crossing])
        model.add_bool_or([inside[a - 1], ~inside[b - 1], crossing])
        cut.append(weight * crossing)
    model.minimize(sum(cut))
    for vertex in range(1, n + 1):
        model.add_hint(inside[vertex - 1], vertex in half)
    return cp_sat.solve(model, inside, budget=budget)
