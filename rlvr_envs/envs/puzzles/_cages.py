"""Cages: groups of cells with an operation and its result, and what their cells may hold."""

import math
from dataclasses import dataclass
from functools import lru_cache

from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.grids.candidates import RowSet, Table, Values, shuffled


@dataclass(frozen=True, slots=True)
class Cage:
    """Cells in reading order; the operation is ``+``, ``*``, ``-``, ``/`` or ``=``."""

    cells: tuple[int, ...]
    operation: str
    target: int


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
