"""Expression trees, built by constructors that fold exact numbers as they go."""

from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction

from rlvr_envs.verifiers import exact


class Form(IntEnum):
    """How a number was written, least worked out last."""

    LITERAL = 0
    QUOTIENT = 1  # one literal over another, or a mixed number
    SCALE = 2  # a bare power of ten
    COMPUTED = 3  # anything that was left to the reader to compute


@dataclass(frozen=True, slots=True)
class Num:
    """An exact rational; it remembers how it was written, which equality ignores."""

    value: Fraction
    ulp: Fraction | None = field(default=None, compare=False)  # one unit in the last written place
    digits: int = field(default=0, compare=False)  # significant digits written
    form: Form = field(default=Form.LITERAL, compare=False)


@dataclass(frozen=True, slots=True)
class Sym:
    """A variable, subscript and primes included in the name."""

    name: str


@dataclass(frozen=True, slots=True)
class Const:
    """One of pi, e, i and oo."""

    name: str


@dataclass(frozen=True, slots=True)
class Add:
    """A sum."""

    terms: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Mul:
    """A product; a quotient is a product with a power of -1."""

    factors: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Pow:
    """A power."""

    base: "Node"
    exponent: "Node"


@dataclass(frozen=True, slots=True)
class Call:
    """A function of arguments; an unknown name stands for an unknown function."""

    name: str
    args: tuple["Node", ...]


Node = Num | Sym | Const | Add | Mul | Pow | Call

ZERO = Num(Fraction(0))
ONE = Num(Fraction(1))
MINUS_ONE = Num(Fraction(-1))
HALF = Num(Fraction(1, 2))
INFINITY = Const("oo")
SIGN = Sym("±")  # stands for +1 and -1 at once; see `expand_signs`


def add(*terms: Node) -> Node:
    """Return a sum with its numbers folded.

    Raises:
        exact.TooLarge: a folded number would not fit.
    """
    if len(terms) == 1:
        return terms[0]
    flat: list[Node] = []
    total = Fraction(0)
    for term in terms:
        for part in term.terms if isinstance(term, Add) else (term,):
            if isinstance(part, Num):
                total = exact.add(total, part.value)
            else:
                flat.append(part)
    if total or not flat:
        flat.append(Num(total, form=Form.COMPUTED))
    return flat[0] if len(flat) == 1 else Add(tuple(flat))


def mul(*factors: Node) -> Node:
    """Return a product with its numbers folded; a decimal keeps its precision over powers of ten.

    Raises:
        exact.TooLarge: a folded number would not fit.
    """
    flat: list[Node] = []
    number = ONE
    for factor in factors:
        for part in factor.factors if isinstance(factor, Mul) else (factor,):
            if isinstance(part, Num):
                number = _times(number, part)
            else:
                flat.append(part)
    if not flat:
        return number
    if number.value == 0 and all(is_finite(part) for part in flat):
        return Num(number.value, form=Form.COMPUTED)
    if number.value != 1:
        flat.insert(0, number)
    return flat[0] if len(flat) == 1 else Mul(tuple(flat))


def _times(left: Num, right: Num) -> Num:
    if right.ulp is not None and left.ulp is None:
        left, right = right, left
    value = exact.multiply(left.value, right.value)
    for one, two in ((left, right), (right, left)):
        if abs(one.value) == 1 and one.ulp is None and one.form is Form.LITERAL:
            return Num(value, two.ulp, two.digits, two.form)
    if right.ulp is None and right.form is not Form.COMPUTED and _is_power_of_ten(abs(right.value)):
        ulp = None if left.ulp is None else left.ulp * abs(right.value)
        return Num(value, ulp, left.digits, _scaled_form(left, right))
    return Num(value, form=_product_form(left, right))


def _scaled_form(left: Num, right: Num) -> Form:
    """Tell ``3 * 10^4``, a way to write a number, from ``3 * 100``."""
    if right.form is Form.SCALE:
        return left.form
    quotient = left.form is Form.LITERAL and right.form is Form.QUOTIENT
    return Form.QUOTIENT if quotient else Form.COMPUTED


def _product_form(left: Num, right: Num) -> Form:
    whole = left.form is Form.LITERAL and left.value.denominator == 1
    divided = right.form is Form.QUOTIENT and right.value.numerator in (1, -1)
    return Form.QUOTIENT if whole and divided else Form.COMPUTED


