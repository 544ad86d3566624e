r"""Vectors written by their components: ``2i + 3j - k`` for the tuple (2, 3, -1)."""

from fractions import Fraction

from rlvr_envs.verifiers.mathtext import identity, nodes
from rlvr_envs.verifiers.mathtext.nodes import Const, Node, Num, Sym

_NAMES = ("i", "j", "k")
_MARKS = ("", "mathbf ", "hat ", "vec ", "bm ", "boldsymbol ", "bar ", "overrightarrow ")


def components(node: Node, count: int) -> tuple[Node, ...] | None:
    """Return the components of a linear combination of i, j and k, None if it is no such thing."""
    if count not in (2, 3):
        return None
    axes = [Num(Fraction(0))] * 3
    zero = _at(node, axes)
    if nodes.symbols(zero) & {mark + name for mark in _MARKS for name in _NAMES}:
        return None
    units = [[*axes[:place], nodes.ONE, *axes[place + 1 :]] for place in range(3)]
    found = [_at(node, unit) for unit in units]
    together = _at(node, [nodes.ONE] * 3)
    linear = identity.same(zero, nodes.ZERO) and identity.same(nodes.add(*found), together)
    if not linear or (count == 2 and not identity.same(found[2], nodes.ZERO)):
        return None
    return tuple(found[:count])


def _at(node: Node, values: list[Num]) -> Node:
    """Return the expression with numbers for i, j and k, under any of their marks."""
    if isinstance(node, Const) and node.name == "i":
        return values[0]
    if isinstance(node, Sym):
        for name, value in zip(_NAMES, values, strict=True):
            if node.name in {mark + name for mark in _MARKS}:
                return value
        return node
    if isinstance(node, nodes.Add):
        return nodes.add(*(_at(term, values) for term in node.terms))
    if isinstance(node, nodes.Mul):
        return nodes.mul(*(_at(factor, values) for factor in node.factors))
    return node
