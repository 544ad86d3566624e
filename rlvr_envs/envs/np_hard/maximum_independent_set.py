"""Maximum independent set: as many vertices as possible, no two of them joined."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.graphs.independent_sets import (
    check_hidden,
    greedy_set,
    hide_set,
    largest_set,
    with_another,
)
from rlvr_envs.generators.graphs.undirected import Edges, complement, describe, neighbours
from rlvr_envs.generators.optimisation.lists import listed, read_distinct
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)

_TRIVIAL = 1  # any vertex


@dataclass(frozen=True, slots=True, kw_only=True)
class MaximumIndependentSetConfig(OptimisationConfig):
    """How large the graph and its hidden independent set are."""

    n_vertices: int = 25
    n_independent: int = knob(9, "vertices of the hidden set")
    edge_percent: int = knob(
        40, "probability of an edge between a vertex of the set and a decoy, in percent"
    )

    def check(self) -> None:
        check_hidden(self.n_vertices, self.n_independent, self.edge_percent, least=_TRIVIAL + 1)

    @classmethod
    def at(cls, difficulty: int) -> "MaximumIndependentSetConfig":
        """Vertices are added, and the hidden set grows, through NP-Engine's bands.

        Beyond them edges get rarer, since the set would stand out in a large dense graph.
        """
        n_vertices = ramp(difficulty, 8, easy=16, medium=25, hard=35, bench=45)
        return cls(
            budget=budget_at(difficulty),
            n_vertices=n_vertices,
            edge_percent=max(1, min(60, 1050 // n_vertices)),
            n_independent=ramp(difficulty, 4, easy=6, medium=9, hard=13, bench=16),
        )


@dataclass(frozen=True, slots=True)
class MaximumIndependentSetProblem:
    """Vertices are numbered from 1; an edge names its smaller vertex first."""

    n_vertices: int
    edges: Edges
    reference: Reference = hidden()


@register("MaximumIndependentSet-v0", domain="np_hard")
class MaximumIndependentSetTask(
    OptimisationTask[MaximumIndependentSetConfig, MaximumIndependentSetProblem]
):
    """Choose as many vertices as possible without choosing both ends of an edge.

    Description:
        An independent set is hidden among decoys. Decoys come in joined pairs, so that they
        form many independent sets, each with one of a pair, and degrees are alike throughout.

    Observation:
        The number of vertices and the list of edges.

    Action:
        The numbers of the chosen vertices, each once, in any order.

    Reward:
        Scheme ``over_greedy``: how far the size lies between that of always taking the vertex with
        the fewest neighbours left, which earns 0, and the best known size, which earns 1;
        ``ratio`` begins instead at 1, the size of any vertex. A choice with an edge inside earns
        0.

    Verification:
        No edge may have both ends among the chosen vertices. The best known set comes from a
        branch and bound, and the row says whether it is proven to be the largest. No known gaps.

    Difficulty:
        Only the size grows: that of the graph and of the hidden set.

    References:
        Tomita and Seki, "An efficient branch-and-bound algorithm for finding a maximum clique",
        2003. Li et al., "NP-Engine", 2025 (arXiv:2510.16476), for the hidden set and the size
        bands.
    """

    sense: ClassVar[Literal["max", "min"]] = "max"
    draws: ClassVar[int] = 100

    def draw(self, rng: Rng) -> MaximumIndependentSetProblem:
        config = self.config
        n = config.n_vertices
        edges, known = hide_set(rng, n, config.n_independent, config.edge_percent)
        reference = Reference.known(len(known), listed(known), trivial=_TRIVIAL)
        return MaximumIndependentSetProblem(n, edges, reference)

    def improve(self, rng: Rng, problem: MaximumIndependentSetProblem) -> Reference:
        n = problem.n_vertices
        known = read_distinct(problem.reference.answer, low=1, high=n, what="vertex")
        return largest_set(n, problem.edges, known, self.config.budget).reference(_TRIVIAL)

    def prompt(self, problem: MaximumIndependentSetProblem) -> str:
        credit = self.partial_credit(
            "it has more vertices than taking again and again, of the vertices joined to none "
            "taken before, the one joined to the fewest others of them (in a tie, the lowest "
            "number)",
            f"it has at least {_TRIVIAL + 1} vertices",
        )
        return (
            f"{describe(problem.n_vertices, problem.edges)}\n\nFind a maximum independent set: "
            "choose as many vertices as possible so that no edge joins two chosen vertices. "
            f"{credit} Answer with the numbers of the chosen vertices, separated by commas."
        )

    def measure(self, problem: MaximumIndependentSetProblem, answer: str) -> int:
        chosen = set(read_distinct(answer, low=1, high=problem.n_vertices, what="vertex"))
        for one, other in problem.edges:
            if one in chosen and other in chosen:
                raise Infeasible(f"vertices {one} and {other} are joined")
        return len(chosen)

    def explain(self, problem: MaximumIndependentSetProblem) -> list[str]:
        """Return vertex by vertex which others are still possible."""
        chosen = read_distinct(self.solve(problem), low=1, high=problem.n_vertices, what="vertex")
        beside = neighbours(problem.n_vertices, complement(problem.n_vertices, problem.edges))
        left = set(range(1, problem.n_vertices + 1))
        steps, waiting = [], sorted(chosen)
        while waiting:
            vertex = max(waiting, key=lambda v: len(left & beside[v]))
            waiting.remove(vertex)
            left &= beside[vertex]
            steps.append(f"Take {vertex}. Joined to none so far: {listed(sorted(left)) or 'none'}.")
        return [*steps, self.conclusion(problem, "The number of vertices")]

    def baseline(self, rng: Rng, problem: MaximumIndependentSetProblem) -> str:
        """Take a vertex with the fewest neighbours left, leave those out, and so on."""
        return listed(greedy_set(problem.n_vertices, problem.edges))

    def neighbour(self, problem: MaximumIndependentSetProblem, answer: str, rng: Rng) -> str:
        """Take another vertex in, and leave out its neighbours."""
        chosen = read_distinct(answer, low=1, high=problem.n_vertices, what="vertex")
        return listed(with_another(problem.n_vertices, problem.edges, chosen, rng))
