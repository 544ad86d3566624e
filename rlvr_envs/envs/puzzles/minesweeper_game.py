"""Minesweeper played cell by cell, on boards that can be solved without guessing."""

import re
from dataclasses import dataclass

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import InteractiveTask, Reply
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.cells import bits, show_cell, show_cells
from rlvr_envs.generators.grids.minesweeper import (
    COVERED,
    Clue,
    Proven,
    around,
    clues_of,
    flood,
    prove,
    show,
)
from rlvr_envs.generators.moves.scoring import plural
from rlvr_envs.generators.moves.seals import seal
from rlvr_envs.generators.moves.turns import TURNS_AT_MOST, boxed
from rlvr_envs.verifiers.grids import show_grid

_FLAG = "F"
_BOXED = answer_format("boxed")
_ACTIONS_AT_MOST = 100  # of one message
_ACTION = re.compile(r"(open|flag|unflag)\s*\(\s*([0-9]{1,4})\s*,\s*([0-9]{1,4})\s*\)")
_BETWEEN = re.compile(r"[\s,;]*")
_NODES = 500  # of the search for a safe cell, for the oracle as for generating
_BOARDS = 5  # drawn before mines are taken away from one


@dataclass(frozen=True, slots=True, kw_only=True)
class MinesweeperGameConfig(TaskConfig):
    """The size of the board and the share of its mines."""

    n_rows: int = knob(8, "rows of the board", low=4)
    n_columns: int = knob(8, "columns of the board", low=4)
    mine_percent: int = knob(
        16, "share of cells with a mine; fewer where a guess would be needed", low=5, high=40
    )

    def check(self) -> None:
        if self.n_rows * self.n_columns > TURNS_AT_MOST:
            raise ConfigError(f"need n_rows * n_columns <= {TURNS_AT_MOST}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "MinesweeperGameConfig":
        """Each level adds a row and a column, up to 100, and the mines get denser."""
        side = min(4 + difficulty, 100)
        return cls(n_rows=side, n_columns=side, mine_percent=min(12 + difficulty, 20))


@dataclass(frozen=True, slots=True)
class MinesweeperGameProblem:
    """What the player sees at the start; the mines are hidden."""

    rows: tuple[str, ...]
    n_mines: int
    n_turns: int
    seal: str  # of the mines
    first: int = hidden()  # the cell that is opened first
    mines: tuple[int, ...] = hidden()


class MinesweeperGameSession:
    """One episode: cells are opened and flagged until all safe ones are open or a mine is."""

    def __init__(self, problem: MinesweeperGameProblem) -> None:
        self._problem = problem
        self._shape = (len(problem.rows), len(problem.rows[0]))
        self._near = around(*self._shape)
        self._mines = sum(1 << cell for cell in problem.mines)
        self._opened = self._first = flood(problem.first, self._mines, 0, self._near)
        self._flags = 0
        self._safe = ((1 << len(self._near)) - 1) & ~self._mines
        self._turns = 0

    def reply(self, action: str) -> Reply:
        """Carry out the actions of a message, one after the other, and show the board."""
        self._turns += 1
        found = _BOXED.extract(action)
        actions = _read(found.answer or "", *self._shape)
        told = ""
        if actions is None:
            told = (
                "There were no valid actions in your message. Every action must be open, flag or "
                "unflag with a cell of the board, as in \\boxed{flag (1, 2)}."
            )
        for word, cell in actions or ():
            note = self._act(word, cell)
            if self._opened & self._mines:
                return Reply("", Verdict.wrong(note, **self._parts()))
            if self._opened == self._safe:
                return Reply("", Verdict.correct("all safe cells are open", **self._parts()))
            told = f"{told} {note}".strip()
        left = self._problem.n_turns - self._turns
        if left < 1:
            reason = f"not all safe cells were open after {plural(self._turns, 'message')}"
            verdict = Verdict.wrong(reason, **self._parts())
            return Reply("", verdict, void=actions is None, out_of_turns=True)
        lines = (show_grid(self._rows()), told, f"{plural(left, 'message')} left.")
        return Reply("\n\n".join(filter(None, lines)), void=actions is None)

    def _act(self, word: str, cell: int) -> str:
        """Carry out one action; return what there is to say about it."""
        bit, place = 1 << cell, show_cell(cell, self._shape[1])
        if self._opened & bit:
            return f"{place} is open already."
        if word == "flag":
            self._flags |= bit
        elif word == "unflag":
            self._flags &= ~bit
        elif self._flags & bit:
            return f"{place} has a flag and was not opened."
        elif self._mines & bit:
            self._opened |= bit
            return f"there was a mine at {place}"
        else:
            self._opened = flood(cell, self._mines, self._opened, self._near)
            self._flags &= ~self._opened
        return ""

    def _rows(self) -> list[str]:
        marks = "".join(show(self._mines, self._opened, *self._shape))
        marks = "".join(_FLAG if self._flags >> i & 1 else mark for i, mark in enumerate(marks))
        width = self._shape[1]
        return [marks[i : i + width] for i in range(0, len(marks), width)]

    def _parts(self) -> dict[str, float]:
        done = (self._opened & self._safe & ~self._first).bit_count()
        return {
            "turns": float(self._turns),
            "opened": done / (self._safe & ~self._first).bit_count(),
        }


@register("MinesweeperGame-v0", domain="puzzles", max_turns=TURNS_AT_MOST)
class MinesweeperGameTask(InteractiveTask[MinesweeperGameConfig, MinesweeperGameProblem]):
    r"""Open every cell without a mine, and none with one.

    Description:
        Random mines, away from the cell that is opened first. A player who draws all conclusions
        from the numbers never has to guess: where that fails on a board, another is drawn, and
        after some draws mines are taken away.

    Observation:
        The rules, the number of mines and the board after the first cell was opened; then, after
        each message, the board and the number of messages left.

    Action:
        A message with one or more actions in `\boxed{}`: ``open (row, column)``,
        ``flag (row, column)`` or ``unflag (row, column)``.

    Reward:
        1 when all cells without a mine are open; 0 when a mine is opened or the messages run out.
        The verdict's parts hold the share of the cells that were opened.

    Episode End:
        When all safe cells are open, when a mine is, or when no messages are left.

    Verification:
        The actions are carried out; flags are notes, and a cell with a flag cannot be opened. In
        each message, the oracle opens the cells that an exact search proves to be safe on the
        visible board. There are as many messages as safe cells that are covered at the start. No
        known gaps.

    Difficulty:
        The board and the density of the mines grow.

    References:
        Kaye, "Minesweeper is NP-complete", Mathematical Intelligencer, 2000.
    """

    def generate(self, rng: Rng) -> MinesweeperGameProblem:
        config = self.config
        near = around(config.n_rows, config.n_columns)
        first, mines = self._board(rng)
        opened = flood(first, mines, 0, near)
        return MinesweeperGameProblem(
            rows=show(mines, opened, config.n_rows, config.n_columns),
            n_mines=mines.bit_count(),
            n_turns=len(near) - mines.bit_count() - opened.bit_count(),
            seal=seal(map(str, bits(mines))),
            first=first,
            mines=tuple(bits(mines)),
        )

    def _board(self, rng: Rng) -> tuple[int, int]:
        """Draw the cell to open first, and mines with which no guess is needed after that."""
        config = self.config
        near = around(config.n_rows, config.n_columns)
        whole = (1 << len(near)) - 1
        n_mines = max(1, len(near) * config.mine_percent // 100)
        first = mines = stuck = 0
        for _ in range(_BOARDS):
            first, *others = rng.permutation(len(near)).tolist()
            free = [cell for cell in others if not near[first] >> cell & 1]
            mines = sum(1 << cell for cell in free[:n_mines])
            stuck = self._stuck(first, mines)
            if not stuck and flood(first, mines, 0, near) | mines != whole:
                return first, mines
        while stuck:  # each pass takes a mine away, and without mines nothing is left to tell
            mines &= ~(1 << pick(rng, bits(stuck)))
            stuck = self._stuck(first, mines)
        if flood(first, mines, 0, near) | mines != whole:
            return first, mines
        # One mine, diagonally inside a corner, hides the corner from whoever opens the other one.
        return len(near) - 1, 1 << (config.n_columns + 1)

    def _stuck(self, first: int, mines: int) -> int:
        """Return the mines that a player by proof cannot tell from safe cells, if any."""
        n_rows, n_columns = self.config.n_rows, self.config.n_columns
        near = around(n_rows, n_columns)
        opened = flood(first, mines, 0, near)
        whole = (1 << len(near)) - 1
        while opened | mines != whole:
            clues = clues_of(show(mines, opened, n_rows, n_columns), near)
            proven = _proven(clues)
            if not proven.safe:
                border = 0
                for cells, _ in clues:
                    border |= cells
                return border & mines & ~proven.mined or border & mines or mines
            for cell in bits(proven.safe & ~opened):
                opened = flood(cell, mines, opened, near)
        return 0

    def prompt(self, problem: MinesweeperGameProblem) -> str:
        n_rows, n_columns = len(problem.rows), len(problem.rows[0])
        mines = (
            "1 cell has a mine" if problem.n_mines == 1 else f"{problem.n_mines} cells have a mine"
        )
        return (
            f"Play Minesweeper on a board with {n_rows} rows and {n_columns} columns. {mines}. "
            "When you open a cell without a mine, it shows how many of the up to eight cells "
            "around it, including diagonal ones, have a mine; if that number is 0, the cells "
            "around it are opened too. If you open a mine, you lose. You win when all cells "
            "without a mine are open. The first cell has been opened for you. From here on, you "
            f"never need to guess. Here {COVERED} is a covered cell and {_FLAG} is a "
            f"flag:\n\n{show_grid(problem.rows)}\n\nGive up to {_ACTIONS_AT_MOST} actions in each "
            f"message, in \\boxed{{}}, separated by commas. They are carried out in order. An "
            "action is open (row, column), flag (row, column) or unflag (row, column). Rows and "
            f"columns are numbered from 1 from the top left: {boxed('flag (1, 2)')} puts a flag on "
            "the cell in row 1, column 2. Flags are only notes for you, but a cell with a flag "
            "cannot be opened. After each message you see the board. A message without actions "
            f"counts too. You have {plural(problem.n_turns, 'message')}."
        )

    def begin(self, problem: MinesweeperGameProblem) -> MinesweeperGameSession:
        return MinesweeperGameSession(problem)

    def play(self, problem: MinesweeperGameProblem) -> list[str]:
        """Open what is proven to be safe on the board that is shown."""
        session = self.begin(problem)
        near = around(len(problem.rows), len(problem.rows[0]))
        rows, actions = list(problem.rows), list[str]()
        while True:
            safe = bits(_proven(clues_of(rows, near)).safe)[:_ACTIONS_AT_MOST]
            cells = show_cells(safe, len(rows[0])).replace("), (", "), open (")
            actions.append(boxed(f"open {cells}"))
            reply = session.reply(actions[-1])
            if reply.verdict is not None:
                return actions
            rows = reply.text.split("\n\n")[0].replace(" ", "").split("\n")


def _proven(clues: list[Clue]) -> Proven:
    """Return what follows at once or, if no safe cell does, what a bounded search proves."""
    proven = prove(clues, nodes=0)
    return proven if proven.safe else prove(clues, nodes=_NODES)


def _read(text: str, n_rows: int, n_columns: int) -> list[tuple[str, int]] | None:
    """Return the actions of a message as words and cells; None if it is anything else."""
    text = text.strip().lower()
    found, end = list[tuple[str, int]](), 0
    while end < len(text):
        action = _ACTION.match(text, end)
        if action is None or len(found) == _ACTIONS_AT_MOST:
            return None
        row, column = int(action[2]), int(action[3])
        if not (1 <= row <= n_rows and 1 <= column <= n_columns):
            return None
        found.append((action[1], (row - 1) * n_columns + column - 1))
        between = _BETWEEN.match(text, action.end())
        end = between.end() if between else action.end()
    return found or None
