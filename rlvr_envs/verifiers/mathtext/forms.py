"""Reducing an answer to the form in which it is compared: labels, chains and lists settled."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from rlvr_envs.verifiers.mathtext import identity, nodes
from rlvr_envs.verifiers.mathtext.nodes import Call, Form, Mul, Node, Num, Pow, Sym
from rlvr_envs.verifiers.mathtext.values import (
    Braces,
    Chain,
    Combined,
    Grid,
    Group,
    Listing,
    Opaque,
    Ratio,
    Scalar,
    Text,
    Value,
)

APPROXIMATION = 0.01  # how far the right side of an "approximately" may be off, relatively

_CONTRADICTION = Opaque("sides that differ", final=True)
_REAL_LINE = Group("(", (Scalar(nodes.neg(nodes.INFINITY)), Scalar(nodes.INFINITY)), ")")
_ALL_REALS = (
    Scalar(Sym("mathbb R")),
    Text("all real numbers"),
)


@dataclass(frozen=True, slots=True)
class Assigned:
    """A value given to a name, such as ``x = 3``."""

    name: Value
    value: Value


def assignment(value: Value) -> Assigned | None:
    """Return the two sides of ``name = value`` if the left side is a name, else None."""
    if not isinstance(value, Chain) or len(value.relations) != 1:
        return None
    left, right = value.sides
    if value.relations[0] == "in" and _is_name(left):
        return Assigned(left, right)
    if value.relations[0] != "=":
        return None
    for name, content in ((left, right), (right, left)):
        if _is_name(name) and not _recurs(name, content):
            return Assigned(name, content)
    return None


def _recurs(name: Value, content: Value) -> bool:
    """Whether what is named occurs in its own definition, so that nothing is defined."""
    if not isinstance(content, Scalar):
        return False
    if isinstance(name, Scalar) and isinstance(name.expr, Call) and name.expr.name.startswith("?"):
        return name.expr.name in nodes.key(content.expr)
    return bool(_names(name) & _names(content))


def _is_name(value: Value) -> bool:
    if isinstance(value, Group | Listing):
        return all(_is_name(item) for item in value.items)
    if isinstance(value, Ratio):
        return all(_is_name_node(term) for term in value.terms)
    if isinstance(value, Text):
        return True
    return isinstance(value, Scalar) and not value.unit and _is_name_node(value.expr)


def _is_name_node(node: Node) -> bool:
    """Whether an expression names a quantity: x, f(x), AB, |AB|, NO/BO or sin A."""
    if isinstance(node, Call):
        return bool(nodes.symbols(node)) or node.name.startswith("?")
    if isinstance(node, Pow):
        return node.exponent == nodes.MINUS_ONE and _is_name_node(node.base)
    if isinstance(node, Mul):
        return all(isinstance(part, Pow) or _is_capital(part) for part in node.factors) and all(
            _is_name_node(part) for part in node.factors
        )
    return isinstance(node, Sym) and node != nodes.SIGN


def _is_capital(node: Node) -> bool:
    return isinstance(node, Sym) and (node.name[0].isupper() or node.name == "angle")


def _names(value: Value) -> frozenset[str]:
    if isinstance(value, Scalar):
        return nodes.symbols(value.expr)
    if isinstance(value, Group | Listing | Braces):
        return frozenset().union(*(_names(item) for item in value.items))
    return frozenset()


def settle(value: Value) -> Value:
    """Return a value with its chains of equalities reduced and its plus-minus signs expanded."""
    if isinstance(value, Chain):
        return _settle_chain(value)
    if isinstance(value, Listing):
        return _settle_list(value)
    if isinstance(value, Scalar | Text):
        return _settle_atom(value)
    if isinstance(value, Braces):
        return Braces(tuple(_flat(settle(item) for item in value.items)))
    if isinstance(value, Group):
        return replace(value, items=tuple(settle(item) for item in value.items))
    return value


def _settle_atom(value: Scalar | Text) -> Value:
    if value in _ALL_REALS:
        return _REAL_LINE
    if isinstance(value, Text):
        return value
    readings = tuple(Scalar(expr, value.unit) for expr in nodes.expand_signs(value.expr))
    return value if len(readings) == 1 else Listing(readings, ",")


def _flat(items: Iterable[Value]) -> list[Value]:
    found: list[Value] = []
    for item in items:
        found.extend(item.items if isinstance(item, Listing) else (item,))
    return found


def _settle_chain(chain: Chain) -> Value:
    if not {"=", "~="}.issuperset(chain.relations):
        return Chain(tuple(settle(side) for side in chain.sides), chain.relations)
    sides = list(chain.sides)
    if "~=" in chain.relations:
        cut = chain.relations.index("~=")
        if cut == 0 and _is_name(sides[0]):
            return settle(replace(chain, relations=("=", *chain.relations[1:])))
        if not all(_is_near(sides[cut], side) for side in sides[cut + 1 :]):
            return _CONTRADICTION
        sides = sides[: cut + 1]
    return settle(sides[0]) if len(sides) == 1 else _settle_equalities(sides)


def _settle_equalities(sides: list[Value]) -> Value:
    """Keep an equation; of a chain keep the name and the last side, if all other sides agree."""
    start = 0
    while start < len(sides) - 1 and _is_name(sides[start]):
        start += 1
    if len(sides) == 2 and (start or _names(sides[0]) or _names(sides[1])):
        return _spread(sides[0], settle(sides[1]))
    for left, right in zip(sides[start:], sides[start + 1 :], strict=False):
        if not _is_same(left, right):
            return _CONTRADICTION
    last = settle(sides[-1])
    return _spread(sides[0], last) if start else last


def _spread(name: Value, content: Value) -> Value:
    r"""Give a name to each value of a list: ``x = 1 \pm 2`` says ``x = 3`` and ``x = -1``."""
    if isinstance(content, Listing):
        items = tuple(Chain((name, item), ("=",)) for item in content.items)
        return Listing(items, content.joiner)
    return Chain((name, content), ("=",))


def _is_same(left: Value, right: Value) -> bool:
    if isinstance(left, Scalar) and isinstance(right, Scalar):
        return identity.same(left.expr, right.expr) is True
    return left == right


def _is_near(exact: Value, rounded: Value) -> bool:
    if not isinstance(exact, Scalar) or not isinstance(rounded, Scalar):
        return False
    left, right = identity.size_of(exact.expr), identity.size_of(rounded.expr)
    if left is None or right is None:
        return False
    return math.isclose(left, right, rel_tol=APPROXIMATION)


def _settle_list(value: Listing) -> Value:
    """Flatten nested lists, and put the assignments that belong together into records."""
    items = [settle(item) for item in value.items if not _is_domain(item)]
    if len(items) == 1:
        return items[0]
    if all(record(item) is not None for item in items if isinstance(item, Listing)) and all(
        isinstance(item, Listing) for item in items
    ):
        return Listing(tuple(items), value.joiner)
    if value.joiner in (";", "and", "or") and any(_is_inequality(item) for item in items):
        return Listing(tuple(items), value.joiner)
    flat = _flat(items)
    names = [assignment(item) for item in flat]
    keys = [None if found is None else found.name for found in names]
    period = _period(keys)
    if period:
        chunks = [Listing(tuple(flat[at : at + period]), ",") for at in range(0, len(flat), period)]
        return Listing(tuple(chunks), ";")
    first = names[0]
    if first is not None and all(key is None or key == keys[0] for key in keys):
        shared = [found.value if found else item for found, item in zip(names, flat, strict=True)]
        return Listing(tuple(_flat(shared)), value.joiner)
    return Listing(tuple(flat), value.joiner)


def _is_domain(value: Value) -> bool:
    """Whether a remark such as ``k in Z`` says only what kind of number a parameter is."""
    if not isinstance(value, Chain) or value.relations != ("in",):
        return False
    domain = value.sides[1]
    named = isinstance(domain, Scalar) and isinstance(domain.expr, Sym)
    return named and domain.expr.name in ("mathbb Z", "mathbb N", "Z", "N")  # type: ignore[union-attr]


def _is_inequality(value: Value) -> bool:
    return isinstance(value, Chain) and not {"=", "~="}.issuperset(value.relations)


def _period(keys: list[Value | None]) -> int:
    """Return how many names repeat in turn, as two do in p, q, p, q; 0 if they do not."""
    if None in keys or keys.count(keys[0]) < 2:
        return 0
    period = keys.index(keys[0], 1)
    repeats = len(keys) % period == 0 and keys == keys[:period] * (len(keys) // period)
    return period if period > 1 and repeats else 0


def record(value: Value) -> tuple[tuple[Value, ...], tuple[Value, ...]] | None:
    """Return names and values of ``x = 1, y = 2`` or ``(x, y) = (1, 2)``, else None."""
    if isinstance(value, Listing):
        found = [assignment(item) for item in value.items]
        named = [item for item in found if item is not None]
        if len(named) != len(found) or len({repr(item.name) for item in named}) != len(named):
            return None
        return tuple(item.name for item in named), tuple(item.value for item in named)
    assigned = assignment(value)
    if assigned is None or not isinstance(assigned.name, Group):
        return None
    if not isinstance(assigned.value, Group) or len(assigned.value.items) != len(
        assigned.name.items
    ):
        return None
    return assigned.name.items, assigned.value.items


def is_worked_out(value: Value, answer_type: str, gold: Value) -> bool:
    """Whether each number is written out, so that restating the question earns nothing.

    An integer must be a literal; elsewhere one quotient of literals is a number too. What is a
    number in the gold may not be a function of numbers in the answer. Expressions are judged by
    value alone, and an equation must be one.
    """
    if answer_type in ("expression", "complex"):
        return True
    if answer_type == "equation":
        return isinstance(value, Chain)
    if answer_type == "integer" and isinstance(value, Ratio):
        return False
    limit = Form.LITERAL if answer_type == "integer" else Form.QUOTIENT
    found = list(_terms(value))
    if any(isinstance(node, Num) and node.form > limit for node in found):
        return False
    return all(map(_is_plain, found)) or not all(map(_is_plain, _terms(gold)))


def _is_plain(node: Node) -> bool:
    return isinstance(node, Num) or node in (nodes.INFINITY, nodes.neg(nodes.INFINITY))


def _terms(value: Value) -> Iterator[Node]:
    """Yield the expressions that a value is made of, without the names given to them."""
    if isinstance(value, Scalar):
        yield value.expr
    elif isinstance(value, Group | Braces | Listing):
        for item in value.items:
            yield from _terms(item)
    elif isinstance(value, Grid):
        for row in value.rows:
            for item in row:
                yield from _terms(item)
    elif isinstance(value, Ratio):
        yield from value.terms
    elif isinstance(value, Chain | Combined):
        for side in value.sides if isinstance(value, Chain) else value.parts:
            yield from (node for node in _terms(side) if not _is_name_node(node))


def without_rounding(value: Value) -> Value:
    """Return a value whose decimals are exact numbers, and stand for no neighbours."""
    if isinstance(value, Scalar):
        if isinstance(value.expr, Num) and value.expr.ulp is not None:
            return replace(value, expr=replace(value.expr, ulp=None))
    elif isinstance(value, Group | Braces | Listing):
        return replace(value, items=tuple(map(without_rounding, value.items)))
    elif isinstance(value, Grid):
        return Grid(tuple(tuple(map(without_rounding, row)) for row in value.rows))
    elif isinstance(value, Chain):
        return replace(value, sides=tuple(map(without_rounding, value.sides)))
    elif isinstance(value, Combined):
        return replace(value, parts=tuple(map(without_rounding, value.parts)))
    return value


def rename_parameter(left: Value, right: Value, content: Value) -> Value | None:
    """Return the body of ``g(t) = ...`` in the parameter that the gold's function uses."""
    parameters = []
    for value in (left, right):
        if not isinstance(value, Scalar) or not isinstance(value.expr, Call):
            return None
        args = value.expr.args
        if len(args) != 1 or not isinstance(args[0], Sym):
            return None
        parameters.append(args[0])
    mine, theirs = parameters
    if mine == theirs or not isinstance(content, Scalar):
        return None
    if mine.name in nodes.symbols(content.expr):
        return None
    return Scalar(nodes.substitute(content.expr, theirs.name, mine), content.unit)
