"""Graph edit distance: turn a labelled graph into another with as few edits as possible."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.graphs.undirected import (
    Edge,
    Edges,
    all_pairs,
    check_order,
    describe,
    edge,
    in_range,
    members,
    neighbour_masks,
    random_numbers,
    read_pairs,
    renumbered,
)
from rlvr_envs.generators.optimisation.task import (
    Infeasible,
    OptimisationConfig,
    OptimisationTask,
    Reference,
    budget_at,
    ramp,
)


@dataclass(frozen=True, slots=True)
class LabelledGraph:
    """A graph whose vertices, numbered from 1, have labels."""

    labels: tuple[str, ...]
    edges: Edges


_LABELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_MAX_EDITS = 100  # hidden in a pair of graphs


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphEditDistanceConfig(OptimisationConfig):
    """How large the first graph is, and how many edits lead to the second."""

    n_vertices: int = knob(8, "vertices of the first graph")
    n_edits: int = knob(
        4,
        "edits that lead to the second graph; a vertex and its edge count as one",
        low=1,
        high=_MAX_EDITS,
    )
    n_labels: int = knob(3, "different vertex labels", low=2, high=len(_LABELS))

    def check(self) -> None:
        check_order(self.n_vertices, least=3)

    @classmethod
    def at(cls, difficulty: int) -> "GraphEditDistanceConfig":
        """Vertices and edits are added, through Graph-R1's sizes."""
        return cls(
            budget=budget_at(difficulty),
            n_vertices=ramp(difficulty, 5, easy=7, medium=10, hard=13, bench=15),
            n_edits=ramp(difficulty, 2, easy=3, medium=4, hard=6, bench=7),
        )


@dataclass(frozen=True, slots=True)
class GraphEditDistanceProblem:
    """The vertices of either graph are numbered from 1."""

    first: LabelledGraph
    second: LabelledGraph
    reference: Reference = hidden()


