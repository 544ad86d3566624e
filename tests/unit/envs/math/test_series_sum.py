import math
import re
from fractions import Fraction

import mpmath
import pytest
from latex_reader import latex_value

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math import series_sum
from rlvr_envs.envs.math.series_sum import SeriesSumConfig, SeriesSumProblem, SeriesSumTask

SIGMA = re.compile(r"\\sum_\{k=(\d+)\}\^\{(\d+|\\infty)\} (.*)")


def listed(series):
    """Write out a sum with dots, term by term."""
    first, second, *_, last = (int(part) for part in re.findall(r"\d+", series))
    return list(range(first, last + 1, second - first))


def added(low, high, term):
    """Add the terms; an infinite tail is cut where it is tiny, or extrapolated for fractions."""
    if "floor" in term:
        top, bottom = re.search(r"frac\{(\d*)k\}\{(\d+)\}", term).groups()
        return sum(int(top or 1) * k // int(bottom) for k in range(int(low), int(high) + 1))
    if "binom" in term:
        factor = term.partition(" ")[2]
        rows = range(int(low), int(high) + 1)
        return sum(math.comb(int(high), k) * latex_value(factor, k=k) for k in rows)
    if high != "\\infty":
        return sum(latex_value(term, k=k) for k in range(int(low), int(high) + 1))
    if "cdot" in term or term.endswith("^k"):
        return sum(latex_value(term, k=k) for k in range(int(low), 250))
    return mpmath.nsum(lambda k: latex_value(term, k=k), [int(low), mpmath.inf])


@pytest.mark.parametrize("kind", range(1, len(series_sum._KINDS)))
def test_the_value_is_that_of_adding_terms(kind):
    config = SeriesSumConfig(first_kind=kind, last_kind=kind, max_terms=12, degree=3)
    task = SeriesSumTask(config)
    for seed in range(15):
        problem = task.generate(stream("series", kind, seed))
        low, high, term = SIGMA.fullmatch(problem.series).groups()
        exact = mpmath.mpf(problem.value.numerator) / problem.value.denominator
        found = added(low, high, term)
        assert mpmath.almosteq(found, exact, 1e-8, 1e-8)


def test_whole_small_world():
    task = SeriesSumTask(SeriesSumConfig.at(0))
    for seed in range(20):
        problem = task.generate(stream("series", seed))
        right = sum(listed(problem.series))
        for guess in range(900):
            assert (task.verify(problem, str(guess)).score == 1.0) == (guess == right)


@pytest.mark.parametrize("difficulty", [0, 10, 30])
def test_long_sums_of_polynomials_agree_with_short_ones(difficulty):
    config = SeriesSumConfig.at(difficulty)
    for seed in range(10):
        coefficients = series_sum._polynomial(stream("long", difficulty, seed), config)
        whole = sum(sum(c * k**i for i, c in enumerate(coefficients)) for k in range(3, 60))
        assert series_sum._polynomial_sum(coefficients, 3, 59) == whole


def test_equal_forms_pass_and_near_misses_fail():
    task = SeriesSumTask(SeriesSumConfig())
    problem = SeriesSumProblem(r"\sum_{k=1}^{\infty} \frac{3}{k(k+4)}", Fraction(25, 16))
    for form in ("25/16", r"\frac{50}{32}", "1.5625", r"1\frac{9}{16}", r"S = \frac{25}{16}"):
        assert task.verify(problem, form).score == 1.0
    for form in ("1.56", "16/25", "-25/16", r"\infty", "25, 16", ""):
        assert task.verify(problem, form).score == 0.0


def test_constant_answers_earn_little():
    for difficulty in (1, 4, 8):
        task = SeriesSumTask(SeriesSumConfig.at(difficulty))
        values = [task.generate(stream("constant", seed)).value for seed in range(200)]
        assert max(values.count(value) for value in set(values)) < 20


@pytest.mark.parametrize("knobs", [{"first_kind": 5}, {"last_kind": 10}, {"max_terms": 3}])
def test_impossible_configurations_are_refused(knobs):
    with pytest.raises(ConfigError):
        SeriesSumConfig(**knobs)


def test_effort_and_baseline_of_a_small_sum():
    task = SeriesSumTask(SeriesSumConfig())
    problem = SeriesSumProblem(
        r"\sum_{k=1}^{9} \left\lfloor \frac{2k}{4} \right\rfloor", Fraction(20)
    )
    steps = task.explain(problem)
    assert steps[-1] == "(90 - 10) / 4 = 20"
    products = 1 + 2 + 2 + 2 + 2  # 2 * 9, 9 * 10, 10 / 2, 2 * 4 ... by their digits
    assert task.effort(problem) >= sum(c.isdigit() for c in "".join(steps)) + products - 2
    assert task.baseline(stream("b"), problem) == "4"
