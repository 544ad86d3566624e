"""Evaluating expression trees at a point, in floats, in exact rationals, or to fifty digits.

Evaluation is refused (`Undefined`) where a function is not defined over the field, and before any
step that could become expensive.
"""

import cmath
import math
import zlib
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, Protocol

from rlvr_envs.verifiers import exact
from rlvr_envs.verifiers.mathtext.nodes import Add, Call, Const, Mul, Node, Num, Pow, Sym, children

MAX_LOG2 = 200_000.0  # a power whose result is longer than this many bits is not computed
MAX_ANGLE = 1e15
_INVERSES = {"cot": "tan", "sec": "cos", "csc": "sin", "coth": "tanh"}
_ARC_INVERSES = {"arcsec": "arccos", "arccsc": "arcsin", "arccot": "arctan"}
_STANDARD = {
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "asinh": "asinh",
    "acosh": "acosh",
    "atanh": "atanh",
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh",
}
_WHOLE = frozenset(("factorial", "binomial", "gcd", "lcm"))


class Undefined(ArithmeticError):
    """The expression has no value at the point, or none that is affordable."""


class Field(Protocol):
    """Where expressions are evaluated."""

    def number(self, value: Fraction) -> Any: ...
    def constant(self, name: str) -> Any: ...
    def add(self, terms: list[Any]) -> Any: ...
    def multiply(self, factors: list[Any]) -> Any: ...
    def power(self, base: Any, exponent: Any) -> Any: ...
    def call(self, name: str, args: list[Any]) -> Any: ...


def evaluate(node: Node, point: Mapping[str, Any], field: Field) -> Any:
    """Return the value of a tree at a point.

    Raises:
        Undefined: there is no value.
    """
    try:
        return _evaluate(node, point, field)
    except (ArithmeticError, ValueError, TypeError) as error:
        raise Undefined(str(error)) from error


def _evaluate(node: Node, point: Mapping[str, Any], field: Field) -> Any:
    if isinstance(node, Num):
        return field.number(node.value)
    if isinstance(node, Sym | Const):
        return point[node.name] if isinstance(node, Sym) else field.constant(node.name)
    values = [_evaluate(child, point, field) for child in children(node)]
    if isinstance(node, Add):
        return field.add(values)
    if isinstance(node, Mul):
        return field.multiply(values)
    return field.power(*values) if isinstance(node, Pow) else field.call(node.name, values)


class Program:
    """Trees as one list of steps, in which each different subtree is evaluated once a point."""

    def __init__(self, *roots: Node) -> None:
        self._steps: list[tuple[str, Any]] = []
        self._known: dict[tuple[str, Any], int] = {}
        self._roots = [self._place(root) for root in roots]

    def _place(self, node: Node) -> int:
        """Return the number of the step that evaluates a node."""
        step: tuple[str, Any]
        if isinstance(node, Num):
            step = ("number", node.value)
        elif isinstance(node, Sym | Const):
            step = ("symbol" if isinstance(node, Sym) else "constant", node.name)
        else:
            name = f"call {node.name}" if isinstance(node, Call) else type(node).__name__
            step = (name, tuple(map(self._place, children(node))))
        if step not in self._known:
            self._known[step] = len(self._steps)
            self._steps.append(step)
        return self._known[step]

    def run(self, point: Mapping[str, Any], field: Field) -> list[Any]:
        """Return the values of all trees at a point.

        Raises:
            Undefined: one of them has no value.
        """
        try:
            return self._run(point, field)
        except (ArithmeticError, ValueError, TypeError) as error:
            raise Undefined(str(error)) from error

    def _run(self, point: Mapping[str, Any], field: Field) -> list[Any]:
        values: list[Any] = []
        for kind, content in self._steps:
            if kind == "Mul":
                value = field.multiply([values[at] for at in content])
            elif kind == "Add":
                value = field.add([values[at] for at in content])
            elif kind == "Pow":
                value = field.power(values[content[0]], values[content[1]])
            elif kind == "symbol":
                value = point[content]
            elif kind == "number":
                value = field.number(content)
            elif kind == "constant":
                value = field.constant(content)
            else:
                value = field.call(kind[5:], [values[at] for at in content])
            values.append(value)
        return [values[at] for at in self._roots]


