"""Cheapest trees that join some vertices of a weighted graph: exact, and two heuristics.

The exact tree comes from Dreyfus and Wagner's dynamic program, whose work grows threefold with
each terminal but only as a polynomial with the vertices.
"""

from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from rlvr_envs.generators.graphs.undirected import Edge, edge
from rlvr_envs.generators.graphs.weighted import WeightedEdge, WeightedEdges

_Array = npt.NDArray[np.int64]
_FAR = 2**40


def distances(n: int, edges: WeightedEdges) -> _Array:
    """Return the lengths of the shortest paths between vertices, from 0 here."""
    table = np.full((n, n), _FAR, dtype=np.int64)
    np.fill_diagonal(table, 0)
    for a, b, weight in edges:
        table[a - 1, b - 1] = table[b - 1, a - 1] = weight
    for via in range(n):
        np.minimum(table, table[:, via, None] + table[None, via, :], out=table)
    return table


def path(edges: Iterable[WeightedEdge], lengths: _Array, start: int, end: int) -> list[Edge]:
    """Return the edges of a shortest path between two vertices."""
    steps: list[Edge] = []
    beside = _beside(edges)
    while start != end:
        left = lengths[start - 1, end - 1]
        start, before = next(
            (other, start)
            for other, weight in beside[start]
            if weight + lengths[other - 1, end - 1] == left
        )
        steps.append(edge(before, start))
    return steps


def _beside(edges: Iterable[WeightedEdge]) -> dict[int, list[tuple[int, int]]]:
    beside: dict[int, list[tuple[int, int]]] = {}
    for a, b, weight in edges:
        beside.setdefault(a, []).append((b, weight))
        beside.setdefault(b, []).append((a, weight))
    return beside


def cheapest_tree(n: int, edges: WeightedEdges, terminals: Sequence[int]) -> tuple[list[Edge], int]:
    """Return the edges of a cheapest tree that joins the terminals, and how many sums it took.

    ``trees[mask, v]`` is the weight of the cheapest tree that joins vertex v and the terminals of
    the mask, all but the last one; ``joined[mask, v]`` of one in which v is no leaf.
    """
    *others, root = terminals
    lengths = distances(n, edges)
    full = (1 << len(others)) - 1
    trees = np.full((full + 1, n), _FAR, dtype=np.int64)
    joined = np.full((full + 1, n), _FAR, dtype=np.int64)
    work = 0
    for mask in range(1, full + 1):
        if mask & (mask - 1) == 0:
            trees[mask] = lengths[others[mask.bit_length() - 1] - 1]
            continue
        parts = _parts(mask)
        sums = trees[parts] + trees[[mask ^ part for part in parts]]
        joined[mask] = sums.min(axis=0)
        trees[mask] = (joined[mask][:, None] + lengths).min(axis=0)
        work += sums.size + lengths.size
    found: set[Edge] = set()
    open_ = [(full, root)]
    while open_:
        mask, vertex = open_.pop()
        if mask & (mask - 1) == 0:
            found.update(path(edges, lengths, vertex, others[mask.bit_length() - 1]))
            continue
        fork = int((joined[mask] + lengths[vertex - 1]).argmin()) + 1
        found.update(path(edges, lengths, vertex, fork))
        whole = joined[mask, fork - 1]
        part = next(
            part
            for part in _parts(mask)
            if trees[part, fork - 1] + trees[mask ^ part, fork - 1] == whole
        )
        open_ += [(part, fork), (mask ^ part, fork)]
    return sorted(found), work


def _parts(mask: int) -> list[int]:
    """Return the proper parts of a set of terminals that hold its first one."""
    first = mask & -mask
    rest = mask ^ first
    parts, part = [], rest
    while part:
        part = (part - 1) & rest
        parts.append(part | first)
    return parts


def nearest_first_tree(n: int, edges: WeightedEdges, terminals: Sequence[int]) -> list[Edge]:
    """Return the tree that joins the nearest terminal by a shortest path, again and again."""
    lengths = distances(n, edges)
    inside, tree, left = {terminals[0]}, set[Edge](), set(terminals[1:])
    while left:
        _, start, end = min((lengths[v - 1, t - 1], v, t) for v in inside for t in left)
        for step in path(edges, lengths, start, end):
            tree.add(step)
            inside.update(step)
        left -= inside
    return sorted(tree)


def spanning_tree(edges: WeightedEdges, vertices: Collection[int]) -> list[Edge]:
    """Return the edges of a minimum spanning forest of some vertices, with ties in order."""
    group = {vertex: {vertex} for vertex in vertices}
    tree = []
    for a, b, _ in sorted(edges, key=lambda item: (item[2], item)):
        if a in group and b in group and group[a] is not group[b]:
            tree.append((a, b))
            group[a] |= group[b]
            for vertex in group[b]:
                group[vertex] = group[a]
    return sorted(tree)


def pruned(tree: Iterable[Edge], terminals: Collection[int]) -> list[Edge]:
    """Return the tree without branches that lead to no terminal."""
    kept = set(tree)
    while True:
        ends = [vertex for pair in kept for vertex in pair]
        dead = {
            pair
            for pair in kept
            if any(vertex not in terminals and ends.count(vertex) == 1 for vertex in pair)
        }
        if not dead:
            return sorted(kept)
        kept -= dead
