"""More weight to groups of problems that stay hard (Prompt-GDRO)."""

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from math import exp
from typing import Any, Literal, TypeAlias

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula._seeded import (
    Arm,
    arms_of,
    draw,
    find,
    need_between,
    need_counts,
    shares_of,
    softmax,
)
from rlvr_envs.curricula.base import Curriculum, Played, Problem, Proposal
from rlvr_envs.curricula.nested import Nested


class PassRateBins:
    """Sorts what has a name into bins by how many of its last groups had a success.

    Bin i holds rates in [edges[i - 1], edges[i]); what has no group yet counts as 0. A name leaves
    its bin upward only from ``edges[bin] + margin`` on, and downward to a bin b only up to
    ``edges[b] - margin``.

    Args:
        edges: rising numbers strictly between 0 and 1.
        window: how many groups a name remembers.
        margin: by how much a rate must pass an edge.
        most: how many names are remembered, the newest.

    Examples:
        >>> from rlvr_envs.curricula import PassRateBins
        >>> bins = PassRateBins(edges=(0.4, 0.75))
        >>> bins.add("easy", [1.0, 0.0])
        >>> bins.of("easy"), bins.of("new")
        (2, 0)
    """

    def __init__(
        self, edges: Sequence[float], window: int = 50, margin: float = 0.0, most: int = 100_000
    ) -> None:
        self.edges = tuple(edges)
        rising = all(low < high for low, high in pairwise((0.0, *self.edges, 1.0)))
        if not self.edges or not rising:
            raise ConfigError(f"edges rise strictly between 0 and 1, got {self.edges}")
        need_counts(window=window, most=most)
        need_between(0, 0.49, margin=margin)
        self.window, self.margin, self.most = window, margin, most
        self._bins: dict[str, int] = {}
        self._recent: dict[str, deque[int]] = {}

    def of(self, name: str) -> int:
        """Return the bin of a name."""
        return self._bins.get(name, 0)

    def add(self, name: str, scores: Sequence[float]) -> None:
        """Take down a group, which may move the name to another bin."""
        recent = self._recent.pop(name, deque[int](maxlen=self.window))
        self._recent[name] = recent  # at the end, as the newest
        recent.append(int(max(scores) > 0.5))
        rate = sum(recent) / len(recent)
        before, after = self.of(name), bisect_right(self.edges, rate)
        resists = (after > before and rate < self.edges[before] + self.margin) or (
            after < before and rate > self.edges[after] - self.margin
        )
        self._bins[name] = before if resists else after
        if len(self._recent) > self.most:
            oldest = next(iter(self._recent))
            del self._recent[oldest], self._bins[oldest]

    def dump(self) -> Any:
        """Return the state, as JSON can hold it."""
        return [[name, self._bins[name], list(kept)] for name, kept in self._recent.items()]

    def restore(self, rows: Any) -> None:
        """Take over a state."""
        bins = {str(name): int(number) for name, number, _ in rows}
        if not set(bins.values()) <= set(range(len(self.edges) + 1)):
            raise ValueError(f"bins {sorted(set(bins.values()))}")
        recent = {
            str(name): deque((int(each) for each in kept), maxlen=self.window)
            for name, _, kept in rows
        }
        self._bins, self._recent = bins, recent


By: TypeAlias = Literal["level", "problem"]


def name_of(by: By, arm: Arm, problem: Problem) -> str:
    """Return the name under which bins know a group: its task and level, or its problem."""
    return f"{arm[0]} {arm[1]}" if by == "level" else f"{arm[0]} {problem}"


