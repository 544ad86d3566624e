"""Plane geometry by lemmas: angles, circles, triangle centres, ratios; checked by coordinates."""

import cmath
import math
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers
from rlvr_envs.generators.mathematics.families import (
    Family,
    FamilyTask,
    Numbers,
    Question,
    window,
)
from rlvr_envs.generators.mathematics.steps import operand
from rlvr_envs.generators.mathematics.surds import as_surd, root

# Points are complex numbers. Every question is measured in such a figure when it is made.

_CLOSE = 1e-8
Triangle = tuple[complex, complex, complex]


def _measured(question: Question, found: float) -> Question:
    """Return the question if a figure gives its answer too.

    Raises:
        ArithmeticError: the answer and the measured value differ.
    """
    value = float(question.answer)
    if not math.isclose(value, found, rel_tol=_CLOSE):
        raise ArithmeticError(f"{question.text} gives {value}, but the figure {found}")
    return question


def _angle(a: complex, vertex: complex, b: complex) -> float:
    return abs(math.degrees(cmath.phase((a - vertex) / (b - vertex))))


def _foot(p: complex, a: complex, b: complex) -> complex:
    along = (b - a) / abs(b - a)
    return a + along * ((p - a) * along.conjugate()).real


def _meet(a: complex, b: complex, c: complex, d: complex) -> complex:
    """Return where the lines ab and cd meet."""
    u, v, w = b - a, d - c, c - a
    return a + u * (w * v.conjugate()).imag / (u * v.conjugate()).imag


def _weighted(points: Triangle, weights: tuple[float, float, float]) -> complex:
    return sum(p * w for p, w in zip(points, weights, strict=True)) / sum(weights)


def _sides(t: Triangle) -> tuple[float, float, float]:
    """Return the sides opposite the vertices."""
    return abs(t[1] - t[2]), abs(t[2] - t[0]), abs(t[0] - t[1])


def _incentre(t: Triangle) -> complex:
    return _weighted(t, _sides(t))


def _excentres(t: Triangle) -> Triangle:
    a, b, c = _sides(t)
    return _weighted(t, (-a, b, c)), _weighted(t, (a, -b, c)), _weighted(t, (a, b, -c))


def _circumcentre(t: Triangle) -> complex:
    squares = [side**2 for side in _sides(t)]
    total = sum(squares)
    a, b, c = (square * (total - 2 * square) for square in squares)
    return _weighted(t, (a, b, c))


def _feet(p: complex, t: Triangle) -> Triangle:
    a, b, c = t
    return _foot(p, b, c), _foot(p, c, a), _foot(p, a, b)


def _with_angles(alpha: float, beta: float) -> Triangle:
    """Return a triangle ABC with these angles at A and B, in degrees."""
    gamma = math.radians(180 - alpha - beta)
    side = math.sin(gamma) / math.sin(math.radians(alpha))
    return cmath.rect(side, math.radians(beta)), 0j, 1 + 0j


def _with_sides(a: float, b: float, c: float) -> Triangle:
    """Return a triangle ABC with BC = a, CA = b and AB = c."""
    x = (a * a + c * c - b * b) / (2 * a)
    return complex(x, math.sqrt(c * c - x * x)), 0j, complex(a)


def _draw_sides(rng: Rng, size: int) -> Numbers:
    while True:
        a, b, c = integers(rng, 5, 14 + 2 * size, 3)
        if 2 * max(a, b, c) < a + b + c and len({a, b, c}) == 3:
            return a, b, c


def _draw_acute(rng: Rng, size: int) -> Numbers:
    while True:
        a, b, c = _draw_sides(rng, size)
        if 2 * max(a, b, c) ** 2 < a * a + b * b + c * c:
            return a, b, c


def _given_sides(a: int, b: int, c: int) -> str:
    return f"In triangle $ABC$, $BC = {a}$, $CA = {b}$ and $AB = {c}$."


def _area_squared(a: int, b: int, c: int) -> Fraction:
    return Fraction((a + b + c) * (b + c - a) * (c + a - b) * (a + b - c), 16)


def _heron(a: int, b: int, c: int) -> str:
    half = Fraction(a + b + c, 2)
    square = _area_squared(a, b, c)
    return (
        f"With s = {half}, Heron's formula gives the squared area K^2 = {half} * {half - a} * "
        f"{half - b} * {half - c} = {square}."
    )


# The angle at the incentre; numbers: the angles at B and C.


def _draw_two_angles(rng: Rng, size: int) -> Numbers:
    while True:
        beta, gamma = integers(rng, 17, 120, 2)
        if beta + gamma <= 163 and beta != gamma and (beta + gamma) % 5:
            return beta, gamma


