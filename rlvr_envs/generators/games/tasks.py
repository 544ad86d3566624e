"""What the tasks share whose games have exact values: move values, opponents, won positions."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from typing import Any, ClassVar, TypeVar

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.games import (
    AIM,
    OVER,
    GameConfig,
    GameProblem,
    GameProblemT,
    GameTask,
    Mover,
)
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.seeding import SEED_LIMIT, Rng, integer, pick, stream
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.games.bitboards import values_of
from rlvr_envs.generators.games.boards import MARKS, Board, BoardGame
from rlvr_envs.generators.games.players import named, optimal
from rlvr_envs.generators.games.solving import Values, move_values

_DRAWS = 200  # of a position that takes as many moves as asked for
_DRAWS_AT_MOST = 5000  # of a position that is won at all
_TRIES = 8  # of a hurried player
_LITTLE_LUCK = 0.125  # of those keep the win, where such a position is among the first few
_LOOKED_AT = 6

NO_MATCH, FIRST, SECOND = "none", "first", "second"  # of `ValuedConfig.match`


@lru_cache(maxsize=8)
def _board_values(game: BoardGame, opening: tuple[str, ...]) -> Values:
    """Return the solver of one problem, so that all its episodes value each state once."""
    return values_of(game)


@dataclass(frozen=True, slots=True, kw_only=True)
class ValuedConfig(GameConfig):
    """What games with exact values can be asked for."""

    match: str = knob(
        NO_MATCH,
        "a fair match: the agent moves first or second in a position that the first can win; a "
        "draw earns 0.5",
        choices=(NO_MATCH, FIRST, SECOND),
    )

    def check(self) -> None:
        if self.match != NO_MATCH and self.judge != "outcome":
            raise ConfigError(
                f"a match is judged by its outcome: match={self.match!r} needs judge='outcome', "
                f"got {self.judge!r}"
            )


ValuedConfigT = TypeVar("ValuedConfigT", bound=ValuedConfig)


class ValuedTask(GameTask[ValuedConfigT, GameProblemT]):
    """A game in which everyone sees everything, with exact values.

    In a match (``match="first"`` or ``"second"``) the agent has either side of a position. The
    same seed gives the same position for both sides, whoever the opponent is, and no first move
    ends the game, so that both sides have a move to make.
    """

    @property
    def in_match(self) -> bool:
        """Whether the agent plays a fair match instead of a position that it can win."""
        return self.config.match != NO_MATCH

    def first_seat(self, rng: Rng) -> int:
        """Return the seat that moves first: the agent's, but for a match in which it is second."""
        seat = self.config.seat if self.config.seat >= 0 else integer(rng, 0, 1)
        return 1 - seat if self.config.seat >= 0 and self.config.match == SECOND else seat

    def seated(self, problem: GameProblemT) -> GameProblemT:
        """Return a position as the agent meets it: where it is second, after the first move."""
        if self.config.match != SECOND:
            return problem
        move = self.opponent(problem)(self.state(problem), stream("first move", problem.seed))
        return replace(problem, opening=(*problem.opening, move), seat=1 - problem.seat)

    def drawn_verdict(self) -> Verdict:
        if self.in_match:
            return Verdict.graded(0.5, "drawn", outcome=0.0)
        return super().drawn_verdict()

    @abstractmethod
    def values(self, problem: GameProblemT) -> Values:
        """Return what values the states that can follow a problem's position."""

    def move_values(self, problem: GameProblemT, state: Any) -> dict[str, Any]:
        return move_values(self.game(problem), self.values(problem), state)

    def player(self, problem: GameProblemT, name: str) -> Mover | None:
        return named(name, self.game(problem), lambda: self.values(problem))


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardConfig(ValuedConfig):
    """The board, how full it is at the start, and how long a win takes."""

    n_rows: int = knob(4, "rows of the board", low=2, high=9)
    n_columns: int = knob(4, "columns of the board", low=2, high=9)
    n_empty: int = knob(9, "empty cells at the start, or one more or less", low=2, high=20)
    n_moves: int = knob(2, "moves of yours that a win takes, where drawn in time", low=1, high=9)

    def check(self) -> None:
        ValuedConfig.check(self)
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

    can_draw: ClassVar[bool] = True

    def opening(self, rng: Rng, game: BoardGame) -> tuple[int, tuple[str, ...]]:
        """Draw a seat and an opening after which that seat is to move and wins.

        The shortest forced win takes ``n_moves`` moves or one more, and luck seldom keeps it, or
        as near to that as was drawn. In a match it takes at least two.
        """
        config, least = self.config, 2 if self.in_match else 1
        wanted = max(least, config.n_moves)
        seat = self.first_seat(rng)
        n_filled = max(0, config.n_rows * config.n_columns - config.n_empty)
        n_filled += (n_filled + seat) % 2
        best, rank, n_looked_at = None, (0, 0.0), 0
        for drawn in range(_DRAWS_AT_MOST):
            if best is not None and (drawn >= _DRAWS or n_looked_at >= _LOOKED_AT):
                break
            values = values_of(game)
            opening = values.opening(rng, n_filled)
            if opening is None:
                continue
            state = reduce(game.after, opening, game.start())
            plain = wanted > 1 and len(game.candidates(state)) == 1
            if state.won >= 0 or (plain and drawn < _DRAWS):
                continue  # drawn, or the first move shows at once
            n_moves = values.shortest_win(state, wanted + (wanted > 1))
            n_moves = min(n_moves, wanted)
            if n_moves < max(least, rank[0]):
                continue
            luck = 1.0
            if n_moves == wanted:
                n_looked_at += 1
                luck = self._luck(rng, game, values, state)
            if (n_moves, -luck) > rank or best is None:
                best, rank = opening, (n_moves, -luck)
            if n_moves == wanted and luck <= _LITTLE_LUCK:
                break
        if best is None:
            raise ConfigError(f"no position was drawn that can be won: {config}")
        return seat, best

    def _luck(self, rng: Rng, game: BoardGame, values: Values, state: Board) -> float:
        """Return how often a hurried player keeps a win up to the end, over some drawn games."""
        seat = game.mover(state)
        sign = 1 if seat == 0 else -1
        opponent, kept = optimal(game, values), 0
        for _ in range(_TRIES):
            now = state
            while game.mover(now) != OVER and sign * values.value(now) > 0:
                mine = game.mover(now) == seat
                move = self.hasty(rng, game, now) if mine else opponent(now, rng)
                now = game.after(now, move)
            kept += sign * game.returns(now)[0] > 0
        return kept / _TRIES

    @abstractmethod
    def game(self, problem: BoardProblemT) -> BoardGame:
        """Return the rules."""

    def values(self, problem: BoardProblemT) -> Values:
        return _board_values(self.game(problem), problem.opening)

    def effort(self, problem: BoardProblemT) -> float:
        """Return how many states minimax values to tell what each move of the position is worth."""
        values = values_of(self.game(problem))
        move_values(self.game(problem), values, self.state(problem))
        return values.nodes

    def rules(self, problem: BoardProblemT) -> str:
        mine, other = MARKS[problem.seat], MARKS[1 - problem.seat]
        aim = (
            "In the position below you can force a win, against any play. Only a win earns full "
            "marks."
        )
        if self.in_match:
            draw = "a draw 0.5 and a loss 0" if self.can_draw else "a loss 0"
            aim = f"A win earns 1, {draw}."
        return f"{self.board_rules(problem)} You play {mine}, the opponent plays {other}. {aim}"

    def seat_rules(self, problem: BoardProblemT, seat: int) -> str:
        mine, other = MARKS[seat], MARKS[1 - seat]
        return f"{self.board_rules(problem)} You play {mine}, the opponent plays {other}. {AIM}"

    @abstractmethod
    def board_rules(self, problem: BoardProblemT) -> str:
        """Return the rules in words."""

    def hasty(self, rng: Rng, game: Any, state: Board) -> str:
        """Win at once if possible, else prevent a win at once, else move at random."""
        moves: tuple[str, ...] = game.candidates(state)
        return pick(rng, moves)


def beyond(levels: tuple[tuple[int, ...], ...], difficulty: int) -> tuple[int, ...]:
    """Return the numbers of a level: rows, columns, ..., empty cells, moves that a win takes.

    Beyond the last of the levels given, boards are larger and wins take longer.
    """
    rows, columns, *rest, empty, moves = levels[min(difficulty, len(levels) - 1)]
    more = max(0, difficulty - len(levels) + 1)
    sides = min(9, rows + (more + 4) // 10), min(9, columns + (more + 9) // 10)
    return (*sides, *rest, min(20, empty + 2 * (more // 5)), min(8, moves + more // 5))


def draw_seed(rng: Rng) -> int:
    """Draw the seed of chance and of the opponent."""
    return integer(rng, 0, SEED_LIMIT - 1)
