"""Survo: fill a table with different numbers, given the sums of its rows and columns."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network, Values, search, shuffled
from rlvr_envs.generators.grids.clues import choose_clues
from rlvr_envs.generators.grids.deductions import Words, by_row_and_column, worked
from rlvr_envs.generators.grids.latin_squares import given_masks, read, show
from rlvr_envs.generators.grids.sums import Sum

_LONGEST = 6  # rows and columns; sums of longer ones have too many terms to choose from
_MOST_CELLS = 25
_PROOF_NODES = 60
_EFFORT_NODES = 5_000

# Rows, columns, percentage of given numbers, and drafts of the first levels.
_LEVELS = (
    *((2, 3, 50, 1), (3, 3, 50, 1), (3, 3, 25, 1), (3, 3, 0, 3), (3, 4, 25, 1)),
    *((3, 4, 0, 1), (3, 4, 0, 4), (3, 5, 0, 1), (4, 4, 0, 1), (4, 4, 0, 4), (4, 5, 0, 2)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurvoPuzzleConfig(TaskConfig):
    """The size of the table, and how many numbers are given."""

    n_rows: int = knob(3, "rows of the table", low=2, high=_LONGEST)
    n_columns: int = knob(4, "columns of the table", low=2, high=_LONGEST)
    given_percent: int = knob(
        20, "percentage of given numbers; more where a unique solution needs them", low=0, high=90
    )
    n_drafts: int = knob(1, "puzzles drawn, of which the hardest is taken", low=1, high=20)

    def check(self) -> None:
        n_cells = self.n_rows * self.n_columns
        if not 6 <= n_cells <= _MOST_CELLS:
            raise ConfigError(f"n_rows * n_columns is from 6 to {_MOST_CELLS}, got {n_cells}")

    @classmethod
    def at(cls, difficulty: int) -> "SurvoPuzzleConfig":
        """Fewer numbers are given, in the end no more than a unique solution needs.

        The table grows from 2x3 over 3x3, 3x4 and 4x4 to 5x5, and the hardest of several puzzles
        is taken: of 3 at level 3, of up to 10 in the end.
        """
        if difficulty < len(_LEVELS):
            n_rows, n_columns, given_percent, n_drafts = _LEVELS[difficulty]
        else:
            n_rows, n_columns, given_percent, n_drafts = 5, 5, 0, min(10, difficulty - 10)
        return cls(
            n_rows=n_rows, n_columns=n_columns, given_percent=given_percent, n_drafts=n_drafts
        )


@dataclass(frozen=True, slots=True)
class SurvoPuzzleProblem:
    """The table row by row (0 is an empty cell), and the sums of its rows and columns."""

    givens: Values
    across: tuple[int, ...]
    down: tuple[int, ...]
    solution: Values = hidden()


@register("SurvoPuzzle-v0", domain="puzzles", answer_format="tag")
class SurvoPuzzleTask(Task[SurvoPuzzleConfig, SurvoPuzzleProblem]):
    """Put the numbers from 1 on into a table so that its rows and columns have given sums.

    Description:
        The numbers in random order, and the sums of rows and columns. Numbers are given until no
        second solution exists, then thinned out as far as one solution remains.

    Observation:
        The table with a dot for each empty cell, and the sums.

    Action:
        The filled table, a row a line.

    Reward:
        1 for a table that keeps the given numbers and has the sums, otherwise 0.

    Verification:
        Every number occurs once, and the sums hold. No known gaps.

    Difficulty:
        Fewer numbers are given, so that no row or column is left with one open cell, and sums must
        be split into sets of numbers that fit each other; then the table grows, and puzzles are
        chosen in which more must be tried. Effort is the steps of a search that proves that there
        is one solution.

    References:
        Mustonen, "On certain cross sum puzzles", 2006.
    """

    def generate(self, rng: Rng) -> SurvoPuzzleProblem:
        drafts = [self._draft(rng) for _ in range(self.config.n_drafts)]
        return max(drafts, key=self.effort) if len(drafts) > 1 else drafts[0]

    def _draft(self, rng: Rng) -> SurvoPuzzleProblem:
        n_rows, n_columns = self.config.n_rows, self.config.n_columns
        n_cells = n_rows * n_columns
        solution = tuple(1 + number for number in shuffled(rng, n_cells))
        sums = [sum(solution[cell] for cell in line) for line in _lines(n_rows, n_columns)]
        network = _network(n_rows, n_columns, tuple(sums))
        n_givens = n_cells * self.config.given_percent // 100
        unknown = (2 << n_cells) - 2
        kept = set(choose_clues(rng, network, solution, n_givens, unknown, _PROOF_NODES))
        givens = tuple(number if cell in kept else 0 for cell, number in enumerate(solution))
        return SurvoPuzzleProblem(givens, tuple(sums[:n_rows]), tuple(sums[n_rows:]), solution)

    def prompt(self, problem: SurvoPuzzleProblem) -> str:
        n_rows, n_columns = len(problem.across), len(problem.down)
        given = " Do not change the given numbers." if any(problem.givens) else ""
        return (
            f"Solve this Survo puzzle. Fill every empty cell of a table with {n_rows} rows and "
            f"{n_columns} columns, so that each number from 1 to {n_rows * n_columns} occurs "
            f"exactly once and the rows and columns have the sums below. A dot is an empty "
            f"cell.{given}\n\n{show(problem.givens, n_columns)}\n\n"
            f"Sums of the rows, from the top: {', '.join(map(str, problem.across))}\n"
            f"Sums of the columns, from the left: {', '.join(map(str, problem.down))}\n\n"
            "There is exactly one solution. Answer with the whole filled table, one row per line, "
            "with the numbers separated by spaces. Leave out the sums."
        )

    def verify(self, problem: SurvoPuzzleProblem, answer: str) -> Verdict:
        n_rows, n_columns = len(problem.across), len(problem.down)
        n_cells = n_rows * n_columns
        numbers = read(answer, n_rows, n_columns, range(1, n_cells + 1))
        if numbers is None:
            return Verdict.unparsable(
                f"expected {n_rows} lines of {n_columns} numbers from 1 to {n_cells}"
            )
        for number, given in zip(numbers, problem.givens, strict=True):
            if given not in (0, number):
                return Verdict.wrong(f"the given {given} was changed")
        if len(set(numbers)) < n_cells:
            return Verdict.wrong("a number occurs twice")
        sums = (*problem.across, *problem.down)
        for i, (line, expected) in enumerate(zip(_lines(n_rows, n_columns), sums, strict=True)):
            total = sum(numbers[cell] for cell in line)
            if total != expected:
                return Verdict.wrong(
                    f"{_name(i, n_rows)} has the sum {total} instead of {expected}"
                )
        return Verdict.correct()

    def solve(self, problem: SurvoPuzzleProblem) -> str:
        return show(problem.solution, len(problem.down))

    def explain(self, problem: SurvoPuzzleProblem) -> list[str]:
        """Return what the sums leave, and the cells as they can be filled."""
        network, masks = _search_data(problem)
        n_rows, n_columns = len(problem.across), len(problem.down)
        sums = (*problem.across, *problem.down)
        said = [f"{_name(i, n_rows)} has the sum {total}" for i, total in enumerate(sums)]
        words = Words(
            by_row_and_column(n_columns),
            "the other numbers",
            {tuple(range(n_rows * n_columns)): "the table"},
            said,
        )
        return worked(network, masks, problem.solution, words)

    def effort(self, problem: SurvoPuzzleProblem) -> int:
        """Count the steps until the search has proven that there is one solution."""
        network, masks = _search_data(problem)
        return search(network, masks, limit=2, max_nodes=_EFFORT_NODES).steps

    def baseline(self, rng: Rng, problem: SurvoPuzzleProblem) -> str:
        """Fill row after row at random; the last cell gets the number that the sum wants."""
        n_columns = len(problem.down)
        numbers = list(problem.givens)
        left = [n for n in range(1, len(numbers) + 1) if n not in numbers]
        left = [left[i] for i in shuffled(rng, len(left))]
        for row, total in enumerate(problem.across):
            cells = range(row * n_columns, (row + 1) * n_columns)
            for cell in [cell for cell in cells if not numbers[cell]]:
                wanted = total - sum(numbers[other] for other in cells)
                is_last = sum(not numbers[other] for other in cells) == 1
                number = wanted if is_last and wanted in left else left[0]
                left.remove(number)
                numbers[cell] = number
        return show(numbers, n_columns)


def _name(line: int, n_rows: int) -> str:
    return f"row {line + 1}" if line < n_rows else f"column {line - n_rows + 1}"


@lru_cache(maxsize=32)
def _lines(n_rows: int, n_columns: int) -> tuple[Values, ...]:
    """Return the cells of the rows, then those of the columns."""
    n_cells = n_rows * n_columns
    rows = [tuple(range(i, i + n_columns)) for i in range(0, n_cells, n_columns)]
    return (*rows, *(tuple(range(i, n_cells, n_columns)) for i in range(n_columns)))


def _network(n_rows: int, n_columns: int, sums: Sequence[int]) -> Network:
    n_cells = n_rows * n_columns
    lines = zip(_lines(n_rows, n_columns), sums, strict=True)
    rules = [Sum(line, total, n_cells) for line, total in lines]
    return Network(n_cells, groups=(tuple(range(n_cells)),), rules=rules, n_values=n_cells)


def _search_data(problem: SurvoPuzzleProblem) -> tuple[Network, list[int]]:
    n_rows, n_columns = len(problem.across), len(problem.down)
    network = _network(n_rows, n_columns, (*problem.across, *problem.down))
    return network, given_masks(problem.givens, n_rows * n_columns)
