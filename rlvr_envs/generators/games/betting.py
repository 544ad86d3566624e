"""What the poker tasks share: an opponent given by a table, its words, and a hurried player."""

from abc import abstractmethod
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.games import AIM, Game
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.games.cards import CALL, FOLD, RAISE, Poker
from rlvr_envs.generators.games.matches import MatchConfig, MatchProblem, MatchTask
from rlvr_envs.generators.games.strategies import Node

RANKS = "23456789TJQKA"
_SHARE = 0.6  # of what the agent may see, by how likely it is
# Per cent: raises where nothing is to be answered; folds and raises in answer to a raise.
Habit = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PokerConfig(MatchConfig):
    """The deck, the raises, and how fine the opponent's probabilities are."""

    n_ranks: int = knob(3, "ranks of the deck", low=2, high=13)
    n_raises: int = knob(1, "raises in a round of betting at most", low=1, high=6)
    size: int = knob(1, "chips of a raise, in the first round of betting", low=1, high=9)
    step: int = knob(10, "the opponent's probabilities are multiples of it, in per cent", low=5)

    def check(self) -> None:
        if 100 % self.step:
            raise ConfigError(f"step divides 100, got {self.step}; 5, 10, 20, 25, 50 or 100 do")


@dataclass(frozen=True, slots=True, kw_only=True)
class PokerProblem(MatchProblem):
    """The deck, the raises, and the opponent's table: a row for each kind of hand."""

    ranks: str
    n_raises: int
    size: int
    table: tuple[Habit, ...]


PokerConfigT = TypeVar("PokerConfigT", bound=PokerConfig)


