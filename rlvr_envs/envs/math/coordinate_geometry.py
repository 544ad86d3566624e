"""Points, lines, polygons and circles in the coordinate plane."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import gcd, isqrt, lcm

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, nonzero, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.latex import Rational, linear, number, point, signed_sum
from rlvr_envs.generators.mathematics.plain_answers import squeeze
from rlvr_envs.generators.mathematics.steps import ascii_math, operand, total, worked
from rlvr_envs.generators.mathematics.words import listed
from rlvr_envs.verifiers.symbolic import judge_math

# The kinds of plane geometry questions: how each is drawn, worded, and answered.
#
# A problem is a flat tuple of rationals. ``draw(rng, scale)`` gives it, ``ask(numbers)`` words it,
# and ``answer(numbers)`` is the reference in LaTeX, of the type ``answer_type``.

Numbers = tuple[Fraction, ...]
Point = tuple[Fraction, Fraction]
_SQUARES = tuple(p * p for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47))
_ROOT = "Give the exact value. You may leave a square root, but work out the number under it."
_PAIR = "Answer with its exact coordinates in the form $(x, y)$."


@dataclass(frozen=True, slots=True)
class Scale:
    """The size of the numbers in a question."""

    max_coordinate: int
    max_denominator: int
    n_vertices: int


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of question."""

    draw: Callable[[Rng, Scale], Numbers]
    ask: Callable[[Numbers], str]
    answer: Callable[[Numbers], str]
    answer_type: str


def surd(share: Fraction, inside: int) -> str:
    r"""Return a positive rational times a root, such as ``\frac{2\sqrt{5}}{3}``.

    Squares of small primes and whole squares come out of the root; a square of a large prime may
    stay inside, which changes the looks and not the value.
    """
    for square in _SQUARES:
        while inside % square == 0:
            inside //= square
            share *= isqrt(square)
    if isqrt(inside) ** 2 == inside:
        return number(share * isqrt(inside))
    root = f"{'' if share.numerator == 1 else share.numerator}\\sqrt{{{inside}}}"
    return root if share.denominator == 1 else f"\\frac{{{root}}}{{{share.denominator}}}"


def _root(square: Fraction) -> str:
    bottom = square.denominator
    return surd(Fraction(1, bottom), square.numerator * bottom)


def _coordinate(rng: Rng, scale: Scale) -> Fraction:
    bottom = integer(rng, 1, scale.max_denominator)
    return Fraction(
        integer(rng, -scale.max_coordinate * bottom, scale.max_coordinate * bottom), bottom
    )


def _point(rng: Rng, scale: Scale) -> Point:
    return _coordinate(rng, scale), _coordinate(rng, scale)


def _two_points(rng: Rng, scale: Scale) -> Numbers:
    one, two = _point(rng, scale), _point(rng, scale)
    return (*one, two[0] + (one == two), two[1])


def _line(rng: Rng, scale: Scale) -> Numbers:
    """Draw the integers a, b, c of a line ``ax + by = c`` that is parallel to no axis."""
    a, b = nonzero(rng, scale.max_coordinate), nonzero(rng, scale.max_coordinate)
    c = integer(rng, -2 * scale.max_coordinate, 2 * scale.max_coordinate)
    return Fraction(a), Fraction(b), Fraction(c)


def _point_and_line(rng: Rng, scale: Scale) -> Numbers:
    """Draw a point, then a line that it is not on."""
    (x, y), (a, b, c) = _point(rng, scale), _line(rng, scale)
    return (x, y, a, b, c + (a * x + b * y == c))


def _two_lines(rng: Rng, scale: Scale) -> Numbers:
    a, b, c = _line(rng, scale)
    d, e, f = _line(rng, scale)
    return (a, b, c, d, -e if a * e == b * d else e, f)


def _three_lines(rng: Rng, scale: Scale) -> Numbers:
    """Draw three lines that form a triangle."""
    while True:
        lines = [_line(rng, scale) for _ in range(3)]
        parallel = any(a[0] * b[1] == a[1] * b[0] for a, b in combinations(lines, 2))
        numbers = (*lines[0], *lines[1], *lines[2])
        if not parallel and len(set(_corners(_meetings(numbers)))) == 3:
            return numbers


