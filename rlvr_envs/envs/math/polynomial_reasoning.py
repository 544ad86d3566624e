"""Polynomials by ideas: symmetric functions, remainders, interpolation, roots of unity."""

import math
from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, nonzero
from rlvr_envs.generators.mathematics.families import (
    Family,
    FamilyTask,
    Numbers,
    Question,
    window,
)
from rlvr_envs.generators.mathematics.latex import polynomial
from rlvr_envs.generators.mathematics.polynomials import evaluate
from rlvr_envs.generators.mathematics.steps import operand, total

# A cubic x^3 - e1 x^2 + e2 x - e3 is given by the elementary symmetric functions of its roots.


def _cubic(e1: int, e2: int, e3: int) -> tuple[int, int, int, int]:
    return -e3, e2, -e1, 1


def _roots(e1: int, e2: int, e3: int) -> str:
    return (
        f"Let $r, s, t$ be the three complex roots of ${polynomial(_cubic(e1, e2, e3))}$, counted "
        "with multiplicity."
    )


def _vieta(e1: int, e2: int, e3: int) -> str:
    return f"By Vieta r + s + t = {e1}, rs + st + tr = {e2} and rst = {e3}."


def _power_sums(e1: int, e2: int, e3: int, count: int) -> list[int]:
    """Return the sums of the powers 0 to count of the roots, by Newton's identities."""
    sums = [3, e1, e1 * e1 - 2 * e2]
    while len(sums) <= count:
        sums.append(e1 * sums[-1] - e2 * sums[-2] + e3 * sums[-3])
    return sums


def _draw_cubic(rng: Rng, size: int) -> Numbers:
    return tuple(nonzero(rng, 9 + size) for _ in range(3))


def _draw_sharing(rng: Rng, size: int) -> Numbers:
    """Draw a cubic whose coefficients have different sizes."""
    while True:
        found = _draw_cubic(rng, size)
        if len({abs(e) for e in found}) == 3:
            return found


def _root_squares(e1: int, e2: int, e3: int) -> Question:
    answer = e1 * e1 - 2 * e2
    return Question(
        f"{_roots(e1, e2, e3)} Find $r^2 + s^2 + t^2$.",
        answer,
        [
            _vieta(e1, e2, e3),
            f"(r + s + t)^2 - 2(rs + st + tr) = {operand(e1)}^2 - 2 * {operand(e2)} = {answer}",
        ],
        answer,
    )


def _root_reciprocals(e1: int, e2: int, e3: int) -> Question:
    answer = Fraction(e2, e3) ** 2 - 2 * Fraction(e1, e3)
    return Question(
        f"{_roots(e1, e2, e3)} Find $\\frac{{1}}{{r^2}} + \\frac{{1}}{{s^2}} + "
        "\\frac{1}{t^2}$.",
        answer,
        [
            _vieta(e1, e2, e3),
            (
                f"The reciprocals have the sum (rs + st + tr)/rst = {Fraction(e2, e3)} and the sum "
                f"of products (r + s + t)/rst = {Fraction(e1, e3)}."
            ),
            f"{operand(Fraction(e2, e3))}^2 - 2 * {operand(Fraction(e1, e3))} = {answer}",
        ],
        Fraction(e2, e3),
    )


# Coefficients of even powers; numbers: both coefficients of the power, the exponent, the factor.


