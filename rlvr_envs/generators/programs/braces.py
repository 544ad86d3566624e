"""What the emitters of languages with braces share."""

from typing import ClassVar

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.check import walk_expressions, walk_statements
from rlvr_envs.generators.programs.writer import ATOM, LEVELS, NOT, OR, Text, Writer

OPERATORS = {
    **{op: op for op in LEVELS if op not in ("concat", "//", "%")},
    "and": "&&",
    "or": "||",
}
_UPDATES = ("+", "-", "*")


class Braces(Writer):
    """Statements as C writes them.

    Attributes:
        end: what ends a statement.
        condition: how a condition stands after ``if`` and ``while``.
        prelude: helper functions, each with the features that need it, in order.
        functions: the helper function of each operator that is not infix.
    """

    operators = OPERATORS
    end: ClassVar[str] = ";"
    condition: ClassVar[str] = "({})"
    prelude: ClassVar[tuple[tuple[frozenset[str], str], ...]] = ()
    functions: ClassVar[dict[str, str]] = {}

    def binary(self, node: nodes.Binary) -> Text:
        match node:
            case nodes.Binary("or", left, right):
                # Compilers warn of an "and" inside an "or" that has no parentheses.
                sides = (self.inside_or(left), self.inside_or(right))
                return f" {self.operators['or']} ".join(sides), OR
        return super().binary(node)

    def inside_or(self, side: nodes.Expression) -> str:
        is_and = isinstance(side, nodes.Binary) and side.op == "and"
        return self.text(side, NOT if is_and else OR)

    def helpers(self) -> str:
        """Return the text of the helper functions that the program needs."""
        needed = [text.strip("\n") for features, text in self.prelude if features & self.features]
        return "".join(f"{text}\n\n" for text in needed)

    def changed(self, body: nodes.Block) -> set[str]:
        """Return the variables that a block assigns, sets items of, or appends to."""
        return {
            statement.name
            for statement in walk_statements(body)
            if isinstance(statement, (nodes.Assign, nodes.SetItem, nodes.Append))
        }

    def special(self, node: nodes.Binary) -> Text:
        return f"{self.functions[node.op]}({self.args((node.left, node.right))})", ATOM

    def stored(self, expression: nodes.Expression) -> str:
        """Return the text of a value that a variable or a caller keeps."""
        text = self.text(expression)
        is_list = isinstance(expression, nodes.Var) and self.kind(expression) == "list"
        return self.copied(text) if is_list else text

    def copied(self, text: str) -> str:
        """Return the text of a copy of a list variable."""
        return text

    def declared(self, kind: nodes.Type, name: str) -> str:
        """Return what stands before the ``=`` of a declaration."""
        raise NotImplementedError

    def let(self, node: nodes.Let) -> None:
        self.line(f"{self.declared(node.type, node.name)} = {self.stored(node.value)}{self.end}")

    def assign(self, node: nodes.Assign) -> None:
        match node.value:
            case nodes.Binary("+" | "-", nodes.Var(name), nodes.Int(1)) if name == node.name:
                self.line(f"{name}{node.value.op * 2}{self.end}")
            case nodes.Binary(op, nodes.Var(name), right) if name == node.name and op in _UPDATES:
                self.line(f"{name} {op}= {self.text(right)}{self.end}")
            case _:
                self.line(f"{node.name} = {self.stored(node.value)}{self.end}")

    def if_(self, node: nodes.If) -> None:
        word = "if"
        while True:
            self.line(f"{word} {self.condition.format(self.text(node.condition))} {{")
            self.block(node.then)
            match node.otherwise:
                case ():
                    break
                case (nodes.If() as inner,):
                    node, word = inner, "} else if"
                case _:
                    self.line("} else {")
                    self.block(node.otherwise)
                    break
        self.line("}")

    def while_(self, node: nodes.While) -> None:
        self.line(f"while {self.condition.format(self.text(node.condition))} {{")
        self.block(node.body)
        self.line("}")

    def counter(self, node: nodes.For) -> str:
        """Return how the variable of a loop is declared."""
        return self.declared("int", node.var)

    def for_(self, node: nodes.For) -> None:
        start, stop = self.text(node.start), self.text(node.stop, LEVELS["+"])
        head = f"{self.counter(node)} = {start}; {node.var} < {stop}; {node.var}++"
        self.line(f"for {self.condition.format(head)} {{")
        self.block(node.body)
        self.line("}")

    def return_(self, node: nodes.Return) -> None:
        self.line(f"return {self.stored(node.value)}{self.end}")

    def bool_(self, node: nodes.Bool) -> Text:
        return ("true" if node.value else "false"), ATOM


class Wide(nodes.Int):
    """A literal of 64 bits, whatever its value."""


def is_wide(node: nodes.Int, limit: int = 1000) -> bool:
    """Whether a literal is written as one of 64 bits."""
    return isinstance(node, Wide) or abs(node.value) >= limit


def widened(node: nodes.Binary) -> nodes.Binary:
    """Return an operation on two literals as one of 64 bits."""
    match node:
        case nodes.Binary(op, nodes.Int(value), nodes.Int() as right) if op in nodes.ARITHMETIC:
            return nodes.Binary(op, Wide(value), right)
    return node


def reads(body: nodes.Block) -> frozenset[str]:
    """Return the names of the variables that a block reads."""
    return frozenset(node.name for node in walk_expressions(body) if isinstance(node, nodes.Var))


def kinds(program: nodes.Program) -> frozenset[str]:
    """Return as features what types there are: ``read int``, ``read list``, ..., and ``list``."""
    signatures = [(*function.params, ("", function.returns)) for function in program.functions]
    used = {kind for pairs in (program.inputs, *signatures) for _, kind in pairs}
    return frozenset({f"read {kind}" for _, kind in program.inputs} | ({"list"} & used))
