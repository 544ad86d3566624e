"""Steiner tree: the cheapest edges that connect the terminals of a weighted graph."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.graphs.undirected import (
    Edge,
    all_pairs,
    check_order,
    edge,
    read_pairs,
    show_edges,
)
from rlvr_envs.generators.graphs.weighted import WeightedEdge, WeightedEdges, describe_weighted
from rlvr_envs.generators.optimisation.lists import listed
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)

_MAX_DEGREE = 50  # edges for each vertex
_MAX_TERMINALS = 12  # the exact search takes three times as long for each more


@dataclass(frozen=True, slots=True, kw_only=True)
class SteinerTreeConfig(OptimisationConfig):
    """How large the graph is, and how many terminals it has; ``budget`` is not used."""

    n_vertices: int = 12
    n_terminals: int = 4
    edges_per_vertex: int = knob(2, "edges of the graph per vertex", low=1, high=_MAX_DEGREE)
    min_weight: int = 5
    max_weight: int = 20

    def check(self) -> None:
        check_order(self.n_vertices, least=4)
        if not 3 <= self.n_terminals <= min(_MAX_TERMINALS, self.n_vertices - 1):
            raise ConfigError(
                f"n_terminals is from 3 to {_MAX_TERMINALS}, and less than n_vertices, got {self}"
            )
        if not 1 <= self.min_weight <= self.max_weight <= 10**6:
            raise ConfigError(f"need 1 <= min_weight <= max_weight <= 10**6, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "SteinerTreeConfig":
        """Vertices and edges are added, and vertices to be joined, up to twelve."""
        terminals = ramp(difficulty, 3, easy=4, medium=6, hard=8, bench=10)
        return cls(
            budget=budget_at(difficulty),
            n_vertices=ramp(difficulty, 7, easy=10, medium=20, hard=30, bench=40),
            n_terminals=min(_MAX_TERMINALS, terminals),
        )


@dataclass(frozen=True, slots=True)
class SteinerTreeProblem:
    """A connected weighted graph, whose vertices are numbered from 1, and those to be joined."""

    n_vertices: int
    edges: WeightedEdges
    terminals: tuple[int, ...]
    reference: Reference = hidden()


@register("SteinerTree-v0", domain="np_hard")
class SteinerTreeTask(OptimisationTask[SteinerTreeConfig, SteinerTreeProblem]):
    """Choose edges of the smallest total weight that connect all terminals.

    Description:
        The graph is connected and random. The cheapest edges run through some of the other
        vertices, and which ones is the hard part.

    Observation:
        The edges with their weights, and the vertices to be connected.

    Action:
        The chosen edges, each once, as pairs of vertices.

    Reward:
        Scheme ``over_greedy``: how far the total weight lies between that of joining the nearest
        terminal by a shortest path, again and again, which earns 0, and the smallest possible,
        which earns 1. ``ratio`` begins instead at the minimum spanning tree of the whole graph (of
        edges of equal weight, the one named first goes in first) without the branches that lead
        to no terminal; choosing every edge costs far more. Edges that leave a terminal apart earn
        0. Superfluous edges are allowed and only cost their weight.

    Verification:
        The edges are looked up and joined into components. The smallest weight comes from Dreyfus
        and Wagner's dynamic program, and is always proven. No known gaps.

    Difficulty:
        Only the size grows: that of the graph, and the number of terminals.

    References:
        Dreyfus and Wagner, "The Steiner problem in graphs", 1971. Takahashi and Matsuyama, 1980,
        for the greedy tree.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"
    draws: ClassVar[int] = 100

    def draw(self, rng: Rng) -> SteinerTreeProblem:
        config, n = self.config, self.config.n_vertices
        edges = self._edges(rng)
        terminals = tuple(sorted(1 + v for v in rng.permutation(n)[: config.n_terminals].tolist()))
        tree, sums = cheapest_tree(n, edges, terminals)
        best = _weight(edges, tree)
        reference = Reference(
            objective=best,
            bound=best,
            proven=True,
            trivial=_weight(edges, pruned(spanning_tree(edges, range(1, n + 1)), terminals)),
            answer=show_edges(tree),
            effort=sums,
        )
        return SteinerTreeProblem(n, edges, terminals, reference)

    def _edges(self, rng: Rng) -> WeightedEdges:
        n = self.config.n_vertices
        order = [1 + v for v in rng.permutation(n).tolist()]
        drawn = {edge(order[i], order[integer(rng, 0, i - 1)]) for i in range(1, n)}
        others = [pair for pair in all_pairs(n) if pair not in drawn]
        missing = max(0, n * self.config.edges_per_vertex - len(drawn))
        drawn |= {others[place] for place in rng.permutation(len(others))[:missing].tolist()}
        low, high = self.config.min_weight, self.config.max_weight
        return tuple((a, b, integer(rng, low, high)) for a, b in sorted(drawn))

    def prompt(self, problem: SteinerTreeProblem) -> str:
        graph = describe_weighted(
            problem.n_vertices, problem.edges, name="A connected undirected graph"
        )
        credit = self.partial_credit(
            f"it weighs less than starting at terminal {problem.terminals[0]} and joining the "
            "nearest terminal by a shortest path again and again",
            "it weighs less than the minimum spanning tree of the whole graph after removing the "
            "branches that lead to no terminal",
        )
        return (
            f"{graph}\n\nFind a minimum Steiner tree for the terminals "
            f"{listed(problem.terminals)}: choose edges that connect all terminals with each "
            "other, directly or through other vertices, so that the total weight of the chosen "
            f"edges is as small as possible. {credit} Answer with the chosen edges, each once, as "
            "pairs of vertices without weights, separated by commas, in the form 1-4, 2-3."
        )

    def measure(self, problem: SteinerTreeProblem, answer: str) -> int:
        weights = {(a, b): weight for a, b, weight in problem.edges}
        group = list(range(problem.n_vertices + 1))
        seen: set[Edge] = set()
        for one, other in read_pairs(answer, what="edges"):
            pair = edge(one, other)
            if pair not in weights:
                raise Infeasible(f"there is no edge {one!s:.40}-{other!s:.40}")
            if pair in seen:
                raise Infeasible(f"edge {one}-{other} is listed twice")
            seen.add(pair)
            group[_leader(group, one)] = _leader(group, other)
        parts = {_leader(group, terminal) for terminal in problem.terminals}
        if len(parts) > 1:
            raise Infeasible(f"the chosen edges leave the terminals in {len(parts)} separate parts")
        return sum(weights[pair] for pair in seen)

    def explain(self, problem: SteinerTreeProblem) -> list[str]:
        """Return edge by edge how the tree grows from the first of the vertices to be joined."""
        weights = {(a, b): weight for a, b, weight in problem.edges}
        left = sorted(read_pairs(self.solve(problem), what="edges"), key=lambda pair: weights[pair])
        reached, total = {problem.terminals[0]}, 0
        steps = []
        while left:
            pair = next(pair for pair in left if not reached.isdisjoint(pair))
            left.remove(pair)
            reached |= set(pair)
            total += weights[pair]
            missing = [vertex for vertex in problem.terminals if vertex not in reached]
            steps.append(
                f"Edge {show_edges([pair])} of weight {weights[pair]}, in all {total}. Not reached "
                f"yet: {listed(missing) or 'none'}."
            )
        return [*steps, self.conclusion(problem, "The total weight")]

    def baseline(self, rng: Rng, problem: SteinerTreeProblem) -> str:
        """Join the nearest vertex that is asked for by a shortest path, again and again."""
        return show_edges(nearest_first_tree(problem.n_vertices, problem.edges, problem.terminals))

    def neighbour(self, problem: SteinerTreeProblem, answer: str, rng: Rng) -> str:
        """Add a vertex to the tree or take one out, and span the rest as cheaply as possible."""
        used = {vertex for pair in read_pairs(answer, what="edges") for vertex in pair}
        free = [v for v in range(1, problem.n_vertices + 1) if v not in problem.terminals]
        used ^= {free[integer(rng, 0, len(free) - 1)]}
        tree = pruned(spanning_tree(problem.edges, sorted(used)), problem.terminals)
        return show_edges(tree) or answer


def _weight(edges: WeightedEdges, tree: Iterable[Edge]) -> int:
    chosen = frozenset(tree)
    return sum(weight for a, b, weight in edges if (a, b) in chosen)


def _leader(group: list[int], vertex: int) -> int:
    """Return the vertex that stands for a component, and halve the way to it."""
    while group[vertex] != vertex:
        group[vertex] = group[group[vertex]]
        vertex = group[vertex]
    return vertex


# Cheapest trees that join some vertices of a weighted graph: exact, and two heuristics.
#
# The exact tree comes from Dreyfus and Wagner's dynamic program, whose work grows threefold with
# each terminal but only as a polynomial with the vertices.


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