def _triangle(rng: Rng, scale: Scale) -> Numbers:
    ax, ay, bx, by = _two_points(rng, scale)
    cx, cy = _point(rng, scale)
    if (bx - ax) * (cy - ay) == (by - ay) * (cx - ax):
        cx, cy = cx - (by - ay), cy + (bx - ax)  # off the line, at a right angle to it
    return ax, ay, bx, by, cx, cy


def _section(rng: Rng, scale: Scale) -> Numbers:
    """Draw two points, then the ratio in which their segment is divided."""
    ratio = Fraction(integer(rng, 1, scale.max_denominator), integer(rng, 1, scale.max_denominator))
    ends = _two_points(rng, scale)
    return (*ends, Fraction(ratio.numerator), Fraction(ratio.denominator))


def _polygon(rng: Rng, scale: Scale) -> Numbers:
    """Draw a polygon without crossings: a lower and an upper chain from left to right."""
    points: dict[Fraction, Fraction] = {}
    while len(points) < scale.n_vertices:  # the configuration keeps half of the abscissas free
        x, y = _point(rng, scale)
        points.setdefault(x, y)
    (left, ly), *inner, (right, ry) = sorted(points.items())

    def height(x: Fraction, y: Fraction) -> Fraction:
        return (y - ly) * (right - left) - (ry - ly) * (x - left)

    if not any(height(x, y) for x, y in inner):
        inner[0] = (inner[0][0], inner[0][1] + 1)
    # Points level with both ends join the chain whose other side is not the bare closing edge.
    level = 0 if any(height(x, y) > 0 for x, y in inner) else -1
    signs = [(x, y, (height(x, y) > 0) - (height(x, y) < 0)) for x, y in inner]
    lower = [(x, y) for x, y, sign in signs if sign <= level]
    upper = [(x, y) for x, y, sign in signs if sign > level]
    corners = [(left, ly), *lower, (right, ry), *reversed(upper)]
    return tuple(value for corner in corners for value in corner)


def _circle(rng: Rng, scale: Scale) -> Numbers:
    """Draw D, E, F of the circle ``x^2 + y^2 + Dx + Ey + F = 0`` from its centre and radius."""
    x, y = (Fraction(integer(rng, -scale.max_coordinate, scale.max_coordinate)) for _ in range(2))
    square = integer(rng, 2, scale.max_coordinate**2 + 2)
    return -2 * x, -2 * y, x * x + y * y - square


def _at(numbers: Sequence[Fraction]) -> str:
    return f"${point(numbers)}$"


def _equation(line: Sequence[Fraction]) -> str:
    return f"${linear(line[:2], 'xy')} = {number(line[2])}$"


def _corners(numbers: Numbers) -> list[Point]:
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _answer_distance(numbers: Numbers) -> str:
    ax, ay, bx, by = numbers
    return _root(Fraction((ax - bx) * (ax - bx) + (ay - by) * (ay - by)))


def _ask_section(numbers: Numbers) -> str:
    a, b, (m, n) = numbers[:2], numbers[2:4], numbers[4:]
    if m == n == 1:
        return f"Find the midpoint of the segment from {_at(a)} to {_at(b)}. {_PAIR}"
    return (
        f"The point $P$ lies on the segment from $A = {point(a)}$ to $B = {point(b)}$ and divides "
        f"it in the ratio $AP : PB = {m} : {n}$. Find the point $P$. {_PAIR}"
    )


def _answer_section(numbers: Numbers) -> str:
    ax, ay, bx, by, m, n = numbers
    return point(((n * ax + m * bx) / (m + n), (n * ay + m * by) / (m + n)))


def _answer_area(numbers: Numbers) -> str:
    corners = _corners(numbers)
    twice = Fraction(0)
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        twice += ax * by - bx * ay
    return number(abs(twice) / 2)


