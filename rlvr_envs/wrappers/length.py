"""Rewards that depend on how much an agent writes."""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.wrappers.noise import check_probability
from rlvr_envs.wrappers.played import EpisodeReward, Played

Length = Callable[[str], int]

_LONGEST = 200  # bounds the time of a search in a hostile text
_CLOSING = " \t\r\n.$)]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Overlong:
    """DAPO's soft punishment of length (arXiv 2503.14476).

    With L for the length of all messages of the episode, it adds 0 up to ``limit - buffer``, then
    (limit - buffer - L) / buffer, and -1 beyond ``limit``; times ``factor``.

    Attributes:
        limit: the length from which on the punishment is full.
        buffer: over how much it grows, from 1 to ``limit``.
        factor: what is taken at most.
        length: of a text; characters unless told otherwise. For tokens:
            ``lambda text: len(tokenizer.encode(text))``.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import Overlong, Played
        >>> played = Played(verdict=Verdict.correct(), actions=("x" * 90,), earned=1.0, seed=0)
        >>> Overlong(limit=100, buffer=40).parts(played)
        {'overlong': -0.75}
    """

    limit: int
    buffer: int
    factor: float = 1.0
    length: Length = len

    name: ClassVar[str] = "overlong"
    adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole = all(type(n) is int for n in (self.limit, self.buffer))
        if not whole or not 1 <= self.buffer <= self.limit:
            raise ConfigError(
                f"need integers with 1 <= buffer <= limit, got {self.buffer!r} and {self.limit!r}"
            )
        if not 0.0 < self.factor < float("inf"):
            raise ConfigError(f"factor is a number above 0, got {self.factor!r}")

    def parts(self, played: Played) -> dict[str, float]:
        """Return the punishment, from ``-factor`` to 0."""
        over = sum(map(self.length, played.actions)) - (self.limit - self.buffer)
        return {self.name: -self.factor * min(max(over / self.buffer, 0.0), 1.0)}


