"""Mazes on a grid of cells: a planted way of a given length and number of turns, and the rest.

An open cell is one to walk on. Mazes are tree-like: a cell is opened only where it touches a
single open cell, so that there is one way between two cells; loops are then added on purpose.
"""

from collections.abc import Collection, Sequence

from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.grids.cells import neighbours

WALL, FREE, START, GOAL = "#", ".", "S", "G"

# Letter: how far a move goes in rows and in columns.
MOVES = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}

_STARTS = 40  # walks that are begun before the best one so far is taken
_STEPS = 12  # cells a walk may try for each move it is to have


def draw_way(rng: Rng, shape: tuple[int, int], length: int, n_turns: int) -> list[int]:
    """Return the cells of a random way that does not touch itself.

    It has the given number of moves and of turns, unless no such way is found in a bounded number
    of trials; then it is the longest that was found with no more turns.
    """
    best: list[int] = []
    for _ in range(_STARTS):
        walk = _Walk(rng, shape, length, n_turns)
        if walk.found:
            return walk.found
        best = max(best, walk.longest, key=len)
    return best


class _Walk:
    """One walk from a random cell, depth first, with backtracking within a budget."""

    def __init__(self, rng: Rng, shape: tuple[int, int], length: int, n_turns: int) -> None:
        self._rng = rng
        self._shape = shape
        self._beside = neighbours(*shape)
        self._budget = _STEPS * length
        self.longest: list[int] = []
        self.found: list[int] = []
        self._search(integer(rng, 0, shape[0] * shape[1] - 1), length, n_turns)

    def _search(self, start: int, length: int, n_turns: int) -> None:
        way, on_way = [start], {start}
        before, turns_left = [""], [n_turns]
        untried = [self._directions("", length, n_turns)]
        while way and self._budget > 0:
            if len(way) > len(self.longest):
                self.longest = way.copy()
            if len(way) > length:
                self.found = way
                return
            if not untried[-1]:
                on_way.remove(way.pop())
                for stack in (before, turns_left, untried):
                    stack.pop()
                continue
            direction = untried[-1].pop()
            self._budget -= 1
            cell = step(way[-1], direction, *self._shape)
            if cell is None or sum(other in on_way for other in self._beside[cell]) > 1:
                continue
            turns_left.append(turns_left[-1] - (before[-1] not in ("", direction)))
            way.append(cell)
            on_way.add(cell)
            before.append(direction)
            untried.append(self._directions(direction, length - len(way) + 1, turns_left[-1]))

    def _directions(self, before: str, n_moves: int, n_turns: int) -> list[str]:
        """Return directions to try, the first one last, with turns spread over what is left."""
        if not before:
            return [list(MOVES)[i] for i in self._rng.permutation(4).tolist()]
        if n_turns > n_moves:
            return []
        sides = ["U", "D"] if before in "LR" else ["L", "R"]
        if integer(self._rng, 0, 1):
            sides.reverse()
        if n_turns == n_moves:
            return sides
        if n_turns == 0:
            return [before]
        turn_first = integer(self._rng, 1, n_moves) <= n_turns
        return [before, *sides] if turn_first else [*sides, before]


def step(cell: int, direction: str, n_rows: int, n_columns: int) -> int | None:
    """Return the cell that a move leads to, or None off the board."""
    down, right = MOVES[direction]
    row, column = cell // n_columns + down, cell % n_columns + right
    return row * n_columns + column if 0 <= row < n_rows and 0 <= column < n_columns else None


def fill(rng: Rng, shape: tuple[int, int], way: Sequence[int]) -> set[int]:
    """Return the open cells of a maze: the way, and branches of it that meet nowhere."""
    beside = neighbours(*shape)
    open_cells = set(way)
    rim = [other for cell in way for other in beside[cell]]
    while rim:
        i = int(rng.random() * len(rim))
        cell, rim[i] = rim[i], rim[-1]
        rim.pop()
        touched = sum(other in open_cells for other in beside[cell])
        if cell not in open_cells and touched == 1:
            open_cells.add(cell)
            rim.extend(other for other in beside[cell] if other not in open_cells)
    return open_cells


def add_loops(
    rng: Rng, shape: tuple[int, int], open_cells: set[int], way: Sequence[int], n_loops: int
) -> None:
    """Open cells that join two others, as long as the way stays the only shortest one."""
    beside = neighbours(*shape)
    walls = [cell for cell in range(shape[0] * shape[1]) if cell not in open_cells]
    length = len(way) - 1
    near = [distances(shape, open_cells, end) for end in (way[0], way[-1])]
    for i in rng.permutation(len(walls)).tolist():
        joined = [other for other in beside[walls[i]] if other in open_cells]
        if n_loops < 1 or len(joined) < 2:
            continue
        through = min(near[0][a] + near[1][b] + 2 for a in joined for b in joined if a != b)
        if through > length:
            open_cells.add(walls[i])
            n_loops -= 1
            near = [distances(shape, open_cells, end) for end in (way[0], way[-1])]


def distances(shape: tuple[int, int], open_cells: Collection[int], start: int) -> dict[int, int]:
    """Return how many moves each cell that can be reached is away."""
    beside = neighbours(*shape)
    found, queue = {start: 0}, [start]
    for cell in queue:
        for other in beside[cell]:
            if other in open_cells and other not in found:
                found[other] = found[cell] + 1
                queue.append(other)
    return found


def draw_maze(
    rng: Rng, shape: tuple[int, int], length: int, n_turns: int, n_loops: int
) -> tuple[tuple[str, ...], str]:
    """Return a maze as rows of text, and the moves of its only shortest way."""
    way = draw_way(rng, shape, length, n_turns)
    open_cells = fill(rng, shape, way)
    add_loops(rng, shape, open_cells, way, n_loops)
    marks = dict.fromkeys(open_cells, FREE) | {way[0]: START, way[-1]: GOAL}
    n_columns = shape[1]
    rows = tuple(
        "".join(marks.get(r * n_columns + c, WALL) for c in range(n_columns))
        for r in range(shape[0])
    )
    return rows, moves_of(way, n_columns)


def moves_of(way: Sequence[int], n_columns: int) -> str:
    """Return the letters of the moves along a way."""
    letters = {-n_columns: "U", n_columns: "D", -1: "L", 1: "R"}
    return "".join(letters[way[i + 1] - way[i]] for i in range(len(way) - 1))


def apart(one: int, other: int, n_columns: int) -> int:
    """Return how far two cells are apart in rows and columns together."""
    rows = abs(one // n_columns - other // n_columns)
    return rows + abs(one % n_columns - other % n_columns)
