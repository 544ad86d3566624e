"""Multiplexer: outputs that each select one of several words, or a default value."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.generators.hardware.design import Design, inputs, literal, module, outputs, sv_module
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask

# In the order in which higher levels add them.
FEATURES = ("enable", "coded", "flag", "conflict", "packed")
_SEVERAL = {
    "lowest": "the lowest of them selects the word",
    "highest": "the highest of them selects the word",
    "none": "no word is selected",
}
_MOST_INPUTS, _WIDEST, _MOST_OUTPUTS = 24, 32, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiplexerConfig(DesignConfig):
    """How many words there are to choose from, and how they are chosen."""

    inputs: int = knob(5, "number of words to choose from")
    width: int = knob(4, "width of a word, in bits")
    outputs: int = knob(1, "number of outputs, each with its own select input")
    features: int = knob(
        2, "number of features, added in the order enable, coded, flag, conflict, packed"
    )

    def check(self) -> None:
        for name, value, low, high in (
            ("inputs", self.inputs, 2, _MOST_INPUTS),
            ("width", self.width, 1, _WIDEST),
            ("outputs", self.outputs, 1, _MOST_OUTPUTS),
            ("features", self.features, 0, len(FEATURES)),
        ):
            if not low <= value <= high:
                raise ConfigError(f"{name} is between {low} and {high}, got {value}")

    @classmethod
    def at(cls, difficulty: int) -> "MultiplexerConfig":
        """A word more and a bit more a step, a feature every 2, an output every 4.

        The numbers stop at 24 words, 32 bits, 4 outputs and 5 features.
        """
        return cls(
            inputs=min(2 + difficulty, _MOST_INPUTS),
            width=min(1 + difficulty, _WIDEST),
            outputs=min(1 + difficulty // 4, _MOST_OUTPUTS),
            features=min((difficulty + 1) // 2, len(FEATURES)),
        )


@register("Multiplexer-v0", domain="verilog", answer_format=LANGUAGE)
class MultiplexerTask(DesignTask[MultiplexerConfig]):
    """Write a multiplexer with odd counts, odd codes and several outputs.

    Description:
        Each output is one of several words, selected by a binary number, by a table of codes or
        by one-hot bits, or a default value if no word is selected. Later levels add an enable, a
        flag, outputs that exclude each other and packed words.

    Observation:
        What the module does in rules or prose, its ports, and a table of irregular codes.

    Difficulty:
        Words, bits and outputs become more, and so do the rules that select a word.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 2.8, for multiplexers; Liu
        et al. 2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        kind = "binary" if config.features < 2 else pick(rng, ("onehot", "table"))
        bits = (config.inputs - 1).bit_length() + (integer(rng, 0, 1) if kind == "table" else 0)
        codes = tuple(range(config.inputs))
        if kind == "table" or bits == 1:
            codes = tuple(rng.permutation(2**bits).tolist()[: config.inputs])
        return _Multiplexer(
            count=config.inputs,
            width=config.width,
            kind=kind,
            codes=codes,
            bits=config.inputs if kind == "onehot" else bits,
            several=pick(rng, list(_SEVERAL)),
            fallbacks=integers(rng, 0, 2**config.width - 1, config.outputs),
            enable_level=integer(rng, 0, 1),
            downwards=integer(rng, 0, 1),
            features=FEATURES[: config.features],
            names=pick(rng, (("d", "sel", "y"), ("in", "select", "out"), ("w", "pick", "q"))),
        ).design()


