"""TruthTable: functions of a few bits, given as tables, lists, constants or patterns."""

import re
from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware.design import Design, inputs, literal, module, outputs, sv_module
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.tables import listed, table
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, VerilogProblem


@dataclass(frozen=True, slots=True)
class Function:
    """One output: how it is given, and its value in every row (bit n of ``values``)."""

    telling: str
    values: int
    patterns: tuple[tuple[str, int], ...] = ()  # a pattern of 0, 1 and -, and the value there
    default: int = 0  # where no pattern fits
    earlier: tuple[int, ...] = ()  # outputs that a nested function looks at, most significant first
    bits: tuple[int, ...] = ()  # inputs that it looks at after them, as their bits in a row number
    inner: int = 0  # its value for each number that these make


# In the order in which higher levels add them.
TELLINGS = ("table", "minterms", "maxterms", "constant", "patterns", "nested")
_MOST_INPUTS, _MOST_OUTPUTS = 9, 8
_TABLE = re.compile(r"= ([0-9]+)'h([0-9a-f]+);")  # a constant of the alternative, with its width
_LETTERS = ("abcdefghi", "pqrstuvwx")


@dataclass(frozen=True, slots=True, kw_only=True)
class TruthTableConfig(DesignConfig):
    """How many inputs and outputs there are, and how the functions are given."""

    inputs: int = knob(3, "number of input bits", low=2, high=_MOST_INPUTS)
    outputs: int = knob(2, "number of outputs", low=1, high=_MOST_OUTPUTS)
    tellings: int = knob(
        2,
        "number of ways to give a function, the first ones of table, minterms, maxterms, constant, "
        "patterns, nested",
        low=1,
        high=len(TELLINGS),
    )

    @classmethod
    def at(cls, difficulty: int) -> "TruthTableConfig":
        """Odd levels add an output, up to 8; even ones a way of telling, up to all 6 at 10.

        An input comes every 4 levels, up to 9.
        """
        return cls(
            inputs=min(3 + difficulty // 4, _MOST_INPUTS),
            outputs=min(1 + (difficulty + 1) // 2, _MOST_OUTPUTS),
            tellings=min(1 + difficulty // 2, len(TELLINGS)),
        )


@register("TruthTable-v0", domain="verilog", answer_format=LANGUAGE)
class TruthTableTask(DesignTask[TruthTableConfig]):
    """Write functions that are given by their values.

    Description:
        Each output is a function of up to nine bits. It is given in a table, as the list of the
        rows where it is 1 or 0, as a constant that holds all values, as a list of patterns of
        which the first match decides, or as a function of other outputs and a few inputs.

    Observation:
        What the module does in numbered rules or prose, its ports, and a table where outputs are
        given in one.

    Difficulty:
        Inputs and outputs become more, and so do the ways in which one prompt gives them.

    References:
        Harris and Harris, Digital Design and Computer Architecture, 2.2, for minterms and
        maxterms; Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form of such problems.
    """

    def effort(self, problem: VerilogProblem) -> float:
        """Return the effort of the writing that lists rows, since a solver has to find them."""
        return writing_effort(problem.golden)

    def explain(self, problem: VerilogProblem) -> list[str]:
        """Return the rows where each output is 1, its values from the last row on, and in hex."""
        names = [signal.name for signal in problem.signals if signal.direction == "output"]
        steps = []
        for name, (rows, digits) in zip(names, _TABLE.findall(problem.alternative), strict=True):
            bits = f"{int(digits, 16):0{rows}b}"
            ones = ", ".join(str(n) for n, bit in enumerate(reversed(bits)) if bit == "1")
            groups = [bits[max(0, end - 4) : end] for end in range(len(bits), 0, -4)]
            steps.append(f"`{name}` is 1 for n in {{{ones}}} and 0 otherwise.")
            steps.append(
                f"Row by row from n = {int(rows) - 1} down to 0, `{name}` is "
                f"{' '.join(reversed(groups))}, so bit n of {rows}'h{digits} is its value."
            )
        return steps

    def design(self, rng: Rng) -> Design:
        config = self.config
        letters = pick(rng, _LETTERS)[: config.inputs]
        names = tuple(letters) if integer(rng, 0, 1) or config.inputs < 3 else ()
        drawer = Drawer(rng, config.inputs, TELLINGS[: config.tellings])
        functions = [drawer.draw(place) for place in range(config.outputs)]
        return _Functions(
            config.inputs, names, tuple(functions), pick(rng, ("y", "z", "out"))
        ).design()


@dataclass(frozen=True, slots=True)
class _Functions:
    width: int
    names: tuple[str, ...]  # of the inputs, most significant first; none where they are a vector
    functions: tuple[Function, ...]
    letter: str  # of the outputs

    def design(self) -> Design:
        if self.names:
            signals = inputs(*((name, 1, "an argument") for name in self.names))
        else:
            signals = inputs(("x", self.width, "the arguments"))
        outs = [self._output(k) for k in range(len(self.functions))]
        signals += outputs(*((name, 1, f"function {k}") for k, name in enumerate(outs)))
        many = f"{len(outs)} Boolean functions" if len(outs) > 1 else "a Boolean function"
        return Design(
            title=f"a circuit for {many} of {self.width} bits",
            signals=signals,
            rules=self._rules(),
            golden=module(signals, self._golden(), registers=outs),
            alternative=sv_module(signals, self._alternative()),
            figure=self._figure(),
        )

    def _output(self, place: int) -> str:
        return self.letter if len(self.functions) == 1 else f"{self.letter}{place}"

    def _word(self) -> str:
        return f"{{{', '.join(self.names)}}}" if self.names else "x"

    def _bit(self, bit: int) -> str:
        return self.names[self.width - 1 - bit] if self.names else f"x[{bit}]"

    def _rules(self) -> tuple[str, ...]:
        if self.names:
            top = 2**self.width - 1
            how = (
                f"`{self._word()}` (0 to {top}), where `{self.names[0]}` is the most "
                "significant bit"
            )
        else:
            how = f"the value of `x` as an unsigned number (0 to {2**self.width - 1})"
        rules = [f"The row number n of the inputs is {how}."]
        told = [
            f"`{self._output(k)}`" for k, f in enumerate(self.functions) if f.telling == "table"
        ]
        if told:
            rules.append(f"The table gives {listed(told)} for every combination of inputs.")
        rules += [
            self._rule(f"`{self._output(k)}`", function)
            for k, function in enumerate(self.functions)
            if function.telling != "table"
        ]
        return tuple(rules)

    def _rule(self, name: str, function: Function) -> str:
        rows = 2**self.width
        if function.telling in ("minterms", "maxterms"):
            value = int(function.telling == "minterms")
            terms = [n for n in range(rows) if function.values >> n & 1 == value]
            return f"{name} is {value} if and only if n is in {{{', '.join(map(str, terms))}}}."
        if function.telling == "constant":
            digits = -(-rows // 4)
            constant = f"{rows}'h{function.values:0{digits}x}"
            return (
                f"{name} is bit n of the constant {constant}, where bit 0 is the least "
                "significant bit."
            )
        if function.telling == "patterns":
            tests = "; ".join(f"{text}: {value}" for text, value in function.patterns)
            return (
                f"For {name}, compare the {self.width} bits of n, most significant bit first, with "
                "these patterns, in which - matches 0 and 1. The first pattern that matches gives "
                f"the value: {tests}. If none matches, {name} is {function.default}."
            )
        parts = [self._output(k) for k in function.earlier] + [self._bit(b) for b in function.bits]
        terms = [n for n in range(16) if function.inner >> n & 1]
        return (
            f"{name} is 1 if and only if the number `{{{', '.join(parts)}}}` (first bit most "
            f"significant) is in {{{', '.join(map(str, terms))}}}."
        )

    def _figure(self) -> str:
        told = [k for k, function in enumerate(self.functions) if function.telling == "table"]
        if not told:
            return ""
        head = ["n", *(self.names or ["x in binary"]), *(self._output(k) for k in told)]
        rows = []
        for n in range(2**self.width):
            text = f"{n:0{self.width}b}"
            values = [self.functions[k].values >> n & 1 for k in told]
            rows.append([n, *(text if self.names else [text]), *values])
        return table(head, rows)

    def _golden(self) -> str:
        """Return each function as it is told."""
        lines = [f"wire [{self.width - 1}:0] n = {self._word()};"]
        for k, function in enumerate(self.functions):
            lines.append(f"always @(*) begin\n{self._block(self._output(k), function)}\nend")
        return "\n".join(lines)

    def _block(self, name: str, function: Function) -> str:
        if function.telling == "patterns":
            lines = []
            for text, value in function.patterns:
                bits = text.replace("-", "?")
                lines.append(f"        {self.width}'b{bits}: {name} = {value};")
            lines.append(f"        default: {name} = {function.default};")
            return "\n".join(["    casez (n)", *lines, "    endcase"])
        if function.telling == "nested":
            parts = [self._output(k) for k in function.earlier]
            parts += [self._bit(b) for b in function.bits]
            word, width, values = f"{{{', '.join(parts)}}}", 4, function.inner
        else:
            word, width, values = "n", self.width, function.values
        rows = 2**width
        rare = int(values.bit_count() * 2 <= rows)
        terms = [literal(width, n) for n in range(rows) if values >> n & 1 == rare]
        listing = ", ".join(terms)
        return (
            f"    case ({word})\n        {listing}: {name} = {rare};\n"
            f"        default: {name} = {1 - rare};\n    endcase"
        )

    def _alternative(self) -> str:
        """Return all functions as constants with a bit for each row."""
        rows = 2**self.width
        lines = [f"logic [{self.width - 1}:0] n;\nassign n = {self._word()};"]
        for k, function in enumerate(self.functions):
            lines.append(f"localparam logic [{rows - 1}:0] T{k} = {rows}'h{function.values:x};")
            lines.append(f"assign {self._output(k)} = T{k}[n];")
        return "\n".join(lines)


# Functions of a few bits, drawn together with the way in which they are given.


_LONGEST_TABLE = 6  # inputs of a table that is written out row by row


class Drawer:
    """Draws functions one after another; a nested one looks at those before it."""

    def __init__(self, rng: Rng, width: int, tellings: tuple[str, ...]) -> None:
        self.rng, self.width, self.tellings = rng, width, tellings
        self.drawn: list[Function] = []

    def draw(self, place: int) -> Function:
        """Draw a function that is not constant; the newest way of telling comes last."""
        rows = 2**self.width
        fit = [
            telling
            for telling in self.tellings
            if (telling != "table" or self.width <= _LONGEST_TABLE)
            and (telling != "nested" or place >= 2)
        ]
        telling = pick(self.rng, fit)
        while True:
            function = self._function(telling, rows)
            if 0 < function.values < 2**rows - 1:
                self.drawn.append(function)
                return function

    def _function(self, telling: str, rows: int) -> Function:
        if telling == "patterns":
            return self._patterns(rows)
        if telling == "nested":
            return self._nested(rows)
        values = integer(self.rng, 0, 2**rows - 1)
        if telling in ("minterms", "maxterms") and rows > 16:
            # Few rows to list: about 12 of them.
            values = sum({1 << integer(self.rng, 0, rows - 1) for _ in range(12)})
            if telling == "maxterms":
                values ^= 2**rows - 1
        return Function(telling, values)

    def _patterns(self, rows: int) -> Function:
        patterns = []
        for k in range(min(2 + self.width // 2, 6)):
            text = "".join(pick(self.rng, "01--") for _ in range(self.width))
            patterns.append((text if set(text) != {"-"} else "1" + text[1:], (k + 1) % 2))
        default = integer(self.rng, 0, 1)
        values = sum(_first(patterns, default, row, self.width) << row for row in range(rows))
        return Function("patterns", values, tuple(patterns), default)

    def _nested(self, rows: int) -> Function:
        places = sorted(integer(self.rng, 0, len(self.drawn) - 1) for _ in range(2))
        if places[0] == places[1]:
            places = [0, len(self.drawn) - 1]
        first = integer(self.rng, 0, self.width - 1)
        bits = (first, (first + integer(self.rng, 1, self.width - 1)) % self.width)
        inner = integer(self.rng, 1, 2**16 - 2)
        values = 0
        for row in range(rows):
            number = 0
            for bit in (*(self.drawn[p].values >> row for p in places), *(row >> b for b in bits)):
                number = 2 * number + (bit & 1)
            values |= (inner >> number & 1) << row
        return Function("nested", values, earlier=tuple(places), bits=bits, inner=inner)


def _first(patterns: list[tuple[str, int]], default: int, row: int, width: int) -> int:
    text = f"{row:0{width}b}"
    for pattern, value in patterns:
        if all(p in ("-", t) for p, t in zip(pattern, text, strict=True)):
            return value
    return default
