"""Answers to golds of a declared type: the ways models write them, and what only looks like it."""

import pytest

from rlvr_envs.verifiers.mathtext.normalise import drop_modulus, split_modulus
from rlvr_envs.verifiers.mathtext.reader import without_label
from rlvr_envs.verifiers.symbolic import judge_antiderivative, judge_math

MATRIX = r"\begin{pmatrix} 1 & \frac{3}{2} \\ 0 & -\frac{1}{2} \end{pmatrix}"

ACCEPTED = [
    ("integer", "5", "5 ways"),
    ("integer", "33", "33 years old"),
    ("integer", "5", r"\text{5 apples}"),
    ("integer", "5", "= 5"),
    ("integer", "5", r"\large 5"),
    ("integer", "5", r"\det(A) = 5"),
    ("integer", "5", r"\operatorname{det}(A)=5"),
    ("integer", "5", r"\varphi(12) = 5"),
    ("integer", "5", r"f^{3}(2) = 5"),
    ("integer", "5", r"|A \cup B| = 5"),
    ("integer", "5", "f(g(2)) = 5"),
    ("integer", "5", r"\gcd(15, 20) = 5"),
    ("integer", "5", "2 + 3 = 5"),
    ("integer", "5", r"x \equiv 5\ (\mathrm{mod}\ 32)"),
    ("integer", "5", r"5 \quad (\text{mod } 32)"),
    ("integer", "1732", r"1732 \pmod{1955}"),
    ("integer", "30000", r"3 \times 10^4"),
    ("integer", "5000000", "5 million"),
    ("integer", "0", "-0"),
    ("rational", r"\frac{1}{2}", r"\text{1/2}"),
    ("rational", r"\frac{1}{2}", r"P(A \mid B) = \frac{1}{2}"),
    ("rational", r"\frac{1}{2}", r"\mathbb{E}[X] = \frac12"),
    ("rational", r"\frac{1}{2}", r"\sum_{k=1}^{\infty} 3^{-k} = \frac{1}{2}"),
    ("rational", r"\frac{1}{4}", "2.5/10"),
    ("real", "e^{-8}", r"\lim_{x \to 0} f(x) = e^{-8}"),
    ("real", "\\infty", r"+\infty"),
    ("expression", "2x-9", r"\frac{d}{dx}(x^2 - 9x) = 2x - 9"),
    ("expression", "2x-9", r"f^{(3)}(x) = 2x - 9"),
    ("tuple", "(2, -3)", r"\begin{aligned} x &= 2 \\ y &= -3 \end{aligned}"),
    ("tuple", "(2, -3)", r"x = 2 \\ y = -3"),
    ("tuple", "(1, 2)", "rank = 1, nullity = 2"),
    ("tuple", "(1, 2)", r"\operatorname{rank}(A) = 1, \operatorname{nullity}(A) = 2"),
    ("set", r"\{3\}", r"\lambda_1 = \lambda_2 = 3"),
    ("interval", r"(-\infty, -7] \cup [-2, 2]", "(-inf, -7] U [-2, 2]"),
    ("matrix", MATRIX, r"\begin{bmatrix} 1 & \dfrac{3}{2} \\[6pt] 0 & -\dfrac{1}{2} \end{bmatrix}"),
    ("matrix", MATRIX, r"-\frac{1}{2}\begin{bmatrix} -2 & -3 \\ 0 & 1 \end{bmatrix}"),
    ("matrix", MATRIX, rf"A^{{-1}} = {MATRIX}"),
    ("matrix", r"\begin{pmatrix} 0 & 1 \end{pmatrix}", r"-\begin{pmatrix} 0 & -1 \end{pmatrix}"),
]

REFUSED = [
    # functions of numbers, left to the reader
    ("integer", "21", r"\gcd(63, 42)"),
    ("integer", "21", r"\mathrm{lcm}(3, 7)"),
    ("integer", "21", r"\max(21, 4)"),
    ("integer", "21", r"x = \gcd(63, 42)"),
    ("integer", "2", r"\log_3 9"),
    ("integer", "1", r"\sin^2 x + \cos^2 x"),
    ("integer", "1", "x/x"),
    ("integer", "0", "x - x"),
    ("integer", "0", r"\arctan(0)"),
    ("rational", r"\frac{1}{2}", r"\sin(\frac{\pi}{6})"),
    ("rational", r"\frac{1}{2}", r"\frac{\gcd(3, 6)}{6}"),
    ("real", "2", r"\ln(e^2)"),
    ("real", "1", r"\frac{\sin(10^{-40})}{10^{-40}}"),
    ("set", r"\{3\}", r"\{\gcd(6, 9)\}"),
    ("tuple", "(2, 3)", r"(2, \gcd(6, 9))"),
    (
        "matrix",
        r"\begin{pmatrix} 1 & 3 \end{pmatrix}",
        r"\begin{pmatrix} 1 & \gcd(3, 6) \end{pmatrix}",
    ),
    ("interval", "(2, 3]", r"(2, \gcd(6, 9)]"),
    # products with zero, products and quotients with powers of ten
    ("integer", "0", "f^{3}(0)"),
    ("integer", "0", r"x \cdot 0"),
    ("integer", "0", r"0 \cdot 17"),
    ("integer", "1200", r"12 \times 100"),
    ("integer", "3", "30/10"),
    ("integer", "3", "63:21"),
    # a remainder still to be taken, or another number's residue
    ("integer", "17", r"17 \bmod 5"),
    ("integer", "-6", r"-6 \bmod 4"),
    ("integer", "17", r"17 \pmod{17}"),
    # no label before the equality sign
    ("integer", "5", "12345 = 5"),
    ("integer", "5", "12345x = 5"),
    ("integer", "5", "2x + 3 = 5"),
    ("integer", "5", "4, 6 = 5"),
    ("integer", "5", r"4 \text{ or } x = 5"),
    ("integer", "5", r"\det(A) = 5 = 6"),
    ("integer", "5", r"\det(A) = 5 \text{ or } 6"),
    ("integer", "5", r"\det(A) = 2 \cdot 2 + 1"),
    ("integer", "5", r"x \ne 5"),
    ("integer", "5", r"\det(A) \neq 5"),
    ("integer", "5", r"\det(A) != 5"),
    ("expression", "2x-9", "x^2 = 2x - 9"),
    ("expression", "2x-9", r"\frac{d}{dx}(x^2 - 9x)"),
    ("integer", "5", r"5 \\ 6"),
    ("integer", "5", r"\text{5 or 6}"),
    ("integer", "5", r"\text{5 if lucky}"),
    # alternatives are no tuple
    ("tuple", "(1, 2)", r"1 \text{ or } 2"),
]