@register("GraphEditDistance-v0", domain="np_hard")
class GraphEditDistanceTask(OptimisationTask[GraphEditDistanceConfig, GraphEditDistanceProblem]):
    """Map the vertices of a labelled graph to those of another with as few edits as possible.

    Description:
        The second graph is the first after a few hidden edits, with other numbers: labels
        are changed, edges are inserted and deleted, and so are vertices with at most one edge.

    Observation:
        The labels of the vertices, and the edges, of both graphs.

    Action:
        A pair for every vertex of the first graph: ``1-3`` where vertex 1 becomes vertex 3 of the
        second graph, ``2-x`` where vertex 2 is deleted.

    Reward:
        Scheme ``over_greedy``: how far the number of edits lies between that of mapping each
        vertex in turn where that costs the least, which earns 0, and the fewest known, which earns
        1; ``ratio`` begins instead at mapping every vertex to the one of the same number.

    Verification:
        The edits that the mapping stands for are counted: vertices deleted, inserted and
        relabelled, edges deleted and inserted, 1 each. The best known mapping comes from a branch
        and bound over all mappings, and the row says whether it is proven that none has fewer
        edits. No known gaps.

    Difficulty:
        Only the size grows: vertices and hidden edits are added.

    References:
        Sanfeliu and Fu, "A distance measure between attributed relational graphs", 1983.
        "Graph-R1", 2025 (arXiv:2508.20373), for the sizes.
    """

    sense: ClassVar[Literal["max", "min"]] = "min"

    def draw(self, rng: Rng) -> GraphEditDistanceProblem:
        first = self._graph(rng)
        second, known = self._edited(rng, first)
        while not (cost := edit_cost(first, second, known)):  # the edits undo each other
            second, known = self._edited(rng, first)
        n = len(second.labels)
        same = [v if v <= n else 0 for v in range(1, len(first.labels) + 1)]
        trivial = edit_cost(first, second, same)
        reference = Reference.known(cost, _mapping(known), trivial=trivial)
        return GraphEditDistanceProblem(first, second, reference)

    def improve(self, rng: Rng, problem: GraphEditDistanceProblem) -> Reference:
        known = _images(problem, problem.reference.answer)
        best = cheapest_edits(problem.first, problem.second, known, self.config.budget)
        return Reference(
            objective=best.cost,
            bound=best.bound,
            proven=best.cost == best.bound,
            trivial=problem.reference.trivial,
            answer=_mapping(best.images),
            effort=best.effort,
        )

    def _graph(self, rng: Rng) -> LabelledGraph:
        """Draw a connected graph with a third more edges than a tree has."""
        n = self.config.n_vertices
        edges = {(integer(rng, max(1, v - 3), v - 1), v) for v in range(2, n + 1)}
        for _ in range(n // 3):
            edges.add(pick(rng, all_pairs(n)))
        labels = tuple(self._label(rng) for _ in range(n))
        return LabelledGraph(labels, renumbered(edges, random_numbers(rng, n)))

    def _label(self, rng: Rng) -> str:
        return _LABELS[integer(rng, 0, self.config.n_labels - 1)]

    def _edited(self, rng: Rng, graph: LabelledGraph) -> tuple[LabelledGraph, list[int]]:
        """Return another graph, and the image in it of each vertex."""
        labels = dict(enumerate(graph.labels, start=1))
        edges = set(graph.edges)
        for _ in range(self.config.n_edits):
            kind = pick(rng, ("label", "label", "join", "join", "part", "part", "grow", "shrink"))
            self._edit(rng, kind, labels, edges)
        numbers = random_numbers(rng, len(labels))
        names = dict(zip(sorted(labels), numbers[1:], strict=True))
        found = {names[v]: label for v, label in labels.items()}
        joined = tuple(sorted(edge(names[a], names[b]) for a, b in edges))
        there = LabelledGraph(tuple(found[v] for v in sorted(found)), joined)
        return there, [names.get(v, 0) for v in range(1, len(graph.labels) + 1)]

    def _edit(self, rng: Rng, kind: str, labels: dict[int, str], edges: set[Edge]) -> None:
        vertices = sorted(labels)
        one, other = pick(rng, vertices), pick(rng, vertices)
        if kind == "label":
            known = _LABELS[: self.config.n_labels]
            labels[one] = pick(rng, known.replace(labels[one], ""))
        elif kind == "join" and one != other:
            edges.add(edge(one, other))
        elif kind == "part" and edges:
            edges.remove(pick(rng, sorted(edges)))
        elif kind == "grow":
            labels[vertices[-1] + 1] = self._label(rng)
            edges.add((one, vertices[-1] + 1))
        elif kind == "shrink" and len(vertices) > 2:
            beside = [pair for pair in edges if one in pair]
            if len(beside) < 2:
                del labels[one]
                edges.difference_update(beside)

    def prompt(self, problem: GraphEditDistanceProblem) -> str:
        rest = len(problem.first.labels) > len(problem.second.labels)
        credit = self.partial_credit(
            "it needs fewer edits than mapping the vertices 1, 2, 3, ... in turn, each to the free "
            "vertex that then adds the fewest edits (in a tie, the lowest number)",
            "it needs fewer edits than mapping every vertex to the vertex with the same number"
            + (" and deleting the others" if rest else ""),
        )
        return (
            f"{_described(problem.first, 'The first graph')}\n\n"
            f"{_described(problem.second, 'The second graph')}\n\n"
            "Turn the first graph into the second by edits (graph edit distance). Each of these "
            "edits counts as 1: insert an edge, delete an edge, insert a vertex, delete a vertex, "
            "change the label of a vertex. A vertex is inserted without edges. All edges of a "
            "vertex must be deleted before the vertex is deleted.\n\n"
            "Choose a mapping: each vertex of the first graph either becomes a vertex of the "
            "second graph or is deleted. No two vertices may become the same vertex. The mapping "
            "determines the edits. A vertex whose label differs from that of the vertex it becomes "
            "needs a label change. Vertices of the second graph that no vertex becomes are "
            "inserted. Edges are deleted and inserted until the edges are those of the second "
            "graph.\n\n"
            f"Find a mapping with as few edits as possible. {credit} Answer with one pair for "
            "every vertex of the first graph, separated by commas. For example, 1-3 means that "
            "vertex 1 becomes vertex 3 of the second graph, and 2-x means that vertex 2 is deleted."
        )

    def measure(self, problem: GraphEditDistanceProblem, answer: str) -> int:
        return edit_cost(problem.first, problem.second, _images(problem, answer))

    def explain(self, problem: GraphEditDistanceProblem) -> list[str]:
        images = _images(problem, self.solve(problem))
        steps = explained(problem.first, problem.second, images)
        return [*steps, self.conclusion(problem, "The number of edits")]

    def baseline(self, rng: Rng, problem: GraphEditDistanceProblem) -> str:
        """Map each vertex in turn where that costs the least, given the vertices before it."""
        return _mapping(greedy_edits(problem.first, problem.second))

    def neighbour(self, problem: GraphEditDistanceProblem, answer: str, rng: Rng) -> str:
        """Map a vertex elsewhere; a vertex that was mapped there takes its place."""
        images = list(_images(problem, answer))
        position = integer(rng, 0, len(images) - 1)
        target = integer(rng, 0, len(problem.second.labels))
        if target in images:
            images[images.index(target)] = images[position]
        images[position] = target
        return _mapping(images)


def _described(graph: LabelledGraph, name: str) -> str:
    labels = ", ".join(f"{v}: {label}" for v, label in enumerate(graph.labels, start=1))
    return (
        f"{describe(len(graph.labels), graph.edges, name=name)}\n\n"
        f"Its vertex labels (vertex: label): {labels}."
    )


def _mapping(images: list[int] | tuple[int, ...]) -> str:
    return ", ".join(f"{v}-{image or 'x'}" for v, image in enumerate(images, start=1))


def _images(problem: GraphEditDistanceProblem, answer: str) -> list[int]:
    """Return the image of each vertex of the first graph, 0 for those that are deleted."""
    n, n_there = len(problem.first.labels), len(problem.second.labels)
    images: dict[int, int] = {}
    used: set[int] = set()
    for one, other in read_pairs(answer, what="pairs", blank="x"):
        in_range(one, n, of="the first graph")
        if one in images:
            raise Infeasible(f"vertex {one} of the first graph is listed twice")
        images[one] = other
        if not other:
            continue
        in_range(other, n_there, of="the second graph")
        if other in used:
            raise Infeasible(f"two vertices become vertex {other} of the second graph")
        used.add(other)
    if len(images) < n:
        missing = min(set(range(1, n + 1)) - set(images))
        raise Infeasible(f"vertex {missing} of the first graph is missing")
    return [images[v] for v in range(1, n + 1)]


# Cheap edits that turn a labelled graph into another: an exact search, and a greedy.


# Deterministic microseconds: of a node of the search, and of each pair of vertices it looks at.
_NODE, _PAIR = 10, 1


@dataclass(frozen=True, slots=True)
class EditPath:
    """The cheapest edits that were found.

    Attributes:
        images: for each vertex of the first graph its vertex in the second, or 0 if it goes.
        cost: the number of edits.
        bound: no edits are cheaper.
        effort: the work done, in deterministic microseconds.
    """

    images: tuple[int, ...]
    cost: int
    bound: int
    effort: int


def edit_cost(first: LabelledGraph, second: LabelledGraph, images: Sequence[int]) -> int:
    """Return the number of edits that a mapping of the first graph's vertices stands for."""
    image = [0, *images]
    kept = sum(1 for target in images if target)
    relabelled = sum(
        1
        for label, target in zip(first.labels, images, strict=True)
        if target and label != second.labels[target - 1]
    )
    edges = frozenset(second.edges)
    shared = sum(
        1 for a, b in first.edges if (image[a], image[b]) in edges or (image[b], image[a]) in edges
    )
    vertices = len(first.labels) + len(second.labels) - 2 * kept + relabelled
    return vertices + len(first.edges) + len(second.edges) - 2 * shared


def explained(first: LabelledGraph, second: LabelledGraph, images: Sequence[int]) -> list[str]:
    """Return vertex by vertex the edits that it and its edges to those before it need."""
    image, there = [0, *images], frozenset(second.edges)
    steps, count = [], 0
    for vertex, target in enumerate(images, 1):
        edits = [] if target else [f"delete vertex {vertex}"]
        if target and first.labels[vertex - 1] != second.labels[target - 1]:
            edits.append(f"change its label to {second.labels[target - 1]}")
        for other in range(1, vertex):
            ends = (min(image[other], target), max(image[other], target))
            if ((other, vertex) in first.edges) != (ends in there):
                kind = "insert" if ends in there else "delete"
                edits.append(f"{kind} the edge {other}-{vertex}")
        count += len(edits)
        fate = f"Vertex {vertex} becomes {target}" if target else f"Vertex {vertex} goes"
        steps.append(f"{fate}: {', '.join(edits) or 'no edits'}. In all {count}.")
    new = [target for target in range(1, len(second.labels) + 1) if target not in images]
    if new:
        edits = [f"vertex {target}" for target in new]
        edits += [f"the edge {a}-{b}" for a, b in second.edges if a in new or b in new]
        steps.append(
            f"Of the second graph, insert {', '.join(edits)}. In all {count + len(edits)}."
        )
    return steps


def cheapest_edits(
    first: LabelledGraph, second: LabelledGraph, known: Sequence[int], budget: float
) -> EditPath:
    """Search for a mapping with fewer edits than a known one.

    Depth first over the vertices of the first graph. Every edit costs 1, so that it never pays to
    delete a vertex and to insert another where one could become the other: the smaller graph is
    filled up with blank vertices, and mappings are permutations. What each vertex left costs at
    least, with half of the difference in degree to vertices left, bounds the rest.

    Args:
        first: the graph to turn into the other.
        second: the other graph.
        known: the images of the first graph's vertices in a known mapping.
        budget: deterministic seconds; when they are over, the best mapping so far is returned.
    """
    size = max(len(first.labels), len(second.labels))
    limit = round(budget * 1e6)
    search = _Search(_Side.of(first, size), _Side.of(second, size), limit)
    search.best_cost = edit_cost(first, second, known)
    floor = search.costs()[2]
    search.extend(0)
    n = len(first.labels)
    images = [v if v <= len(second.labels) else 0 for v in search.best[1 : n + 1]] or list(known)
    bound = search.best_cost if search.effort <= limit else min(floor, search.best_cost)
    return EditPath(tuple(images), search.best_cost, bound, search.effort)


@dataclass(slots=True)
class _Side:
    """A graph during the search: its blank labels, its neighbours, and the vertices left."""

    labels: list[str]
    beside: list[int]
    left: int

    @classmethod
    def of(cls, graph: LabelledGraph, size: int) -> "_Side":
        blank = [""] * (size - len(graph.labels))
        masks = neighbour_masks(size, graph.edges)
        return cls(["", *graph.labels, *blank], masks, (1 << (size + 1)) - 2)


class _Search:
    def __init__(self, first: _Side, second: _Side, limit: int) -> None:
        self.first = first
        self.second = second
        self.limit = limit
        self.effort = 0
        self.best: list[int] = []
        self.best_cost = 0
        self.images = [0] * len(first.labels)
        # for each vertex of the first graph: the images of its neighbours that have one
        self.seen = [0] * len(first.labels)

    def extend(self, cost: int) -> None:
        if not self.first.left:
            self.best, self.best_cost = list(self.images), cost
            return
        self.effort += _NODE + _PAIR * self.first.left.bit_count() ** 2
        if self.effort > self.limit:
            return
        vertex, options, rest = self.costs()
        if cost + rest >= self.best_cost:
            return
        for _, target, price in options:
            if cost + price < self.best_cost and self.effort <= self.limit:
                self._map(vertex, target, cost + price)

    def _map(self, vertex: int, target: int, cost: int) -> None:
        bit = 1 << target
        near = members(self.first.beside[vertex] & self.first.left)
        self.images[vertex] = target
        self.first.left ^= 1 << vertex
        self.second.left ^= bit
        for other in near:
            self.seen[other] |= bit
        self.extend(cost)
        for other in near:
            self.seen[other] ^= bit
        self.first.left ^= 1 << vertex
        self.second.left ^= bit

    def costs(self) -> tuple[int, list[tuple[int, int, int]], int]:
        """Return a vertex to map next, its targets from cheap to dear, and a bound on all.

        A target comes as (twice the least cost of mapping the vertex there, target, what is
        certain of that now). The bound adds up the least cost of each vertex, and what each
        target costs beyond that at least.
        """
        one, other = self.first, self.second
        left = other.left
        targets = [
            (v, other.labels[v], other.beside[v] & ~left, (other.beside[v] & left).bit_count())
            for v in members(left)
        ]
        size = left.bit_count()
        total, tightest, chosen = 0, (-size - 1, 0), 0
        found: list[tuple[int, int, int]] = []
        beyond = []
        for vertex in members(one.left):
            label, seen = one.labels[vertex], self.seen[vertex]
            degree = (one.beside[vertex] & one.left).bit_count()
            options = [
                (2 * price + abs(degree - its_degree), target, price)
                for target, its_label, used, its_degree in targets
                for price in ((label != its_label) + (seen ^ used).bit_count(),)
            ]
            costs = [cost for cost, _, _ in options]
            least = min(costs)
            total += least
            beyond.append([cost - least for cost in costs])
            tight = (-costs.count(least), least)  # few cheap targets leave little to try
            if tight > tightest:
                tightest, chosen, found = tight, vertex, options
        total += sum(map(min, zip(*beyond, strict=True)))
        return chosen, sorted(found), (total + 1) // 2


def greedy_edits(first: LabelledGraph, second: LabelledGraph) -> list[int]:
    """Map each vertex in turn where that costs the least, given the vertices before it."""
    beside = neighbour_masks(len(first.labels), first.edges)
    beside_there = neighbour_masks(len(second.labels), second.edges)
    images: list[int] = [0]
    free = list(range(1, len(second.labels) + 1))
    used = 0
    for vertex, label in enumerate(first.labels, start=1):
        seen = sum(1 << images[u] for u in members(beside[vertex]) if u < vertex and images[u])
        prices = [
            (label != second.labels[v - 1]) + (seen ^ beside_there[v] & used).bit_count()
            for v in free
        ]
        target = free.pop(prices.index(min(prices))) if free else 0
        used |= 1 << target
        images.append(target)
    return images[1:]
