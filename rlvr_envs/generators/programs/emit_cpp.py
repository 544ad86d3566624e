"""Programs in C++."""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.braces import Braces, is_wide, kinds, widened
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, SUM, UNARY, Text

RESERVED = words("""
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl concept
const consteval constexpr constinit continue default delete do double else enum explicit export
extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
nullptr operator or or_eq private protected public register requires return short signed sizeof
static struct switch template this throw true try typedef typeid typename union unsigned using
virtual void volatile wchar_t while xor xor_eq main std floor_div floor_mod read_line read_int
read_list print_list abs accumulate apply copy count distance div equal exchange exp fill find get
generate hypot index inplace_merge iota j0 j1 jn labs lower_bound max merge midpoint min move next
partition pow prev puts random read remove replace reverse rotate round search shift_left size sort
swap system time transform unique upper_bound write y0 y1 yn
""")

_TYPES: dict[nodes.Type, str] = {
    "int": "long long",
    "bool": "bool",
    "str": "std::string",
    "list": "std::vector<long long>",
}
_FLOOR_DIV = """
long long floor_div(long long a, long long b) {
    long long quotient = a / b;
    return a % b != 0 && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}
"""
_FLOOR_MOD = """
long long floor_mod(long long a, long long b) {
    long long rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
"""
_READ_LINE = """
std::string read_line() {
    std::string line;
    std::getline(std::cin, line);
    return line;
}
"""
_READ_INT = """
long long read_int() {
    return std::stoll(read_line());
}
"""
_READ_LIST = """
std::vector<long long> read_list() {
    std::vector<long long> items(read_int());
    std::istringstream line(read_line());
    for (long long &item : items) {
        line >> item;
    }
    return items;
}
"""
_PRINT_LIST = """
void print_list(const std::vector<long long> &items) {
    for (std::size_t i = 0; i < items.size(); i++) {
        std::cout << (i ? " " : "") << items[i];
    }
    std::cout << '\\n';
}
"""


def emit(program: nodes.Program) -> str:
    """Return the program in C++."""
    return _Cpp(program).program_text()


class _Cpp(Braces):
    functions = {  # noqa: RUF012 - declared a ClassVar by the base
        "//": "floor_div",
        "%": "floor_mod",
        "min": "std::min<long long>",
        "max": "std::max<long long>",
    }
    prelude = (
        (frozenset({"//"}), _FLOOR_DIV),
        (frozenset({"%"}), _FLOOR_MOD),
        (frozenset({"read int", "read list", "read str"}), _READ_LINE),
        (frozenset({"read int", "read list"}), _READ_INT),
        (frozenset({"read list"}), _READ_LIST),
        (frozenset({"print list"}), _PRINT_LIST),
    )
    append_form = "{}.push_back({});"
    set_form = "{}[{}] = {};"
    list_form = "{{{}}}"

    def program_text(self) -> str:
        self.features |= kinds(self.program)
        for function in self.program.functions:
            self.function(function)
        self.enter(None)
        self.line("int main() {")
        self.depth += 1
        for name, kind in self.program.inputs:
            read = {"int": "read_int()", "str": "read_line()", "list": "read_list()"}[kind]
            self.line(f"{_TYPES[kind]} {name} = {read};")
        self.depth -= 1
        self.block(self.program.body)
        self.line("}")
        head = "".join(f"#include <{name}>\n" for name in self.headers())
        return f"{head}\n{self.helpers()}{self.result()}"

    def headers(self) -> list[str]:
        lists = {"ListOf", "list"} & self.features
        names = {"iostream", "string"} | ({"vector", "sstream"} if lists else set())
        return sorted(names | ({"algorithm"} if {"min", "max"} & self.features else set()))

    def function(self, function: nodes.Function) -> None:
        self.enter(function)
        params = ", ".join(
            f"const {_TYPES[kind]} &{name}" if kind in ("list", "str") else f"{_TYPES[kind]} {name}"
            for name, kind in function.params
        )
        self.line(f"{_TYPES[function.returns]} {function.name}({params}) {{")
        self.block(function.body)
        self.line("}")
        self.line()

    def declared(self, kind: nodes.Type, name: str) -> str:
        return f"{_TYPES[kind]} {name}"

    def int_(self, node: nodes.Int) -> Text:
        text, level = super().int_(node)
        return (f"{text}LL" if is_wide(node) else text), level

    def binary(self, node: nodes.Binary) -> Text:
        return super().binary(widened(node))

    def special(self, node: nodes.Binary) -> Text:
        if node.op != "concat":
            return super().special(node)
        left = f"std::string({self.text(node.left)})" if isinstance(node.left, nodes.Str) else None
        sides = left or self.text(node.left, UNARY), self.text(node.right, UNARY)
        return " + ".join(sides), SUM

    def length(self, node: nodes.Length) -> Text:
        operand = self.text(node.operand, ATOM)
        if isinstance(node.operand, nodes.Str):
            return str(len(node.operand.value)), ATOM
        return f"(long long){operand}.size()", UNARY

    def index(self, node: nodes.Index) -> Text:
        item = f"{self.text(node.sequence, ATOM)}[{self.text(node.index)}]"
        is_text = self.kind(node.sequence) == "str"
        return (f"std::string(1, {item})" if is_text else item), ATOM

    def print_(self, node: nodes.Print) -> None:
        if self.kind(node.items[0]) == "list":
            self.features |= {"print list"}
            self.line(f"print_list({self.text(node.items[0])});")
            return
        items = " << ' ' << ".join(self.text(item, SUM) for item in node.items)
        self.line(f"std::cout << {items} << '\\n';")
