r"""Working out a written expression, one operation a step.

Reads the LaTeX of `expressions` and of linear equations: numbers, one symbol, the four operators,
``\frac``, ``\left(`` and whole powers. A value is ``a + b s``, where the symbol ``s`` is the
unknown of linear forms or the imaginary unit; of two linear forms in a product, one is a number,
so both multiply by the rule of complex numbers.
"""

import re
from collections.abc import Callable
from fractions import Fraction
from math import lcm

from rlvr_envs.generators.mathematics import effort
from rlvr_envs.generators.mathematics.latex import Rational, signed_sum
from rlvr_envs.generators.mathematics.steps import ascii_math, operand

Value = tuple[Fraction, Fraction]
_TOKEN = re.compile(
    r"\\left\(|\\right\)|\\frac|\\times|\\div|\\cdot|[0-9]+(?:\.[0-9]+)?|[-+^(){}a-z]"
)
_OPERATORS = {"\\times": "*", "\\cdot": "*", "\\div": "/"}
_PLAIN = re.compile(r"\\frac\{([0-9]+)\}\{([0-9]+)\}")
_DROPPED = re.compile(r"\\[a-z]+|\^(?:[0-9]|\{[0-9]+\})")
_FLAT = re.compile(r"[0-9]+(?:/[0-9]+|\.[0-9]+)?[a-z]?|[-+*/a-z]")


def operations(
    text: str, symbol: str = "i", show: Callable[[Fraction], str] = str
) -> tuple[list[str], Value]:
    """Return a line for each operation of an expression, innermost first, and the value.

    ``show`` writes numbers; fractions get lines with their common denominators if it is `str`.
    """
    reader = _Reader(text, symbol, show)
    return reader.steps, reader.sum()


def work(text: str, symbol: str = "i", size: Callable[[Fraction], Rational] = Fraction) -> int:
    """Return what an expression costs by hand (see `effort`); ``size`` says what is written."""
    reader = _Reader(text, symbol, str)
    reader.sum()
    cost = 0
    for operator, left, right in reader.done:
        (a, b), (c, d) = (tuple(map(size, value)) for value in (left, right))
        if operator in "+-":
            cost += effort.adding(a, c) + (effort.adding(b, d) if b or d else 0)
            continue
        parts = [effort.multiplying(x, y) for x in (a, b) for y in (c, d) if x and y]
        cost += sum(parts) + (max(parts, default=0) if len(parts) > 2 else 0)
        if operator == "/":
            norm = effort.multiplying(c, c) + effort.multiplying(d, d) if d else 0
            cost += norm + (effort.digits(c) if not d else 2 * effort.digits(c * c + d * d))
    return cost


def left_to_right(text: str, symbol: str = "i") -> Value:
    """Return the value as a hurried reader gets it: no brackets, no precedence and no powers."""
    flat = _PLAIN.sub(r"\1/\2", text).replace("}{", "/")
    for written, operator in _OPERATORS.items():
        flat = flat.replace(written, operator)
    value, operator = (Fraction(0), Fraction(0)), "+"
    for part in _FLAT.findall(_DROPPED.sub("", flat)):
        if part in "-+*/":
            operator = part
            continue
        number = Fraction(part.removesuffix(symbol) or 1)
        right = (Fraction(0), number) if part.endswith(symbol) else (number, Fraction(0))
        if operator != "/" or number:
            value = combine(operator, value, right)
    return value


