"""Functional equations with one solution, or one value, asked for that value at a point."""

from dataclasses import dataclass
from fractions import Fraction
from math import comb

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
from rlvr_envs.generators.mathematics.latex import number, polynomial

_RATIONAL = "A function f takes rational numbers to rational numbers and satisfies"
_INTEGER = "Answer with an integer."
_WHOLE = "A function f takes positive integers to integers."
_WIDEST = 60  # sizes beyond this give numbers of hundreds of digits, which teach nothing


def _at(top: int, bottom: int) -> str:
    return number(Fraction(top, bottom))


def _size(size: int) -> int:
    return 3 + 2 * size


# f(x + y) = f(x) + f(y) + cxy; numbers: c, a and f(a), the point as a fraction.


def _draw_additive(rng: Rng, size: int) -> Numbers:
    wide = _size(size)
    point = (2 * wide + nonzero(rng, 2 * wide - 1), integer(rng, 2, 3 + size))
    return (nonzero(rng, wide), integer(rng, 1, wide), nonzero(rng, 5 * wide), *point)


def _state_additive(c: int, a: int, value: int, top: int, bottom: int) -> Question:
    x = Fraction(top, bottom)
    slope = (value - Fraction(c * a * a, 2)) / a
    answer = Fraction(c, 2) * x * x + slope * x
    sign = "-" if c < 0 else "+"
    factor = "" if abs(c) == 1 else str(abs(c))
    return Question(
        f"{_RATIONAL} $f(x + y) = f(x) + f(y) {sign} {factor}xy$ for all x and y, and "
        f"$f({a}) = {value}$. What is $f({number(x)})$?",
        answer,
        [
            (
                f"g(x) = f(x) - ({Fraction(c, 2)}) * x^2 satisfies g(x + y) = g(x) + g(y), so "
                "g(x) = k * x for rational x."
            ),
            f"f({a}) = {value} gives k = {slope}.",
            f"({Fraction(c, 2)}) * ({x})^2 + ({slope}) * ({x}) = {answer}",
        ],
        Fraction(value, a) * x,
    )


# u f(x) + v f(s - x) = ax + b; numbers: u, v, s, a, b, the point.


def _draw_reflection(rng: Rng, size: int) -> Numbers:
    wide = _size(size)
    u, v = integers(rng, 1, 2 + wide, 2)
    s, a, b = nonzero(rng, 3 * wide), nonzero(rng, wide), nonzero(rng, 3 * wide)
    x = integer(rng, -5 * wide, 5 * wide)
    return u + (u == v), v, s, a, b, x + (2 * x == s)


def _state_reflection(u: int, v: int, s: int, a: int, b: int, x: int) -> Question:
    here, there = a * x + b, a * (s - x) + b
    answer = Fraction(u * here - v * there, u * u - v * v)
    return Question(
        f"{_RATIONAL} ${_times(u)}f(x) + {_times(v)}f({s} - x) = {polynomial((b, a))}$ for all x. "
        f"What is $f({x})$?",
        answer,
        [
            f"x = {x}: {u} * f({x}) + {v} * f({s - x}) = {here}",
            f"x = {s - x}: {u} * f({s - x}) + {v} * f({x}) = {there}",
            (
                f"Take {u} times the first and {v} times the second: "
                f"{u * u - v * v} * f({x}) = {u * here - v * there}"
            ),
            f"f({x}) = {answer}",
        ],
        Fraction(here, u + v),
    )


def _times(factor: int) -> str:
    return "" if factor == 1 else f"{factor}"


# f(x + 1) = f(x) + ax + b; numbers: a, b, f(0), the point.


def _draw_step(rng: Rng, size: int) -> Numbers:
    wide = _size(size)
    a, b, start = nonzero(rng, wide), nonzero(rng, 2 * wide), nonzero(rng, 3 * wide)
    return a, b, start, integer(rng, 8, 40 * 4**size)


