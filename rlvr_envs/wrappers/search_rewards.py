"""The rewards with which search agents were trained, as wrappers."""

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.wrappers.schemes import ASearcher, SearchR1
from rlvr_envs.wrappers.shaping import ShapedReward


class SearchR1Reward(ShapedReward, RecordConstructorArgs):
    """The reward of Search-R1: exact match, 1 or 0, or its variant with credit for form.

    See `rlvr_envs.wrappers.schemes.SearchR1` for the formula. The repository's variant with
    formats is ``SearchR1Reward(env, structure=0.2, final=0.1, retrieval=0.1)``.

    Args:
        env: an environment whose verdicts have the part ``em``; with credit for form also
            ``malformed``, and with credit for retrieval ``evidence_opened``.
        structure: of a wrong answer after well-formed messages, and what a right one loses.
        final: of a wrong answer after a message that was not well formed.
        retrieval: of a wrong answer, if all evidence was opened.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import SearchR1Reward
        >>> env = gymnasium.make("rlvr/ChainSearch-v0", difficulty=0)
        >>> env = SearchR1Reward(env, structure=0.2, final=0.1)
        >>> prompt, info = env.reset(seed=0)
        >>> env.step("<answer>nobody</answer>")[1]
        0.2
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        *,
        structure: float = 0.0,
        final: float = 0.0,
        retrieval: float = 0.0,
    ) -> None:
        RecordConstructorArgs.__init__(self, structure=structure, final=final, retrieval=retrieval)
        super().__init__(env, SearchR1(structure=structure, final=final, retrieval=retrieval))


class ASearcherReward(ShapedReward, RecordConstructorArgs):
    """The reward of ASearcher: F1 or exact match, times whether every message was well formed.

    See `rlvr_envs.wrappers.schemes.ASearcher` for the formula. The repository's penalty for a
    question that the answer calls invalid is ``decline_penalty=0.5``.

    Args:
        env: an environment whose verdicts have the parts ``f1`` (or ``em``) and ``malformed``;
            with a penalty also ``em`` and ``declined``.
        measure: ``"f1"`` or ``"em"``.
        decline_penalty: of saying that a question with an answer has none.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import ASearcherReward
        >>> env = ASearcherReward(gymnasium.make("rlvr/ChainSearch-v0", difficulty=0))
        >>> prompt, info = env.reset(seed=0)
        >>> env.step("<answer>nobody</answer>")[1]
        0.0
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        *,
        measure: str = "f1",
        decline_penalty: float = 0.0,
    ) -> None:
        RecordConstructorArgs.__init__(self, measure=measure, decline_penalty=decline_penalty)
        super().__init__(env, ASearcher(measure=measure, decline_penalty=decline_penalty))
