"""Cheap edits that turn a labelled graph into another: an exact search, and a greedy."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.generators.graphs.undirected import Edges, members, neighbour_masks

# Deterministic microseconds: of a node of the search, and of each pair of vertices it looks at.
_NODE, _PAIR = 10, 1


@dataclass(frozen=True, slots=True)
class LabelledGraph:
    """A graph whose vertices, numbered from 1, have labels."""

    labels: tuple[str, ...]
    edges: Edges


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
