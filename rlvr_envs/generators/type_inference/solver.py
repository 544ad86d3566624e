"""Types, and what a set of facts forces them to be.

A type is a variable (a string) or a tuple of a constructor and its arguments, such as
``("dict", ("str",), "f.x")``. Facts are only ever used forwards: what `solve` finds holds in every
assignment of types that fits the facts.
"""

from collections.abc import Iterable
from typing import TypeAlias

Type: TypeAlias = str | tuple["Type", ...]

INT: Type = ("int",)
STR: Type = ("str",)
BOOL: Type = ("bool",)
ARITIES = {"int": 0, "str": 0, "bool": 0, "list": 1, "set": 1, "dict": 2, "tuple": 2}

# ("same", a, b): a and b are one type.
# ("each", c, e): going through c gives values of type e.
# ("item", c, k, v): c[k] is of type v, where k is of the second type.
Fact: TypeAlias = tuple[Type, ...]


def written(kind: Type) -> str:
    """Return a type as an annotation."""
    if isinstance(kind, str):
        return "?"
    name, *inner = kind
    return f"{name}[{', '.join(map(written, inner))}]" if inner else str(name)


def depth(kind: Type) -> int:
    """Return how deeply constructors are nested; 0 for an int."""
    return max((1 + depth(inner) for inner in kind[1:]), default=0)


def is_known(kind: Type) -> bool:
    """Whether the type has no variable in it."""
    return not isinstance(kind, str) and all(map(is_known, kind[1:]))


class Solution:
    """The types of variables that some facts force."""

    def __init__(self, facts: Iterable[Fact]) -> None:
        self._bound: dict[str, Type] = {}
        pending = list(facts)
        waiting = -1
        while pending and len(pending) != waiting:
            waiting = len(pending)
            pending = [fact for fact in pending if not self._use(fact)]

    def of(self, kind: Type) -> Type:
        """Return a type with all that is known of its variables put in."""
        kind = self._head(kind)
        return kind if isinstance(kind, str) else (kind[0], *map(self.of, kind[1:]))

    def _head(self, kind: Type) -> Type:
        while isinstance(kind, str) and kind in self._bound:
            kind = self._bound[kind]
        return kind

    def _use(self, fact: Fact) -> bool:
        """Take a fact in, or return False where it says nothing yet."""
        relation, subject, *others = fact
        if relation == "same":
            self._unify(subject, others[0])
            return True
        container = self._head(subject)
        if isinstance(container, str):
            return False
        if relation == "each":
            self._unify(container[1], others[0])
        elif container[0] == "list":
            self._unify(others[0], INT)
            self._unify(container[1], others[1])
        else:
            self._unify(container[1], others[0])
            self._unify(container[2], others[1])
        return True

    def _unify(self, one: Type, other: Type) -> None:
        pairs = [(one, other)]
        while pairs:
            first, second = map(self._head, pairs.pop())
            if isinstance(first, str):
                if first != second:
                    self._bound[first] = second
            elif isinstance(second, str):
                self._bound[second] = first
            elif first[0] != second[0]:
                raise ValueError(f"{written(first)} is not {written(second)}")
            else:
                pairs += zip(first[1:], second[1:], strict=True)
