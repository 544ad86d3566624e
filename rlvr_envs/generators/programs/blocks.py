"""What the emitters of languages with lines such as ``if … then … end`` share."""

from dataclasses import replace
from typing import ClassVar

from rlvr_envs.generators.programs.check import walk_statements
from rlvr_envs.generators.programs.nodes import (
    Assign,
    Binary,
    Block,
    Expression,
    For,
    Function,
    If,
    Int,
    Let,
    Not,
    Program,
    Return,
    Statement,
    Type,
    Var,
    While,
)
from rlvr_envs.generators.programs.writer import SUM, Writer


class BlockWriter(Writer):
    """Writes branches, loops and stored values by the templates of a language.

    Attributes:
        if_line: opens a branch; ``{}`` is the condition.
        elif_line: opens a further one.
        else_line: opens the last one.
        if_end: closes them.
        while_line: opens a loop.
        while_end: closes it.
        copied: a copy of the list ``{}``; languages whose lists are values need none.
    """

    if_line: ClassVar[str]
    elif_line: ClassVar[str]
    else_line: ClassVar[str]
    if_end: ClassVar[str]
    while_line: ClassVar[str]
    while_end: ClassVar[str]
    copied: str = "{}"

    def __init__(self, program: Program) -> None:
        functions = tuple(replace(f, body=without_gaps(f.body)) for f in program.functions)
        super().__init__(replace(program, functions=functions, body=without_gaps(program.body)))

    def if_(self, node: If) -> None:
        opening = self.if_line
        while True:
            self.line(opening.format(self.condition(node.condition)))
            self.block(node.then)
            match node.otherwise:
                case (If() as inner,) if self.chains(inner):
                    node, opening = inner, self.elif_line
                    continue
                case ():
                    pass
                case _:
                    self.line(self.else_line)
                    self.block(node.otherwise)
            self.line(self.if_end)
            return

    def condition(self, value: Expression) -> str:
        """Return the text of the condition of a branch or a loop."""
        return self.text(value)

    def chains(self, inner: If) -> bool:
        """Return whether a branch can follow the condition of the one before it."""
        return True

    def while_(self, node: While) -> None:
        self.line(self.while_line.format(self.condition(node.condition)))
        self.block(node.body)
        self.line(self.while_end)

    def stored(self, value: Expression) -> str:
        """Return the text of a value that a variable gets: the list of another one is copied."""
        text = self.text(value)
        return self.copied.format(text) if self._is_list(value) else text

    def returned(self, value: Expression) -> str:
        """Return the text of a value that a function gives back: a list it was given is copied."""
        given = isinstance(value, Var) and value.name in self.params
        return self.stored(value) if given else self.text(value)

    def _is_list(self, value: Expression) -> bool:
        return isinstance(value, Var) and self.kind(value) == "list"

    def enter(self, function: Function | None) -> None:
        super().enter(function)
        owner = function.params if function else ()
        self.params: dict[str, Type] = dict(owner)

    def copies(self) -> bool:
        """Return whether the program copies a list."""
        found = False
        for function in (*self.program.functions, None):
            self.enter(function)
            body = function.body if function else self.program.body
            found |= any(self._copies(statement) for statement in walk_statements(body))
        return found

    def _copies(self, statement: Statement) -> bool:
        match statement:
            case Let(_, _, value) | Assign(_, value):
                return self._is_list(value)
            case Return(Var(name)):
                return self.params.get(name) == "list"
        return False


def without_gaps(body: Block) -> Block:
    """Return an equal body in which every branch that is written holds a statement."""
    kept: list[Statement] = []
    for statement in body:
        match statement:
            case If(condition, then, otherwise):
                then, otherwise = without_gaps(then), without_gaps(otherwise)
                if then:
                    kept.append(If(condition, then, otherwise))
                elif otherwise:
                    kept.append(If(_opposite(condition), otherwise))
            case While(condition, inner):
                kept.append(While(condition, without_gaps(inner)))
            case For():
                kept.append(replace(statement, body=without_gaps(statement.body)))
            case _:
                kept.append(statement)
    return tuple(kept)


def _opposite(condition: Expression) -> Expression:
    match condition:
        case Not(inner):
            return inner
        case Binary(op, left, right) if op in _OPPOSITES:
            return Binary(_OPPOSITES[op], left, right)
    return Not(condition)


_OPPOSITES = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def assigned(body: Block) -> set[str]:
    """Return the variables that a body assigns after they were declared."""
    return {s.name for s in walk_statements(body) if isinstance(s, Assign)}


def after(writer: Writer, value: Expression) -> str:
    """Return the text of ``value + 1``: an index, where the first one is 1."""
    match value:
        case Int(number):
            return str(number + 1)
        case Binary("-", inner, Int(1)):
            return writer.text(inner, SUM)
        case Binary("+", inner, Int(number)) if number > 0:
            return f"{writer.text(inner, SUM)} + {number + 1}"
        case Binary("-", inner, Int(number)) if number > 1:
            return f"{writer.text(inner, SUM)} - {number - 1}"
    return f"{writer.text(value, SUM)} + 1"


def before(writer: Writer, value: Expression) -> str:
    """Return the text of ``value - 1``: the last number of a loop that includes it."""
    match value:
        case Int(number):
            return str(number - 1)
        case Binary("+", inner, Int(1)):
            return writer.text(inner, SUM)
        case Binary("+", inner, Int(number)) if number > 1:
            return f"{writer.text(inner, SUM)} + {number - 1}"
        case Binary("-", inner, Int(number)) if number > 0:
            return f"{writer.text(inner, SUM)} - {number + 1}"
    return f"{writer.text(value, SUM)} - 1"
