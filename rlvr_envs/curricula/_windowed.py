"""What the curricula share that draw an arm by what lately came of each."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from rlvr_envs.curricula._seeded import (
    Arm,
    Seeded,
    arms_of,
    draw,
    find,
    need_counts,
    scaled,
    shares_of,
)
from rlvr_envs.curricula.base import Proposal


class Windowed(Seeded):
    """Base of the curricula that keep the last ``window`` numbers of each arm.

    They say what an arm's ``chances`` are, and what to keep of a group.
    """

    def __init__(
        self,
        arms: Sequence[Arm],
        *,
        window: int,
        weights: Sequence[float] | None,
        seed: int,
        **settings: Any,
    ) -> None:
        self.arms = arms_of(arms)
        self.shares = shares_of(weights, len(self.arms))
        need_counts(window=window)
        self._recent = [deque[float](maxlen=window) for _ in self.arms]
        shared = {"arms": self.arms, "window": window, "weights": self.shares}
        super().__init__(seed, shared | settings)

    def chances(self) -> list[float]:
        """Return the probability of each arm."""
        raise NotImplementedError

    def propose(self) -> Proposal:
        """Return an arm drawn by the chances."""
        task, difficulty = self.arms[draw(self._rng(), self.chances())]
        return Proposal(task=task, difficulty=difficulty)

    def _keep(self, arm: Arm, *numbers: float) -> None:
        self._recent[find(self.arms, arm)].extend(numbers)

    def _by(self, values: Sequence[float], floor: float) -> list[float]:
        """Return chances by values times shares, of which ``floor`` goes by the shares alone."""
        products = scaled(values, self.shares)
        if not any(products):
            return list(self.shares)
        pairs = zip(products, self.shares, strict=True)
        return [(1 - floor) * product + floor * share for product, share in pairs]

    def _dump(self) -> Any:
        return [list(recent) for recent in self._recent]

    def _restore(self, learnt: Any) -> None:
        if len(learnt) != len(self.arms):
            raise ValueError(f"{len(learnt)} arms")
        for recent, kept in zip(self._recent, learnt, strict=True):
            recent.clear()
            recent.extend(map(float, kept))
