"""Deciding whether two expressions are equal, by evaluating both at pseudo-random points.

Floats refute, exact rationals or fifty digits confirm. The points follow from the expressions, so
a decision is reproducible, yet no fixed polynomial vanishes on all of them. A point where either
side is undefined says nothing; too few telling points leave the question open.
"""

import math
import zlib
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from rlvr_envs.verifiers import exact
from rlvr_envs.verifiers.mathtext.nodes import (
    Add,
    Call,
    Const,
    Mul,
    Node,
    Num,
    Pow,
    Sym,
    children,
    key,
    symbols,
)
from rlvr_envs.verifiers.mathtext.numeric import (
    Digits,
    Floats,
    Program,
    Rational,
    Undefined,
    evaluate,
)

MAX_SYMBOLS = 12
NEEDED = 3  # telling points that confirm an identity

_REFUTED = 1e-6
_CONDITION = 1e6  # beyond this cancellation floats prove nothing
_CONFIRMED = 30  # digits that must agree, where nothing cancels
_MAX_LOST = 60.0  # digits
_MAX_HIDDEN = 600.0


def same(left: Node, right: Node) -> bool | None:
    """Return whether two expressions are equal, or None if that stays open."""
    left_key, right_key = key(left), key(right)
    if left_key == right_key:
        return True
    names = sorted(symbols(left) | symbols(right))
    if len(names) > MAX_SYMBOLS:
        return None
    seed = zlib.crc32(
        left_key.encode("utf-8", "replace"), zlib.crc32(right_key.encode("utf-8", "replace"))
    )
    if not names:
        return _same_constant(left, right)
    if _is_rational(left) and _is_rational(right):
        decided = _same_rational(left, right, names, seed)
        if decided is not None:
            return decided
    use_complex = _has_i(left) or _has_i(right)
    return _same_function(left, right, list(_points(names, seed)), use_complex)


def _same_constant(left: Node, right: Node) -> bool | None:
    for use_complex in (False, True):
        decided = _same_function(left, right, [{}], use_complex)
        if decided is not None:
            return decided
    return None


def _same_rational(left: Node, right: Node, names: list[str], seed: int) -> bool | None:
    """Compare quotients of polynomials exactly, at large whole numbers."""
    program = Program(left, right)
    telling = 0
    for trial in range(4):
        point = {
            name: Fraction(_draw(seed, trial, place) % 9_973 + 11, 7 if trial % 2 else 1)
            for place, name in enumerate(names)
        }
        try:
            one, two = program.run(point, Rational())
            if one != two:
                return False
        except Undefined:
            continue
        telling += 1
        if telling == 2:
            return True
    return None


def _same_function(
    left: Node, right: Node, points: list[dict[str, Fraction]], use_complex: bool
) -> bool | None:
    program = Program(left, right)
    open_points = []
    for point in points:
        verdict = _refuted_by_floats(program, point, use_complex)
        if verdict:
            return False
        if verdict is not None:
            open_points.append(point)
    needed = NEEDED if len(points) > 1 else 1
    confirmed = 0
    for point in _spread(open_points):
        equal = _equal_digits(program, point, use_complex)
        if equal is False:
            return False
        confirmed += equal is True
        if confirmed == needed:
            return True
    return None


def _spread(points: list[dict[str, Fraction]]) -> list[dict[str, Fraction]]:
    """Take points from both ends and the middle first: they are of different kinds."""
    return points[::3] + points[1::3] + points[2::3]


def _refuted_by_floats(
    program: Program, point: dict[str, Fraction], use_complex: bool
) -> bool | None:
    """Return True if the sides differ for certain, None if one is undefined at the point."""
    field = Floats(use_complex=use_complex)
    values = {name: float(value) for name, value in point.items()}
    try:
        a, b = program.run(values, field)
        difference = abs(a - b)
        size = max(abs(a), abs(b))
    except Undefined as error:
        overflowed = isinstance(error.__cause__, OverflowError)
        return False if overflowed else None
    except OverflowError:
        return False
    if not math.isfinite(size) or field.loss > _CONDITION:
        return False
    return bool(difference > _REFUTED * size)


