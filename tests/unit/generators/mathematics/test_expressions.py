from fractions import Fraction

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.mathematics.expressions import Expression, apply, bits, grow, join


def atom(value: int) -> Expression[Fraction]:
    return Expression(str(value), Fraction(value))


def test_parentheses_follow_precedence():
    total = join("+", atom(1), atom(2), Fraction(3))
    assert join("*", total, atom(4), Fraction(12)).text == r"\left(1 + 2\right) \times 4"
    assert join("-", atom(4), total, Fraction(1)).text == r"4 - \left(1 + 2\right)"
    assert join("+", total, atom(4), Fraction(7)).text == "1 + 2 + 4"
    product = join("*", atom(2), atom(3), Fraction(6))
    assert join("/", atom(6), product, Fraction(1)).text == r"6 \div \left(2 \times 3\right)"
    assert join("|", total, product, Fraction(1, 2)).text == r"\frac{1 + 2}{2 \times 3}"


@pytest.mark.parametrize(("operator", "value"), [("+", 8), ("-", 4), ("*", 12), ("/", 3), ("|", 3)])
def test_operators(operator, value):
    assert apply(operator, Fraction(6), Fraction(2)) == value


def test_a_division_by_zero_has_no_result():
    assert apply("/", Fraction(6), Fraction(0)) is None


def test_trees_use_every_atom_in_order_and_stay_short():
    for seed in range(50):
        made = grow(stream("trees", seed), [atom(n) for n in range(2, 12)], "+-*/", 30)
        numbers = "".join(c if c.isdigit() else " " for c in made.text).split()
        assert numbers == [str(n) for n in range(2, 12)]
        assert bits(made.value) <= 30


def test_zeros_never_end_in_a_division_by_zero():
    for seed in range(50):
        made = grow(stream("zeros", seed), [atom(0)] * 5, "+-*/", 8)
        assert made.value == 0
