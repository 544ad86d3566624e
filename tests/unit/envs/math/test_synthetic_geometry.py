"""Synthetic geometry: every kind in a figure of its own, wrong answers, spellings."""

import itertools
import math

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math import synthetic_geometry
from rlvr_envs.envs.math.synthetic_geometry import (
    FAMILIES,
    KINDS,
    SyntheticGeometryConfig,
    SyntheticGeometryTask,
)

# Points are pairs of real numbers here; lines and circles are equations that a solver intersects.


def point(x, y):
    return np.array([x, y], dtype=float)


def dist(p, q):
    return float(np.linalg.norm(np.subtract(p, q)))


def degrees(a, vertex, b):
    u, v = a - vertex, b - vertex
    return math.degrees(math.acos(float(u @ v) / dist(a, vertex) / dist(b, vertex)))


def line(p, q):
    normal = point(p[1] - q[1], q[0] - p[0])
    return normal, float(normal @ p)


def perpendicular(p, q, through):
    normal = q - p
    return normal, float(normal @ through)


def crossing(one, two):
    return np.linalg.solve(np.array([one[0], two[0]]), np.array([one[1], two[1]]))


def bisector(a, vertex, b):
    u, v = (a - vertex) / dist(a, vertex), (b - vertex) / dist(b, vertex)
    return line(vertex, vertex + u + v)


def outer_bisector(a, vertex, b):
    u, v = (a - vertex) / dist(a, vertex), (b - vertex) / dist(b, vertex)
    return line(vertex, vertex + u - v)


def foot(p, a, b):
    return crossing(line(a, b), perpendicular(a, b, p))


def centre_of(a, b, c):
    return crossing(perpendicular(a, b, (a + b) / 2), perpendicular(a, c, (a + c) / 2))


def incentre(a, b, c):
    return crossing(bisector(a, b, c), bisector(b, c, a))


def by_sides(a, b, c):
    """Return ABC with BC = a, CA = b, AB = c, by the angle at A."""
    angle = math.acos((b * b + c * c - a * a) / (2 * b * c))
    return point(0, 0), point(c, 0), point(b * math.cos(angle), b * math.sin(angle))


def by_angles(alpha, beta):
    """Return ABC on a circle of radius 3."""
    gamma = 180 - alpha - beta
    turns = (0, 2 * gamma, 2 * gamma + 2 * alpha)  # the arc AB is twice the angle at C
    return [point(3 * math.cos(t), 3 * math.sin(t)) for t in map(math.radians, turns)]


def zero(f, low, high):
    """Return a zero of a function that changes its sign once, by bisection."""
    rising = f(high) > 0
    for _ in range(200):
        middle = (low + high) / 2
        if (f(middle) > 0) == rising:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def incentre_angle(beta, gamma):
    a, b, c = by_angles(180 - beta - gamma, beta)
    return degrees(b, incentre(a, b, c), c)


def power_of_a_point(pa, pb, pc):
    a, b, p = point(0, 0), point(pa + pb, 0), point(pa, 0)
    c = p + pc * point(0.6, 0.8)
    centre = centre_of(a, b, c)
    way = (p - c) / pc
    d = c + 2 * way * float(way @ (centre - c))
    return dist(c, d)


def tangents(between, at_a):
    half = math.radians(between / 2)
    p, centre = point(0, 0), point(1 / math.sin(half), 0)
    length = 1 / math.tan(half)
    a, b = (length * point(math.cos(half), s * math.sin(half)) for s in (1, -1))

    def at(turn):
        return centre + point(math.cos(turn), math.sin(turn))

    top = math.pi / 2 + half
    turn = zero(lambda t: degrees(at(t), a, b) - at_a, -top + 1e-9, top - 1e-9)
    assert math.isclose(degrees(a, p, b), between)
    return degrees(a, b, at(turn))


