"""Inequality extremum: every kind against a numeric search, wrong answers, spellings."""

import itertools
import math

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.inequality_extremum import (
    FAMILIES,
    KINDS,
    InequalityExtremumConfig,
    InequalityExtremumTask,
)

OPEN = (1e-9, 1 - 1e-9)


def best(value, *ranges, largest=False):
    """Search a box for an extreme value: a grid around the best point, narrowed again and again."""
    sign = -1 if largest else 1
    points = 801 if len(ranges) == 1 else 61
    spans = list(ranges)
    found = math.inf
    for _ in range(60):
        axes = [np.linspace(low, high, points) for low, high in spans]
        grid = np.meshgrid(*axes, indexing="ij")
        values = sign * value(*grid)
        at = np.unravel_index(np.nanargmin(values), values.shape)
        found = min(found, float(values[at]))
        spans = [
            (max(low, axis[i] - (b - a) / 6), min(high, axis[i] + (b - a) / 6))
            for axis, i, (low, high), (a, b) in zip(axes, at, ranges, spans, strict=True)
        ]
    return sign * found


def centred(total, squares, count=3):
    """Return a map from angles to numbers with this sum and sum of squares."""
    basis = np.linalg.qr(np.column_stack([np.ones(count), np.eye(count)[:, : count - 1]]))[0][:, 1:]
    radius = math.sqrt(squares - total**2 / count)

    def numbers(*angles):
        parts, left = [], np.asarray(radius * 1.0)
        for angle in angles:
            parts.append(left * np.cos(angle))
            left = left * np.sin(angle)
        parts.append(left)
        return [
            total / count + sum(b * p for b, p in zip(row, parts, strict=True)) for row in basis
        ]

    return numbers


TURN = (0.0, 2 * math.pi)


def rearrangement(least, *values):
    half = len(values) // 2
    sums = [
        sum(a * b for a, b in zip(values[:half], order, strict=True))
        for order in itertools.permutations(values[half:])
    ]
    return min(sums) if least else max(sums)


def sphere(radius, a, b, c):
    def value(s, t):
        return math.sqrt(radius) * (np.cos(s) * (a * np.cos(t) + b * np.sin(t)) + c * np.sin(s))

    return best(value, TURN, TURN, largest=True)


def balance(factor, top, shift):
    return best(lambda t: factor * np.exp(t) + top / np.exp(t) + factor * shift, (-9, 9))


def reciprocals(total, *tops):
    if len(tops) == 2:
        return best(lambda u: (tops[0] / u + tops[1] / (1 - u)) / total, OPEN)
    a, b, c = tops
    return best(
        lambda u, v: (a / u + b / ((1 - u) * v) + c / ((1 - u) * (1 - v))) / total, OPEN, OPEN
    )


def shifted_product(product, a, b):
    return best(lambda t: (np.exp(t) + a) * (product / np.exp(t) + b), (-12, 12))


def mirror(one, two, base):
    return best(lambda x: np.hypot(x, one) + np.hypot(base - x, two), (0, base))


def reciprocal_condition(a, b, p, q):
    return best(lambda u: p * a / u + q * b / (1 - u), OPEN)


def powers(total, p, q, factor):
    return best(lambda x: x**p * ((total - x) / factor) ** q, (0, total), largest=True)


def quadratic_form(radius, a, b, c):
    def value(t):
        x, y = math.sqrt(radius) * np.cos(t), math.sqrt(radius) * np.sin(t)
        return a * x * x + b * x * y + c * y * y

    return best(value, TURN, largest=True)


def quotient(p, q, r):
    return best(lambda x: (p * x + q) / (x * x + r), (0, 60), largest=True)


def largest_number(count, total, squares):
    numbers = centred(total, squares, count)
    return best(lambda *angles: numbers(*angles)[0], *[TURN] * (count - 2), largest=True)


def root_sum(a, b, p, q, total):
    return best(
        lambda x: np.sqrt(a * x + p) + np.sqrt(b * (total - x) + q), (0, total), largest=True
    )


def best_constant(p, q, r):
    def value(s, t):
        x, z = np.exp(s), np.exp(t)
        return (p * x * x + q + r * z * z) / (x + z)

    return best(value, (-6, 6), (-6, 6))


def hoelder(k, u, v, w):
    def value(s, t):
        x, y = k * np.exp(s), k * np.exp(t)
        return (x + u * u * v) * (y + v * v * w) * (k**3 / x / y + w * w * u)

    return best(value, (-5, 5), (-5, 5))


def plane_and_sphere(total, squares, *factors):
    numbers = centred(total, squares)
    return best(
        lambda t: sum(f * n for f, n in zip(factors, numbers(t), strict=True)), TURN, largest=True
    )


def nesbitt(a, b, c):
    def value(u, v):
        x, y, z = u, (1 - u) * v, (1 - u) * (1 - v)
        return a * x / (y + z) + b * y / (z + x) + c * z / (x + y)

    return best(value, OPEN, OPEN)


def pair_products(total, a, b, c):
    def value(u, v):
        x, y, z = total * u, total * (1 - u) * v, total * (1 - u) * (1 - v)
        return a * y * z + b * z * x + c * x * y

    return best(value, (0, 1), (0, 1), largest=True)


