"""Counts of failures by problem, which decide on hints."""

from typing import ClassVar

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.wrappers.problem_memory import ProblemMemory


class Failures(ProblemMemory):
    """Counts failures by problem: so many in a row raise its hint, a solved episode lowers it.

    One object serves all environments of a group, also from several threads. Episodes that began
    before their problem's hint changed do not count.

    Args:
        patience: failed episodes in a row after which the hint is one stronger; the size of a
            group, for hints to problems that a whole group has failed.
        solved: the score from which an episode is not failed.

    Raises:
        ConfigError: an argument is out of range.

    Examples:
        >>> from rlvr_envs.wrappers import Failures
        >>> memory = Failures(patience=2)
        >>> for score in (0.0, 0.0):
        ...     memory.record("problem 7", level=0, most=3, score=score)
        >>> memory.level("problem 7")
        1
    """

    kind: ClassVar[str] = "failures"
    fields: ClassVar[frozenset[str]] = frozenset({"level", "failed"})

    def __init__(self, *, patience: int = 8, solved: float = 1.0) -> None:
        super().__init__()
        if isinstance(patience, bool) or not isinstance(patience, int) or patience < 1:
            raise ConfigError(f"patience is an integer from 1, got {patience!r}")
        if not isinstance(solved, (int, float)) or not 0.0 < solved <= 1.0:
            raise ConfigError(f"solved is a score above 0 and up to 1, got {solved!r}")
        self._patience = patience
        self._solved = solved

    def level(self, problem: str) -> int:
        """Return the level of a problem's hint, from 0 for none."""
        with self._lock:
            return self._level(problem)

    def record(self, problem: str, level: int, most: int, score: float) -> None:
        """Take down the score of an episode with the hint of a level; ``most`` is the last one."""
        with self._lock:
            if level != self._level(problem):
                return
            state = self._problems.setdefault(problem, {"level": 0, "failed": 0})
            if score >= self._solved:
                state.update(level=max(0, level - 1), failed=0)
            elif state["failed"] + 1 >= self._patience:
                state.update(level=min(most, level + 1), failed=0)
            else:
                state["failed"] += 1
            if not any(state.values()):  # as if it had never been posed
                del self._problems[problem]

    def _level(self, problem: str) -> int:
        known = self._problems.get(problem)
        return int(known["level"]) if known else 0
