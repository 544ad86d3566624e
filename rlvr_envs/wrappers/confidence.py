"""Answers with a confidence, as in RLCR (arXiv 2507.16806), and how good confidences are.

The model writes its answer, an analysis of it and the probability that it is right, and is paid by
a proper scoring rule beside the outcome, so that saying what it believes pays best.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS, Instance
from rlvr_envs.core.thoughts import spoken
from rlvr_envs.wrappers.played import EpisodeReward, Played

INSTRUCTION = (
    "Write your reply in three parts and in this order. First your answer, in the form that was "
    "asked for, between <answer> and </answer>. Then, between <analysis> and </analysis>, what "
    "speaks for and against that answer. Last, between <confidence> and </confidence>, the "
    "probability that your answer is right, as a number from 0 to 1. You may think before all "
    "that, between <think> and </think>."
)
TAGS = ("answer", "analysis", "confidence")
_NUMBER = re.compile(r"[01](?:\.[0-9]{0,16})?|\.[0-9]{1,16}")

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Confident:
    """What stands in a well-formed reply."""

    answer: str
    confidence: float


def read_confident(reply: str) -> Confident | None:
    """Return answer and confidence of a reply, None unless it has the three parts.

    After its thoughts a reply must have each of the tags exactly once and in order, nothing but
    white space around them, and a number from 0 to 1 as its confidence.
    """
    if len(reply) > MAX_RESPONSE_CHARS:
        return None
    rest, found = spoken(reply).strip(), []
    for tag in TAGS:
        opened, closed = f"<{tag}>", f"</{tag}>"
        if not rest.startswith(opened) or rest.count(opened) != 1 or rest.count(closed) != 1:
            return None
        inside, _, rest = rest.removeprefix(opened).partition(closed)
        rest = rest.lstrip()
        found.append(inside.strip())
    number = _NUMBER.fullmatch(found[2])
    if rest or not found[0] or number is None or float(number[0]) > 1.0:
        return None
    return Confident(found[0], float(number[0]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """RLCR's reward: format, accuracy and 1 - (accuracy - confidence)^2, each with a weight.

    Accuracy is 1 for full marks and else 0. All three are 0 where the last message is not well
    formed. With equal weights for accuracy and score this is the paper's
    accuracy - (confidence - accuracy)^2, up to a constant and a factor.

    Attributes:
        format: the weight of a well-formed message.
        accuracy: of a right answer.
        brier: of the confidence. A weight above that of accuracy would pay a sure failure more
            than an unsure success.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import Calibrated, Played
        >>> text = "<answer>16</answer><analysis>Easy.</analysis><confidence>0.5</confidence>"
        >>> played = Played(verdict=Verdict.correct(), actions=(text,), earned=1.0, seed=0)
        >>> Calibrated().parts(played)
        {'format': 0.5, 'accuracy': 0.5, 'brier': 0.375}
    """

    format: float = 0.5
    accuracy: float = 0.5
    brier: float = 0.5

    name: ClassVar[str] = "confidence"
    adds: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("format", "accuracy", "brier"):
            value = getattr(self, name)
            if not isinstance(value, (int, float)) or not 0.0 <= value < float("inf"):
                raise ConfigError(f"the weight {name} is a number from 0, got {value!r}")
        if self.brier > self.accuracy:
            raise ConfigError(
                f"brier must not weigh more than accuracy, got {self.brier:g} and "
                f"{self.accuracy:g}: an answer that is surely wrong could then pay best"
            )

    def parts(self, played: Played) -> dict[str, float]:
        """Return the three parts."""
        read = read_confident(played.actions[-1])
        right = float(played.verdict.score == 1.0)
        values = {"format": 0.0, "accuracy": 0.0, "brier": 0.0}
        if read is not None:
            values["format"] = self.format
            values["accuracy"] = self.accuracy * right
            values["brier"] = self.brier * (1.0 - (right - read.confidence) ** 2)
        return values


class CalibratedConfidence(EpisodeReward, RecordConstructorArgs):
    """Asks for a confidence beside the answer and pays for it; see `Calibrated` for the weights.

    The prompt ends in `INSTRUCTION`. Of a well-formed message, the environment gets what stands in
    the answer tags, in the task's own answer format if it is not in it already; of any other, the
    whole message. So the verdict is on the answer alone. Where the message was well formed,
    ``info["confidence"]`` is its number.

    Raises:
        ConfigError: a weight does not fit, or a task is interactive.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import CalibratedConfidence
        >>> env = CalibratedConfidence(gymnasium.make("rlvr/Gcd-v0", difficulty=0))
        >>> prompt, info = env.reset(seed=0)
        >>> analysis = "<analysis>Both are multiples of 16.</analysis><confidence>0.5</confidence>"
        >>> env.step(f"<answer>16</answer>{analysis}")[4]["reward_parts"]
        {'format': 0.5, 'accuracy': 0.5, 'brier': 0.375}
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        *,
        format: float = 0.5,  # noqa: A002 - the name of the part
        accuracy: float = 0.5,
        brier: float = 0.5,
    ) -> None:
        RecordConstructorArgs.__init__(self, format=format, accuracy=accuracy, brier=brier)
        super().__init__(env, Calibrated(format=format, accuracy=accuracy, brier=brier))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Pose the next problem and ask for a confidence."""
        prompt, info = super().reset(seed=seed, options=options)
        if self._instance.interactive:
            raise ConfigError(
                f"CalibratedConfidence needs tasks of one message, {info['task']} has several"
            )
        return f"{prompt}\n\n{INSTRUCTION}", info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Take the agent's text; tell its confidence at the end of an episode."""
        text, reward, terminated, truncated, info = super().step(action)
        read = read_confident(action) if terminated or truncated else None
        if read is not None:
            info["confidence"] = read.confidence
        return text, reward, terminated, truncated, info

    def handed(self, action: str) -> str:
        """Return the answer of a well-formed message, in the task's own format."""
        read = read_confident(action) if isinstance(action, str) else None
        if read is None:
            return action
        own = answer_format(self._instance.format_label)
        return read.answer if own.extract(read.answer).answer else own.wrap(read.answer)

    @property
    def _instance(self) -> Instance:
        base: Any = self.env.unwrapped
        return base.instance  # type: ignore[no-any-return]  # checked when it was wrapped


