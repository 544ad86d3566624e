"""Several attempts at one problem within an episode: what the wrappers of that kind share."""

from dataclasses import dataclass
from typing import Any

import gymnasium

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.env import MAX_OBSERVATION_CHARS, TextEnv
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.problem import to_json
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.wrappers.shaping import check_wraps_text

RESTART = "The task starts over from where it began."


@dataclass(frozen=True, slots=True)
class Attempt:
    r"""An episode of what is wrapped, which is one attempt of the episode around it.

    Attributes:
        number: from 1.
        instance: the problem.
        action: the text that ended the attempt.
        turns: that it took.
        verdict: that it ended with.
        reward: that what is wrapped gave at its end.
        parts: where that reward comes from; they add up to it.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import Attempt, Attempts
        >>> class Repeated(Attempts):
        ...     def _feedback(self, attempt: Attempt) -> str:
        ...         return f"{attempt.answer()} is wrong."
        >>> env = Repeated(gymnasium.make("rlvr/Gcd-v0", difficulty=0), attempts=2)
        >>> prompt, info = env.reset(seed=0)
        >>> env.step(r"\boxed{7}")[0]
        '7 is wrong.'
    """

    number: int
    instance: Instance
    action: str
    turns: int
    verdict: Verdict
    reward: float
    parts: dict[str, float]

    def answer(self) -> str | None:
        """Return the answer in the action, None where there is none that can be read."""
        if self.verdict.status is Status.UNPARSABLE:
            return None
        return answer_format(self.instance.format_label).extract(self.action).answer


class Attempts(gymnasium.Wrapper[str, str, str, str]):
    """Poses a problem again, in the same episode, until it is solved or attempts run out.

    An attempt is an episode of what is wrapped, so wrappers inside see each attempt as an episode
    and those outside see all of them as one. After an attempt of a task of several turns the next
    one starts over. The agent is shown a feedback and not the prompt again.

    ``info["verdict"]`` is that of the last attempt, unchanged; attempts before it have none in
    their infos. ``info["attempt"]`` is the number of the attempt that runs or was the last, and at
    the end ``info["attempt_scores"]`` has the score of each. ``info["turn"]`` counts the turns of
    all. An attempt that is not scored ends the episode, which then is not scored either.

    Args:
        env: an environment of this package, wrapped or not.
        attempts: the most that an episode has.

    Raises:
        ConfigError: the number is none, or a wrapper inside does not go with this one.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import Attempts, UnaryRetry
        >>> isinstance(UnaryRetry(gymnasium.make("rlvr/Gcd-v0")), Attempts)
        True
    """

    def __init__(self, env: gymnasium.Env[str, str], attempts: int) -> None:
        super().__init__(env)
        check_wraps_text(self, env.unwrapped)
        if isinstance(attempts, bool) or not isinstance(attempts, int) or attempts < 1:
            raise ConfigError(f"attempts is an integer from 1, got {attempts!r}")
        inside: object = env
        while isinstance(inside, gymnasium.Wrapper):
            if isinstance(inside, Attempts) or getattr(inside, "prompts_once", False):
                raise ConfigError(
                    f"{type(self).__name__} goes inside of {type(inside).__name__}, or without it: "
                    "an attempt is posed without a prompt"
                )
            inside = inside.env
        self._most = attempts
        self._made: list[Attempt] = []
        self._turns = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem.

        Raises:
            ConfigError: the wrapper is of no use for the task that poses it.
        """
        prompt, info = self.env.reset(seed=seed, options=options)
        self._check(self._base.instance)
        self._made, self._turns = [], 0
        return prompt, {**info, "attempt": 1}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the agent's text; a failed attempt is answered by a feedback and a new attempt."""
        text, earned, terminated, truncated, info = self.env.step(action)
        self._turns += 1
        info = {**info, "turn": self._turns, "attempt": len(self._made) + 1}
        if not (terminated or truncated):
            return text, float(earned), terminated, truncated, info
        attempt = Attempt(
            number=len(self._made) + 1,
            instance=self._base.instance,
            action=action,
            turns=self._turns - sum(made.turns for made in self._made),
            verdict=info["verdict"],
            reward=float(earned),
            parts=dict(info.get("reward_parts") or {"environment": float(earned)}),
        )
        self._made.append(attempt)
        last = attempt.number >= self._most or not self._again(attempt)
        if not attempt.verdict.scored:
            return text, 0.0, terminated, truncated, {**info, **self._outcome(), "reward_parts": {}}
        parts = self._parts(attempt, last=last)
        reward = float(sum(parts.values()))
        if last:
            told = {**info, **self._outcome(), "reward_parts": parts}
            return text, reward, terminated, truncated, told
        info = {**self._reopen(), "void_turn": info.get("void_turn", False)}
        if parts:
            info["reward_parts"] = parts
        return self._told(attempt), reward, False, False, info

    def _check(self, instance: Instance) -> None:
        """Raise `ConfigError` where the wrapper is of no use for a problem."""

    def _again(self, attempt: Attempt) -> bool:
        """Tell whether another attempt follows, if there is one left."""
        return attempt.verdict.status is not Status.CORRECT

    def _feedback(self, attempt: Attempt) -> str:
        """Return what the agent is told before its next attempt."""
        raise NotImplementedError

    def _parts(self, attempt: Attempt, *, last: bool) -> dict[str, float]:
        """Return where the reward of an attempt's last step comes from; by default the last's."""
        return attempt.parts if last else {}

    def _outcome(self) -> dict[str, Any]:
        """Return what the info of the last step has beside the verdict."""
        return {"attempt_scores": tuple(attempt.verdict.score for attempt in self._made)}

    @property
    def _base(self) -> TextEnv:
        base: Any = self.env.unwrapped
        return base  # type: ignore[no-any-return]  # checked when it was wrapped

    def _told(self, attempt: Attempt) -> str:
        feedback: object = self._feedback(attempt)
        if not isinstance(feedback, str):
            raise ConfigError(f"what is shown after an attempt is text, got {feedback!r:.80}")
        lost = attempt.instance.interactive or attempt.turns > 1  # tools have a state too
        told = f"{feedback}\n\n{RESTART}" if lost else feedback
        if len(told) > MAX_OBSERVATION_CHARS:
            raise ConfigError(
                f"what is shown after an attempt has {len(told)} characters, the limit is "
                f"{MAX_OBSERVATION_CHARS}: shorten it"
            )
        return told

    def _reopen(self) -> dict[str, Any]:
        """Pose the same problem again, with the turn limit of the first attempt."""
        limit = self._base.turn_limit
        _, info = self.env.reset(options={"problem": _row(self._base.instance)})
        self._base.turn_limit = limit
        return {**info, "turn": self._turns, "attempt": len(self._made) + 1}


def one_turn_only(wrapper: object, instance: Instance, why: str) -> None:
    """Raise `ConfigError` for a task of several turns."""
    if instance.interactive:
        raise ConfigError(
            f"{type(wrapper).__name__} needs a task that is answered in one message, and "
            f"{instance.spec.id} has several turns: {why}"
        )


def _row(instance: Instance) -> dict[str, Any]:
    """Return what poses the very same problem, without working out its prompt and reference."""
    return {
        "id": instance.spec.id,
        "config": to_json(instance.task.config),
        "difficulty": instance.difficulty,
        "problem_seed": instance.problem_seed,
        "answer_format": instance.format_label,
        "problem": to_json(instance.problem),
    }