def _incentre_angle(beta: int, gamma: int) -> Question:
    answer = 180 - Fraction(beta + gamma, 2)
    figure = _with_angles(180 - beta - gamma, beta)
    return _measured(
        Question(
            f"In triangle $ABC$ the angle at $B$ is ${beta}^\\circ$ and the angle at $C$ is "
            f"${gamma}^\\circ$. The bisectors of these two angles meet at $I$. Find $\\angle BIC$ "
            "in degrees.",
            answer,
            [
                f"In triangle BIC the angles at B and C are {beta}/2 and {gamma}/2 degrees.",
                f"180 - ({beta} + {gamma}) / 2 = {answer}",
            ],
            answer,
        ),
        _angle(figure[1], _incentre(figure), figure[2]),
    )


# Two tangents and a point of the circle; numbers: the angle of the tangents, the angle CAB.


def _draw_tangents(rng: Rng, size: int) -> Numbers:
    while True:
        between, at_a = integer(rng, 11, 140), integer(rng, 20, 120)
        if between % 5 and 15 < 90 + between / 2 - at_a < 150:
            return between, at_a


def _tangents(between: int, at_a: int) -> Question:
    at_c = 90 - Fraction(between, 2)
    answer = 180 - at_c - at_a
    half = math.radians(90 - between / 2)  # half of the central angle AOB
    a, b = cmath.rect(1, half), cmath.rect(1, -half)
    # C is where the chord from A makes the angle with AB: its arc BC is twice that angle
    c = cmath.rect(1, -half - 2 * math.radians(at_a))
    outside = 1 / math.cos(half)
    measured = _angle(a, b, c) * _angle(a, complex(outside), b) / between
    return _measured(
        Question(
            "From a point $P$ outside a circle the two tangents touch it at $A$ and $B$. The "
            "point $C$ lies on the longer arc $AB$. Given are "
            f"$\\angle APB = {between}^\\circ$ and $\\angle CAB = {at_a}^\\circ$. Find "
            "$\\angle ABC$ in degrees.",
            answer,
            [
                f"PA = PB, so the angle PAB is (180 - {between}) / 2 = {at_c} degrees.",
                f"It lies between the tangent at A and the chord AB, so the angle ACB is {at_c}.",
                f"180 - {operand(at_c)} - {at_a} = {answer}",
            ],
            180 - between - at_a if between + at_a < 170 else Fraction(between, 2),
        ),
        measured,
    )


# A cyclic quadrilateral; numbers: three inscribed angles, whether the sides are prolonged.


def _draw_cyclic(rng: Rng, size: int) -> Numbers:
    while True:
        p, q, r = integers(rng, 17, 80, 3)
        s = 180 - p - q - r
        if s >= 17 and abs(p - r) > 5 and len({p, q, r, s}) == 4:
            return p, q, r, integer(rng, 0, 1)


def _cyclic(p: int, q: int, r: int, prolonged: int) -> Question:
    arcs = [0, 2 * p, 2 * (p + q), 2 * (p + q + r)]
    a, b, c, d = (cmath.rect(1, math.radians(arc)) for arc in arcs)
    if prolonged:
        answer = abs(p - r)
        asked = "The lines $AD$ and $BC$ meet at $X$. Find $\\angle AXB$ in degrees."
        step = (
            "The angle of two secants that meet outside is half the difference of the arcs AB and "
            f"CD: |2 * {p} - 2 * {r}| / 2 = {answer}"
        )
    else:
        answer = p + r
        asked = "The diagonals meet at $X$. Find $\\angle AXB$ in degrees."
        step = (
            "The angle of two chords that meet inside is half the sum of the arcs AB and CD: "
            f"(2 * {p} + 2 * {r}) / 2 = {answer}"
        )
    x = _meet(a, d, b, c) if prolonged else _meet(a, c, b, d)
    s = 180 - p - q - r
    return _measured(
        Question(
            "The points $A, B, C, D$ lie on a circle in this order. Given are $\\angle BAC = "
            f"{q}^\\circ$, $\\angle CBD = {r}^\\circ$ and $\\angle ABD = {s}^\\circ$. {asked}",
            answer,
            [
                (
                    f"An inscribed angle is half of its arc: BC is {2 * q}, CD is {2 * r} and DA "
                    f"is {2 * s} degrees."
                ),
                f"The arc AB is 360 - {2 * q} - {2 * r} - {2 * s} = {2 * p} degrees.",
                step,
            ],
            180 - q - s,
        ),
        _angle(a, x, b),
    )


# Altitude, bisector and circumradius; numbers: the angles at B and C, which lines are asked for.


def _draw_altitude(rng: Rng, size: int) -> Numbers:
    while True:
        beta, gamma = integers(rng, 23, 89, 2)
        if 91 < beta + gamma < 160 and abs(beta - gamma) > 6:
            return beta, gamma, integer(rng, 0, 1)


