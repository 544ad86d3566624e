"""The wrappers for vector environments: the same names, schemes and infos as for one.

They wrap `TextVectorEnv`, which `gymnasium.make_vec` makes, and Gymnasium's own vector
environments, in each of the autoreset modes. As everywhere in Gymnasium, infos are an array a key
with a mask ``_key``; ``reward_parts`` is a dictionary of such arrays.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv, VectorWrapper

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS
from rlvr_envs.wrappers.horizon import REASON, HorizonLike, TurnLimit, announcement, checked, turns
from rlvr_envs.wrappers.played import ENDING, EpisodeLog, EpisodeScheme
from rlvr_envs.wrappers.schemes import ASearcher, Scheme, SearchR1, ToolCosts
from rlvr_envs.wrappers.shaping import booked, shaped

Texts = tuple[str, ...]
Array = npt.NDArray[Any]
Infos = dict[str, Any]
Environments = VectorEnv[Texts, Sequence[str], Array]
_Wrapper = VectorWrapper[Texts, Sequence[str], Texts, Sequence[str], Array]


class ShapedReward(_Wrapper):
    """Replaces the rewards that episodes end with by those of a scheme.

    Args:
        env: a vector environment of this package's environments.
        scheme: what the reward is.

    Raises:
        ConfigError: at the end of an episode, its verdict does not have the parts that the scheme
            needs.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import ToolCosts
        >>> from rlvr_envs.wrappers.vector import ShapedReward
        >>> envs = gymnasium.make_vec("rlvr/ChainSearch-v0", num_envs=2)
        >>> envs = ShapedReward(envs, ToolCosts(per_call=0.02))
    """

    def __init__(self, env: Environments, scheme: Scheme) -> None:
        super().__init__(env)
        self.scheme = scheme

    def step(self, actions: Sequence[str]) -> tuple[Texts, Array, Array, Array, Infos]:
        """Give each environment its action; last steps have the scheme's reward."""
        texts, rewards, terminated, truncated, infos = self.env.step(actions)
        final = infos.get("final_info", infos)  # of SAME_STEP; else the infos are the last step's
        ended = final.get("_verdict", np.zeros(self.num_envs, dtype=np.bool_))
        rewards = np.array(rewards, dtype=np.float64)
        for i in np.flatnonzero(ended).tolist():
            by_task = not truncated[i] and len(actions[i]) <= MAX_RESPONSE_CHARS
            earned = float(rewards[i])
            reward = shaped(
                self.scheme, final["verdict"][i], earned, final["task"][i], by_task=by_task
            )
            parts = booked(self.scheme, _parts(final, i), earned, reward)
            _forget(final, "reward_parts", i)
            _put(final, "reward_parts", i, self.num_envs, parts)
            rewards[i] = reward
        return texts, rewards, terminated, truncated, infos


