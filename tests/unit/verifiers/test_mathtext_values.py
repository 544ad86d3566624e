"""Values at points, folding, tolerances and units: each rule on both sides of its border."""

import math
from fractions import Fraction

import pytest

from rlvr_envs.verifiers.exact import TooLarge
from rlvr_envs.verifiers.mathtext import identity, nodes, tolerance, units
from rlvr_envs.verifiers.mathtext.functions import MAX_EXPONENT, MAX_LITERAL, apply, numeral
from rlvr_envs.verifiers.mathtext.lexer import Unreadable
from rlvr_envs.verifiers.mathtext.nodes import Call, Node, Num, Sym
from rlvr_envs.verifiers.mathtext.numeric import Digits, Floats, Program, Undefined, evaluate
from rlvr_envs.verifiers.mathtext.reader import read
from rlvr_envs.verifiers.mathtext.values import Opaque, Scalar
from rlvr_envs.verifiers.symbolic import compile_gold, judge_math


def expr(text: str) -> Node:
    """Read an expression."""
    value = read(text)
    assert isinstance(value, Scalar), value
    return value.expr


VALUES = [
    (r"\sin(1/3)", math.sin(1 / 3)),
    (r"\cos(1/3)", math.cos(1 / 3)),
    (r"\tan(1/3)", math.tan(1 / 3)),
    (r"\cot(1/3)", 1 / math.tan(1 / 3)),
    (r"\sec(1/3)", 1 / math.cos(1 / 3)),
    (r"\csc(1/3)", 1 / math.sin(1 / 3)),
    (r"\sinh(1/3)", math.sinh(1 / 3)),
    (r"\cosh(1/3)", math.cosh(1 / 3)),
    (r"\tanh(1/3)", math.tanh(1 / 3)),
    (r"\coth(1/3)", 1 / math.tanh(1 / 3)),
    (r"\arcsin(1)", math.pi / 2),
    (r"\arccos(-1)", math.pi),
    (r"\arctan(3)", math.atan(3)),
    (r"\operatorname{arccot}(3)", math.atan(1 / 3)),
    (r"\operatorname{arccot}(-3)", math.pi - math.atan(1 / 3)),
    (r"\operatorname{arcsec}(2)", math.pi / 3),
    (r"\operatorname{arccsc}(2)", math.pi / 6),
    (r"\ln(1/3)", math.log(1 / 3)),
    (r"\lg(1/3)", math.log10(1 / 3)),
    (r"\log_3(1/2)", math.log(1 / 2, 3)),
    (r"\sqrt[3]{-10}", -(10 ** (1 / 3))),
    (r"\sqrt[3]{10}", 10 ** (1 / 3)),
    (r"\sqrt[4]{10}", 10**0.25),
    (r"\lfloor -\pi \rfloor", -4.0),
    (r"\lceil -\pi \rceil", -3.0),
    (r"\lfloor \pi \rfloor", 3.0),
    (r"\lceil \pi \rceil", 4.0),
    (r"|-\pi|", math.pi),
    (r"\max(\pi, e)", math.pi),
    (r"\min(\pi, e)", math.e),
    (r"\pi^2 - e", math.pi**2 - math.e),
    (r"\frac{\pi}{e^2}", math.pi / math.e**2),
]


@pytest.mark.parametrize(("text", "value"), VALUES)
def test_floats_and_digits_know_the_value(text: str, value: float) -> None:
    node = expr(text)
    for field in (Floats(use_complex=False), Digits(use_complex=False)):
        assert float(evaluate(node, {}, field)) == pytest.approx(value, rel=1e-12)
        assert float(Program(node).run({}, field)[0]) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        r"\arcsin(1.01)",
        r"\arcsin(-1.01)",
        r"\arccos(1.01)",
        r"\ln(0)",
        r"\ln(-1)",
        r"\log_{-2}(3)",
        r"\sqrt{-2}",
        r"\sqrt[4]{-10}",
        r"(-2)^{1/2}",
        "i",
        r"\sin(10^{16})",
        r"\ln(\ln(1))",
    ],
)
def test_what_has_no_real_value_is_undefined(text: str) -> None:
    is_undefined(expr(text))


