"""ClockDivider: ticks and slower square waves out of a clock."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("enable", "square", "ratio", "restart", "cascade", "fraction")
_WIDEST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockDividerConfig(DesignConfig):
    """How long periods are, and what controls them."""

    width: int = knob(3, "width of the period length, in bits", low=2, high=_WIDEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "ClockDividerConfig":
        """Two levels of three add a feature, up to 9; the third makes periods a bit longer.

        The numbers stop at periods of 10 bits.
        """
        return cls(
            width=min(2 + (difficulty + 2) // 3, _WIDEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("ClockDivider-v0", domain="verilog", answer_format=LANGUAGE)
class ClockDividerTask(DesignTask[ClockDividerConfig]):
    """Write a clock divider with ticks, square waves, and programmable or fractional ratios.

    Description:
        A tick comes once per period of some cycles, and a wave is high for half of it. The period
        may be an input that is sampled when a period begins. Later levels add an enable, a
        restart, a second cascaded divider, and a fractional ratio.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For long
        periods the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        Periods get longer, and more inputs control them.

    References:
        Arora, The Art of Hardware Architecture, chapter 4, for dividers of clocks; Liu et al.
        2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        top = 2**config.width - 1
        parts = integer(rng, 3, 7)
        return DividerSources(
            clocking=hw.draw_clocking(rng),
            width=config.width,
            period=integer(rng, max(2, top // 2), top),
            first=bool(integer(rng, 0, 1)),
            high_first=bool(integer(rng, 0, 1)),
            rounds_up=bool(integer(rng, 0, 1)),
            zero=pick(rng, (1, top + 1)),
            gated=bool(integer(rng, 0, 1)),
            second=integer(rng, 2, 5),
            parts=parts,
            longer=integer(rng, 1, parts - 1),
            features=FEATURES[: config.features],
            tick=pick(rng, ("tick", "pulse", "strobe")),
            wave=pick(rng, ("wave", "clk_out", "square")),
            enable=pick(rng, ("enable", "run", "ce")),
        ).design()


# Clock dividers in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class DividerSources:
    """What was drawn for one divider, its rules and its sources."""

    clocking: Clocking
    width: int
    period: int  # where no input gives it
    first: bool  # whether a tick comes in the first cycle of a period instead of the last
    high_first: bool  # whether the wave is high in the first half
    rounds_up: bool  # whether its first half is the longer one
    zero: int  # what a ratio of 0 means
    gated: bool  # whether there is no tick while the divider stands
    second: int  # ticks of a period of the second divider
    parts: int  # periods after which the lengths repeat
    longer: int  # how many of these are longer by one
    features: tuple[str, ...]
    tick: str
    wave: str
    enable: str

    def design(self) -> hw.Design:
        ports = self._signals()
        ratio = "a programmable ratio" if "ratio" in self.features else f"ratio {self.period}"
        return hw.Design(
            title=f"a clock divider with {ratio}",
            signals=ports,
            rules=self._rules(),
            golden=hw.module(ports, self._golden()),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
        )

    @property
    def _bits(self) -> int:
        """Return the bits of the longest period."""
        return self.width + 1

    def _signals(self) -> tuple[hw.Signal, ...]:
        has = self.features.__contains__
        signals = hw.clock_signals(self.clocking)
        if has("enable"):
            signals += hw.inputs((self.enable, 1, "count enable"))
        if has("restart"):
            signals += hw.inputs(("restart", 1, "1 starts a new period"))
        if has("ratio"):
            signals += hw.inputs(
                (
                    "ratio",
                    self.width,
                    "length of the next period, in enabled cycles"
                    if has("enable")
                    else "length of the next period, in cycles",
                )
            )
        signals += hw.outputs((self.tick, 1, "1 once per period"))
        if has("square"):
            signals += hw.outputs((self.wave, 1, "square wave, high for half of each period"))
        if has("cascade"):
            signals += hw.outputs(("slow", 1, f"1 once per {self.second} periods"))
        return signals

    def _rules(self) -> tuple[str, ...]:
        has = self.features.__contains__
        edge = f"rising edge where `{self.enable}` is 1" if has("enable") else "rising edge"
        rules = [
            (
                "The divider holds a position within the current period, and the length of that "
                f"period. Reset sets the position to 0 and the length to {self.period}. At each "
                f"{edge}, the position increases by 1; if it was length - 1, it becomes 0 instead. "
                "Such an edge ends the period and begins a new one."
            )
        ]
        if has("ratio"):
            rules.append(
                "The length of the new period is the value of `ratio` at that edge, or "
                f"{self.zero} if `ratio` is 0."
            )
        else:
            rules.append(f"The length of the new period is {self.period}.")
        if has("fraction"):
            rules.append(
                "A remainder, which reset sets to 0, makes some periods longer. At each edge that "
                f"ends a period, add {self.longer} to the remainder. If the sum is {self.parts} or "
                f"more, the remainder becomes the sum minus {self.parts}, and the new period is 1 "
                "longer than stated above. Otherwise the remainder becomes the sum."
            )
        return (*rules, *self._other_rules())

    def _other_rules(self) -> list[str]:
        has, rules = self.features.__contains__, []
        if has("cascade"):
            rules.append(
                "A second counter, which reset sets to 0, increases by 1 at each edge that ends a "
                f"period, and goes from {self.second - 1} to 0."
            )
        if has("restart"):
            length = (
                f"`ratio` (or {self.zero} if `ratio` is 0)" if has("ratio") else f"{self.period}"
            )
            zeros = ["the position"] + ["the remainder"] * has("fraction")
            zeros += ["the second counter"] * has("cascade")
            rules.append(
                f"`restart` takes priority over all rules above and does not need "
                f"`{self.enable}`: at a rising edge where `restart` is 1, {' and '.join(zeros)} "
                f"become{'s' * (len(zeros) == 1)} 0, and the length becomes {length}."
            )
        place = "0" if self.first else "length - 1"
        while_ = f" and `{self.enable}` is 1" if has("enable") and self.gated else ""
        rules.append(
            f"`{self.tick}` is combinational: it is 1 if and only if the position is "
            f"{place}{while_}."
        )
        if has("square"):
            half = "up" if self.rounds_up else "down"
            level = "less than" if self.high_first else "greater than or equal to"
            rules.append(
                f"`{self.wave}` is combinational: it is 1 if and only if the position is {level} "
                f"half of the length (rounded {half} if the length is odd)."
            )
        if has("cascade"):
            rules.append(
                f"`slow` is combinational: it is 1 if and only if `{self.tick}` is 1 and the "
                f"second counter is {self.second - 1}."
            )
        return rules

    def _tick(self, place: str) -> str:
        gate = f" && {self.enable}" if "enable" in self.features and self.gated else ""
        return f"assign {self.tick} = {place}{gate};"

    def _new_length(self) -> str:
        """Return the length of a new period without what the remainder adds."""
        if "ratio" not in self.features:
            return hw.literal(self._bits, self.period)
        return f"(ratio == 0 ? {hw.literal(self._bits, self.zero)} : {{1'b0, ratio}})"

    def _golden(self) -> str:
        """Return a rising position that is compared with a kept length."""
        has, b = self.features.__contains__, self._bits
        varies, start = has("ratio"), hw.literal(b, self.period)
        lines = [f"reg [{b - 1}:0] at;"]
        lines.append(
            f"reg [{b - 1}:0] length;" if varies else f"wire [{b - 1}:0] length = {start};"
        )
        lines.append("wire ends = at + 1 == length;")
        reset, again, new = "at <= 0;", "at <= 0;", self._new_length()
        turn = "at <= 0;"
        if has("fraction"):
            size = (2 * self.parts).bit_length()
            lines.append(
                f"reg [{size - 1}:0] rest;\nwire [{size - 1}:0] sum = rest + {self.longer};"
            )
            lines.append(f"wire more = sum >= {self.parts};")
            reset, again = f"{reset}\nrest <= 0;", f"{again}\nrest <= 0;"
            turn += f"\nrest <= more ? sum - {self.parts} : sum;"
        if varies:
            reset, again = f"{reset}\nlength <= {start};", f"{again}\nlength <= {new};"
            turn += f"\nlength <= {new}{' + more' if has('fraction') else ''};"
        if has("cascade"):
            size, top = self.second.bit_length(), self.second - 1
            lines.append(f"reg [{size - 1}:0] turns;")
            reset, again = f"{reset}\nturns <= 0;", f"{again}\nturns <= 0;"
            turn += f"\nturns <= turns == {top} ? 0 : turns + 1;"
        body = f"if (ends) begin\n{hw.indented(turn, 4)}\nend else at <= at + 1;"
        if has("enable"):
            body = f"if ({self.enable}) begin\n{hw.indented(body, 4)}\nend"
        if has("restart"):
            body = f"else begin\n{hw.indented(body, 4)}\nend"
            body = f"if (restart) begin\n{hw.indented(again, 4)}\nend {body}"
        lines += [
            hw.clocked(self.clocking, reset, body),
            self._tick("at == 0" if self.first else "ends"),
        ]
        if has("square"):
            half = "((length + 1) >> 1)" if self.rounds_up else "(length >> 1)"
            lines.append(f"assign {self.wave} = at {'<' if self.high_first else '>='} {half};")
        if has("cascade"):
            lines.append(f"assign slow = {self.tick} && turns == {self.second - 1};")
        return "\n".join(lines)

    def _alternative(self) -> str:
        """Return a falling count, and the kept ratio from which its end and half are computed."""
        has, b = self.features.__contains__, self._bits
        full, start = hw.literal(b, -1), hw.literal(self.width, self.period)
        lines = [
            f"logic [{b - 1}:0] left, gone, size;\nlogic [{b}:0] twice;\nlogic longer, over;",
            "assign gone = ~left;\nassign over = gone == size - 1'b1;",
            f"assign twice = {{gone, 1'b{int(not self.rounds_up)}}};",
        ]
        reset, turn, again = f"left <= {full};", f"left <= {full};", f"left <= {full};"
        sizes, counts = f"{b}'({self.period})", ""
        if has("ratio"):
            lines.append(f"logic [{self.width - 1}:0] kept;\nlogic extra;")
            sizes = f"(kept == 0 ? {b}'({self.zero}) : {b}'(kept)) + {b}'(extra)"
            reset += f" kept <= {start}; extra <= 1'b0;"
            turn += " kept <= ratio; extra <= longer;"
            again += " kept <= ratio; extra <= 1'b0;"
        lines.append(f"assign size = {sizes};")
        if has("fraction"):
            bits = (2 * self.parts).bit_length()
            lines.append(f"logic [{bits - 1}:0] debt;\nassign longer = debt <= {self.longer};")
            whole = f" debt <= {hw.literal(bits, self.parts)};"
            reset, again = reset + whole, again + whole
            counts = (
                f" debt <= longer ? debt + {bits}'d{self.parts - self.longer} : "
                f"debt - {bits}'d{self.longer};"
            )
        else:
            lines.append("assign longer = 1'b0;")
        if has("cascade"):
            lines.append(f"logic [{self.second - 1}:0] ring;")
            one = f" ring <= {self.second}'d1;"
            reset, again = reset + one, again + one
            counts += f" ring <= {{ring[{self.second - 2}:0], ring[{self.second - 1}]}};"
        body = f"if (over) begin {turn}{counts} end\nelse left <= left - 1'b1;"
        if has("enable"):
            body = f"if ({self.enable}) begin\n{hw.indented(body, 4)}\nend"
        if has("restart"):
            body = f"if (restart) begin {again} end\nelse {body}"
        lines.append(hw.clocked(self.clocking, reset, body, keyword="always_ff"))
        lines.append(self._tick("&left" if self.first else "over"))
        if has("square"):
            lines.append(f"assign {self.wave} = twice {'<' if self.high_first else '>='} size;")
        if has("cascade"):
            lines.append(f"assign slow = {self.tick} & ring[{self.second - 1}];")
        return "\n".join(lines)
