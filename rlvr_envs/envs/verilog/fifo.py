"""Fifo: a FIFO with flags, and rules for every push and pop when it is full or empty."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("count", "almost", "flush", "errors", "pass")
# What a push to the full FIFO does.
FULL_RULES = ("refuse", "swap", "overwrite")
_DEEPEST, _WIDEST = 16, 16
_NAMES = (("push", "din", "pop", "dout"), ("wr_en", "wdata", "rd_en", "rdata"))


@dataclass(frozen=True, slots=True, kw_only=True)
class FifoConfig(DesignConfig):
    """How large the FIFO is, and how many flags and controls it has."""

    depth: int = knob(3, "depth in words", low=1, high=_DEEPEST)
    width: int = knob(2, "width of a word, in bits", low=2, high=_WIDEST)
    features: int = feature_knob(1, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "FifoConfig":
        """Odd levels add a word, and even ones a feature, up to 10; a bit comes every 4.

        Level 0 is a FIFO of one word, which refuses pushes while it is full.

        The numbers stop at 16 words of 16 bits.
        """
        return cls(
            depth=min(1 + (difficulty + 1) // 2, _DEEPEST),
            width=min(4 + difficulty // 4, _WIDEST),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("Fifo-v0", domain="verilog", answer_format=LANGUAGE)
class FifoTask(DesignTask[FifoConfig]):
    """Write a FIFO whose flags and corner cases are specified for every cycle.

    Description:
        Words leave the FIFO in the order in which they came. The oldest word is visible before it
        is popped (first-word fall-through), or the popped one a cycle later. A push to a full
        FIFO is refused, or accepted with a pop, or overwrites the oldest word. Later levels add a
        count, thresholds, a flush, error flags, and a bypass of the empty FIFO.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). For deep
        queues the proof may stay open, and a long simulation decides. A reset that is not written
        and a value that is not determined count as wrong.

    Difficulty:
        The queue gets deeper and wider, and the flags and controls that interact more.

    References:
        Cummings, Simulation and Synthesis Techniques for Asynchronous FIFO Design, SNUG 2002, for
        pointers and flags; Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form.
    """

    def design(self, rng: Rng) -> hw.Design:
        depth, width = self.config.depth, self.config.width
        return FifoSources(
            clocking=hw.draw_clocking(rng),
            depth=depth,
            width=width,
            idle=integer(rng, 0, 2**width - 1),
            full_rule=pick(rng, FULL_RULES if depth > 1 else FULL_RULES[:1]),
            registered=depth > 1 and bool(integer(rng, 0, 1)),
            keeps=bool(integer(rng, 0, 1)),
            high=integer(rng, max(1, depth // 2), depth),
            low=integer(rng, 0, max(0, depth // 2 - 1)),
            flush_keeps=bool(integer(rng, 0, 1)),
            sticky=bool(integer(rng, 0, 1)),
            features=FEATURES[: self.config.features],
            names=pick(rng, _NAMES),
        ).design()


# Queues in words and in two kinds of Verilog; what is drawn comes from the task.


_ERRORS = ("overflow", "underflow")


@dataclass(frozen=True, slots=True)
class FifoSources:
    """What was drawn for one FIFO, its rules and its sources."""

    clocking: Clocking
    depth: int
    width: int
    idle: int  # at the output without a word
    full_rule: str
    registered: bool  # whether a word shows after its pop instead of before
    keeps: bool  # whether a registered output keeps its word
    high: int  # of the flag of a nearly full queue
    low: int  # of the flag of a nearly empty queue
    flush_keeps: bool  # whether a push at the time of a flush is kept
    sticky: bool  # whether error flags stay
    features: tuple[str, ...]
    names: tuple[str, str, str, str]

    def design(self) -> hw.Design:
        ports = self._signals()
        registers = [self.names[3]] if self.registered else []
        registers += ["overflow", "underflow"] if "errors" in self.features else []
        how = "with a registered output" if self.registered else "with first-word fall-through"
        return hw.Design(
            title=f"a FIFO for {self._words(self.depth)} of {self.width} bits {how}",
            signals=ports,
            rules=(*self._move_rules(), *self._output_rules()),
            golden=hw.module(ports, self._golden(), registers=registers),
            alternative=hw.sv_module(ports, self._alternative()),
            clocking=self.clocking,
        )

    @property
    def _bits(self) -> int:
        """Return the bits that a number of words takes."""
        return self.depth.bit_length()

    def _words(self, number: int) -> str:
        return f"{number} word" + ("s" if number > 1 else "")

    def _signals(self) -> tuple[hw.Signal, ...]:
        has, (push, word, pop, shown) = self.features.__contains__, self.names
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            (push, 1, "push (write) enable"),
            (word, self.width, "word to push"),
            (pop, 1, "pop (read) enable"),
        )
        if has("flush"):
            signals += hw.inputs(("flush", 1, "1 empties the FIFO"))
        what = "the popped word" if self.registered else "the oldest word"
        signals += hw.outputs(
            (shown, self.width, what),
            ("empty", 1, "1 if the FIFO holds no word"),
            ("full", 1, "1 if the FIFO is full"),
        )
        if has("count"):
            signals += hw.outputs(("count", self._bits, "number of words in the FIFO"))
        if has("almost"):
            signals += hw.outputs(
                (
                    "almost_full",
                    1,
                    f"1 if the FIFO holds at least {self.high} word{'s' * (self.high > 1)}",
                ),
                (
                    "almost_empty",
                    1,
                    f"1 if the FIFO holds at most {self.low} word{'s' * (self.low != 1)}"
                    if self.low
                    else "1 if the FIFO is empty",
                ),
            )
        if has("errors"):
            signals += hw.outputs(
                ("overflow", 1, "1 if a pushed word was lost"),
                ("underflow", 1, "1 if the FIFO was empty at a pop"),
            )
        return signals

    def _move_rules(self) -> list[str]:
        has, (push, word, pop, _) = self.features.__contains__, self.names
        both = "Both can happen at the same edge. " if self.depth > 1 else ""
        rules = [
            "Reset empties the FIFO.",
            (
                f"At a rising clock edge, `{pop}` = 1 removes the oldest word if the FIFO is not "
                f"empty, and `{push}` = 1 adds `{word}` as the newest word if the FIFO is not "
                f"full. {both}Full and empty refer to the state before the edge."
            ),
        ]
        if has("pass"):
            rules.append(
                f"If the FIFO is empty and `{push}` and `{pop}` are both 1, `{word}` passes "
                "through: the pop takes that word, and the FIFO stays empty. If it is empty and "
                f"`{push}` is 0, `{pop}` = 1 is ignored."
            )
        else:
            rules.append(f"`{pop}` = 1 on an empty FIFO is ignored, even if `{push}` is 1.")
        if self.full_rule == "refuse":
            rules.append(
                f"`{push}` = 1 on a full FIFO is refused and the pushed word is lost, even if "
                f"`{pop}` is 1 (which still removes the oldest word)."
            )
        else:
            rules.append(
                f"`{push}` = 1 and `{pop}` = 1 on a full FIFO are both accepted: the oldest word "
                "is removed and the new one is added."
            )
            without = f"`{push}` = 1 and `{pop}` = 0 on a full FIFO: "
            if self.full_rule == "swap":
                rules.append(f"{without}the push is refused and the pushed word is lost.")
            else:
                rules.append(f"{without}the oldest word is lost and the new one is added.")
        if has("flush"):
            kept = f"The FIFO is then empty, but if `{push}` is 1, `{word}` is its only word"
            lost = f"The FIFO is then empty, even if `{push}` is 1: that word is discarded"
            rules.append(
                "`flush` takes priority over the rules above: at a rising clock edge where `flush` "
                f"is 1, all words are removed. {kept if self.flush_keeps else lost}. `{pop}` is "
                "ignored at that edge."
            )
        return rules

    def _output_rules(self) -> list[str]:
        has, (push, word, _, shown) = self.features.__contains__, self.names
        if self.registered:
            later = (
                "keeps its value" if self.keeps else f"becomes {hw.literal(self.width, self.idle)}"
            )
            rules = [
                (
                    f"`{shown}` is registered. At a rising clock edge where a pop takes a word"
                    f"{' (including one that passes through)' if has('pass') else ''}, `{shown}` "
                    f"becomes that word. At every other edge it {later}. Reset sets it to "
                    f"{hw.literal(self.width, self.idle)}."
                )
            ]
        elif has("pass"):
            rules = [
                (
                    "First-word fall-through means that the oldest word is visible at the output "
                    f"before it is popped: `{shown}` is combinational. It is the oldest word in "
                    f"the FIFO. If the FIFO is empty, `{push}` is 1 and `flush` is 0, it is "
                    f"`{word}`. Otherwise it is {hw.literal(self.width, self.idle)}."
                )
            ]
        else:
            rules = [
                (
                    "First-word fall-through means that the oldest word is visible at the output "
                    f"before it is popped: `{shown}` is the oldest word in the FIFO, or "
                    f"{hw.literal(self.width, self.idle)} while the FIFO is empty. It depends on "
                    "the state only."
                )
            ]
        also = " `count` is the number of words in the FIFO." if has("count") else ""
        rules.append(
            "`empty` is 1 if and only if the FIFO holds no word. `full` is 1 if and only if it "
            f"holds {self._words(self.depth)}.{also} These outputs depend on the state only."
        )
        if has("almost"):
            few = f"{self.low} or fewer" if self.low else "none"
            rules.append(
                f"`almost_full` is 1 if and only if the FIFO holds {self.high} or more words. "
                f"`almost_empty` is 1 if and only if it holds {few}."
            )
        if has("errors"):
            rules += self._error_rules()
        return rules

    def _error_rules(self) -> list[str]:
        push, _, pop, _ = self.names
        lost = f"a word is lost because `{push}` is 1 while the FIFO is full"
        nothing = f"`{pop}` is 1 while the FIFO is empty"
        nothing += f" and `{push}` is 0" if "pass" in self.features else ""
        if self.sticky:
            stay = "Both then stay 1 until reset or an edge with `flush` = 1 sets them to 0."
        else:
            stay = "At every other edge they become 0. Reset also sets them to 0."
        says = f"becomes 1 at each rising clock edge with `flush` = 0 where {lost}"
        return [
            (
                f"`overflow` and `underflow` are registered. `overflow` {says}. `underflow` "
                f"becomes 1 at each rising clock edge with `flush` = 0 where {nothing}. {stay}"
            )
        ]

    def _flags(self, count: str) -> list[str]:
        """Return the outputs that follow from the number of words."""
        lines = []
        if "count" in self.features:
            lines.append(f"assign count = {count};")
        if "almost" in self.features:
            lines.append(f"assign almost_full = {count} >= {self.high};")
            lines.append(f"assign almost_empty = {count} <= {self.low};")
        return lines

    def _golden(self) -> str:
        """Return a ring of words with two pointers and a count, moved by named events."""
        has, (push, word, pop, shown) = self.features.__contains__, self.names
        live = " && !flush" if has("flush") else ""
        room = {"refuse": " && !full", "swap": f" && (!full || {pop})", "overwrite": ""}
        drop = f" || ({push} && full{live})" if self.full_rule == "overwrite" else ""
        passes = f"{push} && {pop} && empty{live}" if has("pass") else "1'b0"
        place = max(1, (self.depth - 1).bit_length())
        top, wide = hw.literal(place, self.depth - 1), f"[{self.width - 1}:0]"
        kept = push if self.flush_keeps else "1'b0"
        lines = [
            f"reg {wide} store [0:{self.depth - 1}];",
            f"reg [{place - 1}:0] head, tail;\nreg [{self._bits - 1}:0] used;",
            f"assign empty = used == 0;\nassign full = used == {self.depth};",
            *self._flags("used"),
            f"wire passes = {passes};\nwire taken = {pop} && !empty{live};",
            f"wire leaves = taken{drop};",
            f"wire comes = {push}{room[self.full_rule]}{live} && !passes;",
        ]
        moves = (
            f"if (comes) tail <= tail == {top} ? 0 : tail + 1;\n"
            f"if (leaves) head <= head == {top} ? 0 : head + 1;\nused <= used + comes - leaves;"
        )
        stores = f"if (comes) store[tail] <= {word};"
        if has("flush"):
            start = f"tail <= {kept if self.depth > 1 else 0};"
            moves += f"\nif (flush) begin\n    head <= 0;\n    {start}\n    used <= {kept};\nend"
            stores += f"\n    if (flush) store[0] <= {word};"
        lines.append(hw.clocked(self.clocking, "head <= 0;\ntail <= 0;\nused <= 0;", moves))
        lines.append(f"always @(posedge {self.clocking.clock}) begin\n    {stores}\nend")
        idle = hw.literal(self.width, self.idle)
        if self.registered:
            later = shown if self.keeps else idle
            value = f"{shown} <= taken ? store[head] : passes ? {word} : {later};"
            lines.append(hw.clocked(self.clocking, f"{shown} <= {idle};", value))
        else:
            past = f"({push} && !flush ? {word} : {idle})" if has("pass") else idle
            lines.append(f"assign {shown} = empty ? {past} : store[head];")
        if has("errors"):
            keep = ("overflow || ", "underflow || ") if self.sticky else ("", "")
            pressed = "" if self.full_rule == "refuse" else f" && !{pop}"
            moves = (
                f"overflow <= !flush && ({keep[0]}{push} && full{pressed});\n"
                f"underflow <= !flush && ({keep[1]}{pop} && empty && !passes);"
            )
            lines.append(hw.clocked(self.clocking, "overflow <= 0;\nunderflow <= 0;", moves))
        return "\n".join(lines)

    def _alternative(self) -> str:
        """Return cells with a bit for each that is taken, and a bit that runs along the oldest."""
        has, (push, word, pop, shown) = self.features.__contains__, self.names
        n, w, idle = self.depth, self.width, hw.literal(self.width, self.idle)
        turn = f"start = {{start[{n - 2}:0], start[{n - 1}]}};" if n > 1 else ""
        drop = f"rest &= ~start; {turn}"
        full = "&held" if self.full_rule == "refuse" else "&rest"
        behind = f"{{rest[{n - 2}:0], rest[{n - 1}]}}" if n > 1 else "rest"
        insert = (
            f"spot = ~rest & ({behind} | (|rest ? '0 : start)); rest |= spot;\n"
            f"for (int i = 0; i < {n}; i++) if (spot[i]) line[i * {w} +: {w}] = {word};"
        )
        add = f"if ({full}) lost = 1'b1;\nelse begin\n{hw.indented(insert, 4)}\nend"
        if self.full_rule == "overwrite":
            add = f"if ({full}) begin lost = 1'b1; {drop} end\n{insert}"
        dry, passing = "dry = 1'b1;", ""
        if has("pass"):
            dry, passing = f"if ({push}) gone = {word}; else dry = 1'b1;", f" && !({pop} && ~|held)"
        step = (
            f"if ({pop}) begin\n    if (|held) begin gone = oldest; {drop} end\n"
            f"    else begin {dry} end\nend\nif ({push}{passing}) begin\n{hw.indented(add, 4)}\nend"
        )
        if has("flush"):
            only = f"if ({push}) begin rest[0] = 1'b1; line[{w - 1}:0] = {word}; end"
            flush = f"rest = '0; start = {n}'d1;\n{only if self.flush_keeps else ''}"
            step = f"else begin\n{hw.indented(step, 4)}\nend"
            step = f"if (flush) begin\n{hw.indented(flush, 4)}\nend {step}"
        later = shown if self.registered and self.keeps else idle
        begin = "line = words; rest = held; start = lead; spot = '0; lost = 1'b0; dry = 1'b0;\n"
        resets, moves = (
            f"held <= '0; lead <= {n}'d1;",
            "held <= rest; lead <= start; words <= line;",
        )
        if self.registered:
            resets, moves = f"{resets} {shown} <= {idle};", f"{moves} {shown} <= gone;"
        if has("errors"):
            kept = [f"(!flush & {name}) | " if self.sticky else "" for name in _ERRORS]
            resets += " overflow <= '0; underflow <= '0;"
            moves += f" overflow <= {kept[0]}lost; underflow <= {kept[1]}dry;"
        lines = [
            f"logic [{n * w - 1}:0] words, line;\nlogic [{n - 1}:0] held, rest, lead, start, spot;",
            f"logic [{w - 1}:0] gone, oldest;\nlogic [{self._bits - 1}:0] number;",
            "logic lost, dry;",
            "always_comb begin\n    oldest = '0;",
            f"    for (int i = 0; i < {n}; i++) if (lead[i]) oldest |= words[i * {w} +: {w}];\nend",
            f"always_comb begin\n{hw.indented(f'{begin}gone = {later};{chr(10)}{step}', 4)}\nend",
            hw.clocked(self.clocking, resets, moves, keyword="always_ff"),
            "assign empty = ~|held;\nassign full = &held;",
            f"assign number = {self._bits}'($countones(held));",
            *self._flags("number"),
        ]
        if not self.registered:
            past = f"({push} & ~flush ? {word} : {idle})" if has("pass") else idle
            lines.append(f"assign {shown} = |held ? oldest : {past};")
        return "\n".join(lines)
