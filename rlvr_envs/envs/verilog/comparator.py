"""Comparator: orders of numbers in several encodings."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware.design import Design, inputs, literal, module, outputs, sv_module
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

# In the order in which higher levels add them.
FEATURES = ("encoding", "extreme", "mode", "window", "mask")
_RELATIONS = {
    "lt": ("<", "smaller than"),
    "le": ("<=", "smaller than or equal to"),
    "gt": (">", "larger than"),
    "ge": (">=", "larger than or equal to"),
    "eq": ("==", "equal to"),
    "ne": ("!=", "different from"),
}
_WIDEST, _NAMES = 20, "abcdef"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorConfig(DesignConfig):
    """How many numbers are compared, and in what ways."""

    width: int = knob(
        4, "largest operand width in bits; at least a quarter of it is drawn", low=2, high=_WIDEST
    )
    operands: int = knob(3, "number of operands", low=2, high=len(_NAMES))
    relations: int = knob(
        2, "number of outputs that each compare two operands", low=1, high=len(_RELATIONS)
    )
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "ComparatorConfig":
        """Odd levels add an operand or a relation, up to 6 each, and even ones a feature, up to 10.

        Words have up to 12 bits, and from 11 on up to a bit more a level, up to 20.
        """
        return cls(
            width=min(max(12, 2 + difficulty), _WIDEST),
            operands=min(2 + (difficulty + 3) // 4, len(_NAMES)),
            relations=min(2 + (difficulty + 1) // 4, len(_RELATIONS)),
            features=min(difficulty // 2, len(FEATURES)),
        )


@register("Comparator-v0", domain="verilog", answer_format=LANGUAGE)
class ComparatorTask(DesignTask[ComparatorConfig]):
    """Write a comparator of numbers whose encoding an input may choose.

    Description:
        Outputs compare pairs of numbers, give the position and value of the largest or smallest
        with a rule for ties, and say whether a number is in a window. Numbers are unsigned or in
        a signed encoding, two of which have two zeros. A mask clears bits.

    Observation:
        What the module does in numbered rules or prose, and its ports.

    Difficulty:
        Numbers get wider and more; encodings, modes, ties and masks interact.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 1.4 and 5.2, for encodings
        and comparators; Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        names = list(_NAMES[: config.operands])
        signs = rng.permutation(len(_RELATIONS)).tolist()[: config.relations]
        relations = []
        for sign in signs:
            left, right = rng.permutation(len(names)).tolist()[:2]
            relations.append((names[left], list(_RELATIONS)[sign], names[right]))
        return _Comparator(
            width=integer(rng, max(2, config.width // 4), config.width),
            names=tuple(names),
            relations=tuple(relations),
            encoding=pick(rng, list(ENCODINGS)),
            largest=bool(integer(rng, 0, 1)),
            last=bool(integer(rng, 0, 1)),
            ends=(bool(integer(rng, 0, 1)), bool(integer(rng, 0, 1))),
            watched=pick(rng, names),
            wraps=bool(integer(rng, 0, 1)),
            mask_level=integer(rng, 0, 1),
            features=FEATURES[: config.features],
        ).design()


@dataclass(frozen=True, slots=True)
class _Comparator:
    width: int
    names: tuple[str, ...]
    relations: tuple[tuple[str, str, str], ...]  # left, relation, right
    encoding: str
    largest: bool  # whether the extreme is the largest
    last: bool  # whether the last of equal extremes is meant
    ends: tuple[bool, bool]  # whether the lower and the upper end are in the window
    watched: str  # the number that the window is about
    wraps: bool  # whether a window goes around the ends where lo > hi
    mask_level: int  # of mask bits that keep a bit
    features: tuple[str, ...]

    def design(self) -> Design:
        has = self.features.__contains__
        signals = inputs(*((name, self.width, "operand") for name in self._words()))
        if has("mask"):
            signals += inputs(("mask", self.width, "bit mask for the numbers"))
        if has("mode"):
            signals += inputs(("mode", 1, "selects the encoding of the numbers"))
        signals += outputs(
            *(
                (f"{x}_{r}_{y}", 1, f"1 if `{x}` {_RELATIONS[r][0]} `{y}`")
                for x, r, y in self.relations
            )
        )
        if has("extreme"):
            bits = (len(self.names) - 1).bit_length()
            extreme = ("smallest", "largest")[self.largest]
            signals += outputs(
                ("who", bits, f"index of the {extreme} number"),
                ("value", self.width, f"the {extreme} number"),
            )
        if has("window"):
            signals += outputs(("in_window", 1, f"1 if `{self.watched}` is in the window"))
        return Design(
            title=f"a comparator for {len(self.names)} numbers of {self.width} bits",
            signals=signals,
            rules=(*self._number_rules(), *self._output_rules()),
            golden=module(signals, self._golden(), registers=("who", "value")),
            alternative=sv_module(signals, self._alternative()),
        )

    def _words(self) -> tuple[str, ...]:
        return (*self.names, "lo", "hi") if "window" in self.features else self.names

    def _number_rules(self) -> list[str]:
        has = self.features.__contains__
        listed = ", ".join(f"`{name}`" for name in self._words())
        coded = f"in {self.encoding}{ENCODINGS[self.encoding]}"
        rules = [f"The numbers {listed} are {coded if has('encoding') else 'unsigned'}."]
        if has("mode"):
            rules = [
                f"If `mode` is 0, the numbers {listed} are unsigned.",
                f"If `mode` is 1, they are {coded}.",
            ]
        if has("mask"):
            rules.append(
                f"Before the comparisons, every bit i of each number where `mask[i]` is "
                f"{1 - self.mask_level} is set to 0."
            )
        return rules

    def _output_rules(self) -> list[str]:
        has = self.features.__contains__
        rules = [
            f"`{x}_{r}_{y}` is 1 if and only if `{x}` is {_RELATIONS[r][1]} `{y}`."
            for x, r, y in self.relations
        ]
        if has("extreme"):
            which, tie = ("smallest", "largest")[self.largest], ("lowest", "highest")[self.last]
            places = ", ".join(f"{i} for `{name}`" for i, name in enumerate(self.names))
            shown = ", as it is at the input (before the mask)" if has("mask") else ""
            rules.append(
                f"`who` is the index of the {which} number ({places}). If several numbers tie, "
                f"it is the {tie} index. `value` is the number at that index{shown}."
            )
        if has("window"):
            low = "at least" if self.ends[0] else "above"
            high = "at most" if self.ends[1] else "below"
            tests = f"`{self.watched}` is {low} `lo`", f"`{self.watched}` is {high} `hi`"
            in_window = f"`in_window` is 1 if and only if {tests[0]} and {tests[1]}"
            if self.wraps:
                in_window += (
                    ". But if `lo` is larger than `hi`, `in_window` is 1 if and only if "
                    f"{tests[0]} or {tests[1]}"
                )
            rules.append(f"{in_window}.")
        return rules

    def _masked(self, name: str) -> str:
        if "mask" not in self.features:
            return name
        return f"{name} & {'' if self.mask_level else '~'}mask"

    def _encoded(self, plain: str, coded: str) -> str:
        if "mode" in self.features:
            return f"mode ? {coded} : {plain}"
        return coded if "encoding" in self.features else plain

    def _golden(self) -> str:
        """Return comparisons of unsigned keys, and a scan for the extreme."""
        has, top = self.features.__contains__, self.width - 1
        lines = []
        for name in self._words():
            lines.append(f"wire [{top}:0] {name}_m = {self._masked(name)};")
            coded = self._encoded(f"{name}_m", key(self.encoding, f"{name}_m", self.width))
            lines.append(f"wire [{top}:0] {name}_k = {coded};")
        lines += [
            f"assign {x}_{r}_{y} = {x}_k {_RELATIONS[r][0]} {y}_k;" for x, r, y in self.relations
        ]
        if has("extreme"):
            sign = (">" if self.largest else "<") + ("=" if self.last else "")
            bits = (len(self.names) - 1).bit_length()
            lines.append(f"reg [{top}:0] best;\nalways @(*) begin")
            lines.append(f"who = {literal(bits, 0)}; value = a; best = a_k;")
            lines += [
                f"if ({name}_k {sign} best) begin who = {literal(bits, i)}; value = {name}; "
                f"best = {name}_k; end"
                for i, name in enumerate(self.names)
                if i
            ]
            lines.append("end")
        if has("window"):
            tests = self._window("k")
            around = f" || lo_k > hi_k && ({tests[0]} || {tests[1]})" if self.wraps else ""
            lines.append(f"assign in_window = {tests[0]} && {tests[1]}{around};")
        return "\n".join(lines)

    def _window(self, kind: str) -> tuple[str, str]:
        low, high = (">=" if self.ends[0] else ">"), ("<=" if self.ends[1] else "<")
        return f"{self.watched}_{kind} {low} lo_{kind}", f"{self.watched}_{kind} {high} hi_{kind}"

    def _alternative(self) -> str:
        """Return signs of differences of signed values, and a tournament of all against all."""
        has, words, top = self.features.__contains__, self._words(), self.width
        lines = []
        for name in words:
            lines.append(f"logic [{top - 1}:0] {name}_m;\nassign {name}_m = {self._masked(name)};")
            lines.append(f"logic signed [{top}:0] {name}_v;")
            coded = value(self.encoding, f"{name}_m", self.width)
            plain = f"$signed({{1'b0, {name}_m}})"
            lines.append(f"assign {name}_v = {self._encoded(plain, coded)};")
        for x in words:
            for y in words:
                lines.append(
                    f"logic signed [{top + 1}:0] {x}_{y};\nassign {x}_{y} = {x}_v - {y}_v;"
                )
        lines += [
            f"assign {x}_{r}_{y} = {_RELATIONS[r][0].join((f'{x}_{y}', '0'))};"
            for x, r, y in self.relations
        ]
        if has("extreme"):
            lines += self._tournament()
        if has("window"):
            low = f"{self.watched}_lo {'>=' if self.ends[0] else '>'} 0"
            high = f"hi_{self.watched} {'>=' if self.ends[1] else '>'} 0"
            wrapped = f"lo_hi > 0 ? ({low} | {high}) : " if self.wraps else ""
            lines.append(f"assign in_window = {wrapped}({low} & {high});")
        return "\n".join(lines)

    def _tournament(self) -> list[str]:
        count, top = len(self.names), self.width - 1
        lines = [f"logic [{count - 1}:0] wins;"]
        for i, x in enumerate(self.names):
            tests = []
            for j, y in enumerate(self.names):
                tie = "=" if (i > j) == self.last else ""
                pair = f"{x}_{y}" if self.largest else f"{y}_{x}"
                tests += [f"({pair} >{tie} 0)"] if i != j else []
            lines.append(f"assign wins[{i}] = {' & '.join(tests)};")
        words = " | ".join(f"({{{top + 1}{{wins[{i}]}}}} & {x})" for i, x in enumerate(self.names))
        lines.append(f"assign value = {words};")
        for bit in range((count - 1).bit_length()):
            having = sum(1 << i for i in range(count) if i >> bit & 1)
            index = f"[{bit}]" if count > 2 else ""
            lines.append(f"assign who{index} = |(wins & {literal(count, having)});")
        return lines


# Encodings of numbers with signs: what they are, and Verilog that puts words in order.


# What a reader who knows the name may still ask.
ENCODINGS = {
    "two's complement": "",
    "sign and magnitude": (
        ": the top bit is 1 for negative numbers, the other bits are the absolute value, and "
        "minus zero equals zero"
    ),
    "ones' complement": (
        ": a negative number is its absolute value with every bit inverted, and minus zero (all "
        "ones) equals zero"
    ),
}


def key(encoding: str, word: str, width: int) -> str:
    """Return an unsigned word that is in order where the numbers are."""
    sign, rest = f"{word}[{width - 1}]", f"{word}[{width - 2}:0]"
    if encoding == "two's complement":
        return f"{{~{sign}, {rest}}}"
    if encoding == "sign and magnitude":
        return f"({sign} && |{rest} ? {{1'b0, ~{rest}}} : {{1'b1, {rest}}})"
    return f"({sign} && !(&{rest}) ? {{1'b0, {rest}}} : {{1'b1, {sign} ? ~{rest} : {rest}}})"


def value(encoding: str, word: str, width: int) -> str:
    """Return the number as a signed word of one bit more."""
    sign, rest = f"{word}[{width - 1}]", f"{word}[{width - 2}:0]"
    if encoding == "two's complement":
        return f"$signed({{{sign}, {word}}})"
    if encoding == "sign and magnitude":
        return f"({sign} ? -$signed({{2'b00, {rest}}}) : $signed({{2'b00, {rest}}}))"
    return f"$signed({{{sign}, {word}}} + {width + 1}'({sign}))"
