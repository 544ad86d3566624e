"""Kakurasu: choose cells whose positions add up to the totals of rows and columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integers, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import (
    Network,
    Rival,
    RowSet,
    Rule,
    Table,
    rival_of,
    search,
    shuffled,
)
from rlvr_envs.generators.grids.cells import show_cells
from rlvr_envs.generators.grids.clues import thin
from rlvr_envs.generators.grids.deductions import Words, by_row_and_column, line_names, worked
from rlvr_envs.generators.grids.latin_squares import lines
from rlvr_envs.verifiers.grids import read_grid, show_grid

_CHOSEN, _OTHER, _UNKNOWN = "1", "0", "?"
_LARGEST = 12  # of the rows of this length some ten to a hundred have each total
_CHANGES = 6  # of cells, for each row, before cells are given
_PROOF_NODES = 60
_EFFORT_NODES = 5_000

# Size, percentage of rows and columns whose total is given, and drafts of the first levels.
_LEVELS = (
    *((4, 100, 1), (5, 100, 1), (5, 0, 10), (6, 100, 1), (6, 50, 3), (6, 0, 8)),
    *((6, 0, 20), (7, 0, 3), (7, 0, 10), (8, 0, 3), (8, 0, 8)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KakurasuConfig(TaskConfig):
    """The size of the grid, and how many totals are given."""

    size: int = knob(6, "rows and columns of the grid", low=3, high=_LARGEST)
    total_percent: int = knob(
        100, "percentage of rows and columns with a total; more where needed", low=0, high=100
    )
    n_drafts: int = knob(1, "puzzles drawn, of which the hardest is taken", low=1, high=20)

    @classmethod
    def at(cls, difficulty: int) -> "KakurasuConfig":
        """Rows and columns lose their totals, those first that fix their cells; the grid grows.

        From level 4 on the hardest of several puzzles is taken. After level 10 the grid grows by a
        row and a column a level, up to 12x12.
        """
        if difficulty < len(_LEVELS):
            size, total_percent, n_drafts = _LEVELS[difficulty]
            return cls(size=size, total_percent=total_percent, n_drafts=n_drafts)
        return cls(size=min(_LARGEST, difficulty - 1), total_percent=0)


@dataclass(frozen=True, slots=True)
class KakurasuProblem:
    """The totals (-1: not told), and given cells, numbered from 0: chosen ones and others."""

    across: tuple[int, ...]
    down: tuple[int, ...]
    chosen: tuple[int, ...]
    others: tuple[int, ...]
    solution: tuple[str, ...] = hidden()


@register("Kakurasu-v0", domain="puzzles", answer_format="tag")
class KakurasuTask(Task[KakurasuConfig, KakurasuProblem]):
    """Choose cells so that the numbers of their columns and rows add up to given totals.

    Description:
        A random choice of cells and its totals. While another choice has the same totals, a cell
        where the two differ changes; where that does not end soon, cells are given. Then totals are
        taken away, those first that fix every cell of their row or column, as far as one solution
        remains.

    Observation:
        The totals of rows and columns; ``?`` where one is not told.

    Action:
        The grid, ``1`` for a chosen cell and ``0`` for another, a row a line.

    Reward:
        1 for a choice with the given totals and cells, otherwise 0.

    Verification:
        The totals and the given cells are checked. No known gaps.

    Difficulty:
        First the totals go that have one sum of positions, so that rows and columns must be seen
        together. Then puzzles are chosen in which more must be tried, and the grid grows. Effort is
        the steps of a search that proves that there is one solution.

    References:
        The puzzle is also known as Index Sums. Each of its totals is a subset sum: Garey and
        Johnson, "Computers and Intractability", 1979, problem SP13.
    """

    def generate(self, rng: Rng) -> KakurasuProblem:
        drafts = [self._draft(rng) for _ in range(self.config.n_drafts)]
        return max(drafts, key=self.effort) if len(drafts) > 1 else drafts[0]

    def _draft(self, rng: Rng) -> KakurasuProblem:
        size = self.config.size
        cells = list(integers(rng, 0, 1, size**2))
        given: dict[int, int] = {}
        changes = _CHANGES * size
        while True:  # ends at the latest when all cells are given
            totals = _totals(cells, size)
            rival = _rival(totals, given, cells)
            if rival.none_exists:
                break
            doubtful = rival.differs_at(tuple(cells), [c for c in range(size**2) if c not in given])
            cell = pick(rng, doubtful)
            changes -= 1
            if changes < 0:
                given[cell] = cells[cell]
            else:
                cells[cell] ^= 1
        self._thin(rng, totals, given, cells)
        marks = [_CHOSEN if value else _OTHER for value in cells]
        return KakurasuProblem(
            tuple(totals[:size]),
            tuple(totals[size:]),
            tuple(sorted(cell for cell in given if cells[cell])),
            tuple(sorted(cell for cell in given if not cells[cell])),
            tuple("".join(marks[i : i + size]) for i in range(0, size**2, size)),
        )

    def _thin(self, rng: Rng, totals: list[int], given: dict[int, int], cells: list[int]) -> None:
        """Take totals away while one solution remains; the rest of them are -1."""
        size = self.config.size
        order = shuffled(rng, len(totals))
        order.sort(key=lambda i: _ways(size, totals[i]).bit_count() > 1)
        percent = self.config.total_percent
        thin(totals, order, -1, percent, lambda: _rival(totals, given, cells).none_exists)

    def prompt(self, problem: KakurasuProblem) -> str:
        size = len(problem.across)
        across, down = (
            ", ".join(_UNKNOWN if total < 0 else str(total) for total in totals)
            for totals in (problem.across, problem.down)
        )
        unknown = (
            f" {_UNKNOWN} means that the total is not given." if _UNKNOWN in across + down else ""
        )
        given = "".join(
            f"Cells that are {what}, as (row, column): {show_cells(cells, size)}.\n"
            for what, cells in (("chosen", problem.chosen), ("not chosen", problem.others))
            if cells
        )
        given = f"{given}\n" if given else ""
        return (
            f"Solve this Kakurasu puzzle. Choose some cells of a {size}×{size} grid. Rows are "
            f"numbered from 1 to {size} from the top, and columns from 1 to {size} from the "
            "left.\n"
            "- The total of a row is the sum of the column numbers of the chosen cells in it.\n"
            "- The total of a column is the sum of the row numbers of the chosen cells in it.\n\n"
            f"Totals of the rows, from the top: {across}\n"
            f"Totals of the columns, from the left: {down}\n\n"
            f"{given}A total of 0 means that no cell of the row or column is chosen.{unknown} "
            "There is exactly one solution. Answer with the whole grid, one row per line, with "
            f"{_CHOSEN} for each chosen cell and {_OTHER} for each other cell, separated by spaces."
        )

    def verify(self, problem: KakurasuProblem, answer: str) -> Verdict:
        size = len(problem.across)
        grid = read_grid(answer, size, size, (_CHOSEN, _OTHER))
        if grid is None:
            return Verdict.unparsable(
                f"expected {size} lines of {size} digits, each {_CHOSEN} or {_OTHER}"
            )
        cells = [int(mark) for row in grid for mark in row]
        if not all(cells[cell] for cell in problem.chosen) or any(
            cells[cell] for cell in problem.others
        ):
            return Verdict.wrong("a given cell was changed")
        given = (*problem.across, *problem.down)
        names = line_names(lines(size)).values()
        for name, total, expected in zip(names, _totals(cells, size), given, strict=True):
            if expected not in (-1, total):
                return Verdict.wrong(f"{name} has the total {total} instead of {expected}")
        return Verdict.correct()

    def solve(self, problem: KakurasuProblem) -> str:
        return show_grid(problem.solution)

    def explain(self, problem: KakurasuProblem) -> list[str]:
        """Return the cells that are chosen and those that are not in an order in which they follow.

        Each follows from one total, or from a supposition that contradicts one.
        """
        size = len(problem.across)
        totals = (*problem.across, *problem.down)
        names = line_names(lines(size)).values()
        said = [f"{n} has the total {t}" for n, t in zip(names, totals, strict=True) if t >= 0]
        marks = ("not chosen", "chosen").__getitem__
        words = Words(by_row_and_column(size), "the totals", {}, said, marks)
        solution = tuple(int(mark) for mark in "".join(problem.solution))
        network, masks = _search_data(problem)
        return worked(network, masks, solution, words)

    def effort(self, problem: KakurasuProblem) -> int:
        """Count the steps until the search has proven that there is one solution."""
        network, masks = _search_data(problem)
        return search(network, masks, limit=2, max_nodes=_EFFORT_NODES).steps

    def baseline(self, rng: Rng, problem: KakurasuProblem) -> str:
        """Choose in each row the largest columns that fit its total, blind to the columns."""
        size = len(problem.across)
        rows = []
        for total in problem.across:
            left = total if total >= 0 else int(rng.random() * size)
            row = [_OTHER] * size
            for column in range(size, 0, -1):
                if column <= left:
                    row[column - 1] = _CHOSEN
                    left -= column
            rows.append(row)
        return show_grid(rows)


def _totals(cells: Sequence[int], size: int) -> list[int]:
    """Return the totals of the rows, then those of the columns."""
    return [sum(i for i, cell in enumerate(line, 1) if cells[cell]) for line in lines(size)]


def _ways(size: int, total: int) -> int:
    """Return the rows of a total, one bit each."""
    return _rows_with(size, total).all


@lru_cache(maxsize=512)
def _rows_with(size: int, total: int) -> RowSet:
    rows = product((0, 1), repeat=size)
    return RowSet([row for row in rows if sum(i for i, v in enumerate(row, 1) if v) == total])


def _network(totals: Sequence[int]) -> Network:
    size = len(totals) // 2
    rules: list[Rule] = [
        Table(line, _rows_with(size, total))
        for line, total in zip(lines(size), totals, strict=True)
        if total >= 0
    ]
    return Network(size**2, rules=rules)


def _masks(size: int, given: dict[int, int]) -> list[int]:
    return [1 << given[cell] if cell in given else 0b11 for cell in range(size**2)]


def _search_data(problem: KakurasuProblem) -> tuple[Network, list[int]]:
    given = dict.fromkeys(problem.chosen, 1) | dict.fromkeys(problem.others, 0)
    totals = (*problem.across, *problem.down)
    return _network(totals), _masks(len(problem.across), given)


def _rival(totals: Sequence[int], given: dict[int, int], cells: Sequence[int]) -> Rival:
    """Look for another choice of cells with the same totals."""
    masks = _masks(len(totals) // 2, given)
    return rival_of(tuple(cells), _network(totals), masks, _PROOF_NODES)
