"""Programs in Lua 5.4: its integers have 64 bits, and it divides towards minus infinity."""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.blocks import BlockWriter, after, before
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, NOT, UNARY, Text

BOUNDS_ONCE = True
RESERVED = words("""
and break do else elseif end false for function goto if in local nil not or repeat return then true
until while arg io math print string table tonumber copy item
""")

# What a line of the input becomes.
_READ: dict[nodes.Type, str] = {"int": "tonumber(io.read())", "str": "io.read()", "list": "{}"}


def emit(program: nodes.Program) -> str:
    """Return the program in Lua."""
    return _Lua(program).program_text()


class _Lua(BlockWriter):
    if_line, elif_line, else_line, if_end = "if {} then", "elseif {} then", "else", "end"
    while_line, while_end = "while {} do", "end"
    copied = "copy({})"
    operators = {  # noqa: RUF012 - declared a ClassVar by the base
        **{op: op for op in ("+", "-", "*", "//", "%", "==", "<", "<=", ">", ">=", "and", "or")},
        "!=": "~=",
        "concat": "..",
    }
    append_form = "{0}[#{0} + 1] = {1}"
    list_form = "{{{}}}"

    def program_text(self) -> str:
        if self.copies():
            self.line("local function copy(list)")
            self.line("    return table.move(list, 1, #list, 1, {})")
            self.line("end")
            self.line()
        if self.program.functions:
            # Declared first, so that each may call any other.
            self.line(f"local {', '.join(f.name for f in self.program.functions)}")
            self.line()
        for function in self.program.functions:
            self.enter(function)
            self.line(f"function {function.name}({', '.join(name for name, _ in function.params)})")
            self.block(function.body)
            self.line("end")
            self.line()
        self.enter(None)
        for name, kind in self.program.inputs:
            self.read(name, kind)
        for statement in self.program.body:
            self.statement(statement)
        return self.result()

    def read(self, name: str, kind: nodes.Type) -> None:
        self.line(f"local {name} = {_READ[kind]}")
        if kind == "list":
            self.line("io.read() -- the number of items")
            self.line('for item in io.read():gmatch("%S+") do')
            self.line(f"    {name}[#{name} + 1] = tonumber(item)")
            self.line("end")

    def special(self, node: nodes.Binary) -> Text:
        return f"math.{node.op}({self.text(node.left)}, {self.text(node.right)})", ATOM

    def not_(self, node: nodes.Not) -> Text:
        return f"not {self.text(node.operand, UNARY)}", NOT

    def length(self, node: nodes.Length) -> Text:
        return f"#{self.text(node.operand, ATOM)}", UNARY

    def index(self, node: nodes.Index) -> Text:
        at = self.place(node.index)
        if self.kind(node.sequence) == "list":
            return f"{self.text(node.sequence, ATOM)}[{at}]", ATOM
        return f"string.sub({self.text(node.sequence)}, {at}, {at})", ATOM

    def place(self, index: nodes.Expression) -> str:
        """Return the index, which counts from 1 here."""
        return after(self, index)

    def let(self, node: nodes.Let) -> None:
        self.line(f"local {node.name} = {self.stored(node.value)}")

    def assign(self, node: nodes.Assign) -> None:
        self.line(f"{node.name} = {self.stored(node.value)}")

    def set_item(self, node: nodes.SetItem) -> None:
        self.line(f"{node.name}[{self.place(node.index)}] = {self.text(node.value)}")

    def for_(self, node: nodes.For) -> None:
        self.line(f"for {node.var} = {self.text(node.start)}, {before(self, node.stop)} do")
        self.block(node.body)
        self.line("end")

    def return_(self, node: nodes.Return) -> None:
        self.line(f"return {self.returned(node.value)}")

    def print_(self, node: nodes.Print) -> None:
        first = node.items[0]
        if self.kind(first) == "list":
            self.line(f'print(table.concat({self.text(first)}, " "))')
        elif len(node.items) == 1:
            self.line(f"print({self.text(first)})")
        else:
            items = ', " ", '.join(self.text(item) for item in node.items)
            self.line(f'io.write({items}, "\\n")')
