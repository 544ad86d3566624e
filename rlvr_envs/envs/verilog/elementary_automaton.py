"""ElementaryAutomaton: one-dimensional cellular automata with a rule number."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

_WIDEST = 48


# In the order in which higher levels add them.
FEATURES = ("enable", "alternate", "stable", "fast", "frozen", "memory")


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementaryAutomatonConfig(DesignConfig):
    """How many cells there are, and which features are added."""

    width: int = knob(8, "number of cells", low=3, high=_WIDEST)
    features: int = feature_knob(1, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "ElementaryAutomatonConfig":
        """Two cells more a step, up to 48, and, up to 9, 2 features every 3 steps."""
        features = min((2 * difficulty) // 3, len(FEATURES))
        return cls(width=min(4 + 2 * difficulty, _WIDEST), features=features)


@register("ElementaryAutomaton-v0", domain="verilog", answer_format=LANGUAGE)
class ElementaryAutomatonTask(DesignTask[ElementaryAutomatonConfig]):
    """Write a row of cells in which each follows its neighbours by a rule.

    Description:
        An elementary cellular automaton with a load: any rule, given by its number, as a table
        or as a list, and any border. Later levels add an enable, a second rule, a flag for a
        stable state, two steps at once, frozen cells, and a second-order rule.

    Difficulty:
        Cells get more, and the controls and their interactions too.

    References:
        Wolfram 1983, Statistical mechanics of cellular automata; Fredkin's reversible rules of
        second order in Margolus 1984, Physics-like models of computation.
    """

    def design(self, rng: Rng) -> hw.Design:
        width = self.config.width
        rules = [_rule(rng), _rule(rng)]
        while rules[0] == rules[1]:
            rules[1] = _rule(rng)
        return Row(
            width=width,
            rules=(rules[0], rules[1]),
            border=pick(rng, BORDERS),
            start=integer(rng, 1, 2**width - 1),
            telling=integer(rng, 0, 2),
            cells=pick(rng, ("q", "cells", "row")),
            features=FEATURES[: self.config.features],
        ).design(rng)


def _rule(rng: Rng) -> int:
    """Draw a rule that depends on all three cells."""
    while True:
        rule = integer(rng, 1, 254)
        if all(any((rule >> i ^ rule >> (i ^ bit)) & 1 for i in range(8)) for bit in (1, 2, 4)):
            return rule


# The rows of ElementaryAutomaton: a step of all cells at once, and cell by cell.


BORDERS = ("ring", "zeros", "ones", "mirror")


@dataclass(frozen=True, slots=True)
class Row:
    """Cells, their rules, and the two ways to write them."""

    width: int
    rules: tuple[int, int]  # the second is for `alternate`
    border: str
    start: int  # after reset
    telling: int  # how the rules are given: by number, as a table, as a list
    cells: str
    features: tuple[str, ...]

    def design(self, rng: Rng) -> hw.Design:
        """Return the design; ``rng`` draws the clock and the reset."""
        clocking = hw.draw_clocking(rng)
        has, cells = self.features.__contains__, self.cells
        controls = hw.inputs(
            ("enable", 1, "step enable"),
            ("alternate", 1, "selects rule A (0) or rule B (1)"),
            ("fast", 1, "1 makes two steps instead of one"),
            ("frozen", self.width, "cells that keep their value"),
        )
        signals = (
            *hw.clock_signals(clocking),
            *hw.inputs(("load", 1, "synchronous load")),
            *hw.inputs(("data", self.width, "value to load")),
            *(control for control in controls if control.name in self.features),
            *hw.outputs((cells, self.width, "the cells")),
        )
        if has("stable"):
            signals += hw.outputs(("stable", 1, "1 if a step would change nothing"))
        reset = f"{cells} <= {hw.literal(self.width, self.start)};"
        load = f"{cells} <= data;"
        if has("memory"):
            reset += f"\npast <= {hw.literal(self.width, 0)};"
            load += f"\npast <= {hw.literal(self.width, 0)};"
        one, two = self._golden(), self._alternative()
        body = f"if (load) begin\n{hw.indented(load, 4)}\nend else {self._enabled()}begin\n"
        golden = one[0] + hw.clocked(clocking, reset, f"{body}{hw.indented(one[1], 4)}\nend")
        other = two[0] + hw.clocked(
            clocking, reset, f"{body}{hw.indented(two[1], 4)}\nend", keyword="always_ff"
        )
        return hw.Design(
            title=f"a one-dimensional cellular automaton of {self.width} cells with a load",
            signals=signals,
            rules=self._rules(),
            golden=hw.module(signals, golden, registers=(cells,)),
            alternative=hw.sv_module(signals, other),
            clocking=clocking,
            figure=self._figure(),
        )

    def _enabled(self) -> str:
        return "if (enable) " if "enable" in self.features else ""

    def _rules(self) -> tuple[str, ...]:
        has, top = self.features.__contains__, self.width - 1
        name = f"`{self.cells}`"
        sides = {
            "ring": f"The cells form a ring: the left neighbour of cell {top} is cell 0, and the "
            f"right neighbour of cell 0 is cell {top}.",
            "zeros": "Cells beyond both ends of the row are always 0: the left neighbour of cell "
            f"{top} and the right neighbour of cell 0 are 0.",
            "ones": "Cells beyond both ends of the row are always 1: the left neighbour of cell "
            f"{top} and the right neighbour of cell 0 are 1.",
            "mirror": f"The left neighbour of cell {top} is cell {top} itself, and the right "
            "neighbour of cell 0 is cell 0 itself.",
        }
        enabled = " where `enable` is 1" if has("enable") else ""
        rules = [
            (
                f"Bit i of {name} is cell i. Its left neighbour is cell i+1, and its right "
                "neighbour is cell i-1."
            ),
            sides[self.border],
            f"Reset sets {name} to {hw.literal(self.width, self.start)}.",
            f"At a rising clock edge where `load` is 1, {name} becomes `data`"
            + (", regardless of `enable`." if has("enable") else "."),
            f"At every other rising clock edge{enabled}, all cells make one step at the same time.",
            self._step_rule(),
        ]
        if has("fast"):
            rules.append(
                "While `fast` is 1, the cells make two steps at one rising clock edge instead of "
                "one."
            )
        if has("memory"):
            rules.append(
                "The automaton is second-order: in a step, the new value of a cell is the result "
                "of the rule XOR the value that the cell had before the most recent step. With two "
                "steps at one edge, each of the two counts as a step. After a reset or a load, the "
                "values before the most recent step are all 0."
            )
        if has("frozen"):
            rules.append("As an exception, cell i keeps its value in a step if `frozen[i]` is 1.")
        if has("stable"):
            rules.append(
                "`stable` is combinational: it is 1 if and only if one single step, with the "
                f"current inputs, would leave all of {name} unchanged. It does not matter whether "
                "a step is actually made."
            )
        return tuple(rules)

    def _step_rule(self) -> str:
        if "alternate" not in self.features:
            return self._told(self.rules[0], "")
        first, second = (
            self._told(rule, f" {n}") for rule, n in zip(self.rules, "AB", strict=True)
        )
        which = "A step uses rule A if `alternate` is 0, and rule B if it is 1."
        return f"{which} {first} {second}"

    def _told(self, rule: int, name: str) -> str:
        whose = f"rule{name}" if name else "the rule"
        if self.telling == 0:
            return (
                f"{whose[0].upper()}{whose[1:]} has the number {rule}: a cell with value b, left "
                f"neighbour a and right neighbour c becomes bit 4a+2b+c of {rule}, where bit 0 is "
                "the least significant bit."
            )
        if self.telling == 1:
            return (
                f"{whose[0].upper()}{whose[1:]} is in column {name[1:] or 'new'} of the table: it "
                "gives the new value of a cell for the values of its left neighbour, of itself and "
                "of its right neighbour."
            )
        ones = ", ".join(f"{i:03b}" for i in range(8)[::-1] if rule >> i & 1)
        return (
            f"By {whose}, a cell becomes 1 if and only if the values of its left neighbour, itself "
            f"and its right neighbour are, in this order, one of {ones}."
        )

    def _figure(self) -> str:
        if self.telling != 1:
            return ""
        many = "alternate" in self.features
        rows = [["left", "itself", "right", *("AB" if many else ["new"])]]
        rows.append(["---"] * len(rows[0]))
        for i in range(8):
            values = [str(rule >> i & 1) for rule in self.rules[: 1 + many]]
            rows.append([*f"{i:03b}", *values])
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)

    def _arguments(self) -> list[tuple[str, int]]:
        """Return what a step depends on beside the cells."""
        named = [("alternate", 1), ("frozen", self.width), ("memory", self.width)]
        return [(name, width) for name, width in named if name in self.features]

    def _call(self, function: str, cells: str, past: str) -> str:
        named = [past if name == "memory" else name for name, _ in self._arguments()]
        return f"{function}({', '.join([cells, *named])})"

    def _edges(self) -> tuple[str, str]:
        """Return the cells beyond the left end and the right end of ``c``."""
        top = self.width - 1
        return {
            "ring": ("c[0]", f"c[{top}]"),
            "zeros": ("1'b0", "1'b0"),
            "ones": ("1'b1", "1'b1"),
            "mirror": (f"c[{top}]", "c[0]"),
        }[self.border]

    def _golden(self) -> tuple[str, str]:
        """Return a step as terms of whole rows, and the moves of the registers."""
        has, top, cells = self.features.__contains__, self.width - 1, self.cells
        left, right = self._edges()
        terms = [
            " | ".join(
                " & ".join(
                    name if i >> place & 1 else f"~{name}"
                    for name, place in (("l", 2), ("c", 1), ("r", 0))
                )
                for i in range(8)
                if rule >> i & 1
            )
            for rule in self.rules
        ]
        new = f"alternate ? ({terms[1]}) : ({terms[0]})" if has("alternate") else terms[0]
        new = f"({new}) ^ memory" if has("memory") else new
        new = f"(c & frozen) | (~frozen & ({new}))" if has("frozen") else new
        ports = "".join(
            f"input {f'[{width - 1}:0] ' if width > 1 else ''}{name};\n"
            for name, width in [("c", self.width), *self._arguments()]
        )
        once = self._call("step", cells, "past")
        text = (
            f"function [{top}:0] step;\n{ports}reg [{top}:0] l, r;\nbegin\n"
            f"    l = {{{left}, c[{top}:1]}};\n    r = {{c[{top - 1}:0], {right}}};\n"
            f"    step = {new};\nend\nendfunction\n"
        )
        text += f"reg [{top}:0] past;\n" if has("memory") else ""
        text += f"wire [{top}:0] first = {once};\n"
        moved, old = "first", cells
        if has("fast"):
            text += f"wire [{top}:0] second = {self._call('step', 'first', cells)};\n"
            moved, old = "fast ? second : first", f"fast ? first : {cells}"
        text += f"assign stable = first == {cells};\n" if has("stable") else ""
        return text, f"{cells} <= {moved};" + (f"\npast <= {old};" if has("memory") else "")

    def _alternative(self) -> tuple[str, str]:
        """Return a step as a loop that looks each cell up, and the moves of the registers."""
        has, top, cells = self.features.__contains__, self.width - 1, self.cells
        left, right = self._edges()
        tables = "".join(
            f"localparam logic [7:0] RULE{n} = 8'b{rule:08b};\n"
            for n, rule in enumerate(self.rules[: 1 + has("alternate")])
        )
        look = "RULE0[around[i +: 3]]"
        new = f"(alternate ? RULE1[around[i +: 3]] : {look})" if has("alternate") else look
        new += " ^ memory[i]" if has("memory") else ""
        new = f"frozen[i] ? c[i] : {new}" if has("frozen") else new
        ports = ", ".join(
            f"input logic {f'[{width - 1}:0] ' if width > 1 else ''}{name}"
            for name, width in [("c", self.width), *self._arguments()]
        )
        text = (
            f"{tables}function automatic logic [{top}:0] step({ports});\n"
            f"    logic [{top + 2}:0] around;\n    around = {{{left}, c, {right}}};\n"
            f"    for (int i = 0; i < {self.width}; i++) step[i] = {new};\nendfunction\n"
            f"logic [{top}:0] moved{', past, past_moved, held' * has('memory')};\n"
            f"always_comb begin\n    moved = {cells};\n"
        )
        once = self._call("step", "moved", "past_moved")
        if has("memory"):
            text += "    past_moved = past;\n"
        text += "    for (int n = 0; n < 2; n++) "
        text += f"if (n == 0{' || fast' * has('fast')}) begin\n"
        if has("memory"):
            text += "        held = moved;\n"
        text += f"        moved = {once};\n"
        text += "        past_moved = held;\n" if has("memory") else ""
        text += "    end\nend\n"
        if has("stable"):
            text += f"assign stable = {self._call('step', cells, 'past')} == {cells};\n"
        return text, f"{cells} <= moved;" + ("\npast <= past_moved;" if has("memory") else "")
