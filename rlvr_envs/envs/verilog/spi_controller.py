"""SpiController: words exchanged with a peripheral, a bit for each period of a serial clock."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.task import (
    LANGUAGE,
    DesignConfig,
    DesignTask,
    VerilogProblem,
    feature_knob,
)
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("receive", "gaps", "mode", "burst", "select")
_MOST_BITS, _SLOWEST = 12, 8
_NAMES = (
    ("start", "data", "mosi", "miso"),
    ("send", "word", "sdo", "sdi"),
    ("go", "din", "copi", "cipo"),
    ("valid", "tx_data", "dout", "din"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpiControllerConfig(DesignConfig):
    """How long a word is, how slow its clock is, and which features are added."""

    bits: int = knob(4, "width of a word, in bits", low=2, high=_MOST_BITS)
    divider: int = knob(2, "most clock cycles in half a period", low=1, high=_SLOWEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "SpiControllerConfig":
        """Even levels add a feature, up to 10; odd ones a bit, and every third one a cycle.

        The numbers stop at 12 bits and 8 cycles.
        """
        return cls(
            bits=min(4 + (difficulty + 1) // 2, _MOST_BITS),
            divider=min(2 + (difficulty + 2) // 3, _SLOWEST),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("SpiController-v0", domain="verilog", answer_format=LANGUAGE)
class SpiControllerTask(DesignTask[SpiControllerConfig]):
    """Write a controller of the serial peripheral interface: clock, data and chip select.

    Description:
        A word is sent with a serial clock of a polarity and a phase, while another one comes in.
        Later levels add the received word, times before and after a word, inputs
        for the mode, words that share one frame, and several chip selects.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For long words
        the proof may stay open, and a long simulation decides. A reset that is not written and a
        value that is not determined count as wrong.

    Difficulty:
        Words get longer and slower, and more of their settings become inputs.

    References:
        Motorola, SPI Block Guide V03.06, for polarity and phase; Liu et al. 2023, VerilogEval,
        arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        return SpiSources(
            clocking=hw.draw_clocking(rng),
            bits=integer(rng, max(2, config.bits - 1), config.bits),
            half=integer(rng, max(1, config.divider - 1), config.divider),
            polarity=integer(rng, 0, 1),
            phase=integer(rng, 0, 1),
            downwards=bool(integer(rng, 0, 1)),
            idle=integer(rng, 0, 1),
            lead=integer(rng, 1, 3),
            trail=integer(rng, 1, 3),
            start=integer(rng, 0, 2**config.bits - 1),
            features=FEATURES[: config.features],
            names=pick(rng, _NAMES),
        ).design()

    def effort(self, problem: VerilogProblem) -> float:
        """Return Halstead's effort of the writing in stages, in which every feature shows."""
        return writing_effort(problem.golden)