class EpisodeReward(_Wrapper):
    """Replaces the rewards that episodes end with by those of an `EpisodeScheme`.

    Args:
        env: a vector environment of this package's environments.
        scheme: what the reward is.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import Overlong
        >>> from rlvr_envs.wrappers.vector import EpisodeReward
        >>> envs = gymnasium.make_vec("rlvr/Gcd-v0", num_envs=2)
        >>> envs = EpisodeReward(envs, Overlong(limit=100, buffer=40))
        >>> prompts, infos = envs.reset(seed=0)
        >>> envs.step(["x" * 100, "x" * 80])[1]
        array([-1. , -0.5])
    """

    def __init__(self, env: Environments, scheme: EpisodeScheme) -> None:
        super().__init__(env)
        self.scheme = scheme
        self._mode = env.metadata["autoreset_mode"]
        self._logs = [EpisodeLog(i) for i in range(self.num_envs)]
        self._waiting = np.zeros(self.num_envs, dtype=np.bool_)

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Texts, Infos]:
        """Pose the next problems."""
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_))
        texts, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        seeds = self._seeds(seed)
        for i in np.flatnonzero(mask).tolist():
            self._logs[i].reseed(seeds[i])
            self._begin(i)
        return texts, infos

    def step(self, actions: Sequence[str]) -> tuple[Texts, Array, Array, Array, Infos]:
        """Give each environment its action; last steps have the scheme's reward."""
        texts, rewards, terminated, truncated, infos = self.env.step(actions)
        final = infos.get("final_info", infos)
        ended = final.get("_verdict", np.zeros(self.num_envs, dtype=np.bool_))
        rewards = np.array(rewards, dtype=np.float64)
        for i, log in enumerate(self._logs):
            if self._waiting[i]:
                if self._mode is AutoresetMode.NEXT_STEP:
                    self._begin(i)
                continue
            log.actions.append(actions[i])
            if not ended[i]:
                continue
            ending = {name: final[name][i] for name in ENDING} | {"truncated": truncated[i]}
            earned, before = float(rewards[i]), _parts(final, i)
            rewards[i], parts = log.settle(self.scheme, ending, earned, before)
            _forget(final, "reward_parts", i)
            _put(final, "reward_parts", i, self.num_envs, parts)
            self._waiting[i] = True
            if self._mode is AutoresetMode.SAME_STEP:
                self._begin(i)
        return texts, rewards, terminated, truncated, infos

    def _seeds(self, seed: int | Sequence[int | None] | None) -> list[int | None]:
        """Return a seed for each environment; a list may have one for each group."""
        given = [seed] if seed is None or isinstance(seed, (int, np.integer)) else list(seed)
        return [value for value in given for _ in range(self.num_envs // len(given))]

    def _begin(self, i: int) -> None:
        self._logs[i].begin()
        self._waiting[i] = False


class SearchR1Reward(ShapedReward):
    """The reward of Search-R1; the arguments are those of the wrapper for one environment.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers.vector import SearchR1Reward
        >>> envs = gymnasium.make_vec("rlvr/ChainSearch-v0", num_envs=2)
        >>> envs = SearchR1Reward(envs, structure=0.2, final=0.1)
    """

    def __init__(
        self,
        env: Environments,
        *,
        structure: float = 0.0,
        final: float = 0.0,
        retrieval: float = 0.0,
    ) -> None:
        super().__init__(env, SearchR1(structure=structure, final=final, retrieval=retrieval))


class ASearcherReward(ShapedReward):
    """The reward of ASearcher; the arguments are those of the wrapper for one environment.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers.vector import ASearcherReward
        >>> envs = gymnasium.make_vec("rlvr/ChainSearch-v0", num_envs=2)
        >>> envs = ASearcherReward(envs, measure="em")
    """

    def __init__(
        self, env: Environments, *, measure: str = "f1", decline_penalty: float = 0.0
    ) -> None:
        super().__init__(env, ASearcher(measure=measure, decline_penalty=decline_penalty))


class ToolCost(ShapedReward):
    """A price for calling tools; the arguments are those of the wrapper for one environment.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers.vector import ToolCost
        >>> envs = gymnasium.make_vec("rlvr/ChainSearch-v0", num_envs=2)
        >>> envs = ToolCost(envs, per_call=0.02)
    """

    def __init__(
        self,
        env: Environments,
        *,
        per_call: float = 0.01,
        per_result_char: float = 0.0,
        per_malformed: float = 0.0,
        cap: float | None = 0.5,
        charge: str = "earned",
    ) -> None:
        scheme = ToolCosts(
            per_call=per_call,
            per_result_char=per_result_char,
            per_malformed=per_malformed,
            cap=cap,
            charge=charge,
        )
        super().__init__(env, scheme)


class Horizon(_Wrapper):
    """Truncates episodes after so many turns; see the wrapper for one environment.

    A change of the horizon holds for the episodes that begin after it, in every autoreset mode.
    The environments have to be in this process: for an ``AsyncVectorEnv``, wrap each of them.

    Args:
        env: a vector environment of this package's environments.
        horizon: a number of turns from 1, or what returns it.
        announce: whether prompts end in a sentence with the number.

    Raises:
        ConfigError: the horizon is no number of turns, or the environments are elsewhere.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers.vector import Horizon
        >>> envs = Horizon(gymnasium.make_vec("rlvr/GuessNumber-v0", num_envs=2), 1)
        >>> prompts, infos = envs.reset(seed=0)
        >>> envs.step(["Hm.", "Hm."])[3]
        array([ True,  True])
    """

    def __init__(self, env: Environments, horizon: HorizonLike, *, announce: bool = False) -> None:
        super().__init__(env)
        members = getattr(env.unwrapped, "envs", None)
        if members is None:
            raise ConfigError(
                "the environments run in other processes: wrap each of them in "
                "rlvr_envs.wrappers.Horizon, and change it by set_attr('horizon', ...)"
            )
        self._horizon = checked(horizon)
        self._limits = [TurnLimit(member.unwrapped, horizon) for member in members]
        self._announce = announce

    @property
    def horizon(self) -> int:
        """The number of turns of an episode that begins now."""
        return turns(self._horizon)

    @horizon.setter
    def horizon(self, horizon: HorizonLike) -> None:
        self._horizon = checked(horizon)
        for limit in self._limits:
            limit.horizon = self._horizon

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Texts, Infos]:
        """Pose the next problems with the horizon of this moment."""
        texts, infos = self.env.reset(seed=seed, options=options)  # type: ignore[arg-type]
        return self._begin(texts, infos), infos

    def step(self, actions: Sequence[str]) -> tuple[Texts, Array, Array, Array, Infos]:
        """Give each environment its action; turns that reach the horizon are the last."""
        texts, rewards, terminated, truncated, infos = self.env.step(actions)
        final = infos.get("final_info", infos)
        ended = final.get("_verdict", np.zeros(self.num_envs, dtype=np.bool_))
        for i in np.flatnonzero(ended).tolist():
            _put(final, "horizon", i, self.num_envs, self._limits[i].current)
            if truncated[i] and self._limits[i].binding:
                _put(final, "truncated_by", i, self.num_envs, REASON)
        return self._begin(texts, infos), rewards, terminated, truncated, infos

    def _begin(self, texts: Texts, infos: Infos) -> Texts:
        """Set the limits of the episodes that have just begun, and tell all of them."""
        told = list(texts)
        for i in np.flatnonzero(infos.get("_turn", np.zeros(self.num_envs))).tolist():
            limit = self._limits[i]
            if infos["turn"][i] == 0:
                limit.begin()
                if self._announce:
                    told[i] += announcement(limit.current)
            _put(infos, "horizon", i, self.num_envs, limit.current)
        return tuple(told)


def _parts(infos: Infos, i: int) -> dict[str, float] | None:
    """Return the parts of a reward that a wrapper inside has booked."""
    if "reward_parts" not in infos or not infos["_reward_parts"][i]:
        return None
    parts = infos["reward_parts"]
    names = [name for name in parts if f"_{name}" in parts]
    return {name: float(parts[name][i]) for name in names if parts[f"_{name}"][i]}


def _forget(infos: Infos, name: str, i: int) -> None:
    """Take back what a wrapper inside has written into a nested info."""
    for array in infos.get(name, {}).values():
        if not isinstance(array, dict):
            array[i] = 0


def _put(infos: Infos, name: str, i: int, size: int, value: Any) -> None:
    """Write one environment's info as Gymnasium lays it out: arrays, masks, nested likewise."""
    if isinstance(value, dict):
        inner = infos.setdefault(name, {})
        for key, item in value.items():
            _put(inner, key, i, size, item)
    else:
        dtype = type(value) if isinstance(value, (int, float)) else object
        infos.setdefault(
            name, np.zeros(size, dtype) if dtype is not object else np.full(size, None)
        )
        infos[name][i] = value
    infos.setdefault(f"_{name}", np.zeros(size, dtype=np.bool_))[i] = True
