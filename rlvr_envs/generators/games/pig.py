"""Pig: roll a die as often as you like, but a 1 loses the turn; exact chances of winning.

Neller and Presser, "Optimal Play of the Dice Game Pig", 2004.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from rlvr_envs.core.games import CHANCE, OVER

ROLL, HOLD = "roll", "hold"
_TINY = 1e-14


class Scores(NamedTuple):
    """The scores of the seats, the seat whose turn it is, its points so far, and what is going on.

    ``step`` is 0 before a decision and 1 before a roll.
    """

    scores: tuple[int, int] = (0, 0)
    seat: int = 0
    turn: int = 0
    step: int = 0


@dataclass(frozen=True, slots=True)
class Pig:
    """Who first has the target wins 1.

    Attributes:
        target: the points that win.
        n_faces: the faces of the die.
        n_bad: how many faces, from 1, lose the points of the turn.
    """

    target: int
    n_faces: int = 6
    n_bad: int = 1
    n_seats: int = 2

    def start(self) -> Scores:
        return Scores()

    def mover(self, state: Scores) -> int:
        if max(state.scores) >= self.target:
            return OVER
        return CHANCE if state.step else state.seat

    def actions(self, state: Scores) -> tuple[str, ...]:
        return ROLL, HOLD

    def chances(self, state: Scores) -> tuple[tuple[str, Fraction], ...]:
        return tuple((str(face), Fraction(1, self.n_faces)) for face in range(1, self.n_faces + 1))

    def after(self, state: Scores, action: str) -> Scores:
        if action == ROLL:
            return state._replace(step=1)
        turn = 0
        if action != HOLD:
            if int(action) > self.n_bad:
                return state._replace(turn=state.turn + int(action), step=0)
        else:
            turn = state.turn
        one, two = state.scores
        scores = (one + turn, two) if state.seat == 0 else (one, two + turn)
        return Scores(scores, 1 - state.seat)

    def returns(self, state: Scores) -> tuple[float, ...]:
        return (1.0, -1.0) if state.scores[0] >= self.target else (-1.0, 1.0)

    def view(self, state: Scores, seat: int) -> str:
        """Return both scores, and the points of the turn."""
        mine, other = state.scores[seat], state.scores[1 - seat]
        whose = "Your turn" if state.seat == seat else "The opponent's turn"
        return f"You have {mine}, the opponent has {other}. {whose}: {state.turn} points so far."


class PigValues:
    """The chances of winning under best play of both seats.

    The two states in which a turn begins at scores (i, j) and (j, i) lead to each other; all other
    states lead to higher scores. For fixed decisions each chance is linear in the other one, so the
    pair is solved by policy iteration.

    Attributes:
        nodes: states whose chance has been worked out.
    """

    def __init__(self, game: Pig) -> None:
        self._target, self._faces, self._bad = game.target, game.n_faces, game.n_bad
        self._begun: dict[tuple[int, int], float] = {}
        self.nodes = 0

    def value(self, state: Scores) -> float:
        """Return what seat 0 gets on average."""
        if max(state.scores) >= self._target:
            return 1.0 if state.scores[0] >= self._target else -1.0
        own, other = state.scores if state.seat == 0 else state.scores[::-1]
        lost = self._start(other, own)
        line, turn = self._turn(own, other, lost), min(state.turn, self._target - own)
        chance = self._rolled(line, turn, lost) if state.step else line[turn]
        chance = 2 * chance - 1
        return chance if state.seat == 0 else -chance

    def _start(self, own: int, other: int) -> float:
        """Return the chance of the player whose turn begins."""
        if own >= self._target:
            return 1.0
        if (own, other) not in self._begun:
            for total in range(2 * self._target - 2, own + other - 1, -1):
                for one in range(max(0, total - self._target + 1), total // 2 + 1):
                    few, many = sorted((own, other))
                    if few <= one and many <= total - one and (one, total - one) not in self._begun:
                        self._solve(one, total - one)
        return self._begun[own, other]

    def _solve(self, one: int, two: int) -> None:
        """Find the chances of both players at the start of a turn, by iteration to the limit."""
        x = y = 0.5
        while True:
            a, b = self._turn(one, two, y)[0], self._turn(two, one, x)[0]
            if abs(a - x) < _TINY and abs(b - y) < _TINY:
                break
            x, y = a, b
        self._begun[one, two], self._begun[two, one] = x, y
        self.nodes += 2 * self._target - one - two

    def _turn(self, own: int, other: int, lost: float) -> list[float]:
        """Return the chances by points of the turn, given that of the other if all are lost."""
        line = [1.0] * (self._target - own + self._faces + 1)
        for turn in range(self._target - own - 1, -1, -1):
            roll = self._rolled(line, turn, lost)
            hold = 1 - (self._begun[other, own + turn] if turn else lost)
            line[turn] = max(roll, hold)
        return line

    def _rolled(self, line: list[float], turn: int, lost: float) -> float:
        good = sum(line[turn + face] for face in range(self._bad + 1, self._faces + 1))
        return (self._bad * (1 - lost) + good) / self._faces


@lru_cache(maxsize=64)
def pig_values(game: Pig) -> PigValues:
    """Return the values of a game, each worked out once."""
    return PigValues(game)
