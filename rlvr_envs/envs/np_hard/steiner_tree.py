"""Steiner tree: the cheapest edges that join some vertices of a weighted graph."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.envs.np_hard._steiner_trees import (
    cheapest_tree,
    nearest_first_tree,
    pruned,
    spanning_tree,
)
from rlvr_envs.generators.graphs.undirected import (
    Edge,
    all_pairs,
    check_order,
    edge,
    read_pairs,
    show_edges,
)
from rlvr_envs.generators.graphs.weighted import WeightedEdges, describe_weighted
from rlvr_envs.generators.optimisation.lists import listed
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)

_DRAWS = 20  # at most, of a graph where the pruned spanning tree is not the cheapest
_MAX_DEGREE = 50  # edges for each vertex
_MAX_TERMINALS = 12  # the exact search takes three times as long for each more
_PER_MICROSECOND = 100  # sums of the exact search, roughly, to count work


@dataclass(frozen=True, slots=True, kw_only=True)
class SteinerTreeConfig(OptimisationConfig):
    """How large the graph is, and how many vertices are to be joined; ``budget`` is not used."""

    n_vertices: int = 12
    n_terminals: int = 4
    edges_per_vertex: int = 2
    min_weight: int = 10
    max_weight: int = 20

    def __post_init__(self) -> None:
        OptimisationConfig.__post_init__(self)
        check_order(self.n_vertices, least=4)
        if not 3 <= self.n_terminals <= min(_MAX_TERMINALS, self.n_vertices - 1):
            raise ConfigError(
                f"n_terminals is from 3 to {_MAX_TERMINALS}, and less than n_vertices, got {self}"
            )
        if not 1 <= self.edges_per_vertex <= _MAX_DEGREE:
            raise ConfigError(
                f"edges_per_vertex is from 1 to {_MAX_DEGREE}, got {self.edges_per_vertex}"
            )
        if not 1 <= self.min_weight <= self.max_weight <= 10**6:
            raise ConfigError(f"need 1 <= min_weight <= max_weight <= 10**6, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "SteinerTreeConfig":
        """Vertices and edges are added, and vertices to be joined, up to twelve."""
        terminals = ramp(difficulty, 3, easy=4, medium=6, hard=8, bench=10)
        return cls(
            budget=budget_at(difficulty),
            n_vertices=ramp(difficulty, 6, easy=10, medium=20, hard=30, bench=40),
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
    """Choose edges that connect the given vertices, of the smallest total weight.

    Description:
        The graph is connected and random. The cheapest edges run through some of the other
        vertices, and which ones is the hard part.

    Observation:
        The edges with their weights, and the vertices to be connected.

    Action:
        The chosen edges, each once, as pairs of vertices.

    Reward:
        Scheme ``ratio``: how far the total weight lies between that of the baseline, which earns
        0, and the smallest possible, which earns 1. The baseline is the minimum spanning tree of
        the whole graph (of edges of equal weight, the one named first goes in first) without the
        branches that lead to none of the given vertices; handing in every edge costs far more.
        Edges that leave a given vertex apart earn 0. Superfluous edges are allowed and only cost
        their weight.

    Episode End:
        After one step.

    Verification:
        The edges are looked up and joined into components. The smallest weight comes from Dreyfus
        and Wagner's dynamic program, and is always proven. No known gaps.

    Difficulty:
        The graph grows, and so do the vertices to be connected.

    References:
        Dreyfus and Wagner, "The Steiner problem in graphs", 1971. Takahashi and Matsuyama, 1980,
        for the greedy tree.

    Version History:
        v0: first version.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"

    def generate(self, rng: Rng) -> SteinerTreeProblem:
        for _ in range(_DRAWS - 1):
            problem = self._draw(rng)
            if problem.reference.baseline is not None:
                return problem
        return self._draw(rng)

    def _draw(self, rng: Rng) -> SteinerTreeProblem:
        config, n = self.config, self.config.n_vertices
        edges = self._edges(rng)
        terminals = tuple(sorted(1 + v for v in rng.permutation(n)[: config.n_terminals].tolist()))
        tree, sums = cheapest_tree(n, edges, terminals)
        best = _weight(edges, tree)
        spanning = _weight(edges, pruned(spanning_tree(edges, range(1, n + 1)), terminals))
        reference = Reference(
            objective=best,
            bound=best,
            proven=True,
            baseline=spanning if spanning > best else None,
            answer=show_edges(tree),
            effort=sums // _PER_MICROSECOND,
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
        a, b, _ = problem.edges[0]
        return (
            f"{graph}\n\nChoose edges so that the vertices {listed(problem.terminals)} are all "
            "connected with each other along chosen edges, directly or through any other vertices, "
            "and so that the total weight of the chosen edges is as small as possible. Answer with "
            f"the chosen edges as pairs of vertices such as {a}-{b}, separated by commas, without "
            "their weights."
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
                raise Infeasible(f"edge {one}-{other} stands there twice")
            seen.add(pair)
            group[_leader(group, one)] = _leader(group, other)
        parts = {_leader(group, terminal) for terminal in problem.terminals}
        if len(parts) > 1:
            raise Infeasible(f"the chosen edges leave the vertices in {len(parts)} separate parts")
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

    def greedy(self, problem: SteinerTreeProblem) -> str:
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
