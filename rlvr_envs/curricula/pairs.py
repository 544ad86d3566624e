"""Pairs of a hard problem that can be solved and an easy one that sometimes fails."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import pick
from rlvr_envs.curricula._seeded import Arm, Seeded, need_between, need_counts
from rlvr_envs.curricula.base import Played, Problem, Proposal
from rlvr_envs.curricula.hard_focus import find_problem, keys_of


class HardBrittlePairs(Seeded):
    """Proposes in turn a hard but solvable problem and an easy but brittle one.

    "Beyond Variance: Prompt-Efficient RLVR via Rare-Event Amplification and Bidirectional Pairing",
    arXiv 2602.03452. A problem's rate is the mean of its last ``window`` scores. It is hard but
    solvable with a rate in (0, hard], easy but brittle with one in [brittle, 1). Of its two
    proposals each pair draws one of each kind evenly: rare successes on the first teach what to do,
    and rare failures on the second what not to.

    Where a kind is empty, problems without a score come next, and then any. W-GRPO weights what is
    rare: the loss of a success on a hard problem, and of a failure on an easy one, is multiplied by
    ``amplify``. The rule, the bands, their bounds and the factor are this project's; not verified
    against the paper's code.

    Args:
        problems: proposals with a task and a problem each.
        hard: the highest rate of a hard problem.
        brittle: the lowest rate of an easy one.
        window: how many scores a problem remembers.
        amplify: the factor of rare successes and failures, from 1.
        seed: of the draws.

    Raises:
        ConfigError: an argument is out of range, or the bands overlap.

    Examples:
        >>> from rlvr_envs.curricula import HardBrittlePairs, Proposal
        >>> problems = [Proposal(task="rlvr/Gcd-v0", problem_seed=seed) for seed in range(2)]
        >>> curriculum = HardBrittlePairs(problems)
        >>> curriculum.record("rlvr/Gcd-v0", None, [1.0, 0.0, 0.0, 0.0], 0)
        >>> curriculum.record("rlvr/Gcd-v0", None, [1.0, 1.0, 1.0, 0.0], 1)
        >>> curriculum.hard(), curriculum.brittle()
        ([0], [1])
    """

    def __init__(
        self,
        problems: Sequence[Proposal],
        *,
        hard: float = 0.3,
        brittle: float = 0.7,
        window: int = 32,
        amplify: float = 2.0,
        seed: int = 0,
    ) -> None:
        self.problems = tuple(problems)
        self._keys = keys_of(problems)
        need_between(1, 1e6, amplify=amplify)
        self.amplify = amplify
        need_between(0, 1, hard=hard, brittle=brittle)
        need_counts(window=window)
        if hard >= brittle:
            raise ConfigError(f"hard is below brittle, got {hard} and {brittle}")
        self.hard_rate, self.brittle_rate = hard, brittle
        self._recent = [deque[float](maxlen=window) for _ in self.problems]
        self._proposed = 0  # in all, whose parity says which of a pair comes next
        settings = {"problems": self._keys, "hard": hard, "brittle": brittle}
        super().__init__(seed, settings | {"window": window, "amplify": amplify})

    def rates(self) -> list[float | None]:
        """Return each problem's recent mean score; None before there is one."""
        return [sum(recent) / len(recent) if recent else None for recent in self._recent]

    def hard(self) -> list[int]:
        """Return which problems are hard but solvable."""
        return [i for i, rate in enumerate(self.rates()) if rate and rate <= self.hard_rate]

    def brittle(self) -> list[int]:
        """Return which problems are easy but brittle."""
        return [
            i
            for i, rate in enumerate(self.rates())
            if rate is not None and self.brittle_rate <= rate < 1
        ]

    def propose(self) -> Proposal:
        """Return the next problem of a pair."""
        kind = self.brittle() if self._proposed % 2 else self.hard()
        unknown = [index for index, recent in enumerate(self._recent) if not recent]
        choice = kind or unknown or range(len(self.problems))
        self._proposed += 1
        return self.problems[pick(self._rng(), choice)]

    def observe(self, group: Played) -> None:
        """Weigh what is rare in a group whose problem is of either kind."""
        index = find_problem(self._keys, group.arm, group.proposal.problem)
        hard, brittle = index in self.hard(), index in self.brittle()
        for episode in group.episodes if hard or brittle else ():
            if episode.score > 0.5 if hard else episode.score <= 0.5:  # no NaN is either
                episode.weight *= self.amplify

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        self._recent[find_problem(self._keys, arm, problem)].extend(scores)

    def _dump(self) -> Any:
        return {"proposed": self._proposed, "recent": [list(recent) for recent in self._recent]}

    def _restore(self, learnt: Any) -> None:
        rows = [[float(score) for score in row] for row in learnt["recent"]]
        need_counts(least=0, proposed=learnt["proposed"])
        if len(rows) != len(self.problems):
            raise ValueError(f"{len(rows)} problems")
        self._proposed = learnt["proposed"]
        for recent, row in zip(self._recent, rows, strict=True):
            recent.clear()
            recent.extend(row)
