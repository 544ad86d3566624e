"""The kinds of plane geometry question: how each is drawn, worded, and answered.

A problem is a flat tuple of rationals. ``draw(rng, scale)`` gives it, ``ask(numbers)`` words it,
and ``answer(numbers)`` is the reference in LaTeX, of the type ``answer_type``.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, isqrt, lcm

from rlvr_envs.core.seeding import Rng, integer, nonzero
from rlvr_envs.generators.mathematics.latex import Rational, linear, number, point, signed_sum
from rlvr_envs.generators.mathematics.words import listed

Numbers = tuple[Fraction, ...]
Point = tuple[Fraction, Fraction]

_SQUARES = tuple(p * p for p in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47))
_ROOT = "Give the exact value; a square root may stay, but what is under it must be worked out."


@dataclass(frozen=True, slots=True)
class Scale:
    """How large the numbers of a question may be."""

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
        return f"Find the midpoint of the segment from {_at(a)} to {_at(b)}."
    return (
        f"The point $P$ lies on the segment from $A = {point(a)}$ to $B = {point(b)}$ and divides "
        f"it so that $AP : PB = {m} : {n}$. Find the coordinates of $P$."
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


def _answer_crossing(numbers: Numbers) -> str:
    a, b, c, d, e, f = numbers
    bottom = a * e - b * d
    return point(((c * e - b * f) / bottom, (a * f - c * d) / bottom))


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
            "Find the area of the polygon whose vertices are, in order, "
            f"{listed([_at(corner) for corner in _corners(n)])}."
        ),
        _answer_area,
        "rational",
    ),
    "line": Kind(
        _two_points,
        lambda n: (
            f"Find an equation of the line through the points {_at(n[:2])} and {_at(n[2:])}, "
            "in the form $ax + by = c$ or $y = mx + b$ with the numbers worked out."
        ),
        _answer_line,
        "equation",
    ),
    "radius": Kind(_circle, _ask_radius, _answer_radius, "real"),
    "crossing": Kind(
        _two_lines,
        lambda n: (
            f"Find the point in which the lines {_equation(n[:3])} and {_equation(n[3:])} meet."
        ),
        _answer_crossing,
        "tuple",
    ),
    "reflection": Kind(
        _point_and_line,
        _with_line("Find the reflection of the point {} in the line {}."),
        lambda n: _towards(n, 2),
        "tuple",
    ),
    "foot": Kind(
        _point_and_line,
        _with_line("Find the foot of the perpendicular from the point {} to the line {}."),
        lambda n: _towards(n, 1),
        "tuple",
    ),
    "line_distance": Kind(
        _point_and_line,
        _with_line(f"Find the distance of the point {{}} from the line {{}}. {_ROOT}"),
        _answer_line_distance,
        "real",
    ),
    "circumcentre": Kind(
        _triangle,
        lambda n: (
            "Find the centre of the circle through the points "
            f"{listed([_at(corner) for corner in _corners(n)])}."
        ),
        _answer_circumcentre,
        "tuple",
    ),
}