def _altitude(beta: int, gamma: int, bisector: int) -> Question:
    a, b, c = figure = _with_angles(180 - beta - gamma, beta)
    gap = abs(beta - gamma)
    alpha = 180 - beta - gamma
    if bisector:
        answer = Fraction(gap, 2)
        other, name, text = _incentre(figure), "I", "the incentre"
        step = f"AI halves the angle {alpha} at A: |{alpha} / 2 - {90 - beta}| = {answer}"
    else:
        answer = Fraction(gap)
        other, name, text = _circumcentre(figure), "O", "the circumcentre"
        step = (
            f"Triangle AOB has the angle 2 * {gamma} at O, so the angle OAB is 90 - {gamma} = "
            f"{90 - gamma}: |{90 - gamma} - {90 - beta}| = {answer}"
        )
    return _measured(
        Question(
            f"In triangle $ABC$ the angle at $B$ is ${beta}^\\circ$ and the angle at $C$ is "
            f"${gamma}^\\circ$. $D$ is the foot of the altitude from $A$, and ${name}$ is {text}. "
            f"Find $\\angle DA{name}$ in degrees.",
            answer,
            [f"In the right triangle ADB the angle DAB is 90 - {beta} = {90 - beta}.", step],
            Fraction(alpha, 2),
        ),
        _angle(_foot(a, b, c), a, other),
    )


# Power of a point; numbers: a chord's two parts, a part of the other chord.


def _draw_power(rng: Rng, size: int) -> Numbers:
    return integers(rng, 2, 24 + size, 3)


def _power(pa: int, pb: int, pc: int) -> Question:
    pd = Fraction(pa * pb, pc)
    # the circle through A, B and C, with chords at an angle that all lengths allow
    a, b, c = complex(-pa), complex(pb), cmath.rect(pc, 1.3)
    centre = _circumcentre((a, b, c))
    d = 2 * _foot(centre, 0j, c) - c
    return _measured(
        Question(
            f"Two chords $AB$ and $CD$ of a circle meet at $P$, with $PA = {pa}$, $PB = {pb}$ and "
            f"$PC = {pc}$. Find the length of $CD$.",
            pd + pc,
            [
                "The products of the parts are equal: PC * PD = PA * PB.",
                f"PD = {pa} * {pb} / {pc} = {pd}",
                f"CD = {pc} + {operand(pd)} = {pc + pd}",
            ],
            pd if pa % 2 else pd + pc,
        ),
        abs(d - c),
    )


# The common chord; numbers: both radii, the distance of the centres.


def _draw_chord(rng: Rng, size: int) -> Numbers:
    return _draw_sides(rng, size)


def _chord(one: int, two: int, apart: int) -> Question:
    square = _area_squared(one, two, apart)
    answer = root(square) * Fraction(4, apart)
    a, _, _ = _with_sides(apart, two, one)
    return _measured(
        Question(
            f"Two circles with radii {one} and {two} have centres at the distance {apart}. Find "
            "the length of their common chord.",
            answer,
            [
                (
                    "Half of the chord is the altitude of a triangle with the radii and the "
                    "distance as sides."
                ),
                _heron(one, two, apart),
                f"The chord is twice the altitude: 4 sqrt({square}) / {apart} = {answer}",
            ],
            Fraction(2 * one * two, apart),
        ),
        2 * a.imag,
    )


# Stewart; numbers: the sides AB and AC, and both parts of BC.


def _draw_stewart(rng: Rng, size: int) -> Numbers:
    while True:
        c, b, m, n = integers(rng, 3, 14 + size, 4)
        if abs(b - c) < m + n < b + c and m != n:
            return c, b, m, n


def _stewart(c: int, b: int, m: int, n: int) -> Question:
    square = Fraction(b * b * m + c * c * n, m + n) - m * n
    a, _, _ = _with_sides(m + n, b, c)
    return _measured(
        Question(
            f"In triangle $ABC$, $AB = {c}$ and $AC = {b}$. The point $D$ on side $BC$ has $BD = "
            f"{m}$ and $DC = {n}$. Find $AD$.",
            root(square),
            [
                "Stewart's theorem: AC^2 * BD + AB^2 * DC = BC * (AD^2 + BD * DC).",
                f"AD^2 = ({b}^2 * {m} + {c}^2 * {n}) / {m + n} - {m} * {n} = {square}",
                f"AD = {root(square)}",
            ],
            root(Fraction(2 * b * b + 2 * c * c - (m + n) ** 2, 4)),
        ),
        abs(a - m),
    )


# The circle of Apollonius; numbers: the distance, the ratio.


def _draw_apollonius(rng: Rng, size: int) -> Numbers:
    while True:
        apart, m, n = integer(rng, 5, 60 + size), *integers(rng, 1, 9 + size, 2)
        if m != n and math.gcd(m, n) == 1:
            return apart, m, n


