"""Slitherlink: one loop along the lines of a grid."""

from dataclasses import dataclass
from functools import cache
from itertools import product

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.puzzles._loops import Search, count_sides, draw_clues, draw_inside, is_single
from rlvr_envs.envs.puzzles._puzzle import PuzzleTask
from rlvr_envs.generators.grids.candidates import Network, RowSet, Rule, Table
from rlvr_envs.generators.grids.deductions import Connected, Words, worked
from rlvr_envs.generators.moves.scoring import plural
from rlvr_envs.verifiers.grids import read_grid, show_grid

_INSIDE, _OUTSIDE, _NO_CLUE = "#", ".", "?"
_MAX_SIDE = 40
_DRAWS = 20
_LIMIT = 20_000  # cells of positions that proving uniqueness may look at
_FEWEST = 20  # positions, on a board of any size
_EFFORT_LIMIT = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SlitherlinkConfig:
    """The size of the grid, and how many cells have a number at first."""

    n_rows: int = 5
    n_columns: int = 5
    clue_percent: int = 60  # of the cells, before more are needed for a single solution

    def __post_init__(self) -> None:
        sides = (self.n_rows, self.n_columns)
        if not 3 <= min(sides) <= max(sides) <= _MAX_SIDE or not 1 <= self.clue_percent <= 100:
            raise ConfigError(
                f"need n_rows and n_columns in 3..{_MAX_SIDE} and clue_percent in 1..100, "
                f"got {self}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "SlitherlinkConfig":
        """Five rungs add three rows and columns; the numbers get rarer, down to 40 per cent."""
        return cls(
            n_rows=min(_MAX_SIDE, 3 + 3 * difficulty // 5),
            n_columns=min(_MAX_SIDE, 3 + (3 * difficulty + 2) // 5),
            clue_percent=max(40, 100 - 8 * difficulty),
        )


@dataclass(frozen=True, slots=True)
class SlitherlinkProblem:
    """The numbers, row by row, and the cells inside the loop."""

    rows: tuple[str, ...]
    inside: tuple[str, ...] = hidden()


@register("Slitherlink-v0", domain="puzzles", answer_format="tag")
class SlitherlinkTask(PuzzleTask[SlitherlinkConfig, SlitherlinkProblem]):
    """Find the loop along the lines of a grid from the number of sides it takes of some cells.

    Description:
        A random winding loop, and the numbers of some cells. While another loop has the same
        numbers, one is added that it does not have.

    Observation:
        The grid with the numbers, and ``?`` for cells without one.

    Action:
        The cells inside the loop, as a grid: ``#`` for a cell inside and ``.`` for one outside.

    Reward:
        1 for the loop, otherwise 0.

    Episode End:
        After one step.

    Verification:
        The border of the cells inside is a single loop that does not touch itself if these form
        one piece and each cell outside is connected to the edge of the grid; then the sides are
        counted. An exact search has shown that one loop fits. No known gaps.

    Difficulty:
        The grid grows, and the share of the cells with numbers falls.

    References:
        Yato and Seta, "Complexity and Completeness of Finding Another Solution and Its Application
        to Puzzles", 2003.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> SlitherlinkProblem:
        config = self.config
        shape = (config.n_rows, config.n_columns)
        n_cells = config.n_rows * config.n_columns
        n_clues = max(1, n_cells * config.clue_percent // 100)
        for _ in range(_DRAWS):
            inside = draw_inside(rng, shape)
            clues = draw_clues(rng, shape, inside, n_clues, limit=max(_FEWEST, _LIMIT // n_cells))
            if clues is not None:
                break
        else:  # all numbers of the loop along the edge of the grid fit no other loop
            inside = [1] * n_cells
            clues = dict(enumerate(count_sides(inside, shape)))
        marks = [str(clues[cell]) if cell in clues else _NO_CLUE for cell in range(n_cells)]
        picture = [_INSIDE if colour else _OUTSIDE for colour in inside]
        return SlitherlinkProblem(self._rows(marks), self._rows(picture))

    def _rows(self, marks: list[str]) -> tuple[str, ...]:
        width = self.config.n_columns
        return tuple("".join(marks[i : i + width]) for i in range(0, len(marks), width))

    def prompt(self, problem: SlitherlinkProblem) -> str:
        n_rows, n_columns = len(problem.rows), len(problem.rows[0])
        return (
            f"A closed loop runs along the lines of a grid with {n_rows} rows and {n_columns} "
            "columns of cells, that is, along sides of cells. It is a single loop that neither "
            "crosses nor touches itself, not even at a corner. The number in a cell says how many "
            f"of its four sides belong to the loop; {_NO_CLUE} says nothing:\n\n"
            f"{show_grid(problem.rows)}\n\nExactly one loop fits. Answer with the same grid, one "
            f"row a line, with {_INSIDE} for each cell inside the loop and {_OUTSIDE} for each "
            "cell outside."
        )

    def verify(self, problem: SlitherlinkProblem, answer: str) -> Verdict:
        shape = (len(problem.rows), len(problem.rows[0]))
        grid = read_grid(answer, *shape, (_INSIDE, _OUTSIDE))
        if grid is None:
            return Verdict.unparsable(
                f"expected {shape[0]} lines of {shape[1]} characters {_INSIDE} or {_OUTSIDE}"
            )
        inside = [int(mark == _INSIDE) for row in grid for mark in row]
        if not is_single(inside, shape):
            return Verdict.wrong("the border of the cells inside is not a single loop")
        counts = count_sides(inside, shape)
        for cell, mark in enumerate("".join(problem.rows)):
            if mark not in (_NO_CLUE, str(counts[cell])):
                row, column = divmod(cell, shape[1])
                return Verdict.wrong(
                    f"the cell in row {row + 1}, column {column + 1} has {counts[cell]} sides "
                    f"instead of {mark}"
                )
        return Verdict.correct()

    def solve(self, problem: SlitherlinkProblem) -> str:
        return show_grid(problem.inside)

    def explain(self, problem: SlitherlinkProblem) -> list[str]:
        """Return the cells inside and outside the loop in an order in which they follow.

        Around the grid lies a ring of cells that are outside.
        """
        n_rows, width = len(problem.rows) + 2, len(problem.rows[0]) + 2
        rules: list[Rule] = []
        told = []
        for row, marks in enumerate(problem.rows, 1):
            for column, mark in enumerate(marks, 1):
                if mark != _NO_CLUE:
                    cell = row * width + column
                    cells = (cell, cell - width, cell + width, cell - 1, cell + 1)
                    rules.append(Table(cells, _with_sides(int(mark))))
                    told.append(f"the loop takes {plural(int(mark), 'side')} of ({row}, {column})")
        for cell in range((n_rows - 1) * width):
            if cell % width < width - 1:
                rules.append(Table((cell, cell + 1, cell + width, cell + width + 1), _corner()))
                told.append("the loop does not touch itself at a corner")
        rules += [Connected(n_rows, width, value) for value in (1, 0)]
        told += ["the cells inside are connected", "the cells outside are connected with the edge"]
        words = Words(
            lambda cell: f"({cell // width}, {cell % width})",
            "the rules",
            {},
            told,
            ("outside", "inside").__getitem__,
        )
        ring = _OUTSIDE * width
        picture = "".join([ring, *(f"{_OUTSIDE}{row}{_OUTSIDE}" for row in problem.inside), ring])
        solution = tuple(int(mark == _INSIDE) for mark in picture)
        masks = [
            0b11 if 0 < cell // width < n_rows - 1 and 0 < cell % width < width - 1 else 0b01
            for cell in range(n_rows * width)
        ]
        return worked(Network(len(masks), rules=rules), masks, solution, words)

    def effort(self, problem: SlitherlinkProblem) -> int:
        shape = (len(problem.rows), len(problem.rows[0]))
        marks = enumerate("".join(problem.rows))
        clues = {cell: int(mark) for cell, mark in marks if mark != _NO_CLUE}
        return Search(shape, clues, limit=_EFFORT_LIMIT).nodes

    def guess(self, problem: SlitherlinkProblem, rng: Rng) -> str:
        """Put cells with 0 outside, with 3 inside, and the others as the cell before, at random."""
        rows = []
        for row in problem.rows:
            line = ""
            for mark in row:
                by_clue = {"0": _OUTSIDE, "3": _INSIDE}.get(mark)
                line += by_clue or pick(rng, (_INSIDE, _OUTSIDE, line[-1:] or _INSIDE))
            rows.append(line)
        return show_grid(rows)


@cache
def _with_sides(count: int) -> RowSet:
    """Return the colours of a cell and the four beside it, so many of which are unlike it."""
    rows = product((0, 1), repeat=5)
    return RowSet([row for row in rows if sum(other != row[0] for other in row[1:]) == count])


@cache
def _corner() -> RowSet:
    """Return the colours of two by two cells that are no two pairs across."""
    rows = product((0, 1), repeat=4)
    return RowSet([row for row in rows if row not in ((0, 1, 1, 0), (1, 0, 0, 1))])
