"""Lines of sight over a Latin square of heights: how many are seen, and what that rules out."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import permutations

from rlvr_envs.generators.grids.candidates import Network, RowSet, Rule, Table, Values
from rlvr_envs.generators.grids.latin_squares import lines

_LARGEST_TABLE = 8  # sides up to this one have few enough orders of heights to list


def seen(heights: Iterable[int]) -> int:
    """Count the heights that are greater than all before them."""
    count = greatest = 0
    for height in heights:
        if height > greatest:
            count, greatest = count + 1, height
    return count


def sights_of(size: int) -> list[Values]:
    """Return the lines of cells as seen from the top, the bottom, the left and the right."""
    rows, columns = lines(size)[:size], lines(size)[size:]
    back = [[line[::-1] for line in group] for group in (columns, rows)]
    return [*columns, *back[0], *rows, *back[1]]


def sight_network(size: int, views: Sequence[int]) -> Network:
    """Return the puzzle of a side and its views, in the order of `sights_of`; 0 is none told."""
    rules: list[Rule] = []
    for sight, view in zip(sights_of(size), views, strict=True):
        if view:
            few = size <= _LARGEST_TABLE
            rules.append(Table(sight, _orders(size)[view]) if few else Sight(sight, view))
    return Network(size * size, groups=lines(size), rules=rules, n_values=size)


@cache
def _orders(size: int) -> list[RowSet]:
    """Return the orders of the heights, by how many of them are seen."""
    found: list[list[Values]] = [[] for _ in range(size + 1)]
    for order in permutations(range(1, size + 1)):
        found[seen(order)].append(order)
    return [RowSet(orders) for orders in found]


class Sight:
    """A line of cells of which a number is seen from its start.

    A state is the greatest height so far and how many were seen; the sets of counts are bits.
    """

    def __init__(self, cells: Values, view: int) -> None:
        self.cells = cells
        self.goal = 1 << view

    def narrow(self, masks: list[int]) -> list[int] | None:
        size = len(self.cells)
        ways = [[1] + [0] * size]  # before each cell: greatest height -> counts that lead there
        for cell in self.cells:
            ways.append(_further(ways[-1], masks[cell]))
        ends = [0] * size + [self.goal]  # after each cell: greatest height -> counts that suffice
        changed = []
        for i in range(size - 1, -1, -1):
            cell = self.cells[i]
            left = _supported(ways[i], ends, masks[cell])
            if not left:
                return None
            if left != masks[cell]:
                masks[cell] = left
                changed.append(cell)
            ends = _back(ends, left)
        return changed


def _further(ways: list[int], mask: int) -> list[int]:
    after = [0] * len(ways)
    for greatest, counts in enumerate(ways):
        if counts:
            if mask & ((1 << greatest) - 1):  # hidden behind a higher building
                after[greatest] |= counts
            for height in range(greatest + 1, len(ways)):
                if mask >> height & 1:
                    after[height] |= counts << 1
    return after


def _back(ends: list[int], mask: int) -> list[int]:
    before = [0] * len(ends)
    for greatest in range(len(ends)):
        if mask & ((1 << greatest) - 1):
            before[greatest] = ends[greatest]
        for height in range(greatest + 1, len(ends)):
            if mask >> height & 1:
                before[greatest] |= ends[height] >> 1
    return before


def _supported(ways: list[int], ends: list[int], mask: int) -> int:
    left = 0
    for greatest, counts in enumerate(ways):
        if counts:
            if counts & ends[greatest]:
                left |= (1 << greatest) - 1
            for height in range(greatest + 1, len(ways)):
                if counts << 1 & ends[height]:
                    left |= 1 << height
    return left & mask
