"""Largest and smallest values under constraints, and best constants, by classical inequalities."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

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
from rlvr_envs.generators.mathematics.latex import signed_sum
from rlvr_envs.generators.mathematics.surds import as_surd, root


def _linear(coefficients: Numbers, names: str = "xyz") -> str:
    return signed_sum(zip(coefficients, names, strict=True))


def _times(size: int, symbol: str) -> str:
    return symbol if size == 1 else f"{size}{symbol}"


# Rearrangement; numbers: whether the smallest sum is asked for, then both lists.


def _draw_rearranged(rng: Rng, size: int) -> Numbers:
    count = 4 + size // 2
    return integer(rng, 0, 1), *(integer(rng, 2, 19 + size) for _ in range(2 * count))


def _rearranged(least: int, *values: int) -> Question:
    half = len(values) // 2
    fixed, free = values[:half], values[half:]
    ascending = sorted(fixed), sorted(free, reverse=bool(least))
    answer = sum(a * b for a, b in zip(*ascending, strict=True))
    pairs = " + ".join(f"{a} * {b}" for a, b in zip(*ascending, strict=True))
    names = [f"x_{k}" for k in range(1, half + 1)]
    terms = signed_sum(zip(fixed, names, strict=True))
    return Question(
        f"The numbers ${', '.join(names)}$ are the numbers ${', '.join(map(str, free))}$ in some "
        f"order. What is the {'smallest' if least else 'largest'} possible value of ${terms}$?",
        answer,
        [
            (
                "By the rearrangement inequality a sum of products is largest when both lists "
                "ascend, and smallest when one ascends and the other descends."
            ),
            f"{pairs} = {answer}",
        ],
        sum(a * b for a, b in zip(fixed, free, strict=True)),
    )


# Cauchy-Schwarz on a sphere; numbers: the squared radius, the coefficients.


def _draw_sphere(rng: Rng, size: int) -> Numbers:
    return integer(rng, 2, 30 + size), *integers(rng, 2, 12 + size, 3)


def _sphere(radius: int, *factors: int) -> Question:
    total = sum(f * f for f in factors)
    answer = root(radius * total)
    squares = " + ".join(f"{f}^2" for f in factors)
    return Question(
        f"Real numbers $x, y, z$ satisfy $x^2 + y^2 + z^2 = {radius}$. What is the largest "
        f"possible value of ${_linear(factors)}$?",
        answer,
        [
            (
                f"By the Cauchy-Schwarz inequality the square of the sum is at most ({squares}) * "
                f"{radius} = {total * radius}."
            ),
            "Equality holds when x, y, z are in the ratio of the coefficients.",
            f"The square root is {answer}.",
        ],
        answer,
    )


# Two or three reciprocals of a given sum; numbers: the sum, the numerators.


def _draw_reciprocals(rng: Rng, size: int) -> Numbers:
    return integer(rng, 2, 12 + size), *integers(rng, 2, 20 + size, 2 + size // 4 % 2)


def _reciprocals(total: int, *tops: int) -> Question:
    names = "xyz"[: len(tops)]
    roots = [root(top) for top in tops]
    inner = sum(roots, as_surd(0))
    answer = inner * inner / total
    terms = " + ".join(f"\\frac{{{top}}}{{{n}}}" for top, n in zip(tops, names, strict=True))
    return Question(
        f"Positive real numbers ${', '.join(names)}$ satisfy ${' + '.join(names)} = {total}$. What "
        f"is the smallest possible value of ${terms}$?",
        answer,
        [
            (
                "By the Cauchy-Schwarz inequality the product of the expression and the sum of the "
                f"numbers is at least ({' + '.join(map(str, roots))})^2 = {inner * inner}."
            ),
            "Equality holds when the numbers are in the ratio of these square roots.",
            f"Divided by {total} this is {answer}.",
        ],
        Fraction(len(tops) * sum(tops), total),
    )


# A number and its reciprocal; numbers: the coefficients, the shift.


def _draw_balance(rng: Rng, size: int) -> Numbers:
    return *integers(rng, 2, 40 + size, 2), integer(rng, 1, 9)


def _balance(factor: int, top: int, shift: int) -> Question:
    answer = 2 * root(factor * top) + factor * shift
    return Question(
        f"What is the smallest value of ${_times(factor, 'x')} + \\frac{{{top}}}{{x - {shift}}}$ "
        f"for real $x > {shift}$?",
        answer,
        [
            f"With t = x - {shift} > 0 the expression is {factor}t + {top}/t + {factor * shift}.",
            (
                f"By AM-GM {factor}t + {top}/t is at least 2 sqrt({factor} * {top}), with equality "
                f"for t^2 = {top}/{factor}."
            ),
            f"2 sqrt({factor * top}) + {factor * shift} = {answer}",
        ],
        answer,
    )


# A sum under a condition on reciprocals; numbers: both numerators, both factors.


def _draw_condition(rng: Rng, size: int) -> Numbers:
    return integers(rng, 2, 15 + size, 4)


def _condition(a: int, b: int, p: int, q: int) -> Question:
    mixed = root(a * p * b * q)
    answer = 2 * mixed + a * p + b * q
    return Question(
        f"Positive real numbers $x, y$ satisfy $\\frac{{{a}}}{{x}} + \\frac{{{b}}}{{y}} = 1$. What "
        f"is the smallest possible value of ${_linear((p, q), 'xy')}$?",
        answer,
        [
            (
                f"Multiply {p}x + {q}y by 1 = {a}/x + {b}/y: it is {a * p} + {b * q} + "
                f"{b * p} x/y + {a * q} y/x."
            ),
            (
                f"By AM-GM the last two terms are at least 2 sqrt({b * p} * {a * q}) = "
                f"{2 * mixed}, and they can be equal."
            ),
            f"{a * p} + {b * q} + {2 * mixed} = {answer}",
        ],
        2 * (a * p + b * q),
    )


# A path by a line; numbers: both heights, the distance.


def _draw_mirror(rng: Rng, size: int) -> Numbers:
    return integers(rng, 2, 20 + size, 3)


def _mirror(one: int, two: int, base: int) -> Question:
    answer = root(base**2 + (one + two) ** 2)
    return Question(
        f"What is the smallest value of $\\sqrt{{x^2 + {one**2}}} + \\sqrt{{({base} - x)^2 + "
        f"{two**2}}}$ for real $x$?",
        answer,
        [
            (
                f"The roots are the distances from (x, 0) to the points (0, {one}) and ({base}, "
                f"-{two})."
            ),
            (
                "By the triangle inequality their sum is at least the distance of these points, "
                "with equality where the segment crosses the axis."
            ),
            f"sqrt({base}^2 + ({one} + {two})^2) = sqrt({base**2} + {(one + two) ** 2}) = {answer}",
        ],
        root(base**2 + 4 * one**2) if one == two else root(base**2 + (one - two) ** 2),
    )


# A product under a product; numbers: the product, both shifts.


def _draw_shifted(rng: Rng, size: int) -> Numbers:
    return integers(rng, 2, 24 + size, 3)


def _shifted(product: int, a: int, b: int) -> Question:
    twice = 2 * root(a * b * product)
    answer = twice + product + a * b
    return Question(
        f"Positive real numbers $x, y$ satisfy $xy = {product}$. What is the smallest possible "
        f"value of $(x + {a})(y + {b})$?",
        answer,
        [
            f"The product is xy + {b}x + {a}y + {a * b} = {product} + {a * b} + {b}x + {a}y.",
            (
                f"By AM-GM {b}x + {a}y is at least 2 sqrt({a * b} * xy) = 2 "
                f"sqrt({a * b * product}) = {twice}."
            ),
            f"Equality holds for {b}x = {a}y. {product} + {a * b} + {twice} = {answer}",
        ],
        (isqrt(product) + a) * (isqrt(product) + b),
    )


# A quadratic form on a circle; numbers: the squared radius, the coefficients.


def _draw_form(rng: Rng, size: int) -> Numbers:
    return integer(rng, 1, 12 + size), *integers(rng, 1, 12 + size, 3)


def _form(radius: int, a: int, b: int, c: int) -> Question:
    spread = (a - c) ** 2 + b**2
    answer = (root(spread) + (a + c)) * Fraction(radius, 2)
    return Question(
        f"Real numbers $x, y$ satisfy $x^2 + y^2 = {radius}$. What is the largest possible value "
        f"of ${_times(a, 'x^2')} + {_times(b, 'xy')} + {_times(c, 'y^2')}$?",
        answer,
        [
            (
                f"Let x = r cos t and y = r sin t with r^2 = {radius}. By the double angle "
                f"formulas the value is {radius}/2 times ({a} + {c}) + ({a} - {c}) cos 2t + {b} "
                "sin 2t."
            ),
            (
                f"The largest value of ({a} - {c}) cos 2t + {b} sin 2t is sqrt(({a} - {c})^2 + "
                f"{b}^2) = {root(spread)}."
            ),
            f"{radius}/2 * ({a + c} + {root(spread)}) = {answer}",
        ],
        Fraction(radius * (a + b + c), 2),
    )


# A product of powers under a sum; numbers: the sum, both exponents.


def _draw_powers(rng: Rng, size: int) -> Numbers:
    return integer(rng, 3, 40 + size), *integers(rng, 1, 4 + size // 8, 2), integer(rng, 1, 6)


def _powers(total: int, p: int, q: int, factor: int) -> Question:
    x, y = Fraction(p * total, p + q), Fraction(q * total, (p + q) * factor)
    answer = x**p * y**q
    return Question(
        f"Positive real numbers $x, y$ satisfy ${_linear((1, factor), 'xy')} = {total}$. What is "
        f"the largest possible value of $x^{{{p}}} y^{{{q}}}$?",
        answer,
        [
            (
                f"Use AM-GM with weights on {p} terms x/{p} and {q} terms "
                f"{_times(factor, 'y')}/{q}: their sum is {total}, so the product is largest when "
                f"all {p + q} terms are equal."
            ),
            f"Then each term is {total}/{p + q}, so x = {x} and y = {y}.",
            f"({x})^{p} * ({y})^{q} = {answer}",
        ],
        Fraction(total, 2) ** p * Fraction(total, 2 * factor) ** q,
    )


# A quotient of a line and a parabola; numbers: slope, constant, and the constant below.


def _draw_quotient(rng: Rng, size: int) -> Numbers:
    return integers(rng, 1, 20 + size, 3)


def _quotient(p: int, q: int, r: int) -> Question:
    answer = (root(q**2 + r * p**2) + q) / (2 * r)
    return Question(
        f"What is the largest value of $\\frac{{{_times(p, 'x')} + {q}}}{{x^2 + {r}}}$ for real "
        "$x$?",
        answer,
        [
            (
                f"A value k is taken if and only if k x^2 - {p}x + ({r}k - {q}) = 0 has a real "
                "solution."
            ),
            f"For k > 0 this means that the discriminant {p}^2 - 4k({r}k - {q}) is 0 or more.",
            (
                f"So {4 * r} k^2 - {4 * q} k - {p**2} <= 0, and k is at most ({4 * q} + "
                f"sqrt({16 * q * q} + {16 * r * p * p})) / {8 * r} = {answer}."
            ),
        ],
        (root(r) * p + q) / (2 * r),
    )


# The best constant of a chain of products; numbers: the coefficients of the squares.


def _draw_constant(rng: Rng, size: int) -> Numbers:
    return integers(rng, 1, 13 + size, 3)


def _constant(p: int, q: int, r: int) -> Question:
    part = Fraction(q * r, p + r)
    answer = 2 * root(p * part)
    return Question(
        f"What is the largest real number $k$ such that ${_times(p, 'x^2')} + {_times(q, 'y^2')} + "
        f"{_times(r, 'z^2')} \\ge k(xy + yz)$ holds for all positive real numbers $x, y, z$?",
        answer,
        [
            (
                f"Split {q} = s + t. By AM-GM {p}x^2 + s y^2 >= 2 sqrt({p} s) xy and {r}z^2 + t "
                f"y^2 >= 2 sqrt({r} t) yz."
            ),
            (
                f"Both constants are equal for {p}s = {r}t, so s = {q} * {r} / ({p} + {r}) = "
                f"{part} and t = {q - part}."
            ),
            (
                "Equality holds in both for a suitable ratio of x, y and z, so no larger constant "
                "is possible."
            ),
            f"k = 2 sqrt({p} * {part}) = {answer}",
        ],
        2 * root(min(p, r) * Fraction(q, 2)),
    )


# The largest of numbers with given sum and sum of squares; numbers: how many, the sum, squares.


def _draw_largest(rng: Rng, size: int) -> Numbers:
    count = integer(rng, 3, 4 + size // 4)
    total = integer(rng, 2, 12 + size)
    return count, total, total**2 // count + integer(rng, 2, 30 + size)


def _largest(count: int, total: int, squares: int) -> Question:
    inner = (count - 1) * (count * squares - total**2)
    answer = (root(inner) + total) / count
    names = [f"x_{k}" for k in range(1, count + 1)]
    return Question(
        f"Real numbers ${', '.join(names)}$ satisfy ${' + '.join(names)} = {total}$ and "
        f"${' + '.join(f'{n}^2' for n in names)} = {squares}$. What is the largest possible value "
        "of $x_1$?",
        answer,
        [
            (
                f"The other {count - 1} numbers have the sum {total} - x and the squares {squares} "
                "- x^2, where x is the first number."
            ),
            (
                f"By the Cauchy-Schwarz inequality ({total} - x)^2 <= {count - 1} ({squares} - "
                "x^2), with equality when they are all the same."
            ),
            f"So {count} x^2 - {2 * total} x + {total**2} - {(count - 1) * squares} <= 0.",
            f"The larger root is ({total} + sqrt({inner})) / {count} = {answer}.",
        ],
        root(squares),
    )


# A sum of two roots; numbers: both factors, both constants, the sum.


def _draw_roots(rng: Rng, size: int) -> Numbers:
    while True:
        a, b, p, q = integers(rng, 1, 7 + size, 4)
        total = integer(rng, 3, 20 + size)
        x, _ = _roots_at(a, b, p, q, total)
        if a != b and 0 < x < total:
            return a, b, p, q, total


def _roots_at(a: int, b: int, p: int, q: int, total: int) -> tuple[Fraction, Fraction]:
    """Return where the sum of the roots is largest."""
    share = (total + Fraction(p, a) + Fraction(q, b)) / (a + b)
    x = a * share - Fraction(p, a)
    return x, total - x


def _roots(a: int, b: int, p: int, q: int, total: int) -> Question:
    inside = total + Fraction(p, a) + Fraction(q, b)
    answer = root((a + b) * inside)
    x, y = _roots_at(a, b, p, q, total)
    return Question(
        f"Non-negative real numbers $x, y$ satisfy $x + y = {total}$. What is the largest possible "
        f"value of $\\sqrt{{{_times(a, 'x')} + {p}}} + \\sqrt{{{_times(b, 'y')} + {q}}}$?",
        answer,
        [
            (
                f"Write the roots as sqrt({a}) sqrt(x + {Fraction(p, a)}) and sqrt({b}) sqrt(y + "
                f"{Fraction(q, b)})."
            ),
            (
                f"By the Cauchy-Schwarz inequality the square of the sum is at most ({a} + {b}) * "
                f"({total} + {Fraction(p, a)} + {Fraction(q, b)}) = {(a + b) * inside}."
            ),
            (
                f"Equality needs (x + {Fraction(p, a)}) : (y + {Fraction(q, b)}) = {a} : {b}, that "
                f"is x = {x} and y = {y}, which are not negative."
            ),
            f"The square root is {answer}.",
        ],
        root(Fraction(a * total, 2) + p) + root(Fraction(b * total, 2) + q),
    )


# A linear form on a sphere cut by a plane; numbers: the sum, the squares, the coefficients.


def _draw_plane(rng: Rng, size: int) -> Numbers:
    total = integer(rng, 1, 9 + size)
    while True:
        factors = integers(rng, 1, 9 + size, 3)
        if len(set(factors)) > 1:
            return total, total**2 // 3 + integer(rng, 1, 20 + size), *factors


def _plane(total: int, squares: int, *factors: int) -> Question:
    mean = Fraction(sum(factors), 3)
    spread = sum(f * f for f in factors) - 3 * mean**2
    rest = squares - Fraction(total**2, 3)
    answer = root(rest * spread) + mean * total
    return Question(
        f"Real numbers $x, y, z$ satisfy $x + y + z = {total}$ and $x^2 + y^2 + z^2 = {squares}$. "
        f"What is the largest possible value of ${_linear(factors)}$?",
        answer,
        [
            (
                f"The numbers x - {total}/3, y - {total}/3, z - {total}/3 have the sum 0 and the "
                f"squares {squares} - {total}^2 / 3 = {rest}."
            ),
            (
                f"Since their sum is 0, their coefficients may be lessened by the mean {mean}; "
                f"then the squares of the coefficients add up to {spread}."
            ),
            (
                f"By the Cauchy-Schwarz inequality this part is at most sqrt({rest} * {spread}) = "
                f"{root(rest * spread)}, and equality is possible, since the coefficients have the "
                "sum 0 as well."
            ),
            f"The other part is {mean} * {total} = {mean * total}. Together: {answer}",
        ],
        root(squares * sum(f * f for f in factors)),
    )


# Weighted Nesbitt; numbers: the three weights.


def _draw_nesbitt(rng: Rng, size: int) -> Numbers:
    while True:
        weights = integers(rng, 1, 14 + size, 3)
        low, middle, high = sorted(weights)
        # the root of the largest is less than the sum of the others: then equality is possible
        if high < low + middle or (high - low - middle) ** 2 < 4 * low * middle:
            return weights


def _nesbitt(a: int, b: int, c: int) -> Question:
    roots = root(a) + root(b) + root(c)
    answer = roots * roots / 2 - (a + b + c)
    terms = " + ".join(
        f"\\frac{{{_times(n, top)}}}{{{below}}}"
        for n, top, below in ((a, "x", "y + z"), (b, "y", "z + x"), (c, "z", "x + y"))
    )
    return Question(
        f"What is the smallest value of ${terms}$ for positive real numbers $x, y, z$?",
        answer,
        [
            (
                f"Add {a} + {b} + {c} = {a + b + c}: each term then has the numerator x + y + z "
                "times its weight."
            ),
            (
                f"With u = y + z, v = z + x, w = x + y the sum is (u + v + w)/2 * ({a}/u + {b}/v + "
                f"{c}/w)."
            ),
            (
                f"By the Cauchy-Schwarz inequality this is at least (sqrt({a}) + sqrt({b}) + "
                f"sqrt({c}))^2 / 2 = {roots * roots / 2}."
            ),
            (
                f"Equality holds for u : v : w = sqrt({a}) : sqrt({b}) : sqrt({c}), where x, y and "
                "z are positive, since each root is less than the sum of the others."
            ),
            f"{roots * roots / 2} - {a + b + c} = {answer}",
        ],
        Fraction(a + b + c, 2),
    )


# Hoelder; numbers: a root of the product, and three numbers that make the shifts.


def _draw_hoelder(rng: Rng, size: int) -> Numbers:
    while True:
        found = integers(rng, 1, 5 + size // 3, 3)
        if len(set(found)) > 1:
            return integer(rng, 2, 9 + size), *found


def _hoelder(k: int, u: int, v: int, w: int) -> Question:
    a, b, c = u * u * v, v * v * w, w * w * u
    answer = (k + u * v * w) ** 3
    return Question(
        f"Positive real numbers $x, y, z$ satisfy $xyz = {k**3}$. What is the smallest possible "
        f"value of $(x + {a})(y + {b})(z + {c})$?",
        answer,
        [
            (
                "By Hoelder's inequality the cube root of the product is at least the cube root of "
                f"xyz plus the cube root of {a} * {b} * {c}."
            ),
            f"The cube root of {k**3} is {k}, and that of {a * b * c} is {u * v * w}.",
            f"Equality holds where x/{a}, y/{b} and z/{c} are all {k}/{u * v * w}.",
            f"({k} + {u * v * w})^3 = {k + u * v * w}^3 = {answer}",
        ],
        (k + a) * (k + b) * (k + c),
    )


# Products of pairs on a simplex; numbers: the sum, the weights.


def _draw_pairs(rng: Rng, size: int) -> Numbers:
    while True:
        weights = integers(rng, 2, 11 + size, 3)
        if 2 * max(weights) < sum(weights) and len(set(weights)) > 1:
            return integer(rng, 1, 12 + size), *weights


def _pairs(total: int, a: int, b: int, c: int) -> Question:
    x, y, z = a * (b + c - a), b * (c + a - b), c * (a + b - c)
    below = x + y + z
    answer = Fraction(a * b * c * total**2, below)
    return Question(
        f"Non-negative real numbers $x, y, z$ satisfy $x + y + z = {total}$. What is the largest "
        f"possible value of ${_times(a, 'yz')} + {_times(b, 'zx')} + {_times(c, 'xy')}$?",
        answer,
        [
            (
                f"At an inner extremum all partial derivatives are equal: {b}z + {c}y = {a}z + "
                f"{c}x = {a}y + {b}x."
            ),
            (
                f"The solution is x : y : z = {a}({b} + {c} - {a}) : {b}({c} + {a} - {b}) : "
                f"{c}({a} + {b} - {c}) = {x} : {y} : {z}, all positive."
            ),
            (
                "On the plane of a given sum the form is concave, because the weights are the "
                "sides of a triangle, so this is the maximum."
            ),
            (
                f"The common derivative is 2 * {a} * {b} * {c} * {total} / {below}, and the value "
                f"is half of it times {total}."
            ),
            f"{a} * {b} * {c} * {total}^2 / {below} = {answer}",
        ],
        Fraction(max(a, b, c) * total**2, 4),
    )


# Symmetric products of numbers with given sum and squares; numbers: the sum, the squares.


def _draw_moments(rng: Rng, size: int) -> Numbers:
    total = integer(rng, 2, 20 + size)
    return total, total**2 // 3 + integer(rng, 2, 60 + 2 * size)


def _moments(total: int, squares: int) -> tuple[str, Fraction, list[str]]:
    """Return the conditions, the centred sum of squares, and the steps that lead to it."""
    rest = squares - Fraction(total**2, 3)
    return (
        f"Real numbers $x, y, z$ satisfy $x + y + z = {total}$ and $x^2 + y^2 + z^2 = {squares}$.",
        rest,
        [
            (
                f"Let u, v, w be x, y, z less {total}/3. Then u + v + w = 0 and u^2 + v^2 + w^2 = "
                f"{squares} - {total}^2 / 3 = {rest}."
            ),
            (
                f"So uv + vw + wu = -({rest}) / 2 = {-rest / 2}, and u, v, w are the roots of t^3 "
                f"- {rest / 2} t - m, where m = uvw."
            ),
        ],
    )


def _differences(total: int, squares: int) -> Question:
    given, rest, steps = _moments(total, squares)
    answer = root(rest**3 / 2)
    return Question(
        f"{given} What is the largest possible value of $(x - y)(y - z)(z - x)$?",
        answer,
        [
            *steps,
            (
                f"The square of the product is the discriminant 4 ({rest / 2})^3 - 27 m^2, which "
                "is largest for m = 0. The order of the numbers can be chosen to make the product "
                "positive."
            ),
            f"4 * ({rest / 2})^3 = {rest**3 / 2}, so the largest value is its root {answer}.",
        ],
        root(rest) * rest,
    )


def _product(total: int, squares: int) -> Question:
    given, rest, steps = _moments(total, squares)
    mean = Fraction(total, 3)
    low = mean**3 - mean * rest / 2
    answer = root(rest / 6) * (rest / 3) + low
    return Question(
        f"{given} What is the largest possible value of $xyz$?",
        answer,
        [
            *steps,
            f"xyz = ({mean})^3 + {mean} * ({-rest / 2}) + m = {low} + m",
            (
                f"All roots are real if and only if 27 m^2 <= 4 ({rest / 2})^3, so m is at most 2 "
                f"sqrt(({rest / 6})^3) = {root(rest / 6) * (rest / 3)}, taken for two equal "
                "numbers."
            ),
            f"{low} + {root(rest / 6) * (rest / 3)} = {answer}",
        ],
        mean**3,
    )


FAMILIES = {
    "rearrangement": Family(1, _draw_rearranged, _rearranged),
    "sphere": Family(1, _draw_sphere, _sphere),
    "balance": Family(1, _draw_balance, _balance),
    "reciprocals": Family(1, _draw_reciprocals, _reciprocals),
    "shifted_product": Family(2, _draw_shifted, _shifted),
    "mirror": Family(2, _draw_mirror, _mirror),
    "reciprocal_condition": Family(2, _draw_condition, _condition),
    "powers": Family(2, _draw_powers, _powers),
    "quadratic_form": Family(3, _draw_form, _form),
    "quotient": Family(3, _draw_quotient, _quotient),
    "largest_number": Family(3, _draw_largest, _largest),
    "root_sum": Family(3, _draw_roots, _roots),
    "best_constant": Family(4, _draw_constant, _constant),
    "hoelder": Family(4, _draw_hoelder, _hoelder),
    "plane_and_sphere": Family(4, _draw_plane, _plane),
    "nesbitt": Family(5, _draw_nesbitt, _nesbitt),
    "pair_products": Family(5, _draw_pairs, _pairs),
    "differences": Family(5, _draw_moments, _differences),
    "product": Family(5, _draw_moments, _product),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class InequalityExtremumConfig(TaskConfig):
    """Which questions are asked, and how large their numbers are."""

    kinds: tuple[str, ...] = knob(KINDS, "kinds of questions to draw from", choices=KINDS)
    size: int = knob(5, "size of the coefficients and constants", low=0, high=1_000)

    @classmethod
    def at(cls, difficulty: int) -> "InequalityExtremumConfig":
        """Each level drops the easiest of four kinds for a harder one or two; numbers grow a bit.

        One use of a named inequality comes first; then a substitution or a splitting before it,
        and at the end several conditions at once, whose equality case decides.
        """
        return cls(kinds=window(KINDS, difficulty), size=min(difficulty, 1_000))


@register("InequalityExtremum-v0", domain="math")
class InequalityExtremumTask(FamilyTask[InequalityExtremumConfig]):
    """Find the largest or smallest value of an expression, or the best constant, exactly.

    Description:
        Nineteen kinds: rearrangement, AM-GM with and without weights, Cauchy-Schwarz on spheres,
        roots and reciprocals, Hoelder, the triangle inequality for a sum of roots, substitution by
        angles, discriminants, a constant split between two estimates, a weighted form of Nesbitt's
        inequality, products of pairs on a simplex, and symmetric expressions of three numbers with
        a given sum and sum of squares. The bound is always attained; the equality case is part of
        each worked solution.

    Observation:
        The conditions and the expression.

    Action:
        One number, exact: an integer, a fraction, or an expression with square roots.

    Reward:
        1 for the exact value, otherwise 0.

    Verification:
        The value is compared exactly, in any form; a rounded decimal earns nothing. A value with
        roots need not be simplified.

    Difficulty:
        The kinds need more ideas from level to level; the numbers grow a little. Beyond level 10
        only numbers grow.

    References:
        Hardy, Littlewood and Polya, Inequalities, chapters 2 and 10; Steele, The Cauchy-Schwarz
        Master Class, chapters 1, 2, 5 and 9.
    """

    Config = InequalityExtremumConfig
    families = FAMILIES
    answer_type = "real"
    form = "Answer with the exact value, not a rounded decimal; it may contain square roots."
