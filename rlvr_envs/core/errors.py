"""Errors, by what the caller can do about them.

RlvrEnvsError
├── RegistrationError      the id is malformed, taken, removed or unknown
├── ConfigError            an argument is unknown or out of range
├── UsageError             calls came in the wrong order
├── RowError               a dataset row is incomplete or was altered
├── DependencyError        an optional package or program is missing
│   ├── SandboxUnavailable no backend of the sandbox works here
│   └── ToolchainMissing   the compiler or interpreter of a language is missing
├── SandboxError           a sandbox broke, and its session is lost
└── WorkerError            an isolated worker gave no result
    ├── WorkerTimeout      it used up its CPU time
    ├── WorkerMemory       it ran into its memory limit
    └── WorkerDied         it ended without an answer, twice
        └── WorkerKilled   it was ended from outside: nothing is known of the item

A model's bad answer is never an error: it is a `Verdict`.
"""

import difflib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


class RlvrEnvsError(Exception):
    """Root of every error raised on purpose here."""


class RegistrationError(RlvrEnvsError):
    """The id is malformed, taken, removed or unknown."""


class ConfigError(RlvrEnvsError, ValueError):
    """An argument is unknown or out of range."""


class UsageError(RlvrEnvsError, RuntimeError):
    """Calls came in the wrong order."""


class RowError(RlvrEnvsError, ValueError):
    """A dataset row is incomplete or was altered."""


class DependencyError(RlvrEnvsError, ImportError):
    """An optional package or program is missing; the message says how to get it."""


class SandboxUnavailable(DependencyError):
    """No backend of the sandbox works here; the message says what to install."""


class SpeedNotMeasurable(SandboxUnavailable):
    """The kernel does not count the CPU time of programs here; the message says what to do."""


class ToolchainMissing(DependencyError):
    """The compiler or interpreter of a language is missing; the message says how to get it."""


class SandboxError(RlvrEnvsError):
    """A sandbox broke, and its session is lost; the fault is not the program's."""


class WorkerError(RlvrEnvsError):
    """An isolated worker gave no result; the fault is not the answer's."""


class WorkerTimeout(WorkerError):
    """The item needs more CPU time than it may use."""


class WorkerMemory(WorkerError):
    """The worker ran into its memory limit."""


class WorkerDied(WorkerError):
    """The worker ended without an answer, and a fresh one with the same item too."""


class WorkerKilled(WorkerDied):
    """Another process or the wall-clock guard ended the worker, twice: nobody is to blame."""


@contextmanager
def within_limits(task_id: str) -> Iterator[None]:
    """Turn Python's refusal to write or read a very long integer into a `ConfigError`."""
    try:
        yield
    except ValueError as error:
        if "integer string conversion" not in str(error):
            raise
        raise ConfigError(
            f"{task_id}: a number of this problem has more digits than Python writes "
            f"({sys.get_int_max_str_digits()}): lower the difficulty"
        ) from error


def did_you_mean(name: str, known: Iterable[str], by: Callable[[str], str] = str.casefold) -> str:
    """Return ``"; did you mean 'X'?"`` for the closest known name, or an empty string.

    Args:
        name: what was given.
        known: what there is.
        by: what of a name is compared; all of it by default, whatever its capital letters.
    """
    spelled = {by(each): each for each in known}
    close = difflib.get_close_matches(by(name), spelled, n=1)
    return f"; did you mean {spelled[close[0]]!r}?" if close else ""


def misspelt(key: str, found: Iterable[str]) -> str:
    """Return ``"; is 'X' a misspelling of it?"`` for a key that data lack, or an empty string."""
    others = [each for each in found if isinstance(each, str) and each != key]
    close = difflib.get_close_matches(key, others, n=1)
    return f"; is {close[0]!r} a misspelling of it?" if close else ""


def did_you_mean_path(path: str | os.PathLike[str]) -> str:
    """Return ``"; did you mean 'X'?"`` for a file or folder that is not there.

    The suggestion is the closest name beside the first part of the path that is missing.
    """
    path = Path(path)
    missing = next((part for part in (*reversed(path.parents), path) if not part.exists()), None)
    if missing is None:
        return ""
    try:
        beside = [entry.name for entry in missing.parent.iterdir()]
    except OSError:
        return ""
    # A suffix that two names share says little: `mine.py` is not `e2.py`.
    stems = difflib.get_close_matches(missing.stem, {Path(name).stem for name in beside}, n=9)
    alike = [name for name in beside if Path(name).stem in stems]
    close = difflib.get_close_matches(missing.name, alike, n=1)
    if not close:
        return ""
    near = missing.parent / close[0]
    whole = near / path.relative_to(missing)
    return f"; did you mean {str(whole if whole.exists() else near)!r}?"
