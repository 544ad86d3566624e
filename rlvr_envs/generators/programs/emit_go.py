"""Programs in Go."""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.braces import Braces, kinds, reads
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, SUM, Text

RESERVED = words("""
append any bool break bufio byte cap case chan clear close complex complex64 complex128 comparable
const continue copy default defer delete else error fallthrough false float32 float64 fmt for func
go goto if imag import init int int8 int16 int32 int64 interface iota len main make map max min new
nil os package panic print println range real recover return rune select string strings strconv
struct switch true type uint uint8 uint16 uint32 uint64 uintptr var
""")

_TYPES: dict[nodes.Type, str] = {"int": "int", "bool": "bool", "str": "string", "list": "[]int"}
_FLOOR_DIV = """
func floorDiv(a, b int) int {
	quotient := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		quotient--
	}
	return quotient
}
"""
_FLOOR_MOD = """
func floorMod(a, b int) int {
	rest := a % b
	if rest != 0 && (rest < 0) != (b < 0) {
		rest += b
	}
	return rest
}
"""
_MIN = """
func minInt(a, b int) int {
	if a < b {
		return a
	}
	return b
}
"""
_MAX = """
func maxInt(a, b int) int {
	if a > b {
		return a
	}
	return b
}
"""
_COPY = """
func copyList(items []int) []int {
	return append([]int{}, items...)
}
"""
_READ_LINE = """
var input = bufio.NewReader(os.Stdin)

func readLine() string {
	line, _ := input.ReadString('\\n')
	return strings.TrimRight(line, "\\r\\n")
}
"""
_READ_INT = """
func readInt() int {
	value, _ := strconv.Atoi(readLine())
	return value
}
"""
_READ_LIST = """
func readList() []int {
	items := make([]int, 0, readInt())
	for _, word := range strings.Fields(readLine()) {
		value, _ := strconv.Atoi(word)
		items = append(items, value)
	}
	return items
}
"""
_PRINT_LIST = """
func printList(items []int) {
	words := []string{}
	for _, item := range items {
		words = append(words, strconv.Itoa(item))
	}
	fmt.Println(strings.Join(words, " "))
}
"""


def emit(program: nodes.Program) -> str:
    """Return the program in Go."""
    return _Go(program).program_text()


class _Go(Braces):
    indent = "\t"
    end = ""
    condition = "{}"
    functions = {  # noqa: RUF012 - declared a ClassVar by the base
        "//": "floorDiv",
        "%": "floorMod",
        "min": "minInt",
        "max": "maxInt",
    }
    operators = {**Braces.operators, "concat": "+"}  # noqa: RUF012 - as above
    prelude = (
        (frozenset({"//"}), _FLOOR_DIV),
        (frozenset({"%"}), _FLOOR_MOD),
        (frozenset({"min"}), _MIN),
        (frozenset({"max"}), _MAX),
        (frozenset({"copy"}), _COPY),
        (frozenset({"read int", "read list", "read str"}), _READ_LINE),
        (frozenset({"read int", "read list"}), _READ_INT),
        (frozenset({"read list"}), _READ_LIST),
        (frozenset({"print list"}), _PRINT_LIST),
    )
    append_form = "{0} = append({0}, {1})"
    set_form = "{}[{}] = {}"
    list_form = "[]int{{{}}}"

    def program_text(self) -> str:
        self.features |= kinds(self.program)
        for function in self.program.functions:
            self.function(function)
        self.enter(None)
        self.line("func main() {")
        self.depth += 1
        read = reads(self.program.body)
        for name, kind in self.program.inputs:
            reader = {"int": "readInt()", "str": "readLine()", "list": "readList()"}[kind]
            self.line(f"{name} := {reader}")
            if name not in read:
                self.line(f"_ = {name}")
        self.depth -= 1
        self.block(self.program.body)
        self.line("}")
        names = "".join(f'\t"{name}"\n' for name in self.imports())
        return f"package main\n\nimport (\n{names})\n\n{self.helpers()}{self.result()}"

    def imports(self) -> list[str]:
        names = {"fmt"}
        if self.program.inputs:
            names |= {"bufio", "os", "strings"}
        if {"read int", "read list", "print list"} & self.features:
            names.add("strconv")
        return sorted(names | ({"strings"} if "print list" in self.features else set()))

    def function(self, function: nodes.Function) -> None:
        self.enter(function)
        params = ", ".join(f"{name} {_TYPES[kind]}" for name, kind in function.params)
        self.line(f"func {function.name}({params}) {_TYPES[function.returns]} {{")
        self.block(function.body)
        self.line("}")
        self.line()

    def block(self, body: nodes.Block) -> None:
        self.depth += 1
        for number, statement in enumerate(body):
            self.statement(statement)
            self.use(statement, body[number + 1 :])
        self.depth -= 1

    def use(self, statement: nodes.Statement, rest: nodes.Block) -> None:
        """Mention a variable that is never read: Go refuses it otherwise."""
        if isinstance(statement, nodes.Let) and statement.name not in reads(rest):
            self.line(f"_ = {statement.name}")

    def declared(self, kind: nodes.Type, name: str) -> str:
        return f"{name} :"

    def let(self, node: nodes.Let) -> None:
        self.line(f"{node.name} := {self.stored(node.value)}")

    def counter(self, node: nodes.For) -> str:
        return f"{node.var} :"

    def for_(self, node: nodes.For) -> None:
        start, stop = self.text(node.start), self.text(node.stop, SUM)
        self.line(f"for {node.var} := {start}; {node.var} < {stop}; {node.var}++ {{")
        self.block(node.body)
        self.line("}")

    def while_(self, node: nodes.While) -> None:
        self.line(f"for {self.text(node.condition)} {{")
        self.block(node.body)
        self.line("}")

    def copied(self, text: str) -> str:
        self.features |= {"copy"}
        return f"copyList({text})"

    def length(self, node: nodes.Length) -> Text:
        return f"len({self.text(node.operand)})", ATOM

    def index(self, node: nodes.Index) -> Text:
        item = f"{self.text(node.sequence, ATOM)}[{self.text(node.index)}]"
        return (f"string({item})" if self.kind(node.sequence) == "str" else item), ATOM

    def print_(self, node: nodes.Print) -> None:
        if self.kind(node.items[0]) == "list":
            self.features |= {"print list"}
            self.line(f"printList({self.text(node.items[0])})")
        else:
            self.line(f"fmt.Println({self.args(node.items)})")
