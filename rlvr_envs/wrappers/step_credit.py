"""Step credit: a reward for the steps of a solution besides its answer."""

from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.wrappers.shaping import check_wraps_text


class StepCredit(gymnasium.Wrapper[str, str, str, str], RecordConstructorArgs):
    r"""Pays for right steps as well as for the right answer ("On the Interplay", arXiv 2512.07783).

    With r for the reward of what is wrapped and c for the share of the needed steps that the last
    message works out rightly, an episode ends with (1 - weight) * r + weight * c; with ``strict``
    with r if c is 1, and else with nothing. ``info["step_credit"]`` is c, and
    ``info["reward_parts"]`` has ``outcome`` and ``steps``. The verdict stays as it is.

    Args:
        env: an environment whose tasks read steps (`Task.step_credit`), such as WordProblem-v0.
        weight: of the steps, in [0, 1].
        strict: whether only a solution all of whose steps are right earns anything.

    Raises:
        ConfigError: the weight is out of range; at the end of an episode, the task reads no steps.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import StepCredit
        >>> env = StepCredit(gymnasium.make("rlvr/WordProblem-v0", difficulty=0), weight=0.75)
        >>> prompt, info = env.reset(seed=0)
        >>> steps = "air filters in the River module: 12 + 29 = 41\n"  # the last of three
        >>> env.step(steps + r"\boxed{41}")[4]["reward_parts"]
        {'outcome': 0.25, 'steps': 0.25}
    """

    def __init__(
        self, env: gymnasium.Env[str, str], *, weight: float = 0.5, strict: bool = False
    ) -> None:
        RecordConstructorArgs.__init__(self, weight=weight, strict=strict)
        super().__init__(env)
        check_wraps_text(self, env.unwrapped)
        if not isinstance(weight, (int, float)) or not 0.0 <= weight <= 1.0:
            raise ConfigError(f"weight is a number from 0 to 1, got {weight!r}")
        self._weight, self._strict = float(weight), strict

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the agent's text; the reward of the last step is shared with the steps."""
        text, earned, terminated, truncated, info = self.env.step(action)
        if not (terminated or truncated):
            return text, float(earned), terminated, truncated, info
        if not info["scored"]:
            return text, 0.0, terminated, truncated, {**info, "reward_parts": {}}
        base: TextEnv = self.env.unwrapped  # type: ignore[assignment]  # checked when wrapped
        instance = base.instance
        credit = instance.task.step_credit(instance.problem, action)
        if credit is None:
            raise ConfigError(f"{info['task']} reads no steps of a solution: it has no step_credit")
        parts = {"outcome": float(earned) * float(credit == 1.0), "steps": 0.0}
        if not self._strict:
            parts = {"outcome": (1 - self._weight) * float(earned), "steps": self._weight * credit}
        told = {**info, "step_credit": credit, "reward_parts": parts}
        return text, sum(parts.values()), terminated, truncated, told
