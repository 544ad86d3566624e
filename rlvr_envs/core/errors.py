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
from collections.abc import Callable, Iterable
from pathlib import Path


class RlvrEnvsError(Exception):
    """Root of every error raised on purpose here.

    Examples:
        >>> import rlvr_envs
        >>> try:
        ...     rlvr_envs.make_problem("rlvr/Gcd-v0", seed=0, difficulty=-1)
        ... except rlvr_envs.RlvrEnvsError as error:
        ...     print(error)
        a difficulty is an integer from 0, got -1
    """


class RegistrationError(RlvrEnvsError):
    """The id is malformed, taken, removed or unknown.

    Examples:
        >>> import rlvr_envs
        >>> rlvr_envs.make_problem("rlvr/Gdc-v0", seed=0)
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.RegistrationError: no environment 'rlvr/Gdc-v0'; did you mean
        'rlvr/Gcd-v0'? (`rlvr list` shows them all)
    """


class ConfigError(RlvrEnvsError, ValueError):
    """An argument is unknown or out of range.

    Examples:
        >>> import rlvr_envs
        >>> rlvr_envs.make_problem("rlvr/Gcd-v0", seed=0, n_number=5)
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.ConfigError: GcdTask has no knob 'n_number'; did you mean 'n_numbers'?
        (knobs: n_numbers, max_divisor, max_cofactor)
    """


class UsageError(RlvrEnvsError, RuntimeError):
    """Calls came in the wrong order.

    Examples:
        >>> import gymnasium
        >>> import rlvr_envs
        >>> gymnasium.make("rlvr/Gcd-v0").unwrapped.step("7")
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.UsageError: there is no running episode: call reset() before step()
    """


class RowError(RlvrEnvsError, ValueError):
    """A dataset row is incomplete or was altered.

    Examples:
        >>> import rlvr_envs
        >>> row = rlvr_envs.make_problem("rlvr/Gcd-v0", seed=0)
        >>> rlvr_envs.verify(row | {"problem": {}}, "7")
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.RowError: GcdProblem: missing fields ['divisor', 'numbers'], unknown
        fields []
    """


class DependencyError(RlvrEnvsError, ImportError):
    """An optional package or program is missing; the message says how to get it.

    Examples:
        >>> from rlvr_envs.executors import open_executor
        >>> open_executor("ray")  # doctest: +SKIP
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.DependencyError: the executor 'ray' needs ray: pip install ...
    """


class SandboxUnavailable(DependencyError):
    """No backend of the sandbox works here; the message says what to install.

    Examples:
        >>> from rlvr_envs.sandboxes import Sandbox
        >>> Sandbox("docker")  # doctest: +SKIP
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.SandboxUnavailable: the docker sandbox needs the docker client: ...
    """


class SpeedNotMeasurable(SandboxUnavailable):
    """The kernel does not count the CPU time of programs here; the message says what to do.

    Examples:
        >>> from rlvr_envs.core.errors import SandboxUnavailable, SpeedNotMeasurable
        >>> issubclass(SpeedNotMeasurable, SandboxUnavailable)
        True
    """


class ToolchainMissing(DependencyError):
    """The compiler or interpreter of a language is missing; the message says how to get it.

    Examples:
        >>> from rlvr_envs.verifiers.program import Call, judge_function
        >>> judge_function("def one(): return 1", "one", [Call((), 1)], packages=("no_such",))
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.ToolchainMissing: answers may import no_such, which the Python of the
        sandbox cannot: ...
    """


class SandboxError(RlvrEnvsError):
    """A sandbox broke, and its session is lost; the fault is not the program's.

    Examples:
        >>> from rlvr_envs.sandboxes import Sandbox
        >>> sandbox = Sandbox(sessions=1)
        >>> with sandbox, sandbox.session(), sandbox.session():
        ...     pass
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.SandboxError: 1 sandbox sessions are open: close some, or allow more
    """


class WorkerError(RlvrEnvsError):
    """An isolated worker gave no result; the fault is not the answer's.

    Examples:
        >>> from rlvr_envs.executors import Call, Serial
        >>> [outcome] = Serial().map("math:sqrt", [Call((-1,))], cpu_s=1)
        >>> outcome.error
        WorkerError('ValueError: math domain error')
    """