def _answer_line(numbers: Numbers) -> str:
    ax, ay, bx, by = numbers
    a, b = by - ay, ax - bx
    c = a * ax + b * ay
    scale = lcm(a.denominator, b.denominator, c.denominator)
    whole = [int(value * scale) for value in (a, b, c)]
    whole = [value // gcd(*whole) for value in whole]
    return f"{linear(whole[:2], 'xy')} = {whole[2]}"


def _meeting(numbers: Numbers) -> Point:
    a, b, c, d, e, f = numbers
    bottom = a * e - b * d
    return (c * e - b * f) / bottom, (a * f - c * d) / bottom


def _meetings(numbers: Numbers) -> Numbers:
    """Return the coordinates of the three points where two of three lines meet."""
    one, two, three = numbers[:3], numbers[3:6], numbers[6:]
    return (*_meeting(one + two), *_meeting(two + three), *_meeting(one + three))


def _towards(numbers: Numbers, steps: int) -> str:
    """Return where a point comes to by so many times the perpendicular way to a line."""
    x, y, a, b, c = numbers
    way = steps * (c - a * x - b * y) / (a * a + b * b)
    return point((x + way * a, y + way * b))


def _answer_line_distance(numbers: Numbers) -> str:
    x, y, a, b, c = numbers
    norm = int(a * a + b * b)
    return surd(abs(a * x + b * y - c) / norm, norm)


def _answer_circumcentre(numbers: Numbers) -> str:
    ax, ay, bx, by, cx, cy = numbers
    b, c = (bx - ax, by - ay), (cx - ax, cy - ay)
    b2, c2 = b[0] ** 2 + b[1] ** 2, c[0] ** 2 + c[1] ** 2
    bottom = 2 * (b[0] * c[1] - b[1] * c[0])
    return point((ax + (c[1] * b2 - b[1] * c2) / bottom, ay + (b[0] * c2 - c[0] * b2) / bottom))


def _ask_radius(numbers: Numbers) -> str:
    terms: list[tuple[Rational, str]] = [
        (1, "x^2"),
        (1, "y^2"),
        (numbers[0], "x"),
        (numbers[1], "y"),
        (numbers[2], ""),
    ]
    return f"Find the radius of the circle ${signed_sum(terms)} = 0$. {_ROOT}"


def _answer_radius(numbers: Numbers) -> str:
    d, e, f = numbers
    return _root((d * d + e * e) / 4 - f)


def _with_line(text: str) -> Callable[[Numbers], str]:
    """Return the wording of a question about a point and a line."""
    return lambda numbers: text.format(_at(numbers[:2]), _equation(numbers[2:]))


KINDS = {
    "distance": Kind(
        _two_points,
        lambda n: f"Find the distance between the points {_at(n[:2])} and {_at(n[2:])}. {_ROOT}",
        _answer_distance,
        "real",
    ),
    "section": Kind(_section, _ask_section, _answer_section, "tuple"),
    "area": Kind(
        _polygon,
        lambda n: (
            "Find the area of the polygon with the vertices "
            f"{listed([_at(corner) for corner in _corners(n)])}, in this order. "
            "Give the exact value."
        ),
        _answer_area,
        "rational",
    ),
    "line": Kind(
        _two_points,
        lambda n: (
            f"Find an equation of the line through the points {_at(n[:2])} and {_at(n[2:])}. Write "
            "it in the form $ax + by = c$ or $y = mx + b$, with all numbers worked out."
        ),
        _answer_line,
        "equation",
    ),
    "radius": Kind(_circle, _ask_radius, _answer_radius, "real"),
    "crossing": Kind(
        _two_lines,
        lambda n: (
            f"Find the intersection point of the lines {_equation(n[:3])} and {_equation(n[3:])}. "
            f"{_PAIR}"
        ),
        lambda n: point(_meeting(n)),
        "tuple",
    ),
    "reflection": Kind(
        _point_and_line,
        _with_line(f"Find the reflection of the point {{}} in the line {{}}. {_PAIR}"),
        lambda n: _towards(n, 2),
        "tuple",
    ),
    "foot": Kind(
        _point_and_line,
        _with_line(
            f"Find the foot of the perpendicular from the point {{}} to the line {{}}. {_PAIR}"
        ),
        lambda n: _towards(n, 1),
        "tuple",
    ),
    "line_distance": Kind(
        _point_and_line,
        _with_line(f"Find the distance from the point {{}} to the line {{}}. {_ROOT}"),
        _answer_line_distance,
        "real",
    ),
    "circumcentre": Kind(
        _triangle,
        lambda n: (
            "Find the centre of the circle through the points "
            f"{listed([_at(corner) for corner in _corners(n)])}. {_PAIR}"
        ),
        _answer_circumcentre,
        "tuple",
    ),
    "lines_area": Kind(
        _three_lines,
        lambda n: (
            "Find the area of the triangle whose sides lie on the lines "
            f"{listed([_equation(n[i : i + 3]) for i in (0, 3, 6)])}. Give the exact value."
        ),
        lambda n: _answer_area(_meetings(n)),
        "rational",
    ),
}
# The kinds of the first levels, from a formula with two points to several steps with lines.
_LEVELS = (
    ("distance", "section", "line", "radius"),
    ("line", "radius", "crossing", "line_distance"),
    ("line", "crossing", "line_distance", "foot", "area"),
    ("crossing", "foot", "reflection", "area"),
    ("crossing", "foot", "reflection", "area", "circumcentre"),
    ("foot", "reflection", "area", "circumcentre"),
    ("reflection", "area", "circumcentre"),
    ("area", "circumcentre", "lines_area"),
)
_SIGN = re.compile(r"(?<=[0-9xy)}])[+-]")
_SUM_IN_BRACKETS = re.compile(r"[({][^(){}]*[0-9][+-]")
_OPEN_POWER = re.compile(r"(?:\^|\*\*)(?!\{?\(?(?:1/2|0?\.5|\\frac\{1\}\{2\}|\\frac12))")


@dataclass(frozen=True, slots=True, kw_only=True)
class CoordinateGeometryConfig(TaskConfig):
    """The kinds of questions and the size of their numbers."""

    kinds: tuple[str, ...] = knob(
        tuple(KINDS), "kinds of questions; each problem has one of them", choices=KINDS
    )
    max_coordinate: int = knob(
        20, "coordinates and coefficients lie in -max_coordinate..max_coordinate"
    )
    max_denominator: int = knob(1, "coordinates have denominators 1..max_denominator", low=1)
    n_vertices: int = knob(4, "number of vertices of a polygon")

    def check(self) -> None:
        if not 3 <= self.n_vertices <= self.max_coordinate:
            raise ConfigError(f"need 3 <= n_vertices <= max_coordinate, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "CoordinateGeometryConfig":
        """Coordinates double each level; denominators and vertices grow every second level.

        Kinds that need one formula make way for those of several steps, up to level 7.
        """
        return cls(
            kinds=_LEVELS[min(difficulty, len(_LEVELS) - 1)],
            max_coordinate=5 * 2**difficulty,
            max_denominator=1 + difficulty // 2,
            n_vertices=3 + difficulty // 2,
        )


@dataclass(frozen=True, slots=True)
class CoordinateGeometryProblem:
    """The kind of question, its coordinates and coefficients in turn, and the answer in LaTeX."""

    kind: str
    numbers: tuple[Fraction, ...]
    answer: str = hidden()


@register("CoordinateGeometry-v0", domain="math")
class CoordinateGeometryTask(WorkedTask[CoordinateGeometryConfig, CoordinateGeometryProblem]):
    """Compute a point, a length, an area or a line in the coordinate plane, exactly.

    Description:
        Eleven kinds: distance between two points; midpoint of a segment, or the point that divides
        it in a given ratio; area of a polygon; line through two points; intersection of two
        lines; reflection of a point in a line; foot of a perpendicular; distance from a point to
        a line; centre of the circle through three points; radius of a circle given by its
        expanded equation; area of the triangle that three lines form.

    Observation:
        One question with all coordinates and equations.

    Action:
        A number, a pair of coordinates or an equation of a line.

    Reward:
        1 for the exact answer in any equivalent form with all numbers worked out, otherwise 0.

    Verification:
        Exact: rationals, square roots, and equations up to a factor. A formula with the numbers
        filled in is not an answer, so the root of a sum and a line with brackets or powers earn
        nothing. A decimal counts only where it is exact.

    Difficulty:
        Questions with one formula make way for those of several steps. Coordinates and
        denominators grow, and polygons have more vertices.

    References:
        Coxeter and Greitzer, Geometry Revisited, chapter 1; the shoelace formula of Gauss.
    """

    def generate(self, rng: Rng) -> CoordinateGeometryProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        scale = Scale(config.max_coordinate, config.max_denominator, config.n_vertices)
        numbers = KINDS[kind].draw(rng, scale)
        return CoordinateGeometryProblem(kind, numbers, KINDS[kind].answer(numbers))

    def prompt(self, problem: CoordinateGeometryProblem) -> str:
        return KINDS[problem.kind].ask(problem.numbers)

    def verify(self, problem: CoordinateGeometryProblem, answer: str) -> Verdict:
        answer_type = KINDS[problem.kind].answer_type
        if answer_type in ("real", "equation") and not _worked_out(answer, answer_type):
            return Verdict.wrong("the answer contains a calculation that is not worked out")
        return judge_math(problem.answer, answer, answer_type=answer_type, exact=True)

    def solve(self, problem: CoordinateGeometryProblem) -> str:
        return problem.answer

    def baseline(self, rng: Rng, problem: CoordinateGeometryProblem) -> str:
        """Answer the mean of the points, the first point, or differences of numbers added up."""
        x, y, *others = problem.numbers
        answer_type = KINDS[problem.kind].answer_type
        if answer_type == "equation":
            return f"y = {number(y)}"
        if problem.kind == "section":
            return point(((x + others[0]) / 2, (y + others[1]) / 2))
        if answer_type == "tuple":
            return point((x, y))
        return number(abs(x - others[0]) + abs(y - others[-1]))

    def explain(self, problem: CoordinateGeometryProblem) -> list[str]:
        return STEPS[problem.kind](problem.numbers)


def _worked_out(answer: str, answer_type: str) -> bool:
    """Whether an answer is more than a formula with the given numbers filled in.

    A length has no sums and no powers but roots; a line has no more than one term each in x, in
    y and in neither.
    """
    text = squeeze(answer)
    if text is None or _OPEN_POWER.search(text):
        return False
    if answer_type == "real":
        return _SIGN.search(text) is None
    terms = [term for side in text.split("=") for term in _SIGN.split(side) if term != "0"]
    plain = [term for term in terms if "x" not in term and "y" not in term]
    once = all(sum(symbol in term for term in terms) <= 1 for symbol in "xy")
    return once and len(plain) <= 1 and _SUM_IN_BRACKETS.search(text) is None


# Steps to the answers of `rlvr_envs.envs.math.coordinate_geometry`, a function for each kind.


def _gap(left: Fraction, right: Fraction) -> str:
    return f"{left} - {operand(right)}"


def _product(left: Fraction, right: Fraction) -> str:
    return f"{operand(left)} * {operand(right)}"


def _equation_text(line: Sequence[Fraction]) -> str:
    return f"{ascii_math(linear(line[:2], 'xy'))} = {line[2]}"


def _distance(numbers: Numbers) -> list[str]:
    ax, ay, bx, by = numbers
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    return [
        f"Difference in x: {_gap(bx, ax)} = {dx}",
        f"Difference in y: {_gap(by, ay)} = {dy}",
        f"Square of the distance: {operand(dx)}^2 + {operand(dy)}^2 = {square}",
        f"The distance is the square root of {square}. Take squares out of the root.",
    ]


def _section_steps(numbers: Numbers) -> list[str]:
    ax, ay, bx, by, m, n = numbers
    steps = [f"The point is {m}/{m + n} of the way from the first point to the second."]
    for name, a, b in (("x", ax, bx), ("y", ay, by)):
        work = f"{a} + {m} / {m + n} * ({_gap(b, a)})"
        steps.append(f"{name}: {work} = {(n * a + m * b) / (m + n)}")
    return steps


def _area(numbers: Numbers) -> list[str]:
    corners = list(zip(numbers[::2], numbers[1::2], strict=True))
    parts = []
    steps = ["Shoelace formula: for each side from (a, b) to (c, d) take a * d - c * b."]
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1], strict=True):
        parts.append(ax * by - bx * ay)
        work = f"{_product(ax, by)} - {_product(bx, ay)} = {parts[-1]}"
        steps.append(f"({ax}, {ay}) to ({bx}, {by}): {work}")
    twice = abs(sum(parts, Fraction(0)))
    return [
        *steps,
        f"{worked(total(parts), sum(parts))}",
        f"The area is half of its size: {operand(twice)} / 2 = {twice / 2}",
    ]


