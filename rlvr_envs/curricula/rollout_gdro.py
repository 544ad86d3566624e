"""More episodes where scores vary most, at the same budget (Rollout-GDRO)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula._seeded import Arm, need_between, need_counts
from rlvr_envs.curricula.base import Curriculum, Problem, Proposal
from rlvr_envs.curricula.gdro import By, PassRateBins, name_of
from rlvr_envs.curricula.nested import Nested


class RolloutGdro(Nested):
    """Sets the group sizes of a step: one per pass-rate bin, which together cost a fixed budget.

    The second half of "Group Distributionally Robust Optimization-Driven Reinforcement Learning for
    LLM Reasoning", arXiv 2601.19280. Groups that another curriculum proposes are sorted into bins,
    and the c_b groups of bin b all get the same size n_b from ``least`` to 3 * ``mean``, so that
    the sum of c_b * n_b is their number times ``mean`` (or comes as close as sizes allow) and the
    variance of the step's estimate, the sum of c_b * v_b / n_b, is least. Without bounds that is
    n_b in proportion to sqrt(v_b), which is the paper's result. v_b follows the population variance
    of scores in the bin: ``v_b += beta * (v - v_b)``, from 1/4 at first.

    The authors' code bins each prompt, and chooses the sizes by EXP3P on policy losses, which a
    curriculum does not see, with a price on samples that is adapted, and by dynamic programming
    over bins; here the dynamic programme minimises the variance itself. Not verified against the
    paper's code for that reason.

    Args:
        over: what is posed.
        mean: the mean group size; 4 is published.
        least: the smallest group; 2 is published.
        beta: how fast v_b follows.
        by: what is binned. Problems have rates only where they return, as from a pool.
        bins: how it is binned; None for edges 0.2, 0.4, 0.6 and 0.8.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.curricula import Linear, RolloutGdro
        >>> curriculum = RolloutGdro(Linear(["rlvr/Gcd-v0"], end=3, steps=4), mean=8)
        >>> [proposal.samples for proposal in curriculum.allot([curriculum.propose()] * 2)]
        [8, 8]
    """

    def __init__(
        self,
        over: Curriculum,
        *,
        mean: int = 4,
        least: int = 2,
        beta: float = 0.1,
        by: By = "level",
        bins: PassRateBins | None = None,
    ) -> None:
        need_counts(mean=mean, least=least)
        need_between(0, 1, beta=beta)
        if least > mean:
            raise ConfigError(f"least is at most mean, got {least} and {mean}")
        self.mean, self.beta, self.by = mean, beta, by
        self.sizes = range(least, 3 * mean + 1)
        self.bins = bins or PassRateBins((0.2, 0.4, 0.6, 0.8))
        self._variances = [0.25] * (len(self.bins.edges) + 1)
        settings = {"mean": mean, "least": least, "beta": beta, "by": by}
        super().__init__(over, 0, settings | {"edges": self.bins.edges})

    def allot(self, proposals: list[Proposal]) -> list[Proposal]:
        """Return the proposals of a round with the sizes of their groups."""
        numbers = [
            self.bins.of(name_of(self.by, (each.task or "", each.difficulty), each.problem))
            for each in super().allot(proposals)
        ]
        counts = Counter(numbers)
        variances = {number: self._variances[number] for number in counts}
        chosen = sizes(counts, variances, len(proposals) * self.mean, self.sizes)
        return [
            replace(each, samples=chosen[number])
            for each, number in zip(proposals, numbers, strict=True)
        ]

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        name = name_of(self.by, arm, problem)
        mean = sum(scores) / len(scores)
        variance = sum((score - mean) ** 2 for score in scores) / len(scores)
        number = self.bins.of(name)
        self._variances[number] += self.beta * (variance - self._variances[number])
        self.bins.add(name, scores)

    def _dump(self) -> Any:
        return {"variances": self._variances, "bins": self.bins.dump()}

    def _restore(self, learnt: Any) -> None:
        variances = [float(each) for each in learnt["variances"]]
        if len(variances) != len(self._variances):
            raise ValueError(f"{len(variances)} bins")
        self.bins.restore(learnt["bins"])
        self._variances = variances


def sizes(
    counts: Mapping[int, int], variances: Mapping[int, float], budget: int, allowed: Sequence[int]
) -> dict[int, int]:
    """Return each bin's group size: of the totals nearest the budget, the least variance.

    The variance is the sum of counts * variances / size. Exact, by dynamic programming over totals.
    """
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    for number, count in counts.items():
        longer: dict[int, tuple[float, tuple[int, ...]]] = {}
        for total, (cost, chosen) in best.items():
            for size in allowed:
                spent = total + count * size
                offer = (cost + count * variances[number] / size, (*chosen, size))
                if spent not in longer or offer < longer[spent]:
                    longer[spent] = offer
        best = longer
    nearest = min(best, key=lambda total: (abs(total - budget), best[total]))
    return dict(zip(counts, best[nearest][1], strict=True))
