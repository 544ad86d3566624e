"""Exact search over cells that take one value each: candidates as bit masks, and what narrows them.

Bit ``v`` of a cell's mask is set as long as the cell may hold the value ``v``. Serves the puzzles
on Latin squares, and others whose rules are groups of different values and tables of allowed rows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeAlias

from rlvr_envs.core.seeding import Rng

Values: TypeAlias = tuple[int, ...]

# A search for a rival that gives up costs a puzzle another clue, never its one solution.
_NODES_TIMES_CELLS = 24_000

Order: TypeAlias = Callable[[int, list[int]], Iterable[int]]


class Rule(Protocol):
    """What a puzzle demands of some cells beyond being different."""

    cells: Values

    def narrow(self, masks: list[int]) -> list[int] | None:
        """Take impossible candidates away; return the cells changed, or None if none is left."""


class RowSet:
    """Rows of equal length, indexed so that the possible ones are found by operations on bits."""

    def __init__(self, rows: Sequence[Values]) -> None:
        self.all = (1 << len(rows)) - 1
        length = len(rows[0]) if rows else 0
        columns: list[dict[int, bytearray]] = [{} for _ in range(length)]
        for number, row in enumerate(rows):
            byte, bit = number >> 3, 1 << (number & 7)
            for column, value in zip(columns, row, strict=True):
                if value not in column:
                    column[value] = bytearray(len(rows) // 8 + 1)
                column[value][byte] |= bit
        self.at = [
            [(1 << value, int.from_bytes(column[value], "little")) for value in sorted(column)]
            for column in columns
        ]
        self.values = [sum(1 << value for value in column) for column in columns]


class Table:
    """Cells whose values, in order, are one row of a set of rows."""

    def __init__(self, cells: Values, rows: RowSet) -> None:
        self.cells = cells
        self.rows = rows

    def narrow(self, masks: list[int]) -> list[int] | None:
        alive = self._alive(masks)
        if not alive:
            return None
        changed = []
        for cell, column in zip(self.cells, self.rows.at, strict=True):
            mask, left = masks[cell], 0
            if not mask & (mask - 1):
                continue  # the rows alive all have this value
            for bit, found in column:
                if mask & bit and alive & found:
                    left |= bit
            if left != mask:
                masks[cell] = left
                changed.append(cell)
        return changed

    def _alive(self, masks: list[int]) -> int:
        rows = self.rows
        alive = rows.all
        for cell, column, every in zip(self.cells, rows.at, rows.values, strict=False):
            mask, kept = masks[cell], 0
            if mask & every == every:
                continue
            for bit, found in column:
                if mask & bit:
                    kept |= found
            alive &= kept
        return alive


class Network:
    """The cells of a puzzle, its groups of different values, and its other rules.

    Args:
        n_cells: cells are numbered from 0.
        groups: cells that hold different values.
        rules: whatever else holds.
        n_values: how many values there are; a group of that many cells holds each of them once.
    """

    def __init__(
        self,
        n_cells: int,
        *,
        groups: tuple[Values, ...] = (),
        rules: Sequence[Rule] = (),
        n_values: int = 0,
    ) -> None:
        self.n_cells = n_cells
        self.peers = _peers(n_cells, groups)
        self.complete_groups = [group for group in groups if len(group) == n_values]
        self.rules = rules
        self.rules_at: list[list[int]] = [[] for _ in range(n_cells)]
        for number, rule in enumerate(rules):
            for cell in rule.cells:
                self.rules_at[cell].append(number)

    def settle(self, masks: list[int], queue: list[int]) -> int | None:
        """Draw conclusions from the cells in the queue until nothing changes.

        Returns how many candidate sets shrank, or None where the masks allow no solution.
        """
        steps = 0
        dirty: dict[int, None] = {}
        while True:
            while queue:
                cell = queue.pop()
                dirty.update(dict.fromkeys(self.rules_at[cell]))
                shrunk = self._take_from_peers(cell, masks, queue)
                if shrunk is None:
                    return None
                steps += shrunk
            last = not dirty  # the dearest conclusions come when the others are exhausted
            if last:
                changed = self._only_places(masks)
            else:
                oldest = next(iter(dirty))
                del dirty[oldest]
                changed = self.rules[oldest].narrow(masks)
            if changed is None:
                return None
            if last and not changed:
                return steps
            steps += len(changed)
            queue.extend(changed)

    def _take_from_peers(self, cell: int, masks: list[int], queue: list[int]) -> int | None:
        mask, shrunk = masks[cell], 0
        if mask & (mask - 1):
            return 0
        for peer in self.peers[cell]:
            if masks[peer] & mask:
                left = masks[peer] ^ mask
                if not left:
                    return None
                masks[peer] = left
                shrunk += 1
                if not left & (left - 1) or self.rules_at[peer]:
                    queue.append(peer)
        return shrunk

    def _only_places(self, masks: list[int]) -> list[int] | None:
        """Fix the values that have one place left in a group that needs them all."""
        changed = []
        for group in self.complete_groups:
            once = twice = 0
            for cell in group:
                mask = masks[cell]
                twice |= once & mask
                once |= mask
            if once.bit_count() < len(group):
                return None
            once &= ~twice
            for cell in group:
                mask = masks[cell]
                if mask & (mask - 1) and mask & once:
                    left = mask & once
                    if left & (left - 1):
                        return None  # two values that fit nowhere else
                    masks[cell] = left
                    changed.append(cell)
        return changed


@lru_cache(maxsize=256)
def _peers(n_cells: int, groups: tuple[Values, ...]) -> list[Values]:
    peers: list[dict[int, None]] = [{} for _ in range(n_cells)]
    for group in groups:
        for cell in group:
            peers[cell].update(dict.fromkeys(group))
    return [tuple(p for p in others if p != cell) for cell, others in enumerate(peers)]


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found."""

    solutions: tuple[Values, ...]  # the solutions, up to the limit
    steps: int  # how many candidate sets were narrowed or guessed at
    complete: bool  # whether there is no other solution


