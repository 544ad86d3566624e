"""Comparing equations and inequalities up to what leaves their meaning alone."""

from fractions import Fraction

from rlvr_envs.verifiers.mathtext import identity, nodes
from rlvr_envs.verifiers.mathtext.nodes import Node, Num, Sym
from rlvr_envs.verifiers.mathtext.values import Chain, Scalar, Value

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "!=": "!="}


def are_scalar(*sides: Value) -> bool:
    """Whether all sides of relations are expressions."""
    return all(isinstance(side, Scalar) for side in sides)


def same_equation(gold: Chain, answer: Chain) -> bool | None:
    """Whether two equations between expressions agree up to a constant factor and side swap."""
    return _proportional(_difference(gold.sides), _difference(answer.sides), signed=False)


def same_solutions(gold: Chain, answer: Chain) -> bool:
    """Whether two equations have the same solutions, one of them being solved for a name.

    ``y = 6/x`` and ``xy = 6`` do: the second is linear in y, and putting in the first leaves
    nothing. The points where a denominator vanishes are not looked at.
    """
    return _solves(gold, answer) or _solves(answer, gold)


def _solves(solved: Chain, equation: Chain) -> bool:
    for name, value in (solved.sides, solved.sides[::-1]):
        if not isinstance(name, Scalar) or not isinstance(value, Scalar):
            return False
        if not isinstance(name.expr, Sym) or name.expr.name in nodes.symbols(value.expr):
            continue
        difference, symbol = _difference(equation.sides), name.expr.name
        names = nodes.symbols(difference)
        if symbol not in names or not nodes.symbols(value.expr) <= names:
            continue
        at_zero = nodes.substitute(difference, symbol, nodes.ZERO)
        slope = nodes.add(nodes.substitute(difference, symbol, nodes.ONE), nodes.neg(at_zero))
        line = nodes.add(at_zero, nodes.mul(slope, name.expr))
        if identity.same(difference, line) is not True or identity.same(slope, nodes.ZERO):
            continue
        rest = nodes.substitute(difference, symbol, value.expr)
        if identity.same(rest, nodes.ZERO) is True:
            return True
    return False


def same_inequalities(gold: Chain, answer: Chain) -> bool | None:
    """Whether two chains of inequalities agree link by link, read from either end."""
    if len(answer.relations) != len(gold.relations):
        return False
    if _links(gold, answer.sides, answer.relations):
        return True
    flipped = tuple(_FLIPPED.get(relation, relation) for relation in reversed(answer.relations))
    return _links(gold, tuple(reversed(answer.sides)), flipped)


def _difference(sides: tuple[Value, ...]) -> Node:
    left, right = sides
    if not isinstance(left, Scalar) or not isinstance(right, Scalar):
        raise TypeError("only scalars have a difference")
    return nodes.add(left.expr, nodes.neg(right.expr))


def _proportional(left: Node, right: Node, *, signed: bool) -> bool | None:
    """Whether two expressions agree up to a constant factor, positive where ``signed``."""
    names = nodes.symbols(left)
    if names != nodes.symbols(right) or not names:
        return False
    for attempt in range(3):
        point: dict[str, Node] = {
            name: Num(Fraction(5 * place + 3 + 7 * attempt, 4 + attempt))
            for place, name in enumerate(sorted(names))
        }
        one, two = left, right
        for name, value in point.items():
            one, two = nodes.substitute(one, name, value), nodes.substitute(two, name, value)
        a, b = identity.size_of(one), identity.size_of(two)
        if a is None or b is None or a == 0 or b == 0:
            continue
        if signed and a * b < 0:
            return False
        return identity.same(nodes.mul(left, two), nodes.mul(right, one))
    return None


def _links(gold: Chain, sides: tuple[Value, ...], relations: tuple[str, ...]) -> bool | None:
    decisions: list[bool | None] = []
    for place, (mine, theirs) in enumerate(zip(gold.relations, relations, strict=True)):
        left, right = (
            _difference(gold.sides[place : place + 2]),
            _difference(sides[place : place + 2]),
        )
        if mine != theirs:
            if mine != _FLIPPED.get(theirs):
                return False
            right = nodes.neg(right)
        decisions.append(_proportional(left, right, signed=mine != "!="))
    if False in decisions:
        return False
    return None if None in decisions else True
