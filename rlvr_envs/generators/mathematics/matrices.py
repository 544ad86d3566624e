"""Exact matrices: products, determinants, and integer matrices of a planted kind.

A matrix is a tuple of rows, each a tuple of integers or `Fraction`s. Nothing is rounded.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias, TypeVar

from rlvr_envs.core.seeding import Rng, integer, integers, nonzero

Matrix: TypeAlias = tuple[tuple[int, ...], ...]
Number = TypeVar("Number", int, Fraction)


def identity(size: int) -> Matrix:
    """Return the identity matrix."""
    return tuple(tuple(int(i == j) for j in range(size)) for i in range(size))


def random_matrix(rng: Rng, n_rows: int, n_columns: int, max_entry: int) -> Matrix:
    """Return a matrix of integers in [-max_entry, max_entry]."""
    values = integers(rng, -max_entry, max_entry, n_rows * n_columns)
    return tuple(values[i * n_columns : (i + 1) * n_columns] for i in range(n_rows))


def product(
    left: Sequence[Sequence[Number]], right: Sequence[Sequence[Number]]
) -> tuple[tuple[Number, ...], ...]:
    """Return the matrix product."""
    columns = list(zip(*right, strict=True))
    return tuple(tuple(_dot(row, column) for column in columns) for row in left)


def _dot(left: Sequence[Number], right: Sequence[Number]) -> Number:
    return sum((a * b for a, b in zip(left, right, strict=True)), 0 * left[0])


def power(matrix: Matrix, exponent: int) -> Matrix:
    """Return a power with an exponent from 0."""
    result = identity(len(matrix))
    for _ in range(exponent):
        result = product(result, matrix)
    return result


def determinant(matrix: Matrix) -> int:
    """Return the determinant, by Bareiss's elimination, whose divisions leave no remainder."""
    rows = [list(row) for row in matrix]
    sign, previous = 1, 1
    for k in range(len(rows) - 1):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return 0
        if pivot != k:
            rows[k], rows[pivot] = rows[pivot], rows[k]
            sign = -sign
        lead = rows[k]
        for row in rows[k + 1 :]:
            for j in range(k + 1, len(rows)):
                row[j] = (row[j] * lead[k] - row[k] * lead[j]) // previous
        previous = lead[k]
    return sign * rows[-1][-1]


def unit_lower(rng: Rng, n_rows: int, n_columns: int, max_entry: int) -> Matrix:
    """Return a matrix with ones on its diagonal, zeros above and random integers below.

    Where rows are at least as many as columns, its columns are independent.
    """
    return tuple(
        tuple(
            integer(rng, -max_entry, max_entry) if j < i else int(i == j) for j in range(n_columns)
        )
        for i in range(n_rows)
    )


def transpose(matrix: Sequence[Sequence[Number]]) -> tuple[tuple[Number, ...], ...]:
    """Return the transpose."""
    return tuple(zip(*matrix, strict=True))


def unit_lower_inverse(matrix: Matrix) -> Matrix:
    """Return the inverse of a square lower triangular matrix with ones on its diagonal."""
    rows: list[list[int]] = []
    for i, row in enumerate(matrix):
        solved = [int(i == j) for j in range(len(matrix))]
        for k in range(i):
            solved = [value - row[k] * done for value, done in zip(solved, rows[k], strict=True)]
        rows.append(solved)
    return tuple(map(tuple, rows))


def permuted(rng: Rng, matrix: Matrix) -> Matrix:
    """Return the matrix with its rows in a random order."""
    return tuple(matrix[int(i)] for i in rng.permutation(len(matrix)))


def mixed(rng: Rng, matrix: Matrix, n_steps: int) -> Matrix:
    """Return a similar integer matrix, after ``n_steps`` random elementary similarities.

    Each adds a multiple of row i to row j and takes the same multiple of column j from column
    i, which keeps the eigenvalues and the integers.
    """
    rows = [list(row) for row in matrix]
    for _ in range(n_steps if len(rows) > 1 else 0):
        i = integer(rng, 0, len(rows) - 1)
        j = (i + integer(rng, 1, len(rows) - 1)) % len(rows)
        factor = nonzero(rng, 1)
        rows[j] = [b + factor * a for a, b in zip(rows[i], rows[j], strict=True)]
        for row in rows:
            row[i] -= factor * row[j]
    return tuple(map(tuple, rows))
