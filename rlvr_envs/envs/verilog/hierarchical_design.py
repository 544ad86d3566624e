"""HierarchicalDesign: a module to be wired up from given modules, and nothing else."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.keywords import LATER, VERILOG
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.syntax import Token, tokens
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig
from rlvr_envs.generators.hardware.wording import LAYOUTS, wording
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

# Kinds of steps, in the order in which higher levels add them.
KINDS = ("add", "subtract", "select", "least", "logic", "store", "total")
_MOST_STEPS, _WIDEST = 16, 8
_ARITHMETIC = ("adder", "subtractor")
_GATES = ("nand", "nor")
_NAMES = {
    "adder": ("adder", "add_carry", "sum_unit"),
    "subtractor": ("subtractor", "sub_borrow", "diff_unit"),
    "mux": ("mux", "choose", "switch2"),
    "gate": ("gate", "cell_gate", "bits2"),
    "inverter": ("inverter", "flip", "negator"),
    "register": ("register", "keeper", "store_en"),
}
_PORTS = (("a", "b", "y"), ("x", "y", "z"), ("p", "q", "r"), ("i0", "i1", "o"))
_VALUES = ("d", "a", "x", "in", "v")  # inputs are numbered from 0
_RESULTS = ("res", "out", "result", "value")
_MOST_INPUTS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class HierarchicalDesignConfig(DesignConfig):
    """How many steps the function has, of how many kinds, and how wide the given modules are."""

    steps: int = knob(3, "number of steps of the function", low=1, high=_MOST_STEPS)
    kinds: int = knob(3, f"kinds of steps: the first of {', '.join(KINDS)}", low=1, high=len(KINDS))
    width: int = knob(4, "width of a value, in bits", low=2, high=_WIDEST)
    narrow: bool = knob(False, "the given arithmetic is half as wide as the values")

    @classmethod
    def at(cls, difficulty: int) -> "HierarchicalDesignConfig":
        """Each level adds a step, odd ones up to 11 a kind of step; from 7 on, halves are given.

        The numbers stop at 16 steps of 8 bits.
        """
        return cls(
            steps=min(1 + difficulty, _MOST_STEPS),
            kinds=min(1 + (difficulty + 1) // 2, len(KINDS)),
            width=min(4 + 2 * (difficulty // 6), _WIDEST),
            narrow=difficulty >= 7,
        )


@dataclass(frozen=True, slots=True)
class HierarchicalDesignProblem:
    """A function, and the modules that it has to be made of."""

    title: str
    signals: tuple[hw.Signal, ...]
    rules: tuple[str, ...]
    clocking: Clocking | None
    layout: int
    given: str  # the source of the given modules
    reward: str
    golden: str = hidden()
    alternative: str = hidden()
    accept_bounded: bool = hidden(True)

    @property
    def design(self) -> hw.Design:
        """The design that was drawn."""
        return hw.Design(
            self.title, self.signals, self.rules, self.golden, self.alternative, self.clocking
        )


@register("HierarchicalDesign-v0", domain="verilog", answer_format=LANGUAGE)
class HierarchicalDesignTask(Task[HierarchicalDesignConfig, HierarchicalDesignProblem]):
    """Build a module out of instances of given modules, with wires and nothing else.

    Description:
        A function of a few steps is specified: sums, differences, choices, minima, logic,
        registers, totals. Given are the sources of a few modules: one for arithmetic, which adds
        or subtracts, a multiplexer, an inverter, a gate, a register. The module may hold
        instances and connections alone, so that what is not given has to be composed: a
        difference out of an adder, a minimum out of a carry and a multiplexer.

    Observation:
        What the module does in numbered rules or prose, its ports, the kind of its reset, and the
        source of the given modules.

    Action:
        The module ``TopModule`` as one block of Verilog or SystemVerilog. The given modules may
        stand beside it unchanged.

    Reward:
        1 if the module consists of instances and connections and behaves as the reference for all
        inputs at all times, otherwise 0; with ``reward="graded"`` up to half for compiling, for
        the right ports and for outputs that never differed in simulation.

    Verification:
        The text is read token by token: there are no operators outside of constant expressions,
        no blocks, and no other modules. Then equivalence with a reference by simulation and proof
        (see docs/verilog.md), with the given modules put beside the answer.

    Difficulty:
        More steps of more kinds, and given modules that are half as wide as the values.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 2nd ed. 2012, ch. 4 and 5,
        for structural modelling and arithmetic out of adders.
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> HierarchicalDesignProblem:
        config = self.config
        layout = integer(rng, 0, LAYOUTS - 1)
        sources = draw_hierarchy(rng, config)
        design = sources.design()
        return HierarchicalDesignProblem(
            title=design.title,
            signals=design.signals,
            rules=design.rules,
            clocking=design.clocking,
            layout=layout,
            given=sources.given(),
            reward=config.reward,
            golden=design.golden,
            alternative=design.alternative,
            accept_bounded=config.accept_bounded,
        )

    def prompt(self, problem: HierarchicalDesignProblem) -> str:
        return "\n\n".join(
            [
                wording(problem.design, problem.layout, terms=False),
                "These modules are given:",
                f"```verilog\n{problem.given.strip()}\n```",
                (
                    f"`{hw.TOP}` must consist of instances of the given modules and "
                    "connections alone. It may declare wires, and connect to a port, or `assign`, "
                    "a signal, a part of one, a constant, or a concatenation or replication of "
                    "these. Operators "
                    "(arithmetic, logic, comparison, `?:`) are allowed only within `[ ]` and "
                    "within the parentheses of a generate `for` or `if`, on constants, "
                    "parameters and genvars. There must be no `always` block, function, gate "
                    "primitive, `$` function, macro, or module besides the given ones. You need "
                    "not use every given module, and need not repeat them: they are put beside "
                    "your answer."
                ),
                (
                    "Your module must behave exactly like a hidden reference design for every "
                    "sequence of inputs."
                ),
            ]
        )

    def verify(self, problem: HierarchicalDesignProblem, answer: str) -> Verdict:
        found = list(tokens(answer))
        own = list(_without_given(found, problem.given))
        if wrong := not_structural(own):
            return Verdict.wrong(wrong)
        source = f"{problem.given}\n{' '.join(token.text for token in own)}\n"
        return judge(
            source,
            problem.design.reference,
            reward=problem.reward,
            accept_bounded=problem.accept_bounded,
        )

    def solve(self, problem: HierarchicalDesignProblem) -> str:
        return problem.alternative

    def effort(self, problem: HierarchicalDesignProblem) -> float:
        """Return Halstead's effort of the known module of instances."""
        return writing_effort(problem.alternative)

    def baseline(self, rng: Rng, problem: HierarchicalDesignProblem) -> str:
        """Return a module whose outputs are always 0."""
        return hw.silent(problem.design.reference.ports)


