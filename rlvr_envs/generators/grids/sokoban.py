"""Sokoban: rooms, moves, and positions at a known distance from the end.

Cells are numbered row by row, walls all around included. A state is the player's cell and the
boxes' cells as the bits of an integer. Positions are found by playing backwards from the solved
ones, so that the length of a shortest solution is known of each.
"""

import math
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import cached_property

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.generators.moves.search import distances

State = tuple[int, int]

MAX_SIDE = 10
SIGNS = "#_.$@*+"
WALL, FLOOR, GOAL, BOX, PLAYER, BOX_ON_GOAL, PLAYER_ON_GOAL = tuple(SIGNS)
_MEANINGS = {
    WALL: "a wall",
    FLOOR: "an empty cell",
    PLAYER: "you",
    BOX: "a box",
    GOAL: "a goal",
    BOX_ON_GOAL: "a box on a goal",
    PLAYER_ON_GOAL: "you on a goal",
}
RULES = (
    "You move one cell up (U), down (D), left (L) or right (R). You cannot move into a wall. "
    "Moving into a box pushes it one cell in the same direction; this is possible only if the "
    "next cell holds neither a wall nor another box. You cannot pull boxes. The room is solved "
    "when every box is on a goal."
)


def legend(signs: Container[str] = SIGNS) -> str:
    """Return what some signs of the picture mean, as a clause."""
    *most, last = [f"{sign} is {text}" for sign, text in _MEANINGS.items() if sign in signs]
    return f"{', '.join(most)}, and {last}"


@dataclass(frozen=True)
class Room:
    """The walls and goals of a room."""

    n_columns: int  # the width, with the walls
    floor: int  # which cells are no walls, as bits
    goals: int  # the goals, as bits

    @cached_property
    def steps(self) -> dict[int, tuple[tuple[str, int], ...]]:
        """The moves from each cell that lead into no wall: letter, and what it adds to the cell."""
        steps = ("U", -self.n_columns), ("D", self.n_columns), ("L", -1), ("R", 1)
        return {
            cell: tuple((letter, step) for letter, step in steps if self.floor >> cell + step & 1)
            for cell in range(self.floor.bit_length())
            if self.floor >> cell & 1
        }

    def moves(self, state: State) -> Iterator[tuple[str, State]]:
        """Yield every possible move with the state after it."""
        player, boxes = state
        for letter, step in self.steps[player]:
            to = 1 << player + step
            if not boxes & to:
                yield letter, (player + step, boxes)
                continue
            behind = 1 << player + 2 * step
            if self.floor & behind and not boxes & behind:
                yield letter, (player + step, boxes ^ to ^ behind)

    def after(self, state: State, letter: str) -> State | None:
        """Return the state after a move, or None if it is not possible."""
        return next((after for move, after in self.moves(state) if move == letter), None)

    def backwards(self, state: State) -> Iterator[tuple[str, State]]:
        """Yield every state from which one move leads to this one, with the way back to it."""
        player, boxes = state
        for letter, step in self.steps[player]:
            if boxes >> player + step & 1:
                continue
            yield letter, (player + step, boxes)
            pushed = 1 << player - step
            if boxes & pushed:
                yield letter, (player + step, boxes ^ pushed ^ 1 << player)

    def is_solved(self, state: State) -> bool:
        """Return whether every box stands on a goal."""
        return state[1] == self.goals

    def show(self, state: State) -> str:
        """Return the room and what is in it, one row per line."""
        player, boxes = state
        height = self.floor.bit_length() // self.n_columns + 2
        cells = [self._sign(cell, player, boxes) for cell in range(height * self.n_columns)]
        rows = [cells[i : i + self.n_columns] for i in range(0, len(cells), self.n_columns)]
        return "\n".join("".join(row) for row in rows)

    def _sign(self, cell: int, player: int, boxes: int) -> str:
        bit = 1 << cell
        if cell == player:
            return PLAYER_ON_GOAL if self.goals & bit else PLAYER
        if boxes & bit:
            return BOX_ON_GOAL if self.goals & bit else BOX
        if self.goals & bit:
            return GOAL
        return FLOOR if self.floor & bit else WALL


