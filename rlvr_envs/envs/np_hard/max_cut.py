"""Maximum cut: split the vertices in two such that the edges between the parts weigh the most."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.generators.graphs.undirected import (
    Edges,
    all_pairs,
    check_order,
    chosen,
    members,
    neighbour_masks,
)
from rlvr_envs.generators.graphs.weighted import describe_weighted
from rlvr_envs.generators.optimisation.lists import listed, read_distinct
from rlvr_envs.generators.optimisation.task import (
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)

_MAX_WEIGHT = 10**6  # so that the weight of no cut is too large for NumPy


@dataclass(frozen=True, slots=True, kw_only=True)
class MaxCutConfig(OptimisationConfig):
    """How large the graph is, and how heavy its edges are."""

    n_vertices: int = 16
    degree: int = knob(5, "average number of edges at a vertex", low=1)
    max_weight: int = knob(9, "the largest weight of an edge", low=1, high=_MAX_WEIGHT)

    def check(self) -> None:
        check_order(self.n_vertices, least=3)

    @classmethod
    def at(cls, difficulty: int) -> "MaxCutConfig":
        """Vertices are added, and the weights grow."""
        return cls(
            budget=budget_at(difficulty),
            n_vertices=ramp(difficulty, 9, easy=12, medium=16, hard=26, bench=34),
            degree=3 + min(2, difficulty // 2),
            max_weight=min(_MAX_WEIGHT, 3 + difficulty),
        )


@dataclass(frozen=True, slots=True)
class MaxCutProblem:
    """Vertices are numbered from 1; an edge names its smaller vertex first."""

    n_vertices: int
    edges: Edges
    weights: tuple[int, ...]  # of the edges, in their order
    reference: Reference = hidden()


@register("MaxCut-v0", domain="np_hard")
class MaxCutTask(OptimisationTask[MaxCutConfig, MaxCutProblem]):
    """Split the vertices into two parts so that the edges between them weigh as much as possible.

    Description:
        Vertices fall into two hidden parts. Edges between the parts are frequent; decoys, which
        are edges inside a part, are a third as frequent and weigh up to twice as much.

    Observation:
        The number of vertices, and the list of edges with their weights.

    Action:
        The numbers of the vertices in one of the two parts, each once, in any order.

    Reward:
        Scheme ``over_greedy``: how far the cut's weight lies between that of placing the vertices
        in turn, the heaviest first, where each cuts more, which earns 0, and the best known
        weight, which earns 1; ``ratio`` begins instead at half of the weight of all edges, which
        a random split reaches on average.

    Verification:
        The weights of the edges with one end in the named part are added up. The best known cut
        comes from eliminating the vertices one by one, which is exact; where that takes too
        much memory it comes from a local search, and the row says so. No known gaps.

    Difficulty:
        Only the size grows: more vertices, and larger weights.

    References:
        Karp, "Reducibility among combinatorial problems", 1972. Dechter, "Bucket elimination",
        1999, for the exact method.
    """

    sense: ClassVar[Literal["max", "min"]] = "max"
    draws: ClassVar[int] = 40

    def draw(self, rng: Rng) -> MaxCutProblem:
        n = self.config.n_vertices
        part = frozenset(1 + v for v in rng.permutation(n).tolist()[: n // 2])
        pairs = all_pairs(n)
        across = [pair for pair in pairs if (pair[0] in part) != (pair[1] in part)]
        within = [pair for pair in pairs if (pair[0] in part) == (pair[1] in part)]
        # three in four edges run across: there are about as many pairs of either kind
        percent = min(100, 150 * self.config.degree // n)
        drawn = chosen(rng, across, percent) + chosen(rng, within, percent // 3)
        edges = tuple(sorted(drawn or across[:1]))
        plain = integers(rng, 1, self.config.max_weight, len(edges))
        inside = set(within)
        weights = tuple(
            w * (1 + integer(rng, 0, 1)) if pair in inside else w
            for pair, w in zip(edges, plain, strict=True)
        )
        known = _weight(edges, weights, part)
        reference = Reference.known(known, listed(sorted(part)), trivial=sum(weights) // 2)
        return MaxCutProblem(n, edges, weights, reference)

    def improve(self, rng: Rng, problem: MaxCutProblem) -> Reference:
        n, edges, weights = problem.n_vertices, problem.edges, problem.weights
        known = read_distinct(problem.reference.answer, low=1, high=n, what="vertex")
        exact = largest_cut(n, edges, weights, self.config.budget)
        found = exact or improved_cut(n, edges, weights, known)
        objective = _weight(edges, weights, found.part)
        return Reference(
            objective=objective,
            bound=objective if exact else sum(weights),
            proven=exact is not None,
            trivial=problem.reference.trivial,
            answer=listed(found.part),
            effort=found.effort,
        )

    def prompt(self, problem: MaxCutProblem) -> str:
        pairs = zip(problem.edges, problem.weights, strict=True)
        edges = tuple((a, b, weight) for (a, b), weight in pairs)
        graph = describe_weighted(problem.n_vertices, edges, name="An undirected graph")
        credit = self.partial_credit(
            "its cut weighs more than that of placing the vertices one after another, from the "
            "largest total edge weight to the smallest, each into the part where it then cuts more",
            "the cut has more than half of the total weight of all edges",
        )
        return (
            f"{graph}\n\nFind a maximum cut: split the vertices into two parts so that the total "
            f"weight of the edges with one end in each part is as large as possible. {credit} "
            "Answer with the numbers of the vertices in one part (either one), separated by "
            "commas. All other vertices form the other part."
        )

    def measure(self, problem: MaxCutProblem, answer: str) -> int:
        part = read_distinct(answer, low=1, high=problem.n_vertices, what="vertex")
        return _weight(problem.edges, problem.weights, part)

    def explain(self, problem: MaxCutProblem) -> list[str]:
        """Return vertex by vertex what its edges to those before it add to the cut."""
        n, total = problem.n_vertices, 0
        part = set(read_distinct(self.solve(problem), low=1, high=n, what="vertex"))
        beside: list[dict[int, int]] = [{} for _ in range(n + 1)]
        for (a, b), weight in zip(problem.edges, problem.weights, strict=True):
            beside[a][b] = beside[b][a] = weight
        order = sorted(range(1, n + 1), key=lambda v: -sum(beside[v].values()))
        steps = []
        for i, vertex in enumerate(order):
            cut = {
                other: beside[vertex][other]
                for other in order[:i]
                if other in beside[vertex] and (other in part) != (vertex in part)
            }
            total += sum(cut.values())
            edges = ", ".join(f"{vertex}-{other}: {weight}" for other, weight in cut.items())
            steps.append(
                f"Vertex {vertex} into part {'AB'[vertex not in part]}. This cuts "
                f"{edges or 'no edge'}; in all {total}."
            )
        return [*steps, self.conclusion(problem, "The weight of the cut")]

    def baseline(self, rng: Rng, problem: MaxCutProblem) -> str:
        """Place each vertex in turn, the heaviest first, where it cuts more."""
        return listed(greedy_cut(problem.n_vertices, problem.edges, problem.weights))

    def neighbour(self, problem: MaxCutProblem, answer: str, rng: Rng) -> str:
        """Move a vertex to the other part."""
        n = problem.n_vertices
        part = set(read_distinct(answer, low=1, high=n, what="vertex"))
        moved = part ^ {integer(rng, 1, n)}
        return listed(sorted(moved or part))


def _weight(edges: Edges, weights: tuple[int, ...], part: Collection[int]) -> int:
    inside = frozenset(part)
    pairs = zip(edges, weights, strict=True)
    return sum(weight for (a, b), weight in pairs if (a in inside) != (b in inside))


# Heavy cuts of weighted graphs: an exact elimination, a local search and a greedy.


# Deterministic microseconds of an eliminated vertex, and how many cells of tables count for one.
_VERTEX, _CELLS = 30, 50
_MAX_SCOPE = 22  # vertices of one table
_STARTS = 4  # of the local search, beside the given one and the greedy's
Table = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Cut:
    """One part of a split, in order, and the work that finding it took, in microseconds."""

    part: tuple[int, ...]
    effort: int


def largest_cut(n: int, edges: Edges, weights: Sequence[int], budget: float) -> Cut | None:
    """Return the heaviest cut, or None where finding it takes more than the budget.

    Bucket elimination: the best side of a vertex depends on its neighbours only, so a table over
    their sides replaces it.
    """
    order = _order(n, edges)
    effort = sum(_VERTEX + 2 ** len(scope) // _CELLS for _, scope in order)
    if effort > budget * 1e6 or max(len(scope) for _, scope in order) > _MAX_SCOPE:
        return None
    rank = {vertex: position for position, (vertex, _) in enumerate(order)}
    buckets: list[list[tuple[list[int], Table]]] = [[] for _ in order]
    for (a, b), weight in zip(edges, weights, strict=True):
        scope = sorted((a, b), key=rank.__getitem__, reverse=True)
        buckets[rank[scope[-1]]].append((scope, np.array([[0, weight], [weight, 0]])))
    choices = [_eliminate(scope, rank, buckets) for _, scope in order]
    side = [0] * (n + 1)
    for (vertex, scope), choice in zip(reversed(order), reversed(choices), strict=True):
        side[vertex] = int(choice[tuple(side[v] for v in scope[:-1])])
    return Cut(_named(n, side), effort)


def _order(n: int, edges: Edges) -> list[tuple[int, list[int]]]:
    """Return the vertices in the order of their elimination, each with its table's scope.

    A scope has those neighbours that are left, the last to go first, and then the vertex.
    """
    beside = neighbour_masks(n, edges)
    left = list(range(1, n + 1))
    found = []
    while left:
        vertex = min(left, key=lambda v: beside[v].bit_count())
        left.remove(vertex)
        near = beside[vertex]
        for other in members(near):
            beside[other] = (beside[other] | near) & ~(1 << other | 1 << vertex)
        found.append((vertex, members(near)))
    rank = {vertex: position for position, (vertex, _) in enumerate(found)}
    return [
        (vertex, [*sorted(near, key=rank.__getitem__, reverse=True), vertex])
        for vertex, near in found
    ]


def _eliminate(
    scope: list[int], rank: dict[int, int], buckets: list[list[tuple[list[int], Table]]]
) -> npt.NDArray[Any]:
    """Add up the tables of the last vertex of the scope; return its best side for each case."""
    total: Table = np.zeros((2,) * len(scope), dtype=np.int64)
    for names, table in buckets[rank[scope[-1]]]:
        present = frozenset(names)
        total += table.reshape([2 if vertex in present else 1 for vertex in scope])
    if len(scope) > 1:
        buckets[rank[scope[-2]]].append((scope[:-1], total.max(axis=-1)))
    return total[..., 1] > total[..., 0]


def improved_cut(n: int, edges: Edges, weights: Sequence[int], part: Collection[int]) -> Cut:
    """Return the best cut that a local search reaches from a given one and from other starts.

    A pass moves every vertex once, the most useful first, and goes back to the best cut on the
    way (Kernighan and Lin), so that it can leave the hilltops of single moves.
    """
    beside = _weighted(n, edges, weights)
    starts = [frozenset(part), frozenset(greedy_cut(n, edges, weights))]
    starts += [frozenset(v for v in range(1, n + 1) if v >> bit & 1) for bit in range(_STARTS)]
    best, heaviest, passes = starts[0], -1, 0
    for start in starts:
        side = [int(v in start) for v in range(n + 1)]
        gained = 1
        while gained:
            gained = _pass(side, beside)
            passes += 1
        weight = sum(w for v in range(1, n + 1) for u, w in beside[v] if side[u] != side[v])
        if weight > heaviest:
            best, heaviest = frozenset(_named(n, side)), weight
    return Cut(tuple(sorted(best)), passes * n * _VERTEX)


def _pass(side: list[int], beside: list[list[tuple[int, int]]]) -> int:
    """Move vertices over as long as it pays in the end; return the weight that the cut gains."""
    gains = [sum(w if side[u] == side[v] else -w for u, w in beside[v]) for v in range(len(side))]
    left = set(range(1, len(side)))
    moved: list[int] = []
    gained, most, n_kept = 0, 0, 0
    while left:
        vertex = max(left, key=lambda v: (gains[v], -v))
        left.remove(vertex)
        moved.append(vertex)
        gained += gains[vertex]
        for other, weight in beside[vertex]:
            gains[other] += -2 * weight if side[other] == side[vertex] else 2 * weight
        side[vertex] ^= 1
        if gained > most:
            most, n_kept = gained, len(moved)
    for vertex in moved[n_kept:]:
        side[vertex] ^= 1
    return most


def greedy_cut(n: int, edges: Edges, weights: Sequence[int]) -> tuple[int, ...]:
    """Place each vertex in turn, the heaviest first, where it cuts more."""
    beside = _weighted(n, edges, weights)
    side = [2] * (n + 1)
    for vertex in sorted(range(1, n + 1), key=lambda v: (-sum(w for _, w in beside[v]), v)):
        pull = sum(w * (1 - 2 * side[u]) for u, w in beside[vertex] if side[u] < 2)
        side[vertex] = int(pull > 0)
    return _named(n, side)


def _weighted(n: int, edges: Edges, weights: Sequence[int]) -> list[list[tuple[int, int]]]:
    beside: list[list[tuple[int, int]]] = [[] for _ in range(n + 1)]
    for (a, b), weight in zip(edges, weights, strict=True):
        beside[a].append((b, weight))
        beside[b].append((a, weight))
    return beside


def _named(n: int, side: Sequence[int]) -> tuple[int, ...]:
    """Return the part without vertex 1, or vertex 1's where that is all there is."""
    other = tuple(v for v in range(1, n + 1) if side[v] != side[1])
    return other or tuple(range(1, n + 1))
