"""Knobs: the fields of a task's configuration, each with what it may be and a line of help.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class SubsetSumConfig(TaskConfig):
        n_items: int = knob(6, "length of the list", low=2, high=24)

The bounds are checked here, and shown by ``rlvr show``, the documentation and the errors.
"""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.errors import ConfigError, did_you_mean

_KNOB = "rlvr_envs.knob"


@dataclass(frozen=True, slots=True)
class Knob:
    """What a knob may be.

    Attributes:
        help: one line, without a full stop.
        low: the smallest number, if there is one.
        high: the largest number, if there is one.
        choices: all values, where they are few.
    """

    help: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[Any, ...] = ()

    @property
    def named(self) -> str:
        """The choices by name."""
        return ", ".join(map(str, self.choices))

    @property
    def allowed(self) -> str:
        """What it may be, in words; empty where anything of its type is allowed."""
        if self.choices:
            return f"one of {self.named}"
        low, high = (None if end is None else f"{end:,}" for end in (self.low, self.high))
        if low is not None and high is not None:
            return f"from {low} to {high}"
        if low is not None:
            return f"{low} or more"
        return "" if high is None else f"{high} or less"

    def allows(self, value: Any) -> bool:
        """Whether it may be a value, or, of a tuple, each of its items.

        A tuple of choices has at least one.
        """
        if isinstance(value, tuple):
            return all(map(self.allows, value)) and bool(value or not self.choices)
        if self.choices:
            return value in self.choices
        low, high = self.low, self.high
        return (low is None or low <= value) and (high is None or value <= high)


def knob(
    default: Any,
    help: str,  # noqa: A002 - as argparse calls it
    *,
    low: float | None = None,
    high: float | None = None,
    choices: Iterable[Any] = (),
) -> Any:
    """Declare a field of a `TaskConfig`.

    Args:
        default: its value, unless it is set. A default of None allows None.
        help: what it is, in one line.
        low: the smallest number allowed.
        high: the largest number allowed.
        choices: all values allowed; a tuple may hold these alone.
    """
    known = Knob(help, low, high, tuple(choices))
    return dataclasses.field(default=default, metadata={_KNOB: known})


def knobs_of(config_type: type[Any]) -> dict[str, Knob]:
    """Return the knobs of a configuration by name; a field without `knob` has no bounds."""
    return {each.name: each.metadata.get(_KNOB, Knob()) for each in dataclasses.fields(config_type)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskConfig:
    """The base of configurations, which checks their bounds.

    A subclass is a frozen, keyword-only dataclass with slots. It has a classmethod
    ``at(difficulty)``, which returns the configuration of a difficulty level, from 0.
    """

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):
            known, value = each.metadata.get(_KNOB, Knob()), getattr(self, each.name)
            if value is None and each.default is None:
                continue
            if not known.allows(value):
                several = isinstance(value, tuple) and known.choices
                told = f"are some of {known.named}" if several else f"is {known.allowed}"
                hint = did_you_mean(str(value), map(str, known.choices))
                raise ConfigError(f"{each.name} {told}, got {value!r}{hint}")
        self.check()

    def check(self) -> None:
        """Check what bounds of single knobs cannot say, after those; override where needed.

        Raises:
            ConfigError: knobs do not fit each other.
        """