@pytest.mark.parametrize(
    ("name", "inside", "outside"),
    [("acosh", 1, Fraction(99, 100)), ("atanh", Fraction(99, 100), 1), ("atanh", 0, -1)],
)
def test_hyperbolic_inverses_have_a_domain(
    name: str, inside: Fraction | int, outside: Fraction | int
) -> None:
    assert identity.size_of(Call(name, (Num(Fraction(inside)),))) is not None
    is_undefined(Call(name, (Num(Fraction(outside)),)))


def is_undefined(node: Node) -> None:
    """Check that no real field gives a value."""
    for field in (Floats(use_complex=False), Digits(use_complex=False)):
        with pytest.raises(Undefined):
            evaluate(node, {}, field)
    assert identity.size_of(node) is None
    assert identity.value_of(node) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r"\sqrt{-4}", 2j),
        (r"i^2", -1),
        (r"e^{i\pi}", -1),
        (r"\ln(-1)", math.pi * 1j),
        (r"|3+4i|", 5),
    ],
)
def test_complex_fields_go_on_where_real_ones_stop(text: str, value: complex) -> None:
    for field in (Floats(use_complex=True), Digits(use_complex=True)):
        found = complex(evaluate(expr(text), {}, field))
        assert found == pytest.approx(value, abs=1e-12)


def test_powers_of_zero() -> None:
    zero, field = expr("x"), Digits(use_complex=False)
    point = {"x": field.number(Fraction(0)), "n": field.number(Fraction(2))}
    assert evaluate(expr("x^n"), point, field) == 0
    assert evaluate(nodes.power(zero, nodes.add(expr("n"), Num(Fraction(-2)))), point, field) == 1
    with pytest.raises(Undefined):
        evaluate(expr("x^{-n}"), point, field)


def test_a_float_field_notes_cancellation_and_huge_arguments() -> None:
    def loss(text: str, x: float) -> float:
        field = Floats(use_complex=False)
        evaluate(expr(text), {"x": x}, field)
        return field.loss

    assert loss("x + 1", 3.0) == 1.0
    assert loss("x - 1", 1.001) == pytest.approx(1001)
    assert loss("x - 1", 1.0) == math.inf
    assert loss("x - x^2", 0.0) == 1.0
    assert loss(r"\sin(x)", 1e6) == 1.0
    assert loss(r"\sin(x)", 1e7) == math.inf
    assert loss("2^x", 10.0) == 1.0
    assert loss("1^x", 1e7) == math.inf


def test_digits_note_what_cancels_and_what_hides() -> None:
    field = Digits(use_complex=False)
    evaluate(expr(r"\pi - 314159265/100000000"), {}, field)
    assert 8 <= field.lost <= 9.5
    field = Digits(use_complex=False)
    evaluate(expr(r"\pi + 10^{-30}"), {}, field)
    assert 29 <= field.hidden <= 32
    assert field.lost < 1
    field = Digits(use_complex=False)
    evaluate(Call("ln", (Num(1 + Fraction(1, 10**20)),)), {}, field)
    assert 19 <= field.lost <= 21


def test_whole_functions_take_whole_numbers_alone() -> None:
    for field in (Floats(use_complex=False), Digits(use_complex=False)):
        point = {name: field.number(Fraction(value)) for name, value in (("n", 6), ("k", 4))}
        for text, value in (("n!", 720), (r"\binom{n}{k}", 15), (r"\gcd(n,k)", 2)):
            assert evaluate(expr(text), point, field) == value
        assert evaluate(Call("lcm", (Sym("n"), Sym("k"))), point, field) == 12
        with pytest.raises(Undefined):
            evaluate(expr("n!"), {"n": field.number(Fraction(5, 2))}, field)