def _state_step(a: int, b: int, start: int, n: int) -> Question:
    answer = start + a * n * (n - 1) // 2 + b * n
    return Question(
        f"{_RATIONAL} $f(x + 1) = f(x) + ({polynomial((b, a))})$ for all x, and $f(0) = {start}$. "
        f"What is $f({n})$?",
        answer,
        [
            f"Add the equations for x from 0 to {n - 1}: "
            f"f({n}) = {start} + {a} * (0 + 1 + ... + {n - 1}) + {b} * {n}".replace("+ -", "- "),
            f"0 + 1 + ... + {n - 1} = {n * (n - 1) // 2}",
            f"{start} + {a} * {n * (n - 1) // 2} + {b} * {n} = {answer}".replace("+ -", "- "),
        ],
        start + n * (a * n + b),
    )


# f(x + y) + f(x - y) = 2 f(x) + 2 f(y) + c; numbers: c, a and f(a), the point as a fraction.


def _draw_quadratic(rng: Rng, size: int) -> Numbers:
    wide = _size(size)
    point = (2 * wide + nonzero(rng, 2 * wide - 1), integer(rng, 2, 3 + size))
    return (2 * nonzero(rng, wide), integer(rng, 1, wide), nonzero(rng, 5 * wide), *point)


def _state_quadratic(c: int, a: int, value: int, top: int, bottom: int) -> Question:
    x = Fraction(top, bottom)
    slope = (value + Fraction(c, 2)) / (a * a)
    answer = slope * x * x - Fraction(c, 2)
    told = f"+ {c}" if c > 0 else f"- {-c}"
    return Question(
        f"{_RATIONAL} $f(x + y) + f(x - y) = 2f(x) + 2f(y) {told}$ for all x and y, and "
        f"$f({a}) = {value}$. What is $f({number(x)})$?",
        answer,
        [
            f"x = y = 0 gives f(0) = {Fraction(-c, 2)}.",
            (
                "g(x) = f(x) - f(0) satisfies g(x + y) + g(x - y) = 2 g(x) + 2 g(y). By induction "
                "g(nx) = n^2 g(x), so g(x) = k * x^2 for rational x."
            ),
            f"f({a}) = {value} gives k = {slope}.",
            f"({slope}) * ({x})^2 - ({Fraction(c, 2)}) = {answer}",
        ],
        value * x * x / (a * a),
    )


# u f(x) + v f(k / x) = ax + b; numbers: u, v, k, a, b, the point.


def _draw_reciprocal(rng: Rng, size: int) -> Numbers:
    wide = _size(size)
    u, v = integers(rng, 1, 2 + wide, 2)
    k, a, b = integer(rng, 1, wide), nonzero(rng, wide), nonzero(rng, 3 * wide)
    x = nonzero(rng, 3 * wide)
    return u + (u == v), v, k, a, b, 2 * x if x * x == k else x


def _state_reciprocal(u: int, v: int, k: int, a: int, b: int, x: int) -> Question:
    other = Fraction(k, x)
    here, there = a * x + b, a * other + b
    answer = (u * here - v * there) / Fraction(u * u - v * v)
    return Question(
        f"A function f takes rational numbers except 0 to rational numbers and satisfies "
        f"${_times(u)}f(x) + {_times(v)}f\\left(\\frac{{{k}}}{{x}}\\right) = "
        f"{polynomial((b, a))}$ for all x except 0. What is $f({x})$?",
        answer,
        [
            f"x = {x}: {u} * f({x}) + {v} * f({other}) = {here}",
            f"x = {other}: {u} * f({other}) + {v} * f({x}) = {there}",
            (
                f"Take {u} times the first and {v} times the second: "
                f"{u * u - v * v} * f({x}) = {u * here - v * there}"
            ),
            f"f({x}) = {answer}",
        ],
        Fraction(here, u + v),
    )


# f(xy) = f(x) + f(y); numbers: exponents and value, twice, then the exponents of the point.


def _draw_logarithm(rng: Rng, size: int) -> Numbers:
    while True:
        a, b, c, d = integers(rng, 0, 4 + size, 4)
        if a * d != b * c and a + b > 1 and c + d > 1:
            break
    u, v = nonzero(rng, 20 + 5 * size), nonzero(rng, 20 + 5 * size)
    return a, b, u, c, d, v, integer(rng, 2, 9 + 5 * size), nonzero(rng, 9 + 5 * size)


