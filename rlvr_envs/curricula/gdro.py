"""More weight to groups of problems that stay hard (Prompt-GDRO)."""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from math import exp
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula._seeded import (
    Arm,
    Seeded,
    arms_of,
    draw,
    find,
    need_between,
    need_counts,
    softmax,
)
from rlvr_envs.curricula.base import Proposal


class PassRateBins:
    """Sorts arms into bins by how many of their last groups had a success.

    Bin i holds rates in [edges[i - 1], edges[i]); an arm without a group counts as 0. An arm leaves
    its bin upward only from ``edges[bin] + margin`` on, and downward to a bin b only up to
    ``edges[b] - margin``.

    Args:
        arms: how many there are.
        edges: rising numbers strictly between 0 and 1.
        window: how many groups an arm remembers.
        margin: by how much a rate must pass an edge.
    """

    def __init__(
        self, arms: int, edges: Sequence[float], window: int = 50, margin: float = 0.0
    ) -> None:
        self.edges = tuple(edges)
        rising = all(low < high for low, high in pairwise((0.0, *self.edges, 1.0)))
        if not self.edges or not rising:
            raise ConfigError(f"edges rise strictly between 0 and 1, got {self.edges}")
        need_counts(window=window)
        need_between(0, 0.49, margin=margin)
        self.margin = margin
        self.bins = [0] * arms
        self.recent = [deque[int](maxlen=window) for _ in range(arms)]

    def add(self, arm: int, scores: Sequence[float]) -> None:
        """Take down a group, which may move the arm to another bin."""
        recent = self.recent[arm]
        recent.append(int(max(scores) > 0.5))
        rate = sum(recent) / len(recent)
        before, after = self.bins[arm], bisect_right(self.edges, rate)
        if after > before and rate < self.edges[before] + self.margin:
            return
        if after < before and rate > self.edges[after] - self.margin:
            return
        self.bins[arm] = after

    def dump(self) -> Any:
        """Return the state, as JSON can hold it."""
        return [
            [number, list(recent)] for number, recent in zip(self.bins, self.recent, strict=True)
        ]

    def restore(self, rows: Any) -> None:
        """Take over a state."""
        if len(rows) != len(self.bins):
            raise ValueError(f"{len(rows)} arms")
        for arm, (number, recent) in enumerate(rows):
            if number not in range(len(self.edges) + 1):
                raise ValueError(f"bin {number}")
            self.bins[arm] = number
            self.recent[arm].clear()
            self.recent[arm].extend(int(each) for each in recent)


class PromptGdro(Seeded):
    """Gives bins of problems a weight that grows with their loss (EXP3P over pass-rate bins).

    "Group Distributionally Robust Optimization-Driven Reinforcement Learning for LLM Reasoning",
    arXiv 2601.19280. Arms are binned by their recent pass rate. After a step with mean loss l_b in
    bin b (the mean over its groups, hence not over-counting bins that are frequent)

        S_b = (1 - beta) * S_b + beta * l_b   (the first time S_b = l_b),
        weight_b = min(exp(eta * S_b), cap),
        q_b = (1 - gamma) * exp(eta * S_b) / sum of them + gamma / B over the B bins in use.

    There are two ways to use it: multiply the advantages of each group by ``weight``, which is what
    the paper does, or sample what `propose` draws: a bin by q, then one of its arms evenly. To do
    both would count the loss twice.

    eta 0.65, gamma 0.01, cap 15 and beta 0.4 are settings of the authors' code. Its loss is the
    policy's; a curriculum sees scores, so l = 1 - mean score here. That changes the scale of S, and
    whether it changes the outcome is not verified against the paper's code.

    Args:
        arms: pairs of a task and a rung, or None for any rung.
        bins: how they are binned; None for edges 0.4 and 0.75.
        eta: how sharply weight follows loss.
        gamma: the share of q that is even.
        beta: how fast S follows the loss.
        seed: of the draws.

    Raises:
        ConfigError: an argument is out of range.
    """

    cap = 15.0

    def __init__(
        self,
        arms: Sequence[Arm],
        *,
        bins: PassRateBins | None = None,
        eta: float = 0.65,
        gamma: float = 0.01,
        beta: float = 0.4,
        seed: int = 0,
    ) -> None:
        self.arms = arms_of(arms)
        self.bins = bins or PassRateBins(len(self.arms), (0.4, 0.75))
        if len(self.bins.bins) != len(self.arms):
            raise ConfigError(f"the bins are of {len(self.bins.bins)} arms, not {len(self.arms)}")
        need_between(0, 100, eta=eta)
        need_between(0, 1, gamma=gamma, beta=beta)
        self.eta, self.gamma, self.beta = eta, gamma, beta
        self._losses: dict[int, float] = {}  # S, by bin
        self._running: list[tuple[int, list[float]]] = []  # groups of the running step, by arm
        settings = {"arms": self.arms, "edges": self.bins.edges, "margin": self.bins.margin}
        settings |= {"window": self.bins.recent[0].maxlen, "eta": eta, "gamma": gamma}
        super().__init__(seed, settings | {"beta": beta})

    def weight(self, task: str, difficulty: int | None) -> float:
        """Return by what to multiply the advantages of a group."""
        number = self.bins.bins[find(self.arms, (task, difficulty))]
        return min(exp(self.eta * self._losses.get(number, 0.0)), self.cap)

    def shares(self) -> dict[int, float]:
        """Return q, by the number of each bin that holds an arm."""
        used = sorted(set(self.bins.bins))
        weights = softmax([self.eta * self._losses.get(number, 0.0) for number in used])
        even = self.gamma / len(used)
        return {
            number: (1 - self.gamma) * weight + even
            for number, weight in zip(used, weights, strict=True)
        }

    def propose(self) -> Proposal:
        """Return an arm: its bin drawn by q, and it evenly from the bin."""
        shares = self.shares()
        chances = [shares[number] / self.bins.bins.count(number) for number in self.bins.bins]
        task, difficulty = self.arms[draw(self._rng(), chances)]
        return Proposal(task=task, difficulty=difficulty)

    def _learn(self, arm: Arm, scores: list[float], problem_seed: int | None) -> None:
        self._running.append((find(self.arms, arm), scores))

    def _finish(self) -> None:
        losses: dict[int, list[float]] = {}
        for arm, scores in self._running:
            loss = 1 - sum(scores) / len(scores)
            losses.setdefault(self.bins.bins[arm], []).append(loss)
        for number, each in losses.items():
            loss = sum(each) / len(each)
            before = self._losses.get(number, loss)
            self._losses[number] = (1 - self.beta) * before + self.beta * loss
        for arm, scores in self._running:
            self.bins.add(arm, scores)
        self._running = []

    def _dump(self) -> Any:
        losses = sorted(self._losses.items())
        return {"losses": losses, "bins": self.bins.dump(), "running": self._running}

    def _restore(self, learnt: Any) -> None:
        losses = {int(number): float(loss) for number, loss in learnt["losses"]}
        running = [(int(arm), [*scores]) for arm, scores in learnt["running"]]
        self.bins.restore(learnt["bins"])
        self._losses, self._running = losses, running
