"""Small cuts of a weighted graph into two halves: exact for small graphs, else a local search."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.graphs.weighted import WeightedEdges
from rlvr_envs.solvers import cp_sat

_Array = npt.NDArray[np.int64]

_EXACT = 20  # vertices up to which CP-SAT proves the smallest cut within its budget
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

    A local search starts from the given half and, in larger graphs, from random ones too.
    """
    padded = n + n % 2  # an odd graph gets a vertex without edges, so that halves are equal
    weights = np.zeros((padded, padded), dtype=np.int64)
    for a, b, weight in edges:
        weights[a - 1, b - 1] = weights[b - 1, a - 1] = weight
    best, best_side, work = _FAR, np.zeros(padded, dtype=np.int64), 0
    n_random = 0 if n <= _EXACT else _RANDOM_STARTS
    random_halves = (1 + rng.permutation(padded)[: padded // 2] for _ in range(n_random))
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
    return SmallCut(found, solved.objective, solved.bound, effort + solved.effort)


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
