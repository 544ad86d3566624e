"""The cheap parsers for tasks."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from rlvr_envs.verifiers import parse


@pytest.mark.parametrize(
    ("text", "value"),
    [("12", 12), (" -3 ", -3), ("+4", 4), ("\u22125", -5), ("1,234", 1234), ("007", 7)]
    + [("1.0", 1), ("18/2", 9), ("-18/2", -9), (r"\frac{18}{2}", 9), (r"-\tfrac{6}{3}", -2)]
    + [("7.", 7), ("$7$", 7), ("7/2", None), ("7/0", None), ("1.5", None), ("7/-7", None)]
    + [
        (text, None)
        for text in ("", "x", "12 apples", "²", "٣", "1,23", "1_000", "0x10", "--1", "NaN")
    ]
    + [("9" * 1_000, int("9" * 1_000)), ("9" * 1_001, None), ("9" * 5_000_000, None)],
)
def test_integer(text: str, value: int | None) -> None:
    assert parse.integer(text) == value


def test_lists_take_the_minus_sign_of_mathematics() -> None:
    assert parse.integers("\u22125, 3") == [-5, 3]
    assert parse.integers("5 \u2212 3") is None
    assert parse.integers("1\u20133") is None
    assert parse.naturals("\u22121") is None


def test_digit_limits_are_the_callers() -> None:
    assert parse.integer("123", max_digits=2) is None
    assert parse.integer("-7", max_digits=1) == -7
    assert parse.natural("-1") is None
    assert parse.natural("0") == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3/4", Fraction(3, 4)),
        ("-3 / 4", Fraction(-3, 4)),
        ("0.25", Fraction(1, 4)),
        (".5", Fraction(1, 2)),
        ("7", Fraction(7)),
        ("1/0", None),
        ("1e5", None),
        ("inf", None),
        ("1/2/3", None),
    ],
)
def test_rational(text: str, value: Fraction | None) -> None:
    assert parse.rational(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1, 2, 3", [1, 2, 3]),
        ("[1 2 3]", [1, 2, 3]),
        ("(1;2)", [1, 2]),
        ("{-1}", [-1]),
        ("", None),
        ("[]", None),
        ("1,,2", None),
        ("1, two", None),
        ("[1, 2", None),
    ],
)
def test_integers(text: str, value: list[int] | None) -> None:
    assert parse.integers(text) == value


def test_lists_are_bounded() -> None:
    assert parse.integers("1 " * 9 + "1", max_items=9) is None
    assert parse.integers("1 " * 200_000) is None
    assert parse.words("") == []
    assert parse.naturals("1, -2") is None


def test_matrix_needs_rows_of_one_length() -> None:
    assert parse.matrix("1 2\n3 4") == [[1, 2], [3, 4]]
    assert parse.matrix("[1, 2],\n[3, 4]") == [[1, 2], [3, 4]]
    assert parse.matrix("1 2\n3") is None
    assert parse.matrix("") is None
    assert parse.matrix("1 2\nx y") is None


@pytest.mark.parametrize("parser", [parse.integer, parse.rational, parse.integers, parse.matrix])
def test_long_text_is_refused_at_once(parser: Callable[[str], object]) -> None:
    assert parser("9" * 10_000_000) is None
