"""How probes run their programs, and what counts as contained."""

import json
import re
import secrets
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rlvr_envs.sandboxes.base import Case, Job, Limits, Result, RunStatus
from rlvr_envs.sandboxes.probes.host import Host
from rlvr_envs.sandboxes.probes.prelude import PRELUDE

# Wall guards are generous where a program ends by itself: a loaded machine must not fail a probe.
CALM = Limits(cpu_s=5.0, wall_s=30.0)

# The answers of a kernel that refused; others, such as EINVAL, come only after access was granted.
KERNEL_REFUSALS = frozenset({"EPERM", "EACCES", "ENOSYS"})
REFUSALS = KERNEL_REFUSALS | frozenset(
    {"ENOENT", "EROFS", "ESRCH", "ENOTDIR", "ENXIO", "ENODEV", "ENETUNREACH", "ENETDOWN"}
    | {"ECONNREFUSED", "EHOSTUNREACH", "EADDRNOTAVAIL", "EAFNOSUPPORT", "EPROTONOSUPPORT"}
    | {"ESOCKTNOSUPPORT", "ELOOP"}
)
_SECCOMP_KILL = 31  # SIGSYS


class SessionLike(Protocol):
    """What probes need of a session."""

    def run(self, job: Job) -> Result: ...
    def write(self, path: str, content: bytes) -> None: ...
    def read(self, path: str) -> bytes | None: ...
    def close(self) -> None: ...


class SandboxLike(Protocol):
    """What probes need of a sandbox."""

    @property
    def backend(self) -> str: ...
    @property
    def accounted_by_kernel(self) -> bool: ...
    @property
    def hides_programs(self) -> bool: ...
    def run(self, job: Job) -> Result: ...
    def run_batch(self, job: Job, cases: Sequence[Case]) -> list[Result]: ...
    def session(self, limits: Limits = ...) -> SessionLike: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """A sandbox under test, and the host around it."""

    sandbox: SandboxLike
    host: Host

    def python(
        self,
        source: str,
        values: Mapping[str, Any] | None = None,
        *,
        limits: Limits = CALM,
        stdin: bytes = b"",
        collect: tuple[str, ...] = (),
    ) -> Result:
        """Run a Python program that starts with the prelude and finds its values in ``VALUES``."""
        return self.sandbox.run(python_job(source, values, limits, stdin, collect))

    def attempts(
        self,
        source: str,
        values: Mapping[str, Any] | None = None,
        *,
        refusals: frozenset[str] = REFUSALS,
        limits: Limits = CALM,
    ) -> str:
        """Run a program whose every attempt should be refused; return what got through."""
        program = textwrap.dedent(source) + "\nsay('END')\n"
        result = self.python(program, values, limits=limits)
        return let_through(result, refusals)

    def shell(self, script: str, *, limits: Limits = CALM) -> Result:
        """Run a shell script."""
        return self.sandbox.run(Job(argv=("/bin/sh", "-c", script), limits=limits))


def python_job(
    source: str,
    values: Mapping[str, Any] | None = None,
    limits: Limits = CALM,
    stdin: bytes = b"",
    collect: tuple[str, ...] = (),
) -> Job:
    """Return a job that runs a program with the prelude."""
    program = PRELUDE + textwrap.dedent(source)
    return Job(
        script="main.py",
        files={"main.py": program.encode()},
        args=(json.dumps(dict(values or {})),),
        stdin=stdin,
        limits=limits,
        collect=collect,
    )


def let_through(result: Result, refusals: frozenset[str] = REFUSALS) -> str:
    """Return which attempts of a program were not refused, or nothing.

    A program that the kernel killed for a forbidden call was refused; one that ended early for
    another reason proves nothing, and so it fails.
    """
    lines = result.stdout.decode(errors="replace").splitlines()
    tried = [line for line in lines if re.match(r".+: (denied|broke|done) ", line)]
    bad = [line for line in tried if not _refused(line, refusals)]
    if bad:
        return "not refused: " + "; ".join(bad)[:300]
    if result.status is RunStatus.SIGNAL and result.signal == _SECCOMP_KILL:
        return ""
    if "END" not in lines or not tried:
        return f"the program did not get to its end: {account(result)}"
    return ""


def _refused(line: str, refusals: frozenset[str]) -> bool:
    outcome, _, reason = line.rpartition(": ")[2].partition(" ")
    return outcome == "denied" and reason in refusals


def account(result: Result) -> str:
    """Return how a run ended, in a short text."""
    tail = result.stderr.decode(errors="replace").strip().splitlines()[-1:]
    parts = [str(result.status), result.detail, *tail]
    if result.exit_code:
        parts.append(f"exit {result.exit_code}")
    return ", ".join(part for part in parts if part)[:300]


def ended_as(result: Result, *statuses: RunStatus) -> str:
    """Return a complaint unless the run ended in one of these ways."""
    if result.status in statuses:
        return ""
    return f"expected {' or '.join(statuses)}, got {account(result)}"


def honest(result: Result, expected: bytes) -> str:
    """Return a complaint unless the program ended by itself and wrote exactly this."""
    if result.status is not RunStatus.OK or result.stdout != expected:
        return f"expected {expected[:40]!r}, got {result.stdout[:80]!r}: {account(result)}"
    return ""


def numbers(result: Result) -> list[int]:
    """Return the whole numbers that a program printed, a line each."""
    return [int(line) for line in result.stdout.split(b"\n") if re.fullmatch(rb"\d{1,15}", line)]


def at_most(result: Result, limit: int, what: str, ended: RunStatus | None = None) -> str:
    """Return a complaint unless a program counted up to something, but not past the limit.

    A program that was ended for it may have gone past the limit, until anyone looked.
    """
    if result.status is RunStatus.SANDBOX_ERROR:
        return account(result)
    counted = numbers(result)
    if not counted:
        return f"the program counted nothing: {account(result)}"
    if result.status is ended and counted[-1] <= 10 * limit:
        return ""
    return f"{counted[-1]} {what}, the limit is {limit}" if counted[-1] > limit else ""


def first(*complaints: str) -> str:
    """Return the first complaint, or nothing if there is none."""
    return next(filter(None, complaints), "")


def token() -> str:
    """Return a fresh name of 14 characters: the kernel keeps 15 of a process's name."""
    return f"rp{secrets.token_hex(6)}"


class Judge(Protocol):
    """Runs a hostile program, and returns "" or what got through."""

    __name__: str

    def __call__(self, bench: Bench) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A hostile program and how the host sees whether it was contained."""

    name: str  # in snake case
    contains: str  # one sentence on what a sandbox that passes contains
    judge: Judge  # runs the program and returns "" or what got through


class Probes:
    """A list of probes that functions join by a decorator."""

    def __init__(self) -> None:
        self.all: list[Probe] = []

    def probe(self, judge: Judge) -> Judge:
        """Add a function under its own name; its docstring says what is contained."""
        name, contains = judge.__name__, (judge.__doc__ or "").strip()
        self.all.append(Probe(name=name, contains=contains, judge=judge))
        return judge
