"""Small expression trees: exact folding, differentiation, substitution and LaTeX.

The constructors `add`, `mul`, `power` and `call` keep numbers exact and merge equal terms and
equal bases; they do not expand products. All numbers are `Fraction`, so nothing is rounded.

The verifier has trees of its own (`verifiers.mathtext.nodes`). Sharing them would save lines, but a
wrong derivative rule would then make wrong golds and accept them too.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from rlvr_envs.generators.mathematics.latex import Rational
from rlvr_envs.generators.mathematics.latex import number as number_latex


@dataclass(frozen=True, slots=True)
class Num:
    """An exact rational number."""

    value: Rational


@dataclass(frozen=True, slots=True)
class Sym:
    """A variable or the constant pi, named as LaTeX writes it."""

    name: str


@dataclass(frozen=True, slots=True)
class Add:
    """A sum of at least two terms."""

    terms: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Mul:
    """A product of at least two factors; a number, if there is one, comes first."""

    factors: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Pow:
    """A power with a rational exponent that is neither 0 nor 1."""

    base: "Node"
    exponent: Rational


@dataclass(frozen=True, slots=True)
class Call:
    """One of sin, cos, exp, ln and arctan."""

    name: str
    arg: "Node"


Node = Num | Sym | Add | Mul | Pow | Call

X = Sym("x")
PI = Sym("\\pi")
_HALF = Fraction(1, 2)


def num(value: Rational) -> Num:
    """Return a number as a node."""
    return Num(value)


ZERO, ONE = num(0), num(1)
_AT_NUMBERS: dict[tuple[str, Node], Node] = {
    ("sin", ZERO): ZERO,
    ("cos", ZERO): ONE,
    ("exp", ZERO): ONE,
    ("ln", ONE): ZERO,
    ("arctan", ZERO): ZERO,
    ("arctan", ONE): Mul((num(Fraction(1, 4)), PI)),
    ("arctan", num(-1)): Mul((num(Fraction(-1, 4)), PI)),
}


def _split(node: Node) -> tuple[Rational, tuple[Node, ...]]:
    """Return the numeric coefficient of a term, and its other factors."""
    if isinstance(node, Num):
        return node.value, ()
    if not isinstance(node, Mul):
        return 1, (node,)
    first = node.factors[0]
    return (first.value, node.factors[1:]) if isinstance(first, Num) else (1, node.factors)


def _join(number: Rational, factors: Sequence[Node]) -> Node:
    if number == 0 or not factors:
        return Num(number)
    parts = tuple(factors) if number == 1 else (Num(number), *factors)
    return parts[0] if len(parts) == 1 else Mul(parts)


def add(*terms: Node) -> Node:
    """Return a sum with like terms merged, in the order in which they first occur."""
    constant: Rational = 0
    gathered: dict[frozenset[Node], tuple[Rational, tuple[Node, ...]]] = {}
    for term in terms:
        for part in _terms(term):
            number, factors = _split(part)
            if not factors:
                constant += number
                continue
            # The factors of a product are distinct, so the set stands for them in any order.
            key = frozenset(factors)
            held = gathered.get(key)
            gathered[key] = (number + held[0], held[1]) if held else (number, factors)
    parts = [_join(number, factors) for number, factors in gathered.values() if number]
    if constant or not parts:
        parts.append(Num(constant))
    return parts[0] if len(parts) == 1 else Add(tuple(parts))


def _terms(node: Node) -> tuple[Node, ...]:
    """Return the terms of a sum, or of a number times a sum."""
    if isinstance(node, Add):
        return node.terms
    number, factors = _split(node)
    if len(factors) == 1 and isinstance(factors[0], Add):
        return tuple(mul(Num(number), term) for term in factors[0].terms)
    return (node,)


def mul(*factors: Node) -> Node:
    """Return a product with equal bases merged; sums are not multiplied out."""
    number: Rational = 1
    exponents: dict[Node, Rational] = {}
    for factor in factors:
        for part in factor.factors if isinstance(factor, Mul) else (factor,):
            if isinstance(part, Num):
                number *= part.value
                continue
            base, exponent = (part.base, part.exponent) if isinstance(part, Pow) else (part, 1)
            exponents[base] = exponents.get(base, 0) + exponent
    parts: list[Node] = []
    for base, exponent in exponents.items():
        merged = power(base, exponent)
        coefficient, rest = _split(merged)
        number *= coefficient
        parts.extend(rest)
    if number and len(set(parts)) < len(parts):
        return mul(Num(number), *parts)
    return _join(number, parts)


def neg(node: Node) -> Node:
    """Return the negative, of a sum term by term."""
    negative = mul(num(-1), node)
    return add(negative) if isinstance(node, Add) else negative


def div(top: Node, bottom: Node) -> Node:
    """Return a quotient; the divisor must not be the number 0."""
    return mul(top, power(bottom, -1))


def sqrt(node: Node) -> Node:
    """Return the square root."""
    return power(node, _HALF)


def power(base: Node, exponent: Rational) -> Node:
    """Return a power, folded where it is rational."""
    if exponent in (0, 1):
        return base if exponent else ONE
    if isinstance(base, Num):
        return _number_power(base.value, exponent)
    if isinstance(base, Call) and base.name == "exp":
        return call("exp", mul(Num(exponent), base.arg))
    # Only a whole exponent passes through: the root of a square is an absolute value.
    if exponent.denominator == 1 and isinstance(base, Pow):
        return power(base.base, base.exponent * exponent)
    if exponent.denominator == 1 and isinstance(base, Mul):
        return mul(*(power(factor, exponent) for factor in base.factors))
    return Pow(base, exponent)


def _number_power(base: Rational, exponent: Rational) -> Node:
    if exponent.denominator == 1:
        return Num((base if exponent > 0 else Fraction(base)) ** exponent.numerator)
    if exponent.denominator == 2 and base >= 0:
        top, bottom = isqrt(base.numerator), isqrt(base.denominator)
        if Fraction(top * top, bottom * bottom) == base:
            return Num(Fraction(top, bottom) ** exponent.numerator)
    return Pow(Num(base), exponent)


def call(name: str, arg: Node) -> Node:
    """Return sin, cos, exp, ln or arctan of an argument, folded at its well-known values."""
    known = _AT_NUMBERS.get((name, arg))
    if known is not None:
        return known
    if name == "ln" and isinstance(arg, Call) and arg.name == "exp":
        return arg.arg
    number, rest = _split(arg)
    if rest == (PI,) and name in ("sin", "cos"):
        return _circle(number if name == "sin" else number + _HALF) or Call(name, arg)
    return Call(name, arg)


def _circle(turns: Rational) -> Node | None:
    """Return the sine of a multiple of pi where it has a short exact form."""
    turns %= 2
    sign = -1 if turns >= 1 else 1
    turns %= 1
    known: dict[Rational, Node] = {
        Fraction(0): ZERO,
        Fraction(1, 6): num(_HALF),
        Fraction(1, 4): div(sqrt(num(2)), num(2)),
        Fraction(1, 3): div(sqrt(num(3)), num(2)),
        _HALF: ONE,
    }
    value = known.get(min(turns, 1 - turns))
    return None if value is None else mul(num(sign), value)


def polynomial(coefficients: Sequence[Rational]) -> Node:
    """Return a polynomial in x, highest power first; ``coefficients[i]`` belongs to power i."""
    # Built directly, for speed: the powers are distinct, so there is nothing to merge.
    terms = [
        _join(value, (X if i == 1 else Pow(X, i),) if i else ())
        for i, value in enumerate(coefficients)
        if value
    ]
    if len(terms) < 2:
        return terms[0] if terms else ZERO
    return Add(tuple(reversed(terms)))


def differentiate(node: Node, variable: Sym = X) -> Node:
    """Return the derivative."""
    if isinstance(node, Num | Sym):
        return ONE if node == variable else ZERO
    if isinstance(node, Add):
        return add(*(differentiate(term, variable) for term in node.terms))
    if isinstance(node, Mul):
        parts = node.factors
        return add(
            *(
                mul(differentiate(part, variable), *parts[:i], *parts[i + 1 :])
                for i, part in enumerate(parts)
                if not isinstance(part, Num)
            )
        )
    if isinstance(node, Pow):
        lowered = power(node.base, node.exponent - 1)
        return mul(Num(node.exponent), lowered, differentiate(node.base, variable))
    return mul(_outer_derivative(node), differentiate(node.arg, variable))


def _outer_derivative(node: Call) -> Node:
    if node.name == "sin":
        return call("cos", node.arg)
    if node.name == "cos":
        return neg(call("sin", node.arg))
    if node.name == "exp":
        return node
    if node.name == "ln":
        return power(node.arg, -1)
    return power(add(ONE, power(node.arg, 2)), -1)


def substitute(node: Node, variable: Sym, value: Node) -> Node:
    """Return the tree with a variable replaced, and folded again."""
    if isinstance(node, Num | Sym):
        return value if node == variable else node
    if isinstance(node, Add):
        return add(*(substitute(term, variable, value) for term in node.terms))
    if isinstance(node, Mul):
        return mul(*(substitute(factor, variable, value) for factor in node.factors))
    if isinstance(node, Pow):
        return power(substitute(node.base, variable, value), node.exponent)
    return call(node.name, substitute(node.arg, variable, value))


def latex(node: Node) -> str:
    """Return the tree as LaTeX."""
    if isinstance(node, Add):
        return _signed_sum(map(latex, node.terms))
    number, factors = _split(node)
    if not factors:
        return number_latex(number)
    sign = "-" if number < 0 else ""
    top = [f for f in factors if not (isinstance(f, Pow) and f.exponent < 0)]
    bottom = [power(f.base, -f.exponent) for f in factors if isinstance(f, Pow) and f.exponent < 0]
    size = -number if number < 0 else number
    if bottom:
        above = _product(size.numerator, top)
        return f"{sign}\\frac{{{above}}}{{{_product(size.denominator, bottom)}}}"
    if size.denominator > 1:
        return f"{sign}{number_latex(size)} {_product(1, top, alone=False)}"
    return sign + _product(size.numerator, top, alone=False)


def _signed_sum(terms: Iterable[str]) -> str:
    text = ""
    for term in terms:
        if not text:
            text = term
        else:
            text += f" - {term[1:]}" if term.startswith("-") else f" + {term}"
    return text


def _product(number: int, factors: Sequence[Node], *, alone: bool = True) -> str:
    """Return a product; a sum that stands alone in its braces needs no parentheses."""
    if alone and number == 1 and len(factors) == 1:
        return latex(factors[0]) if isinstance(factors[0], Add) else _factor(factors[0])
    # Functions come last, so that nothing behind one could be read as its argument.
    texts = [_factor(factor) for factor in sorted(factors, key=_rank)]
    # Digits side by side would be read as one number.
    spaced = " \\cdot ".join(_runs([*([str(number)] if number != 1 else []), *texts]))
    return spaced or "1"


def _runs(texts: Sequence[str]) -> list[str]:
    """Join neighbours, except before a digit; a space keeps command and letter apart."""
    runs: list[str] = []
    for text in texts:
        if runs and not text[0].isdigit():
            runs[-1] += text if runs[-1].isdigit() else f" {text}"
        else:
            runs.append(text)
    return runs


def _rank(node: Node) -> int:
    base = node.base if isinstance(node, Pow) else node
    if isinstance(base, Call):
        return 4 if base.name == "exp" else 5
    return {Num: 0, Sym: 2, Mul: 3, Add: 3}.get(type(base), 1)


def _factor(node: Node) -> str:
    if isinstance(node, Pow):
        return _power(node)
    if isinstance(node, Call):
        inside = latex(node.arg)
        if node.name == "exp":
            return "e" if node.arg == ONE else f"e^{{{inside}}}"
        return f"\\{node.name}({inside})"
    return node.name if isinstance(node, Sym) else f"({latex(node)})"


def _power(node: Pow) -> str:
    if node.exponent == _HALF:
        return f"\\sqrt{{{latex(node.base)}}}"
    text = number_latex(node.exponent)
    exponent = text if len(text) == 1 else f"{{{text}}}"
    if isinstance(node.base, Call) and node.exponent.denominator == 1:
        return f"\\{node.base.name}^{exponent}({latex(node.base.arg)})"
    base = latex(node.base)
    plain = isinstance(node.base, Sym) or (
        isinstance(node.base, Num) and node.base.value.denominator == 1 and node.base.value >= 0
    )
    return f"{base}^{exponent}" if plain else f"({base})^{exponent}"
