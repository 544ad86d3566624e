r"""What people and models write for one value: each is right, and its neighbours are wrong."""

import pytest

from rlvr_envs.core.verdict import Status
from rlvr_envs.verifiers.symbolic import judge_math, verify_math

RIGHT = [
    (r"\frac{n!}{k!(n-k)!}", r"{n \choose k}"),
    (r"\frac{10!}{3!7!}", "C(10,3)"),
    (r"\frac{n!}{k!(n-k)!}", r"\binom nk"),
    (r"\binom{10}{3}", r"{}_{10}C_3"),
    (r"\binom{10}{3}", r"^{10}C_3"),
    (r"\binom{10}{3}", r"{10 \choose 3}"),
    (r"\binom{10}{3}", "C_{10}^{3}"),
    (r"\binom{10}{3}", "C^{10}_{3}"),
    (r"\binom{n}{2}", r"\frac{n(n-1)}{2}"),
    ("60", "P(5,3)"),
    (r"3 \pmod 7", r"x \equiv 10 \pmod 7"),
    (r"x \equiv 3 \pmod 7", r"3 \bmod 7"),
    (r"x \equiv 3 \pmod{7}", r"x = 7k + 3, k \in \mathbb{Z}"),
    (r"x \equiv 1, 4 \pmod{5}", r"x \equiv 4 \text{ or } 1 \pmod 5"),
    ("-5, 5", "x_1=-5, x_2=5"),
    ("2, 1", "Maximum = 2, Minimum = 1"),
    ("f(x)=1", r"f(x)=1 \text{ for all } x"),
    ("42", r"42 \text{ (since it is even)}"),
    ("42", "42 (because all terms cancel)"),
    ("x=0", r"\text{only } x=0"),
    ("0", r"\text{only } x=0"),
    (r"a \le -2 \text{ or } a=1", r"(-\infty,-2]\cup\{1\}"),
    (r"(-\infty,-2]\cup\{1\}", r"a \le -2 \text{ or } a=1"),
    (r"y=\frac{6}{x}", "xy=6"),
    ("xy=6", r"y=\frac{6}{x}"),
    ("y=2x+1", "2x-y+1=0"),
    ("Ce^x", "Ae^x"),
    (r"\sin^2x+C", r"-\cos^2x+C"),
    (r"c_1 e^x + c_2 e^{-x}", r"A\cosh x + B\sinh x"),
    (r"\infty", r"\text{infinity}"),
    (r"-\infty", "negative infinity"),
    (r"\text{does not exist}", "DNE"),
    (r"\emptyset", r"\text{no solution}"),
    (r"\text{no solution}", r"\text{There are no real solutions}"),
    ("(B)", "Option B"),
    ("(B)", "b"),
    ("(B)", r"\text{The correct answer is } B"),
    ("A, C", "AC"),
    ("A, C", "A and C"),
    ("2", r"\log 100"),
    ("3 hours", "180 minutes"),
    ("1.5 m", "150 cm"),
    (r"20 \text{ m/s}", r"72 \text{ km/h}"),
    ("5.50 dollars", "550 cents"),
    ("(0,2)", "]0,2["),
    ("[0,2)", "[0,2["),
    (r"x \ne 0", r"x \neq 0"),
    ("(1,2,3)", "i+2j+3k"),
    ("(1,-2,0)", r"\mathbf{i}-2\mathbf{j}"),
    ("(1,2)", r"\hat{i}+2\hat{j}"),
    (r"2(\cos 30^\circ + i \sin 30^\circ)", r"2 \operatorname{cis} 30^\circ"),
    (r"0.\overline{27}", r"0.\dot2\dot7"),
    (r"\frac{1}{6}", r"0.1\dot{6}"),
    (r"30.5^\circ", r"30^\circ30'"),
    ("1000000", "1.000.000"),
    ("1234.5", "1 234,5"),
    ("6", "six"),
    ("21", r"\text{twenty-one}"),
    ("2300", "two thousand three hundred"),
    ("42", r"\color{red}{42}"),
    ("42", r"\left.42\right."),
    (r"\frac{1}{3}", r"33\frac13\%"),
    ("y = 6/x", r"y=\frac6x, x\neq 0"),
    ("1,000", "1000"),
]

