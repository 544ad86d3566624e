"""Binairo: a grid of zeros and ones, balanced and without three in a row."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick, stream
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import (
    Network,
    RowSet,
    Rule,
    Table,
    Values,
    search,
    shuffled_order,
)
from rlvr_envs.generators.grids.clues import choose_clues
from rlvr_envs.generators.grids.deductions import Words, by_row_and_column, line_names, worked
from rlvr_envs.generators.grids.latin_squares import EMPTY, lines
from rlvr_envs.verifiers.grids import read_grid, show_grid

_UNKNOWN = 0b11
_LARGEST = 24  # the legal lines of this length are some ten thousand
_FILL_NODES = 400
_EFFORT_NODES = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class BinairoConfig(TaskConfig):
    """The side of the grid, and how many cells are given."""

    size: int = knob(8, "rows and columns of the grid", low=4, high=_LARGEST)
    n_givens: int = knob(20, "given cells; more where a unique solution needs them")

    def check(self) -> None:
        if self.size % 2:
            raise ConfigError(f"size must be even, got {self.size}")
        if not 0 <= self.n_givens < self.size**2:
            raise ConfigError(f"n_givens is from 0 to size**2 - 1, got {self.n_givens}")

    @classmethod
    def at(cls, difficulty: int) -> "BinairoConfig":
        """The side grows from 4 to 14 at level 10, then slowly to 24; fewer cells are given."""
        size = 4 + 2 * (difficulty // 2 if difficulty < 10 else 5 + (difficulty - 10) // 4)
        share = max(25, 60 - 15 * (difficulty % 2) - 3 * difficulty)
        fewer = max(0, difficulty - 34)  # where the side has stopped growing
        size = min(size, _LARGEST)
        return cls(size=size, n_givens=max(0, size**2 * share // 100 - fewer))


@dataclass(frozen=True, slots=True)
class BinairoProblem:
    """Rows of ``0``, ``1`` and, where a cell is empty, a dot."""

    rows: tuple[str, ...]
    solution: tuple[str, ...] = hidden()


@register("Binairo-v0", domain="puzzles", answer_format="tag")
class BinairoTask(Task[BinairoConfig, BinairoProblem]):
    """Fill a grid with zeros and ones, half of each in every line and never three in a row.

    Description:
        A filled grid is drawn by an exact search in random order. A random choice of cells is
        completed until no second solution exists, then thinned out to the number asked for, as
        far as one solution remains.

    Observation:
        The grid with a dot for each empty cell.

    Action:
        The filled grid, a row a line.

    Reward:
        1 for a grid that keeps the given cells and follows every rule, otherwise 0.

    Verification:
        The rules, checked on every row and column. No known gaps.

    Difficulty:
        The grid grows from 4x4 to 14x14 at difficulty 10, and relatively fewer cells are given.

    References:
        De Biasi, "Binary Puzzle is NP-complete", 2012. Utomo and Makarim, "Solving a Binary
        Puzzle", 2017.
    """

    def generate(self, rng: Rng) -> BinairoProblem:
        size = self.config.size
        solution = _filled_grid(rng, size)
        kept = set(choose_clues(rng, _network(size), solution, self.config.n_givens, _UNKNOWN))
        shown = [str(v) if cell in kept else EMPTY for cell, v in enumerate(solution)]
        return BinairoProblem(_rows_of(shown, size), _rows_of(list(map(str, solution)), size))

    def prompt(self, problem: BinairoProblem) -> str:
        size = len(problem.rows)
        return (
            f"Fill every empty cell of this {size}×{size} grid with 0 or 1. A dot is an empty "
            f"cell. Do not change the given digits.\n\n{show_grid(problem.rows)}\n\n"
            "The filled grid must follow these rules:\n"
            f"- Each row and each column contains {size // 2} zeros and {size // 2} ones.\n"
            "- No three consecutive cells of a row or a column contain the same digit.\n"
            "- No two rows are the same, and no two columns are the same.\n\n"
            "There is exactly one solution. Answer with the whole filled grid, one row per line, "
            "with the digits separated by spaces."
        )

    def verify(self, problem: BinairoProblem, answer: str) -> Verdict:
        size = len(problem.rows)
        grid = read_grid(answer, size, size, ("0", "1"))
        if grid is None:
            return Verdict.unparsable(f"expected {size} lines of {size} digits, each 0 or 1")
        for number, (row, given) in enumerate(zip(grid, problem.rows, strict=True), start=1):
            if any(g not in (EMPTY, cell) for cell, g in zip(row, given, strict=True)):
                return Verdict.wrong(f"a given digit in row {number} was changed")
        columns = tuple(zip(*grid, strict=True))
        for name, group in (("row", grid), ("column", columns)):
            for number, line in enumerate(group, start=1):
                text = "".join(line)
                if text.count("1") != size // 2:
                    return Verdict.wrong(f"{name} {number} does not hold as many zeros as ones")
                if "000" in text or "111" in text:
                    return Verdict.wrong(f"{name} {number} has three equal digits in a row")
            if len(set(group)) < size:
                return Verdict.wrong(f"two {name}s are the same")
        return Verdict.correct()

    def solve(self, problem: BinairoProblem) -> str:
        return show_grid(problem.solution)

    def explain(self, problem: BinairoProblem) -> list[str]:
        """Return the cells in an order in which they can be filled, each with the reason."""
        size = len(problem.rows)
        named = line_names(lines(size))
        rules: list[tuple[Rule, str]] = [
            (Table(line[i : i + 3], _mixed()), f"{name} has no three equal digits side by side")
            for line, name in named.items()
            for i in range(size - 2)
        ]
        rules += [
            (_Balanced(line), f"{name} has as many zeros as ones") for line, name in named.items()
        ]
        rules += [
            (Table(line, RowSet(_legal_lines(size))), f"{name} keeps the rules")
            for line, name in named.items()
        ]
        network = Network(size * size, rules=[rule for rule, _ in rules])
        words = Words(by_row_and_column(size), "the rules", {}, [said for _, said in rules])
        solution = tuple(int(cell) for row in problem.solution for cell in row)
        return worked(network, _masks(problem), solution, words)

    def effort(self, problem: BinairoProblem) -> int:
        """Count the steps until the search has proven that there is one solution."""
        network = _network(len(problem.rows))
        return search(network, _masks(problem), limit=2, max_nodes=_EFFORT_NODES).steps

    def baseline(self, rng: Rng, problem: BinairoProblem) -> str:
        """Complete row after row with a legal one that suits the columns, if there is one."""
        size = len(problem.rows)
        done: list[Values] = []
        for row in problem.rows:
            fitting = [
                line
                for line in _legal_lines(size)
                if all(given in (EMPTY, str(v)) for given, v in zip(row, line, strict=True))
            ]
            suiting = [line for line in fitting if _suits(line, done)]
            done.append(pick(rng, suiting or fitting))
        return show_grid([[str(value) for value in line] for line in done])


def _masks(problem: BinairoProblem) -> list[int]:
    cells = "".join(problem.rows)
    return [_UNKNOWN if cell == EMPTY else 1 << int(cell) for cell in cells]


def _suits(line: Values, above: Sequence[Values]) -> bool:
    """Return whether a row may stand below others, by the rules on columns so far."""
    for i, value in enumerate(line):
        column = [row[i] for row in above]
        if column[-2:] == [value, value] or column.count(value) == len(line) // 2:
            return False
    return line not in above


class _Balanced:
    """A line whose open cells are known once half of its cells hold the same digit."""

    def __init__(self, cells: Values) -> None:
        self.cells = cells

    def narrow(self, masks: list[int]) -> list[int] | None:
        for digit in (0b01, 0b10):
            count = sum(masks[cell] == digit for cell in self.cells)
            if 2 * count > len(self.cells):
                return None
            if 2 * count == len(self.cells):
                changed = [cell for cell in self.cells if masks[cell] == _UNKNOWN]
                for cell in changed:
                    masks[cell] ^= digit
                return changed
        return []


class _Unlike:
    """A line that no other line of its direction may equal."""

    def __init__(self, cells: Values, others: Sequence[Values]) -> None:
        self.cells = cells
        self.others = others

    def narrow(self, masks: list[int]) -> list[int] | None:
        line = [masks[cell] for cell in self.cells]
        if _UNKNOWN in line:
            return []
        same = any([masks[cell] for cell in other] == line for other in self.others)
        return None if same else []


@cache
def _mixed() -> RowSet:
    """Return three neighbouring digits that are not all equal."""
    return RowSet([row for row in product((0, 1), repeat=3) if len(set(row)) == 2])


@cache
def _legal_lines(size: int) -> list[Values]:
    """Return the lines with as many zeros as ones and never three equal digits in a row."""
    found: list[Values] = [()]
    for _ in range(size):
        found = [
            (*line, value)
            for line in found
            for value in (0, 1)
            if line[-2:] != (value, value) and line.count(value) < size // 2
        ]
    return found


@cache
def _network(size: int) -> Network:
    legal = RowSet(_legal_lines(size))
    rows, columns = lines(size)[:size], lines(size)[size:]
    rules: list[Rule] = [Table(line, legal) for line in lines(size)]
    for group in (rows, columns):
        rules += [_Unlike(line, [other for other in group if other != line]) for line in group]
    return Network(size * size, rules=rules)


def _filled_grid(rng: Rng, size: int) -> Values:
    """Draw a grid; searches that go astray are given up, and in the end a fixed grid is taken."""
    masks = [_UNKNOWN] * (size * size)
    for source in (rng, rng, rng, stream("Binairo", size)):
        order = shuffled_order(source, size * size, 1)
        found = search(_network(size), masks, limit=1, max_nodes=_FILL_NODES, order=order)
        if found.solutions:
            return found.solutions[0]
    raise RuntimeError(f"the fixed search for a grid of side {size} is known to succeed")


def _rows_of(cells: Sequence[str], size: int) -> tuple[str, ...]:
    return tuple("".join(cells[i : i + size]) for i in range(0, size * size, size))
