"""Functions of drawn packages as callables, made from their syntax trees.

Only what `functions` writes is known: a few statements, expressions and built-in functions. Each
node becomes a closure that takes the variables, so that nothing is handed to Python's own compiler.
"""

import ast
import operator
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

Variables = dict[str, Any]
Step = Callable[[Variables], Any]

_OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_BUILT_IN: Variables = {
    "min": min,
    "max": max,
    "sum": sum,
    "sorted": sorted,
    "len": len,
    "range": range,
    "enumerate": enumerate,
    "NotImplementedError": NotImplementedError,
}
_METHODS = ("get", "append", "items", "values")
_NOTHING = object()  # what a statement gives that does not return


class Scope(dict[str, Any]):
    """The variables of a function, a comprehension or a lambda; others are looked up outside."""

    __slots__ = ("outer",)

    def __init__(self, outer: Variables) -> None:
        super().__init__()
        self.outer = outer

    def __missing__(self, name: str) -> Any:
        return self.outer[name]


class Unknown(Exception):
    """A syntax tree holds something that no drawn function has."""


def callables(sources: list[str]) -> dict[str, Callable[[Any], Any]]:
    """Return functions of one argument by name; they may call each other."""
    space: Variables = dict(_BUILT_IN)
    found = {}
    for source in sources:
        name, argument, body = _function(source)
        found[name] = space[name] = _callable(argument, body, space)
    return found


def _callable(argument: str, body: Step, space: Variables) -> Callable[[Any], Any]:
    known: dict[Any, Any] = {}  # results for records, which come again and again

    def call(given: Any) -> Any:
        if type(given) is tuple and given in known:
            return known[given]
        variables = Scope(space)
        variables[argument] = given
        result = body(variables)
        if type(given) is tuple:
            known[given] = result
        return result

    return call


@lru_cache(maxsize=512)
def _function(source: str) -> tuple[str, str, Step]:
    tree = ast.parse(source).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise Unknown(ast.dump(tree))
    return tree.name, tree.args.args[0].arg, _block(tree.body)


def _block(statements: list[ast.stmt]) -> Step:
    steps = [_STATEMENTS[type(each)](each) for each in statements]

    def run(variables: Variables) -> Any:
        for step in steps:
            result = step(variables)
            if result is not _NOTHING:
                return result
        return _NOTHING

    return run


def _assign(node: Any) -> Step:
    value, targets = _expression(node.value), [_target(each) for each in node.targets]

    def run(variables: Variables) -> Any:
        found = value(variables)
        for target in targets:
            target(variables, found)
        return _NOTHING

    return run


def _target(node: Any) -> Callable[[Variables, Any], None]:
    if isinstance(node, ast.Name):
        name = node.id
        return lambda variables, value: variables.__setitem__(name, value)
    if isinstance(node, ast.Tuple):
        parts = [_target(each) for each in node.elts]

        def unpack(variables: Variables, value: Any) -> None:
            for part, each in zip(parts, value, strict=True):
                part(variables, each)

        return unpack
    base, key = _expression(node.value), _expression(node.slice)
    return lambda variables, value: base(variables).__setitem__(key(variables), value)


def _for(node: Any) -> Step:
    target, items, body = _target(node.target), _expression(node.iter), _block(node.body)

    def run(variables: Variables) -> Any:
        for item in items(variables):
            target(variables, item)
            result = body(variables)
            if result is not _NOTHING:
                return result
        return _NOTHING

    return run


def _if(node: Any) -> Step:
    test, body, other = _expression(node.test), _block(node.body), _block(node.orelse)
    return lambda variables: body(variables) if test(variables) else other(variables)


def _alone(node: Any) -> Step:
    value = _expression(node.value)

    def run(variables: Variables) -> Any:
        value(variables)
        return _NOTHING

    return run


def _raise(node: Any) -> Step:
    value = _expression(node.exc)

    def run(variables: Variables) -> Any:
        raise value(variables)

    return run


_STATEMENTS: dict[type[ast.AST], Callable[[Any], Step]] = {
    ast.Assign: _assign,
    ast.For: _for,
    ast.If: _if,
    ast.Expr: _alone,
    ast.Raise: _raise,
    ast.Return: lambda node: _expression(node.value),
}


def _expression(node: Any) -> Step:
    if type(node) not in _EXPRESSIONS:
        raise Unknown(ast.dump(node))
    return _EXPRESSIONS[type(node)](node)


def _constant(node: Any) -> Step:
    value = node.value
    return lambda variables: value


def _name(node: Any) -> Step:
    return operator.itemgetter(node.id)


def _binary(node: Any) -> Step:
    apply = _OPERATORS[type(node.op)]
    left, right = _expression(node.left), _expression(node.right)
    return lambda variables: apply(left(variables), right(variables))


