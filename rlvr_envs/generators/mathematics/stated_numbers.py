"""Reading answers that state a number, and not a calculation with this result.

A calculation task must not reward a copy of its own question. So a number is read only if it is
written as an integer, a decimal, one fraction, or a mixed number, and a complex number only in the
form a + bi.
"""

import re
from fractions import Fraction

from rlvr_envs.core.verdict import Verdict
from rlvr_envs.verifiers.mathtext.nodes import Add, Const, Mul, Node, Num, Sym, children
from rlvr_envs.verifiers.mathtext.normalise import normalise
from rlvr_envs.verifiers.mathtext.reader import read
from rlvr_envs.verifiers.mathtext.values import Chain, Scalar, Value

MAX_TEXT = 20_000

# Bounded digits: int() refuses more than 4,300, and takes quadratic time below that.
_PLAIN = re.compile(r"(-?)(?:\\frac\{([0-9]{1,300})\}\{(0{0,9}[1-9][0-9]{0,290})\}|([0-9]{1,300}))")
_BARS = re.compile(r"/|\\frac(?![a-zA-Z])")
_COMMANDS = re.compile(r"\\(?!(?:frac|text|mathrm|approx)(?![a-zA-Z]))")
_PRODUCTS = re.compile(r"[*^!|]|\)\s*+[0-9(]|[0-9}]\s*+\(")
_TIMES_I = re.compile(r"(?:\\cdot|\\times|\*)\s*+i(?![a-zA-Z])")
_MIXED = re.compile(r"[0-9]\s*+\\frac(?:\{([0-9]{1,3000})\}\{([0-9]{1,3000})\}|([0-9])([0-9]))?")
_SUMS = re.compile(r"(?<=[0-9a-z)}])\s*+[+-]")


def stated_rational(answer: str, *, in_percent: bool = False) -> Fraction | None:
    """Return the rational number that an answer states, or None if it states none.

    A percent sign means hundredths, unless the question asks for a percentage.
    """
    plain = _PLAIN.fullmatch(answer)
    if plain is not None:  # as most models write it; the reader below costs ten times as much
        sign, top, bottom, whole = plain.groups()
        number = Fraction(int(whole)) if whole else Fraction(int(top), int(bottom))
        return -number if sign else number
    value = _last_side(answer, max_bars=1, max_sums=0)
    if not isinstance(value, Scalar) or not isinstance(value.expr, Num):
        return None
    if value.unit not in ("", "%"):
        return None
    mixed = _MIXED.search(normalise(answer))
    if mixed is not None and not _is_proper(mixed):
        return None
    hundredths = value.unit == "%" and not in_percent
    return value.expr.value / 100 if hundredths else value.expr.value


def _is_proper(mixed: re.Match[str]) -> bool:
    """Whether a number before a fraction makes a mixed number with it, and not a product."""
    top, bottom = mixed[1] or mixed[3], mixed[2] or mixed[4]
    return top is not None and int(top) < int(bottom)


def judge_rational(right: Fraction, answer: str, *, in_percent: bool = False) -> Verdict:
    """Judge an answer that should state this rational number exactly."""
    found = stated_rational(answer, in_percent=in_percent)
    if found is None:
        return Verdict.unparsable("expected one exact number, not a calculation")
    return Verdict.correct() if found == right else Verdict.wrong("the number is wrong")


def stated_complex(answer: str) -> tuple[Fraction, Fraction] | None:
    """Return the real and the imaginary part of an answer ``a + bi``, or None if it is not one.

    ``(a + bi)/c`` is read as well.
    """
    value = _last_side(answer, max_bars=2, max_sums=1)
    if not isinstance(value, Scalar) or value.unit:
        return None
    return _parts(value.expr)


def _last_side(answer: str, *, max_bars: int, max_sums: int) -> Value | None:
    """Return the value of an answer, or of all sides of ``x = ...``, if plainly stated."""
    if len(answer) > MAX_TEXT:
        return None
    text = _TIMES_I.sub(" i", normalise(answer))
    if _COMMANDS.search(text) or _PRODUCTS.search(text):
        return None
    if len(_BARS.findall(text)) > max_bars or len(_SUMS.findall(text)) > max_sums:
        return None
    value = read(answer)
    return _common_side(value) if isinstance(value, Chain) else value


def _common_side(chain: Chain) -> Value | None:
    """Return the common value of the sides of ``a = b``, ignoring a name on the left."""
    sides = chain.sides
    if isinstance(sides[0], Scalar) and isinstance(sides[0].expr, Sym):
        sides = sides[1:]
    agree = len({_value(side) for side in sides}) == 1
    return sides[-1] if agree and set(chain.relations) == {"="} else None


def _value(side: Value) -> tuple[object, str]:
    """Return what two equal sides share: the value of a number, else the tree, and the unit."""
    if not isinstance(side, Scalar):
        return side, ""
    return side.expr.value if isinstance(side.expr, Num) else side.expr, side.unit


def _parts(node: Node) -> tuple[Fraction, Fraction] | None:
    if isinstance(node, Num):
        return node.value, Fraction(0)
    if node == Const("i"):
        return Fraction(0), Fraction(1)
    if isinstance(node, Add | Mul):
        inner = [_parts(child) for child in children(node)]
        known = [parts for parts in inner if parts is not None]
        if len(inner) == len(known) == 2:
            return _combined(node, *known)
    return None


def _combined(
    node: Node, first: tuple[Fraction, Fraction], second: tuple[Fraction, Fraction]
) -> tuple[Fraction, Fraction] | None:
    """Return the sum of two parts of a sum, or the multiple of one by a real factor."""
    if isinstance(node, Add):
        return first[0] + second[0], first[1] + second[1]
    return None if first[1] else (first[0] * second[0], first[0] * second[1])
