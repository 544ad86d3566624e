"""Test code read as data: ``assert f([1, 2]) == 3`` is arguments and a result, nothing is run.

HumanEval, MBPP and EvalPlus hold their tests as Python. Read from its syntax tree, an assertion of
a call with literals becomes a test that can be judged from outside; everything else is refused,
with the reason.
"""

import ast
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_MAX_REPEAT = 1_000_000  # items of a repeated sequence
_MAX_BITS = 20_000  # of a power
WRAPPERS = ("set", "sorted", "tuple", "list")  # of a call's result: applying one twice is once
_ISCLOSE_REL = 1e-9  # the default of math.isclose
_ALLCLOSE_REL = 1e-7  # what EvalPlus passes to numpy.allclose
_FLOAT_ABS = 1e-6  # and its absolute tolerance where the expected value is of floats


class NotData(ValueError):
    """A piece of test code is no data; the message says which."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """A call, its result, and how closely the result must agree."""

    function: str  # the name that is called
    args: tuple[Any, ...]  # the arguments
    expected: Any  # the result
    wrapper: str = ""  # what is applied to the result first, or an empty text
    rel_tol: float = 0.0  # relative tolerance of floats
    abs_tol: float = 0.0  # absolute tolerance of floats
    truth: bool = False  # whether only the truth of the result counts
    strict: bool = False  # whether its type counts too, as ``is True`` asks


def parse(code: str) -> ast.Module:
    """Return the syntax tree of code of a file, whatever it would warn of; raise `NotData`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as of "\d" outside of a raw string
            return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotData(f"it is no Python: {error}") from error


def read_tests(code: str, names: Sequence[str]) -> list[Assertion]:
    """Return the assertions of test code: of its ``check`` function, or of its top level.

    Args:
        code: Python.
        names: of the function under test, such as ``candidate``.

    Raises:
        NotData: a statement is more than an assertion that can be read.
    """
    body = parse(code).body
    known: dict[str, Any] = {}
    found: list[Assertion] = []
    checks = [node for node in body if isinstance(node, ast.FunctionDef) and node.name == "check"]
    for node in [*body, *(checks[0].body if checks else [])]:
        if not isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom):
            found += _statement(node, names, known)
    if not found:
        raise NotData("there is no assertion that tests anything")
    return found


def _statement(node: ast.stmt, names: Sequence[str], known: dict[str, Any]) -> Iterator[Assertion]:
    if isinstance(node, ast.Assert):
        told = _assertion(node.test, names)
        if told is not None:
            yield told
    elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        known[node.targets[0].id] = node.value
    elif isinstance(node, ast.For):
        yield from _table(node, names, known)
    elif not _harmless(node):
        raise NotData(f"line {node.lineno} is no assertion: {ast.unparse(node)[:60]!r}")


def _harmless(node: ast.stmt) -> bool:
    """Return whether a statement does nothing: ``pass``, a docstring, a call of ``check``."""
    if isinstance(node, ast.Pass):
        return True
    if not isinstance(node, ast.Expr):
        return False
    calls_check = isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name)
    return isinstance(node.value, ast.Constant) or (
        calls_check and ast.unparse(node.value).startswith("check(")
    )


def _assertion(test: ast.expr, names: Sequence[str]) -> Assertion | None:
    """Return what an assertion says, or None where it says nothing: ``assert True``."""
    if isinstance(test, ast.Constant) and test.value:
        return None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return Assertion(*_call(test.operand, names), expected=False, truth=True)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _comparison(test.left, test.ops[0], test.comparators[0], names)
    if isinstance(test, ast.Call) and ast.unparse(test.func) in ("math.isclose", "isclose"):
        return _isclose(test, names)
    return Assertion(*_call(test, names), expected=True, truth=True)


def _comparison(
    left: ast.expr, operation: ast.cmpop, right: ast.expr, names: Sequence[str]
) -> Assertion:
    if isinstance(operation, ast.Is):
        expected = read_literal(right)
        if expected is not None and not isinstance(expected, bool):
            raise NotData("an identity with something else than True, False and None")
        return Assertion(*_call(left, names), expected=expected, strict=True)
    if isinstance(operation, ast.Lt | ast.LtE):
        return _near(left, right, names)
    if not isinstance(operation, ast.Eq):
        raise NotData(f"a comparison with {ast.unparse(right)[:60]!r} other than equality")
    return _equality(left, right, names) if _calls(left, names) else _equality(right, left, names)


def _equality(left: ast.expr, right: ast.expr, names: Sequence[str]) -> Assertion:
    wrapper = _name(left.func) if isinstance(left, ast.Call) else ""
    if isinstance(left, ast.Call) and wrapper in WRAPPERS and len(left.args) == 1:
        inner = left.args[0]
        return Assertion(*_call(inner, names), expected=read_literal(right), wrapper=wrapper)
    return Assertion(*_call(left, names), expected=read_literal(right))


def _near(left: ast.expr, right: ast.expr, names: Sequence[str]) -> Assertion:
    """Read ``abs(f(x) - 0.5) < 1e-6``."""
    absolute = isinstance(left, ast.Call) and ast.unparse(left.func) in ("abs", "math.fabs")
    inner = left.args[0] if absolute and isinstance(left, ast.Call) and left.args else left
    if not absolute or not isinstance(inner, ast.BinOp) or not isinstance(inner.op, ast.Sub):
        raise NotData(f"an inequality of {ast.unparse(left)[:60]!r}")
    call, other = inner.left, inner.right
    if not _calls(call, names):
        call, other = other, call
    return Assertion(*_call(call, names), expected=read_literal(other), abs_tol=read_literal(right))


