"""Crc: cyclic redundancy checks with any polynomial, a word at a time."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.tables import article
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them; from "register" on there is a clock.
FEATURES = ("order", "register", "final", "restart", "length", "words")
_HIGHEST, _WIDEST = 16, 7


@dataclass(frozen=True, slots=True, kw_only=True)
class CrcConfig(DesignConfig):
    """The degree of the polynomial, the size of a word, and the features of the register."""

    degree: int = knob(6, "degree of the polynomial", low=3, high=_HIGHEST)
    size: int = knob(4, "width of a data word, in bits", low=1, high=_WIDEST)
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "CrcConfig":
        """Two levels of three add a feature, up to 9; the third adds a bit of data, up to 7.

        The degree grows by one every 2 levels, up to 16.
        """
        return cls(
            degree=min(7 + difficulty // 2, _HIGHEST),
            size=min(1 + (difficulty + 2) // 3, _WIDEST),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("Crc-v0", domain="verilog", answer_format=LANGUAGE)
class CrcTask(DesignTask[CrcConfig]):
    """Write a cyclic redundancy check that takes a word in each cycle.

    Description:
        Small problems are one step of a register with feedback, for a word of a few bits. Larger
        ones have the register, which takes words in either order of bits and shifts in either
        direction, with a start value, a final inversion and reversal, restarts, words of which
        only the first bits count, and a count of words. The step is given as an algorithm or, in
        larger ones, as a remainder of polynomials.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). A reset that
        is not written and a value that is not determined count as wrong.

    Difficulty:
        Polynomials and words get longer, and the register gets more rules.

    References:
        Peterson and Brown 1961, Cyclic codes for error detection; Williams 1993, A painless guide
        to CRC error detection algorithms, for start values, reflection and final inversion.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        features = FEATURES[: config.features]
        drawn = "order" in features
        ones = 2**config.degree - 1
        return Crc(
            degree=config.degree,
            size=config.size,
            polynomial=integer(rng, 1, ones // 2) << 1 | 1,
            low_first=drawn and integer(rng, 0, 1) == 1,
            mirrored=drawn and integer(rng, 0, 1) == 1,
            as_polynomial=drawn and integer(rng, 0, 1) == 1,
            start=pick(rng, (ones, integer(rng, 1, ones))),
            final=pick(rng, (ones, integer(rng, 1, ones))),
            turned=integer(rng, 0, 1) == 1,
            features=features,
            names=(pick(rng, ("data", "din", "d")), pick(rng, ("crc", "check", "code"))),
        ).design(hw.draw_clocking(rng) if "register" in features else None)


# Cyclic redundancy checks: single steps and registers, each in two ways.


_WORDS = 4  # bits of the number of words


@dataclass(frozen=True, slots=True)
class Crc:
    """A polynomial, the order of the bits, and the features of the register."""

    degree: int  # of the polynomial, and bits of the register
    size: int  # bits of a word of data
    polynomial: int  # its coefficients below the highest one, that of x^i in bit i
    low_first: bool  # whether bit 0 of a word is taken first
    mirrored: bool  # whether the register shifts to the right
    as_polynomial: bool  # whether a step is given as a remainder
    start: int  # the register after reset and at a restart
    final: int  # what the register is XORed with at the output
    turned: bool  # whether the output has the bits in reverse order
    features: tuple[str, ...]  # the first ones of `FEATURES`
    names: tuple[str, str]  # of the data and of the remainder at the output

    def design(self, clocking: Clocking | None) -> hw.Design:
        """Return the design, with a register if there is a clock."""
        what = "combinational logic for one step of"
        if clocking is not None:
            what = "a register for"
        signals = self._signals(clocking)
        golden, other = self._golden(), self._alternative()
        if clocking is not None:
            reset = f"s <= {hw.literal(self.degree, self.start)};"
            body = "if (valid) s <= after;"
            if "words" in self.features:
                reset += " words <= 0;"
                count = "words + 1"
                if "restart" in self.features:
                    count = "restart ? 1 : words + 1"
                body = f"if (valid) begin\n    s <= after;\n    words <= {count};\nend"
            golden += "\n" + hw.clocked(clocking, reset, body)
            other += "\n" + hw.clocked(clocking, reset, body, keyword="always_ff")
        return hw.Design(
            title=f"{what} {article(self.degree)} {self.degree}-bit cyclic redundancy check (CRC) "
            f"of {self.size}-bit "
            "words",
            signals=signals,
            rules=self._rules(),
            golden=hw.module(signals, golden, registers=("words",)),
            alternative=hw.sv_module(signals, other),
            clocking=clocking,
        )

    def _signals(self, clocking: Clocking | None) -> tuple[hw.Signal, ...]:
        data, crc = self.names
        has = self.features.__contains__
        word = (data, self.size, "data word")
        if clocking is None:
            before = ("state", self.degree, "register value before the step")
            return hw.inputs(before, word) + hw.outputs(
                (crc, self.degree, "register value after the step")
            )
        ports = [("valid", 1, "1 if there is a data word in this cycle"), word]
        if has("restart"):
            ports.append(("restart", 1, "1 if the word is the first of a message"))
        if has("length"):
            ports.append(("length", self._length_bits(), "number of bits of the word to process"))
        results = [(crc, self.degree, "CRC value")]
        if has("words"):
            results.append(("words", _WORDS, "number of words of the message so far"))
        return (*hw.clock_signals(clocking), *hw.inputs(*ports), *hw.outputs(*results))

    def _length_bits(self) -> int:
        return self.size.bit_length()

    def _rules(self) -> tuple[str, ...]:
        data, crc = self.names
        n, has = self.degree, self.features.__contains__
        rules = [self._step_rule()]
        ends = ("bit 0", f"bit {self.size - 1}")
        first, last = ends if self.low_first else ends[::-1]
        order = f" one after another, from {first} to {last}" if self.size > 1 else ""
        if not has("register"):
            taking = f"the bits of `{data}`{order}" if self.size > 1 else f"the bit `{data}`"
            rules.append(
                f"`{crc}` is the value of s that starts as `state` and processes {taking}."
            )
            return tuple(rules)
        the_bits = f"the bits of `{data}`{order}" if self.size > 1 else f"the bit `{data}`"
        restart = ""
        if has("restart"):
            restart = (
                f" If `restart` is also 1, s is first set to {hw.literal(n, self.start)}: the word "
                "is then the first of a new message."
            )
        rules.append(
            f"The module holds s as its state. Reset sets s to {hw.literal(n, self.start)}. At "
            f"each rising clock edge where `valid` is 1, s processes {the_bits}, all within that "
            f"one cycle.{restart} At an edge where `valid` is 0, nothing changes."
        )
        if has("length"):
            above = self.size < 2 ** self._length_bits() - 1
            rules.append(
                "Only the first `length` bits, in that order, are processed. If `length` is 0, "
                "none is." + f" If `length` is above {self.size}, all are." * above
            )
        rules.append(self._output_rule())
        if has("words"):
            start = (
                ", and a word with `valid` = 1 and `restart` = 1 sets it to 1"
                if has("restart")
                else ""
            )
            rules.append(
                "`words` is also a register: reset sets it to 0, each word with `valid` = 1 "
                f"increments it modulo {2**_WORDS}{start}."
                + (" A word counts regardless of its `length`." if has("length") else "")
            )
        return tuple(rules)

    def _step_rule(self) -> str:
        n = self.degree
        if self.as_polynomial:
            powers = [n, *(i for i in reversed(range(n)) if self.polynomial >> i & 1)]
            told = " + ".join({0: "1", 1: "x"}.get(i, f"x^{i}") for i in powers)
            place = f"bit {n - 1} - i" if self.mirrored else "bit i"
            return (
                f"The {n}-bit register s stands for a polynomial over GF(2): the coefficient of "
                f"x^i is {place} of s. To process a bit b, replace s by the remainder of "
                f"x * (s + b * x^{n - 1}) divided by {told}."
            )
        out, way = (0, "right") if self.mirrored else (n - 1, "left")
        return (
            f"{article(n).capitalize()} {n}-bit register s processes a bit b as follows. Let f be "
            f"s[{out}] XOR b. Then "
            f"shift s to the {way} by one bit, filling with 0. Finally, if f is 1, XOR s with "
            f"{hw.literal(n, self._mask())}."
        )

    def _output_rule(self) -> str:
        crc = self.names[1]
        value = "s"
        if "final" in self.features:
            if self.turned:
                value = "s with its bits in reverse order (bit 0 becomes the most significant bit)"
            value += f", XORed with {hw.literal(self.degree, self.final)}"
        return f"`{crc}` is combinational: it is {value}."

    def _mask(self) -> int:
        if not self.mirrored:
            return self.polynomial
        return self._turned(self.polynomial)

    def _golden(self) -> str:
        """Return a loop over the bits of a word."""
        data, crc = self.names
        n, has = self.degree, self.features.__contains__
        word = f"{data}[i]" if self.low_first else f"{data}[{self.size - 1} - i]"
        if self.size == 1:
            word = data
        out, way = ("r[0]", ">>") if self.mirrored else (f"r[{n - 1}]", "<<")
        first = "state"
        if has("register"):
            first = f"restart ? {hw.literal(n, self.start)} : s" if has("restart") else "s"
        step = f"r = (r {way} 1) ^ ({{{n}{{{out} ^ {word}}}}} & {hw.literal(n, self._mask())});"
        text = f"reg [{n - 1}:0] r, after;\ninteger i;\n"
        if has("register"):
            text = f"reg [{n - 1}:0] s;\n{text}"
        when = "if (i < length) " if has("length") else ""
        text += (
            f"always @(*) begin\n    r = {first};\n    after = r;\n"
            f"    for (i = 0; i < {self.size}; i = i + 1) begin\n"
            f"        {step}\n        {when}after = r;\n    end\nend\n"
        )
        if not has("register"):
            return f"{text}assign {crc} = after;"
        value = "s"
        if has("final"):
            if self.turned:
                value = f"{{{', '.join(f's[{i}]' for i in range(n))}}}"
            value += f" ^ {hw.literal(n, self.final)}"
        return f"{text}assign {crc} = {value};"

    def _alternative(self) -> str:
        """Return every bit as a parity of the register and the data under masks."""
        data, crc = self.names
        n, has = self.degree, self.features.__contains__
        first = "state"
        text = f"logic [{n - 1}:0] base, after;\n"
        if has("register"):
            text += f"logic [{n - 1}:0] s;\n"
            first = f"restart ? {hw.literal(n, self.start)} : s" if has("restart") else "s"
        text += f"assign base = {first};\n"
        counts = range(self.size + 1) if has("length") else (self.size,)
        rows = {count: f"{{{', '.join(self._parities(count, data))}}}" for count in counts}
        if has("length"):
            text += "always_comb\n    case (length)\n"
            for count in counts[:-1]:
                text += f"        {count}: after = {rows[count]};\n"
            text += f"        default: after = {rows[self.size]};\n    endcase\n"
        else:
            text += f"assign after = {rows[self.size]};\n"
        if not has("register"):
            return f"{text}assign {crc} = after;"
        if not has("final"):
            return f"{text}assign {crc} = s;"
        order = range(n - 1, -1, -1) if self.turned else range(n)
        for place, bit in enumerate(order):
            text += f"assign {crc}[{place}] = {'~' * (self.final >> place & 1)}s[{bit}];\n"
        return text.rstrip("\n")

    def _parities(self, count: int, data: str) -> list[str]:
        """Return the bits after ``count`` steps, from the highest one on."""
        ends = [self._after(1 << bit, 0, count) for bit in range(self.degree)]
        words = [self._after(0, 1 << bit, count) for bit in range(self.size)]
        rows = []
        for place in reversed(range(self.degree)):
            masks = [
                sum((end >> place & 1) << bit for bit, end in enumerate(group))
                for group in (ends, words)
            ]
            terms = [
                f"(^({name} & {hw.literal(width, mask)}))"
                for name, width, mask in zip(
                    ("base", data), (self.degree, self.size), masks, strict=True
                )
                if mask
            ]
            rows.append(" ^ ".join(terms) or "1'b0")
        return rows

    def _after(self, register: int, word: int, count: int) -> int:
        """Return the register after some bits, by division of polynomials."""
        order = range(self.size) if self.low_first else range(self.size - 1, -1, -1)
        divisor = self.polynomial | 1 << self.degree
        value = self._turned(register) if self.mirrored else register
        for bit in list(order)[:count]:
            value = (value << 1) ^ ((word >> bit & 1) << self.degree)
            if value >> self.degree:
                value ^= divisor
        return self._turned(value) if self.mirrored else value

    def _turned(self, value: int) -> int:
        return int(f"{value:0{self.degree}b}"[::-1], 2)
