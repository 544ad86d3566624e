"""ParameterisedModule: a module with parameters, instantiated by a given module."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware import design as hw
from rlvr_envs.generators.hardware.tables import table
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, VerilogProblem
from rlvr_envs.generators.hardware.wording import FUNCTIONS, timing
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

# Modules with parameters: counters, delay lines and searches for an extreme word.
#
# Each has up to six parameters; a parameter that a problem does not have is a constant there.

PARAMETERS = {
    "counter": ("WIDTH", "MODULUS", "START", "STEP", "DOWN", "SATURATE"),
    "delay": ("WIDTH", "DEPTH", "INIT", "GATED", "REVERSE", "MASK"),
    "extreme": ("WIDTH", "COUNT", "SIGNED", "LOWEST", "LAST", "BASE"),
}
INDEX = 4  # bits of the number of a word
_MEANINGS = {
    "WIDTH": "word width in bits",
    "MODULUS": "number of values of the count: 0 to MODULUS - 1",
    "START": "value of the count after reset",
    "STEP": "amount by which the count changes",
    "DOWN": "0: count up, 1: count down",
    "SATURATE": "0: wrap around, 1: saturate",
    "DEPTH": "number of stages, 1 or more",
    "INIT": "value of each stage after reset",
    "GATED": "0: `enable` is ignored, 1: `enable` controls the stages",
    "REVERSE": "1: the output bits are in reverse order",
    "MASK": "output bits to invert, after any reversal",
    "COUNT": "number of words",
    "SIGNED": "0: words are unsigned, 1: words are in two's complement",
    "LOWEST": "0: find the largest word, 1: find the smallest word",
    "LAST": "if words tie, 0: lowest word number wins, 1: highest word number wins",
    "BASE": "constant added to the index",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """A module with parameters."""

    kind: str  # one of the keys of `PARAMETERS`
    name: str  # of the module
    parameters: tuple[str, ...]  # the first ones of its kind
    defaults: Mapping[str, int]  # of all parameters of its kind
    clocking: Clocking | None  # None for a search, which is combinational

    def ports(self) -> list[tuple[str, str, str, str]]:
        """Return direction, bits, name and meaning of each port, without clock and reset."""
        if self.kind == "counter":
            return [
                ("input", "", "enable", "count enable"),
                ("output", "WIDTH", "count", "current count"),
                ("output", "", "past", "1 if the count passes its end at the next edge"),
            ]
        if self.kind == "delay":
            gate = [("input", "", "enable", "shift enable")]
            return gate * self._has("GATED") + [
                ("input", "WIDTH", "din", "input word"),
                ("output", "WIDTH", "dout", "output word"),
            ]
        return [
            (
                "input",
                f"{self._value('COUNT')}*WIDTH",
                "words",
                "all words; word 0 is in the least significant bits",
            ),
            ("output", "WIDTH", "best", "word that was found"),
            ("output", f"{INDEX}", "index", "number of that word"),
        ]

    def title(self) -> str:
        """Return what the module is."""
        return {
            "counter": "a counter",
            "delay": "a delay line",
            "extreme": "a combinational search for an extreme word",
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
        up = f"`count` increases by {step}, and a result above {top} passes the end"
        down = f"`count` decreases by {step}, and a result below 0 passes the end"
        rules = [
            (
                f"`count` is a `WIDTH`-bit register with values from 0 to {top}. Reset sets it to "
                f"{'`START`' if has('START') else '0'}."
            ),
            "At a rising clock edge where `enable` is 0, `count` keeps its value.",
        ]
        if has("DOWN"):
            rules.append(
                f"At a rising clock edge where `enable` is 1: if `DOWN` is 0, {up}; if `DOWN` is "
                f"1, {down}."
            )
        else:
            rules.append(f"At a rising clock edge where `enable` is 1, {up}.")
        ring = (
            "`count` wraps around modulo 2 ** `WIDTH`"
            if not has("MODULUS")
            else "`count` wraps around modulo `MODULUS`"
        )
        if has("SATURATE"):
            ends = f"at {top}" + (
                " when it counts up, and at 0 when it counts down" if has("DOWN") else ""
            )
            rules.append(
                f"If the result passes the end: if `SATURATE` is 0, {ring}; if `SATURATE` is 1, "
                f"`count` stops {ends}."
            )
        else:
            rules.append(f"If the result passes the end, {ring}.")
        rules.append(
            "`past` is combinational: it is 1 if and only if `enable` is 1 and the result of the "
            "step from the current `count` passes the end."
        )
        return tuple(rules)

    def _delaying(self) -> tuple[str, ...]:
        has = self._has
        stages = "`DEPTH` stages in series. Each is" if has("DEPTH") else "one stage. It is"
        rules = [
            (
                f"The delay line has {stages} a `WIDTH`-bit register that reset sets to "
                f"{'`INIT`' if has('INIT') else '0'}."
            ),
            "At each rising clock edge, the first stage takes `din`, and every other stage takes "
            "the old value of the stage before it."
            if has("DEPTH")
            else "At each rising clock edge, the stage takes `din`.",
        ]
        if has("GATED"):
            rules.append(
                "If `GATED` is 1, this happens only at edges where `enable` is 1; at other edges "
                "all stages keep their values. If `GATED` is 0, it happens at every edge."
            )
        value = "the value of the last stage" if has("DEPTH") else "the value of the stage"
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
                "Words are unsigned if `SIGNED` is 0, and in two's complement if `SIGNED` is 1."
            )
        else:
            rules.append("Words are unsigned.")
        which = "the largest word"
        if has("LOWEST"):
            which += " if `LOWEST` is 0, and the smallest word if `LOWEST` is 1"
        tie = "the lowest number"
        if has("LAST"):
            tie += " if `LAST` is 0, and the highest number if `LAST` is 1"
        rules.append(
            f"`best` is {which}. If several words tie, the word found is the one with {tie}."
        )
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
        return hw.clocked(self.clocking or Clocking("clk"), reset, body, keyword=keyword)

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


_MOST_INSTANCES, _WIDEST = 4, 16
_FENCE = "```"
# One of these may be left at its default, which fits words of every width.
_OPTIONAL = ("DOWN", "GATED", "LOWEST")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterisedModuleConfig(DesignConfig):
    """How many parameters there are, and how many instances with which values."""

    parameters: int = knob(3, "number of parameters of the module", low=1, high=6)
    instances: int = knob(2, "number of instances in the given module", low=1, high=_MOST_INSTANCES)
    width: int = knob(5, "word width of the widest instance, in bits", low=2, high=_WIDEST)

    @classmethod
    def at(cls, difficulty: int) -> "ParameterisedModuleConfig":
        """Odd levels add a parameter, up to 6, even ones a bit, up to 16; ten levels 3 instances.

        Level 0 has one instance of a module with two parameters.
        """
        return cls(
            parameters=min(2 + (difficulty + 1) // 2, 6),
            instances=min(1 + (3 * difficulty + 4) // 10, _MOST_INSTANCES),
            width=min(4 + difficulty // 2, _WIDEST),
        )


@register("ParameterisedModule-v0", domain="verilog", answer_format=LANGUAGE)
class ParameterisedModuleTask(DesignTask[ParameterisedModuleConfig]):
    """Write a module with parameters, which a given module instantiates.

    Description:
        The module is a counter, a delay line or a search for an extreme word, with one to six
        parameters. A given module has one to four instances of it with different values, and may
        leave a parameter at its default; edge cases such as one stage or a modulus that is no
        power of two are among the values.

    Observation:
        What the module does, its parameters and ports, and the module that instantiates it.

    Action:
        The module alone, without the given one, as one block of Verilog or SystemVerilog.

    Reward:
        1 if the given module behaves, with the answer in it, as the reference for all inputs at
        all times, otherwise 0; with ``reward="graded"`` up to half for compiling, for the right
        ports and for outputs that never differed in simulation.

    Verification:
        The given module is put before the answer, and the two together are compared with a
        reference by simulation and proof (see docs/verilog.md). So the parameters have to exist
        and to work for the values that are used there. An answer that defines the given module
        itself does not compile.

    Difficulty:
        Parameters and instances become more, and words wider.

    References:
        IEEE Std 1364-2001, clause 12.2, Overriding module parameter values; Sutherland and Mills
        2013, Synthesizing SystemVerilog, for modules that fit any size.
    """

    def design(self, rng: Rng) -> hw.Design:
        config = self.config
        kind = pick(rng, tuple(PARAMETERS))
        clocking = None if kind == "extreme" else hw.draw_clocking(rng)
        parameters = PARAMETERS[kind][: config.parameters]
        defaults = draw_values(rng, kind, parameters, config.width)
        piece = Piece(kind, pick(rng, NAMES[kind]), parameters, defaults, clocking)
        values = [draw_values(rng, kind, parameters, config.width) for _ in range(config.instances)]
        optional = [name for name in parameters if name in _OPTIONAL]
        if optional and len(parameters) > 3:
            del values[integer(rng, 0, len(values) - 1)][optional[0]]
        return _Assembly(piece, tuple(values)).design()

    def effort(self, problem: VerilogProblem) -> float:
        """Return the effort of the easier writing, once for each parameter and instance."""
        parameters, instances = problem.golden.count("parameter "), _given(problem).count(" #(")
        return super().effort(problem) * (parameters + instances)

    def prompt(self, problem: VerilogProblem) -> str:
        opening = (
            (
                "Write a synthesizable Verilog module with parameters that implements "
                f"{problem.title}."
            ),
            f"Implement a synthesizable Verilog module with parameters. It is {problem.title}.",
            f"Design {problem.title}. Write it as a synthesizable Verilog module with parameters.",
        )[problem.layout]
        when = "The module is combinational."
        if problem.clocking is not None:
            when = timing(problem.clocking)
        rules = " ".join(problem.rules)
        if problem.layout != 1:
            rules = "\n".join(f"{number}. {rule}" for number, rule in enumerate(problem.rules, 1))
        return "\n\n".join([opening, problem.figure, when, rules, _TERMS])

    def verify(self, problem: VerilogProblem, answer: str) -> Verdict:
        # In front and in one line: nothing that the answer says can change the given module, and
        # the lines of the answer are told as they are, with one added.
        given = " ".join(_given(problem).split())
        return judge(
            f"{given}\n{answer}",
            problem.design.reference,
            reward=problem.reward,
            accept_bounded=problem.accept_bounded,
        )

    def solve(self, problem: VerilogProblem) -> str:
        return problem.alternative.removesuffix(_given(problem))


_TERMS = (
    f"Answer with this module only. You may add modules that it uses, but not `{hw.TOP}`. With "
    f"your module, `{hw.TOP}` must behave exactly like a hidden reference design for every "
    "sequence of inputs. You may use Verilog or SystemVerilog. Do not use delays, initial values, "
    "user-defined primitives, the enum methods `next` and `prev`, `include`, assertions, or "
    f"hierarchical references into other modules. {FUNCTIONS}"
)


def _given(problem: VerilogProblem) -> str:
    return problem.figure.split(f"{_FENCE}\n")[1].removesuffix(_FENCE)


@dataclass(frozen=True, slots=True)
class _Assembly:
    """A given module with instances of a piece."""

    piece: Piece
    values: tuple[dict[str, int], ...]

    def design(self) -> hw.Design:
        piece = self.piece
        top = self._top()
        return hw.Design(
            title=f"{piece.title()} named `{piece.name}`",
            signals=self._signals(),
            rules=piece.rules(),
            golden=f"{piece.golden()}\n{top}",
            alternative=f"{piece.alternative()}\n{top}",
            clocking=piece.clocking,
            figure=self._figure(top),
        )

    def _bits(self, name: str, bits: str, k: int) -> int:
        """Return how wide a port of an instance is."""
        if not bits:
            return 1
        width = self.values[k]["WIDTH"]
        if name == "words":
            return width * (self.values[k]["COUNT"] if "COUNT" in self.piece.parameters else 2)
        return INDEX if name == "index" else width

    def _signals(self) -> tuple[hw.Signal, ...]:
        clocking = self.piece.clocking
        signals = hw.clock_signals(clocking) if clocking is not None else ()
        for k in range(len(self.values)):
            for direction, bits, name, meaning in self.piece.ports():
                make = hw.inputs if direction == "input" else hw.outputs
                signals += make((f"{name}{k}", self._bits(name, bits, k), meaning))
        return signals

    def _top(self) -> str:
        clocking = self.piece.clocking
        shared = [clocking.clock, clocking.reset] if clocking is not None else []
        ports = ",\n".join(f"    {signal.port.declaration()}" for signal in self._signals())
        lines = [f"module {hw.TOP} (\n{ports}\n);"]
        for k, values in enumerate(self.values):
            given = [f".{name}({values[name]})" for name in self.piece.parameters if name in values]
            wires = [f".{name}({name})" for name in shared]
            wires += [f".{name}({name}{k})" for _, _, name, _ in self.piece.ports()]
            lines.append(
                f"    {self.piece.name} #({', '.join(given)}) part{k} (\n"
                f"        {', '.join(wires)}\n    );"
            )
        return "\n".join([*lines, "endmodule\n"])

    def _figure(self, top: str) -> str:
        piece = self.piece
        parameters = table(
            ["parameter", "default", "meaning"],
            [(f"`{n}`", piece.defaults[n], piece.meaning(n)) for n in piece.parameters],
        )
        rows = []
        if piece.clocking is not None:
            level = "high" if piece.clocking.reset_active else "low"
            rows.append((f"`{piece.clocking.clock}`", "input", "1", "clock"))
            rows.append((f"`{piece.clocking.reset}`", "input", "1", f"reset, active-{level}"))
        for direction, bits, name, meaning in piece.ports():
            shown = bits.replace("*", " * ").replace("WIDTH", "`WIDTH`") or "1"
            rows.append((f"`{name}`", direction, shown.replace("COUNT", "`COUNT`"), meaning))
        ports = table(["port", "direction", "bits", "meaning"], rows)
        return (
            f"{parameters}\n\n{ports}\n\nThis given module instantiates your module:\n\n"
            f"{_FENCE}\n{top}{_FENCE}"
        )


NAMES = {
    "counter": ("Counter", "Ring", "Tally"),
    "delay": ("Delay", "Pipe", "Lag"),
    "extreme": ("Extreme", "Finder", "Best"),
}


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
