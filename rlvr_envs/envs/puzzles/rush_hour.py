"""Rush Hour: move other vehicles out of the way so that one can leave a crowded lot."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache, cached_property

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.moves.scoring import (
    MOST_LEAST_MOVES,
    SHORTEST_WANTED,
    graded,
    stray,
)
from rlvr_envs.generators.moves.search import shortest_path
from rlvr_envs.verifiers.markup import hyphened
from rlvr_envs.verifiers.parse import words

State = int
Slide = tuple[int, int]  # the vehicle, and by how many cells it moves: right and down are positive


@dataclass(frozen=True, slots=True)
class Vehicle:
    """A vehicle without its place: its letter, its line and its length in cells."""

    letter: str
    across: bool  # whether it stands in a row rather than in a column
    line: int
    length: int


@dataclass(frozen=True)
class Lot:
    """A square lot and the vehicles in it."""

    side: int
    vehicles: tuple[Vehicle, ...]

    @cached_property
    def masks(self) -> tuple[tuple[int, ...], ...]:
        """The cells that each vehicle covers at each place, as bits."""
        return tuple(
            tuple(
                sum(1 << cell for cell in cells_of(vehicle, at, self.side))
                for at in range(self.side - vehicle.length + 1)
            )
            for vehicle in self.vehicles
        )

    @cached_property
    def _beyond(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        """The cell just before and just behind each vehicle at each place, as bits.

        Beyond the edge of the lot this is a cell of its own, which is always taken.
        """
        found = []
        for vehicle in self.vehicles:
            ends = [
                cells_of(vehicle, at, self.side) for at in range(self.side - vehicle.length + 1)
            ]
            before = [1 << cells[0] for cells in ends[:-1]]
            behind = [1 << cells[-1] for cells in ends[1:]]
            found.append(((self._edge, *before), (*behind, self._edge)))
        return tuple(found)

    @property
    def _edge(self) -> int:
        return 1 << self.side**2

    def slides(self, state: State) -> list[tuple[Slide, State]]:
        """Return every possible slide with the state after it."""
        return [(_slide(state, after), after) for after in self.neighbours(state)]

    def neighbours(self, state: State) -> list[State]:
        """Return every state that one slide leads to."""
        taken = self._edge
        left = state
        for places in self.masks:
            taken |= places[left & 15]
            left >>= 4
        found: list[State] = []
        unit, left = 1, state
        for before, behind in self._beyond:
            at, after = left & 15, state
            while not taken & before[at]:
                at -= 1
                after -= unit
                found.append(after)
            at, after = left & 15, state
            while not taken & behind[at]:
                at += 1
                after += unit
                found.append(after)
            unit <<= 4
            left >>= 4
        return found

    def distances(self, state: State, max_states: int) -> dict[State, int]:
        """Return how far every state that can be reached is from getting out, the nearest first.

        It is empty if these are more than ``max_states``, or if none of them is an end.
        """
        waiting, known = [state], {state}
        neighbours: dict[State, list[State]] = {}
        for now in waiting:
            neighbours[now] = self.neighbours(now)
            for other in neighbours[now]:
                if other not in known:
                    known.add(other)
                    waiting.append(other)
            if len(waiting) > max_states:
                return {}
        # Every slide can be taken back, so distances from the ends are distances to them.
        layer = [now for now in waiting if self.is_out(now)]
        far = dict.fromkeys(layer, 0)
        while layer:
            following = []
            for now in layer:
                for other in neighbours[now]:
                    if other not in far:
                        far[other] = far[now] + 1
                        following.append(other)
            layer = following
        return far

    def can_clear(self, state: State) -> bool:
        """Return whether each column to the right of our vehicle can leave its row, seen alone.

        Where one cannot, nothing can get out, and no search is needed to know it.
        """
        row, behind = self.vehicles[0].line, (state & 15) + self.vehicles[0].length
        columns: dict[int, list[tuple[int, int]]] = {}
        for vehicle, at in zip(self.vehicles, self.places(state), strict=True):
            if not vehicle.across and vehicle.line >= behind:
                columns.setdefault(vehicle.line, []).append((at, vehicle.length))
        for column in columns.values():
            lengths = [length for _, length in sorted(column)]
            splits = range(len(lengths) + 1)  # how many stand above the row
            below = self.side - 1 - row
            if not any(sum(lengths[:n]) <= row and sum(lengths[n:]) <= below for n in splits):
                return False
        return True

    def places(self, state: State) -> list[int]:
        """Return the place of each vehicle."""
        return [state >> 4 * index & 15 for index in range(len(self.vehicles))]

    def is_out(self, state: State) -> bool:
        """Return whether our vehicle stands at the right edge."""
        return state & 15 == self.side - self.vehicles[0].length

    def show(self, state: State) -> str:
        """Return the lot as a grid of letters, one row per line."""
        cells = [FREE] * self.side**2
        for vehicle, at in zip(self.vehicles, self.places(state), strict=True):
            for cell in cells_of(vehicle, at, self.side):
                cells[cell] = vehicle.letter
        rows = [cells[i : i + self.side] for i in range(0, len(cells), self.side)]
        return "\n".join("".join(row) for row in rows)


MOVE_LIMIT = 500
_EFFORT_LIMIT = 100_000  # states that measuring the effort may expand
_PLUS = re.compile(r"[ \t]{0,4}\+[ \t]{0,4}")
_SLIDE = re.compile(r"([A-Za-z])([+-])([0-9]{1,2})")


MAX_SIDE = 12

FREE, OURS, OTHERS = ".", "X", "ABCDEFGHIJKLMNOPQRSTUVWYZ"


@dataclass(frozen=True, slots=True, kw_only=True)
class RushHourConfig(TaskConfig):
    """The size of the lot, and how hard a jam is looked for."""

    side: int = knob(5, "rows and columns of the board", low=4, high=MAX_SIDE)
    n_vehicles: int = knob(7, "most vehicles, including X", low=2, high=len(OTHERS) + 1)
    n_proposals: int = knob(
        40, "lots looked at to find one that takes so many moves", low=0, high=1000
    )
    max_states: int = knob(500, "most positions that can be reached in a lot", low=10, high=10**5)
    least_moves: int = knob(
        3,
        "moves of a shortest solution, fewer if no such lot is found",
        low=1,
        high=MOST_LEAST_MOVES,
    )
    optimal_only: bool = knob(False, "a longer solution earns only shortest length / length")

    @classmethod
    def at(cls, difficulty: int) -> "RushHourConfig":
        """A shortest solution takes two moves at first, and one more a level; from 9 on, two more.

        The lot is 5x5 with more and more vehicles, and 6x6 from level 6 on. Beyond level 10 one
        move is added a level, up to 30, as far as such lots are found.
        """
        least_moves = 2 + difficulty + max(0, min(difficulty, 10) - 8)
        return cls(
            side=5 if difficulty < 6 else 6,
            n_vehicles=min(7, 6 + difficulty // 2) if difficulty < 6 else 14,
            n_proposals=min(40 + 10 * difficulty, 150),
            max_states=min(200 + 100 * difficulty, 3000),
            least_moves=min(MOST_LEAST_MOVES, least_moves),
        )


@dataclass(frozen=True, slots=True)
class RushHourProblem:
    """The lot, one row per line; the letter of a vehicle is in every cell it covers."""

    board: str
    shortest: int = hidden()
    solution: str = hidden()


@register("RushHour-v0", domain="puzzles")
class RushHourTask(Task[RushHourConfig, RushHourProblem]):
    """Slide vehicles along their lines until vehicle X can leave the lot.

    Description:
        A square lot full of vehicles of two or three cells. Vehicles were replaced until some
        position that can be reached is far enough from the end, and one as far as wanted was drawn.

    Observation:
        The rules, and the lot as a grid of letters.

    Action:
        The slides in order, each as a letter, a sign and a number of cells.

    Reward:
        1 for possible slides after which X stands at the right edge. Under ``optimal_only`` the
        number of slides in a shortest solution divided by the number of slides. Otherwise 0.

    Verification:
        The slides are played; an answer of more than 500 is not read. The length of a shortest
        solution is exact: all positions of the lot were searched. No known gaps.

    Difficulty:
        A shortest solution gets longer: vehicles block those that block others. The lot and the
        number of vehicles grow. See `RushHourConfig.at`.

    References:
        Flake and Baum, "Rush Hour is PSPACE-complete, or 'Why you should generously tip parking
        lot attendants'", 2002.
        Collette, Raskin and Servais, "On the Symbolic Computation of the Hardest Configurations of
        the Rush Hour Game", 2006.
    """

    def generate(self, rng: Rng) -> RushHourProblem:
        lot, start, slides = draw_jam(rng, self.config)
        return RushHourProblem(lot.show(start), len(slides), _show(slides, lot))

    def prompt(self, problem: RushHourProblem) -> str:
        wanted = f" {SHORTEST_WANTED}" if self.config.optimal_only else ""
        return (
            "Slide vehicles until vehicle X reaches the right edge of this square parking lot. "
            "Each letter is a vehicle, which covers every cell with its letter; . is a free "
            f"cell.\n\n{problem.board}\n\n"
            "A vehicle that lies in a row moves only left and right, and a vehicle that lies in a "
            "column moves only up and down. One move slides one vehicle by one or more free cells. "
            "A vehicle cannot leave the lot or pass another vehicle.\n\n"
            f"Use at most {MOVE_LIMIT} moves.{wanted} Answer with the moves in order, separated by "
            "commas. Write each move as the letter of the vehicle, + for right or down or - for "
            "left or up, and the number of cells: for example, A-2, B+1 slides A left or up by two "
            "cells, and then B right or down by one."
        )

    def verify(self, problem: RushHourProblem, answer: str) -> Verdict:
        lot, state = read_lot(problem.board)
        slides = _read_slides(answer, lot)
        if slides is None:
            return Verdict.unparsable(
                f"expected at most {MOVE_LIMIT} moves of vehicles in the lot, such as A-2, B+1"
            )
        for number, slide in enumerate(slides, 1):
            after = next((after for move, after in lot.slides(state) if move == slide), None)
            if after is None:
                return Verdict.wrong(f"move {number}, {_show([slide], lot)}, is not possible")
            state = after
        if not lot.is_out(state):
            return Verdict.wrong("X is not at the right edge after the moves")
        return graded(len(slides), problem.shortest, optimal_only=self.config.optimal_only)

    def solve(self, problem: RushHourProblem) -> str:
        return problem.solution

    def explain(self, problem: RushHourProblem) -> list[str]:
        """Return the lot after each move."""
        lot, state = read_lot(problem.board)
        steps = []
        for slide in _read_slides(problem.solution, lot) or ():
            state = dict(lot.slides(state))[slide]
            steps.append(f"After {_show([slide], lot)}:\n{lot.show(state)}")
        return steps

    def effort(self, problem: RushHourProblem) -> int:
        """Count the positions that a breadth-first search looks at before X is out."""
        lot, state = read_lot(problem.board)
        return shortest_path(state, lot.slides, lot.is_out, limit=_EFFORT_LIMIT).expanded

    def baseline(self, rng: Rng, problem: RushHourProblem) -> str:
        """Slide at random, never back to a position, until X is out."""
        lot, state = read_lot(problem.board)
        slides = stray(state, lot.slides, lot.is_out, rng, limit=len(lot.vehicles))
        return _show(slides, lot)


def _read_slides(answer: str, lot: Lot) -> list[Slide] | None:
    pieces = words(_PLUS.sub("+", hyphened(answer)), max_items=MOVE_LIMIT)
    if not pieces:
        return None
    numbers = {vehicle.letter: index for index, vehicle in enumerate(lot.vehicles)}
    found = [
        (numbers[m[1].upper()], int(m[2] + m[3]))
        for m in map(_SLIDE.fullmatch, pieces)
        if m and m[1].upper() in numbers
    ]
    return found if len(found) == len(pieces) else None


def _show(slides: Iterable[Slide], lot: Lot) -> str:
    return ", ".join(f"{lot.vehicles[index].letter}{cells:+}" for index, cells in slides)


# A crowded parking lot: vehicles that only move along their own line, and who is in the way.
#
# A vehicle's place is the column of its left end or the row of its upper end. A state holds the
# places of all vehicles as the hexadecimal digits of an integer, the first vehicle's last: integers
# are searched twice as fast as tuples. The first vehicle is the one that has to get out.


Placed = tuple[Vehicle, int, int]  # a vehicle without a letter, its place, its cells as bits
_REPLACED = 2  # vehicles replaced at a time


def _slide(before: State, after: State) -> Slide:
    """Return the slide between two states."""
    differing = before ^ after
    index = ((differing & -differing).bit_length() - 1) // 4
    return index, (after >> 4 * index & 15) - (before >> 4 * index & 15)


def cells_of(vehicle: Vehicle, at: int, side: int) -> range:
    """Return the numbers of the cells that a vehicle covers, counted row by row."""
    step = 1 if vehicle.across else side
    first = vehicle.line * side + at if vehicle.across else at * side + vehicle.line
    return range(first, first + vehicle.length * step, step)


def read_lot(board: str) -> tuple[Lot, State]:
    """Return the lot and the state that `Lot.show` wrote."""
    rows = board.split("\n")
    where: dict[str, list[tuple[int, int]]] = {}
    for r, row in enumerate(rows):
        for c, sign in enumerate(row):
            if sign != FREE:
                where.setdefault(sign, []).append((r, c))
    vehicles: list[Vehicle] = []
    state = 0
    for letter in sorted(where, key=lambda sign: (sign != OURS, sign)):
        cells = where[letter]
        first_row, first_column = cells[0]
        across = first_row == cells[-1][0]
        line, at = (first_row, first_column) if across else (first_column, first_row)
        state |= at << 4 * len(vehicles)
        vehicles.append(Vehicle(letter, across, line, len(cells)))
    return Lot(len(rows), tuple(vehicles)), state


def draw_jam(rng: Rng, config: RushHourConfig) -> tuple[Lot, State, list[Slide]]:
    """Draw a lot, a state of it that takes the wanted number of slides, and a shortest way out.

    Vehicles of a lot are replaced, which is taken back if all states get nearer to the end.
    """
    side = config.side
    vehicle, at = _ours(integer(rng, 1, side - 2)), 0
    alone = [(vehicle, at, _mask(vehicle, at, side))]
    lot, start = _lot(alone, side)
    best, far = alone, lot.distances(start, side)
    most = 1
    for _ in range(config.n_proposals):
        if most >= config.least_moves:
            break
        gone = rng.permutation(len(best) - 1)[:_REPLACED].tolist()
        kept = [placed for i, placed in enumerate(best, -1) if i not in gone]
        changed = _crowded(rng, kept, side, config.n_vehicles)
        new, start = _lot(changed, side)
        if not new.can_clear(start):
            continue
        distances = new.distances(start, config.max_states)
        longest = max(distances.values(), default=0)
        if longest >= most:
            best, lot, far, most = changed, new, distances, longest
    wanted = min(most, config.least_moves)
    start = now = pick(rng, [state for state, length in far.items() if length == wanted])
    slides = []
    while far[now]:
        slide, now = next(each for each in lot.slides(now) if far[each[1]] < far[now])
        slides.append(slide)
    return lot, start, slides


def _ours(line: int) -> Vehicle:
    return Vehicle(OURS, True, line, 2)


def _mask(vehicle: Vehicle, at: int, side: int) -> int:
    return sum(1 << cell for cell in cells_of(vehicle, at, side))


@cache
def _placements(side: int) -> tuple[Placed, ...]:
    """Return every vehicle of two or three cells at every place."""
    return tuple(
        (vehicle, at, _mask(vehicle, at, side))
        for length in (2, 3)
        for across in (True, False)
        for line in range(side)
        for vehicle in [Vehicle("", across, line, length)]
        for at in range(side - length + 1)
    )


def _crowded(rng: Rng, placed: list[Placed], side: int, n_vehicles: int) -> list[Placed]:
    """Add vehicles where there is room, none of them in our row, up to a number."""
    taken = sum(cells for _, _, cells in placed)
    ours = placed[0][0].line
    room = [
        option
        for option in _placements(side)
        if not option[2] & taken and not (option[0].across and option[0].line == ours)
    ]
    placed = list(placed)
    while room and len(placed) < n_vehicles:
        new = pick(rng, room)
        placed.append(new)
        room = [option for option in room if not option[2] & new[2]]
    return placed


def _lot(placed: list[Placed], side: int) -> tuple[Lot, State]:
    """Return a lot in which the vehicles have letters, and its state."""
    letters = OURS + OTHERS
    vehicles = tuple(
        replace(vehicle, letter=letter)
        for (vehicle, _, _), letter in zip(placed, letters, strict=False)
    )
    return Lot(side, vehicles), sum(at << 4 * i for i, (_, at, _) in enumerate(placed))
