"""AsyncFifo: a queue between two clocks, with pointers in Gray code."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import (
    LANGUAGE,
    DesignConfig,
    DesignTask,
    VerilogProblem,
    feature_knob,
)
from rlvr_envs.generators.hardware.wording import timing, wording
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("counts", "errors", "almost", "peak")
_NAMES = (
    ("push", "din", "pop", "dout"),
    ("wr_en", "wdata", "rd_en", "rdata"),
    ("winc", "wword", "rinc", "rword"),
)
_CLOCKS = (("wclk", "rclk"), ("clk_w", "clk_r"), ("clk_in", "clk_out"), ("src_clk", "dst_clk"))
_RESETS = {1: ("rst", "areset", "arst"), 0: ("rst_n", "aresetn", "nreset")}
_MOST_BITS, _WIDEST = 4, 16


@dataclass(frozen=True, slots=True, kw_only=True)
class AsyncFifoConfig(DesignConfig):
    """How large the queue is, and which features are added."""

    address: int = knob(2, "bits of the place of a word", low=1, high=_MOST_BITS)
    width: int = knob(4, "width of a word, in bits", low=2, high=_WIDEST)
    features: int = feature_knob(1, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "AsyncFifoConfig":
        """Every level adds a bit, even ones up to 8 a feature, and every 4th doubles the queue.

        The numbers stop at 16 words of 16 bits.
        """
        return cls(
            address=min(1 + (difficulty + 3) // 4, _MOST_BITS),
            width=min(2 + difficulty, _WIDEST),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("AsyncFifo-v0", domain="verilog", answer_format=LANGUAGE)
class AsyncFifoTask(DesignTask[AsyncFifoConfig]):
    """Write a FIFO with two clocks, whose flags lag by flip-flops in a known way.

    Description:
        Words are written with one clock and read with another. Counters of both sides pass to the
        other one in Gray code through flip-flops, so that flags are late by a known number of
        edges. Later levels add counts, error flags, thresholds, and the highest count that was
        seen.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md), with both
        clocks as inputs: edges come in any order, at even and uneven distances, and at once. The
        proof mostly stays open, and a long simulation decides. Metastability is not simulated.

    Difficulty:
        The queue gets larger, and more outputs depend on what is late.

    References:
        Cummings, Simulation and Synthesis Techniques for Asynchronous FIFO Design, SNUG 2002.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        active = integer(rng, 0, 1)
        clocks = pick(rng, _CLOCKS)
        return AsyncFifoSources(
            clocking=Clocking(clocks[0], pick(rng, _RESETS[active]), active, asynchronous=True),
            reading=clocks[1],
            address=config.address,
            width=config.width,
            stages=integer(rng, 1, 3),
            idle=integer(rng, 0, 2**config.width - 1),
            high=integer(rng, 2 ** (config.address - 1), 2**config.address),
            low=integer(rng, 0, 2 ** (config.address - 1)),
            sticky=bool(integer(rng, 0, 1)),
            registered=bool(integer(rng, 0, 1)),
            features=FEATURES[: config.features],
            names=pick(rng, _NAMES),
        ).design()

    def prompt(self, problem: VerilogProblem) -> str:
        clocking = problem.clocking
        text = wording(problem.design, problem.layout)
        if clocking is None:  # never: every design of the family has a clock
            return text
        reading = next(s.name for s in problem.signals if s.meaning == _READ_CLOCK)
        return text.replace(timing(clocking), two_clocks(clocking, reading))


_READ_CLOCK = "clock of the read side"


def two_clocks(clocking: Clocking, reading: str) -> str:
    """Return when the state changes, and how the reset works."""
    level = "active-high" if clocking.reset_active else "active-low"
    return (
        f"There are two clocks: `{clocking.clock}` of the write side and `{reading}` of the read "
        "side. Nothing is known about their edges: they may come in any order, at any distance, "
        "and also at the same time. A register of a side changes only at a rising edge of its "
        "clock, or when reset is asserted. Its new value depends on the values of inputs and "
        "registers just before that edge, also where the other clock rises at the same time. "
        f"`{clocking.reset}` is an asynchronous, {level} reset of all registers of both sides: it "
        f"takes effect at once, without a clock edge, and lasts as long as `{clocking.reset}` is "
        f"{clocking.reset_active}. Reset takes priority over everything else; an edge of a clock "
        "at the very time at which the reset ends changes nothing. Reset is active at the "
        "beginning; before that, the state is unknown."
    )