class PokerTask(MatchTask[PokerConfigT, PokerProblem]):
    """A match of poker against an opponent whose table of probabilities the prompt shows."""

    Problem = PokerProblem
    draws = 8  # of a table, until no simple habit is right nearly everywhere

    @abstractmethod
    def one_round(self, problem: PokerProblem) -> Poker:
        """Return the rules of a game."""

    @staticmethod
    @abstractmethod
    def hands(ranks: str) -> tuple[str, ...]:
        """Return the names of the rows of the table."""

    @abstractmethod
    def deal_rules(self, problem: PokerProblem) -> str:
        """Return what is dealt and when, and who wins."""

    def generate(self, rng: Rng) -> PokerProblem:
        config = self.config
        ranks = RANKS[-1 - config.n_ranks : -1] if config.n_ranks < len(RANKS) else RANKS
        seat, n_rows = self.drawn_seat(rng), len(self.hands(ranks))

        def drawn() -> PokerProblem:
            return PokerProblem(
                n_rounds=config.n_rounds,
                seat=seat,
                ranks=ranks,
                n_raises=config.n_raises,
                size=config.size,
                table=tuple(self._habit(rng) for _ in range(n_rows)),
            )

        problem, least = drawn(), 2.0
        for _ in range(self.draws):
            other = drawn()
            share = self._habitual(other)
            if share < least:
                problem, least = other, share
            if share <= _SHARE:
                break
        return replace(problem, **self.begun(rng, problem))

    def _habitual(self, problem: PokerProblem) -> float:
        """Return how often the best of some simple habits, such as to raise always, is right."""
        best, most = self.best_response(problem), 0.0
        reaches = best.reaches()
        for choose in (_raising, _bluffing, _calling, _folding, _by_card(problem.ranks)):
            right = 0.0
            for view, reach in reaches.items():
                worth = best.move_values(view)
                right += reach * (worth[choose(view, worth)] == max(worth.values()))
            most = max(most, right / sum(reaches.values()))
        return most

    def _habit(self, rng: Rng) -> Habit:
        step = self.config.step
        raises, *two = (step * integer(rng, 0, 100 // step) for _ in range(3))
        folds = min(two)  # who folds too often is beaten by raising with any hand
        again = step * integer(rng, 0, (100 - folds) // step) if self.config.n_raises > 1 else 0
        return raises, folds, again

    def habits(self, problem: PokerProblem) -> tuple[Habit, ...]:
        return tuple(tuple(row) for row in problem.table)  # type: ignore[misc]

    @staticmethod
    @abstractmethod
    def row(game: Poker, view: str) -> int:
        """Return the row of the table for what a seat sees."""

    @classmethod
    def odds(cls, game: Poker, habits: tuple[Habit, ...], node: Node) -> dict[str, float]:
        raises, folds, again = habits[cls.row(game, node.view)]
        answers = FOLD in node.moves
        chances = {FOLD: folds, RAISE: again} if answers else {RAISE: raises}
        odds = {move: chances.get(move, 0) / 100 for move in node.moves}
        odds[CALL] = 1 - sum(p for move, p in odds.items() if move != CALL)
        return odds

    def _betting_rules(self, problem: PokerProblem) -> str:
        more = f"at most {problem.n_raises} raises" if problem.n_raises > 1 else "at most one raise"
        return (
            f"{self.deal_rules(problem)}\nIn a round of betting the players act in turn, player 1 "
            "first. To call is to pay as much as the opponent has paid in all, so nothing more "
            "where there is no raise to answer (some say: to check). To raise is to call and pay "
            f"the size of a raise on top; a round has {more}. A player who must answer a raise may "
            "also fold, which gives the pot to the opponent. A round ends when both players have "
            "acted and the last move is a call.\n"
        )

    def rules(self, problem: PokerProblem) -> str:
        rows = "\n".join(
            self._row_in_words(problem, name, habit)
            for name, habit in zip(self.hands(problem.ranks), problem.table, strict=True)
        )
        return (
            f"{self._betting_rules(problem)}"
            f"You are player {problem.seat + 1} in each of {problem.n_rounds} games; the cards are "
            "shuffled before each. The opponent decides by chance, and looks only at its own hand "
            "and at whether it must answer a raise:\n"
            f"{rows}\n"
            "These are shares of all cases; in the others it calls, and so it does instead of "
            "raising where no more raise is allowed. What "
            "counts is not luck: you earn full marks if every move of yours is a best one, and "
            "nothing otherwise. A best move is one that gets the most chips on average, given all "
            "cards that you see and all moves of the game so far, if you make best moves "
            "afterwards too."
        )

    def seat_rules(self, problem: PokerProblem, seat: int) -> str:
        return (
            f"{self._betting_rules(problem)}"
            f"You are player {seat + 1} in each of {problem.n_rounds} games; the cards are "
            f"shuffled before each. Who has won more chips in all games together wins. {AIM}"
        )

    def _row_in_words(self, problem: PokerProblem, name: str, habit: Habit) -> str:
        raises, folds, again = habit
        more = f" and raises with {again}%" if problem.n_raises > 1 else ""
        return (
            f"- {name}: with no raise to answer, it raises with {raises}%; in answer to a raise, "
            f"it folds with {folds}%{more}."
        )

    def move_help(self, problem: PokerProblem) -> str:
        return "the word fold, call or raise"

    def hasty(self, rng: Rng, game: Game[Any], state: Any) -> str:
        """Raise with the higher half of the ranks, else call, and fold the lowest to a raise."""
        choose = _by_card(game.game.ranks)  # type: ignore[attr-defined]
        return choose(game.view(state, game.mover(state)), game.actions(state))


def _raising(view: str, moves: Collection[str]) -> str:
    return RAISE if RAISE in moves else CALL


def _bluffing(view: str, moves: Collection[str]) -> str:
    return RAISE if RAISE in moves else _folding(view, moves)


def _calling(view: str, moves: Collection[str]) -> str:
    return CALL


def _folding(view: str, moves: Collection[str]) -> str:
    return FOLD if FOLD in moves else CALL


def _by_card(ranks: str) -> Callable[[str, Collection[str]], str]:
    """Return the choice of a hurried player."""

    def choose(view: str, moves: Collection[str]) -> str:
        card = view.partition("Your card: ")[2][0]
        if RAISE in moves and ranks.index(card) >= len(ranks) // 2:
            return RAISE
        return FOLD if FOLD in moves and card == ranks[0] else CALL

    return choose
