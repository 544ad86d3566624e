"""Hex on small boards: connect two sides in a position that is won."""

from dataclasses import dataclass

from rlvr_envs.core.games import TURNS_AT_MOST
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.games.boards import HexGame
from rlvr_envs.generators.games.tasks import BoardConfig, BoardProblem, BoardTask, beyond, draw_seed

# Rows, columns, empty cells, and moves that a win takes.
_LEVELS = (
    (4, 4, 6, 1), (4, 4, 7, 2), (4, 4, 8, 2), (4, 5, 9, 2), (4, 5, 10, 3), (5, 5, 11, 3),
    (5, 5, 12, 3), (5, 6, 13, 3), (5, 6, 13, 4), (5, 6, 14, 4), (6, 6, 14, 4),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class HexConfig(BoardConfig):
    """The board, how full it is, and how long a win takes."""

    @classmethod
    def at(cls, difficulty: int) -> "HexConfig":
        """From a win at once to wins in two, three and more moves, on larger boards.

        Beyond level 10 a win takes one more move and two more cells are empty after every five
        levels, up to 8 moves and 20 cells, and the board has more rows and columns, up to 9.
        """
        rows, columns, empty, moves = beyond(_LEVELS, difficulty)
        return cls(n_rows=rows, n_columns=columns, n_empty=empty, n_moves=moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class HexProblem(BoardProblem):
    """A position on the board."""


@register("Hex-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class HexTask(BoardTask[HexConfig, HexProblem]):
    r"""Win a position of Hex on a small board against an opponent who plays perfectly.

    Description:
        Two players fill the cells of a board in turn. One connects the top with the bottom, the
        other the left side with the right; exactly one of them succeeds. The position comes from
        random moves, and the agent, who has either seat, can force a win.

    Observation:
        The rules and the board; after each move, both moves and the board.

    Action:
        A message with the row and the column of an empty cell in `\boxed{}`.

    Reward:
        1 for a win, 0 for a loss. Under ``judge="value"`` 1 if no move lost value.

    Verification:
        The game is played. The opponent knows the exact value of every position, so only moves
        that keep the win lead to one; ``opponent="random"`` or ``"mcts:N"`` may forgive mistakes.
        No known gaps.

    Difficulty:
        The win takes more moves: bridges, which the opponent can cut in one of two places, must
        be seen, then combined. The baseline wins or blocks at once where it can, and otherwise
        moves at random.

    References:
        Gale, "The Game of Hex and the Brouwer Fixed-Point Theorem", 1979.
    """

    can_draw = False

    def generate(self, rng: Rng) -> HexProblem:
        config = self.config
        seat, opening = self.opening(rng, HexGame(config.n_rows, config.n_columns))
        problem = HexProblem(
            opening=opening,
            seat=seat,
            seed=draw_seed(rng),
            n_rows=config.n_rows,
            n_columns=config.n_columns,
        )
        return self.seated(problem)

    def game(self, problem: HexProblem) -> HexGame:
        return HexGame(problem.n_rows, problem.n_columns)

    def board_rules(self, problem: HexProblem) -> str:
        return (
            f"This is Hex on a board of {problem.n_rows} rows and {problem.n_columns} columns. "
            "Each cell (r, c) touches the cells (r, c-1), (r, c+1), (r-1, c), (r-1, c+1), (r+1, c) "
            "and (r+1, c-1), as far as they are on the board. X moves first; then the players take "
            "turns and mark one empty cell each. X wins with a chain of X cells that touch each "
            "other from the top row to the bottom row, O with a chain of O cells from the left "
            "column to the right column."
        )

    def move_help(self, problem: HexProblem) -> str:
        return r"\boxed{r c} for the empty cell in row r and column c, both counted from 1"