def _apollonius(apart: int, m: int, n: int) -> Question:
    inner, outer = Fraction(apart * m, m + n), Fraction(apart * m, m - n)
    answer = abs(outer - inner) / 2
    # the point over the centre at that height is on the locus
    top = complex(float((inner + outer) / 2), float(answer))
    return _measured(
        Question(
            f"The distance of the points $A$ and $B$ is {apart}. All points $P$ with $PA : PB = "
            f"{m} : {n}$ lie on a circle. Find its radius.",
            answer,
            [
                (
                    "The circle has its diameter on the line AB, between the points that divide AB "
                    "inside and outside in this ratio."
                ),
                (
                    f"Their distances from A, with a sign, are {apart} * {m} / ({m} + {n}) = "
                    f"{inner} and {apart} * {m} / ({m} - {n}) = {outer}."
                ),
                f"|{outer} - {operand(inner)}| / 2 = {answer}",
            ],
            inner,
        ),
        float(answer) * (abs(top) / abs(top - apart)) / (m / n),
    )


# The bisector; numbers: the sides.


def _bisector(a: int, b: int, c: int) -> Question:
    bd, dc = Fraction(a * c, b + c), Fraction(a * b, b + c)
    square = b * c - bd * dc
    figure = _with_sides(a, b, c)
    foot = _meet(figure[0], _incentre(figure), figure[1], figure[2])
    return _measured(
        Question(
            f"{_given_sides(a, b, c)} The bisector of the angle at $A$ meets $BC$ at $D$. Find "
            "$AD$.",
            root(square),
            [
                (
                    f"The bisector divides BC as the sides: BD = {a} * {c} / ({b} + {c}) = {bd} "
                    f"and DC = {dc}."
                ),
                (
                    "Let AD meet the circumcircle again at E. The triangles ABD and AEC are "
                    "similar, so AD * AE = AB * AC. The power of D is AD * DE = BD * DC."
                ),
                f"AD^2 = AB * AC - BD * DC = {b} * {c} - {operand(bd)} * {operand(dc)} = {square}",
                f"AD = {root(square)}",
            ],
            root(Fraction(2 * b * b + 2 * c * c - a * a, 4)),
        ),
        abs(figure[0] - foot),
    )


# A point on the circumcircle of an equilateral triangle; numbers: PA, PB.


def _draw_ptolemy(rng: Rng, size: int) -> Numbers:
    far = integer(rng, 7, 70 + size)
    return far, integer(rng, 2, far - 2)


def _ptolemy(far: int, near: int) -> Question:
    other = far - near
    square = near**2 + near * other + other**2
    b, c = complex(near), cmath.rect(other, math.radians(120))
    a = b + (c - b) * cmath.rect(1, math.radians(-60))
    return _measured(
        Question(
            "$ABC$ is an equilateral triangle, and $P$ lies on the arc $BC$ of its circumcircle "
            f"that does not contain $A$. Given are $PA = {far}$ and $PB = {near}$. Find the side "
            "of the triangle.",
            root(square),
            [
                "Ptolemy's theorem for ABPC, with equal sides: PA = PB + PC.",
                f"PC = {far} - {near} = {other}",
                (
                    "The angle BPC is 180 - 60 = 120 degrees, so by the law of cosines BC^2 = PB^2 "
                    "+ PB * PC + PC^2."
                ),
                (
                    f"BC^2 = {near}^2 + {near} * {other} + {other}^2 = {square}, so BC = "
                    f"{root(square)}"
                ),
            ],
            root(far**2 + far * near + near**2),
        ),
        abs(b - c) * abs(a) / far,
    )


# A circle between two circles and a line; numbers: both radii.


def _draw_gap(rng: Rng, size: int) -> Numbers:
    while True:
        one, two = integers(rng, 2, 60 + size, 2)
        if one != two:
            return one, two


def _gap(one: int, two: int) -> Question:
    # 1/r = 1/one + 1/two + 2/sqrt(one two), and one over (p + sqrt q) is (p - sqrt q)/(p^2 - q)
    p, q = Fraction(1, one) + Fraction(1, two), Fraction(4, one * two)
    answer = (as_surd(p) - root(q)) / (p * p - q)
    r = float(answer)
    centre = complex(2 * math.sqrt(one * r), r)
    other = complex(2 * math.sqrt(one * two), two)
    return _measured(
        Question(
            f"Two circles with radii {one} and {two} touch each other from outside and lie on the "
            "same side of a line that touches both. A smaller circle lies between them and the "
            "line and touches all three. Find its radius.",
            answer,
            [
                (
                    "Two circles of radii u and v that touch each other touch the line at points "
                    "that are 2 sqrt(uv) apart, by the theorem of Pythagoras."
                ),
                f"With the radius r: sqrt({one} r) + sqrt({two} r) = sqrt({one} * {two}).",
                (
                    f"So 1/sqrt(r) = 1/sqrt({one}) + 1/sqrt({two}), and 1/r = {p} + "
                    f"2/sqrt({one * two})."
                ),
                f"r = {answer}",
            ],
            Fraction(one * two, one + two),
        ),
        abs(centre - other) - two,
    )


# The middle of an arc; numbers: the sides.


