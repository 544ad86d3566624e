"""What the emitters of languages with lines such as ``if … then … end`` share."""

from dataclasses import replace
from typing import ClassVar

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.check import walk_statements
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

    def __init__(self, program: nodes.Program) -> None:
        functions = tuple(replace(f, body=without_gaps(f.body)) for f in program.functions)
        super().__init__(replace(program, functions=functions, body=without_gaps(program.body)))

    def if_(self, node: nodes.If) -> None:
        opening = self.if_line
        while True:
            self.line(opening.format(self.condition(node.condition)))
            self.block(node.then)
            match node.otherwise:
                case (nodes.If() as inner,) if self.chains(inner):
                    node, opening = inner, self.elif_line
                    continue
                case ():
                    pass
                case _:
                    self.line(self.else_line)
                    self.block(node.otherwise)
            self.line(self.if_end)
            return

    def condition(self, value: nodes.Expression) -> str:
        """Return the text of the condition of a branch or a loop."""
        return self.text(value)

    def chains(self, inner: nodes.If) -> bool:
        """Return whether a branch can follow the condition of the one before it."""
        return True

    def while_(self, node: nodes.While) -> None:
        self.line(self.while_line.format(self.condition(node.condition)))
        self.block(node.body)
        self.line(self.while_end)

    def stored(self, value: nodes.Expression) -> str:
        """Return the text of a value that a variable gets: the list of another one is copied."""
        text = self.text(value)
        return self.copied.format(text) if self._is_list(value) else text

    def returned(self, value: nodes.Expression) -> str:
        """Return the text of a value that a function gives back: a list it was given is copied."""
        given = isinstance(value, nodes.Var) and value.name in self.params
        return self.stored(value) if given else self.text(value)

    def _is_list(self, value: nodes.Expression) -> bool:
        return isinstance(value, nodes.Var) and self.kind(value) == "list"

    def enter(self, function: nodes.Function | None) -> None:
        super().enter(function)
        owner = function.params if function else ()
        self.params: dict[str, nodes.Type] = dict(owner)

    def copies(self) -> bool:
        """Return whether the program copies a list."""
        found = False
        for function in (*self.program.functions, None):
            self.enter(function)
            body = function.body if function else self.program.body
            found |= any(self._copies(statement) for statement in walk_statements(body))
        return found

    def _copies(self, statement: nodes.Statement) -> bool:
        match statement:
            case nodes.Let(_, _, value) | nodes.Assign(_, value):
                return self._is_list(value)
            case nodes.Return(nodes.Var(name)):
                return self.params.get(name) == "list"
        return False


def without_gaps(body: nodes.Block) -> nodes.Block:
    """Return an equal body in which every branch that is written holds a statement."""
    kept: list[nodes.Statement] = []
    for statement in body:
        match statement:
            case nodes.If(condition, then, otherwise):
                then, otherwise = without_gaps(then), without_gaps(otherwise)
                if then:
                    kept.append(nodes.If(condition, then, otherwise))
                elif otherwise:
                    kept.append(nodes.If(_opposite(condition), otherwise))
            case nodes.While(condition, inner):
                kept.append(nodes.While(condition, without_gaps(inner)))
            case nodes.For():
                kept.append(replace(statement, body=without_gaps(statement.body)))
            case _:
                kept.append(statement)
    return tuple(kept)


def _opposite(condition: nodes.Expression) -> nodes.Expression:
    match condition:
        case nodes.Not(inner):
            return inner
        case nodes.Binary(op, left, right) if op in _OPPOSITES:
            return nodes.Binary(_OPPOSITES[op], left, right)
    return nodes.Not(condition)


_OPPOSITES = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def assigned(body: nodes.Block) -> set[str]:
    """Return the variables that a body assigns after they were declared."""
    return {s.name for s in walk_statements(body) if isinstance(s, nodes.Assign)}


def after(writer: Writer, value: nodes.Expression) -> str:
    """Return the text of ``value + 1``: an index, where the first one is 1."""
    match value:
        case nodes.Int(number):
            return str(number + 1)
        case nodes.Binary("-", inner, nodes.Int(1)):
            return writer.text(inner, SUM)
        case nodes.Binary("+", inner, nodes.Int(number)) if number > 0:
            return f"{writer.text(inner, SUM)} + {number + 1}"
        case nodes.Binary("-", inner, nodes.Int(number)) if number > 1:
            return f"{writer.text(inner, SUM)} - {number - 1}"
    return f"{writer.text(value, SUM)} + 1"


def before(writer: Writer, value: nodes.Expression) -> str:
    """Return the text of ``value - 1``: the last number of a loop that includes it."""
    match value:
        case nodes.Int(number):
            return str(number - 1)
        case nodes.Binary("+", inner, nodes.Int(1)):
            return writer.text(inner, SUM)
        case nodes.Binary("+", inner, nodes.Int(number)) if number > 1:
            return f"{writer.text(inner, SUM)} + {number - 1}"
        case nodes.Binary("-", inner, nodes.Int(number)) if number > 0:
            return f"{writer.text(inner, SUM)} - {number + 1}"
    return f"{writer.text(value, SUM)} - 1"
