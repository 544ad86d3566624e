"""Programs in Python."""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, LEVELS, NOT, Text, Writer

BOUNDS_ONCE = True
RESERVED = words("""
and as assert async await break class continue def del elif else except exec finally for from global
if import in input int is lambda len list map match max min nonlocal not or pass print raise return
split str try while with yield bool append range
""")

_TYPES: dict[nodes.Type, str] = {"int": "int", "bool": "bool", "str": "str", "list": "list[int]"}
_UPDATES = ("+", "-", "*", "//", "%", "concat")


def emit(program: nodes.Program) -> str:
    """Return the program in Python."""
    return _Python(program).program_text()


class _Python(Writer):
    operators = {  # noqa: RUF012 - declared a ClassVar by the base
        **{op: op for op in LEVELS if op != "concat"},
        "concat": "+",
    }
    append_form = "{}.append({})"
    set_form = "{}[{}] = {}"
    list_form = "[{}]"

    def program_text(self) -> str:
        for function in self.program.functions:
            self.function(function)
        self.enter(None)
        for name, kind in self.program.inputs:
            if kind == "list":
                self.line("input()")
            self.line(f"{name} = {_READ[kind]}")
        for statement in self.program.body:
            self.statement(statement)
        return self.result()

    def function(self, function: nodes.Function) -> None:
        self.enter(function)
        params = ", ".join(f"{name}: {_TYPES[kind]}" for name, kind in function.params)
        self.line(f"def {function.name}({params}) -> {_TYPES[function.returns]}:")
        self.block(function.body)
        self.line()
        self.line()

    def block(self, body: nodes.Block) -> None:
        super().block(body)
        if not body:
            self.line(f"{self.indent}pass")

    def special(self, node: nodes.Binary) -> Text:
        return f"{node.op}({self.text(node.left)}, {self.text(node.right)})", ATOM

    def bool_(self, node: nodes.Bool) -> Text:
        return str(node.value), ATOM

    def not_(self, node: nodes.Not) -> Text:
        return f"not {self.text(node.operand, NOT)}", NOT

    def length(self, node: nodes.Length) -> Text:
        return f"len({self.text(node.operand)})", ATOM

    def index(self, node: nodes.Index) -> Text:
        return f"{self.text(node.sequence, ATOM)}[{self.text(node.index)}]", ATOM

    def value(self, expression: nodes.Expression) -> str:
        """Return the text of a value that is stored: a list variable is copied."""
        text = self.text(expression)
        copied = isinstance(expression, nodes.Var) and self.kind(expression) == "list"
        return f"{text}[:]" if copied else text

    def let(self, node: nodes.Let) -> None:
        self.line(f"{node.name} = {self.value(node.value)}")

    def assign(self, node: nodes.Assign) -> None:
        match node.value:
            case nodes.Binary(op, nodes.Var(name), right) if name == node.name and op in _UPDATES:
                self.line(f"{name} {self.operators[op]}= {self.text(right)}")
            case _:
                self.line(f"{node.name} = {self.value(node.value)}")

    def if_(self, node: nodes.If) -> None:
        word = "if"
        while True:
            self.line(f"{word} {self.text(node.condition)}:")
            self.block(node.then)
            match node.otherwise:
                case ():
                    return
                case (nodes.If() as inner,):
                    node, word = inner, "elif"
                case _:
                    self.line("else:")
                    self.block(node.otherwise)
                    return

    def while_(self, node: nodes.While) -> None:
        self.line(f"while {self.text(node.condition)}:")
        self.block(node.body)

    def for_(self, node: nodes.For) -> None:
        bounds = (node.stop,) if node.start == nodes.Int(0) else (node.start, node.stop)
        self.line(f"for {node.var} in range({self.args(bounds)}):")
        self.block(node.body)

    def return_(self, node: nodes.Return) -> None:
        self.line(f"return {self.value(node.value)}")

    def print_(self, node: nodes.Print) -> None:
        star = "*" if self.kind(node.items[0]) == "list" else ""
        self.line(f"print({star}{self.args(node.items)})")


_READ: dict[nodes.Type, str] = {
    "int": "int(input())",
    "str": "input()",
    "list": "list(map(int, input().split()))",
}
