"""What wrappers remember of single problems, shared by the environments of a group."""

import copy
import threading
from typing import Any, ClassVar

from rlvr_envs.core.errors import ConfigError


class ProblemMemory:
    """A record for each problem, safe to use from several threads.

    A copy in another process, as pickling makes it, goes its own way.

    Attributes:
        kind: what the state is of.
        fields: the names in a record.
    """

    kind: ClassVar[str]
    fields: ClassVar[frozenset[str]]

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._problems: dict[str, dict[str, Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state = {name: value for name, value in vars(self).items() if name != "_lock"}
            return copy.deepcopy(state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.Lock()

    def state_dict(self) -> dict[str, Any]:
        """Return the state, as JSON can hold it."""
        with self._lock:
            return {"kind": self.kind, "problems": copy.deepcopy(self._problems)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from a state that `state_dict` returned; raise `ConfigError` if it is another's."""
        told: object = state
        problems = told.get("problems") if isinstance(told, dict) else None
        if (
            not isinstance(told, dict)
            or told.get("kind") != self.kind
            or not isinstance(problems, dict)
        ):
            raise ConfigError(f"not a state of {self.kind}: {state!r:.80}")
        for problem, record in problems.items():
            if not isinstance(record, dict) or set(record) != self.fields:
                raise ConfigError(f"a state of {self.kind} has {record!r:.80} for {problem!r:.40}")
        with self._lock:
            self._problems = copy.deepcopy(problems)
