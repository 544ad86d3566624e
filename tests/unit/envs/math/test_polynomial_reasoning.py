"""Polynomial reasoning: every kind against sympy or plain expansion, wrong answers, spellings."""

import itertools
import math
from fractions import Fraction

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.polynomial_reasoning import (
    FAMILIES,
    KINDS,
    PolynomialReasoningConfig,
    PolynomialReasoningTask,
)

X, Y, K = sympy.symbols("x y k")


def cubic(e1, e2, e3):
    return X**3 - e1 * X**2 + e2 * X - e3


def companion(e1, e2, e3):
    """Return a matrix whose eigenvalues are the roots: traces are symmetric functions of them."""
    return sympy.Matrix([[0, 0, e3], [1, 0, -e2], [0, 1, e1]])


def newton_sum(e1, e2, e3, exponent):
    return (companion(e1, e2, e3) ** exponent).trace()


def root_differences(e1, e2, e3, at):
    return (at * sympy.eye(3) - companion(e1, e2, e3)).inv().trace()


def root_product(e1, e2, e3, p, q):
    m = companion(e1, e2, e3)
    return (m**2 + p * m + q * sympy.eye(3)).det()


def even_coefficients(a, b, exponent, c, d):
    found = sympy.Poly((a * X + b) ** exponent * (c * X + d), X)
    return sum(c for (power,), c in found.terms() if power % 2 == 0)


def linear_remainder(exponent, a, b, at):
    return sympy.rem(X**exponent, (X - a) * (X - b), X).subs(X, at)


def quadratic_remainder(exponent, p, q, at):
    return sympy.rem(X**exponent, X**2 - p * X - q, X).subs(X, at)


def largest_divisor(shift, constant):
    most = abs(constant) + shift**3
    return max(n for n in range(1, most + 1) if (n**3 + constant) % (n + shift) == 0)


def telescope(terms, start, step):
    return sum(Fraction(1, (k + start) * (k + start + step)) for k in range(terms))


def known_values(slope, at):
    """Take any polynomial with these values: one with a fourth value of our choice."""
    found = set()
    for fourth in (0, 7):
        values = [(k, slope * k - k**4) for k in (1, 2, 3)] + [(4, fourth)]
        p = X**4 + sympy.interpolate(values, X)
        found.add(p.subs(X, at) + p.subs(X, 4 - at))
    (value,) = found
    return value


def power_values(degree, base, factor):
    points = [(k, factor * base**k) for k in range(degree + 1)]
    return sympy.interpolate(points, X).subs(X, degree + 1)


def reciprocal_values(degree, at, factor):
    points = [(k, sympy.Rational(factor, k)) for k in range(1, degree + 2)]
    return sympy.interpolate(points, X).subs(X, at)


def bounded_exponents(count, high, power):
    ways = [1]
    for _ in range(count):
        ways = [sum(ways[max(0, k - high) : k + 1]) for k in range(len(ways) + high)]
    return ways[power]


def power_sums(p1, p2, p3):
    """Solve for the elementary symmetric functions as unknowns of a companion matrix."""
    e2, e3 = sympy.symbols("e2 e3")
    m = companion(p1, e2, e3)
    equations = [(m**2).trace() - p2, (m**3).trace() - p3]
    (solution,) = sympy.solve(equations, [e2, e3], dict=True)
    return sympy.expand((m**4).trace()).subs(solution)


def square_roots(a, b, at):
    return sympy.resultant(Y**2 - b, (X - Y) ** 2 - a, Y).subs(X, at)


def mixed_roots(a, b, at):
    return sympy.resultant(Y**2 - a, (X - Y) ** 3 - b, Y).subs(X, at)


def unity_filter(n, step, rest, base):
    return sum(math.comb(n, k) * base**k for k in range(n + 1) if k % step == rest)


def unity_product(n, u, v):
    return sympy.resultant(X**n - 1, (X - u) * (X - v), X)


