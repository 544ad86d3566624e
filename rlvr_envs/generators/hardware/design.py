"""A design as data: what it is, its ports, its rules, and two ways to write it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference

TOP = "TopModule"

Inputs = Sequence[Mapping[str, int]]  # of the cycles after a reset, by port
Shown = list[dict[str, int]]  # the outputs just before the rising edge that ends each cycle
Behaviour = Callable[[Inputs], Shown]

# Clock and reset go by the names that people give them; the name fits the kind of reset.
_CLOCKS = ("clk", "clock")
_RESETS = {
    (1, False): ("rst", "reset", "srst"),
    (0, False): ("rst_n", "resetn", "srst_n"),
    (1, True): ("arst", "areset", "rst_async"),
    (0, True): ("arst_n", "aresetn", "nreset"),
}


@dataclass(frozen=True, slots=True)
class Signal:
    """A port and what it means.

    Attributes:
        name: a plain identifier.
        direction: ``input`` or ``output``.
        width: in bits.
        meaning: a few words without a full stop; empty for clock and reset, which the prompt
            explains by itself.
    """

    name: str
    direction: str
    width: int = 1
    meaning: str = ""

    @property
    def port(self) -> Port:
        """The port without its meaning."""
        return Port(self.name, self.direction, self.width)


@dataclass(frozen=True, slots=True)
class Design:
    """What a family of designs draws: enough for the prompt and for the verdict.

    Attributes:
        title: what the module is, as a noun phrase: "an up counter modulo 10".
        signals: all ports in order, clock and reset first.
        rules: sentences that settle every case, ties and corners included; what reset does is
            among them, what kind of reset there is is not.
        golden: the source of `TOP`.
        alternative: the same function written another way, by another idea, not only in other
            words; it guards the golden one.
        clocking: None for a combinational design.
        figure: a table, a waveform or a state diagram in Markdown, which the rules refer to.
        behaviour: what it does, for a waveform in the prompt; None where no prompt shows one.
    """

    title: str
    signals: tuple[Signal, ...]
    rules: tuple[str, ...]
    golden: str
    alternative: str
    clocking: Clocking | None = None
    figure: str = ""
    behaviour: Behaviour | None = field(default=None, compare=False, repr=False)

    @property
    def reference(self) -> Reference:
        """What an answer must be equivalent to."""
        ports = tuple(signal.port for signal in self.signals)
        return Reference(self.golden, ports, self.clocking, TOP)


def inputs(*signals: tuple[str, int, str]) -> tuple[Signal, ...]:
    """Return input ports from (name, width, meaning)."""
    return tuple(Signal(name, "input", width, meaning) for name, width, meaning in signals)


def outputs(*signals: tuple[str, int, str]) -> tuple[Signal, ...]:
    """Return output ports from (name, width, meaning)."""
    return tuple(Signal(name, "output", width, meaning) for name, width, meaning in signals)


def draw_clocking(rng: Rng) -> Clocking:
    """Draw a clock and a reset of one of the four kinds, with names that fit."""
    level, asynchronous = pick(rng, list(_RESETS))
    reset = pick(rng, _RESETS[level, asynchronous])
    return Clocking(pick(rng, _CLOCKS), reset, level, asynchronous)


def clock_signals(clocking: Clocking) -> tuple[Signal, ...]:
    """Return the ports of clock and reset."""
    return tuple(Signal(name, "input") for name in (clocking.clock, clocking.reset) if name)


def module(signals: Sequence[Signal], body: str, *, registers: Sequence[str] = ()) -> str:
    """Return the source of `TOP` in Verilog-2001; ``registers`` are outputs assigned in blocks."""
    lines = []
    for signal in signals:
        kind = "output reg" if signal.name in registers else signal.direction
        bits = "" if signal.width == 1 else f"[{signal.width - 1}:0] "
        lines.append(f"    {kind} {bits}{signal.name}")
    return _assembled(lines, body)


def silent(ports: Sequence[Port]) -> str:
    """Return a source of `TOP` whose outputs are always 0."""
    zeros = [f"    assign {port.name} = 0;" for port in ports if port.direction == "output"]
    declared = ",\n".join(f"    {port.declaration()}" for port in ports)
    return "\n".join([f"module {TOP} (\n{declared}\n);", *zeros, "endmodule\n"])


def sv_module(signals: Sequence[Signal], body: str) -> str:
    """Return the source of `TOP` in SystemVerilog, where every port is ``logic``."""
    lines = []
    for signal in signals:
        bits = "" if signal.width == 1 else f"[{signal.width - 1}:0] "
        lines.append(f"    {signal.direction} logic {bits}{signal.name}")
    return _assembled(lines, body)


def _assembled(ports: list[str], body: str) -> str:
    listed = ",\n".join(ports)
    return f"module {TOP} (\n{listed}\n);\n{indented(body, 4)}\nendmodule\n"


def indented(text: str, columns: int) -> str:
    """Return a text with every line moved to the right, and no white space around it."""
    margin = " " * columns
    return "\n".join(margin + line if line else "" for line in text.strip("\n").split("\n"))


def clocked(clocking: Clocking, reset: str, body: str, *, keyword: str = "always") -> str:
    """Return a block that runs ``reset`` under reset and ``body`` at every other clock edge.

    Args:
        clocking: the clock and the reset; without a reset, ``reset`` is not used.
        reset: statements.
        body: statements.
        keyword: ``always`` or ``always_ff``.
    """
    edges = f"posedge {clocking.clock}"
    if clocking.reset and clocking.asynchronous:
        edges += f" or {'posedge' if clocking.reset_active else 'negedge'} {clocking.reset}"
    if not clocking.reset:
        return f"{keyword} @({edges}) begin\n{indented(body, 4)}\nend"
    return (
        f"{keyword} @({edges}) begin\n"
        f"    if ({in_reset(clocking)}) begin\n{indented(reset, 8)}\n"
        f"    end else begin\n{indented(body, 8)}\n"
        "    end\nend"
    )


def in_reset(clocking: Clocking) -> str:
    """Return the condition that holds under reset."""
    return clocking.reset if clocking.reset_active else f"!{clocking.reset}"


def literal(width: int, value: int) -> str:
    """Return a constant of a width: 4'd9, or hexadecimal from 9 bits on."""
    value &= (1 << width) - 1
    return f"{width}'d{value}" if width <= 8 else f"{width}'h{value:x}"