def cyclic_angles(p, q, r, prolonged):
    # from the prompt: BAC = q, CBD = r, ABD = s; the arcs follow from a triangle ABC
    s = 180 - p - q - r
    a, b, c = by_angles(q, r + s)
    centre = centre_of(a, b, c)
    turn = math.radians(2 * r)  # the arc from C to D
    rest = c - centre
    d = [
        centre + np.array([[math.cos(t), -math.sin(t)], [math.sin(t), math.cos(t)]]) @ rest
        for t in (turn, -turn)
    ]
    d = next(x for x in d if math.isclose(degrees(c, b, x), r) and degrees(a, b, x) < r + s)
    assert math.isclose(degrees(a, b, d), s)
    x = crossing(line(a, d), line(b, c)) if prolonged else crossing(line(a, c), line(b, d))
    return degrees(a, x, b)


def altitude_angle(beta, gamma, to_incentre):
    a, b, c = by_angles(180 - beta - gamma, beta)
    other = incentre(a, b, c) if to_incentre else centre_of(a, b, c)
    return degrees(foot(a, b, c), a, other)


def common_chord(one, two, apart):
    # both circles: x^2 + y^2 = one^2 and (x - apart)^2 + y^2 = two^2
    x = (apart**2 + one**2 - two**2) / (2 * apart)
    return 2 * math.sqrt(one**2 - x**2)


def stewart(c, b, m, n):
    a, corner, other = by_sides(m + n, b, c)
    return dist(a, corner + (other - corner) * m / (m + n))


def apollonius(apart, m, n):
    low, high = apart * m / (m + n), apart * m / abs(m - n)
    # triangles PAB with AB = apart, PA = t and PB = t n / m; A is the origin
    corners = [
        by_sides(t * n / m, t, apart)[2] for t in (low + (high - low) * k / 4 for k in (1, 2, 3))
    ]
    return dist(centre_of(*corners), corners[0])


def ptolemy(far, near):
    # the side x: B = (0, 0), C = (x, 0), A above; P below with PB = near and PA = far
    def gap(x):
        a = point(x / 2, x * math.sqrt(3) / 2)
        centre = point(x / 2, x / math.sqrt(12))
        turn = 2 * math.asin(min(1, near / (x * 2 / math.sqrt(3))))
        start = math.radians(210)
        p = centre + x / math.sqrt(3) * point(math.cos(start + turn), math.sin(start + turn))
        return dist(a, p) - far

    return zero(gap, max(near, far * 0.8660254), far)


def bisector_length(a, b, c):
    p, q, r = by_sides(a, b, c)
    return dist(p, crossing(bisector(q, p, r), line(q, r)))


def circle_in_gap(one, two):
    def gap(r):
        return math.sqrt(one * r) + math.sqrt(two * r) - math.sqrt(one * two)

    r = zero(gap, 0, min(one, two))
    x, base = 2 * math.sqrt(one * r), 2 * math.sqrt(one * two)
    assert math.isclose(dist((x, r), (0, one)), r + one)
    assert math.isclose(dist((x, r), (base, two)), r + two)
    assert math.isclose(dist((0, one), (base, two)), one + two)
    return r


def cyclic_diagonal(a, b, c, d):
    def gap(x):
        at_b = math.acos((a * a + b * b - x * x) / (2 * a * b))
        at_d = math.acos((c * c + d * d - x * x) / (2 * c * d))
        return at_b + at_d - math.pi

    return zero(gap, max(abs(a - b), abs(c - d)), min(a + b, c + d))


def triangle_chain(alpha, beta, asked, *path):
    t = by_angles(alpha, beta)
    for which in path:
        turned = [(t[i], t[(i + 1) % 3], t[(i + 2) % 3]) for i in range(3)]
        middle = centre_of(*t)
        if which == 0:
            inner = incentre(*t)
            t = [foot(inner, y, z) for _, y, z in turned]
        elif which == 1:
            t = [crossing(outer_bisector(x, y, z), outer_bisector(y, z, x)) for x, y, z in turned]
        elif which == 2:  # where the bisector meets the perpendicular bisector of the side
            t = [
                crossing(bisector(y, x, z), perpendicular(y, z, (y + z) / 2)) for x, y, z in turned
            ]
        elif which == 3:
            t = [foot(x, y, z) for x, y, z in turned]
        else:
            t = [
                crossing(perpendicular(middle, y, y), perpendicular(middle, z, z))
                for _, y, z in turned
            ]
    return degrees(t[asked - 2], t[asked], t[asked - 1])


