"""Tic-tac-toe on larger boards: win a position that is won."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.games import TURNS_AT_MOST
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.games.boards import LineGame
from rlvr_envs.generators.games.tasks import BoardConfig, BoardProblem, BoardTask, beyond, draw_seed

# Rows, columns, marks in a row, empty cells, and moves that a win takes.
_LEVELS = (
    (4, 4, 3, 8, 1), (4, 4, 3, 9, 2), (4, 5, 4, 9, 2), (5, 5, 4, 9, 2), (5, 5, 4, 10, 3),
    (5, 5, 4, 11, 3), (5, 5, 4, 12, 3), (5, 6, 4, 12, 3), (5, 6, 4, 13, 4), (6, 6, 4, 13, 4),
    (6, 6, 4, 14, 4),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TicTacToeConfig(BoardConfig):
    """The board, the line that wins, how full the board is, and how long a win takes."""

    n_in_row: int = knob(3, "marks in a line that win", low=3, high=5)

    def check(self) -> None:
        BoardConfig.check(self)
        if self.n_in_row > max(self.n_rows, self.n_columns):
            raise ConfigError(f"need n_in_row <= n_rows or n_columns, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "TicTacToeConfig":
        """From a win at once to wins in two, three and more moves, on larger boards.

        Beyond level 10 a win takes one more move and two more cells are empty after every five
        levels, up to 8 moves and 20 cells, and the board has more rows and columns, up to 9.
        """
        rows, columns, in_row, empty, moves = beyond(_LEVELS, difficulty)
        return cls(n_rows=rows, n_columns=columns, n_in_row=in_row, n_empty=empty, n_moves=moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class TicTacToeProblem(BoardProblem):
    """A position on the board; the length of a line that wins."""

    n_in_row: int


@register("TicTacToe-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class TicTacToeTask(BoardTask[TicTacToeConfig, TicTacToeProblem]):
    r"""Win a position of tic-tac-toe on a larger board against an opponent who plays perfectly.

    Description:
        Two players fill the cells of a board in turn, until one has a line of marks. The position
        comes from random moves, and the agent, who has either seat, can force a win.

    Observation:
        The rules and the board; after each move, both moves and the board.

    Action:
        A message with the row and the column of an empty cell in `\boxed{}`.

    Reward:
        1 for a win, 0 for a draw or a loss. Under ``judge="value"`` 1 if no move lost value.

    Verification:
        The game is played. The opponent knows the exact value of every position, so only moves
        that keep the win lead to one; ``opponent="random"`` or ``"mcts:N"`` may forgive mistakes.
        No known gaps.

    Difficulty:
        The win takes more moves: it needs a threat that must be answered, then two threats at
        once, then a chain of threats; boards are emptier. The baseline wins or blocks at once
        where it can, and otherwise moves at random.

    References:
        Berlekamp, Conway and Guy, "Winning Ways for your Mathematical Plays", chapter 22.
    """

    def generate(self, rng: Rng) -> TicTacToeProblem:
        config = self.config
        game = LineGame(config.n_rows, config.n_columns, n_in_row=config.n_in_row)
        seat, opening = self.opening(rng, game)
        problem = TicTacToeProblem(
            opening=opening,
            seat=seat,
            seed=draw_seed(rng),
            n_rows=config.n_rows,
            n_columns=config.n_columns,
            n_in_row=config.n_in_row,
        )
        return self.seated(problem)

    def game(self, problem: TicTacToeProblem) -> LineGame:
        return LineGame(problem.n_rows, problem.n_columns, n_in_row=problem.n_in_row)

    def board_rules(self, problem: TicTacToeProblem) -> str:
        return (
            f"This is tic-tac-toe on a board of {problem.n_rows} rows and {problem.n_columns} "
            "columns. X moves first; then the players take turns and mark one empty cell each. "
            f"Who first has {problem.n_in_row} marks next to each other in a row, a column or a "
            "diagonal wins. The game is a draw as soon as neither player can get such a line."
        )

    def move_help(self, problem: TicTacToeProblem) -> str:
        return r"\boxed{r c} for the empty cell in row r and column c, both counted from 1"
