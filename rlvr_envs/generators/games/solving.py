"""Exact values of games in which everyone sees everything, and how fast a win can be forced."""

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
    the seat maximises what it gets.

    Attributes:
        nodes: states valued so far.
    """

    def __init__(self, game: Game[State]) -> None:
        self._game = game
        self._known: dict[State, float | Fraction] = {}
        self._top = 1.0 if game.n_seats == 2 else math.inf
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


def wins_within(game: Game[State], state: State, n_moves: int) -> bool:
    """Return whether the seat to move can force a win within so many moves of its own.

    It is for games in which a win shows at once and seats alternate.
    """
    seat = game.mover(state)
    following = [game.after(state, move) for move in candidates(game, state)]
    if any(game.mover(each) == OVER and game.returns(each)[seat] > 0 for each in following):
        return True
    return n_moves > 1 and any(_holds(game, each, n_moves - 1) for each in following)


def _holds(game: Game[State], state: State, n_moves: int) -> bool:
    """Return whether the seat that has just moved wins within so many more, whatever the reply."""
    if game.mover(state) == OVER:
        return False
    replies = [game.after(state, move) for move in candidates(game, state)]
    if any(game.mover(each) == OVER for each in replies):
        return False
    return all(wins_within(game, each, n_moves) for each in replies)
