"""Sets of real numbers: intervals, their unions, and the inequalities that describe them."""

import math
from dataclasses import dataclass, replace

from rlvr_envs.verifiers.exact import TooLarge
from rlvr_envs.verifiers.mathtext import identity, nodes
from rlvr_envs.verifiers.mathtext.nodes import Call, Node, Num, Sym
from rlvr_envs.verifiers.mathtext.tolerance import same_expr
from rlvr_envs.verifiers.mathtext.values import (
    Braces,
    Chain,
    Combined,
    Group,
    Listing,
    Scalar,
    Value,
)

_FLIPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!=", "=": "="}
INEQUALITIES = frozenset(("<", ">", "<=", ">=", "!="))


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval; a point is an interval closed on both sides with equal ends."""

    low: Node
    high: Node
    from_: float
    to: float
    with_low: bool
    with_high: bool


Region = tuple[Interval, ...]


def region_of(value: Value) -> Region | None:
    """Return the set of real numbers that a value describes, sorted and merged, or None."""
    try:
        found = _region(value)
    except (TooLarge, ArithmeticError):
        return None
    return None if found is None else merge(found)


def _region(value: Value) -> Region | None:
    if isinstance(value, Group):
        return _bracketed(value)
    if isinstance(value, Braces):
        points = [_point(item) for item in value.items]
        found = [point for point in points if point is not None]
        return tuple(found) if len(found) == len(points) else None
    if isinstance(value, Combined):
        return _combined(value)
    if isinstance(value, Chain):
        return _chained(value)
    if isinstance(value, Listing):
        return _listed(value)
    return None


def _interval(low: Node, high: Node, with_low: bool, with_high: bool) -> Interval | None:
    from_, to = identity.size_of(low), identity.size_of(high)
    if from_ is None or to is None or math.isnan(from_) or math.isnan(to):
        return None
    return Interval(
        low, high, from_, to, with_low and from_ != -math.inf, with_high and to != math.inf
    )


def _bracketed(value: Group) -> Region | None:
    if len(value.items) != 2 or value.opening not in "([" or value.closing not in ")]":
        return None
    low, high = value.items
    if not isinstance(low, Scalar) or not isinstance(high, Scalar):
        return None
    found = _interval(low.expr, high.expr, value.opening == "[", value.closing == "]")
    if found is None or found.from_ > found.to:
        return None
    return (found,)


def _point(item: Value) -> Interval | None:
    return _interval(item.expr, item.expr, True, True) if isinstance(item, Scalar) else None


def _combined(value: Combined) -> Region | None:
    found = _region(value.parts[0])
    for operator, part in zip(value.operators, value.parts[1:], strict=True):
        other = _region(part)
        if found is None or other is None:
            return None
        found = found + other if operator == "cup" else intersect(found, other)
    return found


def _listed(value: Listing) -> Region | None:
    if not any(
        isinstance(item, Chain) and INEQUALITIES.issuperset(item.relations) for item in value.items
    ):
        return None
    regions = [_region(item) or _solved(item) for item in value.items if isinstance(item, Chain)]
    names = {_subject(item) for item in value.items if isinstance(item, Chain)}
    if len(regions) != len(value.items) or len(names) != 1:
        return None
    found: Region | None = regions[0]
    for other in regions[1:]:
        if found is None or other is None:
            return None
        common = intersect(found, other)
        joined = value.joiner == "or" or (value.joiner != "and" and not common)
        found = found + other if joined else common
    return found


def _solved(chain: Chain) -> Region | None:
    """Return the one number that solves an equation such as ``x = 3``."""
    left, *rest = chain.sides
    if chain.relations != ("=",) or not isinstance(left, Scalar) or not isinstance(rest[0], Scalar):
        return None
    name, bound = left.expr, rest[0].expr
    if not isinstance(name, Sym) or nodes.symbols(bound):
        return None
    point = _interval(bound, bound, True, True)
    return None if point is None else (point,)


def _subject(chain: Chain) -> frozenset[str]:
    names: frozenset[str] = frozenset()
    for side in chain.sides:
        if isinstance(side, Scalar):
            names |= nodes.symbols(side.expr)
    return names


def _chained(chain: Chain) -> Region | None:
    """Return the set of an inequality chain in one unknown, or of ``x in [a, b]``."""
    if chain.relations == ("in",):
        return _region(chain.sides[1]) if isinstance(chain.sides[0], Scalar) else None
    if not INEQUALITIES.issuperset(chain.relations):
        return None
    found: Region = (_everything(),)
    for left, relation, right in zip(chain.sides, chain.relations, chain.sides[1:], strict=False):
        if not isinstance(left, Scalar) or not isinstance(right, Scalar):
            return None
        part = _half_line(left.expr, relation, right.expr)
        if part is None:
            return None
        found = intersect(found, part)
    return found


def _everything() -> Interval:
    infinity = nodes.INFINITY
    return Interval(nodes.neg(infinity), infinity, -math.inf, math.inf, False, False)


def _half_line(left: Node, relation: str, right: Node) -> Region | None:
    """Solve one inequality that is linear in one unknown, or in its absolute value."""
    if isinstance(left, Num | nodes.Const) or not nodes.symbols(left):
        left, relation, right = right, _FLIPPED[relation], left
    subject, sign = _linear_subject(left, right)
    if subject is None:
        return None
    bound = _bound(left, right, subject)
    if bound is None:
        return None
    relation = relation if sign > 0 else _FLIPPED[relation]
    if isinstance(subject, Call) and subject.name == "abs":
        return _around_zero(subject.args[0], bound, relation)
    return _beside(bound, relation)


def _linear_subject(left: Node, right: Node) -> tuple[Node | None, int]:
    r"""Return what an inequality bounds, a symbol, f(x) or |x|, and the sign of its factor."""
    if isinstance(left, Sym | Call) and not nodes.symbols(right):
        return left, 1
    names = nodes.symbols(left) | nodes.symbols(right)
    if len(names) != 1:
        return None, 1
    name = next(iter(names))
    slope = _slope(nodes.add(left, nodes.neg(right)), name)
    return (Sym(name), 1 if slope > 0 else -1) if slope else (None, 1)


def _slope(node: Node, name: str) -> float:
    """Return the slope of a function of one variable if it is a line, else 0."""
    at_zero = nodes.substitute(node, name, nodes.ZERO)
    rise = nodes.add(nodes.substitute(node, name, nodes.ONE), nodes.neg(at_zero))
    slope = identity.size_of(rise)
    if not slope or not math.isfinite(slope):
        return 0.0
    line = nodes.add(at_zero, nodes.mul(rise, Sym(name)))
    return slope if identity.same(node, line) else 0.0


def _bound(left: Node, right: Node, subject: Node) -> Node | None:
    if left == subject and isinstance(subject, Sym | Call):
        return right if subject.name not in nodes.symbols(right) else None
    if not isinstance(subject, Sym):
        return None
    difference = nodes.add(left, nodes.neg(right))
    at_zero = nodes.substitute(difference, subject.name, nodes.ZERO)
    at_one = nodes.substitute(difference, subject.name, nodes.ONE)
    return nodes.div(nodes.neg(at_zero), nodes.add(at_one, nodes.neg(at_zero)))


def _beside(bound: Node, relation: str) -> Region | None:
    infinity, closed = nodes.INFINITY, "=" in relation
    above = _interval(bound, infinity, closed, False)
    below = _interval(nodes.neg(infinity), bound, False, closed)
    if above is None or below is None:
        return None
    if relation == "!=":
        return (replace(below, with_high=False), replace(above, with_low=False))
    return (above,) if relation.startswith(">") else (below,)


def _around_zero(inner: Node, bound: Node, relation: str) -> Region | None:
    """Solve ``|inner| < bound``, or the same with another relation."""
    size = identity.size_of(bound)
    if size is None or size < 0:
        return None
    upper = _half_line(inner, relation, bound)
    lower = _half_line(inner, _FLIPPED[relation], nodes.neg(bound))
    if upper is None or lower is None:
        return None
    return lower + upper if relation.startswith(">") else intersect(lower, upper)


def intersect(left: Region, right: Region) -> Region:
    """Return the common part of two regions."""
    found = []
    for one in left:
        for two in right:
            start = max(one, two, key=lambda part: (part.from_, not part.with_low))
            end = min(one, two, key=lambda part: (part.to, part.with_high))
            part = replace(start, high=end.high, to=end.to, with_high=end.with_high)
            if part.from_ < part.to or (part.from_ == part.to and part.with_low and part.with_high):
                found.append(part)
    return tuple(found)


def merge(region: Region) -> Region:
    """Return the same set as sorted intervals that neither overlap nor touch."""
    merged: list[Interval] = []
    for part in sorted(region, key=lambda item: (item.from_, not item.with_low)):
        last = merged[-1] if merged else None
        if last is not None and (
            part.from_ < last.to or (part.from_ == last.to and (part.with_low or last.with_high))
        ):
            if (part.to, part.with_high) > (last.to, last.with_high):
                merged[-1] = replace(last, high=part.high, to=part.to, with_high=part.with_high)
        else:
            merged.append(part)
    return tuple(merged)


def same_region(gold: Region, answer: Region, rel_tol: float | None) -> bool | None:
    """Return whether two merged regions are the same set."""
    if len(gold) != len(answer):
        return False
    for mine, theirs in zip(gold, answer, strict=True):
        if (mine.with_low, mine.with_high) != (theirs.with_low, theirs.with_high):
            return False
        for left, right in ((mine.low, theirs.low), (mine.high, theirs.high)):
            decided = _same_end(left, right, rel_tol)
            if not decided:
                return decided
    return True


def _same_end(left: Node, right: Node, rel_tol: float | None) -> bool | None:
    if nodes.is_finite(left) and nodes.is_finite(right):
        return same_expr(left, right, rel_tol)
    return identity.size_of(left) == identity.size_of(right)
