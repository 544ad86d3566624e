"""Broad first, then many episodes of the problems that stay hardest (DRIVE)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import pick
from rlvr_envs.curricula._seeded import Arm, Seeded, need_counts, need_distinct
from rlvr_envs.curricula.base import Problem, Proposal

Key: TypeAlias = tuple[str | None, int | None, Problem]  # a task, a level or None, and its problem


class HardFocus(Seeded):
    """Replays a pool of problems that shrinks, phase by phase, to those with the lowest scores.

    "DRIVE: Data Curation Best Practices for Reinforcement Learning with Verifiable Reward in
    Competitive Code Generation", arXiv 2511.06307. First, for ``broad_steps``, all problems are
    drawn evenly, in groups of ``samples``; then come phases of ``(steps, kept)``: at the beginning
    of each the pool becomes the ``kept`` problems of the old pool with the lowest mean score in the
    stage before, and groups have ``focus_samples``. The last phase goes on for ever. Problems that
    were not posed keep their older mean, and count as 0 if they never were; ties go by order.

    8 and 64 episodes a group are published, and that the most difficult instances are retained
    throughout. The rule by which they are picked, and the sizes and lengths of phases, are not
    verified against the paper's code.

    Args:
        problems: proposals with a task and a problem each.
        broad_steps: the training steps before the first phase.
        phases: the training steps and the size of the pool of each.
        samples: the group size before the first phase.
        focus_samples: the group size in the phases.
        seed: of the draws.

    Raises:
        ConfigError: an argument is out of range, or a pool would grow.

    Examples:
        >>> from rlvr_envs.curricula import HardFocus, Proposal
        >>> problems = [Proposal(task="rlvr/Gcd-v0", problem_seed=seed) for seed in range(3)]
        >>> curriculum = HardFocus(problems, broad_steps=1, phases=[(10, 1)])
        >>> for seed, score in enumerate([1.0, 0.0, 0.5]):
        ...     curriculum.record("rlvr/Gcd-v0", None, [score], seed)
        >>> curriculum.end_step()
        >>> [proposal.problem_seed for proposal in curriculum.pool]
        [1]
    """

    def __init__(
        self,
        problems: Sequence[Proposal],
        *,
        broad_steps: int,
        phases: Sequence[tuple[int, int]],
        samples: int = 8,
        focus_samples: int = 64,
        seed: int = 0,
    ) -> None:
        self.problems = tuple(problems)
        self._keys = keys_of(problems)
        need_counts(broad_steps=broad_steps, samples=samples, focus_samples=focus_samples)
        self.lengths = [broad_steps, *(steps for steps, _ in phases)]
        self.kept = [len(self.problems), *(kept for _, kept in phases)]
        for steps, kept in phases:
            need_counts(steps=steps, kept=kept)
        if self.kept != sorted(self.kept, reverse=True) or not phases:
            raise ConfigError(f"pools shrink phase by phase, at least one; got {self.kept}")
        self.samples, self.focus_samples = samples, focus_samples
        self._stage = 0
        self._since = 0
        self._pool = list(range(len(self.problems)))
        self._means = [0.0] * len(self.problems)  # of the stage before
        self._sums = [0.0] * len(self.problems)  # of the running stage
        self._counts = [0] * len(self.problems)
        settings = {"problems": self._keys, "lengths": self.lengths, "kept": self.kept}
        super().__init__(seed, settings | {"samples": [samples, focus_samples]})

    @property
    def pool(self) -> tuple[Proposal, ...]:
        """The problems that are posed."""
        return tuple(self.problems[index] for index in self._pool)

    def propose(self) -> Proposal:
        """Return a problem of the pool, drawn evenly, and the size of its group."""
        size = self.focus_samples if self._stage else self.samples
        return replace(self.problems[pick(self._rng(), self._pool)], samples=size)

    def _learn(self, arm: Arm, scores: list[float], problem: Problem) -> None:
        index = find_problem(self._keys, arm, problem)
        self._sums[index] += sum(scores)
        self._counts[index] += len(scores)

    def _finish(self) -> None:
        self._since += 1
        last = self._stage == len(self.lengths) - 1
        if last or self._since < self.lengths[self._stage]:
            return
        for index, count in enumerate(self._counts):
            if count:
                self._means[index] = self._sums[index] / count
        self._stage, self._since = self._stage + 1, 0
        hardest = sorted(self._pool, key=lambda index: (self._means[index], index))
        self._pool = sorted(hardest[: self.kept[self._stage]])
        self._sums = [0.0] * len(self.problems)
        self._counts = [0] * len(self.problems)

    def _dump(self) -> Any:
        state = {"stage": self._stage, "since": self._since, "pool": self._pool}
        return state | {"means": self._means, "sums": self._sums, "counts": self._counts}

    def _restore(self, learnt: Any) -> None:
        pool = [range(len(self.problems))[index] for index in learnt["pool"]]
        rows = [list(learnt[name]) for name in ("means", "sums", "counts")]
        if len(pool) != self.kept[learnt["stage"]] or {*map(len, rows)} != {len(self.problems)}:
            raise ValueError("as many rows as problems")
        need_counts(least=0, stage=learnt["stage"], since=learnt["since"])
        self._stage, self._since, self._pool = learnt["stage"], learnt["since"], pool
        self._means, self._sums, self._counts = rows


def keys_of(problems: Sequence[Proposal]) -> tuple[Key, ...]:
    """Return what names each problem; raise `ConfigError` if one is there twice or has no name."""
    keys = tuple((each.task, each.difficulty, each.problem) for each in problems)
    need_distinct("problems", keys)
    for each, (task, _, problem) in zip(problems, keys, strict=True):
        if task is None or problem is None:
            raise ConfigError(f"a problem has a task and a seed, number or row; got {each}")
    return keys


def find_problem(keys: Sequence[Key], arm: Arm, problem: Problem) -> int:
    """Return which problem a group is of, also if its level was left open."""
    for candidate in ((*arm, problem), (arm[0], None, problem)):
        if candidate in keys:
            return keys.index(candidate)
    raise ConfigError(
        f"{arm} with the problem {problem} is none of this curriculum: record the problem of the "
        "proposal"
    )