# What may stand in a module of instances.

_WORDS = frozenset(
    {"module", "endmodule", "input", "output", "wire", "logic", "assign", "genvar", "generate"}
    | {"endgenerate", "for", "if", "else", "begin", "end", "localparam", "parameter", "int"}
)
_SYMBOLS = frozenset("()[]{},;.:=#")
_CONSTANT = frozenset({"genvar", "localparam", "parameter"})


def not_structural(found: Sequence[Token]) -> str:
    """Return why a text is more than one module of instances and connections, empty if it is not.

    Tokens within square brackets, and within parentheses that follow ``for`` or ``if``, are
    constant expressions: they may have operators, and name constants alone. A constant stands
    nowhere else than there, where it is declared, and as the count of a replication, so that no
    signal can have its name: a signal as an index would be a table of any function.
    """
    texts = [token.text for token in found]
    if texts[:2] != ["module", hw.TOP] or texts.count("module") != 1 or texts[-1] != "endmodule":
        return f"the answer has to be the module {hw.TOP} alone, beside the given modules"
    constants, declared = _constants(found)
    inside: list[str] = []  # what closes the constant expressions that are open
    for number, token in enumerate(found):
        before = texts[number - 1] if number else ""
        if inside:
            wrong = _not_constant(token, inside, constants)
        elif token.text == "[" or (token.text == "(" and before in ("for", "if")):
            inside.append(_CLOSES[token.text])
            wrong = ""
        else:
            counts = before == "{" and texts[number + 1] == "{"
            is_signal = token.text not in constants or number in declared or counts
            wrong = _not_wiring(token, is_signal=is_signal)
        if wrong:
            return wrong
    return ""


