"""The parts of the reader: spelling, tokens, values, regions, identities, derivatives."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from rlvr_envs.verifiers.mathtext import calculus, identity, nodes, units
from rlvr_envs.verifiers.mathtext.lexer import MAX_TOKENS, Unreadable, tokens
from rlvr_envs.verifiers.mathtext.nodes import Form, Node, Num
from rlvr_envs.verifiers.mathtext.normalise import drop_enumeration, normalise, plain_words
from rlvr_envs.verifiers.mathtext.parser import MAX_DEPTH
from rlvr_envs.verifiers.mathtext.reader import read, read_as_list, read_base, read_choice
from rlvr_envs.verifiers.mathtext.regions import region_of
from rlvr_envs.verifiers.mathtext.values import BaseN, Braces, Grid, Group, Opaque, Scalar
from rlvr_envs.verifiers.symbolic import judge_math


def expr(text: str) -> Node:
    """Read an expression."""
    value = read(text)
    assert isinstance(value, Scalar), value
    return value.expr


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (r"$\dfrac{1}{2}$.", r"\frac{1}{2}"),
        (r"\left(1, 2\right)", "(1, 2)"),
        (r"12{,}345", "12345"),
        (r"1\,000", "1000"),
        ("10 000", "10000"),
        (r"90^{\circ}", r"90\degree"),
        ("y^{\\prime}", "y'"),
        ("x²", "x^{2}"),
        ("４２", "42"),
        ("٤٢", "٤٢"),
        (r"\$5", "5"),
        ("The final answer is 7", "7"),
        ("½", r"\frac{1}{2}"),
    ],
)
def test_normalise(text: str, clean: str) -> None:
    assert normalise(text) == clean


def test_plain_words_and_enumerations() -> None:
    assert plain_words(r"\text{ An Ellipse. }") == "ellipse"
    assert drop_enumeration("(1) 5; (2) 7") == "5, 7"
    assert drop_enumeration("(a) x, (b) y. (c) z") == "x, y, z"
    assert drop_enumeration(r"\text{(1)} 5 \text{(2)} 7") == "5, 7"
    for kept in ("(1)(2)", "(a)+(b)", "(1) 5; (3) 7", "(2) 5", "(1) x + (2) y", "x (1) 5; (2) 7"):
        assert drop_enumeration(kept) == kept


def test_tokens_are_bounded_and_unknown_commands_refused() -> None:
    assert [token.text for token in tokens("2pi + sinx")] == ["2", "pi", "+", "sin", "x"]
    for text in ("+" * (MAX_TOKENS + 1), r"\input{x}", "a @ b", r"\text{open"):
        with pytest.raises(Unreadable):
            tokens(text)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("(1,2)", Group),
        (r"\{1,2\}", Braces),
        (r"\begin{pmatrix}1&2\end{pmatrix}", Grid),
        (r"\left[\begin{array}{cc}2&1\\4&3\end{array}\right]", Grid),
        ("52_8", BaseN),
        ("x+1", Scalar),
        (r"\sum_{k} k", Opaque),
        ("(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1), Opaque),
        ("", Opaque),
        ("1 2", Opaque),
        ("[1", Opaque),
    ],
)
def test_read_gives_typed_values(text: str, kind: type) -> None:
    assert isinstance(read(text), kind)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("42", Form.LITERAL),
        ("-4.5", Form.LITERAL),
        (r"3 \times 10^5", Form.LITERAL),
        (r"\frac{1}{2}", Form.QUOTIENT),
        (r"-1\frac{1}{2}", Form.QUOTIENT),
        (r"3 \cdot \frac{1}{10}", Form.QUOTIENT),
        (r"\frac{3}{7} \times 10^5", Form.QUOTIENT),
        (r"\frac{3}{7} \cdot \frac{1}{10}", Form.COMPUTED),
        (r"\frac{3}{7} \cdot 100", Form.COMPUTED),
        ("3*100", Form.COMPUTED),
        ("1+1", Form.COMPUTED),
        ("2*3", Form.COMPUTED),
        ("2^3", Form.COMPUTED),
        ("4!", Form.COMPUTED),
        (r"\sqrt{4}", Form.COMPUTED),
    ],
)
def test_a_number_remembers_how_it_was_written(text: str, form: Form) -> None:
    number = expr(text)
    assert isinstance(number, Num)
    assert number.form is form


def test_bases_and_choices() -> None:
    assert read_base("1A_{16}") == BaseN("1A", 16)
    assert read_base("29_8") is None
    assert read_base("x_1") is None
    assert read_choice(r"\textbf{(B)}", with_text=False) == "B"
    assert read_choice("(B) 12", with_text=True) == "B"
    assert read_choice("(B) or (C)", with_text=True) is None
    assert read_as_list("1,234") is not None
    assert read_as_list("1, 234") is None


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("x<1 or x>3", r"(-\infty,1)\cup(3,\infty)"),
        ("x>1 and x<3", "(1,3)"),
        (r"[1,3]\cap(2,5)", "(2,3]"),
        (r"(1,2)\cup\{2\}\cup(2,3)", "(1,3)"),
        ("2x - 4 > 0", "x > 2"),
        ("|x| < 2", "(-2,2)"),
        (r"x \neq 0", r"(-\infty,0)\cup(0,\infty)"),
    ],
)
def test_regions_are_merged(left: str, right: str) -> None:
    found = region_of(read(left))
    assert found is not None
    assert found == region_of(read(right))


@pytest.mark.parametrize("text", ["(2,1)", "x^2 > 1", "(a,b)", "x + y > 1", "5"])
def test_what_is_no_region(text: str) -> None:
    assert region_of(read(text)) is None


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (r"\sin^2 x + \cos^2 x", "1", True),
        (r"\sqrt{x}\sqrt{y}", r"\sqrt{xy}", True),
        ("(-1)^n", r"\cos(n\pi)", True),
        (r"\sqrt{10^{40}+1} - 10^{20}", "0", False),
        ("x", r"\sqrt{x^2}", False),
        (r"\frac{x^2-1}{x-1}", "x+1", True),
        (r"\frac{1}{x-x}", "1", None),
        (r"\arcsin(x^2+5)", r"\arcsin(5+x^2)+1", None),
        ("f(x)+g(x)", "g(x)+f(x)", True),
        ("f(x)", "g(x)", False),
        (r"\max(x,y)", r"\frac{x+y+|x-y|}{2}", True),
    ],
)
def test_identities(left: str, right: str, same: bool | None) -> None:
    assert identity.same(expr(left), expr(right)) is same


def test_too_many_symbols_stay_open() -> None:
    left = nodes.add(*(nodes.Sym(f"x_{place}") for place in range(20)))
    assert identity.same(left, nodes.ONE) is None


FUNCTIONS = (
    "sin cos tan cot sec csc sinh cosh tanh coth arcsin arccos arctan arccot asinh atanh ln log lg"
)


@pytest.mark.parametrize("name", FUNCTIONS.split())
def test_derivatives_agree_with_difference_quotients(name: str) -> None:
    inner = expr("x/2 + 1/5")
    slope = calculus.derivative(nodes.Call(name, (inner,)), "x")
    assert slope is not None
    step = 1e-6

    def value(at: float) -> float:
        call = nodes.substitute(nodes.Call(name, (inner,)), "x", Num(Fraction(at)))
        found = identity.size_of(call)
        assert found is not None
        return found

    for at in (0.3, 0.9):
        quotient = (value(at + step) - value(at - step)) / (2 * step)
        exact = identity.size_of(nodes.substitute(slope, "x", Num(Fraction(at))))
        assert exact == pytest.approx(quotient, rel=1e-5)


def test_unknown_functions_have_no_derivative() -> None:
    assert calculus.derivative(expr("f(x)"), "x") is None
    assert calculus.derivative(expr("f(y)"), "x") == nodes.ZERO


def test_units_compare_by_name_and_power() -> None:
    assert units.checked("square inches") == units.checked("sq inch")
    assert units.compatible("cm", "")
    assert not units.compatible("cm ^ 2", "cm ^ 3")
    assert units.split_multiplier("million $") == (10**6, "$")
    assert units.dimensions("m / s ^ 2") == {"m": 1, "s": -2}
    for text in ("or 5", "cm but not m", "5 apples", "a b c d e f g h"):
        with pytest.raises(Unreadable):
            units.checked(text)


def test_verdicts_are_the_same_from_threads_and_under_asyncio() -> None:
    pairs = [("42", "9^{9^{9}}"), ("x^2+2x+1", "(x+1)^2"), (r"\sqrt{2}", "1.414214")] * 20
    expected = [judge_math(*pair) for pair in pairs]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda pair: judge_math(*pair), pairs)) == expected

    async def gathered() -> list[object]:
        return list(await asyncio.gather(*(asyncio.to_thread(judge_math, *pair) for pair in pairs)))

    assert asyncio.run(gathered()) == expected
    assert threading.current_thread() is threading.main_thread()
