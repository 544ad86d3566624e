"""Programs in Bash: 64-bit arithmetic between double parentheses, functions that set ``result``.

A function gets its lists as words: the items of its last parameter are the remaining words, those
of an earlier one follow their number. What arithmetic cannot say (calls, strings, a division of
more than variables) is written on lines before, and goes through a variable.
"""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.blocks import BlockWriter
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
_READ: dict[nodes.Type, str] = {
    "int": "read -r {}",
    "str": "IFS= read -r {}",
    "list": "read -r -a {}",
}


def emit(program: nodes.Program) -> str:
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
    last: nodes.Statement | None = None  # the return that ends the function being written

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

    def function(self, function: nodes.Function) -> None:
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

    def parameters(self, function: nodes.Function) -> None:
        last = len(function.params) - 1
        for place, (name, kind) in enumerate(function.params):
            if kind != "list":
                self.line(f"local {name}=$1; shift" if place < last else f"local {name}=$1")
            elif place < last:
                self.line(f'local -a {name}=("${{@:2:$1}}"); shift $(($1 + 1))')
            else:
                self.line(f'local -a {name}=("$@")')

    def block(self, body: nodes.Block) -> None:
        super().block(body)
        if not body:
            self.line(f"{self.indent}:")

    # Arithmetic: what stands between double parentheses. Strings never do.

    def bool_(self, node: nodes.Bool) -> Text:
        return str(int(node.value)), ATOM

    def binary(self, node: nodes.Binary) -> Text:
        if node.op in nodes.LOGIC and self.takes_lines(node.right):
            return self.branched(node), ATOM
        if node.op in nodes.EQUALITY and self.kind(node.left) == "str":
            test = self.compared(node)
            name = self.temporary("0")
            self.line(f"{test} && {name}=1")
            return name, ATOM
        return super().binary(node)

    def special(self, node: nodes.Binary) -> Text:
        a, b = self.atom(node.left), self.atom(node.right)
        if node.op in ("min", "max"):
            return f"({a} {'<' if node.op == 'min' else '>'} {b} ? {a} : {b})", ATOM
        # Bash rounds towards zero; the remainder with the sign of the divisor is the floor's.
        rest = f"({a} % {b} + {b}) % {b}"
        return (rest if node.op == "%" else f"({a} - {rest}) / {b}"), PRODUCT

    def branched(self, node: nodes.Binary) -> str:
        """Write lines that evaluate the second operand only if needed; return the variable."""
        name = self.temporary(self.value(node.left))
        self.line(f"if (( {name if node.op == 'and' else f'!{name}'} )); then")
        self.depth += 1
        if isinstance(node.right, nodes.Call):
            self.call_line(node.right)
            self.line(f"{name}=$result")
        else:
            self.line(f"{name}={self.value(node.right)}")
        self.depth -= 1
        self.line("fi")
        return name

    def atom(self, value: nodes.Expression) -> str:
        """Return the text of an operand that is written several times."""
        if is_atom(value):
            return self.text(value, ATOM)
        if isinstance(value, (nodes.Call, nodes.Length)):
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

    def call(self, node: nodes.Call) -> Text:
        self.call_line(node)
        return self.temporary('"$result"' if self.kind(node) == "str" else "$result"), ATOM

    def call_line(self, node: nodes.Call) -> None:
        """Write the line that calls a function, which sets ``result``."""
        given = [self.argument(arg, last=arg is node.args[-1]) for arg in node.args]
        self.line(" ".join((node.function, *given)))

    def argument(self, value: nodes.Expression, *, last: bool) -> str:
        if self.kind(value) != "list":
            text = self.value(value)
            return text if text.startswith('"') or "$" not in text else f'"{text}"'
        name = self.list_name(value)
        items = f'"${{{name}[@]}}"'
        return items if last else f'"${{#{name}[@]}}" {items}'

    def list_name(self, value: nodes.Expression) -> str:
        """Return the name of a variable with a list; the result of a call gets one."""
        if isinstance(value, nodes.Var):
            return value.name
        return self.temporary(self.items(value))

    def length(self, node: nodes.Length) -> Text:
        if self.kind(node.operand) == "list":
            return f"${{#{self.list_name(node.operand)}[@]}}", ATOM
        return f"${{#{self.string_name(node.operand)}}}", ATOM

    def index(self, node: nodes.Index) -> Text:
        if self.kind(node) == "str":
            return self.string_name(node), ATOM
        return f"{self.list_name(node.sequence)}[{self.text(node.index)}]", ATOM

    # Words: what stands after = or as an argument.

    def value(self, value: nodes.Expression) -> str:
        """Return a value that is no list as the right side of an assignment."""
        if self.kind(value) == "str":
            return f'"{self.inside(value)}"'
        text = self.text(value)
        match value:
            case nodes.Int() | nodes.Bool() | nodes.Length():
                return text
            case nodes.Index():
                return f"${{{text}}}"
        return f"${text}" if text.isidentifier() else f"$(({text}))"

    def inside(self, value: nodes.Expression) -> str:
        """Return what stands for a value between double quotes."""
        if self.kind(value) != "str":
            return self.value(value)
        match value:
            case nodes.Str(text):
                return "".join(f"\\{sign}" if sign in '\\"$`' else sign for sign in text)
            case nodes.Binary(_, left, right):
                return f"{self.inside(left)}{self.inside(right)}"
            case nodes.Index(sequence, at):
                place = self.text(at)
                blank = " " if place.startswith("-") else ""
                return f"${{{self.string_name(sequence)}:{blank}{place}:1}}"
        return f"${{{self.string_name(value)}}}"

    def string_name(self, value: nodes.Expression) -> str:
        """Return the name of a variable with a string."""
        match value:
            case nodes.Var(name):
                return name
            case nodes.Call():
                return self.text(value)
        return self.temporary(self.value(value))

    def items(self, value: nodes.Expression) -> str:
        """Return a list as the right side of an assignment."""
        match value:
            case nodes.ListOf(items):
                return f"({' '.join(self.value(item) for item in items)})"
            case nodes.Call():
                self.call_line(value)
                return '("${result[@]}")'
        return f'("${{{self.list_name(value)}[@]}}")'

    # Conditions: commands.

    def condition(self, value: nodes.Expression) -> str:
        """Return a command that succeeds if a condition holds."""
        if isinstance(value, nodes.Call):
            self.call_line(value)
            return "(( result ))"
        return self.command(value) if self.is_command(value) else f"(( {self.text(value)} ))"

    def command(self, value: nodes.Expression) -> str:
        """Return a condition that takes no lines as a command."""
        if not self.compares_strings(value):
            return f"(( {self.text(value)} ))"
        match value:
            case nodes.Not(inner):
                return f"! {{ {self.command(inner)}; }}"
            case nodes.Binary(op, left, right) if op in nodes.LOGIC:
                return f"{self.operand(left, op)} {self.operators[op]} {self.operand(right, op)}"
            case nodes.Binary():
                return self.compared(value)
        raise NotImplementedError(type(value))

    def operand(self, value: nodes.Expression, op: str) -> str:
        """Return one side of && or ||, which bind equally here."""
        text = self.command(value)
        mixed = isinstance(value, nodes.Binary) and value.op in nodes.LOGIC and value.op != op
        return f"{{ {text}; }}" if mixed and self.compares_strings(value) else text

    def compared(self, node: nodes.Binary) -> str:
        return f"[[ {self.value(node.left)} {node.op} {self.value(node.right)} ]]"

    def is_command(self, value: nodes.Expression) -> bool:
        """Return whether a condition takes no lines before it."""
        match value:
            case nodes.Not(inner):
                return self.is_command(inner)
            case nodes.Binary(op, left, right) if op in nodes.LOGIC:
                return self.is_command(left) and self.is_command(right)
            case nodes.Binary(op, left, right) if op in nodes.EQUALITY and self.kind(left) == "str":
                return not (self.takes_lines(left) or self.takes_lines(right))
        return not self.takes_lines(value)

    def compares_strings(self, value: nodes.Expression) -> bool:
        match value:
            case nodes.Not(inner):
                return self.compares_strings(inner)
            case nodes.Binary(op, left, right) if op in nodes.LOGIC:
                return self.compares_strings(left) or self.compares_strings(right)
            case nodes.Binary(op, left, _) if op in nodes.EQUALITY:
                return self.kind(left) == "str"
        return False

    def takes_lines(self, value: nodes.Expression) -> bool:
        """Return whether evaluating an expression takes lines before it."""
        match value:
            case nodes.Call():
                return True
            case nodes.Binary(op, left, right) if op in _BY_HAND:
                return not (is_atom(left) and is_atom(right))
            case nodes.Binary(op, left, _) if op in nodes.EQUALITY and self.kind(left) == "str":
                return True
            case nodes.Length(sequence) | nodes.Index(sequence, _) if not isinstance(
                sequence, nodes.Var
            ):
                return True
        return any(map(self.takes_lines, nodes.children(value)))

    # Statements

    def let(self, node: nodes.Let) -> None:
        self.store(node, self.local)

    def assign(self, node: nodes.Assign) -> None:
        self.store(node, "")

    def store(self, node: nodes.Let | nodes.Assign, local: str) -> None:
        kind = self.names[node.name]
        if kind == "list":
            items = self.items(node.value)
            self.line(f"{local and 'local -a '}{node.name}={items}")
        elif isinstance(node.value, nodes.Call):
            self.call_line(node.value)
            self.line(f"{local}{node.name}=$result")
        else:
            value = self.value(node.value)
            self.line(f"{local}{node.name}={value}")

    def set_item(self, node: nodes.SetItem) -> None:
        at, value = self.text(node.index), self.value(node.value)
        self.line(f"{node.name}[{at}]={value}")

    def append(self, node: nodes.Append) -> None:
        self.line(f"{node.name}+=({self.value(node.value)})")

    def chains(self, inner: nodes.If) -> bool:
        return self.is_command(inner.condition)

    def while_(self, node: nodes.While) -> None:
        if self.is_command(node.condition):
            super().while_(node)
            return
        self.line("while true; do")
        self.depth += 1
        self.line(f"{self.condition(node.condition)} || break")
        self.depth -= 1
        self.block(node.body)
        self.line("done")

    def for_(self, node: nodes.For) -> None:
        start, stop = self.text(node.start), self.text(node.stop, SUM)
        if self.local:
            self.line(f"local {node.var}")
        self.line(f"for (( {node.var} = {start}; {node.var} < {stop}; {node.var}++ )); do")
        self.block(node.body)
        self.line("done")

    def return_(self, node: nodes.Return) -> None:
        if isinstance(node.value, nodes.Call):
            self.call_line(node.value)
        else:
            is_list = self.kind(node.value) == "list"
            value = self.items(node.value) if is_list else self.value(node.value)
            self.line(f"result={value}")
        if node is not self.last:
            self.line("return")

    def print_(self, node: nodes.Print) -> None:
        first = node.items[0]
        if self.kind(first) == "list":
            self.line(f'echo "${{{self.list_name(first)}[*]}}"')
            return
        text = " ".join(self.inside(item) for item in node.items)
        # echo would take a string such as -n for an option.
        plain = self.kind(first) == "int" or (
            isinstance(first, nodes.Str) and first.value[:1] != "-"
        )
        echo = "echo" if plain else r"printf '%s\n'"
        self.line(f'{echo} "{text}"')


def is_atom(value: nodes.Expression) -> bool:
    """Return whether an operand is short enough to be written several times."""
    match value:
        case nodes.Var() | nodes.Int() | nodes.Length(nodes.Var()):
            return True
    return False
