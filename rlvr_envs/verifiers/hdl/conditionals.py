"""Conditional compilation, resolved before any tool reads a text.

Tools define names of their own, by which a text can tell them apart and show each another design.
So `ifdef` and its like are carried out here, for names that we choose, and no tool sees them: what
is judged is one text. What other tools would read is returned beside it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from rlvr_envs.verifiers.hdl.tokens import LAYOUT, Forbidden, Token, blank, tokens_of

# Hardware is judged as synthesis reads it. FORMAL and names like DEBUG are defined by nobody who
# is not asked to.
SYNTHESIS = frozenset({"SYNTHESIS"})

# What each tool defines of itself.
_COVERAGE = (
    "SV_COV_START SV_COV_STOP SV_COV_RESET SV_COV_CHECK SV_COV_MODULE SV_COV_HIER SV_COV_ASSERTION "
    "SV_COV_FSM_STATE SV_COV_STATEMENT SV_COV_TOGGLE SV_COV_OVERFLOW SV_COV_ERROR SV_COV_NOCOV "
    "SV_COV_OK SV_COV_PARTIAL"
)
_YOSYS, _SLANG = "SYNTHESIS YOSYS", "SYNTHESIS __slang__ __slang_major__ __slang_minor__"
_TOOLS = tuple(
    frozenset(names.split())
    for names in (
        "",
        _YOSYS,
        _SLANG,
        _COVERAGE,  # what the standard asks of simulators
        "SYNTHESIS SYNOPSYS DC HDL_COMPILER",
        "SYNTHESIS XILINX_VIVADO VIVADO",
        "SYNTHESIS ALTERA_RESERVED_QIS QUARTUS",
        "__ICARUS__ ICARUS IVERILOG",
        "VERILATOR verilator verilator3 VERILATOR_TIMING",
        "VCS SYNOPSYS_SIM",
        "MODEL_TECH MODELSIM QUESTA QUESTASIM MTI",
        "XCELIUM INCA CDS_TOOL_DEFINE NCVERILOG",
        "XILINX_SIMULATOR XILINX_ISIM XSIM",
        "ALDEC ACTIVE_HDL RIVIERA",
    )
)
_NAMES_OF_TOOLS = frozenset[str]().union(*_TOOLS)
# What the front end behind all this defines, whose values a text could use.
NAMES_OF_THE_JUDGE = frozenset(f"{_YOSYS} {_SLANG} {_COVERAGE}".split())

_ASKING = frozenset({"`ifdef", "`ifndef", "`elsif"})
_CONDITIONS = _ASKING | {"`else", "`endif"}
_DEFINING = frozenset({"`define", "`undef"})
_INSIDE = _CONDITIONS | _DEFINING | {"`undefineall"}


class Unbalanced(Exception):
    """Conditional directives do not fit together; the argument says which."""


def readings(text: str) -> Iterator[str]:
    """Yield what synthesis reads of a text, and then what other tools read otherwise.

    All are as long as the text, with the same lines and columns, and without conditions.

    Raises:
        Forbidden: a macro holds a directive.
        Unbalanced: conditions do not fit together.
    """
    if not any(condition in text for condition in _CONDITIONS):
        yield text
        return
    tokens = list(tokens_of(text))
    if not any(token.text in _CONDITIONS for token in tokens):  # only comments and strings have one
        yield text
        return
    reader = _Reader(SYNTHESIS)
    found = {reader.read(tokens)}
    yield from found
    asked = reader.asked & _NAMES_OF_TOOLS
    for defined in dict.fromkeys(names & asked for names in _TOOLS):
        other = _Reader(defined).read(tokens)
        if other not in found:
            found.add(other)
            yield other


@dataclass(slots=True)
class _Branch:
    """An open condition: whether what is around it counts, and whether a branch was taken."""

    line: int
    around: bool
    active: bool
    taken: bool
    last: bool = False  # after `else


class _Reader:
    """Reads a text as a tool does that defines some names of its own."""

    def __init__(self, defined: Iterable[str]) -> None:
        self._own = frozenset(defined)
        self._names = set(self._own)
        self._branches: list[_Branch] = []
        self._naming = ""  # the directive whose name comes next
        self.asked: set[str] = set()  # names that conditions ask for

    def read(self, tokens: Sequence[Token]) -> str:
        """Return the text with spaces in place of conditions and of what they leave out."""
        kept = [token.text if self._keeps(token) else blank(token.text) for token in tokens]
        if self._naming in _ASKING:
            raise Unbalanced(f"{self._naming} has no name behind it")
        if self._branches:
            raise Unbalanced(f"line {self._branches[-1].line}: a condition has no `endif")
        return "".join(kept)

    @property
    def _active(self) -> bool:
        return not self._branches or self._branches[-1].active

    def _keeps(self, token: Token) -> bool:
        """Take the next token; return whether it is a part of what is read."""
        if token.macro and token.text in _INSIDE:
            raise Forbidden(f"line {token.line}: {token.text} inside a macro is not allowed here")
        if token.macro:
            return self._active
        if self._naming:
            return self._named(token)
        if token.text in _CONDITIONS:
            self._condition(token)
            return False
        if not self._active:
            return False
        if token.text in _DEFINING:
            self._naming = token.text
        elif token.text == "`undefineall":
            self._names = set(self._own)
        return True

    def _named(self, token: Token) -> bool:
        """Take what follows a directive that needs a name."""
        directive = self._naming
        if token.kind in LAYOUT:
            return directive in _DEFINING
        self._naming = ""
        if directive in _ASKING:
            if token.kind != "word":
                raise Unbalanced(f"line {token.line}: {directive} needs the name of a macro")
            self._ask(directive, token)
            return False
        if directive == "`define":
            self._names.add(token.text)
        else:
            self._names.discard(token.text)
        return True

    def _condition(self, token: Token) -> None:
        if token.text in _ASKING:
            self._naming = token.text
        if token.text in ("`ifdef", "`ifndef"):
            return
        if not self._branches or (self._branches[-1].last and token.text != "`endif"):
            raise Unbalanced(f"line {token.line}: {token.text} belongs to no condition")
        branch = self._branches[-1]
        if token.text == "`endif":
            self._branches.pop()
        elif token.text == "`else":
            branch.active = branch.around and not branch.taken
            branch.last = True

    def _ask(self, directive: str, name: Token) -> None:
        self.asked.add(name.text)
        holds = (name.text in self._names) != (directive == "`ifndef")
        if directive == "`elsif":
            branch = self._branches[-1]
            branch.active = branch.around and not branch.taken and holds
            branch.taken |= holds
            return
        around = self._active
        self._branches.append(_Branch(name.line, around, around and holds, holds))
