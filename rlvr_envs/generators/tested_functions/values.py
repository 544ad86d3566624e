"""Values in a test suite: literals and a little arithmetic on them, within bounds."""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from rlvr_envs.generators.programs.nodes import Function, Type

MAX_NUMBER = 10**9
MAX_LENGTH = 200  # of a list or text
_STEPS = 20_000  # nodes evaluated in one suite


class SuiteError(ValueError):
    """The suite cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call of the function, which is not made yet."""

    args: tuple[Any, ...]


class Values:
    """What evaluation needs to know: the function, and how many steps are left."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.left = _STEPS

    def spend(self) -> None:
        """Count a step."""
        self.left -= 1
        if self.left < 0:
            raise SuiteError(f"the tests take more than {_STEPS} steps to read")


_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def evaluate(node: ast.expr, names: Mapping[str, Any], values: Values) -> Any:
    """Return the value of an expression; a call of the function stays a `Call`.

    Raises:
        SuiteError: the expression is more than literals, names and arithmetic.
    """
    values.spend()
    value: Any
    match node:
        case ast.Constant(value=int() | str() | None as value):
            pass
        case ast.List(elts=items):
            value = [plain(item, names, values) for item in items]
        case ast.Tuple(elts=items):
            value = tuple(plain(item, names, values) for item in items)
        case ast.Name(id=name) if name in names:
            value = names[name]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=inner):
            number = _integer(evaluate(inner, names, values))
            value = -number if isinstance(op, ast.USub) else number
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
            value = _operate(type(op), plain(left, names, values), plain(right, names, values))
        case ast.Call(func=ast.Name(), args=args):
            value = _call(node, [plain(arg, names, values) for arg in args], names, values)
        case _:
            text = ast.unparse(node)
            raise SuiteError(f"`{text:.60}` is neither a literal nor a call of the function")
    return _bounded(value)


def plain(node: ast.expr, names: Mapping[str, Any], values: Values) -> Any:
    """Return the value of an expression that is no call of the function."""
    value = evaluate(node, names, values)
    if isinstance(value, Call):
        raise SuiteError("what the function returns may only be compared with a value, by ==")
    return value


def _call(node: ast.Call, args: list[Any], names: Mapping[str, Any], values: Values) -> Any:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in ("list", "range", "len") and name != values.function.name and not node.keywords:
        return _built_in(name, args)
    if name != values.function.name:
        raise SuiteError(f"the tests may not call {name}")
    params = [param for param, _ in values.function.params]
    given = dict(zip(params, args, strict=False))
    for keyword in node.keywords:
        if keyword.arg not in params or keyword.arg in given:
            raise SuiteError(f"{name} has no such argument: {keyword.arg}")
        given[keyword.arg] = plain(keyword.value, names, values)
    if len(args) > len(params) or len(given) < len(params):
        raise SuiteError(f"{name} takes {len(params)} arguments")
    for param, kind in values.function.params:
        if not is_of_type(given[param], kind):
            raise SuiteError(f"the argument {param} of {name} is of the wrong type")
    return Call(tuple(given[param] for param in params))


def _built_in(name: str, args: list[Any]) -> Any:
    if (
        name == "range"
        and 1 <= len(args) <= 3
        and all(map(_is_integer, args))
        and 0 not in args[2:]
    ):
        return list(_bounded(range(*args)))
    if name == "list" and len(args) == 1 and isinstance(args[0], (list, tuple, str)):
        return list(args[0])
    if name == "len" and len(args) == 1 and isinstance(args[0], (list, tuple, str)):
        return len(args[0])
    raise SuiteError(f"{name} is used in a way that is not understood")


def _operate(op: type[ast.operator], left: Any, right: Any) -> Any:
    numbers = _is_integer(left) and _is_integer(right)
    joined = op is ast.Add and type(left) is type(right) and isinstance(left, (list, str))
    repeated = op is ast.Mult and {_is_integer(left), _is_integer(right)} == {True, False}
    if repeated:
        items, count = (right, left) if _is_integer(left) else (left, right)
        repeated = isinstance(items, (list, str)) and len(items) * max(0, count) <= MAX_LENGTH
    if not (numbers or joined or repeated):
        raise SuiteError("arithmetic is on integers, and + and * on short lists and strings")
    try:
        return _ARITHMETIC[op](left, right)
    except ZeroDivisionError as error:
        raise SuiteError("a division by zero") from error


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _integer(value: Any) -> int:
    if not _is_integer(value):
        raise SuiteError("only an integer has a sign")
    number: int = value
    return number


def _bounded(value: Any) -> Any:
    if _is_integer(value) and abs(value) > MAX_NUMBER:
        raise SuiteError(f"numbers are at most {MAX_NUMBER}")
    if isinstance(value, (list, tuple, str, range)) and len(value) > MAX_LENGTH:
        raise SuiteError(f"lists and texts have at most {MAX_LENGTH} items")
    return value


def is_of_type(value: object, kind: Type) -> bool:
    """Return whether a value may be an argument or a result of a type."""
    if kind == "int":
        return _is_integer(value)
    if kind == "list":
        return isinstance(value, list) and all(map(_is_integer, value))
    if kind == "str":
        return isinstance(value, str) and all(" " <= char <= "~" for char in value)
    return isinstance(value, bool)
