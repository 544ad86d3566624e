"""The types of expressions, and the check that a program keeps the rules of `nodes`."""

import re
from collections.abc import Iterator, Mapping
from typing import Never

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.interpret import IrError

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", re.ASCII)
_TEXT = re.compile(r"[ -~]*", re.ASCII)


def walk_statements(body: nodes.Block) -> Iterator[nodes.Statement]:
    """Yield every statement of a block, those of inner blocks included."""
    for statement in body:
        yield statement
        for inner in nodes.blocks(statement):
            yield from walk_statements(inner)


def walk_expressions(body: nodes.Block) -> Iterator[nodes.Expression]:
    """Yield every expression of a block, inner ones included."""
    stack = [e for statement in walk_statements(body) for e in nodes.expressions(statement)]
    while stack:
        expression = stack.pop()
        yield expression
        stack += nodes.children(expression)


def variable_types(params: tuple[nodes.Variable, ...], body: nodes.Block) -> dict[str, nodes.Type]:
    """Return the type of every variable of a function or of a program's body."""
    types: dict[str, nodes.Type] = dict(params)
    for statement in walk_statements(body):
        match statement:
            case nodes.Let(name, kind, _):
                pass
            case nodes.For(name):
                kind = "int"
            case _:
                continue
        if types.setdefault(name, kind) != kind:
            raise IrError(f"the variable {name!r} is both {types[name]} and {kind}")
    return types


class Types:
    """Tells the types of the expressions of one program."""

    def __init__(self, program: nodes.Program) -> None:
        self._functions = {function.name: function for function in program.functions}

    def of(self, expression: nodes.Expression, names: Mapping[str, nodes.Type]) -> nodes.Type:
        """Return the type of an expression, given those of the variables."""
        match expression:
            case nodes.Var(name):
                return names[name] if name in names else _fail(f"no variable {name!r}")
            case nodes.Call(function):
                found = self._functions.get(function)
                return found.returns if found else _fail(f"no function {function!r}")
            case nodes.Index(sequence, _):
                return "str" if self.of(sequence, names) == "str" else "int"
            case nodes.Binary(op):
                return RESULTS.get(op) or _fail(f"no operator {op!r}")
        return FIXED.get(type(expression)) or _fail(f"not an expression: {expression!r:.80}")

    def function(self, name: str) -> nodes.Function:
        """Return the function of a name."""
        return self._functions.get(name) or _fail(f"no function {name!r}")


RESULTS: dict[str, nodes.Type] = {
    **dict.fromkeys(nodes.ARITHMETIC, "int"),
    **dict.fromkeys((*nodes.ORDER, *nodes.EQUALITY, *nodes.LOGIC), "bool"),
    "concat": "str",
}
FIXED: dict[type, nodes.Type] = {
    nodes.Int: "int",
    nodes.Bool: "bool",
    nodes.Str: "str",
    nodes.Not: "bool",
    nodes.Neg: "int",
    nodes.Length: "int",
    nodes.ListOf: "list",
}


def check(program: nodes.Program) -> nodes.Program:
    """Return the program if it keeps every rule; raise `IrError` otherwise."""
    names = [function.name for function in program.functions]
    if len(set(names)) < len(names):
        _fail("two functions have the same name")
    for name in names:
        _check_name(name)
    for function in program.functions:
        if not function.body or not isinstance(function.body[-1], nodes.Return):
            _fail(f"{function.name} does not end in a Return")
        _Checker(program, function).run()
    _Checker(program, None).run()
    return program


def _fail(message: str) -> Never:
    raise IrError(message)


def _check_name(name: str) -> None:
    if not _NAME.fullmatch(name) or len(name) > 30:
        _fail(f"a name is a lower-case word of at most 30 characters, got {name!r}")


