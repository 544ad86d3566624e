"""Styles that a module may be asked for in, each held to by its tokens.

Every rule is one about the words and symbols of the text, so that it can be checked exactly, and
none can be met by a comment or by a module that nothing uses: what a style forbids is forbidden
everywhere in the answer. That the module does what it should is checked elsewhere.
"""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass

from rlvr_envs.generators.hardware.keywords import LATER, VERILOG
from rlvr_envs.generators.hardware.syntax import Token, tokens
from rlvr_envs.generators.hardware.two_blocks import not_two_blocks
from rlvr_envs.verifiers.hdl.interface import Clocking

FLIP_FLOP = "FlipFlop"

_NOT_PURE = frozenset({"reg", "wire", "integer", "always", "always_latch", "initial"})
_PROCEDURES = frozenset(
    {"always", "always_ff", "always_comb", "always_latch", "initial", "final", "function", "task"}
    | {"begin", "end", "if", "else", "case", "casez", "casex", "for", "while", "repeat", "forever"}
    | {"do", "foreach", "generate", "genvar", "reg", "integer"}
)
_PRIMITIVES = frozenset({"and", "nand", "or", "nor", "xor", "xnor", "not", "buf"})
_GATE_WORDS = frozenset({"module", "endmodule", "input", "output", "wire", "assign"}) | _PRIMITIVES
_GATE_OPERATORS = frozenset({"&", "|", "^", "~^", "^~"})
_GATE_SYMBOLS = _GATE_OPERATORS | frozenset("()[]{},;.:=~")
_LATER_SYMBOLS = frozenset(
    {"'", "==?", "!=?", "++", "--", "::", "<<<=", ">>>=", "<<=", ">>="}
    | {f"{operator}=" for operator in "+-*/%&|^"}
)


@dataclass(frozen=True, slots=True)
class Style:
    """A way to write modules.

    Attributes:
        name: one word.
        title: how the module is to be written.
        rules: sentences that the check decides, one a line, all of them together.
        given: whether state stands in a module that is given, see `flip_flop`.
        violation: returns what is wrong with a text, empty if nothing is; the clocking is that of
            the design.
    """

    name: str
    title: str
    rules: str
    given: bool
    violation: Callable[[Sequence[Token], Clocking | None], str]

    def broken_by(self, source: str, clocking: Clocking | None) -> str:
        """Return which rule a text breaks, empty if it is in the style."""
        found = list(tokens(source))
        for token in found:
            if token.kind == "directive":
                return f"the compiler directive {token.text:.40} is not allowed"
            if token.text == "\\":  # what follows could hide text from the rules
                return "a name that begins with a backslash is not allowed"
        if not any(token.text == "module" for token in found):
            return "there is no module"
        return self.violation(found, clocking)


def flip_flop(clocking: Clocking) -> str:
    """Return the module that holds a bit; with a reset input where that is asynchronous."""
    if clocking.reset and clocking.asynchronous:
        return (
            f"module {FLIP_FLOP} (input clk, input rst, input d, output reg q);\n"
            "    always @(posedge clk or posedge rst)\n"
            "        if (rst) q <= 1'b0;\n"
            "        else q <= d;\n"
            "endmodule\n"
        )
    return (
        f"module {FLIP_FLOP} (input clk, input d, output reg q);\n"
        "    always @(posedge clk) q <= d;\n"
        "endmodule\n"
    )


def _word_among(found: Sequence[Token], words: Set[str]) -> str:
    """Return a complaint about the first of some words."""
    for token in found:
        if token.kind == "word" and token.text in words:
            return f"the word `{token.text}` is not allowed"
    return ""