@dataclass(frozen=True, slots=True)
class RoomSize:
    """How large a room is."""

    side: int  # the side of the square that it lies in, without the walls around
    n_floor: int  # the number of cells that are no walls
    n_boxes: int  # the number of boxes and goals

    def __post_init__(self) -> None:
        if not 3 <= self.side <= MAX_SIDE:
            raise ConfigError(f"need side in 3..{MAX_SIDE}, got {self.side}")
        if not 1 <= self.n_boxes <= self.side:
            raise ConfigError(f"need n_boxes in 1..side ({self.side}), got {self.n_boxes}")
        if not self.n_boxes + 2 <= self.n_floor <= self.side**2:
            raise ConfigError(
                f"need n_floor from n_boxes + 2 to side ** 2 ({self.side**2}), got {self.n_floor}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "RoomSize":
        """Return the size at a difficulty level of the tasks with such rooms."""
        beyond = max(0, difficulty - 10) // 5  # slowly, for the positions nearly double with a cell
        n_floor = min(MAX_SIDE**2, 8 + 13 * min(difficulty, 10) // 10 + beyond)
        side = min(MAX_SIDE, math.isqrt(3 * n_floor // 2 - 1) + 1)
        return cls(max(4, side), n_floor, min(4, 1 + (difficulty + 1) // 3))


@dataclass(frozen=True, slots=True)
class Position:
    """A room, a state of it, and the letters of a shortest solution."""

    room: Room
    state: State
    solution: str


def read_board(board: str) -> tuple[Room, State]:
    """Return the room and the state that `Room.show` wrote."""
    rows = board.split("\n")
    cells = "".join(rows)

    def bits(signs: str) -> int:
        return sum(1 << cell for cell, sign in enumerate(cells) if sign in signs)

    player = bits(PLAYER + PLAYER_ON_GOAL).bit_length() - 1
    room = Room(
        len(rows[0]),
        bits(FLOOR + GOAL + BOX + PLAYER + BOX_ON_GOAL + PLAYER_ON_GOAL),
        bits(GOAL + BOX_ON_GOAL + PLAYER_ON_GOAL),
    )
    return room, (player, bits(BOX + BOX_ON_GOAL))


def draw_room(rng: Rng, size: RoomSize) -> Room:
    """Draw a room of connected cells, and its goals."""
    n_columns = size.side + 2
    span = range(1, size.side + 1)
    inside = {r * n_columns + c for r in span for c in span}
    floor = [pick(rng, sorted(inside))]
    edge: list[int] = []
    while len(floor) < size.n_floor:
        cell = floor[-1]
        edge += [cell + s for s in (-n_columns, n_columns, -1, 1) if cell + s in inside]
        edge = [cell for cell in edge if cell not in floor]
        floor.append(pick(rng, edge))
    chosen = rng.permutation(size.n_floor)[: size.n_boxes].tolist()
    return Room(n_columns, sum(1 << cell for cell in floor), sum(1 << floor[i] for i in chosen))


def _easy(size: RoomSize) -> Position:
    """Return a position that takes one push: a box below its goal, in a room without inner walls.

    It stands in where no position was found.
    """
    n_columns = size.side + 2
    row = ((1 << size.side) - 1) << 1
    floor = sum(row << (r * n_columns) for r in range(1, size.side + 1))
    goals = ((1 << size.n_boxes) - 1) << (n_columns + 1)
    box = 1 << (n_columns + 1)
    room = Room(n_columns, floor, goals)
    return Position(room, (3 * n_columns + 1, goals ^ box ^ box << n_columns), "U")


def draw_position(
    rng: Rng, size: RoomSize, *, n_rooms: int, max_states: int, max_length: int
) -> Position:
    """Draw rooms and return the position with the longest solution found in one of them.

    Positions with the fewest boxes on goals are taken, and of these one of the farthest fifth by
    length within the ``max_states`` states nearest to the end; no solution is longer than
    ``max_length``.
    """
    rooms = [draw_room(rng, size) for _ in range(n_rooms)]
    found = [_draw_start(rng, room, max_states, max_length) for room in rooms]
    positions = [position for position in found if position is not None]
    return max(positions or [_easy(size)], key=lambda position: len(position.solution))


def _draw_start(rng: Rng, room: Room, max_states: int, max_length: int) -> Position | None:
    """Draw a position, or return None if no box can be pulled off its goal."""
    free = room.floor & ~room.goals
    ends = [(cell, room.goals) for cell in range(free.bit_length()) if free >> cell & 1]
    known, _ = distances(ends, room.backwards, limit=max_states)
    lengths = {state: length for state, length in known.items() if 0 < length <= max_length}
    placed = min(((state[1] & room.goals).bit_count() for state in lengths), default=0)
    starts = [state for state in lengths if (state[1] & room.goals).bit_count() == placed]
    if not starts:
        return None
    far = lengths[starts[-1]] * 4 // 5
    start = pick(rng, [state for state in starts if lengths[state] >= far])
    letters, now = "", start
    while known[now]:
        letter, now = next(move for move in room.moves(now) if known.get(move[1]) == known[now] - 1)
        letters += letter
    return Position(room, start, letters)