class _Checker:
    """Checks one function, or the body of the program."""

    def __init__(self, program: nodes.Program, function: nodes.Function | None) -> None:
        self.types = Types(program)
        self.function = function
        self.params = function.params if function else program.inputs
        self.body = function.body if function else program.body
        self.names = variable_types(self.params, self.body)
        self.fixed = {name for name, _ in self.params} if function else set()

    def run(self) -> None:
        params = [name for name, _ in self.params]
        if len(set(params)) < len(params):
            _fail(f"a parameter is declared twice: {params}")
        if not self.function and any(kind == "bool" for _, kind in self.params):
            _fail("an input is an integer, a string or a list")
        for name in self.names:
            _check_name(name)
        self.block(self.body, set(params))

    def block(self, body: nodes.Block, visible: set[str]) -> None:
        seen = set(visible)
        for statement in body[:-1]:
            if isinstance(statement, nodes.Return) or _always_returns(statement):
                _fail("statements after a Return cannot be reached")
        for statement in body:
            match statement:
                case nodes.Let(name) | nodes.For(name) if name in seen:
                    _fail(f"the variable {name!r} is declared twice")
            self.statement(statement, seen)
            if isinstance(statement, nodes.Let):
                seen.add(statement.name)

    def statement(self, statement: nodes.Statement, seen: set[str]) -> None:
        match statement:
            case nodes.Let(_, kind, value):
                self.expect(value, kind, seen, new=True)
            case nodes.Assign(name, value):
                self.expect(value, self.target(name, seen), seen, new=True)
            case nodes.SetItem(name, index, value):
                self.list_target(name, seen)
                self.expect(index, "int", seen)
                self.expect(value, "int", seen)
            case nodes.Append(name, value):
                self.list_target(name, seen)
                self.expect(value, "int", seen)
            case nodes.Return(value):
                if self.function is None:
                    _fail("the body of a program does not return")
                self.expect(value, self.function.returns, seen, new=True)
            case _:
                self.compound(statement, seen)

    def compound(self, statement: nodes.Statement, seen: set[str]) -> None:
        match statement:
            case nodes.If(condition, then, otherwise):
                self.expect(condition, "bool", seen)
                self.block(then, seen)
                self.block(otherwise, seen)
            case nodes.While(condition, body):
                self.expect(condition, "bool", seen)
                self.block(body, seen)
            case nodes.For(var, start, stop, body):
                self.expect(start, "int", seen)
                self.expect(stop, "int", seen)
                self.fixed.add(var)
                self.block(body, seen | {var})
                self.fixed.discard(var)
            case nodes.Print(items):
                self.printed(items, seen)

    def printed(self, items: tuple[nodes.Expression, ...], seen: set[str]) -> None:
        if self.function is not None:
            _fail(f"{self.function.name} prints")
        for item in items:
            kind = self.types.of(item, self.names)
            if kind == "bool" or (
                kind == "list" and (len(items) > 1 or isinstance(item, nodes.ListOf))
            ):
                _fail(f"cannot print {item!r:.80} (with others on its line)")
            self.expect(item, kind, seen)
        if not items:
            _fail("a line that is printed holds something")

    def target(self, name: str, seen: set[str]) -> nodes.Type:
        if name not in seen:
            _fail(f"the variable {name!r} is not declared here")
        if name in self.fixed:
            _fail(f"{name!r} is a parameter or the variable of a loop: it is not assigned")
        return self.names[name]

    def list_target(self, name: str, seen: set[str]) -> None:
        if self.target(name, seen) != "list":
            _fail(f"{name!r} is no list")

    def expect(
        self, value: nodes.Expression, kind: nodes.Type, seen: set[str], *, new: bool = False
    ) -> None:
        if isinstance(value, nodes.ListOf) and not new:
            _fail("a new list stands only where one is declared, assigned or returned")
        actual = self.types.of(value, self.names)
        if actual != kind:
            _fail(f"expected {kind}, got {actual}: {value!r:.120}")
        self.inside(value, seen)

    def inside(self, value: nodes.Expression, seen: set[str]) -> None:
        match value:
            case nodes.Var(name) if name not in seen:
                _fail(f"the variable {name!r} is not declared here")
            case nodes.Int(number) if abs(number) > nodes.MAX_INT or isinstance(number, bool):
                _fail(f"the integer {number!r} is out of range")
            case nodes.Str(text) if not _TEXT.fullmatch(text):
                _fail(f"a string is printable ASCII, got {text!r:.80}")
            case nodes.Call(name, args):
                params = self.types.function(name).params
                if len(args) != len(params):
                    _fail(f"{name} takes {len(params)} arguments, got {len(args)}")
                for arg, (_, kind) in zip(args, params, strict=True):
                    self.expect(arg, kind, seen)
            case (
                nodes.Binary()
                | nodes.Not()
                | nodes.Neg()
                | nodes.ListOf()
                | nodes.Index()
                | nodes.Length()
            ):
                self.operands(value, seen)

    def operands(self, value: nodes.Expression, seen: set[str]) -> None:
        match value:
            case nodes.Binary(op, left, right) if op in nodes.EQUALITY:
                kind = self.types.of(left, self.names)
                if kind not in ("int", "str"):
                    _fail(f"{op} compares integers or strings, not {kind}")
                self.expect(left, kind, seen)
                self.expect(right, kind, seen)
            case nodes.Index(sequence, index):
                self.expect(sequence, self.sequence(sequence), seen)
                self.expect(index, "int", seen)
                if not isinstance(sequence, nodes.Var) and self.sequence(sequence) == "list":
                    _fail("only a variable's list is indexed")
            case nodes.Length(sequence):
                self.expect(sequence, self.sequence(sequence), seen)
            case _:
                for operand in nodes.children(value):
                    self.expect(operand, _operand_type(value), seen)

    def sequence(self, value: nodes.Expression) -> nodes.Type:
        kind = self.types.of(value, self.names)
        return kind if kind in ("str", "list") else _fail(f"{kind} is no sequence: {value!r:.80}")


def _operand_type(value: nodes.Expression) -> nodes.Type:
    match value:
        case nodes.Binary(op) if op in nodes.LOGIC:
            return "bool"
        case nodes.Binary("concat"):
            return "str"
        case nodes.Not():
            return "bool"
    return "int"


def _always_returns(statement: nodes.Statement) -> bool:
    match statement:
        case nodes.If(_, then, otherwise):
            return all(
                block and (isinstance(block[-1], nodes.Return) or _always_returns(block[-1]))
                for block in (then, otherwise)
            )
    return False