def _arc_middle(a: int, b: int, c: int) -> Question:
    half = Fraction(a + b + c, 2)
    square = Fraction(a * a, 4) * b * c / (half * (half - a))
    figure = _with_sides(a, b, c)
    centre = _incentre(figure)
    middle = (centre + _excentres(figure)[0]) / 2
    return _measured(
        Question(
            f"{_given_sides(a, b, c)} $I$ is the incentre, and $M$ is the midpoint of the arc "
            "$BC$ of the circumcircle that does not contain $A$. Find $MI$.",
            root(square),
            [
                (
                    "The angles MBI and MIB are both half of the sum of the angles at A and B, so "
                    "MI = MB."
                ),
                (
                    "In the isosceles triangle MBC the angles at B and C are A/2, so MB = (BC / 2) "
                    "/ cos(A/2)."
                ),
                (
                    f"cos^2(A/2) = s(s - BC) / (AB * AC) with s = {half}: "
                    f"{half * (half - a) / (b * c)}"
                ),
                (
                    f"MI^2 = {a}^2 / 4 / ({half * (half - a) / (b * c)}) = {square}, so MI = "
                    f"{root(square)}"
                ),
            ],
            Fraction(a, 2),
        ),
        (abs(middle - centre) + abs(middle - figure[1])) / 2,
    )


# A chain of triangles; numbers: two angles, the vertex asked for, and the constructions.

_CONSTRUCTIONS = (
    "the incircle of $O$ touches the sides opposite $X, Y, Z$ at $D, E, F$",
    "$D, E, F$ are the excentres of $O$ opposite $X, Y, Z$",
    (
        "$D, E, F$ are the midpoints of the arcs $YZ, ZX, XY$ of the circumcircle of $O$ that do "
        "not contain $X, Y, Z$"
    ),
    "$D, E, F$ are the feet of the altitudes of $O$ from $X, Y, Z$",
    (
        "the tangents to the circumcircle of $O$ at $Y$ and $Z$ meet at $D$, those at $Z$ and $X$ "
        "at $E$, and those at $X$ and $Y$ at $F$"
    ),
)
_HALVING = 3  # the first constructions turn an angle X into 90 - X/2, the others into 180 - 2X


def _constructed(which: int, t: Triangle) -> Triangle:
    if which == 0:
        return _feet(_incentre(t), t)
    outer = _excentres(t)
    if which == 1:
        return outer
    if which == 2:
        centre = _incentre(t)
        return (outer[0] + centre) / 2, (outer[1] + centre) / 2, (outer[2] + centre) / 2
    a, b, c = t
    if which == 3:
        return _foot(a, b, c), _foot(b, c, a), _foot(c, a, b)
    centre = _circumcentre(t)

    def pole(p: complex, q: complex) -> complex:
        middle = (p + q) / 2 - centre
        return centre + middle * abs(p - centre) ** 2 / abs(middle) ** 2

    return pole(b, c), pole(c, a), pole(a, b)


def _next_angle(which: int, angle: Fraction) -> Fraction:
    return 90 - angle / 2 if which < _HALVING else 180 - 2 * angle


def _draw_chain(rng: Rng, size: int) -> Numbers:
    count = 3 + size // 4
    while True:
        angles = [Fraction(angle) for angle in integers(rng, 21, 110, 2)]
        angles.append(Fraction(180) - angles[0] - angles[1])
        if min(angles) < 20 or len(set(angles)) < 3:
            continue
        numbers = [int(angles[0]), int(angles[1]), integer(rng, 0, 2)]
        for _ in range(count):
            # an orthic or a tangential triangle needs an acute one, and must not be too flat
            acute = max(angles) < 88
            which = integer(rng, 0, len(_CONSTRUCTIONS) - 1 if acute else _HALVING - 1)
            angles = [_next_angle(which, angle) for angle in angles]
            numbers.append(which)
        if min(angles) > 2 and any(which >= _HALVING for which in numbers[3:]):
            return tuple(numbers)


def _chain(alpha: int, beta: int, asked: int, *path: int) -> Question:
    figure = _with_angles(alpha, beta)
    angle = Fraction((alpha, beta, 180 - alpha - beta)[asked])
    start = angle
    texts, steps = [], []
    for k, which in enumerate(path):
        names = {old: f"{new}_{k + 1}" for old, new in zip("DEF", "ABC", strict=True)}
        names |= {old: f"{new}_{k}" for old, new in zip("XYZ", "ABC", strict=True)}
        names["O"] = f"A_{k}B_{k}C_{k}"
        text = _CONSTRUCTIONS[which].replace("circumcircle of $O$", "circumcircle of $\0$")
        text = "".join(
            names["O"] if ch in "O\0" else names.get(ch, ch) if ch.isupper() else ch for ch in text
        )
        texts.append(text[0].upper() + text[1:] + ".")
        after = _next_angle(which, angle)
        if which < _HALVING:
            steps.append(f"Step {k + 1} turns an angle X into 90 - X/2: 90 - {angle} / 2 = {after}")
        else:
            steps.append(
                f"Step {k + 1} turns an angle X of an acute triangle into 180 - 2X: 180 - 2 * "
                f"{operand(angle)} = {after}"
            )
        angle, figure = after, _constructed(which, figure)
    name = "ABC"[asked]
    last = len(path)
    first = (
        f"The angle at {name}_0 is {start}."
        if asked < 2
        else (f"The angle at C_0 is 180 - {alpha} - {beta} = {start}.")
    )
    corner = [*figure, *figure][asked : asked + 3]
    return _measured(
        Question(
            f"In triangle $A_0B_0C_0$ the angle at $A_0$ is ${alpha}^\\circ$ and the angle at "
            f"$B_0$ is ${beta}^\\circ$. {' '.join(texts)} Find in degrees the angle at "
            f"${name}_{last}$ of triangle $A_{last}B_{last}C_{last}$.",
            angle,
            [first, *steps],
            start if last % 2 else 90 - start / 2,
        ),
        _angle(corner[1], corner[0], corner[2]),
    )