class WorkerTimeout(WorkerError):
    """The item needs more CPU time than it may use.

    Examples:
        >>> from rlvr_envs.executors import Call, Processes
        >>> with Processes(1) as executor:
        ...     [outcome] = executor.map("math:factorial", [Call((10**7,))], cpu_s=0.2)
        >>> outcome.error
        WorkerTimeout('it needs more than 0.2 s of CPU time')
    """


class WorkerMemory(WorkerError):
    """The worker ran into its memory limit.

    Examples:
        >>> from rlvr_envs.executors import Call, Processes
        >>> with Processes(1) as executor:
        ...     [outcome] = executor.map("builtins:bytes", [Call((10**12,))], cpu_s=9)
        >>> outcome.error
        WorkerMemory('the memory limit was met')
    """


class WorkerDied(WorkerError):
    """The worker ended without an answer, and a fresh one with the same item too.

    Examples:
        >>> from rlvr_envs.executors import Call, Processes
        >>> with Processes(1) as executor:
        ...     [outcome] = executor.map("os:_exit", [Call((1,))], cpu_s=9)
        >>> outcome.error
        WorkerDied('the worker ended without an answer (exit code 1)')
    """


class WorkerKilled(WorkerDied):
    """Another process or the wall-clock guard ended the worker, twice: nobody is to blame.

    Examples:
        >>> from rlvr_envs.core.errors import WorkerDied, WorkerKilled
        >>> issubclass(WorkerKilled, WorkerDied)
        True
    """


class within_limits:  # noqa: N801 - used like a function; a generator would cost a microsecond
    """Turn Python's refusal to write or read a very long integer into a `ConfigError`.

    Examples:
        >>> from rlvr_envs.core.errors import within_limits
        >>> with within_limits("rlvr/Gcd-v0"):
        ...     text = str(10**5000)
        Traceback (most recent call last):
            ...
        rlvr_envs.core.errors.ConfigError: rlvr/Gcd-v0: a number of this problem has more digits
        than Python writes (4300): lower the difficulty
    """

    __slots__ = ("_task_id",)

    def __init__(self, task_id: str) -> None:
        self._task_id = task_id

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValueError) and "integer string conversion" in str(error):
            raise ConfigError(
                f"{self._task_id}: a number of this problem has more digits than Python writes "
                f"({sys.get_int_max_str_digits()}): lower the difficulty"
            ) from error


def did_you_mean(name: str, known: Iterable[str], by: Callable[[str], str] = str.casefold) -> str:
    """Return ``"; did you mean 'X'?"`` for the closest known name, or an empty string.

    Args:
        name: what was given.
        known: what there is.
        by: what of a name is compared; all of it by default, whatever its capital letters.

    Examples:
        >>> from rlvr_envs.core.errors import did_you_mean
        >>> did_you_mean("Gdc-v0", ["Gcd-v0", "Lcm-v0"])
        "; did you mean 'Gcd-v0'?"
    """
    spelled = {by(each): each for each in known}
    close = difflib.get_close_matches(by(name), spelled, n=1)
    return f"; did you mean {spelled[close[0]]!r}?" if close else ""


def misspelt(key: str, found: Iterable[str]) -> str:
    """Return ``"; is 'X' a misspelling of it?"`` for a key that data lack, or an empty string.

    Examples:
        >>> from rlvr_envs.core.errors import misspelt
        >>> misspelt("response", ["id", "reponse"])
        "; is 'reponse' a misspelling of it?"
    """
    others = [each for each in found if isinstance(each, str) and each != key]
    close = difflib.get_close_matches(key, others, n=1)
    return f"; is {close[0]!r} a misspelling of it?" if close else ""


def did_you_mean_path(path: str | os.PathLike[str]) -> str:
    """Return ``"; did you mean 'X'?"`` for a file or folder that is not there.

    The suggestion is the closest name beside the first part of the path that is missing.

    Examples:
        >>> from pathlib import Path
        >>> from rlvr_envs.core.errors import did_you_mean_path
        >>> _ = Path("tasks.toml").write_text("")
        >>> did_you_mean_path("task.toml")
        "; did you mean 'tasks.toml'?"
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
