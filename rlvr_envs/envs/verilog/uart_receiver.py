"""UartReceiver: words read from a serial line, bit by bit."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("parity", "errors", "buffer", "resync", "vote", "rate", "sync")
_MOST_BITS, _SLOWEST = 12, 16
_NAMES = (
    ("rx", "data", "valid", "take"),
    ("rxd", "rdata", "ready", "read"),
    ("line", "dout", "have", "ack"),
    ("serial", "received", "done", "clear"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class UartReceiverConfig(DesignConfig):
    """How long a frame is, and which features are added."""

    bits: int = knob(4, "width of a word, in bits", low=2, high=_MOST_BITS)
    divider: int = knob(3, "largest number of clock cycles per bit", low=1, high=_SLOWEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "UartReceiverConfig":
        """Two levels of three add a feature, up to 11; the third adds two bits and two cycles.

        The numbers stop at 12 bits and 16 cycles.
        """
        more = (difficulty + 2) // 3
        return cls(
            bits=min(4 + 2 * more, _MOST_BITS),
            divider=min(1 + 2 * more, _SLOWEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("UartReceiver-v0", domain="verilog", answer_format=LANGUAGE)
class UartReceiverTask(DesignTask[UartReceiverConfig]):
    """Write a serial receiver: it finds the start bit and samples each bit in its middle.

    Description:
        A receiver waits for a start bit, checks it again in its middle, samples data, parity and
        stop bits, and shows the word. Later levels add parity, error flags, a buffer with an
        overrun flag, a wait for the idle line after a broken frame, a vote of three samples, an
        input for the rate, and a synchroniser.

    Observation:
        What the module does in numbered rules or prose, a table of rates, its ports, and the kind
        of its reset.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For long
        frames the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        Frames get longer and slower, and more things can go wrong with one.

    References:
        The receiver of asynchronous serial lines, as in the data sheet of the 16550 UART, with
        its majority vote as in that of the ATmega; Liu et al. 2023, VerilogEval,
        arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config, features = self.config, FEATURES[: self.config.features]
        slowest = config.divider
        if "vote" in features:
            slowest = max(4, slowest)
        lowest = 4 if "vote" in features else min(2, slowest)
        periods = [integer(rng, max(lowest, slowest // 2), slowest) for _ in range(4)]
        return UartReceiverSources(
            clocking=hw.draw_clocking(rng),
            bits=integer(rng, max(2, config.bits - 2), config.bits),
            periods=tuple(periods) if "rate" in features else (periods[0],),
            inverted=bool(integer(rng, 0, 1)),
            downwards=bool(integer(rng, 0, 1)),
            odd=bool(integer(rng, 0, 1)),
            start=integer(rng, 0, 2**config.bits - 1),
            replaces=bool(integer(rng, 0, 1)),
            features=features,
            names=pick(rng, _NAMES),
        ).design()


# Serial receivers in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class UartReceiverSources:
    """What was drawn for one receiver, its rules and its sources."""

    clocking: Clocking
    bits: int
    periods: tuple[int, ...]  # clock cycles of a bit, by the code of the rate
    inverted: bool  # the whole line
    downwards: bool  # whether the most significant bit comes first
    odd: bool  # kind of parity
    start: int  # of the shown word, after reset
    replaces: bool  # whether a word that comes to a full buffer replaces the one there
    features: tuple[str, ...]
    names: tuple[str, str, str, str]

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        _, data, valid, _ = self.names
        registers = [data, valid]
        registers += ["frame_error", "parity_error"] if self._has("errors") else []
        registers += ["overrun"] if self._has("buffer") else []
        return hw.Design(
            title=f"a serial receiver (UART) for {self.bits}-bit words",
            signals=ports,
            rules=(*self._line_rules(), *self._frame_rules(), *self._output_rules()),
            golden=hw.module(ports, self._golden(), registers=registers),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
            figure=self._figure(),
        )

    def _has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def _count(self) -> int:
        """Return how many bits a frame has after its start bit."""
        return self.bits + self._has("parity") + 1

    @property
    def _slowest(self) -> int:
        return max(self.periods)

    def _first(self, period: int) -> int:
        """Return the edge of the first decision, where that of the start is edge 0."""
        return period // 2 + self._has("vote")

    def _signals(self) -> tuple[hw.Signal, ...]:
        line, data, valid, take = self.names
        signals = hw.clock_signals(self.clocking) + hw.inputs((line, 1, "serial input"))
        if self._has("rate"):
            signals += hw.inputs(("rate", 2, "selects the duration of a bit"))
        if self._has("buffer"):
            signals += hw.inputs((take, 1, "1 takes the word out of the buffer"))
        what = "1 while the buffer holds a word" if self._has("buffer") else "1 if a word has come"
        signals += hw.outputs(
            (data, self.bits, "the last word"),
            (valid, 1, what),
            ("busy", 1, "1 during a frame"),
        )
        if self._has("errors"):
            signals += hw.outputs(
                ("frame_error", 1, "1 if the stop bit was wrong"),
                ("parity_error", 1, "1 if the parity bit was wrong"),
            )
        if self._has("buffer"):
            signals += hw.outputs(("overrun", 1, "1 if a word came to a full buffer"))
        return signals

    def _line_rules(self) -> list[str]:
        line = self.names[0]
        sense = f"the inverse of `{line}`" if self.inverted else f"`{line}`"
        if self._has("sync"):
            return [
                (
                    f"The input passes through two flip-flops in series, each of which takes its "
                    f"new value at every rising clock edge. The first one takes {sense}, the "
                    "second one takes the value of the first. Reset sets both to 1. Below, the "
                    "level of the line at a clock edge is the value of the second flip-flop "
                    "just before that edge. An idle line has level 1."
                )
            ]
        return [
            (
                f"Below, the level of the line at a rising clock edge is the value of {sense} just "
                "before that edge. An idle line has level 1."
            )
        ]

    def _frame_rules(self) -> list[str]:
        top = self.bits - 1
        order = f"bit {top} first" if self.downwards else "bit 0 first"
        parity, bad = "", "."
        if self._has("parity"):
            kind = "odd" if self.odd else "even"
            parity = ", then a parity bit"
            bad = (
                ". The parity bit is right if and only if the data bits and the parity bit "
                f"together have an {kind} number of ones."
            )
        rules = [
            (
                f"A frame consists of a start bit, which is 0, then {self.bits} data bits, {order}"
                f"{parity}, then one stop bit, which should be 1{bad}"
            )
        ]
        if self._has("rate"):
            rules.append(
                "A bit lasts P clock cycles. The table below gives P for each value of `rate`. "
                "`rate` is sampled at edge 0 (see below) and holds for the whole frame."
            )
        elif self.periods[0] == 1:
            rules.append("A bit lasts one clock cycle.")
        else:
            rules.append(f"A bit lasts P = {self.periods[0]} clock cycles.")
        rules.append(
            "After reset, the receiver is searching: at each rising clock edge where it is "
            "searching and the level of the line is 0, a frame begins. Call this edge 0 of the "
            "frame, and count the rising clock edges after it: edge 1, edge 2 and so on."
        )
        if self.periods[0] == 1:
            rules.append(
                f"The data bits are the levels of the line at edges 1 to {self.bits}, in the order "
                f"in which they come{self._parity_at()}. The stop bit is the level at edge "
                f"{self._count}, which ends the frame."
            )
            return [*rules, self._after()]
        half = "H is P divided by 2, rounded down"
        half += "." if self._has("rate") else f": H = {self.periods[0] // 2}."
        if self._has("vote"):
            rules.append(
                f"{half} Every bit is decided by a vote: the value of a bit is the majority of the "
                "levels of the line at three consecutive edges, and is known at the last of them. "
                "For the start bit these are the edges H - 1, H and H + 1. For the n-th bit after "
                "the start bit (n = 1 is the first data bit) they are the edges H + n * P - 1, "
                "H + n * P and H + n * P + 1."
            )
            known = "H + 1"
        else:
            rules.append(
                f"{half} The start bit is sampled once more at edge H, and the n-th bit after "
                "the start bit (n = 1 is the first data bit) at edge H + n * P: the value of a bit "
                "is the level of the line at that edge."
            )
            known = "H"
        rules.append(
            f"If the value of the start bit is 1, it was a false start: edge {known} ends the "
            "frame without any further effect, and the receiver is searching again from the next "
            f"edge on. Otherwise the frame goes on up to its stop bit (n = {self._count}), and the "
            "edge at which the value of the stop bit is known ends the frame."
        )
        return [*rules, self._after()]

    def _parity_at(self) -> str:
        if not self._has("parity"):
            return ""
        return f", and the parity bit is the level at edge {self.bits + 1}"

    def _after(self) -> str:
        text = "From the edge after the one that ends the frame, the receiver is searching again."
        if self._has("resync"):
            text += (
                " But if the stop bit was 0, the receiver first waits: it is not searching until "
                "there has been an edge, after the end of the frame, at which the level of the "
                "line is 1. From the edge after that one it is searching again."
            )
        return text

    def _output_rules(self) -> list[str]:
        _, data, valid, take = self.names
        good = "the stop bit is 1" + (" and the parity bit is right" if self._has("parity") else "")
        rules = []
        if self._has("buffer"):
            full = (
                f"the new word replaces the one in the buffer, and `{valid}` stays 1"
                if self.replaces
                else "the new word is lost, and the buffer keeps the old one"
            )
            rules.append(
                f"A frame is good if {good}. At the edge that ends a good frame, its word comes to "
                f"the buffer, which holds at most one word. `{valid}` is 1 while the buffer holds "
                f"a word. At a rising clock edge where `{take}` is 1, the buffer is emptied, but a "
                f"word that comes at the same edge is stored: `{valid}` is then 1 afterwards. "
                f"`{data}` is the word in the buffer; it changes only when a word is stored, and "
                "keeps its value while the buffer is empty."
            )
            rules.append(
                f"If a word comes while the buffer holds a word and `{take}` is 0 at that edge, "
                f"{full}. `overrun` is 1 in the cycle after such an edge, and 0 in all other "
                "cycles."
            )
        else:
            rules.append(
                f"A frame is good if {good}. At the edge that ends a good frame, `{data}` becomes "
                f"the word, and `{valid}` becomes 1 for one cycle. At all other edges `{valid}` "
                f"becomes 0 and `{data}` keeps its value. A frame that is not good changes "
                f"neither."
            )
        if self._has("errors"):
            rules.append(
                "`frame_error` is 1 in the cycle after an edge that ends a frame whose stop bit is "
                "0, and `parity_error` in the cycle after an edge that ends a frame whose parity "
                "bit is wrong (whatever the stop bit is). In all other cycles they are 0. A false "
                "start is no error."
                if self.periods[0] > 1
                else "`frame_error` is 1 in the cycle after an edge that ends a frame whose stop "
                "bit is 0, and `parity_error` in the cycle after an edge that ends a frame whose "
                "parity bit is wrong (whatever the stop bit is). In all other cycles they are 0."
            )
        rules.append(
            "`busy` is 1 in the cycles between edge 0 of a frame and the edge that ends it, and 0 "
            "otherwise." + (" It is 0 while the receiver waits." if self._has("resync") else "")
        )
        rules.append(
            f"Reset aborts a frame, makes the receiver search, and sets `{data}` to "
            f"{hw.literal(self.bits, self.start)} and all other outputs to 0. All outputs depend "
            "on the state only, not on the current inputs."
        )
        return rules

    def _figure(self) -> str:
        if not self._has("rate"):
            return ""
        rows = [f"| {code} | {cycles} |" for code, cycles in enumerate(self.periods)]
        return "\n".join(["| `rate` | P |", "| --- | --- |", *rows])

    def _of_rate(self, values: list[str], rate: str) -> str:
        """Return the value for a rate."""
        if len(values) == 1:
            return values[0]
        return "".join(f"{rate} == {k} ? {v} : " for k, v in enumerate(values[:3])) + values[3]

    def _level(self) -> tuple[list[str], str, str]:
        """Return the synchroniser's lines, its moves and its reset; `level` is declared."""
        line = ("!" if self.inverted else "") + self.names[0]
        if not self._has("sync"):
            return [f"assign level = {line};"], "", ""
        return ["assign level = near;"], f"far <= {line};\nnear <= far;", "far <= 1;\nnear <= 1;"

    def _outcome(self, bad: str) -> str:
        """Return the statements at the end of a frame."""
        _, data, valid, take = self.names
        lines = []
        if self._has("errors"):
            lines += ["frame_error <= !value;", f"parity_error <= {bad};"]
        good = f"value && !{bad}" if self._has("parity") else "value"
        takes = f"{valid} <= 1;\n    {data} <= word;"
        if self._has("buffer"):
            room = f"!{valid} || {take}"
            if self.replaces:
                lines.append(f"if ({good}) begin\n    overrun <= !({room});\n    {takes}\nend")
            else:
                lines.append(f"if ({good}) begin\n    if ({room}) begin\n    {takes}\n    end")
                lines[-1] += "\n    else overrun <= 1;\nend"
        else:
            lines.append(f"if ({good}) begin\n    {takes}\nend")
        return "\n".join(lines)

    def _pulses(self) -> str:
        """Return what every edge does to the outputs unless a frame ends."""
        _, _, valid, take = self.names
        lines = [f"if ({take}) {valid} <= 0;" if self._has("buffer") else f"{valid} <= 0;"]
        lines += ["frame_error <= 0;\nparity_error <= 0;"] if self._has("errors") else []
        lines += ["overrun <= 0;"] if self._has("buffer") else []
        return "\n".join(lines)

    def _golden(self) -> str:
        """Return a receiver that counts down to the next decision, and the bits that came."""
        has, single = self._has, self._slowest == 1
        slow, many = (2 * self._slowest).bit_length(), self._count.bit_length()
        wires, moves, resets = self._level()
        lines = [f"reg [{many - 1}:0] at;\nreg [{slow - 1}:0] tick;\nreg active;"]
        lines += [f"reg [{self.bits - 1}:0] word;\nwire level, value;"]
        lines += ["reg odd;"] if has("parity") else []
        lines += ["reg waits;"] if has("resync") else []
        lines += ["reg far, near;"] if has("sync") else []
        paces = [hw.literal(slow, p - 1) for p in self.periods]
        firsts = [hw.literal(slow, max(0, self._first(p) - 1)) for p in self.periods]
        pace = paces[0]
        if has("rate"):
            lines += [f"reg [1:0] kept;\nwire [{slow - 1}:0] pace;"]
            lines += [f"assign pace = {self._of_rate(paces, 'kept')};"]
            pace = "pace"
        lines += wires
        if has("vote"):
            lines += ["reg last, older;"]
            lines += ["assign value = level && last || level && older || last && older;"]
            moves, resets = f"{moves}\nolder <= last;\nlast <= level;", f"{resets}\nlast <= 1;"
            resets += "\nolder <= 1;"
        else:
            lines += ["assign value = level;"]
        lines += ["assign busy = active;"]
        decide = self._golden_decision(pace)
        first = self._of_rate(firsts, "rate")
        begin = f"active <= 1;\nat <= {1 if single else 0};\ntick <= {first};"
        begin += "\nodd <= 0;" if has("parity") else ""
        begin += "\nkept <= rate;" if has("rate") else ""
        free = "!level && !waits" if has("resync") else "!level"
        body = (
            f"{self._pulses()}\n{moves}\n"
            + ("if (level) waits <= 0;\n" if has("resync") else "")
            + f"if (!active) begin\n    if ({free}) begin\n{hw.indented(begin, 8)}\n    end\nend "
            f"else if (tick != 0) tick <= tick - 1;\nelse begin\n{hw.indented(decide, 4)}\nend"
        )
        reset = f"active <= 0;\n{self._reset()}"
        lines.append(hw.clocked(self.clocking, _dense(f"{reset}\n{resets}"), _dense(body)))
        return "\n".join(lines)

    def _golden_decision(self, pace: str) -> str:
        """Return the moves at the edge at which a bit is known."""
        has, single = self._has, self._slowest == 1
        step = f"word <= {{word[{self.bits - 2}:0], value}};"
        if not self.downwards:
            step = f"word <= {{value, word[{self.bits - 1}:1]}};"
        bad = "1'b0"
        if has("parity"):
            step = f"if (at <= {self.bits}) {step}\nodd <= odd ^ value;"
            bad = "odd" if not self.odd else "(!odd)"
        end = "active <= 0;\n" + ("waits <= !value;\n" if has("resync") else "")
        end += self._outcome(bad)
        false = "" if single else "if (at == 0 && value) active <= 0;\n"
        return (
            f"tick <= {pace};\nat <= at + 1;\n{false}"
            f"if (at == {self._count}) begin\n{hw.indented(end, 4)}\nend else if (at != 0) begin\n"
            f"{hw.indented(step, 4)}\nend"
        )

    def _reset(self) -> str:
        """Return the reset of the outputs, and of the wait for an idle line."""
        _, data, valid, _ = self.names
        has = self._has
        reset = f"{data} <= {hw.literal(self.bits, self.start)};\n{valid} <= 0;"
        reset += "\nframe_error <= 0;\nparity_error <= 0;" if has("errors") else ""
        reset += "\noverrun <= 0;" if has("buffer") else ""
        return reset + ("\nwaits <= 0;" if has("resync") else "")

    def _alternative(self) -> str:
        """Return a receiver that counts the edges of a frame, and compares with those of bits."""
        has, k = self._has, self._count
        last = max(self._first(p) + k * p for p in self.periods)
        wide = last.bit_length()
        wires, moves, resets = self._level()
        lines = [f"logic [{wide - 1}:0] now;\nlogic [{self.bits - 1}:0] word;"]
        lines += ["logic level, value;", "logic hit;\nint place;"]
        lines += ["logic far, near;"] if has("sync") else []
        lines += ["logic [2:0] seen;"] if has("vote") else []
        kept = [name for name, use in (("waits", "resync"), ("sum", "parity")) if has(use)]
        lines += [f"logic {', '.join(kept)};"] if kept else []
        lines += ["int pace, first;"]
        paces, firsts = [str(p) for p in self.periods], [str(self._first(p)) for p in self.periods]
        if has("rate"):
            lines.append("logic [1:0] mode;")
        lines.append(f"assign pace = {self._of_rate(paces, 'mode')};")
        lines.append(f"assign first = {self._of_rate(firsts, 'mode')};")
        lines += wires
        if has("vote"):
            lines.append("assign value = $countones({seen[1:0], level}) >= 2;")
            moves, resets = f"{moves}\nseen[1:0] <= {{seen[0], level}};", f"{resets}\nseen <= '1;"
        else:
            lines.append("assign value = level;")
        lines += [
            "assign busy = |now;",
            "always_comb begin\n    hit = 1'b0; place = 0;",
            f"    for (int n = 0; n <= {k}; n++)",
            "        if (int'(now) == first + n * pace) begin hit = |now; place = n; end\nend",
        ]
        body = self._alternative_body(moves)
        reset = f"now <= '0;\n{self._reset()}"
        lines.append(
            hw.clocked(
                self.clocking, _dense(f"{reset}\n{resets}"), _dense(body), keyword="always_ff"
            )
        )
        return "\n".join(lines)

    def _alternative_body(self, moves: str) -> str:
        """Return what happens at a clock edge."""
        has, k = self._has, self._count
        index = f"{self.bits} - place" if self.downwards else "place - 1"
        stores = (
            f"for (int n = 1; n <= {self.bits}; n++)\n"
            f"    if (place == n) word[{index.replace('place', 'n')}] <= value;"
        )
        if has("parity"):
            stores += f"\nif (place == {self.bits + 1}) sum <= ^word ^ value;"
        bad = f"(sum != 1'b{int(self.odd)})" if has("parity") else "1'b0"
        end = "now <= '0;\n" + ("waits <= ~value;\n" if has("resync") else "")
        end += self._outcome(bad)
        begin = "now <= 1'b1;" + (" mode <= rate;" if has("rate") else "")
        free = "~level & ~waits" if has("resync") else "~level"
        release = "if (level) waits <= 1'b0;\n" if has("resync") else ""
        return (
            f"{self._pulses()}\n{moves}\n{release}"
            f"if (now == 0) begin\n    if ({free}) begin {begin} end\nend else begin\n"
            "    now <= now + 1'b1;\n    if (hit) begin\n"
            f"        if (place == {k}) begin\n{hw.indented(end, 12)}\n        end\n"
            "        else if (place == 0) begin if (value) now <= '0; end\n"
            f"        else begin\n{hw.indented(stores, 12)}\n        end\n    end\nend"
        )


def _dense(text: str) -> str:
    """Return a text without empty lines."""
    return "\n".join(line for line in text.split("\n") if line.strip())
