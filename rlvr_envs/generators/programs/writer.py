"""What most emitters share: walking a program, indentation, and parentheses where needed."""

from collections.abc import Callable
from typing import Any, ClassVar

from rlvr_envs.generators.programs.check import (
    Types,
    variable_types,
    walk_expressions,
    walk_statements,
)
from rlvr_envs.generators.programs.nodes import (
    Append,
    Assign,
    Binary,
    Block,
    Bool,
    Call,
    Expression,
    For,
    Function,
    If,
    Index,
    Int,
    Length,
    Let,
    ListOf,
    Neg,
    Not,
    Print,
    Program,
    Return,
    SetItem,
    Statement,
    Str,
    Type,
    Var,
    While,
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
    """

    operators: ClassVar[dict[str, str]] = {}
    indent: ClassVar[str] = "    "

    def __init__(self, program: Program) -> None:
        self.program = program
        self.types = Types(program)
        self.names: dict[str, Type] = {}
        self.features = features(program)
        self.lines: list[str] = []
        self.depth = 0

    def line(self, text: str = "") -> None:
        """Write a line at the current depth."""
        self.lines.append(f"{self.indent * self.depth}{text}" if text else "")

    def result(self) -> str:
        """Return what was written."""
        return "\n".join(self.lines) + "\n"

    def enter(self, function: Function | None) -> None:
        """Begin to write a function, or the body of the program."""
        owner = function or self.program
        params = owner.params if isinstance(owner, Function) else owner.inputs
        self.names = variable_types(params, owner.body)

    def block(self, body: Block) -> None:
        """Write statements one level deeper."""
        self.depth += 1
        for statement in body:
            self.statement(statement)
        self.depth -= 1

    def statement(self, statement: Statement) -> None:
        """Write a statement with the method for its class."""
        _STATEMENTS[type(statement)](self, statement)

    def kind(self, expression: Expression) -> Type:
        """Return the type of an expression of the function being written."""
        return self.types.of(expression, self.names)

    def text(self, expression: Expression, level: int = OR) -> str:
        """Return an expression's text, in parentheses if it binds less tightly than ``level``."""
        find = _EXPRESSIONS.get(type(expression)) or _EXPRESSIONS[type(expression).__bases__[0]]
        text, own = find(self, expression)
        return f"({text})" if own < level else text

    def args(self, items: tuple[Expression, ...]) -> str:
        """Return the texts of expressions, separated by commas."""
        return ", ".join(self.text(item) for item in items)

    def binary(self, node: Binary) -> Text:
        """An operator: infix where the language has one."""
        if node.op not in self.operators:
            return self.special(node)
        level = LEVELS[node.op]
        low = level + 1 if level == COMPARISON else level
        left, right = self.text(node.left, low), self.text(node.right, level + 1)
        return f"{left} {self.operators[node.op]} {right}", level

    def special(self, node: Binary) -> Text:
        """An operator that the language does not write infix."""
        raise NotImplementedError(node.op)

    def int_(self, node: Int) -> Text:
        return str(node.value), ATOM if node.value >= 0 else UNARY

    def bool_(self, node: Bool) -> Text:
        return ("true" if node.value else "false"), ATOM

    def str_(self, node: Str) -> Text:
        escaped = node.value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"', ATOM

    def var(self, node: Var) -> Text:
        return node.name, ATOM

    def not_(self, node: Not) -> Text:
        return f"!{self.text(node.operand, UNARY + 1)}", UNARY

    def neg(self, node: Neg) -> Text:
        return f"-{self.text(node.operand, UNARY + 1)}", UNARY

    def call(self, node: Call) -> Text:
        return f"{node.function}({self.args(node.args)})", ATOM

    def length(self, node: Length) -> Text:
        raise NotImplementedError

    def index(self, node: Index) -> Text:
        raise NotImplementedError

    def list_of(self, node: ListOf) -> Text:
        raise NotImplementedError

    def let(self, node: Let) -> None:
        raise NotImplementedError

    def assign(self, node: Assign) -> None:
        raise NotImplementedError

    def set_item(self, node: SetItem) -> None:
        raise NotImplementedError

    def append(self, node: Append) -> None:
        raise NotImplementedError

    def if_(self, node: If) -> None:
        raise NotImplementedError

    def while_(self, node: While) -> None:
        raise NotImplementedError

    def for_(self, node: For) -> None:
        raise NotImplementedError

    def return_(self, node: Return) -> None:
        raise NotImplementedError

    def print_(self, node: Print) -> None:
        raise NotImplementedError


_STATEMENTS: dict[type, Callable[[Writer, Any], None]] = {
    Let: lambda writer, node: writer.let(node),
    Assign: lambda writer, node: writer.assign(node),
    SetItem: lambda writer, node: writer.set_item(node),
    Append: lambda writer, node: writer.append(node),
    If: lambda writer, node: writer.if_(node),
    While: lambda writer, node: writer.while_(node),
    For: lambda writer, node: writer.for_(node),
    Return: lambda writer, node: writer.return_(node),
    Print: lambda writer, node: writer.print_(node),
}
_EXPRESSIONS: dict[type, Callable[[Writer, Any], Text]] = {
    Int: lambda writer, node: writer.int_(node),
    Bool: lambda writer, node: writer.bool_(node),
    Str: lambda writer, node: writer.str_(node),
    Var: lambda writer, node: writer.var(node),
    Binary: lambda writer, node: writer.binary(node),
    Not: lambda writer, node: writer.not_(node),
    Neg: lambda writer, node: writer.neg(node),
    Length: lambda writer, node: writer.length(node),
    Index: lambda writer, node: writer.index(node),
    Call: lambda writer, node: writer.call(node),
    ListOf: lambda writer, node: writer.list_of(node),
}


def features(program: Program) -> frozenset[str]:
    """Return the operators, and the names of the node classes, that a program uses."""
    bodies = [program.body, *(function.body for function in program.functions)]
    nodes: list[Any] = [node for body in bodies for node in walk_expressions(body)]
    found = {node.op for node in nodes if isinstance(node, Binary)}
    nodes += [node for body in bodies for node in walk_statements(body)]
    return frozenset(found | {type(node).__name__ for node in nodes})
