"""Programs in Fortran 2008: 64-bit integers, allocatable arrays and strings, functions inside.

``.and.`` and ``.or.`` may evaluate both sides. Where the second must not be evaluated unless it is
needed (it indexes, divides or calls), the result goes through a variable and a branch.
"""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.blocks import BlockWriter, after, before
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, COMPARISON, LEVELS, NOT, OR, UNARY, Text

BOUNDS_ONCE = True
RESERVED = words("""
abs all allocate allocated any associate block call case char character class close common contains
count cycle data deallocate do elemental else elseif end enddo endif entry exit external forall
format function goto if iachar ichar implicit index inquire int integer intent interface intrinsic
len length logical main max maxval min minval mod modulo module none null open parameter pointer
print procedure product program pure read real recursive repeat result return reverse rewind save
scan select shape sign size stop subroutine sum target then trim type use verify where while write
answer char_at floor_div long n_items read_line same_text
""")

_DECLARED: dict[nodes.Type, str] = {
    "int": "integer(long) :: {}",
    "bool": "logical :: {}",
    "str": "character(len=:), allocatable :: {}",
    "list": "integer(long), allocatable :: {}(:)",
}
_GIVEN: dict[nodes.Type, str] = {
    "int": "integer(long), intent(in) :: {}",
    "bool": "logical, intent(in) :: {}",
    "str": "character(len=*), intent(in) :: {}",
    "list": "integer(long), intent(in) :: {}(:)",
}
_MIXED = ("+", "-", "*", "<", "<=", ">", ">=", "==", "!=")  # take integers of different kinds
_DEFAULT_KIND = 2**31

_FLOOR_DIV = """
function floor_div(a, b) result(quotient)
  integer(long), intent(in) :: a, b
  integer(long) :: quotient
  quotient = (a - modulo(a, b)) / b
end function floor_div
"""
_SAME_TEXT = """
! The operator == would ignore trailing blanks.
function same_text(a, b) result(same)
  character(len=*), intent(in) :: a, b
  logical :: same
  same = len(a) == len(b) .and. a == b
end function same_text
"""
_CHAR_AT = """
function char_at(text, place) result(found)
  character(len=*), intent(in) :: text
  integer(long), intent(in) :: place
  character(len=1) :: found
  found = text(place + 1:place + 1)
end function char_at
"""
_READ_LINE = """
subroutine read_line(line)
  character(len=:), allocatable, intent(out) :: line
  character(len=256) :: chunk
  integer :: filled, status
  line = ""
  do
    read (*, "(a)", advance="no", size=filled, iostat=status) chunk
    line = line // chunk(:filled)
    if (status /= 0) exit
  end do
end subroutine read_line
"""


def emit(program: nodes.Program) -> str:
    """Return the program in Fortran."""
    return _Fortran(program).program_text()


