"""CoordinateGeometry: every kind by another method, forms of the answer, configuration."""

from dataclasses import replace
from fractions import Fraction

import pytest
import sympy

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.coordinate_geometry import (
    KINDS,
    CoordinateGeometryConfig,
    CoordinateGeometryProblem,
    CoordinateGeometryTask,
    surd,
)

X, Y = sympy.symbols("x y")


def exact(numbers):
    return [sympy.Rational(n.numerator, n.denominator) for n in numbers]


def points(numbers):
    return [sympy.Point(*pair) for pair in zip(numbers[::2], numbers[1::2], strict=True)]


def line(a, b, c):
    return sympy.Line(a * X + b * Y - c, x="x", y="y")


def section(numbers):
    one, two = points(numbers[:4])
    share = numbers[4] / (numbers[4] + numbers[5])
    return one + (two - one) * share


def foot(numbers):
    return line(*numbers[2:]).projection(sympy.Point(*numbers[:2]))


BY_SYMPY = {
    "distance": lambda n: points(n)[0].distance(points(n)[1]),
    "section": section,
    "area": lambda n: abs(sympy.Polygon(*points(n)).area),
    "crossing": lambda n: line(*n[:3]).intersection(line(*n[3:]))[0],
    "reflection": lambda n: 2 * foot(n) - sympy.Point(*n[:2]),
    "foot": foot,
    "line_distance": lambda n: line(*n[2:]).distance(sympy.Point(*n[:2])),
    "circumcentre": lambda n: sympy.Triangle(*points(n)).circumcenter,
    "lines_area": lambda n: sympy.Triangle(
        *(
            line(*n[i : i + 3]).intersection(line(*n[j : j + 3]))[0]
            for i, j in ((0, 3), (3, 6), (0, 6))
        )
    ).area.__abs__(),
    "radius": lambda n: sympy.Circle(X**2 + Y**2 + n[0] * X + n[1] * Y + n[2]).radius,
}


def task_of(kind, **knobs):
    return CoordinateGeometryTask(CoordinateGeometryConfig(kinds=(kind,), **knobs))


def written(value):
    return sympy.latex(tuple(value) if isinstance(value, sympy.Point) else value)


@pytest.mark.parametrize("kind", BY_SYMPY)
@pytest.mark.parametrize("knobs", [{"max_coordinate": 5}, {"max_denominator": 3}])
def test_another_method_earns_full_marks_and_its_neighbours_nothing(kind, knobs):
    task = task_of(kind, **{"n_vertices": 4, **knobs})
    for seed in range(10):
        problem = task.generate(stream("CoordinateGeometry", kind, seed))
        value = BY_SYMPY[kind](exact(problem.numbers))
        assert task.verify(problem, written(value)).score == 1.0
        if isinstance(value, sympy.Point):
            wrong = [value + sympy.Point(1, 0), value - sympy.Point(0, sympy.Rational(1, 2))]
        else:
            wrong = [2 * value, value / 3, sympy.Integer(0)]
        assert not any(task.verify(problem, written(v)).score for v in wrong)


def test_whole_small_world_of_lines():
    task = task_of("line", max_coordinate=3, n_vertices=3)
    for seed in range(4):
        problem = task.generate(stream("CoordinateGeometry", "line", seed))
        ax, ay, bx, by = problem.numbers
        passed = 0
        for a in range(-3, 4):
            for b in range(-3, 4):
                for c in range(-6, 7):
                    if a == b == 0:
                        continue
                    through = a * ax + b * ay == c == a * bx + b * by
                    verdict = task.verify(problem, f"{a}x + {b}y = {c}".replace("+ -", "- "))
                    assert verdict.score == float(through)
                    passed += through
        assert passed >= 2 or max(abs(ay - by), abs(ax - bx)) > 3


LENGTH = CoordinateGeometryProblem("distance", tuple(map(Fraction, (5, 4, 1, 2))), r"2\sqrt{5}")
LINE = CoordinateGeometryProblem("line", tuple(map(Fraction, (1, 1, 4, 3))), "2x - 3y = -1")
POINT = CoordinateGeometryProblem("foot", tuple(map(Fraction, (1, 1, 4, 3, 0))), "(1, -3/2)")


