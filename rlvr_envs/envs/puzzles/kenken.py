"""KenKen: a Latin square cut into cages, each with the result of an operation on its numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
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


@dataclass(frozen=True, slots=True)
class Cage:
    """Cells in reading order; the operation is ``+``, ``*``, ``-``, ``/`` or ``=``."""

    cells: tuple[int, ...]
    operation: str
    target: int


_MAX_SIZE = 40
_EFFORT_NODES = 5_000
# The side of the square, the largest cage and the single cells of the first levels.
_LEVELS = (
    *((4, 2, 9), (4, 2, 6), (4, 3, 2), (5, 2, 3), (5, 3, 1), (6, 3, 4), (6, 3, 1), (7, 3, 4)),
    *((7, 3, 1), (8, 3, 2), (8, 4, 0)),
)
_MERGERS = 12  # single cells that are tried in a larger cage
_MERGER_NODES = 60  # of the search whether one solution remains
_WORDS = {
    "+": "the numbers add up to {}",
    "*": "the product of the numbers is {}",
    "-": "the larger number minus the smaller one is {}",
    "/": "the larger number divided by the smaller one is {}",
    "=": "the number is {}",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class KenKenConfig(TaskConfig):
    """The side of the square, and how large a cage may be."""

    size: int = knob(5, "rows and columns of the grid", low=2, high=_MAX_SIZE)
    max_cage: int = knob(3, "cells of the largest cages", low=2, high=5)
    n_givens: int = knob(1, "cages of a single cell; more where a unique solution needs them")

    def check(self) -> None:
        if not 0 <= self.n_givens <= self.size**2:
            raise ConfigError(f"n_givens must be from 0 to size**2, got {self.n_givens}")

    @classmethod
    def at(cls, difficulty: int) -> "KenKenConfig":
        """The side grows from 4 to 8 at level 10, with larger cages and fewer given numbers."""
        if difficulty < len(_LEVELS):
            size, max_cage, n_givens = _LEVELS[difficulty]
        else:
            size, max_cage, n_givens = min(_MAX_SIZE, 3 + (difficulty + 1) // 2), 4, 0
        return cls(size=size, max_cage=max_cage, n_givens=n_givens)


@dataclass(frozen=True, slots=True)
class KenKenProblem:
    """The cages cover every cell once; cells are numbered from 0 in reading order."""

    size: int
    cages: tuple[Cage, ...]
    solution: tuple[int, ...] = hidden()


@register("KenKen-v0", domain="puzzles", answer_format="tag")
class KenKenTask(Task[KenKenConfig, KenKenProblem]):
    """Fill a square so that no row or column repeats a number and every cage gives its result.

    Description:
        A Latin square is drawn by a search in random order and cut into random cages of
        neighbouring cells. While an exact search finds a second solution, a cage that allows it
        gets an operation that rules it out, or is cut into smaller ones. In the end, single cells
        join adjacent cages where that leaves one solution.

    Observation:
        The side of the square, and for each cage its cells, operation and result.

    Action:
        The filled square, a row a line, numbers separated by spaces.

    Reward:
        1 for a square that follows every rule, otherwise 0.

    Verification:
        The rules, checked on every row, column and cage. No known gaps.

    Difficulty:
        The square grows from 4x4 to 8x8 and on. On one size, the cages grow and fewer numbers are
        given, so that several cages and lines must be looked at together.

    References:
        Tetsuya Miyamoto invented the puzzle in 2004.
    """

    def generate(self, rng: Rng) -> KenKenProblem:
        size = self.config.size
        solution = random_square(rng, size)
        parts = partition(rng, size, self.config.n_givens, self.config.max_cage)
        cages = [caged(rng, cells, solution) for cells in parts]
        for attempt in count():  # ends, as cuts leave single cells in the end
            network = _network(size, cages)
            rival = rival_of(solution, network, given_masks(_givens(size, cages), size))
            if rival.none_exists:
                break
            changed = rival.differs_at(solution, range(size * size))
            weak = [c for c in cages if len(c.cells) > 1 and not set(c.cells).isdisjoint(changed)]
            for i in shuffled(rng, len(weak))[: 1 + size // 8]:
                cages.remove(weak[i])
                better = telling_apart(weak[i], solution, rival.values)
                if better is not None and attempt < size * size:
                    cages.append(better)
                else:
                    alone = pick(rng, [cell for cell in weak[i].cells if cell in changed])
                    cages += cut(rng, weak[i], alone, solution, size)
        cages = self._merged(rng, cages, solution)
        cages.sort(key=lambda cage: cage.cells)
        return KenKenProblem(size, tuple(cages), solution)

    def _merged(self, rng: Rng, cages: list[Cage], solution: Values) -> list[Cage]:
        """Give single cells to cages beside them, as long as one solution remains."""
        size = self.config.size
        single = [cage for cage in cages if len(cage.cells) == 1]
        spare = len(single) - self.config.n_givens
        for i in shuffled(rng, len(single))[:_MERGERS]:
            beside = [
                cage
                for cage in cages
                if touching(single[i], cage, size)
                and len(cage.cells) < self.config.max_cage
                and spare >= 1 + (len(cage.cells) == 1)
            ]
            if not beside or single[i] not in cages:
                continue
            other = pick(rng, beside)
            trial = [cage for cage in cages if cage not in (single[i], other)]
            cells = tuple(sorted((*single[i].cells, *other.cells)))
            trial.append(caged(rng, cells, solution))
            masks = given_masks(_givens(size, trial), size)
            if rival_of(solution, _network(size, trial), masks, _MERGER_NODES).none_exists:
                cages = trial
                spare -= 1 + (len(other.cells) == 1)
        return cages

    def prompt(self, problem: KenKenProblem) -> str:
        size = problem.size
        cages = "\n".join(
            f"{', '.join(place(cell, size) for cell in cage.cells)}: "
            f"{_WORDS[cage.operation].format(cage.target)}"
            for cage in problem.cages
        )
        large = any(len(cage.cells) > 2 for cage in problem.cages)
        repeats = (
            " A number may occur twice in a cage if the cells are in different rows and columns."
            if large
            else ""
        )
        return (
            f"Fill a {size}×{size} grid with numbers from 1 to {size} so that each row and each "
            f"column contains every number from 1 to {size} exactly once. The grid is divided into "
            "cages. Each line below lists the cells of one cage and the condition for the numbers "
            "in them. r2c3 is the cell in row 2 (from the top), column 3 (from the left)."
            f"{repeats}\n\n{cages}\n\n"
            "There is exactly one solution. Answer with the whole filled grid, one row per line, "
            "with the numbers separated by spaces."
        )

    def verify(self, problem: KenKenProblem, answer: str) -> Verdict:
        size = problem.size
        square = read(answer, size, size, range(1, size + 1))
        if square is None:
            return misread(size, size, f"the numbers from 1 to {size}")
        fault = broken(square, (0,) * len(square), lines(size), size)
        if fault is not None:
            return fault
        for cage in problem.cages:
            if not holds(cage, tuple(square[cell] for cell in cage.cells)):
                where = ", ".join(place(cell, size) for cell in cage.cells)
                return Verdict.wrong(f"the condition for the cage {where} does not hold")
        return Verdict.correct()

    def solve(self, problem: KenKenProblem) -> str:
        return show(problem.solution, problem.size)

    def explain(self, problem: KenKenProblem) -> list[str]:
        """Return what the groups of cells leave, and the cells as they can be filled."""
        size = problem.size
        groups = [
            f"in {', '.join(place(cell, size) for cell in cage.cells)} "
            f"{_WORDS[cage.operation].format(cage.target)}"
            for cage in problem.cages
        ]
        words = Words(
            lambda cell: place(cell, size), "its row and column", line_names(lines(size)), groups
        )
        network = _network(size, problem.cages)
        return worked(network, given_masks((0,) * size**2, size), problem.solution, words)

    def effort(self, problem: KenKenProblem) -> int:
        """Count the steps until the search has proven that there is one solution."""
        size = problem.size
        network = _network(size, problem.cages)
        masks = given_masks(_givens(size, problem.cages), size)
        return search(network, masks, limit=2, max_nodes=_EFFORT_NODES).steps

    def baseline(self, rng: Rng, problem: KenKenProblem) -> str:
        """Copy the given numbers, then fill the cells in turn, blind to the larger cages."""
        size = problem.size
        givens = _givens(size, problem.cages)
        return show(hurried(givens, lines(size), size), size)


def _givens(size: int, cages: Sequence[Cage]) -> Values:
    given = {cage.cells[0]: cage.target for cage in cages if cage.operation == "="}
    return tuple(given.get(cell, 0) for cell in range(size * size))


def _network(size: int, cages: Sequence[Cage]) -> Network:
    rules = [rule(cage, size) for cage in cages]
    return Network(size * size, groups=lines(size), rules=rules, n_values=size)


# Cages: groups of cells with an operation and its result, and what their cells may hold.


def holds(cage: Cage, values: Values) -> bool:
    """Return whether numbers, in the order of the cage's cells, give its result."""
    match cage.operation:
        case "+":
            return sum(values) == cage.target
        case "*":
            return math.prod(values) == cage.target
        case "-":
            return max(values) - min(values) == cage.target
        case "/":
            return max(values) == cage.target * min(values)
        case _:
            return values == (cage.target,)


