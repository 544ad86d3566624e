"""Programs in Perl 5: 64-bit integers, lists behind references, floors by hand."""

from rlvr_envs.generators.programs import nodes
from rlvr_envs.generators.programs.blocks import BlockWriter, before
from rlvr_envs.generators.programs.check import walk_expressions
from rlvr_envs.generators.programs.rename import words
from rlvr_envs.generators.programs.writer import ATOM, Text

BOUNDS_ONCE = True
# Variables have a sigil, so these matter to functions only.
RESERVED = words("""
abs accept and atan2 bind bless chdir chmod chomp chop chr chroot close cmp connect continue cos
crypt default defined delete die do dump each else elsif eof eq eval exec exists exit exp fc
fileno for foreach fork format formline ge getc given glob goto grep gt hex if import index int
ioctl join keys kill last lc lcfirst le length link listen local log lstat lt m map max min mkdir my
ne next no not oct open or ord our pack package pipe pop pos print printf prototype push q qq qr
quotemeta qw qx rand read readdir readline readlink readpipe recv redo ref rename require reset
return reverse rewinddir rindex rmdir s say scalar seek select send shift shutdown sin sleep socket
sort splice split sprintf sqrt srand stat state study sub substr symlink syscall system tell tie
tied time times tr truncate uc ucfirst umask undef unless unlink unpack unshift untie until use
utime values vec wait waitpid wantarray warn when while write x xor y floor_div
""")

_READ: dict[nodes.Type, str] = {
    "int": "<STDIN> + 0",
    "str": "<STDIN>",
    "list": "[split ' ', <STDIN>]",
}
_BLANK = '" "'
_UPDATES = ("+", "-", "*", "concat")


def emit(program: nodes.Program) -> str:
    """Return the program in Perl."""
    return _Perl(program).program_text()


class _Perl(BlockWriter):
    operators = {  # noqa: RUF012 - declared a ClassVar by the base
        **{op: op for op in ("+", "-", "*", "%", "==", "!=", "<", "<=", ">", ">=")},
        "and": "&&",
        "or": "||",
        "concat": ".",
    }
    if_line, elif_line, else_line, if_end = "if ({}) {{", "}} elsif ({}) {{", "} else {", "}"
    while_line, while_end = "while ({}) {{", "}"
    copied = "[@{}]"
    append_form = "push @${}, {};"
    set_form = "${}->[{}] = {};"
    list_form = "[{}]"

    def program_text(self) -> str:
        self.line("use strict;")
        self.line("use warnings;")
        if any(_calls(function) for function in self.program.functions):
            self.line("no warnings 'recursion';")
        extrema = [name for name in ("min", "max") if name in self.features]
        if extrema:
            self.line(f"use List::Util qw({' '.join(extrema)});")
        self.line()
        if "//" in self.features:
            self.line("sub floor_div {")
            self.line("    my ($n, $by) = @_;")
            self.line("    my $rest = $n % $by;")
            self.line("    use integer;    # the quotient is exact, and stays an integer")
            self.line("    return ($n - $rest) / $by;")
            self.line("}")
            self.line()
        for function in self.program.functions:
            self.function(function)
        self.enter(None)
        for name, kind in self.program.inputs:
            self.read(name, kind)
        for statement in self.program.body:
            self.statement(statement)
        return self.result()

    def function(self, function: nodes.Function) -> None:
        self.enter(function)
        self.line(f"sub {function.name} {{")
        if function.params:
            self.line(f"    my ({', '.join(f'${name}' for name, _ in function.params)}) = @_;")
        self.block(function.body)
        self.line("}")
        self.line()

    def read(self, name: str, kind: nodes.Type) -> None:
        if kind == "list":
            self.line("<STDIN>;    # the number of items")
        self.line(f"my ${name} = {_READ[kind]};")
        if kind == "str":
            self.line(f"chomp ${name};")

    def binary(self, node: nodes.Binary) -> Text:
        text, level = super().binary(node)
        if node.op in ("==", "!=") and self.kind(node.left) == "str":
            left, right = self.text(node.left, level + 1), self.text(node.right, level + 1)
            return f"{left} {'eq' if node.op == '==' else 'ne'} {right}", level
        return text, level

    def special(self, node: nodes.Binary) -> Text:
        name = "floor_div" if node.op == "//" else node.op
        return f"{name}({self.text(node.left)}, {self.text(node.right)})", ATOM

    def bool_(self, node: nodes.Bool) -> Text:
        return str(int(node.value)), ATOM

    def str_(self, node: nodes.Str) -> Text:
        escaped = node.value.replace("\\", "\\\\").replace("'", "\\'")
        return f"'{escaped}'", ATOM

    def var(self, node: nodes.Var) -> Text:
        return f"${node.name}", ATOM

    def length(self, node: nodes.Length) -> Text:
        text = self.text(node.operand)
        if self.kind(node.operand) == "str":
            return f"length({text})", ATOM
        return f"scalar({_items(text)})", ATOM

    def index(self, node: nodes.Index) -> Text:
        sequence, at = self.text(node.sequence), self.text(node.index)
        if self.kind(node.sequence) == "str":
            return f"substr({sequence}, {at}, 1)", ATOM
        return f"{sequence}->[{at}]", ATOM

    def let(self, node: nodes.Let) -> None:
        self.line(f"my ${node.name} = {self.stored(node.value)};")

    def assign(self, node: nodes.Assign) -> None:
        match node.value:
            case nodes.Binary(op, nodes.Var(name), right) if name == node.name and op in _UPDATES:
                self.line(f"${name} {self.operators[op]}= {self.text(right)};")
            case _:
                self.line(f"${node.name} = {self.stored(node.value)};")

    def for_(self, node: nodes.For) -> None:
        start, last = self.text(node.start), before(self, node.stop)
        self.line(f"for my ${node.var} ({start} .. {last}) {{")
        self.block(node.body)
        self.line("}")

    def return_(self, node: nodes.Return) -> None:
        self.line(f"return {self.returned(node.value)};")

    def print_(self, node: nodes.Print) -> None:
        first = node.items[0]
        if self.kind(first) == "list":
            self.line(f'print join(" ", {_items(self.text(first))}), "\\n";')
        else:
            items = self.args(node.items)
            # print itself would take a parenthesis for all of its arguments.
            plain = len(node.items) == 1 and isinstance(
                first, (nodes.Int, nodes.Str, nodes.Var, nodes.Call)
            )
            self.line(f'print {items if plain else f"join({_BLANK}, {items})"}, "\\n";')


def _items(reference: str) -> str:
    """Return the items of a list, given the text of a reference to it."""
    return f"@{reference}" if reference[1:].isidentifier() else f"@{{{reference}}}"


def _calls(function: nodes.Function) -> bool:
    return any(isinstance(inner, nodes.Call) for inner in walk_expressions(function.body))
