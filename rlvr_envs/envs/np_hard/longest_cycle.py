"""Longest cycle: a round walk through as many vertices of a graph as possible."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.envs.np_hard._cycles import bypasses, longest_cycle, shortest_cycle, walked_cycle
from rlvr_envs.generators.graphs.undirected import (
    Edges,
    all_pairs,
    check_order,
    describe,
    edge,
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

_DRAWS = 20  # at most, of a graph whose cycles differ in length


@dataclass(frozen=True, slots=True, kw_only=True)
class LongestCycleConfig(OptimisationConfig):
    """How many vertices there are, and how many lie on the planted cycle."""

    n_vertices: int = 10
    off_percent: int = 15  # of the vertices lie off the planted cycle
    chord_percent: int = 60  # edges beside those of the cycle, for a hundred vertices

    def __post_init__(self) -> None:
        OptimisationConfig.__post_init__(self)
        check_order(self.n_vertices, least=5)
        if not 0 <= self.off_percent <= 40:
            raise ConfigError(f"off_percent is from 0 to 40, got {self.off_percent}")
        if not 1 <= self.chord_percent <= 200:
            raise ConfigError(f"chord_percent is from 1 to 200, got {self.chord_percent}")

    @classmethod
    def at(cls, difficulty: int) -> "LongestCycleConfig":
        """Vertices are added, through NP-Engine's bands; the graph stays sparse.

        NP-Engine's graphs get dense as they grow, and then nearly every walk closes to a long
        cycle.
        """
        return cls(
            budget=budget_at(difficulty),
            n_vertices=ramp(difficulty, 6, easy=15, medium=24, hard=34, bench=44),
        )


@dataclass(frozen=True, slots=True)
class LongestCycleProblem:
    """A graph whose vertices are numbered from 1."""

    n_vertices: int
    edges: Edges
    reference: Reference = hidden()


@register("LongestCycle-v0", domain="np_hard")
class LongestCycleTask(OptimisationTask[LongestCycleConfig, LongestCycleProblem]):
    """Find a cycle through as many vertices of a graph as possible, each visited once.

    Description:
        A planted cycle goes through most vertices, chords join some of them, and the vertices off
        the cycle hang on by an edge or two. The longest cycle may be longer than the planted one.

    Observation:
        The edges of the graph.

    Action:
        The vertices of the cycle in order, at least three and each once; the edge back to the
        first one is understood.

    Reward:
        Scheme ``ratio``: how far the number of vertices lies between that of the shortest cycle of
        the graph, often a triangle, which earns 0, and the most known, which earns 1. A list that
        is no cycle earns 0.

    Episode End:
        After one step.

    Verification:
        Each step of the cycle is looked up in the graph. The longest cycle comes from CP-SAT, and
        the row says whether it is proven. No known gaps.

    Difficulty:
        The vertices grow in number.

    References:
        Karp, "Reducibility among combinatorial problems", 1972. Li et al., "NP-Engine", 2025
        (arXiv:2510.16476), for the task and the size bands.

    Version History:
        v0: first version.
    """

    sense: ClassVar[Literal["max", "min"]] = "max"

    def generate(self, rng: Rng) -> LongestCycleProblem:
        for _ in range(_DRAWS - 1):
            problem = self._draw(rng)
            if problem.reference.baseline is not None:
                return problem
        return self._draw(rng)

    def _draw(self, rng: Rng) -> LongestCycleProblem:
        config, n = self.config, self.config.n_vertices
        on = max(4, n - n * config.off_percent // 100)
        ring = {edge(v, v % on + 1) for v in range(1, on + 1)}
        chords = [pair for pair in all_pairs(on) if pair not in ring]
        order = rng.permutation(len(chords)).tolist()
        drawn = ring | {chords[i] for i in order[: max(1, n * config.chord_percent // 100)]}
        for vertex in range(on + 1, n + 1):
            places = rng.permutation(on)[: pick(rng, (1, 2))].tolist()
            drawn |= {(place + 1, vertex) for place in places}
        numbers = random_numbers(rng, n)
        edges = renumbered(drawn, numbers)
        found = longest_cycle(n, edges, numbers[1 : on + 1], budget=config.budget)
        shortest = len(shortest_cycle(n, edges))
        reference = Reference(
            objective=len(found.cycle),
            bound=found.bound,
            proven=len(found.cycle) == found.bound,
            baseline=shortest if shortest < len(found.cycle) else None,
            answer=listed(found.cycle),
            effort=found.effort,
        )
        return LongestCycleProblem(n, edges, reference)

    def prompt(self, problem: LongestCycleProblem) -> str:
        return (
            f"{describe(problem.n_vertices, problem.edges)}\n\nFind a cycle that goes through as "
            "many vertices as possible: start at a vertex, go along edges, visit at least three "
            "vertices and none of them twice, and return along an edge to where you began. Answer "
            "with the vertices of the cycle in order, separated by commas, without repeating the "
            "first one at the end."
        )

    def measure(self, problem: LongestCycleProblem, answer: str) -> int:
        cycle = read_distinct(answer, low=1, high=problem.n_vertices, what="vertex")
        if len(cycle) < 3:
            raise Infeasible(f"a cycle has at least three vertices, not {len(cycle)}")
        joined = frozenset(problem.edges)
        for a, b in itertools.pairwise([*cycle, cycle[0]]):
            if edge(a, b) not in joined:
                raise Infeasible(f"no edge joins vertices {a} and {b}")
        return len(cycle)

    def explain(self, problem: LongestCycleProblem) -> list[str]:
        """Return the cycle vertex by vertex, with the choice at each."""
        cycle = read_distinct(self.solve(problem), low=1, high=problem.n_vertices, what="vertex")
        beside = neighbours(problem.n_vertices, problem.edges)
        steps = []
        for i, (here, there) in enumerate(itertools.pairwise(cycle), 1):
            free = listed(sorted(beside[here].difference(cycle[:i])))
            steps.append(f"From {here} one can go on to {free}. Go to {there}.")
        steps.append(f"{cycle[-1]} is joined to {cycle[0]}, which closes the cycle.")
        return [*steps, self.conclusion(problem, "The number of vertices")]

    def greedy(self, problem: LongestCycleProblem) -> str:
        """Walk to the neighbour with the fewest ways on until stuck, then close the walk."""
        return listed(walked_cycle(problem.n_vertices, problem.edges))

    def neighbour(self, problem: LongestCycleProblem, answer: str, rng: Rng) -> str:
        """Replace a step by a detour, drop a vertex, or turn a stretch round."""
        cycle = read_distinct(answer, low=1, high=problem.n_vertices, what="vertex")
        beside = neighbours(problem.n_vertices, problem.edges)
        moved = [*bypasses(cycle, beside), *_turned(cycle, beside)]
        return listed(pick(rng, moved) if moved else cycle)


def _turned(cycle: Sequence[int], beside: Sequence[set[int]]) -> list[list[int]]:
    """Return the cycles that arise by turning a stretch of one round."""
    n = len(cycle)
    return [
        [*cycle[: i + 1], *reversed(cycle[i + 1 : j + 1]), *cycle[j + 1 :]]
        for i in range(n - 2)
        for j in range(i + 2, n - (i == 0))
        if cycle[j] in beside[cycle[i]] and cycle[(j + 1) % n] in beside[cycle[i + 1]]
    ]
