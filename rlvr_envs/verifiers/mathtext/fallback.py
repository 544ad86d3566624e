"""A second opinion from math-verify's LaTeX grammar and sympy, in an isolated worker process.

Asked only about short answers that this package's own reader does not know. The worker gets a
deadline and a memory limit that its parent enforces by killing it.
"""

import re
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.errors import WorkerError, WorkerMemory, WorkerTimeout

MAX_CHARACTERS = 400
DEADLINE_S = 1.0

_CHILD = "rlvr_envs.verifiers.mathtext.fallback:equal_by_sympy"
# Relations that the other grammar reads only in part, text, and anything but plain LaTeX.
_REFUSED = re.compile(
    r"\\neq?\b|!=|\\not|=.*=|\\text|\\mbox|[A-Za-z]{5,}(?![A-Za-z}])\s|[\x00-\x08]|@|;|\""
)
_TOWER = re.compile(r"\^\s*\{?[^{}^]{0,20}\^|!|\\binom|[0-9]{40}|\\choose")


@dataclass(frozen=True, slots=True)
class Opinion:
    """What the worker said; ``equal`` is None when it could not tell."""

    equal: bool | None = None
    timed_out: bool = False
    failed: bool = False


def second_opinion(gold: str, answer: str) -> Opinion:
    """Return what an isolated sympy thinks of two LaTeX strings."""
    for text in (gold, answer):
        if len(text) > MAX_CHARACTERS or _REFUSED.search(text) or _TOWER.search(text):
            return Opinion()
    from rlvr_envs.core.workers import shared_pool  # noqa: PLC0415 - no pool before it is needed

    try:
        equal = shared_pool().call(_CHILD, gold, answer, deadline_s=DEADLINE_S)
    except WorkerTimeout:
        return Opinion(timed_out=True)
    except WorkerMemory:
        return Opinion()
    except WorkerError:
        return Opinion(failed=True)
    return Opinion(equal if isinstance(equal, bool) else None)


def equal_by_sympy(gold: str, answer: str) -> bool | None:
    """Return whether two LaTeX strings are equal mathematics; runs in the worker only."""
    left, right = _parse(gold), _parse(answer)
    if left is None or right is None:
        return None
    from math_verify.grader import verify  # noqa: PLC0415 - sympy stays out of the parent

    return bool(verify(left, right, timeout_seconds=None))


def _parse(text: str) -> Any | None:
    return None
