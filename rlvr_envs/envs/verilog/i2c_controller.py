"""I2cController: words on a bus of two open-drain lines, in phases of its clock."""

import math
from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.tables import listed, table
from rlvr_envs.generators.hardware.task import (
    LANGUAGE,
    DesignConfig,
    DesignTask,
    VerilogProblem,
    feature_knob,
)
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("read", "stretch", "ack", "lost", "sync", "timeout")
COMMANDS = ("start", "write", "stop", "read")
# Whether a line is pulled to 0 in the four phases; None keeps what is.
_CLOCK = {"start": (None, 0, 0, 1), "stop": (1, 0, 0, 0), "bit": (1, 0, 0, 1)}
_DATA = {"start": (0, 0, 1, 1), "stop": (1, 1, 0, 0)}
_MOST_BITS, _SLOWEST = 8, 6
_NAMES = (
    ("valid", "cmd", "wdata", "busy"),
    ("go", "op", "tx", "active"),
    ("request", "code", "word", "working"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class I2cControllerConfig(DesignConfig):
    """How long a word and a phase are, and which features are added."""

    bits: int = knob(3, "bits of a word, without the acknowledgement", low=2, high=_MOST_BITS)
    quarter: int = knob(2, "most clock cycles in a phase", low=1, high=_SLOWEST)
    features: int = feature_knob(1, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "I2cControllerConfig":
        """Two levels of three add a feature, up to 9; the third adds a bit.

        Every sixth adds a cycle. The numbers stop at 8 bits and 6 cycles.
        """
        more = (difficulty + 2) // 3
        return cls(
            bits=min(3 + more, _MOST_BITS),
            quarter=min(2 + more // 2, _SLOWEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("I2cController-v0", domain="verilog", answer_format=LANGUAGE)
class I2cControllerTask(DesignTask[I2cControllerConfig]):
    """Write a controller of an I2C bus that carries out commands on two open-drain lines.

    Description:
        Commands start and stop the use of the bus and write words bit by bit, each bit in four
        phases of the bus clock. Later levels add reading, clock stretching, acknowledgements, lost
        arbitration, synchronised inputs, and a timeout.

    Observation:
        What the module does in numbered rules or prose, a table of phases, its ports, and the
        kind of its reset.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md), also for lines
        that behave as no bus would. For long words the proof may stay open, and a long simulation
        decides. A reset that is not written and a value that is not determined count as wrong.

    Difficulty:
        The bus answers: it holds the clock, sends bits, and takes the bus away.

    References:
        NXP, I2C-bus specification and user manual, UM10204, section 3.1; Liu et al. 2023,
        VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config, features = self.config, FEATURES[: self.config.features]
        codes = list(range(4))
        rng.shuffle(codes)
        bits = integer(rng, max(2, config.bits - 1), config.bits)
        return I2cSources(
            clocking=hw.draw_clocking(rng),
            bits=bits,
            quarter=integer(rng, max(1, config.quarter - 1), config.quarter),
            codes=tuple(codes),
            downwards=bool(integer(rng, 0, 1)),
            first=integer(rng, 0, 2**bits - 1),
            patience=integer(rng, 2, 5),
            features=features,
            names=pick(rng, _NAMES),
        ).design()

    def effort(self, problem: VerilogProblem) -> float:
        """Return Halstead's effort of the state machine, times the logarithm of a word's bits.

        Every feature shows in the state machine, but hardly the length of words.
        """
        widest = max(s.width for s in problem.signals if s.direction == "input")
        return writing_effort(problem.golden) * math.log2(1 + widest)


# Controllers in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class I2cSources:
    """What was drawn for one controller, its rules and its sources."""

    clocking: Clocking
    bits: int
    quarter: int  # cycles of a phase
    codes: tuple[int, ...]  # of `COMMANDS`
    downwards: bool  # whether the most significant bit comes first
    first: int  # of the word that was read, after reset
    patience: int  # cycles after which a held clock is given up
    features: tuple[str, ...]
    names: tuple[str, str, str, str]

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        registers = ["scl_low", "sda_low", "done"]
        registers += [name for name, feature in self._flags if self._has(feature)]
        return hw.Design(
            title=f"a controller of an I2C bus for words of {self.bits} bits",
            signals=ports,
            rules=(*self._command_rules(), *self._bus_rules(), *self._last_rules()),
            golden=hw.module(ports, self._golden(), registers=registers),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
            figure=self._figure(),
        )

    def _has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def _flags(self) -> tuple[tuple[str, str], ...]:
        """Return outputs that are registers, with the features that bring them."""
        return (("rdata", "read"), ("acked", "ack"), ("lost", "lost"), ("late", "timeout"))

    @property
    def _commands(self) -> tuple[str, ...]:
        return COMMANDS if self._has("read") else COMMANDS[:3]

    def _code(self, command: str) -> str:
        return f"2'd{self.codes[COMMANDS.index(command)]}"

    def _signals(self) -> tuple[hw.Signal, ...]:
        valid, cmd, wdata, busy = self.names
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            (valid, 1, "1 requests a command"),
            (cmd, 2, "the command"),
            (wdata, self.bits, "the word to write"),
        )
        if self._has("ack"):
            signals += hw.inputs(("reply", 1, "the acknowledgement after a word that is read"))
        if self._has("read"):
            signals += hw.inputs(("sda", 1, "level of the data line"))
        if self._has("stretch"):
            signals += hw.inputs(("scl", 1, "level of the clock line"))
        signals += hw.outputs(
            ("scl_low", 1, "1 pulls the clock line to 0, 0 releases it"),
            ("sda_low", 1, "1 pulls the data line to 0, 0 releases it"),
            (busy, 1, "1 during a command"),
            ("done", 1, "1 after a command"),
        )
        meanings = {
            "rdata": "the last word that was read",
            "acked": "the last acknowledgement of a written word",
            "lost": "1 if the bus was lost",
            "late": "1 if the clock was held for too long",
        }
        widths = {"rdata": self.bits}
        return signals + hw.outputs(
            *(
                (name, widths.get(name, 1), meanings[name])
                for name, feature in self._flags
                if self._has(feature)
            )
        )

    def _figure(self) -> str:
        words = {None: "keeps", 0: "0", 1: "1"}
        rows = []
        for kind in ("start", "stop", "bit"):
            data = [words[n] for n in _DATA.get(kind, ())] or ["b"] * 4
            clock = [words[n] for n in _CLOCK[kind]]
            cells = [f"{one}, {two}" for one, two in zip(clock, data, strict=True)]
            rows.append((f"a {kind}", *cells))
        return table(("`scl_low`, `sda_low` in", *(f"phase {k}" for k in range(4))), rows)

    def _command_rules(self) -> list[str]:
        valid, cmd, wdata, busy = self.names
        n = self.bits
        codes = ", ".join(
            f"{self.codes[COMMANDS.index(command)]}: {command}" for command in self._commands
        )
        unused = "" if self._has("read") else f" Commands with code {self.codes[3]} are ignored."
        taken = [f"`{cmd}`", f"`{wdata}`", *(["`reply`"] if self._has("ack") else [])]
        order = f"from bit {n - 1} to bit 0" if self.downwards else f"from bit 0 to bit {n - 1}"
        cycles = "one clock cycle" if self.quarter == 1 else f"{self.quarter} clock cycles"
        one = "one bit more" if not self._has("ack") else "one bit more, the acknowledgement"
        kinds = f"a write has {n + 1} bits one after the other"
        if self._has("read"):
            kinds = f"a write and a read have {n + 1} bits one after the other"
        unless = ", unless a rule below sets them to 0" if self._has("lost") else ""
        rules = [
            (
                f"At a rising clock edge where `{valid}` is 1 and `{busy}` is 0, {listed(taken)} "
                f"are sampled, and a command begins in the next cycle. The commands are {codes}."
                f"{unused} `{busy}` is 1 in all cycles of a command, and 0 in all others. "
                f"While it is 1, `{valid}` is ignored. `done` is 1 in the cycle after the last "
                "cycle of a command, and 0 in all others. The next command can be sampled at the "
                "end of that cycle."
            ),
            (
                f"A start and a stop each have four phases, and {kinds}, with four phases each. "
                f"A phase takes {cycles}. The table below says which lines are pulled to 0 in each "
                "phase; where it says that a line keeps, the output has the value of the cycle "
                f"before. While `{busy}` is 0, both outputs keep the values that they had in the "
                f"last cycle of the last command{unless}."
            ),
            (
                f"In the first {n} bits of a write, b is 1 for a 0 in `{wdata}` and 0 for a 1, "
                f"{order}. Then comes {one}, in which b is 0."
            ),
        ]
        if self._has("read"):
            answer = "b is 1" if not self._has("ack") else "b is 1 if `reply` was sampled as 1, "
            answer += "and 0 if not" if self._has("ack") else ""
            rules.append(
                f"In the first {n} bits of a read, b is 0. In each of them, the level of the data "
                "line is taken at the edge that ends phase 2, and these levels are the word that "
                f"is read, {order}. In the bit after them, {answer}. `rdata` takes the word at the "
                "edge that ends the last cycle of the read, and keeps it until the next one."
            )
        return rules

    def _bus_rules(self) -> list[str]:
        has, busy = self._has, self.names[3]
        rules = []
        lines = [f"`{name}`" for name, f in (("sda", "read"), ("scl", "stretch")) if has(f)]
        if has("sync"):
            rules.append(
                f"The inputs {' and '.join(lines)} each pass through two flip-flops in series, "
                "which are clocked in every cycle and set to 1 by reset. The level of the data "
                "line and the level of the clock line, in all rules, are those of the second "
                "flip-flops."
            )
        elif lines:
            names = "`sda` is the level of the data line"
            names += ", and `scl` that of the clock line." if has("stretch") else "."
            rules.append(names)
        if has("stretch"):
            rules.append(
                "In phase 1 of any command, the bus can hold the clock: a cycle of phase 1 in "
                "which the level of "
                f"the clock line is 0 does not count, so that phase 1 ends after {self.quarter} "
                f"cycle{'s' * (self.quarter > 1)} in which it is 1."
            )
        if has("ack"):
            rules.append(
                "At the edge that ends phase 2 of the last bit of a write, `acked` becomes 1 if "
                "the level of the data line is 0, and 0 if it is 1. It keeps this value until the "
                "next such edge."
            )
        if has("lost"):
            rules.append(
                f"If at the edge that ends phase 2 of one of the first {self.bits} bits of a write "
                "b is 0 and the level of the data line is 0, the bus is lost: the command ends at "
                "this edge without further phases, `lost` becomes 1, and both outputs to the lines "
                "become 0. `lost` stays 1 until the edge at which a start is sampled, where it "
                "becomes 0."
            )
        if has("timeout"):
            rules.append(
                f"If the level of the clock line is 0 in {self.patience} consecutive cycles of the "
                "same phase 1, the command ends at the edge that ends the last of them without "
                "further phases, `late` becomes 1, and both outputs to the lines become 0. `late` "
                "stays 1 until the edge at which the next command is sampled, where it becomes 0. "
                f"`{busy}` and `done` are then as after any command"
                + (", and `rdata` keeps its value." if has("read") else ".")
            )
        return rules

    def _last_rules(self) -> list[str]:
        zero = ["`scl_low`", "`sda_low`", "`done`"]
        zero += [f"`{n}`" for n, f in self._flags[1:] if self._has(f)]
        word = ""
        if self._has("read"):
            word = f" and `rdata` to {hw.literal(self.bits, self.first)}"
        return [
            (
                f"Reset ends a command at once, and sets {listed(zero)} to 0{word}. All outputs "
                "depend on the state only, not on the current inputs."
            )
        ]

    def _known(self, cmd: str) -> str:
        return "1'b1" if self._has("read") else f"({cmd} != 2'd{self.codes[3]})"

    def _levels(self) -> tuple[list[str], str, str]:
        """Return declarations and what stands for the lines."""
        names = [n for n, f in (("sda", "read"), ("scl", "stretch")) if self._has(f)]
        if not self._has("sync"):
            return [], "sda", "scl"
        return [f"reg [1:0] {', '.join(f'{n}_sync' for n in names)};"], "sda_sync[1]", "scl_sync[1]"

    def _golden(self) -> str:
        """Return a state machine whose registers are the lines."""
        has, b, q = self._has, self.bits, self.quarter
        valid, cmd, wdata, busy = self.names
        tick_bits, bit_bits = max(1, (q - 1).bit_length()), b.bit_length()
        lines, sda, scl = self._levels()
        lines += [
            f"reg running;\nreg [1:0] kind, phase;\nreg [{tick_bits - 1}:0] tick;",
            f"reg [{bit_bits - 1}:0] index;\nreg [{b - 1}:0] shift;\nassign {busy} = running;",
            f"wire whole = kind == {self._code('start')} || kind == {self._code('stop')};",
            f"wire last = whole || index == {b};",
        ]
        lines += ["reg reply_kept;"] if has("ack") else []
        lines += [f"reg [{b - 1}:0] got;"] if has("read") else []
        bits = max(1, (self.patience - 1).bit_length())
        lines += [f"reg [{bits - 1}:0] waited;"] if has("timeout") else []
        hold = f"phase == 1 && !{scl}" if has("stretch") else ""
        lines += [f"wire hold = {hold};"] if hold else []
        lines.append(f"wire over = tick == {q - 1}{' && !hold' if hold else ''};")
        reset = ["running <= 0;", "scl_low <= 0;", "sda_low <= 0;", "done <= 0;"]
        reset += [f"{n} <= 0;" for n, f in self._flags[1:] if has(f)]
        reset += [f"rdata <= {hw.literal(b, self.first)};"] if has("read") else []
        # What no output shows is set as well, so that proofs need not learn when it matters.
        reset += ["kind <= 0;", "phase <= 0;", "tick <= 0;", "index <= 0;", "shift <= 0;"]
        reset += ["reply_kept <= 0;"] if has("ack") else []
        reset += ["got <= 0;"] if has("read") else []
        reset += ["waited <= 0;"] if has("timeout") else []
        body = ["done <= 0;"]
        if has("sync"):
            for name in ("sda", "scl"):
                reset.append(f"{name}_sync <= 3;")
                body.append(f"{name}_sync <= {{{name}_sync[0], {name}}};")
        kept = "\nreply_kept <= reply;" if has("ack") else ""
        kept += f"\nif ({cmd} == {self._code('start')}) lost <= 0;" if has("lost") else ""
        kept += "\nlate <= 0;\nwaited <= 0;" if has("timeout") else ""
        top = b - 1 if self.downwards else 0
        begin = (
            f"running <= 1;\nkind <= {cmd};\nphase <= 0;\ntick <= 0;\nindex <= 0;\n"
            f"shift <= {wdata};{kept}\ncase ({cmd})\n    {self._code('start')}: sda_low <= 0;\n"
            f"    {self._code('stop')}: begin\n        scl_low <= 1;\n        sda_low <= 1;\n"
            f"    end\n    default: begin\n        scl_low <= 1;\n"
            f"        sda_low <= {self._is_write(cmd)}!{wdata}[{top}];\n    end\nendcase"
        )
        go = valid if has("read") else f"{valid} && {cmd} != 2'd{self.codes[3]}"
        step = self._golden_step(sda)
        body.append(
            f"if (!running) begin\n    if ({go}) begin\n{hw.indented(begin, 8)}\n    end\n"
            f"end else {step}"
        )
        lines.append(hw.clocked(self.clocking, "\n".join(reset), "\n".join(body)))
        return "\n".join(lines)

    def _is_write(self, cmd: str) -> str:
        return f"{cmd} == {self._code('write')} && " if self._has("read") else ""

    def _golden_step(self, sda: str) -> str:
        """Return what happens at an edge during a command."""
        has, b = self._has, self.bits
        stop, start = self._code("stop"), self._code("start")
        moved = f"{{shift[{b - 2}:0], 1'b0}}" if self.downwards else f"{{1'b0, shift[{b - 1}:1]}}"
        came = f"{{got[{b - 2}:0], {sda}}}" if self.downwards else f"{{{sda}, got[{b - 1}:1]}}"
        place = b - 2 if self.downwards else 1
        write = f"kind == {self._code('write')}"
        third = ""
        ended = "running <= 0;\ndone <= 1;\nindex <= 0;"
        if has("read"):
            third += f"\nif (index != {b}) got <= {came};"
        if has("ack"):
            third += f"\nif ({write} && index == {b}) acked <= !{sda};"
        third += f"\nif (kind == {start}) sda_low <= 1;\nif (kind == {stop}) sda_low <= 0;"
        # The lines of phase 3 are set at the end of phase 2.
        lost = ""
        third_lines = f"if (kind != {stop}) scl_low <= 1;"
        if has("lost"):
            lost = (
                f"\nif ({write} && index != {b} && !sda_low && !{sda}) begin\n    lost <= 1;\n"
                "    scl_low <= 0;\n    sda_low <= 0;\n"
                f"{hw.indented(ended, 4)}\nend"
            )
        samples = "\n".join(line for line in third.split("\n") if line and "sda_low" not in line)
        ending = ended + (
            f"\nif (kind == {self._code('read')}) rdata <= got;" if has("read") else ""
        )
        last_bit = f"index == {b - 1}"
        in_last = "1'b0"
        if has("read"):
            in_last = f"kind == {self._code('read')}"
            in_last += " && reply_kept" if has("ack") else ""
        data = f"{write} && !shift[{place}]" if has("read") else f"!shift[{place}]"
        more = (
            f"index <= index + 1;\nshift <= {moved};\nsda_low <= {last_bit} ? {in_last} : {data};"
        )
        cases = (
            f"0: scl_low <= 0;\n1: begin\n    if (kind == {start}) sda_low <= 1;\n"
            f"    if (kind == {stop}) sda_low <= 0;\nend\n2: begin\n"
            f"{hw.indented(f'{third_lines}{chr(10)}{samples}{lost}', 4)}\nend\n"
            f"default: if (last) begin\n{hw.indented(ending, 4)}\nend else begin\n"
            f"{hw.indented(more, 4)}\nend"
        )
        over = f"tick <= 0;\nphase <= phase + 1;\ncase (phase)\n{hw.indented(cases, 4)}\nendcase"
        text = f"if (over) begin\n{hw.indented(over, 4)}\nend else "
        if not has("stretch"):
            return f"{text}tick <= tick + 1;"
        text += "if (!hold) tick <= tick + 1;"
        if has("timeout"):
            give_up = f"late <= 1;\nscl_low <= 0;\nsda_low <= 0;\n{ended}"
            text = (
                f"begin\n{hw.indented(text, 4)}\n    waited <= hold ? waited + 1 : 0;\n"
                f"    if (hold && waited == {self.patience - 1}) begin\n"
                f"{hw.indented(give_up, 8)}\n    end\nend"
            )
        return text

    def _alternative(self) -> str:
        """Return a bit for each command, one count of the cycles of a bit, and decoded lines."""
        has, b, q = self._has, self.bits, self.quarter
        busy = self.names[3]
        wide, bit_bits = max(2, (4 * q - 1).bit_length()), b.bit_length()
        lines, sda, scl = self._levels()
        phases = " : ".join(f"now < {wide}'d{(k + 1) * q} ? 2'd{k}" for k in range(3))
        top = b - 1 if self.downwards else 0
        lines += [
            f"logic starts, stops, puts, takes;\nlogic [{wide - 1}:0] now;\nlogic [1:0] part;",
            f"logic [{bit_bits - 1}:0] nth;\nlogic [{b - 1}:0] moving;\nlogic early;",
            "logic rest_scl, rest_sda, over, step, pull, ends, cut, given_up, edge_2;",
            f"assign {busy} = starts | stops | puts | takes;",
            f"assign part = {phases} : 2'd3;",
            f"assign over = now == {wide}'d{4 * q - 1};",
            f"assign step = ~({self._held(scl)});",
            f"assign edge_2 = now == {wide}'d{3 * q - 1};",
            f"assign early = nth != {b};",
            "assign ends = over & (starts | stops | ~early);",
        ]
        reply = "1'b1"
        if has("ack"):
            lines.append("logic answer;")
            reply = "answer"
        lines.append(f"assign pull = early ? puts & ~moving[{top}] : takes & {reply};")
        lines.append(
            f"always_comb begin\n    scl_low = rest_scl;\n    sda_low = rest_sda;\n"
            f"    if ({busy}) begin\n"
            "        scl_low = part == 2'd3 ? ~stops : part == 2'd0;\n"
            "        if (starts && part == 2'd0) scl_low = rest_scl;\n"
            "        sda_low = starts ? part[1] : stops ? ~part[1] : pull;\n    end\nend"
        )
        lost = f"puts & edge_2 & early & ~pull & ~{sda}" if has("lost") else "1'b0"
        lines.append(f"assign cut = {lost};")
        self._alternative_moves(lines, sda)
        return "\n".join(lines)

    def _alternative_moves(self, lines: list[str], sda: str) -> None:
        """Add the clocked block, and the wires that it needs."""
        has, b = self._has, self.bits
        valid, cmd, wdata, busy = self.names
        reset = [
            "{starts, stops, puts, takes} <= '0; now <= '0; {rest_scl, rest_sda, done} <= '0;",
            "nth <= '0; moving <= '0;",
        ]
        go = f"~{busy} & {valid} & {self._known(cmd)}"
        body = list[str]()
        if has("sync"):
            for name in ("sda", "scl"):
                reset.append(f"{name}_sync <= '1;")
                body.append(f"{name}_sync <= {{{name}_sync[0], {name}}};")
        give_up = "1'b0"
        if has("timeout"):
            lines.append(f"logic [{self.patience - 2}:0] held_for;")
            give_up = f"held_for[{self.patience - 2}] & ~step & {busy}"
            reset.append("held_for <= '0; late <= 1'b0;")
            shifted = "1'b1"
            if self.patience > 2:
                shifted = f"{{held_for[{self.patience - 3}:0], 1'b1}}"
            body.append(f"held_for <= {busy} & ~step ? {shifted} : '0;")
            body.append(f"late <= given_up | late & ~({go});")
        lines.append(f"assign given_up = {give_up};")
        shift = f"{{moving[{b - 2}:0], 1'b0}}" if self.downwards else f"{{1'b0, moving[{b - 1}:1]}}"
        body += [
            f"done <= {busy} & (ends | cut | given_up);",
            f"if ({busy} & (ends | cut | given_up)) {{starts, stops, puts, takes}} <= '0;",
            f"if ({busy}) begin rest_scl <= scl_low; rest_sda <= sda_low; end",
            "if (cut | given_up) begin rest_scl <= 1'b0; rest_sda <= 1'b0; end",
            f"if ({busy} & step) now <= over ? '0 : now + 1'b1;",
            (
                f"if ({busy} & over & (puts | takes)) begin\n"
                f"    nth <= early ? nth + 1'b1 : '0; moving <= {shift};\nend"
            ),
            "if (cut | given_up) begin now <= '0; nth <= '0; end",
            f"if ({go}) begin\n    moving <= {wdata};\n"
            + "\n".join(
                f"    {flag} <= {cmd} == {self._code(command)};"
                for flag, command in zip(
                    ("starts", "puts", "stops", "takes"), self._commands, strict=False
                )
            )
            + ("\n    answer <= reply;" if has("ack") else "")
            + "\nend",
        ]
        self._alternative_results(lines, reset, body, sda)
        if has("lost"):
            body.append(f"lost <= cut | lost & ~({go} & {cmd} == {self._code('start')});")
        if not has("read"):
            reset[0] = reset[0].replace("puts, takes}", "puts}")
            body = [text.replace("puts, takes}", "puts}") for text in body]
            lines.append("assign takes = 1'b0;")
        lines.append(
            hw.clocked(self.clocking, "\n".join(reset), "\n".join(body), keyword="always_ff")
        )

    def _held(self, scl: str) -> str:
        return f"part == 2'd1 & ~{scl}" if self._has("stretch") else "1'b0"

    def _alternative_results(
        self, lines: list[str], reset: list[str], body: list[str], sda: str
    ) -> None:
        """Add what is read and acknowledged to declarations, resets and moves."""
        has, b = self._has, self.bits
        if has("read"):
            lines.append(f"logic [{b - 1}:0] came;")
            reset.append(f"came <= '0; rdata <= {hw.literal(b, self.first)};")
            came = (
                f"{{came[{b - 2}:0], {sda}}}" if self.downwards else f"{{{sda}, came[{b - 1}:1]}}"
            )
            body.append(f"if (edge_2 & early) came <= {came};")
            body.append("if (takes & ends) rdata <= came;")
        if has("ack"):
            reset.append("answer <= 1'b0; acked <= 1'b0;")
            body.append(f"if (puts & edge_2 & ~early) acked <= ~{sda};")
        if has("lost"):
            reset.append("lost <= 1'b0;")
