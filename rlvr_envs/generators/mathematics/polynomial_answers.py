"""Reading polynomials and their factorisations from the expression tree of an answer.

Everything is bounded: a degree above the caller's limit, a coefficient of more than `MAX_BITS`,
or more work than an honest answer of the degree needs, is not done but refused.
"""

from fractions import Fraction

from rlvr_envs.generators.mathematics.polynomials import Poly, add, multiply, trim
from rlvr_envs.verifiers.mathtext.nodes import Add, Mul, Node, Num, Pow, Sym, symbols
from rlvr_envs.verifiers.mathtext.reader import read
from rlvr_envs.verifiers.mathtext.values import Chain, Group, Listing, Scalar, Value

MAX_BITS = 4_000
MAX_TEXT = 20_000

RationalPoly = tuple[Fraction, ...]


def sides(answer: str) -> tuple[Node, ...]:
    """Return the sides of an answer such as ``a = b = c``; of an expression, that one side.

    Empty if the answer is neither.
    """
    value = read(answer) if len(answer) <= MAX_TEXT else None
    parts: tuple[Value, ...] = (value,) if value is not None else ()
    if isinstance(value, Chain):
        parts = value.sides if set(value.relations) == {"="} else ()
    found = tuple(part.expr for part in parts if isinstance(part, Scalar) and not part.unit)
    return found if len(found) == len(parts) else ()


def items(answer: str) -> tuple[Node, ...]:
    """Return the items of a tuple or a list, each without the ``name =`` before it."""
    value = read(answer) if len(answer) <= MAX_TEXT else None
    if isinstance(value, Chain) and value.relations == ("=",):
        name, value = value.sides  # (q, r) = (..., ...)
        if isinstance(name, Scalar) and not symbols(name.expr):
            return ()
    if not isinstance(value, Group | Listing):
        return ()
    parts = [
        item.sides[1] if isinstance(item, Chain) and item.relations == ("=",) else item
        for item in value.items
    ]
    found = tuple(part.expr for part in parts if isinstance(part, Scalar) and not part.unit)
    return found if len(found) == len(parts) else ()


class _Budget:
    """How many coefficients may still be computed; a full expansion of the degree fits easily."""

    def __init__(self, max_degree: int) -> None:
        self.max_degree = max_degree
        self.left = 1_000 + 3 * (max_degree + 1) ** 2

    def covers(self, cost: int) -> bool:
        """Spend a cost; false once the budget is overdrawn."""
        self.left -= cost
        return self.left >= 0


def polynomial_of(node: Node, variable: str, max_degree: int) -> RationalPoly | None:
    """Return the coefficients of an expression, multiplied out; None if that is refused."""
    return _expand(node, variable, _Budget(max_degree))


def _expand(node: Node, variable: str, budget: _Budget) -> RationalPoly | None:
    if isinstance(node, Num):
        return trim((node.value,)) if _is_short((node.value,)) else None
    monomial = _monomial(node, variable)
    if monomial is not None:
        return _lone_power(*monomial, budget)
    if isinstance(node, Add):
        return _sum_of(node, variable, budget)
    if isinstance(node, Mul):
        return _product_of(node.factors, variable, budget)
    exponent = _count(node.exponent) if isinstance(node, Pow) else None
    if not isinstance(node, Pow) or exponent is None or exponent > budget.max_degree:
        return None
    return _product_of((node.base,) * exponent, variable, budget)


def _lone_power(exponent: int, coefficient: Fraction, budget: _Budget) -> RationalPoly | None:
    fits = exponent <= budget.max_degree and budget.covers(exponent) and _is_short((coefficient,))
    return trim((*(Fraction(0),) * exponent, coefficient)) if fits else None


def _sum_of(node: Add, variable: str, budget: _Budget) -> RationalPoly | None:
    total: RationalPoly = ()
    for term in node.terms:
        part = _expand(term, variable, budget)
        if part is None or not budget.covers(len(part)):
            return None
        total = add(total, part)
    return total if _is_short(total) else None


def _product_of(factors: tuple[Node, ...], variable: str, budget: _Budget) -> RationalPoly | None:
    total: RationalPoly = (Fraction(1),)
    for factor in factors:
        part = _expand(factor, variable, budget)
        if part is None or len(part) + len(total) - 2 > budget.max_degree:
            return None
        if not budget.covers(len(part) * len(total)):
            return None
        total = multiply(total, part)
        if not _is_short(total):
            return None
    return total


def _is_short(coefficients: RationalPoly) -> bool:
    return all(
        value.numerator.bit_length() <= MAX_BITS and value.denominator.bit_length() <= MAX_BITS
        for value in coefficients
    )


def _count(node: Node) -> int | None:
    """Return a natural number, or None."""
    if isinstance(node, Num) and node.value.denominator == 1 and node.value >= 0:
        return node.value.numerator
    return None


def expanded_of(node: Node, variable: str, max_degree: int) -> RationalPoly | None:
    """Return the coefficients of a sum of monomials with each power at most once, else None."""
    found: dict[int, Fraction] = {}
    for term in node.terms if isinstance(node, Add) else (node,):
        monomial = _monomial(term, variable)
        if monomial is None or monomial[0] in found or monomial[0] > max_degree:
            return None
        found[monomial[0]] = monomial[1]
    return trim([found.get(k, Fraction(0)) for k in range(max(found) + 1)])


def _monomial(node: Node, variable: str) -> tuple[int, Fraction] | None:
    """Return the power and the coefficient of a number times a power of the variable."""
    if isinstance(node, Num):
        return 0, node.value
    if isinstance(node, Sym):
        return (1, Fraction(1)) if node.name == variable else None
    if isinstance(node, Pow):
        exponent = _count(node.exponent)
        plain = node.base == Sym(variable) and exponent is not None
        return (exponent, Fraction(1)) if plain and exponent is not None else None
    if isinstance(node, Mul) and len(node.factors) == 2 and isinstance(node.factors[0], Num):
        rest = node.factors[1]
        inner = None if isinstance(rest, Num) else _monomial(rest, variable)
        return None if inner is None else (inner[0], node.factors[0].value)
    return None


def factors_of(node: Node, variable: str, max_degree: int) -> list[tuple[Poly, int]] | None:
    """Return the written factors with their multiplicities, each multiplied out.

    A product inside a product, or under a power, counts as its factors. None if a factor is not
    a polynomial with integer coefficients within the limits.
    """
    budget = _Budget(max_degree)
    found: list[tuple[Poly, int]] = []
    left = [(node, 1)]
    while left:
        part, count = left.pop()
        exponent = _count(part.exponent) if isinstance(part, Pow) else None
        if isinstance(part, Mul):
            left.extend((factor, count) for factor in part.factors)
        elif isinstance(part, Pow) and exponent is not None:
            if exponent * count > max_degree:
                return None
            left.append((part.base, exponent * count))
        else:
            poly = _expand(part, variable, budget)
            if not poly or any(value.denominator != 1 for value in poly):
                return None
            found.append((tuple(value.numerator for value in poly), count))
    return found
