"""Star battles: an exact solver, random stars that do not touch, and regions around them."""

from collections.abc import Sequence
from functools import lru_cache

from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.generators.grids.cells import bits, neighbours

_NODES = 300  # of a randomised search for stars, for each row
_STARTS = 20


@lru_cache(maxsize=64)
def _kings(size: int) -> tuple[int, ...]:
    """Return the cells around each cell, as bits."""
    return tuple(
        sum(1 << other for other in around) for around in neighbours(size, size, diagonal=True)
    )


@lru_cache(maxsize=64)
def _lines(size: int) -> tuple[int, ...]:
    """Return the rows and the columns, as bits."""
    row = (1 << size) - 1
    column = sum(1 << (r * size) for r in range(size))
    return tuple(row << (r * size) for r in range(size)) + tuple(column << c for c in range(size))


class Search:
    """Looks for placements of ``n_stars`` stars in every row, column and region, none touching.

    Attributes:
        found: up to two placements, as bits.
        nodes: the positions looked at.
        exhausted: whether the limit ended the search.
    """

    def __init__(self, regions: Sequence[int], n_stars: int, given: int, *, limit: int) -> None:
        size = len(regions)
        self._groups = (*_lines(size), *regions)
        self._kings = _kings(size)
        self._n_stars = n_stars
        self._limit = limit
        self.nodes = 0
        self.found: list[int] = []
        self.exhausted = False
        open_cells = (1 << size * size) - 1
        for cell in bits(given):
            open_cells &= ~self._kings[cell]
        self._run(given, open_cells & ~given)

    @property
    def unique(self) -> bool:
        """Whether exactly one placement is proven to exist."""
        return not self.exhausted and len(self.found) == 1

    def _run(self, stars: int, open_cells: int) -> None:
        if self.nodes >= self._limit:
            self.exhausted = True
        if self.exhausted or len(self.found) > 1:
            return
        self.nodes += 1
        settled = self._settle(stars, open_cells)
        if settled is None:
            return
        stars, open_cells, tightest = settled
        if not tightest:
            self.found.append(stars)
            return
        cell = tightest & -tightest
        kings = self._kings[cell.bit_length() - 1]
        self._run(stars | cell, open_cells & ~kings & ~cell)
        self._run(stars, open_cells & ~cell)

    def _settle(self, stars: int, open_cells: int) -> tuple[int, int, int] | None:
        """Place what must be placed; return also the open cells of the tightest group.

        None if a group has too many stars or too little room.
        """
        changed = True
        tightest = 0
        while changed:
            changed = False
            tightest, least = 0, len(self._groups) ** 2
            for group in self._groups:
                room = open_cells & group
                need = self._n_stars - (stars & group).bit_count()
                spare = room.bit_count() - need
                if need < 0 or spare < 0:
                    return None
                if need == 0 and room:
                    open_cells &= ~room
                    changed = True
                elif need and not spare:
                    placed = self._place(room)
                    if placed is None:
                        return None
                    stars, open_cells = stars | room, open_cells & ~room & ~placed
                    changed = True
                elif need and spare < least:
                    tightest, least = room, spare
        return stars, open_cells, tightest

    def _place(self, cells: int) -> int | None:
        """Return the cells around new stars; None if two of these touch."""
        around = 0
        for cell in bits(cells):
            around |= self._kings[cell]
        return None if around & cells else around


def draw_stars(rng: Rng, size: int, n_stars: int) -> list[int]:
    """Return the cells of random stars, ``n_stars`` in every row and column, none touching."""
    for _ in range(_STARTS):
        found = _stars(rng, size, n_stars, _NODES * size)
        if found:
            return found
    return _stars(None, size, n_stars, None)


def _stars(rng: Rng | None, size: int, n_stars: int, limit: int | None) -> list[int]:
    """Place stars row by row with backtracking; in plain order and to the end without ``rng``."""
    kings, room = _kings(size), [n_stars] * size
    chosen: list[int] = []
    nodes = 0

    def fill(row: int, start: int, banned: int) -> bool:
        nonlocal nodes
        nodes += 1
        if limit is not None and nodes > limit:
            return False
        if row == size:
            return True
        left = n_stars - (len(chosen) - row * n_stars)
        if not left:
            return all(r <= size - row - 1 for r in room) and fill(row + 1, 0, banned)
        columns = list(range(start, size)) if rng is None else rng.permutation(size).tolist()
        for column in columns:
            cell = row * size + column
            if room[column] and not banned >> cell & 1:
                room[column] -= 1
                chosen.append(cell)
                if fill(row, column + 2, banned | kings[cell] | 1 << cell):
                    return True
                chosen.pop()
                room[column] += 1
        return False

    return sorted(chosen) if fill(0, 0, 0) else []


def draw_regions(rng: Rng, size: int, n_stars: int, stars: Sequence[int]) -> list[int]:
    """Return, for each cell, its region: each is connected and has ``n_stars`` of the stars."""
    for _ in range(_STARTS):
        owner = _joined(rng, size, n_stars, stars)
        if owner is not None:
            break
    else:  # the rows are regions too
        owner = [cell // size for cell in range(size * size)]
    beside = neighbours(size, size)
    rim = [cell for cell, region in enumerate(owner) if region >= 0]
    while rim:
        i = int(rng.random() * len(rim))
        cell = rim[i]
        free = [other for other in beside[cell] if owner[other] < 0]
        if len(free) <= 1:
            rim[i] = rim[-1]
            rim.pop()
        if free:
            other = pick(rng, free)
            owner[other] = owner[cell]
            rim.append(other)
    return owner


def _joined(rng: Rng, size: int, n_stars: int, stars: Sequence[int]) -> list[int] | None:
    """Join stars to their nearest by paths, in groups of ``n_stars``; None if one is cut off."""
    owner = [-1] * (size * size)
    waiting = [stars[i] for i in rng.permutation(len(stars)).tolist()]
    for region in range(size):
        owner[waiting.pop()] = region
        for _ in range(n_stars - 1):
            path = _path_to_star(owner, region, frozenset(waiting), size)
            if path is None:
                return None
            waiting.remove(path[-1])
            for cell in path:
                owner[cell] = region
    return owner


def _path_to_star(
    owner: list[int], region: int, waiting: frozenset[int], size: int
) -> list[int] | None:
    """Return the free cells from a region to the nearest star that has none, with that star."""
    beside = neighbours(size, size)
    queue = [cell for cell, own in enumerate(owner) if own == region]
    came = dict.fromkeys(queue, -1)
    for cell in queue:
        for other in beside[cell]:
            if other in came or owner[other] >= 0:
                continue
            came[other] = cell
            if other not in waiting:
                queue.append(other)
                continue
            path, step = [], other
            while came[step] >= 0:
                path.append(step)
                step = came[step]
            return path[::-1]
    return None


def masks_of(owner: Sequence[int], size: int) -> list[int]:
    """Return the cells of each region, as bits."""
    masks = [0] * size
    for cell, region in enumerate(owner):
        masks[region] |= 1 << cell
    return masks
