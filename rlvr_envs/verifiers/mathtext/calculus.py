"""Differentiating expression trees."""

from fractions import Fraction

from rlvr_envs.verifiers.mathtext import nodes
from rlvr_envs.verifiers.mathtext.nodes import HALF, ONE, ZERO, Add, Call, Mul, Node, Num, Pow, Sym

MAX_FACTORS = 60  # the derivative of a product has the square of this many factors

_TWO = Num(Fraction(2))


def derivative(node: Node, variable: str) -> Node | None:
    """Return the derivative, or None where a function has none that is known here.

    Raises:
        exact.TooLarge: a folded number would not fit.
    """
    if variable not in nodes.symbols(node):
        return ZERO
    if isinstance(node, Sym):
        return ONE
    if isinstance(node, Add):
        parts = [derivative(term, variable) for term in node.terms]
        found = [part for part in parts if part is not None]
        return nodes.add(*found) if len(found) == len(parts) else None
    if isinstance(node, Mul):
        return _product(node, variable)
    if isinstance(node, Pow):
        return _power(node, variable)
    return _chain(node, variable) if isinstance(node, Call) else None


def _product(node: Mul, variable: str) -> Node | None:
    if len(node.factors) > MAX_FACTORS:
        return None
    terms = []
    for place, factor in enumerate(node.factors):
        slope = derivative(factor, variable)
        if slope is None:
            return None
        if slope != ZERO:
            rest = node.factors[:place] + node.factors[place + 1 :]
            terms.append(nodes.mul(slope, *rest))
    return nodes.add(*terms) if terms else ZERO


def _power(node: Pow, variable: str) -> Node | None:
    base, exponent = node.base, node.exponent
    slope = derivative(base, variable)
    growth = derivative(exponent, variable)
    if slope is None or growth is None:
        return None
    if growth == ZERO:
        lowered = nodes.power(base, nodes.add(exponent, nodes.MINUS_ONE))
        return nodes.mul(exponent, lowered, slope)
    logarithm = ONE if base == nodes.Const("e") else Call("ln", (base,))
    rate = nodes.mul(growth, logarithm)
    if slope != ZERO:
        rate = nodes.add(rate, nodes.mul(exponent, slope, nodes.power(base, nodes.MINUS_ONE)))
    return nodes.mul(node, rate)


def _chain(node: Call, variable: str) -> Node | None:
    inner = node.args[0]
    outer = _outer(node.name, node.args)
    slope = derivative(inner, variable)
    if (
        outer is None
        or slope is None
        or any(variable in nodes.symbols(arg) for arg in node.args[1:])
    ):
        return None
    return nodes.mul(outer, slope)


def _outer(name: str, args: tuple[Node, ...]) -> Node | None:
    """Return the derivative of a function by its first argument."""
    u = args[0]
    if name in ("ln", "log", "lg"):
        return _logarithm(name, args)
    if name == "root":
        inverse = nodes.power(args[1], nodes.MINUS_ONE)
        return nodes.mul(inverse, Call("root", args), nodes.power(u, nodes.MINUS_ONE))
    if name == "abs":
        return nodes.div(Call("abs", (u,)), u)
    if name in _TABLE:
        return _TABLE[name](u)
    return None


def _logarithm(name: str, args: tuple[Node, ...]) -> Node:
    inverse = nodes.power(args[0], nodes.MINUS_ONE)
    base = args[1] if len(args) == 2 else Num(Fraction(10))
    if name == "lg" or len(args) == 2:
        return nodes.div(inverse, Call("ln", (base,)))
    return inverse


def _call(name: str, u: Node) -> Node:
    return Call(name, (u,))


def _square(node: Node) -> Node:
    return nodes.power(node, _TWO)


def _one_minus_square(u: Node) -> Node:
    return nodes.add(ONE, nodes.neg(_square(u)))


def _one_plus_square(u: Node) -> Node:
    return nodes.add(ONE, _square(u))


def _over_root(node: Node) -> Node:
    return nodes.power(node, nodes.neg(HALF))


_TABLE = {
    "sin": lambda u: _call("cos", u),
    "cos": lambda u: nodes.neg(_call("sin", u)),
    "tan": lambda u: _square(_call("sec", u)),
    "cot": lambda u: nodes.neg(_square(_call("csc", u))),
    "sec": lambda u: nodes.mul(_call("sec", u), _call("tan", u)),
    "csc": lambda u: nodes.neg(nodes.mul(_call("csc", u), _call("cot", u))),
    "sinh": lambda u: _call("cosh", u),
    "cosh": lambda u: _call("sinh", u),
    "tanh": lambda u: nodes.power(_call("cosh", u), Num(Fraction(-2))),
    "coth": lambda u: nodes.neg(nodes.power(_call("sinh", u), Num(Fraction(-2)))),
    "arcsin": lambda u: _over_root(_one_minus_square(u)),
    "arccos": lambda u: nodes.neg(_over_root(_one_minus_square(u))),
    "arctan": lambda u: nodes.power(_one_plus_square(u), nodes.MINUS_ONE),
    "arccot": lambda u: nodes.neg(nodes.power(_one_plus_square(u), nodes.MINUS_ONE)),
    "asinh": lambda u: _over_root(_one_plus_square(u)),
    "acosh": lambda u: _over_root(nodes.add(_square(u), nodes.MINUS_ONE)),
    "atanh": lambda u: nodes.power(_one_minus_square(u), nodes.MINUS_ONE),
}
