"""Programs in JavaScript for Node.js; numbers are exact, since all stay below 2**53."""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.braces import OPERATORS, Braces, kinds
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, SUM, UNARY, Text

RESERVED = words("""
abstract arguments await boolean break byte case catch char class const continue debugger default
delete do double else enum eval exports export extends false final finally float for from function
goto if implements import in instanceof int interface let lines long module name native new null of
package private process protected public require return short static super switch synchronized this
throw throws transient true try typeof undefined var void volatile while with yield
""")

_FLOOR_DIV = """
function floorDiv(a, b) {
  return Math.floor(a / b);
}
"""
_FLOOR_MOD = """
function floorMod(a, b) {
  return ((a % b) + b) % b;
}
"""
_READ_LINE = """
const lines = require("fs").readFileSync(0, "utf8").split("\\n");
let nextLine = 0;

function readLine() {
  return lines[nextLine++];
}
"""
_READ_LIST = """
function readList() {
  const length = Number(readLine());
  const line = readLine();
  return length === 0 ? [] : line.trim().split(" ").map(Number);
}
"""


def emit(program: nodes.Program) -> str:
    """Return the program in JavaScript."""
    return _JavaScript(program).program_text()


class _JavaScript(Braces):
    indent = "  "
    operators = {**OPERATORS, "==": "===", "!=": "!==", "concat": "+"}  # noqa: RUF012 - as the base
    functions = {  # noqa: RUF012 - as the base
        "//": "floorDiv",
        "%": "floorMod",
        "min": "Math.min",
        "max": "Math.max",
    }
    prelude = (
        (frozenset({"read int", "read list", "read str"}), _READ_LINE),
        (frozenset({"read list"}), _READ_LIST),
        (frozenset({"//"}), _FLOOR_DIV),
        (frozenset({"%"}), _FLOOR_MOD),
    )
    append_form = "{}.push({});"
    set_form = "{}[{}] = {};"
    list_form = "[{}]"

    def program_text(self) -> str:
        self.features |= kinds(self.program)
        for function in self.program.functions:
            self.function(function)
        self.enter_body(self.program.body)
        for name, kind in self.program.inputs:
            read = {"int": "Number(readLine())", "str": "readLine()", "list": "readList()"}[kind]
            self.line(f"{self.declared(kind, name)} = {read};")
        for statement in self.program.body:
            self.statement(statement)
        return f"{self.helpers()}{self.result()}"

    def enter_body(self, body: nodes.Block, function: nodes.Function | None = None) -> None:
        self.enter(function)
        self.variable = self.changed(body)

    def function(self, function: nodes.Function) -> None:
        self.enter_body(function.body, function)
        params = ", ".join(name for name, _ in function.params)
        self.line(f"function {function.name}({params}) {{")
        self.block(function.body)
        self.line("}")
        self.line()

    def declared(self, kind: nodes.Type, name: str) -> str:
        return f"{'let' if name in self.variable and kind != 'list' else self.word(name)} {name}"

    def word(self, name: str) -> str:
        return "let" if name in self.variable else "const"

    def counter(self, node: nodes.For) -> str:
        return f"let {node.var}"

    def copied(self, text: str) -> str:
        return f"{text}.slice()"

    def neg(self, node: nodes.Neg) -> Text:
        return f"0 - {self.text(node.operand, UNARY)}", SUM

    def length(self, node: nodes.Length) -> Text:
        return f"{self.text(node.operand, ATOM)}.length", ATOM

    def index(self, node: nodes.Index) -> Text:
        return f"{self.text(node.sequence, ATOM)}[{self.text(node.index)}]", ATOM

    def print_(self, node: nodes.Print) -> None:
        if self.kind(node.items[0]) == "list":
            self.line(f'console.log({self.text(node.items[0], ATOM)}.join(" "));')
        elif len(node.items) == 1 and isinstance(node.items[0], nodes.Var):
            self.line(f"console.log(String({node.items[0].name}));")
        else:
            items = " ".join(f"${{{self.text(item)}}}" for item in node.items)
            self.line(f"console.log(`{items}`);")