def _draw_even(rng: Rng, size: int) -> Numbers:
    while True:
        a, b, c, d = (nonzero(rng, 4) for _ in range(4))
        if abs(a) != abs(b) and abs(c) != abs(d):
            return a, b, integer(rng, 3, 6 + size // 3), c, d


def _even(a: int, b: int, exponent: int, c: int, d: int) -> Question:
    plus, minus = (a + b) ** exponent * (c + d), (b - a) ** exponent * (d - c)
    answer = (plus + minus) // 2
    return Question(
        f"The product $({polynomial((b, a))})^{{{exponent}}}({polynomial((d, c))})$ is expanded "
        "into powers of $x$. Find the sum of the coefficients of the even powers, with the "
        "constant term.",
        answer,
        [
            (
                f"At x = 1 the value is the sum of all coefficients: {operand(a + b)}^{exponent} * "
                f"{operand(c + d)} = {plus}"
            ),
            (
                f"At x = -1 the odd powers count negative: {operand(b - a)}^{exponent} * "
                f"{operand(d - c)} = {minus}"
            ),
            f"Half of the sum: ({plus} + {operand(minus)}) / 2 = {answer}",
        ],
        plus,
    )


# The remainder of a power; numbers: exponent, both roots of the divisor, where it is evaluated.


def _draw_remainder(rng: Rng, size: int) -> Numbers:
    while True:
        a, b, at = (integer(rng, -4, 5) for _ in range(3))
        if len({a, b, at}) == 3 and {abs(a), abs(b)} - {0, 1}:
            return integer(rng, 6, 9 + size // 2), a, b, at


def _remainder(exponent: int, a: int, b: int, at: int) -> Question:
    slope = (a**exponent - b**exponent) // (a - b)
    answer = a**exponent + slope * (at - a)
    return Question(
        f"Let $R(x)$ be the remainder when $x^{{{exponent}}}$ is divided by "
        f"${polynomial((a * b, -a - b, 1))}$. Find $R({at})$.",
        answer,
        [
            (
                f"The divisor is 0 at x = {a} and x = {b}, so R has the values {a**exponent} and "
                f"{b**exponent} there, and its degree is at most 1."
            ),
            (
                f"Its slope is ({a**exponent} - {operand(b**exponent)}) / ({a} - {operand(b)}) = "
                f"{slope}"
            ),
            f"R({at}) = {a**exponent} + {operand(slope)} * ({at} - {operand(a)}) = {answer}",
        ],
        at**exponent,
    )


# Divisibility; numbers: the shift, the constant.


def _draw_divisible(rng: Rng, size: int) -> Numbers:
    while True:
        shift, constant = integer(rng, 3, 15 + size), integer(rng, 1, 60 + 5 * size)
        if abs(constant - shift**3) > 2 * shift:
            return shift, constant


def _divisible(shift: int, constant: int) -> Question:
    rest = constant - shift**3
    answer = abs(rest) - shift
    return Question(
        f"What is the largest positive integer $n$ such that $n + {shift}$ divides $n^3 + "
        f"{constant}$?",
        answer,
        [
            (
                f"Modulo n + {shift} the number n is -{shift}, so n^3 + {constant} is {constant} - "
                f"{shift**3} = {rest}."
            ),
            f"So n + {shift} must divide {rest}, which is not 0, and can be {abs(rest)}.",
            f"{abs(rest)} - {shift} = {answer}",
        ],
        abs(constant - shift),
    )


# A telescoping sum; numbers: terms, start, difference.


def _draw_telescope(rng: Rng, size: int) -> Numbers:
    return integer(rng, 10, 60 + 5 * size), integer(rng, 1, 9), integer(rng, 2, 4)


def _telescope(terms: int, start: int, step: int) -> Question:
    firsts = [start + k for k in range(step)]
    lasts = [start + terms + k for k in range(step)]
    answer = sum((Fraction(1, k) for k in firsts), Fraction(0))
    answer = (answer - sum((Fraction(1, k) for k in lasts), Fraction(0))) / step
    return Question(
        f"Find $\\sum_{{k=0}}^{{{terms - 1}}} \\frac{{1}}{{(k + {start})(k + {start + step})}}$.",
        answer,
        [
            f"Each term is (1/(k + {start}) - 1/(k + {start + step})) / {step}.",
            (
                f"Only the first {step} positive and the last {step} negative parts stay: "
                f"{' + '.join(f'1/{k}' for k in firsts)} less "
                f"{' + '.join(f'1/{k}' for k in lasts)}."
            ),
            f"Divided by {step} this is {answer}.",
        ],
        (Fraction(1, start) - Fraction(1, start + terms)) / step,
    )


# A higher power sum; numbers: the cubic, the exponent.


def _draw_newton(rng: Rng, size: int) -> Numbers:
    found = tuple(nonzero(rng, 4 + size // 3) for _ in range(3))
    return *found, integer(rng, 4, 6 + size // 4)


def _newton(e1: int, e2: int, e3: int, exponent: int) -> Question:
    sums = _power_sums(e1, e2, e3, exponent)
    return Question(
        f"{_roots(e1, e2, e3)} Find $r^{exponent} + s^{exponent} + t^{exponent}$.",
        sums[-1],
        [
            _vieta(e1, e2, e3),
            (
                f"With p(k) for the sum of the k-th powers: p(0) = 3, p(1) = {sums[1]}, p(2) = "
                f"{sums[2]}."
            ),
            (
                f"Each root satisfies its equation, so p(k) = {operand(e1)} p(k-1) - {operand(e2)} "
                f"p(k-2) + {operand(e3)} p(k-3)."
            ),
            f"p(3) to p({exponent}): {', '.join(map(str, sums[3:]))}",
        ],
        e1**exponent,
    )


# The logarithmic derivative; numbers: the cubic, a number that is no root.


def _draw_shifted(rng: Rng, size: int) -> Numbers:
    while True:
        cubic, at = _draw_cubic(rng, size), integer(rng, -5, 5)
        if at and evaluate(_cubic(*cubic), at):
            return *cubic, at


def _shifted(e1: int, e2: int, e3: int, at: int) -> Question:
    value = evaluate(_cubic(e1, e2, e3), at)
    slope = 3 * at * at - 2 * e1 * at + e2
    answer = Fraction(slope, value)
    terms = " + ".join(f"\\frac{{1}}{{{at} - {name}}}" for name in "rst")
    return Question(
        f"{_roots(e1, e2, e3)} Find ${terms}$.",
        answer,
        [
            "With P(x) = (x - r)(x - s)(x - t), the sum of 1/(x - root) is P'(x)/P(x).",
            (
                f"P({at}) = {value}, and the slope there is 3 * {operand(at)}^2 - "
                f"2 * {operand(e1)} * {operand(at)} + {operand(e2)} = {slope}"
            ),
            f"{slope} / {operand(value)} = {answer}",
        ],
        Fraction(3, 3 * at - e1) if 3 * at != e1 else Fraction(e2, e3),
    )


# A quartic with three known values; numbers: the slope of the values, the place.


def _draw_quartic(rng: Rng, size: int) -> Numbers:
    return nonzero(rng, 40 + 4 * size), integer(rng, 5, 14 + size)


def _quartic(slope: int, at: int) -> Question:
    answer = 4 * slope + (at - 1) * (at - 2) * (at - 3) * (2 * at - 4)
    return Question(
        f"A polynomial $P$ of degree 4 with leading coefficient 1 has $P(1) = {slope}$, $P(2) = "
        f"{2 * slope}$ and $P(3) = {3 * slope}$. Find $P({at}) + P({4 - at})$.",
        answer,
        [
            (
                f"P(x) - {operand(slope)}x is 0 at 1, 2 and 3, so it is (x - 1)(x - 2)(x - 3)(x - "
                "c) with an unknown c."
            ),
            (
                f"At 4 - x the first three factors have the opposite product, so the sum of both "
                f"values is {operand(4 * slope)} + (x - 1)(x - 2)(x - 3)((x - c) - (4 - x - c))."
            ),
            f"{operand(4 * slope)} + {at - 1} * {at - 2} * {at - 3} * {2 * at - 4} = {answer}",
        ],
        4 * slope,
    )


# Interpolation of powers and of reciprocals; numbers: degree, base or place.


def _draw_powers(rng: Rng, size: int) -> Numbers:
    return integer(rng, 3, 6 + size // 3), integer(rng, 3, 9 + size // 2), integer(rng, 1, 25)


def _powers(degree: int, base: int, factor: int) -> Question:
    at = degree + 1
    answer = factor * (base**at - (base - 1) ** at)
    return Question(
        f"A polynomial $P$ of degree at most {degree} has $P(k) = {factor} \\cdot {base}^k$ for $k "
        f"= 0, 1, \\dots, {degree}$. Find $P({at})$.",
        answer,
        [
            (
                f"P(k) is {factor} times the sum of C(k, j) * {base - 1}^j over j up to {degree}, "
                f"since this has the degree {degree} and the right values by the binomial theorem."
            ),
            f"At {at} only the term j = {at} of {base}^{at} is missing.",
            f"{factor} * ({base}^{at} - {base - 1}^{at}) = {answer}",
        ],
        factor * base**at,
    )


def _draw_reciprocals(rng: Rng, size: int) -> Numbers:
    degree = integer(rng, 3, 7 + size // 4)
    return degree, degree + integer(rng, 2, 5), integer(rng, 1, 40)


def _reciprocals(degree: int, at: int, factor: int) -> Question:
    count = degree + 1
    sign = 1 if count % 2 else -1
    product = math.prod(at - k for k in range(1, count + 1))
    inner = 1 + Fraction(sign * product, math.factorial(count))
    answer = inner * factor / at
    return Question(
        f"A polynomial $P$ of degree at most {degree} has $P(k) = \\frac{{{factor}}}{{k}}$ for $k "
        f"= 1, 2, \\dots, {count}$. Find $P({at})$.",
        answer,
        [
            (
                f"x P(x) - {factor} has the degree {count} at most and is 0 at 1, ..., {count}, so "
                f"it is c (x - 1) ... (x - {count})."
            ),
            f"At x = 0 it is -{factor}, so c = {'' if sign > 0 else '-'}{factor} / {count}!.",
            f"At {at} the product is {product}, so {at} P({at}) = {factor} * {operand(inner)}.",
            f"P({at}) = {answer}",
        ],
        Fraction(factor, at),
    )


# A coefficient with bounded exponents; numbers: factors, the highest exponent, the power.


def _draw_bounded(rng: Rng, size: int) -> Numbers:
    count, high = integer(rng, 4, 7 + size // 3), integer(rng, 3, 7 + size // 3)
    return count, high, integer(rng, high + 2, min(count * high // 2, 2 * high + 6))


def _bounded(count: int, high: int, power: int) -> Question:
    parts = [
        (-1) ** j * math.comb(count, j) * math.comb(power - j * (high + 1) + count - 1, count - 1)
        for j in range(power // (high + 1) + 1)
    ]
    return Question(
        f"Find the coefficient of $x^{{{power}}}$ in $(1 + x + x^2 + \\dots + x^{{{high}}})^"
        f"{{{count}}}$.",
        sum(parts),
        [
            f"The power is (1 - x^{high + 1})^{count} * (1 - x)^(-{count}).",
            (
                f"Take j factors x^{high + 1} from the first: the terms are (-1)^j C({count}, j) "
                f"C({power} - {high + 1}j + {count - 1}, {count - 1})."
            ),
            f"{total(parts)} = {sum(parts)}",
        ],
        parts[0],
    )


# The remainder by a quadratic; numbers: exponent, both coefficients, the place.


def _draw_quadratic(rng: Rng, size: int) -> Numbers:
    while True:
        p, q = nonzero(rng, 4), nonzero(rng, 4)
        square = p * p + 4 * q
        if square < 0 or math.isqrt(square) ** 2 != square:
            return integer(rng, 7, 10 + size // 2), p, q, integer(rng, 2, 6)


def _quadratic(exponent: int, p: int, q: int, at: int) -> Question:
    low, high = 0, 1  # x^k is high x + q low
    pairs = []
    for _ in range(exponent - 1):
        low, high = high, p * high + q * low
        pairs.append((high, q * low))
    answer = high * at + q * low
    written = "; ".join(
        f"{operand(a)}x + {operand(b)}" if b >= 0 else f"{operand(a)}x - {-b}" for a, b in pairs
    )
    return Question(
        f"Let $R(x)$ be the remainder when $x^{{{exponent}}}$ is divided by "
        f"${polynomial((-q, -p, 1))}$. Find $R({at})$.",
        answer,
        [
            (
                f"Modulo the divisor x^2 is {operand(p)}x + {operand(q)}, so a x + b times x is "
                f"({operand(p)}a + b) x + {operand(q)}a."
            ),
            f"The remainders of x^2 to x^{exponent}: {written}.",
            f"{operand(high)} * {at} + {operand(q * low)} = {answer}",
        ],
        (p * at + q) ** (exponent // 2),
    )


# The smallest polynomial of two square roots; numbers: both radicands, the place.


def _draw_surds(rng: Rng, size: int) -> Numbers:
    while True:
        a, b = integers(rng, 2, 20 + size, 2)
        if all(math.isqrt(n) ** 2 != n for n in (a, b, a * b)):
            return a, b, integer(rng, 1, 9)


def _surds(a: int, b: int, at: int) -> Question:
    answer = (at * at - a - b) ** 2 - 4 * a * b
    return Question(
        f"Let $P$ be the polynomial of least degree with leading coefficient 1 and rational "
        f"coefficients that is 0 at $\\sqrt{{{a}}} + \\sqrt{{{b}}}$. Find $P({at})$.",
        answer,
        [
            f"For x = sqrt({a}) + sqrt({b}) the square is x^2 = {a + b} + 2 sqrt({a * b}).",
            (
                f"So (x^2 - {a + b})^2 = 4 * {a * b}. Neither {a}, {b} nor {a * b} is a square, so "
                "the degree 4 is the least."
            ),
            f"({at}^2 - {a + b})^2 - 4 * {a * b} = {answer}",
        ],
        at * at - a - b,
    )


# A product over the roots; numbers: the cubic, both coefficients of the quadratic.


def _draw_product(rng: Rng, size: int) -> Numbers:
    found = tuple(nonzero(rng, 5 + size // 2) for _ in range(3))
    return *found, nonzero(rng, 5), nonzero(rng, 9)


def _product(e1: int, e2: int, e3: int, p: int, q: int) -> Question:
    # modulo x^2 + p x + q the cubic is a x + b, and its product over both roots is below
    a = p * p - q + e1 * p + e2
    b = (p + e1) * q - e3
    answer = a * a * q - a * b * p + b * b
    factors = "".join(f"({polynomial((q, p, 1), name)})" for name in "rst")
    return Question(
        f"{_roots(e1, e2, e3)} Find ${factors}$.",
        answer,
        [
            (
                "Let u and v be the roots of the quadratic x^2 + px + q. With P for the cubic, the "
                "product is P(u) P(v), since both are the product of all differences."
            ),
            (
                f"Here p = {p} and q = {q}. Modulo the quadratic P leaves {operand(a)}x + "
                f"{operand(b)}."
            ),
            (
                f"({operand(a)}u + {operand(b)})({operand(a)}v + {operand(b)}) with u + v = {-p} "
                f"and uv = {q} is {operand(a)}^2 * {operand(q)} + {operand(a)} * {operand(b)} * "
                f"{operand(-p)} + {operand(b)}^2 = {answer}"
            ),
        ],
        e3 * e3 + q**3,
    )


# Power sums; numbers: the first three sums.


def _draw_sums(rng: Rng, size: int) -> Numbers:
    return tuple(nonzero(rng, 8 + size) for _ in range(3))


def _sums(p1: int, p2: int, p3: int) -> Question:
    e2 = Fraction(p1 * p1 - p2, 2)
    e3 = (p3 - p1 * p2 + e2 * p1) / 3
    answer = p1 * p3 - e2 * p2 + e3 * p1
    return Question(
        f"Complex numbers $x, y, z$ satisfy $x + y + z = {p1}$, $x^2 + y^2 + z^2 = {p2}$ and $x^3 "
        f"+ y^3 + z^3 = {p3}$. Find $x^4 + y^4 + z^4$.",
        answer,
        [
            f"xy + yz + zx = ({operand(p1)}^2 - {operand(p2)}) / 2 = {e2}",
            (
                f"Newton's identity for the cubes gives 3xyz = {p3} - {operand(p1)} * "
                f"{operand(p2)} + {operand(e2)} * {operand(p1)}, so xyz = {e3}."
            ),
            (
                f"Newton's identity for the fourth powers: {operand(p1)} * {operand(p3)} - "
                f"{operand(e2)} * {operand(p2)} + {operand(e3)} * {operand(p1)} = {answer}"
            ),
        ],
        p2 * p2,
    )


# Binomial coefficients in steps; numbers: n, the step, the remainder, the base of a power.


def _draw_filter(rng: Rng, size: int) -> Numbers:
    step = integer(rng, 3, 4)
    return integer(rng, 9, 18 + size), step, integer(rng, 0, step - 1), integer(rng, 1, 3)


def _filter(n: int, step: int, rest: int, base: int) -> Question:
    # over the pairs a + b w in the Gaussian (w^2 = -1) or Eisenstein (w^2 = -1 - w) integers
    def times(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
        cross = x[1] * y[1]
        low, high = x[0] * y[0] - cross, x[0] * y[1] + x[1] * y[0]
        return (low, high) if step == 4 else (low, high - cross)

    root: tuple[int, int] = (1, 0)
    parts = []
    for j in range(step):
        power, turn = (1, 0), (1, 0)
        for _ in range(n):
            power = times(power, (1 + base * root[0], base * root[1]))
        for _ in range((-j * rest) % step):
            turn = times(turn, (0, 1))
        parts.append(times(turn, power))
        root = times(root, (0, 1))
    answer = sum(part[0] for part in parts) // step
    factor = "" if base == 1 else f" {base}^k"
    name = "i" if step == 4 else "w"
    law = "i^2 = -1" if step == 4 else "w^2 + w + 1 = 0"
    return Question(
        f"Find the sum of $\\binom{{{n}}}{{k}}{factor}$ over all integers $k$ with $0 \\le k \\le "
        f"{n}$ that leave the remainder {rest} when they are divided by {step}.",
        answer,
        [
            (
                f"Let f(x) = (1 + {'' if base == 1 else base}x)^{n}, and let {name} be a root of "
                f"unity of order {step}: {law}."
            ),
            f"The sum is the mean of {name}^(-{rest}j) f({name}^j) over j from 0 to {step - 1}.",
            (
                f"These are, in the form a + b{name}: "
                f"{'; '.join(f'{a} + {operand(b)}{name}' for a, b in parts)}."
            ),
            f"({total([a for a, _ in parts])}) / {step} = {answer}",
        ],
        Fraction((1 + base) ** n, step),
    )


# A product over roots of unity; numbers: n, both roots of the quadratic.


def _draw_unity(rng: Rng, size: int) -> Numbers:
    while True:
        u, v = nonzero(rng, 6 + size // 4), nonzero(rng, 6 + size // 4)
        if u != v and 1 not in (abs(u), abs(v)):
            return integer(rng, 4, 7 + size // 3), u, v


def _unity(n: int, u: int, v: int) -> Question:
    answer = (u**n - 1) * (v**n - 1)
    quadratic = polynomial((u * v, -u - v, 1), "z")
    return Question(
        f"Find the product of ${quadratic}$ over all {n} complex numbers $z$ with $z^{{{n}}} = 1$.",
        answer,
        [
            f"The quadratic is (z - {operand(u)})(z - {operand(v)}).",
            (
                f"The product of (x - z) over the roots of unity is x^{n} - 1. So that of (z - x) "
                f"is {'' if n % 2 == 0 else '-'}(x^{n} - 1)."
            ),
            (
                f"Both factors together: ({operand(u)}^{n} - 1) * ({operand(v)}^{n} - 1) = "
                f"{operand(u**n - 1)} * {operand(v**n - 1)} = {answer}"
            ),
        ],
        (u * v) ** n - 1,
    )


# The smallest polynomial of a square root and a cube root; numbers: both radicands, the place.


def _draw_radicals(rng: Rng, size: int) -> Numbers:
    while True:
        a, b = integers(rng, 2, 12 + size, 2)
        if math.isqrt(a) ** 2 != a and round(b ** (1 / 3)) ** 3 != b:
            return a, b, integer(rng, 1, 5)


def _radicals(a: int, b: int, at: int) -> Question:
    odd, even = at**3 + 3 * a * at - b, 3 * at * at + a
    answer = odd**2 - a * even**2
    return Question(
        f"Let $P$ be the polynomial of least degree with leading coefficient 1 and rational "
        f"coefficients that is 0 at $\\sqrt{{{a}}} + \\sqrt[3]{{{b}}}$. Find $P({at})$.",
        answer,
        [
            (
                f"For such x, (x - sqrt({a}))^3 = {b}, that is x^3 + {3 * a}x - {b} = sqrt({a}) "
                f"(3x^2 + {a})."
            ),
            (
                f"Squared: P(x) = (x^3 + {3 * a}x - {b})^2 - {a} (3x^2 + {a})^2. Its degree 6 is "
                "the least, since the degrees 2 and 3 of the roots are coprime."
            ),
            f"At {at} the brackets are {odd} and {even}.",
            f"{operand(odd)}^2 - {a} * {even}^2 = {answer}",
        ],
        (at * at - a) * (at**3 - b),
    )


FAMILIES = {
    "root_squares": Family(1, _draw_cubic, _root_squares),
    "even_coefficients": Family(1, _draw_even, _even),
    "root_reciprocals": Family(1, _draw_sharing, _root_reciprocals),
    "linear_remainder": Family(2, _draw_remainder, _remainder),
    "largest_divisor": Family(2, _draw_divisible, _divisible),
    "telescope": Family(2, _draw_telescope, _telescope),
    "newton_sum": Family(2, _draw_newton, _newton),
    "root_differences": Family(3, _draw_shifted, _shifted),
    "known_values": Family(3, _draw_quartic, _quartic),
    "power_values": Family(3, _draw_powers, _powers),
    "reciprocal_values": Family(3, _draw_reciprocals, _reciprocals),
    "bounded_exponents": Family(4, _draw_bounded, _bounded),
    "quadratic_remainder": Family(4, _draw_quadratic, _quadratic),
    "square_roots": Family(4, _draw_surds, _surds),
    "power_sums": Family(4, _draw_sums, _sums),
    "root_product": Family(5, _draw_product, _product),
    "unity_filter": Family(5, _draw_filter, _filter),
    "unity_product": Family(5, _draw_unity, _unity),
    "mixed_roots": Family(5, _draw_radicals, _radicals),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class PolynomialReasoningConfig(TaskConfig):
    """Which questions are asked, and how large their numbers are."""

    kinds: tuple[str, ...] = knob(KINDS, "kinds of questions to draw from", choices=KINDS)
    size: int = knob(5, "size of the coefficients and exponents", low=0, high=100)

    @classmethod
    def at(cls, difficulty: int) -> "PolynomialReasoningConfig":
        """Each level drops the easiest of four kinds for a harder one or two; numbers grow a bit.

        Vieta's formulas and special values come first; then remainders, Newton's identities and
        interpolation, and at the end products over roots, filters by roots of unity and
        polynomials of sums of radicals.
        """
        return cls(kinds=window(KINDS, difficulty), size=min(difficulty, 100))


@register("PolynomialReasoning-v0", domain="math")
class PolynomialReasoningTask(FamilyTask[PolynomialReasoningConfig]):
    """Find a number about a polynomial without computing its roots or coefficients.

    Description:
        Nineteen kinds: symmetric functions of roots (squares, reciprocals, higher powers,
        differences from a number, products over the roots), sums of coefficients, remainders of
        powers, divisibility, telescoping sums, polynomials known by a few values, coefficients with
        bounded exponents, power sums of three numbers, sums of every third or fourth binomial
        coefficient, products over roots of unity, and the smallest polynomial of a sum of radicals.

    Observation:
        One question.

    Action:
        One rational number: an integer, a fraction or an exact decimal.

    Reward:
        1 for the exact value, otherwise 0.

    Verification:
        Exact, on fractions. An expression that is still to be evaluated earns nothing.

    Difficulty:
        The kinds need more ideas from level to level; the numbers grow a little. Beyond level 10
        only numbers grow.

    References:
        Barbeau, Polynomials, chapters 1, 2, 4 and 7; Graham, Knuth and Patashnik, Concrete
        Mathematics, chapters 5 and 7.
    """

    Config = PolynomialReasoningConfig
    families = FAMILIES
