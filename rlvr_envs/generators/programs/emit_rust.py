"""Programs in Rust."""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.braces import Braces, is_wide, kinds, reads, widened
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, COMPARISON, SUM, Text

BOUNDS_ONCE = True
RESERVED = words("""
abstract as async await become bool box break char const continue crate do dyn else enum extern
false final fn for if impl in let loop macro main match mod move mut override priv pub ref return
self static str struct super trait true try type typeof union unsafe unsized use usize vec virtual
where while yield i64 floor_div floor_mod char_at read_line read_int read_list show slot drop
""")

_TYPES: dict[nodes.Type, str] = {"int": "i64", "bool": "bool", "str": "String", "list": "Vec<i64>"}
_PARAMS: dict[nodes.Type, str] = {"int": "i64", "bool": "bool", "str": "&str", "list": "&[i64]"}
_FLOOR_DIV = """
fn floor_div(a: i64, b: i64) -> i64 {
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}
"""
_FLOOR_MOD = """
fn floor_mod(a: i64, b: i64) -> i64 {
    let rest = a % b;
    if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
}
"""
_CHAR_AT = """
fn char_at(text: &str, index: i64) -> &str {
    let start = index as usize;
    &text[start..start + 1]
}
"""
_READ_LINE = """
fn read_line() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim_end_matches('\\n').to_string()
}
"""
_READ_INT = """
fn read_int() -> i64 {
    read_line().trim().parse().unwrap()
}
"""
_READ_LIST = """
fn read_list() -> Vec<i64> {
    read_line();
    read_line().split_whitespace().map(|word| word.parse().unwrap()).collect()
}
"""
_SHOW = """
fn show(items: &[i64]) -> String {
    items.iter().map(|item| item.to_string()).collect::<Vec<_>>().join(" ")
}
"""


def emit(program: nodes.Program) -> str:
    """Return the program in Rust."""
    return _Rust(program).program_text()


