"""Programs in Bash: 64-bit arithmetic between double parentheses, functions that set ``result``.

A function gets its lists as words: the items of its last parameter are the remaining words, those
of an earlier one follow their number. What arithmetic cannot say (calls, strings, a division of
more than variables) is written on lines before, and goes through a variable.
"""

from rlvr_envs.generators.programs.blocks import BlockWriter
from rlvr_envs.generators.programs.nodes import (
    EQUALITY,
    LOGIC,
    Append,
    Assign,
    Binary,
    Block,
    Bool,
    Call,
    Expression,
    For,
    Function,
    If,
    Index,
    Int,
    Length,
    Let,
    ListOf,
    Not,
    Print,
    Program,
    Return,
    SetItem,
    Statement,
    Str,
    Type,
    Var,
    While,
    children,
)
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, LEVELS, PRODUCT, SUM, Text

RESERVED = words("""
alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare
dirs disown do done echo elif else enable esac eval exec exit export false fc fg fi for function
getopts hash help history if in jobs kill let local logout mapfile popd printf pushd pwd read
readarray readonly result return select set shift shopt source suspend test then time times trap
true type typeset ulimit umask unalias unset until wait while
""")

_BY_HAND = ("//", "%", "min", "max")
_READ: dict[Type, str] = {"int": "read -r {}", "str": "IFS= read -r {}", "list": "read -r -a {}"}


def emit(program: Program) -> str:
    """Return the program in Bash."""
    return _Bash(program).program_text()


