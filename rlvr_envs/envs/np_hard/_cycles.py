"""Cycles of a graph: the shortest, the longest, and those of a greedy walk."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.generators.graphs.undirected import Edges, neighbours
from rlvr_envs.solvers import cp_sat


@dataclass(frozen=True, slots=True)
class LongCycle:
    """A cycle, a bound on the number of vertices of any, and the work in microseconds."""

    cycle: list[int]
    bound: int
    effort: int


def shortest_cycle(n: int, edges: Edges) -> list[int]:
    """Return a cycle with the fewest vertices; empty where the graph is a forest."""
    beside = neighbours(n, edges)
    best: list[int] = []
    for a, b in edges:
        path = _path(beside, a, b)
        if path and (not best or len(path) < len(best)):
            best = path
    return best


def _path(beside: Sequence[set[int]], a: int, b: int) -> list[int]:
    """Return a shortest path from a to b that does not use the edge between them."""
    before, frontier = {a: 0}, [a]
    while frontier and b not in before:
        reached = []
        for vertex in frontier:
            for other in sorted(beside[vertex]):
                if other not in before and (vertex, other) != (a, b):
                    before[other] = vertex
                    reached.append(other)
        frontier = reached
    path, vertex = [], b if b in before else 0
    while vertex:
        path.append(vertex)
        vertex = before[vertex]
    return path


def walked_cycle(n: int, edges: Edges) -> list[int]:
    """Return the longest cycle that closes a walk to the neighbour with the fewest ways on.

    The walk begins at vertex 1, or at the first one from which it can be closed.
    """
    beside = neighbours(n, edges)
    for start in range(1, n + 1):
        walk, left = [start], set(range(1, n + 1)) - {start}
        while ways := sorted(beside[walk[-1]] & left):
            walk.append(min(ways, key=lambda vertex: (len(beside[vertex] & left), vertex)))
            left.remove(walk[-1])
        closed = [
            (j - i, i, j)
            for i, j in itertools.combinations(range(len(walk)), 2)
            if j - i >= 2 and walk[j] in beside[walk[i]]
        ]
        if closed:
            _, i, j = max(closed)
            return walk[i : j + 1]
    return shortest_cycle(n, edges)


def bypasses(cycle: Sequence[int], beside: Sequence[set[int]]) -> list[list[int]]:
    """Return the cycles with a step replaced by one or two more vertices, or one vertex dropped."""
    outside = set(range(1, len(beside))).difference(cycle)
    found = []
    for i, a in enumerate(cycle):
        b = cycle[(i + 1) % len(cycle)]
        ways = sorted(beside[a] & outside)
        for x in ways:
            if b in beside[x]:
                found.append([*cycle[: i + 1], x, *cycle[i + 1 :]])
            for y in sorted(beside[x] & beside[b] & outside):
                found.append([*cycle[: i + 1], x, y, *cycle[i + 1 :]])
        if len(cycle) > 3 and b in beside[cycle[i - 1]]:
            found.append([*cycle[:i], *cycle[i + 1 :]])
    return found


def longest_cycle(n: int, edges: Edges, hint: Sequence[int], *, budget: float) -> LongCycle:
    """Return a longest cycle, or the best that the budget allows; ``hint`` is some cycle."""
    core = _core(n, edges)
    if len(hint) == len(core):
        return LongCycle(list(hint), len(core), 0)
    inside = [(a, b) for a, b in edges if a in core and b in core]
    forward = set(itertools.pairwise([*hint, hint[0]]))
    model = cp_sat.new_model()
    arcs = [(a, b, model.new_bool_var("")) for pair in inside for a, b in (pair, pair[::-1])]
    skipped = {vertex: model.new_bool_var("") for vertex in sorted(core)}
    model.add_circuit([*arcs, *((v, v, skip) for v, skip in skipped.items())])
    for a, b, used in arcs:
        model.add_hint(used, (a, b) in forward)
    for vertex, skip in skipped.items():
        model.add_hint(skip, vertex not in hint)
    model.minimize(sum(skipped.values()))
    solved = cp_sat.solve(model, [used for _, _, used in arcs], budget=budget)
    if solved is None:
        return LongCycle(list(hint), len(core), 0)
    after = {a: b for (a, b, _), value in zip(arcs, solved.values, strict=True) if value}
    cycle = [min(after)]
    while after[cycle[-1]] != cycle[0]:
        cycle.append(after[cycle[-1]])
    return LongCycle(cycle, len(core) - solved.bound, solved.effort)


def _core(n: int, edges: Edges) -> set[int]:
    """Return the vertices that are left when those with a single neighbour are taken away."""
    beside = neighbours(n, edges)
    thin = [vertex for vertex in range(1, n + 1) if len(beside[vertex]) < 2]
    core = set(range(1, n + 1))
    while thin:
        vertex = thin.pop()
        core.discard(vertex)
        for other in beside[vertex]:
            beside[other].discard(vertex)
            if len(beside[other]) == 1:
                thin.append(other)
    return core