def differences(total, squares):
    def value(t):
        x, y, z = centred(total, squares)(t)
        return (x - y) * (y - z) * (z - x)

    return best(value, TURN, largest=True)


def product(total, squares):
    def value(t):
        x, y, z = centred(total, squares)(t)
        return x * y * z

    return best(value, TURN, largest=True)


SEARCHED = {
    search.__name__: search
    for search in (
        *(rearrangement, sphere, balance, reciprocals, shifted_product, mirror),
        *(reciprocal_condition, powers, quadratic_form, quotient, largest_number, root_sum),
        *(best_constant, hoelder, plane_and_sphere, nesbitt, pair_products, differences, product),
    )
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_numeric_search_finds_the_same_value(kind):
    family = FAMILIES[kind]
    many = kind in ("rearrangement", "largest_number")  # no search handles many variables
    for n, size in itertools.product(range(6), (0, 1, 3) if many else (0, 4, 9)):
        numbers = family.draw(stream(kind, n), size)
        found = SEARCHED[kind](*numbers)
        assert math.isclose(float(family.state(*numbers).answer), found, rel_tol=1e-6), numbers


def posed(kind, *numbers):
    task = InequalityExtremumTask(InequalityExtremumConfig.at(3))
    question = FAMILIES[kind].state(*numbers)
    return task, task.Problem(kind, numbers, shown(question.answer), tuple(question.steps))


def shown(value):
    return value.latex() if hasattr(value, "latex") else str(value)


# xy = 8 and the shifts 1 and 3: (x + 1)(y + 3) is at least 11 + 4 sqrt(6)
RIGHT = [
    *("11 + 4\\sqrt{6}", "4\\sqrt{6}+11", "11+2\\sqrt{24}", "$11 + 4\\sqrt6$", "11 + \\sqrt{96}"),
    *("(\\sqrt{8}+\\sqrt{3})^2", "11 + 4*sqrt(6)", "k = 11 + 4\\sqrt{6}", "11+4√6"),
    *("\\frac{22 + 8\\sqrt{6}}{2}", "11 + 4 \\cdot 6^{1/2}"),
]
WRONG = [
    *("", " ", "?", "11", "4\\sqrt{6}", "11 - 4\\sqrt{6}", "-11 - 4\\sqrt{6}", "12 + 4\\sqrt{6}"),
    *("11 + 4\\sqrt{5}", "11 + 5\\sqrt{6}", "11 + \\sqrt{6}", "11 + 4\\sqrt[3]{6}", "20.798"),
    *("20.79795897", "21", "20", "11 \\pm 4\\sqrt{6}", "11 + 4\\sqrt{6} or 22", "4\\sqrt{11}"),
    *("\\{11 + 4\\sqrt{6}, 21\\}", "11, 4\\sqrt{6}", "\\ge 11 + 4\\sqrt{6}", "(x + 1)(y + 3)"),
    *("15\\sqrt{6}", "xy", "9^{9^{9}}", "1" * 3000, "nan", "\\infty", "eleven", "(2\\sqrt{6}, 1)"),
]


@pytest.mark.parametrize("answer", RIGHT)
def test_right_answers_in_several_forms(answer):
    task, problem = posed("shifted_product", 8, 1, 3)
    assert task.verify(problem, answer).score == 1.0


@pytest.mark.parametrize("answer", WRONG)
def test_wrong_answers_earn_nothing(answer):
    task, problem = posed("shifted_product", 8, 1, 3)
    assert task.verify(problem, answer).score == 0.0


def test_prompt_and_other_answers_earn_nothing():
    task, problem = posed("shifted_product", 8, 1, 3)
    assert task.verify(problem, task.prompt(problem)).score == 0.0
    _, other = posed("shifted_product", 8, 2, 3)
    assert task.verify(problem, other.answer).score == 0.0


def test_equality_cases_lie_where_they_may():
    for n in range(200):
        a, b, c = FAMILIES["nesbitt"].draw(stream("nesbitt", n), 9)
        low, middle, high = sorted(math.sqrt(k) for k in (a, b, c))
        assert high < low + middle
        _, *weights = FAMILIES["pair_products"].draw(stream("pairs", n), 9)
        assert max(weights) < sum(weights) / 2


def test_baseline_forgets_the_mixed_terms():
    task, problem = posed("nesbitt", 2, 2, 2)
    assert problem.answer == "3"
    assert task.baseline(stream("b"), problem) == "3"
    task, problem = posed("nesbitt", 1, 2, 2)
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0


@pytest.mark.parametrize(
    ("knobs", "message"),
    [({"kinds": ()}, "kinds are"), ({"kinds": ("jensen",)}, "kinds are"), ({"size": -1}, "size")],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        InequalityExtremumConfig(**knobs)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_makes_problems_at_every_size(kind):
    for size in (0, 10, 40, 1_000):
        task = InequalityExtremumTask(InequalityExtremumConfig(kinds=(kind,), size=size))
        problem = task.generate(stream(kind, size))
        assert task.verify(problem, task.solve(problem)).score == 1.0
