"""Programs in Ruby, whose integers have no bounds and divide towards minus infinity."""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.blocks import BlockWriter, before
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, LEVELS, SUM, Text

BOUNDS_ONCE = True
RESERVED = words("""
alias and begin break case class def defined do else elsif end ensure false for if in module next
nil not or redo rescue retry return self super then true undef unless until when while yield gets
puts print p raise loop lambda proc format rand sleep exit test select open system exec fork trap
""")

_READ: dict[nodes.Type, str] = {
    "int": "gets.to_i",
    "str": "gets.chomp",
    "list": "gets.split.map(&:to_i)",
}
_UPDATES = ("+", "-", "*", "//", "%")


def emit(program: nodes.Program) -> str:
    """Return the program in Ruby."""
    return _Ruby(program).program_text()


class _Ruby(BlockWriter):
    indent = "  "
    operators = {  # noqa: RUF012 - declared a ClassVar by the base
        **{op: op for op in LEVELS if op not in ("and", "or", "concat")},
        "//": "/",
        "and": "&&",
        "or": "||",
        "concat": "+",
    }
    if_line, elif_line, else_line, if_end = "if {}", "elsif {}", "else", "end"
    while_line, while_end = "while {}", "end"
    copied = "{}.dup"
    set_form = "{}[{}] = {}"
    list_form = "[{}]"

    def program_text(self) -> str:
        for function in self.program.functions:
            self.function(function)
        self.enter(None)
        for name, kind in self.program.inputs:
            if kind == "list":
                self.line("gets # the number of items")
            self.line(f"{name} = {_READ[kind]}")
        for statement in self.program.body:
            self.statement(statement)
        return self.result()

    def function(self, function: nodes.Function) -> None:
        self.enter(function)
        params = ", ".join(name for name, _ in function.params)
        self.line(f"def {function.name}({params})")
        self.block(function.body)
        self.line("end")
        self.line()

    def special(self, node: nodes.Binary) -> Text:
        return f"[{self.text(node.left)}, {self.text(node.right)}].{node.op}", ATOM

    def str_(self, node: nodes.Str) -> Text:
        return quoted(node.value), ATOM

    def length(self, node: nodes.Length) -> Text:
        return f"{self.text(node.operand, ATOM)}.length", ATOM

    def index(self, node: nodes.Index) -> Text:
        return f"{self.text(node.sequence, ATOM)}[{self.text(node.index)}]", ATOM

    def let(self, node: nodes.Let) -> None:
        self.line(f"{node.name} = {self.stored(node.value)}")

    def assign(self, node: nodes.Assign) -> None:
        match node.value:
            case nodes.Binary(op, left, right) if op in _UPDATES and self.text(left) == node.name:
                self.line(f"{node.name} {self.operators[op]}= {self.text(right)}")
            case _:
                self.line(f"{node.name} = {self.stored(node.value)}")

    def append(self, node: nodes.Append) -> None:
        self.line(f"{node.name} << {self.text(node.value, SUM)}")

    def for_(self, node: nodes.For) -> None:
        if node.start == nodes.Int(0):
            self.line(f"{self.text(node.stop, ATOM)}.times do |{node.var}|")
        else:
            start, last = self.text(node.start, ATOM), before(self, node.stop)
            self.line(f"{start}.upto({last}) do |{node.var}|")
        self.block(node.body)
        self.line("end")

    def return_(self, node: nodes.Return) -> None:
        self.line(f"return {self.returned(node.value)}")

    def print_(self, node: nodes.Print) -> None:
        first = node.items[0]
        if self.kind(first) == "list":
            self.line(f'puts {self.text(first)}.join(" ")')
        elif len(node.items) == 1:
            self.line(f"puts {self.text(first)}")
        else:
            self.line(f'puts [{self.args(node.items)}].join(" ")')


def quoted(value: str) -> str:
    """Return a string literal in which nothing is interpolated."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("#", "\\#")
    return f'"{escaped}"'
