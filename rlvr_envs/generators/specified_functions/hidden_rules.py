"""Rules on integers that a problem gives by examples alone; each is total on all integers.

Their own text is what an oracle hands in, so each uses built-ins alone.
"""


def line(x: int, a: int, b: int) -> int:
    return a * x + b


def parabola(x: int, a: int, b: int) -> int:
    return x * x + a * x - b


def digits(x: int, a: int, b: int) -> int:
    return a * sum(int(digit) for digit in str(abs(x))) + b


def ones(x: int, a: int, b: int) -> int:
    return a * bin(abs(x)).count("1") + x % (b + 1)


def halves(x: int, a: int, b: int) -> int:
    return x // 2 if x % 2 == 0 else a * x + b


def backwards(x: int, a: int, b: int) -> int:
    return int(str(abs(x))[::-1]) + a * b


def signs(x: int, a: int, b: int) -> int:
    return a * x if x < 0 else x + b


def thirds(x: int, a: int, b: int) -> int:
    return (x + a, a * x, x - b)[x % 3]


def distance(x: int, a: int, b: int) -> int:
    return abs(a * x - 5 * b)


def squares_left(x: int, a: int, b: int) -> int:
    return x * x % (a + 5 * b)


RULES = (
    line,
    parabola,
    digits,
    ones,
    halves,
    backwards,
    signs,
    thirds,
    distance,
    squares_left,
)