# A diagonal of a cyclic quadrilateral; numbers: the sides in order.


def _draw_quadrilateral(rng: Rng, size: int) -> Numbers:
    while True:
        sides = integers(rng, 3, 13 + size, 4)
        if 2 * max(sides) < sum(sides) and len(set(sides)) > 2:
            return sides


def _quadrilateral(a: int, b: int, c: int, d: int) -> Question:
    square = Fraction((a * c + b * d) * (a * d + b * c), a * b + c * d)
    cosine = Fraction(a * a + b * b - c * c - d * d, 2 * (a * b + c * d))
    turn = math.acos(cosine)
    start, end = cmath.rect(a, turn), complex(b)  # A and C; B is 0
    centre = _circumcentre((start, 0j, end))
    along = (end - start) / abs(end - start)
    across = _with_sides(abs(end - start), c, d)[0]  # D, over a segment from A to C
    if (-start * along.conjugate()).imag > 0:  # B is on that side
        across = across.conjugate()
    corner = start + across * along
    return _measured(
        Question(
            f"A quadrilateral $ABCD$ with $AB = {a}$, $BC = {b}$, $CD = {c}$ and $DA = {d}$ is "
            "inscribed in a circle. Find the diagonal $AC$.",
            root(square),
            [
                (
                    "The angles at B and D add up to 180 degrees, so their cosines are opposite "
                    "numbers."
                ),
                (
                    f"The law of cosines at both: {a}^2 + {b}^2 - 2 * {a} * {b} cos B = {c}^2 + "
                    f"{d}^2 + 2 * {c} * {d} cos B, so cos B = {cosine}."
                ),
                (
                    f"AC^2 = {a * a + b * b} - {2 * a * b} * {operand(cosine)} = {square}, which "
                    "is also (AB CD + BC DA)(AB DA + BC CD) / (AB BC + CD DA)."
                ),
                f"AC = {root(square)}",
            ],
            root(a * a + b * b),
        ),
        abs(end - start) * abs(corner - centre) / abs(centre),
    )


# The perimeter of the orthic triangle; numbers: the sides of an acute triangle.


def _orthic(a: int, b: int, c: int) -> Question:
    square = _area_squared(a, b, c)
    answer = 8 * square / (a * b * c)
    figure = _with_sides(a, b, c)
    return _measured(
        Question(
            f"{_given_sides(a, b, c)} $D, E, F$ are the feet of its three altitudes. Find the "
            "perimeter of triangle $DEF$.",
            answer,
            [
                (
                    "Reflect D in AB and AC: E and F lie on the segment between both images, since "
                    "the altitudes bisect the angles of DEF. So the perimeter is the length of it."
                ),
                (
                    "The images are AD away from A at the angle 2A, so the perimeter is 2 AD sin A "
                    "= 2 (2K / BC) (2K / (AB AC)) = 8K^2 / (AB BC CA)."
                ),
                _heron(a, b, c),
                f"8 * {operand(square)} / ({a} * {b} * {c}) = {answer}",
            ],
            Fraction(a + b + c, 2),
        ),
        sum(_sides(_constructed(3, figure))),
    )


# Distances of centres; numbers: the sides, whether the orthocentre is asked for.


def _draw_centres(rng: Rng, size: int) -> Numbers:
    return *_draw_sides(rng, size), integer(rng, 0, 1)