class _Reader:
    def __init__(self, text: str, symbol: str, show: Callable[[Fraction], str]) -> None:
        self.tokens = _TOKEN.findall(text)
        self.symbol = symbol
        self.show = show
        self.steps: list[str] = []
        self.done: list[tuple[str, Value, Value]] = []

    def take(self, *wanted: str) -> str:
        """Return the next token if it is one of those wanted, and step over it."""
        return self.tokens.pop(0) if self.tokens and self.tokens[0] in wanted else ""

    def sum(self) -> Value:
        value = self.product(-1 if self.take("-") else 1)
        while sign := self.take("+", "-"):
            value = self.apply(sign, value, self.product(1))
        return value

    def product(self, sign: int) -> Value:
        value = self.factor(sign)
        while self.tokens:
            if operator := self.take(*_OPERATORS):
                value = self.apply(_OPERATORS[operator], value, self.factor(1))
            elif self.tokens[0] in ("\\left(", "("):
                value = self.apply("*", value, self.factor(1))
            else:
                break
        return value

    def factor(self, sign: int) -> Value:
        if self.take("\\left(", "("):
            return self.group(sign)
        if self.take("\\frac"):
            return self.fraction(sign)
        if self.take(self.symbol):
            return Fraction(0), Fraction(sign)
        written = self.tokens.pop(0)
        number = Fraction(written)
        if self.take("^"):
            exponent = self.exponent()
            self.steps.append(f"{written}^{exponent} = {self.show(number**exponent)}")
            number **= exponent
        if self.take(self.symbol):
            return Fraction(0), sign * number
        return sign * number, Fraction(0)

    def exponent(self) -> int:
        braced = self.take("{")
        exponent = int(self.tokens.pop(0))
        if braced:
            self.take("}")
        return exponent

    def group(self, sign: int) -> Value:
        base = value = self.sum()
        self.take("\\right)", ")")
        if self.take("^"):
            for _ in range(self.exponent() - 1):
                value = self.apply("*", value, base)
        if sign > 0:
            return value
        negative = (-value[0], -value[1])
        self.steps.append(f"-({self.text(value)}) = {self.text(negative)}")
        return negative

    def fraction(self, sign: int) -> Value:
        self.take("{")
        written = len(self.tokens) > 4 and self.tokens[1:3] == ["}", "{"]
        literal = written and self.tokens[0].isdigit() and self.tokens[3].isdigit()
        top = self.sum()
        self.take("}")
        self.take("{")
        bottom = self.sum()
        self.take("}")
        if literal and self.tokens_closed(top, bottom):
            return sign * top[0] / bottom[0], Fraction(0)
        return self.apply("/", top, (sign * bottom[0], sign * bottom[1]))

    def tokens_closed(self, top: Value, bottom: Value) -> bool:
        """Whether a fraction of two integers needs no step, being in lowest terms."""
        return (top[0] / bottom[0]).denominator == bottom[0]

    def text(self, value: Value) -> str:
        real, other = value
        if not other:
            return self.show(real)
        terms = [(real, ""), (other, self.symbol)]
        return ascii_math(signed_sum(terms if self.symbol == "i" else terms[::-1]))

    def apply(self, operator: str, left: Value, right: Value) -> Value:
        """Return the result, and add the line that works it out."""
        result = combine(operator, left, right)
        apart = all(not (a and b) for a, b in zip(left, right, strict=True))
        if operator in "+-" and apart and (left[1] or right[1]):
            return result  # a number and a multiple of the symbol: nothing to work out
        self.done.append((operator, left, right))
        first, second = self.text(left), self.text(right)
        if all(left) and (operator in "*/" or self.symbol == "i"):
            first = f"({first})"
        if all(right) or second.startswith("-") or (operator == "/" and not second.isdigit()):
            second = f"({second})"
        middle = self.middle(operator, left, right)
        parts = [f"{first} {operator} {second}", *middle, self.text(result)]
        self.steps.append(" = ".join(dict.fromkeys(parts)))
        return result

    def middle(self, operator: str, left: Value, right: Value) -> list[str]:
        """Return what stands between an operation and its result."""
        if left[1] or right[1]:
            return self.complex_middle(operator, left, right) if self.symbol == "i" else []
        a, b = left[0], right[0]
        if self.show is not str or a.denominator == b.denominator == 1:
            return self.partial_products(a, b) if operator == "*" else []
        if operator in "+-":
            bottom = lcm(a.denominator, b.denominator)
            if a.denominator == b.denominator:
                return []
            tops = a.numerator * bottom // a.denominator, b.numerator * bottom // b.denominator
            second = f"{tops[1]}/{bottom}" if tops[1] >= 0 else f"({tops[1]}/{bottom})"
            return [f"{tops[0]}/{bottom} {operator} {second}"]
        parts = []
        if operator == "/":
            b = 1 / b
            parts.append(f"{a} * {b if b >= 0 else operand(b)}")
        top, bottom = a.numerator * b.numerator, a.denominator * b.denominator
        return [*parts, f"{top}/{bottom}" if bottom > 1 else str(top)]

    def partial_products(self, a: Fraction, b: Fraction) -> list[str]:
        """Return a product split by the digits of its second factor, unless it is a short one."""
        digits = [_places(self.show(value)) for value in (a, b)]
        if min(a, b) < 0 or min(map(len, digits)) < 2:
            return []
        split = " + ".join(f"{self.show(a)} * {self.show(part)}" for part in digits[1])
        return [split, " + ".join(self.show(a * part) for part in digits[1])]

    def complex_middle(self, operator: str, left: Value, right: Value) -> list[str]:
        (a, b), (c, d) = left, right
        if operator in "+-":
            real, other = (f"{x} {operator} {operand(y)}" for x, y in ((a, c), (b, d)))
            return [f"({real}) + ({other})i"]
        if operator == "*" and b and d:
            w, x, y, z = map(operand, (a, b, c, d))
            return [f"({w} * {y} - {x} * {z}) + ({w} * {z} + {x} * {y})i"]
        if operator == "/" and d:
            norm, conjugate = c * c + d * d, (c, -d)
            top = combine("*", left, conjugate)
            first, second = (f"({self.text(value)})" for value in (left, conjugate))
            return [
                f"{first} * {second} / ({operand(c)}^2 + {operand(d)}^2)",
                f"({self.text(top)}) / {operand(norm)}",
            ]
        return []


def _places(text: str) -> list[Fraction]:
    """Return what each digit of a decimal other than 0 stands for, such as 7 and 7/10 of 7.7."""
    whole, _, rest = text.lstrip("-").partition(".")
    return [
        Fraction(int(digit)) * Fraction(10) ** (len(whole) - 1 - place)
        for place, digit in enumerate(whole + rest)
        if digit != "0"
    ]


def combine(operator: str, left: Value, right: Value) -> Value:
    """Return the exact result of + - or * on complex numbers; any other operator divides."""
    (a, b), (c, d) = left, right
    if operator == "+":
        return a + c, b + d
    if operator == "-":
        return a - c, b - d
    if operator == "*":
        return a * c - b * d, a * d + b * c
    norm = c * c + d * d
    return (a * c + b * d) / norm, (b * c - a * d) / norm