def search(
    network: Network,
    masks: Sequence[int],
    *,
    limit: int,
    max_nodes: int,
    order: Order | None = None,
    other_than: Values | None = None,
) -> Found:
    """Look for solutions: narrow, then try the values of a cell with the fewest candidates.

    Args:
        network: the puzzle.
        masks: the candidates of each cell.
        limit: stop after this many solutions.
        max_nodes: stop after this many guesses.
        order: puts the values to try at a cell in order; by default they go up.
        other_than: a solution that does not count; its values are tried last.
    """
    if other_than is not None:
        order = _last(other_than)
    found: list[Values] = []
    stack: list[tuple[list[int], list[int]]] = [(list(masks), list(range(network.n_cells)))]
    steps = nodes = 0
    while stack and len(found) < limit and nodes < max_nodes:
        here, queue = stack.pop()
        nodes += 1
        done = network.settle(here, queue)
        if done is None:
            continue
        steps += done
        cell = _fewest(here)
        if cell is None:
            values = tuple(mask.bit_length() - 1 for mask in here)
            if values != other_than:
                found.append(values)
            continue
        tried = list(_values(here[cell]))
        for value in reversed(list(order(cell, tried)) if order else tried):
            child = here.copy()
            child[cell] = 1 << value
            stack.append((child, [cell]))
    return Found(tuple(found), steps + nodes, not stack)


@dataclass(frozen=True, slots=True)
class Rival:
    """Whether a solution is proven to be the only one, or else another one if it was found."""

    none_exists: bool
    values: Values | None = None

    def differs_at(self, solution: Values, cells: Iterable[int]) -> list[int]:
        """Return the cells that tell the rival from the solution; all of them if unknown."""
        rival = self.values
        return list(cells) if rival is None else [c for c in cells if rival[c] != solution[c]]


def rival_of(
    solution: Values, network: Network, masks: Sequence[int], max_nodes: int | None = None
) -> Rival:
    """Look for another solution, for a time that suits generating unless a limit is given."""
    limit = max_nodes or max(20, _NODES_TIMES_CELLS // len(solution))
    found = search(network, masks, limit=1, max_nodes=limit, other_than=solution)
    if found.solutions:
        return Rival(False, found.solutions[0])
    return Rival(found.complete)


def _last(planted: Values) -> Order:
    return lambda cell, values: sorted(values, key=lambda value: value == planted[cell])


def _fewest(masks: list[int]) -> int | None:
    best, fewest = None, 1 << 30
    for cell, mask in enumerate(masks):
        if mask & (mask - 1):
            count = mask.bit_count()
            if count == 2:
                return cell
            if count < fewest:
                best, fewest = cell, count
    return best


def _values(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def shuffled_order(rng: Rng, n_cells: int, n_values: int) -> Order:
    """Return an order of values that differs from cell to cell, for random solutions."""
    keys: list[list[float]] = rng.random((n_cells, n_values + 1)).tolist()
    return lambda cell, values: sorted(values, key=lambda value: keys[cell][value])


def shuffled(rng: Rng, count: int) -> list[int]:
    """Return the numbers below ``count`` in random order."""
    order: list[int] = rng.permutation(count).tolist()
    return order
