"""Futoshiki: a Latin square with signs of inequality between neighbouring cells."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import (
    Network,
    RowSet,
    Table,
    Values,
    rival_of,
    search,
    shuffled,
)
from rlvr_envs.generators.grids.deductions import Words, line_names, worked
from rlvr_envs.generators.grids.latin_squares import (
    broken,
    given_masks,
    hurried,
    lines,
    misread,
    place,
    random_square,
    read,
    show,
)

_LARGEST = 40  # side of a square
_EFFORT_NODES = 20_000

# The side of the grid and the share of given numbers of the first levels.
_LEVELS = (
    *((4, 60), (4, 45), (4, 25), (5, 40), (5, 22), (6, 36), (6, 26), (6, 16), (7, 22), (7, 14)),
    (8, 18),
)

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class FutoshikiConfig(TaskConfig):
    """The side of the grid, and how many numbers and inequalities are given.

    More are given where a unique solution needs them.
    """

    size: int = knob(5, "rows and columns of the grid", low=2, high=_LARGEST)
    n_givens: int = 3
    n_signs: int = 12

    def check(self) -> None:
        if not 0 <= self.n_givens < self.size**2:
            raise ConfigError(f"n_givens must be from 0 to size**2 - 1, got {self.n_givens}")
        if not 0 <= self.n_signs <= 2 * self.size * (self.size - 1):
            raise ConfigError(
                f"n_signs must be from 0 to 2 * size * (size - 1), got {self.n_signs}"
            )

    @classmethod
    def at(cls, difficulty: int) -> "FutoshikiConfig":
        """The side grows from 4 to 8 at level 10; on one size, fewer numbers are given."""
        if difficulty < len(_LEVELS):
            size, share = _LEVELS[difficulty]
        else:
            size, share = min(_LARGEST, 3 + (difficulty + 1) // 2), 18
        share = max(2 * size - 2, share)  # larger squares need more
        signs = size * (size - 1) // 2
        return cls(size=size, n_givens=size * size * share // 100, n_signs=signs)


@dataclass(frozen=True, slots=True)
class FutoshikiProblem:
    """Cells in reading order; the first cell of a pair holds the smaller number."""

    size: int
    givens: tuple[int, ...]
    less: tuple[tuple[int, int], ...]
    solution: tuple[int, ...] = hidden()


@register("Futoshiki-v0", domain="puzzles", answer_format="tag")
class FutoshikiTask(Task[FutoshikiConfig, FutoshikiProblem]):
    """Fill a square so that no row or column repeats a number and every inequality holds.

    Description:
        A Latin square is drawn by a search in random order. Some of its numbers and some of the
        inequalities between neighbouring cells are given. While an exact search finds a second
        solution, an inequality or a number that rules it out is added.

    Observation:
        The square with a dot for each empty cell, and the list of inequalities.

    Action:
        The filled square, a row a line, numbers separated by spaces.

    Reward:
        1 for a square that keeps the given numbers and follows every rule, otherwise 0.

    Verification:
        The rules, checked on every row, column and inequality. No known gaps.

    Difficulty:
        The square grows from 4x4 to 8x8 and on, and fewer numbers are given, so that more must
        follow from chains of inequalities.

    References:
        Haraguchi, "The Number of Inequality Signs in the Design of Futoshiki Puzzle", 2013.
    """

    def generate(self, rng: Rng) -> FutoshikiProblem:
        size = self.config.size
        solution = random_square(rng, size)
        cells = shuffled(rng, size * size)
        signs = _signs(solution, size)
        signs = [signs[i] for i in shuffled(rng, len(signs))]
        kept = set(cells[: self.config.n_givens])
        told = set(signs[: self.config.n_signs])
        at_once = 1
        while len(kept) < size * size:
            masks = given_masks(_told(solution, kept), size)
            rival = rival_of(solution, _network(size, sorted(told)), masks)
            if rival.none_exists:
                break
            if rival.values is None:
                at_once *= 2
            wrong = _broken_signs(rival.values, signs)
            if wrong and integer(rng, 0, 2):
                told.add(wrong[0])
            else:
                unknown = [c for c in cells if c not in kept]
                kept.update(rival.differs_at(solution, unknown)[:at_once])
        return FutoshikiProblem(size, _told(solution, kept), tuple(sorted(told)), solution)

    def prompt(self, problem: FutoshikiProblem) -> str:
        size = problem.size
        signs = "\n".join(f"{place(a, size)} < {place(b, size)}" for a, b in problem.less)
        inequalities = (
            " These inequalities must hold too, where r2c3 is the number in row 2 (from the top), "
            f"column 3 (from the left):\n\n{signs}"
        )
        given = " Do not change the given numbers." if any(problem.givens) else ""
        return (
            f"Fill every empty cell of this {size}×{size} grid with a number from 1 to {size}. "
            f"A dot is an empty cell.{given}\n\n{show(problem.givens, size)}\n\n"
            f"Each row and each column must contain every number from 1 to {size} exactly once."
            f"{inequalities if problem.less else ''}\n\n"
            "There is exactly one solution. Answer with the whole filled grid, one row per line, "
            "with the numbers separated by spaces."
        )

    def verify(self, problem: FutoshikiProblem, answer: str) -> Verdict:
        size = problem.size
        square = read(answer, size, size, range(1, size + 1))
        if square is None:
            return misread(size, size, f"the numbers from 1 to {size}")
        fault = broken(square, problem.givens, lines(size), size)
        if fault is not None:
            return fault
        for low, high in problem.less:
            if square[low] >= square[high]:
                return Verdict.wrong(f"{place(low, size)} < {place(high, size)} does not hold")
        return Verdict.correct()

    def solve(self, problem: FutoshikiProblem) -> str:
        return show(problem.solution, problem.size)

    def explain(self, problem: FutoshikiProblem) -> list[str]:
        """Return what the inequalities leave, and the cells as they can be filled."""
        size = problem.size
        signs = [f"{place(a, size)} < {place(b, size)}" for a, b in problem.less]
        words = Words(
            lambda cell: place(cell, size), "its row and column", line_names(lines(size)), signs
        )
        masks = given_masks(problem.givens, size)
        return worked(_network(size, problem.less), masks, problem.solution, words)

    def effort(self, problem: FutoshikiProblem) -> int:
        """Count the steps until the search has proven that there is one solution."""
        network = _network(problem.size, problem.less)
        masks = given_masks(problem.givens, problem.size)
        return search(network, masks, limit=2, max_nodes=_EFFORT_NODES).steps

    def baseline(self, rng: Rng, problem: FutoshikiProblem) -> str:
        """Fill the cells in turn with the least number that does not clash, blind to the signs."""
        return show(hurried(problem.givens, lines(problem.size), problem.size), problem.size)


def _signs(solution: Values, size: int) -> list[Pair]:
    """Return all pairs of neighbouring cells, the smaller number's cell first."""
    across = [(c, c + 1) for c in range(size * size) if (c + 1) % size]
    down = [(c, c + size) for c in range(size * (size - 1))]
    return [(a, b) if solution[a] < solution[b] else (b, a) for a, b in (*across, *down)]


def _broken_signs(values: Values | None, signs: Sequence[Pair]) -> list[Pair]:
    return [] if values is None else [(a, b) for a, b in signs if values[a] > values[b]]


def _told(solution: Values, kept: set[int]) -> Values:
    return tuple(value if cell in kept else 0 for cell, value in enumerate(solution))


def _network(size: int, less: Sequence[Pair]) -> Network:
    rules = [Table(pair, _increasing(size)) for pair in less]
    return Network(size * size, groups=lines(size), rules=rules, n_values=size)


@cache
def _increasing(size: int) -> RowSet:
    return RowSet([(a, b) for b in range(1, size + 1) for a in range(1, b)])
