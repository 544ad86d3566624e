"""Many environments as one, in groups that face the same problems; what `gym.make_vec` builds."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.executor import Executor, Processes, check_executor
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.parallel import ParallelJudge
from rlvr_envs.core.seeding import Rng, draw_seed, fan_out, stream
from rlvr_envs.core.task import Reply

Texts = tuple[str, ...]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Step = tuple[str, float, bool, bool, dict[str, Any]]
# Reset options that may name one thing for each environment or group.
_LISTABLE = ("problem", "problem_seed", "index")
# Infos that are an integer for some environments and None for others.
_NULLABLE = ("difficulty", "problem_seed")


class TextVectorEnv(VectorEnv[Texts, Sequence[str], npt.NDArray[Any]]):
    r"""Steps ``num_envs`` text environments together.

    Neighbours form groups of ``group_size`` that face the same problems in the same order, which
    is what group-relative methods sample; a problem, and its reference answer, is worked out
    once for the group. Each member keeps its own pace; a `reset` of all members brings a group
    together at a problem that is new to each of them.

    Observations are a tuple of texts, rewards a float64 array, terminations and truncations bool
    arrays. ``infos`` follows Gymnasium: an array per key and a mask ``_key``; ``difficulty`` and
    ``problem_seed``, which may be None, are always object arrays.

    Autoreset. The default is DISABLED: with group sampling, a batch of prompts is answered as a
    whole and then replaced as a whole, and a reset in between would spend problems on nobody.
    ``reset(options={"reset_mask": mask})`` resets some. Where Gymnasium's own vector
    environments forbid to step an ended episode, here its member waits: its action is ignored,
    its observation is empty, its reward 0, and its flags stay. NEXT_STEP and SAME_STEP behave as
    in Gymnasium.

    Seeds. ``reset(seed=s)`` gives group g the seed ``fan_out(s, n_groups)[g]``, so the first
    group meets the problems that ``gym.make(id)`` meets with that seed. A list names a seed for
    each group, or for each environment.

    Options are those of `TextEnv` and go to every member; ``problem``, ``problem_seed`` and
    ``index`` may also be lists with an item for each group or for each environment.

    Args:
        env_id: the id of a task or of a mixture.
        num_envs: how many environments.
        group_size: how many neighbours share their problems.
        autoreset_mode: an `AutoresetMode` or its value, such as ``"NextStep"``.
        workers: how many processes judge single-turn answers; 0 judges in this process.
        executor: where single-turn answers are judged instead, such as on a Ray cluster; who
            opened it closes it.
        arguments: those of `TextEnv`, which refuses unknown ones.

    Raises:
        ConfigError: an argument is unknown or out of range.

    Examples:
        >>> import gymnasium
        >>> import rlvr_envs
        >>> envs = gymnasium.make_vec("rlvr/Gcd-v0", num_envs=4, group_size=2, difficulty=0)
        >>> prompts, infos = envs.reset(seed=0)
        >>> prompts[0] == prompts[1], prompts[1] == prompts[2]
        (True, False)
        >>> envs.step([r"\boxed{16}"] * 4)[1]
        array([1., 1., 0., 0.])
    """

    def __init__(
        self,
        env_id: str,
        num_envs: int = 1,
        *,
        group_size: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.DISABLED,
        workers: int = 0,
        executor: Executor | None = None,
        **arguments: Any,
    ) -> None:
        for name, value, least in (
            ("num_envs", num_envs, 1),
            ("group_size", group_size, 1),
            ("workers", workers, 0),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ConfigError(f"{name} is an integer from {least}, got {value!r}")
        if num_envs % group_size:
            raise ConfigError(
                f"num_envs must be a multiple of group_size, got {num_envs} and {group_size}"
            )
        check_executor(executor)
        if workers and executor is not None:
            raise ConfigError(
                "'workers' and 'executor' both say where answers are judged: give one"
            )
        try:
            self.autoreset_mode = AutoresetMode(autoreset_mode)
        except ValueError:
            known = ", ".join(repr(mode.value) for mode in AutoresetMode)
            raise ConfigError(f"autoreset_mode is {known}, got {autoreset_mode!r}") from None
        self.envs: list[Member] = []
        for i in range(num_envs):
            memory = {} if i % group_size == 0 else self.envs[-1].memory
            self.envs.append(Member(memory, env_id, **arguments))
        self.num_envs = num_envs
        self.group_size = group_size
        self.metadata = {**TextEnv.metadata, "autoreset_mode": self.autoreset_mode}
        self.render_mode = self.envs[0].render_mode
        self.single_observation_space = self.envs[0].observation_space
        self.single_action_space = self.envs[0].action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._processes: Processes | None = None
        if workers:
            specs = self.envs[0].source.specs
            modules = sorted({spec.task_type.__module__ for spec in specs})
            executor = self._processes = Processes(workers, tuple(modules))
        self._judge = None if executor is None else ParallelJudge(executor)
        self._walks: list[Walk | None] = [None] * num_envs
        self._texts = [""] * num_envs
        self._terminations = np.zeros(num_envs, dtype=np.bool_)
        self._truncations = np.zeros(num_envs, dtype=np.bool_)
        self._begun = np.zeros(num_envs, dtype=np.bool_)

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return self.num_envs // self.group_size

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Texts, dict[str, Any]]:
        """Pose new problems and return the prompts.

        Raises:
            ConfigError: a seed, a mask or another option does not fit.
        """
        self._require_open()
        if options is not None and not isinstance(options, Mapping):
            raise ConfigError(f"reset options are a dict, got {options!r:.80}")
        options = dict(options or {})
        mask = self._mask(options.pop("reset_mask", None))
        self._seed(seed, mask)
        each = self._options_of_each(options)
        if mask.all():
            self._gather()
        infos: dict[str, Any] = {}
        for i in np.flatnonzero(mask).tolist():
            self._terminations[i] = self._truncations[i] = False
            infos = self._add_info(infos, self._reset_one(i, each[i]), i)
        return tuple(self._texts), infos

    def _mask(self, mask: object) -> Bools:
        if mask is None:
            return np.ones(self.num_envs, dtype=np.bool_)
        if (
            isinstance(mask, np.ndarray)
            and mask.dtype == np.bool_
            and mask.shape == (self.num_envs,)
            and mask.any()
        ):
            return mask.copy()
        raise ConfigError(
            f"reset_mask is a bool array of shape ({self.num_envs},) with a True in it; "
            f"got {mask!r}"
        )

    def _seed(self, seed: int | Sequence[int | None] | None, mask: Bools) -> None:
        seeds: Sequence[int | None]
        if seed is None:
            seeds = [None] * self.num_envs
        elif isinstance(seed, (int, np.integer)):
            super().reset(seed=int(seed))  # refuses a negative one
            seeds = self._spread(fan_out(int(seed), self.n_groups), "seed")
        elif isinstance(seed, (list, tuple, np.ndarray)):
            seeds = self._spread(list(seed), "seed")
        else:
            raise ConfigError(f"a seed is an integer from 0, or a list of them, got {seed!r:.80}")
        new: dict[tuple[int, int], Stream] = {}
        for i in np.flatnonzero(mask).tolist():
            chosen, group = seeds[i], i // self.group_size
            if chosen is None:
                if self._walks[i] is None:
                    self._walks[i] = Walk(self._stream_of(group))
                continue
            if not isinstance(chosen, (int, np.integer)) or chosen < 0:
                raise ConfigError(f"a seed is an integer from 0, got {chosen!r}")
            key = group, int(chosen)
            if key not in new:
                new[key] = self._open_stream(int(chosen))
            self._walks[i] = Walk(new[key])

    def _stream_of(self, group: int) -> "Stream":
        """Return the stream that the group is on, or a new one without a seed."""
        start = group * self.group_size
        for walk in self._walks[start : start + self.group_size]:
            if walk is not None:
                return walk.stream
        return self._open_stream(draw_seed(self.np_random))

    def _open_stream(self, seed: int) -> "Stream":
        return Stream(stream("episodes", self.envs[0].source.id, seed))

    def _spread(self, values: Sequence[Any], name: str) -> list[Any]:
        """Return one value for each environment, given one for each or one for each group."""
        if len(values) == self.num_envs:
            return list(values)
        if len(values) == self.n_groups:
            return [value for value in values for _ in range(self.group_size)]
        raise ConfigError(
            f"a list for {name!r} has {self.num_envs} items, one for each environment, or "
            f"{self.n_groups}, one for each group; got {len(values)}"
        )

    def _options_of_each(self, options: Mapping[str, Any]) -> list[dict[str, Any]]:
        each = [dict(options) for _ in range(self.num_envs)]
        for name in _LISTABLE:
            given = options.get(name)
            if isinstance(given, (list, tuple, np.ndarray)):
                for own, value in zip(each, self._spread(list(given), name), strict=True):
                    own[name] = value
        return each

    def _gather(self) -> None:
        """Let the members of each group, who share a stream, go on from the furthest of them."""
        furthest: dict[int, int] = {}
        for walk in filter(None, self._walks):
            key = id(walk.stream)
            furthest[key] = max(walk.position, furthest.get(key, 0))
        for walk in filter(None, self._walks):
            walk.position = furthest[id(walk.stream)]

    def _reset_one(self, i: int, options: Mapping[str, Any] | None = None) -> dict[str, Any]:
        own = dict(options or {})
        walk = self._walks[i]
        if walk is not None and all(own.get(name) is None for name in _LISTABLE):
            own["problem_seed"] = walk.next()
        own = {k: v for k, v in own.items() if v is not None or k not in _LISTABLE}
        self._texts[i], info = self.envs[i].reset(options=own)
        self._begun[i] = True
        return info

    def step(self, actions: Sequence[str]) -> tuple[Texts, Floats, Bools, Bools, dict[str, Any]]:
        """Give each environment its action; return observations, rewards, flags and infos.

        Raises:
            UsageError: `reset` was not called, or the actions are not one text for each
                environment.
        """
        self._check_step(actions)
        ended = self._terminations | self._truncations
        results = self._results(actions, np.flatnonzero(~ended).tolist())
        rewards = np.zeros(self.num_envs, dtype=np.float64)
        infos: dict[str, Any] = {}
        for i in range(self.num_envs):
            if i in results:
                self._texts[i], rewards[i], terminated, truncated, info = results[i]
                self._terminations[i], self._truncations[i] = terminated, truncated
                if self.autoreset_mode is AutoresetMode.SAME_STEP and (terminated or truncated):
                    final = {"final_obs": self._texts[i], "final_info": info}
                    infos = self._add_info(infos, final, i)
                    info = self._reset_one(i)
            elif self.autoreset_mode is AutoresetMode.NEXT_STEP:
                self._terminations[i] = self._truncations[i] = False
                info = self._reset_one(i)
            else:
                self._texts[i] = ""
                continue
            infos = self._add_info(infos, info, i)
        flags = self._terminations.copy(), self._truncations.copy()
        if self.autoreset_mode is AutoresetMode.SAME_STEP:
            self._terminations[:] = self._truncations[:] = False
        return tuple(self._texts), rewards, *flags, infos

    def _check_step(self, actions: Sequence[str]) -> None:
        self._require_open()
        if not self._begun.all():
            raise UsageError("there are environments without an episode: call reset() first")
        listed = isinstance(actions, (Sequence, np.ndarray)) and not isinstance(actions, str)
        if not listed or len(actions) != self.num_envs:
            raise UsageError(f"step() needs {self.num_envs} texts, got {actions!r:.80}")
        for action in actions:  # before any environment moves
            if not isinstance(action, str):
                raise UsageError(f"an action is a string, got {action!r:.80}")

    def _results(self, actions: Sequence[str], running: list[int]) -> dict[int, Step]:
        if self._judge is None:
            return {i: self.envs[i].step(actions[i]) for i in running}
        single = [i for i in running if not self.envs[i].instance.interactive]
        instances = [self.envs[i].instance for i in single]
        verdicts = self._judge.judge(instances, [actions[i] for i in single])
        judged = dict(zip(single, verdicts, strict=True))
        return {
            i: self.envs[i].conclude(actions[i], Reply.judged(judged[i]))
            if i in judged
            else self.envs[i].step(actions[i])
            for i in running
        }

    def _add_info(
        self, vector_infos: dict[str, Any], env_info: dict[str, Any], env_num: int
    ) -> dict[str, Any]:
        # Gymnasium types an array by the first value it meets, and None fits no array of integers.
        for name in _NULLABLE:
            if name in env_info and name not in vector_infos:
                vector_infos[name] = np.full(self.num_envs, None, dtype=object)
        return super()._add_info(vector_infos, env_info, env_num)

    def render(self) -> tuple[Any, ...]:
        """Return what each environment renders."""
        return tuple(env.render() for env in self.envs)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Return an attribute of each environment, called with the arguments if it is callable."""
        found = [env.get_wrapper_attr(name) for env in self.envs]
        return tuple(item(*args, **kwargs) if callable(item) else item for item in found)

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """Return an attribute of each environment."""
        return tuple(env.get_wrapper_attr(name) for env in self.envs)

    def close_extras(self, **kwargs: Any) -> None:
        """Close the environments and end the workers."""
        for env in self.envs:
            env.close()
        if self._processes is not None:
            self._processes.close()

    def _require_open(self) -> None:
        if self.closed:
            raise UsageError("the vector environment is closed; make a new one")


# What the members of a group share, for `rlvr_envs.core.vector`.


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
