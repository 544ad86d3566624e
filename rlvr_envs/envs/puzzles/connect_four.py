"""Connect Four on small boards: win a position that is won."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.games import TURNS_AT_MOST
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.games.boards import LineGame
from rlvr_envs.generators.games.tasks import BoardConfig, BoardProblem, BoardTask, beyond, draw_seed

# Rows, columns, discs in a row, empty cells, and moves that a win takes.
_LEVELS = (
    (4, 5, 4, 9, 1), (4, 5, 4, 10, 2), (4, 6, 4, 12, 2), (5, 5, 4, 12, 3), (5, 5, 4, 13, 3),
    (5, 6, 4, 15, 3), (5, 6, 4, 16, 3), (5, 7, 4, 17, 3), (6, 6, 4, 17, 4), (6, 7, 4, 17, 4),
    (6, 7, 4, 18, 4),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectFourConfig(BoardConfig):
    """The board, the line that wins, how full the board is, and how long a win takes."""

    n_columns: int = knob(5, "columns of the board", low=2, high=9)
    n_empty: int = knob(11, "empty cells at the start, or one more or less", low=2, high=20)
    n_in_row: int = knob(4, "discs in a line that win", low=3, high=5)

    def check(self) -> None:
        BoardConfig.check(self)
        if self.n_in_row > max(self.n_rows, self.n_columns):
            raise ConfigError(f"need n_in_row <= n_rows or n_columns, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "ConnectFourConfig":
        """From a win at once to wins in two, three and more moves, on larger boards.

        Beyond level 10 a win takes one more move and two more cells are empty after every five
        levels, up to 8 moves and 20 cells, and the board has more rows and columns, up to 9.
        """
        rows, columns, in_row, empty, moves = beyond(_LEVELS, difficulty)
        return cls(n_rows=rows, n_columns=columns, n_in_row=in_row, n_empty=empty, n_moves=moves)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectFourProblem(BoardProblem):
    """A position on the board; the length of a line that wins."""

    n_in_row: int


@register("ConnectFour-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class ConnectFourTask(BoardTask[ConnectFourConfig, ConnectFourProblem]):
    r"""Win a position of Connect Four on a small board against an opponent who plays perfectly.

    Description:
        Two players drop discs into columns, until one has four in a line. The position comes from
        random moves, and the agent, who has either seat, can force a win.

    Observation:
        The rules and the board; after each move, both moves and the board.

    Action:
        A message with the number of a column in `\boxed{}`.

    Reward:
        1 for a win, 0 for a draw or a loss. Under ``judge="value"`` 1 if no move lost value.

    Verification:
        The game is played. The opponent knows the exact value of every position, so only moves
        that keep the win lead to one; ``opponent="random"`` or ``"mcts:N"`` may forgive mistakes.
        No known gaps.

    Difficulty:
        The win takes more moves: first two threats at once, then threats that must be made in the
        right order, and cells that neither player may play below. The baseline wins or blocks at
        once where it can, and otherwise moves at random.

    References:
        Allis, "A Knowledge-Based Approach of Connect-Four", 1988.
    """

    def generate(self, rng: Rng) -> ConnectFourProblem:
        config = self.config
        game = LineGame(config.n_rows, config.n_columns, n_in_row=config.n_in_row, gravity=True)
        seat, opening = self.opening(rng, game)
        problem = ConnectFourProblem(
            opening=opening,
            seat=seat,
            seed=draw_seed(rng),
            n_rows=config.n_rows,
            n_columns=config.n_columns,
            n_in_row=config.n_in_row,
        )
        return self.seated(problem)

    def game(self, problem: ConnectFourProblem) -> LineGame:
        return LineGame(problem.n_rows, problem.n_columns, n_in_row=problem.n_in_row, gravity=True)

    def board_rules(self, problem: ConnectFourProblem) -> str:
        return (
            f"This is Connect Four on a board of {problem.n_rows} rows and {problem.n_columns} "
            "columns; row 1 is at the top. X moves first; then the players take turns and drop "
            "one disc each into a column that is not full. It falls to the lowest empty cell of "
            f"the column. Who first has {problem.n_in_row} discs next to each other in a row, a "
            "column or a diagonal wins. The game is a draw as soon as neither player can get such "
            "a line."
        )

    def move_help(self, problem: ConnectFourProblem) -> str:
        return r"\boxed{c} for column c, which is not full; columns are counted from 1"
