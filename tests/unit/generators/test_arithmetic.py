"""Expressions: what is read, with which value, and what is refused."""

import itertools
import operator
from fractions import Fraction

import pytest

from rlvr_envs.core.seeding import integer, pick, stream
from rlvr_envs.generators.arithmetic import (
    MAX_DEPTH,
    Term,
    combined,
    fewest_numbers,
    judge_expression,
    random_term,
    read_expression,
    search_effort,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("8 - 3 - 2", 3),
        ("8 / 4 / 2", 1),
        ("8 / (3 - 8 / 3)", 24),
        ("-2 + 5", 3),
        ("2 * -(3 - 5)", 4),
        ("[1 + 2] × 3", 9),
        (r"6 \times \left(5 - 1\right) \div 2", 12),
        (r"\frac{8}{3 - \dfrac{8}{3}}", 24),
        ("$4 \\cdot 6$", 24),
        ("10 − 4 ÷ 2", 8),
        ("007", 7),
    ],
)
def test_what_is_read(text, value):
    expression = read_expression(text)
    assert expression is not None
    assert expression.value == value


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "+", "()", "(1", "1)", "1 +", "* 2", "1 2", "2(3)", "(2)(3)", "{2}", "1 ** 2"),
        *("7 // 2", "2 ^ 3", "7 % 4", "2.0", "1e3", "1_000", "0x10", "x", "abs(2)", "1, 2", "1; 2"),
        *("1 / 0", "1 / (2 - 2)", r"\frac{1}{0}", r"\frac 1 2", "²", "٣", "1\x002", "+1"),
        *("1" * 16, "1" * 5000, "(" * 500 + "1" + ")" * 500, "-" * 1500 + "1", "1 + " * 600 + "1"),
        *("__import__('os')", "9**9**9", "1 if 1 else 2", "True", "24!", "√4", "1 == 1"),
    ],
)
def test_what_is_refused(text):
    assert read_expression(text) is None


def test_depth_is_bounded():
    assert read_expression("(" * MAX_DEPTH + "1" + ")" * MAX_DEPTH) is not None
    assert read_expression("(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1)) is None


OPERATIONS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def random_tree(rng, depth):
    """A random expression with every group in parentheses, and its value by Fraction alone."""
    if depth == 0 or integer(rng, 0, 3) == 0:
        number = integer(rng, 0, 12)
        return str(number), Fraction(number)
    (left, a), (right, b) = random_tree(rng, depth - 1), random_tree(rng, depth - 1)
    name = pick(rng, "+-*/" if b else "+-*")
    return f"({left} {name} {right})", OPERATIONS[name](a, b)


@pytest.mark.parametrize("seed", range(40))
def test_values_of_random_trees(seed):
    text, value = random_tree(stream("Expressions", seed), 5)
    assert read_expression(text).value == value


@pytest.mark.parametrize("names", list(itertools.product("+-*/", repeat=3)))
def test_precedence_is_that_of_python(names):
    """Python's own evaluator is the reference, on numbers that this test wrote."""
    text = "7{}3{}2{}5".format(*names)
    fractions = "F(7){}F(3){}F(2){}F(5)".format(*names)
    assert read_expression(text).value == eval(fractions, {"F": Fraction})


@pytest.mark.parametrize("seed", range(30))
def test_texts_of_terms_have_their_values(seed):
    rng = stream("Expressions", "terms", seed)
    numbers = [integer(rng, 1, 12) for _ in range(6)]
    term = random_term(rng, numbers, 10_000)
    expression = read_expression(term.text)
    assert (expression.value, sorted(expression.numbers)) == (term.value, sorted(numbers))


def test_steps_that_do_nothing_are_left_out():
    one, two = Term(1, "1"), Term(2, "2")
    assert combined(two, "*", one) is None
    assert combined(two, "/", one) is None
    assert combined(one, "/", two) is None
    assert combined(one, "-", one) is None
    assert combined(Term(3, "1 + 2", 1), "*", two).text == "(1 + 2) * 2"
    assert combined(Term(6, "2 * 3", 2), "/", two).text == "2 * 3 / 2"
    assert combined(Term(6, "2 * 3", 2), "/", Term(3, "1 + 2", 1)).text == "2 * 3 / (1 + 2)"


@pytest.mark.parametrize(
    ("answer", "score", "score_all"),
    [
        ("8 / (3 - 8 / 3)", 1.0, 0.0),
        ("8 / (3 - 8 / 3) = 24", 1.0, 0.0),
        ("3 * 8", 1.0, 0.0),
        ("(3 / 3) * 8 * 3", 0.0, 0.0),  # three threes
        ("8 / (3 - 8 / 3) * 1", 0.0, 0.0),  # a number that is not given
        ("8 * 3 + 8 - 8", 0.0, 0.0),
        ("(3 * 8) * (8 - 8) + 24", 0.0, 0.0),
        ("24", 0.0, 0.0),
        ("3 * 8 = 25", 0.0, 0.0),
        ("3 * 8 = 3 * 8", 0.0, 0.0),
        ("24 = 3 * 8", 0.0, 0.0),
        ("3 * 8 = 24 = 24", 0.0, 0.0),
        ("38 - 8 - 3 - 3", 0.0, 0.0),  # digits glued together
        ("3 + 8", 0.0, 0.0),
    ],
)
def test_verdicts(answer, score, score_all):
    assert judge_expression(answer, (3, 3, 8, 8), 24, use_all=False).score == score
    full = "8 / (3 - 8 / 3)"
    expected = 1.0 if answer.startswith(full) and score else score_all
    assert judge_expression(answer, (3, 3, 8, 8), 24, use_all=True).score == expected


def test_the_search_counts_what_it_computes():
    assert search_effort((2, 3), 5, use_all=True, limit=100) == 1
    assert search_effort((2, 3), 6, use_all=True, limit=100) == 3
    assert search_effort((2, 3), 99, use_all=True, limit=100) == 3  # sum, difference, product
    assert search_effort((2, 3, 4, 5, 6), 10**9, use_all=False, limit=100) == 100


@pytest.mark.parametrize(
    ("numbers", "target", "fewest"),
    [
        ((5, 7, 9), 9, 1),
        ((5, 7, 9), 35, 2),
        ((5, 7, 9), 44, 3),  # 5 * 7 + 9
        ((2, 3, 4, 5), 120, 4),
        ((2, 3, 4, 5, 6), 719, 5),  # nothing makes it
        ((1, 2, 50, 60, 7), 3_021, 5),  # 50 * 60 + (1 + 2) * 7
        ((1, 1, 1, 1, 1), 5, 5),
        ((1, 1, 1, 1, 1), 6, 5),  # (1 + 1) * (1 + 1 + 1)
    ],
)
def test_the_fewest_numbers_that_make_a_target(numbers, target, fewest):
    assert fewest_numbers(numbers, target, most=5) == fewest
