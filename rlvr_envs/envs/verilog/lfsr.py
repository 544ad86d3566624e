"""Lfsr: linear-feedback shift registers, given by their taps."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.tables import article
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

# In the order in which higher levels add them.
FEATURES = ("enable", "load", "lockup", "hit", "fast", "back")
_WIDEST = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class LfsrConfig(DesignConfig):
    """How long the register is, and what controls it."""

    width: int = knob(6, "register width in bits", low=3, high=_WIDEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "LfsrConfig":
        """The register gets a bit a step, up to 40, and, up to 9, 2 features every 3 steps."""
        features = min((2 * difficulty) // 3, len(FEATURES))
        return cls(width=min(4 + difficulty, _WIDEST), features=features)


@register("Lfsr-v0", domain="verilog", answer_format=LANGUAGE)
class LfsrTask(DesignTask[LfsrConfig]):
    """Write a shift register with linear feedback, forwards, twice as fast, and backwards.

    Description:
        Fibonacci and Galois registers that shift to the left or to the right, with XOR or XNOR,
        any taps and any start. Later levels add an enable, a load, a rule against the lock-up
        state, a comparison, two steps in one cycle and steps backwards.

    Difficulty:
        The register gets longer, and the controls and their interactions more.

    References:
        Golomb 1967, Shift Register Sequences; Alfke 1996, Xilinx XAPP 052, for both forms in
        hardware.
    """

    def design(self, rng: Rng) -> hw.Design:
        width = self.config.width
        left, xnor = integer(rng, 0, 1) == 1, integer(rng, 0, 1) == 1
        leaving = 1 << (width - 1) if left else 1
        entering = 1 if left else 1 << (width - 1)
        galois = integer(rng, 0, 1) == 1
        # The bit that leaves, or the place that it enters, is always a tap: no step loses anything.
        mask = integer(rng, 1, 2**width - 1) | (entering if galois else leaving)
        while mask & (mask - 1) == 0:
            mask |= 1 << integer(rng, 0, width - 1)
        stuck = 2**width - 1 if xnor and not galois else 0
        return _Register(
            width=width,
            mask=mask,
            left=left,
            galois=galois,
            xnor=xnor and not galois,
            start=(stuck + integer(rng, 1, 2**width - 1)) % 2**width,
            hit=integer(rng, 0, 2**width - 1),
            features=FEATURES[: self.config.features],
            as_mask=integer(rng, 0, 1) == 1,
        ).design(rng)


@dataclass(frozen=True, slots=True)
class _Register:
    width: int
    mask: int  # the taps
    left: bool
    galois: bool
    xnor: bool
    start: int  # after reset; never `stuck`
    hit: int
    features: tuple[str, ...]
    as_mask: bool  # whether the taps are given as a constant

    @property
    def stuck(self) -> int:
        """The state that lasts forever."""
        return 2**self.width - 1 if self.xnor else 0

    def design(self, rng: Rng) -> hw.Design:
        clocking = hw.draw_clocking(rng)
        q = pick(rng, ("q", "lfsr", "state"))
        names = {*self.features, "seed"} if "load" in self.features else set(self.features)
        controls = hw.inputs(
            ("enable", 1, "step enable"),
            ("load", 1, "synchronous load"),
            ("seed", self.width, "value to load"),
            ("fast", 1, "1 makes two steps instead of one"),
            ("back", 1, "1 steps backwards"),
        )
        register = hw.outputs((q, self.width, "the register"))
        chosen = tuple(control for control in controls if control.name in names)
        signals = hw.clock_signals(clocking) + chosen + register
        if "hit" in self.features:
            signals += hw.outputs(("hit", 1, f"1 if `{q}` has a certain value"))
        flag = f"\nassign hit = {q} == {self._of(self.hit)};" if "hit" in names else ""
        reset = f"{q} <= {self._of(self.start)};"
        golden = self._functions() + hw.clocked(clocking, reset, self._golden(q)) + flag
        following = self._alternative(q)
        block = hw.clocked(clocking, reset, f"{q} <= following;", keyword="always_ff")
        form, way = "Galois" if self.galois else "Fibonacci", "left" if self.left else "right"
        return hw.Design(
            title=f"{article(self.width)} {self.width}-bit {form} LFSR (linear-feedback shift "
            "register) that shifts "
            f"{way}",
            signals=signals,
            rules=self._rules(q),
            golden=hw.module(signals, golden, registers=(q,)),
            alternative=hw.sv_module(signals, f"{following}{block}{flag}"),
            clocking=clocking,
        )

    def _rules(self, q: str) -> tuple[str, ...]:
        has = self.features.__contains__
        stuck, start, hit = map(self._of, (self.stuck, self.start, self.hit))
        rules = [f"Reset sets `{q}` to {start}.", self._step_rule(q)]
        moves = "The register makes one step at every rising clock edge"
        if has("load"):
            also = ", regardless of `enable`" if has("enable") else ""
            rules.append(f"At a rising clock edge where `load` is 1, `{q}` becomes `seed`{also}.")
            moves = "At a rising clock edge where `load` is 0, the register makes one step"
        rules.append(
            f"{moves} if `enable` is 1. Otherwise it keeps its value."
            if has("enable")
            else f"{moves}."
        )
        if has("lockup"):
            rules.append(
                f"If `seed` is {stuck} (the lock-up state), a load stores {start} instead."
            )
        if has("hit"):
            rules.append(f"`hit` is combinational: it is 1 if and only if `{q}` is {hit}.")
        if has("fast"):
            rules.append(
                "While `fast` is 1, the register makes two steps at one rising clock edge instead "
                "of one."
            )
        if has("back"):
            twice = " (two steps if `fast` is 1)" if has("fast") else ""
            rules.append(
                f"While `back` is 1, the register steps backwards instead{twice}. To step "
                f"backwards, `{q}` becomes the only {self.width}-bit value from which a forward "
                "step leads to the current value."
            )
        return tuple(rules)

    def _step_rule(self, q: str) -> str:
        top = self.width - 1
        taps = [i for i in range(self.width)[::-1] if self.mask >> i & 1]
        listed = ", ".join(f"`{q}[{i}]`" for i in taps)
        value = f"{self.width}'b{self.mask:0{self.width}b}"
        span = f"1 to {top}" if self.left else f"0 to {top - 1}"
        moved = f"`{q}[i]` takes the old value of `{q}[{'i-1' if self.left else 'i+1'}]`"
        entering, leaving = (0, top) if self.left else (top, 0)
        bits = f"the bits of `{q}` where {value} has a 1" if self.as_mask else listed
        step = f"In a step, {moved} for each i from {span}, and `{q}[{entering}]` becomes"
        if self.galois:
            return (
                f"{step} 0. Then, if the old value of `{q}[{leaving}]` was 1, these bits are "
                f"inverted: {bits}."
            )
        how = "the XNOR (the inverted XOR)" if self.xnor else "the XOR"
        return f"{step} {how} of the old values of {bits}."

    def _functions(self) -> str:
        """Return the step, and the step back, as formulas."""
        top, mask, zero = self.width - 1, self._of(self.mask), self._of(0)
        head = f"input [{top}:0] s;\n"
        flip = "~" if self.xnor else ""
        rest, gone = (f"s[{top - 1}:0]", f"s[{top}]") if self.left else (f"s[{top}:1]", "s[0]")
        bit = "1'b0" if self.galois else f"{flip}(^(s & {mask}))"
        step = f"{{{rest}, {bit}}}" if self.left else f"{{{bit}, {rest}}}"
        if self.galois:
            step += f" ^ ({gone} ? {mask} : {zero})"
        text = f"function [{top}:0] step;\n{head}step = {step};\nendfunction\n"
        if "back" not in self.features:
            return text
        # The bit that left is read off where it entered.
        came = "s[0]" if self.left else f"s[{top}]"
        if self.galois:
            moved = f"(s ^ ({came} ? {mask} : {zero})) {'>>' if self.left else '<<'} 1"
            undo = f"({moved}) | ({came} ? {self._of(1 << top if self.left else 1)} : {zero})"
        else:
            others = self.mask & ~(1 << top if self.left else 1)
            known = f"s[{top}:1]" if self.left else f"s[{top - 1}:0]"
            cut = hw.literal(top, others if self.left else others >> 1)
            bit = f"{flip}({came} ^ (^({known} & {cut})))"
            undo = f"{{{bit}, {known}}}" if self.left else f"{{{known}, {bit}}}"
        return text + f"function [{top}:0] undo;\n{head}undo = {undo};\nendfunction\n"

    def _golden(self, q: str) -> str:
        has = self.features.__contains__
        once, twice = f"step({q})", f"step(step({q}))"
        if has("back"):
            once, twice = f"back ? undo({q}) : {once}", f"back ? undo(undo({q})) : {twice}"
        moved = f"fast ? ({twice}) : ({once})" if has("fast") else once
        body = f"{q} <= {moved};"
        if has("enable"):
            body = f"if (enable) {body}"
        if has("load"):
            taken = "seed"
            if has("lockup"):
                taken = f"seed == {self._of(self.stuck)} ? {self._of(self.start)} : seed"
            body = f"if (load) {q} <= {taken};\nelse {body}"
        return body

    def _next(self, state: int) -> int:
        """Return where a step leads."""
        full = 2**self.width - 1
        if self.galois:
            gone = state >> (self.width - 1) if self.left else state & 1
            moved = state << 1 & full if self.left else state >> 1
            return moved ^ (self.mask * gone)
        bit = ((state & self.mask).bit_count() & 1) ^ self.xnor
        return (state << 1 & full) | bit if self.left else state >> 1 | bit << (self.width - 1)

    def _alternative(self, q: str) -> str:
        """Return the next state bit by bit, each the parity of the bits of a row of a matrix."""
        has = self.features.__contains__
        constant = self._next(0)
        rows = _transposed([self._next(1 << i) ^ constant for i in range(self.width)])
        text = f"logic [{self.width - 1}:0] following, moved;\n"
        text += self._product("ahead", rows, before=0, after=constant)
        if has("back"):
            text += self._product("behind", _inverse(rows), before=constant, after=0)
        one = "back ? behind(moved) : ahead(moved)" if has("back") else "ahead(moved)"
        count = "(fast ? 2 : 1)" if has("fast") else "1"
        if has("enable"):
            count = f"(enable ? {count} : 0)"
        text += (
            f"always_comb begin\n    moved = {q};\n"
            f"    for (int i = 0; i < 2; i++)\n        if (i < {count}) moved = {one};\n"
            "    following = moved;\n"
        )
        if has("load"):
            text += "    if (load) following = seed;\n"
        if has("lockup"):
            text += f"    if (load && seed == {self._of(self.stuck)}) "
            text += f"following = {self._of(self.start)};\n"
        return text + "end\n"

    def _product(self, name: str, rows: list[int], *, before: int, after: int) -> str:
        kind = f"logic [{self.width - 1}:0]"
        bits = ", ".join(f"^(t & {self._of(row)})" for row in reversed(rows))
        return (
            f"function automatic {kind} {name}(input {kind} s);\n"
            f"    {kind} t;\n    t = s ^ {self._of(before)};\n"
            f"    return {{{bits}}} ^ {self._of(after)};\nendfunction\n"
        )

    def _of(self, value: int) -> str:
        return hw.literal(self.width, value)


def _transposed(rows: list[int]) -> list[int]:
    return [sum((row >> i & 1) << j for j, row in enumerate(rows)) for i in range(len(rows))]


def _inverse(rows: list[int]) -> list[int]:
    """Return the inverse of a square matrix of bits, by elimination."""
    width = len(rows)
    work = [row | 1 << (width + i) for i, row in enumerate(rows)]
    for column in range(width):
        pivot = next(i for i in range(column, width) if work[i] >> column & 1)
        work[column], work[pivot] = work[pivot], work[column]
        for i in range(width):
            if i != column and work[i] >> column & 1:
                work[i] ^= work[column]
    return [row >> width for row in work]
