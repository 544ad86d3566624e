"""Numbrix: fill a grid with consecutive numbers, each beside the next."""

from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network, Values, search
from rlvr_envs.generators.grids.cells import neighbours
from rlvr_envs.generators.grids.clues import choose_clues
from rlvr_envs.generators.grids.deductions import by_row_and_column
from rlvr_envs.generators.grids.latin_squares import given_masks, read, show

_LARGEST = 12
_BITES = 12  # changes of a path, for each cell, until it looks random
_PROOF_NODES = 24
_EFFORT_NODES = 5_000

# Size, percentage of given numbers, and drafts of the first levels.
_LEVELS = (
    *((4, 60, 1), (4, 40, 1), (5, 40, 1), (5, 25, 1), (5, 0, 1)),
    *((6, 20, 1), (6, 0, 1), (6, 0, 4), (7, 0, 1), (7, 0, 4), (8, 0, 2)),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumbrixConfig(TaskConfig):
    """The size of the grid, and how many numbers are given."""

    size: int = knob(6, "rows and columns of the grid", low=3, high=_LARGEST)
    given_percent: int = knob(
        25, "percentage of given numbers; more where a unique solution needs them", low=0, high=95
    )
    n_drafts: int = knob(1, "puzzles drawn, of which the hardest is taken", low=1, high=20)

    @classmethod
    def at(cls, difficulty: int) -> "NumbrixConfig":
        """Fewer numbers are given, so that longer parts of the path are open; the grid grows.

        From level 6 on no more are given than a unique solution needs, and the hardest of several
        puzzles is taken; from level 10 on the grid grows, up to 12x12.
        """
        if difficulty < len(_LEVELS):
            size, given_percent, n_drafts = _LEVELS[difficulty]
            return cls(size=size, given_percent=given_percent, n_drafts=n_drafts)
        return cls(size=min(_LARGEST, difficulty - 2), given_percent=0)


@dataclass(frozen=True, slots=True)
class NumbrixProblem:
    """The numbers row by row; 0 is an empty cell."""

    size: int
    givens: Values
    solution: Values = hidden()


@register("Numbrix-v0", domain="puzzles", answer_format="tag")
class NumbrixTask(Task[NumbrixConfig, NumbrixProblem]):
    """Fill a grid with the numbers from 1 on, so that each number is beside the next.

    Description:
        A random path that visits every cell once, numbered along the way. Numbers are given until
        no second solution exists, then thinned out as far as one solution remains.

    Observation:
        The grid with a dot for each empty cell.

    Action:
        The filled grid, a row a line.

    Reward:
        1 for a grid that keeps the given numbers and follows every rule, otherwise 0.

    Verification:
        Every number occurs once, and each is in a cell that shares a side with the next. No known
        gaps.

    Difficulty:
        Fewer numbers are given: short gaps between them can be filled by counting, long ones only
        by what the rest of the path needs. Then puzzles are chosen in which more must be tried, and
        the grid grows. Effort is the steps of a search that proves that there is one solution.

    References:
        vos Savant, "Numbrix", Parade, 2008, where the puzzle was first set. Itai, Papadimitriou and
        Szwarcfiter, "Hamilton Paths in Grid Graphs", 1982.
    """

    def generate(self, rng: Rng) -> NumbrixProblem:
        drafts = [self._draft(rng) for _ in range(self.config.n_drafts)]
        return max(drafts, key=self.effort) if len(drafts) > 1 else drafts[0]

    def _draft(self, rng: Rng) -> NumbrixProblem:
        size = self.config.size
        numbers = [0] * size**2
        for number, cell in enumerate(draw_path(rng, size), 1):
            numbers[cell] = number
        solution = tuple(numbers)
        n_givens = size**2 * self.config.given_percent // 100
        unknown = (2 << size**2) - 2
        kept = set(choose_clues(rng, _network(size), solution, n_givens, unknown, _PROOF_NODES))
        givens = tuple(number if cell in kept else 0 for cell, number in enumerate(solution))
        return NumbrixProblem(size, givens, solution)

    def prompt(self, problem: NumbrixProblem) -> str:
        size = problem.size
        return (
            f"Solve this Numbrix puzzle. Fill every empty cell of the {size}×{size} grid with a "
            f"number from 1 to {size**2}, so that each of these numbers occurs exactly once and "
            "consecutive numbers are in cells that share a side: 1 is beside 2, 2 is beside 3, and "
            "so on. A dot is an empty cell. Do not change the given "
            f"numbers.\n\n{show(problem.givens, size)}\n\n"
            "There is exactly one solution. Answer with the whole filled grid, one row per line, "
            "with the numbers separated by spaces."
        )

    def verify(self, problem: NumbrixProblem, answer: str) -> Verdict:
        size = problem.size
        numbers = read(answer, size, size, range(1, size**2 + 1))
        if numbers is None:
            return Verdict.unparsable(
                f"expected {size} lines of {size} numbers from 1 to {size**2}"
            )
        for number, given in zip(numbers, problem.givens, strict=True):
            if given not in (0, number):
                return Verdict.wrong(f"the given {given} was changed")
        place = {number: cell for cell, number in enumerate(numbers)}
        if len(place) < len(numbers):
            return Verdict.wrong("a number occurs twice")
        for number in range(1, size**2):
            if place[number + 1] not in neighbours(size, size)[place[number]]:
                return Verdict.wrong(f"{number} and {number + 1} do not share a side")
        return Verdict.correct()

    def solve(self, problem: NumbrixProblem) -> str:
        return show(problem.solution, problem.size)

    def explain(self, problem: NumbrixProblem) -> list[str]:
        """Return the parts of the path between given numbers, the shortest first."""
        place = {number: cell for cell, number in enumerate(problem.solution)}
        name = by_row_and_column(problem.size)
        given = sorted(number for number in problem.givens if number)
        last = problem.size**2
        gaps = list(zip([0, *given], [*given, last + 1], strict=True))
        steps = []
        for low, high in sorted(gaps, key=lambda gap: (gap[1] - gap[0], gap)):
            if high - low < 2:
                continue
            path = ", ".join(f"{n} in {name(place[n])}" for n in range(low + 1, high))
            ends = [f"{n} in {name(place[n])}" for n in (low, high) if 0 < n <= last]
            between = f"between {' and '.join(ends)}" if len(ends) == 2 else f"beside {ends[0]}"
            steps.append(f"The open part of the path {between} is {path}.")
        return steps

    def effort(self, problem: NumbrixProblem) -> int:
        """Count the steps until the search has proven that there is one solution."""
        size = problem.size
        masks = given_masks(problem.givens, size**2)
        return search(_network(size), masks, limit=2, max_nodes=_EFFORT_NODES).steps

    def baseline(self, rng: Rng, problem: NumbrixProblem) -> str:
        """Go from each given number towards the next one over empty cells, at random."""
        size, numbers = problem.size, list(problem.givens)
        place = {number: cell for cell, number in enumerate(numbers) if number}
        beside = neighbours(size, size)
        for number in range(1, size**2 + 1):
            if number in place:
                continue
            free = [cell for cell in range(size**2) if not numbers[cell]]
            near = [cell for cell in free if number == 1 or cell in beside[place[number - 1]]]
            goal = min((given for given in place if given > number), default=0)
            if goal and near:
                far = [_distance(size, cell, place[goal]) for cell in near]
                near = [c for c, d in zip(near, far, strict=True) if d <= goal - number] or near
            place[number] = pick(rng, near or free)
            numbers[place[number]] = number
        return show(numbers, size)


def _distance(size: int, one: int, other: int) -> int:
    return abs(one // size - other // size) + abs(one % size - other % size)


def draw_path(rng: Rng, size: int) -> list[int]:
    """Draw a path through all cells of a square.

    An end of a path is joined to a cell beside it, and the line between the two is turned round
    (backbiting: Oberdorf, Ferguson, Jacobsen and Kondev, 2006).
    """
    beside = neighbours(size, size)
    path = [
        r * size + (c if r % 2 == 0 else size - 1 - c) for r in range(size) for c in range(size)
    ]
    at = {cell: i for i, cell in enumerate(path)}
    for _ in range(_BITES * size**2):
        if rng.random() < 0.5:
            path.reverse()
            at = {cell: i for i, cell in enumerate(path)}
        bitten = pick(rng, [cell for cell in beside[path[0]] if cell != path[1]] or [path[1]])
        end = at[bitten]
        path[:end] = path[:end][::-1]
        for i in range(end):
            at[path[i]] = i
    return path


class _Beside:
    """A cell is beside the number before its own and the number after it."""

    def __init__(self, cell: int, beside: Values, n_cells: int) -> None:
        self.cells = (cell, *beside)
        self._first, self._last = 1 << 1, 1 << n_cells

    def narrow(self, masks: list[int]) -> list[int] | None:
        cell, around = self.cells[0], 0
        for other in self.cells[1:]:
            around |= masks[other]
        left = masks[cell] & (around << 1 | self._first) & (around >> 1 | self._last)
        if left == masks[cell]:
            return []
        masks[cell] = left
        return [cell] if left else None


@lru_cache(maxsize=16)
def _network(size: int) -> Network:
    n_cells = size**2
    rules = [_Beside(cell, beside, n_cells) for cell, beside in enumerate(neighbours(size, size))]
    return Network(n_cells, groups=(tuple(range(n_cells)),), rules=rules, n_values=n_cells)