@dataclass(frozen=True, slots=True)
class _Multiplexer:
    count: int
    width: int
    kind: str  # binary, table, onehot
    codes: tuple[int, ...]  # of the words, where the kind is not onehot
    bits: int  # of a select
    several: str  # what is chosen where a onehot select has several bits
    fallbacks: tuple[int, ...]  # what the outputs show where nothing is chosen
    enable_level: int
    downwards: int  # whether word 0 is the most significant of the packed words
    features: tuple[str, ...]
    names: tuple[str, str, str]  # of words, selects and outputs

    def design(self) -> Design:
        ports = self.outputs
        signals = inputs(*self._data_ports())
        for select, output in zip(self.selects, ports, strict=True):
            signals += inputs((select, self.bits, f"select input of `{output}`"))
        if "enable" in self.features:
            signals += inputs(
                ("enable", 1, f"active-{'high' if self.enable_level else 'low'} enable")
            )
        signals += outputs(*((name, self.width, "selected word") for name in ports))
        if "flag" in self.features:
            signals += outputs(
                (
                    "miss",
                    len(ports),
                    "1 for each output without a selected word"
                    if len(ports) > 1
                    else "1 if no word is selected",
                )
            )
        several = f" with {len(ports)} outputs" * (len(ports) > 1)
        return Design(
            title=f"a multiplexer for {self.count} words{several}",
            signals=signals,
            rules=self._rules(),
            golden=module(signals, self._golden(), registers=ports),
            alternative=sv_module(signals, self._alternative()),
            figure=self._figure(),
        )

    @property
    def outputs(self) -> tuple[str, ...]:
        many = len(self.fallbacks) > 1
        return tuple(f"{self.names[2]}{k if many else ''}" for k in range(len(self.fallbacks)))

    @property
    def selects(self) -> tuple[str, ...]:
        return tuple(name.replace(self.names[2], self.names[1]) for name in self.outputs)

    def _data_ports(self) -> tuple[tuple[str, int, str], ...]:
        name = self.names[0]
        if "packed" in self.features:
            return ((name, self.count * self.width, "all words, concatenated"),)
        return tuple((f"{name}{i}", self.width, f"word {i}") for i in range(self.count))

    def _word(self, number: int) -> str:
        if "packed" not in self.features:
            return f"{self.names[0]}{number}"
        low = (self.count - 1 - number if self.downwards else number) * self.width
        return f"{self.names[0]}[{low + self.width - 1}:{low}]"

    def _figure(self) -> str:
        if self.kind != "table":
            return ""
        coded = sorted(self._coded().items())
        rows = [f"| {literal(self.bits, code)} | word {i} |" for i, code in coded]
        return "\n".join(["| select | chosen |", "| --- | --- |", *rows])

    def _coded(self) -> dict[int, int]:
        if self.kind == "onehot":
            return {i: 1 << i for i in range(self.count)}
        return dict(enumerate(self.codes))

    def _rules(self) -> tuple[str, ...]:
        several = len(self.selects) > 1
        own = (
            f"Each output has its own select input: `{self.outputs[0]}` has `{self.selects[0]}`, "
            "and so "
            "on. "
        )
        word = "a select input" if several else f"`{self.selects[0]}`"
        rules = []
        if "packed" in self.features:
            end, other = ("most", "below") if self.downwards else ("least", "above")
            rules.append(
                f"Word 0 is in the {self.width} {end} significant bits of `{self.names[0]}`, word "
                "1 in "
                f"the {self.width} bits next {other}, and so on."
            )
        if self.kind == "table":
            text = (
                f"The table gives the word that each code of {word} selects. A code that is not "
                "in the "
                "table selects no word."
            )
        elif self.kind == "binary":
            listed = ", ".join(f"{code} selects word {i}" for i, code in self._coded().items())
            text = f"The value of {word} (an unsigned number) selects a word: {listed}."
            if self.count < 2**self.bits:
                text += " Other values select no word."
        else:
            which = _SEVERAL[self.several]
            text = (
                f"{word[0].upper()}{word[1:]} is one-hot: bit i selects word i, where bit 0 is the "
                "least significant bit. If no bit is 1, no word is selected. If several bits are "
                f"1, {which}."
            )
        rules.append(own * several + text)
        return (*rules, *self._more_rules())

    def _more_rules(self) -> tuple[str, ...]:
        rules = []
        if "enable" in self.features:
            rules.append(
                f"`enable` is active-{'high' if self.enable_level else 'low'}: while it is "
                f"{1 - self.enable_level}, no word is selected."
            )
        if "conflict" in self.features and len(self.outputs) > 1:
            rules.append(
                "Each word is shown at most once: if the select input of an output selects the "
                "same word as the select input of an output with a lower number, no word is "
                "selected for the output with the higher number."
            )
        what = ", ".join(
            f"`{output}` is {literal(self.width, value)}"
            for output, value in zip(self.outputs, self.fallbacks, strict=True)
        )
        shows = "Each output shows" if len(self.outputs) > 1 else f"`{self.outputs[0]}` is"
        always = self.kind == "binary" and self.count == 2**self.bits and not self.features
        fallback = "" if always else f" If no word is selected, {what}."
        rules.append(f"{shows} the selected word.{fallback}")
        if "flag" in self.features and len(self.outputs) == 1:
            rules.append("`miss` is 1 if and only if no word is selected.")
        elif "flag" in self.features:
            rules.append("Bit k of `miss` is 1 if and only if no word is selected for output k.")
        return tuple(rules)

    def _golden(self) -> str:
        """Return the number of the word as an index, which a second case turns into the word."""
        wide = self.count.bit_length()
        none = literal(wide, self.count)
        parts = []
        for k, (select, output) in enumerate(zip(self.selects, self.outputs, strict=True)):
            parts.append(f"reg [{wide - 1}:0] index{k};")
            chosen = self._index(k, select, wide)
            if "enable" in self.features:
                on = "enable" if self.enable_level else "!enable"
                chosen += f"\nif (!({on})) index{k} = {none};"
            parts.append(f"always @(*) begin\n{chosen}\nend")
            same = [f"index{j} == index{k}" for j in range(k if "conflict" in self.features else 0)]
            clash = " || ".join(same) or "1'b0"
            cases = [f"{literal(wide, i)}: {output} = {self._word(i)};" for i in range(self.count)]
            cases.append(f"default: {output} = {literal(self.width, self.fallbacks[k])};")
            parts.append(
                f"wire [{wide - 1}:0] final{k} = ({clash}) ? {none} : index{k};\n"
                + "\n".join([f"always @(*)\ncase (final{k})", *cases, "endcase"])
            )
            if "flag" in self.features:
                parts.append(f"assign {self._miss(k)} = final{k} == {none};")
        return "\n".join(parts)

    def _index(self, k: int, select: str, wide: int) -> str:
        none = literal(wide, self.count)
        if self.kind == "onehot" and self.several != "none":
            order = range(self.count) if self.several == "lowest" else range(self.count)[::-1]
            tests = [f"if ({select}[{i}]) index{k} = {literal(wide, i)};" for i in order]
            return "\nelse ".join([*tests, f"index{k} = {none};"])
        cases = [
            f"{literal(self.bits, code)}: index{k} = {literal(wide, i)};"
            for i, code in self._coded().items()
        ]
        return "\n".join([f"case ({select})", *cases, f"default: index{k} = {none};", "endcase"])

    def _alternative(self) -> str:
        """Return words and-ed with a bit each, and or-ed together."""
        last = self.count - 1
        parts = []
        for k, (select, output) in enumerate(zip(self.selects, self.outputs, strict=True)):
            parts.append(f"logic [{last}:0] hit{k}, mine{k};\n{self._hits(k, select)}")
            earlier = [f"hit{j}" for j in range(k)] if "conflict" in self.features else []
            free = f" & ~({' | '.join(earlier)})" if earlier else ""
            on = ("~enable", "enable")[self.enable_level] if "enable" in self.features else "1'b1"
            parts.append(f"assign mine{k} = hit{k} & {{{self.count}{{{on}}}}}{free};")
            masks = [f"mine{k}[{i}]" for i in range(last + 1)] + [f"~|mine{k}"]
            shown = [self._word(i) for i in range(last + 1)]
            shown.append(literal(self.width, self.fallbacks[k]))
            words = [f"{{{self.width}{{{m}}}}} & {w}" for m, w in zip(masks, shown, strict=True)]
            parts.append(f"assign {output} = ({') | ('.join(words)});")
            if "flag" in self.features:
                parts.append(f"assign {self._miss(k)} = ~|mine{k};")
        return "\n".join(parts)

    def _hits(self, k: int, select: str) -> str:
        if self.kind != "onehot" or self.several == "none":
            return "\n".join(
                f"assign hit{k}[{i}] = {select} == {literal(self.bits, code)};"
                for i, code in self._coded().items()
            )
        lines = []
        for i in range(self.count):
            before = f"<< {self.count - i}" if self.several == "lowest" else f">> {i + 1}"
            lines.append(f"assign hit{k}[{i}] = {select}[{i}] & ~|({select} {before});")
        return "\n".join(lines)

    def _miss(self, k: int) -> str:
        return f"miss[{k}]" if len(self.outputs) > 1 else "miss"
