"""More problems of the kinds that fail (SwS)."""

from collections.abc import Sequence

from rlvr_envs.curricula._seeded import Arm, need_between, need_counts
from rlvr_envs.curricula._windowed import Windowed
from rlvr_envs.curricula.base import Problem


class Weakness(Windowed):
    """Draws kinds of problems in proportion to how often they fail.

    "SwS: Self-aware Weakness-driven Problem Synthesis in Reinforcement Learning for LLM Reasoning",
    which finds the kinds of problems that fail in a first training run, and makes new ones of each
    in proportion. Here the generators make them. A group fails if its mean score is below
    ``threshold``. For ``survey_steps`` all arms are drawn evenly; from then on with

        p = (1 - floor) * F / sum of F + floor / K,

    F being the share of an arm's last ``window`` groups that failed, and K the number of arms; if
    nothing fails, evenly. With weights, shares take the place of 1 / K and multiply F. The failure
    rule, the window that goes on moving and the floor are this project's; not verified against the
    paper's code.

    Args:
        arms: pairs of a task and a level, or None for any level.
        weights: the arms' shares, by which their chances are multiplied; None for equal ones.
        survey_steps: the training steps before weaknesses count.
        threshold: the mean score below which a group failed.
        window: how many groups an arm remembers.
        floor: the share of draws that stays even, so that nothing is forgotten.
        seed: of the draws.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.curricula import Weakness
        >>> curriculum = Weakness([("rlvr/Gcd-v0", 0), ("rlvr/Gcd-v0", 3)], survey_steps=1)
        >>> curriculum.record("rlvr/Gcd-v0", 0, [1.0, 1.0])
        >>> curriculum.record("rlvr/Gcd-v0", 3, [1.0, 0.0, 0.0])
        >>> curriculum.failures()
        [0.0, 1.0]
    """

    def __init__(  # noqa: PLR0913 - all but the first are keywords
        self,
        arms: Sequence[Arm],
        *,
        survey_steps: int,
        threshold: float = 0.5,
        window: int = 32,
        floor: float = 0.1,
        weights: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        need_counts(least=0, survey_steps=survey_steps)
        need_between(0, 1, threshold=threshold, floor=floor)
        settings = {"survey_steps": survey_steps, "threshold": threshold, "floor": floor}
        super().__init__(arms, window=window, weights=weights, seed=seed, **settings)
        self.survey_steps, self.threshold, self.floor = survey_steps, threshold, floor

    def failures(self) -> list[float]:
        """Return the share of each arm's groups that failed; 0 if there are none."""
        return [sum(failed) / len(failed) if failed else 0.0 for failed in self._recent]

    def chances(self) -> list[float]:
        """Return the probability of each arm."""
        surveyed = self.step >= self.survey_steps
        return self._by(self.failures(), self.floor) if surveyed else list(self.shares)

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        self._keep(arm, int(sum(scores) / len(scores) < self.threshold))
