"""Latin squares: their groups, random ones, and grids with empty cells as text.

A square of side n is a tuple of n * n values from 1 to n, row after row; 0 is an empty cell.
"""

from collections.abc import Sequence
from functools import cache

from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.grids.candidates import Network, Values, search, shuffled_order
from rlvr_envs.verifiers.grids import read_grid, show_grid

EMPTY = "."
_FILL_NODES = 2_000  # a random fill of the sides used here takes some dozens


@cache
def lines(size: int) -> tuple[Values, ...]:
    """Return the rows, then the columns, as tuples of cells."""
    rows = tuple(tuple(range(r * size, (r + 1) * size)) for r in range(size))
    return rows + tuple(tuple(range(c, size * size, size)) for c in range(size))


def random_square(rng: Rng, size: int) -> Values:
    """Draw a Latin square, by a search that tries values in random order."""
    network = Network(size * size, groups=lines(size), n_values=size)
    order = shuffled_order(rng, size * size, size)
    masks = all_open(size * size, size)
    found = search(network, masks, limit=1, max_nodes=_FILL_NODES, order=order)
    return found.solutions[0] if found.solutions else shifted_square(rng, size)


def shifted_square(rng: Rng, size: int) -> Values:
    """Draw a square whose rows are shifts of one another, in random order."""
    rows, columns = rng.permutation(size).tolist(), rng.permutation(size).tolist()
    return tuple((r + c) % size + 1 for r in rows for c in columns)


def all_open(n_cells: int, n_values: int) -> list[int]:
    """Return masks that allow every value from 1 in every cell."""
    return [(2 << n_values) - 2] * n_cells


def given_masks(givens: Sequence[int], n_values: int) -> list[int]:
    """Return the masks of a grid with empty cells."""
    return [1 << value if value else (2 << n_values) - 2 for value in givens]


def show(values: Sequence[int], width: int) -> str:
    """Return a grid as text, its columns aligned; empty cells are dots."""
    cells = [str(value) if value else EMPTY for value in values]
    pad = max(map(len, cells))
    padded = [cell.rjust(pad) for cell in cells]
    return show_grid([padded[i : i + width] for i in range(0, len(padded), width)])


def read(answer: str, n_rows: int, n_columns: int, values: Sequence[int]) -> Values | None:
    """Return the values of a filled grid, or None if the text is not one."""
    grid = read_grid(answer, n_rows, n_columns, [str(value) for value in values])
    return None if grid is None else tuple(int(cell) for row in grid for cell in row)


def misread(n_rows: int, n_columns: int, values: str) -> Verdict:
    """Return the verdict on a text that is no filled grid."""
    return Verdict.unparsable(
        f"expected {n_rows} lines of {n_columns} cells, each cell one of {values}, with nothing "
        "else around them"
    )


def broken(
    square: Values, givens: Sequence[int], groups: Sequence[Values], width: int
) -> Verdict | None:
    """Return why a filled grid changes a given or repeats a value in a group, if it does."""
    for cell, (value, given) in enumerate(zip(square, givens, strict=True)):
        if given and value != given:
            return Verdict.wrong(f"the given number in {place(cell, width)} was changed")
    for group in groups:
        values = [square[cell] for cell in group]
        if len(set(values)) < len(values):
            first, last = place(group[0], width), place(group[-1], width)
            return Verdict.wrong(f"a number stands twice among the cells from {first} to {last}")
    return None


def place(cell: int, width: int) -> str:
    """Return the name of a cell, rows and columns counted from 1."""
    return f"r{cell // width + 1}c{cell % width + 1}"


def hurried(givens: Sequence[int], groups: Sequence[Values], n_values: int) -> Values:
    """Fill the empty cells in turn, each with the least value that its groups lack, if any."""
    filled = list(givens)
    at: list[list[Values]] = [[] for _ in givens]
    for group in groups:
        for cell in group:
            at[cell].append(group)
    for cell, value in enumerate(filled):
        if not value:
            used = {filled[other] for group in at[cell] for other in group}
            filled[cell] = next((v for v in range(1, n_values + 1) if v not in used), 1)
    return tuple(filled)
