"""Steps to the answers of `rlvr_envs.envs.math._plane`, a function for each kind."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import gcd, lcm

from rlvr_envs.generators.mathematics.latex import linear
from rlvr_envs.generators.mathematics.steps import ascii_math, operand, total, worked

Numbers = tuple[Fraction, ...]


def _gap(left: Fraction, right: Fraction) -> str:
    return f"{left} - {operand(right)}"


def _product(left: Fraction, right: Fraction) -> str:
    return f"{operand(left)} * {operand(right)}"


def _equation(line: Sequence[Fraction]) -> str:
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


def _section(numbers: Numbers) -> list[str]:
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


def _line(numbers: Numbers) -> list[str]:
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
        steps.append(f"Multiplied by {scale}: {_equation(line)}")
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


def _towards(numbers: Numbers, steps: int) -> list[str]:
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
        steps.append(f"Equal distances from the first and the {name} point: {_equation(line)}")
    return [*steps, *_crossing(tuple(lines))]


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
    "section": _section,
    "area": _area,
    "line": _line,
    "radius": _radius,
    "crossing": _crossing,
    "reflection": lambda numbers: _towards(numbers, 2),
    "foot": lambda numbers: _towards(numbers, 1),
    "line_distance": _line_distance,
    "circumcentre": _circumcentre,
}
