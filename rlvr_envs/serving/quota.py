"""A limit of what a server poses: certain problems, and so many episodes of them.

The command line makes one for an experiment of the benchmark, so that a trainer has its training
problems alone, and its budget of samples is counted here.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Row
from rlvr_envs.core.seeding import Rng
from rlvr_envs.serving.metrics import Metrics
from rlvr_envs.serving.sessions import WireError, invalid

# What a reset may say of the problem: others would name some that are not offered.
FIELDS = ("seed", "index", "problem_seed", "difficulty", "episode_id")


class Quota:
    """Problems that may be posed, and how many episodes are left.

    An episode counts when it begins, whether it is finished or abandoned.

    Args:
        rows: the problems; an environment poses those of its own task.
        episodes: how many may begin.

    Raises:
        ConfigError: there are none.
    """

    def __init__(self, rows: Sequence[Row], episodes: int) -> None:
        if not rows or episodes < 1:
            raise ConfigError(f"need problems and episodes, got {len(rows)} and {episodes}")
        self.episodes = episodes
        self.begun = 0
        self._rows: dict[str, list[Row]] = {}
        for row in rows:
            self._rows.setdefault(row["id"], []).append(row)

    @property
    def ids(self) -> list[str]:
        """The tasks of the problems."""
        return sorted(self._rows)

    def show(self, metrics: Metrics) -> None:
        """Let Prometheus see how many episodes have begun and how many are left."""
        metrics.quota("begun", lambda: self.begun)
        metrics.quota("left", lambda: self.episodes - self.begun)

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count an episode; one that could not begin is given back.

        Raises:
            WireError: none is left.
        """
        if self.begun >= self.episodes:
            raise WireError(
                "EXECUTION_ERROR",  # which clients do not try again
                403,
                f"all {self.episodes} episodes of this server's budget have begun: save the last "
                "checkpoint and end the run",
            )
        self.begun += 1
        try:
            yield
        except BaseException:
            self.begun -= 1
            raise

    def choose(self, env_id: str, data: Mapping[str, Any], seeds: Rng) -> Row:
        """Return the problem of a reset: the one that it names, or one that is drawn.

        ``index`` is its number among those of the task, ``problem_seed`` its own seed.

        Raises:
            WireError: the reset names another problem.
        """
        rows = self._rows[env_id]
        given = {name: value for name, value in data.items() if value is not None}
        other = sorted(set(given) - set(FIELDS))
        if other:
            raise invalid(
                f"this server poses {len(rows)} certain problems of {env_id}, so a reset has no "
                f"{', '.join(other)}: send index, problem_seed, seed, or nothing"
            )
        difficulty = given.get("difficulty")
        found = [row for row in rows if difficulty in (None, row["difficulty"])]
        if "index" in given:
            index = given["index"]
            found = rows[index : index + 1] if type(index) is int and index >= 0 else []
        elif "problem_seed" in given:
            found = [row for row in found if row["problem_seed"] == given["problem_seed"]]
        if not found:
            raise invalid(
                f"this is none of the {len(rows)} problems of {env_id} that this server poses"
            )
        return found[int(seeds.integers(len(found)))]