WRONG = [
    ("1,000", "1,0"),
    ("10,080", "80,10"),
    ("0.5", "0.54"),
    ("0.5", "6/11"),
    ("0.3", "1/3"),
    ("3.14", r"\pi"),
    (r"\binom{10}{3}", "C(10,4)"),
    (r"\binom{10}{3}", r"{10 \choose 2}"),
    (r"3 \pmod 7", r"4 \pmod 7"),
    (r"3 \pmod 7", r"3 \pmod 8"),
    (r"x \equiv 3 \pmod 7", "7k + 4"),
    ("42", r"42 \text{ or } 43"),
    ("42", r"42 \text{ (not certain)}"),
    ("5 cm", r"5 \text{ kg}"),
    ("5 cm", "5 (kilograms)"),
    ("Ce^x", "Ce^{2x}"),
    (r"\frac{1}{2}CV^2", "CV^2"),
    (r"\sin^2x+C", r"\cos^2x+C"),
    (r"c_1 e^x + c_2 e^{-x}", r"A e^x + B e^{2x}"),
    ("C_1 V + C_2 W", "2C_1 V + 3C_2 W"),
    ("k_1 x + k_2 x^2", "2k_1 x + k_2 x^2"),
    ("K_1 x + K_2", "5K_1 x - K_2"),
    (r"a \le -2 \text{ or } a=1", r"(-\infty,-2]\cup\{2\}"),
    (r"a \le -2 \text{ or } a=1", r"(-\infty,-2)\cup\{1\}"),
    (r"y=\frac{6}{x}", "xy=5"),
    (r"y=\frac{6}{x}", "xy^2=6y"),
    ("(B)", "Option C"),
    ("A, C", "AB"),
    ("A, C", "ABC"),
    ("3 hours", "200 minutes"),
    ("(0,2)", "]0,2]"),
    ("[0,2]", "]0,2["),
    ("(1,2,3)", "i+2j-3k"),
    ("(1,2)", "i+2j+3k"),
    (r"0.\overline{27}", r"0.2\dot7"),
    (r"30.5^\circ", r"30^\circ5'"),
    ("6", "seven"),
    ("1", "1.000.000"),
    (r"\text{does not exist}", r"\infty"),
    ("y = 6/x", r"y=\frac5x, x\neq 0"),
]


@pytest.mark.parametrize(("gold", "answer"), RIGHT)
def test_other_spellings_of_the_value_are_right(gold, answer):
    assert judge_math(gold, answer).status is Status.CORRECT


@pytest.mark.parametrize(("gold", "answer"), WRONG)
def test_spellings_of_other_values_are_not(gold, answer):
    assert judge_math(gold, answer).score == 0.0


@pytest.mark.parametrize(
    ("gold", "answer"), [("1.6", "1.58"), ("3.14", r"\pi"), ("2.35", r"\sqrt{5.5}"), ("0.3", "1/3")]
)
def test_rounded_golds_stand_for_what_rounds_to_them(gold, answer):
    assert judge_math(gold, answer, rounded=True).score == 1.0
    assert judge_math(gold, answer).score == 0.0
    assert verify_math(gold, rf"\boxed{{{answer}}}", rounded=True).score == 1.0
    assert judge_math(gold, "7", rounded=True).score == 0.0


@pytest.mark.parametrize(
    "answer", ["9" * 1_500 + "^{" + "9" * 400 + "}", "2^{99999999}", "x+" * 900]
)
def test_what_is_refused_for_its_size_is_not_called_wrong(answer):
    verdict = judge_math("12", answer)
    assert verdict.status in (Status.UNDECIDED, Status.UNPARSABLE)
    assert verdict.score == 0.0


def test_a_number_of_too_many_bits_is_undecided():
    assert judge_math("12", "3^{40000}").status is not Status.CORRECT
    assert judge_math("12", "7^{60000}").status is Status.UNDECIDED
