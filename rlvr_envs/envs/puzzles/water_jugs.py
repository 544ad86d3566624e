"""Water jugs: measure amounts by filling, emptying and pouring."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import prod

import numpy as np
from numpy.typing import NDArray

from rlvr_envs.core.errors import ConfigError
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
    listing,
    long_enough,
    plural,
    stray,
)
from rlvr_envs.verifiers.certificate import items
from rlvr_envs.verifiers.parse import MAX_CHARACTERS

MOVE_LIMIT = 500
_MAX_JUGS = 6
_MAX_CAPACITY = 1000
_EFFORT_LIMIT = 200_000  # states that measuring the effort may expand

Amounts = tuple[int, ...]
Move = tuple[str, int, int]  # what is done, with which jug, into which jug (itself, unless poured)

_ONE_JUG = re.compile(r"(fill|empty)(?: jug)? ([0-9]{1,2})")
_POUR = re.compile(r"pour(?: jug)? ([0-9]{1,2})(?: to | into | ?- ?| ?-> ?| )(?:jug )?([0-9]{1,2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class WaterJugsConfig(TaskConfig):
    """How many jugs there are, how large, and how much is measured."""

    n_jugs: int = knob(3, "jugs", low=2, high=_MAX_JUGS)
    max_capacity: int = knob(12, "largest capacity of a jug, in litres")
    n_targets: int = knob(1, "jugs whose final amount is given")
    no_tap_percent: int = knob(
        20, "percentage of problems in which water is only poured from jug to jug", low=0, high=100
    )
    max_states: int = knob(
        2000, "states searched to find an amount that is hard to measure", low=10, high=10**6
    )
    most_moves: int = knob(20, "moves of a shortest solution at most", low=1, high=MOVE_LIMIT)
    least_moves: int = knob(
        3,
        "moves of a shortest solution at least, if such a problem is found in time",
        low=1,
        high=MOST_LEAST_MOVES,
    )
    optimal_only: bool = knob(False, "a longer solution earns only shortest length / length")

    def check(self) -> None:
        if not 1 <= self.n_targets <= self.n_jugs:
            raise ConfigError(f"need 1 <= n_targets <= n_jugs, got {self}")
        if not self.n_jugs + 2 <= self.max_capacity <= _MAX_CAPACITY:
            raise ConfigError(f"need max_capacity in n_jugs + 2..{_MAX_CAPACITY}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "WaterJugsConfig":
        """The jugs grow in size, and the moves in number from two; a third amount is required at 4.

        In a fifth of the problems from level 1 on there is no tap.
        """
        n_moves = 2 + min(difficulty, 28)
        return cls(
            n_jugs=3,
            max_capacity=min(_MAX_CAPACITY, 8 + 3 * difficulty),
            n_targets=2 if difficulty < 4 else 3,
            no_tap_percent=0 if difficulty == 0 else 20,
            max_states=40_000,
            most_moves=n_moves,
            least_moves=max(2, n_moves * 4 // 5),
        )


@dataclass(frozen=True, slots=True)
class WaterJugsProblem:
    """Amounts in litres; the jugs of a goal are counted from 0."""

    capacities: Amounts
    start: Amounts
    goal: tuple[tuple[int, int], ...]  # jugs, and how much each must hold
    has_tap: bool
    shortest: int = hidden()
    solution: str = hidden()


@register("WaterJugs-v0", domain="puzzles", answer_format="tag")
class WaterJugsTask(Task[WaterJugsConfig, WaterJugsProblem]):
    """Measure out amounts of water with jugs that have no marks.

    Description:
        Jugs of different sizes, some of them with water in them. They are filled at a tap, emptied,
        and poured into each other; in some problems there is no tap, and no water may be lost. The
        required amounts are among those that take the most moves to reach.

    Observation:
        The jugs' capacities and contents, the rules and the amounts.

    Action:
        The moves in order, each "fill 1", "empty 1" or "pour 1 to 2", with numbers of jugs.

    Reward:
        1 for moves after which the jugs hold the required amounts. Under ``optimal_only`` the
        length of a shortest solution divided by the number of moves. Otherwise 0.

    Verification:
        The moves are played; an answer of more than 500 is not read. A move that changes nothing,
        such as filling a full jug, is allowed and counts. The length of a shortest solution is
        exact. No known gaps.

    Difficulty:
        More moves are needed, with larger jugs, and later every jug's amount is required, so that
        the way must be planned. See `WaterJugsConfig.at`.

    References:
        Boldi, Santini and Vigna, "Measuring with jugs", 2002.
    """

    def generate(self, rng: Rng) -> WaterJugsProblem:
        return long_enough(
            lambda: self._draw(rng), lambda problem: problem.shortest, self.config.least_moves
        )

    def _draw(self, rng: Rng) -> WaterJugsProblem:
        config = self.config
        sizes = rng.choice(config.max_capacity - 1, config.n_jugs, replace=False) + 2
        capacities = tuple(sizes.tolist())
        has_tap = integer(rng, 1, 100) > config.no_tap_percent
        if has_tap:
            start = tuple(integer(rng, 0, size) for size in capacities)
        else:  # as much water as the largest jug holds: the others never all run full at once
            largest = max(capacities)
            start = tuple(size if size == largest else 0 for size in capacities)
        jugs = sorted(rng.permutation(config.n_jugs)[: config.n_targets].tolist())
        mask = _state([_FIELD if jug in jugs else 0 for jug in range(config.n_jugs)])
        n_goals = prod(capacities[jug] + 1 for jug in jugs)
        nearest: dict[int, tuple[int, int]] = {}  # the length and the state of the nearest way
        before: dict[int, int] = {}
        limits = config.max_states, config.most_moves
        for length, state in _reached(start, capacities, has_tap, limits, before):
            if state & mask not in nearest:
                nearest[state & mask] = length, state
                if len(nearest) == n_goals:
                    break
        longest = max(length for length, _ in nearest.values())
        far = [goal for goal, (n, _) in nearest.items() if n * 5 >= longest * 4]
        length, state = nearest[pick(rng, far)]
        last = _amounts(state, capacities)
        moves: list[Move] = []
        while len(moves) < length:
            state, after = before[state], state
            moves.append(_move(_amounts(state, capacities), _amounts(after, capacities)))
        amounts = [last[jug] for jug in jugs]
        goal = tuple(zip(jugs, amounts, strict=True))
        return WaterJugsProblem(capacities, start, goal, has_tap, length, _show(reversed(moves)))

    def prompt(self, problem: WaterJugsProblem) -> str:
        jugs = "\n".join(
            f"Jug {number}: capacity {plural(size, 'litre')}, holds {plural(amount, 'litre')}"
            for number, (size, amount) in enumerate(
                zip(problem.capacities, problem.start, strict=True), 1
            )
        )
        goal = listing(
            [f"jug {jug + 1} holds exactly {plural(n, 'litre')}" for jug, n in problem.goal]
        )
        pouring = "pour one jug into another until the first is empty or the second is full"
        if problem.has_tap:
            rules = f"fill a jug completely from a tap, empty a jug, or {pouring}."
            form = (
                "Write a move as fill 1 (fill jug 1), empty 1 (empty jug 1) or pour 1 to 2 (pour "
                "jug 1 into jug 2)."
            )
        else:
            rules = f"{pouring}. You cannot add water or pour it away."
            form = "Write a move as pour 1 to 2 (pour jug 1 into jug 2)."
        wanted = f" {SHORTEST_WANTED}" if self.config.optimal_only else ""
        return (
            f"These jugs have no marks on them:\n\n{jugs}\n\nIn one move you may {rules}\n\nFind a "
            f"sequence of at most {MOVE_LIMIT} moves after which {goal}.{wanted} Answer with the "
            f"moves in order, separated by commas. {form}"
        )

    def verify(self, problem: WaterJugsProblem, answer: str) -> Verdict:
        moves = _read(answer, len(problem.capacities))
        if moves is None:
            return Verdict.unparsable(
                f"expected at most {MOVE_LIMIT} moves of jugs 1 to {len(problem.capacities)}, such "
                "as: fill 1, pour 1 to 2, empty 2"
            )
        state = problem.start
        for number, move in enumerate(moves, 1):
            if not problem.has_tap and move[0] != "pour":
                return Verdict.wrong(f"move {number}: only pouring from jug to jug is allowed")
            state = _after(state, move, problem.capacities)
        if not _reaches(problem.goal)(state):
            return Verdict.wrong("the jugs do not hold the required amounts after the moves")
        return graded(len(moves), problem.shortest, optimal_only=self.config.optimal_only)

    def solve(self, problem: WaterJugsProblem) -> str:
        return problem.solution

    def explain(self, problem: WaterJugsProblem) -> list[str]:
        """Return what the jugs hold after each move."""
        amounts, steps = problem.start, []
        for move in _read(problem.solution, len(amounts)) or ():
            amounts = _after(amounts, move, problem.capacities)
            held = ", ".join(f"jug {jug} holds {n}" for jug, n in enumerate(amounts, 1))
            steps.append(f"After {_show([move])}: {held}.")
        return steps

    def effort(self, problem: WaterJugsProblem) -> int:
        """Count the states that take fewer moves to reach than the goal."""
        start, sizes, has_tap = problem.start, problem.capacities, problem.has_tap
        limits = _EFFORT_LIMIT, problem.shortest - 1
        return sum(1 for _ in _reached(start, sizes, has_tap, limits, {}))

    def baseline(self, rng: Rng, problem: WaterJugsProblem) -> str:
        """Move at random, never back to the same amounts, until the goal comes up."""
        moves = stray(
            problem.start,
            lambda state: _moves(state, problem.capacities, problem.has_tap),
            _reaches(problem.goal),
            rng,
            limit=4 * len(problem.capacities),
        )
        return _show(moves)


def _after(state: Amounts, move: Move, capacities: Amounts) -> Amounts:
    kind, jug, other = move
    amounts = list(state)
    if kind == "fill":
        amounts[jug] = capacities[jug]
    elif kind == "empty":
        amounts[jug] = 0
    else:
        flow = min(amounts[jug], capacities[other] - amounts[other])
        amounts[jug] -= flow
        amounts[other] += flow
    return tuple(amounts)


def _move(state: Amounts, after: Amounts) -> Move:
    """Return the move between two states."""
    jugs = range(len(state))
    less = [jug for jug in jugs if after[jug] < state[jug]]
    more = [jug for jug in jugs if after[jug] > state[jug]]
    if less and more:
        return "pour", less[0], more[0]
    return ("fill", more[0], more[0]) if more else ("empty", less[0], less[0])


def _moves(state: Amounts, capacities: Amounts, has_tap: bool) -> list[tuple[Move, Amounts]]:
    """Return every move that changes something, with the amounts after it."""
    jugs = range(len(state))
    tap: list[Move] = [(kind, jug, jug) for jug in jugs for kind in ("fill", "empty")]
    pours: list[Move] = [("pour", one, other) for one in jugs for other in jugs if one != other]
    steps = [(move, _after(state, move, capacities)) for move in (tap if has_tap else []) + pours]
    return [(move, after) for move, after in steps if after != state]


# A state is one number, with ten bits for the amount in each jug; no jug holds more than 1,000.
_BITS = 10
_FIELD = (1 << _BITS) - 1


def _state(amounts: Sequence[int]) -> int:
    return sum(amount << _BITS * jug for jug, amount in enumerate(amounts))


def _amounts(state: int, capacities: Amounts) -> Amounts:
    """Return what each jug holds in a state."""
    return tuple([state >> _BITS * jug & _FIELD for jug in range(len(capacities))])


def _reached(
    start: Amounts,
    capacities: Amounts,
    has_tap: bool,
    limits: tuple[int, int],
    before: dict[int, int],
) -> Iterator[tuple[int, int]]:
    """Yield how many moves the states take that can be reached, the nearest first, and the states.

    Args:
        start: what the jugs hold at first.
        capacities: of the jugs.
        has_tap: whether jugs can be filled and emptied.
        limits: numbers of states and of moves; once there are so many, no move is added.
        before: is filled with the states reached, each with the one before it.
    """
    max_states, max_moves = limits
    sources, targets, gains, endless, bottomless = _flows(len(capacities), has_tap)
    full, layer = _state(capacities), [_state(start)]
    before[layer[0]] = layer[0]
    yield 0, layer[0]
    for length in range(1, max_moves + 1):
        if not layer or len(before) >= max_states:
            break
        states = np.array(layer)[:, np.newaxis]
        held = states >> sources & _FIELD | endless
        room = full - states >> targets & _FIELD | bottomless
        following = states + np.minimum(held, room) * gains
        found = []
        for state, row in zip(layer, following.tolist(), strict=True):
            for after in row:
                if after not in before:
                    before[after] = state
                    found.append(after)
                    yield length, after
        layer = found


@cache
def _flows(n_jugs: int, has_tap: bool) -> NDArray[np.int64]:
    """Return what each move does, one a column: a tap that never runs dry pours, and a drain fills.

    The rows: the bits of the jug that the water comes from, those of the jug that it goes to, what
    a litre adds to the state, and what to set where the water comes from the tap or goes down the
    drain.
    """
    columns = []
    for jug in range(n_jugs):
        at, litre = _BITS * jug, 1 << _BITS * jug
        if has_tap:
            columns += [(0, at, litre, _FIELD, 0), (at, 0, -litre, 0, _FIELD)]
        for other in range(n_jugs):
            if other != jug:
                columns.append((at, _BITS * other, (1 << _BITS * other) - litre, 0, 0))
    return np.array(columns).T


def _reaches(goal: Iterable[tuple[int, int]]) -> Callable[[Amounts], bool]:
    wanted = tuple(goal)
    return lambda state: all(state[jug] == amount for jug, amount in wanted)


def _read(answer: str, n_jugs: int) -> list[Move] | None:
    if len(answer) > MAX_CHARACTERS:
        return None
    pieces = items(answer)
    moves = [_read_move(" ".join(piece.lower().split())) for piece in pieces[: MOVE_LIMIT + 1]]
    found = [
        (kind, jug, other)
        for kind, jug, other in filter(None, moves)
        if 0 <= jug < n_jugs and 0 <= other < n_jugs and (kind == "pour") == (jug != other)
    ]
    return found if len(found) == len(pieces) <= MOVE_LIMIT else None


def _read_move(text: str) -> Move | None:
    one = _ONE_JUG.fullmatch(text)
    if one is not None:
        return one[1], int(one[2]) - 1, int(one[2]) - 1
    pour = _POUR.fullmatch(text)
    return ("pour", int(pour[1]) - 1, int(pour[2]) - 1) if pour is not None else None


def _show(moves: Iterable[Move]) -> str:
    return ", ".join(
        f"pour {jug + 1} to {other + 1}" if kind == "pour" else f"{kind} {jug + 1}"
        for kind, jug, other in moves
    )
