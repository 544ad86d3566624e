"""Judging a Python package by the results of its functions, each call in a process of its own.

The files of the package go into the sandbox beside the driver (`program_driver`) and nothing else
does: no tests, no expected values. What the functions return is compared outside.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rlvr_envs.sandboxes.base import Limits, RunStatus
from rlvr_envs.sandboxes.shared import shared_sandbox
from rlvr_envs.verifiers.program import Call
from rlvr_envs.verifiers.program_calls import (
    OutcomeKind,
    function_cases,
    function_job,
    read_outcome,
)
from rlvr_envs.verifiers.program_values import agrees

LIMITS = Limits(cpu_s=1.0, wall_s=3.0, stdout_kib=256)
_ROUND = 4  # calls made at once, after which a package that hangs is found out
_SLOW = (RunStatus.CPU_TIMEOUT, RunStatus.WALL_TIMEOUT, RunStatus.MEMORY)


@dataclass(frozen=True, slots=True)
class PackageCall:
    """A call of a function of a package.

    Attributes:
        module: the full name of the module, such as ``shop.prices``.
        function: its name in the module.
        call: arguments and result.
    """

    module: str
    function: str
    call: Call


class PackageFault(Exception):
    """The sandbox failed; nothing is known of the package."""


def judge_package(
    files: Mapping[str, str], calls: Sequence[PackageCall], *, limits: Limits | None = None
) -> list[bool]:
    """Return for each call whether it returned what it should.

    After a call that takes too long, or too much memory, no more than a few are made; those that
    are not made have not returned what they should.

    Args:
        files: the package's files by relative path, such as ``shop/prices.py``.
        calls: what to call, in any order.
        limits: for each call.

    Raises:
        PackageFault: the sandbox failed.
        SandboxUnavailable: no sandbox works here.
    """
    passed = [False] * len(calls)
    places: dict[tuple[str, str], list[int]] = {}
    for place, each in enumerate(calls):
        places.setdefault((each.module, each.function), []).append(place)
    content = {path: text.encode("utf-8", "replace") for path, text in files.items()}
    for (module, function), own in places.items():
        # One shim for each function, so that a module that does not load fails its own calls only.
        job = function_job(f"from {module} import {function}\n", limits or LIMITS)
        job = replace(job, files={**content, **job.files})
        nonces, cases = function_cases(function, [calls[at].call.args for at in own], False)
        for start in range(0, len(cases), _ROUND):
            results = shared_sandbox().run_batch(job, cases[start : start + _ROUND])
            for offset, result in enumerate(results, start):
                outcome = read_outcome(result, nonces[offset])
                if outcome.kind is OutcomeKind.SANDBOX_ERROR:
                    raise PackageFault(outcome.detail)
                call = calls[own[offset]].call
                passed[own[offset]] = outcome.kind is OutcomeKind.VALUE and agrees(
                    call.expected, outcome.value, call.match
                )
            if any(result.status in _SLOW for result in results):
                return passed
    return passed
