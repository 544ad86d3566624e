"""2048 on small boards: move with the greatest chance of making a tile in time."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.games import TURNS_AT_MOST, Game, GameConfig, GameProblem, GameTask, Mover
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.games.matches import Match, Rounds
from rlvr_envs.generators.games.solving import Exact, move_values
from rlvr_envs.generators.games.tasks import draw_seed
from rlvr_envs.generators.games.tiles import Game2048, Tiles, slid

# Rows, columns, moves and boards.
_LEVELS = (
    (2, 3, 2, 2), (2, 3, 3, 2), (2, 3, 3, 3), (3, 3, 3, 2), (3, 3, 3, 3), (3, 3, 4, 2),
    (3, 3, 4, 3), (3, 3, 4, 4), (3, 3, 4, 5), (3, 4, 4, 2), (3, 4, 4, 3),
)  # fmt: skip
_DRAWS = 12  # of a board on which the greedy move is wrong
_DRAWS_AT_MOST = 2000  # of a board on which moves differ


@dataclass(frozen=True, slots=True, kw_only=True)
class Game2048Config(GameConfig):
    """The board, the moves, and how many boards are played."""

    opponent: str = knob("none", "there is no opponent", choices=("none",))
    seat: int = knob(0, "the agent's seat", low=0, high=0)
    judge: str = knob(
        "value",
        "full marks for the best outcome, or for moves that never lose value",
        choices=("outcome", "value"),
    )
    n_rows: int = knob(3, "rows of a board", low=2, high=4)
    n_columns: int = knob(3, "columns of a board", low=2, high=4)
    n_moves: int = knob(3, "moves in which the tile must be made", low=1, high=6)
    n_boards: int = knob(2, "boards, one after the other", low=1, high=20)

    @classmethod
    def at(cls, difficulty: int) -> "Game2048Config":
        """More moves to look ahead, over more places of new tiles, and larger boards.

        Beyond level 10 there are more boards, up to 20.
        """
        rows, columns, moves, boards = _LEVELS[min(difficulty, len(_LEVELS) - 1)]
        more = max(0, difficulty - len(_LEVELS) + 1)
        return cls(n_rows=rows, n_columns=columns, n_moves=moves, n_boards=min(20, boards + more))


@dataclass(frozen=True, slots=True, kw_only=True)
class Game2048Problem(GameProblem):
    """The tile to make, the moves, and the boards, row by row with 0 for an empty cell."""

    n_columns: int
    target: int
    n_moves: int
    boards: tuple[tuple[int, ...], ...]


@register("Game2048-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class Game2048Task(GameTask[Game2048Config, Game2048Problem]):
    r"""Slide tiles with the greatest chance of making a tile within a few moves.

    Description:
        The rules of 2048 on a small board, with a limit on the moves. The agent plays a few
        boards, one after the other.

    Observation:
        The rules; before each move the moves left and the board.

    Action:
        A message with `left`, `right`, `up` or `down` in `\boxed{}`.

    Reward:
        1 if every move had the greatest chance of making the tile, otherwise 0. Luck pays nothing.
        Under ``judge="outcome"`` 1 if at least one of the boards gets its tile.

    Verification:
        Chances are computed over all places of new tiles (expectimax). Moves whose chances differ
        by less than 1e-9 are both best. No known gaps.

    Difficulty:
        With two moves, merges must be lined up; with more, the places of new tiles count, which
        may help or block. The baseline merges the largest tiles at once.

    References:
        Russell and Norvig, "Artificial Intelligence: A Modern Approach", section on expectimax.
    """

    opponents = ("none",)

    def generate(self, rng: Rng) -> Game2048Problem:
        config, boards, target = self.config, list[tuple[int, ...]](), 0
        best: tuple[int, ...] | None = None
        target = 2 ** integer(rng, 4, 6)
        for drawn in range(_DRAWS_AT_MOST * config.n_boards):
            cells = self._cells(rng, target)
            greedy_is_wrong = self._judged(cells, target)
            if greedy_is_wrong is not None:
                best = cells
            if greedy_is_wrong or (best is not None and drawn % _DRAWS == _DRAWS - 1):
                boards.append(best)  # type: ignore[arg-type]
                best = None
            if len(boards) == config.n_boards:
                return Game2048Problem(
                    seed=draw_seed(rng),
                    n_columns=config.n_columns,
                    target=target,
                    n_moves=config.n_moves,
                    boards=tuple(boards),
                )
        raise ConfigError(f"no board was drawn on which the moves differ: {config}")

    def _cells(self, rng: Rng, target: int) -> tuple[int, ...]:
        """Draw a board with few empty cells, and tiles of which the target may be made."""
        n_cells = self.config.n_rows * self.config.n_columns
        tiles = [2**i for i in range(1, target.bit_length() - 1)]
        cells = [pick(rng, tiles) for _ in range(n_cells)]
        for at in rng.permutation(n_cells)[: integer(rng, 1, 2 + n_cells // 6)].tolist():
            cells[at] = 0
        return tuple(cells)

    def _judged(self, cells: tuple[int, ...], target: int) -> bool | None:
        """Return whether the greedy move is wrong; None if moves do not differ, or one is best."""
        game = Game2048(self.config.n_columns, target, Tiles(cells, self.config.n_moves))
        if sum(cells) < target or len(game.actions(game.first)) < 2 or self._in_one(game):
            return None
        worth = move_values(game, Exact(game), game.first)
        if min(worth.values()) == max(worth.values()):
            return None
        return worth[_greedy(game, game.first)] < max(worth.values())

    def _in_one(self, game: Game2048) -> bool:
        return self.config.n_moves > 1 and any(
            max(game.after(game.first, move).cells) >= game.target
            for move in game.actions(game.first)
        )

    def game(self, problem: Game2048Problem) -> Match:
        starts = tuple(Tiles(tuple(cells), problem.n_moves) for cells in problem.boards)
        game = Game2048(problem.n_columns, problem.target, starts[0])
        return Match(game, len(starts), starts, n_seats=1)

    def rules(self, problem: Game2048Problem) -> str:
        boards = "\n\n".join(_drawn(cells, problem.n_columns) for cells in problem.boards[1:])
        more = ""
        if boards:
            more = (
                " The first game begins with the board below; then come games with these boards, "
                f"in this order:\n\n{boards}"
            )
        return (
            "This is 2048 on a small board with numbered tiles; a dot is an empty cell. A move "
            "slides all tiles left, right, up or down as far as they go. Two equal tiles that "
            "meet merge into one with their sum; a tile made by merging does not merge again in "
            "the same move, and of three equal tiles in a line the two nearest to the side that "
            "they move to merge. A move that changes nothing is not allowed. After each move a "
            "tile 2 appears in an empty cell; all empty cells are equally likely. You have "
            f"{problem.n_moves} moves to make a tile of {problem.target} or more. A game ends "
            "when there is such a tile, no moves are left, or none is possible. You play "
            f"{len(problem.boards)} games. What counts is not luck: you earn full marks if every "
            "move of yours has the greatest chance of making the tile in time, which may be 0, and "
            f"nothing otherwise.{more}"
        )

    def move_help(self, problem: Game2048Problem) -> str:
        return "the word left, right, up or down"

    def move_values(
        self, problem: Game2048Problem, state: Rounds
    ) -> Mapping[str, float | Fraction]:
        game: Game2048 = self.game(problem).game
        return move_values(game, _values(game), state.inner)

    def player(self, problem: Game2048Problem, name: str) -> Mover | None:
        return None

    def effort(self, problem: Game2048Problem) -> float:
        """Return how many states expectimax values for the boards."""
        game: Game2048 = self.game(problem).game
        values = Exact(game)
        for cells in problem.boards:
            move_values(game, values, Tiles(tuple(cells), problem.n_moves))
        return float(values.nodes)

    def hasty(self, rng: Rng, game: Game[Any], state: Any) -> str:
        """Merge the largest sum at once; of equal ones take the first move."""
        return _greedy(game.game, state.inner)  # type: ignore[attr-defined]


@lru_cache(maxsize=8)
def _values(game: Game2048) -> Exact[Tiles]:
    """Return the values of the boards of a problem, each worked out once."""
    return Exact(game)


def _greedy(game: Game2048, state: Tiles) -> str:
    return max(game.actions(state), key=lambda m: slid(state.cells, game.n_columns, m)[1])


def _drawn(cells: tuple[int, ...], n_columns: int) -> str:
    return Game2048(n_columns, 0, Tiles(cells, 0)).view(Tiles(cells, 0), 0).partition("\n")[2]