# Controllers in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class SpiSources:
    """What was drawn for one controller, its rules and its sources."""

    clocking: Clocking
    bits: int
    half: int  # cycles in half a period of the serial clock
    polarity: int  # level of an idle serial clock, unless it is an input
    phase: int  # 1: bits change at the leading edge of the serial clock; unless it is an input
    downwards: bool  # whether the most significant bit is sent first
    idle: int  # level of the serial output between words
    lead: int  # cycles before the first half period
    trail: int  # cycles after the last one
    start: int  # of the received word, after reset
    features: tuple[str, ...]
    names: tuple[str, str, str, str]

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        registers = ["done", *(["rx_data"] if self._has("receive") else [])]
        registers += ["sclk", "cs_n", self.names[2]]
        return hw.Design(
            title=f"a controller of an SPI bus that sends {self.bits}-bit words",
            signals=ports,
            rules=(*self._frame_rules(), *self._time_rules(), *self._last_rules()),
            golden=hw.module(ports, self._golden(), registers=registers),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
        )

    def _has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def _lead(self) -> int:
        return self.lead if self._has("gaps") else 0

    @property
    def _trail(self) -> int:
        return self.trail if self._has("gaps") else 0

    @property
    def _shift(self) -> int:
        """Return the cycles in which the bits of a word are sent."""
        return 2 * self.bits * self.half

    @property
    def _chosen(self) -> list[tuple[str, int, str]]:
        """Return the inputs that are sampled with the first word of a frame."""
        found = [("mode", 2, "polarity (bit 1) and phase (bit 0)")] if self._has("mode") else []
        return found + ([("which", 2, "the chip select to use")] if self._has("select") else [])

    def _signals(self) -> tuple[hw.Signal, ...]:
        start, data, out, into = self.names
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            (start, 1, "1 requests to send a word"),
            (data, self.bits, "word to send"),
            *self._chosen,
        )
        if self._has("burst"):
            signals += hw.inputs(("more", 1, "1 if another word follows in the same frame"))
        if self._has("receive"):
            signals += hw.inputs((into, 1, "serial input"))
        selects = 4 if self._has("select") else 1
        signals += hw.outputs(
            ("sclk", 1, "serial clock"),
            (out, 1, "serial output"),
            (
                "cs_n",
                selects,
                "chip select, active-low" if selects == 1 else "chip selects, active-low",
            ),
            ("busy", 1, "1 while a word is sent"),
            ("done", 1, "1 in the cycle after a word"),
        )
        if self._has("receive"):
            signals += hw.outputs(("rx_data", self.bits, "the last word that was received"))
        return signals

    def _frame_rules(self) -> list[str]:
        _, _, out, into = self.names
        top = self.bits - 1
        order = f"bit {top} first" if self.downwards else "bit 0 first"
        cycles = "1 clock cycle" if self.half == 1 else f"{self.half} clock cycles"
        rules = [
            (
                f"A word is sent bit by bit, {order}, in {2 * self.bits} half periods of {cycles} "
                f"each, counted from 0. In the half periods 2 * k and 2 * k + 1, `{out}` is "
                "the k-th bit (k = 0 is the first bit)."
            )
        ]
        if self._has("mode"):
            rules.append(
                "The polarity P and the phase F of the serial clock are chosen by `mode` (see "
                "below). In half periods with an even number, `sclk` is P if F is 0, and the "
                "inverse of P if F is 1. In half periods with an odd number, it is the inverse of "
                "P if F is 0, and P if F is 1."
            )
        else:
            level = self.polarity ^ self.phase
            rules.append(
                f"In half periods with an even number, `sclk` is {level}. In half periods with "
                f"an odd number, it is {1 - level}."
            )
        if self._has("receive"):
            rules.append(
                f"`{into}` is sampled at the rising edge of `{self.clocking.clock}` that ends half "
                "period 2 * k (the last cycle of it): its value just before that edge is the k-th "
                "bit of the received word, which has the same order of bits as the sent one."
            )
        return rules

    def _active(self, level: int) -> str:
        if not self._has("select"):
            return f"`cs_n` is {level}"
        if level:
            return "all bits of `cs_n` are 1"
        return "the bit of `cs_n` whose number was sampled from `which` is 0 (the others are 1)"

    def _time_rules(self) -> list[str]:
        start, data, out, _ = self.names
        burst = self._has("burst")
        taken = [f"`{data}`", *(["`more`"] if burst else [])]
        chosen = [f"`{name}`" for name, _, _ in self._chosen]
        words = " and ".join(taken)
        verb = "are" if burst else "is"
        rules = [
            (
                f"At a rising clock edge where `{start}` is 1 and `busy` is 0, {words} {verb} "
                f"sampled, and sending begins in the next cycle. While `busy` is 1, `{start}` "
                "is ignored."
            )
        ]
        if chosen:
            when = "At such an edge, if no frame is open, " if burst else "At the same edge, "
            again = (
                " If a frame is open, the values sampled at its beginning stay." if burst else ""
            )
            mode = (
                " P is `mode[1]` and F is `mode[0]`, as last sampled." if self._has("mode") else ""
            )
            are = "are" if len(chosen) > 1 else "is"
            rules.append(f"{when}{' and '.join(chosen)} {are} sampled as well.{again}{mode}")
        parts = []
        lead, trail = self._lead, self._trail
        only = ", only if no frame was open when the word was sampled," if burst else ""
        if lead:
            parts.append(
                f"{lead} cycle{'s' * (lead > 1)}{only} in which `sclk` is idle and `{out}` is the "
                "first bit"
            )
        parts.append(f"the {2 * self.bits} half periods")
        if trail:
            last = ", only if `more` was sampled as 0," if burst else ""
            parts.append(
                f"{trail} cycle{'s' * (trail > 1)}{last} in which `sclk` is idle and `{out}` is "
                "the last bit"
            )
        idle = "P" if self._has("mode") else str(self.polarity)
        rules.append(
            f"Sending a word takes these cycles in this order: {'; then '.join(parts)}. `busy` "
            f"is 1 in all of them and 0 in all other cycles. An idle `sclk` has the level {idle}."
            + (" After reset, P is 0." if self._has("mode") else "")
        )
        if burst:
            rules.append(
                "A frame is open from the first cycle of a word on. It ends with the last cycle of "
                "a word for which `more` was sampled as 0. After a word for which `more` was "
                f"sampled as 1 it stays open until the next word begins, which continues it. While "
                f"a frame is open, {self._active(0)}. Otherwise {self._active(1)}."
            )
        else:
            rules.append(f"While `busy` is 1, {self._active(0)}. Otherwise {self._active(1)}.")
        return rules

    def _last_rules(self) -> list[str]:
        out = self.names[2]
        rules = [f"While `busy` is 0, `sclk` is idle and `{out}` is {self.idle}."]
        got = ""
        if self._has("receive"):
            got = " At the edge that ends the last cycle of a word, `rx_data` takes the received "
            got += "word, which it keeps until the next one."
        rules.append(
            "`done` is 1 in the cycle after the last cycle in which a word is sent, and 0 in all "
            f"other cycles. The next word can begin at the edge that ends this cycle.{got}"
        )
        frame = " and closes the frame" if self._has("burst") else ""
        start = ""
        if self._has("receive"):
            start = f" and `rx_data` to {hw.literal(self.bits, self.start)}"
        rules.append(
            f"Reset aborts the sending of a word{frame}. It sets `done` to 0{start}. All outputs "
            "depend on the state only, not on the current inputs."
        )
        return rules

    def _levels(self) -> tuple[str, str]:
        """Return polarity and phase as expressions."""
        if self._has("mode"):
            return "polar", "phase"
        return f"1'b{self.polarity}", f"1'b{self.phase}"

    def _golden(self) -> str:
        """Return stages with a count of half periods and one of cycles, and words that shift."""
        out = self.names[2]
        has, b = self._has, self.bits
        halves = (2 * b - 1).bit_length()
        longest = max(self.half, self._lead, self._trail)
        slow = max(1, (longest - 1).bit_length())
        polar, phase = self._levels()
        select = hw.literal(4, 15) if has("select") else "1'b1"
        chosen = "~(4'd1 << target)" if has("select") else "1'b0"
        lines = [
            f"reg [1:0] stage;\nreg [{halves - 1}:0] half;\nreg [{slow - 1}:0] tick;",
            f"reg [{b - 1}:0] shift;\nwire last = tick == 0;\nassign busy = stage != 0;",
        ]
        lines += ["reg polar, phase;"] if has("mode") else []
        lines += ["reg [1:0] target;"] if has("select") else []
        lines += ["reg open, follows;"] if has("burst") else []
        lines += [f"reg [{b - 1}:0] got;"] if has("receive") else []
        bit = f"shift[{b - 1}]" if self.downwards else "shift[0]"
        is_open = "open" if has("burst") else "stage != 0"
        lines.append(
            f"always @(*) begin\n    sclk = {polar};\n    if (stage == 2) sclk = {polar} ^ {phase} "
            f"^ half[0];\n    {out} = stage == 0 ? 1'b{self.idle} : {bit};\n"
            f"    cs_n = {is_open} ? {chosen} : {select};\nend"
        )
        body = self._golden_body()
        reset = "stage <= 0;\ndone <= 0;"
        reset += "\npolar <= 0;" if has("mode") else ""
        reset += "\nopen <= 0;" if has("burst") else ""
        reset += f"\nrx_data <= {hw.literal(b, self.start)};" if has("receive") else ""
        lines.append(hw.clocked(self.clocking, reset, body))
        return "\n".join(lines)

    @property
    def _ticks(self) -> list[int]:
        """Return the cycles of a lead, of half a period and of a trail, counted down to 0."""
        return [max(0, n - 1) for n in (self._lead, self.half, self._trail)]

    def _golden_body(self) -> str:
        """Return what happens at a clock edge."""
        start, ticks = self.names[0], self._ticks
        straight = f"stage <= 2;\ntick <= {ticks[1]};"
        begin, (step, direct) = self._golden_begin(straight), self._golden_step()
        stages = step
        if self._has("gaps"):
            stages = (
                f"case (stage)\n    1: begin\n{hw.indented(straight, 8)}\n    end\n    2: begin\n"
                f"{hw.indented(step, 8)}\n    end\n    default: begin\n"
                f"{hw.indented(direct, 8)}\n    end\nendcase"
            )
        return (
            f"done <= 0;\nif (stage == 0) begin\n    if ({start}) begin\n"
            f"{hw.indented(begin, 8)}\n    end\nend else if (!last) tick <= tick - 1;\n"
            f"else begin\n{hw.indented(stages, 4)}\nend"
        )

    def _golden_begin(self, straight: str) -> str:
        """Return the moves at the beginning of a word."""
        data, has, ticks = self.names[1], self._has, self._ticks
        first = f"stage <= 1;\ntick <= {ticks[0]};"
        begin = f"shift <= {data};\nhalf <= 0;\n"
        samples = "polar <= mode[1];\nphase <= mode[0];\n" if has("mode") else ""
        samples += "target <= which;\n" if has("select") else ""
        if has("burst"):
            begin += "open <= 1;\nfollows <= more;\n"
            if samples:
                begin += f"if (!open) begin\n{hw.indented(samples, 4)}\nend\n"
            begin += (
                f"if (!open) begin\n{hw.indented(first, 4)}\nend else begin\n"
                f"{hw.indented(straight, 4)}\nend"
                if self._lead
                else straight
            )
        else:
            begin += samples + (first if self._lead else straight)
        return begin

    def _golden_step(self) -> tuple[str, str]:
        """Return the moves at the end of half a period, and those at the end of a word."""
        into, has, b, ticks = self.names[3], self._has, self.bits, self._ticks
        move = f"{{shift[{b - 2}:0], shift[{b - 1}]}}"
        if not self.downwards:
            move = f"{{shift[0], shift[{b - 1}:1]}}"
        finish = "stage <= 0;\ndone <= 1;"
        finish += "\nopen <= follows;" if has("burst") else ""
        direct = finish
        if has("receive"):
            direct += "\nrx_data <= got;"
        ending = direct
        if self._trail:
            ending = f"stage <= 3;\ntick <= {ticks[2]};"
            if has("burst"):
                ending = (
                    f"if (follows) begin\n{hw.indented(direct, 4)}\nend else begin\n"
                    f"{hw.indented(ending, 4)}\nend"
                )
        sample = ""
        if has("receive"):
            into_got = (
                f"{{got[{b - 2}:0], {into}}}" if self.downwards else (f"{{{into}, got[{b - 1}:1]}}")
            )
            sample = f"if (!half[0]) got <= {into_got};\n"
        # The last bit stays at the output: the word does not turn after the last half period.
        step = (
            f"{sample}if (half == {2 * b - 1}) begin\n{hw.indented(ending, 4)}\nend else begin\n"
            f"    half <= half + 1;\n    tick <= {ticks[1]};\n    if (half[0]) shift <= {move};\n"
            "end"
        )
        return step, direct

    def _alternative(self) -> str:
        """Return a count of all cycles of a word, from which everything else follows."""
        out = self.names[2]
        has, b = self._has, self.bits
        total = self._lead + self._shift + self._trail
        wide = total.bit_length()
        polar, phase = self._levels()
        end = f"{wide}'d{total}"
        if has("burst") and self._trail:
            end = f"(keep ? {wide}'d{self._lead + self._shift} : {wide}'d{total})"
        lines = [
            f"logic [{wide - 1}:0] now;\nlogic [{b - 1}:0] held;\nlogic moving, final_one, odd;",
            "int place, spot;",
        ]
        lines += ["logic polar, phase;"] if has("mode") else []
        lines += ["logic [1:0] line;"] if has("select") else []
        lines += ["logic opened, keep;"] if has("burst") else []
        lines += [f"logic [{b - 1}:0] came;"] if has("receive") else []
        first, behind = self._lead, self._lead + self._shift
        lines += [
            "always_comb begin\n    place = 0;",
            f"    for (int k = 1; k < {2 * b}; k++)",
            f"        if (int'(now) > {first} + k * {self.half}) place = k;\nend",
            f"assign moving = now > {first} && now <= {behind};",
            f"assign odd = place[0];\nassign final_one = now == {end};",
            f"assign spot = {f'{b - 1} - place / 2' if self.downwards else 'place / 2'};",
            f"assign sclk = {polar} ^ (moving & ({phase} ^ odd));",
            "assign busy = |now;",
            f"always_comb begin\n    {out} = 1'b{self.idle};",
            f"    for (int k = 0; k < {b}; k++) if (busy && spot == k) {out} = held[k];\nend",
        ]
        inside = "(busy | opened)" if has("burst") else "busy"
        if has("select"):
            lines.append(f"always_comb begin\n    cs_n = '1;\n    cs_n[line] = ~{inside};\nend")
        else:
            lines.append(f"assign cs_n = ~{inside};")
        body = self._alternative_body(wide)
        reset = "now <= '0; done <= 1'b0;"
        reset += " polar <= 1'b0;" if has("mode") else ""
        reset += " opened <= 1'b0;" if has("burst") else ""
        reset += f" rx_data <= {hw.literal(b, self.start)};" if has("receive") else ""
        lines.append(hw.clocked(self.clocking, reset, body, keyword="always_ff"))
        return "\n".join(lines)

    def _alternative_body(self, wide: int) -> str:
        """Return what happens at a clock edge."""
        start, data, _, into = self.names
        has, b, first = self._has, self.bits, self._lead
        samples = " {polar, phase} <= mode;" if has("mode") else ""
        samples += " line <= which;" if has("select") else ""
        begin = f"held <= {data}; now <= {wide}'d1;"
        if has("burst"):
            begin += " keep <= more;"
            begin += f" if (opened) now <= {wide}'d{first + 1};"
            begin += f" else begin{samples} end" if samples else ""
        else:
            begin += samples
        edge = f"int'(now) == {first} + (place + 1) * {self.half}"
        body = "done <= final_one;\n"
        if has("receive"):
            body += (
                f"for (int k = 0; k < {b}; k++)\n"
                f"    if (moving & ~odd && {edge} && spot == k) came[k] <= {into};\n"
                "if (final_one) rx_data <= came;\n"
            )
        body += "if (final_one) now <= '0;\nelse if (busy) now <= now + 1'b1;\n"
        body += "if (final_one) opened <= keep;\n" if has("burst") else ""
        body += f"if (~busy & {start}) begin {begin} end"
        return body