def _line_steps(numbers: Numbers) -> list[str]:
    ax, ay, bx, by = numbers
    a, b = by - ay, ax - bx
    c = a * ax + b * ay
    left = ascii_math(linear((a, b), "xy"))
    steps = [
        f"The direction is ({_gap(bx, ax)}, {_gap(by, ay)}), which is ({bx - ax}, {by - ay}).",
        f"At a right angle to it is ({a}, {b}), so the line is {left} = c.",
        f"Put in the first point: {_product(a, ax)} + {_product(b, ay)} = {c}",
    ]
    scale = Fraction(lcm(a.denominator, b.denominator, c.denominator))
    scale /= gcd(*(int(value * scale) for value in (a, b, c)))
    if scale != 1:
        line = (a * scale, b * scale, c * scale)
        steps.append(f"Multiplied by {scale}: {_equation_text(line)}")
    return steps


def _crossing(numbers: Numbers) -> list[str]:
    a, b, c, d, e, f = numbers
    bottom = a * e - b * d
    x, y = c * e - b * f, a * f - c * d
    return [
        f"Eliminate y: {e} times the first line minus {b} times the second.",
        f"The factor of x: {_product(a, e)} - {_product(d, b)} = {bottom}",
        f"The right side: {_product(c, e)} - {_product(f, b)} = {x}",
        f"x: {operand(x)} / {operand(bottom)} = {x / bottom}",
        f"Eliminate x: {a} times the second line minus {d} times the first.",
        f"The right side: {_product(f, a)} - {_product(c, d)} = {y}",
        f"y: {operand(y)} / {operand(bottom)} = {y / bottom}",
    ]


