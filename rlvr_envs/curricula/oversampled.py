"""As many groups at a time as are likely to hold enough signal (CodeV-R1)."""

from math import ceil
from typing import Any

from rlvr_envs.curricula._seeded import need_between
from rlvr_envs.curricula.base import Curriculum, Played
from rlvr_envs.curricula.nested import Nested


class Oversampled(Nested):
    """Says how many groups dynamic sampling draws at once, by how many held a signal lately.

    "CodeV-R1: Reasoning-Enhanced Verilog Generation", arXiv 2505.24183, whose adaptive DAPO sets
    the number of prompts of a round by the share that was thrown away before. Where m more groups
    are wanted, ``ceil(m / max(rate, 1 / most))`` are drawn; the rate is 1 at first and after each
    step ``rate += beta * (share of its groups with a signal - rate)``. What is too much is thrown
    away by the trainer. How the authors' rate follows was not verified.

    Args:
        over: what is posed.
        most: how many groups are drawn at most for each that is wanted.
        beta: how fast the rate follows.

    Examples:
        >>> from rlvr_envs.curricula import Linear, Oversampled
        >>> curriculum = Oversampled(Linear(["rlvr/Gcd-v0"], end=3, steps=4))
        >>> curriculum.ahead(8)
        8
    """

    def __init__(self, over: Curriculum, *, most: float = 4.0, beta: float = 0.3) -> None:
        need_between(1, 1e3, most=most)
        need_between(0, 1, beta=beta)
        self.most, self.beta = most, beta
        self.rate = 1.0
        self._drawn = self._kept = 0  # groups of the running step
        super().__init__(over, 0, {"most": most, "beta": beta})

    def ahead(self, missing: int) -> int:
        """Return how many groups to draw where so many more are wanted."""
        return ceil(super().ahead(missing) / max(self.rate, 1 / self.most))

    def observe(self, group: Played) -> None:
        """Count a group, and whether it holds a signal."""
        self._drawn += 1
        self._kept += group.informative
        super().observe(group)

    def _finish(self) -> None:
        if self._drawn:
            self.rate += self.beta * (self._kept / self._drawn - self.rate)
        self._drawn = self._kept = 0

    def _dump(self) -> Any:
        return {"rate": self.rate, "drawn": self._drawn, "kept": self._kept}

    def _restore(self, learnt: Any) -> None:
        need_between(0, 1, rate=learnt["rate"])
        self.rate = float(learnt["rate"])
        self._drawn, self._kept = int(learnt["drawn"]), int(learnt["kept"])
