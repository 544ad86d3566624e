"""What a verifier says about one answer.

A verdict is not a reward: environments use its score as the reward of a step, and wrappers
may shape that, but a verifier only ever says how right an answer is and why.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from rlvr_envs.core.errors import RowError


class Status(StrEnum):
    """Why a score is what it is.

    Examples:
        >>> from rlvr_envs import Status
        >>> [str(status) for status in Status]
        ['correct', 'partial', 'wrong', 'unparsable', 'undecided', 'timeout', 'verifier_error']
    """

    CORRECT = "correct"  # full marks
    PARTIAL = "partial"  # some credit, where a task grants it
    WRONG = "wrong"  # the answer was read and is not right
    UNPARSABLE = "unparsable"  # no answer could be read
    UNDECIDED = "undecided"  # the answer was read, or refused for its size, and not decided
    TIMEOUT = "timeout"  # judging this answer took longer than any honest answer needs
    VERIFIER_ERROR = "verifier_error"  # our fault or the machine's: not scored


_ZERO = frozenset(Status) - {Status.CORRECT, Status.PARTIAL}


@dataclass(frozen=True, slots=True)
class Verdict:
    """A score in [0, 1], the status behind it, and the reason in words.

    Attributes:
        score: credit in [0, 1]; full marks if and only if the status is ``correct``.
        status: why the score is what it is.
        detail: a sentence that may be shown to the model; it never holds the right answer.
        parts: named numbers behind the score, such as ``{"quality": 0.93}``.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> Verdict.graded(0.4, "2 of 5 tests passed", passed=2).status
        <Status.PARTIAL: 'partial'>
        >>> Verdict.wrong("7 is not prime").score
        0.0
        >>> Verdict.verifier_error("the solver crashed").scored
        False
    """

    score: float
    status: Status
    detail: str = ""
    parts: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.status is Status.CORRECT and self.score == 1.0:
            return
        if not 0.0 <= self.score <= 1.0:  # also refuses NaN
            raise ValueError(f"a score is a number in [0, 1], got {self.score!r}")
        if (self.score == 1.0) != (self.status is Status.CORRECT):
            raise ValueError(f"full marks and {self.status.value!r} with score {self.score} clash")
        if self.status in _ZERO and self.score != 0.0:
            raise ValueError(f"{self.status.value!r} earns 0, got {self.score}")

    @property
    def scored(self) -> bool:
        """Whether the score says anything about the answer; training leaves out the rest."""
        return self.status is not Status.VERIFIER_ERROR

    @classmethod
    def correct(cls, detail: str = "", **parts: float) -> "Verdict":
        """Full marks."""
        return cls(1.0, Status.CORRECT, detail, parts)

    @classmethod
    def graded(cls, score: float, detail: str = "", **parts: float) -> "Verdict":
        """Credit in [0, 1]; the status follows from the score."""
        if score == 1.0:
            return cls(1.0, Status.CORRECT, detail, parts)
        status = Status.PARTIAL if score > 0.0 else Status.WRONG
        return cls(score, status, detail, parts)

    @classmethod
    def wrong(cls, detail: str, **parts: float) -> "Verdict":
        """No credit: the answer was read and is not right."""
        return cls(0.0, Status.WRONG, detail, parts)

    @classmethod
    def unparsable(cls, detail: str, **parts: float) -> "Verdict":
        """No credit: no answer could be read."""
        return cls(0.0, Status.UNPARSABLE, detail, parts)

    @classmethod
    def undecided(cls, detail: str, **parts: float) -> "Verdict":
        """No credit: the answer may be right, but it was not decided whether it is."""
        return cls(0.0, Status.UNDECIDED, detail, parts)

    @classmethod
    def timeout(cls, detail: str, **parts: float) -> "Verdict":
        """No credit: judging the answer took longer than any honest answer needs."""
        return cls(0.0, Status.TIMEOUT, detail, parts)

    @classmethod
    def verifier_error(cls, detail: str, **parts: float) -> "Verdict":
        """Not scored: the verifier or the machine failed, not the answer."""
        return cls(0.0, Status.VERIFIER_ERROR, detail, parts)

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as a JSON object."""
        return {
            "score": self.score,
            "status": self.status.value,
            "detail": self.detail,
            "parts": dict(self.parts),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Verdict":
        """Rebuild the verdict that `to_json` wrote.

        Raises:
            RowError: a field is missing or does not fit.
        """
        try:
            return cls(
                float(data["score"]),
                Status(data["status"]),
                str(data.get("detail", "")),
                dict(data.get("parts", {})),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise RowError(f"not a verdict: {dict(data)!r} ({error})") from error
