"""Expression trees and the points they are compared at: each small rule, and where it ends."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest

from rlvr_envs.verifiers.exact import MAX_FACTORIAL, TooLarge
from rlvr_envs.verifiers.mathtext import identity, nodes, tolerance
from rlvr_envs.verifiers.mathtext.nodes import Add, Call, Const, Form, Mul, Node, Num, Pow, Sym
from rlvr_envs.verifiers.mathtext.numeric import (
    MAX_ANGLE,
    MAX_LOG2,
    Digits,
    Floats,
    Program,
    Rational,
    Undefined,
    evaluate,
)

X, Y, Z = Sym("x"), Sym("y"), Sym("z")
PI, EULER, IMAGINARY = Const("pi"), Const("e"), Const("i")
REAL = (Floats(use_complex=False), Digits(use_complex=False))
COMPLEX = (Floats(use_complex=True), Digits(use_complex=True))


def num(top: int, bottom: int = 1, form: Form = Form.LITERAL) -> Num:
    return Num(Fraction(top, bottom), form=form)


@pytest.mark.parametrize(
    ("left", "right", "form"),
    [
        # A whole literal times one over a whole number is one quotient.
        (num(3), num(1, 7, Form.QUOTIENT), Form.QUOTIENT),
        (num(-3), num(1, 7, Form.QUOTIENT), Form.QUOTIENT),
        (num(3), num(-1, 7, Form.QUOTIENT), Form.QUOTIENT),
        # Anything else is left to the reader to compute.
        (num(3), num(2, 7, Form.QUOTIENT), Form.COMPUTED),
        (num(3), num(-2, 7, Form.QUOTIENT), Form.COMPUTED),
        (num(3), num(1, 7, Form.COMPUTED), Form.COMPUTED),
        (num(3), num(1, 7), Form.COMPUTED),
        (num(3, 2), num(1, 7, Form.QUOTIENT), Form.COMPUTED),
        (num(3, 1, Form.QUOTIENT), num(1, 7, Form.QUOTIENT), Form.COMPUTED),
        (num(3, 1, Form.COMPUTED), num(1, 7, Form.QUOTIENT), Form.COMPUTED),
        (num(3), num(7), Form.COMPUTED),
        # A power of ten is a way to write a number, if it is written as a power.
        (num(3), num(1000, 1, Form.SCALE), Form.LITERAL),
        (num(3, 7, Form.QUOTIENT), num(1000, 1, Form.SCALE), Form.QUOTIENT),
        (num(6, 1, Form.COMPUTED), num(1000, 1, Form.SCALE), Form.COMPUTED),
        (num(3), num(1, 1000, Form.QUOTIENT), Form.QUOTIENT),
        (num(3, 7, Form.QUOTIENT), num(1, 1000, Form.QUOTIENT), Form.COMPUTED),
        (num(3), num(1000), Form.COMPUTED),
        (num(3), num(1000, 1, Form.COMPUTED), Form.COMPUTED),
        # A literal 1 or -1 changes nothing about how the other is written.
        (num(-1), num(3, 7, Form.QUOTIENT), Form.QUOTIENT),
        (num(3, 7, Form.QUOTIENT), num(-1), Form.QUOTIENT),
        (num(1), num(8, 1, Form.COMPUTED), Form.COMPUTED),
        (num(-1, 1, Form.COMPUTED), num(3), Form.COMPUTED),
    ],
)
def test_a_product_of_numbers_remembers_how_it_was_written(
    left: Num, right: Num, form: Form
) -> None:
    found = nodes.mul(left, right)
    assert isinstance(found, Num)
    assert (found.value, found.form) == (left.value * right.value, form)


@pytest.mark.parametrize("order", [1, -1])
def test_a_decimal_keeps_its_precision_over_powers_of_ten_alone(order: int) -> None:
    def product(other: Num) -> tuple[Fraction | None, int]:
        found = nodes.mul(*(decimal, other)[::order])
        assert isinstance(found, Num)
        return found.ulp, found.digits

    decimal = Num(Fraction(5, 2), Fraction(1, 10), 2)  # 2.5
    assert product(num(1000)) == (100, 2)
    assert product(num(-1000)) == (100, 2)
    assert product(num(1, 100)) == (Fraction(1, 1000), 2)
    assert product(num(-1)) == (Fraction(1, 10), 2)
    assert product(num(1)) == (Fraction(1, 10), 2)
    assert product(num(3)) == (None, 0)
    assert product(num(1000, 1, Form.COMPUTED)) == (None, 0)
    assert product(Num(Fraction(10), Fraction(1, 10), 3)) == (None, 0)


@pytest.mark.parametrize(
    ("value", "is_one"),
    [
        *((Fraction(10) ** n, True) for n in (-300, -2, -1, 0, 1, 2, 300)),
        *((Fraction(n), False) for n in (2, 5, 11, 20, 101, 110, 1001)),
        *((Fraction(n, 10), False) for n in (3, 7, 11)),
        (Fraction(10, 3), False),
        (Fraction(1, 20), False),
        (Fraction(10) ** 1204, True),  # 4000 bits
        (Fraction(10) ** 1205, False),
        (Fraction(10) ** -1205, False),
    ],
)
def test_powers_of_ten(value: Fraction, is_one: bool) -> None:
    assert nodes._is_power_of_ten(value) is is_one


@pytest.mark.parametrize(
    ("base", "exponent", "form"),
    [
        (num(10), 5, Form.SCALE),
        (num(10), -5, Form.SCALE),
        (num(10), -1, Form.QUOTIENT),
        (num(7), -1, Form.QUOTIENT),
        (num(7), -2, Form.COMPUTED),
        (num(7), 2, Form.COMPUTED),
        (num(100), 2, Form.COMPUTED),
        (num(1, 2), -1, Form.COMPUTED),
        (num(10, 1, Form.QUOTIENT), 2, Form.COMPUTED),
        (num(10, 1, Form.COMPUTED), -1, Form.COMPUTED),
    ],
)
def test_a_power_of_a_number_remembers_how_it_was_written(
    base: Num, exponent: int, form: Form
) -> None:
    found = nodes.power(base, num(exponent))
    assert isinstance(found, Num)
    assert (found.value, found.form) == (base.value**exponent, form)


def test_sums_and_products_are_folded() -> None:
    assert nodes.add(X) is X
    assert nodes.add(X, num(0)) == X
    assert nodes.add(num(2), X, num(3)) == Add((X, num(5)))
    assert nodes.add(Add((X, Y)), num(-1)) == Add((X, Y, num(-1)))
    assert nodes.add(num(2), num(-2)) == num(0)
    assert nodes.mul(X) == X
    assert nodes.mul(num(1), X) == X
    assert nodes.mul(num(2), X, num(3)) == Mul((num(6), X))
    assert nodes.mul(Mul((X, Y)), num(-1)) == Mul((num(-1), X, Y))
    assert nodes.mul(num(0), X) == num(0)
    assert nodes.mul(num(0), X, nodes.INFINITY) == Mul((num(0), X, nodes.INFINITY))
    folded = nodes.add(num(2), num(3)), nodes.mul(num(0), X)
    assert all(isinstance(one, Num) and one.form is Form.COMPUTED for one in folded)


def test_powers_are_folded_where_they_are_rational() -> None:
    assert nodes.power(X, num(1)) is X
    assert nodes.power(X, num(2)) == Pow(X, num(2))
    assert nodes.power(num(0), nodes.HALF) == num(0)
    assert nodes.power(num(8), num(2, 3)) == num(4)
    assert nodes.power(num(8), num(-2, 3)) == num(1, 4)
    assert nodes.power(num(2), nodes.HALF) == Pow(num(2), nodes.HALF)
    assert nodes.power(num(-8), num(1, 3)) == Pow(num(-8), num(1, 3))  # its roots are complex
    assert nodes.power(Mul((X, Y)), num(-1)) == Mul((Pow(X, num(-1)), Pow(Y, num(-1))))
    assert nodes.power(Mul((X, Y)), num(-2)) == Pow(Mul((X, Y)), num(-2))
    assert nodes.power(Pow(X, num(2)), num(-1)) == Pow(X, num(-2))
    assert nodes.power(Pow(X, num(2)), num(3)) == Pow(Pow(X, num(2)), num(3))
    for base in (2, -2):
        with pytest.raises(TooLarge):
            nodes.power(num(base), num(10**9 + 1, 2))
    with pytest.raises(ZeroDivisionError):
        nodes.div(X, num(0))


def test_trees_are_taken_apart_and_put_together() -> None:
    tree = nodes.add(nodes.mul(X, Y), nodes.power(X, Z), Call("max", (X, num(2))), PI)
    assert nodes.symbols(tree) == {"x", "y", "z"}
    assert nodes.children(Pow(X, Z)) == (X, Z)
    assert nodes.children(PI) == nodes.children(X) == ()
    assert nodes.substitute(tree, "x", Y) == nodes.add(
        nodes.mul(Y, Y), nodes.power(Y, Z), Call("max", (Y, num(2))), PI
    )
    assert nodes.is_finite(tree)
    assert not nodes.is_finite(nodes.add(X, Call("sin", (nodes.INFINITY,))))
    both = nodes.add(X, nodes.mul(nodes.SIGN, Y))
    assert nodes.expand_signs(both) == (nodes.add(X, Y), nodes.add(X, nodes.neg(Y)))
    assert nodes.expand_signs(tree) == (tree,)


@pytest.mark.parametrize(
    ("left", "right", "alike"),
    [
        (nodes.add(X, Y), nodes.add(Y, X), True),
        (nodes.mul(X, Y), nodes.mul(Y, X), True),
        (nodes.add(X, Y), nodes.mul(X, Y), False),
        (Pow(X, Y), Pow(Y, X), False),
        (Call("f", (X, Y)), Call("f", (Y, X)), False),
        (Call("f", (X,)), Call("g", (X,)), False),
        (Sym("pi"), PI, False),
        (num(1, 2), num(2), False),
        (num(1, 2), num(2, 4, Form.COMPUTED), True),
    ],
)
def test_keys_forget_the_order_of_sums_and_products_alone(
    left: Node, right: Node, alike: bool
) -> None:
    assert (nodes.key(left) == nodes.key(right)) is alike


def test_draws_are_those_of_splitmix64() -> None:
    # The published first outputs of the generator, for the seeds 0 and 1234567.
    assert identity._draw(0, 0, 0) == 0xE220A8397B1DCDAF
    first = [identity._draw(1234567, 0, place) for place in range(3)]
    assert first == [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert identity._draw(7, 1, 0) == identity._draw(7, 0, 64)
    assert identity._draw(7, 1, 0) not in [identity._draw(7, 0, place) for place in range(64)]


def test_points_are_of_the_kinds_that_are_named() -> None:
    names = ["a", "b", "c"]
    signs = set()
    for seed in range(50):
        points = list(identity._points(names, seed))
        assert len(points) == 20
        assert all(list(point) == names for point in points)
        for point in points[0:9:3]:
            assert all(0 < value < 1 for value in point.values())
        for point in points[1:9:3]:
            assert all(1 < value < 4 for value in point.values())
        for point in points[2:9:3]:
            assert all(Fraction(1, 8) < abs(value) < Fraction(33, 8) for value in point.values())
            assert point["a"] < 0
            signs |= {(name, value > 0) for name, value in point.items()}
        for point in points[9:12]:
            assert all(value in range(2, 13) for value in point.values())
        for place, point in enumerate(points[12:]):
            values = list(point.values())[:: -1 if place % 2 else 1]
            assert all(one > other > 0 for one, other in pairwise(values))
            assert all(value.denominator == 1 for value in values)
    assert {("b", True), ("b", False), ("c", True), ("c", False)} <= signs


def test_whole_points_take_every_value() -> None:
    points = [point for seed in range(200) for point in identity._points(["a", "b"], seed)]
    small = {point["a"] for place, point in enumerate(points) if 9 <= place % 20 < 12}
    assert small == set(range(2, 13))
    falling = [point for place, point in enumerate(points) if place % 20 in range(12, 20, 2)]
    assert {point["a"] for point in falling} == {6, 7, 8}
    assert {point["b"] for point in falling} == {3, 4, 5}
    rising = [point for place, point in enumerate(points) if place % 20 in range(13, 20, 2)]
    assert {point["a"] for point in rising} == {3, 4, 5}
    assert {point["b"] for point in rising} == {6, 7, 8}


def test_points_of_each_kind_come_first() -> None:
    points = [{"x": Fraction(n)} for n in range(7)]
    assert [int(point["x"]) for point in identity._spread(points)] == [0, 3, 6, 1, 4, 2, 5]


@pytest.mark.parametrize(
    ("node", "rational"),
    [
        (X, True),
        (num(1, 3), True),
        (nodes.add(X, nodes.mul(Y, num(2))), True),
        (Pow(X, num(60)), True),
        (Pow(X, num(-60)), True),
        (Pow(X, num(61)), False),
        (Pow(X, num(-61)), False),
        (Pow(X, nodes.HALF), False),
        (Pow(X, Y), False),
        (Pow(Call("sin", (X,)), num(2)), False),
        (nodes.add(X, Pow(X, nodes.HALF)), False),
        (nodes.mul(X, PI), False),
        (PI, False),
        (Call("sin", (X,)), False),
    ],
)
def test_quotients_of_polynomials_are_known(node: Node, rational: bool) -> None:
    assert identity._is_rational(node) is rational


@pytest.mark.parametrize(
    ("node", "has"),
    [
        (IMAGINARY, True),
        (PI, False),
        (X, False),
        (num(1), False),
        (nodes.add(X, IMAGINARY), True),
        (nodes.mul(X, IMAGINARY), True),
        (Pow(EULER, nodes.mul(IMAGINARY, X)), True),
        (Call("sin", (IMAGINARY,)), True),
        (nodes.add(X, PI), False),
    ],
)
def test_the_imaginary_unit_is_found(node: Node, has: bool) -> None:
    assert identity._has_i(node) is has


def test_up_to_twelve_symbols_are_compared() -> None:
    def square(count: int) -> tuple[Node, Node]:
        total = nodes.add(*(Sym(f"x_{place}") for place in range(count)))
        return nodes.power(total, num(2)), nodes.mul(total, total)

    assert identity.MAX_SYMBOLS == 12
    assert identity.same(*square(12)) is True
    assert identity.same(*square(13)) is None


def test_polynomials_that_differ_in_one_place_differ() -> None:
    # Large coefficients hide the difference from floats, so that only exact numbers tell.
    large = nodes.mul(num(10**30), X, X)
    assert identity.same(nodes.add(large, X), nodes.add(large, Y)) is False
    assert identity.same(nodes.add(large, X), nodes.add(X, large, Y, nodes.neg(Y))) is True
    names, never = ["x"], nodes.power(nodes.add(X, nodes.neg(X)), num(-1))
    assert identity._same_rational(never, never, names, 0) is None


@pytest.mark.parametrize(
    ("lost", "hidden", "extra"),
    [(0, 0, 0), (2.9, 19.9, 0), (3, 0, 60), (0, 20, 20), (3, 20, 80), (80, 0, 1200), (0, 700, 600)],
)
def test_more_digits_must_agree_after_cancellation(
    lost: float, hidden: float, extra: float
) -> None:
    field = Digits(use_complex=False)
    field.lost, field.hidden = lost, hidden
    assert identity._extra_digits(field) == extra


def test_digits_are_rounded_up_to_fifties() -> None:
    assert [identity._rounded_up(n) for n in (1, 50, 50.5, 51, 100, 101)] == [
        *(50, 50, 100, 100, 100, 150)
    ]


@pytest.mark.parametrize(
    ("node", "size"),
    [
        (nodes.INFINITY, math.inf),
        (nodes.neg(nodes.INFINITY), -math.inf),
        (nodes.mul(num(3), nodes.INFINITY), math.inf),
        (nodes.mul(num(3), X, nodes.INFINITY), None),
        (nodes.mul(X, nodes.INFINITY), None),
        (nodes.add(nodes.INFINITY, num(1)), None),
        (num(7, 2), 3.5),
        (X, None),
        (IMAGINARY, None),
        (nodes.power(num(10), num(400)), None),  # no float is as large
    ],
)
def test_sizes(node: Node, size: float | None) -> None:
    assert identity.size_of(node) == size


def test_exact_rationals_have_sums_products_and_whole_powers() -> None:
    point = {"x": Fraction(2, 3), "y": Fraction(-5)}
    assert evaluate(nodes.add(X, Y, num(1)), point, Rational()) == Fraction(-10, 3)
    assert evaluate(nodes.mul(num(3), X, Y), point, Rational()) == -10
    assert evaluate(Pow(X, num(-2)), point, Rational()) == Fraction(9, 4)
    for node in (Pow(X, nodes.HALF), PI, Call("abs", (X,))):
        with pytest.raises(Undefined):
            evaluate(node, point, Rational())


def test_a_program_evaluates_equal_parts_once() -> None:
    class Counting(Floats):
        calls = 0

        def call(self, name: str, args: list[Any]) -> Any:
            self.calls += 1
            return super().call(name, args)

    sine = Call("sin", (X,))
    field = Counting(use_complex=False)
    program = Program(nodes.add(sine, nodes.power(sine, num(2))), sine, Call("sin", (Y,)))
    values = program.run({"x": 1.0, "y": 2.0}, field)
    one, two = math.sin(1.0), math.sin(2.0)
    assert values == pytest.approx([one + one**2, one, two])
    assert field.calls == 2
    alike = Program(Sym("pi"), PI, Call("Add", (X,)), nodes.add(X, num(0))).run(
        {"pi": 3.0, "x": 1.0}, _Named()
    )
    assert alike == [3.0, math.pi, "Add", 1.0]


class _Named(Floats):
    """Gives calls their names as values."""

    def __init__(self) -> None:
        super().__init__(use_complex=False)

    def call(self, name: str, args: list[Any]) -> Any:
        return name


def test_real_powers_of_negative_numbers() -> None:
    for field in REAL:
        base = field.number(Fraction(-8))
        assert field.power(base, field.number(Fraction(3))) == -512
        assert field.power(-base, field.number(Fraction(1, 2))) == pytest.approx(math.sqrt(8))
        assert field.power(field.number(Fraction(0)), field.number(Fraction(1, 2))) == 0
        with pytest.raises(Undefined):
            field.power(base, field.number(Fraction(1, 2)))
    for wide in COMPLEX:
        found = complex(wide.power(wide.number(Fraction(-4)), wide.number(Fraction(1, 2))))
        assert found == pytest.approx(2j)
    with pytest.raises(Undefined):
        Digits(use_complex=True).power(0, 1)


def test_floats_prove_nothing_beyond_a_million() -> None:
    for size, loss in ((1e6, 1.0), (-1e6, 1.0), (1.1e6, math.inf), (-1.1e6, math.inf)):
        field = Floats(use_complex=False)
        field.power(1.0, size)
        assert field.loss == loss
        field = Floats(use_complex=False)
        field.call("abs", [size])
        assert field.loss == loss


def test_powers_are_computed_up_to_a_length() -> None:
    field = Digits(use_complex=False)
    half = int(MAX_LOG2) // 2  # a power of 2 counts one bit more for each factor
    assert field.power(field.number(Fraction(2)), field.number(Fraction(half))) == 2**half
    for exponent in (half + 1, -half - 1):
        with pytest.raises(TooLarge):
            field.power(field.number(Fraction(2)), field.number(Fraction(exponent)))


def test_angles_and_whole_numbers_are_bounded() -> None:
    for field in REAL:
        at = field.number(Fraction(int(MAX_ANGLE)))
        assert float(field.call("sin", [at])) == pytest.approx(math.sin(MAX_ANGLE))
        for outside in (2 * at, -2 * at):
            assert field.call("abs", [outside]) == 2 * at
            with pytest.raises(Undefined):
                field.call("sin", [outside])
    field = Digits(use_complex=False)
    most = field.number(Fraction(MAX_FACTORIAL))
    expected = math.lgamma(MAX_FACTORIAL + 1)
    assert float(field.library.log(field.call("factorial", [most]))) == pytest.approx(expected)
    with pytest.raises(Undefined):
        field.call("factorial", [most + 1])


def test_functions_have_values_at_the_ends_of_their_domains() -> None:
    for field in REAL:
        one = field.number(Fraction(1))
        for name, value in (("arcsin", math.pi / 2), ("arccos", 0.0), ("acosh", 0.0)):
            assert float(field.call(name, [one])) == pytest.approx(value)
        assert float(field.call("arcsin", [-one])) == pytest.approx(-math.pi / 2)
        assert float(field.call("asinh", [-2 * one])) == pytest.approx(math.asinh(-2))
        assert float(field.call("log", [8 * one, 2 * one])) == pytest.approx(3)
        assert float(field.call("root", [-8 * one, 3 * one])) == pytest.approx(-2)
        for degree in (Fraction(2), Fraction(5, 2)):
            with pytest.raises(Undefined):
                field.call("root", [-8 * one, field.number(degree)])
    for wide in COMPLEX:
        root = complex(wide.call("root", [wide.number(Fraction(-8)), wide.number(Fraction(3))]))
        assert root == pytest.approx(complex(1, math.sqrt(3)))  # the principal one
        with pytest.raises(Undefined):
            wide.call("floor", [wide.constant("i")])


def test_a_function_that_nobody_defined_depends_on_its_name_and_all_arguments() -> None:
    for field in REAL:
        one, two = field.number(Fraction(1)), field.number(Fraction(2))
        calls = [("?f", [one, two]), ("?f", [two, one]), ("?g", [one, two]), ("?f", [one, one])]
        values = [float(field.call(name, args)) for name, args in calls]
        assert len({round(value, 6) for value in values}) == 4
        assert all(0.5 <= value <= 2.5 for value in values)
        assert values[0] == float(field.call("?f", [one, two]))
    floats, digits = ([f.call("?f", [f.number(Fraction(1, 3))])] for f in REAL)
    assert float(floats[0]) == pytest.approx(float(digits[0]), rel=1e-12)


@pytest.mark.parametrize(
    ("value", "ends"),
    [
        (Fraction(3), True),
        (Fraction(1, 4), True),
        (Fraction(7, 50), True),
        (Fraction(1, 3), False),
        (Fraction(1, 6), False),
        (Fraction(1, 15), False),
        (Fraction(1, 2**3999), True),
        (Fraction(1, 2**4000), False),  # too long to try
    ],
)
def test_decimals_end_where_only_twos_and_fives_divide(value: Fraction, ends: bool) -> None:
    assert tolerance._terminates(value) is ends


ROOT = nodes.power(num(2), nodes.HALF)


@pytest.mark.parametrize(
    ("gold", "answer", "within"),
    [
        (ROOT, num(143, 100), True),
        (ROOT, num(140, 100), True),
        (ROOT, num(144, 100), False),
        (nodes.neg(ROOT), num(-143, 100), True),
        (nodes.neg(ROOT), num(143, 100), False),
        (nodes.neg(ROOT), num(-144, 100), False),
        (num(-2), num(-65, 32), True),  # a 64th of 2, exactly
        (num(2), num(63, 32), True),
        (num(2), num(66, 32), False),
    ],
)
def test_a_tolerance_of_a_64th_is_relative_to_the_gold(
    gold: Node, answer: Node, within: bool
) -> None:
    assert tolerance.same_expr(gold, answer, 1 / 64) is within
