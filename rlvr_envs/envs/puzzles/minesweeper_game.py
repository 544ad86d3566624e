"""Minesweeper played cell by cell, on boards that can be solved without guessing."""

import re
from dataclasses import dataclass, replace

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
    n_left: int = knob(
        0, "cells without a mine that are covered at the start; 0 for all but the first", low=0
    )

    def check(self) -> None:
        if self.n_rows * self.n_columns > TURNS_AT_MOST:
            raise ConfigError(f"need n_rows * n_columns <= {TURNS_AT_MOST}, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "MinesweeperGameConfig":
        """At first few cells are left to open; from level 4 on the board grows, up to 32x32.

        The mines get denser, so that more cells can only be told by several numbers together.
        """
        side = 6 + min(max(0, difficulty - 4), 26)
        left = (2, 4, 7, 12)[difficulty] if difficulty < 4 else 0
        percent = min(14 + difficulty, 22)
        return cls(n_rows=side, n_columns=side, mine_percent=percent, n_left=left)


@dataclass(frozen=True, slots=True)
class MinesweeperGameProblem:
    """What the player sees at the start; the mines are hidden."""

    rows: tuple[str, ...]
    n_mines: int
    n_turns: int
    seal: str  # of the mines
    mines: tuple[int, ...] = hidden()


class MinesweeperGameSession:
    """One episode: cells are opened and flagged until all safe ones are open or a mine is."""

    def __init__(self, problem: MinesweeperGameProblem) -> None:
        self._problem = problem
        self._shape = (len(problem.rows), len(problem.rows[0]))
        self._near = around(*self._shape)
        self._mines = sum(1 << cell for cell in problem.mines)
        self._opened = self._first = _opened(problem.rows)
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
        The rules, the number of mines and the board, on which some cells are open; then, after
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
        visible board. There are twice as many messages as it needs. No known gaps.

    Difficulty:
        At first most of the board is open already. Then the board and the density of the mines
        grow, and with them the share of cells that no number tells alone.

    References:
        Kaye, "Minesweeper is NP-complete", Mathematical Intelligencer, 2000.
    """

    def generate(self, rng: Rng) -> MinesweeperGameProblem:
        config = self.config
        first, mines = self._board(rng)
        opened = flood(first, mines, 0, around(config.n_rows, config.n_columns))
        start = self._begun(rng, mines, opened) if config.n_left else opened
        problem = self._problem(mines, start)
        rounds = self._rounds(problem)
        if not rounds[-1].safe:  # the bounded search gets through only from the first cell
            problem = self._problem(mines, opened)
            rounds = self._rounds(problem)
        return replace(problem, n_turns=2 * len(rounds))

    def _problem(self, mines: int, opened: int) -> MinesweeperGameProblem:
        cells = tuple(bits(mines))
        return MinesweeperGameProblem(
            rows=show(mines, opened, self.config.n_rows, self.config.n_columns),
            n_mines=len(cells),
            n_turns=TURNS_AT_MOST,
            seal=seal(map(str, cells)),
            mines=cells,
        )

    def _begun(self, rng: Rng, mines: int, opened: int) -> int:
        """Open proven cells until few safe ones are left; return what is open."""
        n_rows, n_columns = self.config.n_rows, self.config.n_columns
        near = around(n_rows, n_columns)
        while True:
            proven = _proven(clues_of(show(mines, opened, n_rows, n_columns), near)).safe
            for cell in (bits(proven)[i] for i in rng.permutation(proven.bit_count()).tolist()):
                more = flood(cell, mines, opened, near)
                if len(near) - (more | mines).bit_count() < self.config.n_left:
                    return opened
                opened = more

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
            "without a mine are open. Some cells are open already. From here on, you "
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
        return [_opening(proven.safe, len(problem.rows[0])) for proven in self._rounds(problem)]

    def _rounds(self, problem: MinesweeperGameProblem) -> list[Proven]:
        """Return what the oracle proves for each of its messages."""
        near = around(len(problem.rows), len(problem.rows[0]))
        found = list[Proven]()

        def policy(text: str) -> str:
            rows = _board_of(text) if found else problem.rows
            found.append(_proven(clues_of(rows, near)))
            return _opening(found[-1].safe, len(rows[0]))

        self.played(replace(problem, n_turns=TURNS_AT_MOST), policy, turns=len(near))
        return found

    def effort(self, problem: MinesweeperGameProblem) -> int:
        """Count the numbers that are looked at to prove every safe cell, cases included."""
        return sum(proven.effort for proven in self._rounds(problem))

    def baseline(self, rng: Rng, problem: MinesweeperGameProblem) -> list[str]:
        """Open one cell in each message: a covered one with the smallest numbers around it."""
        width = len(problem.rows[0])
        near = around(len(problem.rows), width)
        start = self.prompt(problem)

        def policy(text: str) -> str:
            marks = "".join(problem.rows if text == start else _board_of(text))
            sums = {
                cell: sum(int(marks[i]) for i in bits(near[cell]) if marks[i] != COVERED)
                for cell, mark in enumerate(marks)
                if mark == COVERED and any(marks[i] != COVERED for i in bits(near[cell]))
            }
            return _opening(1 << min(sums, key=sums.__getitem__), width)

        return self.played(problem, policy, turns=problem.n_turns)


def _opening(cells: int, n_columns: int) -> str:
    """Return the message that opens some cells."""
    places = show_cells(bits(cells)[:_ACTIONS_AT_MOST], n_columns)
    return boxed(f"open {places}".replace("), (", "), open ("))


def _board_of(text: str) -> tuple[str, ...]:
    """Return the board that an observation after a message begins with."""
    return tuple(text.split("\n\n")[0].replace(" ", "").split("\n"))


def _opened(rows: tuple[str, ...]) -> int:
    return sum(1 << cell for cell, mark in enumerate("".join(rows)) if mark != COVERED)


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
