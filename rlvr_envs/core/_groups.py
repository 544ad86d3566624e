"""What the members of a group share, for `rlvr_envs.core.vector`."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.seeding import Rng, draw_seed

_REMEMBERED = 4  # instances that a group keeps; its members are seldom further apart


class Stream:
    """The problem seeds of a group, in order: those that `TextEnv` draws after the same seed."""

    def __init__(self, rng: Rng) -> None:
        self._rng = rng
        self._drawn: list[int] = []

    def __getitem__(self, position: int) -> int:
        while len(self._drawn) <= position:
            self._drawn.append(draw_seed(self._rng))
        return self._drawn[position]


class Walk:
    """How far a member has come in its group's stream."""

    __slots__ = ("position", "stream")

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.position = 0

    def next(self) -> int:
        self.position += 1
        return self.stream[self.position - 1]


class SharedInstance(Instance):
    """An instance that works its reference out only once; problems are immutable data."""

    @classmethod
    def of(cls, instance: Instance) -> "SharedInstance":
        return cls(*(getattr(instance, field.name) for field in fields(instance)))

    @cached_property
    def _reference(self) -> str | tuple[str, ...]:
        found = super().reference()
        return found if isinstance(found, str) else tuple(found)

    def reference(self) -> str | list[str]:
        found = self._reference
        return found if isinstance(found, str) else list(found)


class Member(TextEnv):
    """A text environment that shares the instances it draws with its group."""

    def __init__(
        self, memory: "dict[tuple[int, str], SharedInstance]", env_id: str, **arguments: Any
    ):
        super().__init__(env_id, **arguments)
        self.memory = memory

    def _choose(self, options: Mapping[str, Any]) -> Instance:
        seed = options.get("problem_seed")
        if not isinstance(seed, int) or not options.keys() <= {"problem_seed", "difficulty"}:
            return super()._choose(options)
        key = seed, repr(options.get("difficulty"))
        if key not in self.memory:
            instance = SharedInstance.of(super()._choose(options))
            while len(self.memory) >= _REMEMBERED:
                del self.memory[next(iter(self.memory))]
            self.memory[key] = instance
        return self.memory[key]
