"""Arms whose scores change most, up or down (absolute learning progress)."""

from collections.abc import Sequence

from rlvr_envs.curricula._seeded import Arm, need_between, need_counts
from rlvr_envs.curricula._windowed import Windowed
from rlvr_envs.curricula.base import Problem


class LearningProgress(Windowed):
    """Draws arms in proportion to how much their mean score has changed lately.

    Absolute learning progress, as the teachers that "Meta Automatic Curriculum Learning" (arXiv
    2011.08463) chooses between use it: Portelas et al., "Teacher algorithms for curriculum learning
    of Deep RL in continuously parameterized environments", arXiv 1910.07224. There it is fitted
    over continuous parameters by a mixture of Gaussians; here tasks and levels are arms. Of each
    arm the last ``window`` groups count, and

        progress = |mean score of the newer half - mean score of the older half|,
        p = (1 - floor) * progress / sum of progress + floor * share,

    with the shares alone while nothing has changed. An arm with fewer than two groups has no
    progress. The window and the floor of 0.2 (the paper's share of random tasks) are settings.

    Args:
        arms: pairs of a task and a level, or None for any level.
        window: how many groups an arm remembers, from 2.
        floor: the share of draws that does not follow progress, so that nothing is lost of sight.
        weights: the arms' shares, by which their chances are multiplied; None for equal ones.
        seed: of the draws.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.curricula import LearningProgress
        >>> curriculum = LearningProgress([("rlvr/Gcd-v0", 0), ("rlvr/Gcd-v0", 3)], window=2)
        >>> for score in (0.25, 0.75):
        ...     curriculum.record("rlvr/Gcd-v0", 3, [score])
        ...     curriculum.end_step()
        >>> curriculum.progress(), curriculum.chances()
        ([0.0, 0.5], [0.1, 0.9])
    """

    def __init__(
        self,
        arms: Sequence[Arm],
        *,
        window: int = 16,
        floor: float = 0.2,
        weights: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        need_counts(least=2, window=window)
        need_between(0, 1, floor=floor)
        super().__init__(arms, window=window, weights=weights, seed=seed, floor=floor)
        self.floor = floor

    def progress(self) -> list[float]:
        """Return by how much each arm's mean score has changed."""
        return [_change(list(recent)) for recent in self._recent]

    def chances(self) -> list[float]:
        """Return the probability of each arm."""
        return self._by(self.progress(), self.floor)

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        self._keep(arm, sum(scores) / len(scores))


def _change(means: Sequence[float]) -> float:
    half = len(means) // 2
    if not half:
        return 0.0
    older, newer = means[:half], means[len(means) - half :]
    return abs(sum(newer) - sum(older)) / half
