"""Collections, regions, relations, ratios and derivatives: what each kind of answer agrees with."""

import math
from fractions import Fraction

import pytest

from rlvr_envs.verifiers.mathtext import calculus, compare, identity, nodes
from rlvr_envs.verifiers.mathtext.nodes import Call, Node, Num
from rlvr_envs.verifiers.mathtext.parser import MAX_DEPTH
from rlvr_envs.verifiers.mathtext.reader import read, read_choice, read_text, without_label
from rlvr_envs.verifiers.mathtext.regions import region_of
from rlvr_envs.verifiers.mathtext.values import Chain, Choice, Listing, Opaque, Scalar, Text, Value
from rlvr_envs.verifiers.symbolic import judge_math


def expr(text: str) -> Node:
    """Read an expression."""
    value = read(text)
    assert isinstance(value, Scalar), value
    return value.expr


RIGHT = [
    # lists as multisets, points as sets
    ("1, 1, 2", "2, 1, 1"),
    ("(1,2), (3,4)", "(3,4), (1,2), (1,2)"),
    (r"\{1\}", "1"),
    (r"\{\}", r"\text{no solution}"),
    (r"\{1, 2\}", "2 and 1"),
    ("3, 4", "[4, 3]"),
    ("3, 4", "(3, 4)"),
    ("x=3, y=4", "(3,4)"),
    ("x=3, y=4", "y=4, x=3"),
    ("x=3, y=4", "a=3, b=4"),
    ("x=3, y=4", "3, 4"),
    ("(3,4)", "y=4, x=3"),
    ("(3,4,5)", "z=5, x=3, y=4"),
    # vectors and matrices
    (r"\begin{pmatrix} 1 & 2 \end{pmatrix}", "(1, 2)"),
    ("(1, 2)", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
    ("(1, 2)", r"\begin{pmatrix} 1 & 2 \end{pmatrix}"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", "((1,2),(3,4))"),
    (r"\begin{pmatrix} 2 & 4 \end{pmatrix}", r"2\begin{pmatrix} 1 & 2 \end{pmatrix}"),
    (r"\begin{pmatrix} -1 & -2 \end{pmatrix}", r"-\begin{pmatrix} 1 & 2 \end{pmatrix}"),
    # intervals
    ("(1,5)", "(1,3]\\cup(2,5)"),
    ("[1,5]", "[1,3]\\cup[3,5]"),
    (r"(1,2)\cup(2,3)", "1<x<3, x \\neq 2"),
    (r"\{2\}", r"[1,2]\cap[2,3]"),
    ("[2,2]", r"\{2\}"),
    ("|x| > 3", "x < -3 or x > 3"),
    ("|x| \\le 3", "[-3,3]"),
    ("|x - 1| < 2", "(-1,3)"),
    ("(-1,3)", "|x - 1| < 2"),
    ("|x + 10| > 3", "x < -13 or x > -7"),
    ("|2x| \\le 3", "[-3/2, 3/2]"),
    ("|1 - x| \\ge 2", "x \\le -1 or x \\ge 3"),
    ("3 - x < 1", "x > 2"),
    ("-2x \\ge 6", "x \\le -3"),
    ("5 > x", "(-\\infty, 5)"),
    ("x > 1, x < 3", "(1,3)"),
    ("x < 1, x > 3", "x<1 or x>3"),
    ("f(x) \\ge 2", "[2,\\infty)"),
    (r"[\sqrt{2}, \pi)", r"\sqrt{2} \le x < \pi"),
    # relations
    ("x + y > 1", "1 < x + y"),
    ("x + y > 1", "2x + 2y > 2"),
    ("x + y > 1", "-x - y < -1"),
    ("0 < x + y < 2", "2 > y + x > 0"),
    ("2x + 2y = 4", "x + y = 2"),
    ("x + y = 2", "2 = x + y"),
    ("x + y = 2", "-x - y = -2"),
    # ratios, texts and units
    ("2:3", "4:6"),
    ("2:3:4", "4:6:8"),
    ("2:3", "2/3"),
    ("2/3", "2:3"),
    ("3:05", "3:05"),
    (r"\text{triangle}", "triangles"),
    (r"\text{triangles}", "triangle"),
    (r"5 \text{ dozen}", "60"),
    (r"50\%", r"\frac{1}{2}"),
    (r"30^\circ", r"\frac{\pi}{6}"),
    (r"\text{6 m/s}", r"6 \, m/s"),
    # signs and bars
    (r"\pm 3", "3, -3"),
    (r"\pm 3", r"\{-3, 3\}"),
    ("|-5|", "5"),
    ("2|x|", "|2x|"),
    ("--5", "5"),
    ("3!", "6"),
    ("2^{-1}", "1/2"),
    ("2^{3^2}", "512"),
    ("6/2/3", "1"),
    ("6/2x", "3x"),
    ("2 1/2", "5/2"),
    (r"2\frac{1}{2}", "2.5"),
    ("x^{-1}", "1/x"),
    (r"(xy)^{-1}", r"\frac{1}{xy}"),
    (r"\frac{1}{x^{-2}}", "x^2"),
    (r"\sqrt{\frac{4}{9}}", "2/3"),
    (r"8^{2/3}", "4"),
    (r"4^{-1/2}", "1/2"),
]

WRONG = [
    ("1, 1, 2", "1, 2, 2"),
    ("1, 2, 3", "1, 2"),
    (r"\{1\}", "2"),
    (r"\{1, 2\}", "1"),
    (r"\{1\}", r"\text{no solution}"),
    ("3, 4", "(4, 3)"),
    ("3, 4", "(3, 4]"),
    ("(1,2), (3,4)", "((1,2),(3,4))"),
    ("x=3, y=4", "x=4, y=3"),
    ("x=3, y=4", "y=3, z=4"),
    ("x=3, y=4", "(4,3)"),
    ("(3,4)", "x=4, y=3"),
    ("(3,4)", "3 or 4"),
    ("(1,2)", "(1,2,3)"),
    (r"\begin{pmatrix} 1 & 2 \end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", "(1, 3)"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", "((1,2),(4,3))"),
    (r"\begin{pmatrix} 1 & 2 \end{pmatrix}", r"2\begin{pmatrix} 1 & 2 \end{pmatrix}"),
    ("(1,5)", "(1,3)\\cup(3,5)"),
    ("(1,5)", "(1,3]\\cup(4,5)"),
    ("(1,5)", "(1,6)"),
    ("(1,5)", "(0,5)"),
    (r"(1,2)\cup(2,3)", "(1,3)"),
    (r"\{2\}", r"[1,2)\cap[2,3]"),
    ("|x| > 3", "x > 3"),
    ("|x| \\le 3", "(-3,3)"),
    ("(-3,3)", "|x + 10| < 3"),
    ("x < -3 or x > 3", "|x + 10| > 3"),
    ("(-3,3)", "|2x| < 3"),
    ("x > 3", "x(x-1)(x-2)(x-5) + x > 3"),
    ("3 - x < 1", "x < 2"),
    ("-2x \\ge 6", "x \\ge -3"),
    ("x > 1, x < 3", "x<1 or x>3"),
    ("x + y > 1", "x + y < 1"),
    ("x + y > 1", "x + y >= 1"),
    ("x + y > 1", "-x - y > -1"),
    ("x + y > 1", "x + z > 1"),
    ("x + y > 1", "0 < x + y < 1"),
    ("x + y = 2", "x + y = 3"),
    ("x + y = 2", "x - y = 2"),
    ("2:3:4", "4:6:9"),
    ("2:3:4", "2:3"),
    ("2:3", "3/2"),
    (r"\text{cat}", "cats"),
    (r"\text{triangle}", "rectangle"),
    (r"5 \text{ dozen}", "50"),
    (r"50\%", r"\frac{1}{50}"),
    (r"\pm 3", "3"),
    ("2^{3^2}", "64"),
    ("6/2/3", "9"),
    ("2 1/2", "1"),
    ("(xy)^{-1}", r"\frac{y}{x}"),
    ("8^{2/3}", "16"),
]


@pytest.mark.parametrize(("gold", "answer"), RIGHT)
def test_answers_that_agree(gold: str, answer: str) -> None:
    assert judge_math(gold, answer).score == 1.0


@pytest.mark.parametrize(("gold", "answer"), WRONG)
def test_answers_that_do_not(gold: str, answer: str) -> None:
    verdict = judge_math(gold, answer)
    assert verdict.score == 0.0
    assert verdict.scored


@pytest.mark.parametrize(
    ("text", "intervals"),
    [
        ("(1,2)", [(1, 2, False, False)]),
        (r"x \in (1,2]", [(1, 2, False, True)]),
        ("[1,2)", [(1, 2, True, False)]),
        ("(1,2]", [(1, 2, False, True)]),
        ("x \\ge 1", [(1, math.inf, True, False)]),
        ("x < 1", [(-math.inf, 1, False, False)]),
        ("[3,4] \\cup [1,2]", [(1, 2, True, True), (3, 4, True, True)]),
        ("[1,2) \\cup (2,3]", [(1, 2, True, False), (2, 3, False, True)]),
        ("[1,2) \\cup [2,3]", [(1, 3, True, True)]),
        ("[1,4] \\cup [2,3]", [(1, 4, True, True)]),
        ("(1,2) \\cup [1,2]", [(1, 2, True, True)]),
        ("(1,2) \\cup (1,2]", [(1, 2, False, True)]),
        ("[1,3] \\cap (2,3)", [(2, 3, False, False)]),
        ("[1,3) \\cap (0,3]", [(1, 3, True, False)]),
        ("(1,2) \\cap (2,3)", []),
        ("[-\\infty, 2]", [(-math.inf, 2, False, True)]),
        ("x \\neq 2", [(-math.inf, 2, False, False), (2, math.inf, False, False)]),
        ("|x| \\ge 2", [(-math.inf, -2, False, True), (2, math.inf, True, False)]),
        ("|x| < 0", []),
    ],
)
def test_regions_have_their_ends(
    text: str, intervals: list[tuple[float, float, bool, bool]]
) -> None:
    found = region_of(read(text))
    assert found is not None
    assert [(one.from_, one.to, one.with_low, one.with_high) for one in found] == intervals


@pytest.mark.parametrize(
    "text", ["|x| < -1", r"\ln(3-x) + x > 1", "x^3 > 1", "1 > 2", "(1,2,3)", "x = 5"]
)
def test_other_relations_have_no_region(text: str) -> None:
    assert region_of(read(text)) is None


@pytest.mark.parametrize(
    ("text", "slope"),
    [
        ("x^3", "3x^2"),
        ("5", "0"),
        ("y^2", "0"),
        ("2^x", r"2^x \ln 2"),
        ("e^{3x}", "3e^{3x}"),
        ("x^x", r"x^x (\ln x + 1)"),
        ("x^{2x}", r"x^{2x} (2\ln x + 2)"),
        (r"\frac{x}{x+1}", r"\frac{1}{(x+1)^2}"),
        ("x y x", "2xy"),
        (r"\log_2 x", r"\frac{1}{x \ln 2}"),
        (r"\ln(5x)", r"\frac{1}{x}"),
        (r"\sqrt[3]{x}", r"\frac{1}{3} x^{-2/3}"),
        (r"\sqrt[n]{x}", r"\frac{1}{n} x^{1/n - 1}"),
        (r"|x|", r"\frac{x}{|x|}"),
        (r"\sin(x^2)", r"2x\cos(x^2)"),
        (r"x \sin x", r"\sin x + x \cos x"),
    ],
)
def test_derivatives(text: str, slope: str) -> None:
    found = calculus.derivative(expr(text), "x")
    assert found is not None
    assert identity.same(found, expr(slope)) is True
    assert identity.same(found, expr(f"{slope} + 1")) is False


def test_what_has_no_derivative_here() -> None:
    x, n = nodes.Sym("x"), nodes.Sym("n")
    unknown = Call("floor", (x,))
    for node in (
        unknown,
        nodes.add(x, unknown),
        nodes.mul(x, unknown),
        nodes.power(unknown, n),
        nodes.power(n, unknown),
        Call("sin", (unknown,)),
        Call("log", (x, x)),
        Call("log", (n, x)),
        Call("max", (x, n)),
    ):
        assert calculus.derivative(node, "x") is None
    many = nodes.mul(*(nodes.add(x, Num(Fraction(n))) for n in range(1, calculus.MAX_FACTORS + 1)))
    assert calculus.derivative(many, "x") is not None
    assert calculus.derivative(nodes.mul(many, nodes.Sym("y")), "x") is None


def test_three_valued_conjunction() -> None:
    assert compare.every([]) is True
    assert compare.every([True, True]) is True
    assert compare.every([True, None]) is None
    assert compare.every([None, False]) is False
    assert compare.every([False, None]) is False


def test_long_lists_are_matched_in_order_alone() -> None:
    fits = [str(n) for n in range(63)]  # 63 squared is below the limit, 64 squared is not
    assert compare.MAX_PAIRS == 4_000
    for items, swapped in ((fits, True), ([*fits, "63"], None)):
        value = read(", ".join(items))
        assert isinstance(value, Listing)
        assert compare.same(value, read(", ".join(items))) is True
        assert compare.same(value, read(", ".join(reversed(items)))) is swapped
        assert compare.same(value, read(", ".join([*items[:-1], "999"]))) is (
            False if swapped else None
        )


@pytest.mark.parametrize(
    ("text", "known", "rest"),
    [
        (r"\det(A) = 6", frozenset(), " 6"),
        ("area = 6", frozenset(), " 6"),
        ("x = 6", frozenset(), " 6"),
        ("x = 6", frozenset("x"), None),
        ("2x = 6", frozenset(), None),
        ("5 = 6", frozenset(), None),
        ("x <= 6", frozenset(), None),
        ("x == 6", frozenset(), None),
        ("x != 6", frozenset(), None),
        ("= 6", frozenset(), None),
        ("x =", frozenset(), None),
        ("f(x=1) + 2", frozenset(), None),
        (r"\frac{dy}{dx} = 6", frozenset(), " 6"),
    ],
)
def test_labels_before_an_answer(text: str, known: frozenset[str], rest: str | None) -> None:
    assert without_label(text, known) == rest


@pytest.mark.parametrize(
    ("text", "with_text", "letter"),
    [
        ("B", False, "B"),
        ("(B)", False, "B"),
        ("B)", False, "B"),
        (r"\mathrm{B}", False, "B"),
        ("b", False, None),
        ("AB", False, None),
        ("(B) 12", False, None),
        ("(B) 12", True, "B"),
        ("B. twelve", True, "B"),
        ("B twelve", True, None),
        ("(B) 12 (C)", True, None),
        ("B) 12 and C", True, None),
    ],
)
def test_letters_of_choices(text: str, with_text: bool, letter: str | None) -> None:
    assert read_choice(text, with_text=with_text) == letter


def test_words_of_a_text_are_few() -> None:
    eight = "one two three four five six seven eight"
    assert read_text(eight) == Text(eight)
    assert read_text(f"{eight} nine") is None
    for text in ("a", "12", "x = one", "one + two"):
        assert read_text(text) is None
    assert read_text("one, two") is not None


def test_nesting_is_read_to_its_limit() -> None:
    def nested(depth: int) -> Value:
        return read("(" * depth + "1" + ")" * depth)

    assert isinstance(nested(MAX_DEPTH - 1), Scalar)
    assert isinstance(nested(MAX_DEPTH), Opaque)
    beside = "+".join(["(1+x)"] * (MAX_DEPTH + 1))  # none of them is inside another
    assert isinstance(read(beside), Scalar)


def test_chains_keep_every_relation() -> None:
    value = read("1 < x <= 2")
    assert isinstance(value, Chain)
    assert value.relations == ("<", "<=")
    assert not isinstance(value, Choice)
    assert len(value.sides) == 3
