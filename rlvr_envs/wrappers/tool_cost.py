"""A price for calling tools, as a wrapper."""

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.wrappers.schemes import ToolCosts
from rlvr_envs.wrappers.shaping import ShapedReward


class ToolCost(ShapedReward, RecordConstructorArgs):
    """Takes the price of an episode's calls from its reward, at its end.

    See `rlvr_envs.wrappers.schemes.ToolCosts` for the formula, and for why failures are free
    unless ``charge="always"``. It composes from the inside out: put around `SearchR1Reward` or
    `ASearcherReward` it takes the price from their reward, and around a bare environment from the
    verdict's score. Inside of them it has no effect, since they replace the reward.

    Args:
        env: an environment whose verdicts have the parts that a price is set on: ``calls``,
            ``result_chars``, ``malformed``.
        per_call: the price of a call.
        per_result_char: the price of a character that a tool returned.
        per_malformed: the price of a message without a readable call.
        cap: the most that an episode pays, between 0 and 1; None for no cap.
        charge: ``"earned"`` takes a share of what was earned, ``"always"`` the same from all.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import ToolCost
        >>> env = ToolCost(gymnasium.make("rlvr/ChainSearch-v0", difficulty=0), charge="always")
        >>> prompt, info = env.reset(seed=0)
        >>> env.step("<answer>nobody</answer>")[4]["reward_parts"]
        {'environment': 0.0, 'tool_cost': 0.0}
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        *,
        per_call: float = 0.01,
        per_result_char: float = 0.0,
        per_malformed: float = 0.0,
        cap: float | None = 0.5,
        charge: str = "earned",
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            per_call=per_call,
            per_result_char=per_result_char,
            per_malformed=per_malformed,
            cap=cap,
            charge=charge,
        )
        scheme = ToolCosts(
            per_call=per_call,
            per_result_char=per_result_char,
            per_malformed=per_malformed,
            cap=cap,
            charge=charge,
        )
        super().__init__(env, scheme)