@pytest.mark.parametrize(
    ("name", "args", "value"),
    [
        ("factorial", (5,), 120),
        ("binomial", (5, 2), 10),
        ("root", (-27, 3), -3),
        ("cbrt", (8,), 2),
        ("max", (1, 3, 2), 3),
        ("min", (2, 1, 3), 1),
        ("abs", (Fraction(-7, 2),), Fraction(7, 2)),
        ("floor", (Fraction(-7, 2),), -4),
        ("ceil", (Fraction(-7, 2),), -3),
        ("sqrt", (9,), 3),
    ],
)
def test_functions_of_numbers_are_folded(
    name: str, args: tuple[Fraction | int, ...], value: Fraction | int
) -> None:
    found = apply(name, tuple(Num(Fraction(arg)) for arg in args))
    assert isinstance(found, Num)
    assert found.value == value


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("factorial", (Fraction(1, 2),)),
        ("root", (2, 3)),
        ("root", (4, Fraction(1, 2))),
        ("sin", (1,)),
        ("sqrt", (2,)),
    ],
)
def test_what_is_not_exact_stays_a_call(name: str, args: tuple[Fraction | int, ...]) -> None:
    assert not isinstance(apply(name, tuple(Num(Fraction(arg)) for arg in args)), Num)


@pytest.mark.parametrize(
    ("name", "counts"),
    [("sin", (1,)), ("binomial", (2,)), ("root", (2,)), ("log", (1, 2)), ("max", (1, 2, 50))],
)
def test_functions_refuse_the_wrong_number_of_arguments(name: str, counts: tuple[int, ...]) -> None:
    for count in (0, 1, 2, 3, 50, 51):
        args = tuple(Sym(f"x_{place}") for place in range(count))
        if count in counts or (name == "max" and count == 3):
            apply(name, args)
        else:
            with pytest.raises(Unreadable, match=f"{name} of {count} values"):
                apply(name, args)


@pytest.mark.parametrize(
    ("text", "value", "ulp", "digits"),
    [
        ("12", 12, None, 0),
        ("0.50", Fraction(1, 2), Fraction(1, 100), 2),
        ("7.4e-12", Fraction(74, 10**13), Fraction(1, 10**13), 2),
        ("3E2", 300, 100, 1),
        ("27.0", 27, None, 0),
        ("27.", 27, None, 0),
        ("27.00", 27, Fraction(1, 100), 4),
        ("27.5", Fraction(55, 2), Fraction(1, 10), 3),
        ("2.0e1", 20, 1, 2),
        (".5", Fraction(1, 2), Fraction(1, 10), 1),
    ],
)
def test_a_literal_remembers_its_precision(
    text: str, value: Fraction, ulp: Fraction | None, digits: int
) -> None:
    found = numeral(text)
    assert (found.value, found.ulp, found.digits) == (value, ulp, digits)


def test_literals_are_bounded() -> None:
    assert numeral("9" * MAX_LITERAL).value == 10**MAX_LITERAL - 1
    assert numeral(f"1e-{MAX_EXPONENT}").value == Fraction(1, 10**MAX_EXPONENT)
    for text in ("9" * (MAX_LITERAL + 1), f"1e{MAX_EXPONENT + 1}", "1e0000001"):
        with pytest.raises(TooLarge):
            numeral(text)
    for text in ("", ".", "1.2.3", "٤"):
        with pytest.raises(Unreadable):
            numeral(text)


@pytest.mark.parametrize(
    ("gold", "answer", "rel_tol", "same"),
    [
        ("1.5", "1.55", None, True),
        ("1.5", "1.551", None, False),
        ("1.5", "1.45", None, True),
        ("1.5", "2", None, False),
        ("1.50", "1.5", None, True),
        ("1.54", "1.5", None, False),  # less precise than the gold
        ("1/3", "0.333333", None, True),
        ("1/3", "0.33333", None, False),  # five digits
        ("1/3", "0.333334", None, False),
        ("1/8", "0.125000", None, True),
        ("1/8", "0.125001", None, False),  # the decimals of 1/8 end
        ("7/250", "0.0280001", None, False),
        ("100", "101", 0.01, True),
        ("100", "101.1", 0.01, False),
        ("-100", "-101", 0.01, True),
        ("100", "101", 0.009, False),
        (r"\sqrt{2}", "1.41421", None, True),
        (r"\sqrt{2}", "1.4142", None, False),
        (r"\sqrt{2}", "1.41422", None, False),
        (r"\sqrt{2}", "1.42", 0.01, True),
        (r"\sqrt{2}", "1.43", 0.01, False),
        (r"\sqrt{2}", r"\sqrt{2.02}", 0.01, True),
        (r"\sqrt{2}", r"\sqrt{2.1}", 0.01, False),
        ("1.41", r"\sqrt{2}", None, True),
        ("1.42", r"\sqrt{2}", None, False),
        ("1.4", r"\sqrt{2}", 0.02, True),
        ("2", r"\sqrt{4.1}", 0.02, True),
        ("2", r"\sqrt{4.1}", 0.01, False),
        ("0", r"\sqrt{2}-\sqrt{2}", 0.1, True),
        ("0", r"\sqrt{2}\sqrt{3}-\sqrt{6}", 0.1, True),  # over fifty digits not quite 0
        ("0", r"\pi-e", 0.1, False),
    ],
)
def test_what_a_decimal_stands_for(
    gold: str, answer: str, rel_tol: float | None, same: bool
) -> None:
    assert tolerance.same_expr(expr(gold), expr(answer), rel_tol) is same


