"""A crowded parking lot: vehicles that only move along their own line, and who is in the way.

A vehicle's place is the column of its left end or the row of its upper end. A state holds the
places of all vehicles as the hexadecimal digits of an integer, the first vehicle's last: integers
are searched twice as fast as tuples. The first vehicle is the one that has to get out.
"""

from dataclasses import dataclass
from functools import cached_property

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.moves.search import distances, reachable

State = int
Slide = tuple[int, int]  # the vehicle, and by how many cells it moves: right and down are positive

MAX_SIDE = 12
_MAX_DRAWS = 60  # of a lot; mostly every third or so will do
FREE, OURS, OTHERS = ".", "X", "ABCDEFGHIJKLMNOPQRSTUVWYZ"


@dataclass(frozen=True, slots=True)
class Vehicle:
    """A vehicle without its place: its letter, its line and its length in cells."""

    letter: str
    across: bool  # whether it stands in a row rather than in a column
    line: int
    length: int


def cells_of(vehicle: Vehicle, at: int, side: int) -> range:
    """Return the numbers of the cells that a vehicle covers, counted row by row."""
    step = 1 if vehicle.across else side
    first = vehicle.line * side + at if vehicle.across else at * side + vehicle.line
    return range(first, first + vehicle.length * step, step)


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
        """Return the lot as a grid of letters, one row a line."""
        cells = [FREE] * self.side**2
        for vehicle, at in zip(self.vehicles, self.places(state), strict=True):
            for cell in cells_of(vehicle, at, self.side):
                cells[cell] = vehicle.letter
        rows = [cells[i : i + self.side] for i in range(0, len(cells), self.side)]
        return "\n".join("".join(row) for row in rows)


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
