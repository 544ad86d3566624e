"""What worked solutions share: Euclid's divisions, elimination, division of polynomials."""

from fractions import Fraction

import pytest

from rlvr_envs.core.seeding import integer, stream
from rlvr_envs.generators.mathematics import steps as _steps
from rlvr_envs.generators.mathematics.evaluation import operations
from rlvr_envs.generators.mathematics.matrices import determinant, identity, product, random_matrix
from rlvr_envs.generators.mathematics.polynomials import add, multiply, random_polynomial


def test_euclid_ends_in_the_common_divisor():
    divisions = _steps.euclid(42, 105)
    assert [str(division) for division in divisions] == ["105 = 2 * 42 + 21", "42 = 2 * 21 + 0"]
    assert divisions[-1].divisor == 21


def test_elimination_finds_inverse_and_determinant():
    for seed in range(40):
        rng = stream("steps", "elimination", seed)
        matrix = random_matrix(rng, 3, 3, 6)
        found = _steps.eliminate(matrix, _steps.show_row)
        diagonal = Fraction((-1) ** found.swaps)
        for i in range(3):
            diagonal *= found.rows[i][i]
        assert (diagonal if len(found.pivots) == 3 else 0) == determinant(matrix)
        if len(found.pivots) == 3:
            beside = [(*a, *b) for a, b in zip(matrix, identity(3), strict=True)]
            rows = _steps.eliminate(beside, _steps.show_row, width=3, upwards=True).rows
            assert [row[:3] for row in rows] == [list(row) for row in identity(3)]
            exact = [tuple(map(Fraction, row)) for row in matrix]
            assert product(exact, [row[3:] for row in rows]) == identity(3)


def test_each_line_of_elimination_shows_the_row_that_it_makes():
    steps = _steps.eliminate([[0, 2], [3, 4]], _steps.show_row, upwards=True).steps
    assert steps == [
        "Swap rows 1 and 2.",
        "Divide row 1 by 3: [1, 4/3]",
        "Divide row 2 by 2: [0, 1]",
        "Subtract 4/3 times row 2 from row 1: [1, 0]",
    ]


def test_long_division_gives_quotient_and_remainder():
    for seed in range(40):
        rng = stream("steps", "division", seed)
        top, below = (random_polynomial(rng, integer(rng, 0, 5), 9) for _ in range(2))
        _, quotient, rest = _steps.long_division(top, below)
        assert len(rest) < len(below)
        exact = tuple(map(Fraction, below))
        assert add(multiply(quotient, exact), rest) == tuple(map(Fraction, top))


def test_a_factor_that_leaves_a_remainder_is_refused():
    assert _steps.divided_out((-6, 1, 1), (3, 1)) == (-2, 1)
    with pytest.raises(ValueError, match="does not divide"):
        _steps.divided_out((-5, 1, 1), (3, 1))


def test_factoring_reads_as_trial_division():
    assert _steps.factoring(12, ((2, 2), (3, 1))) == [
        "The smallest prime that divides 12 is 2: 12 = 2 * 6.",
        "The smallest prime that divides 6 is 2: 6 = 2 * 3.",
        "No prime up to the square root of 3 divides it, so 3 is prime.",
    ]


@pytest.mark.parametrize(
    ("text", "symbol", "steps", "value"),
    [
        (r"\frac{1}{2} + \frac{1}{3}", "i", ["1/2 + 1/3 = 3/6 + 2/6 = 5/6"], (Fraction(5, 6), 0)),
        (r"\frac{6}{4} - 1", "i", ["6 / 4 = 3/2", "3/2 - 1 = 3/2 - 2/2 = 1/2"], (Fraction(1, 2), 0)),
        (r"2 - 3 \times 4^2", "i", ["4^2 = 16", "3 * 16 = 48", "2 - 48 = -46"], (-46, 0)),
        (r"-3\left(2x - 1\right) + x", "x", ["-3 * (2x - 1) = -6x + 3", "-6x + 3 + x = -5x + 3"], (3, -5)),
        (r"\left(1 + i\right)^2", "i", ["(1 + i) * (1 + i) = (1 * 1 - 1 * 1) + (1 * 1 + 1 * 1)i = 2i"], (0, 2)),
        (r"\frac{x + 2}{2}", "x", ["(x + 2) / 2 = (1/2)x + 1"], (1, Fraction(1, 2))),
        (r"2x + 7", "x", [], (7, 2)),
    ],
)  # fmt: skip
def test_operations_are_worked_out_innermost_first(text, symbol, steps, value):
    assert operations(text, symbol) == (steps, value)
