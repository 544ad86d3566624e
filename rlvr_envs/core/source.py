"""Sources of instances: a task at its levels, or a mixture of tasks.

A source maps a problem seed to an instance and has no other state, so any problem can be had
again from (id, options, problem seed).
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from rlvr_envs.core import registry
from rlvr_envs.core.answer import answer_format as check_answer_format
from rlvr_envs.core.errors import ConfigError, UsageError, did_you_mean, within_limits
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.registry import TaskSpec
from rlvr_envs.core.seeding import Rng, stream
from rlvr_envs.core.task import ENV_ARGUMENTS, IndexedTask, Task, check_difficulty, configure

# One level, or an inclusive range of levels that are equally likely; None: the knobs' defaults.
Difficulty: TypeAlias = int | tuple[int, int] | None


def read_difficulty(value: object) -> Difficulty:
    """Return a difficulty as an integer or a pair of integers.

    Raises:
        ConfigError: it is neither, or the range is empty.
    """
    if value is None:
        return None
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, (tuple, list)):
        if len(value) != 2:
            raise ConfigError(f"a difficulty range is (lowest, highest), got {value!r}")
        low, high = (int(v) if isinstance(v, np.integer) else v for v in value)
        if check_difficulty(low) > check_difficulty(high):
            raise ConfigError(f"the difficulty range {value!r} is empty: lowest comes first")
        return (low, high)
    return check_difficulty(value)


class Source:
    """Where an environment's instances come from; build one with `open_source`.

    Attributes:
        trusted: whether its tasks may open the files, folders and servers that the knobs name.
    """

    def __init__(
        self,
        source_id: str,
        specs: Sequence[TaskSpec],
        *,
        weights: Sequence[float],
        difficulty: Difficulty,
        knobs: Mapping[str, Any],
        answer_format: str | None,
    ) -> None:
        self.id = source_id
        self.specs = tuple(specs)
        self.difficulty = difficulty
        self._knobs = dict(knobs)
        self._format = answer_format
        self.trusted = True
        self._edges = np.cumsum(np.asarray(weights, dtype=float) / np.sum(weights))
        self._task = lru_cache(maxsize=512)(self._configured)
        for spec in self.specs:  # an unknown knob is an error now, not at the first reset
            self._task(spec, _lowest(difficulty))

    def __reduce__(self) -> Any:
        return (
            _rebuild,
            (self.id, self.task_ids, self.weights, self.difficulty, self._knobs, self._format),
            self.trusted,
        )

    def __setstate__(self, trusted: bool) -> None:
        if not trusted:
            self.distrust()

    @property
    def task_ids(self) -> tuple[str, ...]:
        """The ids of the tasks of this source."""
        return tuple(spec.id for spec in self.specs)

    @property
    def weights(self) -> tuple[float, ...]:
        """The share of each task; together 1."""
        return tuple(np.diff(self._edges, prepend=0.0).tolist())

    def _configured(self, spec: TaskSpec, difficulty: int | None) -> Task[Any, Any]:
        task = spec.task_type(configure(spec.task_type, difficulty, self._knobs))
        task.trusted = self.trusted
        return task

    def distrust(self) -> None:
        """Let the tasks open nothing that the knobs name: these are a stranger's."""
        self.trusted = False
        self._task.cache_clear()

    def draw(self, problem_seed: int, difficulty: Difficulty = None) -> Instance:
        """Return the instance of a problem seed, at another difficulty if one is given."""
        wanted = self.difficulty if difficulty is None else difficulty
        if len(self.specs) > 1 or isinstance(wanted, tuple):
            rng = stream("source", self.id, problem_seed)
            spec, level = self._pick(rng), _level(rng, wanted)
        else:
            spec, level = self.specs[0], wanted
        task = self._task(spec, level)
        with within_limits(spec.id):
            problem = task.generate(stream(spec.id, problem_seed))
        return Instance(spec, task, problem, level, problem_seed, self._label(spec, task))

    def at_index(self, index: int) -> Instance:
        """Return problem ``index`` of a task whose problems are numbered.

        Raises:
            UsageError: the problems of this source are generated, not numbered.
        """
        task = self._task(self.specs[0], None)
        if len(self.specs) > 1 or not isinstance(task, IndexedTask):
            raise UsageError(f"{self.id} generates its problems: use 'problem_seed', not 'index'")
        problem = task.problem_at(index)
        spec = self.specs[0]
        return Instance(spec, task, problem, None, None, self._label(spec, task))

    def replay(self, row: Mapping[str, Any]) -> Instance:
        """Return the instance of a stored row.

        A row with the knobs of this source may open what they name, as the source itself may.

        Raises:
            ConfigError: the row is of a task that this source does not have.
        """
        instance = Instance.from_row(row)
        spec = instance.spec
        if spec.id not in self.task_ids:
            raise ConfigError(f"the row is of {spec.id}, which {self.id} does not serve")
        if not instance.task.trusted and len(self.specs) == 1:
            own = self._task(spec, _lowest(self.difficulty))
            if own.trusted and own.config == instance.task.config:
                return Instance.from_row(row, trusted=True)
        return instance

    def _pick(self, rng: Rng) -> TaskSpec:
        if len(self.specs) == 1:
            return self.specs[0]
        index = int(np.searchsorted(self._edges, rng.random(), side="right"))
        return self.specs[min(index, len(self.specs) - 1)]

    def _label(self, spec: TaskSpec, task: Task[Any, Any]) -> str:
        return self._format or spec.answer_format_of(task.config)


