"""Multiplexer: outputs that each select one of several words, or a default value."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, integers, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob
from rlvr_envs.verifiers.hdl.interface import Clocking

# In the order in which higher levels add them.
FEATURES = ("enable", "coded", "flag", "conflict", "packed", "search", "hold")
_SEVERAL = {
    "lowest": "the lowest of them selects the word",
    "highest": "the highest of them selects the word",
    "none": "no word is selected",
}
_MOST_INPUTS, _WIDEST, _MOST_OUTPUTS = 24, 32, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiplexerConfig(DesignConfig):
    """How many words there are to choose from, and how they are chosen."""

    inputs: int = knob(5, "number of words to choose from", low=2, high=_MOST_INPUTS)
    width: int = knob(
        4, "largest width of a word, in bits; at least half of it is drawn", low=1, high=_WIDEST
    )
    outputs: int = knob(
        1, "number of outputs, each with its own select input", low=1, high=_MOST_OUTPUTS
    )
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "MultiplexerConfig":
        """Ten levels add seven features; a word comes every 3, and an output every 4.

        The numbers stop at 24 words and 4 outputs.
        """
        return cls(
            inputs=min(3 + difficulty // 3, _MOST_INPUTS),
            width=8,
            outputs=min(1 + difficulty // 4, _MOST_OUTPUTS),
            features=min((7 * difficulty + 6) // 10, len(FEATURES)),
        )


@register("Multiplexer-v0", domain="verilog", answer_format=LANGUAGE)
class MultiplexerTask(DesignTask[MultiplexerConfig]):
    """Write a multiplexer with odd counts, odd codes and several outputs.

    Description:
        Each output is one of several words, selected by a binary number, by a table of codes or
        by one-hot bits, or a default value if no word is selected. Later levels add an enable, a
        flag, outputs that exclude each other, packed words, a search for the next word that is
        ready and not taken, and a memory of the word that was selected last.

    Observation:
        What the module does in rules or prose, its ports, and a table of irregular codes.

    Difficulty:
        Outputs and the rules that select a word become more, until outputs compete for words
        in a cyclic search, and what they showed before matters.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 2.8, for multiplexers; Liu
        et al. 2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        width = integer(rng, max(1, config.width // 2), config.width)
        kind = "binary" if config.features < 2 else pick(rng, ("onehot", "table"))
        bits = (config.inputs - 1).bit_length() + (integer(rng, 0, 1) if kind == "table" else 0)
        codes = tuple(range(config.inputs))
        if kind == "table" or bits == 1:
            codes = tuple(rng.permutation(2**bits).tolist()[: config.inputs])
        return _Multiplexer(
            count=config.inputs,
            width=width,
            kind=kind,
            codes=codes,
            bits=config.inputs if kind == "onehot" else bits,
            several=pick(rng, list(_SEVERAL)),
            fallbacks=integers(rng, 0, 2**width - 1, config.outputs),
            enable_level=integer(rng, 0, 1),
            downwards=integer(rng, 0, 1),
            features=FEATURES[: config.features],
            clocking=hw.draw_clocking(rng) if config.features == len(FEATURES) else None,
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
    clocking: Clocking | None  # with the feature hold
    names: tuple[str, str, str]  # of words, selects and outputs

    def design(self) -> hw.Design:
        ports = self.outputs
        signals = hw.clock_signals(self.clocking) if self.clocking is not None else ()
        signals += hw.inputs(*self._data_ports())
        if "search" in self.features:
            signals += hw.inputs(
                ("ready", self.count, "which words are ready; bit i is for word i")
            )
        for select, output in zip(self.selects, ports, strict=True):
            signals += hw.inputs((select, self.bits, f"select input of `{output}`"))
        if "enable" in self.features:
            signals += hw.inputs(
                ("enable", 1, f"active-{'high' if self.enable_level else 'low'} enable")
            )
        signals += hw.outputs(*((name, self.width, "selected word") for name in ports))
        if "flag" in self.features:
            signals += hw.outputs(
                (
                    "miss",
                    len(ports),
                    "1 for each output without a selected word"
                    if len(ports) > 1
                    else "1 if no word is selected",
                )
            )
        several = f" with {len(ports)} outputs" * (len(ports) > 1)
        return hw.Design(
            title=f"a multiplexer for {self.count} words{several}",
            signals=signals,
            rules=self._rules(),
            golden=hw.module(signals, self._golden(), registers=ports),
            alternative=hw.sv_module(signals, self._alternative()),
            clocking=self.clocking,
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
        rows = [f"| {hw.literal(self.bits, code)} | word {i} |" for i, code in coded]
        return "\n".join(["| select | chosen |", "| --- | --- |", *rows])

    def _coded(self) -> dict[int, int]:
        if self.kind == "onehot":
            return {i: 1 << i for i in range(self.count)}
        return dict(enumerate(self.codes))

    def _rules(self) -> tuple[str, ...]:
        several = len(self.selects) > 1
        own = (
            f"Each output has its own select input: `{self.outputs[0]}` has `{self.selects[0]}`, "
            "and so on. "
        )
        word = "a select input" if several else f"`{self.selects[0]}`"
        rules = []
        if "packed" in self.features:
            end, other = ("most", "below") if self.downwards else ("least", "above")
            rules.append(
                f"Word 0 is in the {self.width} {end} significant bits of `{self.names[0]}`, word "
                f"1 in the {self.width} bits next {other}, and so on."
            )
        if self.kind == "table":
            text = (
                f"The table gives the word that each code of {word} selects. A code that is not in "
                "the table selects no word."
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
        conflict = "conflict" in self.features and len(self.outputs) > 1
        if "search" in self.features:
            rules.append(self._search_rule(conflict))
        elif conflict:
            rules.append(
                "Each word is shown at most once: if the select input of an output selects the "
                "same word as the select input of an output with a lower number, no word is "
                "selected for the output with the higher number."
            )
        what = ", ".join(
            f"`{output}` is {hw.literal(self.width, value)}"
            for output, value in zip(self.outputs, self.fallbacks, strict=True)
        )
        shows = "Each output shows" if len(self.outputs) > 1 else f"`{self.outputs[0]}` is"
        always = self.kind == "binary" and self.count == 2**self.bits and not self.features
        fallback = "" if always else f" If no word is selected, {what}."
        if "hold" in self.features:
            fallback = (
                " If no word is selected for an output, it shows the present value of the word "
                "that was selected for it just before the last rising clock edge at which reset "
                "was inactive and a word was selected for it. If there was no such edge since "
                f"reset, {what}. A word that is only shown in this way is not selected."
            )
        rules.append(f"{shows} the selected word.{fallback}")
        if "flag" in self.features and len(self.outputs) == 1:
            rules.append("`miss` is 1 if and only if no word is selected.")
        elif "flag" in self.features:
            rules.append("Bit k of `miss` is 1 if and only if no word is selected for output k.")
        return tuple(rules)

    def _search_rule(self, conflict: bool) -> str:
        taken = " and is not selected for an output with a lower number" if conflict else ""
        return (
            "The word chosen by the rules so far is only where a search begins. The search goes "
            f"upwards from that word to word {self.count - 1}, then on from word 0, until it has "
            "looked at all words. The first one that is ready (its bit of `ready` is 1)"
            f"{taken} is selected; "
            "if there is none, no word is selected. Where there is no word to begin with, none is "
            "selected."
        )

    def _golden(self) -> str:
        """Return the number of the word as an index, which a second case turns into the word."""
        wide = self.count.bit_length()
        none = hw.literal(wide, self.count)
        parts = []
        for k, (select, output) in enumerate(zip(self.selects, self.outputs, strict=True)):
            parts.append(f"reg [{wide - 1}:0] index{k};")
            chosen = self._index(k, select, wide)
            if "enable" in self.features:
                on = "enable" if self.enable_level else "!enable"
                chosen += f"\nif (!({on})) index{k} = {none};"
            parts.append(f"always @(*) begin\n{chosen}\nend")
            parts.append(self._final(k, wide))
            shown = f"final{k}"
            if self.clocking is not None:
                shown = f"shown{k}"
                parts.append(
                    f"reg [{wide - 1}:0] last{k};\n"
                    + hw.clocked(
                        self.clocking,
                        f"last{k} <= {none};",
                        f"if (final{k} != {none}) last{k} <= final{k};",
                    )
                )
                parts.append(
                    f"wire [{wide - 1}:0] shown{k} = final{k} != {none} ? final{k} : last{k};"
                )
            cases = [
                f"{hw.literal(wide, i)}: {output} = {self._word(i)};" for i in range(self.count)
            ]
            cases.append(f"default: {output} = {hw.literal(self.width, self.fallbacks[k])};")
            parts.append("\n".join([f"always @(*)\ncase ({shown})", *cases, "endcase"]))
            if "flag" in self.features:
                parts.append(f"assign {self._miss(k)} = final{k} == {none};")
        return "\n".join(parts)

    def _final(self, k: int, wide: int) -> str:
        """Return what is selected in the end, given where an output begins."""
        none, at = hw.literal(wide, self.count), f"at{k}"
        before = range(k if "conflict" in self.features else 0)
        if "search" not in self.features:
            clash = " || ".join(f"index{j} == index{k}" for j in before) or "1'b0"
            return f"wire [{wide - 1}:0] final{k} = ({clash}) ? {none} : index{k};"
        free = "".join(f" && {at} != final{j}" for j in before)
        return (
            f"reg [{wide - 1}:0] final{k}, {at};\ninteger i{k};\n"
            f"always @(*) begin\n    final{k} = {none};\n    {at} = index{k};\n"
            f"    for (i{k} = 0; i{k} < {self.count}; i{k} = i{k} + 1) begin\n"
            f"        if (index{k} != {none} && final{k} == {none} && ready[{at}]{free})\n"
            f"            final{k} = {at};\n"
            f"        {at} = {at} >= {self.count - 1} ? 0 : {at} + 1;\n    end\nend"
        )

    def _index(self, k: int, select: str, wide: int) -> str:
        none = hw.literal(wide, self.count)
        if self.kind == "onehot" and self.several != "none":
            order = range(self.count) if self.several == "lowest" else range(self.count)[::-1]
            tests = [f"if ({select}[{i}]) index{k} = {hw.literal(wide, i)};" for i in order]
            return "\nelse ".join([*tests, f"index{k} = {none};"])
        cases = [
            f"{hw.literal(self.bits, code)}: index{k} = {hw.literal(wide, i)};"
            for i, code in self._coded().items()
        ]
        return "\n".join([f"case ({select})", *cases, f"default: index{k} = {none};", "endcase"])

    def _alternative(self) -> str:
        """Return words and-ed with a bit each, and or-ed together."""
        last = self.count - 1
        parts = []
        for k, (select, output) in enumerate(zip(self.selects, self.outputs, strict=True)):
            parts.append(f"logic [{last}:0] hit{k}, mine{k};\n{self._hits(k, select)}")
            parts.append(self._mine(k))
            view = f"mine{k}"
            if self.clocking is not None:
                view = f"view{k}"
                parts.append(self._kept(self.clocking, k))
            masks = [f"{view}[{i}]" for i in range(last + 1)] + [f"~|{view}"]
            shown = [self._word(i) for i in range(last + 1)]
            shown.append(hw.literal(self.width, self.fallbacks[k]))
            words = [f"{{{self.width}{{{m}}}}} & {w}" for m, w in zip(masks, shown, strict=True)]
            parts.append(f"assign {output} = ({') | ('.join(words)});")
            if "flag" in self.features:
                parts.append(f"assign {self._miss(k)} = ~|mine{k};")
        return "\n".join(parts)

    def _mine(self, k: int) -> str:
        """Return the bit of the word that is selected in the end, given the bits to begin with."""
        n = self.count
        on = ("~enable", "enable")[self.enable_level] if "enable" in self.features else "1'b1"
        if "search" not in self.features:
            earlier = [f"hit{j}" for j in range(k)] if "conflict" in self.features else []
            free = f" & ~({' | '.join(earlier)})" if earlier else ""
            return f"assign mine{k} = hit{k} & {{{n}{{{on}}}}}{free};"
        earlier = [f"mine{j}" for j in range(k)] if "conflict" in self.features else []
        free = f"ready & ~({' | '.join(earlier)})" if earlier else "ready"
        return (
            f"logic [{n - 1}:0] free{k};\nlogic [{2 * n - 1}:0] twice{k}, one{k};\n"
            f"assign free{k} = {free};\nassign twice{k} = {{free{k}, free{k}}};\n"
            f"assign one{k} = twice{k} & ~(twice{k} - {2 * n}'(hit{k} & {{{n}{{{on}}}}}));\n"
            f"assign mine{k} = one{k}[{2 * n - 1}:{n}] | one{k}[{n - 1}:0];"
        )

    def _kept(self, clocking: Clocking, k: int) -> str:
        """Return a register with the number of the last word, from 1, and the bit of the word."""
        n, wide = self.count, self.count.bit_length()
        having = (sum(1 << i for i in range(n) if i + 1 >> b & 1) for b in reversed(range(wide)))
        number = ", ".join(f"|(view{k} & {hw.literal(n, mask)})" for mask in having)
        return (
            f"logic [{wide - 1}:0] kept{k};\nlogic [{n - 1}:0] view{k};\n"
            + hw.clocked(
                clocking, f"kept{k} <= '0;", f"kept{k} <= {{{number}}};", keyword="always_ff"
            )
            + f"\nassign view{k} = |mine{k} ? mine{k} : {n}'(({n + 1}'d1 << kept{k}) >> 1);"
        )

    def _hits(self, k: int, select: str) -> str:
        if self.kind != "onehot" or self.several == "none":
            return "\n".join(
                f"assign hit{k}[{i}] = {select} == {hw.literal(self.bits, code)};"
                for i, code in self._coded().items()
            )
        lines = []
        for i in range(self.count):
            before = f"<< {self.count - i}" if self.several == "lowest" else f">> {i + 1}"
            lines.append(f"assign hit{k}[{i}] = {select}[{i}] & ~|({select} {before});")
        return "\n".join(lines)

    def _miss(self, k: int) -> str:
        return f"miss[{k}]" if len(self.outputs) > 1 else "miss"
