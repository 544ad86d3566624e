"""The self-check itself: that its probes can fail, and that gaps are told from faults."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.sandboxes import selfcheck
from rlvr_envs.sandboxes.base import Result, RunStatus
from rlvr_envs.sandboxes.probes import PROBES, Bench, Host, Probe
from rlvr_envs.sandboxes.probes.bench import let_through
from rlvr_envs.sandboxes.sandbox import BACKENDS
from rlvr_envs.sandboxes.selfcheck import GAPS, ProbeResult, checks, self_check, summary

THREAT_MODEL = Path(__file__).resolve().parents[3] / "docs" / "threat_model.md"


class Fake:
    """A sandbox whose every result is made by a function."""

    backend = "fake"
    accounted_by_kernel = hides_programs = True

    def __init__(self, answer):
        self.run = answer

    def run_batch(self, job, cases):
        return [self.run(job) for _ in cases]

    def session(self, limits=None):
        return self

    def write(self, path, content):
        pass

    def read(self, path):
        return b"plain"

    def close(self):
        pass


def bare(job):
    """Run a job as an ordinary process: what no sandbox at all contains."""
    script = [sys.executable, "-c", job.files[job.script].decode()] if job.script else job.argv
    command = [*script, *job.args]
    done = subprocess.run(command, capture_output=True, input=job.stdin, check=False, timeout=60)
    status = RunStatus.NONZERO_EXIT if done.returncode else RunStatus.OK
    return Result(status=status, exit_code=done.returncode, stdout=done.stdout, stderr=done.stderr)


@pytest.fixture(scope="module")
def host():
    with Host() as shared:
        yield shared


def test_every_probe_says_what_it_contains():
    assert len(PROBES) >= 60
    assert len({probe.name for probe in PROBES}) == len(PROBES)
    for probe in PROBES:
        assert probe.contains.endswith("."), probe.name
        assert "\n" not in probe.contains, probe.name


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.name)
def test_no_probe_passes_where_nothing_ran(probe, host):
    """A sandbox that runs nothing contains nothing: silence is no evidence."""
    silent = Bench(sandbox=Fake(lambda job: Result(status=RunStatus.OK)), host=host)
    assert probe.judge(silent)
    broken = Bench(sandbox=Fake(lambda job: Result.fault("it broke")), host=host)
    assert probe.judge(broken)


# Those that harm nothing when nothing contains them.
HARMLESS = (
    *("tcp_to_the_host", "udp_to_the_host", "abstract_socket", "path_socket", "read_host_files"),
    *("existence_of_files", "write_host_files", "attributes_of_host_files", "climb_out"),
    *("environment", "proc_list", "io_uring", "privileges", "personality", "orphan_daemon"),
    *("memory_of_others", "read_library", "listening", "limits_of_others"),
)


@pytest.mark.parametrize("name", HARMLESS)
def test_probes_find_what_is_not_contained(name, host, tmp_path, monkeypatch):
    if name in {"io_uring", "personality"} and sys.platform != "linux":
        pytest.skip("a system call of Linux")
    if name == "memory_of_others" and os.geteuid() != 0:
        pytest.skip("only root reads the memory of a process that is not its child")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RLVR_TEST_VARIABLE", "x")
    (probe,) = [probe for probe in PROBES if probe.name == name]
    assert probe.judge(Bench(sandbox=Fake(bare), host=host))
    host.bait_harmed()
    host.files_harmed()


@pytest.mark.parametrize(
    ("stdout", "status", "signal", "complaint"),
    [
        (b"a: denied EPERM\nb: denied ENOENT\nEND\n", "ok", None, ""),
        (b"a: denied EPERM\nb: done 3\nEND\n", "ok", None, "not refused: b: done 3"),
        (b"a: denied EINVAL\nEND\n", "ok", None, "not refused: a: denied EINVAL"),
        (b"a: broke KeyError()\nEND\n", "ok", None, "not refused: a: broke KeyError()"),
        (b"a: denied EPERM\n", "ok", None, "the program did not get to its end: ok"),
        (b"END\n", "ok", None, "the program did not get to its end: ok"),
        (b"a: denied EPERM\n", "signal", 31, ""),
        (b"a: done 3\n", "signal", 31, "not refused: a: done 3"),
        (b"a: denied EPERM\n", "signal", 11, "the program did not get to its end: signal"),
    ],
)
def test_what_counts_as_refused(stdout, status, signal, complaint):
    result = Result(status=RunStatus(status), stdout=stdout, signal=signal)
    assert let_through(result) == complaint


def test_a_sandbox_that_raises_has_failed():
    def answer(job):
        raise SandboxError("lost")

    (found,) = self_check(Fake(answer), PROBES[:1])
    assert not found.passed
    assert found.faulty
    assert "SandboxError: lost" in found.detail


def test_the_next_job_must_run():
    """A probe that leaves the sandbox broken has failed, whatever itself it saw."""
    quiet = Probe(name="quiet", contains="Nothing.", judge=lambda bench: "")
    (found,) = self_check(Fake(lambda job: Result.fault("gone")), [quiet])
    assert found.detail == "the next job did not run: sandbox_error, gone"
    fine = Fake(lambda job: Result(status=RunStatus.OK, stdout=b"42\n"))
    (found,) = self_check(fine, [quiet])
    assert found.passed


def test_a_known_gap_is_neither_a_pass_nor_a_fault(monkeypatch):
    monkeypatch.setattr(selfcheck, "GAPS", {"fake": {"leaky": "it leaks by design"}})
    judged = {"leaky": "it leaked", "tight": "", "torn": "it tore"}
    probes = [
        Probe(name=name, contains="Nothing.", judge=lambda bench, said=said: said)
        for name, said in judged.items()
    ]
    sandbox = Fake(lambda job: Result(status=RunStatus.OK, stdout=b"42\n"))
    leaky, tight, torn = checks(sandbox, probes)
    assert (leaky.passed, leaky.faulty, leaky.gap) == (False, False, "it leaks by design")
    assert (tight.passed, tight.faulty, tight.gap) == (True, False, "")
    assert (torn.passed, torn.faulty, torn.gap) == (False, True, "")
    found = {"fake": [leaky, tight, torn], "other": [tight]}
    assert summary(found) == "fake 1/3 (1 known gap), other 1/1"


def test_what_only_the_kernel_can_count_is_a_gap_where_it_does_not():
    def answer(job):
        return Result(status=RunStatus.OK, stdout=b"42\n")

    (name,) = selfcheck.ESTIMATES
    probe = Probe(name=name, contains="Nothing.", judge=lambda bench: "it went unseen")
    sandbox = Fake(answer)
    assert self_check(sandbox, [probe])[0].faulty
    sandbox.accounted_by_kernel = False
    assert self_check(sandbox, [probe])[0].gap == selfcheck.ESTIMATES[name]


def test_programs_that_cannot_be_hidden_are_a_gap():
    name = "other_programs"
    probe = Probe(name=name, contains="Nothing.", judge=lambda bench: "it ran node")
    sandbox = Fake(lambda job: Result(status=RunStatus.OK, stdout=b"42\n"))
    assert self_check(sandbox, [probe])[0].faulty
    sandbox.hides_programs = False
    assert self_check(sandbox, [probe])[0].gap == selfcheck.SHOWN_PROGRAMS[name]


def test_a_probe_that_passes_in_spite_of_a_declared_gap_is_a_pass(monkeypatch):
    monkeypatch.setattr(selfcheck, "GAPS", {"fake": {"tight": "outdated"}})
    probe = Probe(name="tight", contains="Nothing.", judge=lambda bench: "")
    sandbox = Fake(lambda job: Result(status=RunStatus.OK, stdout=b"42\n"))
    assert self_check(sandbox, [probe]) == [
        ProbeResult(name="tight", contains="Nothing.", passed=True)
    ]


def test_gaps_name_probes_and_are_in_the_threat_model():
    names = {probe.name for probe in PROBES}
    text = THREAT_MODEL.read_text()
    assert set(GAPS) <= set(BACKENDS)
    for gaps in (*GAPS.values(), selfcheck.ESTIMATES, selfcheck.SHOWN_PROGRAMS):
        assert set(gaps) <= names
        for name, why in gaps.items():
            assert why
            assert f"`{name}`" in text, f"docs/threat_model.md does not explain {name}"


def test_the_baits_notice_harm(host):
    assert host.files_harmed() == ""
    host.files[0].write_text("changed")
    assert str(host.files[0]) in host.files_harmed()
    assert host.files_harmed() == ""
    assert host.bait_harmed() == ""
    host.bait.kill()
    host.bait.wait()
    assert "was killed" in host.bait_harmed()
    assert host.bait_harmed() == ""


def test_the_baits_are_removed():
    with Host() as mine:
        files, process = mine.files, mine.bait
        assert all(file.exists() for file in files)
    assert not any(file.parent.exists() for file in files)
    assert process.poll() is not None


@pytest.mark.parametrize("name", ["honest_program", "descriptors", "io_uring", "orphan_daemon"])
def test_probes_pass_in_a_real_sandbox(sandbox, name):
    (found,) = self_check(sandbox, [probe for probe in PROBES if probe.name == name])
    assert found.passed, found.detail
