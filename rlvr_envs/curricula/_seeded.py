"""What the curricula share: reproducible draws, checked scores, and a state that is plain JSON.

What a curriculum learns and proposes stays in its own file.
"""

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import Rng, stream
from rlvr_envs.curricula.base import Problem

Arm: TypeAlias = tuple[str, int | None]  # a task, and a level of it or None for any


class Seeded:
    """Base of the curricula here, which add `propose`.

    Each draw has a random stream of its own, keyed by the seed, the step and the number of the
    draw in it, so that a run that was resumed proposes what it would have.
    """

    def __init__(self, seed: int, settings: Mapping[str, Any]) -> None:
        if not isinstance(seed, int) or isinstance(seed, bool):
            raise ConfigError(f"seed is an integer, got {seed!r}")
        self.seed = seed
        self._settings = _plain({"curriculum": type(self).__name__, "seed": seed, **settings})
        self._step = 0
        self._draws = 0  # in the running step

    @property
    def step(self) -> int:
        """How many training steps are over."""
        return self._step

    def record(
        self,
        task: str,
        difficulty: int | None,
        scores: Sequence[float],
        problem: Problem = None,
    ) -> None:
        """Take down the scores of a group; an empty group changes nothing.

        Raises:
            ConfigError: a score is not a number in [0, 1], or the task is none of this curriculum.
        """
        kept = checked(task, scores)
        if kept:
            self._learn((task, difficulty), kept, problem)

    def end_step(self) -> None:
        """Take down that a training step is over."""
        self._finish()
        self._step += 1
        self._draws = 0

    def state_dict(self) -> dict[str, Any]:
        """Return the state, as JSON can hold it."""
        state = {"settings": self._settings, "step": self._step, "draws": self._draws}
        return dict(_plain(state | {"learnt": self._dump()}))

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state; one that is refused changes nothing.

        Raises:
            ConfigError: it is not one that `state_dict` returned under these settings.
        """
        before = self.state_dict()
        if not isinstance(state, Mapping) or state.keys() != before.keys():
            raise ConfigError(f"not the state of a curriculum: {state!r:.200}")
        if state["settings"] != self._settings:
            raise ConfigError(
                f"the state is of {state['settings']!r:.300}, not of {self._settings!r:.300}"
            )
        try:
            self._enter(_plain(state))
            same = self.state_dict() == state
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            self._enter(before)
            raise ConfigError(f"not the state of {self._settings['curriculum']}") from error
        if not same:
            self._enter(before)
            raise ConfigError(f"not the state of {self._settings['curriculum']}: {state!r:.200}")

    def _enter(self, state: Mapping[str, Any]) -> None:
        for name in ("step", "draws"):
            if not is_count(state[name], least=0):
                raise ConfigError(f"{name} is an integer from 0, got {state[name]!r}")
        self._restore(state["learnt"])
        self._step, self._draws = state["step"], state["draws"]

    def _rng(self) -> Rng:
        rng = stream("curriculum", self._settings["curriculum"], self.seed, self._step, self._draws)
        self._draws += 1
        return rng

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        """Learn from a group that has at least one score."""

    def _finish(self) -> None:
        """Do what a curriculum does once a step."""

    def _dump(self) -> Any:
        """Return what was learnt, as JSON can hold it."""
        return None

    def _restore(self, learnt: Any) -> None:
        """Take over what `_dump` returned."""


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def checked(task: str, scores: Sequence[float]) -> list[float]:
    """Return the scores as floats; raise `ConfigError` if one is not in [0, 1]."""
    for score in scores:
        if not 0 <= score <= 1:
            raise ConfigError(
                f"a score is in [0, 1], got {score!r} on {task}: record verdicts' scores, not "
                "shaped rewards, and leave out what was not scored"
            )
    return [float(score) for score in scores]


def is_count(value: object, least: int = 1) -> bool:
    """Return whether it is an integer from ``least``, and no truth value."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def need_counts(least: int = 1, **named: object) -> None:
    """Raise `ConfigError` for the first that is not an integer from ``least``."""
    for name, value in named.items():
        if not is_count(value, least):
            raise ConfigError(f"{name} is an integer from {least}, got {value!r}")


def need_between(low: float, high: float, **named: float) -> None:
    """Raise `ConfigError` for the first that is not a number in [low, high]."""
    for name, value in named.items():
        if not (isfinite(value) and low <= value <= high):
            raise ConfigError(f"{name} is a number in [{low}, {high}], got {value!r}")


def need_distinct(name: str, items: Sequence[Any]) -> None:
    """Raise `ConfigError` if there are none, or one is there twice."""
    if not items or len(set(items)) < len(items):
        raise ConfigError(f"{name} are distinct, at least one; got {items!r:.200}")


def arms_of(arms: Sequence[Arm]) -> tuple[Arm, ...]:
    """Return the arms; raise `ConfigError` if they are not distinct pairs of task and level."""
    kept = tuple((task, difficulty) for task, difficulty in arms)
    need_distinct("arms", kept)
    for task, difficulty in kept:
        if not isinstance(task, str) or not (difficulty is None or is_count(difficulty, least=0)):
            raise ConfigError(
                f"an arm is a task and a level from 0 or None, got {(task, difficulty)}"
            )
    return kept


def find(arms: Sequence[Arm], arm: Arm) -> int:
    """Return which arm a group belongs to: the one of its level, or else the task's for any."""
    for candidate in (arm, (arm[0], None)):
        if candidate in arms:
            return arms.index(candidate)
    known = ", ".join(map(str, arms[:8]))
    raise ConfigError(f"{arm} is no arm of this curriculum; it has {known}")


def shares_of(weights: Sequence[float] | None, count: int) -> list[float]:
    """Return shares that add up to 1; None for equal ones.

    Raises:
        ConfigError: they are not as many positive numbers.
    """
    given = [1.0] * count if weights is None else [float(weight) for weight in weights]
    if len(given) != count or not all(isfinite(each) and each > 0 for each in given):
        raise ConfigError(f"weights are {count} positive numbers, got {given}")
    return [each / sum(given) for each in given]


def scaled(values: Sequence[float], shares: Sequence[float]) -> list[float]:
    """Return the products as shares that add up to 1, or zeros where all products are 0."""
    products = [value * share for value, share in zip(values, shares, strict=True)]
    total = sum(products)
    return [product / total for product in products] if total else products


def draw(rng: Rng, weights: Sequence[float]) -> int:
    """Draw an index with probabilities in proportion to the weights."""
    cumulative = np.cumsum(np.asarray(weights, dtype=float))
    return int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))


def softmax(values: Sequence[float]) -> list[float]:
    """Return exp(v) / sum of exp, without overflow."""
    powers = np.exp(np.asarray(values) - max(values))
    return [float(power) for power in powers / powers.sum()]
