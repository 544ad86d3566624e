"""Graph colouring: as few colours as possible, different ones at the ends of every edge."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Variant
from rlvr_envs.generators.graphs.independent_sets import largest_set
from rlvr_envs.generators.graphs.undirected import (
    Edges,
    all_pairs,
    check_order,
    chosen,
    complement,
    describe,
    members,
    neighbour_masks,
    neighbours,
    random_numbers,
    renumbered,
)
from rlvr_envs.generators.optimisation.lists import listed, read_numbers
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    Unreadable,
    budget_at,
    ramp,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphColoringConfig(OptimisationConfig):
    """How large the graph is, and how many colours are known to be enough."""

    n_vertices: int = 18
    n_parts: int = knob(5, "vertex groups without an edge inside")
    edge_percent: int = knob(
        60,
        "probability of an edge between vertices of different groups, in percent",
        low=1,
        high=100,
    )

    def check(self) -> None:
        check_order(self.n_vertices, least=3)
        if not 2 <= self.n_parts < self.n_vertices:
            raise ConfigError(
                f"n_parts is from 2 to {self.n_vertices - 1} for n_vertices={self.n_vertices}, "
                f"got {self.n_parts}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "GraphColoringConfig":
        """Vertices are added, through NP-Engine's bands, and colours."""
        return cls(
            budget=budget_at(difficulty),
            n_vertices=ramp(difficulty, 8, easy=10, medium=18, hard=28, bench=36),
            n_parts=ramp(difficulty, 3, easy=3, medium=5, hard=6, bench=8),
        )


@dataclass(frozen=True, slots=True)
class GraphColoringProblem:
    """Vertices are numbered from 1; an edge names its smaller vertex first."""

    n_vertices: int
    edges: Edges
    reference: Reference = hidden()