@pytest.mark.parametrize(
    ("problem", "answer", "score"),
    [
        (LENGTH, r"2\sqrt{5}", 1.0),
        (LENGTH, r"\sqrt{20}", 1.0),
        (LENGTH, "2*sqrt(5)", 1.0),
        (LENGTH, r"d = 2\sqrt5", 1.0),
        (LENGTH, r"\sqrt{4^2+2^2}", 0.0),
        (LENGTH, r"\sqrt{(5-1)^2+(4-2)^2}", 0.0),
        (LENGTH, r"\sqrt{16 + 4}", 0.0),
        (LENGTH, "4.47", 0.0),
        (LENGTH, r"-2\sqrt{5}", 0.0),
        (LINE, r"y = \frac{2}{3}x + \frac{1}{3}", 1.0),
        (LINE, "y = (2/3)x + 1/3", 1.0),
        (LINE, "3y = 2x + 1", 1.0),
        (LINE, "2x - 3y + 1 = 0", 1.0),
        (LINE, "4x - 6y = -2", 1.0),
        (LINE, "2x - 3y = 1", 0.0),
        (LINE, r"y - 1 = \frac{3-1}{4-1}(x - 1)", 0.0),
        (LINE, "(x - 1)(3 - 1) = (y - 1)(4 - 1)", 0.0),
        (LINE, r"y = \frac{3-1}{4-1}x + \frac{1}{3}", 0.0),
        (LINE, "2x - 3y + 4 = 3", 0.0),
        (LINE, "0 = 0", 0.0),
        (LINE, "(2x - 3y + 1)^2 = 0", 0.0),
        (POINT, "(1, -1.5)", 1.0),
        (POINT, r"\left(1, -\frac{3}{2}\right)", 1.0),
        (POINT, "(-3/2, 1)", 0.0),
        (POINT, "(1, 3/2)", 0.0),
    ],
)
def test_forms(problem, answer, score):
    assert CoordinateGeometryTask(CoordinateGeometryConfig()).verify(problem, answer).score == score


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("n_vertices", "max_coordinate"), [(4, 4), (5, 5), (7, 8)])
def test_polygons_do_not_cross_themselves(seed, n_vertices, max_coordinate):
    task = task_of("area", n_vertices=n_vertices, max_coordinate=max_coordinate)
    numbers = task.generate(stream("CoordinateGeometry", "polygon", seed)).numbers
    corners = points(exact(numbers))
    sides = [sympy.Segment(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    for i, side in enumerate(sides):
        for j in range(i + 2, len(sides)):
            if (i, j) != (0, len(sides) - 1):
                assert not side.intersection(sides[j])


def test_surds_have_the_right_value():
    for inside in range(1, 60):
        for share in (Fraction(1), Fraction(2, 3), Fraction(5)):
            value = float(sympy.Rational(share.numerator, share.denominator) * sympy.sqrt(inside))
            text = surd(share, inside).replace(r"\frac", "").replace(r"\sqrt", "sqrt")
            text = text.replace("}{", ")/(").replace("{", "(").replace("}", ")")
            text = text.replace("sqrt", "*sqrt").replace("(*sqrt", "(sqrt").removeprefix("*")
            assert float(sympy.sympify(text)) == pytest.approx(value)


@pytest.mark.parametrize("kind", KINDS)
def test_wording_shows_every_number(kind):
    task = task_of(kind, max_denominator=2)
    seen = {}
    for seed in range(60):
        problem = task.generate(stream("CoordinateGeometry", "wording", kind, seed))
        assert seen.setdefault(task.prompt(problem), problem.numbers) == problem.numbers


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"kinds": ()}, "kinds are"),
        ({"kinds": ("sphere",)}, "kinds are"),
        ({"max_denominator": 0}, "max_denominator"),
        ({"n_vertices": 2}, "n_vertices"),
        ({"max_coordinate": 3}, "max_coordinate"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        CoordinateGeometryConfig(**knobs)


def test_effort_and_baseline_of_a_small_problem():
    task = CoordinateGeometryTask(CoordinateGeometryConfig())
    # Digits of "1 - 5 = -4", "2 - 4 = -2", "(-4)^2 + (-2)^2 = 20" and "root of 20".
    assert task.effort(LENGTH) == 3 + 3 + 6 + 2
    assert task.baseline(stream("baseline"), LENGTH) == "6"


def test_every_kind_costs_more_at_higher_levels():
    for kind in KINDS:
        means = []
        for difficulty in (0, 5, 10):
            config = replace(CoordinateGeometryConfig.at(difficulty), kinds=(kind,))
            task = CoordinateGeometryTask(config)
            problems = [task.generate(stream(kind, seed)) for seed in range(20)]
            means.append(sum(map(task.effort, problems)))
        assert means[0] < means[1] < means[2]
