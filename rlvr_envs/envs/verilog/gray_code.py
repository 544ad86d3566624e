"""GrayCode: conversions, sums and counters in the reflected binary code."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.tables import article
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

_WIDEST = 12


# In the order in which higher levels add them; from "counter" on there is a clock.
FEATURES = ("offset", "choice", "sum", "counter", "down", "load", "range", "toggle")


@dataclass(frozen=True, slots=True, kw_only=True)
class GrayCodeConfig(DesignConfig):
    """How wide the words are, and what is done with them."""

    width: int = knob(5, "word width in bits", low=3, high=_WIDEST)
    features: int = feature_knob(4, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "GrayCodeConfig":
        """Converters up to 4, then counters; a bit comes every 2 levels, up to 12.

        Converters have an offset, from 2 on a choice, and at 4 a sum. Counters begin with a
        direction and a load; a range comes at 7 and the output `toggle` at 9.
        """
        features = (1, 1, 2, 2, 3, 6, 6, 7, 7)[difficulty] if difficulty < 9 else len(FEATURES)
        return cls(width=min(4 + (difficulty + (difficulty < 5)) // 2, _WIDEST), features=features)


@register("GrayCode-v0", domain="verilog", answer_format=LANGUAGE)
class GrayCodeTask(DesignTask[GrayCodeConfig]):
    """Write a converter, an adder or a counter in Gray code.

    Description:
        Small problems convert binary numbers to Gray code or back, with a constant added or the
        direction selected by an input; then come sums of numbers in Gray code. Large ones are
        counters with an enable, a direction, a load, a range that is no power of two and yet
        changes one bit at a time, and an output of the bits that are about to change.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). A reset that
        is not written and a value that is not determined count as wrong.

    Difficulty:
        Words get wider, converters become counters, and counters get more controls.

    References:
        Gray 1953, Pulse code communication, US patent 2632058; Cummings 2002, Simulation and
        synthesis techniques for asynchronous FIFO design, for counters in this code.
    """

    def design(self, rng: Rng) -> hw.Design:
        width, features = self.config.width, FEATURES[: self.config.features]
        if "counter" in features:
            half = 2 ** (width - 1)
            reach = integer(rng, 2, half - 1) if "range" in features else half
            counter = Counter(
                width=width,
                low=half - reach,
                high=half + reach - 1,
                start=integer(rng, half - reach, half + reach - 1),
                features=features,
                name=pick(rng, ("q", "gray", "code")),
            )
            return counter.design(hw.draw_clocking(rng))
        return Converter(
            width=width,
            offset=integer(rng, 1, 2**width - 1) if "offset" in features else 0,
            to_gray=integer(rng, 0, 1) == 1,
            level=integer(rng, 0, 1),
            features=features,
            names=(pick(rng, ("x", "a", "din", "code")), pick(rng, ("y", "z", "dout", "out"))),
        ).design()


# Gray code: converters, sums and counters, each in two ways.


def _what(width: int) -> str:
    return (
        f"All numbers are unsigned and have {width} bits. The Gray code of a number n is n XOR (n "
        "shifted right by one bit)."
    )


@dataclass(frozen=True, slots=True)
class Converter:
    """What was drawn for one converter."""

    width: int
    offset: int
    to_gray: bool  # where no input chooses
    level: int  # of the input that chooses, for Gray code at the output or for a difference
    features: tuple[str, ...]
    names: tuple[str, str]  # of the input and the output

    def design(self) -> hw.Design:
        (x, y), width, has = self.names, self.width, self.features.__contains__
        if has("sum"):
            ports = [(x, width, "operand in Gray code"), ("b", width, "operand in Gray code")]
            ports.append(
                ("mode", 1, f"operation ({self.level} = subtract, {1 - self.level} = add)")
            )
            result, title = "result in Gray code", "an adder and subtractor in Gray code"
        elif has("choice"):
            ports = [(x, width, "word to convert"), ("mode", 1, "conversion direction")]
            result, title = "converted word", "a converter to and from Gray code"
        else:
            ports = [(x, width, "binary number" if self.to_gray else "number in Gray code")]
            result = "number in Gray code" if self.to_gray else "binary number"
            title = "a converter " + (
                "from binary to Gray code" if self.to_gray else "from Gray code to binary"
            )
        signals = hw.inputs(*ports) + hw.outputs((y, width, result))
        return hw.Design(
            title=f"{title} for {width}-bit words",
            signals=signals,
            rules=(_what(width), *self._rules()),
            golden=hw.module(signals, self._golden()),
            alternative=hw.sv_module(signals, self._alternative()),
        )

    def _rules(self) -> tuple[str, ...]:
        (x, y), has, k = self.names, self.features.__contains__, self.offset
        size = 2**self.width
        if has("sum"):
            return (
                f"`{x}` and `b` are the Gray codes of two numbers A and B.",
                (
                    f"If `mode` is {self.level}, `{y}` is the Gray code of (A - B + {k}) modulo "
                    f"{size}. Otherwise `{y}` is the Gray code of (A + B + {k}) modulo {size}."
                ),
            )
        plus = f"({{}} + {k}) modulo {size}" if k else "{}"
        to = f"`{y}` is the Gray code of {plus.format(f'`{x}`')}"
        back = f"`{y}` is {plus.format('A')}, where `{x}` is the Gray code of A"
        if has("choice"):
            return (f"If `mode` is {self.level}, {to}.", f"Otherwise, {back}.")
        return ((to if self.to_gray else back) + ".",)

    def _golden(self) -> str:
        """Return conversions with a shift to Gray code and, back, a walk from the top bit."""
        (x, y), has, width = self.names, self.features.__contains__, self.width
        k, top = hw.literal(self.width, self.offset), self.width - 1
        chosen = f"mode == 1'b{self.level}"
        if has("sum"):
            return (
                f"{_decode('p', x, width)}\n{_decode('r', 'b', width)}\n"
                f"wire [{top}:0] sum = {chosen} ? p - r + {k} : p + r + {k};\n"
                f"assign {y} = sum ^ (sum >> 1);"
            )
        to = f"wire [{top}:0] sum = {x} + {k};\nwire [{top}:0] coded = sum ^ (sum >> 1);\n"
        back = _decode("p", x, width)
        if has("choice"):
            return f"{to}{back}\nassign {y} = {chosen} ? coded : p + {k};"
        return f"{to}assign {y} = coded;" if self.to_gray else f"{back}\nassign {y} = p + {k};"

    def _alternative(self) -> str:
        """Return conversions bit by bit: parities of what lies above, differences of neighbours."""
        (x, y), has, width = self.names, self.features.__contains__, self.width
        k, top, chosen = (
            hw.literal(self.width, self.offset),
            self.width - 1,
            f"mode == {self.level}",
        )
        words = f"logic [{top}:0] number, plain;\n"
        if has("sum"):
            return (
                f"logic [{top}:0] other, number, plain;\n{_parities('plain', x, width)}"
                f"{_parities('other', 'b', width)}"
                f"assign number = plain + {k} + ({chosen} ? ~other + 1'b1 : other);\n"
                + _neighbours(y, "number", width)
            )
        if has("choice"):
            return (
                f"{words}logic [{top}:0] coded;\n{_parities('plain', x, width)}"
                f"assign number = {x} + {k};\n{_neighbours('coded', 'number', width)}"
                f"always_comb\n    if ({chosen}) {y} = coded;\n    else {y} = plain + {k};"
            )
        if self.to_gray:
            return f"{words}assign number = {x} + {k};\n{_neighbours(y, 'number', width)}"
        return f"{words}{_parities('plain', x, width)}assign {y} = plain + {k};"


def _decode(name: str, word: str, width: int) -> str:
    """Return a word that is decoded from its top bit down."""
    return (
        f"reg [{width - 1}:0] {name};\ninteger i_{name};\nalways @(*) begin\n"
        f"    {name}[{width - 1}] = {word}[{width - 1}];\n"
        f"    for (i_{name} = {width - 2}; i_{name} >= 0; i_{name} = i_{name} - 1)\n"
        f"        {name}[i_{name}] = {name}[i_{name} + 1] ^ {word}[i_{name}];\nend"
    )


def _parities(name: str, word: str, width: int) -> str:
    bits = (f"assign {name}[{i}] = ^{word}[{width - 1}:{i}];\n" for i in range(width))
    return "".join(bits)


def _neighbours(name: str, word: str, width: int) -> str:
    bits = [f"assign {name}[{i}] = {word}[{i}] != {word}[{i + 1}];\n" for i in range(width - 1)]
    return "".join(bits) + f"assign {name}[{width - 1}] = {word}[{width - 1}];\n"


@dataclass(frozen=True, slots=True)
class Counter:
    """What was drawn for one counter."""

    width: int
    low: int
    high: int  # its Gray code and that of `low` differ in the top bit only
    start: int
    features: tuple[str, ...]
    name: str

    def design(self, clocking: Clocking) -> hw.Design:
        has, q = self.features.__contains__, self.name
        ports = [("enable", 1, "count enable")]
        if has("down"):
            ports.append(("down", 1, "direction (1 = down, 0 = up)"))
        if has("load"):
            ports += [("load", 1, "synchronous load"), ("value", self.width, "Gray code to load")]
        signals = (*hw.clock_signals(clocking), *hw.inputs(*ports))
        signals += hw.outputs((q, self.width, "the count in Gray code"))
        if has("toggle"):
            signals += hw.outputs(("toggle", self.width, "bits that change at the next edge"))
        first = hw.literal(self.width, self.start)
        golden = self._golden() + "\n" + hw.clocked(clocking, f"b <= {first};", "b <= later;")
        coded = f"{q} <= {hw.literal(self.width, _coded(self.start))};"
        other = self._alternative() + hw.clocked(clocking, coded, f"{q} <= n;", keyword="always_ff")
        return hw.Design(
            title=f"{article(self.width)} {self.width}-bit Gray code counter",
            signals=signals,
            rules=(_what(self.width), *self._rules()),
            golden=hw.module(signals, golden),
            alternative=hw.sv_module(signals, other),
            clocking=clocking,
        )

    def _rules(self) -> tuple[str, ...]:
        has, q = self.features.__contains__, self.name
        cut = self.low > 0
        rules = [
            (
                f"The counter holds a number N from {self.low} to {self.high}, and `{q}` is always "
                f"its Gray code. Reset sets N to {self.start}."
            )
        ]
        if has("load"):
            rules.append(
                "At a rising clock edge where `load` is 1, N becomes the number whose Gray code is "
                "`value`"
                + (f", or {self.low} if that number is out of range" if cut else "")
                + ". Loading takes priority over counting and does not need `enable`."
            )
        rules.append(f"If `enable` is 0, N keeps its value{' unless it is loaded' * has('load')}.")
        way = "increases by 1"
        if has("down"):
            way = "decreases by 1 if `down` is 1, and increases by 1 otherwise"
        below = f"; counting down, it goes from {self.low} to {self.high}" if has("down") else ""
        rules.append(
            f"If `enable` is 1, N {way}. Counting up, it goes from {self.high} to "
            f"{self.low}{below}."
        )
        if has("toggle"):
            rules.append(
                f"`toggle` is combinational: bit i is 1 if and only if bit i of `{q}` would change "
                "at a rising clock edge with the current inputs and without reset."
            )
        return tuple(rules)

    def _golden(self) -> str:
        """Return a binary counter whose count is coded."""
        has, width, q = self.features.__contains__, self.width, self.name
        low, high = hw.literal(width, self.low), hw.literal(width, self.high)
        moved = f"b == {high} ? {low} : b + 1'b1"
        if has("down"):
            moved = f"down ? (b == {low} ? {high} : b - 1'b1) : ({moved})"
        later = f"enable ? ({moved}) : b"
        text = f"reg [{width - 1}:0] b;\n"
        if has("load"):
            text += _decode("p", "value", width) + "\n"
            taken = f"(p < {low} || p > {high} ? {low} : p)" if self.low else "p"
            later = f"load ? {taken} : {later}"
        text += f"wire [{width - 1}:0] later = {later};\nassign {q} = b ^ (b >> 1);"
        if has("toggle"):
            text += f"\nassign toggle = {q} ^ later ^ (later >> 1);"
        return text

    def _alternative(self) -> str:
        """Return a register in Gray code: its parity tells which bit changes.

        Going up, an even number of ones changes bit 0 and an odd number the bit left of the
        lowest 1; going down it is the other way round. The top bit changes at the ends.
        """
        has, width, q = self.features.__contains__, self.width, self.name
        low, high = hw.literal(width, _coded(self.low)), hw.literal(width, _coded(self.high))
        top = f"{width}'d{1 << (width - 1)}"
        odd, end = f"^{q}", f"{q} == {high}"
        if has("down"):
            odd, end = f"^{q} ^ down", f"{q} == (down ? {low} : {high})"
        choice = f"enable ? {q} ^ change : {q}"
        text = f"logic [{width - 1}:0] change, lowest, n;\n"
        if has("load"):
            choice = f"load ? taken : {choice}"
            text += f"logic [{width - 1}:0] plain, taken;\n{_parities('plain', 'value', width)}"
            inside = f"plain inside {{[{self.low}:{self.high}]}}" if self.low else "1'b1"
            text += f"assign taken = {inside} ? value : {low};\n"
        text += (
            f"assign lowest = {q} & (~{q} + 1'b1);\n"
            f"assign change = {end} ? {top} : {odd} ? lowest << 1 : {width}'d1;\n"
            f"assign n = {choice};\n"
        )
        return text + (f"assign toggle = n ^ {q};\n" if has("toggle") else "")


def _coded(number: int) -> int:
    return number ^ (number >> 1)
