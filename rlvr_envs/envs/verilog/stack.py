"""Stack: a last-in, first-out memory with operation codes."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("flags", "error", "count", "second")
_DEEPEST, _WIDEST = 12, 12


@dataclass(frozen=True, slots=True, kw_only=True)
class StackConfig(DesignConfig):
    """How large the stack is, and which operations it has."""

    depth: int = knob(3, "depth in words", low=2, high=_DEEPEST)
    width: int = knob(3, "width of a word, in bits", low=2, high=_WIDEST)
    operations: int = knob(3, "number of operations: push, pop, and random ones")
    features: int = feature_knob(1, FEATURES)

    def check(self) -> None:
        most = len(OPERATIONS)
        if not 2 <= self.operations <= most:
            raise ConfigError(f"operations is between 2 and {most}, got {self.operations}")

    @classmethod
    def at(cls, difficulty: int) -> "StackConfig":
        """Ten levels add nine operations; an output comes every 2, up to 8, and a word every 3.

        A bit comes every 4 levels.

        The numbers stop at 12 words of 12 bits.
        """
        return cls(
            depth=min(2 + (difficulty + 2) // 3, _DEEPEST),
            width=min(2 + difficulty // 4, _WIDEST),
            operations=min(2 + 9 * difficulty // 10, len(OPERATIONS)),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("Stack-v0", domain="verilog", answer_format=LANGUAGE)
class StackTask(DesignTask[StackConfig]):
    """Write a stack with operations on its upper words, as stack machines have.

    Description:
        An opcode selects the operation at each clock edge: push, pop, and operations on the top
        two or three words. An operation that is not possible is ignored, or drops the bottom
        word. Further outputs are flags, a count, an error flag and the second word.

    Observation:
        What the module does in numbered rules or prose, a table of codes, its ports, and the kind
        of its reset.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For deep
        stacks the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        The stack gets deeper and wider, the operations and outputs more.

    References:
        Koopman, Stack Computers: The New Wave, 1989, for the operations; Liu et al. 2023,
        VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        others = [str(name) for name in rng.permutation(list(OPERATIONS)[2:])]
        names = ["push", "pop", *others[: config.operations - 2]]
        bits = len(names).bit_length()
        codes = [int(code) for code in rng.permutation(2**bits)[: len(names)]]
        return StackSources(
            clocking=hw.draw_clocking(rng),
            depth=config.depth,
            width=config.width,
            codes=tuple(zip(codes, names, strict=True)),
            bits=bits,
            idle=integer(rng, 0, 2**config.width - 1),
            slides=bool(integer(rng, 0, 1)),
            sticky=bool(integer(rng, 0, 1)),
            features=FEATURES[: config.features],
            op=pick(rng, ("op", "code", "cmd")),
            word=pick(rng, ("din", "data", "word")),
        ).design()


# Stacks in words and in two kinds of Verilog; what is drawn comes from the task.


# Operations: how many words each needs, by how many the stack grows, and what it does.
OPERATIONS = {
    "push": (0, 1, "pushes the input word"),
    "pop": (1, -1, "removes the top word"),
    "replace": (1, 0, "replaces the top word by the input word"),
    "dup": (1, 1, "pushes a copy of the top word"),
    "swap": (2, 0, "swaps the top word and the second word"),
    "over": (2, 1, "pushes a copy of the second word"),
    "nip": (2, -1, "removes the second word"),
    "add": (2, -1, "replaces the top two words by their sum (the carry is dropped)"),
    "sub": (2, -1, "replaces the top two words by second minus top (the borrow is dropped)"),
    "rot": (3, 0, "moves the third word to the top, above the two words that were above it"),
    "clear": (0, 0, "removes all words"),
}


