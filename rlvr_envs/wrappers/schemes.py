"""Reward schemes as pure functions: from a verdict, and the reward so far, to a reward.

A scheme reads the parts of a verdict, never a transcript: what a model writes about calls and
their results counts for nothing. No scheme changes a verdict. The wrappers that apply them are
beside this module, for one environment and, in `rlvr_envs.wrappers.vector`, for many.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.verdict import Verdict


class Scheme(Protocol):
    """What turns the end of an episode into its reward.

    Attributes:
        name: of the scheme, in ``info["reward_parts"]``.
        adds: whether its reward is the reward so far and something more; otherwise it replaces it.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import Scheme, ToolCosts
        >>> scheme: Scheme = ToolCosts(per_call=0.125)
        >>> scheme.needs, scheme.reward(Verdict.correct(calls=2), earned=1.0)
        (('calls',), 0.75)
    """

    name: ClassVar[str]
    adds: ClassVar[bool]

    @property
    def needs(self) -> tuple[str, ...]:
        """The parts that a verdict must have."""

    def reward(self, verdict: Verdict, earned: float) -> float:
        """Return the reward of a scored verdict that has the parts."""

    def cut_off(self, earned: float) -> float:
        """Return the reward of an episode that the environment ended and nobody counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchR1:
    """Search-R1: exact match, and optionally credit for form and for what was retrieved.

    With s = ``structure``, f = ``final`` and r = ``retrieval``, the reward is

    | the answer | every message well formed | some message is not |
    |---|---|---|
    | exact | 1 | 1 - s |
    | another, all evidence opened | s + r | f |
    | another | s | f |
    | none | 0 | 0 |

    The default is the paper's outcome reward, 1 or 0; the repository's variant with formats has
    s = 0.2, f = 0.1 and r = 0.1. There a message is well formed if it is nothing but thoughts in
    their tags and one call; here, if it has a call and ends with it. There the answer has been
    retrieved if its text stands in anything that looks like a result, also in one that the model
    wrote; here, if the pages that the answer rests on were opened.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import SearchR1
        >>> verdict = Verdict.wrong("another name", em=0, malformed=0)
        >>> SearchR1(structure=0.2, final=0.1).reward(verdict, earned=0.0)
        0.2
    """

    structure: float = 0.0
    final: float = 0.0
    retrieval: float = 0.0

    name: ClassVar[str] = "search_r1"
    adds: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name in ("structure", "final", "retrieval"):
            _check_number(name, getattr(self, name), below=1.0)
        consolation = max(self.final, self.structure + self.retrieval)
        if consolation >= 1 - self.structure:
            raise ConfigError(
                f"a wrong answer could earn {consolation:g}, and a right one "
                f"{1 - self.structure:g}: lower structure, final or retrieval"
            )

    @property
    def needs(self) -> tuple[str, ...]:
        """The parts that a verdict must have."""
        form = ("malformed",) if self.structure or self.final or self.retrieval else ()
        return ("em", *form, *(("evidence_opened",) if self.retrieval else ()))

    def reward(self, verdict: Verdict, earned: float) -> float:
        """Return the reward by the table above; ``earned`` does not matter."""
        parts = verdict.parts
        formed = "malformed" not in self.needs or well_formed(parts)
        if parts["em"] == 1.0:
            return 1.0 if formed else 1.0 - self.structure
        if not parts.get("answered", 1.0):
            return 0.0
        if not formed:
            return self.final
        found = self.retrieval > 0 and parts["evidence_opened"] == 1.0
        return self.structure + (self.retrieval if found else 0.0)

    def cut_off(self, earned: float) -> float:
        """Return 0: there was no answer."""
        return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ASearcher:
    """ASearcher: F1 or exact match, times whether every message was well formed.

    Where a verdict also has the measure against augmented answers (``f1_augmented``), the score is
    0.7 * score + 0.3 * max(score, augmented). An answer that says that a question has none, though
    it has one, earns ``-decline_penalty``; the repository takes 0.5 where the prompt said that the
    question is valid, and takes any answer with a word such as "question" or "appropriate" for
    such a claim, which is left out here.

    Attributes:
        measure: ``"f1"`` or ``"em"``.
        decline_penalty: from 0.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import ASearcher
        >>> ASearcher().reward(Verdict.graded(0.5, f1=0.5, malformed=0), earned=0.5)
        0.5
    """

    measure: str = "f1"
    decline_penalty: float = 0.0

    name: ClassVar[str] = "asearcher"
    adds: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.measure not in ("f1", "em"):
            hint = did_you_mean(self.measure, ("f1", "em"))
            raise ConfigError(f"measure is 'f1' or 'em', got {self.measure!r}{hint}")
        _check_number("decline_penalty", self.decline_penalty)

    @property
    def needs(self) -> tuple[str, ...]:
        """The parts that a verdict must have."""
        return (self.measure, "malformed", *(("em", "declined") if self.decline_penalty else ()))

    def reward(self, verdict: Verdict, earned: float) -> float:
        """Return the reward of an answer; ``earned`` does not matter."""
        parts = verdict.parts
        if self.decline_penalty and parts["declined"] and parts["em"] < 1.0:
            return -self.decline_penalty
        score = parts[self.measure]
        augmented = parts.get(f"{self.measure}_augmented")
        if augmented is not None:
            score = 0.7 * score + 0.3 * max(score, augmented)
        return score if well_formed(parts) else 0.0

    def cut_off(self, earned: float) -> float:
        """Return 0: there was no answer."""
        return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCosts:
    """A price for calls, for the length of their results and for messages without a call.

    The cost is ``per_call`` * calls + ``per_result_char`` * characters + ``per_malformed`` *
    malformed messages, at most ``cap``; a message without a call counts as a call too, where the
    environment counts it so. ``charge`` says what it is taken from:

    - ``"earned"``: reward - cost * max(reward, 0). An episode that earned nothing pays nothing, so
      while an agent still fails, making no calls is no better than making many.
    - ``"always"``: reward - cost. Of two failures the one with fewer calls is better, which is how
      agents unlearn to call tools; below the cap a right answer is still above every wrong one.

    With a cap in (0, 1), an episode of reward 1 stays above any of reward 0. No cap (None) has to
    be asked for: then a quick wrong answer may beat a right one that took many calls.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import ToolCosts
        >>> ToolCosts(per_call=0.125).reward(Verdict.correct(calls=2), earned=1.0)
        0.75
    """

    per_call: float = 0.01
    per_result_char: float = 0.0
    per_malformed: float = 0.0
    cap: float | None = 0.5
    charge: str = "earned"

    name: ClassVar[str] = "tool_cost"
    adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("per_call", "per_result_char", "per_malformed"):
            _check_number(name, getattr(self, name))
        if self.cap is not None and not (isinstance(self.cap, float) and 0 < self.cap < 1):
            raise ConfigError(
                f"cap is between 0 and 1, or None for no cap at all, got {self.cap!r}: from 1 on, "
                "wrong answers without calls could beat right ones with many"
            )
        if self.charge not in ("earned", "always"):
            hint = did_you_mean(self.charge, ("earned", "always"))
            raise ConfigError(f"charge is 'earned' or 'always', got {self.charge!r}{hint}")

    @property
    def _prices(self) -> dict[str, float]:
        prices = {
            "calls": self.per_call,
            "result_chars": self.per_result_char,
            "malformed": self.per_malformed,
        }
        return {part: price for part, price in prices.items() if price}

    @property
    def needs(self) -> tuple[str, ...]:
        """The parts that a verdict must have."""
        return tuple(self._prices)

    def reward(self, verdict: Verdict, earned: float) -> float:
        """Return what is left of the reward so far."""
        cost = sum(price * verdict.parts[part] for part, price in self._prices.items())
        return self._charged(cost, earned)

    def cut_off(self, earned: float) -> float:
        """Return what is left once the cap is paid: calls that nobody counted are not free.

        Raises:
            ConfigError: something would have to be paid, and there is no cap.
        """
        if self.cap is None and (self.charge == "always" or earned > 0):
            raise ConfigError(
                "an episode was cut off before its calls were counted, so what it pays is the cap, "
                "and there is none: give a cap, or a higher turn limit"
            )
        return self._charged(self.cap or 0.0, earned)

    def _charged(self, cost: float, earned: float) -> float:
        cost = cost if self.cap is None else min(cost, self.cap)
        return earned - cost * (max(earned, 0.0) if self.charge == "earned" else 1.0)


def well_formed(parts: Mapping[str, float]) -> bool:
    """Tell whether every message of an episode had a call and ended with it."""
    return parts["malformed"] == 0.0 and parts.get("trailing", 0.0) == 0.0


def _check_number(name: str, value: object, below: float = float("inf")) -> None:
    if not isinstance(value, (int, float)) or not 0 <= value < below:
        bound = f" and below {below:g}" if below < float("inf") else ""
        raise ConfigError(f"{name} is a number from 0{bound}, got {value!r}")