def arc_middle(a, b, c):
    p, q, r = by_sides(a, b, c)
    middle = crossing(bisector(q, p, r), perpendicular(q, r, (q + r) / 2))
    return dist(middle, incentre(p, q, r))


def centres(a, b, c, orthocentre):
    p, q, r = by_sides(a, b, c)
    high = crossing(perpendicular(q, r, p), perpendicular(p, r, q))
    return dist(centre_of(p, q, r), high if orthocentre else incentre(p, q, r))


def orthic_perimeter(a, b, c):
    p, q, r = by_sides(a, b, c)
    d, e, f = foot(p, q, r), foot(q, r, p), foot(r, p, q)
    return dist(d, e) + dist(e, f) + dist(f, d)


def routh(p, q, r, s, t, u):
    a, b, c = point(0, 0), point(1, 0), point(0, 1)
    d = b + (c - b) * p / (p + q)
    e = c + (a - c) * r / (r + s)
    f = a + (b - a) * t / (t + u)
    cevians = line(a, d), line(b, e), line(c, f)
    x, y, z = (crossing(cevians[i], cevians[i - 1]) for i in range(3))
    return abs(float(np.linalg.det(np.array([y - x, z - x]))))


def descartes(one, two, three):
    _, a, b = by_sides(one + two, two + three, three + one)
    c = point(0, 0)

    def gap(r):
        return np.array(
            [
                dist(r[:2], a) - one - r[2],
                dist(r[:2], b) - two - r[2],
                dist(r[:2], c) - three - r[2],
            ]
        )

    found = np.array([*((a + b + c) / 3), 0.1])
    for _ in range(60):  # Newton's method
        slopes = np.array([(gap(found + h) - gap(found - h)) / 2e-6 for h in 1e-6 * np.eye(3)]).T
        found = found - np.linalg.solve(slopes, gap(found))
    return found[2]


def mixtilinear(a, b, c):
    p, q, r = by_sides(a, b, c)
    middle = centre_of(p, q, r)
    inner = incentre(p, q, r)
    unit = (inner - p) / dist(inner, foot(inner, p, q))  # the centre of radius x is p + x * unit
    radius = dist(middle, p)
    return zero(lambda x: dist(middle, p + x * unit) - (radius - x), 1e-6, 2 * radius)


