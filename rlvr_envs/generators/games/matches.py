"""Matches: several games with hidden information against an opponent whose play is known.

The opponent's probabilities are stated, so each decision of the agent has an exact value: what it
gets on average if it plays best afterwards, given all that it has seen. Luck pays nothing.
"""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from rlvr_envs.core.games import (
    CHANCE,
    OVER,
    Game,
    GameConfig,
    GameProblem,
    GameTask,
    Mover,
    drawn,
)
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.games.strategies import BestResponse, Node, Strategy, strategy_of, tree
from rlvr_envs.generators.games.tasks import draw_seed

STATED = "stated"


class Rounds(NamedTuple):
    """The state of the present round, its number from 0, and what each seat got in those before."""

    inner: Any
    number: int = 0
    got: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """Rounds of the same game, one after the other; a seat gets the sum.

    Attributes:
        game: the game of a round.
        n_rounds: how many rounds there are.
        starts: the first state of each round, if they differ.
    """

    game: Any
    n_rounds: int
    starts: tuple[Any, ...] = ()
    n_seats: int = 2

    def start(self) -> Rounds:
        return Rounds(self._first(0))

    def _first(self, number: int) -> Any:
        return self.starts[number] if self.starts else self.game.start()

    def mover(self, state: Rounds) -> int:
        mover: int = self.game.mover(state.inner)
        return mover

    def actions(self, state: Rounds) -> tuple[str, ...]:
        moves: tuple[str, ...] = self.game.actions(state.inner)
        return moves

    def chances(self, state: Rounds) -> tuple[tuple[str, Fraction], ...]:
        outcomes: tuple[tuple[str, Fraction], ...] = self.game.chances(state.inner)
        return outcomes

    def after(self, state: Rounds, action: str) -> Rounds:
        inner = self.game.after(state.inner, action)
        if self.game.mover(inner) != OVER:
            return state._replace(inner=inner)
        got = (*state.got, self.game.returns(inner))
        if len(got) == self.n_rounds:
            return Rounds(inner, state.number, got)
        return Rounds(self._first(len(got)), len(got), got)

    def returns(self, state: Rounds) -> tuple[float, ...]:
        return tuple(float(sum(seat)) for seat in zip(*state.got, strict=True))

    def view(self, state: Rounds, seat: int) -> str:
        """Return what the seat got in the rounds before, and what it sees of this one."""
        number = min(state.number, self.n_rounds - 1)
        got = ", ".join(f"{each[seat]:g}" for each in state.got)
        before = f" In the game{'s' * (len(state.got) > 1)} before you got {got}." if got else ""
        head = f"Game {number + 1} of {self.n_rounds}.{before}"
        return f"{head} {self.game.view(state.inner, seat)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchConfig(GameConfig):
    """What matches against a stated opponent can be asked for."""

    opponent: str = knob(
        STATED, "who plays the other seat: as the prompt states", choices=(STATED,)
    )
    judge: str = knob(
        "value",
        "full marks for the best outcome, or for moves that never lose value",
        choices=("value",),
    )
    n_rounds: int = knob(4, "rounds of the match", low=1, high=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchProblem(GameProblem):
    """The rounds, what the agent sees at first, and what happened before."""

    opening: tuple[str, ...] = hidden(())
    n_rounds: int
    shown: str = ""


MatchConfigT = TypeVar("MatchConfigT", bound=MatchConfig)
MatchProblemT = TypeVar("MatchProblemT", bound=MatchProblem)


@lru_cache(maxsize=16)
def tree_of(game: Any) -> Node:
    """Return the tree of a game."""
    return tree(game)


@lru_cache(maxsize=32)
def _stated(task_type: Any, game: Any, seat: int, habits: Any) -> tuple[Strategy, BestResponse]:
    """Return the opponent's strategy, and the best response of the agent's seat."""
    root = tree_of(game)
    strategy = strategy_of(root, lambda node: task_type.odds(game, habits, node))
    return strategy, BestResponse(root, strategy, seat)


class StatedTask(GameTask[MatchConfigT, MatchProblemT]):
    """A match in which the prompt states how the opponent plays, and each decision is judged."""

    opponents = (STATED,)

    @abstractmethod
    def one_round(self, problem: MatchProblemT) -> Game[Any]:
        """Return the rules of a round."""

    def drawn_seat(self, rng: Rng) -> int:
        """Return the agent's seat."""
        return self.config.seat if self.config.seat >= 0 else integer(rng, 0, 1)

    def begun(self, rng: Rng, problem: MatchProblemT) -> dict[str, Any]:
        """Draw what happens up to the agent's first move; return the fields of the problem."""
        game, opening = self.game(problem), list[str]()
        state, opponent = game.start(), self.opponent(problem)
        while (mover := game.mover(state)) != problem.seat:
            chance = mover == CHANCE
            opening.append(drawn(rng, game, state) if chance else opponent(state, rng))
            state = game.after(state, opening[-1])
        shown = game.view(state, problem.seat)
        return {"opening": tuple(opening), "shown": shown, "seed": draw_seed(rng)}

    def game(self, problem: MatchProblemT) -> Match:
        return Match(self.one_round(problem), problem.n_rounds)

    def first_view(self, problem: MatchProblemT) -> str:
        return problem.shown


class MatchTask(StatedTask[MatchConfigT, MatchProblemT]):
    """A match of two-player zero-sum games whose whole tree is walked."""

    @abstractmethod
    def habits(self, problem: MatchProblemT) -> Any:
        """Return what fixes how the opponent plays: a value that can be hashed."""

    @staticmethod
    @abstractmethod
    def odds(game: Any, habits: Any, node: Node) -> dict[str, float]:
        """Return the probability of each move of the opponent where it is to move."""

    def move_values(self, problem: MatchProblemT, state: Rounds) -> Mapping[str, float | Fraction]:
        view = self.one_round(problem).view(state.inner, problem.seat)
        return self.best_response(problem).move_values(view)

    def best_response(self, problem: MatchProblemT) -> BestResponse:
        """Return the agent's best response to the opponent in one game."""
        game: Any = self.one_round(problem)
        return _stated(type(self), game, problem.seat, self.habits(problem))[1]

    def player(self, problem: MatchProblemT, name: str) -> Mover | None:
        game: Any = self.one_round(problem)
        strategy, _ = _stated(type(self), game, problem.seat, self.habits(problem))

        def move(state: Rounds, rng: Rng) -> str:
            odds = strategy[game.view(state.inner, game.mover(state.inner))]
            at = rng.random()
            for each, probability in odds.items():
                at -= probability
                if at < 0:
                    return each
            return max(odds, key=odds.__getitem__)

        return move

    def effort(self, problem: MatchProblemT) -> float:
        """Return the states of a round times the rounds: what working out each decision walks."""
        game: Any = self.one_round(problem)
        return float(problem.n_rounds * _size(game))


@lru_cache(maxsize=64)
def _size(game: Any) -> int:
    left, found = [tree_of(game)], 0
    while left:
        node = left.pop()
        found += 1
        left.extend(node.below)
    return found
