"""Values of puzzle specifications: known ones, and terms over z3's unknowns, handled alike."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any

from rlvr_envs.solvers.packages import require

MAX_ITEMS = 2_000  # of one comprehension or range


@dataclass(frozen=True, slots=True)
class Choice:
    """One of some labels, by its place in them: a number, or a term of z3."""

    index: Any
    labels: tuple[str, ...]

    def __str__(self) -> str:
        return str(self.labels[self.index])


def shown(value: Any) -> str:
    """Return a known value as it stands in a text."""
    if isinstance(value, tuple):
        words = [shown(item) for item in value]
        return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
    return str(value)


def is_term(value: Any) -> bool:
    """Return whether a value is a term of z3, or depends on one."""
    if isinstance(value, Choice):
        return is_term(value.index)
    return not isinstance(value, (bool, int, str, tuple, dict))


def conjunction(parts: list[Any]) -> Any:
    """Return the conjunction of truth values."""
    terms = [part for part in parts if is_term(part)]
    if not all(part for part in parts if not is_term(part)):
        return False
    return require("z3").And(terms) if terms else True


def negation(part: Any) -> Any:
    """Return the negation of a truth value."""
    return require("z3").Not(part) if is_term(part) else not part


def disjunction(parts: list[Any]) -> Any:
    """Return the disjunction of truth values."""
    return negation(conjunction([negation(part) for part in parts]))


def either(condition: Any, one: Any, other: Any) -> Any:
    """Return one of two values, as a condition says."""
    if not is_term(condition):
        return one if condition else other
    if isinstance(one, Choice) and isinstance(other, Choice) and one.labels == other.labels:
        return Choice(either(condition, one.index, other.index), one.labels)
    return require("z3").If(condition, one, other)


def same(one: Any, other: Any) -> Any:
    """Return whether two values are equal."""
    if isinstance(one, str) and isinstance(other, Choice):
        one, other = other, one
    if isinstance(one, Choice) and isinstance(other, str):
        return one.index == one.labels.index(other) if other in one.labels else False
    if isinstance(one, Choice) and isinstance(other, Choice):
        if one.labels == other.labels:
            return one.index == other.index
        return disjunction(
            [conjunction([same(one, label), same(other, label)]) for label in one.labels]
        )
    if isinstance(one, tuple) and isinstance(other, tuple):
        if len(one) != len(other):
            return False
        return conjunction([same(a, b) for a, b in zip(one, other, strict=True)])
    return one == other


def number(value: Any) -> Any:
    """Return a number: itself, or 1 for a truth and 0 for a falsehood."""
    if isinstance(value, bool):
        return int(value)
    if _is_boolean(value):
        return require("z3").If(value, 1, 0)
    if isinstance(value, int) or (is_term(value) and not isinstance(value, Choice)):
        return value
    raise TypeError(f"{shown(value)!r:.60} is not a number")


def truth(value: Any) -> Any:
    """Return a truth value, known or not.

    Raises:
        TypeError: the value is of another kind.
    """
    if isinstance(value, bool) or _is_boolean(value):
        return value
    raise TypeError(f"{shown(value)!r:.60} is neither true nor false")


def _is_boolean(value: Any) -> bool:
    is_a_term = is_term(value) and not isinstance(value, Choice)
    return is_a_term and value.sort().name() == "Bool"


def _total(values: list[Any]) -> Any:
    return reduce(lambda a, b: a + b, map(number, values), 0)


def _least(values: list[Any], *, largest: bool = False) -> Any:
    if not values:
        raise TypeError("min and max need at least one value")

    def better(one: Any, other: Any) -> Any:
        return either(one >= other if largest else one <= other, one, other)

    return reduce(better, map(number, values))


def _distinct(values: list[Any]) -> Any:
    pairs = itertools.combinations(values, 2)
    return conjunction([negation(same(one, other)) for one, other in pairs])


def _the(guarded: list[tuple[Any, Any]]) -> Any:
    """Return the only label whose condition holds, as a choice among the labels."""
    labels = tuple(shown(value) for _, value in guarded)
    if not labels or not all(isinstance(value, str) for _, value in guarded):
        raise TypeError("the(...) chooses among names")
    index: Any = len(labels) - 1
    for place in range(len(labels) - 2, -1, -1):
        index = either(guarded[place][0], place, index)
    return Choice(index, labels)


Guarded = list[tuple[Any, Any]]  # values, each with the condition under which it counts


def _guarded_sum(items: Guarded) -> Any:
    return _total([either(guard, number(value), 0) for guard, value in items])


FUNCTIONS: dict[str, Callable[[Guarded], Any]] = {
    "sum": _guarded_sum,
    "count": lambda items: _total([conjunction([g, truth(v)]) for g, v in items]),
    "all": lambda items: conjunction([disjunction([negation(g), truth(v)]) for g, v in items]),
    "any": lambda items: disjunction([conjunction([g, truth(v)]) for g, v in items]),
    "the": _the,
    "distinct": lambda items: _distinct([value for _, value in items]),
    "min": lambda items: _least([value for _, value in items]),
    "max": lambda items: _least([value for _, value in items], largest=True),
    "len": len,
    "range": lambda items: _range([value for _, value in items]),
    "abs": lambda items: _least([items[0][1], -number(items[0][1])], largest=True),
    "implies": lambda items: disjunction([negation(truth(items[0][1])), truth(items[1][1])]),
    "iff": lambda items: same(truth(items[0][1]), truth(items[1][1])),
}
ARITY = {"abs": (1,), "implies": (2,), "iff": (2,), "range": (1, 2)}  # of those not over a list


def _range(bounds: list[Any]) -> tuple[int, ...]:
    if len(bounds) not in (1, 2) or not all(type(bound) is int for bound in bounds):
        raise TypeError("range takes one or two known integers")
    found = range(*bounds)
    if len(found) > MAX_ITEMS:
        raise TypeError(f"a range has at most {MAX_ITEMS} numbers")
    return tuple(found)
