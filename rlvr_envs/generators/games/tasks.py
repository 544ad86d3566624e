"""What the tasks share whose games have exact values: move values, opponents, won positions."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.games import (
    GameConfig,
    GameConfigT,
    GameProblem,
    GameProblemT,
    GameTask,
    Mover,
)
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.seeding import SEED_LIMIT, Rng, integer, pick
from rlvr_envs.generators.games.boards import MARKS, Board, BoardGame
from rlvr_envs.generators.games.players import named
from rlvr_envs.generators.games.solving import Exact, Values, move_values, wins_within

_DRAWS = 60  # of a position that takes as many moves as asked for
_DRAWS_AT_MOST = 5000  # of a position that is won at all


@lru_cache(maxsize=4)
def _exact(game: Any, opening: tuple[str, ...]) -> Values:
    """Return the solver of one problem, so that an episode values each state once."""
    return Exact(game)


class ValuedTask(GameTask[GameConfigT, GameProblemT]):
    """A game in which everyone sees everything, with exact values."""

    def values(self, problem: GameProblemT) -> Values:
        """Return what values the states that can follow a problem's position."""
        game: Any = self.game(problem)
        return _exact(game, problem.opening)

    def fresh_values(self, problem: GameProblemT) -> Values:
        """Return the same, with nothing valued yet."""
        return Exact(self.game(problem))

    def move_values(self, problem: GameProblemT, state: Any) -> dict[str, Any]:
        return move_values(self.game(problem), self.values(problem), state)

    def player(self, problem: GameProblemT, name: str) -> Mover | None:
        return named(name, self.game(problem), lambda: self.values(problem))

    def effort(self, problem: GameProblemT) -> float:
        """Return how many states minimax values to tell what each move of the position is worth."""
        values = self.fresh_values(problem)
        move_values(self.game(problem), values, self.state(problem))
        return values.nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardConfig(GameConfig):
    """The board, how full it is at the start, and how long a win takes."""

    n_rows: int = knob(4, "rows of the board", low=2, high=6)
    n_columns: int = knob(4, "columns of the board", low=2, high=6)
    n_empty: int = knob(9, "empty cells at the start, or one more or less", low=2, high=18)
    n_moves: int = knob(2, "moves of yours that a win takes, where drawn in time", low=1, high=9)

    def check(self) -> None:
        if self.n_empty > self.n_rows * self.n_columns:
            raise ConfigError(f"need n_empty <= n_rows * n_columns, got {self}")


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardProblem(GameProblem):
    """A position on a board."""

    n_rows: int
    n_columns: int


BoardConfigT = TypeVar("BoardConfigT", bound=BoardConfig)
BoardProblemT = TypeVar("BoardProblemT", bound=BoardProblem)


class BoardTask(ValuedTask[BoardConfigT, BoardProblemT]):
    """A game on a board, from a position that the agent can win."""

    def opening(self, rng: Rng, game: BoardGame) -> tuple[int, tuple[str, ...]]:
        """Draw a seat and an opening after which that seat is to move and wins.

        The shortest forced win takes ``n_moves`` moves, or as near to it as was drawn.
        """
        config = self.config
        seat = config.seat if config.seat >= 0 else integer(rng, 0, 1)
        n_filled = max(0, config.n_rows * config.n_columns - config.n_empty)
        n_filled += (n_filled + seat) % 2
        best, longest = None, 0
        for drawn in range(_DRAWS_AT_MOST):
            if best is not None and (longest == config.n_moves or drawn >= _DRAWS):
                break
            opening, state = _filled(rng, game, n_filled)
            plain = config.n_moves > 1 and len(game.candidates(state)) == 1
            if state.won >= 0 or (plain and drawn < _DRAWS):
                continue  # over, or the first move shows at once
            n_moves = _shortest_win(game, state, longest, config.n_moves)
            if n_moves > longest:
                best, longest = opening, n_moves
        if best is None:
            raise ConfigError(f"no position was drawn that can be won: {config}")
        return seat, best

    def rules(self, problem: BoardProblemT) -> str:
        mine, other = MARKS[problem.seat], MARKS[1 - problem.seat]
        return (
            f"{self.board_rules(problem)} You play {mine}, the opponent plays {other}. In the "
            "position below you can force a win, against any play. Only a win earns full marks."
        )

    @abstractmethod
    def board_rules(self, problem: BoardProblemT) -> str:
        """Return the rules in words."""

    def hasty(self, rng: Rng, game: Any, state: Board) -> str:
        """Win at once if possible, else prevent a win at once, else move at random."""
        moves: tuple[str, ...] = game.candidates(state)
        return pick(rng, moves)


def draw_seed(rng: Rng) -> int:
    """Draw the seed of chance and of the opponent."""
    return integer(rng, 0, SEED_LIMIT - 1)


def _filled(rng: Rng, game: BoardGame, n_moves: int) -> tuple[tuple[str, ...], Board]:
    """Make random moves that prevent wins at once and make none, until nothing else is left."""
    state, moves = game.start(), list[str]()
    while len(moves) < n_moves and state.won < 0:
        move = pick(rng, game.candidates(state))
        following = game.after(state, move)
        if following.won >= 0:
            move = pick(rng, game.actions(state))
            following = game.after(state, move)
        moves.append(move)
        state = following
    return tuple(moves), state


def _shortest_win(game: BoardGame, state: Board, more_than: int, at_most: int) -> int:
    """Return in how many moves a win can be forced; 0 where not in the range."""
    if more_than and wins_within(game, state, more_than):
        return 0
    for n_moves in range(more_than + 1, at_most + 1):
        if wins_within(game, state, n_moves):
            return n_moves
    return 0