@pytest.mark.parametrize(
    ("gold", "answer", "score"),
    [
        ("x^2 + C", "x^2 + K", 1.0),
        ("x^2 + C", "x^2 + 2", 0.0),
        ("x^2 + C", "x^2 + y", 0.0),
        ("x^2 + C", "x^3 + K", 0.0),
        ("C_1 x + C_2", "c_1 x + c_2", 1.0),
        ("C_1 x + C_2", "c_2 x + c_1", 1.0),
        (r"\frac{\pi}{6} + k\pi", r"\frac{\pi}{6} + n\pi", 1.0),
        (r"\frac{\pi}{6} + k\pi", r"\frac{\pi}{6} + x\pi", 0.0),
        ("6 + 2k", "6 + 2n", 0.0),  # no angle, so k is no parameter
    ],
)
def test_constants_may_have_other_names(gold: str, answer: str, score: float) -> None:
    assert judge_math(gold, answer, answer_type="expression").score == score


@pytest.mark.parametrize(
    "text",
    [
        r"\frac{dy}{dx}",
        r"\frac{d^2y}{dx^2}",
        r"\frac{\partial f}{\partial x}",
        r"\frac{d^{2}y}{dx^{2}}",
    ],
)
def test_a_derivative_is_one_unknown(text: str) -> None:
    assert isinstance(expr(text), Sym)
    assert judge_math(f"{text} + 1", f"1 + {text}", answer_type="expression").score == 1.0
    assert judge_math(text, r"\frac{y}{x}", answer_type="expression").score == 0.0
    plain = text.replace("^{2}", "^2")
    assert judge_math(plain, text, answer_type="expression").score == 1.0


@pytest.mark.parametrize("text", [r"\frac{d}{x}", r"\frac{ad}{dx}", r"\frac{dy}{2x}"])
def test_a_quotient_with_a_d_is_a_quotient(text: str) -> None:
    found = read(text)
    assert not isinstance(found, Opaque)
    assert not (isinstance(found, Scalar) and isinstance(found.expr, Sym))


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (r"\frac12", "1/2"),
        (r"\frac123", "3/2"),
        (r"\frac{12}{34}", "6/17"),
        (r"2^\pi", r"2^{\pi}"),
        (r"x^\frac12", r"\sqrt{x}"),
        (r"e^\sin(x)", r"e^{\sin x}"),
        (r"\sin^2 x", r"(\sin x)^2"),
        (r"\sin^{-1}(x)", r"\arcsin x"),
        (r"\ln^{-1}(x)", r"\frac{1}{\ln x}"),
        (r"\sin 2x \cos x", r"\sin(2x) \cdot \cos(x)"),
        (r"\sin -x", r"-\sin x"),
        (r"\log_{2}{8x}", r"3 + \log_2(x)"),
        (r"||x|-1|", r"|1-|x||"),
        (r"\sqrt[n]{x}", r"x^{1/n}"),
        (r"x_{12} + x_1", r"x_1 + x_{12}"),
        (r"50\%", "1/2"),
        (r"180^{\circ}", r"\pi"),
    ],
)
def test_two_ways_to_write_an_expression(text: str, same: str) -> None:
    assert judge_math(same, text, answer_type="expression").score == 1.0
    assert judge_math(f"{same} + 1", text, answer_type="expression").score == 0.0


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("inches", "in"),
        ("feet", "ft"),
        ("ms", "ms"),
        ("gas", "ga"),
        ("Metres", "m"),
        ("km^2", "kilometers ^ 2"),
        ("percent", "%"),
        ("th inch", "in"),
    ],
)
def test_spellings_of_a_unit_have_one_name(one: str, two: str) -> None:
    assert units.checked(one) == units.checked(two)


