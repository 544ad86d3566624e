from fractions import Fraction

import pytest

from rlvr_envs.generators.mathematics.polynomial_answers import (
    expanded_of,
    factors_of,
    items,
    polynomial_of,
    sides,
)


def read(text: str):
    (node,) = sides(text)
    return node


@pytest.mark.parametrize(
    ("text", "coefficients"),
    [
        ("5", (5,)),
        ("0", ()),
        ("x", (0, 1)),
        ("(x+1)(x-1)", (-1, 0, 1)),
        ("(x+1)^2 - x^2", (1, 2)),
        (r"\frac{x}{2} + \frac{2}{3}x^3", (0, Fraction(1, 2), 0, Fraction(2, 3))),
        ("2(x-3)^2(x+1)", (18, 6, -10, 2)),
        ("(x+1)^0", (1,)),
    ],
)
def test_expressions_are_multiplied_out(text, coefficients):
    assert polynomial_of(read(text), "x", 4) == coefficients


@pytest.mark.parametrize("text", ["y", "1/x", r"\sqrt{x}", "x^5", "(x^2+1)^3", "x^{0.5}", "f(x)"])
def test_what_is_no_polynomial_of_the_degree_is_refused(text):
    assert polynomial_of(read(text), "x", 4) is None


def test_work_beyond_an_honest_answer_is_refused():
    assert polynomial_of(read("+".join(["(x+1)^{40}"] * 2)), "x", 40) is not None
    assert polynomial_of(read("+".join(["(x+1)^{40}"] * 100)), "x", 40) is None
    assert polynomial_of(read("x + " + "9" * 2900), "x", 4) is None


def test_only_collected_sums_of_monomials_are_expanded():
    assert expanded_of(read("3 - x^2 + 4x"), "x", 4) == (3, 4, -1)
    assert expanded_of(read(r"\frac{x^2}{2}"), "x", 4) == (0, 0, Fraction(1, 2))
    for text in ("2(x+1)", "x + x", "x^5", "(x+1)^2", "x*x"):
        assert expanded_of(read(text), "x", 4) is None


def test_factors_are_found_through_groups_and_powers():
    found = factors_of(read("-2((x+1)(x-3))^2(x+1)"), "x", 6)
    assert sorted(found) == [((-3, 1), 2), ((-2,), 1), ((1, 1), 1), ((1, 1), 2)]
    assert factors_of(read("(x+1)^7"), "x", 6) is None
    assert factors_of(read("(x+1)/2"), "x", 6) is None


def test_sides_and_items():
    assert len(sides("x = x^2 = 3")) == 3
    assert sides("x < 3") == ()
    assert sides("(1, 2)") == ()
    assert len(items("(x, 2)")) == len(items("q = x, r = 2")) == len(items("(q, r) = (x, 2)")) == 2
    assert items("x + 2") == ()