def _is_power_of_ten(value: Fraction) -> bool:
    if value == 1:
        return True
    whole = value.numerator if value.denominator == 1 else value.denominator
    if min(value.numerator, value.denominator) != 1 or exact.bits(value) > 4_000:
        return False
    return str(whole).strip("0") == "1"


def neg(node: Node) -> Node:
    """Return the negative."""
    return mul(MINUS_ONE, node)


def div(top: Node, bottom: Node) -> Node:
    """Return a quotient.

    Raises:
        ZeroDivisionError: the divisor is the number 0.
    """
    return mul(top, power(bottom, MINUS_ONE))


def power(base: Node, exponent: Node) -> Node:
    """Return a power, folded when it is rational and small enough.

    Raises:
        exact.TooLarge: both are numbers and the result would not fit.
        ZeroDivisionError: a negative power of the number 0.
    """
    if isinstance(exponent, Num) and exponent.value == 1:
        return base
    if isinstance(base, Num) and isinstance(exponent, Num):
        top, bottom = exponent.value.numerator, exponent.value.denominator
        if bottom == 1:
            return Num(exact.power(base.value, top), form=_power_form(base, top))
        found = exact.root(base.value, bottom) if base.value >= 0 else None
        if found is not None:
            return Num(exact.power(found, top), form=Form.COMPUTED)
        exact.power(abs(base.value) or Fraction(1), top)  # only to refuse what is too large
    if isinstance(base, Mul) and isinstance(exponent, Num) and exponent.value == -1:
        return mul(*(power(factor, exponent) for factor in base.factors))
    if isinstance(base, Pow) and isinstance(exponent, Num) and exponent.value == -1:
        return power(base.base, neg(base.exponent))
    return Pow(base, exponent)


def _power_form(base: Num, exponent: int) -> Form:
    if base.form is not Form.LITERAL or base.value.denominator != 1:
        return Form.COMPUTED
    if exponent == -1:
        return Form.QUOTIENT
    return Form.SCALE if base.value == 10 else Form.COMPUTED


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of a node."""
    if isinstance(node, Add):
        return node.terms
    if isinstance(node, Mul):
        return node.factors
    if isinstance(node, Pow):
        return (node.base, node.exponent)
    return node.args if isinstance(node, Call) else ()


def symbols(node: Node) -> frozenset[str]:
    """Return the names of the variables in a tree."""
    if isinstance(node, Sym):
        return frozenset((node.name,))
    return frozenset().union(*map(symbols, children(node)))


def is_finite(node: Node) -> bool:
    """Whether infinity does not occur."""
    return node != INFINITY and all(is_finite(child) for child in children(node))


def substitute(node: Node, name: str, value: Node) -> Node:
    """Return the tree with a variable replaced.

    Raises:
        exact.TooLarge: a folded number would not fit.
        ZeroDivisionError: a divisor became the number 0.
    """
    if isinstance(node, Sym):
        return value if node.name == name else node
    parts = [substitute(child, name, value) for child in children(node)]
    if isinstance(node, Add):
        return add(*parts)
    if isinstance(node, Mul):
        return mul(*parts)
    if isinstance(node, Pow):
        return power(parts[0], parts[1])
    return Call(node.name, tuple(parts)) if isinstance(node, Call) else node


def expand_signs(node: Node) -> tuple[Node, ...]:
    """Return the two readings of a tree with plus-minus signs, or the tree itself."""
    if SIGN.name not in symbols(node):
        return (node,)
    return (substitute(node, SIGN.name, ONE), substitute(node, SIGN.name, MINUS_ONE))


def key(node: Node) -> str:
    """Return a text equal for trees that differ only in the order of sums and products."""
    if isinstance(node, Num):
        return f"#{node.value.numerator:x}/{node.value.denominator:x}"
    if isinstance(node, Sym | Const):
        return f"{type(node).__name__[0]}{node.name}"
    parts = [key(child) for child in children(node)]
    if isinstance(node, Add | Mul):
        parts.sort()
    name = node.name if isinstance(node, Call) else type(node).__name__
    return f"{name}({','.join(parts)})"
