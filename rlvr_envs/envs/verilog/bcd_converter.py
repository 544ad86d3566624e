"""BcdConverter: decimal digits from binary numbers, sums of them, and their display."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.tables import listed, table
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

_MOST_DIGITS = 5


# In the order in which higher levels add them.
FEATURES = (
    *("offset", "segments", "blank", "lamp"),
    *("operands", "subtract", "error", "signs", "float"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class BcdConverterConfig(DesignConfig):
    """How many digits there are, and what is done with them."""

    digits: int = knob(2, "digits of an input number", low=2, high=_MOST_DIGITS)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "BcdConverterConfig":
        """Every level up to 8 adds a feature to the first one; 9 to 11 add a digit each."""
        return cls(
            digits=min(2 + max(0, difficulty - 8), _MOST_DIGITS),
            features=min(1 + difficulty, len(FEATURES)),
        )


@register("BcdConverter-v0", domain="verilog", answer_format=LANGUAGE)
class BcdConverterTask(DesignTask[BcdConverterConfig]):
    """Write a converter to decimal digits, or an adder of them, with a display.

    Description:
        Small problems split a binary number into decimal digits. Larger ones show digits with
        seven segments of random order, polarity and shapes, add and subtract numbers of
        four bits a digit, blank leading zeros, and detect invalid inputs. The largest ones add
        numbers with signs and show the minus sign before the leading digit.

    Observation:
        What the module does in numbered rules or prose, its ports, and a table of the shapes.

    Difficulty:
        Converters become adders of numbers with signs, and the display gets rules that depend
        on each other. At the highest levels only the digits become more.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 2.7 and 4.5, for
        seven-segment decoders; Richards 1955, Arithmetic Operations in Digital Computers, for
        decimal addition with a correction by 6.
    """

    def design(self, rng: Rng) -> hw.Design:
        digits, features = self.config.digits, FEATURES[: self.config.features]
        width = (10**digits).bit_length() - 1
        room = 10**digits - 2**width  # what can be added without another digit
        return Converter(
            digits=digits,
            width=width,
            offset=integer(rng, 1, room) if "offset" in features else 0,
            invalid=pick(rng, (0, 9)),
            level=integer(rng, 0, 1),
            display=draw_display(rng, features),
            apart=integer(rng, 0, 1) == 1,
            features=features,
            name=pick(rng, ("x", "a", "value", "num", "n", "data")),
        ).design()


# Decimal numbers: converters from binary, adders and displays, each in two ways.


PLACES = ("ones", "tens", "hundreds", "thousands", "ten_thousands", "hundred_thousands")
_SHAPES = ("abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg")
# Some displays draw these digits with a stroke more or less.
_OTHER_SHAPES = {6: "cdefg", 7: "abcf", 9: "abcfg"}
_DASH, _BLANK = 10, 11
_FLAGS = {"minus": "subtract", "error": "error"}  # by the feature that brings them


@dataclass(frozen=True, slots=True)
class Display:
    """How a digit is shown: as four bits, or with the segments a to g."""

    shapes: tuple[str, ...] = ()  # segments that are lit; none where digits are four bits
    order: str = "gfedcba"  # segments of a digit, most significant bit first
    lit: int = 1  # the level of a lit segment

    @property
    def width(self) -> int:
        """Bits of a digit."""
        return 7 if self.shapes else 4

    def code(self, sign: int) -> int:
        """Return the bits for a digit, a dash or a blank."""
        if not self.shapes:
            return sign if sign < 10 else 15
        shape = {_DASH: "g", _BLANK: ""}.get(sign) if sign >= 10 else self.shapes[sign]
        bits = "".join("1" if segment in (shape or "") else "0" for segment in self.order)
        return int(bits, 2) ^ (0 if self.lit else 127)


def draw_display(rng: Rng, features: tuple[str, ...]) -> Display:
    """Draw the shapes of digits, and the order and the level of the segments."""
    if "segments" not in features:
        return Display()
    shapes = tuple(
        pick(rng, (shape, _OTHER_SHAPES.get(digit, shape))) for digit, shape in enumerate(_SHAPES)
    )
    return Display(shapes, pick(rng, ("gfedcba", "abcdefg")), integer(rng, 0, 1))


@dataclass(frozen=True, slots=True)
class Converter:
    """What goes in, what is computed, and how the digits come out."""

    digits: int  # of the number, or of each operand
    width: int  # bits of a binary number
    offset: int  # what is added to it
    invalid: int  # what an input digit above 9 counts as
    level: int  # of the input that asks for a difference
    display: Display
    apart: bool  # whether each digit has a port of its own
    features: tuple[str, ...]
    name: str  # of the first input

    @property
    def shown(self) -> int:
        """Digits that come out: a sum has one more."""
        return self.digits + ("operands" in self.features)

    def design(self) -> hw.Design:
        """Return the design."""
        signals = self._inputs() + self._outputs()
        return hw.Design(
            title=self._title(),
            signals=signals,
            rules=(*self._number_rules(), *self._shown_rules()),
            golden=hw.module(signals, self._golden()),
            alternative=hw.sv_module(signals, self._alternative()),
            figure=self._figure(),
        )

    def _inputs(self) -> tuple[hw.Signal, ...]:
        has, bits = self.features.__contains__, 4 * self.digits
        if not has("operands"):
            ports = [(self.name, self.width, "unsigned binary number")]
        else:
            meaning = f"BCD number of {self.digits} digits"
            extra = "carry in or borrow in" if has("subtract") else "carry in"
            more = [("c", 1, extra)]
            if has("signs"):
                more = [(f"{name}_minus", 1, f"sign of `{name}`") for name in (self.name, "y")]
            ports = [(self.name, bits, meaning), ("y", bits, meaning), *more]
        if has("subtract"):
            ports.append(
                ("mode", 1, f"operation ({self.level} = subtract, {1 - self.level} = add)")
            )
        if has("lamp"):
            ports.append(("lamp", 1, "lamp test; 1 lights all segments"))
        return hw.inputs(*ports)

    def _outputs(self) -> tuple[hw.Signal, ...]:
        width, has = self.display.width, self.features.__contains__
        if self.apart:
            ports = [
                (name, width, f"{name.replace('_', ' ')} digit") for name in PLACES[: self.shown]
            ]
        else:
            ports = [("digits", width * self.shown, "all digits, concatenated")]
        if has("subtract"):
            ports.append(("minus", 1, "1 if the result is negative"))
        if has("error"):
            ports.append(("error", 1, "1 if an input is not a valid BCD number"))
        return hw.outputs(*ports)

    def _title(self) -> str:
        what = "a binary-to-decimal (BCD) converter"
        if "operands" in self.features:
            what = "a decimal (BCD) adder"
        if "subtract" in self.features:
            what = "a decimal (BCD) adder and subtractor"
        how = "with a seven-segment output of" if self.display.shapes else "with an output of"
        return f"{what} {how} {self.shown} digits"

    def _number_rules(self) -> list[str]:
        has, x = self.features.__contains__, self.name
        if not has("operands"):
            plus = f" + {self.offset}" if self.offset else ""
            return [f"The output shows the number R = `{x}`{plus}, where `{x}` is unsigned."]
        rules = [
            (
                f"X and Y are the numbers that `{x}` and `y` hold in BCD: four bits for each "
                "decimal digit, with the ones digit in bits 3 to 0."
            )
        ]
        if has("signs"):
            rules[0] += (
                f" X is negative if `{x}_minus` is 1, and Y if `y_minus` is 1; minus zero is 0."
            )
            rules.append(
                f"The result is X - Y if `mode` is {self.level}, and X + Y otherwise. The output "
                "shows R, the absolute value of the result. `minus` is 1 if and only if the result "
                "is below 0."
            )
        elif has("subtract"):
            rules.append(
                f"The result is X - Y - `c` if `mode` is {self.level}, and X + Y + `c` otherwise. "
                "The output shows R, the absolute value of the result. `minus` is 1 if and only if "
                "the result is negative."
            )
        else:
            rules.append("The output shows the number R = X + Y + `c`.")
        if has("error"):
            shown = "Then `minus` is 0 and every digit, including leading digits, shows a dash"
            rules.append(
                f"`error` is 1 if and only if any digit of `{x}` or `y` is above 9. {shown}."
            )
        else:
            rules.append(f"An input digit above 9 is treated as {self.invalid}.")
        return rules

    def _shown_rules(self) -> list[str]:
        has, display, n = self.features.__contains__, self.display, self.shown
        unit = "seven bits" if display.shapes else "four bits"
        if self.apart:
            names = listed([f"`{name}`" for name in PLACES[:n]])
            rules = [f"The decimal digits of R are the outputs {names}, {unit} each."]
        else:
            low = f"{display.width - 1} to 0"
            rules = [
                (
                    f"`digits` has {unit} for each of the {n} decimal digits of R: the ones digit "
                    f"in bits {low}, the tens digit in the {unit} above, and so on."
                )
            ]
        if not display.shapes:
            return rules
        rules.append(
            f"The bits of a digit are the segments {', '.join(display.order)}, from the most "
            f"significant bit to the least significant bit. A lit segment is {display.lit} and an "
            f"unlit one is {1 - display.lit}. The table gives the lit segments."
        )
        if has("blank"):
            rules.append(
                "Leading zeros are blank: none of their segments is lit. The ones digit is never "
                "blank."
            )
        if has("float"):
            rules.append(
                "If the result is negative, the blank digit next to the digits that are not blank "
                "shows a dash (the minus sign). If no digit is blank, there is no such dash."
            )
        if has("lamp"):
            steady = [f"`{flag}`" for flag, by in _FLAGS.items() if has(by)]
            verb = "does" if len(steady) == 1 else "do"
            flags = f" {listed(steady)} {verb} not depend on `lamp`." if steady else ""
            rules.append(
                "While `lamp` is 1, all segments of all digits are lit, regardless of all other "
                f"rules.{flags}"
            )
        return rules

    def _figure(self) -> str:
        if not self.display.shapes:
            return ""
        rows: list[tuple[object, ...]] = list(enumerate(self.display.shapes))
        if "error" in self.features:
            rows.append(("dash", "g"))
        return table(["shows", "lit segments"], rows)

    def _golden(self) -> str:
        """Return digits by division, or by binary sums that are corrected, and a case each."""
        lines = self._sum() if "operands" in self.features else self._division()
        n, display, has = self.shown, self.display, self.features.__contains__
        bits = 8 * display.width if display.shapes else 4
        codes = [f"    {hw.literal(4, k)}: show = {self._code(k)};" for k in range(_BLANK + 1)]
        if display.shapes:
            lines += [
                f"function [{display.width - 1}:0] show;\n    input [3:0] sign;\n    case (sign)",
                *(f"    {line}" for line in codes),
                f"        default: show = {self._code(_BLANK)};\n    endcase\nendfunction",
            ]
        for k in range(n):
            sign = f"r{k}"
            if has("blank") and k:
                above = " && ".join(f"r{j} == 0" for j in range(k, n))
                empty = f"4'd{_BLANK}"
                if has("float"):
                    leads = f"minus && r{k - 1} != 0" if k > 1 else "minus"
                    empty = f"({leads} ? 4'd{_DASH} : {empty})"
                sign = f"{above} ? {empty} : {sign}"
            if has("error"):
                sign = f"error ? 4'd{_DASH} : {sign}"
            value = f"show({sign})" if display.shapes else sign
            if has("lamp"):
                value = f"lamp ? {self._all()} : {value}"
            lines.append(f"wire [{min(bits, display.width) - 1}:0] o{k} = {value};")
        return "\n".join([*lines, self._joined("o{}")])

    def _code(self, sign: int) -> str:
        return f"{self.display.width}'d{self.display.code(sign)}"

    def _all(self) -> str:
        return f"7'd{127 if self.display.lit else 0}"

    def _joined(self, form: str) -> str:
        words = [form.format(k) for k in range(self.shown)]
        if self.apart:
            return "\n".join(
                f"assign {name} = {word};" for name, word in zip(PLACES, words, strict=False)
            )
        return f"assign digits = {{{', '.join(reversed(words))}}};"

    def _division(self) -> list[str]:
        room = (10**self.digits - 1).bit_length()
        lines = [f"wire [{room - 1}:0] number = {self.name} + {room}'d{self.offset};"]
        for k in range(self.digits):
            lines.append(f"wire [3:0] r{k} = (number / {10**k}) % 10;")
        return lines

    def _valid(self, word: str, k: int) -> str:
        digit = f"{word}[{4 * k + 3}:{4 * k}]"
        return f"({digit} > 9 ? 4'd{self.invalid} : {digit})"

    def _sum(self) -> list[str]:
        """Return sums of digits that are corrected by 6; a difference adds the complement."""
        n, has = self.digits, self.features.__contains__
        minus = f"(mode == 1'b{self.level})" if has("subtract") else "1'b0"
        carry = "c"
        if has("signs"):  # numbers with unlike signs: their absolute values are subtracted
            minus, carry = f"{minus} ^ {self.name}_minus ^ y_minus", "1'b0"
        lines = [f"wire minus_mode = {minus};\nwire c0 = {carry} ^ minus_mode;"]
        for k in range(n):
            lines += [
                f"wire [3:0] a{k} = {self._valid(self.name, k)};",
                f"wire [3:0] b{k} = {self._valid('y', k)};",
                f"wire [4:0] s{k} = a{k} + (minus_mode ? 4'd9 - b{k} : b{k}) + c{k};",
                f"wire c{k + 1} = s{k} > 9;",
                f"wire [3:0] t{k} = c{k + 1} ? s{k} + 6 : s{k};",
            ]
        # Without a carry a difference is negative, and its digits are the complement of it.
        lines.append(f"wire negative = minus_mode & ~c{n};\nwire e0 = 1'b1;")
        for k in range(n):
            lines += [
                f"wire [3:0] u{k} = 4'd9 - t{k} + e{k};\nwire e{k + 1} = u{k} == 10;",
                f"wire [3:0] r{k} = !negative ? t{k} : e{k + 1} ? 4'd0 : u{k};",
            ]
        lines.append(f"wire [3:0] r{n} = negative ? e{n} : c{n} & ~minus_mode;")
        if has("error"):
            digits = [f"{word}[{4 * k + 3}:{4 * k}]" for word in (self.name, "y") for k in range(n)]
            lines.append(f"assign error = {' || '.join(f'{digit} > 9' for digit in digits)};")
        if has("subtract"):
            below = "negative"
            if has("signs"):
                zero = " & ".join(f"r{k} == 0" for k in range(n + 1))
                below = f"(negative ^ {self.name}_minus) & ~({zero})"
            lines.append(f"assign minus = {below}{' & ~error' if has('error') else ''};")
        return lines

    def _alternative(self) -> str:
        """Return digits by shifting and adding 3, or by signed carries, and masks of segments."""
        n, has, display = self.shown, self.features.__contains__, self.display
        text = self._chain() if has("operands") else self._dabble()
        leading = f"|r[{n - 1}:k]" if has("blank") else "1'b1"
        if not display.shapes:
            return text + self._joined("r[{}]")
        masks = []
        for place in range(7):
            mask = sum((display.code(sign) >> place & 1) << sign for sign in range(10))
            masks.append(f"10'd{mask}")
        off = "1'b0" if display.lit else "1'b1"
        dash = f"7'd{display.code(_DASH)}"
        blank = f"{{7{{{off}}}}}"
        if has("float"):
            dashed = "minus && (k == 1 || |r[k > 1 ? k - 1 : 0])"
            blank = f"({dashed} ? {dash} : {blank})"
        value = f"k > 0 && !({leading}) ? {blank} : lit"
        if has("error"):
            value = f"error ? {dash} : {value}"
        if has("lamp"):
            value = f"lamp ? {{7{{~{off}}}}} : {value}"
        return (
            f"{text}localparam logic [6:0][9:0] MASK = {{{', '.join(reversed(masks))}}};\n"
            f"logic [{n - 1}:0][6:0] o;\n"
            f"for (genvar k = 0; k < {n}; k++) begin : digit\n    logic [6:0] lit;\n"
            "    for (genvar s = 0; s < 7; s++) begin : segment\n"
            f"        assign lit[s] = r[k] > 9 ? {off} : MASK[s][r[k]];\n    end\n"
            f"    assign o[k] = {value};\nend\n{self._joined('o[{}]')}"
        )

    def _dabble(self) -> str:
        room = (10**self.digits - 1).bit_length()
        return (
            f"logic [{self.digits - 1}:0][3:0] r;\nlogic [{room - 1}:0] number;\n"
            f"assign number = {room}'({self.name}) + {room}'d{self.offset};\n"
            f"always_comb begin\n    r = '0;\n    for (int i = {room - 1}; i >= 0; i--) begin\n"
            f"        for (int j = 0; j < {self.digits}; j++)\n"
            "            if (r[j] >= 5) r[j] += 4'd3;\n"
            f"        r = (r << 1) | {4 * self.digits}'(number[i]);\n    end\nend\n"
        )

    def _chain(self) -> str:
        """Return the larger number less the smaller one, with carries from -1 to 1."""
        n, has, x = self.digits, self.features.__contains__, self.name
        below = f"(mode == {self.level})" if has("subtract") else "1'b0"
        extra = "c"
        if has("signs"):
            below, extra = f"({x}_minus != (y_minus ^ {below}))", "1'b0"
        wrong = f"bad = bad | ({x}[4*i +: 4] > 9) | (y[4*i +: 4] > 9);"
        text = (
            f"logic [{n - 1}:0][3:0] p, q;\nlogic [{n}:0][3:0] r;\nlogic bad, under, minusing;\n"
            "logic signed [6:0] carry, t;\n"
            f"assign minusing = {below};\nalways_comb begin\n    bad = 0;\n"
            f"    for (int i = 0; i < {n}; i++) begin\n"
            f"        {wrong}\n"
            f"        p[i] = {x}[4*i +: 4] > 9 ? 4'd{self.invalid} : {x}[4*i +: 4];\n"
            f"        q[i] = y[4*i +: 4] > 9 ? 4'd{self.invalid} : y[4*i +: 4];\n    end\n"
            f"    under = minusing && ({extra} ? p <= q : p < q);\n"
            f"    carry = minusing && !under ? -7'({extra}) : 7'({extra});\n"
            f"    for (int i = 0; i < {n}; i++) begin\n"
            "        t = carry + (under ? -7'(p[i]) : 7'(p[i]));\n"
            "        t = minusing && !under ? t - 7'(q[i]) : t + 7'(q[i]);\n"
            "        carry = t < 0 ? -7'd1 : t > 9 ? 7'd1 : 7'd0;\n"
            "        r[i] = t < 0 ? 4'(t + 10) : t > 9 ? 4'(t - 10) : 4'(t);\n    end\n"
            f"    r[{n}] = 4'(carry);\nend\n"
        )
        if has("error"):
            text += "assign error = bad;\n"
        if has("subtract"):
            sign = "under"
            if has("signs"):
                sign = f"|r && ({x}_minus ? !under : under)"
            return text + f"assign minus = {sign}{' && !bad' if has('error') else ''};\n"
        return text
