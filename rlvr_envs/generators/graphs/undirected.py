"""Undirected graphs for tasks: drawing, wording and reading them.

Vertices are numbered from 1. An edge is a pair (a, b) with a < b, and edges stand in order.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.optimisation.task import Infeasible, Unreadable
from rlvr_envs.verifiers.markup import hyphened
from rlvr_envs.verifiers.parse import natural, words

Edge: TypeAlias = tuple[int, int]
Edges: TypeAlias = tuple[Edge, ...]

# More than any level has: the searches go as deep as there are vertices.
MAX_VERTICES = 400


def check_order(n_vertices: int, *, least: int) -> None:
    """Check how many vertices a graph is to have.

    Raises:
        ConfigError: they are too few or too many.
    """
    if not least <= n_vertices <= MAX_VERTICES:
        raise ConfigError(f"n_vertices is from {least} to {MAX_VERTICES}, got {n_vertices}")


def edge(one: int, other: int) -> Edge:
    """Return the edge between two different vertices."""
    return (one, other) if one < other else (other, one)


def all_pairs(n: int) -> list[Edge]:
    """Return the edges of the complete graph of ``n`` vertices."""
    return [(a, b) for a in range(1, n) for b in range(a + 1, n + 1)]


def complement(n: int, edges: Iterable[Edge]) -> Edges:
    """Return the pairs that are not joined."""
    joined = frozenset(edges)
    return tuple(pair for pair in all_pairs(n) if pair not in joined)


def chosen(rng: Rng, pairs: Sequence[Edge], percent: int) -> list[Edge]:
    """Return the pairs that are drawn when each is taken with the same probability."""
    drawn = (rng.random(len(pairs)) * 100).tolist()
    return [pair for pair, value in zip(pairs, drawn, strict=True) if value < percent]


def random_numbers(rng: Rng, n: int) -> list[int]:
    """Return new numbers for the vertices in random order: vertex v becomes entry v."""
    return [0, *(1 + number for number in rng.permutation(n).tolist())]


def renumbered(edges: Iterable[Edge], numbers: Sequence[int]) -> Edges:
    """Return the edges when vertex v is called ``numbers[v]``."""
    return tuple(sorted(edge(numbers[a], numbers[b]) for a, b in edges))


def neighbours(n: int, edges: Iterable[Edge]) -> list[set[int]]:
    """Return the neighbours of every vertex, at its number; entry 0 is empty."""
    found: list[set[int]] = [set() for _ in range(n + 1)]
    for a, b in edges:
        found[a].add(b)
        found[b].add(a)
    return found


def neighbour_masks(n: int, edges: Iterable[Edge]) -> list[int]:
    """Return the neighbours of every vertex as a mask in which bit v stands for vertex v."""
    found = [0] * (n + 1)
    for a, b in edges:
        found[a] |= 1 << b
        found[b] |= 1 << a
    return found


def members(mask: int) -> list[int]:
    """Return the vertices of a mask, in order."""
    found = []
    while mask:
        lowest = mask & -mask
        found.append(lowest.bit_length() - 1)
        mask ^= lowest
    return found


def describe(n: int, edges: Edges, *, name: str = "An undirected graph") -> str:
    """Return a sentence that says what the graph is."""
    if not edges:
        return f"{name} has {n} vertices, numbered from 1 to {n}, and no edges."
    count = f"these {len(edges)} edges" if len(edges) > 1 else "one edge"
    return f"{name} has {n} vertices, numbered from 1 to {n}, and {count}:\n\n{show_edges(edges)}"


def show_edges(edges: Iterable[Edge]) -> str:
    """Return edges, or any other pairs of numbers, as text that `read_pairs` reads."""
    return ", ".join(f"{a}-{b}" for a, b in edges)


def read_pairs(answer: str, *, what: str, blank: str | None = None) -> list[Edge]:
    """Return pairs of numbers such as ``1-4, 2-3``, in the order and direction written.

    Args:
        answer: the whole answer.
        what: what a pair is, in the plural, for the message.
        blank: a word that may stand for the second number of a pair; it is read as 0, and no
            number may then be 0.

    Raises:
        Unreadable: the answer is not a list of such pairs, or has none.
    """
    pieces = words(hyphened(answer).replace("->", "-"))
    found = [_pair(piece, blank) for piece in pieces or ()]
    pairs = [pair for pair in found if pair is not None]
    if not pairs or len(pairs) < len(found):
        form = "1-4, 2-3" if blank is None else f"1-4, 2-{blank}"
        raise Unreadable(f"expected {what} such as {form}, separated by commas")
    return pairs


def _pair(piece: str, blank: str | None) -> Edge | None:
    one, dash, other = piece.partition("-")
    first, second = natural(one), natural(other)
    if blank is not None:
        second = 0 if other.lower() == blank else second or None
    return (first, second) if dash and first is not None and second is not None else None


def in_range(vertex: int, n: int, *, of: str = "the graph") -> None:
    """Check a vertex's number.

    Raises:
        Infeasible: there is no such vertex.
    """
    if not 1 <= vertex <= n:
        raise Infeasible(f"there is no vertex {vertex!s:.40}: those of {of} run from 1 to {n}")