_CLOSES = {"(": ")", "[": "]"}


def _not_allowed(token: Token) -> str:
    """Return why a token may stand nowhere, empty if it may."""
    if token.kind not in ("word", "number", "symbol"):
        return f"`{token.text:.40}` is not allowed"
    if token.kind == "word" and token.text in (VERILOG | LATER) - _WORDS:
        return f"the word `{token.text}` is not allowed"
    return ""


def _not_constant(token: Token, inside: list[str], constants: frozenset[str]) -> str:
    """Return why a token may not stand in a constant expression; keeps track of its brackets."""
    if token.text in _CLOSES:
        inside.append(_CLOSES[token.text])
    elif token.text == inside[-1]:
        inside.pop()
    elif token.kind == "word" and token.text not in constants | {"genvar", "int"}:
        return f"`{token.text}` is no constant, and stands where only constants may"
    return _not_allowed(token)


def _not_wiring(token: Token, *, is_signal: bool) -> str:
    """Return why a token may not stand between constant expressions."""
    if token.kind == "symbol" and token.text not in _SYMBOLS:
        return f"the operator `{token.text}` is not allowed there"
    if not is_signal:
        return f"the constant `{token.text}` stands where only signals may"
    return _not_allowed(token)


def _constants(found: Sequence[Token]) -> tuple[frozenset[str], frozenset[int]]:
    """Return the names that are declared as constants, and which tokens declare them."""
    names, places, declaring = set[str](), set[int](), False
    for number, token in enumerate(found):
        if token.text in _CONSTANT:
            declaring = True
        elif token.text in (";", ")", "input", "output", "wire", "logic"):
            declaring = False
        elif declaring:
            places.add(number)
            if token.kind == "word" and token.text != "int":
                names.add(token.text)
    return frozenset(names), frozenset(places)


def _without_given(found: Sequence[Token], given: str) -> Iterator[Token]:
    """Yield the tokens of a text without given modules that it repeats as they are."""
    known = {tuple(token.text for token in part) for part in _modules(list(tokens(given)))}
    for part in _modules(found):
        if tuple(token.text for token in part) not in known:
            yield from part


