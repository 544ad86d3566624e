"""BitCount: counts of bits, of runs and of changes in a word, and what follows from them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.tables import article
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask
from rlvr_envs.verifiers.hdl.interface import Clocking

_WIDEST = 12
# In the order in which higher levels add them.
PREPARATIONS = ("mask", "invert", "turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class BitCountConfig(DesignConfig):
    """How long the word is, what is done with it first, and how much is counted in it."""

    width: int = knob(6, "largest word width in bits; up to 3 bits less are drawn")
    counts: int = knob(2, "number of outputs")
    preparations: int = knob(1, "number of preparations, added in the order mask, invert, turn")
    stream: bool = knob(False, "words of a message come in turn, and all of it is counted in")

    def check(self) -> None:
        for name, low, high in (
            ("width", 3, _WIDEST),
            ("counts", 1, len(STREAMED) if self.stream else len(KINDS)),
            ("preparations", 0, len(PREPARATIONS)),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ConfigError(f"{name} is between {low} and {high}, got {value}")

    @classmethod
    def at(cls, difficulty: int) -> "BitCountConfig":
        """From 5 on, words of a message come in turn, and all of it is counted in.

        Up to 4 odd levels add an output and even ones a preparation. From 5 on a level adds an
        output, from one to all 8, and every second one a preparation, up to 3. Words have up to 6
        bits, and from 11 on a bit more a level, up to 12.
        """
        width, stream = min(max(6, difficulty - 4), _WIDEST), difficulty >= 5
        if not stream:
            return cls(width=width, counts=1 + (difficulty + 1) // 2, preparations=difficulty // 2)
        return cls(
            width=width,
            counts=min(difficulty - 4, len(STREAMED)),
            preparations=min((difficulty - 5) // 2, len(PREPARATIONS)),
            stream=True,
        )


@register("BitCount-v0", domain="verilog", answer_format=LANGUAGE)
class BitCountTask(DesignTask[BitCountConfig]):
    """Write a circuit that counts bits, runs and changes in a word or a stream of words.

    Description:
        Outputs count ones or zeros, leading or trailing bits, changes and runs, the longest run,
        the sum of weights, or the difference of even and odd positions; or they say whether a
        count has a majority, reaches a threshold or is a multiple of a number. The word may first
        be masked, XORed with a constant and reversed. At higher levels a message comes word by
        word: runs and changes go across words, sums wrap around, and lengths saturate.

    Observation:
        What the module does in numbered rules or prose, and its ports.

    Difficulty:
        Outputs and the preparation of the word become more. Then what was counted in one word
        has to be counted in a message of any length, with the state that each output needs.

    References:
        Warren 2012, Hacker's Delight, chapters 5 and 6, for counts of bits and runs; Liu et al.
        2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        size = integer(rng, max(3, config.width - 3), config.width)
        kinds = STREAMED if config.stream else KINDS[: 5 if config.counts == 1 else None]
        counts = Counts(
            size=size,
            outputs=draw_outputs(rng, size, config.counts, kinds),
            preparations=PREPARATIONS[: config.preparations],
            level=integer(rng, 0, 1),
            inverted=integer(rng, 1, 2**size - 1),
            name=pick(rng, ("x", "a", "data", "din")),
        )
        if not config.stream:
            return counts.design()
        return Stream(counts, hw.draw_clocking(rng), bool(integer(rng, 0, 1))).design()


# What can be counted in a word: in words, as a loop, and as a formula.


# What can be counted in a message of any length: sums modulo 16, lengths up to 15.
STREAMED = (
    *("ones", "trailing", "threshold", "changes"),
    *("runs", "longest", "balance", "multiple"),
)
_STREAM_BITS = 4
KINDS = (
    *("ones", "leading", "trailing", "threshold", "majority", "changes"),
    *("runs", "longest", "weighted", "balance", "multiple"),
)
_NAMES = {
    "ones": ("count", "amount", "total"),
    "leading": ("lead", "leading", "above"),
    "trailing": ("trail", "trailing", "below"),
    "threshold": ("enough", "reached", "many"),
    "majority": ("major", "most", "vote"),
    "changes": ("changes", "edges", "flips"),
    "runs": ("runs", "groups", "islands"),
    "longest": ("longest", "span", "stretch"),
    "weighted": ("weight", "score", "points"),
    "balance": ("balance", "tilt", "diff"),
    "multiple": ("fits", "multiple", "aligned"),
}


