"""Rush Hour: move other vehicles out of the way so that one can leave a crowded lot."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

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
    long_enough,
    stray,
)
from rlvr_envs.generators.moves.search import distances, reachable, shortest_path
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
        taken = self._edge
        left = state
        for places in self.masks:
            taken |= places[left & 15]
            left >>= 4
        found: list[tuple[Slide, State]] = []
        unit, left = 1, state
        for index, (before, behind) in enumerate(self._beyond):
            at = left & 15
            cells = 0
            while not taken & before[at + cells]:
                cells -= 1
                found.append(((index, cells), state + cells * unit))
            cells = 0
            while not taken & behind[at + cells]:
                cells += 1
                found.append(((index, cells), state + cells * unit))
            unit <<= 4
            left >>= 4
        return found

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
    n_proposals: int = knob(2, "changes tried to make the lot harder", low=0, high=1000)
    max_states: int = knob(150, "most positions that can be reached in a lot", low=10, high=10**5)
    least_moves: int = knob(
        3,
        "moves of a shortest solution at least, if such a problem is found in time",
        low=1,
        high=MOST_LEAST_MOVES,
    )
    optimal_only: bool = knob(False, "a longer solution earns only shortest length / length")

    @classmethod
    def at(cls, difficulty: int) -> "RushHourConfig":
        """The lot grows from 4 by 4 to 6 by 6, and the vehicles in number from 4 to 15.

        More changes are tried, on lots with more positions, to find a hard one.
        """
        side = 4 if difficulty < 2 else 5 if difficulty < 10 else 6
        return cls(
            side=side,
            n_vehicles=min({4: 5, 5: 11, 6: 15}[side], 4 + difficulty),
            n_proposals=min(1000, 3 * difficulty // 2 + max(0, difficulty - 10) ** 2 // 4),
            max_states=min(10**5, 100 + 30 * difficulty),
            least_moves=min(4, 2 + difficulty // 2),
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
        A square lot full of vehicles of two or three cells. The lot was made harder by replacing
        vehicles, and the position is the one farthest from the end of all that can be reached.

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
        The lot, the number of vehicles and the length of the solution grow. See
        `RushHourConfig.at`.

    References:
        Flake and Baum, "Rush Hour is PSPACE-complete, or 'Why you should generously tip parking
        lot attendants'", 2002.
        Collette, Raskin and Servais, "On the Symbolic Computation of the Hardest Configurations of
        the Rush Hour Game", 2006.
    """

    def generate(self, rng: Rng) -> RushHourProblem:
        config = self.config
        jam = long_enough(
            lambda: draw_jam(
                rng,
                config.side,
                config.n_vehicles,
                n_proposals=config.n_proposals,
                max_states=config.max_states,
            ),
            lambda jam: len(jam.slides),
            config.least_moves,
        )
        solution = _show(jam.slides, jam.lot)
        return RushHourProblem(jam.lot.show(jam.start), len(jam.slides), solution)

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
        lot, state = read_lot(problem.board)
        return shortest_path(state, lot.slides, lot.is_out, limit=_EFFORT_LIMIT).expanded

    def baseline(self, rng: Rng, problem: RushHourProblem) -> str:
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


_MAX_DRAWS = 60  # of a lot; mostly every third or so will do


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


@dataclass(frozen=True, slots=True)
class Jam:
    """A lot, the hardest state of it that can be reached, and a shortest way out."""

    lot: Lot
    start: State
    slides: tuple[Slide, ...]


def draw_jam(rng: Rng, side: int, n_vehicles: int, *, n_proposals: int, max_states: int) -> Jam:
    """Draw a lot with at most ``n_vehicles`` vehicles that is hard to get out of.

    Lots are drawn until one can be solved and has at most ``max_states`` states. Then
    ``n_proposals`` times vehicles are replaced, which is taken back if it shortens the way out of
    the hardest state.
    """
    best: Jam | None = None
    for _ in range(_MAX_DRAWS):
        best = hardest(*_draw_lot(rng, side, n_vehicles), max_states=max_states)
        if best is not None:
            break
    if best is None:  # our vehicle alone in the lot
        return Jam(Lot(side, (_ours(integer(rng, 1, side - 2)),)), 0, ((0, side - 2),))
    for _ in range(n_proposals):
        changed = _changed(rng, best.lot, best.start, n_vehicles)
        jam = hardest(*changed, max_states=max_states)
        if jam is not None and len(jam.slides) >= len(best.slides):
            best = jam
    return best


def _ours(line: int) -> Vehicle:
    return Vehicle(OURS, True, line, 2)


def _draw_lot(rng: Rng, side: int, n_vehicles: int) -> tuple[Lot, State]:
    """Draw a lot, with fewer vehicles if they do not find room in time."""
    lot = Lot(side, (_ours(integer(rng, 1, side - 2)),))
    return _filled(rng, lot, side - 2, n_vehicles, tries=20 * n_vehicles)


def _changed(rng: Rng, lot: Lot, state: State, n_vehicles: int) -> tuple[Lot, State]:
    """Take a vehicle other than ours away, and add vehicles where there is room."""
    places = lot.places(state)
    vehicles = list(lot.vehicles)
    if len(vehicles) > 1:
        gone = integer(rng, 1, len(vehicles) - 1)
        del vehicles[gone], places[gone]
    state = sum(at << 4 * index for index, at in enumerate(places))
    return _filled(rng, Lot(lot.side, tuple(vehicles)), state, n_vehicles, tries=10)


def _filled(rng: Rng, lot: Lot, state: State, n_vehicles: int, *, tries: int) -> tuple[Lot, State]:
    """Draw vehicles and their places, and add those that find room."""
    side, vehicles = lot.side, list(lot.vehicles)
    taken = 0
    for masks, at in zip(lot.masks, lot.places(state), strict=True):
        taken |= masks[at]
    for _ in range(tries):
        if len(vehicles) == n_vehicles:
            break
        across, length = pick(rng, (True, False)), pick(rng, (2, 2, 3))
        line, at = integer(rng, 0, side - 1), integer(rng, 0, side - length)
        if across and line == vehicles[0].line:
            continue  # it could never make way
        letter = min(set(OTHERS) - {vehicle.letter for vehicle in vehicles})
        vehicle = Vehicle(letter, across, line, length)
        mask = sum(1 << cell for cell in cells_of(vehicle, at, side))
        if not taken & mask:
            taken |= mask
            state |= at << 4 * len(vehicles)
            vehicles.append(vehicle)
    return Lot(side, tuple(vehicles)), state


def hardest(lot: Lot, state: State, *, max_states: int) -> Jam | None:
    """Return the state farthest from getting out of all that can be reached, and the way out.

    Returns None if there are more than ``max_states`` of them, or no way out.
    """
    slides_of: dict[State, list[tuple[Slide, State]]] = {}

    def neighbours(state: State) -> list[tuple[Slide, State]]:
        if state not in slides_of:  # each state is looked at twice
            slides_of[state] = lot.slides(state)
        return slides_of[state]

    states = reachable(state, neighbours, limit=max_states)
    ends = [state for state in states or () if lot.is_out(state)]
    if states is None or len(ends) in (0, len(states)):
        return None
    # Every slide can be taken back, so distances from the ends are distances to them.
    far, _ = distances(ends, neighbours, limit=len(states))
    start = now = next(reversed(far))
    slides = []
    while far[now]:
        slide, now = next(option for option in neighbours(now) if far[option[1]] == far[now] - 1)
        slides.append(slide)
    return Jam(lot, start, tuple(slides))
