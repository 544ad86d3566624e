"""Programs in C."""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.braces import Braces, is_wide, kinds, widened
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, COMPARISON, UNARY, Text

RESERVED = words("""
asm auto bool break case char const continue default do double else enum extern false float for goto
if inline int long main register restrict return short signed sizeof static struct switch true
typedef typeof union unsigned void volatile while floor_div floor_mod min_of max_of list_of
list_copy push read_line read_int read_list print_list char_at concat abs abort atoi calloc ceil
clock cos div exit exp fabs fill floor fmax fmin fmod free gamma getc getline gets hypot index j0 j1
jn labs ldiv log logb malloc mblen memchr memcmp memcpy memset pow printf putc puts qsort rand read
realloc remove rename rewind rindex round scanf sin sqrt srand stderr stdin stdout strcmp strlen
strtol system tan time toupper trunc unlink write y0 y1 yn
""")

_TYPES: dict[nodes.Type, str] = {
    "int": "long long",
    "bool": "bool",
    "str": "const char *",
    "list": "List",
}
_LIST = """
typedef struct {
    long long *items;
    long long length, capacity;
} List;

void push(List *list, long long item) {
    if (list->length == list->capacity) {
        list->capacity = 2 * list->capacity + 4;
        list->items = realloc(list->items, list->capacity * sizeof(long long));
    }
    list->items[list->length++] = item;
}
"""
_LIST_OF = """
List list_of(long long length, const long long *items) {
    List result = {NULL, 0, 0};
    for (long long i = 0; i < length; i++) {
        push(&result, items[i]);
    }
    return result;
}
"""
_COPY = """
List list_copy(List list) {
    List result = {malloc((list.length + 1) * sizeof(long long)), list.length, list.length + 1};
    memcpy(result.items, list.items, list.length * sizeof(long long));
    return result;
}
"""
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
_MIN = """
long long min_of(long long a, long long b) {
    return a < b ? a : b;
}
"""
_MAX = """
long long max_of(long long a, long long b) {
    return a > b ? a : b;
}
"""
_CHAR_AT = """
const char *char_at(const char *text, long long index) {
    static char pieces[256][2];
    unsigned char character = text[index];
    pieces[character][0] = character;
    return pieces[character];
}
"""
_CONCAT = """
const char *concat(const char *first, const char *second) {
    size_t length = strlen(first);
    char *result = malloc(length + strlen(second) + 1);
    strcpy(result, first);
    strcpy(result + length, second);
    return result;
}
"""
_READ_LINE = """
char *read_line(void) {
    char *line = NULL;
    size_t size = 0;
    ssize_t length = getline(&line, &size, stdin);
    if (length > 0 && line[length - 1] == '\\n') {
        line[length - 1] = '\\0';
    }
    return line;
}
"""
_READ_INT = """
long long read_int(void) {
    return strtoll(read_line(), NULL, 10);
}
"""
_READ_LIST = """
List read_list(void) {
    List list = {NULL, 0, 0};
    long long length = read_int();
    char *rest = read_line();
    for (long long i = 0; i < length; i++) {
        push(&list, strtoll(rest, &rest, 10));
    }
    return list;
}
"""
_PRINT_LIST = """
void print_list(List list) {
    for (long long i = 0; i < list.length; i++) {
        printf(i ? " %lld" : "%lld", list.items[i]);
    }
    printf("\\n");
}
"""


def emit(program: nodes.Program) -> str:
    """Return the program in C."""
    return _C(program).program_text()


