"""ParameterisedModule: a module with parameters, of which a given module has several instances."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.verilog._parameterised_module import (
    INDEX,
    NAMES,
    PARAMETERS,
    Piece,
    draw_values,
)
from rlvr_envs.generators.hardware.design import (
    TOP,
    Design,
    Signal,
    clock_signals,
    draw_clocking,
    inputs,
    outputs,
)
from rlvr_envs.generators.hardware.tables import table
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig, DesignTask, VerilogProblem
from rlvr_envs.generators.hardware.wording import timing
from rlvr_envs.verifiers.hdl.judge import judge

_MOST_INSTANCES, _WIDEST = 4, 9
_FENCE = "```"
# One of these may be left at its default, which fits words of every width.
_OPTIONAL = ("DOWN", "GATED", "LOWEST")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterisedModuleConfig(DesignConfig):
    """How many parameters there are, and how many instances with which values."""

    parameters: int = 3  # of the module
    instances: int = 2  # in the given module
    width: int = 5  # the widest instance, in bits of a word

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        for name, low, high in (
            ("parameters", 1, 6),
            ("instances", 1, _MOST_INSTANCES),
            ("width", 2, _WIDEST),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise ConfigError(f"{name} is between {low} and {high}, got {value}")

    @classmethod
    def at(cls, difficulty: int) -> "ParameterisedModuleConfig":
        """A parameter every 2 steps, up to 6; an instance every 5; a bit every 3, up to 9."""
        return cls(
            parameters=min(1 + difficulty // 2, 6),
            instances=min(2 + difficulty // 5, _MOST_INSTANCES),
            width=min(3 + difficulty // 3, _WIDEST),
        )


@register("ParameterisedModule-v0", domain="verilog", answer_format=LANGUAGE)
class ParameterisedModuleTask(DesignTask[ParameterisedModuleConfig]):
    """Write a module with parameters, which a given module instantiates.

    Description:
        The module is a counter, a delay line or a search for an extreme word, with one to six
        parameters. A given module has two to four instances of it with different values, and may
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

    Episode End:
        After one step.

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

    Version History:
        v0: first version.
    """

    def design(self, rng: Rng) -> Design:
        config = self.config
        kind = pick(rng, tuple(PARAMETERS))
        clocking = None if kind == "extreme" else draw_clocking(rng)
        parameters = PARAMETERS[kind][: config.parameters]
        defaults = draw_values(rng, kind, parameters, config.width)
        piece = Piece(kind, pick(rng, NAMES[kind]), parameters, defaults, clocking)
        values = [draw_values(rng, kind, parameters, config.width) for _ in range(config.instances)]
        optional = [name for name in parameters if name in _OPTIONAL]
        if optional and len(parameters) > 3:
            del values[integer(rng, 0, len(values) - 1)][optional[0]]
        return _Assembly(piece, tuple(values)).design()

    def prompt(self, problem: VerilogProblem) -> str:
        opening = (
            f"Write a synthesizable Verilog module with parameters: {problem.title}.",
            f"Implement {problem.title} as a synthesizable Verilog module with parameters.",
            f"Design {problem.title}. The Verilog module has parameters and must be synthesizable.",
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
        return judge(f"{given}\n{answer}", problem.design.reference, reward=problem.reward)

    def solve(self, problem: VerilogProblem) -> str:
        return problem.alternative.removesuffix(_given(problem))


_TERMS = (
    f"Answer with this module alone; you may add modules that it uses, but not `{TOP}`. It is "
    f"judged by whether `{TOP}`, with it inside, behaves exactly like a reference for every "
    "sequence of inputs. Verilog and SystemVerilog are fine; delays, initial values, system tasks "
    "other than `$clog2`, `include`, assertions and references into other modules are not."
)


def _given(problem: VerilogProblem) -> str:
    return problem.figure.split(f"{_FENCE}\n")[1].removesuffix(_FENCE)


@dataclass(frozen=True, slots=True)
class _Assembly:
    """A given module with instances of a piece."""

    piece: Piece
    values: tuple[dict[str, int], ...]

    def design(self) -> Design:
        piece = self.piece
        top = self._top()
        return Design(
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

    def _signals(self) -> tuple[Signal, ...]:
        clocking = self.piece.clocking
        signals = clock_signals(clocking) if clocking is not None else ()
        for k in range(len(self.values)):
            for direction, bits, name, meaning in self.piece.ports():
                make = inputs if direction == "input" else outputs
                signals += make((f"{name}{k}", self._bits(name, bits, k), meaning))
        return signals

    def _top(self) -> str:
        clocking = self.piece.clocking
        shared = [clocking.clock, clocking.reset] if clocking is not None else []
        ports = ",\n".join(f"    {signal.port.declaration()}" for signal in self._signals())
        lines = [f"module {TOP} (\n{ports}\n);"]
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
            rows.append((f"`{piece.clocking.reset}`", "input", "1", f"reset, active {level}"))
        for direction, bits, name, meaning in piece.ports():
            shown = bits.replace("*", " * ").replace("WIDTH", "`WIDTH`") or "1"
            rows.append((f"`{name}`", direction, shown.replace("COUNT", "`COUNT`"), meaning))
        ports = table(["port", "direction", "bits", "meaning"], rows)
        return (
            f"{parameters}\n\n{ports}\n\nThe module is used here, which is given:\n\n"
            f"{_FENCE}\n{top}{_FENCE}"
        )