def _unary(node: Any) -> Step:
    value = _expression(node.operand)
    if isinstance(node.op, ast.Not):
        return lambda variables: not value(variables)
    return lambda variables: -value(variables)


def _boolean(node: Any) -> Step:
    left, right = map(_expression, node.values)
    if isinstance(node.op, ast.And):
        return lambda variables: left(variables) and right(variables)
    return lambda variables: left(variables) or right(variables)


def _compare(node: Any) -> Step:
    first, rest = _expression(node.left), [_expression(each) for each in node.comparators]
    steps = [(_OPERATORS[type(sign)], each) for sign, each in zip(node.ops, rest, strict=True)]

    def run(variables: Variables) -> bool:
        left = first(variables)
        for apply, each in steps:
            right = each(variables)
            if not apply(left, right):
                return False
            left = right
        return True

    return run


def _either(node: Any) -> Step:
    test, body, other = map(_expression, (node.test, node.body, node.orelse))
    return lambda variables: body(variables) if test(variables) else other(variables)


def _call(node: Any) -> Step:
    arguments = [_expression(each) for each in node.args]
    named = {each.arg: _expression(each.value) for each in node.keywords}
    if isinstance(node.func, ast.Attribute):
        if node.func.attr not in _METHODS:
            raise Unknown(ast.dump(node))
        base, method = _expression(node.func.value), operator.attrgetter(node.func.attr)
        return lambda variables: method(base(variables))(*(a(variables) for a in arguments))
    function = _expression(node.func)
    return lambda variables: function(variables)(
        *(a(variables) for a in arguments), **{name: a(variables) for name, a in named.items()}
    )


def _subscript(node: Any) -> Step:
    base = _expression(node.value)
    if isinstance(node.slice, ast.Slice):
        upper = _expression(node.slice.upper)
        return lambda variables: base(variables)[: upper(variables)]
    key = _expression(node.slice)
    return lambda variables: base(variables)[key(variables)]


def _list(node: Any) -> Step:
    starred = [isinstance(each, ast.Starred) for each in node.elts]
    values = [
        _expression(each.value if isinstance(each, ast.Starred) else each) for each in node.elts
    ]

    def run(variables: Variables) -> list[Any]:
        found: list[Any] = []
        for value, star in zip(values, starred, strict=True):
            found.extend(value(variables) if star else [value(variables)])
        return found

    return run


def _tuple(node: Any) -> Step:
    values = [_expression(each) for each in node.elts]
    return lambda variables: tuple([value(variables) for value in values])


def _dict(node: Any) -> Step:
    if node.keys:
        raise Unknown(ast.dump(node))
    return lambda variables: {}


def _rounds(node: Any) -> Callable[[Variables], Iterator[Variables]]:
    """Return the variables of each round of a comprehension, which are its own."""
    (loop,) = node.generators
    target, items = _target(loop.target), _expression(loop.iter)
    tests = [_expression(each) for each in loop.ifs]

    def run(variables: Variables) -> Iterator[Variables]:
        inner = Scope(variables)
        for item in items(variables):
            target(inner, item)
            if all(test(inner) for test in tests):
                yield inner

    return run


def _list_of(node: Any) -> Step:
    rounds, value = _rounds(node), _expression(node.elt)
    return lambda variables: [value(inner) for inner in rounds(variables)]


def _dict_of(node: Any) -> Step:
    rounds, key, value = _rounds(node), _expression(node.key), _expression(node.value)
    return lambda variables: {key(inner): value(inner) for inner in rounds(variables)}


def _lambda(node: Any) -> Step:
    argument, body = node.args.args[0].arg, _expression(node.body)

    def run(variables: Variables) -> Callable[[Any], Any]:
        inner = Scope(variables)

        def call(given: Any) -> Any:
            inner[argument] = given
            return body(inner)

        return call

    return run


def _joined(node: Any) -> Step:
    parts = [
        _expression(each.value if isinstance(each, ast.FormattedValue) else each)
        for each in node.values
    ]
    return lambda variables: "".join(str(part(variables)) for part in parts)


_EXPRESSIONS: dict[type[ast.AST], Callable[[Any], Step]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.BoolOp: _boolean,
    ast.Compare: _compare,
    ast.IfExp: _either,
    ast.Call: _call,
    ast.Subscript: _subscript,
    ast.List: _list,
    ast.Tuple: _tuple,
    ast.Dict: _dict,
    ast.ListComp: _list_of,
    ast.GeneratorExp: _list_of,
    ast.DictComp: _dict_of,
    ast.Lambda: _lambda,
    ast.JoinedStr: _joined,
}