class _Bash(BlockWriter):
    operators = {  # noqa: RUF012 - declared a ClassVar by the base
        **{op: op for op in LEVELS if op not in ("//", "%", "concat")},
        "and": "&&",
        "or": "||",
    }
    if_line, elif_line, else_line, if_end = "if {}; then", "elif {}; then", "else", "fi"
    while_line, while_end = "while {}; do", "done"

    local = ""  # what declares a variable
    last: Statement | None = None  # the return that ends the function being written

    def program_text(self) -> str:
        self.line("#!/usr/bin/env bash")
        self.line()
        for function in self.program.functions:
            self.function(function)
        self.enter(None)
        self.local, self.last = "", None
        for name, kind in self.program.inputs:
            if kind == "list":
                self.line("read -r _ # the number of items")
            self.line(_READ[kind].format(name))
        for statement in self.program.body:
            self.statement(statement)
        return self.result()

    def function(self, function: Function) -> None:
        self.enter(function)
        self.local = "local "
        self.last = function.body[-1]
        self.line(f"{function.name}() {{")
        self.depth += 1
        self.parameters(function)
        self.depth -= 1
        self.block(function.body)
        self.line("}")
        self.line()

    def parameters(self, function: Function) -> None:
        last = len(function.params) - 1
        for place, (name, kind) in enumerate(function.params):
            if kind != "list":
                self.line(f"local {name}=$1; shift" if place < last else f"local {name}=$1")
            elif place < last:
                self.line(f'local -a {name}=("${{@:2:$1}}"); shift $(($1 + 1))')
            else:
                self.line(f'local -a {name}=("$@")')

    def block(self, body: Block) -> None:
        super().block(body)
        if not body:
            self.line(f"{self.indent}:")

    # Arithmetic: what stands between double parentheses. Strings never do.

    def bool_(self, node: Bool) -> Text:
        return str(int(node.value)), ATOM

    def binary(self, node: Binary) -> Text:
        if node.op in LOGIC and self.takes_lines(node.right):
            return self.branched(node), ATOM
        if node.op in EQUALITY and self.kind(node.left) == "str":
            test = self.compared(node)
            name = self.temporary("0")
            self.line(f"{test} && {name}=1")
            return name, ATOM
        return super().binary(node)

    def special(self, node: Binary) -> Text:
        a, b = self.atom(node.left), self.atom(node.right)
        if node.op in ("min", "max"):
            return f"({a} {'<' if node.op == 'min' else '>'} {b} ? {a} : {b})", ATOM
        # Bash rounds towards zero; the remainder with the sign of the divisor is the floor's.
        rest = f"({a} % {b} + {b}) % {b}"
        return (rest if node.op == "%" else f"({a} - {rest}) / {b}"), PRODUCT

    def branched(self, node: Binary) -> str:
        """Write lines that evaluate the second operand only if needed; return the variable."""
        name = self.temporary(self.value(node.left))
        self.line(f"if (( {name if node.op == 'and' else f'!{name}'} )); then")
        self.depth += 1
        if isinstance(node.right, Call):
            self.call_line(node.right)
            self.line(f"{name}=$result")
        else:
            self.line(f"{name}={self.value(node.right)}")
        self.depth -= 1
        self.line("fi")
        return name

    def atom(self, value: Expression) -> str:
        """Return the text of an operand that is written several times."""
        if is_atom(value):
            return self.text(value, ATOM)
        if isinstance(value, (Call, Length)):
            return self.text(value)  # a variable by now
        return self.temporary(self.value(value))

    def temporary(self, value: str) -> str:
        """Write a line that gives a new variable a value; return its name."""
        number = 1
        while f"part_{number}" in self.names:
            number += 1
        name = f"part_{number}"
        self.names[name] = "int"
        self.line(f"{self.local}{name}={value}")
        return name

    def call(self, node: Call) -> Text:
        self.call_line(node)
        return self.temporary('"$result"' if self.kind(node) == "str" else "$result"), ATOM

    def call_line(self, node: Call) -> None:
        """Write the line that calls a function, which sets ``result``."""
        given = [self.argument(arg, last=arg is node.args[-1]) for arg in node.args]
        self.line(" ".join((node.function, *given)))

    def argument(self, value: Expression, *, last: bool) -> str:
        if self.kind(value) != "list":
            text = self.value(value)
            return text if text.startswith('"') or "$" not in text else f'"{text}"'
        name = self.list_name(value)
        items = f'"${{{name}[@]}}"'
        return items if last else f'"${{#{name}[@]}}" {items}'

    def list_name(self, value: Expression) -> str:
        """Return the name of a variable with a list; the result of a call gets one."""
        if isinstance(value, Var):
            return value.name
        return self.temporary(self.items(value))

    def length(self, node: Length) -> Text:
        if self.kind(node.operand) == "list":
            return f"${{#{self.list_name(node.operand)}[@]}}", ATOM
        return f"${{#{self.string_name(node.operand)}}}", ATOM

    def index(self, node: Index) -> Text:
        if self.kind(node) == "str":
            return self.string_name(node), ATOM
        return f"{self.list_name(node.sequence)}[{self.text(node.index)}]", ATOM

    # Words: what stands after = or as an argument.

    def value(self, value: Expression) -> str:
        """Return a value that is no list as the right side of an assignment."""
        if self.kind(value) == "str":
            return f'"{self.inside(value)}"'
        text = self.text(value)
        match value:
            case Int() | Bool() | Length():
                return text
            case Index():
                return f"${{{text}}}"
        return f"${text}" if text.isidentifier() else f"$(({text}))"

    def inside(self, value: Expression) -> str:
        """Return what stands for a value between double quotes."""
        if self.kind(value) != "str":
            return self.value(value)
        match value:
            case Str(text):
                return "".join(f"\\{sign}" if sign in '\\"$`' else sign for sign in text)
            case Binary(_, left, right):
                return f"{self.inside(left)}{self.inside(right)}"
            case Index(sequence, at):
                place = self.text(at)
                blank = " " if place.startswith("-") else ""
                return f"${{{self.string_name(sequence)}:{blank}{place}:1}}"
        return f"${{{self.string_name(value)}}}"

    def string_name(self, value: Expression) -> str:
        """Return the name of a variable with a string."""
        match value:
            case Var(name):
                return name
            case Call():
                return self.text(value)
        return self.temporary(self.value(value))

    def items(self, value: Expression) -> str:
        """Return a list as the right side of an assignment."""
        match value:
            case ListOf(items):
                return f"({' '.join(self.value(item) for item in items)})"
            case Call():
                self.call_line(value)
                return '("${result[@]}")'
        return f'("${{{self.list_name(value)}[@]}}")'

    # Conditions: commands.

    def condition(self, value: Expression) -> str:
        """Return a command that succeeds if a condition holds."""
        if isinstance(value, Call):
            self.call_line(value)
            return "(( result ))"
        return self.command(value) if self.is_command(value) else f"(( {self.text(value)} ))"

    def command(self, value: Expression) -> str:
        """Return a condition that takes no lines as a command."""
        if not self.compares_strings(value):
            return f"(( {self.text(value)} ))"
        match value:
            case Not(inner):
                return f"! {{ {self.command(inner)}; }}"
            case Binary(op, left, right) if op in LOGIC:
                return f"{self.operand(left, op)} {self.operators[op]} {self.operand(right, op)}"
            case Binary():
                return self.compared(value)
        raise NotImplementedError(type(value))

    def operand(self, value: Expression, op: str) -> str:
        """Return one side of && or ||, which bind equally here."""
        text = self.command(value)
        mixed = isinstance(value, Binary) and value.op in LOGIC and value.op != op
        return f"{{ {text}; }}" if mixed and self.compares_strings(value) else text

    def compared(self, node: Binary) -> str:
        return f"[[ {self.value(node.left)} {node.op} {self.value(node.right)} ]]"

    def is_command(self, value: Expression) -> bool:
        """Return whether a condition takes no lines before it."""
        match value:
            case Not(inner):
                return self.is_command(inner)
            case Binary(op, left, right) if op in LOGIC:
                return self.is_command(left) and self.is_command(right)
            case Binary(op, left, right) if op in EQUALITY and self.kind(left) == "str":
                return not (self.takes_lines(left) or self.takes_lines(right))
        return not self.takes_lines(value)

    def compares_strings(self, value: Expression) -> bool:
        match value:
            case Not(inner):
                return self.compares_strings(inner)
            case Binary(op, left, right) if op in LOGIC:
                return self.compares_strings(left) or self.compares_strings(right)
            case Binary(op, left, _) if op in EQUALITY:
                return self.kind(left) == "str"
        return False

    def takes_lines(self, value: Expression) -> bool:
        """Return whether evaluating an expression takes lines before it."""
        match value:
            case Call():
                return True
            case Binary(op, left, right) if op in _BY_HAND:
                return not (is_atom(left) and is_atom(right))
            case Binary(op, left, _) if op in EQUALITY and self.kind(left) == "str":
                return True
            case Length(sequence) | Index(sequence, _) if not isinstance(sequence, Var):
                return True
        return any(map(self.takes_lines, children(value)))

    # Statements

    def let(self, node: Let) -> None:
        self.store(node, self.local)

    def assign(self, node: Assign) -> None:
        self.store(node, "")

    def store(self, node: Let | Assign, local: str) -> None:
        kind = self.names[node.name]
        if kind == "list":
            items = self.items(node.value)
            self.line(f"{local and 'local -a '}{node.name}={items}")
        elif isinstance(node.value, Call):
            self.call_line(node.value)
            self.line(f"{local}{node.name}=$result")
        else:
            value = self.value(node.value)
            self.line(f"{local}{node.name}={value}")

    def set_item(self, node: SetItem) -> None:
        at, value = self.text(node.index), self.value(node.value)
        self.line(f"{node.name}[{at}]={value}")

    def append(self, node: Append) -> None:
        self.line(f"{node.name}+=({self.value(node.value)})")

    def chains(self, inner: If) -> bool:
        return self.is_command(inner.condition)

    def while_(self, node: While) -> None:
        if self.is_command(node.condition):
            super().while_(node)
            return
        self.line("while true; do")
        self.depth += 1
        self.line(f"{self.condition(node.condition)} || break")
        self.depth -= 1
        self.block(node.body)
        self.line("done")

    def for_(self, node: For) -> None:
        start, stop = self.text(node.start), self.text(node.stop, SUM)
        if self.local:
            self.line(f"local {node.var}")
        self.line(f"for (( {node.var} = {start}; {node.var} < {stop}; {node.var}++ )); do")
        self.block(node.body)
        self.line("done")

    def return_(self, node: Return) -> None:
        if isinstance(node.value, Call):
            self.call_line(node.value)
        else:
            is_list = self.kind(node.value) == "list"
            value = self.items(node.value) if is_list else self.value(node.value)
            self.line(f"result={value}")
        if node is not self.last:
            self.line("return")

    def print_(self, node: Print) -> None:
        first = node.items[0]
        if self.kind(first) == "list":
            self.line(f'echo "${{{self.list_name(first)}[*]}}"')
            return
        text = " ".join(self.inside(item) for item in node.items)
        # echo would take a string such as -n for an option.
        plain = self.kind(first) == "int" or (isinstance(first, Str) and first.value[:1] != "-")
        echo = "echo" if plain else r"printf '%s\n'"
        self.line(f'{echo} "{text}"')


def is_atom(value: Expression) -> bool:
    """Return whether an operand is short enough to be written several times."""
    match value:
        case Var() | Int() | Length(Var()):
            return True
    return False