@pytest.mark.parametrize(("one", "two"), [("as", "a"), ("glass", "glas"), ("M", "m"), ("in", "ft")])
def test_other_units_have_another(one: str, two: str) -> None:
    assert units.checked(one) != units.checked(two)


@pytest.mark.parametrize(
    ("one", "two", "compatible"),
    [
        ("", "cm", True),
        ("cm", "", True),
        ("unit", "cm", True),
        ("cm", "square unit", True),
        ("apples", "red apples", True),
        ("apples", "red pears", False),
        ("sq cm", "cm ^ 2", True),
        ("cubic cm", "cm ^ 3", True),
        ("cubic cm", "cm ^ 2", False),
        ("sq cm", "cm", False),
        ("cm", "cm ^ 2", False),
        ("cm", "m", False),
    ],
)
def test_units_that_may_stand_for_each_other(one: str, two: str, compatible: bool) -> None:
    assert units.compatible(one, two) is compatible
    assert units.compatible(two, one) is compatible


def test_dimensions_add_up() -> None:
    assert units.dimensions("kg m ^ 2 / s ^ 3") == {"kg": 1, "m": 2, "s": -3}
    assert units.dimensions("m m / m") == {"m": 1}
    assert units.dimensions("^ 2") == {"": 0}
    assert units.checked("a b c d e f") == "a b c d e f"
    assert units.split_multiplier("dozen eggs") == (12, "eggs")
    assert units.split_multiplier("eggs dozen") == (1, "eggs dozen")
    for text in ("2 cm", "cm 2", "a b c d e f g", "cm plus m"):
        with pytest.raises(Unreadable):
            units.checked(text)


def test_symbols_may_spell_a_unit() -> None:
    found = units.spelled_in_symbols(expr("6 m s^{-2} m"))
    assert found is not None
    assert (found[0].value, found[1]) == (6, {"m": 2, "s": -2})
    for text in ("m s", "6", "6 (m+s)", "6 m^x"):
        assert units.spelled_in_symbols(expr(text)) is None


def test_what_has_no_digits_stays_open() -> None:
    # Zero to a power has no value over fifty complex digits, though floats have one.
    left = expr(r"i + (\sqrt{2}-\sqrt{2})^2")
    assert identity.same(left, expr("i")) is None
    assert identity.same(left, expr("i+1")) is not True


@pytest.mark.parametrize(
    "text", [r"\sqrt\lfloor 2 \rfloor", r"x^\text{a}", r"\frac\begin{pmatrix}1\end{pmatrix}2", "x^"]
)
def test_an_argument_is_a_group_or_one_factor(text: str) -> None:
    found = read(text)
    assert isinstance(found, Opaque)
    assert found.reason.startswith("expected an argument before")


def test_a_gold_for_the_second_reader_alone() -> None:
    compiled = compile_gold(r"\sum_{k=1}^{n} k")
    assert (compiled.verifiable, compiled.declared, compiled.answer_type) == (
        True,
        False,
        "expression",
    )
    assert isinstance(compiled.value, Opaque)
    assert not compiled.hopeless
    for text in ("{", r"\sum_{k} {", "???"):
        assert not compile_gold(text).verifiable


@pytest.mark.parametrize(
    ("answer", "right"),
    [("0.171429", True), ("0.171428", False), ("0.1714286", True), ("0.17143", False)],
)
def test_a_decimal_of_six_digits_stands_for_what_rounds_to_it(answer: str, right: bool) -> None:
    assert (judge_math(r"\frac{6}{35}", answer).score == 1.0) is right


def test_numbers_beyond_floats_are_not_refuted_by_them() -> None:
    left, right = read(r"e^{1000}+\sin(1)"), read(r"e\cdot e^{999}+\sin(1)")
    assert isinstance(left, Scalar)
    assert isinstance(right, Scalar)
    assert identity.same(left.expr, right.expr) is True
