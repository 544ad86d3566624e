"""Kuhn poker and Leduc poker: two players, one private card each, and fixed sizes of bets.

Kuhn, "A Simplified Two-Person Poker", 1950. Southey and others, "Bayes' Bluff: Opponent Modelling
in Poker", 2005, for Leduc hold'em.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from rlvr_envs.core.games import CHANCE, OVER

RANKS = "JQK"
FOLD, CALL, RAISE = "fold", "call", "raise"
_LETTERS = {FOLD: "f", CALL: "c", RAISE: "r"}


class Hand(NamedTuple):
    """The cards dealt so far, as ranks: one a seat, then the board; and the moves of each round."""

    cards: str = ""
    rounds: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class Poker:
    """Fixed-limit poker with one private card each; what a seat gets is counted in chips.

    Each seat pays an ante of 1. A round of betting follows each entry of ``sizes``, the amount of
    its raises; before the second round a card is put on the board. Who pairs the board wins, else
    the higher card.

    Attributes:
        ranks: the ranks, ascending, a letter or digit each.
        copies: how many cards there are of each rank.
        sizes: the size of a raise in each round.
        n_raises: how many raises a round has at most.
    """

    ranks: str = RANKS
    copies: int = 1
    sizes: tuple[int, ...] = (1,)
    n_raises: int = 1
    n_seats: int = 2

    def start(self) -> Hand:
        return Hand()

    def mover(self, state: Hand) -> int:
        if len(state.cards) < self.n_seats:
            return CHANCE
        betting = state.rounds[-1]
        if betting.endswith("f"):
            return OVER
        if len(betting) < self.n_seats or betting[-1] == "r":
            return len(betting) % 2
        return OVER if len(state.rounds) == len(self.sizes) else CHANCE

    def actions(self, state: Hand) -> tuple[str, ...]:
        betting = state.rounds[-1]
        may_raise = (RAISE,) if betting.count("r") < self.n_raises else ()
        return ((FOLD,) if betting.endswith("r") else ()) + (CALL, *may_raise)

    def chances(self, state: Hand) -> tuple[tuple[str, Fraction], ...]:
        left = {rank: self.copies - state.cards.count(rank) for rank in self.ranks}
        total = sum(left.values())
        return tuple((rank, Fraction(n, total)) for rank, n in left.items() if n)

    def after(self, state: Hand, action: str) -> Hand:
        if self.mover(state) == CHANCE:
            rounds = state.rounds if len(state.cards) < self.n_seats else (*state.rounds, "")
            return Hand(state.cards + action, rounds)
        return Hand(state.cards, (*state.rounds[:-1], state.rounds[-1] + _LETTERS[action]))

    def paid(self, state: Hand) -> list[int]:
        """Return the chips that each seat has paid into the pot."""
        paid = [1, 1]
        for size, betting in zip(self.sizes, state.rounds, strict=False):
            for i, letter in enumerate(betting):
                if letter != "f":
                    paid[i % 2] = paid[1 - i % 2] + (size if letter == "r" else 0)
        return paid

    def returns(self, state: Hand) -> tuple[float, ...]:
        paid = self.paid(state)
        if state.rounds[-1].endswith("f"):
            winner = len(state.rounds[-1]) % 2
        else:
            strength = [self._strength(state, seat) for seat in (0, 1)]
            if strength[0] == strength[1]:
                return 0.0, 0.0
            winner = 0 if strength[0] > strength[1] else 1
        won = float(paid[1 - winner])
        return (won, -won) if winner == 0 else (-won, won)

    def _strength(self, state: Hand, seat: int) -> tuple[bool, int]:
        card, board = state.cards[seat], state.cards[self.n_seats :]
        return card == board, self.ranks.index(card)

    def view(self, state: Hand, seat: int) -> str:
        """Return the seat's card, the board, and all moves so far."""
        card, board = state.cards[seat : seat + 1], state.cards[self.n_seats :]
        words = {letter: word for word, letter in _LETTERS.items()}
        rounds = [", ".join(words[each] for each in betting) for betting in state.rounds]
        told = [f"Your card: {card or 'not dealt yet'}. You are player {seat + 1}."]
        told += [f"Board: {board}."] if board else []
        told += [f"Round {i}: {moves or 'no move yet'}." for i, moves in enumerate(rounds, 1)]
        return " ".join(told)


def kuhn() -> Poker:
    """Return Kuhn poker."""
    return Poker()


def leduc() -> Poker:
    """Return Leduc poker."""
    return Poker(copies=2, sizes=(2, 4), n_raises=2)
