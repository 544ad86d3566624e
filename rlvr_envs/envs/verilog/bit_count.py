"""BitCount: counts of bits, of runs and of changes in a word, and what follows from them."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.generators.hardware.design import Design, inputs, literal, module, outputs, sv_module
from rlvr_envs.generators.hardware.tables import article
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

_WIDEST = 12
# In the order in which higher levels add them.
PREPARATIONS = ("mask", "invert", "turn")


@dataclass(frozen=True, slots=True, kw_only=True)
class BitCountConfig(DesignConfig):
    """How long the word is, what is done with it first, and how much is counted in it."""

    width: int = knob(6, "word width in bits")
    counts: int = knob(2, "number of outputs")
    preparations: int = knob(1, "number of preparations, added in the order mask, invert, turn")

    def check(self) -> None:
        for name, low, high in (
            ("width", 3, _WIDEST),
            ("counts", 1, len(KINDS)),
            ("preparations", 0, len(PREPARATIONS)),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ConfigError(f"{name} is between {low} and {high}, got {value}")

    @classmethod
    def at(cls, difficulty: int) -> "BitCountConfig":
        """A bit a step, up to 12, an output every 2, up to 11, a preparation every 3, up to 3."""
        return cls(
            width=min(3 + difficulty, _WIDEST),
            counts=min(1 + difficulty // 2, len(KINDS)),
            preparations=min(difficulty // 3, len(PREPARATIONS)),
        )


@register("BitCount-v0", domain="verilog", answer_format=LANGUAGE)
class BitCountTask(DesignTask[BitCountConfig]):
    """Write a circuit that counts bits, runs and changes in a word.

    Description:
        Outputs count ones or zeros, leading or trailing bits, changes and runs, the longest run,
        the sum of weights, or the difference of even and odd positions; or they say whether a
        count has a majority, reaches a threshold or is a multiple of a number. The word may first
        be masked, XORed with a constant and reversed.

    Observation:
        What the module does in numbered rules or prose, and its ports.

    Difficulty:
        Words get longer, and outputs and the preparation of the word more.

    References:
        Warren 2012, Hacker's Delight, chapters 5 and 6, for counts of bits and runs; Liu et al.
        2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        return Counts(
            size=config.width,
            outputs=draw_outputs(rng, config.width, config.counts),
            preparations=PREPARATIONS[: config.preparations],
            level=integer(rng, 0, 1),
            inverted=integer(rng, 1, 2**config.width - 1),
            name=pick(rng, ("x", "a", "data", "din")),
        ).design()


# What can be counted in a word: in words, as a loop, and as a formula.


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
    """Something that is counted in the bits of a word that have a value.

    Attributes:
        kind: one of `KINDS`.
        name: of the port.
        bit: the value of the bits that are counted.
        number: a threshold, or what a count is a multiple of.
        tie: what a majority is where neither value has one.
        weights: of the bits, from bit 0 on.
    """

    kind: str
    name: str
    bit: int
    number: int = 2
    tie: int = 0
    weights: tuple[int, ...] = ()

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
            f"or {size} "
            f"if w has no {self.bit}.",
            "trailing": f"{name} is the number of bits of w below its least significant "
            f"{self.bit}, or {size} "
            f"if w has no {self.bit}.",
            "threshold": f"{is_1} w has {self.number} or more {these}.",
            "majority": f"{is_1} w has {'at least as many' if self.tie else 'more'} {these} "
            f"{'as' if self.tie else 'than'} {others}.",
            "changes": f"{name} is the number of positions i, from 0 to {size - 2}, where bits i "
            "and "
            "i + 1 of w differ.",
            "runs": f"{name} is the number of runs of {these} in w. A run is a maximal sequence of "
            f"adjacent {these}. The two ends of w are not adjacent.",
            "longest": f"{name} is the length of the longest run of adjacent {these} in w, or 0 if "
            f"w has no {self.bit}.",
            "weighted": f"{name} is the sum of the weights of all bits of w that are {self.bit}. "
            "The "
            f"weights, from bit 0 upwards, are {', '.join(map(str, self.weights))}.",
            "balance": f"{name} is the number of {these} at even bit positions of w minus the "
            "number "
            f"of {these} at odd positions, in two's complement. Bit 0 is at an even position.",
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
            "balance": f"assign {name} = {wide}'($countones({v} & {literal(n, even)})) - "
            f"{wide}'($countones({v} & {literal(n, even << 1)}));",
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
            counts = (f"{wide}'($countones({v} & {literal(n, mask)}))" for mask in masks)
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


def draw_outputs(rng: Rng, size: int, count: int) -> tuple[Output, ...]:
    """Draw outputs of different kinds."""
    left = list(KINDS[: 5 if count == 1 else len(KINDS)])
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

    def design(self) -> Design:
        """Return the design."""
        has, x = self.preparations.__contains__, self.name
        signals = inputs((x, self.size, "the word"))
        if has("mask"):
            signals += inputs(("mask", self.size, "which bits of the word are used"))
        if has("turn"):
            signals += inputs(("turn", 1, "1 reverses the bits of the word"))
        signals += outputs(*((out.name, out.width(self.size), out.meaning) for out in self.outputs))
        return Design(
            title=f"a circuit that counts bits in {article(self.size)} {self.size}-bit word",
            signals=signals,
            rules=(self._word_rule(), *(out.rule(self.size) for out in self.outputs)),
            golden=module(signals, self._golden(), registers=[out.name for out in self.outputs]),
            alternative=sv_module(signals, self._alternative()),
        )

    def _word_rule(self) -> str:
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

    def _golden(self) -> str:
        """Return a block for each output that walks over the word."""
        top, has = self.size - 1, self.preparations.__contains__
        lines = [f"wire [{top}:0] kept = {self._prepared()};", f"reg [{top}:0] w;", "integer j;"]
        turned = f"turn ? kept[{top} - j] : kept[j]" if has("turn") else "kept[j]"
        lines.append(f"always @(*)\n    for (j = 0; j < {self.size}; j = j + 1) w[j] = {turned};")
        for k, out in enumerate(self.outputs):
            body = out.loop(self.size).replace("\n", "\n    ")
            word = "w" if out.bit else "~w"
            lines.append(
                f"always @(*) begin : block{k}\n    integer i, n;\n    reg [{top}:0] v;\n"
                f"    v = {word};\n    {body}\nend"
            )
        return "\n".join(lines)

    def _alternative(self) -> str:
        """Return a formula for each output."""
        top, has = self.size - 1, self.preparations.__contains__
        word = f"logic [{top}:0] kept, back, w, not_w;\nassign kept = {self._prepared()};\n"
        word += "assign back = {<<{kept}};\n"
        word += f"assign w = {'turn ? back : kept' if has('turn') else 'kept'};\n"
        word += "assign not_w = ~w;\n"
        return word + "\n".join(
            out.formula(self.size, "w" if out.bit else "not_w") for out in self.outputs
        )