class _Rust(Braces):
    condition = "{}"
    functions = {  # noqa: RUF012 - declared a ClassVar by the base
        "//": "floor_div",
        "%": "floor_mod",
        "min": "std::cmp::min",
        "max": "std::cmp::max",
    }
    prelude = (
        (frozenset({"//"}), _FLOOR_DIV),
        (frozenset({"%"}), _FLOOR_MOD),
        (frozenset({"char at"}), _CHAR_AT),
        (frozenset({"read int", "read list", "read str"}), _READ_LINE),
        (frozenset({"read int"}), _READ_INT),
        (frozenset({"read list"}), _READ_LIST),
        (frozenset({"print list"}), _SHOW),
    )
    append_form = "{}.push({});"
    list_form = "vec![{}]"

    def program_text(self) -> str:
        self.features |= kinds(self.program)
        for function in self.program.functions:
            self.function(function)
        self.enter(None)
        self.params: set[str] = set()
        self.mutable = self.changed(self.program.body)
        self.line("fn main() {")
        self.depth += 1
        for name, kind in self.program.inputs:
            read = {"int": "read_int()", "str": "read_line()", "list": "read_list()"}[kind]
            self.line(f"let {self.mut(name)}{name} = {read};")
        self.depth -= 1
        self.block(self.program.body)
        self.line("}")
        return f"{self.helpers()}{self.result()}"

    def function(self, function: nodes.Function) -> None:
        self.enter(function)
        self.params = {name for name, _ in function.params}
        self.mutable = self.changed(function.body)
        params = ", ".join(f"{name}: {_PARAMS[kind]}" for name, kind in function.params)
        self.line(f"fn {function.name}({params}) -> {_TYPES[function.returns]} {{")
        self.block(function.body[:-1])
        last = function.body[-1]
        if isinstance(last, nodes.Return):
            self.line(f"{self.indent}{self.stored(last.value)}")
        self.line("}")
        self.line()

    def mut(self, name: str) -> str:
        return "mut " if name in self.mutable else ""

    def let(self, node: nodes.Let) -> None:
        name = f"{self.mut(node.name)}{node.name}"
        self.line(f"let {name}: {_TYPES[node.type]} = {self.stored(node.value)};")

    def int_(self, node: nodes.Int) -> Text:
        text, level = super().int_(node)
        # A literal that nothing else gives a type has 32 bits.
        return (f"{text}_i64" if is_wide(node, 2**31) else text), level

    def stored(self, expression: nodes.Expression) -> str:
        kind = self.kind(expression)
        if kind == "list" and isinstance(expression, nodes.Var):
            return f"{expression.name}.to_vec()"
        if kind == "str" and not isinstance(expression, (nodes.Call, nodes.Binary)):
            return f"{self.lent(expression, ATOM)}.to_string()"
        return self.text(expression)

    def lent(self, expression: nodes.Expression, level: int = 0) -> str:
        """Return the text of a string or list that is only looked at."""
        kind, text = self.kind(expression), self.text(expression, ATOM)
        if kind not in ("str", "list") or isinstance(expression, (nodes.Str, nodes.Index)):
            return self.text(expression, level)
        is_param = isinstance(expression, nodes.Var) and expression.name in self.params
        return text if is_param or level == ATOM else f"&{text}"

    def call(self, node: nodes.Call) -> Text:
        return f"{node.function}({', '.join(map(self.lent, node.args))})", ATOM

    def binary(self, node: nodes.Binary) -> Text:
        if node.op in ("==", "!=") and self.kind(node.left) == "str":
            return f"{self.compared(node.left)} {node.op} {self.compared(node.right)}", COMPARISON
        return super().binary(widened(node))

    def compared(self, expression: nodes.Expression) -> str:
        is_param = isinstance(expression, nodes.Var) and expression.name in self.params
        if isinstance(expression, (nodes.Str, nodes.Index)) or is_param:
            return self.text(expression)
        return f"{self.text(expression, ATOM)}.as_str()"

    def special(self, node: nodes.Binary) -> Text:
        if node.op == "concat":
            return f'format!("{{}}{{}}", {self.text(node.left)}, {self.text(node.right)})', ATOM
        return super().special(node)

    def length(self, node: nodes.Length) -> Text:
        return f"({self.text(node.operand, ATOM)}.len() as i64)", ATOM

    def index(self, node: nodes.Index) -> Text:
        if self.kind(node.sequence) == "str":
            self.features |= {"char at"}
            return f"char_at({self.lent(node.sequence)}, {self.text(node.index)})", ATOM
        return f"{self.text(node.sequence, ATOM)}[{self.place(node.index)}]", ATOM

    def assign(self, node: nodes.Assign) -> None:
        match node.value:
            case nodes.Binary("+" | "-" | "*" as op, nodes.Var(name), right) if name == node.name:
                self.line(f"{name} {op}= {self.text(right)};")
            case _:
                self.line(f"{node.name} = {self.stored(node.value)};")

    def set_item(self, node: nodes.SetItem) -> None:
        place = self.place(node.index)
        if node.name in reads((node,)) and "(" in place:
            # The list may not be looked at while it is being changed.
            self.line(f"let slot = {place};")
            place = "slot"
        self.line(f"{node.name}[{place}] = {self.text(node.value)};")

    def place(self, index: nodes.Expression) -> str:
        if isinstance(index, nodes.Int):
            return self.text(index)
        return f"{self.text(index, ATOM)} as usize"

    def for_(self, node: nodes.For) -> None:
        start, stop = self.text(node.start, SUM), self.text(node.stop, SUM)
        self.line(f"for {node.var} in {start}..{stop} {{")
        self.block(node.body)
        self.line("}")

    def print_(self, node: nodes.Print) -> None:
        if self.kind(node.items[0]) == "list":
            self.features |= {"print list"}
            self.line(f'println!("{{}}", show({self.lent(node.items[0])}));')
            return
        places = " ".join("{}" for _ in node.items)
        self.line(f'println!("{places}", {self.args(node.items)});')