def _equal_digits(program: Program, point: dict[str, Fraction], use_complex: bool) -> bool | None:
    field = Digits(use_complex=use_complex)
    try:
        equal = _agree(program, point, field, _CONFIRMED)
        needed = _CONFIRMED + _extra_digits(field)
        if needed == _CONFIRMED:
            return equal
        finer = Digits(use_complex=use_complex, digits=_rounded_up(needed + 20 + 2 * field.lost))
        return _agree(program, point, finer, needed)
    except (Undefined, exact.TooLarge):
        return None


def _agree(program: Program, point: dict[str, Fraction], field: Digits, digits: float) -> bool:
    values = {name: field.number(value) for name, value in point.items()}
    a, b = program.run(values, field)
    size = max(abs(a), abs(b))
    return bool(size == 0 or abs(a - b) <= size * field.library.mpf(10) ** -int(digits))


def _extra_digits(field: Digits) -> float:
    """Return how many more digits must agree, after cancellation or beside vanishing terms.

    A difference quotient with a step of ``10^{-16}`` agrees with the derivative to 32 digits or
    so; with twenty digits more for each digit that cancels, it does not pass.
    """
    field.lost = min(field.lost, _MAX_LOST)
    cancelled = 20 * field.lost if field.lost >= 3 else 0.0
    vanishing = min(field.hidden, _MAX_HIDDEN) if field.hidden >= 20 else 0.0
    return cancelled + vanishing


def _rounded_up(digits: float) -> int:
    return 50 * math.ceil(digits / 50)


def value_of(node: Node) -> Any | None:
    """Return a real constant to fifty digits, or None if it has no affordable real value."""
    try:
        return evaluate(node, {}, Digits(use_complex=False))
    except (Undefined, KeyError):
        return None


def size_of(node: Node) -> float | None:
    """Return a real constant as a float, infinities included, or None."""
    if node == Const("oo"):
        return math.inf
    if (
        isinstance(node, Mul)
        and node.factors[-1] == Const("oo")
        and isinstance(node.factors[0], Num)
    ):
        return math.copysign(math.inf, node.factors[0].value) if len(node.factors) == 2 else None
    try:
        return float(evaluate(node, {}, Floats(use_complex=False)))
    except (Undefined, KeyError, OverflowError):
        return None


def _points(names: list[str], seed: int) -> Iterator[dict[str, Fraction]]:
    """Yield points in (0, 1), positive reals, mixed signs, and small whole numbers."""
    for trial in range(12):
        point = {}
        for place, name in enumerate(names):
            drawn = _draw(seed, trial, place)
            unit = Fraction(drawn % 99_991 + 1, 99_993)
            kind = trial % 3 if trial < 9 else 3
            if kind == 0:
                point[name] = unit
            elif kind == 1:
                point[name] = unit * 3 + 1
            elif kind == 2:
                point[name] = (unit * 4 + Fraction(1, 8)) * (
                    -1 if (drawn >> 20) & 1 or not place else 1
                )
            else:
                point[name] = Fraction(drawn % 11 + 2)
        yield point
    for trial in range(12, 20):
        # Whole numbers in falling or rising order keep binomials and falling factorials defined.
        rising = trial % 2
        yield {
            name: Fraction(
                3 * (place + 1 if rising else len(names) - place) + _draw(seed, trial, place) % 3
            )
            for place, name in enumerate(names)
        }


def _draw(seed: int, trial: int, place: int) -> int:
    """Return 64 mixed bits (the finaliser of splitmix64)."""
    z = (seed + 0x9E3779B97F4A7C15 * (trial * 64 + place + 1)) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
    return z ^ (z >> 31)


def _is_rational(node: Node) -> bool:
    if isinstance(node, Pow):
        whole = isinstance(node.exponent, Num) and node.exponent.value.denominator == 1
        small = isinstance(node.exponent, Num) and abs(node.exponent.value) <= 60
        return whole and small and _is_rational(node.base)
    if isinstance(node, Add | Mul):
        return all(_is_rational(child) for child in children(node))
    return isinstance(node, Num | Sym)


def _has_i(node: Node) -> bool:
    if isinstance(node, Const):
        return node.name == "i"
    return isinstance(node, Add | Mul | Pow | Call) and any(map(_has_i, children(node)))
