"""Steps of differentiation, rule by rule, for a function given in LaTeX."""

from rlvr_envs.generators.mathematics import calculus
from rlvr_envs.generators.mathematics.calculus import (
    Add,
    Call,
    Mul,
    Node,
    Num,
    Pow,
    Sym,
    differentiate,
    latex,
)
from rlvr_envs.verifiers.mathtext import nodes
from rlvr_envs.verifiers.mathtext.reader import read
from rlvr_envs.verifiers.mathtext.values import Scalar, Value

_E = nodes.Const("e")
_SYMBOLS: dict[object, Node] = {
    nodes.Sym("x"): calculus.X,
    nodes.Const("pi"): calculus.PI,
    _E: calculus.call("exp", calculus.ONE),
}


def from_text(text: str) -> Node:
    """Return the tree of a function in LaTeX.

    Raises:
        ValueError: the text holds something that these trees do not.
    """
    value = read(text)
    return _tree(value.expr if isinstance(value, Scalar) else value)


def _tree(node: nodes.Node | Value) -> Node:
    if isinstance(node, nodes.Num):
        return calculus.num(node.value)
    if isinstance(node, nodes.Add):
        return calculus.add(*map(_tree, node.terms))
    if isinstance(node, nodes.Mul):
        return calculus.mul(*map(_tree, node.factors))
    if isinstance(node, nodes.Call) and len(node.args) == 1:
        return calculus.call(node.name, _tree(node.args[0]))
    if isinstance(node, nodes.Pow):
        return _power(node)
    if node in _SYMBOLS:
        return _SYMBOLS[node]
    raise ValueError(f"not a function of this kind: {node!r:.80}")


def _power(node: nodes.Pow) -> Node:
    if node.base == _E:
        return calculus.call("exp", _tree(node.exponent))
    if isinstance(node.exponent, nodes.Num):
        return calculus.power(_tree(node.base), node.exponent.value)
    raise ValueError(f"not a power of this kind: {node!r:.80}")


def parts_of_quotient(node: Node) -> tuple[Node, Node]:
    """Return numerator and denominator of a product; numbers stay above."""
    factors = node.factors if isinstance(node, Mul) else (node,)
    below = [f for f in factors if isinstance(f, Pow) and f.exponent < 0]
    above = [f for f in factors if f not in below]
    bottom = calculus.mul(*(calculus.power(f.base, -f.exponent) for f in below))
    return calculus.mul(*above), bottom


def derivative_steps(node: Node) -> list[str]:
    """Return a line for each rule, innermost functions first; the last one is the derivative."""
    steps: dict[str, None] = {}
    if isinstance(node, Add) and _is_polynomial(node):
        for term in node.terms:
            if not isinstance(term, Num):
                _derive(term, steps)
    _derive(node, steps)
    return list(steps)


def _derive(node: Node, steps: dict[str, None]) -> None:
    if _is_polynomial(node):
        steps[f"Power rule: the derivative of {latex(node)} is {_slope(node)}."] = None
        return
    rule = ""
    if isinstance(node, Add):
        rule = "Term by term"
        for term in node.terms:
            if not isinstance(term, Num):
                _derive(term, steps)
    elif isinstance(node, Mul):
        rule = _derive_product(node, steps)
    elif isinstance(node, Pow):
        rule = "Chain rule for the power"
        _derive(node.base, steps)
    elif isinstance(node, Call):
        if node.arg != calculus.X:
            _derive(node.arg, steps)
            rule = "Chain rule"
        else:
            rule = "Known"
    steps[f"{rule}: the derivative of {latex(node)} is {_slope(node)}."] = None


def _derive_product(node: Mul, steps: dict[str, None]) -> str:
    above, below = parts_of_quotient(node)
    if below != calculus.ONE:
        for part in (above, below):
            if not isinstance(part, Num):
                _derive(part, steps)
        return "Quotient rule"
    factors = [factor for factor in node.factors if not isinstance(factor, Num)]
    for factor in factors:
        _derive(factor, steps)
    return "Product rule" if len(factors) > 1 else "Constant factor"


def _slope(node: Node) -> str:
    return latex(differentiate(node))


def _is_polynomial(node: Node) -> bool:
    """Whether a tree is a number, a power of x, or a sum of multiples of such."""
    if isinstance(node, Num | Sym):
        return True
    if isinstance(node, Pow):
        return isinstance(node.base, Sym) and node.exponent > 0 and node.exponent.denominator == 1
    if isinstance(node, Add):
        return all(map(_is_polynomial, node.terms))
    return (
        isinstance(node, Mul)
        and len(node.factors) == 2
        and isinstance(node.factors[0], Num)
        and not isinstance(node.factors[1], Add)
        and _is_polynomial(node.factors[1])
    )
