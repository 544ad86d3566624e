"""Whether a sandbox contains what it should: every probe run against it, judged from outside."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rlvr_envs.sandboxes.base import Job, RunStatus
from rlvr_envs.sandboxes.probes import PROBES, Bench, Host, Probe
from rlvr_envs.sandboxes.probes.bench import SandboxLike, account

# What a backend is known not to contain: backend → probe → why. Everything here is explained to
# users in docs/threat_model.md.
GAPS: Mapping[str, Mapping[str, str]] = {
    "landlock": {
        "existence_of_files": "Landlock does not restrict stat: names, sizes and times are seen",
        "attributes_of_host_files": (
            "Landlock does not restrict utime, chmod, chown and extended attributes: a job can "
            "change those of files that its user may change"
        ),
    }
}

# What no backend contains where the kernel does not count: there the limits are estimates.
ESTIMATES: Mapping[str, str] = {
    "spin_in_heirs": "CPU time is sampled: processes that live for less than a look are not seen",
}
# And where programs cannot be hidden: without Landlock, or in an image of the user's own.
_SHOWS_ALL = "without Landlock, and in images of your own, a job can run every program that it sees"
SHOWN_PROGRAMS: Mapping[str, str] = {
    "other_programs": _SHOWS_ALL,
    "compiler_at_run_time": _SHOWS_ALL,
}

_DETAIL = 400  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What one probe found."""

    name: str  # of the probe
    contains: str  # what a sandbox that passes contains
    passed: bool  # whether the program was contained
    detail: str = ""  # what got through, or nothing
    gap: str = ""  # why this backend is known not to contain it, or nothing

    @property
    def faulty(self) -> bool:
        """Whether the probe failed and nobody has declared that it would."""
        return not self.passed and not self.gap


def self_check(sandbox: SandboxLike, probes: Iterable[Probe] = PROBES) -> list[ProbeResult]:
    """Run probes against a sandbox and return what each found."""
    return list(checks(sandbox, probes))


def checks(sandbox: SandboxLike, probes: Iterable[Probe] = PROBES) -> Iterator[ProbeResult]:
    """Run probes against a sandbox, yielding what each found as soon as it is known."""
    gaps = dict(GAPS.get(sandbox.backend, {}))
    if not sandbox.accounted_by_kernel:
        gaps.update(ESTIMATES)
    if not sandbox.hides_programs:
        gaps.update(SHOWN_PROGRAMS)
    with Host() as host:
        bench = Bench(sandbox=sandbox, host=host)
        for probe in probes:
            detail = _judge(bench, probe)
            yield ProbeResult(
                name=probe.name,
                contains=probe.contains,
                passed=not detail,
                detail=detail,
                gap=gaps.get(probe.name, "") if detail else "",
            )


def _judge(bench: Bench, probe: Probe) -> str:
    """Return what got through: in the probe itself, at the host's baits, or to the next job."""
    try:
        detail = probe.judge(bench)
    except Exception as error:  # noqa: BLE001 - a sandbox that raises has failed the probe
        detail = f"{type(error).__name__}: {error}"
    host = bench.host
    return (detail or host.bait_harmed() or host.files_harmed() or _aftermath(bench))[:_DETAIL]


def _aftermath(bench: Bench) -> str:
    """Return a complaint unless the sandbox still runs an honest program."""
    job = Job(script="main.py", files={"main.py": b"print(6 * 7)"})
    result = bench.sandbox.run(job)
    if result.status is RunStatus.OK and result.stdout == b"42\n":
        return ""
    return f"the next job did not run: {account(result)}"


def summary(results: Mapping[str, Iterable[ProbeResult]]) -> str:
    """Return one line that counts the probes passed, for each backend."""
    parts = []
    for backend, found in results.items():
        listed = list(found)
        passed = sum(result.passed for result in listed)
        gaps = sum(not result.passed and not result.faulty for result in listed)
        known = f" ({gaps} known gap{'s' * (gaps > 1)})" if gaps else ""
        parts.append(f"{backend} {passed}/{len(listed)}{known}")
    return ", ".join(parts)
