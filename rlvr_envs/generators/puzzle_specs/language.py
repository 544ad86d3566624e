"""The formulas of puzzle specifications: a small, closed part of Python's expressions.

One interpreter serves both readings: over plain values a formula has a value, over z3's unknowns
it becomes a term of z3. Only what is listed here can be written, so nothing of Python can be
reached from a specification.
"""

import ast
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.generators.puzzle_specs.terms import (
    ARITY,
    FUNCTIONS,
    MAX_ITEMS,
    Choice,
    conjunction,
    disjunction,
    either,
    is_term,
    negation,
    number,
    same,
    shown,
    truth,
)

Names = Mapping[str, Any]

_NODES = (
    *(ast.Expression, ast.Load, ast.Store, ast.Name, ast.Constant, ast.Tuple, ast.List),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod),
    *(ast.UnaryOp, ast.USub, ast.Not, ast.BoolOp, ast.And, ast.Or, ast.IfExp),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn),
    *(ast.Subscript, ast.Call, ast.GeneratorExp, ast.ListComp, ast.comprehension),
)
_HOLE = re.compile(r"\{([^{}]*)\}")


class SpecError(ConfigError):
    """A specification is wrong; the message says where and what."""


@dataclass(frozen=True)
class Formula:
    """A formula, read and checked for what may be written, but not yet for its names."""

    text: str
    where: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, (str, int)):
            raise SpecError(f"{self.where}: a formula must be text, got {self.text!r:.80}")
        for node in ast.walk(self.tree):
            if not isinstance(node, _NODES):
                self.fail(node, f"{type(node).__name__} may not be used here")
            if isinstance(node, ast.Constant) and not isinstance(node.value, (int, str)):
                self.fail(node, f"{node.value!r} is neither an integer nor a name")
            if isinstance(node, ast.Call) and (
                not isinstance(node.func, ast.Name)
                or node.func.id not in FUNCTIONS
                or node.keywords
            ):
                self.fail(node, f"only these functions can be called: {', '.join(FUNCTIONS)}")

    @cached_property
    def tree(self) -> ast.expr:
        """The syntax tree.

        Raises:
            SpecError: the text is no expression.
        """
        try:
            return ast.parse(str(self.text).strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            reason = getattr(error, "msg", None) or str(error)
            raise SpecError(
                f"{self.where}: {self.text!r:.120} is not a formula: {reason}"
            ) from error

    def check_names(self, known: frozenset[str]) -> None:
        """Raise `SpecError` for a name that is not known."""
        bound = {
            node.id
            for node in ast.walk(self.tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Name) and node.id not in known | bound | FUNCTIONS.keys():
                hint = did_you_mean(node.id, sorted(known))
                self.fail(
                    node,
                    f"nothing is called {node.id!r}{hint} (known here: {', '.join(sorted(known))})",
                )

    def fail(self, node: ast.AST, reason: str) -> NoReturn:
        """Raise `SpecError` with the place in the formula."""
        column = getattr(node, "col_offset", 0) + 1
        raise SpecError(f"{self.where}: in {self.text!r:.120} at column {column}: {reason}")

    def value(self, names: Names) -> Any:
        """Return the formula's value, or its term where names stand for unknowns.

        Raises:
            SpecError: an operation does not fit its operands.
        """
        if isinstance(self.tree, ast.Name) and self.tree.id in names:  # as most lists are
            return names[self.tree.id]
        return _Reading(self, dict(names)).of(self.tree)

    def integer(self, names: Names) -> int:
        """Return the value of a formula that must be a known integer."""
        value = self.value(names)
        if isinstance(value, bool) or not isinstance(value, int):
            raise SpecError(
                f"{self.where}: {self.text!r:.120} must be an integer, got {value!r:.80}"
            )
        return value


@dataclass(frozen=True)
class Text:
    """A text with formulas in braces."""

    text: str
    where: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise SpecError(f"{self.where}: expected text, got {self.text!r:.80}")
        _ = self.holes

    @cached_property
    def holes(self) -> tuple[Formula, ...]:
        """The formulas in the text, from left to right."""
        return tuple(Formula(hole, self.where) for hole in _HOLE.findall(self.text))

    def filled(self, names: Names) -> str:
        """Return the text with the values of its formulas."""
        values = iter([shown(hole.value(names)) for hole in self.holes])
        return _HOLE.sub(lambda _: next(values), self.text).strip()


_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a / b if is_term(a) else a // b,
    ast.Mod: lambda a, b: a % b,
}
_ORDER: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: lambda a, b: a < b,
    ast.LtE: lambda a, b: a <= b,
    ast.Gt: lambda a, b: a > b,
    ast.GtE: lambda a, b: a >= b,
}


