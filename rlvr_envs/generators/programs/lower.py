"""Turn a Python function, written in a small part of Python, into a function of a program.

One text is then both: Python runs it at full speed to find expected outputs, and the emitters write
it in every language. What may be used: parameters and results of type int, bool, str or list[int];
assignments to names, items and ``+=``; ``append``; if, while, ``for i in range(...)`` with one or
two bounds; return; arithmetic, comparisons (chains too), and, or, not, min, max, len; list
displays, ``[value] * count``, ``items[:]``; and calls of other such functions. The source is
parsed, never run from here.
"""

import ast
import inspect
import textwrap
from collections.abc import Callable
from functools import cache
from typing import Any

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.check import FIXED, RESULTS
from rlvr_envs.generators.programs.interpret import IrError

_TYPES: dict[str, nodes.Type] = {"int": "int", "bool": "bool", "str": "str", "list[int]": "list"}
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.And: "and",
    ast.Or: "or",
}


@cache
def lower(entry: Callable[..., Any]) -> tuple[nodes.Function, ...]:
    """Return a Python function, last, after the functions that it calls."""
    done: dict[str, nodes.Function] = {}
    _add(entry, done)
    return tuple(done.values())


def _add(function: Callable[..., Any], done: dict[str, nodes.Function]) -> None:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    if not isinstance(tree, ast.FunctionDef):
        raise IrError(f"{function!r} is no plain function")
    lowering = _Lowering(tree, function.__globals__)
    for name in lowering.called:
        if name not in done and name != tree.name:
            _add(function.__globals__[name], done)
    done[tree.name] = lowering.function()


def _type_of(annotation: ast.expr | None) -> nodes.Type:
    text = ast.unparse(annotation) if annotation else "nothing"
    if text not in _TYPES:
        raise IrError(f"a parameter or result is of type {', '.join(_TYPES)}, not {text}")
    return _TYPES[text]


