"""BarrelShifter: shifts and rotations by any number of places."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware.design import Design, inputs, literal, module, outputs, sv_module
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

# In the order in which higher levels add them.
FEATURES = ("beyond", "carry", "reverse", "lost", "keep")
# What a step of one place puts into the vacated bit.
_FILLS = {
    "zero": "is 0",
    "one": "is 1",
    "wrap": "takes the bit that was shifted out (rotation)",
    "copy": "keeps its value",
    "fill": "takes the value of `fill`",
}
_OPERATIONS = tuple((left, fill) for left in (True, False) for fill in _FILLS)
_WIDEST = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class BarrelShifterConfig(DesignConfig):
    """How wide the word is, and how it can be moved."""

    width: int = knob(
        6, "largest word width in bits; at least half of it is drawn", low=3, high=_WIDEST
    )
    operations: int = knob(
        2,
        "number of operations (direction and fill) selected by `op`",
        low=1,
        high=len(_OPERATIONS),
    )
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "BarrelShifterConfig":
        """Odd levels add an operation, up to all 10, and even ones a feature, up to 10.

        Words have up to 8 bits, and from 6 on up to a bit more a level, up to 15.
        """
        return cls(
            width=min(max(8, 3 + difficulty), _WIDEST),
            operations=min(1 + (difficulty + 1) // 2, len(_OPERATIONS)),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("BarrelShifter-v0", domain="verilog", answer_format=LANGUAGE)
class BarrelShifterTask(DesignTask[BarrelShifterConfig]):
    """Write a shifter and rotator for odd widths and amounts beyond the width.

    Description:
        A word moves to the left or to the right by an amount that may exceed the width. Vacated
        bits become zeros, ones, an input, copies, or the bits that leave at the other end. Later
        levels add a carry, a flag of lost ones, a reversal of direction and a mask of bits that
        keep their value.

    Observation:
        What the module does in numbered rules or prose, its ports, and a table of operations.

    Difficulty:
        Operations become more; amounts, flags and directions interact.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 5.2, for shifters; Liu et al.
        2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        features = FEATURES[: config.features]
        width = integer(rng, max(3, config.width // 2), config.width)
        order = rng.permutation(len(_OPERATIONS)).tolist()
        bits = (config.operations - 1).bit_length()
        codes = rng.permutation(2**bits).tolist()[: config.operations]
        # Amounts stay below the width, or go just beyond it: each step more costs proof time.
        size = width.bit_length() - ("beyond" not in features)
        return _Shifter(
            width=width,
            size=size,
            table={code: _OPERATIONS[i] for code, i in zip(codes, order, strict=False)},
            bits=bits,
            reverse_level=integer(rng, 0, 1),
            keep_level=integer(rng, 0, 1),
            features=features,
            word=pick(rng, ("d", "data", "word", "x")),
            result=pick(rng, ("y", "q", "result")),
        ).design()


@dataclass(frozen=True, slots=True)
class _Shifter:
    width: int
    size: int  # bits of the amount
    table: dict[int, tuple[bool, str]]  # from values of `op` to directions and fillings
    bits: int  # of `op`
    reverse_level: int
    keep_level: int
    features: tuple[str, ...]
    word: str
    result: str

    def design(self) -> Design:
        has = self.features.__contains__
        signals = inputs(
            (self.word, self.width, "word to shift"), ("amount", self.size, "number of steps")
        )
        if self.bits:
            signals += inputs(("op", self.bits, "operation code"))
        if self._uses_fill():
            signals += inputs(("fill", 1, "fill bit"))
        if has("reverse"):
            signals += inputs(
                ("reverse", 1, f"the direction is reversed while this is {self.reverse_level}")
            )
        if has("keep"):
            signals += inputs(("keep", self.width, "mask of bits that keep their input value"))
        signals += outputs((self.result, self.width, "word after all steps"))
        if has("carry"):
            signals += outputs(("carry", 1, "last bit shifted out"))
        if has("lost"):
            signals += outputs(("lost", 1, "1 if a 1 was shifted out"))
        how = f"with {len(self.table)} operations" if self.bits else "with one operation"
        return Design(
            title=f"a barrel shifter for {self.width}-bit words {how}",
            signals=signals,
            rules=self._rules(),
            golden=module(signals, self._golden(), registers=("carry", "lost")),
            alternative=sv_module(signals, self._alternative()),
            figure=self._figure(),
        )

    def _uses_fill(self) -> bool:
        return any(fill == "fill" for _, fill in self.table.values())

    def _figure(self) -> str:
        if not self.bits:
            return ""
        rows = [
            f"| {literal(self.bits, code)} | {_way(left)} | {_FILLS[fill]} |"
            for code, (left, fill) in sorted(self.table.items())
        ]
        return "\n".join(["| `op` | direction | vacated bit |", "| --- | --- | --- |", *rows])

    def _rules(self) -> tuple[str, ...]:
        has, top, y = self.features.__contains__, self.width - 1, f"`{self.result}`"
        left, fill = next(iter(self.table.values()))
        which = (
            "The table gives the direction and the vacated bit for each `op`."
            if self.bits
            else f"The vacated bit {_FILLS[fill]}."
        )
        way = "" if self.bits else f" to the {_way(left)}"
        most = 2**self.size - 1
        rules = [f"{y} is `{self.word}` after `amount` steps. `amount` is unsigned (0 to {most})."]
        rules.append(
            f"Each step shifts the word by one bit{way}; left is towards the most significant bit "
            f"(bit {top}). One bit is shifted out at the end towards which the word moves, and the "
            f"bit at the other end is vacated. {which}"
        )
        if has("reverse"):
            rules.append(
                f"While `reverse` is {self.reverse_level}, every step goes in the opposite "
                "direction, and the vacated bit is at the opposite end. It is filled in the same "
                "way."
            )
        if len(self.table) < 2**self.bits:
            flags = "".join(f", `{flag}` is 0" for flag in ("carry", "lost") if has(flag))
            rules.append(f"If `op` is not in the table, {y} is `{self.word}`{flags}.")
        if has("carry"):
            rules.append(
                "`carry` is the bit that the last step shifted out, or 0 if `amount` is 0."
            )
        if has("lost"):
            rules.append(
                "`lost` is 1 if and only if any of the steps shifted out a 1. For rotations (the "
                "vacated bit takes the bit that was shifted out) it is always 0."
            )
        if has("keep"):
            rules.append(
                f"After all steps, every bit i of {y} where `keep[i]` is {self.keep_level} is "
                f"replaced by bit i of `{self.word}`. No other output depends on `keep`."
            )
        return tuple(rules)

    def _left(self, code: int) -> str:
        left = "1" if self.table[code][0] else "0"
        if "reverse" not in self.features:
            return f"1'b{left}"
        return f"reverse ^ 1'b{int(left) ^ 1 ^ self.reverse_level}"

    def _golden(self) -> str:
        """Return a step, done as often as the amount says."""
        top, steps = self.width - 1, 2**self.size - 1
        cases = []
        for code, (_, fill) in sorted(self.table.items()):
            bit = {"one": "1'b1", "fill": "fill"}.get(fill, "1'b0")
            cases.append(
                f"{literal(self.bits or 1, code)}: begin known = 1; left = {self._left(code)}; "
                f"wrap = {int(fill == 'wrap')}; copy = {int(fill == 'copy')}; plain = {bit}; end"
            )
        lines = [
            f"reg [{top}:0] at;\nreg known, left, wrap, copy, plain, out, into, any;\ninteger k;",
            "always @(*) begin\nknown = 0; left = 0; wrap = 0; copy = 0; plain = 0;",
            f"case ({'op' if self.bits else literal(1, 0)})",
            *cases,
            "default: known = 0;\nendcase",
            f"at = {self.word}; out = 0; into = 0; any = 0;",
            f"for (k = 0; k < {steps}; k = k + 1)\nif (known && k < amount) begin",
            f"    out = left ? at[{top}] : at[0];",
            f"    into = wrap ? out : copy ? (left ? at[0] : at[{top}]) : plain;",
            "    any = any | (out & ~wrap);",
            f"    at = left ? {{at[{top - 1}:0], into}} : {{into, at[{top}:1]}};\nend\nend",
            self._kept("at"),
        ]
        if "carry" in self.features:
            lines.append("always @(*) carry = out;")
        if "lost" in self.features:
            lines.append("always @(*) lost = any;")
        return "\n".join(lines)

    def _kept(self, moved: str) -> str:
        if "keep" not in self.features:
            return f"assign {self.result} = {moved};"
        old, new = f"{self.word} & keep", f"{moved} & ~keep"
        if not self.keep_level:
            old, new = f"{self.word} & ~keep", f"{moved} & keep"
        return f"assign {self.result} = ({old}) | ({new});"

    def _alternative(self) -> str:
        """Return one shift of the word among the bits that may come in from both sides."""
        top, room, wide = self.width - 1, 2**self.size - 1, self.width + 2 * (2**self.size - 1)
        cases = []
        for code, (_, fill) in sorted(self.table.items()):
            bit = {"zero": "'0", "one": "'1", "fill": f"{{{room}{{fill}}}}"}
            bit["copy"] = f"{{{room}{{left ? {self.word}[0] : {self.word}[{top}]}}}}"
            bit["wrap"] = "'0"
            cases.append(
                f"{literal(self.bits or 1, code)}: begin known = 1; left = {self._left(code)}; "
                f"filler = {bit[fill]}; ring = {int(fill == 'wrap')}; end"
            )
        word, double = self.word, f"{{{self.word}, {self.word}}}"
        lines = [
            f"logic known, left, ring;\nlogic [{room - 1}:0] filler, gone;",
            f"logic [{wide - 1}:0] line;\nlogic [{2 * self.width - 1}:0] twice;",
            f"logic [{top}:0] slid, turned, moved;\nlogic last;",
            "always_comb begin\nknown = 0; left = 0; filler = '0; ring = 0;",
            f"case ({'op' if self.bits else literal(1, 0)})",
            *cases,
            "default: known = 0;\nendcase\nend",
            f"assign line = left ? {{{room}'d0, {word}, filler}} << amount",
            f"    : {{filler, {word}, {room}'d0}} >> amount;",
            f"assign slid = line[{room + top}:{room}];",
            f"assign gone = left ? line[{wide - 1}:{wide - room}] : line[{room - 1}:0];",
            f"assign twice = left ? {double} << (amount % {self.width})",
            f"    : {double} >> (amount % {self.width});",
            f"assign turned = left ? twice[{2 * self.width - 1}:{self.width}] : twice[{top}:0];",
            f"assign moved = known ? ring ? turned : slid : {word};",
            f"assign last = left ? line[{wide - room}] : line[{room - 1}];",
            self._kept("moved"),
        ]
        if "carry" in self.features:
            around = f"|amount & (left ? turned[0] : turned[{top}])"
            lines.append(f"assign carry = known & (ring ? {around} : last);")
        if "lost" in self.features:
            lines.append("assign lost = known & ~ring & |gone;")
        return "\n".join(lines)


def _way(left: bool) -> str:
    return "left" if left else "right"