def partition(rng: Rng, size: int, n_single: int, max_cage: int) -> list[Values]:
    """Cut the square into single cells, as many as wanted, and connected groups."""
    order = shuffled(rng, size * size)
    free = set(order[n_single:])
    parts: list[Values] = [(cell,) for cell in order[:n_single]]
    for start in order[n_single:]:
        if start not in free:
            continue
        part = [start]
        free.remove(start)
        for _ in range(integer(rng, 1, max_cage - 1)):
            around = sorted({n for cell in part for n in _neighbours(cell, size)} & free)
            if around:
                part.append(pick(rng, around))
                free.remove(part[-1])
        parts.append(tuple(sorted(part)))
    return parts


def _neighbours(cell: int, size: int) -> list[int]:
    row, column = divmod(cell, size)
    steps = ((row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1))
    return [r * size + c for r, c in steps if 0 <= r < size and 0 <= c < size]


def caged(rng: Rng, cells: Values, solution: Values) -> Cage:
    """Draw a cage around cells that the solution fulfils."""
    return pick(rng, _possible_cages(cells, tuple(solution[cell] for cell in cells)))


def _possible_cages(cells: Values, values: Values) -> list[Cage]:
    """Return the cages that one could write around these numbers."""
    if len(cells) == 1:
        return [Cage(cells, "=", values[0])]
    cages = [Cage(cells, "+", sum(values)), Cage(cells, "*", math.prod(values))]
    if len(cells) == 2:
        low, high = sorted(values)
        cages.append(Cage(cells, "-", high - low))
        if high % low == 0:
            cages.append(Cage(cells, "/", high // low))
    return cages


def telling_apart(cage: Cage, solution: Values, rival: Values | None) -> Cage | None:
    """Return a cage for the same cells that the rival does not fulfil, if there is one."""
    if rival is None:
        return None
    values = tuple(solution[cell] for cell in cage.cells)
    others = tuple(rival[cell] for cell in cage.cells)
    choices = _possible_cages(cage.cells, values)
    return next((choice for choice in choices if not holds(choice, others)), None)


def touching(cage: Cage, other: Cage, size: int) -> bool:
    """Return whether two different cages have cells side by side."""
    near = {n for cell in cage.cells for n in _neighbours(cell, size)}
    return cage != other and not near.isdisjoint(other.cells)


def cut(rng: Rng, cage: Cage, alone: int, solution: Values, size: int) -> list[Cage]:
    """Give the number of one cell away, and write new cages around what is left."""
    rest = [cell for cell in cage.cells if cell != alone]
    parts: list[Values] = [(alone,)]
    while rest:
        part = [rest.pop(0)]
        for cell in part:  # grows while it is read
            near = [n for n in _neighbours(cell, size) if n in rest]
            part += near
            rest = [c for c in rest if c not in near]
        parts.append(tuple(sorted(part)))
    return [caged(rng, part, solution) for part in parts]


def rule(cage: Cage, size: int) -> Table:
    """Return what the cage demands of a square, for the search."""
    cells = range(len(cage.cells))
    clashes = tuple(
        tuple(j for j in cells[:i] if _in_line(cage.cells[i], cage.cells[j], size)) for i in cells
    )
    return Table(cage.cells, _rows(size, clashes, cage.operation, cage.target))


def _in_line(a: int, b: int, size: int) -> bool:
    return a // size == b // size or a % size == b % size


@lru_cache(maxsize=4096)
def _rows(size: int, clashes: tuple[Values, ...], operation: str, target: int) -> RowSet:
    """Return what a cage may hold; ``clashes[i]`` are the earlier cells in line with cell i."""
    cells = tuple(range(len(clashes)))
    cage = Cage(cells, operation, target)
    rows: list[Values] = [()]
    for clash in clashes:
        left = len(cells) - len(rows[0]) - 1 if rows else 0
        rows = [
            (*row, value)
            for row in rows
            for value in range(1, size + 1)
            if all(row[j] != value for j in clash) and _can_end(cage, (*row, value), left, size)
        ]
    return RowSet([row for row in rows if holds(cage, row)])


def _can_end(cage: Cage, row: Values, left: int, size: int) -> bool:
    """Return False where no numbers in the cells left can give the cage its result."""
    if cage.operation == "+":
        return left <= cage.target - sum(row) <= left * size
    return cage.operation != "*" or cage.target % math.prod(row) == 0
