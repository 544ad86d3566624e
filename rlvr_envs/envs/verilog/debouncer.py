"""Debouncer: a clean level from an input that bounces."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

# In the order in which higher levels add them.
FEATURES = ("sync", "tick", "uneven", "edges", "glitches")
_LONGEST = 24
_COUNT_BITS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class DebouncerConfig(DesignConfig):
    """How long an input has to be steady, and which features are added."""

    samples: int = knob(
        5,
        "largest number of equal samples that change the output; at least half of it is drawn",
        low=2,
        high=_LONGEST,
    )
    features: int = feature_knob(1, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "DebouncerConfig":
        """A sample more a step, up to 24, and, up to 10, a feature every 2 steps."""
        features = min(difficulty // 2, len(FEATURES))
        return cls(samples=min(3 + difficulty, _LONGEST), features=features)


@register("Debouncer-v0", domain="verilog", answer_format=LANGUAGE)
class DebouncerTask(DesignTask[DebouncerConfig]):
    """Write a debouncer, from two equal samples to a measured and counted input.

    Description:
        An output follows an input only after some equal samples in a row. Later levels add a
        synchroniser, samples at a tick, different times for both levels, pulses at changes and a
        count of glitches.

    Difficulty:
        Times get longer, and the features and their interactions more.

    References:
        Ganssle 2008, A guide to debouncing; Horowitz and Hill, The Art of Electronics, 10.3, for
        bouncing contacts.
    """

    def design(self, rng: Rng) -> hw.Design:
        features = FEATURES[: self.config.features]
        least = max(2, self.config.samples // 2)
        rise = integer(rng, least, self.config.samples)
        fall = integer(rng, least, self.config.samples) if "uneven" in features else rise
        return _Debouncer(
            rise=rise,
            fall=fall,
            level=integer(rng, 0, 1),
            stages=integer(rng, 1, 3),
            wraps=integer(rng, 0, 1) == 1,
            clear_wins=integer(rng, 0, 1) == 1,
            noisy=pick(rng, ("noisy", "button", "raw", "contact")),
            clean=pick(rng, ("clean", "level", "q", "pressed")),
            features=features,
        ).design(rng)


@dataclass(frozen=True, slots=True)
class _Debouncer:
    rise: int  # samples until the output becomes 1
    fall: int  # and until it becomes 0
    level: int  # of the output after reset
    stages: int  # flip-flops before the input
    wraps: bool  # whether glitches are counted in a ring
    clear_wins: bool  # over a glitch at the same edge
    noisy: str
    clean: str
    features: tuple[str, ...]

    def design(self, rng: Rng) -> hw.Design:
        clocking = hw.draw_clocking(rng)
        has = self.features.__contains__
        signals = hw.clock_signals(clocking) + hw.inputs(
            (self.noisy, 1, "the input, which may bounce")
        )
        registers = [self.clean]
        if has("tick"):
            signals += hw.inputs(("tick", 1, "sample enable"))
        if has("glitches"):
            signals += hw.inputs(("clear", 1, "1 clears the glitch count"))
        signals += hw.outputs((self.clean, 1, "debounced level"))
        if has("edges"):
            signals += hw.outputs(("rose", 1, f"pulse after `{self.clean}` becomes 1"))
            signals += hw.outputs(("fell", 1, f"pulse after `{self.clean}` becomes 0"))
            registers += ["rose", "fell"]
        if has("glitches"):
            signals += hw.outputs(("glitches", _COUNT_BITS, "number of glitches"))
            registers.append("glitches")
        declared, reset, body = self._golden()
        golden = declared + hw.clocked(clocking, reset, body)
        declared, reset, body = self._alternative()
        other = declared + hw.clocked(clocking, reset, body, keyword="always_ff")
        return hw.Design(
            title=f"a debouncer for the input `{self.noisy}`",
            signals=signals,
            rules=self._rules(),
            golden=hw.module(signals, golden, registers=registers),
            alternative=hw.sv_module(signals, other),
            clocking=clocking,
        )

    def _rules(self) -> tuple[str, ...]:
        has, clean = self.features.__contains__, f"`{self.clean}`"
        when = (
            "at each rising clock edge where `tick` is 1"
            if has("tick")
            else "at each rising clock edge"
        )
        rules = [f"Reset sets {clean} to {self.level}.", f"`{self.noisy}` is sampled {when}."]
        if has("sync"):
            flops, last, every = f"{self.stages} flip-flops in series", "last flip-flop", "They are"
            if self.stages == 1:
                flops, last, every = "one flip-flop", "flip-flop", "It is"
            rules[1] = (
                f"`{self.noisy}` passes through {flops} first. {every} clocked at every rising "
                f"clock edge, and reset to {self.level}. The output of the {last}, as it is just "
                f"before the edge, is sampled {when}."
            )
        if has("uneven"):
            rules.append(
                f"{clean} becomes 1 at the edge that takes the last of {self.rise} consecutive "
                f"samples that are 1. It becomes 0 at the edge that takes the last of {self.fall} "
                "consecutive samples that are 0. Otherwise it keeps its value."
            )
        else:
            rules.append(
                f"{clean} changes to the other value at the edge that takes the last of "
                f"{self.rise} consecutive samples with that value. Otherwise it keeps its value."
            )
        rules.append("Samples taken before or during reset are ignored.")
        if has("edges"):
            rules.append(
                "`rose` and `fell` are registered pulses of one clock cycle. `rose` is 1 only in "
                f"the cycle that begins with an edge at which {clean} goes from 0 to 1, and `fell` "
                f"only in the cycle that begins with an edge at which {clean} goes from 1 to 0. "
                "Reset sets both to 0."
            )
        return (*rules, *(self._glitch_rules() if has("glitches") else ()))

    def _glitch_rules(self) -> tuple[str, ...]:
        clean, full = f"`{self.clean}`", 2**_COUNT_BITS - 1
        end = f"after {full} it wraps to 0" if self.wraps else f"it saturates at {full}"
        tick = " `clear` does not need `tick`." if "tick" in self.features else ""
        return (
            (
                f"A glitch is one or more consecutive samples that differ from {clean}, followed "
                f"by a sample that equals {clean}, where {clean} did not change in between."
            ),
            (
                "`glitches` is registered and counts glitches: it increases by 1 at the edge that "
                f"takes the sample that ends a glitch; {end}. Reset sets it to 0."
            ),
            (
                "At a rising clock edge where `clear` is 1, `glitches` becomes 0. If a glitch ends "
                f"at the same edge, it becomes {int(not self.clear_wins)} instead.{tick}"
                if not self.clear_wins
                else "At a rising clock edge where `clear` is 1, `glitches` becomes 0, even if a "
                f"glitch ends at the same edge.{tick}"
            ),
        )

    def _chain(self) -> tuple[str, str, str, str]:
        """Return declaration, reset and moves of the first flip-flops, and what is sampled."""
        if "sync" not in self.features:
            return "", "", "", self.noisy
        top = self.stages - 1
        value = hw.literal(self.stages, -self.level)
        shifted = f"{{chain[{top - 1}:0], {self.noisy}}}" if top else self.noisy
        return (
            f"reg [{top}:0] chain;\n",
            f"chain <= {value};\n",
            f"chain <= {shifted};\n",
            f"chain[{top}]",
        )

    def _ticked(self, body: str) -> str:
        return f"if (tick) begin\n{hw.indented(body, 4)}\nend" if "tick" in self.features else body

    def _golden(self) -> tuple[str, str, str]:
        """Return declarations, reset and moves with a count of the samples that differ."""
        has, clean = self.features.__contains__, self.clean
        declared, reset, moves, sample = self._chain()
        bits = max(self.rise, self.fall).bit_length()
        declared += f"reg [{bits - 1}:0] run;\nwire sample = {sample};\n"
        most = hw.literal(bits, self.rise - 1)
        if has("uneven"):
            most = f"({clean} ? {hw.literal(bits, self.fall - 1)} : {most})"
        reset += f"{clean} <= 1'b{self.level};\nrun <= 0;"
        change = [f"{clean} <= sample;", "run <= 0;"]
        same = ["run <= 0;"]
        if has("edges"):
            reset += "\nrose <= 1'b0;\nfell <= 1'b0;"
            moves += "rose <= 1'b0;\nfell <= 1'b0;\n"
            change += ["rose <= sample;", "fell <= !sample;"]
        if has("glitches"):
            reset += "\nglitches <= 0;"
            more = "run != 0" if self.wraps else f"run != 0 && glitches != {self._full()}"
            if not self.clear_wins:
                more = f"clear && run != 0) glitches <= 1;\nelse if ({more}"
            same.append(f"if ({more}) glitches <= glitches + 1'b1;")
            if not self.clear_wins:
                moves += "if (clear) glitches <= 0;\n"
        body = (
            f"if (sample == {clean}) begin\n{hw.indented(chr(10).join(same), 4)}\n"
            f"end else if (run == {most}) begin\n{hw.indented(chr(10).join(change), 4)}\n"
            "end else\n    run <= run + 1'b1;"
        )
        last = "\nif (clear) glitches <= 0;" if has("glitches") and self.clear_wins else ""
        return declared, reset, moves + self._ticked(body) + last

    def _full(self) -> str:
        return hw.literal(_COUNT_BITS, 2**_COUNT_BITS - 1)

    def _alternative(self) -> tuple[str, str, str]:
        """Return declarations, reset and moves with a window of the last samples."""
        has, clean = self.features.__contains__, self.clean
        declared, reset, moves, sample = self._chain()
        size = max(self.rise, self.fall)
        window = f"{{past, {sample}}}"
        ticks = " & tick" if has("tick") else ""
        declared += (
            f"logic [{size - 2}:0] past;\nlogic [{size - 1}:0] window;\nlogic up, down;\n"
            f"assign window = {window};\n"
            f"assign up = !{clean} & (&window[{self.rise - 1}:0]){ticks};\n"
            f"assign down = {clean} & !(|window[{self.fall - 1}:0]){ticks};\n"
        )
        reset += f"{clean} <= 1'b{self.level};\npast <= {{{size - 1}{{1'b{self.level}}}}};"
        moves += f"{clean} <= up | ({clean} & !down);\n"
        moves += self._ticked(f"past <= window[{size - 2}:0];")
        if has("edges"):
            reset += "\nrose <= '0;\nfell <= '0;"
            moves += "\nrose <= up;\nfell <= down;"
        if has("glitches"):
            declared += (
                f"logic ends;\nassign ends = (window[1:0] == {{!{clean}, {clean}}}){ticks};\n"
            )
            reset += "\nglitches <= '0;"
            kept = "0" if self.clear_wins else f"{_COUNT_BITS}'(ends)"
            more = "" if self.wraps else " & !(&glitches)"
            moves += f"\nglitches <= clear ? {kept} : glitches + {_COUNT_BITS}'(ends{more});"
        return declared, reset, moves
