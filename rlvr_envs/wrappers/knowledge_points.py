"""Knowledge points: as few of them in the prompt as a problem needs (KnowRL)."""

from typing import ClassVar

import gymnasium
from gymnasium.utils import RecordConstructorArgs

from rlvr_envs.core.env import MAX_OBSERVATION_CHARS
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance
from rlvr_envs.wrappers.hints import HintSequence, HintsOf, PromptHints
from rlvr_envs.wrappers.problem_memory import ProblemMemory

MAX_POINTS = 16


def worked_steps(instance: Instance) -> list[str]:
    """Return the steps of the worked solution without the last one, at most 16 of them."""
    return instance.task.explain(instance.problem)[:-1][:MAX_POINTS]


class MinimalSubset(ProblemMemory):
    """Looks for the points that a problem cannot do without, leaving out one after another.

    The first ``rollouts`` scored episodes of a problem have all points. Then each point is left
    out in turn, the last one first, for as many episodes: it stays out if their mean score is at
    most ``tolerance`` below the best so far, and comes back otherwise. What is left after all have
    been tried is kept: leaving out any more of it costs more than the tolerance.

    One object serves all environments of a group, also from several threads.

    Args:
        rollouts: scored episodes for a decision; the size of a group.
        tolerance: what leaving out a point may cost, in [0, 1).

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.wrappers import MinimalSubset
        >>> memory = MinimalSubset(rollouts=1)
        >>> bin(memory.level("problem 7", points=3))
        '0b111'
        >>> memory.record("problem 7", level=0b111, points=3, score=1.0)
        >>> bin(memory.level("problem 7", points=3))
        '0b11'
    """

    kind: ClassVar[str] = "minimal_subset"
    fields: ClassVar[frozenset[str]] = frozenset({"kept", "trying", "best", "scores"})

    def __init__(self, *, rollouts: int = 8, tolerance: float = 0.125) -> None:
        super().__init__()
        if isinstance(rollouts, bool) or not isinstance(rollouts, int) or rollouts < 1:
            raise ConfigError(f"rollouts is an integer from 1, got {rollouts!r}")
        if not isinstance(tolerance, (int, float)) or not 0.0 <= tolerance < 1.0:
            raise ConfigError(f"tolerance is a number from 0 to below 1, got {tolerance!r}")
        self._rollouts, self._tolerance = rollouts, tolerance

    def level(self, problem: str, points: int) -> int:
        """Return which points to show now, bit i for point i."""
        with self._lock:
            return self._shown(problem, points)

    def settled(self, problem: str) -> bool:
        """Return whether all points of a problem have been tried."""
        with self._lock:
            known = self._problems.get(problem)
            return known is not None and known["trying"] < 0

    def record(self, problem: str, level: int, points: int, score: float) -> None:
        """Take down the score of an episode with these points."""
        with self._lock:
            if level != self._shown(problem, points) or not points:
                return
            # `trying` is the point that is left out now: `points` for none, -1 once all were.
            fresh = {"kept": (1 << points) - 1, "trying": points, "best": 0.0, "scores": []}
            state = self._problems.setdefault(problem, fresh)
            if state["trying"] < 0:
                return
            state["scores"].append(float(score))
            if len(state["scores"]) < self._rollouts:
                return
            mean = sum(state["scores"]) / self._rollouts
            if state["trying"] == points:
                state["best"] = mean
            elif mean >= state["best"] - self._tolerance:
                state["kept"] &= ~(1 << state["trying"])
                state["best"] = max(state["best"], mean)
            state["scores"] = []
            state["trying"] -= 1

    def _shown(self, problem: str, points: int) -> int:
        known = self._problems.get(problem)
        if known is None:
            return (1 << points) - 1
        out = 1 << known["trying"] if 0 <= known["trying"] < points else 0
        return int(known["kept"]) & ~out


class _Points(HintSequence):
    """The points of a problem, of which a level's bits say which are shown."""

    @property
    def count(self) -> int:
        """How many points there are."""
        return min(MAX_POINTS, super().__len__())

    def __len__(self) -> int:
        return (1 << self.count) - 1

    def at(self, level: int, room: int = MAX_OBSERVATION_CHARS) -> tuple[int, str]:
        """Return the points of a level that may be told and have room, and their bits."""
        shown, told = 0, "Hint, what is of use:"
        for i, text in enumerate(self._texts[: self.count]):
            longer = f"{told}\n- {text}"
            if level >> i & 1 and len(longer) <= room and not self._tells_all(text):
                shown, told = shown | 1 << i, longer
        return (shown, told) if shown else (0, "")

    def opening(self, level: int) -> str:
        """Return nothing: points are of use anywhere, and no response begins with them."""
        return ""


class KnowledgePoints(PromptHints, RecordConstructorArgs):
    """Shows as few knowledge points as a problem needs ("KnowRL").

    ``info["hint_level"]`` says which of them are shown, bit i for point i; the reset option asks
    for it in the same way. A point that is a right answer is never shown. The paper finds the
    subsets before training, from pass rates of the start model; here ``memory`` does so while
    problems come back, or in the rounds of a group.

    Args:
        env: an environment of this package, wrapped or not.
        memory: chooses the points; give the environments of a group the same one.
        points: called with the instance; returns its knowledge points, of which the first 16 count.
        rollouts: of a memory that is made here, as of `MinimalSubset`; the size of a group.
        tolerance: the same.

    Raises:
        ConfigError: the points are no texts, or an argument is out of range.

    Examples:
        >>> import gymnasium
        >>> from rlvr_envs.wrappers import KnowledgePoints
        >>> env = KnowledgePoints(gymnasium.make("rlvr/WordProblem-v0", difficulty=3))
        >>> bin(env.reset(seed=0)[1]["hint_level"])
        '0b111111111'
    """

    def __init__(
        self,
        env: gymnasium.Env[str, str],
        memory: MinimalSubset | None = None,
        *,
        points: HintsOf = worked_steps,
        rollouts: int = 8,
        tolerance: float = 0.125,
    ) -> None:
        RecordConstructorArgs.__init__(
            self,
            _disable_deepcopy=True,
            memory=memory,
            points=points,
            rollouts=rollouts,
            tolerance=tolerance,
        )
        super().__init__(env, points, reveal=False)
        self.memory = memory or MinimalSubset(rollouts=rollouts, tolerance=tolerance)

    def _sequence(self, instance: Instance) -> HintSequence:
        return _Points(instance, self._hints, reveal=False)

    def _level(self, sequence: HintSequence) -> int:
        return self.memory.level(sequence.problem, _count(sequence))

    def _record(self, sequence: HintSequence, level: int, score: float) -> None:
        self.memory.record(sequence.problem, level, _count(sequence), score)


def _count(sequence: HintSequence) -> int:
    return len(sequence).bit_length()