def _centres(a: int, b: int, c: int, orthocentre: int) -> Question:
    square = _area_squared(a, b, c)
    radius = Fraction((a * b * c) ** 2) / (16 * square)
    figure = _with_sides(a, b, c)
    centre = _circumcentre(figure)
    if orthocentre:
        other = sum(figure) - 2 * centre
        name, text = "H", "the orthocentre"
        found = 9 * radius - (a * a + b * b + c * c)
        steps = [
            "With O as origin H = A + B + C, so OH^2 = 9R^2 - (AB^2 + BC^2 + CA^2).",
            f"OH^2 = 9 * {operand(radius)} - {a * a + b * b + c * c} = {found}",
        ]
        guess = root(radius)
    else:
        other = _incentre(figure)
        name, text = "I", "the incentre"
        product = Fraction(a * b * c, 2 * (a + b + c))
        found = radius - 2 * product
        steps = [
            "Euler's theorem: OI^2 = R^2 - 2Rr, the power of I.",
            f"Rr = (abc / 4K)(K / s) = {a} * {b} * {c} / (2 * {a + b + c}) = {product}",
            f"OI^2 = {radius} - 2 * {operand(product)} = {found}",
        ]
        guess = root(radius) - root(product)
    return _measured(
        Question(
            f"{_given_sides(a, b, c)} $O$ is the circumcentre and ${name}$ is {text}. Find the "
            f"distance $O{name}$.",
            root(found),
            [
                _heron(a, b, c),
                f"R^2 = (abc)^2 / (16K^2) = {radius}",
                *steps,
                f"O{name} = {root(found)}",
            ],
            guess,
        ),
        abs(centre - other),
    )


# Routh's triangle; numbers: the three ratios.