FIGURES = {
    **{
        figure.__name__: figure
        for figure in (
            *(incentre_angle, power_of_a_point, tangents, cyclic_angles, altitude_angle, stewart),
            *(common_chord, apollonius, ptolemy, circle_in_gap, cyclic_diagonal, triangle_chain),
            *(arc_middle, centres, orthic_perimeter, routh, descartes, mixtilinear),
        )
    },
    "bisector": bisector_length,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_gives_the_same_value(kind):
    family = FAMILIES[kind]
    for n, size in itertools.product(range(12), (0, 5, 10)):
        numbers = family.draw(stream(kind, n), size)
        found = FIGURES[kind](*numbers)
        assert math.isclose(float(family.state(*numbers).answer), found, rel_tol=1e-6), numbers


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_makes_many_answers_at_every_size(kind):
    for size in (0, 10, 40, 100):
        task = SyntheticGeometryTask(SyntheticGeometryConfig(kinds=(kind,), size=size))
        problems = [task.generate(stream(kind, size, n)) for n in range(20)]
        assert all(task.verify(p, task.solve(p)).score == 1.0 for p in problems)
        assert len({p.answer for p in problems}) > 12


def test_a_wrong_answer_is_noticed_by_the_figure(monkeypatch):
    question = FAMILIES["stewart"].state(13, 15, 4, 10)
    with pytest.raises(ArithmeticError, match="but the figure"):
        synthetic_geometry._measured(question, float(question.answer) + 1e-3)


def posed(kind, *numbers):
    task = SyntheticGeometryTask(SyntheticGeometryConfig.at(3))
    question = FAMILIES[kind].state(*numbers)
    value = question.answer
    text = value.latex() if hasattr(value, "latex") else str(value)
    return task, task.Problem(kind, numbers, text, tuple(question.steps))


# sides 4, 5, 7 with the bisector from A: AD^2 = 35 - 4 * 5 * 4 * 7 / 144 = 35 * 8 / 9
RIGHT = [
    *(
        "\\frac{2\\sqrt{70}}{3}",
        "2\\sqrt{70}/3",
        "\\sqrt{\\frac{280}{9}}",
        "AD = \\frac{2}{3}\\sqrt{70}",
    ),
    *("$\\dfrac{2\\sqrt{70}}{3}$", "(2/3)*sqrt(70)", "\\frac{\\sqrt{280}}{3}", "2√70/3"),
]
WRONG = [
    *(
        "",
        " ",
        "?",
        "\\sqrt{70}",
        "2\\sqrt{70}",
        "\\frac{\\sqrt{70}}{3}",
        "-\\frac{2\\sqrt{70}}{3}",
    ),
    *(
        "\\frac{2\\sqrt{71}}{3}",
        "\\frac{3\\sqrt{70}}{2}",
        "\\frac{2\\sqrt{70}}{9}",
        "5.58",
        "5.5777",
    ),
    *("5.577733510227171", "280/9", "\\frac{280}{9}", "5", "6", "\\sqrt{35}", "\\sqrt{33}"),
    *(
        "\\pm\\frac{2\\sqrt{70}}{3}",
        "\\frac{2\\sqrt{70}}{3} or 5",
        "5, 6",
        "\\frac{2\\sqrt[3]{70}}{3}",
    ),
    *("4, 5, 7", "AD", "AB \\cdot AC - BD \\cdot DC", "9^{9^9}", "7" * 3000, "nan", "\\infty"),
    *(
        "five",
        "\\frac{2\\sqrt{70}}{3}^\\circ + 1",
        "(0, \\frac{2\\sqrt{70}}{3})",
        "\\frac{2\\sqrt{70}}{0}",
    ),
]


@pytest.mark.parametrize("answer", RIGHT)
def test_right_answers_in_several_forms(answer):
    task, problem = posed("bisector", 4, 5, 7)
    assert task.verify(problem, answer).score == 1.0


@pytest.mark.parametrize(
    "answer", ["98.5", "197/2", "\\frac{197}{2}", "98.5^\\circ", "98.5 degrees", "98 1/2", "98.50°"]
)
def test_angles_in_several_forms(answer):
    task, problem = posed("incentre_angle", 51, 112)
    assert task.verify(problem, answer).score == 1.0


@pytest.mark.parametrize("answer", ["98", "99", "81.5", "98.4", "1.719", "98.5 or 99"])
def test_wrong_angles(answer):
    task, problem = posed("incentre_angle", 51, 112)
    assert task.verify(problem, answer).score == 0.0


@pytest.mark.parametrize("answer", WRONG)
def test_wrong_answers_earn_nothing(answer):
    task, problem = posed("bisector", 4, 5, 7)
    assert task.verify(problem, answer).score == 0.0


def test_prompt_and_other_answers_earn_nothing():
    task, problem = posed("bisector", 4, 5, 7)
    assert task.verify(problem, task.prompt(problem)).score == 0.0
    _, other = posed("bisector", 5, 4, 7)
    assert task.verify(problem, other.answer).score == 0.0


def test_the_chain_names_its_triangles():
    task, problem = posed("triangle_chain", 50, 60, 0, 3, 0)
    text = task.prompt(problem)
    assert (
        "$A_1, B_1, C_1$ are the feet of the altitudes of $A_0B_0C_0$ from $A_0, B_0, C_0$" in text
    )
    assert "The incircle of $A_1B_1C_1$ touches the sides opposite $A_1, B_1, C_1$" in text
    assert problem.answer == "50"  # 90 - (180 - 2 * 50) / 2
    assert not set("OXYZDEF") & set(text.replace("Find", ""))


@pytest.mark.parametrize(
    ("knobs", "message"),
    [({"kinds": ()}, "kinds are"), ({"kinds": ("pascal",)}, "kinds are"), ({"size": 101}, "size")],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        SyntheticGeometryConfig(**knobs)
