"""Nurikabe: seas with islands, and an exact search over the shapes that islands can have.

Sets of cells are integers in the bits of a `Plane`.
"""

from collections.abc import Mapping, Sequence

from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.grids.cells import Plane, bits

_STARTS = 30


def pools(board: Plane) -> list[int]:
    """Return all squares of two by two cells."""
    width = board.width
    squares = [bit | bit << 1 | bit << width | bit << (width + 1) for bit in board.bit]
    return [square for square in squares if square & board.board == square]


def draw_islands(rng: Rng, board: Plane, shape: tuple[int, int], largest: int) -> list[int]:
    """Return random islands that touch only at corners, in a connected sea without pools."""
    for _ in range(_STARTS):
        land = _dry_out(rng, board, largest)
        if land:
            return _split(board, land)
    return _split(board, _combed(board, shape, largest))


def _dry_out(rng: Rng, board: Plane, largest: int) -> int:
    """Turn cells of pools into land until there are no pools; 0 if that leads nowhere."""
    land = 0
    squares = pools(board)
    left = [squares[i] for i in rng.permutation(len(squares)).tolist()]
    while left:
        square = left.pop()
        if square & land:
            continue
        cells = [1 << cell for cell in bits(square)]
        for i in rng.permutation(4).tolist():
            more = land | cells[i]
            island = board.reach(cells[i], more)
            if island.bit_count() <= largest and board.connected(board.board & ~more):
                land = more
                break
        else:
            return 0
    return land


def _combed(board: Plane, shape: tuple[int, int], largest: int) -> int:
    """Return islands in every other column below the first row, cut to a length."""
    n_columns = shape[1]
    return sum(
        board.bit[r * n_columns + c]
        for c in range(1, n_columns, 2)
        for r in range(1, shape[0])
        if r % (largest + 1)
    )


def _split(board: Plane, land: int) -> list[int]:
    islands = []
    while land:
        island = board.reach(land & -land, land)
        islands.append(island)
        land &= ~island
    return islands


def shapes(board: Plane, start: int, size: int, allowed: int) -> list[int]:
    """Return the connected sets of ``size`` allowed cells that contain ``start``, each once."""
    found = []
    stack = [(start, board.around(start) & allowed & ~start, start)]
    while stack:
        cells, rim, closed = stack.pop()
        if cells.bit_count() == size:
            found.append(cells)
            continue
        while rim:
            cell = rim & -rim
            rim &= ~cell
            closed |= cell
            stack.append((cells | cell, rim | board.around(cell) & allowed & ~closed, closed))
    return found


class Island:
    """A worked solution's rule: what all shapes of the island around a number share.

    Land is 1, sea is 0.
    """

    def __init__(self, board: Plane, start: int, size: int, numbers: int) -> None:
        self._board, self._start, self._size = board, start, size
        self._banned = (numbers | board.around(numbers & ~start)) & ~start
        near = start
        for _ in range(size):
            near |= board.around(near)
        self.cells = tuple(cell for cell, bit in enumerate(board.bit) if bit & near)

    def narrow(self, masks: list[int]) -> list[int] | None:
        board, bit = self._board, self._board.bit
        land = sum(bit[cell] for cell in self.cells if masks[cell] == 0b10)
        allowed = sum(bit[cell] for cell in self.cells if masks[cell] & 0b10) & ~self._banned
        inside = beside = board.board
        fits = False
        for shape in shapes(board, self._start, self._size, allowed):
            rim = board.around(shape) & ~shape
            if not rim & land:
                fits, inside, beside = True, inside & shape, beside & rim
        changed = [
            cell for cell in self.cells if masks[cell] == 0b11 and bit[cell] & (inside | beside)
        ]
        for cell in changed:
            masks[cell] = 0b10 if bit[cell] & inside else 0b01
        return changed if fits else None