@register("GraphColoring-v0", domain="np_hard")
class GraphColoringTask(OptimisationTask[GraphColoringConfig, GraphColoringProblem]):
    """Colour the vertices such that the ends of every edge differ, with few colours.

    Description:
        Vertices fall into hidden groups of nearly the same size, and only vertices of different
        groups are joined, as often as not: one colour for each group is enough.

    Observation:
        The number of vertices and the list of edges.

    Action:
        The colours of the vertices in order, as numbers from 1 to the number of vertices.

    Reward:
        Scheme ``over_greedy``: how far the number of colours lies between that of colouring the
        vertices by falling degree, each with the first colour that is free, which earns 0, and
        the best known, which earns 1; ``ratio`` begins instead at the largest degree plus one,
        which no colouring vertex by vertex can exceed. A colouring with an edge of one colour
        earns 0.

    Verification:
        Every vertex must have a colour and the ends of every edge different ones; the different
        colours are counted, whatever their numbers. The best known colouring comes from a branch
        and bound that begins at a largest clique, and the row says whether it is proven that no
        colouring has fewer. No known gaps.

    Difficulty:
        Only the size grows: vertices and groups are added.

    References:
        Brélaz, "New methods to color the vertices of a graph", 1979. Li et al., "NP-Engine", 2025
        (arXiv:2510.16476), for the hidden groups and the size bands; the edges are denser than
        there while graphs are small.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"
    draws: ClassVar[int] = 60

    def draw(self, rng: Rng) -> GraphColoringProblem:
        config = self.config
        n = config.n_vertices
        known = [1 + position % config.n_parts for position in rng.permutation(n).tolist()]
        crossing = [(a, b) for a, b in all_pairs(n) if known[a - 1] != known[b - 1]]
        edges = tuple(chosen(rng, crossing, config.edge_percent))
        trivial = 1 + max(map(len, neighbours(n, edges)))
        reference = Reference.known(config.n_parts, listed(known), trivial=trivial)
        return GraphColoringProblem(n, edges, reference)

    def improve(self, rng: Rng, problem: GraphColoringProblem) -> Reference:
        n, known = problem.n_vertices, problem.reference
        colors = read_numbers(known.answer, low=1, high=n, what="colour")
        best = fewest_colors(n, problem.edges, colors, self.config.budget)
        return Reference(
            objective=best.n_colors,
            bound=best.bound,
            proven=best.bound == best.n_colors,
            trivial=known.trivial,
            answer=listed(best.colors),
            effort=best.effort,
        )

    def prompt(self, problem: GraphColoringProblem) -> str:
        n = problem.n_vertices
        credit = self.partial_credit(
            "it has fewer colours than giving each vertex, from the largest degree to the smallest "
            "and in numeric order where degrees are equal, the first colour that is free",
            "it has no more colours than the largest degree of a vertex in the graph",
        )
        return (
            f"{describe(n, problem.edges)}\n\nFind a vertex colouring with as few different "
            "colours as possible: give every vertex a colour so that the two ends of every edge "
            f"have different colours. Colours are whole numbers from 1 to {n}. {credit} Answer "
            f"with the colours of the vertices 1 to {n}, in this order, separated by commas."
        )

    def measure(self, problem: GraphColoringProblem, answer: str) -> int:
        n = problem.n_vertices
        colors = read_numbers(answer, low=1, high=n, what="colour")
        if len(colors) != n:
            raise Unreadable(f"expected {n} colours, one for each vertex, got {len(colors)}")
        for one, other in problem.edges:
            if colors[one - 1] == colors[other - 1]:
                raise Infeasible(f"vertices {one} and {other} are joined and have the same colour")
        return len(set(colors))

    def variant(
        self, problem: GraphColoringProblem, rng: Rng
    ) -> Variant[GraphColoringProblem] | None:
        """Number the vertices otherwise."""
        new = random_numbers(rng, problem.n_vertices)

        def answer(text: str) -> str:
            colors = dict(zip(new[1:], text.split(","), strict=True))
            return listed(int(colors[v]) for v in sorted(colors))

        changed = replace(problem, edges=renumbered(problem.edges, new))
        made = self.varied(problem, changed, answer(self.solve(problem)), rng)
        return None if made is None else Variant(made, answer, ("names", "order"))

    def explain(self, problem: GraphColoringProblem) -> list[str]:
        """Return vertices that need different colours, and the others with what is around them."""
        n = problem.n_vertices
        colors = [0, *read_numbers(self.solve(problem), low=1, high=n, what="colour")]
        beside = neighbours(n, problem.edges)
        order = sorted(range(1, n + 1), key=lambda v: (-len(beside[v]), v))
        together: list[int] = []
        for vertex in order:
            if beside[vertex].issuperset(together):
                together.append(vertex)
        given = ", ".join(f"{v} gets colour {colors[v]}" for v in together)
        together_need = f"so they need {len(together)} colours: {given}."
        steps = [f"{listed(together)} are joined to each other, {together_need}"]
        done = set(together)
        while len(done) < n:
            taken = {v: {colors[u] for u in beside[v] & done} for v in order if v not in done}
            vertex = max(taken, key=lambda v: len(taken[v]))
            done.add(vertex)
            around = listed(sorted(taken[vertex])) or "none"
            steps.append(f"Colours beside {vertex}: {around}. It gets colour {colors[vertex]}.")
        return [*steps, self.conclusion(problem, "The number of colours")]

    def baseline(self, rng: Rng, problem: GraphColoringProblem) -> str:
        """Give each vertex in turn, by falling degree, the first colour that is free."""
        return listed(greedy_colors(problem.n_vertices, problem.edges))

    def neighbour(self, problem: GraphColoringProblem, answer: str, rng: Rng) -> str:
        """Swap two colours among the vertices that are linked through them to a drawn vertex."""
        n = problem.n_vertices
        colors = [0, *read_numbers(answer, low=1, high=n, what="colour")]
        vertex = integer(rng, 1, n)
        one, other = colors[vertex], pick(rng, sorted(set(colors[1:])))
        beside = neighbours(n, problem.edges)
        chain, fresh = {vertex}, [vertex]
        while fresh:
            linked = {v for v in beside[fresh.pop()] if colors[v] in (one, other)} - chain
            chain |= linked
            fresh += sorted(linked)
        for v in chain:
            colors[v] = other if colors[v] == one else one
        return listed(colors[1:])


# Colourings of graphs with few colours: an exact search and the greedy that it begins with.


# Deterministic microseconds that a node of the search counts for: about what it takes.
_NODE = 20


@dataclass(frozen=True, slots=True)
class FewestColors:
    """The colouring with the fewest colours that was found."""

    colors: tuple[int, ...]  # the colour of each vertex, from 1, in the order of the vertices
    bound: int  # no colouring takes fewer
    effort: int  # the work done, in deterministic microseconds

    @property
    def n_colors(self) -> int:
        """How many colours there are."""
        return max(self.colors)


def fewest_colors(n: int, edges: Edges, known: Sequence[int], budget: float) -> FewestColors:
    """Search for a colouring with fewer colours than a known one.

    Branch and bound on the vertex whose neighbours have the most colours (Brélaz's DSATUR), once
    the vertices of a largest clique, which all need colours of their own, are coloured.

    Args:
        n: the number of vertices.
        edges: the graph's edges.
        known: the colours of the vertices in a colouring.
        budget: deterministic seconds; when they are over, the best colouring so far is returned.
    """
    clique = largest_set(n, complement(n, edges), [1], budget / 2)
    limit = max(1, round(budget * 1e6 - clique.effort) // _NODE)
    search = _Search(neighbour_masks(n, edges), len(clique.vertices), limit)
    search.keep([0, *known])
    for color, vertex in enumerate(clique.vertices):
        search.give(vertex, color)
    search.extend(len(clique.vertices))
    complete = search.nodes <= limit or search.n_best == search.enough
    bound = search.n_best if complete else search.enough
    return FewestColors(tuple(search.best[1:]), bound, clique.effort + _NODE * search.nodes)


class _Search:
    """Colours count from 0 inside; ``taken[v]`` is a mask of the colours beside vertex v."""

    def __init__(self, beside: list[int], enough: int, limit: int) -> None:
        self.beside = beside
        self.enough = enough
        self.limit = limit
        self.nodes = 0
        self.colors = [0] * len(beside)
        self.taken = [0] * len(beside)
        self.left = (1 << len(beside)) - 2
        self.best: list[int] = []
        self.n_best = 0

    def keep(self, colors: list[int]) -> None:
        self.best, self.n_best = colors, max(colors)

    def give(self, vertex: int, color: int) -> list[int]:
        """Colour a vertex; return the vertices for which the colour is newly taken."""
        self.colors[vertex] = color
        self.left ^= 1 << vertex
        bit = 1 << color
        changed = [v for v in members(self.beside[vertex] & self.left) if not self.taken[v] & bit]
        for other in changed:
            self.taken[other] |= bit
        return changed

    def extend(self, used: int) -> None:
        self.nodes += 1
        if self.nodes > self.limit or used >= self.n_best:
            return
        if not self.left:
            self.keep([0, *(color + 1 for color in self.colors[1:])])
            return
        vertex = self._next()
        for color in range(used + 1):
            if not self.taken[vertex] >> color & 1:
                self._try(vertex, color, max(used, color + 1))
            if self.n_best == self.enough or self.nodes > self.limit:
                return

    def _try(self, vertex: int, color: int, used: int) -> None:
        if used >= self.n_best:
            return
        changed = self.give(vertex, color)
        self.extend(used)
        for other in changed:
            self.taken[other] ^= 1 << color
        self.left |= 1 << vertex

    def _next(self) -> int:
        """Return the vertex beside the most colours, and then beside the most others."""
        beside, taken, left = self.beside, self.taken, self.left
        return max(
            members(left),
            key=lambda v: (taken[v].bit_count(), (beside[v] & left).bit_count()),
        )


def greedy_colors(n: int, edges: Edges) -> list[int]:
    """Give each vertex in turn, by falling degree, the first colour that is free."""
    beside = neighbour_masks(n, edges)
    colors = [0] * (n + 1)
    for vertex in sorted(range(1, n + 1), key=lambda v: (-beside[v].bit_count(), v)):
        taken = {colors[other] for other in members(beside[vertex])}
        colors[vertex] = next(color for color in range(1, n + 1) if color not in taken)
    return colors[1:]
