"""Vertex cover: as few vertices as possible that touch every edge."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.graphs.independent_sets import (
    check_hidden,
    hide_set,
    largest_set,
    with_another,
)
from rlvr_envs.generators.graphs.undirected import Edges, neighbours, show_edges
from rlvr_envs.generators.optimisation.lists import listed, read_distinct
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VertexCoverConfig(OptimisationConfig):
    """How large the graph and its hidden cover are."""

    n_vertices: int = 9
    n_cover: int = knob(5, "vertices of the hidden cover", low=1)
    edge_percent: int = knob(60, "how often a vertex of the cover and one outside are joined")

    def check(self) -> None:
        n_outside = self.n_vertices - self.n_cover
        check_hidden(self.n_vertices, n_outside, self.edge_percent, least=1)

    @classmethod
    def at(cls, difficulty: int) -> "VertexCoverConfig":
        """Vertices are added, and the hidden cover grows, through Graph-R1's sizes.

        Beyond them edges get rarer, since the cover would stand out in a large dense graph.
        """
        n_vertices = ramp(difficulty, 8, easy=10, medium=13, hard=16, bench=20)
        return cls(
            budget=budget_at(difficulty),
            n_vertices=n_vertices,
            edge_percent=max(1, min(60, 1000 // n_vertices)),
            n_cover=ramp(difficulty, 4, easy=6, medium=8, hard=10, bench=12),
        )


@dataclass(frozen=True, slots=True)
class VertexCoverProblem:
    """Vertices are numbered from 1; an edge names its smaller vertex first."""

    n_vertices: int
    edges: Edges
    reference: Reference = hidden()


@register("VertexCover-v0", domain="np_hard")
class VertexCoverTask(OptimisationTask[VertexCoverConfig, VertexCoverProblem]):
    """Choose as few vertices as possible such that every edge has a chosen end.

    Description:
        A cover is hidden: no edge lies outside it. Its vertices are joined in pairs and rarely
        otherwise, so that degrees do not tell them from the others.

    Observation:
        The number of vertices and the list of edges.

    Action:
        The numbers of the chosen vertices, each once, in any order.

    Reward:
        Scheme ``over_greedy``: how far the size lies between that of always taking the vertex that
        covers the most edges left, which earns 0, and the best known size, which earns 1;
        ``ratio`` begins instead at all vertices. A choice that leaves an edge without a chosen
        end earns 0.

    Verification:
        Every edge must have a chosen end. The best known cover comes from a branch and bound
        over the vertices that can be left out, and the row says whether it is proven to be the
        smallest. No known gaps.

    Difficulty:
        Only the size grows: that of the graph and of the hidden cover.

    References:
        Karp, "Reducibility among combinatorial problems", 1972. "Graph-R1", 2025
        (arXiv:2508.20373), for the sizes.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"
    worse: ClassVar[str] = "A valid choice larger than the best known"
    draws: ClassVar[int] = 100

    def draw(self, rng: Rng) -> VertexCoverProblem:
        config = self.config
        n = config.n_vertices
        edges, outside = hide_set(rng, n, n - config.n_cover, config.edge_percent)
        known = _others(n, outside)
        return VertexCoverProblem(n, edges, Reference.known(len(known), listed(known), trivial=n))

    def improve(self, rng: Rng, problem: VertexCoverProblem) -> Reference:
        n = problem.n_vertices
        known = read_distinct(problem.reference.answer, low=1, high=n, what="vertex")
        best = largest_set(n, problem.edges, _others(n, known), self.config.budget)
        return Reference(
            objective=n - len(best.vertices),
            bound=n - best.bound,
            proven=best.proven,
            trivial=n,
            answer=listed(_others(n, best.vertices)),
            effort=best.effort,
        )

    def prompt(self, problem: VertexCoverProblem) -> str:
        credit = self.partial_credit(
            "it beats always taking the first vertex on the most uncovered edges",
            "it leaves out a vertex",
        )
        return (
            f"Choose as few of the vertices 1 to {problem.n_vertices} as possible so that each of "
            f"these edges has a chosen end:\n\n{show_edges(problem.edges)}\n\n{credit} Answer with "
            "the chosen vertices, separated by commas."
        )

    def measure(self, problem: VertexCoverProblem, answer: str) -> int:
        chosen = set(read_distinct(answer, low=1, high=problem.n_vertices, what="vertex"))
        for one, other in problem.edges:
            if one not in chosen and other not in chosen:
                raise Infeasible(f"the edge {one}-{other} has no chosen end")
        return len(chosen)

    def explain(self, problem: VertexCoverProblem) -> list[str]:
        """Return edges without a common vertex, which need one each, and the vertices chosen."""
        apart, used = [], set[int]()
        for a, b in problem.edges:
            if a not in used and b not in used:
                apart.append((a, b))
                used |= {a, b}
        least = f"at least {len(apart)} vertices are needed"
        steps = [f"The edges {show_edges(apart)} share no vertex, so {least}."]
        left = set(problem.edges)
        chosen = read_distinct(self.solve(problem), low=1, high=problem.n_vertices, what="vertex")
        while left:
            vertex = max(chosen, key=lambda v: sum(v in pair for pair in left))
            covered = {pair for pair in left if vertex in pair}
            left -= covered
            steps.append(f"Take {vertex}, which covers {show_edges(sorted(covered))}.")
        return [*steps, self.conclusion(problem, "The number of vertices")]

    def baseline(self, rng: Rng, problem: VertexCoverProblem) -> str:
        """Take the vertex that covers the most edges still uncovered, and so on."""
        beside = neighbours(problem.n_vertices, problem.edges)
        chosen = []
        while any(beside):
            vertex = max(range(1, len(beside)), key=lambda v: (len(beside[v]), -v))
            chosen.append(vertex)
            for other in beside[vertex]:
                beside[other].discard(vertex)
            beside[vertex] = set()
        return listed(sorted(chosen))

    def neighbour(self, problem: VertexCoverProblem, answer: str, rng: Rng) -> str:
        """Leave a vertex out, and take its neighbours in."""
        n = problem.n_vertices
        chosen = read_distinct(answer, low=1, high=n, what="vertex")
        return listed(_others(n, with_another(n, problem.edges, _others(n, chosen), rng)))


def _others(n: int, vertices: list[int] | tuple[int, ...]) -> list[int]:
    return sorted(set(range(1, n + 1)) - set(vertices))