def _power(twos: int, threes: int) -> str:
    above = [f"{p}^{{{e}}}" for p, e in ((2, twos), (3, threes)) if e > 0]
    below = [f"{p}^{{{-e}}}" for p, e in ((2, twos), (3, threes)) if e < 0]
    top = " \\cdot ".join(above) or "1"
    return f"\\frac{{{top}}}{{{below[0]}}}" if below else top


def _state_logarithm(*numbers: int) -> Question:
    a, b, u, c, d, v, e, g = numbers
    determinant = a * d - b * c
    two, three = Fraction(u * d - v * b, determinant), Fraction(a * v - c * u, determinant)
    answer = e * two + g * three
    return Question(
        "A function f takes positive rational numbers to rational numbers and satisfies "
        f"$f(xy) = f(x) + f(y)$ for all x and y, $f({2**a * 3**b}) = {u}$ and "
        f"$f({2**c * 3**d}) = {v}$. What is $f\\left({_power(e, g)}\\right)$?",
        answer,
        [
            (
                "f turns products into sums, so f(2^i * 3^j) = i * f(2) + j * f(3), also for "
                "negative i and j."
            ),
            f"{2**a * 3**b} = 2^{a} * 3^{b}: {a} * f(2) + {b} * f(3) = {u}",
            f"{2**c * 3**d} = 2^{c} * 3^{d}: {c} * f(2) + {d} * f(3) = {v}",
            f"So f(2) = {two} and f(3) = {three}.",
            f"{e} * ({two}) + ({g}) * ({three}) = {answer}",
        ],
        Fraction(u + v),
    )


# f(2n) = b f(n) + c, f(2n + 1) = b f(n) + d; numbers: f(1), b, c, d, the point.


def _draw_doubling(rng: Rng, size: int) -> Numbers:
    first, c, d = (nonzero(rng, 6 + size) for _ in range(3))
    return (
        first,
        integer(rng, 1, 3),
        c,
        (d + 1 or 1) if c == d else d,
        integer(rng, 60, 200 * 4**size),
    )


def _state_doubling(first: int, factor: int, even: int, odd: int, n: int) -> Question:
    values, steps = [first], []
    for place in range(n.bit_length() - 2, -1, -1):
        prefix = n >> place
        values.append(factor * values[-1] + (odd if prefix % 2 else even))
        steps.append(f"f({prefix}) = {values[-1]}")
    told = "" if factor == 1 else str(factor)
    return Question(
        f"{_WHOLE} It satisfies $f(1) = {first}$, $f(2n) = {told}f(n) {_plus(even)}$ and "
        f"$f(2n + 1) = {told}f(n) {_plus(odd)}$ for all n. What is $f({n})$?",
        values[-1],
        [f"In binary, {n} is {n:b}. Read it from the left: each digit is one step.", *steps],
        factor * first + (odd if n % 2 else even),
    )


def _plus(value: int) -> str:
    return f"- {-value}" if value < 0 else f"+ {value}"


# f(x + 1) = (a f(x) + b) / (c f(x) + d) of finite order; numbers: a, b, c, d, f(0), the point.


def _draw_moebius(rng: Rng, size: int) -> tuple[int, int, int, int]:
    """Return a map whose third, fourth or sixth power is the identity."""
    wide = 4 + size // 2
    while True:
        a, d, c = nonzero(rng, wide), nonzero(rng, wide), nonzero(rng, wide)
        order = integer(rng, 1, 3)  # trace^2 = order * determinant: order 3, 4 or 6
        top = order * a * d - (a + d) ** 2
        if a + d and top % (order * c) == 0:
            return a, top // (order * c), c, d