# Queues in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class AsyncFifoSources:
    """What was drawn for one FIFO, its rules and its sources."""

    clocking: Clocking  # of the write side; its reset is that of both
    reading: str  # the clock of the read side
    address: int
    width: int
    stages: int  # flip-flops between the sides
    idle: int  # at the output without a word
    high: int  # of the flag of a nearly full queue
    low: int  # of the flag of a nearly empty queue
    sticky: bool  # whether error flags stay
    registered: bool  # whether a word shows after it is read instead of before
    features: tuple[str, ...]
    names: tuple[str, str, str, str]

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        registers = ["overflow", "underflow"] if self._has("errors") else []
        registers += [self.names[3]] if self.registered else []
        registers += ["peak"] if self._has("peak") else []
        return hw.Design(
            title=f"a FIFO for {self._depth} words of {self.width} bits, with a clock for each "
            "side",
            signals=ports,
            rules=(*self._count_rules(), *self._flag_rules(), *self._output_rules()),
            golden=hw.module(ports, self._golden(), registers=registers),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
        )

    def _has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def _depth(self) -> int:
        return 1 << self.address

    @property
    def _read(self) -> Clocking:
        """The clocking of the read side."""
        reset = self.clocking
        return Clocking(self.reading, reset.reset, reset.reset_active, asynchronous=True)

    def _signals(self) -> tuple[hw.Signal, ...]:
        (push, word, pop, shown), bits = self.names, self.address + 1
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            (self.reading, 1, _READ_CLOCK),
            (push, 1, "write side: 1 writes a word"),
            (word, self.width, "write side: word to write"),
            (pop, 1, "read side: 1 reads a word"),
        )
        signals += hw.outputs(
            (shown, self.width, "read side: a word"),
            ("full", 1, "write side: 1 if no word can be written"),
            ("empty", 1, "read side: 1 if no word can be read"),
            ("wgray", bits, "write side: the write counter in Gray code"),
            ("rgray", bits, "read side: the read counter in Gray code"),
        )
        if self._has("counts"):
            signals += hw.outputs(
                ("wcount", bits, "write side: number of words as seen there"),
                ("rcount", bits, "read side: number of words as seen there"),
            )
        if self._has("errors"):
            signals += hw.outputs(
                ("overflow", 1, "write side: 1 if a word was lost"),
                ("underflow", 1, "read side: 1 if there was no word to read"),
            )
        if self._has("almost"):
            signals += hw.outputs(
                ("almost_full", 1, "write side: 1 if many words are seen"),
                ("almost_empty", 1, "read side: 1 if few words are seen"),
            )
        if self._has("peak"):
            signals += hw.outputs(("peak", bits, "write side: highest number of words seen"))
        return signals

    def _count_rules(self) -> list[str]:
        push, word, pop, _ = self.names
        flops = "one flip-flop" if self.stages == 1 else f"{self.stages} flip-flops in series"
        last = "the flip-flop" if self.stages == 1 else "the last flip-flop"
        bits, modulo = self.address + 1, 2 * self._depth
        return [
            (
                f"The write side has a counter W and the read side a counter R, both of {bits} "
                f"bits (modulo {modulo}), and 0 after reset. The Gray code of a number n is n "
                "XOR (n shifted right by one bit, with a 0 in front). `wgray` is the Gray code "
                "of W, `rgray` that of R."
            ),
            (
                f"`rgray` passes through {flops} of the write side, each of which takes its "
                f"new value at every rising edge of `{self.clocking.clock}`. In the same way, "
                f"`wgray` passes through {flops} of the read side, at every rising edge of "
                f"`{self.reading}`. Reset sets all of them to 0. R' is the number whose Gray "
                f"code is in {last} of the write side, W' the one whose Gray code is in {last} of "
                "the read side."
            ),
            (
                f"The write side sees W - R' words, the read side sees W' - R words (both modulo "
                f"{modulo}). `full` is 1 if and only if the write side sees {self._depth} words. "
                "`empty` is 1 if and only if the read side sees 0 words."
            ),
            (
                f"At a rising edge of `{self.clocking.clock}` where `{push}` is 1 and `full` is 0, "
                f"`{word}` is stored at the place W modulo {self._depth}, and W goes up by 1. If "
                "`full` is 1, the word is lost."
            ),
            (
                f"At a rising edge of `{self.reading}` where `{pop}` is 1 and `empty` is 0, R "
                f"goes up by 1. If `empty` is 1, `{pop}` is ignored."
            ),
        ]

    def _flag_rules(self) -> list[str]:
        push, _, pop, _ = self.names
        rules = []
        if self._has("counts"):
            rules.append(
                "`wcount` is the number of words that the write side sees, and `rcount` the number "
                "that the read side sees."
            )
        if self._has("errors"):
            stay = "stays 1 until reset" if self.sticky else "becomes 0 at every other such edge"
            rules.append(
                f"`overflow` is a register of the write side: it becomes 1 at a rising edge of "
                f"`{self.clocking.clock}` where `{push}` and `full` are 1, and {stay}. `underflow` "
                f"is a register of the read side: it becomes 1 at a rising edge of "
                f"`{self.reading}` where `{pop}` and `empty` are 1, and {stay}. Reset sets both "
                "to 0."
            )
        if self._has("almost"):
            few = f"at most {self.low} words" if self.low else "0 words"
            rules.append(
                f"`almost_full` is 1 if and only if the write side sees at least {self.high} "
                f"word{'s' * (self.high > 1)}. `almost_empty` is 1 if and only if the read side "
                f"sees {few.replace('1 words', '1 word')}."
            )
        if self._has("peak"):
            rules.append(
                "`peak` is a register of the write side, and 0 after reset. At each rising edge of "
                f"`{self.clocking.clock}`, it becomes the number of words that the write side sees "
                "before that edge, if that is greater than `peak`."
            )
        return rules

    def _output_rules(self) -> list[str]:
        shown, idle = self.names[3], hw.literal(self.width, self.idle)
        place = f"the word at the place R modulo {self._depth}"
        if self.registered:
            first = (
                f"`{shown}` is a register of the read side. At a rising edge of `{self.reading}` "
                f"where R goes up, it becomes {place}, with R as before the edge. At all other "
                f"edges it keeps its value. Reset sets it to {idle}."
            )
        else:
            first = f"`{shown}` is {place} while `empty` is 0, and {idle} while `empty` is 1."
        return [
            first,
            "All outputs depend on registers only, not on the current inputs (other than reset).",
        ]

    def _binary(self, gray: str, name: str) -> str:
        """Return a wire with the number of a Gray code."""
        bits = range(self.address + 1)
        terms = ", ".join(f"^({gray} >> {k})" for k in reversed(bits))
        return f"wire [{self.address}:0] {name} = {{{terms}}};"

    def _golden(self) -> str:
        """Return counters beside their Gray codes, and chains of named flip-flops."""
        (push, word, pop, shown), a, n = self.names, self.address, self.stages
        has, idle = self._has, hw.literal(self.width, self.idle)
        lines = [
            f"reg [{self.width - 1}:0] store [0:{self._depth - 1}];\nreg [{a}:0] wbin, rbin;",
            *(f"reg [{a}:0] {side}{k};" for side in "wr" for k in range(1, n + 1)),
            "assign wgray = wbin ^ (wbin >> 1);\nassign rgray = rbin ^ (rbin >> 1);",
            self._binary(f"r{n}", "there"),
            self._binary(f"w{n}", "here"),
            f"wire [{a}:0] wseen = wbin - there;\nwire [{a}:0] rseen = here - rbin;",
            f"assign full = wseen == {self._depth};\nassign empty = rseen == 0;",
        ]
        if has("counts"):
            lines.append("assign wcount = wseen;\nassign rcount = rseen;")
        if has("almost"):
            lines.append(
                f"assign almost_full = wseen >= {self.high};\n"
                f"assign almost_empty = rseen <= {self.low};"
            )
        keeps = ("overflow || ", "underflow || ") if self.sticky else ("", "")
        for clocking, side, other, own, seen, moves in (
            (self.clocking, "r", "rgray", "wbin", "wseen", f"{push} && !full"),
            (self._read, "w", "wgray", "rbin", "rseen", f"{pop} && !empty"),
        ):
            writes = side == "r"
            reset = [f"{own} <= 0;", *(f"{side}{k} <= 0;" for k in range(1, n + 1))]
            body = [f"if ({moves}) {own} <= {own} + 1;", f"{side}1 <= {other};"]
            body += [f"{side}{k} <= {side}{k - 1};" for k in range(2, n + 1)]
            if has("errors"):
                flag, keep = ("overflow", keeps[0]) if writes else ("underflow", keeps[1])
                event = f"{push} && full" if writes else f"{pop} && empty"
                reset.append(f"{flag} <= 0;")
                body.append(f"{flag} <= {keep}{event};")
            if has("peak") and writes:
                reset.append("peak <= 0;")
                body.append(f"if ({seen} > peak) peak <= {seen};")
            if self.registered and not writes:
                reset.append(f"{shown} <= {idle};")
                body.append(f"if ({moves}) {shown} <= store[rbin[{a - 1}:0]];")
            lines.append(hw.clocked(clocking, "\n".join(reset), "\n".join(body)))
        lines.append(
            f"always @(posedge {self.clocking.clock})\n"
            f"    if ({push} && !full) store[wbin[{a - 1}:0]] <= {word};"
        )
        if not self.registered:
            lines.append(f"assign {shown} = empty ? {idle} : store[rbin[{a - 1}:0]];")
        return "\n".join(lines)

    def _alternative(self) -> str:
        """Return flags by comparing Gray codes, and words in one vector."""
        (push, word, pop, shown), a, n = self.names, self.address, self.stages
        has, idle, w = self._has, hw.literal(self.width, self.idle), self.width
        top = (a + 1) * n - 1
        low = f", far[{a - 2}:0]" if a > 1 else ""
        lines = [
            f"logic [{self._depth * w - 1}:0] words;\nlogic [{top}:0] to_write, to_read;",
            f"logic [{a}:0] wnow, rnow, far, near;\nlogic puts, takes;\nlogic [{w - 1}:0] oldest;",
            f"assign far = to_write[{top} -: {a + 1}];\nassign near = to_read[{top} -: {a + 1}];",
            f"assign full = wgray == {{~far[{a}:{a - 1}]{low}}};\nassign empty = rgray == near;",
            (
                f"assign wgray = {{1'b0, wnow[{a}:1]}} ^ wnow;\nassign rgray = "
                f"{{1'b0, rnow[{a}:1]}} ^ rnow;"
            ),
            f"assign puts = {push} & ~full;\nassign takes = {pop} & ~empty;",
            f"assign oldest = words[rnow[{a - 1}:0] * {w} +: {w}];",
        ]
        if {"counts", "almost", "peak"} & set(self.features):
            lines += [
                f"logic [{a}:0] far_number, near_number, wlevel, rlevel;",
                "always_comb begin",
                f"    far_number[{a}] = far[{a}]; near_number[{a}] = near[{a}];",
                f"    for (int k = {a - 1}; k >= 0; k--) begin",
                "        far_number[k] = far_number[k + 1] ^ far[k];",
                "        near_number[k] = near_number[k + 1] ^ near[k];\n    end\nend",
                "assign wlevel = wnow - far_number;\nassign rlevel = near_number - rnow;",
            ]
        if has("counts"):
            lines.append("assign wcount = wlevel;\nassign rcount = rlevel;")
        if has("almost"):
            lines.append(
                f"assign almost_full = ~(wlevel < {self.high});\n"
                f"assign almost_empty = ~(rlevel > {self.low});"
            )
        keeps = ("overflow | ", "underflow | ") if self.sticky else ("", "")
        low_part = f"[{top - a - 1}:0]"
        chain = ["rgray", "wgray"]
        if n > 1:
            chain = [f"{{to_write{low_part}, rgray}}", f"{{to_read{low_part}, wgray}}"]
        reset, body = (
            ["wnow <= '0; to_write <= '0;"],
            [f"wnow <= wnow + {a + 1}'(puts); to_write <= {chain[0]};"],
        )
        if has("errors"):
            reset.append("overflow <= 1'b0;")
            body.append(f"overflow <= {keeps[0]}({push} & full);")
        if has("peak"):
            reset.append("peak <= '0;")
            body.append("peak <= peak < wlevel ? wlevel : peak;")
        lines.append(
            hw.clocked(self.clocking, "\n".join(reset), "\n".join(body), keyword="always_ff")
        )
        reset, body = (
            ["rnow <= '0; to_read <= '0;"],
            [f"rnow <= rnow + {a + 1}'(takes); to_read <= {chain[1]};"],
        )
        if has("errors"):
            reset.append("underflow <= 1'b0;")
            body.append(f"underflow <= {keeps[1]}({pop} & empty);")
        if self.registered:
            reset.append(f"{shown} <= {idle};")
            body.append(f"{shown} <= takes ? oldest : {shown};")
        else:
            lines.append(f"assign {shown} = empty ? {idle} : oldest;")
        lines.append(hw.clocked(self._read, "\n".join(reset), "\n".join(body), keyword="always_ff"))
        lines.append(
            f"always_ff @(posedge {self.clocking.clock})\n"
            f"    if (puts) words[wnow[{a - 1}:0] * {w} +: {w}] <= {word};"
        )
        return "\n".join(lines)
