from fractions import Fraction

import pytest

from rlvr_envs.generators.mathematics.stated_numbers import stated_complex, stated_rational


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", Fraction(3)),
        ("+3", Fraction(3)),
        ("−5", Fraction(-5)),
        ("1,234", Fraction(1234)),
        (r"-\dfrac34", Fraction(-3, 4)),
        (r"\left(-\frac{6}{8}\right)", Fraction(-3, 4)),
        ("-(3/4)", Fraction(-3, 4)),
        (r"2\frac{3}{4}", Fraction(11, 4)),
        ("0.750", Fraction(3, 4)),
        ("x = 3/4", Fraction(3, 4)),
        ("$5$.", Fraction(5)),
        (r"75\%", Fraction(3, 4)),
        (r"x = -\frac{11}{4} = -2.75", Fraction(-11, 4)),
    ],
)
def test_stated_numbers_are_read(text, value):
    assert stated_rational(text) == value


@pytest.mark.parametrize(
    "text",
    [
        *("2+3", "5 - 2", "2*3", r"2 \times 3", r"2 \cdot 3", "(2)(3)", "2(3)", "(2)3", "7^2"),
        *("3/4/5", r"\frac{1}{2}\frac{3}{4}", r"3 \frac{5}{4}", r"\frac{2+3}{4}", r"\sqrt{4}"),
        *(
            "4!",
            "|-5|",
            "2+3=5",
            "1/2 = 0.6",
            "x < 3",
            "3 apples",
            "x",
            "",
            "²",
            "NaN",
            r"\infty",
            "9" * 5000,
            "3, 4",
        ),
    ],
)
def test_calculations_and_other_things_are_not_numbers(text):
    assert stated_rational(text) is None


def test_a_percent_sign_is_hundredths_unless_percent_was_asked_for():
    assert stated_rational("12.5%") == Fraction(1, 8)
    assert stated_rational("12.5%", in_percent=True) == Fraction(25, 2)


@pytest.mark.parametrize(
    ("text", "real", "imaginary"),
    [
        ("3+4i", 3, 4),
        ("4i + 3", 3, 4),
        ("-i", 0, -1),
        ("5", 5, 0),
        ("z = -2 - i", -2, -1),
        (r"\frac{3}{5}-\frac{4}{5}i", Fraction(3, 5), Fraction(-4, 5)),
        (r"\frac{3}{5}-\frac{4i}{5}", Fraction(3, 5), Fraction(-4, 5)),
        (r"\frac{3+4i}{5}", Fraction(3, 5), Fraction(4, 5)),
        (r"2 - 3 \cdot i", 2, -3),
        ("0.5 + 0.25i", Fraction(1, 2), Fraction(1, 4)),
    ],
)
def test_stated_complex_numbers_are_read(text, real, imaginary):
    assert stated_complex(text) == (real, imaginary)


@pytest.mark.parametrize(
    "text",
    ["(1+i)(2+i)", "(3+4i)/(1+i)", "1/i", "i^2", "i*i", "3+4i+1", "3+4x", "i/(2+i)", ""],
)
def test_complex_calculations_are_not_stated(text):
    assert stated_complex(text) is None
