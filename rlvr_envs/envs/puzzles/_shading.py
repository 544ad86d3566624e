"""Hitori: patterns of shaded cells, and an exact search for shadings of a grid of numbers.

Sets of cells are integers in the bits of a `Plane`.
"""

from collections.abc import Sequence

from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.grids.cells import bits, plane

Numbers = Sequence[Sequence[int]]


def draw_shading(rng: Rng, n_rows: int, n_columns: int) -> int:
    """Return random shaded cells to which none can be added.

    None share a side, and the other cells are connected.
    """
    board = plane(n_rows, n_columns)
    shaded, grown = 0, True
    order = [board.bit[i] for i in rng.permutation(len(board.bit)).tolist()]
    while grown:  # a cell that cut the others apart may be free later
        grown = False
        for cell in order:
            if not cell & shaded and not board.around(cell) & shaded:
                rest = board.board & ~(shaded | cell)
                if rest and board.connected(rest):
                    shaded |= cell
                    grown = True
    return shaded


def draw_numbers(rng: Rng, n_rows: int, n_columns: int) -> list[list[int]]:
    """Return numbers from 1 that are all different in every row and column."""
    size = max(n_rows, n_columns)
    rows, columns, symbols = (rng.permutation(size).tolist() for _ in range(3))
    return [
        [symbols[(rows[r] + columns[c]) % size] + 1 for c in range(n_columns)]
        for r in range(n_rows)
    ]


def rivals_of(numbers: Numbers) -> list[int]:
    """Return for each cell the cells of its row and column with the same number."""
    board = plane(len(numbers), len(numbers[0]))
    width = len(numbers[0])
    marks = [number for row in numbers for number in row]
    found = [0] * len(marks)
    for line in (*_rows(len(numbers), width), *_columns(len(numbers), width)):
        places: dict[int, int] = {}
        for cell in line:
            places[marks[cell]] = places.get(marks[cell], 0) | board.bit[cell]
        for cell in line:
            found[cell] |= places[marks[cell]] & ~board.bit[cell]
    return found


def _rows(n_rows: int, width: int) -> list[range]:
    return [range(r * width, (r + 1) * width) for r in range(n_rows)]


def _columns(n_rows: int, width: int) -> list[range]:
    return [range(c, n_rows * width, width) for c in range(width)]


class Search:
    """Looks for shadings that fit the numbers, but for one that does not count.

    Cells that are ``known`` are shaded in each of them.

    Attributes:
        found: up to ``wanted`` sets of shaded cells.
        nodes: the positions looked at.
        exhausted: whether the limit ended the search.
    """

    def __init__(
        self,
        numbers: Numbers,
        *,
        limit: int,
        known: int = 0,
        but_for: int | None = None,
        wanted: int = 2,
    ) -> None:
        self._board = plane(len(numbers), len(numbers[0]))
        at = {bit: i for i, bit in enumerate(self._board.bit)}
        rivals = rivals_of(numbers)
        self._rivals = {bit: rivals[i] for bit, i in at.items()}
        self._limit = limit
        self._but_for = but_for
        self._wanted = wanted
        self.nodes = 0
        self.found: list[int] = []
        self.exhausted = False
        self._order = sorted(self._board.bit, key=lambda bit: -self._rivals[bit].bit_count())
        self._run(0, 0, known, 0)

    def _run(self, shaded: int, clear: int, new_shaded: int, new_clear: int) -> None:
        if self.nodes >= self._limit:
            self.exhausted = True
        if self.exhausted or len(self.found) >= self._wanted:
            return
        self.nodes += 1
        settled = self._settle(shaded, clear, new_shaded, new_clear)
        if settled is None:
            return
        shaded, clear = settled
        cell = self._choose(shaded | clear)
        if not cell:
            if shaded != self._but_for:
                self.found.append(shaded)
            return
        clear_first = self._but_for is None or bool(cell & self._but_for)
        for is_clear in (clear_first, not clear_first):
            self._run(shaded, clear, 0 if is_clear else cell, cell if is_clear else 0)

    def _choose(self, known: int) -> int:
        """Return the open cell with the most rivals, those with open ones first; 0 if none is."""
        best = 0
        for cell in self._order:
            if not cell & known:
                if self._rivals[cell] & ~known:
                    return cell
                best = best or cell
        return best

    def _settle(
        self, shaded: int, clear: int, new_shaded: int, new_clear: int
    ) -> tuple[int, int] | None:
        """Draw conclusions from newly known cells; None if a rule is broken."""
        board = self._board
        while True:
            while new_shaded or new_clear:
                shaded, clear = shaded | new_shaded, clear | new_clear
                if shaded & clear:
                    return None
                next_clear, next_shaded = board.around(new_shaded), 0
                for cell in bits(new_clear):
                    next_shaded |= self._rivals[1 << cell]
                new_shaded, new_clear = next_shaded & ~shaded, next_clear & ~clear
            if not clear:
                return shaded, clear
            rest = board.board & ~shaded
            cut_off = rest & ~board.reach(clear & -clear, rest)
            if cut_off & clear:
                return None
            if not cut_off:
                return shaded, clear
            new_shaded = cut_off