def brier_score(confidences: Sequence[float], right: Sequence[float]) -> float:
    """Return the mean of (confidence - right)^2: 0 is best, always saying 0.5 gives 0.25.

    Examples:
        >>> from rlvr_envs.wrappers import brier_score
        >>> brier_score([0.5, 0.5], [1, 0])
        0.25
    """
    sure, true = _checked(confidences, right)
    return float(np.mean((sure - true) ** 2))


def expected_calibration_error(
    confidences: Sequence[float], right: Sequence[float], bins: int = 10
) -> float:
    """Return how far confidence and accuracy are apart, on average over bins of equal width.

    A bin holds its lower end, the last one both ends; empty ones do not count.

    Examples:
        >>> from rlvr_envs.wrappers import expected_calibration_error
        >>> expected_calibration_error([0.75, 0.75], [1, 0])
        0.25
    """
    sure, true = _checked(confidences, right)
    if isinstance(bins, bool) or not isinstance(bins, int) or bins < 1:
        raise ConfigError(f"bins is an integer from 1, got {bins!r}")
    edges = np.arange(1, bins) / bins  # 3 / 10 is the number that "0.3" is read as
    bin_of = np.searchsorted(edges, sure, side="right")
    gaps = np.bincount(bin_of, weights=sure - true, minlength=bins)
    return float(np.abs(gaps).sum() / len(sure))


def auroc(confidences: Sequence[float], right: Sequence[float]) -> float:
    """Return the chance that a right answer has the higher confidence of a right and a wrong one.

    Ties count half. NaN where all answers are right, or none.

    Examples:
        >>> from rlvr_envs.wrappers import auroc
        >>> auroc([0.9, 0.8, 0.3], [1, 0, 0])
        1.0
    """
    sure, true = _checked(confidences, right)
    positives = int(true.sum())
    negatives = len(true) - positives
    if not positives or not negatives:
        return float("nan")
    _, which, counts = np.unique(sure, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[which]  # from 1; the mean rank of those tied
    above = ranks[true == 1.0].sum() - positives * (positives + 1) / 2
    return float(above / (positives * negatives))


def calibration(confidences: Sequence[float], right: Sequence[float]) -> dict[str, float]:
    """Return accuracy, Brier score, expected calibration error and AUROC by name.

    Examples:
        >>> from rlvr_envs.wrappers import calibration
        >>> calibration([1.0, 0.5], [1, 0])
        {'accuracy': 0.5, 'brier': 0.125, 'ece': 0.25, 'auroc': 1.0}
    """
    return {
        "accuracy": float(np.mean(_checked(confidences, right)[1])),
        "brier": brier_score(confidences, right),
        "ece": expected_calibration_error(confidences, right),
        "auroc": auroc(confidences, right),
    }


def _checked(confidences: Sequence[float], right: Sequence[float]) -> tuple[Floats, Floats]:
    sure, true = np.asarray(confidences, np.float64), np.asarray(right, np.float64)
    if sure.ndim != 1 or sure.shape != true.shape or not len(sure):
        raise ConfigError(
            f"need a confidence and an outcome for each answer, got shapes {sure.shape} and "
            f"{true.shape}"
        )
    if not ((sure >= 0.0) & (sure <= 1.0)).all() or not np.isin(true, (0.0, 1.0)).all():
        raise ConfigError("confidences are numbers from 0 to 1, and outcomes are 0 or 1")
    return sure, true