CHECKS = {
    "root_squares": lambda *e: newton_sum(*e, 2),
    "root_reciprocals": lambda *e: (companion(*e) ** -2).trace(),
    **{
        check.__name__: check
        for check in (
            *(even_coefficients, linear_remainder, largest_divisor, telescope, newton_sum),
            *(root_differences, known_values, power_values, reciprocal_values, bounded_exponents),
            *(quadratic_remainder, square_roots, power_sums, root_product, unity_filter),
            *(unity_product, mixed_roots),
        )
    },
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_agrees_with_computer_algebra(kind):
    family = FAMILIES[kind]
    for n, size in itertools.product(range(8), (0, 6)):
        numbers = family.draw(stream(kind, n), size)
        assert family.state(*numbers).answer == Fraction(str(CHECKS[kind](*numbers))), numbers


@pytest.mark.parametrize(("a", "b"), [(2, 3), (6, 10), (5, 2)])
def test_sums_of_radicals_have_no_smaller_polynomial(a, b):
    assert sympy.degree(sympy.minimal_polynomial(sympy.sqrt(a) + sympy.sqrt(b), X), X) == 4
    assert sympy.degree(sympy.minimal_polynomial(sympy.sqrt(a) + sympy.cbrt(b), X), X) == 6


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_makes_problems_at_every_size(kind):
    for size in (0, 10, 40, 100):
        task = PolynomialReasoningTask(PolynomialReasoningConfig(kinds=(kind,), size=size))
        problems = [task.generate(stream(kind, size, n)) for n in range(20)]
        assert all(task.verify(p, task.solve(p)).score == 1.0 for p in problems)
        assert len({task.prompt(p) for p in problems}) > 12


def posed(kind, *numbers):
    task = PolynomialReasoningTask(PolynomialReasoningConfig.at(3))
    question = FAMILIES[kind].state(*numbers)
    value = Fraction(question.answer)
    top = f"{'-' if value < 0 else ''}\\frac{{{abs(value.numerator)}}}{{{value.denominator}}}"
    return task, task.Problem(kind, numbers, top, tuple(question.steps))


# x^3 - 6x^2 - 9x - 10: the squares of the reciprocals add up to -39/100
RIGHT = [
    "-39/100",
    "-\\frac{39}{100}",
    "-0.39",
    "\\frac{-39}{100}",
    "$-\\dfrac{39}{100}$",
    "-78/200",
]
WRONG = [
    *("", " ", "?", "39/100", "0.39", "-0.4", "-0.38", "-9/10", "-39", "100", "-100/39", "-3.9"),
    *("(-9/10)^2 - 2 * (3/5)", "81/100 - 120/100", "-39/101", "-38/100", "-39/100 or 39/100"),
    *(
        "\\pm\\frac{39}{100}",
        "-39, 100",
        "{-39/100, 1}",
        "-39\\%+0",
        "r^2",
        "1/r^2 + 1/s^2 + 1/t^2",
    ),
    *("9^{9^9}", "-" + "39" * 2000, "nan", "-\\infty", "-39/0", "x^3 - 6x^2 - 9x - 10", "-39i/100"),
]


@pytest.mark.parametrize("answer", RIGHT)
def test_right_answers_in_several_forms(answer):
    task, problem = posed("root_reciprocals", 6, -9, 10)
    assert task.verify(problem, answer).score == 1.0


@pytest.mark.parametrize("answer", WRONG)
def test_wrong_answers_earn_nothing(answer):
    task, problem = posed("root_reciprocals", 6, -9, 10)
    assert task.verify(problem, answer).score == 0.0


def test_prompt_and_other_answers_earn_nothing():
    task, problem = posed("root_reciprocals", 6, -9, 10)
    assert task.verify(problem, task.prompt(problem)).score == 0.0
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0
    _, other = posed("root_reciprocals", 6, -9, 11)
    assert task.verify(problem, other.answer).score == 0.0


@pytest.mark.parametrize(
    ("knobs", "message"),
    [({"kinds": ()}, "kinds are"), ({"kinds": ("galois",)}, "kinds are"), ({"size": 101}, "size")],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        PolynomialReasoningConfig(**knobs)