class Rational:
    """Exact rationals; only sums, products and whole powers are defined."""

    def number(self, value: Fraction) -> Fraction:
        return value

    def constant(self, name: str) -> Fraction:
        raise Undefined(name)

    def add(self, terms: list[Fraction]) -> Fraction:
        return reduce(exact.add, terms)

    def multiply(self, factors: list[Fraction]) -> Fraction:
        return reduce(exact.multiply, factors)

    def power(self, base: Fraction, exponent: Fraction) -> Fraction:
        if exponent.denominator != 1:
            raise Undefined("a fractional power")
        return exact.power(base, exponent.numerator)

    def call(self, name: str, args: list[Fraction]) -> Fraction:
        raise Undefined(name)


class Floats:
    """Real or complex floats; ``loss`` is the worst cancellation met in a sum."""

    def __init__(self, *, use_complex: bool) -> None:
        self.use_complex = use_complex
        self.loss = 1.0
        self.library: Any = cmath if use_complex else math

    def number(self, value: Fraction) -> float:
        return value.numerator / value.denominator

    def constant(self, name: str) -> complex:
        if name == "i" and self.use_complex:
            return 1j
        if name in ("pi", "e"):
            return math.pi if name == "pi" else math.e
        raise Undefined(name)

    def add(self, terms: list[Any]) -> Any:
        total = sum(terms)
        largest = max(map(abs, terms))
        if largest:
            size = abs(total)
            self.loss = max(self.loss, largest / size) if size else math.inf
        return total

    def multiply(self, factors: list[Any]) -> Any:
        return math.prod(factors)

    def power(self, base: Any, exponent: Any) -> Any:
        if not self.use_complex and base < 0 and exponent != int(exponent):
            raise Undefined("a root of a negative number")
        if abs(exponent) > 1e6:
            self.loss = math.inf
        return base**exponent

    def call(self, name: str, args: list[Any]) -> Any:
        if args and abs(args[0]) > 1e6:
            self.loss = math.inf
        return _call(self, name, args)


class Digits:
    """Fifty digits or more, real or complex, from mpmath.

    Attributes:
        lost: how many decimal digits the worst cancellation took, in a sum or near ``ln 1``.
        hidden: how many digits below its sum the smallest term lay, or a number's last digit.
    """

    def __init__(self, *, use_complex: bool, digits: int = 50) -> None:
        self.use_complex = use_complex
        self.library: Any = _context(digits)
        self.lost = 0.0
        self.hidden = 0.0

    def number(self, value: Fraction) -> Any:
        if value.denominator == 1:
            return self.library.mpf(value.numerator)
        self.hidden = max(self.hidden, value.denominator.bit_length() * _DIGITS_PER_BIT)
        return self.library.mpf(value.numerator) / value.denominator

    def constant(self, name: str) -> Any:
        if name == "i" and self.use_complex:
            return self.library.mpc(0, 1)
        if name in ("pi", "e"):
            return +self.library.pi if name == "pi" else +self.library.e
        raise Undefined(name)

    def add(self, terms: list[Any]) -> Any:
        total = self.library.fsum(terms)
        if total:
            sizes = [self.library.mag(term) for term in terms if term]
            size = self.library.mag(total)
            self.lost = max(self.lost, (max(sizes) - size) * _DIGITS_PER_BIT)
            self.hidden = max(self.hidden, (size - min(sizes)) * _DIGITS_PER_BIT)
        return total

    def multiply(self, factors: list[Any]) -> Any:
        return self.library.fprod(factors)

    def power(self, base: Any, exponent: Any) -> Any:
        if base == 0:
            if not self.use_complex and exponent > 0:
                return base
            if exponent == 0:
                return self.library.mpf(1)
            raise Undefined("a power of zero")
        if not self.use_complex and base < 0 and exponent != self.library.floor(exponent):
            raise Undefined("a root of a negative number")
        length = abs(exponent) * (abs(self.library.log(abs(base), 2)) + 1)
        if length > MAX_LOG2:
            raise exact.TooLarge("the power is too large")
        return base**exponent

    def call(self, name: str, args: list[Any]) -> Any:
        value = _call(self, name, args)
        if name in ("ln", "log", "lg") and value:
            self.lost = max(self.lost, -self.library.mag(value) * _DIGITS_PER_BIT)
        return value


