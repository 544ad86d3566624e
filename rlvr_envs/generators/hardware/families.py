"""Designs for tasks that ask something else than to write one: drawn from the families."""

from typing import Any

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.task import DesignTask

# Frozen: what a task draws from this list stays the same when a family is added, which goes into
# a list of its own.
FAMILIES = (
    "AdderSubtractor-v0",
    "Alu-v0",
    "Arbiter-v0",
    "BarrelShifter-v0",
    "BcdConverter-v0",
    "BitCount-v0",
    "BooleanCircuit-v0",
    "BusHandshake-v0",
    "ClockDivider-v0",
    "Comparator-v0",
    "Crc-v0",
    "Debouncer-v0",
    "Decoder-v0",
    "EdgeDetector-v0",
    "ElementaryAutomaton-v0",
    "ErrorCode-v0",
    "Fifo-v0",
    "GrayCode-v0",
    "KarnaughMap-v0",
    "Lfsr-v0",
    "Multiplexer-v0",
    "PipelinedMultiplier-v0",
    "PriorityEncoder-v0",
    "Pwm-v0",
    "RegisterFile-v0",
    "SequenceDetector-v0",
    "ShiftRegister-v0",
    "Stack-v0",
    "StateMachine-v0",
    "TrafficLight-v0",
    "TruthTable-v0",
    "UartTransmitter-v0",
    "UpDownCounter-v0",
)


def draw_design(rng: Rng, level: int, families: tuple[str, ...] = FAMILIES) -> Design:
    """Draw a design at a difficulty level of one of some families, each equally likely."""
    task_type = family(pick(rng, families))
    return task_type(task_type.Config.at(level)).design(rng)


def family(task_id: str) -> type[DesignTask[Any]]:
    """Return the task of a family of designs.

    Raises:
        ConfigError: the id is that of another kind of task.
        RegistrationError: there is no such id.
    """
    task_type = registry.find(task_id).task_type
    if not issubclass(task_type, DesignTask):
        raise ConfigError(f"{task_id} is no family of designs, {', '.join(FAMILIES)} are")
    return task_type


def check_families(families: tuple[str, ...]) -> None:
    """Raise where a knob names what is none of `FAMILIES`.

    Raises:
        ConfigError: it does.
    """
    for name in families:
        if name not in FAMILIES:
            hint = did_you_mean(name, FAMILIES)
            raise ConfigError(f"families are among {', '.join(FAMILIES)}, got {name!r}{hint}")
