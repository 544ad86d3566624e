"""BooleanCircuit: a random network of gates, given as a netlist, in words, or as functions."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware.design import Design, inputs, module, outputs, sv_module
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, VerilogProblem

_MOST_INPUTS, _MOST_GATES, _MOST_OUTPUTS = 9, 64, 6
_LISTED = 5  # inputs up to which a function is also given as a table or as a list of rows
# A gate's Verilog, its formula, its words, and its value; {0}, {1} and {2} are what it reads.
_GATES = {
    "AND": ("{0} & {1}", "{0} AND {1}", "1 if and only if {0} and {1} are both 1"),
    "OR": ("{0} | {1}", "{0} OR {1}", "1 if and only if at least one of {0} and {1} is 1"),
    "XOR": ("{0} ^ {1}", "{0} XOR {1}", "1 if and only if {0} and {1} differ"),
    "NAND": ("~({0} & {1})", "{0} NAND {1}", "0 if and only if {0} and {1} are both 1"),
    "NOR": ("~({0} | {1})", "{0} NOR {1}", "1 if and only if {0} and {1} are both 0"),
    "XNOR": ("~({0} ^ {1})", "{0} XNOR {1}", "1 if and only if {0} and {1} are equal"),
    "MUX": (
        "{0} ? {1} : {2}",
        "MUX({0}, {1}, {2})",
        "equal to {1} if {0} is 1, and equal to {2} otherwise",
    ),
    "MAJ": (
        "{0} & {1} | {0} & {2} | {1} & {2}",
        "MAJ({0}, {1}, {2})",
        "1 if and only if at least two of {0}, {1} and {2} are 1",
    ),
}
_MEANINGS = {
    "NAND": "NAND is AND with the output inverted.",
    "NOR": "NOR is OR with the output inverted.",
    "XNOR": "XNOR is XOR with the output inverted.",
    "MUX": "MUX outputs its second input if its first input is 1, and its third input otherwise.",
    "MAJ": "MAJ (majority) is 1 if and only if at least two of its three inputs are 1.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BooleanCircuitConfig(DesignConfig):
    """How large the network is."""

    inputs: int = knob(4, "number of inputs")
    gates: int = knob(6, "number of gates; no two nets have the same function or opposite ones")
    outputs: int = knob(1, "number of outputs, driven by the last gates")

    def check(self) -> None:
        for name, value, low, high in (
            ("inputs", self.inputs, 3, _MOST_INPUTS),
            ("gates", self.gates, 1, min(_MOST_GATES, 2**self.inputs)),
            ("outputs", self.outputs, 1, min(_MOST_OUTPUTS, self.gates)),
        ):
            if not low <= value <= high:
                raise ConfigError(f"{name} is between {low} and {high} here, got {value}")

    @classmethod
    def at(cls, difficulty: int) -> "BooleanCircuitConfig":
        """Gates become 3 more a step, inputs and outputs one more every 2 and every 4 steps.

        The numbers stop at 9 inputs, 64 gates and 6 outputs.
        """
        return cls(
            inputs=min(3 + difficulty // 2, _MOST_INPUTS),
            gates=min(2 + 3 * difficulty, _MOST_GATES),
            outputs=min(1 + difficulty // 4, _MOST_OUTPUTS),
        )


@register("BooleanCircuit-v0", domain="verilog", answer_format=LANGUAGE)
class BooleanCircuitTask(DesignTask[BooleanCircuitConfig]):
    """Write a random network of gates from a list, a text, formulas or a table.

    Description:
        A network of random gates is given as a list of nets, as sentences in any order, as
        formulas in any order, or, where it has few inputs, as a truth table or by the rows at
        which an output is 1. No two of its nets have the same function or opposite ones.

    Observation:
        The function, given in one of five forms, and the ports.

    Verification:
        Equivalence with a reference by comparison at all inputs (see docs/verilog.md). A value
        that is not determined counts as wrong.

    Difficulty:
        Gates, inputs and outputs become more; from six inputs on the network itself is given.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 2; Liu et al. 2023,
        VerilogEval, arXiv:2309.07544, for truth tables as problems.
    """

    def effort(self, problem: VerilogProblem) -> float:
        """Return the effort of writing the network gate by gate."""
        return writing_effort(problem.golden)

    def design(self, rng: Rng) -> Design:
        config = self.config
        style = pick(rng, ("nets", "words", "formulas"))
        if config.inputs <= _LISTED and integer(rng, 0, 1):
            style = pick(rng, ("table", "rows"))
        letters = pick(rng, ("abcdefghi", "pqrstuvwx", "xyzuvwrst"))
        names = [letters[i] for i in rng.permutation(len(letters)).tolist()[: config.inputs]]
        inner = [f"n{i}" for i in range(config.gates - config.outputs)]
        results = ["out"] if config.outputs == 1 else [f"out{i}" for i in range(config.outputs)]
        gates, values = _network(rng, sorted(names), inner + results)
        return _Circuit(
            names=tuple(sorted(names)),
            gates=tuple(gates),
            values=tuple(values[wire] for wire in results),
            results=tuple(results),
            order=tuple(rng.permutation(config.gates).tolist()),
            style=style,
        ).design()


def _column(place: int, count: int) -> int:
    """Return the values of an input at all rows, as bits; input 0 is the top bit of a row."""
    return sum(1 << row for row in range(2**count) if row >> (count - 1 - place) & 1)


def _value(kind: str, terms: list[int], ones: int) -> int:
    first, second, third = (*terms, 0, 0)[:3]
    value = {
        "AND": first & second,
        "OR": first | second,
        "XOR": first ^ second,
        "NAND": ~(first & second),
        "NOR": ~(first | second),
        "XNOR": ~(first ^ second),
        "MUX": first & second | ~first & third,
        "MAJ": first & second | first & third | second & third,
    }[kind]
    return value & ones


def _network(
    rng: Rng, names: list[str], wires: list[str]
) -> tuple[list[tuple[str, str, tuple[str, ...]]], dict[str, int]]:
    """Draw gates (name, kind, what it reads) with new functions, and the values of all nets."""
    ones = (1 << 2 ** len(names)) - 1
    values = {name: _column(place, len(names)) for place, name in enumerate(names)}
    known = {0, ones} | set(values.values()) | {ones ^ value for value in values.values()}
    gates: list[tuple[str, str, tuple[str, ...]]] = []
    kinds = list(_GATES)
    while len(gates) < len(wires):
        kind = pick(rng, kinds)
        nets = list(values)
        # What nobody reads yet goes first, so that few gates stay without use.
        used = {net for gate in gates for net in gate[2]}
        reads = [pick(rng, [net for net in nets if net not in used] or nets)]
        while len(reads) < (3 if kind in ("MUX", "MAJ") else 2):
            other = pick(rng, nets)
            if other not in reads:
                reads.append(other)
        value = _value(kind, [values[net] for net in reads], ones)
        if value in known:
            continue
        known |= {value, ones ^ value}
        name = wires[len(gates)]
        values[name] = value
        gates.append((name, kind, tuple(reads)))
    return gates, values


@dataclass(frozen=True, slots=True)
class _Circuit:
    names: tuple[str, ...]  # of the inputs
    gates: tuple[tuple[str, str, tuple[str, ...]], ...]  # net, kind, what it reads
    values: tuple[int, ...]  # of the outputs at all rows, as bits
    results: tuple[str, ...]  # the outputs
    order: tuple[int, ...]  # of the gates in the prompt where the order means nothing
    style: str

    def design(self) -> Design:
        signals = inputs(*((name, 1, "an input") for name in self.names))
        signals += outputs(*((name, 1, "an output") for name in self.results))
        shown = "1 output" if len(self.results) == 1 else f"{len(self.results)} outputs"
        known = self.style in ("table", "rows")
        what = "a function" if known else f"a network of {len(self.gates)} gates"
        tell = {
            "nets": self._nets,
            "words": self._words,
            "formulas": self._formulas,
            "table": self._table,
            "rows": self._rows,
        }[self.style]
        rules, figure = tell()
        return Design(
            title=f"{what} with {len(self.names)} inputs and {shown}",
            signals=signals,
            rules=rules,
            golden=module(signals, self._golden()),
            alternative=sv_module(signals, self._alternative()),
            figure=figure,
        )

    def _meanings(self) -> list[str]:
        """Return what the gates in use do, where the name alone might not say it."""
        kinds = {kind for _, kind, _ in self.gates}
        return [text for kind, text in _MEANINGS.items() if kind in kinds]

    def _nets(self) -> tuple[tuple[str, ...], str]:
        rows = [
            f"| `{net}` | {kind} | {', '.join(f'`{read}`' for read in reads)} |"
            for net, kind, reads in self.gates
        ]
        rule = (
            "Each row of the table is one gate. It drives the net in the first column. Its inputs "
            "are the nets in the last column, in that order."
        )
        return (rule, *self._meanings()), "\n".join(
            ["| net | gate | inputs |", "| --- | --- | --- |", *rows]
        )

    def _words(self) -> tuple[tuple[str, ...], str]:
        sentences = ["Nets that are not ports are internal to the module."]
        for number in self.order:
            net, kind, reads = self.gates[number]
            words = _GATES[kind][2].format(*(f"`{read}`" for read in reads))
            sentences.append(f"`{net}` is {words}.")
        return tuple(sentences), ""

    def _formulas(self) -> tuple[tuple[str, ...], str]:
        lines = []
        for number in self.order:
            net, kind, reads = self.gates[number]
            lines.append(f"{net} = {_GATES[kind][1].format(*reads)}")
        rule = (
            "The formulas describe the gates of one circuit, in no particular order. Nets that are "
            "not ports are internal to the module."
        )
        return (rule, *self._meanings()), "\n".join(["```", *lines, "```"])

    def _table(self) -> tuple[tuple[str, ...], str]:
        count = len(self.names)
        head = [f"`{name}`" for name in (*self.names, *self.results)]
        rows = [head, ["---"] * len(head)]
        for row in range(2**count):
            bits = [row >> (count - 1 - place) & 1 for place in range(count)]
            rows.append([str(bit) for bit in (*bits, *(value >> row & 1 for value in self.values))])
        figure = "\n".join(f"| {' | '.join(row)} |" for row in rows)
        return ("The table gives the outputs for every combination of inputs.",), figure

    def _rows(self) -> tuple[tuple[str, ...], str]:
        count = len(self.names)
        weights = ", ".join(
            f"{2 ** (count - 1 - place)} for `{name}`" for place, name in enumerate(self.names)
        )
        rules = [
            (
                "The number of a row is the sum of the weights of the inputs that are 1. The "
                f"weights are: {weights}."
            )
        ]
        for name, value in zip(self.results, self.values, strict=True):
            rows = ", ".join(str(row) for row in range(2**count) if value >> row & 1)
            rules.append(
                f"`{name}` is 1 if and only if the row number is one of the rows in {{{rows}}}."
            )
        return tuple(rules), ""

    def _golden(self) -> str:
        """Return the network, gate by gate."""
        inner = [net for net, _, _ in self.gates if net not in self.results]
        lines = [f"wire {', '.join(inner)};"] if inner else []
        for net, kind, reads in self.gates:
            lines.append(f"assign {net} = {_GATES[kind][0].format(*reads)};")
        return "\n".join(lines)

    def _alternative(self) -> str:
        """Return a table of the values at all rows, which was worked out here."""
        size = 2 ** len(self.names)
        lines = [f"logic [{len(self.names) - 1}:0] row;"]
        lines.append(f"assign row = {{{', '.join(self.names)}}};")
        for name, value in zip(self.results, self.values, strict=True):
            lines.append(f"logic [{size - 1}:0] {name}_rows;")
            lines.append(
                f"assign {name}_rows = {size}'h{value:x};\nassign {name} = {name}_rows[row];"
            )
        return "\n".join(lines)
