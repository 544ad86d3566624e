"""Designs for tasks that ask something else than to write one: drawn from the families."""

from typing import Any

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.envs.verilog._design import Design
from rlvr_envs.envs.verilog._task import DesignTask

# Frozen: what a task draws from this list stays the same when a family is added, which goes into
# a list of its own.
FAMILIES = (
    "UpDownCounter-v0",
    "Lfsr-v0",
    "SequenceDetector-v0",
    "AdderSubtractor-v0",
    "PriorityEncoder-v0",
)


def draw_design(rng: Rng, level: int, families: tuple[str, ...] = FAMILIES) -> Design:
    """Draw a design at a rung of the ladder of one of some families, each equally likely."""
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
