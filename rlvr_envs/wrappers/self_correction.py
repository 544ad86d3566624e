"""Self-correction: a second attempt at every problem, without a word about the first."""

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.instance import Instance
from rlvr_envs.wrappers.attempts import Attempt, Attempts, one_turn_only
from rlvr_envs.wrappers.retry import number

REVISE = (
    "Check what you have written. If there is a mistake in it, correct it; "
    "then give your final answer again."
)


class SelfCorrection(Attempts, RecordConstructorArgs):
    r"""Asks for a second answer, right or wrong the first (SCoRe, arXiv 2409.12917).

    With r1 and r2 for the rewards of the two by what is wrapped, the episode earns
    r2 + alpha * (r2 - r1) with its second step and nothing with the first.
    ``info["reward_parts"]`` has them as ``second`` and ``progress``. What is shown in between is
    the same whatever the first answer was.

    Args:
        env: an environment of this package.
        alpha: from 0.

    Raises:
        ConfigError: alpha is out of range; at a reset, the task has several turns.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import SelfCorrection
        >>> env = SelfCorrection(gymnasium.make("rlvr/Gcd-v0", difficulty=0))
        >>> prompt, info = env.reset(seed=0)
        >>> step = env.step(r"\boxed{7}")
        >>> env.step(r"\boxed{16}")[1]
        2.0
    """

    def __init__(self, env: gymnasium.Env[str, str], *, alpha: float = 1.0) -> None:
        RecordConstructorArgs.__init__(self, alpha=alpha)
        super().__init__(env, 2)
        self._alpha = number("alpha", alpha)

    def _check(self, instance: Instance) -> None:
        one_turn_only(self, instance, "how an episode ends tells whether it was right")

    def _again(self, attempt: Attempt) -> bool:
        return True

    def _feedback(self, attempt: Attempt) -> str:
        return REVISE

    def _parts(self, attempt: Attempt, *, last: bool) -> dict[str, float]:
        if not last:
            return {}
        first, second = (made.reward for made in self._made)
        return {"second": second, "progress": self._alpha * (second - first)}
