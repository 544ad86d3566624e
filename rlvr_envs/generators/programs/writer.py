"""What most emitters share: walking a program, indentation, and parentheses where needed."""

from collections.abc import Callable
from typing import Any, ClassVar

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.check import (
    Types,
    variable_types,
    walk_expressions,
    walk_statements,
)

# How tightly a text binds; an operand that binds less tightly than its place needs parentheses.
OR, AND, NOT, COMPARISON, SUM, PRODUCT, UNARY, ATOM = range(8)

LEVELS = {
    "or": OR,
    "and": AND,
    "+": SUM,
    "-": SUM,
    "concat": SUM,
    "*": PRODUCT,
    "//": PRODUCT,
    "%": PRODUCT,
    **dict.fromkeys(("<", "<=", ">", ">=", "==", "!="), COMPARISON),
}

Text = tuple[str, int]  # the text of an expression, and how tightly it binds


class Writer:
    """Writes one program; a language's emitter says how each node looks.

    Attributes:
        program: what is written (prepared by `emit.prepare`).
        types: tells the types of expressions.
        names: the types of the variables of the function being written.
        features: the operators, and the names of the node classes, that the program uses.
        operators: how the language spells the infix operators.
        append_form: how it appends to a list, by name and item.
        set_form: how it sets an item of a list, by name, index and item.
        list_form: how it writes a list, by items.
    """

    operators: ClassVar[dict[str, str]] = {}
    indent: ClassVar[str] = "    "
    append_form: ClassVar[str]
    set_form: ClassVar[str]
    list_form: ClassVar[str]

    def __init__(self, program: nodes.Program) -> None:
        self.program = program
        self.types = Types(program)
        self.names: dict[str, nodes.Type] = {}
        self.features = features(program)
        self.lines: list[str] = []
        self.depth = 0

    def line(self, text: str = "") -> None:
        """Write a line at the current depth."""
        self.lines.append(f"{self.indent * self.depth}{text}" if text else "")

    def result(self) -> str:
        """Return what was written."""
        return "\n".join(self.lines) + "\n"

    def enter(self, function: nodes.Function | None) -> None:
        """Begin to write a function, or the body of the program."""
        owner = function or self.program
        params = owner.params if isinstance(owner, nodes.Function) else owner.inputs
        self.names = variable_types(params, owner.body)

    def block(self, body: nodes.Block) -> None:
        """Write statements one level deeper."""
        self.depth += 1
        for statement in body:
            self.statement(statement)
        self.depth -= 1

    def statement(self, statement: nodes.Statement) -> None:
        """Write a statement with the method for its class."""
        _STATEMENTS[type(statement)](self, statement)

    def kind(self, expression: nodes.Expression) -> nodes.Type:
        """Return the type of an expression of the function being written."""
        return self.types.of(expression, self.names)

    def text(self, expression: nodes.Expression, level: int = OR) -> str:
        """Return an expression's text, in parentheses if it binds less tightly than ``level``."""
        find = _EXPRESSIONS.get(type(expression)) or _EXPRESSIONS[type(expression).__bases__[0]]
        text, own = find(self, expression)
        return f"({text})" if own < level else text

    def args(self, items: tuple[nodes.Expression, ...]) -> str:
        """Return the texts of expressions, separated by commas."""
        return ", ".join(self.text(item) for item in items)

    def binary(self, node: nodes.Binary) -> Text:
        """An operator: infix where the language has one."""
        if node.op not in self.operators:
            return self.special(node)
        level = LEVELS[node.op]
        low = level + 1 if level == COMPARISON else level
        left, right = self.text(node.left, low), self.text(node.right, level + 1)
        return f"{left} {self.operators[node.op]} {right}", level

    def special(self, node: nodes.Binary) -> Text:
        """An operator that the language does not write infix."""
        raise NotImplementedError(node.op)

    def int_(self, node: nodes.Int) -> Text:
        return str(node.value), ATOM if node.value >= 0 else UNARY

    def bool_(self, node: nodes.Bool) -> Text:
        return ("true" if node.value else "false"), ATOM

    def str_(self, node: nodes.Str) -> Text:
        escaped = node.value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"', ATOM

    def var(self, node: nodes.Var) -> Text:
        return node.name, ATOM

    def not_(self, node: nodes.Not) -> Text:
        return f"!{self.text(node.operand, UNARY + 1)}", UNARY

    def neg(self, node: nodes.Neg) -> Text:
        return f"-{self.text(node.operand, UNARY + 1)}", UNARY

    def call(self, node: nodes.Call) -> Text:
        return f"{node.function}({self.args(node.args)})", ATOM

    def length(self, node: nodes.Length) -> Text:
        raise NotImplementedError

    def index(self, node: nodes.Index) -> Text:
        raise NotImplementedError

    def list_of(self, node: nodes.ListOf) -> Text:
        return self.list_form.format(self.args(node.items)), ATOM

    def let(self, node: nodes.Let) -> None:
        raise NotImplementedError

    def assign(self, node: nodes.Assign) -> None:
        raise NotImplementedError

    def set_item(self, node: nodes.SetItem) -> None:
        index, value = self.text(node.index), self.text(node.value)
        self.line(self.set_form.format(node.name, index, value))

    def append(self, node: nodes.Append) -> None:
        self.line(self.append_form.format(node.name, self.text(node.value)))

    def if_(self, node: nodes.If) -> None:
        raise NotImplementedError

    def while_(self, node: nodes.While) -> None:
        raise NotImplementedError

    def for_(self, node: nodes.For) -> None:
        raise NotImplementedError

    def return_(self, node: nodes.Return) -> None:
        raise NotImplementedError

    def print_(self, node: nodes.Print) -> None:
        raise NotImplementedError


_STATEMENTS: dict[type, Callable[[Writer, Any], None]] = {
    nodes.Let: lambda writer, node: writer.let(node),
    nodes.Assign: lambda writer, node: writer.assign(node),
    nodes.SetItem: lambda writer, node: writer.set_item(node),
    nodes.Append: lambda writer, node: writer.append(node),
    nodes.If: lambda writer, node: writer.if_(node),
    nodes.While: lambda writer, node: writer.while_(node),
    nodes.For: lambda writer, node: writer.for_(node),
    nodes.Return: lambda writer, node: writer.return_(node),
    nodes.Print: lambda writer, node: writer.print_(node),
}
_EXPRESSIONS: dict[type, Callable[[Writer, Any], Text]] = {
    nodes.Int: lambda writer, node: writer.int_(node),
    nodes.Bool: lambda writer, node: writer.bool_(node),
    nodes.Str: lambda writer, node: writer.str_(node),
    nodes.Var: lambda writer, node: writer.var(node),
    nodes.Binary: lambda writer, node: writer.binary(node),
    nodes.Not: lambda writer, node: writer.not_(node),
    nodes.Neg: lambda writer, node: writer.neg(node),
    nodes.Length: lambda writer, node: writer.length(node),
    nodes.Index: lambda writer, node: writer.index(node),
    nodes.Call: lambda writer, node: writer.call(node),
    nodes.ListOf: lambda writer, node: writer.list_of(node),
}


def features(program: nodes.Program) -> frozenset[str]:
    """Return the operators, and the names of the node classes, that a program uses."""
    bodies = [program.body, *(function.body for function in program.functions)]
    found: list[Any] = [node for body in bodies for node in walk_expressions(body)]
    operators = {node.op for node in found if isinstance(node, nodes.Binary)}
    found += [node for body in bodies for node in walk_statements(body)]
    return frozenset(operators | {type(node).__name__ for node in found})
