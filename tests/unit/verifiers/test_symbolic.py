"""What counts as the same answer, and what does not."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Status
from rlvr_envs.verifiers.symbolic import (
    compile_gold,
    judge_antiderivative,
    judge_math,
    verify_math,
    verify_math_batch,
)

SAME = [
    # integers and spelling
    ("42", "42."),
    ("[-2, 7]", r"-2 \\le x \\le 7"),
    ("42", "$42$"),
    ("42", r"\(42\)"),
    ("42", "+42"),
    ("42", "042"),
    ("42", "x = 42"),
    ("42", "42.0"),
    ("42", "84/2"),
    ("-7", "−7"),
    ("1234567", "1,234,567"),
    ("12345", r"12{,}345"),
    ("12345", r"12,\!345"),
    ("2500", r"2\,500"),
    ("10000", "10 000"),
    ("36", r"\$36"),
    ("36", r"36 \text{ dollars}"),
    ("1024", "2^{10}"),
    ("120", "5!"),
    ("10", r"\binom{5}{2}"),
    ("７", "7"),
    # fractions, decimals, mixed numbers
    (r"\frac{14}{3}", "14/3"),
    (r"\frac{14}{3}", r"\dfrac{14}{3}"),
    (r"\frac{14}{3}", r"4\frac{2}{3}"),
    (r"\frac{14}{3}", "4 2/3"),
    (r"\frac43", r"\frac{4}{3}"),
    (r"\frac 59", "5/9"),
    (r"-\frac{1}{2}", r"\frac{-1}{2}"),
    (r"-\frac{1}{2}", "-0.5"),
    (r"\frac{1}{2}", ".5"),
    (r"\frac{1}{2}", "½"),
    (r"\frac{1}{3}", "0.333333"),
    ("0.25", "1/4"),
    ("18.90", r"\$18.90"),
    # scientific notation
    ("7.4e-12", r"7.4 \times 10^{-12}"),
    ("4.5e33", r"4.5\cdot 10^{33}"),
    ("3e8", r"3 \times 10^8"),
    (r"1.6 \times 10^{-19}", "1.6e-19"),
    # roots and constants
    (r"3\sqrt{13}", r"\sqrt{117}"),
    (r"11\sqrt2", r"11 \cdot \sqrt{2}"),
    (r"\frac{\sqrt{3}}{3}", r"\frac{1}{\sqrt{3}}"),
    (r"\sqrt{2}", "1.414214"),
    (r"18+2\pi", r"2(\pi + 9)"),
    (r"\frac{2\pi}{3}", "2π/3"),
    (r"2\sqrt[3]{4}", r"\sqrt[3]{32}"),
    (r"\ln 8", r"3 \ln 2"),
    (r"\log_2 8", "3"),
    ("2^{2009}", r"2 \cdot 2^{2008}"),
    (r"\frac{\log 2}{\log 2-\log 3}", r"\frac{\ln 2}{\ln 2 - \ln 3}"),
    ("e^{2}", r"\exp(2)"),
    (r"1-\frac{1}{e}", r"1-e^{-1}"),
    # expressions
    ("x^2+2x+1", "(x+1)^2"),
    ("p - q", "-q + p"),
    (r"\frac{x+2}{7}", r"\frac{x}{7}+\frac{2}{7}"),
    (r"2 \sin b \cos a", r"\sin(a+b) - \sin(a-b)"),
    (r"\tan^2(y)+1", r"\sec^2(y)"),
    (r"\cot x", r"\frac{\cos x}{\sin x}"),
    (r"\sqrt{x^2}", "|x|"),
    (r"n!", r"n \cdot (n-1)!"),
    (r"\binom{2n}{n}", r"\frac{(2n)!}{n!^2}"),
    (r"\lfloor n/2 \rfloor", r"\left\lfloor \frac{n}{2} \right\rfloor"),
    (r"\frac{n(n+1)}{2}", "n(n+1)/2"),
    ("x^5 - x^4 + x - 1", "-1+x-x^4+x^5"),
    (r"\frac{1}{2a}(e^{at}-e^{-at})", r"\frac{\sinh(at)}{a}"),
    (r"x_{0} \cos(\omega t)", r"\cos(\omega t) x_0"),
    ("x^2 + C", "C + x^2"),
    (r"\frac{x^3}{3} + C", r"\frac{1}{3}x^3 + K"),
    (r"I(0) e^{-t/(RC)}", r"I(0) e^{-\frac{t}{RC}}"),
    # complex numbers
    ("6 - 5i", "-5i+6"),
    ("3+4i", "3 + 4 i"),
    ("1+i", r"\sqrt{2} e^{i\pi/4}"),
    ("i", r"\sqrt{-1}"),
    # lists and sets
    ("1,-2", "-2, 1"),
    ("1,-2", r"1 \text{ and } -2"),
    ("1,-2", r"\{-2, 1\}"),
    ("1,-2", "x = 1, x = -2"),
    ("1,-2", "x=1 or x=-2"),
    ("3, 5, 7", "3, 5, and 7"),
    (r"\{1,2,3\}", "3, 2, 1"),
    (r"\{1,2\}", r"\{1, 1, 2\}"),
    (r"1 \pm \sqrt{19}", r"1-\sqrt{19}, 1+\sqrt{19}"),
    (r"1 \pm \sqrt{19}", r"x = 1 \pm \sqrt{19}"),
    (r"\{1\pm\sqrt{5},-2\}", r"\{-2, 1+\sqrt5, 1-\sqrt5\}"),
    (r"\pm 2021", "2021, -2021"),
    ("(1,2),(3,4)", "(3,4), (1,2)"),
    (r"\emptyset", r"\{\}"),
    # tuples and names
    (r"\left( 3, \frac{\pi}{2} \right)", r"(3, \pi/2)"),
    ("(3,2)", "(x,y) = (3,2)"),
    ("(3,2)", "x=3, y=2"),
    ("(p,q)=(3,2)", "(3,2)"),
    ("a_3=2, a_{37}=19", "a_{37}=19, a_3=2"),
    ("p=5,q=2;p=7,q=2", "(5,2),(7,2)"),
    ("AB=4,CD=5", "4, 5"),
    ("(1,2,3)", r"\langle 1,2,3 \rangle"),
    ("(2,251,252)", "(2, 251, 252)"),
    # intervals and inequalities
    ("(2,\\infty)", "x > 2"),
    (r"x \in [-2,7]", r"-2 \le x \le 7"),
    (r"[-2,7]", r"x \in [-2, 7]"),
    ("(3,4]", "3 < x <= 4"),
    ("(-2,3)", "3 > x > -2"),
    ("-2<x<3", "3>x>-2"),
    (r"(-\infty, 2) \cup (3, \infty)", r"x<2 \text{ or } x>3"),
    (r"(3, \infty) \cup (-\infty, 2)", r"(-\infty, 2) \cup (3, \infty)"),
    (r"(0,9) \cup (9,36)", r"(9,36) \cup (0,9)"),
    (r"[1,3]", r"[1,2] \cup [2,3]"),
    ("x < 1", "-x > -1"),
    ("x \\le 5", "5 \\ge x"),
    (r"x \neq 3", r"(-\infty,3)\cup(3,\infty)"),
    (
        r"1\leq|z|\leq \frac{3}{2}",
        r"\left[-\frac{3}{2}, -1\right] \cup \left[1, \frac{3}{2}\right]",
    ),
    ("k \\ge 2", "[2, \\infty)"),
    ("0<f(x)<1", "(0,1)"),
    # equations
    ("y = 2x + 3", "2x - y + 3 = 0"),
    ("y = 2x + 3", "2x + 3"),
    ("5x - 7y + 11z + 4 = 0", "-5x + 7y - 11z - 4 = 0"),
    ("x^2/4 + y^2/3 = 1", "3x^2 + 4y^2 = 12"),
    ("x=5", "5"),
    ("x=5", "5 = x"),
    ("f(x)=x+1", "f(t) = t + 1"),
    ("f(x)=x+1", "y = x + 1"),
    ("11", "x = 5 + 6 = 11"),
    (r"\frac{1}{3}", r"\frac{1}{3} \approx 0.333"),
    # matrices and vectors
    (
        r"\begin{pmatrix} -1/3 \\ 2/3 \end{pmatrix}",
        r"\begin{bmatrix} -\frac13 \\ \frac{2}{3}\end{bmatrix}",
    ),
    (
        r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
        r"\left[\begin{array}{cc}1 & 2 \\3 & 4\end{array}\right]",
    ),
    (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", "(1, 2)"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", "[[1,2],[3,4]]"),
    # units, percent, degrees
    (r"15\mbox{ cm}^2", "15"),
    (r"15\mbox{ cm}^2", r"15 \text{ cm}^2"),
    (r"864 \mbox{ inches}^2", r"864 \text{ square inches}"),
    (r"5.4 \text{ cents}", "5.4"),
    ("5", "5 meters"),
    (r"90^\circ", "90"),
    (r"90^\circ", "90 degrees"),
    (r"90^\circ", r"\frac{\pi}{2}"),
    (r"\frac{\pi}{2}", r"90^\circ"),
    (r"28\%", "28"),
    (r"28\%", "0.28"),
    (r"28\%", "28 percent"),
    ("0.28", r"28\%"),
    ("3000000", r"3 \text{ million}"),
    # bases, ratios, choices, words
    ("52_8", "52_{8}"),
    ("4210_{5}", r"4210_{\text{5}}"),
    ("7:32", "14:64"),
    ("7:32", r"\frac{7}{32}"),
    ("S_1:S_2=7:32", "7:32"),
    (r"\text{(C)}", "C"),
    ("C", r"\textbf{(C)}"),
    ("C", "(C) 12"),
    ("C", "C."),
    (r"\text{Evelyn}", "evelyn"),
    (r"\text{ellipse}", "an ellipse"),
    (r"\text{even}", r"\text{Even}."),
    ("12:00", "12:00"),
    # set builders, systems, labels, periods, general solutions
    ("(3,\\infty)", r"\{x \mid x > 3\}"),
    ("[1,5]", r"\{x \in \mathbb{R} : 1 \le x \le 5\}"),
    (r"\mathbb{R}", r"(-\infty, \infty)"),
    (r"\mathbb{R}", "all real numbers"),
    (r"|x| \geq 2", r"(-\infty,-2]\cup[2,\infty)"),
    (r"(2,3)\cup(3,4)", r"2<x<4, x\neq 3"),
    (r"\begin{cases} x=1 \\ y=2 \end{cases}", "x=1, y=2"),
    (r"\left\{\begin{array}{l}x=1\\y=2\end{array}\right.", "(1,2)"),
    ("(1) 5; (2) 7", "5, 7"),
    (r"\text{(a) } 5, \text{(b) } 7", "5, 7"),
    ("A=1, B=2, C=3", "B=2, A=1, C=3"),
    ("x_1=2, x_2=3", r"x=2 \text{ or } x=3"),
    (r"0.1\overline{6}", "1/6"),
    (r"x=\frac{\pi}{6}+k\pi", r"x=\frac{\pi}{6}+n\pi"),
    (r"x = \frac{\pi}{2} + 2k\pi, k \in \mathbb{Z}", r"\frac{\pi}{2}+2\pi k"),
    (r"120 \text{ km/h}", "120 km/h"),
    (r"9.8 \mathrm{~m} / \mathrm{s}^{2}", "9.8 m/s^2"),
    (r"3 \text{ hours}", "3h"),
    ("3rd", "3"),
    (r"\tan 45^\circ", "1"),
    (r"\arcsin\frac{1}{2}", r"30^\circ"),
    ("S_{\\triangle ABC}=6", "6"),
    ("(1,2),(2,1)", "x=1,y=2 or x=2,y=1"),
]

DIFFERENT = [
    (r"90^\circ", "0.9"),
    ("42", "43"),
    ("42", "-42"),
    ("42", "41=42"),
    ("42", "x=41=42"),
    ("42", r"\neq 42"),
    ("42", "42 or 43"),
    ("42", "41, 42"),
    ("42", r"42 \text{ or } 43"),
    ("42", r"42 \text{ or 43}"),
    ("42", "4200"),
    ("42", "0.42"),
    ("42", "42.001"),
    ("42", "²"),
    ("2", "²"),
    ("3", "٣"),
    ("3", "NaN"),
    ("3", "inf"),
    ("1", r"\infty"),
    ("146", r"146 \text{ or } 147"),
    ("1000", "1,00"),
    ("32349", "32, 349"),
    ("5", "5 million"),
    ("5", r"5 \times 10"),
    (r"\frac{1}{2}", r"\frac{2}{1}"),
    (r"\frac{1}{3}", "0.33"),
    (r"\frac{1}{3}", "0.333334"),
    (r"\frac{2}{3}", "0.666666"),
    ("2.35", "2.3"),
    ("2.35", "2.36"),
    ("1/2^{99}", "1/2^{98}"),
    ("1/2004!", "1/2006!"),
    ("1.6e-19", "9.1e-31"),
    ("1.6e-19", "0.0"),
    (r"\sqrt{2}", "1.4142"),
    (r"\sqrt{2}", "1.414213"),
    (r"4\sqrt{3}", "4"),
    (r"18+2\pi", "18"),
    ("8n^2+4n+1", "1"),
    ("x^2+2x+1", "x^2+2x+2"),
    ("x", "|x|"),
    ("x", "y"),
    ("x", "X"),
    ("n!", "n"),
    (r"1-\frac{1}{e}", r"1+\frac{1}{e}"),
    ("6-5i", "6+5i"),
    ("1,-2", "1"),
    ("1,-2", "1,-2,3"),
    ("-2,-2", "-2"),
    ("1,2", "1,1,2"),
    (r"\{1,2\}", "(1,2)"),
    ("(1,2)", r"\{1,2\}"),
    ("(1,2)", "(2,1)"),
    ("(1,2)", "[1,2]"),
    ("(1,2)", "(1,2]"),
    ("[0,1)", "(0,1)"),
    ("(3,4]", "3 <= x <= 4"),
    ("(2,\\infty)", "x >= 2"),
    ("(2,\\infty)", "x < 2"),
    ("x < 1", "x > -1"),
    (r"(-\infty,2)\cup(3,\infty)", r"(-\infty,2)\cap(3,\infty)"),
    (r"(0,9) \cup (9,36)", "(0,36)"),
    ("k \\ge 2", "2"),
    ("y = 2x + 3", "y = 2x - 3"),
    ("y = 2x + 3", "0 = 0"),
    ("x + y = 1", "1"),
    ("a^2 + b = 0", "0"),
    ("7 = 11a+c", "11a+c"),
    ("3x-y+13=0", "3x+4y+14=0"),
    ("x=5", "y=5"),
    ("x=3,y=2", "y=3,x=2"),
    (
        r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
        r"\begin{pmatrix} 1 & 3 \\ 2 & 4 \end{pmatrix}",
    ),
    (r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}", r"\begin{pmatrix} 1 & 2 \end{pmatrix}"),
    (r"5 \text{ cm}", r"5 \text{ m}"),
    (r"15\mbox{ cm}^2", r"15 \text{ cm}^3"),
    (r"28\%", "2800"),
    ("0.28", "28"),
    (r"90^\circ", r"\pi"),
    (r"\frac{\pi}{2}", "90"),
    ("1011_2", "1011_3"),
    ("52_8", "42"),
    ("52_8", "53_8"),
    ("7:32", "32:7"),
    ("12:00", "1:00"),
    ("C", "D"),
    ("C", "(C) or (D)"),
    ("C", "A, B, C, D"),
    (r"\text{even}", r"\text{odd}"),
    (r"\text{even}", "even or odd"),
    (r"40 \text{ red}, 60 \text{ blue}", "40"),
    ("a+b", "a-b"),
    (r"\sin x", r"\sin(x) + 10^{-9}"),
    ("9^{9^{9}}", "42"),
    ("42", "9^{9^{9}}"),
    ("5", "x=5, x=6"),
    ("(3,\\infty)", r"\{x \mid x \ge 3\}"),
    ("(1) 5; (2) 7", "7, 5, 5"),
    (r"0.1\overline{6}", "0.16"),
    (r"x=\frac{\pi}{6}+k\pi", r"x=\frac{\pi}{6}+2n\pi"),
    (r"120 \text{ km/h}", "120 m/s"),
    (r"9.8 \mathrm{~m} / \mathrm{s}^{2}", "9.8 m/s"),
    (r"\mathbb{R}", "(0, \\infty)"),
    ("kx + 1", "nx + 1"),
    ("2", r"x \le 2"),
]


@pytest.mark.parametrize(("gold", "answer"), SAME)
def test_equal_answers_are_correct(gold: str, answer: str) -> None:
    verdict = judge_math(gold, answer)
    assert verdict.status is Status.CORRECT, (verdict.detail, compile_gold(gold).value)


@pytest.mark.parametrize(("gold", "answer"), DIFFERENT)
def test_other_answers_earn_nothing(gold: str, answer: str) -> None:
    verdict = judge_math(gold, answer)
    assert verdict.score == 0.0, verdict.detail
    assert verdict.scored


TYPED = [
    ("integer", "42", "integer"),
    ("rational", r"\frac{1}{2}", "rational"),
    ("real", "0.25", "real"),
    ("real", r"\sqrt{2}", "real"),
    ("expression", "x+1", "expression"),
    ("complex", "1+2i", "complex"),
    ("equation", "y=2x", "equation"),
    ("list", "1, 2", "list"),
    ("set", r"\{1,2\}", "set"),
    ("interval", "[1,2)", "interval"),
    ("interval", "x>3", "interval"),
    ("tuple", "(1,2)", "tuple"),
    ("matrix", r"\begin{pmatrix}1\\2\end{pmatrix}", "matrix"),
    ("base_n", "52_8", "base_n"),
    ("ratio", "1:2", "ratio"),
    ("number_with_unit", r"5\text{ cm}", "number_with_unit"),
    ("choice", "(B)", "choice"),
    ("text", r"\text{Monday}", "text"),
]


@pytest.mark.parametrize(("name", "gold", "inferred"), TYPED)
def test_type_is_inferred_and_may_be_declared(name: str, gold: str, inferred: str) -> None:
    assert compile_gold(gold).answer_type == inferred
    declared = compile_gold(gold, answer_type=name)
    assert declared.verifiable
    assert judge_math(declared, gold + " ").score == 1.0


def test_unknown_type_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(ConfigError, match="did you mean 'integer'"):
        compile_gold("3", answer_type="integr")


@pytest.mark.parametrize("rel_tol", [-0.1, 1.0, float("nan"), float("inf")])
def test_tolerance_out_of_range_is_an_error(rel_tol: float) -> None:
    with pytest.raises(ConfigError, match="rel_tol"):
        judge_math("3", "3", rel_tol=rel_tol)


@pytest.mark.parametrize(
    ("answer_type", "gold"),
    [
        (None, ""),
        (None, "   "),
        (None, "all functions of the form described above where the number is prime"),
        (None, "???"),
        ("integer", "2.5"),
        ("integer", "x"),
        ("tuple", "5"),
        ("matrix", "(1,2)"),
        ("base_n", "12"),
        ("interval", "5"),
    ],
)
def test_a_gold_that_cannot_be_judged_is_our_error(answer_type: str | None, gold: str) -> None:
    compiled = compile_gold(gold, answer_type=answer_type)
    assert not compiled.verifiable
    assert compiled.reason
    verdict = judge_math(gold, "5", answer_type=answer_type)
    assert verdict.status is Status.VERIFIER_ERROR
    assert not verdict.scored
    assert verify_math(gold, "no box", answer_type=answer_type).status is Status.VERIFIER_ERROR


WORKED_OUT = [
    ("integer", "396", "396", True),
    ("integer", "396", "x = 396", True),
    ("integer", "396", "17*23+5", False),
    ("integer", "396", "17*23+5 = 396", True),
    ("integer", "396", r"\frac{792}{2}", False),
    ("integer", "120", "5!", False),
    ("integer", "300000", r"3 \times 10^5", True),
    ("rational", r"\frac{1}{2}", r"\frac{4}{8}", True),
    ("rational", r"\frac{1}{2}", "0.5", True),
    ("rational", r"\frac{1}{2}", r"\frac{1}{4}+\frac{1}{4}", False),
    ("rational", r"\frac{3}{2}", r"1\frac{1}{2}", True),
    ("matrix", r"\begin{pmatrix}2&3\end{pmatrix}", r"\begin{pmatrix}1+1&3\end{pmatrix}", False),
    ("tuple", "(2,3)", "(1+1,3)", False),
    ("set", r"\{1,2\}", "2, 1", True),
    ("set", r"\{2\}", "2", True),
    ("expression", "6x", "2*3*x", True),
    ("equation", "y=2x", "2x", False),
    (None, "10", "9+1", True),
    ("integer", "1000000", "10^6", False),
    ("integer", "12", r"x \equiv 12 \pmod{13}", True),
    ("integer", "12", r"11 \pmod{13}", False),
    (
        "matrix",
        r"\begin{pmatrix}1&2\\3&4\end{pmatrix}",
        r"\frac{1}{2}\begin{pmatrix}2&4\\6&8\end{pmatrix}",
        True,
    ),
    ("matrix", r"\begin{pmatrix}2&4\end{pmatrix}", r"2\begin{pmatrix}1&2\end{pmatrix}", False),
    ("tuple", "(1,2)", "y=2, x=1", True),
    ("tuple", "(1,2)", "x=2, y=1", False),
    ("choice", "B", "(b)", True),
    ("choice", "B", "c", False),
    ("real", "2", r"\lim_{x\to0}\frac{\sin 2x}{x}", False),
    ("set", r"\{1,2\}", "1,2,3", False),
    ("expression", "6x^2+2", r"\frac{dy}{dx}=6x^2+2", True),
    ("expression", "x + C", "x", False),
]


@pytest.mark.parametrize(("answer_type", "gold", "answer", "right"), WORKED_OUT)
def test_a_declared_number_must_be_worked_out(
    answer_type: str | None, gold: str, answer: str, right: bool
) -> None:
    assert (judge_math(gold, answer, answer_type=answer_type).score == 1.0) is right


UNITS = ("cm", "kg", "seconds", "miles", "cents")


@pytest.mark.parametrize(("gold", "answer"), list(itertools.permutations(UNITS, 2)))
def test_another_unit_is_wrong_either_way(gold: str, answer: str) -> None:
    assert judge_math(rf"5\text{{ {gold}}}", rf"5\text{{ {answer}}}").score == 0.0


@pytest.mark.parametrize(
    ("gold", "answer", "rel_tol", "right"),
    [
        ("100", "101", None, False),
        ("100", "101", 0.01, True),
        ("100", "102", 0.01, False),
        ("1e-9", "2e-9", 0.01, False),
        ("0", "1e-300", 0.5, False),
        (r"\sqrt{2}", "1.41", 0.01, True),
        (r"\sqrt{2}", "1.5", 0.01, False),
        ("9.8", r"\pi^2", 0.01, True),
        ("(1, 2)", "(1.005, 2)", 0.01, True),
        # relative to the gold answer, whichever of the two is the matrix
        (r"\begin{pmatrix} 100 & 1 \\ 1 & 1 \end{pmatrix}", "((99, 1), (1, 1))", 0.01, True),
        ("((100, 1), (1, 1))", r"\begin{pmatrix} 99 & 1 \\ 1 & 1 \end{pmatrix}", 0.01, True),
        (r"\begin{pmatrix} 99 & 1 \\ 1 & 1 \end{pmatrix}", "((100, 1), (1, 1))", 0.01, False),
        ("((99, 1), (1, 1))", r"\begin{pmatrix} 100 & 1 \\ 1 & 1 \end{pmatrix}", 0.01, False),
    ],
)
def test_tolerance_is_relative_and_per_row(
    gold: str, answer: str, rel_tol: float | None, right: bool
) -> None:
    assert (judge_math(gold, answer, rel_tol=rel_tol).score == 1.0) is right


ANTIDERIVATIVES = [
    ("x^2", r"\frac{x^3}{3} + C", True),
    ("x^2", r"\frac{x^3}{3}", True),
    ("x^2", r"F(x) = \frac{x^3}{3} + K", True),
    ("x^2", r"\frac{x^3}{2} + C", False),
    ("x^2", "x^2", False),
    ("1/x", r"\ln|x| + C", True),
    ("1/x", r"\ln x", True),
    (r"x e^x", r"(x-1)e^x + C", True),
    (r"\cos x \sin x", r"-\frac{\cos 2x}{4} + C", True),
    (r"\frac{1}{1+x^2}", r"\arctan x", True),
    (r"\frac{1}{\sqrt{1-x^2}}", r"-\arccos x", True),
    (r"\tan x", r"-\ln|\cos x|", True),
    (r"x^x (\ln x + 1)", "x^x", True),
    (r"\sec^2 x", r"\tan x + 7", True),
    ("2x", "x^2 + y", True),
    ("2x", "x^2, x^2 + 1", None),
    ("2x", r"\int 2x dx", None),
    ("2x", "", None),
]


@pytest.mark.parametrize(("integrand", "answer", "right"), ANTIDERIVATIVES)
def test_antiderivatives_are_differentiated(
    integrand: str, answer: str, right: bool | None
) -> None:
    verdict = judge_antiderivative(integrand, answer)
    assert (verdict.score == 1.0) is bool(right), verdict.detail
    if right is None:
        assert verdict.status in (Status.UNPARSABLE, Status.WRONG)


def test_an_unreadable_integrand_is_an_error() -> None:
    with pytest.raises(ConfigError, match="integrand"):
        judge_antiderivative("(1,2)", "x")


RESPONSES = [
    (r"So \boxed{42}.", Status.CORRECT),
    (r"\boxed{41} wait, \boxed{42}", Status.CORRECT),
    (r"\boxed{42}, \boxed{41}", Status.WRONG),
    (r"\boxed{42}$$ \quad \text{and} \quad $$\boxed{41}", Status.WRONG),
    (r"<think>\boxed{41}</think> \boxed{42}", Status.CORRECT),
    (r"<think>\boxed{42}</think> it is 42", Status.UNPARSABLE),
    ("the answer is 42", Status.UNPARSABLE),
    (r"\boxed{42", Status.UNPARSABLE),
    ("", Status.UNPARSABLE),
    (r"\boxed{}", Status.UNPARSABLE),
]


@pytest.mark.parametrize(("response", "status"), RESPONSES)
def test_the_last_box_decides(response: str, status: Status) -> None:
    assert verify_math("42", response).status is status


def test_boxes_joined_by_spacing_commands_are_one_list() -> None:
    response = r"$$\boxed{(2, 2)} \quad \text{and} \quad \boxed{(6, 2)}$$"
    assert verify_math("(6,2),(2,2)", response).score == 1.0
    assert verify_math("(6,2)", response).score == 0.0


def test_a_batch_gives_the_same_verdicts_in_order() -> None:
    golds = ["1", "2", "x", ""]
    responses = [r"\boxed{1}", r"\boxed{3}", r"\boxed{y}", r"\boxed{4}"]
    single = [verify_math(gold, text) for gold, text in zip(golds, responses, strict=True)]
    assert verify_math_batch(golds, responses) == single
    with pytest.raises(ConfigError, match="do not fit"):
        verify_math_batch(["1"], [])


@pytest.mark.parametrize(("gold", "answer"), DIFFERENT)
def test_the_detail_never_discloses_the_gold(gold: str, answer: str) -> None:
    detail = judge_math(gold, answer).detail
    if len(gold) > 2:
        assert gold not in detail


def test_compiled_golds_are_cached_and_accepted() -> None:
    compiled = compile_gold("x+1")
    assert compile_gold("x+1") is compiled
    assert judge_math(compiled, "1+x").score == 1.0
