"""FixedPoint: fixed-point numbers, rounded to fewer bits."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.tables import table
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

# In the order in which higher levels add them.
FEATURES = ("saturate", "ties", "signed", "multiply", "flags", "mode", "add")
# Ways to round, and what each makes of a number between two neighbours that fit.
ROUNDINGS = {
    "down": "the lower neighbour (towards minus infinity)",
    "up": "the higher neighbour (towards plus infinity)",
    "half up": "the nearer neighbour; halfway between two, the higher one",
    "half down": "the nearer neighbour; halfway between two, the lower one",
    "half even": "the nearer neighbour; halfway between two, the one whose lowest bit is 0",
    "half odd": "the nearer neighbour; halfway between two, the one whose lowest bit is 1",
    "inwards": "the neighbour nearer to zero",
    "outwards": "the neighbour further from zero",
    "half inwards": "the nearer neighbour; halfway between two, the one nearer to zero",
    "half outwards": "the nearer neighbour; halfway between two, the one further from zero",
}
_PLAIN, _UNSIGNED = list(ROUNDINGS)[:4], list(ROUNDINGS)[:6]
_WIDEST = 12
_NAMES = (
    ("x", "y", "c"),
    ("a", "b", "c"),
    ("u", "v", "w"),
    ("in1", "in2", "in3"),
    ("left", "right", "more"),
    ("p", "q", "s"),
)
_RESULTS = ("z", "out", "result", "res", "f")


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedPointConfig(DesignConfig):
    """How wide the numbers are, and which features are added."""

    width: int = knob(7, "largest width of an operand, in bits", low=5, high=_WIDEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "FixedPointConfig":
        """Two levels of three add a feature, up to 11; the third adds a bit.

        The width stops at 12 bits.
        """
        return cls(
            width=min(7 + (difficulty + 2) // 3, _WIDEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("FixedPoint-v0", domain="verilog", answer_format=LANGUAGE)
class FixedPointTask(DesignTask[FixedPointConfig]):
    """Write the rounding of fixed-point numbers, with every tie and overflow specified.

    Description:
        A number, or a product of two, has more bits after the binary point than the result, and
        is rounded in one of ten ways. Later levels add saturation, rules for ties, signed
        numbers, a product, flags, an input for the way of rounding, and a sum.

    Verification:
        Equivalence with a reference for all inputs: by trying them where they are few, otherwise
        by simulation and proof (see docs/verilog.md).

    Difficulty:
        Numbers get wider, and signs, ties and overflows meet each other.

    References:
        IEEE 754-2019, section 4.3, for the ways to round; Yates, Fixed-Point Arithmetic: An
        Introduction, 2009, for the formats.
    """

    def design(self, rng: Rng) -> hw.Design:
        features = FEATURES[: self.config.features]
        has = features.__contains__
        top = self.config.width
        x, y = (integer(rng, max(5, top - 2), top) for _ in range(2))
        points = (integer(rng, 2, x - 2), integer(rng, 2, y - 2))
        point = sum(points) if has("multiply") else points[0]
        drop = integer(rng, 2, min(point, 6 if has("multiply") else 3))
        whole = (x + y if has("multiply") else x) - drop
        ways = list(ROUNDINGS) if has("signed") else _UNSIGNED if has("ties") else _PLAIN
        drawn = list(ways[4:] if has("ties") and not has("mode") else ways)
        rng.shuffle(drawn)
        return FixedPointSources(
            widths=(x, y),
            points=points,
            drop=drop,
            out=max(2, whole - integer(rng, 0, 2) - has("multiply")),
            ways=tuple(drawn[: 4 if has("mode") else 1]),
            features=features,
            names=(*pick(rng, _NAMES), pick(rng, _RESULTS)),
        ).design()


# Roundings in words and in two kinds of Verilog; what is drawn comes from the task.


@dataclass(frozen=True, slots=True)
class FixedPointSources:
    """What was drawn for one rounding, its rules and its sources."""

    widths: tuple[int, int]  # of the operands, in bits
    points: tuple[int, int]  # bits of the operands after the binary point
    drop: int  # bits after the binary point that are rounded away
    out: int  # width of the result
    ways: tuple[str, ...]  # to round, by code
    features: tuple[str, ...]
    names: tuple[str, str, str, str]  # of three operands and the result

    def design(self) -> hw.Design:
        """Return the design."""
        ports = self._signals()
        what = "product" if self._has("multiply") else "number"
        return hw.Design(
            title=f"a rounder that gives a fixed-point {what} with fewer bits",
            signals=ports,
            rules=self._rules(),
            golden=hw.module(ports, self._golden()),
            alternative=hw.sv_module(ports, self._alternative()),
            figure=self._figure(),
        )

    def _has(self, feature: str) -> bool:
        return feature in self.features

    @property
    def _point(self) -> int:
        """Return the bits of the result after the binary point."""
        return (sum(self.points) if self._has("multiply") else self.points[0]) - self.drop

    @property
    def _wide(self) -> int:
        """Return the bits of the exact value as a signed number, with one to spare."""
        exact = sum(self.widths) if self._has("multiply") else self.widths[0]
        return max(exact, self.out + self.drop) + 2

    def _signals(self) -> tuple[hw.Signal, ...]:
        x, y, c, z = self.names
        signals = hw.inputs((x, self.widths[0], self._format(self.points[0])))
        if self._has("multiply"):
            signals += hw.inputs((y, self.widths[1], self._format(self.points[1])))
        if self._has("add"):
            signals += hw.inputs((c, self.out, self._format(self._point)))
        if self._has("mode"):
            signals += hw.inputs(("mode", 2, "selects the way of rounding"))
        signals += hw.outputs((z, self.out, self._format(self._point)))
        if self._has("flags"):
            signals += hw.outputs(
                ("overflow", 1, "1 if the rounded value does not fit"),
                ("inexact", 1, "1 if rounding changed the value"),
            )
        return signals

    def _format(self, point: int) -> str:
        if point == 0:
            return "a number without bits after the binary point"
        return f"a number with {point} bit{'s' * (point > 1)} after the binary point"

    def _rules(self) -> tuple[str, ...]:
        x, y, c, z = self.names
        signed = self._has("signed")
        kind = "two's complement" if signed else "unsigned"
        exact = f"`{x}` * `{y}`" if self._has("multiply") else f"`{x}`"
        exact += f" + `{c}`" if self._has("add") else ""
        rules = [
            (
                f"All numbers are fixed-point numbers and {'in ' * signed}{kind}. A number "
                "with n bits after the binary point stands for the value of its bits as a "
                f"whole number ({kind}), divided by 2 to the power of n."
            ),
            f"The exact value is {exact}, as a number without any limit of its size.",
        ]
        scale = f"a multiple of 1 / {2**self._point}" if self._point else "a whole number"
        lowest = "The lowest bit of a neighbour is that of its bits as they stand in the result. "
        rules.append(
            f"The exact value is rounded to {scale}. If it is one, it stays as it is. Otherwise it "
            "lies between two neighbours that are, and becomes "
            + (
                "one of them: `mode` selects which; see the table below. "
                if self._has("mode")
                else f"{ROUNDINGS[self.ways[0]]}. "
            )
            + (lowest if {"half even", "half odd"} & set(self.ways) else "")
            + "This is the rounded value. The limits of the result play no part in it."
        )
        low, high = self._limits()
        units = f", in units of 1 / {2**self._point}" if self._point else ""
        rules.append(f"`{z}` can stand for values from {low} to {high}{units}.")
        if self._has("saturate"):
            nearest = "the highest of them if it is higher"
            nearest += ", and the lowest of them if it is lower" if signed else ""
            rules.append(
                f"If the rounded value is one of these, `{z}` stands for it. Otherwise `{z}` "
                f"stands for {nearest}."
            )
        else:
            rules.append(
                f"If the rounded value is one of these, `{z}` stands for it. Otherwise `{z}` is "
                f"the lowest {self.out} bits of what the rounded value would be in more bits."
            )
        if self._has("flags"):
            rules.append(
                "`overflow` is 1 if the rounded value is none of these, and 0 otherwise. `inexact` "
                "is 1 if the rounded value is not the exact value, and 0 otherwise; an overflow "
                "alone does not set it."
            )
        return tuple(rules)

    def _figure(self) -> str:
        if not self._has("mode"):
            return ""
        rows = [(k, ROUNDINGS[way]) for k, way in enumerate(self.ways)]
        return table(("`mode`", "the exact value becomes"), rows)

    def _of_mode(self, values: dict[str, str]) -> str:
        """Return the value for the way that is chosen."""
        chosen = [values[way] for way in self.ways]
        if len(chosen) == 1:
            return chosen[0]
        return "".join(f"mode == {k} ? {v} : " for k, v in enumerate(chosen[:3])) + chosen[3]

    def _extended(self, name: str, width: int) -> str:
        """Return an operand with as many bits as the exact value."""
        more = self._wide - width
        top = f"{name}[{width - 1}]" if self._has("signed") else "1'b0"
        return f"{{{{{more}{{{top}}}}}, {name}}}"

    def _golden(self) -> str:
        """Return what is kept and what is dropped, and whether one is added."""
        x, y, c, z = self.names
        w, d, has = self._wide, self.drop, self._has
        lines = [f"wire signed [{w - 1}:0] first = {self._extended(x, self.widths[0])};"]
        exact = "first"
        if has("multiply"):
            lines.append(f"wire signed [{w - 1}:0] second = {self._extended(y, self.widths[1])};")
            exact = "first * second"
        if has("add"):
            lines.append(f"wire signed [{w - 1}:0] third = {self._extended(c, self.out)};")
            exact += f" + (third << {d})"
        half = f"{d}'d{2 ** (d - 1)}"
        bumps = {
            "down": "1'b0",
            "up": "part != 0",
            "half up": f"part >= {half}",
            "half down": f"part > {half}",
            "half even": f"part > {half} || part == {half} && kept[0]",
            "half odd": f"part > {half} || part == {half} && !kept[0]",
            "inwards": "part != 0 && below",
            "outwards": "part != 0 && !below",
            "half inwards": f"part > {half} || part == {half} && below",
            "half outwards": f"part > {half} || part == {half} && !below",
        }
        bump = self._of_mode({way: f"({text})" for way, text in bumps.items()})
        least, most = self._limits()
        lines += [
            f"wire signed [{w - 1}:0] exact = {exact};\nwire below = exact < 0;",
            f"wire signed [{w - 1}:0] kept = exact >>> {d};",
            f"wire [{d - 1}:0] part = exact[{d - 1}:0];\nwire bump = {bump};",
            f"wire signed [{w - 1}:0] rounded = kept + $signed({{1'b0, bump}});",
            f"localparam signed [{w - 1}:0] MOST = {most}, LEAST = {least};",
            "wire high = rounded > MOST;\nwire low = rounded < LEAST;",
        ]
        plain = f"rounded[{self.out - 1}:0]"
        if has("saturate"):
            ends = f"MOST[{self.out - 1}:0]", f"LEAST[{self.out - 1}:0]"
            plain = f"high ? {ends[0]} : low ? {ends[1]} : {plain}"
        lines.append(f"assign {z} = {plain};")
        if has("flags"):
            lines.append("assign overflow = high || low;\nassign inexact = part != 0;")
        return "\n".join(lines)

    def _limits(self) -> tuple[int, int]:
        if self._has("signed"):
            return -(2 ** (self.out - 1)), 2 ** (self.out - 1) - 1
        return 0, 2**self.out - 1

    def _alternative(self) -> str:
        """Return a sum with an offset, of which the lowest bits are cut off."""
        x, y, c, z = self.names
        w, d, has = self._wide, self.drop, self._has
        exact = self._extended(x, self.widths[0])
        if has("multiply"):
            exact = f"{w}'({exact}) * {w}'({self._extended(y, self.widths[1])})"
        if has("add"):
            exact += f" + {w}'({{{self._extended(c, self.out)}, {d}'d0}})"
        half, full = 2 ** (d - 1), 2**d - 1
        offsets = {
            "down": f"{w}'d0",
            "up": f"{w}'d{full}",
            "half up": f"{w}'d{half}",
            "half down": f"{w}'d{half - 1}",
            "half even": f"{w}'d{half - 1} + {w}'(exact[{d}])",
            "half odd": f"{w}'d{half} - {w}'(exact[{d}])",
            "inwards": f"{{{w - d}'d0, {{{d}{{minus}}}}}}",
            "outwards": f"{{{w - d}'d0, {{{d}{{~minus}}}}}}",
            "half inwards": f"{w}'d{half - 1} + {w}'(minus)",
            "half outwards": f"{w}'d{half} - {w}'(minus)",
        }
        offset = self._of_mode({way: f"({text})" for way, text in offsets.items()})
        top = w - 1 - d  # of the rounded value
        lines = [
            f"logic [{w - 1}:0] exact, moved;\nlogic minus, over;\nlogic [{top}:0] value;",
            f"assign exact = {exact};\nassign minus = exact[{w - 1}];",
            f"assign moved = exact + ({offset});\nassign value = moved[{w - 1}:{d}];",
        ]
        if has("signed"):
            above = f"value[{top}:{self.out - 1}]"
            lines.append(f"assign over = ~(&{above} | ~|{above});")
            ends = f"{{value[{top}], {{{self.out - 1}{{~value[{top}]}}}}}}"
        else:
            lines.append(f"assign over = |value[{top}:{self.out}];")
            ends = "'1"
        low = f"value[{self.out - 1}:0]"
        lines.append(f"assign {z} = {f'over ? {ends} : {low}' if has('saturate') else low};")
        if has("flags"):
            lines.append(f"assign overflow = over;\nassign inexact = |exact[{d - 1}:0];")
        return "\n".join(lines)