def _period(a: int, b: int, c: int, d: int) -> int:
    return {1: 3, 2: 4, 3: 6}[(a + d) ** 2 // (a * d - b * c)]


def _orbit(a: int, b: int, c: int, d: int, start: int) -> list[Fraction]:
    """Return the values of a period, or none where one of them is infinite."""
    found = [Fraction(start)]
    for _ in range(_period(a, b, c, d) - 1):
        below = c * found[-1] + d
        if not below:
            return []
        found.append((a * found[-1] + b) / below)
    return [] if c * found[-1] + d == 0 else found


def _draw_periodic(rng: Rng, size: int) -> Numbers:
    while True:
        moebius, start = _draw_moebius(rng, size), integer(rng, 2, 9 + size)
        if _orbit(*moebius, start):
            return (*moebius, start, integer(rng, 20, 100 * 5**size))


def _fraction_rule(a: int, b: int, c: int, d: int, name: str) -> str:
    def linear(slope: int, constant: int) -> str:
        factor = {1: "", -1: "-"}.get(slope, str(slope))
        tail = f" {_plus(constant)}" if constant else ""
        return f"{factor}{name}(x){tail}"

    return f"${name}(x + 1) = \\frac{{{linear(a, b)}}}{{{linear(c, d)}}}$"


def _state_periodic(a: int, b: int, c: int, d: int, start: int, n: int) -> Question:
    orbit = _orbit(a, b, c, d, start)
    whole, rest = divmod(n, len(orbit))
    around, tail = sum(orbit), sum(orbit[1 : rest + 1], Fraction(0))
    answer = whole * around + tail
    return Question(
        f"{_RATIONAL} {_fraction_rule(a, b, c, d, 'f')} for all x, and $f(0) = {start}$. What is "
        f"the sum $f(1) + f(2) + \\dots + f({n})$?",
        answer,
        [
            f"f(0), f(1), ... are {', '.join(map(str, orbit))}, and then they begin again.",
            f"A period has {len(orbit)} values with the sum {around}.",
            f"{n} = {whole} * {len(orbit)} + {rest}",
            f"The last {rest} of the values add up to {tail}."
            if rest
            else "No value is left over.",
            f"{whole} * ({around}) + ({tail}) = {answer}",
        ],
        n * orbit[1],
    )


# u f(x) + v f(1 / (1 - x)) = ax + b; numbers: u, v, a, b, the point as a fraction.


def _draw_cycle(rng: Rng, size: int) -> Numbers:
    wide = _size(size)
    u, v = integers(rng, 1, 2 + size, 2)
    bottom = integer(rng, 1, 3 + size)
    point = bottom + integer(rng, 1, 2 * wide)
    return u, v, nonzero(rng, wide), nonzero(rng, 2 * wide), point, bottom


def _state_cycle(u: int, v: int, a: int, b: int, top: int, bottom: int) -> Question:
    x = Fraction(top, bottom)
    y, z = 1 / (1 - x), 1 - 1 / x
    g = [a * at + b for at in (x, y, z)]
    answer = (u * u * g[0] - u * v * g[1] + v * v * g[2]) / Fraction(u**3 + v**3)
    return Question(
        "A function f takes rational numbers except 0 and 1 to rational numbers and satisfies "
        f"${_times(u)}f(x) + {_times(v)}f\\left(\\frac{{1}}{{1 - x}}\\right) = "
        f"{polynomial((b, a))}$ for all x except 0 and 1. What is $f({number(x)})$?",
        answer,
        [
            f"1 / (1 - x) takes {x} to {y}, that to {z}, and that back to {x}.",
            *(
                f"{u} * f({p}) + {v} * f({q}) = {value}"
                for p, q, value in zip((x, y, z), (y, z, x), g, strict=True)
            ),
            (
                f"Take {u}^2 times the first, minus {u} * {v} times the second, plus {v}^2 "
                f"times the third: {u**3 + v**3} * f({x}) = {answer * (u**3 + v**3)}"
            ),
            f"f({x}) = {answer}",
        ],
        g[0] / (u + v),
    )


# f(x + y) + f(x - y) = f(x) f(y) on integers; numbers: f(1), the point, modulus.


def _draw_cosine(rng: Rng, size: int) -> Numbers:
    return integer(rng, 3, 12 + size), integer(rng, 6, 40 * 4**size), integer(rng, 200, 999)


def _state_cosine(first: int, n: int, modulus: int) -> Question:
    # f(2m) = f(m)^2 - 2 and f(2m + 1) = f(m) f(m + 1) - f(1)
    low, high = 2, first
    for place in range(n.bit_length() - 1, -1, -1):
        double, mixed = low * low - 2, low * high - first
        low, high = (mixed, high * high - 2) if n >> place & 1 else (double, mixed)
        low, high = low % modulus, high % modulus
    return Question(
        "A function f takes integers to integers and satisfies $f(x + y) + f(x - y) = f(x)f(y)$ "
        f"for all x and y, and $f(1) = {first}$. What is the remainder of $f({n})$ when it is "
        f"divided by {modulus}?",
        low % modulus,
        [
            "x = 1 and y = 0 give f(0) = 2.",
            (
                f"y = 1 gives f(x + 1) = {first} * f(x) - f(x - 1); y = x gives f(2x) = f(x)^2 "
                f"- 2; y = x + 1 gives f(2x + 1) = f(x) * f(x + 1) - {first}."
            ),
            f"By the last two, modulo {modulus}, f({n}) leaves {low % modulus}.",
        ],
        pow(first, n, modulus),
    )


# A polynomial from its values; numbers: whether powers or reciprocals, base, degree, how far on.


def _draw_polynomial(rng: Rng, size: int) -> Numbers:
    size = min(size, _WIDEST)
    degree = integer(rng, 4, 12 + 2 * size)
    return integer(rng, 0, 1), integer(rng, 2, 5 + size // 3), degree, integer(rng, 1, 4 + size)


def _state_polynomial(reciprocal: int, base: int, degree: int, more: int) -> Question:
    n = degree + more
    if reciprocal:
        rule, guess = f"\\frac{{1}}{{k + {base - 1}}}", Fraction(1, n + base - 1)
        # (x + base - 1) P(x) - 1 has the roots 0..degree, and is -1 at x = 1 - base.
        sign = -1 if degree % 2 else 1
        ratio = Fraction(comb(n, degree + 1), comb(base - 1 + degree, degree + 1))
        answer = (1 + sign * ratio) / (n + base - 1)
        steps = [
            (
                f"Q(x) = (x + {base - 1}) * P(x) - 1 has the roots 0, 1, ..., {degree}, so it is "
                "c * x * (x - 1) * ... up to the last root."
            ),
            f"Q({1 - base}) = -1 gives c, and then Q({n}) = {sign * ratio}.",
            f"P({n}) = (1 + ({sign * ratio})) / {n + base - 1} = {answer}",
        ]
    else:
        rule, guess = f"{base}^k", Fraction(base**n)
        answer = Fraction(sum(comb(n, i) * (base - 1) ** i for i in range(degree + 1)))
        steps = [
            (
                f"{base}^k = (1 + {base - 1})^k is the sum of C(k, i) * {base - 1}^i. The "
                f"terms up to i = {degree} are a polynomial with the same values for k up to "
                f"{degree}."
            ),
            f"So P({n}) is the sum of C({n}, i) * {base - 1}^i for i from 0 to {degree}.",
            f"P({n}) = {answer}",
        ]
    return Question(
        f"A polynomial P of degree at most {degree} satisfies $P(k) = {rule}$ for "
        f"$k = 0, 1, \\dots, {degree}$. What is $P({n})$?",
        answer,
        steps,
        guess,
    )


# f(f(n)) = 3n; number: the point.


def _draw_triple(rng: Rng, size: int) -> Numbers:
    return (integer(rng, 100, 2_000 * 4**size),)


def _state_triple(n: int) -> Question:
    power = 1
    while 3 * power <= n:
        power *= 3
    low = n < 2 * power
    answer = n + power if low else 3 * n - 3 * power
    reason = (
        f"So f grows by 1 at a time from {power} to {2 * power}: {n} + {power} = {answer}"
        if low
        else f"{n} = f({n - power}), so f({n}) = f(f({n - power})) = 3 * {n - power} = {answer}"
    )
    return Question(
        "A strictly increasing function f takes positive integers to positive integers and "
        f"satisfies $f(f(n)) = 3n$ for all n. What is $f({n})$?",
        answer,
        [
            "f(1) = 1 is impossible, and f(1) > 2 too, as f(f(1)) = 3. So f(1) = 2 and f(2) = 3.",
            "f(3n) = f(f(f(n))) = 3 f(n), so f(3^k) = 2 * 3^k and f(2 * 3^k) = 3^(k + 1).",
            (
                f"f({power}) = {2 * power} and f({2 * power}) = {3 * power}, with {power} steps in "
                "between, and f is strictly increasing."
            ),
            reason,
        ],
        3 * n // 2,
    )


# The value of one function is the point of another; numbers: step equation, then the map.


def _draw_composed(rng: Rng, size: int) -> Numbers:
    a, b, start = integers(rng, 1, 5 + size, 3)
    *moebius, first, n = _draw_periodic(rng, size)
    return (a, b, start, n, *moebius, first)


def _state_composed(*numbers: int) -> Question:
    a, b, start, n, *moebius, first = numbers
    inner = _state_step(a, b, start, n)
    m = start + a * n * (n - 1) // 2 + b * n
    p, q, r, s = moebius
    outer = _state_periodic(p, q, r, s, first, m)
    return Question(
        f"Two functions f and g take rational numbers to rational numbers. For all x, "
        f"$f(x + 1) = f(x) + ({polynomial((b, a))})$ and {_fraction_rule(p, q, r, s, 'g')}. "
        f"$f(0) = {start}$ and $g(0) = {first}$. Let m = f({n}). What is the sum "
        "$g(1) + g(2) + \\dots + g(m)$?",
        outer.answer,
        [*inner.steps, *(step.replace("f(", "g(") for step in outer.steps)],
        outer.guess,
    )


FAMILIES = {
    "additive": Family(1, _draw_additive, _state_additive),
    "reflection": Family(1, _draw_reflection, _state_reflection),
    "step": Family(1, _draw_step, _state_step),
    "quadratic": Family(2, _draw_quadratic, _state_quadratic),
    "reciprocal": Family(2, _draw_reciprocal, _state_reciprocal),
    "logarithm": Family(2, _draw_logarithm, _state_logarithm),
    "doubling": Family(3, _draw_doubling, _state_doubling, _INTEGER),
    "periodic": Family(3, _draw_periodic, _state_periodic),
    "three_points": Family(4, _draw_cycle, _state_cycle),
    "cosine": Family(4, _draw_cosine, _state_cosine, _INTEGER),
    "polynomial": Family(5, _draw_polynomial, _state_polynomial),
    "triple": Family(5, _draw_triple, _state_triple, _INTEGER),
    "composed": Family(6, _draw_composed, _state_composed, _INTEGER),
}
KINDS = tuple(FAMILIES)


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionalEquationConfig(TaskConfig):
    """The families of equations, and the size of their numbers."""

    kinds: tuple[str, ...] = knob(KINDS, "families; each problem has one of them", choices=KINDS)
    size: int = knob(0, "how large the numbers are", low=0)

    @classmethod
    def at(cls, difficulty: int) -> "FunctionalEquationConfig":
        """Four neighbouring families of the list; the numbers grow with the level.

        From level 10 on it is the last four: the equation of the cosine, a polynomial beyond its
        given values, f(f(n)) = 3n, and a function of the value of another one.
        """
        return cls(kinds=window(KINDS, difficulty), size=difficulty)


@register("FunctionalEquation-v0", domain="math")
class FunctionalEquationTask(FamilyTask[FunctionalEquationConfig]):
    """Find the value at a point of the function that an equation determines.

    Description:
        Thirteen families: Cauchy's equation with a product term, sums over a reflection, a
        reciprocal or a cycle of three points, steps and doublings, the equations of quadratic
        functions, logarithms and cosines, fractional linear steps with a period, polynomials
        beyond their given values, f(f(n)) = 3n, and a function of another function's value.

    Observation:
        The equation, the given values, and the point.

    Action:
        One rational number.

    Reward:
        1 for the exact value, otherwise 0.

    Verification:
        Exact, on rational numbers: any fraction with the right value is accepted, a rounded
        decimal is not. No known gaps.

    Difficulty:
        Each level asks four families. Higher ones join more ideas: which points to put in, a
        system of equations, periods, descent, induction. The numbers grow.

    References:
        Small, Functional Equations and How to Solve Them.
    """

    Config = FunctionalEquationConfig
    families = FAMILIES
