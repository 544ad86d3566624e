"""Nonogram: a picture from the lengths of its runs."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.puzzles._nonograms import Runs, Search, explained, runs_of
from rlvr_envs.envs.puzzles._puzzle import PuzzleTask
from rlvr_envs.generators.grids.cells import bits
from rlvr_envs.verifiers.grids import read_grid, show_grid

_FILLED, _EMPTY = "#", "."
_MAX_SIDE = 64
_LIMIT = 20  # lines that proving uniqueness may look at, for each line of the picture
_SHARE = 24  # one in so many doubtful cells is filled at a time
_EFFORT_LIMIT = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NonogramConfig:
    """The size of the picture, and how much of it is filled at first."""

    n_rows: int = 7
    n_columns: int = 7
    filled_percent: int = 50  # before cells are filled to make the picture unique

    def __post_init__(self) -> None:
        sides = (self.n_rows, self.n_columns)
        if not 2 <= min(sides) <= max(sides) <= _MAX_SIDE or not 10 <= self.filled_percent <= 90:
            raise ConfigError(
                f"need n_rows and n_columns in 2..{_MAX_SIDE} and filled_percent in 10..90, "
                f"got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "NonogramConfig":
        """A rung adds a row and a column."""
        return cls(n_rows=min(_MAX_SIDE, 3 + difficulty), n_columns=min(_MAX_SIDE, 3 + difficulty))


@dataclass(frozen=True, slots=True)
class NonogramProblem:
    """The runs of filled cells in each row and column, and the picture."""

    rows: Runs
    columns: Runs
    picture: tuple[str, ...] = hidden()


@register("Nonogram-v0", domain="puzzles", answer_format="tag")
class NonogramTask(PuzzleTask[NonogramConfig, NonogramProblem]):
    """Find the picture whose rows and columns have the given runs of filled cells.

    Description:
        A random picture of filled and empty cells. While another picture has the same runs, cells
        that the runs leave open are filled, so that in the end there is one picture only.

    Observation:
        The lengths of the runs of filled cells of each row, from left to right, and of each
        column, from top to bottom.

    Action:
        The picture, one row a line: ``#`` for a filled cell and ``.`` for an empty one.

    Reward:
        1 for the picture, otherwise 0.

    Episode End:
        After one step.

    Verification:
        The runs of the answer are counted. An exact search (each line is narrowed to what all its
        fillings share, then cells are tried) has shown that one picture fits. No known gaps.

    Difficulty:
        The picture grows.

    References:
        Ueda and Nagao, "NP-completeness Results for NONOGRAM via Parsimonious Reductions", 1996.
        Batenburg and Kosters, "Solving Nonograms by combining relaxations", Pattern Recognition,
        2009, for solving by lines.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> NonogramProblem:
        config = self.config
        share = config.filled_percent / 100
        noise = rng.random((config.n_rows, config.n_columns)) < share
        rows = [sum(1 << c for c, filled in enumerate(row) if filled) for row in noise.tolist()]
        while True:  # each pass fills cells; a full picture is the only one with its runs
            found = self._search(rows, config.n_columns)
            doubtful = [stuck & ~row for stuck, row in zip(found.stuck, rows, strict=True)]
            if len(found.pictures) > 1:
                one, other = found.pictures
                doubtful = [(a ^ b) & ~row for a, b, row in zip(one, other, rows, strict=True)]
            cells = [(r, c) for r, mask in enumerate(doubtful) for c in bits(mask)]
            # Another picture has as many filled cells, so it must fill an empty doubtful one.
            if found.unique or not cells:
                return self._problem(rows)
            for _ in range(1 + len(cells) // _SHARE):
                r, c = pick(rng, cells)
                rows[r] |= 1 << c

    def _search(self, rows: list[int], n_columns: int) -> Search:
        across, down = _runs(rows, n_columns)
        return Search(across, down, limit=_LIMIT * (len(rows) + n_columns))

    def _problem(self, rows: list[int]) -> NonogramProblem:
        n_columns = self.config.n_columns
        return NonogramProblem(*_runs(rows, n_columns), _picture(rows, n_columns))

    def prompt(self, problem: NonogramProblem) -> str:
        n_rows, n_columns = len(problem.rows), len(problem.columns)
        rows = "\n".join(f"row {i}: {_words(runs)}" for i, runs in enumerate(problem.rows, 1))
        columns = "\n".join(
            f"column {i}: {_words(runs)}" for i, runs in enumerate(problem.columns, 1)
        )
        return (
            f"Each cell of a grid with {n_rows} rows and {n_columns} columns is either filled or "
            "empty. For each row, the lengths of its runs of adjacent filled cells are given in "
            "order from left to right, and for each column in order from top to bottom; between "
            "two runs there is at least one empty cell. A line whose only length is 0 has no "
            f"filled cell.\n\n{rows}\n\n{columns}\n\nExactly one grid fits. Write it row by row, "
            f"one row a line, with {_FILLED} for a filled cell and {_EMPTY} for an empty one."
        )

    def verify(self, problem: NonogramProblem, answer: str) -> Verdict:
        n_rows, n_columns = len(problem.rows), len(problem.columns)
        grid = read_grid(answer, n_rows, n_columns, (_FILLED, _EMPTY))
        if grid is None:
            return Verdict.unparsable(
                f"expected {n_rows} lines of {n_columns} characters {_FILLED} or {_EMPTY}"
            )
        for name, wanted, lines in (
            ("row", problem.rows, grid),
            ("column", problem.columns, zip(*grid, strict=True)),
        ):
            for i, (runs, line) in enumerate(zip(wanted, lines, strict=True), 1):
                if runs_of([cell == _FILLED for cell in line]) != runs:
                    return Verdict.wrong(f"{name} {i} has other runs")
        return Verdict.correct()

    def solve(self, problem: NonogramProblem) -> str:
        return show_grid(problem.picture)

    def explain(self, problem: NonogramProblem) -> list[str]:
        """Return line by line what all fillings that fit share, with _ for an open cell."""
        filled = [sum(1 << c for c, m in enumerate(row) if m == _FILLED) for row in problem.picture]
        return explained(problem.rows, problem.columns, filled)

    def effort(self, problem: NonogramProblem) -> int:
        return Search(problem.rows, problem.columns, limit=_EFFORT_LIMIT).lines

    def guess(self, problem: NonogramProblem, rng: Rng) -> str:
        """Push the runs of every row to the left."""
        width = len(problem.columns)
        lines = (_EMPTY.join(_FILLED * run for run in runs) for runs in problem.rows)
        return show_grid([line.ljust(width, _EMPTY) for line in lines])


def _runs(rows: list[int], n_columns: int) -> tuple[Runs, Runs]:
    cells = [[bool(row >> c & 1) for c in range(n_columns)] for row in rows]
    across = tuple(runs_of(line) for line in cells)
    return across, tuple(runs_of(line) for line in zip(*cells, strict=True))


def _picture(rows: list[int], n_columns: int) -> tuple[str, ...]:
    return tuple(
        "".join(_FILLED if row >> c & 1 else _EMPTY for c in range(n_columns)) for row in rows
    )


def _words(runs: tuple[int, ...]) -> str:
    return " ".join(map(str, runs)) or "0"