def _lowest(difficulty: Difficulty) -> int | None:
    return difficulty[0] if isinstance(difficulty, tuple) else difficulty


def _level(rng: Rng, wanted: Difficulty) -> int | None:
    if isinstance(wanted, tuple):
        return int(rng.integers(wanted[0], wanted[1], endpoint=True))
    return wanted


def open_source(
    source_id: str,
    *,
    difficulty: object = None,
    tasks: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    answer_format: str | None = None,
    knobs: Mapping[str, Any] | None = None,
) -> Source:
    """Return the source of an id.

    Args:
        source_id: the id of a task or of a mixture.
        difficulty: a level, an inclusive range of levels, or None for the knobs' defaults.
        tasks: for a mixture, the ids to mix; all of its domain's by default.
        weights: for a mixture, id → share, changing the registered weights.
        answer_format: the label of the answer format, instead of each task's own.
        knobs: for a task, fields of its configuration.

    Raises:
        ConfigError: an argument is unknown, out of range or of no use for this id.
        RegistrationError: an id does not exist.
    """
    source_id = registry.full_id(source_id)
    wanted = read_difficulty(difficulty)
    if answer_format is not None:
        check_answer_format(answer_format)
    mixtures = registry.mixture_ids()
    if source_id not in mixtures:
        if tasks is not None or weights is not None:
            raise ConfigError(f"{source_id} is one task; 'tasks' and 'weights' are for mixtures")
        chosen = {source_id: 1.0}
    else:
        if knobs:
            name = min(knobs)
            hint = did_you_mean(name, ENV_ARGUMENTS)
            raise ConfigError(
                f"{source_id} is a mixture and takes no {name!r}{hint} "
                f"(arguments: {', '.join(ENV_ARGUMENTS)}; knobs are for single tasks)"
            )
        chosen = _mix(source_id, mixtures[source_id], tasks, weights)
    return Source(
        source_id,
        [registry.find(task_id) for task_id in chosen],
        weights=list(chosen.values()),
        difficulty=wanted,
        knobs=knobs or {},
        answer_format=answer_format,
    )


def _mix(
    source_id: str,
    domain: str | None,
    tasks: Sequence[str] | None,
    weights: Mapping[str, float] | None,
) -> dict[str, float]:
    members = _members(domain)
    if not members:
        raise registry.unknown(source_id)
    if tasks is not None:
        members = {i: members[i] for i in sorted(_known(tasks, members, source_id))}
    given = {registry.full_id(i): w for i, w in (weights or {}).items()}
    _known(given, members, source_id)
    members |= given
    for task_id, weight in members.items():
        if not (isinstance(weight, (int, float)) and 0 <= weight < float("inf")):
            raise ConfigError(f"a weight is a finite number from 0, got {weight!r} for {task_id}")
    members = {task_id: weight for task_id, weight in members.items() if weight > 0}
    if not members:
        raise ConfigError(f"no task of {source_id} is left with a weight above 0")
    return members


def _known(
    wanted: Sequence[str] | Mapping[str, float], members: Mapping[str, float], source_id: str
) -> list[str]:
    ids = [registry.full_id(task_id) for task_id in wanted]
    for task_id in ids:
        if task_id not in members:
            raise ConfigError(
                f"{task_id!r} is no task of {source_id}{did_you_mean(task_id, members)}"
            )
    return ids


def _members(domain: str | None) -> dict[str, float]:
    """Return id → weight of a mixture; over all domains, each domain weighs the same."""
    if domain is not None:
        return {i: registry.find(i).weight for i in registry.task_ids(domain)}
    merged: dict[str, float] = {}
    for name in registry.DOMAINS:
        part = _members(name)
        total = sum(part.values())
        merged |= {task_id: weight / total for task_id, weight in part.items() if total}
    return dict(sorted(merged.items()))


def _rebuild(
    source_id: str,
    ids: Sequence[str],
    weights: Sequence[float],
    difficulty: Difficulty,
    knobs: Mapping[str, Any],
    answer_format: str | None,
) -> Source:
    specs = [registry.find(task_id) for task_id in ids]
    return Source(
        source_id,
        specs,
        weights=weights,
        difficulty=difficulty,
        knobs=knobs,
        answer_format=answer_format,
    )
