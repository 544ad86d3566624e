"""More episodes where scores vary most, at the same budget (Rollout-GDRO)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import pick
from rlvr_envs.curricula._seeded import Arm, Seeded, arms_of, find, need_between, need_counts
from rlvr_envs.curricula.base import Proposal
from rlvr_envs.curricula.gdro import PassRateBins


class RolloutGdro(Seeded):
    """Plans each step's group sizes: one per pass-rate bin, which together cost a fixed budget.

    The second half of "Group Distributionally Robust Optimization-Driven Reinforcement Learning for
    LLM Reasoning", arXiv 2601.19280. A plan of ``groups`` groups draws arms evenly, sorts them into
    bins, and gives the c_b groups of bin b all the same size n_b from ``least`` to 3 * ``mean``, so
    that the sum of c_b * n_b is groups * mean (or comes as close as sizes allow) and the variance
    of the step's estimate, the sum of c_b * v_b / n_b, is least. Without bounds that is n_b in
    proportion to sqrt(v_b), which is the paper's result. v_b follows the population variance of
    scores in the bin: ``v_b += beta * (v - v_b)``, from 1/4 at first.

    The authors' code chooses the sizes by EXP3P on policy losses, which a curriculum does not see,
    with a price on samples that is adapted, and by dynamic programming over bins; here the dynamic
    programme minimises the variance itself. Not verified against the paper's code for that reason.

    Args:
        arms: pairs of a task and a rung, or None for any rung.
        groups: how many groups a step has.
        mean: the mean group size; 4 is published.
        least: the smallest group; 2 is published.
        beta: how fast v_b follows.
        seed: of the draws.

    Raises:
        ConfigError: an argument is out of range.
    """

    def __init__(
        self,
        arms: Sequence[Arm],
        *,
        groups: int,
        mean: int = 4,
        least: int = 2,
        beta: float = 0.1,
        seed: int = 0,
    ) -> None:
        self.arms = arms_of(arms)
        need_counts(groups=groups, mean=mean, least=least)
        need_between(0, 1, beta=beta)
        if least > mean:
            raise ConfigError(f"least is at most mean, got {least} and {mean}")
        self.groups, self.mean, self.beta = groups, mean, beta
        self.sizes = range(least, 3 * mean + 1)
        self.bins = PassRateBins(len(self.arms), (0.2, 0.4, 0.6, 0.8))
        self._variances = [0.25] * (len(self.bins.edges) + 1)
        self._plan: list[tuple[int, int]] = []  # arm and size, from the end
        settings = {"arms": self.arms, "groups": groups, "mean": mean, "least": least}
        super().__init__(seed, settings | {"beta": beta})

    def propose(self) -> Proposal:
        """Return an arm and the size of its group."""
        if not self._plan:
            self._plan = self._planned()
        arm, size = self._plan.pop()
        task, difficulty = self.arms[arm]
        return Proposal(task=task, difficulty=difficulty, samples=size)

    def _planned(self) -> list[tuple[int, int]]:
        rng = self._rng()
        arms = [pick(rng, range(len(self.arms))) for _ in range(self.groups)]
        counts = Counter(self.bins.bins[arm] for arm in arms)
        variances = {number: self._variances[number] for number in counts}
        chosen = sizes(counts, variances, self.groups * self.mean, self.sizes)
        return [(arm, chosen[self.bins.bins[arm]]) for arm in reversed(arms)]

    def _learn(self, arm: Arm, scores: list[float], problem_seed: int | None) -> None:
        index = find(self.arms, arm)
        mean = sum(scores) / len(scores)
        variance = sum((score - mean) ** 2 for score in scores) / len(scores)
        number = self.bins.bins[index]
        self._variances[number] += self.beta * (variance - self._variances[number])
        self.bins.add(index, scores)

    def _finish(self) -> None:
        self._plan = []

    def _dump(self) -> Any:
        return {"plan": self._plan, "variances": self._variances, "bins": self.bins.dump()}

    def _restore(self, learnt: Any) -> None:
        plan = [(int(arm), int(size)) for arm, size in learnt["plan"]]
        variances = [float(each) for each in learnt["variances"]]
        if len(variances) != len(self._variances):
            raise ValueError(f"{len(variances)} bins")
        self.bins.restore(learnt["bins"])
        self._plan, self._variances = plan, variances


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
