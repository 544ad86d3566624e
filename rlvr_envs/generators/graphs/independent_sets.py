"""Large independent sets: graphs that hide one, an exact search, and greedy choices.

A clique is an independent set of the complement, and the vertices outside an independent set
cover every edge, so three tasks share this.
"""

from collections.abc import Collection
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.graphs.undirected import (
    Edges,
    all_pairs,
    check_order,
    chosen,
    members,
    neighbour_masks,
    neighbours,
    random_numbers,
    renumbered,
)
from rlvr_envs.generators.optimisation.lists import listed
from rlvr_envs.generators.optimisation.task import Reference

# Deterministic microseconds: of a node of the search, and of each vertex that it looks at.
_NODE, _VERTEX = 5, 1


@dataclass(frozen=True, slots=True)
class LargestSet:
    """The largest independent set that was found."""

    vertices: tuple[int, ...]  # the set, in order
    bound: int  # none has more vertices
    effort: int  # the work done, in deterministic microseconds

    @property
    def proven(self) -> bool:
        """Whether no independent set is larger."""
        return len(self.vertices) == self.bound

    def reference(self, trivial: int) -> Reference:
        """Return the reference of a task that asks for the set itself, or for a clique."""
        return Reference(
            objective=len(self.vertices),
            bound=self.bound,
            proven=self.proven,
            trivial=trivial,
            answer=listed(self.vertices),
            effort=self.effort,
        )


def hide_set(rng: Rng, n: int, size: int, percent: int) -> tuple[Edges, tuple[int, ...]]:
    """Draw a graph with a hidden independent set of ``size`` vertices; return both.

    Each vertex outside the set has a neighbour in it, and more with the given probability. The
    decoys outside come in joined pairs, so that they hold smaller independent sets in great
    number, and are joined so rarely otherwise that degrees give little away.
    """
    pairs = all_pairs(n)
    crossing = chosen(rng, [(a, b) for a, b in pairs if a <= size < b], percent)
    tied = {b for _, b in crossing}
    crossing += [(integer(rng, 1, size), b) for b in range(size + 1, n + 1) if b not in tied]
    couples = {(b, b + 1) for b in range(size + 1, n, 2)}
    # this makes the degrees of the two kinds equal on average, where it is above 0
    rare = max(0, percent * (n - 2 * size) - 100) // max(1, n - size - 2)
    others = chosen(rng, [(a, b) for a, b in pairs if a > size], rare)
    numbers = random_numbers(rng, n)
    edges = renumbered({*crossing, *couples, *others}, numbers)
    return edges, tuple(sorted(numbers[1 : size + 1]))


def check_hidden(n: int, size: int, percent: int, *, least: int) -> None:
    """Check the knobs of a graph with a hidden set.

    Raises:
        ConfigError: they do not go together.
    """
    check_order(n, least=least + 1)
    if not least <= size < n:
        raise ConfigError(f"a hidden set takes {least} to {n - 1} of {n} vertices, got {size}")
    if not 1 <= percent <= 100:
        raise ConfigError(f"percent is a probability from 1 to 100, got {percent}")


def largest_set(n: int, edges: Edges, known: Collection[int], budget: float) -> LargestSet:
    """Search for a largest independent set, and return the known one where none is larger.

    A branch and bound over vertices apart from each other: colouring the candidates with few
    groups of vertices that are all joined bounds how many can still be added (Tomita and Seki's
    colouring bound, on the complement).

    Args:
        n: the number of vertices.
        edges: the graph's edges.
        known: an independent set.
        budget: deterministic seconds; when they are over, the best set so far is returned.
    """
    beside = neighbours(n, edges)
    order = sorted(range(1, n + 1), key=lambda v: (-len(beside[v]), v))
    numbers = [0] * (n + 1)
    for position, vertex in enumerate(order, start=1):
        numbers[vertex] = position
    masks = neighbour_masks(n, renumbered(edges, numbers))
    search = _Search(masks, round(budget * 1e6))
    search.extend((1 << (n + 1)) - 2, 0, 0)
    found = [order[v - 1] for v in members(search.best)]
    bound = search.size if search.effort <= search.limit else search.first_bound
    vertices = tuple(sorted(found if len(found) > len(known) else known))
    return LargestSet(vertices, max(bound, len(vertices)), search.effort)


class _Search:
    def __init__(self, masks: list[int], limit: int) -> None:
        self.masks = masks
        self.best = self.size = 0
        self.limit = limit
        self.effort = 0
        self.first_bound = len(masks) - 1

    def extend(self, candidates: int, taken: int, size: int) -> None:
        self.effort += _NODE + _VERTEX * candidates.bit_count()
        if self.effort > self.limit:
            return
        order = self._grouped(candidates)
        if not taken:
            self.first_bound = order[-1][1]
        if not order and size > self.size:
            self.best, self.size = taken, size
        for bit, bound in reversed(order):
            if size + bound <= self.size or self.effort > self.limit:
                return
            candidates ^= bit
            vertex = bit.bit_length() - 1
            self.extend(candidates & ~self.masks[vertex], taken | bit, size + 1)

    def _grouped(self, candidates: int) -> list[tuple[int, int]]:
        """Return the candidates, each with how many groups it and those before it fall into."""
        order = []
        group = 0
        while candidates:
            group += 1
            mates = candidates
            while mates:
                bit = mates & -mates
                candidates ^= bit
                mates &= self.masks[bit.bit_length() - 1]
                order.append((bit, group))
        return order


def greedy_set(n: int, edges: Edges) -> list[int]:
    """Take a vertex with the fewest neighbours left, drop those, and so on."""
    beside = neighbours(n, edges)
    left = set(range(1, n + 1))
    taken = []
    while left:
        vertex = min(left, key=lambda v: (len(beside[v] & left), v))
        taken.append(vertex)
        left -= beside[vertex] | {vertex}
    return sorted(taken)


def with_another(n: int, edges: Edges, taken: Collection[int], rng: Rng) -> list[int]:
    """Return an independent set changed a little: a vertex goes in, its neighbours go out."""
    outside = sorted(set(range(1, n + 1)) - set(taken))
    if not outside:
        return sorted(taken)
    vertex = pick(rng, outside)
    return sorted({*taken, vertex} - neighbours(n, edges)[vertex])
