"""Liar's dice: hidden dice, rising bids on how many of all dice show a face, and a challenge."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import NamedTuple

from rlvr_envs.core.games import CHANCE, OVER

LIAR = "liar"


class Table(NamedTuple):
    """The dice of each seat that has rolled, as faces in ascending order, and the moves so far."""

    dice: tuple[str, ...] = ()
    moves: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LiarsDice:
    """Seats bid in turn, seat 0 first; a bid such as ``2 3`` says that two dice or more show 3.

    The last bid wins 1 if it is true when the other seat calls ``liar``; otherwise the other wins.

    Attributes:
        n_dice: how many dice each seat has.
        n_faces: the faces of a die, from 1.
    """

    n_dice: tuple[int, int] = (1, 1)
    n_faces: int = 6
    n_seats: int = 2

    def start(self) -> Table:
        return Table()

    def mover(self, state: Table) -> int:
        if len(state.dice) < self.n_seats:
            return CHANCE
        return OVER if state.moves[-1:] == (LIAR,) else len(state.moves) % 2

    def actions(self, state: Table) -> tuple[str, ...]:
        bids = bids_of(sum(self.n_dice), self.n_faces)
        if not state.moves:
            return bids
        return (*bids[bids.index(state.moves[-1]) + 1 :], LIAR)

    def chances(self, state: Table) -> tuple[tuple[str, Fraction], ...]:
        return _rolls(self.n_dice[len(state.dice)], self.n_faces)

    def after(self, state: Table, action: str) -> Table:
        if len(state.dice) < self.n_seats:
            return Table((*state.dice, action))
        return Table(state.dice, (*state.moves, action))

    def returns(self, state: Table) -> tuple[float, ...]:
        count, face = state.moves[-2].split()
        holds = sum(dice.count(face) for dice in state.dice) >= int(count)
        bidder = len(state.moves) % 2  # the last bid is the last move but one
        return (1.0, -1.0) if holds == (bidder == 0) else (-1.0, 1.0)

    def view(self, state: Table, seat: int) -> str:
        """Return the seat's dice and all bids so far."""
        dice = ", ".join(state.dice[seat]) if len(state.dice) > seat else "not rolled yet"
        bids = "; ".join(state.moves) or "no bid yet"
        return f"Your dice: {dice}. You are player {seat + 1}. Moves: {bids}."


@cache
def bids_of(n_dice: int, n_faces: int) -> tuple[str, ...]:
    """Return all bids, ascending: by the number of dice, then by the face."""
    return tuple(f"{i} {face}" for i in range(1, n_dice + 1) for face in range(1, n_faces + 1))


@cache
def _rolls(n_dice: int, n_faces: int) -> tuple[tuple[str, Fraction], ...]:
    faces = "".join(map(str, range(1, n_faces + 1)))
    ways = Counter("".join(sorted(roll)) for roll in product(faces, repeat=n_dice))
    return tuple((roll, Fraction(n, n_faces**n_dice)) for roll, n in sorted(ways.items()))
