"""Calling a function on large inputs, and what that cost, as another process measured it.

The costs are CPU seconds of whole runs, summed over all processes, from the start of Python to its
end; nothing inside of the sandbox takes part in measuring.
"""

from collections.abc import Sequence

from rlvr_envs.core.errors import SpeedNotMeasurable
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.sandboxes.base import Limits, RunStatus
from rlvr_envs.sandboxes.shared import shared_sandbox
from rlvr_envs.verifiers.program import Call, OutcomeKind, call_function

WALL_S = 15.0  # only for programs that wait


def costs(source: str, function: str, calls: Sequence[Call], *, cpu_s: float) -> list[float] | str:
    """Return the CPU seconds of each call, or what is wrong with one.

    Args:
        source: Python code that defines the function.
        function: its name.
        calls: arguments and results; each call is made in a process of its own.
        cpu_s: the CPU seconds that each may use.

    Raises:
        SandboxFault: the sandbox failed, so that nothing can be said of the code.
        SpeedNotMeasurable: the CPU time of programs can only be estimated here, which a program
            can evade.
    """
    sandbox = shared_sandbox()
    if not sandbox.accounted_by_kernel:
        raise SpeedNotMeasurable(
            f"the sandbox {sandbox.backend} can only estimate the CPU time of programs here, so no "
            "speed is rewarded: it needs a cgroup for each slot. Run as root, in a group that is "
            "delegated to you (systemd-run --user --scope -p Delegate=yes ...), or with "
            "RLVR_SANDBOX=docker; `rlvr doctor` says where the kernel counts"
        )
    limits = Limits(cpu_s=cpu_s, wall_s=WALL_S, stdout_kib=256)
    found: list[float] = []
    for call in calls:  # one at a time, so that the first that fails is the last that is run
        outcome = call_function(source, function, [call.args], limits=limits)[0]
        if outcome.kind is OutcomeKind.SANDBOX_ERROR:
            raise SandboxFault(outcome.detail)
        if outcome.result.status is RunStatus.CPU_TIMEOUT:
            return "it takes too long on a large input"
        if outcome.kind is not OutcomeKind.VALUE:
            return f"{outcome.detail} on a large input"
        if type(outcome.value) is not type(call.expected) or outcome.value != call.expected:
            return f"{function} returns a wrong result on a large input"
        found.append(outcome.result.cpu_s)
    return found


class SandboxFault(Exception):
    """The sandbox failed; `verdict` says so."""

    def verdict(self) -> Verdict:
        """Return the verdict that leaves the answer unscored."""
        return Verdict.verifier_error(f"the sandbox failed: {self}")
