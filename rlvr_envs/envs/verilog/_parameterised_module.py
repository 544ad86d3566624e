"""Modules with parameters: counters, delay lines and searches for an extreme word.

Each has up to six parameters; a parameter that a problem does not have is a constant there.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.generators.hardware.design import clocked
from rlvr_envs.verifiers.hdl.interface import Clocking

PARAMETERS = {
    "counter": ("WIDTH", "MODULUS", "START", "STEP", "DOWN", "SATURATE"),
    "delay": ("WIDTH", "DEPTH", "INIT", "GATED", "REVERSE", "MASK"),
    "extreme": ("WIDTH", "COUNT", "SIGNED", "LOWEST", "LAST", "BASE"),
}
NAMES = {
    "counter": ("Counter", "Ring", "Tally"),
    "delay": ("Delay", "Pipe", "Lag"),
    "extreme": ("Extreme", "Finder", "Best"),
}
INDEX = 4  # bits of the number of a word

_MEANINGS = {
    "WIDTH": "bits of a word",
    "MODULUS": "the count stays below it",
    "START": "the count after reset",
    "STEP": "how far the count moves",
    "DOWN": "0: counts up, 1: counts down",
    "SATURATE": "0: wraps around, 1: stops at the end",
    "DEPTH": "number of stages, 1 or more",
    "INIT": "value of each stage after reset",
    "GATED": "0: `enable` is ignored, 1: it counts",
    "REVERSE": "1: the output has its bits in reverse order",
    "MASK": "bits of the output that are inverted, after any reversal",
    "COUNT": "number of words",
    "SIGNED": "0: words are unsigned, 1: in two's complement",
    "LOWEST": "0: the largest word is searched, 1: the smallest",
    "LAST": "of equal words, 0: the one with the lowest number, 1: with the highest",
    "BASE": "what is added to the number of the word",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A module with parameters.

    Attributes:
        kind: one of the keys of `PARAMETERS`.
        name: of the module.
        parameters: the first ones of its kind.
        defaults: of all parameters of its kind.
        clocking: None for a search, which is combinational.
    """

    kind: str
    name: str
    parameters: tuple[str, ...]
    defaults: Mapping[str, int]
    clocking: Clocking | None

    def ports(self) -> list[tuple[str, str, str, str]]:
        """Return direction, bits, name and meaning of each port, without clock and reset."""
        if self.kind == "counter":
            return [
                ("input", "", "enable", "whether the count moves"),
                ("output", "WIDTH", "count", "the count"),
                ("output", "", "past", "whether the move goes past the end"),
            ]
        if self.kind == "delay":
            gate = [("input", "", "enable", "whether the stages move")]
            return gate * self._has("GATED") + [
                ("input", "WIDTH", "din", "the word that enters"),
                ("output", "WIDTH", "dout", "the word that leaves"),
            ]
        return [
            ("input", f"{self._value('COUNT')}*WIDTH", "words", "the words, word 0 lowest"),
            ("output", "WIDTH", "best", "the word that was found"),
            ("output", f"{INDEX}", "index", "its number"),
        ]

    def title(self) -> str:
        """Return what the module is."""
        return {
            "counter": "a counter",
            "delay": "a delay line",
            "extreme": "a search for an extreme word",
        }[self.kind]

    def meaning(self, parameter: str) -> str:
        """Return what a parameter says."""
        return _MEANINGS[parameter]

    def _has(self, parameter: str) -> bool:
        return parameter in self.parameters

    def _value(self, parameter: str) -> str:
        """Return the parameter, or the constant that stands for it."""
        if self._has(parameter):
            return parameter
        constants = {"MODULUS": "(1 << WIDTH)", "STEP": "1", "DEPTH": "1", "COUNT": "2"}
        return constants.get(parameter, "0")

    def rules(self) -> tuple[str, ...]:
        """Return what the module does."""
        return {"counter": self._counting, "delay": self._delaying, "extreme": self._searching}[
            self.kind
        ]()

    def _counting(self) -> tuple[str, ...]:
        has = self._has
        top = "`MODULUS` - 1" if has("MODULUS") else "2 ** `WIDTH` - 1"
        step = "`STEP`" if has("STEP") else "1"
        up = f"the count goes up by {step}; a move above {top} goes past the end"
        down = f"the count goes down by {step}; a move below 0 goes past the end"
        rules = [
            (
                f"`count` is a register of `WIDTH` bits that runs from 0 to {top}; reset sets it "
                f"to {'`START`' if has('START') else '0'}."
            ),
            "Where `enable` is 0, it stays as it is.",
        ]
        if has("DOWN"):
            rules.append(f"Where `enable` is 1: if `DOWN` is 0, {up}; if `DOWN` is 1, {down}.")
        else:
            rules.append(f"Where `enable` is 1, {up}.")
        ring = f"the numbers form a ring, in which 0 follows {top}, and the move goes on there"
        if has("SATURATE"):
            ends = f"stops at {top}" + (" or, downwards, at 0" if has("DOWN") else "")
            rules.append(
                f"If `SATURATE` is 0, {ring}; if `SATURATE` is 1, a move past the end {ends}."
            )
        else:
            rules.append(f"A move past the end does not stop: {ring}.")
        rules.append(
            "`past` is combinational: it is 1 exactly where `enable` is 1 and the move goes past "
            "the end."
        )
        return tuple(rules)

    def _delaying(self) -> tuple[str, ...]:
        has = self._has
        stages = "`DEPTH` stages in a row, each" if has("DEPTH") else "one stage,"
        rules = [
            (
                f"The line has {stages} a register of `WIDTH` bits that reset sets to "
                f"{'`INIT`' if has('INIT') else '0'}."
            ),
            "At a clock edge, the first stage takes `din` and every other one takes what the one "
            "before it held."
            if has("DEPTH")
            else "At a clock edge, the stage takes `din`.",
        ]
        if has("GATED"):
            rules.append(
                "If `GATED` is 1, this happens only where `enable` is 1, and otherwise all stages "
                "stay as they are; if `GATED` is 0, it happens at every edge."
            )
        value = "what the last stage holds" if has("DEPTH") else "what the stage holds"
        if has("REVERSE"):
            value += ", with its bits in reverse order if `REVERSE` is 1"
        if has("MASK"):
            value += ", and then XORed with `MASK`"
        return (*rules, f"`dout` is combinational: it is {value}.")

    def _searching(self) -> tuple[str, ...]:
        has = self._has
        count = "`COUNT`" if has("COUNT") else "2"
        rules = [
            (
                f"`words` holds {count} words of `WIDTH` bits; word k is in the bits from "
                "k * `WIDTH` upwards."
            ),
        ]
        if has("SIGNED"):
            rules.append(
                "Words are unsigned numbers if `SIGNED` is 0, and numbers in two's complement if "
                "it is 1."
            )
        else:
            rules.append("Words are unsigned numbers.")
        which = "the largest one"
        if has("LOWEST"):
            which += " or, if `LOWEST` is 1, the smallest one"
        tie = "the lowest number"
        if has("LAST"):
            tie += " or, if `LAST` is 1, with the highest one,"
        rules.append(f"`best` is {which}; of equal ones, that with {tie} is the one found.")
        plus = " plus `BASE`" if has("BASE") else ""
        rules.append(f"`index` is the number k of the word found{plus}, modulo {2**INDEX}.")
        return tuple(rules)

    def golden(self) -> str:
        """Return the module in Verilog-2001."""
        body = {
            "counter": self._counter,
            "delay": self._delay,
            "extreme": self._extreme,
        }[self.kind]()
        return self._module("wire", body)

    def alternative(self) -> str:
        """Return the module by another idea."""
        body = {
            "counter": self._other_counter,
            "delay": self._other_delay,
            "extreme": self._other_extreme,
        }[self.kind]()
        return self._module("logic", body)

    def _module(self, kind: str, body: str) -> str:
        heads = [f"    parameter {name} = {self.defaults[name]}" for name in self.parameters]
        ports = []
        if self.clocking is not None:
            ports = [f"    input {kind} {n}" for n in (self.clocking.clock, self.clocking.reset)]
        for direction, bits, name, _ in self.ports():
            ports.append(f"    {direction} {kind} {f'[{bits}-1:0] ' if bits else ''}{name}")
        constants = [
            f"    localparam {name} = {self._value(name)};"
            for name in PARAMETERS[self.kind]
            if not self._has(name)
        ]
        lines = "\n".join(f"    {line}" if line else "" for line in body.strip().split("\n"))
        return "\n".join(
            [
                f"module {self.name} #(",
                ",\n".join(heads),
                ") (",
                ",\n".join(ports),
                ");",
                *constants,
                lines,
                "endmodule\n",
            ]
        )

    def _clocked(self, reset: str, body: str, keyword: str = "always") -> str:
        return clocked(self.clocking or Clocking("clk"), reset, body, keyword=keyword)

    def _counter(self) -> str:
        return (
            "reg [WIDTH-1:0] r;\nwire [WIDTH:0] sum = r + STEP;\n"
            "wire over = DOWN ? r < STEP : sum >= MODULUS;\n"
            "wire [WIDTH:0] ring = DOWN ? r + MODULUS - STEP : sum - MODULUS;\n"
            "wire [WIDTH:0] plain = DOWN ? r - STEP : sum;\n"
            "wire [WIDTH-1:0] stop = DOWN ? 0 : MODULUS - 1;\n"
            "assign count = r;\nassign past = enable & over;\n"
            + self._clocked(
                "r <= START;", "if (enable) r <= !over ? plain : SATURATE ? stop : ring;"
            )
        )

    def _other_counter(self) -> str:
        """Return counts upwards only: downwards they are mirrored."""
        return (
            "logic [WIDTH-1:0] at, left, following;\nlogic [31:0] reach;\n"
            "assign left = WIDTH'(MODULUS - 1) - count;\nassign at = DOWN ? left : count;\n"
            "assign reach = 32'(at) + STEP;\nassign past = enable && reach > MODULUS - 1;\n"
            "if (SATURATE) begin : stopping\n"
            "    assign following = past ? WIDTH'(MODULUS - 1) : WIDTH'(reach);\n"
            "end else begin : going\n    assign following = WIDTH'(reach % MODULUS);\nend\n"
            + self._clocked(
                "count <= WIDTH'(START);",
                "if (enable) count <= DOWN ? WIDTH'(MODULUS - 1) - following : following;",
                "always_ff",
            )
        )

    def _delay(self) -> str:
        moves = "if (enable || !GATED) " if self._has("GATED") else ""
        return (
            "reg [DEPTH*WIDTH-1:0] line;\nwire [WIDTH-1:0] last = line[DEPTH*WIDTH-1 -: WIDTH];\n"
            "wire [WIDTH-1:0] init = INIT;\nwire [WIDTH-1:0] back;\ngenvar g;\n"
            "generate for (g = 0; g < WIDTH; g = g + 1) begin : turn\n"
            "    assign back[g] = last[WIDTH - 1 - g];\nend endgenerate\n"
            "assign dout = (REVERSE ? back : last) ^ MASK;\n"
            + self._clocked("line <= {DEPTH{init}};", f"{moves}line <= {{line, din}};")
        )

    def _other_delay(self) -> str:
        """Return a memory of words whose outer end turns, if it does, on the way in."""
        moves = "GATED && !enable ? stage : " if self._has("GATED") else ""
        clock = self._clocked(
            "for (int i = 0; i < DEPTH; i++) stage[i] <= shape(WIDTH'(INIT));",
            "stage <= following;",
            "always_ff",
        )
        return (
            "typedef logic [WIDTH-1:0] word_t;\n"
            "function automatic word_t shape(input word_t word);\n"
            "    shape = {<<{word}};\n"
            "    shape = (REVERSE ? shape : word) ^ WIDTH'(MASK);\nendfunction\n"
            "logic [DEPTH-1:0][WIDTH-1:0] stage, moved, following;\n"
            "always_comb begin\n    moved[0] = shape(din);\n"
            "    for (int i = 1; i < DEPTH; i++) moved[i] = stage[i-1];\nend\n"
            f"assign following = {moves}moved;\nassign dout = stage[DEPTH-1];\n{clock}"
        )

    def _extreme(self) -> str:
        return (
            "reg [WIDTH-1:0] found, key, kept;\nreg [3:0] place;\ninteger k;\n"
            "always @(*) begin\n    found = 0;\n    place = 0;\n    kept = 0;\n"
            "    for (k = 0; k < COUNT; k = k + 1) begin\n"
            "        key = words[k*WIDTH +: WIDTH] ^ ({WIDTH{LOWEST != 0}});\n"
            "        if (SIGNED) key[WIDTH-1] = ~key[WIDTH-1];\n"
            "        if (k == 0 || key > kept || (LAST && key == kept)) begin\n"
            "            found = words[k*WIDTH +: WIDTH];\n            place = k;\n"
            "            kept = key;\n        end\n    end\nend\n"
            "assign best = found;\nassign index = place + BASE;"
        )

    def _other_extreme(self) -> str:
        """Return for every word whether it beats all others; exactly one does."""
        return (
            "logic [COUNT-1:0] wins;\n"
            "for (genvar a = 0; a < COUNT; a++) begin : mine\n"
            "    logic signed [WIDTH:0] x;\n    logic [COUNT-1:0] beats;\n"
            "    assign x = {SIGNED != 0 && words[a*WIDTH + WIDTH - 1], words[a*WIDTH +: WIDTH]};\n"
            "    for (genvar b = 0; b < COUNT; b++) begin : theirs\n"
            "        logic signed [WIDTH:0] y;\n"
            "        assign y = {SIGNED != 0 && words[b*WIDTH + WIDTH - 1], "
            "words[b*WIDTH +: WIDTH]};\n"
            "        assign beats[b] = a == b || (LOWEST ? x < y : x > y)\n"
            "            || (x == y && (LAST ? a > b : a < b));\n    end\n"
            "    assign wins[a] = &beats;\nend\n"
            "always_comb begin\n    best = '0;\n    index = '0;\n"
            "    for (int k = 0; k < COUNT; k++) begin\n"
            "        best |= {WIDTH{wins[k]}} & words[k*WIDTH +: WIDTH];\n"
            "        index |= {4{wins[k]}} & 4'(k + BASE);\n    end\nend"
        )


def draw_values(rng: Rng, kind: str, parameters: Sequence[str], widest: int) -> dict[str, int]:
    """Draw a value for every parameter of a kind; those that are absent do not limit others."""
    width = integer(rng, 2, widest)
    if kind == "counter":
        modulus = integer(rng, 2 ** (width - 1) + 1, 2**width)
        limit = modulus if "MODULUS" in parameters else 2**width
        drawn = {
            "MODULUS": modulus,
            "START": integer(rng, 0, limit - 1),
            "STEP": integer(rng, 1, limit - 1),
        }
    elif kind == "delay":
        drawn = {
            "DEPTH": integer(rng, 1, 4),
            "INIT": integer(rng, 0, 2**width - 1),
            "MASK": integer(rng, 0, 2**width - 1),
        }
    else:
        drawn = {"COUNT": integer(rng, 2, 5), "BASE": integer(rng, 0, 9)}
    flags = {name: integer(rng, 0, 1) for name in PARAMETERS[kind][1:] if name not in drawn}
    return {"WIDTH": width, **drawn, **flags}