def _modules(found: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """Yield the tokens up to and with each end of a module, and what is left."""
    start = 0
    for number, token in enumerate(found):
        if token.text == "endmodule":
            yield found[start : number + 1]
            start = number + 1
    if start < len(found):
        yield found[start:]


# Functions of steps in words and in two kinds of Verilog.


@dataclass(frozen=True, slots=True)
class Step:
    """A step of a function: what it does, and with which values."""

    kind: str  # one of KINDS
    way: str  # which of its kind
    left: str  # names of values
    right: str


@dataclass(frozen=True, slots=True)
class HierarchySources:
    """What was drawn: the steps, and how the given modules are."""

    clocking: Clocking
    width: int
    inputs: tuple[str, ...]
    result: str
    steps: tuple[Step, ...]
    arithmetic: str  # adder or subtractor
    gate: str  # nand or nor
    part: int  # width of the arithmetic
    mux_first: int  # the level that selects the first input of the multiplexer
    enabled: int  # the level that enables the register
    names: tuple[str, ...]  # of the modules, in the order of _NAMES
    ports: tuple[str, str, str]  # two inputs and an output

    @property
    def sequential(self) -> bool:
        """Whether any step stores."""
        return any(step.kind in ("store", "total") for step in self.steps)

    def _name(self, module: str) -> str:
        return self.names[list(_NAMES).index(module)]

    def _controls(self) -> list[tuple[str, str]]:
        """Return the inputs of one bit and what each is for."""
        found = []
        for number, step in enumerate(self.steps, 1):
            if step.kind == "select":
                found.append((f"s{number}", f"selects t{number}"))
            elif step.kind in ("store", "total"):
                found.append((f"e{number}", f"enables t{number}"))
        return found

    def design(self) -> hw.Design:
        """Return the design."""
        signals = hw.clock_signals(self.clocking) if self.sequential else ()
        signals += hw.inputs(
            *((name, self.width, "a value") for name in self.inputs),
            *((name, 1, told) for name, told in self._controls()),
        )
        signals += hw.outputs((self.result, self.width, f"the value t{len(self.steps)}"))
        rules = [
            (
                f"All values have {self.width} bits and are unsigned. Sums and differences are "
                f"modulo {2**self.width}."
            )
        ]
        rules += [f"t{k} is {self._told(step, k)}." for k, step in enumerate(self.steps, 1)]
        rules.append(f"`{self.result}` is t{len(self.steps)}.")
        if self.sequential:
            rules.append("All other values are combinational: they follow at once.")
        return hw.Design(
            title="a function of a few steps, made of given modules",
            signals=signals,
            rules=tuple(rules),
            golden=hw.module(signals, self._golden()),
            alternative=hw.module(signals, self._alternative()),
            clocking=self.clocking if self.sequential else None,
        )

    def _told(self, step: Step, number: int) -> str:
        left, right = (f"`{v}`" if v in self.inputs else v for v in (step.left, step.right))
        if step.kind == "store":
            return (
                f"stored. At each rising clock edge where `e{number}` is 1 it becomes {left}, and "
                "otherwise it keeps its value. Reset sets it to 0"
            )
        if step.kind == "total":
            return (
                f"stored. At each rising clock edge where `e{number}` is 1 it becomes t{number} "
                f"{'+' if step.way == 'up' else '-'} {left}, and otherwise it keeps its value. "
                "Reset sets it to 0"
            )
        return {
            "add": f"{left} + {right}",
            "subtract": f"{left} - {right}",
            "select": f"{left} if `s{number}` is 1, and {right} if it is 0",
            "least": f"the {'smaller' if step.way == 'min' else 'greater'} of {left} and {right}",
            "logic": f"the bitwise {step.way.upper()} of {left} and {right}",
        }[step.kind]

    def _golden(self) -> str:
        lines = []
        for k, step in enumerate(self.steps, 1):
            left, right, this = step.left, step.right, f"t{k}"
            if step.kind in ("store", "total"):
                sign = "+" if step.way == "up" else "-"
                after = left if step.kind == "store" else f"{this} {sign} {left}"
                lines.append(f"reg [{self.width - 1}:0] {this};")
                lines.append(
                    hw.clocked(self.clocking, f"{this} <= 0;", f"if (e{k}) {this} <= {after};")
                )
                continue
            operator = {"and": "&", "or": "|", "xor": "^"}.get(step.way, "")
            value = {
                "add": f"{left} + {right}",
                "subtract": f"{left} - {right}",
                "select": f"s{k} ? {left} : {right}",
                "least": f"{left} {'<' if step.way == 'min' else '>'} {right} ? {left} : {right}",
                "logic": f"{left} {operator} {right}",
            }[step.kind]
            lines.append(f"wire [{self.width - 1}:0] {this} = {value};")
        lines.append(f"assign {self.result} = t{len(self.steps)};")
        return "\n".join(lines)

    def given(self) -> str:
        """Return the sources of the given modules."""
        kinds = {step.kind for step in self.steps}
        a, b, y = self.ports
        w, part = self.width, self.part
        operator = "+" if self.arithmetic == "adder" else "-"
        chain = ("cin", "cout") if self.arithmetic == "adder" else ("bin", "bout")
        value = f"{{1'b0, {a}}} {operator} {{1'b0, {b}}} {operator} {{{part}'d0, {chain[0]}}}"
        parts = [
            (
                f"module {self._name(self.arithmetic)} (\n    input [{part - 1}:0] {a}, {b},\n"
                f"    input {chain[0]},\n    output [{part - 1}:0] {y},\n    output "
                f"{chain[1]}\n);\n    assign {{{chain[1]}, {y}}} = {value};\nendmodule"
            )
        ]
        two = f"    input [{w - 1}:0] {a}, {b},\n"
        out = f"    output [{w - 1}:0] {y}\n);\n"
        if kinds & {"select", "least"}:
            order = (a, b) if self.mux_first else (b, a)
            parts.append(
                f"module {self._name('mux')} (\n{two}    input s,\n{out}"
                f"    assign {y} = s ? {order[0]} : {order[1]};\nendmodule"
            )
        if "logic" in kinds:
            sign = "&" if self.gate == "nand" else "|"
            parts.append(
                f"module {self._name('gate')} (\n{two}{out}    assign {y} = ~({a} {sign} {b});\n"
                "endmodule"
            )
        parts.append(
            f"module {self._name('inverter')} (\n    input [{w - 1}:0] {a},\n{out}"
            f"    assign {y} = ~{a};\nendmodule"
        )
        if self.sequential:
            clock, reset = self.clocking.clock, self.clocking.reset
            enabled = "en" if self.enabled else "!en"
            block = hw.clocked(self.clocking, "q <= 0;", f"if ({enabled}) q <= d;")
            parts.append(
                f"module {self._name('register')} (\n    input {clock}, {reset}, en,\n"
                f"    input [{w - 1}:0] d,\n    output reg [{w - 1}:0] q\n);\n"
                f"{hw.indented(block, 4)}\nendmodule"
            )
        return "\n\n".join(parts) + "\n"

    def _alternative(self) -> str:
        """Return the instances."""
        wiring = _Wiring(self)
        lines = [f"wire [{self.width - 1}:0] t{k};" for k in range(1, len(self.steps) + 1)]
        for k, step in enumerate(self.steps, 1):
            lines += wiring.step(step, k)
        return "\n".join([*lines, f"assign {self.result} = t{len(self.steps)};"])


class _Wiring:
    """Makes the instances of steps, with names of their own."""

    def __init__(self, sources: HierarchySources) -> None:
        self.sources = sources
        self.count = 0

    def _new(self, width: int) -> tuple[str, str]:
        """Return a new wire and its declaration."""
        self.count += 1
        bits = f"[{width - 1}:0] " if width > 1 else ""
        return f"w{self.count}", f"wire {bits}w{self.count};"

    def _instance(self, module: str, *joined: tuple[str, str]) -> str:
        self.count += 1
        ports = ", ".join(f".{port}({net})" for port, net in joined)
        return f"{self.sources._name(module)} u{self.count} ({ports});"

    def _chain(self, left: str, right: str, carry: str, out: str) -> tuple[list[str], str]:
        """Return the arithmetic of two values and a carry, and the carry that comes out."""
        s = self.sources
        a, b, y = s.ports
        into, after = ("cin", "cout") if s.arithmetic == "adder" else ("bin", "bout")
        lines = []
        for low in range(0, s.width, s.part):
            wire, declared = self._new(1)
            part = f"[{low + s.part - 1}:{low}]" if s.part < s.width else ""
            lines += [
                declared,
                self._instance(
                    s.arithmetic,
                    (a, left + part),
                    (b, right + part),
                    (into, carry),
                    (y, out + part),
                    (after, wire),
                ),
            ]
            carry = wire
        return lines, carry

    def _inverted(self, value: str) -> tuple[list[str], str]:
        a, _, y = self.sources.ports
        wire, declared = self._new(self.sources.width)
        return [declared, self._instance("inverter", (a, value), (y, wire))], wire

    def _constant(self, value: int) -> tuple[list[str], str]:
        wire, declared = self._new(self.sources.width)
        return [declared, f"assign {wire} = {hw.literal(self.sources.width, value)};"], wire

    def _added(self, left: str, right: str, out: str) -> list[str]:
        if self.sources.arithmetic == "adder":
            return self._chain(left, right, "1'b0", out)[0]
        # left + right = left - ~right - 1
        lines, other = self._inverted(right)
        return lines + self._chain(left, other, "1'b1", out)[0]

    def _subtracted(self, left: str, right: str, out: str) -> tuple[list[str], str]:
        """Return the difference, and a bit: 1 if there is no borrow (adder), else if there is."""
        if self.sources.arithmetic == "subtractor":
            return self._chain(left, right, "1'b0", out)
        lines, other = self._inverted(right)
        more, carry = self._chain(left, other, "1'b1", out)
        return lines + more, carry

    def _chosen(self, select: str, one: str, zero: str, out: str) -> str:
        a, b, y = self.sources.ports
        first, second = (one, zero) if self.sources.mux_first else (zero, one)
        return self._instance("mux", (a, first), (b, second), ("s", select), (y, out))

    def _gated(self, left: str, right: str) -> tuple[list[str], str]:
        a, b, y = self.sources.ports
        wire, declared = self._new(self.sources.width)
        return [declared, self._instance("gate", (a, left), (b, right), (y, wire))], wire

    def step(self, step: Step, number: int) -> list[str]:
        """Return the instances of a step."""
        left, right, this = step.left, step.right, f"t{number}"
        if step.kind == "add":
            return self._added(left, right, this)
        if step.kind == "subtract":
            return self._subtracted(left, right, this)[0]
        if step.kind == "select":
            return [self._chosen(f"s{number}", left, right, this)]
        if step.kind == "least":
            out, declared = self._new(self.sources.width)
            lines, bit = self._subtracted(left, right, out)
            smaller = self.sources.arithmetic == "subtractor"  # what the bit says of the left one
            first = smaller == (step.way == "min")
            pair = (left, right) if first else (right, left)
            return [declared, *lines, self._chosen(bit, *pair, this)]
        if step.kind == "logic":
            return self._logic(step, this)
        return self._stored(step, number)

    def _logic(self, step: Step, this: str) -> list[str]:
        """Return a function of bits: with nor gates, the dual one of inverted values."""
        left, right, lines = step.left, step.right, list[str]()
        nand, way = self.sources.gate == "nand", step.way
        if way == "xor":
            lines, both = self._gated(left, right)
            one, first = self._gated(left, both)
            two, second = self._gated(right, both)
            three, wire = self._gated(first, second)
            lines += one + two + three
            if not nand:
                more, wire = self._inverted(wire)
                lines += more
            return [*lines, f"assign {this} = {wire};"]
        if (way == "or") == nand:
            one, left = self._inverted(left)
            two, right = self._inverted(right)
            lines = one + two
            three, wire = self._gated(left, right)
            return [*lines, *three, f"assign {this} = {wire};"]
        lines, wire = self._gated(left, right)
        more, wire = self._inverted(wire)
        return [*lines, *more, f"assign {this} = {wire};"]

    def _stored(self, step: Step, number: int) -> list[str]:
        s, this = self.sources, f"t{number}"
        lines, after, enable = list[str](), step.left, f"e{number}"
        if step.kind == "total":
            after, declared = self._new(s.width)
            lines.append(declared)
            if step.way == "up":
                lines += self._added(this, step.left, after)
            else:
                lines += self._subtracted(this, step.left, after)[0]
        if not s.enabled:
            more, wire = self._inverted(f"{{{s.width}{{{enable}}}}}")
            lines += more
            enable = f"{wire}[0]"
        clock, reset = s.clocking.clock, s.clocking.reset
        joined = ((clock, clock), (reset, reset), ("en", enable), ("d", after), ("q", this))
        return [*lines, self._instance("register", *joined)]


def draw_hierarchy(rng: Rng, config: HierarchicalDesignConfig) -> HierarchySources:
    """Draw a function of steps; every step uses the one before, and the newest kind comes once."""
    allowed = KINDS[: config.kinds]
    kinds = [pick(rng, allowed) for _ in range(config.steps)]
    kinds[integer(rng, 0, config.steps - 1)] = allowed[-1]
    stem, count = pick(rng, _VALUES), min(_MOST_INPUTS, 1 + config.steps)
    inputs = tuple(f"{stem}{k}" for k in range(count))
    steps = []
    unused = list(inputs)
    rng.shuffle(unused)
    last = unused.pop()
    for number, kind in enumerate(kinds, 1):
        earlier = [f"t{k}" for k in range(1, number - 1)]
        other = unused.pop() if unused else pick(rng, [*inputs, *earlier])
        ways = {"least": ("min", "max"), "logic": ("and", "or", "xor"), "total": ("up", "down")}
        left, right = (last, other) if integer(rng, 0, 1) else (other, last)
        if kind in ("store", "total"):
            left = last
        steps.append(Step(kind, pick(rng, ways.get(kind, ("",))), left, right))
        last = f"t{number}"
    part = config.width // 2 if config.narrow and config.width % 2 == 0 else config.width
    return HierarchySources(
        clocking=hw.draw_clocking(rng),
        width=config.width,
        inputs=inputs,
        result=pick(rng, _RESULTS),
        steps=tuple(steps),
        arithmetic=pick(rng, _ARITHMETIC),
        gate=pick(rng, _GATES),
        part=part,
        mux_first=integer(rng, 0, 1),
        enabled=integer(rng, 0, 1),
        names=tuple(pick(rng, names) for names in _NAMES.values()),
        ports=pick(rng, _PORTS),
    )