def _towards_steps(numbers: Numbers, steps: int) -> list[str]:
    """Return the way from a point to a line at a right angle, once or twice."""
    x, y, a, b, c = numbers
    gap, norm = c - a * x - b * y, a * a + b * b
    way = gap / norm
    lines = [
        f"The way to the line goes along ({a}, {b}), which is at a right angle to it.",
        f"Put t times it behind ({x}, {y}). What ax + by lacks there must be made up:",
        f"{c} - ({_product(a, x)} + {_product(b, y)}) = {gap}",
        f"Each unit of t counts {operand(a)}^2 + {operand(b)}^2 = {norm}.",
        f"t: {operand(gap)} / {norm} = {way}",
    ]
    if steps == 2:
        way *= 2
        lines.append(f"The reflection lies twice as far: {way}")
    return [
        *lines,
        f"x: {x} + {_product(way, a)} = {x + way * a}",
        f"y: {y} + {_product(way, b)} = {y + way * b}",
    ]


def _line_distance(numbers: Numbers) -> list[str]:
    x, y, a, b, c = numbers
    value, norm = a * x + b * y - c, a * a + b * b
    return [
        "The distance is the size of ax + by - c over the square root of a^2 + b^2.",
        f"{_product(a, x)} + {_product(b, y)} - {operand(c)} = {value}",
        f"{operand(a)}^2 + {operand(b)}^2 = {norm}",
        f"So divide {abs(value)} by the square root of {norm} and simplify.",
    ]


