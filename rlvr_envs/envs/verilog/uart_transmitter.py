"""UartTransmitter: words sent serially, in frames."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.tables import listed
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("parity", "done", "stops", "buffer", "rate", "mode")
_MOST_BITS, _SLOWEST = 12, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class UartTransmitterConfig(DesignConfig):
    """How long a frame is, and which features are added."""

    bits: int = knob(4, "width of a word, in bits", low=2, high=_MOST_BITS)
    divider: int = knob(3, "largest number of clock cycles per bit", low=1, high=_SLOWEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "UartTransmitterConfig":
        """Two levels of three add a feature, up to 9; the third adds two bits and a cycle.

        The numbers stop at 12 bits and 16 cycles.
        """
        more = (difficulty + 2) // 3
        return cls(
            bits=min(2 + 2 * more, _MOST_BITS),
            divider=min(1 + more, _SLOWEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("UartTransmitter-v0", domain="verilog", answer_format=LANGUAGE)
class UartTransmitterTask(DesignTask[UartTransmitterConfig]):
    """Write a serial transmitter: start bit, data, parity and stop bits, each for some cycles.

    Description:
        A word is sent in a frame of bits that each last some cycles. The line may be inverted
        and the order of bits reversed. Parity, a second stop bit, the rate and the kind of parity
        may be inputs that are sampled with the word. Words may wait in a buffer.

    Observation:
        What the module does in numbered rules or prose, tables of codes, its ports, and the kind
        of its reset.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For long
        frames the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        Frames get longer and slower, and more of their settings become inputs.

    References:
        The frame of asynchronous serial lines, as in the data sheet of the 16550 UART; Liu et al.
        2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config, features = self.config, FEATURES[: self.config.features]
        slowest = config.divider
        rates = [integer(rng, max(1, slowest // 2), slowest) for _ in range(4)]
        modes = list(PARITIES)
        rng.shuffle(modes)
        return UartSources(
            clocking=hw.draw_clocking(rng),
            bits=config.bits,
            dividers=tuple(rates) if "rate" in features else (rates[0],),
            inverted=bool(integer(rng, 0, 1)),
            downwards=bool(integer(rng, 0, 1)),
            modes=tuple(modes) if "mode" in features else (pick(rng, ("even", "odd")),),
            stops=integer(rng, 1, 2),
            long_stop=integer(rng, 0, 1),
            chained=bool(integer(rng, 0, 1)),
            features=features,
            names=pick(
                rng, (("send", "data", "tx"), ("start", "din", "txd"), ("valid", "word", "line"))
            ),
        ).design()


# Serial transmitters in words and in two kinds of Verilog; what is drawn comes from the task.


# Kinds of parity, and what each says of the bits of a frame.
PARITIES = {
    "none": "there is no parity bit",
    "even": "the data bits and the parity bit together have an even number of ones",
    "odd": "the data bits and the parity bit together have an odd number of ones",
    "mark": "the parity bit is 1",
}


@dataclass(frozen=True, slots=True)
class UartSources:
    """What was drawn for one transmitter, its rules and its sources."""

    clocking: Clocking
    bits: int
    dividers: tuple[int, ...]  # by the code of the rate
    inverted: bool  # the whole line
    downwards: bool  # whether the most significant bit is sent first
    modes: tuple[str, ...]  # kinds of parity by code
    stops: int  # stop bits where no input selects them
    long_stop: int  # level of the input that selects a second stop bit
    chained: bool  # whether a word is taken in the last cycle of a frame
    features: tuple[str, ...]
    names: tuple[str, str, str]

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        return hw.Design(
            title=f"a serial transmitter (UART) for {self.bits}-bit words",
            signals=ports,
            rules=(*self._frame_rules(), *self._time_rules()),
            golden=hw.module(ports, self._golden()),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
            figure=self._figure(),
        )

    @property
    def _chosen(self) -> list[tuple[str, int, str]]:
        """Return the inputs that are taken together with a word."""
        has = self.features.__contains__
        found = (
            [
                (
                    "stop_bits",
                    1,
                    f"number of stop bits ({self.long_stop} = two, {1 - self.long_stop} = one)",
                )
            ]
            if has("stops")
            else []
        )
        found += [("rate", 2, "selects the duration of a bit")] if has("rate") else []
        return found + ([("mode", 2, "selects the kind of parity")] if has("mode") else [])

    def _signals(self) -> tuple[hw.Signal, ...]:
        has, (send, word, line) = self.features.__contains__, self.names
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            (send, 1, "1 requests to send a word"),
            (word, self.bits, "word to send"),
            *self._chosen,
        )
        signals += hw.outputs((line, 1, "serial output"), ("busy", 1, self._busy_meaning()))
        if has("buffer"):
            signals += hw.outputs(("full", 1, "1 if the buffer holds a word"))
        if has("done"):
            signals += hw.outputs(("done", 1, "1 in the last cycle of a frame"))
        return signals

    def _busy_meaning(self) -> str:
        return "1 if no word can be accepted" if self._chains else "1 during a frame"

    @property
    def _chains(self) -> bool:
        return self.chained and "buffer" not in self.features

    @property
    def _slowest(self) -> int:
        return max(self.dividers)

    def _frame_rules(self) -> list[str]:
        has, line = self.features.__contains__, self.names[2]
        top = self.bits - 1
        order = f"bit {top} first" if self.downwards else "bit 0 first"
        parity = ", then a parity bit" if has("parity") else ""
        if has("mode"):
            parity = ", then a parity bit (if `mode` selects one)"
        stops = "one stop bit, which is 1" if self.stops == 1 else "two stop bits, which are 1"
        if has("stops"):
            stops = (
                f"stop bits, which are 1: two if `stop_bits` is {self.long_stop}, and one otherwise"
            )
        rules = [
            (
                f"A frame consists of a start bit, which is 0, then the {self.bits} bits of the "
                f"word, {order}{parity}, then {stops}."
            )
        ]
        if has("mode"):
            rules.append("`mode` selects the kind of parity; see the table below.")
        elif has("parity"):
            rules.append(f"The parity bit is chosen so that {PARITIES[self.modes[0]]}.")
        if has("rate"):
            rules.append(
                "Each bit of a frame lasts as many clock cycles as the table below gives for "
                "`rate`."
            )
        elif self.dividers[0] == 1:
            rules.append("Each bit of a frame lasts one clock cycle.")
        else:
            rules.append(f"Each bit of a frame lasts {self.dividers[0]} clock cycles.")
        rules.append("Between frames, and after reset, the line is idle at 1.")
        if self.inverted:
            rules.append(
                f"The output is inverted: `{line}` is 0 where the rules above say 1, and 1 where "
                "they say 0, both in frames and between them."
            )
        return rules

    def _time_rules(self) -> list[str]:
        has, (send, word, _) = self.features.__contains__, self.names
        names = [word, *(name for name, _, _ in self._chosen)]
        taken = listed([f"`{name}`" for name in names])
        those = "are sampled" if len(names) > 1 else "is sampled"
        if has("buffer"):
            rules = [
                (
                    "A buffer holds at most one word. `full` is 1 if and only if it holds one. At "
                    f"a rising clock edge where `{send}` is 1 and `full` is 0, {taken} {those} "
                    f"into the buffer. While `full` is 1, `{send}` is ignored."
                ),
                (
                    "`busy` is 1 if and only if a frame is being sent. If `full` is 1 in a cycle "
                    "without a frame or in the last cycle of a frame, then at the rising clock "
                    "edge that ends this cycle the word leaves the buffer: in the next cycle, its "
                    "frame begins and `full` is 0."
                ),
            ]
        else:
            when = " or in its last cycle" if self._chains else ""
            frame = "during a frame except in its last cycle" if self._chains else "during a frame"
            rules = [
                (
                    f"`busy` is 1 {frame}, and 0 otherwise. At a rising clock edge where `{send}` "
                    f"is 1 and `busy` is 0 (outside of a frame{when}), {taken} {those}, and the "
                    f"frame begins in the next cycle. While `busy` is 1, `{send}` is ignored."
                )
            ]
        if has("done"):
            rules.append("`done` is 1 in the last cycle of each frame, and 0 otherwise.")
        rules.append(
            "Reset aborts a frame that is being sent"
            + (" and empties the buffer." if has("buffer") else ".")
        )
        rules.append("All outputs depend on the state only, not on the current inputs.")
        return rules

    def _figure(self) -> str:
        parts = []
        if "rate" in self.features:
            rows = [f"| {code} | {cycles} |" for code, cycles in enumerate(self.dividers)]
            parts.append("\n".join(["| `rate` | clock cycles per bit |", "| --- | --- |", *rows]))
        if "mode" in self.features:
            rows = [f"| {code} | {PARITIES[kind]} |" for code, kind in enumerate(self.modes)]
            parts.append("\n".join(["| `mode` | parity |", "| --- | --- |", *rows]))
        return "\n\n".join(parts)

    def _held(self, prefix: str) -> list[tuple[str, int, str]]:
        """Return what is kept of a word: a name, its width and the input it comes from."""
        chosen = [(f"{prefix}_{name}", width, name) for name, width, _ in self._chosen]
        return [(f"{prefix}_word", self.bits, self.names[1]), *chosen]

    def _ordered(self, word: str) -> str:
        """Return a word with the bit that goes first at the right."""
        if not self.downwards:
            return word
        return "{" + ", ".join(f"{word}[{i}]" for i in range(self.bits)) + "}"

    def _golden(self) -> str:
        """Return a frame that is looked up at a rising place, with a rising tick."""
        has, (send, _, line) = self.features.__contains__, self.names
        wide, slow = self.bits + 4, self._slowest.bit_length()
        count, invert = wide.bit_length(), "!" if self.inverted else ""
        lines = [f"reg [{count - 1}:0] at;\nreg [{slow - 1}:0] tick;\nreg idle;"]
        lines += [f"reg [{width - 1}:0] {name};" for name, width, _ in self._held("sent")]
        source = {name: f"sent_{name}" for name in ("word", *(name for name, _, _ in self._chosen))}
        if has("buffer"):
            lines += ["reg waits;\nassign full = waits;"]
            lines += [f"reg [{width - 1}:0] {name};" for name, width, _ in self._held("next")]
        two = f"({source['stop_bits']} == {self.long_stop})" if has("stops") else self.stops - 1
        parity, there = self._parity(source)
        divider = hw.literal(slow, self.dividers[0] - 1)
        if has("rate"):
            paces = [hw.literal(slow, cycles - 1) for cycles in self.dividers]
            chosen = [f"{source['rate']} == {k} ? {pace} : " for k, pace in enumerate(paces[:3])]
            divider = "".join(chosen) + paces[3]
        lines += [
            f"wire parity = {parity};\nwire there = {there};",
            f"wire [{self.bits - 1}:0] first = {self._ordered(source['word'])};",
            f"wire [{wide - 1}:0] frame = {{3'b111, parity || !there, first, 1'b0}};",
            f"wire [{slow - 1}:0] slowest = {divider};\nwire ends = tick == slowest;",
            f"wire last = !idle && ends && at == {self.bits + 1} + there + {two};",
        ]
        loads = "(idle || last)" if has("buffer") or self._chains else "idle"
        begins = f"{'waits' if has('buffer') else send} && {loads}"
        origin = "next" if has("buffer") else ""
        takes = "\n".join(
            f"    {name} <= {name.replace('sent', origin) if origin else port};"
            for name, _, port in self._held("sent")
        )
        body = (
            f"if ({begins}) begin\n    idle <= 0;\n    at <= 0;\n    tick <= 0;\n{takes}\n"
            "end else if (last) idle <= 1;\nelse if (ends) begin\n    tick <= 0;\n"
            "    at <= at + 1;\nend else tick <= tick + 1;"
        )
        reset = "idle <= 1;"
        if has("buffer"):
            reset += "\nwaits <= 0;"
            keeps = "\n".join(f"    {name} <= {port};" for name, _, port in self._held("next"))
            body += (
                f"\nif ({begins}) waits <= 0;\nif ({send} && !waits) begin\n    waits <= 1;\n"
                f"{keeps}\nend"
            )
        lines.append(hw.clocked(self.clocking, reset, body))
        lines.append(f"assign {line} = {invert}(idle || frame[at]);")
        lines.append(f"assign busy = !idle{' && !last' if self._chains else ''};")
        if has("done"):
            lines.append("assign done = last;")
        return "\n".join(lines)

    def _parity(self, source: dict[str, str]) -> tuple[str, str]:
        """Return the parity bit and whether there is one, as expressions."""
        if "parity" not in self.features:
            return "1'b1", "1'b0"
        bits = {"none": "1'b1", "mark": "1'b1"}
        bits |= {"even": f"^{source['word']}", "odd": f"~^{source['word']}"}
        if "mode" not in self.features:
            return bits[self.modes[0]], "1'b1"
        mode = source["mode"]
        chosen = [f"{mode} == {k} ? {bits[kind]} : " for k, kind in enumerate(self.modes[:3])]
        return "".join(chosen) + bits[self.modes[3]], f"{mode} != {self.modes.index('none')}"

    def _alternative(self) -> str:
        """Return a machine of four phases that points at the bit to send; ticks fall."""
        has, (send, _, line) = self.features.__contains__, self.names
        top, slow, b = self.bits - 1, self._slowest.bit_length(), self.bits.bit_length()
        lines = [
            f"logic [2:0] phase;\nlogic [{b - 1}:0] at;\nlogic [{slow - 1}:0] rest, pace;",
            "logic ends, odd, second, level;",
            *(f"logic [{width - 1}:0] {name};" for name, width, _ in self._held("now")),
        ]
        origin = {name: source for name, _, source in self._held("now")}
        if has("buffer"):
            lines += [f"logic [{width - 1}:0] {name};" for name, width, _ in self._held("soon")]
            origin = {name: name.replace("now", "soon") for name in origin}
        lines += self._levels(slow)
        first = self._pace(origin.get("now_rate", ""), slow)
        steps = (
            "if (rest != 0) rest <= rest - 1'b1;\nelse begin\n    rest <= pace;\n    case (phase)\n"
            "        3'd1: begin phase <= 3'd2; at <= '0; end\n"
            f"        3'd2: if (at == {top}) phase <= {self._after_data()}; else at <= at + 1'b1;\n"
            "        3'd3: phase <= 3'd4;\n        3'd4: phase <= second ? 3'd5 : 3'd0;\n"
            "        default: phase <= 3'd0;\n    endcase\nend"
        )
        offered = "full" if has("buffer") else send
        free = "phase == 3'd0" + (" || ends" if has("buffer") or self._chains else "")
        takes = " ".join(f"{name} <= {source};" for name, source in origin.items())
        begin = f"phase <= 3'd1; rest <= {first}; {takes}"
        begin += " full <= 1'b0;" if has("buffer") else ""
        body = (
            f"if ({offered} && ({free})) begin {begin} end\nelse if (phase != 3'd0) begin\n"
            f"{hw.indented(steps, 4)}\nend"
        )
        reset = "phase <= 3'd0;"
        if has("buffer"):
            reset += " full <= 1'b0;"
            keeps = " ".join(f"{name} <= {source};" for name, _, source in self._held("soon"))
            body += f"\nif ({send} && !full) begin full <= 1'b1; {keeps} end"
        lines.append(hw.clocked(self.clocking, reset, body, keyword="always_ff"))
        lines.append(f"assign {line} = level{' ^ 1' + chr(39) + 'b1' if self.inverted else ''};")
        lines.append(f"assign busy = phase != 3'd0{' && !ends' if self._chains else ''};")
        if has("done"):
            lines.append("assign done = ends;")
        return "\n".join(lines)

    def _pace(self, rate: str, bits: int) -> str:
        """Return the cycles of a bit less one."""
        paces = [hw.literal(bits, cycles - 1) for cycles in self.dividers]
        if len(paces) == 1:
            return paces[0]
        return "".join(f"{rate} == {k} ? {p} : " for k, p in enumerate(paces[:3])) + paces[3]

    def _after_data(self) -> str:
        """Return the phase after the last bit of a word."""
        if "parity" not in self.features:
            return "3'd4"
        if "mode" not in self.features:
            return "3'd3"
        return f"(now_mode == 2'd{self.modes.index('none')} ? 3'd4 : 3'd3)"

    def _levels(self, slow: int) -> list[str]:
        """Return the line in each phase, and when the last phase ends."""
        has = self.features.__contains__
        double = f"now_stop_bits == 1'b{self.long_stop}" if has("stops") else f"1'b{self.stops - 1}"
        index = f"{self.bits - 1} - at" if self.downwards else "at"
        parity = {"even": "odd", "odd": "!odd"}.get(self.modes[0], "1'b1")
        if has("mode"):
            even, uneven = self.modes.index("even"), self.modes.index("odd")
            parity = f"now_mode == 2'd{even} ? odd : now_mode == 2'd{uneven} ? !odd : 1'b1"
        return [
            f"assign pace = {self._pace('now_rate', slow)};",
            "always_comb case (phase)\n    3'd1: level = 1'b0;",
            f"    3'd2: level = now_word[{index}];\n    3'd3: level = {parity};",
            "    default: level = 1'b1;\nendcase\nassign odd = ^now_word;",
            f"assign second = {double};",
            "assign ends = rest == 0 && (phase == 3'd5 || phase == 3'd4 && !second);",
        ]