_DIGITS_PER_BIT = 0.30103


@lru_cache(maxsize=64)
def _context(digits: int) -> Any:
    from mpmath.ctx_mp import MPContext

    context = MPContext()
    context.dps = digits
    return context


def _call(field: Floats | Digits, name: str, args: list[Any]) -> Any:
    if name.startswith("?"):
        return _unknown(field, name, args)
    first = args[0]
    if abs(first) > MAX_ANGLE and name != "abs":
        raise Undefined("an argument too large")
    if name in _INVERSES:
        return 1 / _call(field, _INVERSES[name], args)
    if name in _ARC_INVERSES:
        turned = _call(field, _ARC_INVERSES[name], [1 / first])
        below = name == "arccot" and not field.use_complex and first < 0
        return turned + field.constant("pi") if below else turned
    if name in _STANDARD:
        return getattr(field.library, _STANDARD[name])(_within(field, name, first))
    if name in _WHOLE:
        return _whole(field, name, args)
    return _SPECIAL[name](field, args) if name in _SPECIAL else _undefined(name)


def _undefined(name: str) -> Any:
    raise Undefined(name)


def _within(field: Floats | Digits, name: str, value: Any) -> Any:
    """Refuse real arguments whose value would be complex."""
    if not field.use_complex:
        outside = {
            "arcsin": abs(value) > 1,
            "arccos": abs(value) > 1,
            "acosh": value < 1,
            "atanh": abs(value) >= 1,
        }
        if outside.get(name, False):
            raise Undefined(f"{name} outside its domain")
    return value


def _unknown(field: Floats | Digits, name: str, args: list[Any]) -> Any:
    """Stand in for a function nobody defined: smooth, and different for different names."""
    phase: Any = field.number(Fraction(zlib.crc32(name.encode()) % 1009, 100))
    for place, value in enumerate(args):
        phase = phase + value * field.number(Fraction(7 + 3 * place, 10))
    return field.library.cos(phase) + field.number(Fraction(3, 2))


def _whole(field: Floats | Digits, name: str, args: list[Any]) -> Any:
    """Evaluate a function of whole numbers."""
    wholes = []
    for value in args:
        if isinstance(value, complex) or abs(value) > exact.MAX_FACTORIAL or value != int(value):
            raise Undefined(f"{name} of a broken number")
        wholes.append(int(value))
    if name in ("gcd", "lcm"):
        return field.number(Fraction((math.gcd if name == "gcd" else math.lcm)(*wholes)))
    parts = [Fraction(whole) for whole in wholes]
    found = exact.factorial(parts[0]) if name == "factorial" else exact.binomial(*parts)
    return field.number(found)


def _log(field: Floats | Digits, args: list[Any]) -> Any:
    if not field.use_complex and args[0] <= 0:
        raise Undefined("a logarithm of a number that is not positive")
    value = field.library.log(args[0])
    if len(args) == 2:
        return value / _log(field, [args[1]])
    return value


def _root(field: Floats | Digits, args: list[Any]) -> Any:
    value, degree = args
    if not field.use_complex and value < 0 and degree == int(degree) and int(degree) % 2:
        return -field.power(-value, 1 / degree)
    return field.power(value, 1 / degree)


def _rounded(field: Floats | Digits, value: Any, to_whole: Callable[[Any], int]) -> Any:
    if getattr(value, "imag", 0):
        raise Undefined("a complex number rounded")
    return field.number(Fraction(to_whole(value.real)))


_SPECIAL: dict[str, Callable[[Any, list[Any]], Any]] = {
    "ln": _log,
    "log": _log,
    "lg": lambda field, args: _log(field, [args[0], field.number(Fraction(10))]),
    "root": _root,
    "abs": lambda field, args: abs(args[0]),
    "floor": lambda field, args: _rounded(field, args[0], math.floor),
    "ceil": lambda field, args: _rounded(field, args[0], math.ceil),
    "max": lambda field, args: max(args),
    "min": lambda field, args: min(args),
}