class _Reading:
    """One evaluation of a formula."""

    def __init__(self, formula: Formula, names: dict[str, Any]) -> None:
        self.formula, self.names = formula, names

    def of(self, node: ast.expr) -> Any:
        """Return the value of a node; what does not fit becomes a `SpecError` with its place."""
        try:
            return getattr(self, f"_{type(node).__name__.lower()}")(node)
        except SpecError:
            raise
        except (TypeError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
            self.formula.fail(node, f"{error}")

    def _constant(self, node: ast.Constant) -> Any:
        return node.value

    def _name(self, node: ast.Name) -> Any:
        if node.id not in self.names:
            raise LookupError(f"nothing is called {node.id!r}")
        return self.names[node.id]

    def _tuple(self, node: ast.Tuple | ast.List) -> tuple[Any, ...]:
        return tuple(self.of(item) for item in node.elts)

    _list = _tuple

    def _binop(self, node: ast.BinOp) -> Any:
        left, right = number(self.of(node.left)), number(self.of(node.right))
        if isinstance(node.op, (ast.FloorDiv, ast.Mod)) and (is_term(right) or right < 1):
            raise TypeError("a divisor must be a known positive integer")
        return _ARITHMETIC[type(node.op)](left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Any:
        value = self.of(node.operand)
        return negation(truth(value)) if isinstance(node.op, ast.Not) else -number(value)

    def _boolop(self, node: ast.BoolOp) -> Any:
        parts = [truth(self.of(value)) for value in node.values]
        return conjunction(parts) if isinstance(node.op, ast.And) else disjunction(parts)

    def _ifexp(self, node: ast.IfExp) -> Any:
        return either(truth(self.of(node.test)), self.of(node.body), self.of(node.orelse))

    def _compare(self, node: ast.Compare) -> Any:
        values = [self.of(node.left), *map(self.of, node.comparators)]
        pairs = itertools.pairwise(values)
        return conjunction(
            [
                self._compared(op, one, other)
                for op, (one, other) in zip(node.ops, pairs, strict=True)
            ]
        )

    def _compared(self, op: ast.cmpop, one: Any, other: Any) -> Any:
        if isinstance(op, (ast.Eq, ast.NotEq)):
            equal = same(one, other)
            return equal if isinstance(op, ast.Eq) else negation(equal)
        if isinstance(op, (ast.In, ast.NotIn)):
            found = disjunction([same(one, item) for item in other])
            return found if isinstance(op, ast.In) else negation(found)
        return _ORDER[type(op)](number(one), number(other))

    def _subscript(self, node: ast.Subscript) -> Any:
        holder, key = self.of(node.value), self.of(node.slice)
        if is_term(key) or (isinstance(key, tuple) and any(map(is_term, key))):
            raise TypeError("an index must be known, not one of the unknowns")
        if isinstance(key, Choice):
            key = str(key)
        if isinstance(holder, dict) and key not in holder:
            raise LookupError(f"there is nothing for {key!r}")
        if isinstance(holder, tuple) and not (type(key) is int and 0 <= key < len(holder)):
            raise LookupError(f"place {key!r} is not in 0..{len(holder) - 1}")
        return holder[key]

    def _call(self, node: ast.Call) -> Any:
        name = node.func.id  # type: ignore[attr-defined]  # checked when the formula was read
        if name in ARITY:
            if len(node.args) not in ARITY[name]:
                raise TypeError(f"{name} takes {' or '.join(map(str, ARITY[name]))} arguments")
            return FUNCTIONS[name]([(True, self.of(argument)) for argument in node.args])
        if len(node.args) != 1:
            raise TypeError(f"{name} takes one list")
        only = node.args[0]
        if isinstance(only, (ast.GeneratorExp, ast.ListComp)):
            return FUNCTIONS[name](list(self._items(only, keep=name == "the")))
        items = self.of(only)
        values = items.values() if isinstance(items, dict) else items
        return FUNCTIONS[name]([(True, value) for value in values])

    def _listcomp(self, node: ast.ListComp) -> tuple[Any, ...]:
        items = list(self._items(node))
        if any(is_term(guard) for guard, _ in items):
            raise TypeError("a list may not depend on the unknowns")
        return tuple(value for guard, value in items if guard)

    _generatorexp = _listcomp

    def _items(
        self, node: ast.GeneratorExp | ast.ListComp, *, keep: bool = False
    ) -> Iterator[tuple[Any, Any]]:
        """Yield each value with the condition under which it counts.

        A value whose condition is known to be false is left out, unless all are to be kept.
        """
        items = self._bound(node, list(node.generators), [], keep)
        yield from itertools.islice(items, MAX_ITEMS)

    def _bound(
        self,
        node: ast.GeneratorExp | ast.ListComp,
        left: list[ast.comprehension],
        guards: list[Any],
        keep: bool,
    ) -> Iterator[tuple[Any, Any]]:
        if not left:
            yield conjunction(guards), self.of(node.elt)
            return
        target = left[0].target
        if not isinstance(target, ast.Name):
            raise TypeError("a comprehension binds one name at a time")
        before = self.names
        for item in self.of(left[0].iter):
            self.names = {**before, target.id: item}
            conditions = [*guards, *(truth(self.of(test)) for test in left[0].ifs)]
            if keep or not any(condition is False for condition in conditions):
                yield from self._bound(node, left[1:], conditions, keep)
        self.names = before
