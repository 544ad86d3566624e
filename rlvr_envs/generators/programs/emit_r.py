"""Programs in R: every number is a double, which holds the integers of a program exactly."""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.blocks import BlockWriter, after, before
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, LEVELS, PRODUCT, UNARY, Text

BOUNDS_ONCE = True
RESERVED = words("""
c t if else repeat while function for in next break return cat nchar substr paste0 length numeric
min max file stdin input options strsplit as is q seq rep sum rev sort list vector matrix span
""")

_LINE = "readLines(input, n = 1)"
_READ: dict[nodes.Type, str] = {
    "int": f"as.numeric({_LINE})",
    "str": _LINE,
    "list": f'as.numeric(strsplit({_LINE}, " ")[[1]])',
}


def emit(program: nodes.Program) -> str:
    """Return the program in R."""
    return _R(program).program_text()


class _R(BlockWriter):
    indent = "  "
    operators = {  # noqa: RUF012 - declared a ClassVar by the base
        **{op: op for op in LEVELS if op not in ("and", "or", "concat", "//", "%")},
        "and": "&&",
        "or": "||",
    }
    if_line, elif_line, else_line, if_end = "if ({}) {{", "}} else if ({}) {{", "} else {", "}"
    while_line, while_end = "while ({}) {{", "}"
    append_form = "{0}[length({0}) + 1] <- {1}"

    def program_text(self) -> str:
        self.line("options(scipen = 999) # whole numbers are printed with all their digits")
        self.line()
        if "For" in self.features:
            self.line("span <- function(first, last) {")
            self.line("  if (first > last) numeric(0) else as.numeric(first:last)")
            self.line("}")
            self.line()
        for function in self.program.functions:
            self.function(function)
        self.enter(None)
        if self.program.inputs:
            self.line('input <- file("stdin", "r")')
        for name, kind in self.program.inputs:
            if kind == "list":
                self.line(f"invisible({_LINE}) # the number of items")
            self.line(f"{name} <- {_READ[kind]}")
        for statement in self.program.body:
            self.statement(statement)
        return self.result()

    def function(self, function: nodes.Function) -> None:
        self.enter(function)
        params = ", ".join(name for name, _ in function.params)
        self.line(f"{function.name} <- function({params}) {{")
        self.block(function.body)
        self.line("}")
        self.line()

    def double(self, value: nodes.Expression) -> str:
        """Return the text of a value as a double; lengths are of R's own integers, which are small.

        Variables, items and results are doubles already, and an operation on one is a double.
        """
        text = self.text(value)
        return f"as.numeric({text})" if _is_integer(value) else text

    def binary(self, node: nodes.Binary) -> Text:
        if node.op == "*" and _is_integer(node):
            right = self.text(node.right, PRODUCT + 1)
            return f"{self.double(node.left)} * {right}", PRODUCT
        return super().binary(node)

    def call(self, node: nodes.Call) -> Text:
        return f"{node.function}({', '.join(map(self.double, node.args))})", ATOM

    def special(self, node: nodes.Binary) -> Text:
        if node.op in ("//", "%"):
            # These bind more tightly than the other operators of their level.
            left, right = self.text(node.left, UNARY), self.text(node.right, UNARY + 1)
            return f"{left} {'%/%' if node.op == '//' else '%%'} {right}", PRODUCT
        name = "paste0" if node.op == "concat" else node.op
        return f"{name}({self.text(node.left)}, {self.text(node.right)})", ATOM

    def bool_(self, node: nodes.Bool) -> Text:
        return str(node.value).upper(), ATOM

    def length(self, node: nodes.Length) -> Text:
        name = "nchar" if self.kind(node.operand) == "str" else "length"
        return f"{name}({self.text(node.operand)})", ATOM

    def index(self, node: nodes.Index) -> Text:
        sequence, at = self.text(node.sequence), after(self, node.index)
        if self.kind(node.sequence) == "str":
            return f"substr({sequence}, {at}, {at})", ATOM
        return f"{sequence}[{at}]", ATOM

    def list_of(self, node: nodes.ListOf) -> Text:
        items = ", ".join(map(self.double, node.items))
        return f"c({items})" if node.items else "numeric(0)", ATOM

    def let(self, node: nodes.Let) -> None:
        self.line(f"{node.name} <- {self.double(node.value)}")

    def assign(self, node: nodes.Assign) -> None:
        self.line(f"{node.name} <- {self.double(node.value)}")

    def set_item(self, node: nodes.SetItem) -> None:
        self.line(f"{node.name}[{after(self, node.index)}] <- {self.text(node.value)}")

    def for_(self, node: nodes.For) -> None:
        self.line(
            f"for ({node.var} in span({self.text(node.start)}, {before(self, node.stop)})) {{"
        )
        self.block(node.body)
        self.line("}")

    def return_(self, node: nodes.Return) -> None:
        self.line(f"return({self.double(node.value)})")

    def print_(self, node: nodes.Print) -> None:
        first = node.items[0]
        if self.kind(first) == "list":
            self.line(f"cat({self.text(first)})")
            self.line('cat("\\n")')
        elif len(node.items) == 1:
            self.line(f'cat({self.text(first)}, "\\n", sep = "")')
        else:
            # cat separates by blanks, and would put one before the end of the line.
            self.line(f"cat({self.args(node.items)})")
            self.line('cat("\\n")')


def _is_integer(value: nodes.Expression) -> bool:
    match value:
        case nodes.Length():
            return True
        case nodes.Neg(inner):
            return _is_integer(inner)
        case nodes.Binary(op, left, right):
            return op in nodes.ARITHMETIC and _is_integer(left) and _is_integer(right)
    return False