class _Lowering:
    """Lowers one function."""

    def __init__(self, tree: ast.FunctionDef, known: dict[str, Any]) -> None:
        self.tree = tree
        self.known = known
        self.types: dict[str, nodes.Type] = {}
        self.fills = 0
        calls = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
        names = {call.id for call in calls if isinstance(call, ast.Name)}
        self.called = sorted(name for name in names if inspect.isfunction(known.get(name)))

    def error(self, node: ast.AST) -> IrError:
        return IrError(f"{self.tree.name}: {ast.unparse(node)!r} is not within the part of Python")

    def given(self, node: ast.expr | None) -> ast.expr:
        if node is None:
            raise self.error(self.tree)
        return node

    def function(self) -> nodes.Function:
        params: tuple[nodes.Variable, ...] = tuple(
            (arg.arg, _type_of(arg.annotation)) for arg in self.tree.args.args
        )
        self.types.update(params)
        body = self.tree.body[1:] if ast.get_docstring(self.tree) else self.tree.body
        lowered = self.block(body, {name for name, _ in params})
        return nodes.Function(self.tree.name, params, _type_of(self.tree.returns), lowered)

    # Statements.

    def block(self, body: list[ast.stmt], outer: set[str]) -> nodes.Block:
        seen = set(outer)
        result: list[nodes.Statement] = []
        for statement in body:
            result += self.statement(statement, seen)
        return tuple(result)

    def statement(self, node: ast.stmt, seen: set[str]) -> nodes.Block:
        match node:
            case ast.Assign([ast.Name(name)], value) | ast.AnnAssign(ast.Name(name), _, value):
                return self.store(name, self.given(value), seen)
            case ast.Assign([ast.Subscript(ast.Name(name), index)], value):
                return (nodes.SetItem(name, self.value(index), self.value(value)),)
            case ast.AugAssign(target, op, value):
                return self.update(target, _OPERATORS[type(op)], self.value(value))
            case ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"), [value])):
                return (nodes.Append(name, self.value(value)),)
            case ast.Return(ast.expr() as value):
                return (nodes.Return(self.value(value)),)
        return (self.compound(node, seen),)

    def compound(self, node: ast.stmt, seen: set[str]) -> nodes.Statement:
        match node:
            case ast.If(test, body, orelse):
                return nodes.If(self.value(test), self.block(body, seen), self.block(orelse, seen))
            case ast.While(test, body, []):
                return nodes.While(self.value(test), self.block(body, seen))
            case ast.For(ast.Name(name), ast.Call(ast.Name("range"), bounds), body, []) if (
                len(bounds) < 3
            ):
                name = name.lstrip("_")  # which marks a variable that nothing reads
                self.types[name] = "int"
                start, stop = (nodes.Int(0), *map(self.value, bounds))[-2:]
                return nodes.For(name, start, stop, self.block(body, seen | {name}))
        raise self.error(node)

    def update(self, target: ast.expr, op: str, value: nodes.Expression) -> nodes.Block:
        match target:
            case ast.Name(name):
                operator = "concat" if self.types.get(name) == "str" else op
                return (nodes.Assign(name, nodes.Binary(operator, nodes.Var(name), value)),)
            case ast.Subscript(ast.Name(name), index):
                place = self.value(index)
                return (
                    nodes.SetItem(
                        name, place, nodes.Binary(op, nodes.Index(nodes.Var(name), place), value)
                    ),
                )
        raise self.error(target)

    def store(self, name: str, value: ast.expr, seen: set[str]) -> nodes.Block:
        match value:
            case ast.BinOp(ast.List([item]), ast.Mult(), count):
                self.fills += 1
                fill = f"fill_{self.fills}"
                filling = nodes.For(
                    fill, nodes.Int(0), self.value(count), (nodes.Append(name, self.value(item)),)
                )
                return (self.keep(name, nodes.ListOf(), "list", seen), filling)
        lowered = self.value(value)
        return (self.keep(name, lowered, self.kind(lowered), seen),)

    def keep(
        self, name: str, value: nodes.Expression, kind: nodes.Type, seen: set[str]
    ) -> nodes.Let | nodes.Assign:
        if name in seen:
            return nodes.Assign(name, value)
        seen.add(name)
        self.types[name] = kind
        return nodes.Let(name, kind, value)

    # Expressions.

    def value(self, node: ast.expr) -> nodes.Expression:
        match node:
            case ast.Constant(bool(flag)):
                return nodes.Bool(flag)
            case ast.Constant(int(number)):
                return nodes.Int(number)
            case ast.Constant(str(text)):
                return nodes.Str(text)
            case ast.Name(name):
                return self.name(name, node)
            case ast.List(items):
                return nodes.ListOf(tuple(map(self.value, items)))
        return self.operation(node)

    def name(self, name: str, node: ast.expr) -> nodes.Expression:
        if name in self.types:
            return nodes.Var(name)
        constant = self.known.get(name)
        if not isinstance(constant, int):
            raise self.error(node)
        return nodes.Int(constant)

    def operation(self, node: ast.expr) -> nodes.Expression:
        match node:
            case ast.UnaryOp(ast.USub(), ast.Constant(int(number))):
                return nodes.Int(-number)
            case ast.UnaryOp(ast.USub(), operand):
                return nodes.Neg(self.value(operand))
            case ast.UnaryOp(ast.Not(), operand):
                return nodes.Not(self.value(operand))
            case ast.BoolOp(op, values):
                return self.joined(_OPERATORS[type(op)], [self.value(value) for value in values])
            case ast.BinOp(left, op, right) if type(op) in _OPERATORS:
                first = self.value(left)
                operator = "concat" if self.kind(first) == "str" else _OPERATORS[type(op)]
                return nodes.Binary(operator, first, self.value(right))
        return self.compound_value(node)

    def compound_value(self, node: ast.expr) -> nodes.Expression:
        match node:
            case ast.Compare(left, ops, others):
                values = [self.value(value) for value in (left, *others)]
                names = [_OPERATORS[type(op)] for op in ops]
                pairs = zip(names, values, values[1:], strict=False)
                return self.joined("and", [nodes.Binary(op, a, b) for op, a, b in pairs])
            case ast.Subscript(sequence, ast.Slice(None, None, None)):
                return self.value(sequence)
            case ast.Subscript(sequence, index):
                return nodes.Index(self.value(sequence), self.value(index))
            case ast.Call(ast.Name(name), args):
                return self.call(name, [self.value(arg) for arg in args], node)
        raise self.error(node)

    def joined(self, op: str, values: list[nodes.Expression]) -> nodes.Expression:
        result = values[0]
        for value in values[1:]:
            result = nodes.Binary(op, result, value)
        return result

    def call(self, name: str, args: list[nodes.Expression], node: ast.expr) -> nodes.Expression:
        if name == "len" and len(args) == 1:
            return nodes.Length(args[0])
        if name in ("min", "max") and len(args) >= 2:
            return self.joined(name, args)
        if name not in self.called:
            raise self.error(node)
        return nodes.Call(name, tuple(args))

    def kind(self, value: nodes.Expression) -> nodes.Type:
        match value:
            case nodes.Var(name):
                return self.types[name]
            case nodes.Call(name):
                return _TYPES[_annotation(self.known[name])]
            case nodes.Index(sequence, _):
                return "str" if self.kind(sequence) == "str" else "int"
            case nodes.Binary(op):
                return RESULTS[op]
        return FIXED[type(value)]


def _annotation(function: Callable[..., Any]) -> str:
    annotation = inspect.signature(function).return_annotation
    return annotation.__name__ if annotation in (int, bool, str) else str(annotation)