def _circumcentre(numbers: Numbers) -> list[str]:
    (ax, ay), *others = zip(numbers[::2], numbers[1::2], strict=True)
    steps = ["The centre is as far from the first point as from the two others."]
    lines: list[Fraction] = []
    for name, (bx, by) in zip(("second", "third"), others, strict=True):
        right = bx * bx + by * by - ax * ax - ay * ay
        line = (2 * (bx - ax), 2 * (by - ay), right)
        lines += line
        work = " - ".join(f"{operand(v)}^2" for v in (ax, ay))
        steps.append(f"{operand(bx)}^2 + {operand(by)}^2 - {work} = {right}")
        steps.append(f"Equal distances from the first and the {name} point: {_equation_text(line)}")
    return [*steps, *_crossing(tuple(lines))]


def _lines_area(numbers: Numbers) -> list[str]:
    one, two, three = numbers[:3], numbers[3:6], numbers[6:]
    pairs = {"first and second": one + two, "second and third": two + three}
    steps = []
    for name, pair in (pairs | {"first and third": one + three}).items():
        steps += [f"The corner on the {name} line:", *_crossing(pair)]
    return [*steps, *_area(_meetings(numbers))]


def _radius(numbers: Numbers) -> list[str]:
    d, e, f = numbers
    square = (d * d + e * e) / 4 - f
    return [
        "Complete the squares.",
        f"Half of the factor of x: {operand(d)} / 2 = {d / 2}",
        f"Half of the factor of y: {operand(e)} / 2 = {e / 2}",
        f"Square of the radius: {operand(d / 2)}^2 + {operand(e / 2)}^2 - {operand(f)} = {square}",
        f"The radius is the square root of {square}. Take squares out of the root.",
    ]


STEPS: dict[str, Callable[[Numbers], list[str]]] = {
    "distance": _distance,
    "section": _section_steps,
    "area": _area,
    "line": _line_steps,
    "radius": _radius,
    "crossing": _crossing,
    "reflection": lambda numbers: _towards_steps(numbers, 2),
    "foot": lambda numbers: _towards_steps(numbers, 1),
    "line_distance": _line_distance,
    "circumcentre": _circumcentre,
    "lines_area": _lines_area,
}
