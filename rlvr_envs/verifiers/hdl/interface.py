"""What a design shows to the outside: its ports, its clock and its reset."""

import re
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError

DIRECTIONS = ("input", "output")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_$]{0,63}")


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a module.

    Attributes:
        name: a plain identifier.
        direction: ``input`` or ``output``.
        width: in bits.

    Examples:
        >>> from rlvr_envs.verifiers.hdl.interface import Port
        >>> Port("count", "output", width=4).declaration()
        'output [3:0] count'
    """

    name: str
    direction: str
    width: int = 1

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(f"a port's name is a plain identifier, got {self.name!r:.80}")
        if self.direction not in DIRECTIONS:
            raise ConfigError(
                f"port {self.name} is an {' or an '.join(DIRECTIONS)}, got {self.direction!r}"
            )
        if self.width < 1:
            raise ConfigError(f"port {self.name} has at least one bit, got {self.width}")

    @property
    def size(self) -> str:
        """The width in words."""
        return "1 bit" if self.width == 1 else f"{self.width} bits"

    def declaration(self) -> str:
        """Return the port as a module header declares it."""
        bits = "" if self.width == 1 else f"[{self.width - 1}:0] "
        return f"{self.direction} {bits}{self.name}"


@dataclass(frozen=True, slots=True)
class Clocking:
    """The clock of a design, and its reset where it has one.

    Attributes:
        clock: the input whose rising edge moves the state.
        reset: the input that resets, empty where there is none.
        reset_active: the level at which it does.
        asynchronous: whether it does so without an edge of the clock.

    Examples:
        >>> from rlvr_envs.verifiers.hdl.interface import Clocking
        >>> Clocking(clock="clk", reset="rst_n", reset_active=0, asynchronous=True).reset_active
        0
    """

    clock: str
    reset: str = ""
    reset_active: int = 1
    asynchronous: bool = False

    def __post_init__(self) -> None:
        if self.reset_active not in (0, 1):
            raise ConfigError(f"reset_active is 0 or 1, got {self.reset_active!r}")


@dataclass(frozen=True, slots=True)
class Reference:
    """A golden design: what an answer must be equivalent to.

    Attributes:
        source: Verilog or SystemVerilog that defines the module ``top``.
        ports: in the order of the module's header.
        clocking: None for a combinational design.
        top: the name of the module, which the answer must define too.
        free_x: whether an x at an output of the reference allows any value there; otherwise the
            reference never has one.
        trusted: whether the source may hold what an answer may not, such as prints and assertions.

    Examples:
        >>> from rlvr_envs.verifiers.hdl.interface import Port, Reference
        >>> source = "module TopModule(input a, output y); assign y = ~a; endmodule"
        >>> reference = Reference(source, (Port("a", "input"), Port("y", "output")))
    """

    source: str
    ports: tuple[Port, ...]
    clocking: Clocking | None = None
    top: str = "TopModule"
    free_x: bool = False
    trusted: bool = False

    def __post_init__(self) -> None:
        names = [port.name for port in self.ports]
        if len(set(names)) < len(names) or not any(p.direction == "output" for p in self.ports):
            raise ConfigError(f"ports have different names and one is an output, got {names}")
        if self.clocking is not None:
            for role in filter(None, (self.clocking.clock, self.clocking.reset)):
                if Port(role, "input") not in self.ports:
                    raise ConfigError(f"{role} is an input of one bit, ports are {self.ports}")