class InReach:
    """A worked solution's rule: land is no farther from a number than its island can go."""

    def __init__(self, board: Plane, numbers: Mapping[int, int]) -> None:
        self._board, self._numbers = board, numbers
        self.cells = tuple(range(len(board.bit)))

    def narrow(self, masks: list[int]) -> list[int] | None:
        bit = self._board.bit
        allowed = sum(bit[cell] for cell in self.cells if masks[cell] & 0b10)
        reached = 0
        for start, size in self._numbers.items():
            near = start
            for _ in range(size - 1):
                near |= self._board.around(near) & allowed
            reached |= near
        beyond = [cell for cell in self.cells if masks[cell] & 0b10 and not bit[cell] & reached]
        changed = [cell for cell in beyond if masks[cell] == 0b11]
        for cell in changed:
            masks[cell] = 0b01
        return changed if len(changed) == len(beyond) else None


class Search:
    """Looks for islands around numbers, but for a sea that does not count.

    Attributes:
        found: up to ``wanted`` solutions, each as the islands in the order of the numbers.
        nodes: the positions looked at.
        exhausted: whether the limit ended the search.
    """

    def __init__(
        self,
        board: Plane,
        numbers: Mapping[int, int],
        *,
        limit: int,
        sea: int = 0,
        but_for: int | None = None,
        wanted: int = 2,
    ) -> None:
        self._board = board
        self._pools = pools(board)
        self._limit = limit
        self._but_for = but_for
        self._wanted = wanted
        self.nodes = 0
        self.found: list[tuple[int, ...]] = []
        self.exhausted = False
        starts = sum(numbers)
        options = []
        for start, size in numbers.items():
            others = starts & ~start
            allowed = board.board & ~(sea | others | board.around(others))
            options.append(shapes(board, start, size, allowed | start))
        self._run(options)

    def _run(self, options: list[list[int]]) -> None:
        if self.nodes >= self._limit:
            self.exhausted = True
        if self.exhausted or len(self.found) >= self._wanted:
            return
        self.nodes += 1
        settled = self._settle(options)
        if settled is None:
            return
        open_ = [(len(places), i) for i, places in enumerate(settled) if len(places) > 1]
        if not open_:
            islands = tuple(places[0] for places in settled)
            if sum(islands) != self._but_for:
                self.found.append(islands)
            return
        _, i = min(open_)
        for place in settled[i]:
            self._run([*settled[:i], [place], *settled[i + 1 :]])

    def _settle(self, options: list[list[int]]) -> list[list[int]] | None:
        """Strike out shapes until nothing changes; None if a rule is broken."""
        board = self._board
        while True:
            sure, possible = [], []
            for places in options:
                if not places:
                    return None
                both, either = places[0], 0
                for place in places:
                    both &= place
                    either |= place
                sure.append(both)
                possible.append(either)
            land = 0
            for both in sure:
                land |= both
            if not self._sea_holds(land, possible):
                return None
            wanted = self._dry(land, possible)
            if wanted is None:
                return None
            new = []
            for i, places in enumerate(options):
                foreign = (land & ~sure[i]) | board.around(land & ~sure[i])
                must = wanted.get(i, 0)
                new.append(
                    [p for p in places if not p & foreign and p & must == must]
                    if foreign & possible[i] or must
                    else places
                )
            if all(len(a) == len(b) for a, b in zip(new, options, strict=True)):
                return options
            options = new

    def _sea_holds(self, land: int, possible: Sequence[int]) -> bool:
        """Whether what is surely sea can still be connected."""
        board, reachable = self._board, 0
        for either in possible:
            reachable |= either
        water = board.board & ~reachable
        return board.reach(water & -water, board.board & ~land) & water == water

    def _dry(self, land: int, possible: Sequence[int]) -> dict[int, int] | None:
        """Return cells that an island must have, as nothing else can keep a pool away."""
        wanted: dict[int, int] = {}
        for pool in self._pools:
            if pool & land:
                continue
            reaching = [i for i, either in enumerate(possible) if either & pool]
            if not reaching:
                return None
            if len(reaching) == 1:
                cells = possible[reaching[0]] & pool
                if not cells & (cells - 1):
                    wanted[reaching[0]] = wanted.get(reaching[0], 0) | cells
        return wanted
