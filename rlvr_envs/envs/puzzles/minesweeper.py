"""Minesweeper: which covered cells are safe for certain."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.cells import bits, read_cells, show_cells
from rlvr_envs.generators.grids.minesweeper import (
    COVERED,
    Proven,
    around,
    clues_of,
    explained,
    prove,
    show,
)
from rlvr_envs.verifiers.grids import show_grid

_MAX_SIDE = 64
_DRAWS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class MinesweeperConfig(TaskConfig):
    """The size of the board, the share of mines, and the share of opened cells."""

    n_rows: int = 8
    n_columns: int = 8
    mine_percent: int = 30
    opened_percent: int = knob(40, "share of the cells that are opened at random")
    only_cases: bool = knob(True, "safe cells that follow from single numbers are opened too")
    n_compared: int = knob(
        1, "boards that are drawn, of which the hardest to prove is taken", low=1, high=1000
    )

    def check(self) -> None:
        if (
            not 3
            <= min(self.n_rows, self.n_columns)
            <= max(self.n_rows, self.n_columns)
            <= _MAX_SIDE
        ):
            raise ConfigError(f"need n_rows and n_columns from 3 to {_MAX_SIDE}, got {self}")
        shares = (self.mine_percent, self.opened_percent)
        if min(shares) < 12 or sum(shares) > 85:
            raise ConfigError(
                "need mine_percent and opened_percent of at least 12, and of at most 85 together, "
                f"got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "MinesweeperConfig":
        """Each level adds a row and a column; from level 4 on cases decide, later more of them."""
        side = min(_MAX_SIDE, 4 + difficulty)
        if difficulty < 4:
            return cls(
                n_rows=side, n_columns=side, mine_percent=22, opened_percent=45, only_cases=False
            )
        return cls(
            n_rows=side,
            n_columns=side,
            opened_percent=max(38, 45 - difficulty),
            n_compared=min(difficulty, 10) - 3,
        )


@dataclass(frozen=True, slots=True)
class MinesweeperProblem:
    """The visible board, and the cells proven to be safe, numbered from 0."""

    rows: tuple[str, ...]
    safe: tuple[int, ...] = hidden()


@register("Minesweeper-v0", domain="puzzles")
class MinesweeperTask(Task[MinesweeperConfig, MinesweeperProblem]):
    """Name every covered cell that the numbers prove to be safe.

    Description:
        Random mines, and random safe cells that are opened. With ``only_cases``, all cells that
        follow from single numbers, one after another, are opened too, so that every remaining step
        needs several numbers at once. Of a few boards, the hardest to prove is taken.

    Observation:
        The board: the number of mines around each opened cell, ``?`` for a covered one.

    Action:
        The safe cells as pairs (row, column), all of them and no others, in any order.

    Reward:
        1 for exactly the cells that are safe in every arrangement of mines, otherwise 0.

    Verification:
        The set is compared with the proven one: for each covered cell an exact search has looked
        for an arrangement with a mine there and for one without. There is always a safe cell. How
        many mines there are in all is not given, so it proves nothing. No known gaps.

    Difficulty:
        The board grows, and fewer cells are opened; from level 4, no cell of the answer
        follows from single numbers, and later the boards are chosen that take the most cases.

    References:
        Kaye, "Minesweeper is NP-complete", Mathematical Intelligencer, 2000. Scott, Stege and van
        Rooij, "Minesweeper May Not Be NP-Complete but Is Hard Nonetheless", 2011, for inference.
    """

    def generate(self, rng: Rng) -> MinesweeperProblem:
        drawn = [self._board(rng) for _ in range(self.config.n_compared)]
        return max(drawn, key=self.effort) if len(drawn) > 1 else drawn[0]

    def _board(self, rng: Rng) -> MinesweeperProblem:
        mines = opened = 0
        for _ in range(_DRAWS):
            mines, opened = self._draw(rng)
            if self.config.only_cases:
                opened = self._open_at_once(mines, opened)
            proven = self._prove(mines, opened)
            if proven.safe and proven.complete:
                return self._problem(mines, opened, proven.safe)
        while True:  # without any mines every cell beside an opened one is proven to be safe
            proven = self._prove(mines, opened)
            if proven.safe and proven.complete:
                return self._problem(mines, opened, proven.safe)
            mines &= ~(1 << pick(rng, bits(mines)))

    def _draw(self, rng: Rng) -> tuple[int, int]:
        config = self.config
        n_cells = config.n_rows * config.n_columns
        order = rng.permutation(n_cells).tolist()
        n_mines = n_cells * config.mine_percent // 100
        n_opened = n_cells * config.opened_percent // 100
        mines = sum(1 << cell for cell in order[:n_mines])
        return mines, sum(1 << cell for cell in order[n_mines : n_mines + n_opened])

    def _clues(self, mines: int, opened: int) -> list[tuple[int, int]]:
        config = self.config
        rows = show(mines, opened, config.n_rows, config.n_columns)
        return clues_of(rows, around(config.n_rows, config.n_columns))

    def _open_at_once(self, mines: int, opened: int) -> int:
        while safe := prove(self._clues(mines, opened), nodes=0).safe:
            opened |= safe
        return opened

    def _prove(self, mines: int, opened: int) -> Proven:
        return prove(self._clues(mines, opened))

    def _problem(self, mines: int, opened: int, safe: int) -> MinesweeperProblem:
        config = self.config
        rows = show(mines, opened, config.n_rows, config.n_columns)
        return MinesweeperProblem(rows, tuple(bits(safe)))

    def prompt(self, problem: MinesweeperProblem) -> str:
        n_rows, n_columns = len(problem.rows), len(problem.rows[0])
        return (
            f"This is a Minesweeper board with {n_rows} rows and {n_columns} columns. {COVERED} is "
            "a covered cell, which may have a mine. A number is an opened cell: it has no mine, "
            "and the number says how many of the up to eight cells around it, including diagonal "
            "ones, have a mine. The total number of mines is not given.\n\n"
            f"{show_grid(problem.rows)}\n\nFind all covered cells that are safe for certain: a "
            "cell is safe if it has no mine in any arrangement of mines that agrees with all the "
            "numbers. There is at least one. Answer with all safe cells and no others, as pairs "
            "(row, column) separated by commas. Rows and columns are numbered from 1 from the top "
            "left: (1, 2) is the cell in row 1, column 2."
        )

    def verify(self, problem: MinesweeperProblem, answer: str) -> Verdict:
        cells = read_cells(answer, len(problem.rows), len(problem.rows[0]))
        if cells is None:
            return Verdict.unparsable("expected cells of the board such as (1, 2), (3, 1)")
        if len(set(cells)) < len(cells):
            return Verdict.wrong("a cell occurs twice")
        marks = "".join(problem.rows)
        if any(marks[cell] != COVERED for cell in cells):
            return Verdict.wrong("a cell is already open")
        wrong = len(set(cells) - set(problem.safe))
        missing = len(set(problem.safe) - set(cells))
        if wrong or missing:
            parts = {"wrong": float(wrong), "missing": float(missing)}
            return Verdict.wrong("these are not exactly the cells proven to be safe", **parts)
        return Verdict.correct(wrong=0.0, missing=0.0)

    def solve(self, problem: MinesweeperProblem) -> str:
        return show_cells(problem.safe, len(problem.rows[0]))

    def explain(self, problem: MinesweeperProblem) -> list[str]:
        """Return what follows from single numbers, and where they need cases, by supposing."""
        return explained(problem.rows)

    def effort(self, problem: MinesweeperProblem) -> int:
        """Count the numbers looked at until it is proven of each covered cell what it may be."""
        near = around(len(problem.rows), len(problem.rows[0]))
        return prove(clues_of(problem.rows, near)).effort

    def baseline(self, rng: Rng, problem: MinesweeperProblem) -> str:
        """Name what follows from one number after another, or else any covered cell."""
        n_columns = len(problem.rows[0])
        near = around(len(problem.rows), n_columns)
        found = prove(clues_of(problem.rows, near), nodes=0)
        marks = "".join(problem.rows)
        unknown = [cell for cell, mark in enumerate(marks) if mark == COVERED]
        unknown = [cell for cell in unknown if not found.mined >> cell & 1]
        return show_cells(bits(found.safe) or [pick(rng, unknown)], n_columns)