class _C(Braces):
    functions = {  # noqa: RUF012 - declared a ClassVar by the base
        "//": "floor_div",
        "%": "floor_mod",
        "min": "min_of",
        "max": "max_of",
        "concat": "concat",
    }
    prelude = (
        (frozenset({"ListOf", "list"}), _LIST),
        (frozenset({"ListOf"}), _LIST_OF),
        (frozenset({"copy"}), _COPY),
        (frozenset({"//"}), _FLOOR_DIV),
        (frozenset({"%"}), _FLOOR_MOD),
        (frozenset({"min"}), _MIN),
        (frozenset({"max"}), _MAX),
        (frozenset({"char at"}), _CHAR_AT),
        (frozenset({"concat"}), _CONCAT),
        (frozenset({"read int", "read list", "read str"}), _READ_LINE),
        (frozenset({"read int", "read list"}), _READ_INT),
        (frozenset({"read list"}), _READ_LIST),
        (frozenset({"print list"}), _PRINT_LIST),
    )
    append_form = "push(&{}, {});"
    set_form = "{}.items[{}] = {};"

    def program_text(self) -> str:
        self.features |= kinds(self.program)
        heads = [self.head(function) for function in self.program.functions]
        self.lines += [f"{head};" for head in heads] + ([""] if heads else [])
        for function, head in zip(self.program.functions, heads, strict=True):
            self.enter(function)
            self.line(f"{head} {{")
            self.block(function.body)
            self.line("}")
            self.line()
        self.enter(None)
        self.line("int main(void) {")
        self.depth += 1
        for name, kind in self.program.inputs:
            read = {"int": "read_int()", "str": "read_line()", "list": "read_list()"}[kind]
            self.line(f"{self.declared(kind, name)} = {read};")
        self.depth -= 1
        self.block(self.program.body)
        self.line("}")
        names = ("stdbool", "stdio", "stdlib", "string")
        headers = "".join(f"#include <{name}.h>\n" for name in names)
        return f"#define _GNU_SOURCE\n{headers}\n{self.helpers()}{self.result()}"

    def head(self, function: nodes.Function) -> str:
        params = ", ".join(self.declared(kind, name) for name, kind in function.params)
        return f"{self.declared(function.returns, function.name)}({params or 'void'})"

    def declared(self, kind: nodes.Type, name: str) -> str:
        return f"{_TYPES[kind]}{'' if kind == 'str' else ' '}{name}"

    def copied(self, text: str) -> str:
        self.features |= {"copy"}
        return f"list_copy({text})"

    def int_(self, node: nodes.Int) -> Text:
        text, level = super().int_(node)
        return (f"{text}LL" if is_wide(node) else text), level

    def binary(self, node: nodes.Binary) -> Text:
        if node.op in ("==", "!=") and self.kind(node.left) == "str":
            sides = self.args((node.left, node.right))
            return f"strcmp({sides}) {node.op} 0", COMPARISON
        return super().binary(widened(node))

    def length(self, node: nodes.Length) -> Text:
        if isinstance(node.operand, nodes.Str):
            return str(len(node.operand.value)), ATOM
        if self.kind(node.operand) == "str":
            return f"(long long)strlen({self.text(node.operand)})", UNARY
        return f"{self.text(node.operand, ATOM)}.length", ATOM

    def index(self, node: nodes.Index) -> Text:
        if self.kind(node.sequence) == "str":
            self.features |= {"char at"}
            return f"char_at({self.args((node.sequence, node.index))})", ATOM
        return f"{self.text(node.sequence, ATOM)}.items[{self.text(node.index)}]", ATOM

    def list_of(self, node: nodes.ListOf) -> Text:
        if not node.items:
            return "list_of(0, NULL)", ATOM
        return f"list_of({len(node.items)}, (long long[]){{{self.args(node.items)}}})", ATOM

    def print_(self, node: nodes.Print) -> None:
        if self.kind(node.items[0]) == "list":
            self.features |= {"print list"}
            self.line(f"print_list({self.text(node.items[0])});")
            return
        places = " ".join("%s" if self.kind(item) == "str" else "%lld" for item in node.items)
        items = ", ".join(self.printed(item) for item in node.items)
        self.line(f'printf("{places}\\n", {items});')

    def printed(self, item: nodes.Expression) -> str:
        """Return an argument of printf: a literal alone would be an int."""
        if isinstance(item, nodes.Int) or (
            isinstance(item, nodes.Length) and isinstance(item.operand, nodes.Str)
        ):
            return f"(long long){self.text(item, UNARY)}"
        return self.text(item)