def _draw_routh(rng: Rng, size: int) -> Numbers:
    while True:
        ratios = integers(rng, 1, 5 + size // 3, 6)
        p, q, r, s, t, u = ratios
        if p * r * t != q * s * u:
            return ratios


def _routh(p: int, q: int, r: int, s: int, t: int, u: int) -> Question:
    x, y, z = Fraction(p, q), Fraction(r, s), Fraction(t, u)
    pieces = x * y + x + 1, y * z + y + 1, z * x + z + 1
    answer = (x * y * z - 1) ** 2 / (pieces[0] * pieces[1] * pieces[2])
    a, b, c = _with_sides(5, 6, 7)
    d, e, f = (b * q + c * p) / (p + q), (c * s + a * r) / (r + s), (a * u + b * t) / (t + u)
    inner = _meet(a, d, b, e), _meet(b, e, c, f), _meet(c, f, a, d)
    area, whole = (
        abs(((k[1] - k[0]) * (k[2] - k[0]).conjugate()).imag) for k in (inner, (a, b, c))
    )
    return _measured(
        Question(
            f"The points $D, E, F$ lie on the sides $BC, CA, AB$ of triangle $ABC$, with $BD : DC "
            f"= {p} : {q}$, $CE : EA = {r} : {s}$ and $AF : FB = {t} : {u}$. The lines $AD$, $BE$ "
            "and $CF$ bound a triangle. Find the ratio of its area to the area of $ABC$.",
            answer,
            [
                f"Let x = BD/DC = {x}, y = CE/EA = {y}, z = AF/FB = {z}.",
                (
                    "By the theorem of Menelaus AD and BE meet at a point that cuts off the "
                    "triangle with side AB and the share x / (xy + x + 1) of the area, and so on "
                    "around."
                ),
                f"The shares: {x / pieces[0]}, {y / pieces[1]} and {z / pieces[2]}.",
                f"The rest is 1 - {x / pieces[0]} - {y / pieces[1]} - {z / pieces[2]} = {answer}",
            ],
            abs(1 - x / (1 + x) - y / (1 + y) - z / (1 + z)),
        ),
        area / whole,
    )


# A circle between three circles; numbers: their radii.


def _draw_descartes(rng: Rng, size: int) -> Numbers:
    while True:
        radii = integers(rng, 2, 12 + 3 * size, 3)
        if len(set(radii)) == 3:
            return radii


def _descartes(one: int, two: int, three: int) -> Question:
    k, m, n = Fraction(1, one), Fraction(1, two), Fraction(1, three)
    p, q = k + m + n, 4 * (k * m + m * n + n * k)
    answer = (as_surd(p) - root(q)) / (p * p - q)
    r = float(answer)
    third, first, second = _with_sides(one + two, two + three, three + one)
    centre = _with_sides(one + two, two + r, one + r)[0]
    return _measured(
        Question(
            f"Three circles with radii {one}, {two} and {three} touch each other from outside. A "
            "small circle lies in the gap between them and touches all three. Find its radius.",
            answer,
            [
                (
                    "Descartes' theorem for four circles that touch each other, with k = 1/radius: "
                    "(k1 + k2 + k3 + k4)^2 = 2 (k1^2 + k2^2 + k3^2 + k4^2)."
                ),
                "So k4 = k1 + k2 + k3 + 2 sqrt(k1 k2 + k2 k3 + k3 k1) for the circle in the gap.",
                f"k1 + k2 + k3 = {p}, and 4 (k1 k2 + k2 k3 + k3 k1) = {q}.",
                f"The radius is 1 / ({p} + {root(q)}) = {answer}",
            ],
            1 / p,
        ),
        abs(centre - third) - three + abs(first - second) - one - two,
    )


# The mixtilinear incircle; numbers: the sides.


def _mixtilinear(a: int, b: int, c: int) -> Question:
    half = Fraction(a + b + c, 2)
    square = _area_squared(a, b, c)
    answer = root(square) * (b * c / (half * half * (half - a)))
    figure = _with_sides(a, b, c)
    inner = _incentre(figure)
    radius = abs(inner - _foot(inner, *figure[:2]))
    centre = figure[0] + (inner - figure[0]) * float(answer) / radius
    middle = _circumcentre(figure)
    return _measured(
        Question(
            f"{_given_sides(a, b, c)} A circle touches the sides $AB$ and $AC$ and touches the "
            "circumcircle of $ABC$ from inside. Find its radius.",
            answer,
            [
                (
                    "The inversion with centre A and power AB * AC, followed by the reflection in "
                    "the bisector at A, swaps B with C and the circumcircle with the line BC."
                ),
                (
                    "So it turns the circle into the excircle opposite A, which touches AB at the "
                    f"distance s = {half} from A. The circle touches AB at AB * AC / s = "
                    f"{b * c / half} from A."
                ),
                (
                    f"{_heron(a, b, c)} The incircle has the radius r = K/s and touches AB at s - "
                    f"BC = {half - a} from A."
                ),
                (
                    f"By similarity the radius is ({b * c / half}) / ({half - a}) * K / {half} = "
                    f"{answer}"
                ),
            ],
            root(square) / half,
        ),
        abs(middle - figure[0]) - abs(middle - centre),
    )


_DEGREES = "Answer with the number of degrees, as an integer or a fraction."
FAMILIES = {
    "incentre_angle": Family(1, _draw_two_angles, _incentre_angle, _DEGREES),
    "power_of_a_point": Family(1, _draw_power, _power),
    "tangents": Family(1, _draw_tangents, _tangents, _DEGREES),
    "cyclic_angles": Family(2, _draw_cyclic, _cyclic, _DEGREES),
    "altitude_angle": Family(2, _draw_altitude, _altitude, _DEGREES),
    "common_chord": Family(2, _draw_chord, _chord),
    "stewart": Family(2, _draw_stewart, _stewart),
    "apollonius": Family(2, _draw_apollonius, _apollonius),
    "ptolemy": Family(3, _draw_ptolemy, _ptolemy),
    "bisector": Family(3, _draw_sides, _bisector),
    "circle_in_gap": Family(3, _draw_gap, _gap),
    "cyclic_diagonal": Family(3, _draw_quadrilateral, _quadrilateral),
    "triangle_chain": Family(4, _draw_chain, _chain),
    "arc_middle": Family(4, _draw_sides, _arc_middle),
    "centres": Family(4, _draw_centres, _centres),
    "orthic_perimeter": Family(5, _draw_acute, _orthic),
    "routh": Family(5, _draw_routh, _routh),
    "descartes": Family(5, _draw_descartes, _descartes),
    "mixtilinear": Family(5, _draw_sides, _mixtilinear),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticGeometryConfig(TaskConfig):
    """Which figures are asked about, and how large their numbers are."""

    kinds: tuple[str, ...] = knob(KINDS, "kinds of questions to draw from", choices=KINDS)
    size: int = knob(5, "size of the lengths, and of the chain of triangles", low=0, high=100)

    @classmethod
    def at(cls, difficulty: int) -> "SyntheticGeometryConfig":
        """Each level drops the easiest of four kinds for a harder one or two; numbers grow a bit.

        One lemma on angles or chords comes first; then lemmas are composed, and at the end come
        chains of triangles, several centres, inversion and circles that touch each other.
        """
        return cls(kinds=window(KINDS, difficulty), size=min(difficulty, 100))


@register("SyntheticGeometry-v0", domain="math")
class SyntheticGeometryTask(FamilyTask[SyntheticGeometryConfig]):
    """Find an angle, a length or a ratio in a plane figure, exactly.

    Description:
        Nineteen kinds: angles at the incentre, of tangents and chords, of cyclic quadrilaterals,
        between altitude, bisector and circumradius, and through a chain of triangles; lengths by
        the power of a point, Stewart, Apollonius, Ptolemy, the bisector theorem, the midpoint of
        an arc, Euler's theorem on the distance of centres, the orthic triangle and a mixtilinear
        incircle; circles that touch each other (Descartes); areas by Routh's theorem. When a
        problem is made, the answer is measured in a figure with coordinates as well.

    Observation:
        The figure in words, and what to find.

    Action:
        One number, exact: an integer, a fraction, or an expression with square roots. Angles are
        in degrees.

    Reward:
        1 for the exact value, otherwise 0.

    Verification:
        The value is compared exactly, in any form; a rounded decimal earns nothing. A value with
        roots need not be simplified.

    Difficulty:
        The kinds compose more lemmas from level to level; the numbers grow a little. Beyond level
        10 only numbers grow.

    References:
        Coxeter and Greitzer, Geometry Revisited, chapters 1 to 3 and 5; Chen, Euclidean Geometry
        in Mathematical Olympiads, chapters 1, 2, 4 and 8.
    """

    Config = SyntheticGeometryConfig
    families = FAMILIES
    answer_type = "real"
    form = "Answer with the exact value, not a rounded decimal; it may contain square roots."