class PromptGdro(Nested):
    """Gives bins of problems a weight that grows with their loss (EXP3P over pass-rate bins).

    "Group Distributionally Robust Optimization-Driven Reinforcement Learning for LLM Reasoning",
    arXiv 2601.19280. Problems, or all those of a task and level, are binned by their recent pass
    rate. After a step with mean loss l_b in bin b (the mean over its groups, hence not
    over-counting bins that are frequent)

        S_b = (1 - beta) * S_b + beta * l_b   (the first time S_b = l_b),
        weight_b = min(exp(eta * S_b), cap),
        q_b = (1 - gamma) * exp(eta * S_b) / sum of them + gamma / B over the B bins in use.

    There are two ways to use it. Around another curriculum, ``weight`` multiplies the loss of each
    group, which is what the paper does. Without one, `propose` draws: a bin by q, then one of the
    arms in it by its weight. To do both would count the loss twice, so ``weight`` is 1 then.

    eta 0.65, gamma 0.01, cap 15 and beta 0.4 are settings of the authors' code, which bins each
    prompt. Its loss is the policy's; a curriculum sees scores, so l = 1 - mean score here. That
    changes the scale of S, and whether it changes the outcome is not verified against the paper's
    code.

    Args:
        arms: pairs of a task and a level, or None for any level; for what draws.
        over: the curriculum that says what is posed; None draws from the arms.
        by: what is binned. Problems have rates only where they return, as from a pool.
        bins: how it is binned; None for edges 0.4 and 0.75.
        eta: how sharply weight follows loss.
        gamma: the share of q that is even.
        beta: how fast S follows the loss.
        weights: the arms' shares; None for equal ones.
        seed: of the draws.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.curricula import PromptGdro
        >>> curriculum = PromptGdro([("rlvr/Gcd-v0", 0), ("rlvr/Gcd-v0", 3)])
        >>> curriculum.record("rlvr/Gcd-v0", 0, [1.0, 1.0])
        >>> curriculum.record("rlvr/Gcd-v0", 3, [0.0, 0.0])
        >>> curriculum.end_step()
        >>> {number: round(share, 2) for number, share in curriculum.shares().items()}
        {0: 0.58, 2: 0.42}
    """

    cap = 15.0

    def __init__(  # noqa: PLR0913 - all but the first are keywords
        self,
        arms: Sequence[Arm] = (),
        *,
        over: Curriculum | None = None,
        by: By = "level",
        bins: PassRateBins | None = None,
        eta: float = 0.65,
        gamma: float = 0.01,
        beta: float = 0.4,
        weights: Sequence[float] | None = None,
        seed: int = 0,
    ) -> None:
        self.arms = arms_of(arms) if over is None else ()
        if over is None and by != "level":
            raise ConfigError("to draw by problem, there must be a curriculum around which it goes")
        self.shares_of_arms = shares_of(weights, len(self.arms)) if self.arms else []
        self.by = by
        self.bins = bins or PassRateBins((0.4, 0.75))
        need_between(0, 100, eta=eta)
        need_between(0, 1, gamma=gamma, beta=beta)
        self.eta, self.gamma, self.beta = eta, gamma, beta
        self._losses: dict[int, float] = {}  # S, by bin
        self._running: list[tuple[str, list[float]]] = []  # groups of the running step, by name
        settings = {"arms": self.arms, "edges": self.bins.edges, "margin": self.bins.margin}
        settings |= {"window": self.bins.window, "eta": eta, "gamma": gamma, "by": by}
        super().__init__(over, seed, settings | {"beta": beta, "weights": self.shares_of_arms})

    def weight(self, group: Played) -> float:
        """Return by what to multiply the loss of a group."""
        own = 1.0
        if self.over is not None:
            own = self.pull(name_of(self.by, group.arm, group.proposal.problem))
        return own * super().weight(group)

    def pull(self, name: str) -> float:
        """Return the weight of the bin that a name is in."""
        return min(exp(self.eta * self._losses.get(self.bins.of(name), 0.0)), self.cap)

    def _bin(self, arm: Arm) -> int:
        return self.bins.of(name_of("level", arm, None))

    def shares(self) -> dict[int, float]:
        """Return q, by the number of each bin that holds an arm."""
        used = sorted({self._bin(arm) for arm in self.arms})
        weights = softmax([self.eta * self._losses.get(number, 0.0) for number in used])
        even = self.gamma / len(used)
        return {
            number: (1 - self.gamma) * weight + even
            for number, weight in zip(used, weights, strict=True)
        }

    def propose(self) -> Proposal:
        """Return what the inner curriculum proposes, or an arm: its bin by q, it by its share."""
        if self.over is not None:
            return super().propose()
        shares = self.shares()
        held = dict.fromkeys(shares, 0.0)
        for arm, share in zip(self.arms, self.shares_of_arms, strict=True):
            held[self._bin(arm)] += share
        chances = [
            shares[self._bin(arm)] * share / held[self._bin(arm)]
            for arm, share in zip(self.arms, self.shares_of_arms, strict=True)
        ]
        task, difficulty = self.arms[draw(self._rng(), chances)]
        return Proposal(task=task, difficulty=difficulty)

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        if self.over is None:
            arm = self.arms[find(self.arms, arm)]
        self._running.append((name_of(self.by, arm, problem), scores))

    def _finish(self) -> None:
        losses: dict[int, list[float]] = {}
        for name, scores in self._running:
            loss = 1 - sum(scores) / len(scores)
            losses.setdefault(self.bins.of(name), []).append(loss)
        for number, each in losses.items():
            loss = sum(each) / len(each)
            before = self._losses.get(number, loss)
            self._losses[number] = (1 - self.beta) * before + self.beta * loss
        for name, scores in self._running:
            self.bins.add(name, scores)
        self._running = []

    def _dump(self) -> Any:
        losses = sorted(self._losses.items())
        return {"losses": losses, "bins": self.bins.dump(), "running": self._running}

    def _restore(self, learnt: Any) -> None:
        losses = {int(number): float(loss) for number, loss in learnt["losses"]}
        running = [(str(name), [*scores]) for name, scores in learnt["running"]]
        self.bins.restore(learnt["bins"])
        self._losses, self._running = losses, running