@dataclass(frozen=True, slots=True)
class StackSources:
    """What was drawn for one stack, its rules and its sources."""

    clocking: Clocking
    depth: int
    width: int
    codes: tuple[tuple[int, str], ...]
    bits: int  # of a code
    idle: int  # at the outputs without a word
    slides: bool  # whether a full stack drops its bottom word
    sticky: bool  # whether the flag of errors stays
    features: tuple[str, ...]
    op: str
    word: str

    def design(self) -> hw.Design:
        ports = self._signals()
        rows = [
            f"| {code} | {name} | {OPERATIONS[name][2]} | {OPERATIONS[name][0]} |"
            for code, name in sorted(self.codes)
        ]
        head = [
            f"| `{self.op}` | name | operation | words needed |",
            "| --- | --- | --- | --- |",
        ]
        return hw.Design(
            title=f"a stack for up to {self.depth} words of {self.width} bits",
            signals=ports,
            rules=self._rules(),
            golden=hw.module(ports, self._golden(), registers=("error",)),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
            figure="\n".join([*head, *rows]),
        )

    @property
    def _size(self) -> int:
        return self.depth.bit_length()

    def _signals(self) -> tuple[hw.Signal, ...]:
        has = self.features.__contains__
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            (self.op, self.bits, "opcode"), (self.word, self.width, "input word")
        )
        signals += hw.outputs(("top", self.width, "top word"))
        if has("second"):
            signals += hw.outputs(("second", self.width, "word below the top word"))
        if has("flags"):
            signals += hw.outputs(
                ("empty", 1, "1 if the stack is empty"), ("full", 1, "1 if the stack is full")
            )
        if has("count"):
            signals += hw.outputs(("count", self._size, "number of words on the stack"))
        if has("error"):
            signals += hw.outputs(("error", 1, "1 if an operation was not possible"))
        return signals

    def _rules(self) -> tuple[str, ...]:
        has = self.features.__contains__
        rules = [
            (
                "Reset empties the stack. The top word is the one pushed last, the second word is "
                "the one below it, and so on."
            ),
            (
                "At each rising clock edge, the stack performs the operation that the table below "
                f"gives for the opcode `{self.op}`. The input word is `{self.word}`. An opcode "
                "that is not in the table does nothing."
            ),
            "An operation that needs more words than the stack holds changes nothing.",
        ]
        growing = [name for _, name in self.codes if OPERATIONS[name][1] > 0]
        listed = ", ".join(growing[:-1]) + f" and {growing[-1]}" if growing[1:] else growing[0]
        if self.slides:
            does = "still work" if growing[1:] else "still works"
            rules.append(
                f"If the stack is full ({self.depth} words), {listed} {does}: the operation reads "
                "the words that it needs first, then the bottom word is dropped to make room for "
                "the new one."
            )
        else:
            does = "change" if growing[1:] else "changes"
            rules.append(f"If the stack is full ({self.depth} words), {listed} {does} nothing.")
        idle = hw.literal(self.width, self.idle)
        shown = f"`top` is the top word, or {idle} while the stack is empty"
        if has("second"):
            shown += (
                f". `second` is the second word, or {hw.literal(self.width, self.idle)} while the "
                "stack holds fewer than two words"
            )
        rules.append(f"{shown}.")
        if has("flags"):
            rules.append(
                "`empty` is 1 if and only if the stack holds no word. `full` is 1 if and only if "
                f"it holds {self.depth} words."
            )
        if has("count"):
            rules.append("`count` is the number of words on the stack.")
        return (*rules, *self._error_rules())

    def _error_rules(self) -> list[str]:
        rules = ["All outputs depend on the state only, not on the current inputs."]
        if "error" in self.features:
            room = "" if self.slides else " or is full"
            stays = "stays 1 until reset" if self.sticky else "becomes 0 at every other edge"
            rules.append(
                "`error` is registered: it becomes 1 at a rising clock edge where an operation of "
                f"the table changes nothing because the stack holds too few words{room}, and "
                f"{stays}. Reset sets it to 0."
            )
        return rules

    def _outputs(self, top: str, second: str, count: str) -> list[str]:
        """Return the outputs that follow from the stack."""
        has, idle = self.features.__contains__, hw.literal(self.width, self.idle)
        lines = [f"assign top = {count} == 0 ? {idle} : {top};"]
        if has("second"):
            lines.append(f"assign second = {count} < 2 ? {idle} : {second};")
        if has("flags"):
            lines += [f"assign empty = {count} == 0;", f"assign full = {count} == {self.depth};"]
        return lines + ([f"assign count = {count};"] if has("count") else [])

    def _golden(self) -> str:
        """Return a memory with the number of its words as a pointer; few words are written."""
        writes = {
            "push": {0: self.word},
            "replace": {1: self.word},
            "dup": {0: "first"},
            "swap": {1: "below", 2: "first"},
            "over": {0: "below"},
            "nip": {2: "first"},
            "add": {2: "below + first"},
            "sub": {2: "below - first"},
            "rot": {1: "lowest", 2: "first", 3: "below"},
        }
        arms = []
        for code, name in self.codes:
            needs, grows, _ = OPERATIONS[name]
            puts = "".join(
                f" items[used - {place}] <= {value};"
                for place, value in writes.get(name, {}).items()
            ).replace("used - 0", "used")
            size = "0" if name == "clear" else f"used + {grows}".replace("+ -", "- ")
            does = f"begin{puts} used <= {size}; end"
            if grows > 0:
                value = writes[name][0]
                slide = (
                    f"begin for (k = 1; k < {self.depth}; k = k + 1) items[k - 1] <= items[k];"
                    f" items[{self.depth - 1}] <= {value}; end"
                )
                does = (
                    f"if (used < {self.depth}) {does} else {slide if self.slides else 'fails = 1;'}"
                )
            if needs:
                does = f"if (used < {needs}) fails = 1; else {does}"
            arms.append(f"    {self.bits}'d{code}: {does}")
        keep = "error || " if self.sticky else ""
        flag = f"error <= {keep}fails;" if "error" in self.features else ""
        default = "" if len(arms) == 2**self.bits else "\n    default: fails = 0;"
        body = f"fails = 0;\ncase ({self.op})\n" + "\n".join(arms) + f"{default}\nendcase\n{flag}"
        reset = "fails = 0;\nused <= 0;" + ("\nerror <= 0;" if flag else "")
        wide = f"[{self.width - 1}:0]"
        return "\n".join(
            [
                f"reg {wide} items [0:{self.depth - 1}];\nreg [{self._size - 1}:0] used;",
                "reg fails;\ninteger k;",
                f"wire {wide} first = items[used - 1];\nwire {wide} below = items[used - 2];",
                f"wire {wide} lowest = items[used - 3];",
                hw.clocked(self.clocking, reset, body),
                *self._outputs("first", "below", "used"),
            ]
        )

    def _alternative(self) -> str:
        """Return a vector whose lowest word is the top: words are taken off and others put on."""
        makes = {
            "push": (0, self.word),
            "pop": (1, ""),
            "replace": (1, self.word),
            "dup": (1, "a, a"),
            "swap": (2, "a, b"),
            "over": (2, "b, a, b"),
            "nip": (2, "a"),
            "add": (2, f"{self.width}'(a + b)"),
            "sub": (2, f"{self.width}'(b - a)"),
            "rot": (3, "b, a, c"),
            "clear": (0, ""),
        }
        n, w = self.depth, self.width
        arms = []
        for code, name in self.codes:
            needs, grows, _ = OPERATIONS[name]
            off, on = makes[name]
            after = f"line >> {off * w}" if off else "line"
            rest = f"{n * w}'({{{n * w}'({after}), {on}}})" if on else after
            there = f"there >> {off}" if off else "there"
            there = f"{{{n}'({there}), {{{on.count(',') + 1}{{1'b1}}}}}}" if on else there
            if name == "clear":
                there = "'0"
            allowed = [f"there[{needs - 1}]"] if 0 < needs <= n else ["1'b0"] if needs else []
            allowed += [f"!there[{n - 1}]"] if grows > 0 and not self.slides else []
            does = f"begin after = {rest}; left = {n}'({there}); end"
            if allowed:
                does = f"if ({' && '.join(allowed)}) {does} else wrong = 1'b1;"
            arms.append(f"        {self.bits}'d{code}: {does}")
        keep = "error | " if self.sticky else ""
        flag = f" error <= {keep}wrong;" if "error" in self.features else ""
        tops = [
            f"assign {name} = line[{min((k + 1) * w, n * w) - 1} -: {w}];"
            for k, name in enumerate("abc")
        ]
        return "\n".join(
            [
                f"logic [{n * w - 1}:0] line, after;\nlogic [{n - 1}:0] there, left;\nlogic wrong;",
                f"logic [{w - 1}:0] a, b, c;\nlogic [{self._size - 1}:0] number;",
                *tops,
                "always_comb begin\n    after = line; left = there; wrong = 1'b0;",
                f"    case ({self.op})\n"
                + "\n".join(arms)
                + "\n        default: ;\n    endcase\nend",
                hw.clocked(
                    self.clocking,
                    "there <= '0;" + (" error <= 1'b0;" if flag else ""),
                    f"line <= after; there <= left;{flag}",
                    keyword="always_ff",
                ),
                f"assign number = {self._size}'($countones(there));",
                *self._outputs("a", "b", "number"),
            ]
        )
