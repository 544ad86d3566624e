"""Heavy cuts of weighted graphs: an exact elimination, a local search and a greedy."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rlvr_envs.generators.graphs.undirected import Edges, members, neighbour_masks

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
