"""Large common subgraphs of two graphs: an exact search, and a greedy."""

from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.generators.graphs.undirected import Edge, members

# Deterministic microseconds that a node of the search counts for: about what it takes.
_NODE = 50

# Vertices of the first and the second graph that may still be matched with each other.
_Class = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Matching:
    """The largest common subgraph that was found.

    Attributes:
        pairs: which vertex of the first graph stands for which of the second.
        bound: no common subgraph has more vertices.
        effort: the work done, in deterministic microseconds.
    """

    pairs: tuple[Edge, ...]
    bound: int
    effort: int


def largest_matching(
    first: Sequence[int], second: Sequence[int], known: Sequence[Edge], budget: float
) -> Matching:
    """Search for a larger induced common subgraph than a known one.

    Branch and bound on classes of vertices that look alike to all matched pairs (McCreesh,
    Prosser and Trimble's McSplit): each class adds at most the smaller of its two sides.

    Args:
        first: the neighbours of each vertex of the first graph, as masks.
        second: those of the second graph.
        known: matched pairs.
        budget: deterministic seconds; when they are over, the best matching so far is returned.
    """
    search = _Search(first, second, max(1, round(budget * 1e6) // _NODE))
    search.best = list(known)
    everything = ((1 << len(first)) - 2, (1 << len(second)) - 2)
    search.extend([everything], [])
    finished = search.nodes <= search.limit
    bound = len(search.best) if finished else _room([everything])
    return Matching(tuple(sorted(search.best)), bound, _NODE * search.nodes)


class _Search:
    def __init__(self, first: Sequence[int], second: Sequence[int], limit: int) -> None:
        self.first = first
        self.second = second
        self.limit = limit
        self.nodes = 0
        self.best: list[Edge] = []

    def extend(self, classes: list[_Class], pairs: list[Edge]) -> None:
        if len(pairs) > len(self.best):
            self.best = list(pairs)
        while classes and len(pairs) + _room(classes) > len(self.best):
            self.nodes += 1
            if self.nodes > self.limit:
                return
            position = min(range(len(classes)), key=lambda i: _breadth(classes[i]))
            left, right = classes[position]
            one = max(members(left), key=lambda v: (self.first[v].bit_count(), -v))
            for other in members(right):
                pairs.append((one, other))
                self.extend(_split(classes, self.first[one], self.second[other], one, other), pairs)
                pairs.pop()
            left ^= 1 << one
            classes = [c for i, c in enumerate(classes) if i != position]
            if left:
                classes.append((left, right))


def _room(classes: list[_Class]) -> int:
    return sum(min(left.bit_count(), right.bit_count()) for left, right in classes)


def _breadth(pair: _Class) -> int:
    return max(pair[0].bit_count(), pair[1].bit_count())


def _split(
    classes: list[_Class], beside_one: int, beside_other: int, one: int, other: int
) -> list[_Class]:
    """Return the classes once two vertices are matched: each falls in joined and not joined."""
    found = []
    for left, right in classes:
        joined = left & beside_one, right & beside_other
        apart = left & ~beside_one & ~(1 << one), right & ~beside_other & ~(1 << other)
        found += [pair for pair in (joined, apart) if pair[0] and pair[1]]
    return found


def greedy_matching(first: Sequence[int], second: Sequence[int]) -> list[Edge]:
    """Match the vertices that leave the most room, and so on."""
    classes: list[_Class] = [((1 << len(first)) - 2, (1 << len(second)) - 2)]
    pairs: list[Edge] = []
    while classes:
        options = [(a, b) for left, right in classes for a in members(left) for b in members(right)]
        kept = {(a, b): _split(classes, first[a], second[b], a, b) for a, b in options}
        best = max(options, key=lambda pair: (_room(kept[pair]), pair))
        pairs.append(best)
        classes = kept[best]
    return sorted(pairs)
