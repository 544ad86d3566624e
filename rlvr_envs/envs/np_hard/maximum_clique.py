"""Maximum clique: as many vertices as possible that are all joined."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Variant
from rlvr_envs.generators.graphs.independent_sets import (
    check_hidden,
    greedy_set,
    hide_set,
    largest_set,
    with_another,
)
from rlvr_envs.generators.graphs.undirected import (
    Edges,
    complement,
    describe,
    neighbours,
    random_numbers,
    renumbered,
)
from rlvr_envs.generators.optimisation.lists import listed, read_distinct
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)

_TRIVIAL = 2  # any edge


@dataclass(frozen=True, slots=True, kw_only=True)
class MaximumCliqueConfig(OptimisationConfig):
    """How large the graph and its hidden clique are."""

    n_vertices: int = 12
    n_clique: int = knob(5, "vertices of the hidden clique")
    missing_percent: int = knob(
        60, "probability that a vertex of the clique and a decoy are not joined, in percent"
    )

    def check(self) -> None:
        check_hidden(self.n_vertices, self.n_clique, self.missing_percent, least=_TRIVIAL + 1)

    @classmethod
    def at(cls, difficulty: int) -> "MaximumCliqueConfig":
        """Vertices are added, and the hidden clique grows, through NP-Engine's bands.

        Beyond them edges get more frequent, since the clique would stand out in a large graph
        of few edges.
        """
        n_vertices = ramp(difficulty, 8, easy=10, medium=13, hard=16, bench=20)
        return cls(
            budget=budget_at(difficulty),
            n_vertices=n_vertices,
            missing_percent=max(1, min(60, 1000 // n_vertices)),
            n_clique=ramp(difficulty, 4, easy=5, medium=6, hard=7, bench=8),
        )


@dataclass(frozen=True, slots=True)
class MaximumCliqueProblem:
    """Vertices are numbered from 1; an edge names its smaller vertex first."""

    n_vertices: int
    edges: Edges
    reference: Reference = hidden()


@register("MaximumClique-v0", domain="np_hard")
class MaximumCliqueTask(OptimisationTask[MaximumCliqueConfig, MaximumCliqueProblem]):
    """Choose as many vertices as possible that are all joined to each other.

    Description:
        A clique is hidden among decoys. Decoys come in pairs that are not joined, so that they
        form many cliques, each with one of a pair, and degrees are alike throughout.

    Observation:
        The number of vertices and the list of edges.

    Action:
        The numbers of the chosen vertices, each once, in any order.

    Reward:
        Scheme ``over_greedy``: how far the size lies between that of always taking the vertex
        that is joined to the most of those left, which earns 0, and the best known size, which
        earns 1; ``ratio`` begins instead at 2, the size of any edge. Vertices that are not all
        joined earn 0.

    Verification:
        Every pair of chosen vertices must be an edge. The best known clique comes from a branch
        and bound over the graph's complement, and the row says whether it is proven to be
        the largest. No known gaps.

    Difficulty:
        Only the size grows: that of the graph and of the hidden clique.

    References:
        Tomita and Seki, "An efficient branch-and-bound algorithm for finding a maximum clique",
        2003. Li et al., "NP-Engine", 2025 (arXiv:2510.16476), for the hidden clique and the size
        bands.
    """

    sense: ClassVar[Literal["max", "min"]] = "max"
    draws: ClassVar[int] = 100

    def draw(self, rng: Rng) -> MaximumCliqueProblem:
        config = self.config
        n = config.n_vertices
        missing, known = hide_set(rng, n, config.n_clique, config.missing_percent)
        reference = Reference.known(len(known), listed(known), trivial=_TRIVIAL)
        return MaximumCliqueProblem(n, complement(n, missing), reference)

    def improve(self, rng: Rng, problem: MaximumCliqueProblem) -> Reference:
        n = problem.n_vertices
        known = read_distinct(problem.reference.answer, low=1, high=n, what="vertex")
        missing = complement(n, problem.edges)
        return largest_set(n, missing, known, self.config.budget).reference(_TRIVIAL)

    def prompt(self, problem: MaximumCliqueProblem) -> str:
        credit = self.partial_credit(
            "it has more vertices than taking again and again, of the vertices joined to all taken "
            "before, the one joined to the most others of them (in a tie, the lowest number)",
            f"it has at least {_TRIVIAL + 1} vertices",
        )
        return (
            f"{describe(problem.n_vertices, problem.edges)}\n\nFind a maximum clique: choose as "
            f"many vertices as possible so that an edge joins every two chosen vertices. {credit} "
            "Answer with the numbers of the chosen vertices, separated by commas."
        )

    def measure(self, problem: MaximumCliqueProblem, answer: str) -> int:
        chosen = read_distinct(answer, low=1, high=problem.n_vertices, what="vertex")
        joined = frozenset(problem.edges)
        chosen.sort()
        for i, one in enumerate(chosen):
            for other in chosen[i + 1 :]:
                if (one, other) not in joined:
                    raise Infeasible(f"vertices {one} and {other} are not joined")
        return len(chosen)

    def variant(
        self, problem: MaximumCliqueProblem, rng: Rng
    ) -> Variant[MaximumCliqueProblem] | None:
        """Number the vertices otherwise."""
        new = random_numbers(rng, problem.n_vertices)

        def answer(text: str) -> str:
            return listed(sorted(new[int(v)] for v in text.split(",")))

        changed = replace(problem, edges=renumbered(problem.edges, new))
        made = self.varied(problem, changed, answer(self.solve(problem)), rng)
        return None if made is None else Variant(made, answer, ("names", "order"))

    def explain(self, problem: MaximumCliqueProblem) -> list[str]:
        """Return vertex by vertex which others are still possible."""
        chosen = read_distinct(self.solve(problem), low=1, high=problem.n_vertices, what="vertex")
        beside = neighbours(problem.n_vertices, problem.edges)
        left = set(range(1, problem.n_vertices + 1))
        steps, waiting = [], sorted(chosen)
        while waiting:
            vertex = max(waiting, key=lambda v: len(left & beside[v]))
            waiting.remove(vertex)
            left &= beside[vertex]
            steps.append(f"Take {vertex}. Joined to all so far: {listed(sorted(left)) or 'none'}.")
        return [*steps, self.conclusion(problem, "The number of vertices")]

    def baseline(self, rng: Rng, problem: MaximumCliqueProblem) -> str:
        """Take the vertex that is joined to the most that are left, keep those, and so on."""
        n = problem.n_vertices
        return listed(greedy_set(n, complement(n, problem.edges)))

    def neighbour(self, problem: MaximumCliqueProblem, answer: str, rng: Rng) -> str:
        """Take another vertex in, and leave out those not joined to it."""
        n = problem.n_vertices
        chosen = read_distinct(answer, low=1, high=n, what="vertex")
        return listed(with_another(n, complement(n, problem.edges), chosen, rng))
