"""EdgeDetector: detect changes of inputs."""

from dataclasses import dataclass
from functools import partial

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, feature_knob

_WIDEST, _LONGEST_GAP = 8, 4


# In the order in which higher levels add them.
FEATURES = ("each", "sync", "sticky", "mask", "count", "gap")


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeDetectorConfig(DesignConfig):
    """How many inputs there are, and what is done with their edges."""

    width: int = knob(4, "number of inputs", low=1, high=_WIDEST)
    gap: int = knob(
        3,
        "most cycles after an edge in which edges are ignored, with the feature gap",
        low=1,
        high=_LONGEST_GAP,
    )
    features: int = feature_knob(2, FEATURES)

    @classmethod
    def at(cls, difficulty: int) -> "EdgeDetectorConfig":
        """Two levels of three add a feature, up to 9; the third adds an input, up to 8."""
        more = (difficulty + 2) // 3
        return cls(
            width=min(1 + more, _WIDEST),
            gap=min(1 + more, _LONGEST_GAP),
            features=min((2 * difficulty) // 3, len(FEATURES)),
        )


@register("EdgeDetector-v0", domain="verilog", answer_format=LANGUAGE)
class EdgeDetectorTask(DesignTask[EdgeDetectorConfig]):
    """Write a detector of edges of inputs, with what is usually built around one.

    Description:
        Rising, falling or all edges of one or more inputs, reported at once or a cycle later.
        Later levels add a kind of edge for each input, a synchroniser, sticky flags, a mask, a
        count, and a dead time after an edge.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset; in
        one problem of three also an example run, as a table or a waveform.

    Difficulty:
        Inputs get more, and the features and their interactions too.

    References:
        Cummings 2008, Clock domain crossing (CDC) design and verification techniques, for the
        flip-flops before an input; Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the form
        of such problems.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        features = FEATURES[: config.features]
        one = pick(rng, KINDS)
        kinds = tuple(pick(rng, KINDS) if "each" in features else one for _ in range(config.width))
        return Detector(
            kinds=kinds,
            level=integer(rng, 0, 1),
            registered=integer(rng, 0, 1) == 1,
            stages=integer(rng, 1, 3),
            gap=integer(rng, (config.gap + 1) // 2, config.gap),
            set_wins=integer(rng, 0, 1) == 1,
            saturates=integer(rng, 0, 1) == 1,
            line=pick(rng, ("d", "sig", "line", "irq")),
            edges=pick(rng, ("edges", "pulse", "y", "detected")),
            features=features,
        ).design(rng)


# The detectors of EdgeDetector: words with masks, and bit by bit.


KINDS = ("rising", "falling", "any")
_COUNT_BITS = 6
_CHANGES = {"rising": {(0, 1)}, "falling": {(1, 0)}, "any": {(0, 1), (1, 0)}}


@dataclass(frozen=True, slots=True)
class Detector:
    """Inputs whose edges are detected, and the two ways to write the detector."""

    kinds: tuple[str, ...]  # of edges, for each input; the same for all without "each"
    level: int  # of the inputs before the reset, as far as the detector knows
    registered: bool  # whether edges are reported a cycle later
    stages: int  # flip-flops before the inputs
    gap: int  # cycles without edges after one
    set_wins: bool  # where an edge is cleared as it comes
    saturates: bool  # the count
    line: str
    edges: str
    features: tuple[str, ...]

    @property
    def _width(self) -> int:
        return len(self.kinds)

    def design(self, rng: Rng) -> hw.Design:
        """Return the design; ``rng`` draws the clock and the reset."""
        clocking = hw.draw_clocking(rng)
        has, width = self.features.__contains__, self._width
        signals = hw.clock_signals(clocking)
        signals += hw.inputs(
            (self.line, width, "inputs to observe" if width > 1 else "input to observe")
        )
        if has("mask"):
            signals += hw.inputs(("mask", width, "edge enable; 0 suppresses edges"))
        if has("sticky"):
            signals += hw.inputs(("clear", width, "clears `seen`"))
        signals += hw.outputs((self.edges, width, "detected edges"))
        registers = [self.edges] if self.registered else []
        if has("sticky"):
            signals += hw.outputs(("seen", width, "sticky flags of past edges"))
            registers.append("seen")
        if has("count"):
            signals += hw.outputs(("count", _COUNT_BITS, "number of edges"))
            registers.append("count")
        text, reset, moves = self._golden()
        golden = text + hw.clocked(clocking, reset, moves)
        text, reset, moves = self._alternative()
        other = text + hw.clocked(clocking, reset, moves, keyword="always_ff")
        which = f"{self.kinds[0]} edges" if self.kinds[0] != "any" else "rising and falling edges"
        which = "edges" if has("each") else which
        return hw.Design(
            title=f"a detector for {which} of {f'{width} inputs' if width > 1 else 'one input'}",
            signals=signals,
            rules=self._rules(),
            golden=hw.module(signals, golden, registers=registers),
            alternative=hw.sv_module(signals, other),
            clocking=clocking,
            figure=self._figure(),
            behaviour=partial(edges, self),
        )

    def _figure(self) -> str:
        if "each" not in self.features:
            return ""
        words = {
            "rising": "rising (0 to 1)",
            "falling": "falling (1 to 0)",
            "any": "rising and falling",
        }
        rows = [f"| {i} | {words[kind]} |" for i, kind in enumerate(self.kinds)]
        return "\n".join(["| i | edges of input i |", "| --- | --- |", *rows])

    def _rules(self) -> tuple[str, ...]:
        has, now = self.features.__contains__, f"`{self.line}`"
        rules = []
        if has("sync"):
            flops = "one flip-flop" if self.stages == 1 else f"{self.stages} flip-flops in series"
            which = f"Each bit of {now}" if self._width > 1 else now
            rules.append(
                f"{which} passes through {flops} first, which reset sets to {self.level}. Call the "
                "result s."
            )
            now = "s"
        each = "each bit of " if self._width > 1 else ""
        bit = "bit i of " if self._width > 1 else ""
        rules.append(
            f"A register p samples {now} at every rising clock edge. Reset sets {each}p to "
            f"{self.level}."
        )
        kind = {
            "rising": f"{bit}{now} is 1 and {bit}p is 0",
            "falling": f"{bit}{now} is 0 and {bit}p is 1",
            "any": f"{bit}{now} and {bit}p are different",
        }[self.kinds[0]]
        if has("each"):
            kind = f"{bit}{now} and {bit}p are different and the table lists this kind of edge, "
            kind += f"where a rising edge means that {bit}p is 0 and {bit}{now} is 1"
        whose = " of input i" if self._width > 1 else ""
        rules.append(f"There is an edge{whose} in each cycle in which {kind}.")
        return (*rules, *self._limits(), *self._results())

    def _limits(self) -> tuple[str, ...]:
        has, bit = self.features.__contains__, "[i]" if self._width > 1 else ""
        rules = []
        whose = " of input i" if self._width > 1 else ""
        if has("mask"):
            rules.append(f"While `mask{bit}` is 0, there is no edge{whose}.")
        if has("gap"):
            cycles = f"{self.gap} cycles" if self.gap > 1 else "one cycle"
            masked = " (a masked change does not count)" if has("mask") else ""
            rules.append(
                f"After a cycle with an edge{whose}{masked} there is a dead time: in the next "
                f"{cycles} there is no edge{whose}, even if it changes. Changes in the dead "
                "time are ignored and do not extend it. Reset ends the dead time."
            )
        return tuple(rules)

    def _results(self) -> tuple[str, ...]:
        has, many = self.features.__contains__, self._width > 1
        bit = "[i]" if many else ""
        name = f"`{self.edges}{bit}`"
        whose = " of input i" if many else ""
        if self.registered:
            shown = f"{name} is registered: it is 1 in the cycle after a cycle with an edge{whose}"
            rules = [f"{shown}, and 0 otherwise. Reset sets it to 0."]
        else:
            rules = [
                (
                    f"{name} is combinational: it is 1 in each cycle with an edge{whose}, and 0 "
                    "otherwise."
                )
            ]
        if has("sticky"):
            tie = "becomes 1" if self.set_wins else "becomes 0"
            rules.append(
                f"`seen{bit}` is registered: it becomes 1 at the rising clock edge that ends a "
                f"cycle with an edge{whose}. It becomes 0 at a rising clock edge where "
                f"`clear{bit}` is 1. If both happen at the same clock edge, it {tie}. Reset sets "
                "it to 0."
            )
        if has("count"):
            most = 2**_COUNT_BITS - 1
            end = f"saturating at {most}" if self.saturates else f"modulo {most + 1}"
            each = (
                "the number of inputs with an edge in that cycle"
                if many
                else "1 if there was an edge in that cycle"
            )
            rules.append(
                "`count` is registered: at the rising clock edge that ends a cycle it increases by "
                f"{each}, {end}. Reset sets it to 0."
            )
        return tuple(rules)

    def _golden(self) -> tuple[str, str, str]:
        """Return declarations, reset and moves in words: constants choose the kinds of edges."""
        has, width = self.features.__contains__, self._width
        vector, all_of = f"[{width - 1}:0]", hw.literal(width, -self.level)
        text, reset, moves, now = f"reg {vector} p;\n", f"p <= {all_of};\n", "", self.line
        if has("sync"):
            names = [f"s{n}" for n in range(1, self.stages + 1)]
            text += f"reg {vector} {', '.join(names)};\n"
            reset += "".join(f"{name} <= {all_of};\n" for name in names)
            moves += "".join(
                f"{name} <= {old};\n" for name, old in zip(names, [now, *names], strict=False)
            )
            now = names[-1]
        moves += f"p <= {now};\n"
        rise, fall = (
            hw.literal(width, sum(1 << i for i, k in enumerate(self.kinds) if k in (kind, "any")))
            for kind in ("rising", "falling")
        )
        edge = f"(({now} & ~p & {rise}) | (~{now} & p & {fall}))"
        if has("mask"):
            edge += " & mask"
        if has("gap"):
            edge += " & ~waiting"
            bits = self.gap.bit_length()
            for i in range(width):
                text += f"reg [{bits - 1}:0] wait{i};\n"
                reset += f"wait{i} <= 0;\n"
                moves += f"if (found[{i}]) wait{i} <= {hw.literal(bits, self.gap)};\n"
                moves += f"else if (wait{i} != 0) wait{i} <= wait{i} - 1'b1;\n"
            waits = ", ".join(f"wait{i} != 0" for i in reversed(range(width)))
            text += f"wire {vector} waiting = {{{waits}}};\n"
        text += f"wire {vector} found = {edge};\n"
        results = self._golden_results()
        return text + results[0], reset + results[1], moves + results[2]

    def _golden_results(self) -> tuple[str, str, str]:
        has, width, text, reset, moves = self.features.__contains__, self._width, "", "", ""
        if self.registered:
            reset += f"{self.edges} <= 0;\n"
            moves += f"{self.edges} <= found;\n"
        else:
            text += f"assign {self.edges} = found;\n"
        if has("sticky"):
            reset += "seen <= 0;\n"
            kept = "(seen & ~clear) | found" if self.set_wins else "(seen | found) & ~clear"
            moves += f"seen <= {kept};\n"
        if has("count"):
            total = " + ".join(["{1'b0, count}", *(f"found[{i}]" for i in range(width))])
            text += f"wire [{_COUNT_BITS}:0] total = {total};\n"
            reset += "count <= 0;\n"
            rest = f"total[{_COUNT_BITS - 1}:0]"
            most = hw.literal(_COUNT_BITS, -1)
            moves += f"count <= {f'total[{_COUNT_BITS}] ? {most} : ' * self.saturates}{rest};\n"
        return text, reset, moves

    def _alternative(self) -> tuple[str, str, str]:
        """Return the same bit by bit, out of the history of each input."""
        has, width = self.features.__contains__, self._width
        stages = self.stages if has("sync") else 0
        loop = f"for (int i = 0; i < {width}; i++)"
        line = f"{self.line}[i]" if width > 1 else self.line
        bit = "[i]" if width > 1 else ""
        text = f"logic [{stages}:0] past [{width}];\nlogic [{width - 1}:0] found;\n"
        reset = f"{loop} past[i] <= {{{stages + 1}{{1'b{self.level}}}}};\n"
        shifted = f"{{past[i][{stages - 1}:0], {line}}}" if stages else line
        moves = f"{loop} past[i] <= {shifted};\n"
        pair = f"past[i][{stages} -: 2]" if stages else f"{{past[i][0], {line}}}"
        values = {"rising": "2'b01", "falling": "2'b10", "any": "2'b01, 2'b10"}
        cases = [
            f"{i}: case ({pair})\n    {values[kind]}: found[i] = 1'b1;\n"
            "    default: found[i] = 1'b0;\nendcase"
            for i, kind in enumerate(self.kinds)
        ]
        body = "case (i)\n" + "\n".join(cases) + "\ndefault: found[i] = 1'b0;\nendcase\n"
        if has("mask"):
            body += f"if (!mask{bit}) found[i] = 1'b0;\n"
        if has("gap"):
            body += "if (recent[i] != 0) found[i] = 1'b0;\n"
            text += f"logic [{self.gap - 1}:0] recent [{width}];\n"
            reset += f"{loop} recent[i] <= '0;\n"
            moved = f"{{recent[i][{self.gap - 2}:0], found[i]}}" if self.gap > 1 else "found[i]"
            moves += f"{loop} recent[i] <= {moved};\n"
        text += f"always_comb {loop} begin\n{body}end\n"
        results = self._alternative_results(loop, bit)
        return text + results[0], reset + results[1], moves + results[2]

    def _alternative_results(self, loop: str, bit: str) -> tuple[str, str, str]:
        has, text, reset, moves = self.features.__contains__, "", "", ""
        if self.registered:
            reset += f"{self.edges} <= '0;\n"
            moves += f"{self.edges} <= found;\n"
        else:
            text += f"assign {self.edges} = found;\n"
        if has("sticky"):
            reset += "seen <= '0;\n"
            first, second = f"found[i]) seen{bit} <= 1'b1", f"clear{bit}) seen{bit} <= 1'b0"
            if not self.set_wins:
                first, second = second, first
            moves += f"{loop}\n    if ({first};\n    else if ({second};\n"
        if has("count"):
            full = hw.literal(_COUNT_BITS, -1)
            stop = f"if (more != {full}) " if self.saturates else ""
            text += f"logic [{_COUNT_BITS - 1}:0] more;\n"
            text += f"always_comb begin\n    more = count;\n    {loop}\n"
            text += f"        if (found[i]) {stop}more = more + 1'b1;\nend\n"
            reset += "count <= '0;\n"
            moves += "count <= more;\n"
        return text, reset, moves


def edges(made: Detector, rows: hw.Inputs) -> hw.Shown:
    """Return what a detector of edges shows."""
    has, count, seen, before = made.features.__contains__, 0, 0, 0
    lines = [[made.level] * (1 + made.stages * has("sync")) for _ in made.kinds]
    waits = [0] * len(made.kinds)
    shown = []
    for row in rows:
        word = 0
        for i, (kind, line) in enumerate(zip(made.kinds, lines, strict=True)):
            line.append(row[made.line] >> i & 1)
            found = (line[0], line[1]) in _CHANGES[kind] and row.get("mask", -1) >> i & 1
            line.pop(0)
            edge = bool(found) and not waits[i]
            waits[i] = made.gap * has("gap") if edge else max(0, waits[i] - 1)
            word |= edge << i
        shown.append({made.edges: before if made.registered else word})
        shown[-1] |= {"seen": seen} if has("sticky") else {}
        shown[-1] |= {"count": count} if has("count") else {}
        clear = row.get("clear", 0)
        seen = seen & ~clear | word if made.set_wins else (seen | word) & ~clear
        count += word.bit_count()
        count = min(count, 63) if made.saturates else count % 64
        before = word
    return shown