def _isclose(test: ast.Call, names: Sequence[str]) -> Assertion:
    if len(test.args) != 2 or any(k.arg not in ("rel_tol", "abs_tol") for k in test.keywords):
        raise NotData(f"an assertion of {ast.unparse(test)[:60]!r}")
    given = {str(keyword.arg): read_literal(keyword.value) for keyword in test.keywords}
    call, other = test.args
    if not _calls(call, names):
        call, other = other, call
    rel_tol, abs_tol = given.get("rel_tol", _ISCLOSE_REL), given.get("abs_tol", 0.0)
    found = _call(call, names)
    return Assertion(*found, expected=read_literal(other), rel_tol=rel_tol, abs_tol=abs_tol)


def _table(node: ast.For, names: Sequence[str], known: Mapping[str, Any]) -> Iterator[Assertion]:
    """Read the loop of EvalPlus: ``assertion(f(*inp), exp, atol)`` over inputs and results."""
    body = node.body[0].value if isinstance(node.body[0], ast.Expr) else None
    over = ast.unparse(node.iter) in ("enumerate(zip(inputs, results))", "zip(inputs, results)")
    given = over and len(node.body) == 1 and {"inputs", "results"} <= set(known)
    if not given or not isinstance(body, ast.Call) or _name(body.func) != "assertion":
        raise NotData(f"line {node.lineno} is a loop")
    call = body.args[0]
    plain = isinstance(call, ast.Call) and _name(call.func) in names
    if not plain or len(body.args) != 3 or not ast.unparse(call).endswith("(*inp)"):
        raise NotData(f"line {node.lineno} is a loop over more than calls")
    function = _name(call.func) if isinstance(call, ast.Call) else ""
    atol = read_literal(body.args[2])
    inputs, results = (read_literal(known[name]) for name in ("inputs", "results"))
    if len(inputs) != len(results):
        raise NotData("there are more inputs than results")
    for args, expected in zip(inputs, results, strict=True):
        near = bool(atol) or _of_floats(expected)
        rel_tol, abs_tol = (_ALLCLOSE_REL, atol or _FLOAT_ABS) if near else (0.0, 0.0)
        yield Assertion(function, tuple(args), expected, rel_tol=rel_tol, abs_tol=abs_tol)


def _of_floats(value: Any) -> bool:
    items = value if isinstance(value, list | tuple) and value else [value]
    return all(isinstance(item, float) for item in items)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _calls(node: ast.expr, names: Sequence[str]) -> bool:
    inner = (part for part in ast.walk(node) if isinstance(part, ast.Call))
    return any(_name(part.func) in names for part in inner)


def _call(node: ast.expr, names: Sequence[str]) -> tuple[str, tuple[Any, ...]]:
    """Return the name and the arguments of a call of the function under test."""
    if not isinstance(node, ast.Call) or _name(node.func) not in names:
        raise NotData(f"no call of the function alone: {ast.unparse(node)[:60]!r}")
    if node.keywords:
        raise NotData(f"a call with keywords: {ast.unparse(node)[:60]!r}")
    return _name(node.func), tuple(read_literal(arg) for arg in node.args)


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Not: operator.not_,
}
_MAKERS: dict[str, Callable[..., Any]] = {
    "set": set,
    "frozenset": frozenset,
    "tuple": tuple,
    "list": list,
    "sorted": sorted,
    "float": float,
    "complex": complex,
}


def read_literal(node: ast.expr) -> Any:
    """Return the value of an expression of literals, arithmetic and plain containers.

    Raises:
        NotData: it holds anything else, or too large a number.
    """
    try:
        return _literal(node)
    except (ArithmeticError, TypeError, ValueError, RecursionError) as error:
        if isinstance(error, NotData):
            raise
        raise NotData(f"{ast.unparse(node)[:60]!r} has no value: {error}") from error


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        if node.value is Ellipsis:
            raise NotData("an ellipsis")
        return node.value
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        items = [_literal(item) for item in node.elts]
        return {ast.Tuple: tuple, ast.List: list, ast.Set: set}[type(node)](items)
    if isinstance(node, ast.Dict):
        if None in node.keys:
            raise NotData("a dict within a dict")
        pairs = zip(node.keys, node.values, strict=True)
        return {_literal(key): _literal(value) for key, value in pairs if key is not None}
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_literal(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _binary(type(node.op), _literal(node.left), _literal(node.right))
    if isinstance(node, ast.Call) and _name(node.func) in _MAKERS and not node.keywords:
        return _MAKERS[_name(node.func)](*(_literal(arg) for arg in node.args))
    raise NotData(f"{ast.unparse(node)[:60]!r} is no literal")


def _binary(operation: type[ast.operator], left: Any, right: Any) -> Any:
    if operation is ast.Pow:
        whole = isinstance(left, int) and isinstance(right, int)
        if not whole or left.bit_length() * abs(right) > _MAX_BITS:
            raise NotData("too large a power")
    if operation is ast.Mult:
        for sequence, times in ((left, right), (right, left)):
            sized = isinstance(sequence, str | bytes | list | tuple)
            if sized and isinstance(times, int) and len(sequence) * times > _MAX_REPEAT:
                raise NotData("too long a repetition")
    if operation is ast.Mod and isinstance(left, str | bytes):
        raise NotData("a format")
    return _BINARY[operation](left, right)
