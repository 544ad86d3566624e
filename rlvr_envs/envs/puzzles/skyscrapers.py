"""Skyscrapers: a Latin square of building heights, seen from its edges."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import (
    Network,
    RowSet,
    Rule,
    Table,
    Values,
    rival_of,
    search,
    shuffled,
)
from rlvr_envs.generators.grids.deductions import Words, by_row_and_column, line_names, worked
from rlvr_envs.generators.grids.latin_squares import (
    broken,
    given_masks,
    hurried,
    lines,
    misread,
    random_square,
    read,
    show,
)

_MAX_SIZE = 40
_EFFORT_NODES = 2_000
_GENERATE_NODES = 50  # views take long to narrow by
_SIDES = ("top", "bottom", "left", "right")


@dataclass(frozen=True, slots=True, kw_only=True)
class SkyscrapersConfig(TaskConfig):
    """The side of the grid and how much is given; more is given where uniqueness needs it."""

    size: int = knob(5, "rows and columns of the grid", low=2, high=_MAX_SIZE)
    n_views: int = knob(14, "numbers given at the edges, 4 * size at most")
    n_givens: int = knob(0, "heights given from the start")

    def check(self) -> None:
        if not 0 <= self.n_views <= 4 * self.size:
            raise ConfigError(f"n_views is from 0 to 4 * size, got {self.n_views}")
        if not 0 <= self.n_givens < self.size**2:
            raise ConfigError(f"n_givens is from 0 to size**2 - 1, got {self.n_givens}")

    @classmethod
    def at(cls, difficulty: int) -> "SkyscrapersConfig":
        """The side grows from 3 by one every other level; views and given heights get fewer."""
        size = min(_MAX_SIZE, 3 + difficulty // 2)
        views = 4 * size * max(45, 90 - 5 * difficulty) // 100
        share = 25 - 5 * difficulty if difficulty % 2 else 50 - 4 * difficulty
        floor = min(80, 4 * size - 16)  # per cent; views alone do not determine a large grid
        return cls(size=size, n_views=views, n_givens=size**2 * max(0, floor, share) // 100)


@dataclass(frozen=True, slots=True)
class SkyscrapersProblem:
    """Views in the order of rows or columns; 0 stands for a view that is not given."""

    size: int
    top: tuple[int, ...]
    bottom: tuple[int, ...]
    left: tuple[int, ...]
    right: tuple[int, ...]
    givens: tuple[int, ...]
    solution: tuple[int, ...] = hidden()


@register("Skyscrapers-v0", domain="puzzles", answer_format="tag")
class SkyscrapersTask(Task[SkyscrapersConfig, SkyscrapersProblem]):
    """Find the heights of buildings from how many of them are seen from each edge.

    Description:
        A Latin square of heights is drawn by a search in random order. Some views and some heights
        are given. As long as an exact search finds a second solution, a view or a height that rules
        it out is added.

    Observation:
        The square with a dot for each unknown height, and the numbers seen from its four edges.

    Action:
        The filled grid without the edges, one row per line, numbers separated by spaces.

    Reward:
        1 for a grid with the given heights that obeys every rule, otherwise 0.

    Verification:
        The rules, checked on every row, column and view. No known gaps.

    Difficulty:
        The square grows, and relatively fewer views and heights are given.

    References:
        Iwamoto and Matsui, "Computational Complexity of Building Puzzles", 2016.
    """

    def generate(self, rng: Rng) -> SkyscrapersProblem:
        size = self.config.size
        solution = random_square(rng, size)
        sights = sights_of(size)
        counts = [seen(solution[cell] for cell in sight) for sight in sights]
        views = shuffled(rng, len(sights))
        told = set(views[: self.config.n_views])
        cells = shuffled(rng, size * size)
        kept = set(cells[: self.config.n_givens])
        at_once = 1 + size // 8
        while len(kept) < size * size:
            shown = [counts[i] if i in told else 0 for i in range(4 * size)]
            masks = given_masks(_told(solution, kept), size)
            rival = rival_of(solution, sight_network(size, shown), masks, _GENERATE_NODES)
            if rival.none_exists:
                break
            if rival.values is None:
                at_once *= 2
            wrong = _other_views(rival.values, counts, [i for i in views if i not in told])
            if wrong:
                told.add(wrong[0])
            else:
                unknown = [cell for cell in cells if cell not in kept]
                kept.update(rival.differs_at(solution, unknown)[:at_once])
        edges = [counts[i] if i in told else 0 for i in range(4 * size)]
        top, bottom, left, right = (tuple(edges[i * size :][:size]) for i in range(4))
        return SkyscrapersProblem(size, top, bottom, left, right, _told(solution, kept), solution)

    def prompt(self, problem: SkyscrapersProblem) -> str:
        size = problem.size
        edges = "\n".join(
            f"{order}: {' '.join(str(view) if view else '.' for view in getattr(problem, side))}"
            for side, order in zip(
                _SIDES,
                (
                    f"From the top, columns 1 to {size}",
                    f"From the bottom, columns 1 to {size}",
                    f"From the left, rows 1 to {size}",
                    f"From the right, rows 1 to {size}",
                ),
                strict=True,
            )
        )
        unknown = "" if all(_views(problem)) else "A dot is an unknown number. "
        return (
            f"Solve this Skyscrapers puzzle: fill a {size}×{size} grid with building heights from "
            f"1 to {size}. Each row and each column must contain every height exactly once. The "
            "numbers below say how many buildings are visible from an edge of the grid, looking "
            "along a row or column. A building is visible if all buildings in front of it are "
            f"lower. {unknown}Rows are numbered from the top and columns from the left.\n\n"
            f"{edges}\n\n{_known(problem)}There is exactly one solution. Answer with the complete "
            "grid of heights, one row per line, with the numbers separated by spaces and without "
            "the numbers at the edges."
        )

    def verify(self, problem: SkyscrapersProblem, answer: str) -> Verdict:
        size = problem.size
        square = read(answer, size, size, range(1, size + 1))
        if square is None:
            return misread(size, size, f"the numbers from 1 to {size}")
        fault = broken(square, problem.givens, lines(size), size)
        if fault is not None:
            return fault
        for number, (sight, view) in enumerate(zip(sights_of(size), _views(problem), strict=True)):
            count = seen(square[cell] for cell in sight)
            if view and count != view:
                line, side = number % size + 1, _SIDES[number // size]
                kind = "column" if side in ("top", "bottom") else "row"
                return Verdict.wrong(
                    f"{count} buildings are visible in {kind} {line} from the {side}, not {view}"
                )
        return Verdict.correct()

    def solve(self, problem: SkyscrapersProblem) -> str:
        return show(problem.solution, problem.size)

    def explain(self, problem: SkyscrapersProblem) -> list[str]:
        """Return what the views leave, and the cells as they can be filled."""
        size, views = problem.size, _views(problem)
        told = [
            f"{view} {'building is' if view == 1 else 'buildings are'} seen in "
            f"{'column' if i < 2 * size else 'row'} {i % size + 1} from the {_SIDES[i // size]}"
            for i, view in enumerate(views)
            if view
        ]
        names = line_names(lines(size))
        words = Words(by_row_and_column(size), "its row and column", names, told)
        masks = given_masks(problem.givens, size)
        return worked(sight_network(size, views), masks, problem.solution, words)

    def effort(self, problem: SkyscrapersProblem) -> int:
        """Count the steps until the search has proven that there is one solution."""
        network = sight_network(problem.size, _views(problem))
        masks = given_masks(problem.givens, problem.size)
        return search(network, masks, limit=2, max_nodes=_EFFORT_NODES).steps

    def baseline(self, rng: Rng, problem: SkyscrapersProblem) -> str:
        """Fill the cells in turn with the least number that does not clash, blind to the views."""
        return show(hurried(problem.givens, lines(problem.size), problem.size), problem.size)


def _views(problem: SkyscrapersProblem) -> Values:
    return (*problem.top, *problem.bottom, *problem.left, *problem.right)


def _other_views(rival: Values | None, counts: Sequence[int], untold: list[int]) -> list[int]:
    """Return the views not given that tell a rival from the solution."""
    if rival is None:
        return []
    sights = sights_of(round(len(rival) ** 0.5))
    return [i for i in untold if seen(rival[cell] for cell in sights[i]) != counts[i]]


def _told(solution: Values, kept: set[int]) -> Values:
    return tuple(value if cell in kept else 0 for cell, value in enumerate(solution))


def _known(problem: SkyscrapersProblem) -> str:
    if not any(problem.givens):
        return ""
    square = show(problem.givens, problem.size)
    return f"These heights are given; a dot is an empty cell:\n\n{square}\n\n"


# Lines of sight over a Latin square of heights: how many are seen, and what that rules out.


_LARGEST_TABLE = 8  # sides up to this one have few enough orders of heights to list


def seen(heights: Iterable[int]) -> int:
    """Count the heights that are greater than all before them."""
    count = greatest = 0
    for height in heights:
        if height > greatest:
            count, greatest = count + 1, height
    return count


def sights_of(size: int) -> list[Values]:
    """Return the lines of cells as seen from the top, the bottom, the left and the right."""
    rows, columns = lines(size)[:size], lines(size)[size:]
    back = [[line[::-1] for line in group] for group in (columns, rows)]
    return [*columns, *back[0], *rows, *back[1]]


def sight_network(size: int, views: Sequence[int]) -> Network:
    """Return the puzzle of a side and its views, in the order of `sights_of`; 0 is no view."""
    rules: list[Rule] = []
    for sight, view in zip(sights_of(size), views, strict=True):
        if view:
            few = size <= _LARGEST_TABLE
            rules.append(Table(sight, _orders(size)[view]) if few else Sight(sight, view))
    return Network(size * size, groups=lines(size), rules=rules, n_values=size)


@cache
def _orders(size: int) -> list[RowSet]:
    """Return the orders of the heights, by how many of them are seen."""
    found: list[list[Values]] = [[] for _ in range(size + 1)]
    for order in permutations(range(1, size + 1)):
        found[seen(order)].append(order)
    return [RowSet(orders) for orders in found]


class Sight:
    """A line of cells of which a number is seen from its start.

    A state is the greatest height so far and how many were seen; the sets of counts are bits.
    """

    def __init__(self, cells: Values, view: int) -> None:
        self.cells = cells
        self.goal = 1 << view

    def narrow(self, masks: list[int]) -> list[int] | None:
        size = len(self.cells)
        ways = [[1] + [0] * size]  # before each cell: greatest height -> counts that lead there
        for cell in self.cells:
            ways.append(_further(ways[-1], masks[cell]))
        ends = [0] * size + [self.goal]  # after each cell: greatest height -> counts that suffice
        changed = []
        for i in range(size - 1, -1, -1):
            cell = self.cells[i]
            left = _supported(ways[i], ends, masks[cell])
            if not left:
                return None
            if left != masks[cell]:
                masks[cell] = left
                changed.append(cell)
            ends = _back(ends, left)
        return changed


def _further(ways: list[int], mask: int) -> list[int]:
    after = [0] * len(ways)
    for greatest, counts in enumerate(ways):
        if counts:
            if mask & ((1 << greatest) - 1):  # hidden behind a higher building
                after[greatest] |= counts
            for height in range(greatest + 1, len(ways)):
                if mask >> height & 1:
                    after[height] |= counts << 1
    return after


def _back(ends: list[int], mask: int) -> list[int]:
    before = [0] * len(ends)
    for greatest in range(len(ends)):
        if mask & ((1 << greatest) - 1):
            before[greatest] = ends[greatest]
        for height in range(greatest + 1, len(ends)):
            if mask >> height & 1:
                before[greatest] |= ends[height] >> 1
    return before


def _supported(ways: list[int], ends: list[int], mask: int) -> int:
    left = 0
    for greatest, counts in enumerate(ways):
        if counts:
            if counts & ends[greatest]:
                left |= (1 << greatest) - 1
            for height in range(greatest + 1, len(ways)):
                if counts << 1 & ends[height]:
                    left |= 1 << height
    return left & mask