@pytest.mark.parametrize(("kind", "gold", "answer"), ACCEPTED)
def test_ways_of_writing_a_right_answer(kind: str, gold: str, answer: str) -> None:
    verdict = judge_math(gold, answer, answer_type=kind, exact=True)
    assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize(("kind", "gold", "answer"), REFUSED)
def test_what_is_left_to_compute_or_says_something_else(kind: str, gold: str, answer: str) -> None:
    assert judge_math(gold, answer, answer_type=kind).score == 0.0


@pytest.mark.parametrize(
    ("kind", "gold", "rounded", "right"),
    [
        ("rational", r"\frac{1}{3}", "0.333333", r"\frac{2}{6}"),
        ("real", r"\sqrt{2}", "1.41421356", r"\frac{2}{\sqrt{2}}"),
        ("real", r"\sqrt{2}", "1.4142135623730950488016887242096980786", r"2^{1/2}"),
        ("set", r"\{\frac{1}{3}, 2\}", r"\{0.333333, 2\}", r"\{2, \frac13\}"),
        ("tuple", r"(\frac{1}{3}, 2)", "(0.333333, 2)", "(1/3, 2)"),
        (
            "matrix",
            r"\begin{pmatrix} \frac13 \end{pmatrix}",
            r"\begin{pmatrix} 0.333333 \end{pmatrix}",
            r"\begin{pmatrix} 1/3 \end{pmatrix}",
        ),
        ("interval", r"(\frac13, 2)", "(0.333333, 2)", "1/3 < x < 2"),
        ("rational", r"\frac{1}{4}", "0.24999999", "0.25"),
    ],
)
def test_roundings_count_unless_the_exact_value_is_asked_for(
    kind: str, gold: str, rounded: str, right: str
) -> None:
    assert judge_math(gold, right, answer_type=kind, exact=True).score == 1.0
    assert judge_math(gold, rounded, answer_type=kind, exact=True).score == 0.0
    lenient = judge_math(gold, rounded, answer_type=kind).score
    assert lenient == (1.0 if "333" in rounded or "1.414" in rounded else 0.0)


@pytest.mark.parametrize(
    "answer",
    [
        r"x^2 - 9x + C, C \in \mathbb{R}",
        r"x^2 - 9x + C \quad (C \in \mathbb{R})",
        r"x^2 - 9x + C, \text{ where } C \text{ is a constant}",
        r"x^2 - 9x + C \text{ for } x > 0",
        "x^2 - 9x + C, x > 0",
        r"x^2 - 9x + \text{C}",
        r"x^2 - 9x + \mathrm{C}",
        r"x^2 - 9x + \text{constant}",
        "x^2 - 9x + const",
        r"\int (2x - 9) \, dx = x^2 - 9x + C",
        "F(x) = x^2 - 9x + C",
        "y = x^2 - 9x",
    ],
)
def test_ways_of_writing_an_antiderivative(answer: str) -> None:
    assert judge_antiderivative("2x - 9", answer).score == 1.0
    assert judge_antiderivative("2x - 8", answer).score == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        "12345 = x^2 - 9x",
        r"\int (2x - 9) \, dx",
        r"\int_0^x (2t - 9) \, dt",
        "x^2 - 9x, x^2",
        r"x^2 - 9x \text{ or } x^2",
        "x = x^2 - 9x",
        "x^2 - 9x + Cx",
        "x^2 - 9x + 10^{-40} x",
        r"x^2 - 9x + 10^{-30} \sin(10^9 x)",
        r"x^2 - 9x + \lfloor x \rfloor",
        r"x^2 - 9x + \ln(-1 - x^2) x",
    ],
)
def test_what_is_no_antiderivative(answer: str) -> None:
    assert judge_antiderivative("2x - 9", answer).score == 0.0


def test_a_modulus_names_a_residue_below_it() -> None:
    assert split_modulus(r"12 \pmod{13}") == split_modulus("12 (mod 13)") == ("12", 13)
    assert split_modulus("12") is None
    assert drop_modulus(r"x \equiv 12 \pmod{13}") == r"x \equiv 12"
    for kept in (r"13 \pmod{13}", r"40 \bmod 13", r"\frac{21}{2} \pmod{2}", "12 mod 13 or 5"):
        assert drop_modulus(kept) == kept


@pytest.mark.parametrize(
    ("text", "bare"),
    [
        (r"\det(A) = 6", " 6"),
        ("x = 6", " 6"),
        ("2x = 6", None),
        ("6 = 6", None),
        ("= 6", None),
        (r"\det(A) <= 6", None),
        (r"\det(A) =", None),
        ("det(A = 6)", None),
    ],
)
def test_labels(text: str, bare: str | None) -> None:
    assert without_label(text, frozenset()) == bare
