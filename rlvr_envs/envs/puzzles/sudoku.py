"""Sudoku of any size with rectangular boxes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task, Variant
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import (
    Network,
    Values,
    search,
    shuffled,
    shuffled_order,
)
from rlvr_envs.generators.grids.clues import choose_clues
from rlvr_envs.generators.grids.deductions import Words, by_row_and_column, line_names, worked
from rlvr_envs.generators.grids.latin_squares import (
    all_open,
    broken,
    given_masks,
    hurried,
    lines,
    misread,
    read,
    show,
)

_MAX_SIDE = 64
_FILL_NODES = 300
_EFFORT_NODES = 5_000

# Box height, box width and clues of the first levels.
_LEVELS = (
    *((2, 2, 11), (2, 2, 8), (2, 2, 5), (2, 3, 20), (2, 3, 12)),
    *((3, 3, 46), (3, 3, 38), (3, 3, 31), (3, 3, 25), (3, 4, 62)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SudokuConfig(TaskConfig):
    """The size of a box, and how many clues are left."""

    box_height: int = knob(3, "rows of a box", low=1)
    box_width: int = knob(3, "the grid's side is box_height * box_width", low=2)
    n_clues: int = knob(36, "clues left; more stay where uniqueness needs them")

    def check(self) -> None:
        side = self.box_height * self.box_width
        if side > _MAX_SIDE:
            raise ConfigError(f"box_height * box_width is at most {_MAX_SIDE}, got {self}")
        cells = (self.box_height * self.box_width) ** 2
        if not 0 <= self.n_clues < cells:
            raise ConfigError(f"n_clues is from 0 to {cells - 1} on this grid, got {self.n_clues}")

    @classmethod
    def at(cls, difficulty: int) -> "SudokuConfig":
        """The grid grows from 4x4 through 9x9 to 16x16 and on; on one size, clues disappear."""
        if difficulty < len(_LEVELS):
            height, width, clues = _LEVELS[difficulty]
            return cls(box_height=height, box_width=width, n_clues=clues)
        beyond = min(difficulty - len(_LEVELS), 53)  # up to a side of 64
        height, width = 4 + beyond // 12, 4 + (beyond + 6) // 12
        share = 48 - beyond % 6  # per cent of the cells
        return cls(box_height=height, box_width=width, n_clues=(height * width) ** 2 * share // 100)


@dataclass(frozen=True, slots=True)
class SudokuProblem:
    """Cells in reading order; 0 is an empty cell."""

    box_height: int
    box_width: int
    givens: tuple[int, ...]
    solution: tuple[int, ...] = hidden()


@register("Sudoku-v0", domain="puzzles", answer_format="tag")
class SudokuTask(Task[SudokuConfig, SudokuProblem]):
    """Fill a grid so that each row, column and box holds every number once.

    Description:
        A filled grid is drawn by an exact search that tries numbers in random order (up to 9x9;
        larger grids start from a shuffled pattern, half of which is erased and filled anew). A
        random choice of clues is completed until no second solution exists, then thinned out to
        the required number, as long as one solution remains.

    Observation:
        The grid with a dot for each empty cell, and the size of the boxes.

    Action:
        The filled grid, one row per line, numbers separated by spaces.

    Reward:
        1 for a grid that contains the clues and obeys every rule, otherwise 0.

    Verification:
        The rules, checked on every row, column and box. No known gaps.

    Difficulty:
        The grid grows from 4x4 with 5 cells missing to 9x9, 16x16 and beyond, and clues are
        removed.

    References:
        Simonis, "Sudoku as a Constraint Problem", 2005.
    """

    def generate(self, rng: Rng) -> SudokuProblem:
        height, width = self.config.box_height, self.config.box_width
        solution = _filled_grid(rng, height, width)
        unknown = (2 << height * width) - 2
        network = _network(height, width)
        kept = set(choose_clues(rng, network, solution, self.config.n_clues, unknown))
        givens = tuple(value if cell in kept else 0 for cell, value in enumerate(solution))
        return SudokuProblem(height, width, givens, solution)

    def prompt(self, problem: SudokuProblem) -> str:
        height, width = problem.box_height, problem.box_width
        size = height * width
        return (
            f"Solve this {size}×{size} Sudoku; a dot is an empty cell:\n\n"
            f"{show(problem.givens, size)}\n\n"
            f"Fill every empty cell with a number from 1 to {size} so that each row, each column "
            f"and each box contains every number from 1 to {size} exactly once. The boxes are "
            f"blocks of {height} rows and {width} columns; they divide the grid, starting at its "
            "top left corner. There is exactly one solution. Answer with the complete grid, one "
            "row per line, with the numbers separated by spaces."
        )

    def verify(self, problem: SudokuProblem, answer: str) -> Verdict:
        size = problem.box_height * problem.box_width
        grid = read(answer, size, size, range(1, size + 1))
        if grid is None:
            return misread(size, size, f"the numbers from 1 to {size}")
        groups = _groups(problem.box_height, problem.box_width)
        return broken(grid, problem.givens, groups, size) or Verdict.correct()

    def solve(self, problem: SudokuProblem) -> str:
        return show(problem.solution, problem.box_height * problem.box_width)

    def variant(self, problem: SudokuProblem, rng: Rng) -> Variant[SudokuProblem]:
        """Turn rows into columns and put other numbers for the numbers."""
        size = problem.box_height * problem.box_width
        new = [0, *(1 + i for i in rng.permutation(size).tolist())]

        def turned(cells: Sequence[int]) -> tuple[int, ...]:
            return tuple(new[cells[j * size + i]] for i in range(size) for j in range(size))

        def answer(text: str) -> str:
            return show(turned([int(cell) for cell in text.split()]), size)

        changed = SudokuProblem(
            box_height=problem.box_width,
            box_width=problem.box_height,
            givens=turned(problem.givens),
            solution=turned(problem.solution),
        )
        return Variant(changed, answer, ("names", "order"))

    def explain(self, problem: SudokuProblem) -> list[str]:
        """Return the cells in an order in which they can be filled, each with the reason."""
        height, width = problem.box_height, problem.box_width
        size = height * width
        boxes = _groups(height, width)[2 * size :]
        names = line_names(lines(size)) | {
            box: f"the box of rows {box[0] // size + 1} to {box[-1] // size + 1} and columns "
            f"{box[0] % size + 1} to {box[-1] % size + 1}"
            for box in boxes
        }
        words = Words(by_row_and_column(size), "its row, column and box", names)
        masks = given_masks(problem.givens, size)
        return worked(_network(height, width), masks, problem.solution, words)

    def effort(self, problem: SudokuProblem) -> int:
        """Count the steps until the search has proven that there is one solution."""
        network = _network(problem.box_height, problem.box_width)
        masks = given_masks(problem.givens, problem.box_height * problem.box_width)
        return search(network, masks, limit=2, max_nodes=_EFFORT_NODES).steps

    def baseline(self, rng: Rng, problem: SudokuProblem) -> str:
        """Fill the cells in turn with the least number that does not clash yet."""
        size = problem.box_height * problem.box_width
        groups = _groups(problem.box_height, problem.box_width)
        return show(hurried(problem.givens, groups, size), size)


@cache
def _groups(height: int, width: int) -> tuple[Values, ...]:
    size = height * width
    boxes = (
        tuple((top + r) * size + left + c for r in range(height) for c in range(width))
        for top in range(0, size, height)
        for left in range(0, size, width)
    )
    return (*lines(size), *boxes)


@cache
def _network(height: int, width: int) -> Network:
    size = height * width
    return Network(size * size, groups=_groups(height, width), n_values=size)


def _filled_grid(rng: Rng, height: int, width: int) -> Values:
    size = height * width
    pattern = _pattern(rng, height, width)
    masks = all_open(size * size, size)
    if size > 9:  # a search from nothing may take long there
        for cell in shuffled(rng, size * size)[: size * size // 2]:
            masks[cell] = 1 << pattern[cell]
    order = shuffled_order(rng, size * size, size)
    found = search(_network(height, width), masks, limit=1, max_nodes=_FILL_NODES, order=order)
    return found.solutions[0] if found.solutions else pattern


def _pattern(rng: Rng, height: int, width: int) -> Values:
    """Return the grid whose rows are shifts of one another, rows, columns and numbers shuffled."""
    size = height * width
    rows = [b * height + r for b in shuffled(rng, width) for r in shuffled(rng, height)]
    columns = [b * width + c for b in shuffled(rng, height) for c in shuffled(rng, width)]
    numbers = shuffled(rng, size)
    return tuple(
        numbers[(width * (r % height) + r // height + c) % size] + 1 for r in rows for c in columns
    )
