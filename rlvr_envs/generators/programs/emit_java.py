"""Programs in Java."""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.braces import Braces, kinds
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, PRODUCT, SUM, UNARY, Text

RESERVED = words("""
abstract assert boolean break byte case catch char class const continue default do double else enum
exports extends false final finally float for goto if implements import in instanceof int interface
long main module native new null package private protected public requires return short static
strictfp super switch synchronized this throw throws transient true try var void volatile while
yield record sealed permits
""")

_TYPES: dict[nodes.Type, str] = {
    "int": "long",
    "bool": "boolean",
    "str": "String",
    "list": "Numbers",
}
_NUMBERS = """
    /** A list of numbers that grows. */
    static class Numbers {
        long[] items;
        int length;

        Numbers(long... items) {
            this.items = items;
            this.length = items.length;
        }

        long length() {
            return length;
        }

        long get(long index) {
            return items[(int) index];
        }

        void set(long index, long item) {
            items[(int) index] = item;
        }

        void add(long item) {
            if (length == items.length) {
                items = Arrays.copyOf(items, 2 * length + 4);
            }
            items[length++] = item;
        }

        Numbers copy() {
            return new Numbers(Arrays.copyOf(items, length));
        }

        public String toString() {
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < length; i++) {
                text.append(i == 0 ? "" : " ").append(items[i]);
            }
            return text.toString();
        }
    }
"""
_READER = """
    static BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
"""
_READ_INT = """
    static long readInt() throws IOException {
        return Long.parseLong(input.readLine().trim());
    }
"""
_READ_LIST = """
    static Numbers readList() throws IOException {
        Numbers list = new Numbers(new long[(int) readInt()]);
        StringTokenizer words = new StringTokenizer(input.readLine());
        for (int i = 0; i < list.length; i++) {
            list.items[i] = Long.parseLong(words.nextToken());
        }
        return list;
    }
"""


def emit(program: nodes.Program) -> str:
    """Return the program in Java."""
    return _Java(program).program_text()


class _Java(Braces):
    functions = {  # noqa: RUF012 - declared a ClassVar by the base
        "//": "Math.floorDiv",
        "%": "Math.floorMod",
        "min": "Math.min",
        "max": "Math.max",
    }
    prelude = (
        (frozenset({"ListOf", "list"}), _NUMBERS),
        (frozenset({"read int", "read list", "read str"}), _READER),
        (frozenset({"read int", "read list"}), _READ_INT),
        (frozenset({"read list"}), _READ_LIST),
    )
    append_form = "{}.add({});"
    list_form = "new Numbers({})"

    def program_text(self) -> str:
        self.features |= kinds(self.program)
        self.depth = 1
        for function in self.program.functions:
            self.enter(function)
            params = ", ".join(f"{_TYPES[kind]} {name}" for name, kind in function.params)
            self.line(f"static {_TYPES[function.returns]} {function.name}({params}) {{")
            self.block(function.body)
            self.line("}")
            self.line()
        self.enter(None)
        self.line("public static void main(String[] arguments) throws IOException {")
        self.depth += 1
        for name, kind in self.program.inputs:
            read = {"int": "readInt()", "str": "input.readLine()", "list": "readList()"}[kind]
            self.line(f"{_TYPES[kind]} {name} = {read};")
        self.depth -= 1
        self.block(self.program.body)
        self.line("}")
        head = "import java.io.*;\nimport java.util.*;\n\npublic class Main {\n"
        return f"{head}{self.helpers()}{self.result()}}}\n"

    def helpers(self) -> str:
        needed = [text.strip("\n") for features, text in self.prelude if features & self.features]
        return "".join(f"{text}\n\n" for text in needed)

    def declared(self, kind: nodes.Type, name: str) -> str:
        return f"{_TYPES[kind]} {name}"

    def copied(self, text: str) -> str:
        return f"{text}.copy()"

    def int_(self, node: nodes.Int) -> Text:
        text, level = super().int_(node)
        return (f"{text}L" if abs(node.value) >= 1000 else text), level

    def binary(self, node: nodes.Binary) -> Text:
        if node.op in ("==", "!=") and self.kind(node.left) == "str":
            text = f"{self.text(node.left, ATOM)}.equals({self.text(node.right)})"
            return (text, ATOM) if node.op == "==" else (f"!{text}", UNARY)
        if node.op in nodes.ARITHMETIC and not (_is_long(node.left) or _is_long(node.right)):
            # Two int operands would be computed in 32 bits.
            left = f"(long) {self.text(node.left, UNARY)}"
            if node.op in self.functions:
                return f"{self.functions[node.op]}({left}, {self.long(node.right)})", ATOM
            level = PRODUCT if node.op == "*" else SUM
            return f"{left} {node.op} {self.text(node.right, UNARY)}", level
        return super().binary(node)

    def special(self, node: nodes.Binary) -> Text:
        if node.op == "concat":
            return f"{self.text(node.left, SUM)} + {self.text(node.right, PRODUCT)}", SUM
        name = self.functions[node.op]
        return f"{name}({self.text(node.left)}, {self.long(node.right)})", ATOM

    def long(self, expression: nodes.Expression) -> str:
        """Return an argument as a long: Math.floorMod of a long and an int is an int."""
        text = self.text(expression)
        return f"{text}L" if isinstance(expression, nodes.Int) and not text.endswith("L") else text

    def length(self, node: nodes.Length) -> Text:
        operand = f"{self.text(node.operand, ATOM)}.length()"
        is_text = self.kind(node.operand) == "str"
        return (f"(long) {operand}", UNARY) if is_text else (operand, ATOM)

    def index(self, node: nodes.Index) -> Text:
        sequence = self.text(node.sequence, ATOM)
        if self.kind(node.sequence) == "str":
            place = self.text(node.index, ATOM)
            return f"String.valueOf({sequence}.charAt((int) {place}))", ATOM
        return f"{sequence}.get({self.text(node.index)})", ATOM

    def set_item(self, node: nodes.SetItem) -> None:
        self.line(f"{node.name}.set({self.args((node.index, node.value))});")

    def print_(self, node: nodes.Print) -> None:
        level = SUM if len(node.items) == 1 else PRODUCT
        items = ' + " " + '.join(self.text(item, level) for item in node.items)
        self.line(f"System.out.println({items});")


def _is_long(expression: nodes.Expression) -> bool:
    match expression:
        case nodes.Int(value):
            return abs(value) >= 1000
        case nodes.Neg(inner):
            return _is_long(inner)
        case nodes.Length(nodes.Str()):
            return True
    return True
