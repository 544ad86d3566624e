"""Retries: a failed attempt is answered, and the agent tries again."""

import unicodedata
from collections.abc import Callable
from typing import Any

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.wrappers.attempts import Attempt, Attempts, one_turn_only

Feedback = Callable[[Instance, Verdict, str], str]
INCORRECT = "Incorrect. Please think again."


class UnaryRetry(Attempts, RecordConstructorArgs):
    r"""Answers every failed attempt by the same words (UFO, arXiv 2507.14295).

    The agent is told that it is wrong and nothing else, whatever was wrong. With t for the number
    of attempts before the last one, the last step earns

        decay**t * r - repetition * (1 - E / T)

    where r is the reward of the last attempt by what is wrapped, T the number of answers that
    could be read and E the number of distinct ones among them; without any the second term is 0.
    Each step whose answer could not be read costs ``malformed``, and uses up an attempt.

    ``info["reward_parts"]`` has ``answer``, ``repetition`` and ``malformed``, each where it is not
    left out. Answers that differ in case, width or spaces alone are one.

    Args:
        env: an environment of this package.
        attempts: the most that an episode has.
        decay: the paper's gamma, in [0, 1].
        repetition: the paper's lambda, from 0. With 0, tasks of several turns may be wrapped too:
            what they end with is not an answer that could be compared.
        malformed: from 0.

    Raises:
        ConfigError: an argument is out of range; at a reset, the task has several turns.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import UnaryRetry
        >>> env = UnaryRetry(gymnasium.make("rlvr/Gcd-v0", difficulty=0), attempts=3)
        >>> prompt, info = env.reset(seed=0)
        >>> env.step(r"\boxed{7}")[0]
        'Incorrect. Please think again.'
        >>> env.step(r"\boxed{16}")[1]
        0.5
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        *,
        attempts: int = 5,
        decay: float = 0.5,
        repetition: float = 0.5,
        malformed: float = 0.1,
    ) -> None:
        RecordConstructorArgs.__init__(
            self, attempts=attempts, decay=decay, repetition=repetition, malformed=malformed
        )
        super().__init__(env, attempts)
        self._decay = number("decay", decay, most=1.0)
        self._repetition = number("repetition", repetition)
        self._malformed = number("malformed", malformed)

    def _check(self, instance: Instance) -> None:
        if self._repetition:
            one_turn_only(self, instance, "set repetition=0, which does without comparing answers")

    def _feedback(self, attempt: Attempt) -> str:
        return INCORRECT

    def _parts(self, attempt: Attempt, *, last: bool) -> dict[str, float]:
        parts = {}
        if attempt.verdict.status is Status.UNPARSABLE:
            parts["malformed"] = -self._malformed
        if last:
            parts["answer"] = self._decay ** (attempt.number - 1) * attempt.reward
            if self._repetition:
                answers = [made.answer() for made in self._made]
                repeated = repeated_share([answer for answer in answers if answer is not None])
                parts["repetition"] = 0.0 - self._repetition * repeated
        return parts


class VerbalRetry(Attempts, RecordConstructorArgs):
    r"""Tells the agent what was wrong, and has it try again (RLTF, arXiv 2602.02482).

    What is shown is the verdict's detail, which never holds the right answer, or what ``feedback``
    returns. The reward is that of the last attempt by what is wrapped; attempts before it earn
    nothing.

    At the end ``info["attempt_scores"]`` has the scores of the attempts, for the baseline of
    RLTF's self-distillation: the advantage of a second attempt is its score less the mean of the
    group's first scores. ``info["feedback"]`` has the texts that were shown, which its feedback
    modelling predicts. An episode whose first attempt is right has no second one.

    Args:
        env: an environment of this package.
        attempts: the most that an episode has.
        feedback: called with the instance, the verdict and the action; returns what is shown. It
            is up to it not to tell the answer, which the instance knows.

    Raises:
        ConfigError: an argument is out of range, or the feedback is no text.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import VerbalRetry
        >>> env = VerbalRetry(gymnasium.make("rlvr/Gcd-v0", difficulty=0))
        >>> prompt, info = env.reset(seed=0)
        >>> env.step("I do not know.")[0]
        'That is not right: no complete \\boxed{} was found. Try again.'
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        *,
        attempts: int = 2,
        feedback: Feedback | None = None,
    ) -> None:
        RecordConstructorArgs.__init__(
            self, _disable_deepcopy=True, attempts=attempts, feedback=feedback
        )
        super().__init__(env, attempts)
        if feedback is not None and not callable(feedback):
            raise ConfigError(
                f"feedback is called with an instance, a verdict and an action, got {feedback!r}"
            )
        self._source = feedback or (lambda instance, verdict, action: criticism(verdict))
        self._shown: list[str] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem."""
        self._shown = []
        return super().reset(seed=seed, options=options)

    def _feedback(self, attempt: Attempt) -> str:
        shown = self._source(attempt.instance, attempt.verdict, attempt.action)
        self._shown.append(shown)
        return shown

    def _outcome(self) -> dict[str, Any]:
        return {**super()._outcome(), "feedback": tuple(self._shown)}


def criticism(verdict: Verdict) -> str:
    """Return what a verdict says to the one whose answer it is about."""
    detail = verdict.detail.strip()
    wrong = "That is not fully right" if verdict.status is Status.PARTIAL else "That is not right"
    if not detail:
        return f"{wrong}. Try again."
    return f"{wrong}: {detail if detail[-1] in '.!?' else detail + '.'} Try again."


def repeated_share(answers: list[str]) -> float:
    """Return the share of answers that were given before, 1 - E / T."""
    return 1.0 - len({_normal(answer) for answer in answers}) / len(answers) if answers else 0.0


def number(name: str, value: object, *, most: float = float("inf")) -> float:
    """Return a number from 0 to ``most``; raise `ConfigError` if it is none."""
    good = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not good or not 0 <= value <= most or value == float("inf"):  # type: ignore[operator]
        bound = f" to {most:g}" if most < float("inf") else ""
        raise ConfigError(f"{name} is a number from 0{bound}, got {value!r}")
    return float(value)  # type: ignore[arg-type]


def _normal(answer: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", answer).casefold().split())
