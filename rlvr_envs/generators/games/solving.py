"""Exact values of games in which everyone sees everything."""

import math
from fractions import Fraction
from typing import Any, Generic, Protocol

from rlvr_envs.core.games import CHANCE, OVER, Game, State


class Values(Protocol):
    """Tells what seat 0 gets from a state if everyone plays best."""

    nodes: int

    def value(self, state: Any) -> float | Fraction:
        """Return it."""


def candidates(game: Game[State], state: State) -> tuple[str, ...]:
    """Return moves among which is a best one: all legal moves, unless the game knows better."""
    found: tuple[str, ...] = getattr(game, "candidates", game.actions)(state)
    return found


class Exact(Generic[State]):
    """Minimax with averages over chance (expectimax); each state is valued once.

    With two seats, a move that gets the best there is, 1, ends the search of its state. With one,
    the seat maximises what it gets; the game may say by ``most`` what that is at most.

    Attributes:
        nodes: states valued so far.
    """

    def __init__(self, game: Game[State]) -> None:
        self._game = game
        self._known: dict[State, float | Fraction] = {}
        self._top = 1.0 if game.n_seats == 2 else getattr(game, "most", math.inf)
        self.nodes = 0

    def value(self, state: State) -> float | Fraction:
        known = self._known.get(state)
        if known is None:
            self.nodes += 1
            known = self._known[state] = self._value(state)
        return known

    def _value(self, state: State) -> float | Fraction:
        game = self._game
        mover = game.mover(state)
        if mover == OVER:
            return game.returns(state)[0]
        if mover == CHANCE:
            outcomes = game.chances(state)
            return sum((p * self.value(game.after(state, o)) for o, p in outcomes), Fraction(0))
        sign, best = (1 if mover == 0 else -1), -math.inf
        for action in candidates(game, state):
            found = sign * self.value(game.after(state, action))
            if found > best:
                best = found
                if best >= self._top:
                    break
        return sign * best


def move_values(game: Game[State], values: Values, state: State) -> dict[str, float | Fraction]:
    """Return what each legal move is worth for the seat to move."""
    sign = 1 if game.mover(state) == 0 else -1
    return {move: sign * values.value(game.after(state, move)) for move in game.actions(state)}