def _with_next(found: Sequence[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield each token with the next one, the last with an empty one."""
    yield from zip(found, [*found[1:], Token("symbol", "", 0, 0)], strict=True)


def _not_systemverilog(found: Sequence[Token], _: Clocking | None) -> str:
    for token, after in _with_next(found):
        if token.text in ("input", "output", "inout") and after.text != "logic":
            return f"an `{token.text}` is without `logic` directly after it"
    return _word_among(found, _NOT_PURE)


def _not_verilog(found: Sequence[Token], _: Clocking | None) -> str:
    for token, after in _with_next(found):
        if token.text in _LATER_SYMBOLS or (token.text == "." and after.text == "*"):
            return f"`{token.text}` is SystemVerilog syntax, not Verilog-2001"
        if token.kind == "number" and token.text[0] == "'" and len(token.text) == 2:
            return f"the constant `{token.text}` has no base"
        if token.kind == "system" and token.text not in ("$signed", "$unsigned"):
            return f"the system function `{token.text:.40}` is not allowed"
        if token.text == "(" and after.text in ("integer", "genvar"):
            return "a variable is declared in a loop header"
    return _word_among(found, LATER)


def _not_dataflow(found: Sequence[Token], _: Clocking | None) -> str:
    return _defined_again(found) or _word_among(found, _PROCEDURES)


def _defined_again(found: Sequence[Token]) -> str:
    for token, after in _with_next(found):
        if token.text == "module" and after.text == FLIP_FLOP:
            return f"the given module `{FLIP_FLOP}` is defined again"
    return ""


def _not_gates(found: Sequence[Token], _: Clocking | None) -> str:
    wrong = _defined_again(found) or _word_among(found, (VERILOG | LATER) - _GATE_WORDS)
    if wrong:
        return wrong
    for token in found:
        symbol = token.kind == "symbol" and token.text not in _GATE_SYMBOLS
        if symbol or token.kind in ("system", "string"):
            return f"`{token.text:.40}` is not allowed"
    return _not_fixed_bits(found) or _not_single_gates(found)


def _not_fixed_bits(found: Sequence[Token]) -> str:
    """Return a complaint where a bit is chosen by a signal: that is a multiplexer."""
    inside = False
    for token in found:
        inside = token.text == "[" or (inside and token.text != "]")
        if inside and token.kind != "number" and token.text not in ("[", ":"):
            return f"`{token.text:.40}` is not allowed between [ and ]: only numbers are"
    return ""


def _not_single_gates(found: Sequence[Token]) -> str:
    """Return a complaint where an operator stands outside of an assignment, or is the second."""
    gates: int | None = None  # in this assignment
    for token in found:
        if token.text == "assign":
            gates = 0
        elif token.text == ";":
            gates = None
        elif token.text not in _GATE_OPERATORS | {"~", "="}:
            continue
        elif gates is None:
            return f"`{token.text}` is not allowed outside of an `assign`"
        elif token.text == "=":
            gates = 0
        elif token.text != "~":
            gates += 1
            if gates > 1:
                return "an `assign` has more than one operator besides `~`"
    return ""


_STATE = f"""
Hold state only in instances of the module `{FLIP_FLOP}`, which is given below. Do not repeat that \
module in your answer.
Do not use compiler directives or escaped names."""

STYLES = (
    Style(
        "systemverilog",
        "in SystemVerilog",
        """\
Write `logic` directly after every `input` and every `output`.
Do not use the words `reg`, `wire`, `integer`, `always`, `always_latch` and `initial`: variables \
are `logic`, and blocks are `always_ff` or `always_comb`.
Do not use compiler directives or escaped names.""",
        False,
        _not_systemverilog,
    ),
    Style(
        "verilog2001",
        "in Verilog-2001",
        """\
Do not use keywords that were introduced after Verilog-2001, such as `logic`, `int`, `always_ff`, \
`always_comb`, `unique`, `inside`, `typedef` or `return`.
Do not use casts such as `4'(x)`, unsized constants of the form `'0` or `'1`, operators such as \
`++`, `+=` and `==?`, `.*` connections, variables declared in a loop header, or system functions \
other than `$signed` and `$unsigned`.
Do not use compiler directives or escaped names.""",
        False,
        _not_verilog,
    ),
    Style(
        "two_blocks",
        "as one combinational block and one clocked block",
        """\
Write exactly one module. It has at most one combinational block, which begins with `always @(*)` \
or `always_comb`, and at most one clocked block (none if the module has no clock).
The clocked block only stores values that the combinational block computes: the right side of \
`<=` is a single name or constant, the left side is a name without an index, and an `if` tests \
only the reset.
Outside of the blocks, write only declarations, and give values only to parameters: no `assign`, \
function, task, `generate`, `typedef` or gate.
Do not use compiler directives or escaped names.""",
        False,
        not_two_blocks,
    ),
    Style(
        "dataflow",
        "with continuous assignments only",
        f"""\
Do not use procedural code. The words `always`, `always_ff`, `always_comb`, `always_latch`, \
`initial`, `final`, `function`, `task`, `generate`, `genvar`, `begin`, `end`, `if`, `else`, \
`case`, `casez`, `casex`, `for`, `foreach`, `while`, `do`, `repeat`, `forever`, `reg` and \
`integer` are forbidden.\
{_STATE}""",
        True,
        _not_dataflow,
    ),
    Style(
        "structural",
        "as a netlist of gates",
        f"""\
A module may contain only ports, `wire` declarations, gates (`and`, `nand`, `or`, `nor`, `xor`, \
`xnor`, `not`, `buf`), instances of modules, and `assign`. Do not use any other keyword.
The right side of an `assign` has at most one of the operators `&`, `|`, `^`, `~^` and `^~`, and \
any number of `~`. Besides these, the only operator is concatenation with braces. Outside of an \
`assign`, braces are the only operator.
Between `[` and `]`, write only numbers and colons.\
{_STATE}""",
        True,
        _not_gates,
    ),
)
NAMES = tuple(style.name for style in STYLES)


def style_of(name: str) -> Style:
    """Return a style by its name."""
    return STYLES[NAMES.index(name)]
