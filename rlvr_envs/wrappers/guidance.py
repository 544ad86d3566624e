"""Guidance: a failed attempt is answered by a hint, and the agent tries again."""

from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.wrappers.attempts import Attempt, Attempts
from rlvr_envs.wrappers.hints import HintSequence, HintsOf, hints_of, solution_prefixes
from rlvr_envs.wrappers.retry import Feedback, criticism


class GuidanceAfterFailure(Attempts, RecordConstructorArgs):
    r"""Answers a failed attempt by guidance, and has the agent try again (Agent-RLVR, 2506.11425).

    The guidance is what the verdict says and, each time, the next stronger hint; or what
    ``guidance`` returns. The reward is that of the last attempt by what is wrapped, and attempts
    before it earn nothing. At the end, ``info["guidance"]`` has the texts that were shown.

    Args:
        env: an environment of this package.
        attempts: the most that an episode has.
        guidance: called with the instance, the verdict and the action; returns what is shown.
        hints: without ``guidance``: called with the instance; returns hints from the weakest to
            the strongest. Or ``"reference"``, ``"worked"`` or ``"solution"``.
        reveal: whether the strongest hint is the oracle's answer itself.

    Raises:
        ConfigError: an argument is out of range, or the guidance is no text.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import GuidanceAfterFailure
        >>> env = GuidanceAfterFailure(gymnasium.make("rlvr/WordProblem-v0", difficulty=0))
        >>> prompt, info = env.reset(seed=0)
        >>> print(env.step(r"\boxed{7}")[0])
        That is not right: the answer was read and is not right (compared as numbers). Try again.
        <BLANKLINE>
        Hint, how a worked solution begins:
        ration packs in the Birch module: 29
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        *,
        attempts: int = 2,
        guidance: Feedback | None = None,
        hints: HintsOf | str = solution_prefixes,
        reveal: bool = False,
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            _disable_deepcopy=True,
            attempts=attempts,
            guidance=guidance,
            hints=hints,
            reveal=reveal,
        )
        super().__init__(env, attempts)
        if guidance is not None and not callable(guidance):
            raise ConfigError(f"guidance is called with an instance, got {guidance!r:.80}")
        self._guidance = guidance
        self._hints = hints_of(hints)
        self._reveal = reveal
        self._shown: list[str] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem."""
        self._shown = []
        return super().reset(seed=seed, options=options)

    def _feedback(self, attempt: Attempt) -> str:
        if self._guidance is not None:
            shown = self._guidance(attempt.instance, attempt.verdict, attempt.action)
        else:
            sequence = HintSequence(attempt.instance, self._hints, reveal=self._reveal)
            _, hint = sequence.at(attempt.number)
            said = criticism(attempt.verdict)
            shown = f"{said}\n\n{hint}" if hint else said
        self._shown.append(shown)
        return shown

    def _outcome(self) -> dict[str, Any]:
        return {**super()._outcome(), "guidance": tuple(self._shown)}
