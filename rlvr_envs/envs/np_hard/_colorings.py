"""Colourings of graphs with few colours: an exact search and the greedy that it begins with."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.generators.graphs.independent_sets import largest_set
from rlvr_envs.generators.graphs.undirected import Edges, complement, members, neighbour_masks

# Deterministic microseconds that a node of the search counts for: about what it takes.
_NODE = 20


@dataclass(frozen=True, slots=True)
class FewestColors:
    """The colouring with the fewest colours that was found.

    Attributes:
        colors: the colour of each vertex, from 1, in the order of the vertices.
        bound: no colouring takes fewer.
        effort: the work done, in deterministic microseconds.
    """

    colors: tuple[int, ...]
    bound: int
    effort: int

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