class _Fortran(BlockWriter):
    indent = "  "
    operators = {  # noqa: RUF012 - declared a ClassVar by the base
        **{op: op for op in LEVELS if op not in ("//", "%")},
        "!=": "/=",
        "and": ".and.",
        "or": ".or.",
        "concat": "//",
    }
    if_line, elif_line, else_line, if_end = "if ({}) then", "else if ({}) then", "else", "end if"
    while_line, while_end = "do while ({})", "end do"
    append_form = "{0} = [{0}, {1}]"

    def program_text(self) -> str:
        self.used: set[str] = set()
        self.line("program main")
        self.line("  implicit none")
        self.line("  integer, parameter :: long = selected_int_kind(18)")
        self.enter(None)
        inputs = dict(self.program.inputs)
        extra = ["integer :: n_items"] if "list" in inputs.values() else []
        body = self.body(self.program.body, read=inputs)
        for declaration in (*self.declarations(set()), *extra):
            self.line(f"  {declaration}")
        self.line()
        self.lines += body
        functions = self.functions()
        if functions:
            self.line("contains")
            self.lines += functions
        self.line("end program main")
        return self.result()

    def functions(self) -> list[str]:
        """Return the lines of all functions, those that the program needs from here included."""
        kept, self.lines = self.lines, []
        for function in self.program.functions:
            self.function(function)
        for name, text in _PRELUDE.items():
            if name in self.used:
                self.line()
                self.lines += [f"  {line}" for line in text.strip("\n").splitlines()]
        kept, self.lines = self.lines, kept
        return kept

    def function(self, function: nodes.Function) -> None:
        self.enter(function)
        self.depth = 1
        params = ", ".join(name for name, _ in function.params)
        self.line()
        self.line(f"recursive function {function.name}({params}) result(answer)")
        for name, kind in function.params:
            self.line(f"  {_GIVEN[kind].format(name)}")
        self.line(f"  {_DECLARED[function.returns].format('answer')}")
        self.last = function.body[-1]
        body = self.body(function.body)
        for declaration in self.declarations({name for name, _ in function.params}):
            self.line(f"  {declaration}")
        self.lines += body
        self.line(f"end function {function.name}")
        self.depth = 0

    def declarations(self, given: set[str]) -> list[str]:
        """Return the declarations of the variables but for those given, one for each type."""
        found = []
        for kind, form in _DECLARED.items():
            names = [name for name, own in self.names.items() if own == kind and name not in given]
            if names:
                found.append(form.format(f"{'(:), ' if kind == 'list' else ', '}".join(names)))
        return found

    def body(self, body: nodes.Block, read: dict[str, nodes.Type] | None = None) -> list[str]:
        """Return the lines of a body; the variables it needs for conditions join the others."""
        kept, self.lines = self.lines, []
        self.depth += 1
        for name, kind in (read or {}).items():
            self.read(name, kind)
        self.depth -= 1
        self.block(body)
        kept, self.lines = self.lines, kept
        return kept

    def read(self, name: str, kind: nodes.Type) -> None:
        if kind == "str":
            self.used.add("read_line")
            self.line(f"call read_line({name})")
            return
        if kind == "list":
            self.line("read *, n_items")
            self.line(f"allocate ({name}(n_items))")
        self.line(f"read *, {name}")

    # Expressions

    def loose(self, value: nodes.Expression, level: int = OR) -> str:
        """Return the text of a value where an integer of any kind will do."""
        small = isinstance(value, nodes.Int) and 0 <= value.value < _DEFAULT_KIND
        return (
            str(value.value) if small and isinstance(value, nodes.Int) else self.text(value, level)
        )

    def int_(self, node: nodes.Int) -> Text:
        text = f"{node.value}_long"
        return text if node.value >= 0 else f"({text})", ATOM

    def bool_(self, node: nodes.Bool) -> Text:
        return f".{str(node.value).lower()}.", ATOM

    def str_(self, node: nodes.Str) -> Text:
        doubled = node.value.replace('"', '""')
        return f'"{doubled}"', ATOM

    def not_(self, node: nodes.Not) -> Text:
        return f".not. {self.text(node.operand, NOT + 1)}", NOT

    def neg(self, node: nodes.Neg) -> Text:
        return f"(-{self.text(node.operand, ATOM)})", ATOM

    def binary(self, node: nodes.Binary) -> Text:
        if node.op in nodes.LOGIC and guarded(node.right):
            return self.branched(node), ATOM
        if node.op in ("==", "!=") and self.kind(node.left) == "str":
            return self.compared(node)
        if node.op in _MIXED and not (
            isinstance(node.left, nodes.Int) and isinstance(node.right, nodes.Int)
        ):
            level = LEVELS[node.op]
            low = level + 1 if level == COMPARISON else level
            left, right = self.loose(node.left, low), self.loose(node.right, level + 1)
            return f"{left} {self.operators[node.op]} {right}", level
        return super().binary(node)

    def special(self, node: nodes.Binary) -> Text:
        name = {"//": "floor_div", "%": "modulo"}.get(node.op, node.op)
        self.used.add(name)
        return f"{name}({self.text(node.left)}, {self.text(node.right)})", ATOM

    def compared(self, node: nodes.Binary) -> Text:
        left, right = self.text(node.left, UNARY), self.text(node.right, UNARY)
        if _is_character(node.left) and _is_character(node.right):
            return f"{left} {self.operators[node.op]} {right}", COMPARISON
        self.used.add("same_text")
        text = f"same_text({self.text(node.left)}, {self.text(node.right)})"
        return (text, ATOM) if node.op == "==" else (f".not. {text}", NOT)

    def branched(self, node: nodes.Binary) -> str:
        """Write lines that evaluate the second operand only if needed; return the variable."""
        name = self.fresh()
        self.line(f"{name} = {self.text(node.left)}")
        self.line(f"if ({name if node.op == 'and' else f'.not. {name}'}) then")
        self.depth += 1
        self.line(f"{name} = {self.text(node.right)}")
        self.depth -= 1
        self.line("end if")
        return name

    def fresh(self) -> str:
        """Return a new logical variable."""
        number = 1
        while f"holds_{number}" in self.names:
            number += 1
        self.names[f"holds_{number}"] = "bool"
        return f"holds_{number}"

    def length(self, node: nodes.Length) -> Text:
        name = "len" if self.kind(node.operand) == "str" else "size"
        return f"{name}({self.text(node.operand)}, kind=long)", ATOM

    def index(self, node: nodes.Index) -> Text:
        text, at = self.text(node.sequence), after(self, node.index)
        if self.kind(node.sequence) == "list":
            return f"{text}({at})", ATOM
        if isinstance(node.sequence, nodes.Var) and not _calls(node.index):
            return f"{text}({at}:{at})", ATOM
        self.used.add("char_at")
        return f"char_at({text}, {self.text(node.index)})", ATOM

    def list_of(self, node: nodes.ListOf) -> Text:
        items = ", ".join(self.loose(item) for item in node.items)
        return f"[integer(long) :: {items}]".replace(" ]", "]"), ATOM

    # Statements

    def let(self, node: nodes.Let) -> None:
        self.line(f"{node.name} = {self.loose(node.value)}")

    def assign(self, node: nodes.Assign) -> None:
        self.line(f"{node.name} = {self.loose(node.value)}")

    def set_item(self, node: nodes.SetItem) -> None:
        self.line(f"{node.name}({after(self, node.index)}) = {self.loose(node.value)}")

    def chains(self, inner: nodes.If) -> bool:
        return not branches(inner.condition)

    def while_(self, node: nodes.While) -> None:
        if not branches(node.condition):
            super().while_(node)
            return
        self.line("do")
        self.depth += 1
        self.line(f"if (.not. {self.text(node.condition, NOT + 1)}) exit")
        self.depth -= 1
        self.block(node.body)
        self.line("end do")

    def for_(self, node: nodes.For) -> None:
        self.line(f"do {node.var} = {self.loose(node.start)}, {before(self, node.stop)}")
        self.block(node.body)
        self.line("end do")

    def return_(self, node: nodes.Return) -> None:
        self.line(f"answer = {self.loose(node.value)}")
        if node is not self.last:
            self.line("return")

    def print_(self, node: nodes.Print) -> None:
        kinds = [self.kind(item) for item in node.items]
        form = ", 1x, ".join("a" if kind == "str" else "i0" for kind in kinds)
        if kinds[0] == "list":
            form = "*(i0, :, 1x)"
        self.line(f'print "({form})", {self.args(node.items)}')


_PRELUDE = {
    "floor_div": _FLOOR_DIV,
    "same_text": _SAME_TEXT,
    "char_at": _CHAR_AT,
    "read_line": _READ_LINE,
}


def guarded(value: nodes.Expression) -> bool:
    """Return whether an operand of ``and`` or ``or`` must not be evaluated in vain."""
    risky = isinstance(value, (nodes.Index, nodes.Call)) or (
        isinstance(value, nodes.Binary) and value.op in ("//", "%")
    )
    return risky or any(map(guarded, nodes.children(value)))


def branches(value: nodes.Expression) -> bool:
    """Return whether evaluating an expression takes lines of their own."""
    own = isinstance(value, nodes.Binary) and value.op in nodes.LOGIC and guarded(value.right)
    return own or any(map(branches, nodes.children(value)))


def _calls(value: nodes.Expression) -> bool:
    return isinstance(value, nodes.Call) or any(map(_calls, nodes.children(value)))


def _is_character(value: nodes.Expression) -> bool:
    return isinstance(value, nodes.Index) or (
        isinstance(value, nodes.Str) and len(value.value) == 1
    )