class SoftOverlong(EpisodeReward, RecordConstructorArgs):
    r"""Takes from the reward of long episodes, as DAPO does; see `Overlong` for the arguments.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import SoftOverlong
        >>> env = SoftOverlong(gymnasium.make("rlvr/Gcd-v0", difficulty=0), limit=100, buffer=40)
        >>> prompt, info = env.reset(seed=0)
        >>> env.step("So " * 23 + r" it is \boxed{16}")[1]
        0.35
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        limit: int,
        buffer: int,
        *,
        factor: float = 1.0,
        length: Length = len,
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            _disable_deepcopy=True,  # a length may hold a tokenizer
            limit=limit,
            buffer=buffer,
            factor=factor,
            length=length,
        )
        scheme = Overlong(limit=limit, buffer=buffer, factor=factor, length=length)
        super().__init__(env, scheme)


def group_length_rewards(
    rewards: Sequence[float],
    lengths: Sequence[float],
    *,
    threshold: float = 0.5,
    strength: float = 0.2,
) -> list[float]:
    """Return the rewards of a group with shorter right answers ahead, if enough are right.

    Experimental: GRPO-lambda (arXiv 2505.18086) pays lengths only where most of a group is right,
    and outcomes elsewhere, since a penalty on length makes the accuracy of weak groups collapse.
    Its numbers were not found: ``threshold`` and ``strength`` are ours. It picks the groups among
    those of a batch, as `best_groups` does.

    Where the share of full rewards is at least ``threshold``, a right answer of length L has
    1 - strength * sigmoid((L - mean) / deviation), with mean and standard deviation of the right
    answers' lengths (Arora & Zanette, arXiv 2502.04463); everything else keeps its reward. NaN is
    an answer that was not scored, and stays so.

    Args:
        rewards: of the answers to one problem.
        lengths: of the same answers.
        threshold: the share of right answers, from 0 to 1.
        strength: what the longest right answers lose, from 0 and below 1.

    Raises:
        ConfigError: a number is out of range, or there is not a length for each reward.

    Examples:
        >>> from rlvr_envs.wrappers import group_length_rewards
        >>> rewards = group_length_rewards([1.0, 1.0, 0.0], [100, 300, 500])
        >>> [round(reward, 3) for reward in rewards]
        [0.946, 0.854, 0.0]
    """
    check_probability("threshold", threshold)
    if not 0.0 <= strength < 1.0:
        raise ConfigError(f"strength is a number from 0 and below 1, got {strength!r}")
    if len(rewards) != len(lengths):
        raise ConfigError(f"got {len(rewards)} rewards and {len(lengths)} lengths")
    right = [i for i, reward in enumerate(rewards) if reward == 1.0]
    scored = sum(not math.isnan(reward) for reward in rewards)
    paid = [float(reward) for reward in rewards]
    if not right or len(right) < threshold * scored:
        return paid
    mean = sum(lengths[i] for i in right) / len(right)
    deviation = math.sqrt(sum((lengths[i] - mean) ** 2 for i in right) / len(right))
    for i in right:
        z = (lengths[i] - mean) / deviation if deviation else 0.0
        paid[i] = 1.0 - strength / (1.0 + math.exp(-z))
    return paid


def best_groups(accuracies: Sequence[float], share: float) -> list[bool]:
    """Tell which groups of a batch are among the share with the highest accuracy.

    Experimental, as `group_length_rewards`. The number of groups is rounded down; of groups that
    are equal, the first ones are taken.

    Examples:
        >>> from rlvr_envs.wrappers import best_groups
        >>> best_groups([0.25, 1.0, 0.5, 0.75], share=0.5)
        [False, True, False, True]
    """
    check_probability("share", share)
    count = math.floor(share * len(accuracies) + 1e-9)
    order = sorted(range(len(accuracies)), key=lambda i: -accuracies[i])
    chosen = set(order[:count])
    return [i in chosen for i in range(len(accuracies))]


def external_redundancy(text: str, answer: str) -> float:
    """Return the share of a text that comes after the first mention of its answer.

    A mention stands by itself: 12 is not one of 2. 0 where there is none, and for answers of more
    than 200 characters, which are not looked for. Closing brackets and the closing answer tag at
    the end do not count, so nothing is taken from an answer alone.
    """
    text = text.rstrip(_CLOSING).removesuffix("</answer>").rstrip(_CLOSING)
    end = _mentioned(text, answer)
    return 0.0 if end is None else (len(text) - end) / len(text)


def _mentioned(text: str, answer: str) -> int | None:
    """Return where the first mention of an answer ends."""
    if not answer or len(answer) > _LONGEST:
        return None
    found = re.search(rf"(?<![\w.]){re.escape(answer)}(?!\w|\.\d)", text)
    return None if found is None else found.end()


def internal_redundancy(text: str, window: int = 16, threshold: float = 0.6) -> float:
    """Return the share of windows of words that say little beyond the window before.

    The windows do not overlap. Two are alike if the Jaccard index of their words, without case, is
    at least ``threshold``. The source compares embeddings of overlapping windows instead.
    """
    words = re.findall(r"\w+", text.casefold())
    windows = [frozenset(words[i : i + window]) for i in range(0, len(words) - window + 1, window)]
    pairs = list(pairwise(windows))
    alike = sum(len(a & b) >= threshold * len(a | b) for a, b in pairs)
    return alike / len(pairs) if pairs else 0.0


def boxed_or_tagged(text: str) -> str:
    r"""Return the final answer of a message: in its answer tags or its \boxed{}, else empty."""
    for label in ("tag", "boxed"):
        answer = answer_format(label).extract(text).answer
        if answer:
            return answer
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redundancy:
    r"""Takes from a right answer what its text says twice (after arXiv 2508.02178).

    The reward r becomes r - external * E - internal * I, where E is `external_redundancy` of the
    last message and I is `internal_redundancy` of its part before the first mention of the answer.
    Only episodes with full marks pay, so no penalty leads away from right answers.

    Experimental: the source measures I by embeddings and has factors and thresholds of its own,
    which were not checked here. A short answer, such as one digit, may be mentioned by chance long
    before it was found.

    Attributes:
        external: the weight of what follows the answer.
        internal: the weight of repetition before it; both together at most 1.
        answer: finds the final answer in a message, empty where there is none.

    Examples:
        >>> from rlvr_envs import Verdict
        >>> from rlvr_envs.wrappers import Played, Redundancy
        >>> text = r"It is \boxed{16}. Let me check that again, and once more."
        >>> played = Played(verdict=Verdict.correct(), actions=(text,), earned=1.0, seed=0)
        >>> {name: round(part, 2) for name, part in Redundancy().parts(played).items()}
        {'redundancy': -0.15}
    """

    external: float = 0.2
    internal: float = 0.1
    answer: Callable[[str], str] = boxed_or_tagged

    name: ClassVar[str] = "redundancy"
    adds: ClassVar[bool] = True

    def __post_init__(self) -> None:
        numbers = (
            check_probability("external", self.external),
            check_probability("internal", self.internal),
        )
        if sum(numbers) > 1.0:
            raise ConfigError(
                f"external and internal are at most 1 together, got {numbers[0]:g} and "
                f"{numbers[1]:g}: a right answer could earn less than a wrong one"
            )

    def parts(self, played: Played) -> dict[str, float]:
        """Return what is taken."""
        text = played.actions[-1]
        answer = self.answer(text) if played.verdict.score == 1.0 else ""
        if not answer:
            return {self.name: 0.0}
        before = text[: _mentioned(text, answer)]
        taken = self.external * external_redundancy(text, answer)
        return {self.name: -taken - self.internal * internal_redundancy(before)}


class RedundancyPenalty(EpisodeReward, RecordConstructorArgs):
    r"""Takes from right answers that repeat themselves or go on; see `Redundancy`. Experimental.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import RedundancyPenalty
        >>> env = RedundancyPenalty(gymnasium.make("rlvr/Gcd-v0", difficulty=0))
        >>> prompt, info = env.reset(seed=0)
        >>> env.step(r"\boxed{16}")[1]
        1.0
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        *,
        external: float = 0.2,
        internal: float = 0.1,
        answer: Callable[[str], str] = boxed_or_tagged,
    ) -> None:
        RecordConstructorArgs.__init__(
            self, _disable_deepcopy=True, external=external, internal=internal, answer=answer
        )
        super().__init__(env, Redundancy(external=external, internal=internal, answer=answer))