@dataclass(frozen=True, slots=True)
class Output:
    """Something that is counted in the bits of a word that have a value."""

    kind: str  # one of `KINDS`
    name: str  # of the port
    bit: int  # the value of the bits that are counted
    number: int = 2  # a threshold, or what a count is a multiple of
    tie: int = 0  # what a majority is where neither value has one
    weights: tuple[int, ...] = ()  # of the bits, from bit 0 on

    def width(self, size: int) -> int:
        """Return how many bits the port has for a word of a size."""
        if self.kind in ("threshold", "majority", "multiple"):
            return 1
        if self.kind == "balance":
            return (size // 2 + 1).bit_length() + 1
        most = {"changes": size - 1, "runs": (size + 1) // 2, "weighted": sum(self.weights)}
        return most.get(self.kind, size).bit_length()

    @property
    def meaning(self) -> str:
        """What the port shows, in a few words."""
        these = ("zeros", "ones")[self.bit]
        return {
            "ones": f"number of {these}",
            "leading": f"number of bits above the most significant {self.bit}",
            "trailing": f"number of bits below the least significant {self.bit}",
            "threshold": f"1 if there are at least {self.number} {these}",
            "majority": f"majority of {these}",
            "changes": "number of changes between adjacent bits",
            "runs": f"number of runs of {these}",
            "longest": f"length of the longest run of {these}",
            "weighted": f"sum of the weights of the {these}",
            "balance": f"{these} at even positions minus {these} at odd positions",
            "multiple": f"1 if the number of {these} is a multiple of {self.number}",
        }[self.kind]

    def rule(self, size: int) -> str:
        """Return what the port shows; the word is called w."""
        name = f"`{self.name}`"
        others, these = ("ones", "zeros")[self.bit], ("zeros", "ones")[self.bit]
        is_1 = f"{name} is 1 if and only if"
        texts = {
            "ones": f"{name} is the number of {these} in w.",
            "leading": f"{name} is the number of bits of w above its most significant {self.bit}, "
            f"or {size} if w has no {self.bit}.",
            "trailing": f"{name} is the number of bits of w below its least significant "
            f"{self.bit}, or {size} "
            f"if w has no {self.bit}.",
            "threshold": f"{is_1} w has {self.number} or more {these}.",
            "majority": f"{is_1} w has {'at least as many' if self.tie else 'more'} {these} "
            f"{'as' if self.tie else 'than'} {others}.",
            "changes": f"{name} is the number of positions i, from 0 to {size - 2}, where bits i "
            "and i + 1 of w differ.",
            "runs": f"{name} is the number of runs of {these} in w. A run is a maximal sequence of "
            f"adjacent {these}. The two ends of w are not adjacent.",
            "longest": f"{name} is the length of the longest run of adjacent {these} in w, or 0 if "
            f"w has no {self.bit}.",
            "weighted": f"{name} is the sum of the weights of all bits of w that are {self.bit}. "
            f"The weights, from bit 0 upwards, are {', '.join(map(str, self.weights))}.",
            "balance": f"{name} is the number of {these} at even bit positions of w minus the "
            f"number of {these} at odd positions, in two's complement. Bit 0 is at an even "
            "position.",
            "multiple": f"{is_1} the number of {these} in w is a multiple of {self.number} "
            f"(0 is a multiple).",
        }
        return texts[self.kind]

    def loop(self, size: int) -> str:
        """Return statements that walk over the word ``v``, whose ones are counted, with ``i``."""
        n, name = size, self.name
        over = f"for (i = 0; i < {n}; i = i + 1)"
        total = f"n = 0;\n{over} n = n + v[i];\n"
        inner = f"for (i = 0; i < {n - 1}; i = i + 1)"
        texts = {
            "ones": f"{total}{name} = n;",
            "leading": f"{name} = {n};\n{over} if (v[i]) {name} = {n - 1} - i;",
            "trailing": f"{name} = {n};\n"
            f"for (i = {n - 1}; i >= 0; i = i - 1) if (v[i]) {name} = i;",
            "threshold": f"{total}{name} = n >= {self.number};",
            "majority": f"{total}{name} = n + n >{'=' * self.tie} {n};",
            "changes": f"n = 0;\n{inner} if (v[i] != v[i + 1]) n = n + 1;\n{name} = n;",
            "runs": f"n = v[{n - 1}];\n{inner} if (v[i] && !v[i + 1]) n = n + 1;\n{name} = n;",
            "longest": f"n = 0;\n{name} = 0;\n{over} begin\n    n = v[i] ? n + 1 : 0;\n"
            f"    if (n > {name}) {name} = n;\nend",
            "balance": f"n = 0;\n{over} if (v[i]) n = i % 2 ? n - 1 : n + 1;\n{name} = n;",
            "multiple": f"n = 0;\n{over} if (v[i]) n = n == {self.number - 1} ? 0 : n + 1;\n"
            f"{name} = n == 0;",
        }
        if self.kind == "weighted":
            steps = [f"if (v[{i}]) n = n + {weight};" for i, weight in enumerate(self.weights)]
            return "\n".join(["n = 0;", *steps, f"{name} = n;"])
        return texts[self.kind]

    def formula(self, size: int, v: str) -> str:
        """Return statements that find the same from the word as a whole."""
        n, name, wide = size, self.name, self.width(size)
        ones = f"$countones({v})"
        even = sum(1 << i for i in range(0, n, 2))
        texts = {
            "ones": f"assign {name} = {wide}'({ones});",
            "threshold": f"assign {name} = {ones} > {self.number - 1};",
            "majority": f"assign {name} = {ones} >{'=' * self.tie} $countones(~{v});",
            "changes": f"assign {name} = {wide}'($countones({v}[{n - 1}:1] ^ {v}[{n - 2}:0]));",
            "runs": f"assign {name} = {wide}'($countones({v} & ~({v} << 1)));",
            "balance": f"assign {name} = {wide}'($countones({v} & {hw.literal(n, even)})) - "
            f"{wide}'($countones({v} & {hw.literal(n, even << 1)}));",
            "multiple": f"assign {name} = {ones} inside "
            f"{{{', '.join(map(str, range(0, n + 1, self.number)))}}};",
        }
        if self.kind in ("leading", "trailing"):
            form = f"{n - 1}:{{}}" if self.kind == "leading" else "{}:0"
            terms = (f"{wide}'(~|{v}[{form.format(i)}])" for i in range(n))
            return f"assign {name} = {' + '.join(terms)};"
        if self.kind == "longest":
            return self._thinned(n, v)
        if self.kind == "weighted":
            places = range(max(self.weights).bit_length())
            masks = [sum((w >> b & 1) << i for i, w in enumerate(self.weights)) for b in places]
            counts = (f"{wide}'($countones({v} & {hw.literal(n, mask)}))" for mask in masks)
            shifted = (f"({count} << {place})" for place, count in enumerate(counts))
            return f"assign {name} = {' + '.join(shifted)};"
        return texts[self.kind]

    def _thinned(self, size: int, v: str) -> str:
        """Return a count of how often a word can lose the end of every run."""
        name = self.name
        lines = [f"logic [{size - 1}:0] {name}_0;\nassign {name}_0 = {v};"]
        for k in range(1, size):
            lines.append(f"logic [{size - 1}:0] {name}_{k};")
            lines.append(f"assign {name}_{k} = {name}_{k - 1} & ({v} >> {k});")
        terms = " + ".join(f"{self.width(size)}'(|{name}_{k})" for k in range(size))
        return "\n".join([*lines, f"assign {name} = {terms};"])


def draw_outputs(
    rng: Rng, size: int, count: int, kinds: tuple[str, ...] = KINDS
) -> tuple[Output, ...]:
    """Draw outputs of different kinds."""
    left = list(kinds)
    drawn = []
    for _ in range(count):
        kind = left.pop(integer(rng, 0, len(left) - 1))
        drawn.append(
            Output(
                kind=kind,
                name=pick(rng, _NAMES[kind]),
                bit=integer(rng, 0, 1),
                number=integer(rng, 2, size - 1) if kind == "threshold" else integer(rng, 2, 4),
                tie=integer(rng, 0, 1),
                weights=integers(rng, 1, 9, size) if kind == "weighted" else (),
            )
        )
    return tuple(drawn)


@dataclass(frozen=True, slots=True)
class Counts:
    """A word, what is done with it first, and what is counted in it."""

    size: int
    outputs: tuple[Output, ...]
    preparations: tuple[str, ...]  # of mask, invert, turn
    level: int  # of bits of the mask that let a bit through
    inverted: int  # bits that are inverted
    name: str

    def design(self) -> hw.Design:
        """Return the design."""
        signals = self.word_ports()
        signals += hw.outputs(
            *((out.name, out.width(self.size), out.meaning) for out in self.outputs)
        )
        return hw.Design(
            title=f"a circuit that counts bits in {article(self.size)} {self.size}-bit word",
            signals=signals,
            rules=(self.word_rule(), *(out.rule(self.size) for out in self.outputs)),
            golden=hw.module(signals, self._golden(), registers=[out.name for out in self.outputs]),
            alternative=hw.sv_module(signals, self._alternative()),
        )

    def word_ports(self) -> tuple[hw.Signal, ...]:
        """Return the inputs that the word is made of."""
        has = self.preparations.__contains__
        signals = hw.inputs((self.name, self.size, "the word"))
        if has("mask"):
            signals += hw.inputs(("mask", self.size, "which bits of the word are used"))
        if has("turn"):
            signals += hw.inputs(("turn", 1, "1 reverses the bits of the word"))
        return signals

    def word_rule(self) -> str:
        """Return how the word is prepared."""
        has, x = self.preparations.__contains__, self.name
        if not self.preparations:
            return f"The word w is `{x}`."
        rule = f"The word w is computed from `{x}`: "
        steps = []
        if has("mask"):
            steps.append(f"each bit i where `mask[i]` is {1 - self.level} is set to 0")
        if has("invert"):
            steps.append(f"the result is XORed with {self._inverting()}")
        if has("turn"):
            steps.append("if `turn` is 1, the order of the bits is reversed")
        return rule + "; then ".join(steps) + "."

    def _inverting(self) -> str:
        return f"{self.size}'b{self.inverted:0{self.size}b}"

    def _prepared(self) -> str:
        has = self.preparations.__contains__
        word = self.name
        if has("mask"):
            word = f"{word} & {'' if self.level else '~'}mask"
        return f"({word}) ^ {self._inverting()}" if has("invert") else word

    def golden_word(self) -> str:
        """Return the prepared word w, bit by bit."""
        top, has = self.size - 1, self.preparations.__contains__
        turned = f"turn ? kept[{top} - j] : kept[j]" if has("turn") else "kept[j]"
        return (
            f"wire [{top}:0] kept = {self._prepared()};\nreg [{top}:0] w;\ninteger j;\n"
            f"always @(*)\n    for (j = 0; j < {self.size}; j = j + 1) w[j] = {turned};\n"
        )

    def _golden(self) -> str:
        """Return a block for each output that walks over the word."""
        text = self.golden_word()
        for k, out in enumerate(self.outputs):
            body = out.loop(self.size).replace("\n", "\n    ")
            text += (
                f"always @(*) begin : block{k}\n    integer i, n;\n    reg [{self.size - 1}:0] v;\n"
                f"    v = {'w' if out.bit else '~w'};\n    {body}\nend\n"
            )
        return text

    def alternative_word(self) -> str:
        """Return the prepared word w and its complement."""
        turned = "turn ? back : kept" if "turn" in self.preparations else "kept"
        return (
            f"logic [{self.size - 1}:0] kept, back, w, not_w;\nassign kept = {self._prepared()};\n"
            f"assign back = {{<<{{kept}}}};\nassign w = {turned};\nassign not_w = ~w;\n"
        )

    def _alternative(self) -> str:
        """Return a formula for each output."""
        return self.alternative_word() + "\n".join(
            out.formula(self.size, "w" if out.bit else "not_w") for out in self.outputs
        )


@dataclass(frozen=True, slots=True)
class Stream:
    """Words of a message that come in turn, and what is counted in all of them."""

    counts: Counts
    clocking: Clocking
    upwards: bool  # whether bit 0 of a word comes first

    def design(self) -> hw.Design:
        """Return the design."""
        counts = self.counts
        signals = hw.clock_signals(self.clocking) + hw.inputs(
            ("valid", 1, "1 if there is a word in this cycle"),
            ("first", 1, "1 if the word is the first of a message"),
        )
        signals += counts.word_ports()
        signals += hw.outputs(
            *((out.name, _stream_width(out), _stream_meaning(out)) for out in counts.outputs)
        )
        size = counts.size
        return hw.Design(
            title=f"a circuit that counts bits in a message of {size}-bit words",
            signals=signals,
            rules=self._rules(),
            golden=hw.module(signals, self._golden()),
            alternative=hw.sv_module(signals, self._alternative()),
            clocking=self.clocking,
        )

    def _rules(self) -> tuple[str, ...]:
        ends = ["bit 0", f"bit {self.counts.size - 1}"]
        order = " to ".join(ends if self.upwards else ends[::-1])
        return (
            self.counts.word_rule(),
            (
                "At a rising clock edge where `valid` is 1, w is the next word of the message. If "
                "`first` is also 1, a new message begins with w, and all words before it no longer "
                "count. At an edge where `valid` is 0, nothing changes. After reset, the message "
                "has no words yet."
            ),
            (
                f"The bits of a message come in the order of its words, and within a word from "
                f"{order}. Its first bit has position 0, the next one position 1, and so on "
                "through all words. Runs and adjacent bits go across the borders of words."
            ),
            "All outputs depend on the state only: they tell of the message up to now.",
            *(_stream_rule(out) for out in self.counts.outputs),
        )

    def _golden(self) -> str:
        """Return for each output a loop over the bits of a word, which changes its state."""
        size, bits = self.counts.size, _STREAM_BITS - 1
        order = "i" if self.upwards else f"{size - 1} - i"
        text = self.counts.golden_word()
        resets, moves = [], []
        for k, out in enumerate(self.counts.outputs):
            state, update, shown = _steps(out)
            now = {name: f"{name}{k}" for name in state}
            later = {name: f"next_{name}{k}" for name in state}
            begins = [f"{later[name]} = first ? 0 : {now[name]};" for name in state]
            text += (
                f"reg [{bits}:0] {', '.join([*now.values(), *later.values()])};\n"
                f"always @(*) begin : block{k}\n    integer i;\n    reg b;\n"
                + hw.indented("\n".join(begins), 4)
                + f"\n    for (i = 0; i < {size}; i = i + 1) begin\n"
                f"        b = w[{order}] == 1'b{out.bit};\n"
                + hw.indented(_with_names(update, later), 8)
                + f"\n    end\nend\nassign {out.name} = {_with_names(shown, now)};\n"
            )
            resets += [f"{name} <= 0;" for name in now.values()]
            moves += [f"{now[name]} <= {later[name]};" for name in state]
        return text + self._stored(resets, moves)

    def _alternative(self) -> str:
        """Return for each output its state after a word, from what the word as a whole is."""
        n = self.counts.size
        text = self.counts.alternative_word()
        text += f"logic [{n - 1}:0] line;\nassign line = {'w' if self.upwards else '{<<{w}}'};\n"
        resets, moves = [], []
        for k, out in enumerate(self.counts.outputs):
            wires, made, shown = _summary(out, n)
            names = {"v": f"v{k}"} | {name: f"t{k}_{name}" for name in wires}
            names |= {name: f"b{k}_{name}" for name in made}
            text += f"logic [{n - 1}:0] v{k};\nassign v{k} = {'' if out.bit else '~'}line;\n"
            for name in made:
                text += f"logic [{_STREAM_BITS - 1}:0] a{k}_{name}, b{k}_{name};\n"
                text += f"assign b{k}_{name} = first ? 4'd0 : a{k}_{name};\n"
            for name, value in wires.items():
                text += f"logic [5:0] t{k}_{name};\n"
                text += f"assign t{k}_{name} = 6'({_with_names(value, names)});\n"
            resets += [f"a{k}_{name} <= 4'd0;" for name in made]
            moves += [
                f"a{k}_{name} <= 4'({_with_names(value, names)});" for name, value in made.items()
            ]
            text += f"assign {out.name} = {_with_names(shown, {'n': f'a{k}_n'})};\n"
        return text + self._stored(resets, moves, "always_ff")

    def _stored(self, resets: list[str], moves: list[str], keyword: str = "always") -> str:
        """Return the block that takes the next state where there is a word."""
        body = "if (valid) begin\n" + hw.indented("\n".join(moves), 4) + "\nend"
        return hw.clocked(self.clocking, "\n".join(resets), body, keyword=keyword)


def _with_names(text: str, names: Mapping[str, str]) -> str:
    """Return Verilog in which words have other names."""
    return re.sub(r"\b[a-z]\w*\b", lambda word: names.get(word[0], word[0]), text)


def _stream_width(out: Output) -> int:
    return 1 if out.kind in ("threshold", "multiple") else _STREAM_BITS


def _stream_meaning(out: Output) -> str:
    return f"position of the first {out.bit}" if out.kind == "trailing" else out.meaning


def _stream_rule(out: Output) -> str:
    """Return what a port shows of a message."""
    name, these = f"`{out.name}`", ("zeros", "ones")[out.bit]
    most, size = 2**_STREAM_BITS - 1, 2**_STREAM_BITS
    return {
        "ones": f"{name} is the number of {these}, modulo {size}.",
        "trailing": f"{name} is the position of the first {out.bit}, or the length of the message "
        f"in bits while it has no {out.bit}; it is {most} where that number is larger than {most}.",
        "threshold": f"{name} is 1 if and only if there are at least {out.number} {these}.",
        "changes": f"{name} is the number of pairs of adjacent bits that differ, modulo {size}.",
        "runs": f"{name} is the number of runs of {these}, modulo {size}. A run is a maximal "
        f"sequence of adjacent {these}.",
        "longest": f"{name} is the length of the longest run of adjacent {these} (0 if there are "
        f"no {these}), or {most} if that length is larger than {most}.",
        "balance": f"{name} is the number of {these} at even positions minus the number of {these} "
        f"at odd positions, modulo {size}.",
        "multiple": f"{name} is 1 if and only if the number of {these} is a multiple of "
        f"{out.number} (0 is a multiple).",
    }[out.kind]


def _steps(out: Output) -> tuple[str, str, str]:
    """Return the names of the state of an output, what a bit b does to it, and what is shown."""
    return {
        "ones": ("n", "n = n + b;", "n"),
        "trailing": ("np", "p = p | b;\nif (!p && n != 15) n = n + 1;", "n"),
        "threshold": ("n", f"if (b && n < {out.number}) n = n + 1;", f"n == {out.number}"),
        "changes": ("np", "if (p == (b ? 1 : 2)) n = n + 1;\np = b ? 2 : 1;", "n"),
        "runs": ("np", "if (b && p == 0) n = n + 1;\np = b;", "n"),
        "longest": ("np", "p = !b ? 0 : p == 15 ? 15 : p + 1;\nif (p > n) n = p;", "n"),
        "balance": ("np", "n = !b ? n : p ? n - 1 : n + 1;\np = !p;", "n"),
        "multiple": ("n", f"if (b) n = n == {out.number - 1} ? 0 : n + 1;", "n == 0"),
    }[out.kind]


def _summary(out: Output, size: int) -> tuple[dict[str, str], dict[str, str], str]:
    """Return wires, the next values of the state of an output, and what is shown.

    They follow from a word v whose bit 0 comes first, and in which bits that count are 1.
    """
    most, top, ones = size - 1, f"v[{size - 1}]", "6'($countones(v))"
    even = hw.literal(size, sum(1 << i for i in range(0, size, 2)))
    lengths = " + ".join(f"6'(|({_overlaid(size, k)}))" for k in range(1, size + 1))
    behind = " + ".join(f"6'(&v[{most}:{i}])" for i in range(size))
    wires = {
        "trailing": {"far": f"n + 6'($countones((v & -v) - {size}'d1))"},
        "threshold": {"sum": f"n + {ones}"},
        "longest": {
            "inner": lengths,
            "joined": f"p + 6'($countones((~v & -(~v)) - {size}'d1))",
            "best": "joined > inner ? joined : inner",
            "after": f"&v ? p + {size} : {behind}",
        },
        "balance": {
            "tilt": f"6'($countones(v & {even})) - 6'($countones(v & ~{even}))",
        },
    }
    inside = f"6'($countones(v[{most}:1] ^ v[{most - 1}:0]))"
    made = {
        "ones": {"n": f"n + {ones}"},
        "trailing": {"n": "p != 0 ? 6'(n) : far > 15 ? 6'd15 : far", "p": "p != 0 || |v"},
        "threshold": {"n": f"sum > {out.number} ? {out.number} : sum"},
        "changes": {
            "n": f"n + {inside} + 6'(p != 0 && p[1] != v[0])",
            "p": f"{top} ? 2 : 1",
        },
        "runs": {"n": f"n + 6'($countones(v & ~{{v[{most - 1}:0], p[0]}}))", "p": top},
        "longest": {
            "n": "best > 15 ? 6'd15 : best > n ? best : 6'(n)",
            "p": "after > 15 ? 6'd15 : after",
        },
        "balance": {"n": "p[0] ? n - tilt : n + tilt", "p": f"p ^ {size % 2}"},
        "multiple": {"n": f"(n + {ones}) % {out.number}"},
    }
    shown = {"threshold": f"!(n < {out.number})", "multiple": "~|n"}
    return wires.get(out.kind, {}), made[out.kind], shown.get(out.kind, "n")


def _overlaid(n: int, length: int) -> str:
    """Return a word with a 1 where a run of some length begins in v."""
    parts = [f"v[{n - length + i}:{i}]" for i in range(length)]
    return " & ".join(parts)
