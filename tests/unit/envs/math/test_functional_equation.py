"""FunctionalEquation: answers satisfy the equations point by point, wrong answers, knobs."""

from fractions import Fraction
from itertools import pairwise, product

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.functional_equation import (
    FAMILIES,
    FunctionalEquationConfig,
    FunctionalEquationTask,
)

POINTS = [Fraction(p, q) for q in (1, 2, 3, 5) for p in range(-9, 10)]


def answer(kind, *numbers):
    return FAMILIES[kind].state(*numbers).answer


def drawn(kind, count=25):
    """Return numbers of questions of some sizes."""
    return [FAMILIES[kind].draw(stream("equation", kind, seed), seed % 6) for seed in range(count)]


def values(kind, numbers, places):
    """Return the answers at many points, as a function; ``places`` numbers give the point."""

    def f(x):
        point = (x.numerator, x.denominator) if places == 2 else (x,)
        return answer(kind, *numbers[:-places], *point)

    return f


def test_cauchy_with_a_product():
    for numbers in drawn("additive"):
        c, a, value = numbers[:3]
        f = values("additive", numbers, 2)
        assert f(Fraction(a)) == value
        assert all(
            f(x + y) == f(x) + f(y) + c * x * y for x, y in product(POINTS[::4], POINTS[::5])
        )


def test_the_equation_of_quadratic_functions():
    for numbers in drawn("quadratic"):
        c, a, value = numbers[:3]
        f = values("quadratic", numbers, 2)
        assert f(Fraction(a)) == value
        for x, y in product(POINTS[::4], POINTS[::5]):
            assert f(x + y) + f(x - y) == 2 * f(x) + 2 * f(y) + c


def test_reflections_and_reciprocals():
    for numbers in drawn("reflection"):
        u, v, s, a, b, _ = numbers
        f = values("reflection", numbers, 1)
        assert all(u * f(x) + v * f(s - x) == a * x + b for x in range(-9, 10))
    for numbers in drawn("reciprocal"):
        u, v, k, a, b, _ = numbers
        f = values("reciprocal", numbers, 1)
        for x in POINTS:
            assert x == 0 or u * f(x) + v * f(k / x) == a * x + b


def test_cycles_of_three_points():
    for numbers in drawn("three_points"):
        u, v, a, b = numbers[:4]
        f = values("three_points", numbers, 2)
        for x in POINTS:
            assert x in (0, 1) or u * f(x) + v * f(1 / (1 - x)) == a * x + b


def test_logarithms():
    for numbers in drawn("logarithm"):
        a, b, u, c, d, v = numbers[:6]
        f = {
            (e, g): answer("logarithm", *numbers[:6], e, g)
            for e in range(-9, 19)
            for g in range(-9, 19)
        }
        assert (f[a, b], f[c, d]) == (u, v)
        for e, g in product(range(-4, 9), repeat=2):
            assert f[e + g, g - 2] == f[e, g] + f[g, -2]


def test_steps_and_doublings():
    for a, b, start, _ in drawn("step"):
        value = start
        for x in range(60):
            assert answer("step", a, b, start, x) == value
            value += a * x + b
    for first, factor, even, odd, _ in drawn("doubling"):
        f = [None, first]
        for n in range(2, 300):
            f.append(factor * f[n // 2] + (odd if n % 2 else even))
            assert answer("doubling", first, factor, even, odd, n) == f[n]


def test_fractional_linear_steps():
    periods = set()
    for a, b, c, d, start, _ in drawn("periodic", 60):
        value, total, seen = Fraction(start), 0, [Fraction(start)]
        for n in range(1, 40):
            value = (a * value + b) / (c * value + d)
            total += value
            seen.append(value)
            assert answer("periodic", a, b, c, d, start, n) == total
        periods.add(seen.index(start, 1))
    assert periods == {3, 4, 6}


def test_the_equation_of_the_cosine():
    big = 10**40
    for first in range(3, 9):
        f = [answer("cosine", first, n, big) for n in range(25)]
        assert f[:2] == [2, first]
        for x in range(12):
            assert all(f[x + y] + f[x - y] == f[x] * f[y] for y in range(x + 1))
        assert [answer("cosine", first, n, 101) for n in range(25)] == [v % 101 for v in f]


@pytest.mark.parametrize("reciprocal", [0, 1])
def test_polynomials_by_interpolation(reciprocal):
    for base, degree, more in product((2, 3, 4), range(1, 8), range(1, 5)):
        given = [Fraction(1, k + base - 1) if reciprocal else base**k for k in range(degree + 1)]
        x = degree + more
        expected = Fraction(0)
        for i, value in enumerate(given):
            term = Fraction(value)
            for j in range(degree + 1):
                if j != i:
                    term *= Fraction(x - j, i - j)
            expected += term
        assert answer("polynomial", reciprocal, base, degree, more) == expected


def test_three_times():
    f = {n: answer("triple", n) for n in range(1, 9_000)}
    assert all(f[n] < f[n + 1] for n in range(1, 8_999))
    assert all(f[f[n]] == 3 * n for n in range(1, 4_000))


def test_three_times_has_no_other_solution():
    """Follow f(f(n)) = 3n from f(1) = 2, and fill gaps that leave no choice."""
    known, changed = {1: 2}, True
    while changed:
        changed = False
        for n, value in list(known.items()):
            if value < 3_000 and value not in known:
                known[value] = 3 * n
                changed = True
        for low, high in pairwise(sorted(known)):
            if 1 < high - low == known[high] - known[low]:
                known |= {n: known[low] + n - low for n in range(low, high)}
                changed = True
    assert all(n in known for n in range(1, 1_000))
    assert all(answer("triple", n) == value for n, value in known.items())


def test_a_function_of_a_function():
    for a, b, start, _, p, q, r, s, first in drawn("composed"):
        m, total, value = start, Fraction(0), Fraction(first)
        sums = [total]
        for _ in range(600):
            value = (p * value + q) / (r * value + s)
            total += value
            sums.append(total)
        for n in range(12):
            if m <= 600:
                assert answer("composed", a, b, start, n, p, q, r, s, first) == sums[m]
            m += a * n + b


TASK = FunctionalEquationTask(FunctionalEquationConfig(kinds=("additive",), size=2))
PROBLEM = TASK.generate(stream("FunctionalEquation", "additive"))
VALUE = Fraction(FAMILIES["additive"].state(*PROBLEM.numbers).answer)


def test_fractions_need_not_be_reduced_and_decimals_must_be_exact():
    top, bottom = VALUE.numerator, VALUE.denominator
    assert bottom > 1
    assert TASK.verify(PROBLEM, f"{2 * top}/{2 * bottom}").score == 1.0
    assert TASK.verify(PROBLEM, f"{top}/{bottom + 1}").score == 0.0
    assert TASK.verify(PROBLEM, f"{float(VALUE):.2f}").score == float(
        Fraction(f"{float(VALUE):.2f}") == VALUE
    )
