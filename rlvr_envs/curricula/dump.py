"""A bandit that goes where advantages are large (DUMP)."""

from collections.abc import Sequence
from math import log, sqrt
from typing import Any

import numpy as np

from rlvr_envs.curricula._seeded import Arm, find, need_between, scaled, softmax
from rlvr_envs.curricula._windowed import Windowed
from rlvr_envs.curricula.base import Problem


class Dump(Windowed):
    """Draws arms by the upper confidence bound of their mean absolute advantage.

    Wang et al., "DUMP: Automated Distribution-Level Curriculum Learning for RL-based LLM
    Post-training", arXiv 2504.09710. Of each arm the last ``window`` absolute advantages are kept,
    with mean mu, and n counts its episodes since the beginning. At the end of a step

        score = mu + sqrt(2 * ln(N + 1) / (n + 1)),   p = softmax(score / temperature),

    N being the sum of all n, at least 1. Advantages are group-relative, (r - mean) / (std + 1e-6)
    with the sample's standard deviation; a group of one has none, and counts as 0.

    Window 300 and temperature 0.1 are those of the authors' code.

    Args:
        arms: pairs of a task and a level, or None for any level.
        weights: the arms' shares, by which their chances are multiplied; None for equal ones.
        window: how many advantages an arm keeps.
        temperature: of the softmax.
        seed: of the draws.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.curricula import Dump
        >>> curriculum = Dump([("rlvr/Gcd-v0", 0), ("rlvr/Gcd-v0", 3)])
        >>> curriculum.record("rlvr/Gcd-v0", 0, [1.0, 1.0, 1.0, 1.0])
        >>> curriculum.record("rlvr/Gcd-v0", 3, [1.0, 0.0, 1.0, 0.0])
        >>> curriculum.end_step()
        >>> [round(chance, 3) for chance in curriculum.chances()]
        [0.0, 1.0]
    """

    def __init__(
        self,
        arms: Sequence[Arm],
        *,
        window: int = 300,
        temperature: float = 0.1,
        weights: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        need_between(1e-6, 1e6, temperature=temperature)
        super().__init__(arms, window=window, weights=weights, seed=seed, temperature=temperature)
        self.temperature = temperature
        self._counts = [0] * len(self.arms)
        self._chances = list(self.shares)

    def scores(self) -> list[float]:
        """Return each arm's mean absolute advantage with its bonus for having been tried little."""
        total = max(1, sum(self._counts))
        return [
            (sum(recent) / len(recent) if recent else 0.0) + sqrt(2 * log(total + 1) / (count + 1))
            for recent, count in zip(self._recent, self._counts, strict=True)
        ]

    def chances(self) -> list[float]:
        """Return the probability of each arm in the running step."""
        return list(self._chances)

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        self._keep(arm, *(abs(each) for each in advantages(scores)))
        self._counts[find(self.arms, arm)] += len(scores)

    def _finish(self) -> None:
        powers = softmax([score / self.temperature for score in self.scores()])
        self._chances = scaled(powers, self.shares)

    def _dump(self) -> Any:
        return {"recent": super()._dump(), "counts": self._counts, "chances": self._chances}

    def _restore(self, learnt: Any) -> None:
        counts, chances = learnt["counts"], learnt["chances"]
        if not len(self.arms) == len(counts) == len(chances):
            raise ValueError("as many rows as arms")
        need_between(0, 1, **{f"chance {i}": chance for i, chance in enumerate(chances)})
        super()._restore(learnt["recent"])
        self._counts, self._chances = [int(count) for count in counts], list(chances)


def advantages(scores: Sequence[float]) -> list[float]:
    """Return the group-relative advantages: centred, by the sample's standard deviation."""
    if len(scores) < 2:
        return [0.0] * len(scores)
    values = np.asarray(scores, dtype=float)
    return [float(a) for a in (values - values.mean()) / (values.std(ddof=1) + 1e-6)]
