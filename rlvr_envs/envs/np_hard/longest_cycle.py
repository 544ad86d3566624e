"""Longest cycle: a cycle through as many vertices of a graph as possible."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
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
from rlvr_envs.solvers import cp_sat


@dataclass(frozen=True, slots=True, kw_only=True)
class LongestCycleConfig(OptimisationConfig):
    """How many vertices there are, and how many lie on the planted cycle."""

    n_vertices: int = 10
    off_percent: int = knob(
        15, "share of the vertices that lie off the planted cycle, in percent", low=0, high=40
    )
    chord_percent: int = knob(
        60, "edges besides those of the cycle, for a hundred vertices", low=1, high=200
    )

    def check(self) -> None:
        check_order(self.n_vertices, least=5)

    @classmethod
    def at(cls, difficulty: int) -> "LongestCycleConfig":
        """Vertices are added, through NP-Engine's bands; the graph stays sparse.

        NP-Engine's graphs get dense as they grow, and then nearly every walk closes to a long
        cycle.
        """
        return cls(
            budget=budget_at(difficulty),
            n_vertices=ramp(difficulty, 7, easy=15, medium=24, hard=34, bench=44),
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
        first one is implied.

    Reward:
        Scheme ``over_greedy``: how far the number of vertices lies between that of a greedy walk,
        which earns 0, and the most known, which earns 1; ``ratio`` begins instead at the shortest
        cycle of the graph, often a triangle. The walk goes on to the neighbour with the fewest
        ways on until it is stuck, and the longest cycle that it closes counts. A list that is no
        cycle earns 0.

    Verification:
        Each step of the cycle is looked up in the graph. The longest cycle comes from CP-SAT, and
        the row says whether it is proven. No known gaps.

    Difficulty:
        Only the size grows: vertices are added.

    References:
        Karp, "Reducibility among combinatorial problems", 1972. Li et al., "NP-Engine", 2025
        (arXiv:2510.16476), for the task and the size bands.
    """

    sense: ClassVar[Literal["max", "min"]] = "max"

    def draw(self, rng: Rng) -> LongestCycleProblem:
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
        planted = numbers[1 : on + 1]
        trivial = len(shortest_cycle(n, edges))
        return LongestCycleProblem(n, edges, Reference.known(on, listed(planted), trivial=trivial))

    def improve(self, rng: Rng, problem: LongestCycleProblem) -> Reference:
        n, known = problem.n_vertices, problem.reference
        planted = read_distinct(known.answer, low=1, high=n, what="vertex")
        found = longest_cycle(n, problem.edges, planted, budget=self.config.budget)
        return Reference(
            objective=len(found.cycle),
            bound=found.bound,
            proven=len(found.cycle) == found.bound,
            trivial=known.trivial,
            answer=listed(found.cycle),
            effort=found.effort,
        )

    def prompt(self, problem: LongestCycleProblem) -> str:
        credit = self.partial_credit(
            "it is longer than every cycle closed by the walk that starts at vertex 1 and always "
            "goes on to the unvisited neighbour with the fewest unvisited neighbours (in a tie, to "
            "the lowest number)",
            "it is longer than the shortest cycle of the graph",
        )
        return (
            f"{describe(problem.n_vertices, problem.edges)}\n\nFind a cycle with as many vertices "
            "as possible. A cycle starts at a vertex, goes along edges, visits at least three "
            f"vertices, each of them once, and returns along an edge to its start. {credit} Answer "
            "with the vertices of the cycle in order, separated by commas. Do not repeat the first "
            "vertex at the end."
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

    def baseline(self, rng: Rng, problem: LongestCycleProblem) -> str:
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


# Cycles of a graph: the shortest, the longest, and those of a greedy walk.


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
