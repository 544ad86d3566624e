"""Counts of failures by problem, which decide on hints."""

import threading
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.wrappers.item_response import problems_of


class Failures:
    """Counts failures by problem: so many in a row raise its hint, a solved episode lowers it.

    One object serves all environments of a group, also from several threads. Episodes that began
    before their problem's hint changed do not count.

    Args:
        patience: failed episodes in a row after which the hint is one stronger; the size of a
            group, for hints to problems that a whole group has failed.
        solved: the score from which an episode is not failed.

    Raises:
        ConfigError: an argument is out of range.
    """

    def __init__(self, *, patience: int = 8, solved: float = 1.0) -> None:
        if isinstance(patience, bool) or not isinstance(patience, int) or patience < 1:
            raise ConfigError(f"patience is an integer from 1, got {patience!r}")
        if not isinstance(solved, float) or not 0.0 < solved <= 1.0:
            raise ConfigError(f"solved is a score above 0 and up to 1, got {solved!r}")
        self._patience = patience
        self._solved = solved
        self._lock = threading.Lock()
        self._problems: dict[str, tuple[int, int]] = {}  # level, failures in a row at it

    def level(self, problem: str) -> int:
        """Return the level of a problem's hint, from 0 for none."""
        with self._lock:
            return self._problems.get(problem, (0, 0))[0]

    def record(self, problem: str, level: int, most: int, score: float) -> None:
        """Take down the score of an episode with the hint of a level; ``most`` is the last one."""
        with self._lock:
            current, failed = self._problems.get(problem, (0, 0))
            if level != current:
                return
            failed += 1
            if score >= self._solved:
                current, failed = max(0, current - 1), 0
            elif failed >= self._patience:
                current, failed = min(most, current + 1), 0
            self._problems[problem] = (current, failed)
            if (current, failed) == (0, 0):  # as if it had never been posed
                del self._problems[problem]

    def state_dict(self) -> dict[str, Any]:
        """Return the state, as JSON can hold it."""
        with self._lock:
            problems = {
                problem: {"level": level, "failed": failed}
                for problem, (level, failed) in self._problems.items()
            }
        return {"kind": "failures", "problems": problems}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state that `state_dict` returned; raise `ConfigError` if it is another's."""
        problems = problems_of(state, "failures", {"level", "failed"})
        with self._lock:
            self._problems = {
                problem: (int(told["level"]), int(told["failed"]))
                for problem, told in problems.items()
            }
