"""Literals and the known functions, folded where the result is exact."""

from fractions import Fraction

from rlvr_envs.verifiers import exact
from rlvr_envs.verifiers.mathtext import nodes
from rlvr_envs.verifiers.mathtext.lexer import Unreadable
from rlvr_envs.verifiers.mathtext.nodes import Call, Form, Node, Num

MAX_LITERAL = 3_000  # digits of one number
MAX_EXPONENT = 2_000

_ARITY = {"binomial": (2, 2), "root": (2, 2), "log": (1, 2)}
_MANY = frozenset(("max", "min", "gcd", "lcm"))


def numeral(text: str) -> Num:
    """Return the number of a literal such as ``12``, ``0.50`` or ``7.4e-12``.

    Raises:
        Unreadable: it is no decimal literal.
        exact.TooLarge: it has too many digits or too large an exponent.
    """
    mantissa, _, exponent = text.replace("E", "e").partition("e")
    whole, point, places = mantissa.partition(".")
    digits = whole + places
    if len(digits) > MAX_LITERAL or len(exponent) > 6 or abs(int(exponent or 0)) > MAX_EXPONENT:
        raise exact.TooLarge("a number with too many digits")
    if not (digits.isascii() and digits.isdigit()):
        raise Unreadable("a malformed number")
    shift = int(exponent or 0) - len(places)
    ulp = Fraction(10) ** shift
    value = int(digits) * ulp
    if (point or exponent) and not _is_round(places, exponent):
        return Num(value, ulp, len(digits.lstrip("0")))
    return Num(value)


def _is_round(places: str, exponent: str) -> bool:
    """Whether a decimal is a whole number that a program printed, such as ``27.0``."""
    return places in ("", "0") and not exponent


def apply(name: str, args: tuple[Node, ...]) -> Node:
    """Return a function of its arguments, as a number when that is exact.

    Raises:
        Unreadable: the number of arguments does not fit.
        exact.TooLarge: the result would not fit.
    """
    low, high = _ARITY.get(name, (1, 50 if name in _MANY else 1))
    if not low <= len(args) <= high:
        raise Unreadable(f"{name} of {len(args)} values")
    if name == "sqrt":
        return nodes.power(args[0], nodes.HALF)
    if name == "exp":
        return nodes.power(nodes.Const("e"), args[0])
    if name == "cbrt":
        return apply("root", (args[0], Num(Fraction(3))))
    numbers = [arg.value for arg in args if isinstance(arg, Num)]
    if len(numbers) == len(args):
        folded = _fold(name, numbers)
        if folded is not None:
            return Num(folded, form=Form.COMPUTED)
    return Call(name, args)


def _fold(name: str, numbers: list[Fraction]) -> Fraction | None:
    first = numbers[0]
    try:
        if name in ("factorial", "binomial"):
            return exact.factorial(first) if name == "factorial" else exact.binomial(*numbers)
    except ValueError:
        return None
    if name == "root":
        degree = numbers[1]
        return exact.root(first, degree.numerator) if degree.denominator == 1 else None
    if name in ("max", "min"):
        return max(numbers) if name == "max" else min(numbers)
    simple = {"abs": abs(first), "floor": Fraction(first // 1), "ceil": Fraction(-(-first // 1))}
    return simple.get(name)
