"""Calling a Python function inside of the sandbox, and reading what came of it.

The driver (`program_driver`) goes in beside the solution with the arguments and a nonce; one line
comes out, and anything but that line is no result.
"""

import builtins
import json
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.sandboxes.base import Case, Job, Limits, Result, RunStatus
from rlvr_envs.verifiers.program_values import Unreadable, read_report, to_text

FUNCTION_LIMITS = Limits(stdout_kib=256)  # of the text of a result
_DRIVER = Path(__file__).with_name("program_driver.py")
_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)?")

ENDINGS = {
    RunStatus.NONZERO_EXIT: "the program ended with an error",
    RunStatus.SIGNAL: "the program crashed",
    RunStatus.CPU_TIMEOUT: "the program took too long",
    RunStatus.WALL_TIMEOUT: "the program waited too long",
    RunStatus.MEMORY: "the program used too much memory",
    RunStatus.OUTPUT_LIMIT: "the program wrote too much",
    RunStatus.FILE_LIMIT: "the program used too much of the disk",
    RunStatus.PROCESS_LIMIT: "the program started too many processes",
}


class OutcomeKind(StrEnum):
    """What came of a call."""

    VALUE = "value"
    EXCEPTION = "exception"
    NOT_DATA = "not_data"  # it returned what cannot travel
    NO_FUNCTION = "no_function"
    RUN_FAULT = "run_fault"  # a limit, a crash, an exit
    FORGED = "forged"  # something else wrote to the channel
    SANDBOX_ERROR = "sandbox_error"  # our fault or the machine's


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one call."""

    kind: OutcomeKind  # whether there is a value, and if not, why
    value: Any  # the result, rebuilt as plain data
    detail: str  # why there is none, in words that tell nothing of the arguments
    result: Result  # the run, with its costs


@cache
def _driver() -> bytes:
    return _DRIVER.read_bytes()


def function_job(source: str, limits: Limits) -> Job:
    """Return the job that calls functions of a solution; its cases say which and with what."""
    content = source.encode("utf-8", "replace")  # half a surrogate pair is a syntax error
    return Job(
        script="main.py", files={"main.py": _driver(), "solution.py": content}, limits=limits
    )


def function_cases(
    function: str, args_list: Sequence[tuple[Any, ...]], loose: bool
) -> tuple[list[str], list[Case]]:
    """Return a nonce for each call, which its report must begin with, and its case.

    Raises:
        ConfigError: the arguments are no plain data, or the name is none.
    """
    if not _FUNCTION.fullmatch(function):
        raise ConfigError(f"a function has a name such as 'f' or 'Class.f', got {function!r}")
    nonces = [secrets.token_hex(16) for _ in args_list]
    cases = [
        Case(
            stdin=(
                f'{{"nonce": "{nonce}", "function": {json.dumps(function)}, '
                f'"loose": {json.dumps(loose)}, "args": {to_text(list(args))}}}'
            ).encode()
        )
        for nonce, args in zip(nonces, args_list, strict=True)
    ]
    return nonces, cases


def read_outcome(result: Result, nonce: str) -> Outcome:
    """Read what the driver reported; the one place that turns a run into a value."""
    if result.status is RunStatus.SANDBOX_ERROR:
        return Outcome(OutcomeKind.SANDBOX_ERROR, None, result.detail, result)
    if not result.ok:
        return Outcome(OutcomeKind.RUN_FAULT, None, ENDINGS[result.status], result)
    if result.stdout_truncated:
        return Outcome(OutcomeKind.RUN_FAULT, None, "the result is too long", result)
    head, space, body = result.stdout.partition(b" ")
    if head != nonce.encode() or not space or body.find(b"\n") != len(body) - 1:
        told = "the program ended or wrote elsewhere before its function gave a result"
        return Outcome(OutcomeKind.FORGED, None, told, result)
    return Outcome(*_report(body), result)


def _report(body: bytes) -> tuple[OutcomeKind, Any, str]:
    try:
        kind, value = read_report(body.decode("ascii"))
    except (Unreadable, UnicodeDecodeError):
        return OutcomeKind.NOT_DATA, None, "the result cannot be read as data"
    if kind == "value":
        return OutcomeKind.VALUE, value, ""
    if kind == "error":
        return OutcomeKind.EXCEPTION, None, f"it raised {_exception(value)}"
    if kind == "missing":
        return OutcomeKind.NO_FUNCTION, None, "the function is not defined"
    return OutcomeKind.NOT_DATA, None, "the result is not plain data"


def _exception(name: object) -> str:
    """Return the name of a built-in exception; a name of the program's could tell its input."""
    known = getattr(builtins, name, None) if isinstance(name, str) else None
    builtin = isinstance(known, type) and issubclass(known, BaseException)
    return str(name) if builtin else "an exception of its own"
