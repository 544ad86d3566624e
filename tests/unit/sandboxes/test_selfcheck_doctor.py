"""What `rlvr doctor` says about sandboxes, and what its exit status means."""

import pytest

from rlvr_envs.cli import doctor
from rlvr_envs.cli.main import main
from rlvr_envs.core.errors import SandboxUnavailable, ToolchainMissing
from rlvr_envs.sandboxes import languages
from rlvr_envs.sandboxes.sandbox import BACKENDS
from rlvr_envs.sandboxes.selfcheck import ProbeResult


class Closing:
    """Stands in for a sandbox, which these tests do not start."""

    def __init__(self, name):
        self.backend = name
        self.accounted_by_kernel = name == "landlock"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return None


def outcome(name, detail="", gap=""):
    contains = f"It contains {name}."
    return ProbeResult(name=name, contains=contains, passed=not detail, detail=detail, gap=gap)


@pytest.fixture
def found(monkeypatch):
    """What each backend's probes find; a backend that is not there does not work here."""
    results = {}

    def try_it(backend):
        if backend.name not in results:
            raise SandboxUnavailable(f"no {backend.name}:\n  install something")

    monkeypatch.setattr(doctor, "probe", try_it)
    monkeypatch.setattr(doctor, "Sandbox", Closing)
    monkeypatch.setattr(doctor, "checks", lambda sandbox: iter(results[sandbox.backend]))
    return results


def test_the_report_names_every_backend_and_why_it_does_not_work(found, capsys):
    found["landlock"] = []
    assert main(["doctor"]) == 0
    _, _, report = capsys.readouterr().out.partition("\nsandbox ")
    lines = [line for line in report.splitlines() if line.startswith(tuple(BACKENDS))]
    assert [line.split()[0] for line in lines] == list(BACKENDS)
    state = {line.split()[0]: line for line in lines}
    assert state["namespaces"].endswith("no namespaces: install something")
    assert state["landlock"].endswith("works; the kernel counts")
    assert "allow_unsafe=True" in state["process"]


def test_what_is_missing_is_a_line_each_with_how_to_get_it(found, monkeypatch, capsys):
    def no_simulator():
        raise ToolchainMissing("it is not\n  installed; as root: apt-get install iverilog")

    found["namespaces"] = found["landlock"] = []
    monkeypatch.setattr(doctor, "missing", lambda extra: ["x>=1"] if extra == "verilog" else [])
    monkeypatch.setattr(doctor, "hint", lambda extra: f"install {extra}")
    monkeypatch.setattr(languages, "find_tool", lambda tool: None if "lua" in tool else f"/{tool}")
    monkeypatch.setattr(doctor.icarus, "require", no_simulator)
    assert main(["doctor", "--missing"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "missing: the extra verilog: install verilog",
        f"missing: lua (lua5.4): as root: {languages.find('lua').install}",
        "missing: the sandbox docker: no docker: install something",
        "missing: Icarus Verilog: it is not installed; as root: apt-get install iverilog",
    ]


def test_nothing_is_missing(found, monkeypatch, capsys):
    for name in ("namespaces", "landlock", "docker"):
        found[name] = []
    monkeypatch.setattr(doctor, "missing", lambda extra: [])
    monkeypatch.setattr(languages, "find_tool", lambda tool: f"/{tool}")
    monkeypatch.setattr(doctor.icarus, "require", lambda: None)
    assert main(["doctor", "--missing"]) == 0
    assert capsys.readouterr().out == "nothing is missing\n"


def test_all_passed(found, capsys):
    found["namespaces"] = [outcome("a"), outcome("b")]
    found["docker"] = [outcome("a"), outcome("b")]
    assert main(["doctor", "--sandbox"]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == "namespaces 2/2, docker 2/2"
    assert "landlock does not work here: no landlock: install something" in out
    assert "It contains a." in out


def test_a_failure_is_explained_and_counts(found, capsys):
    found["namespaces"] = [outcome("a", "it got out"), outcome("b")]
    assert main(["doctor", "--sandbox"]) == 1
    out = capsys.readouterr().out
    assert "namespaces, a: NOT CONTAINED\n    it got out\n" in out
    assert out.splitlines()[-1] == "namespaces 1/2"


def test_a_known_gap_is_shown_and_does_not_count(found, capsys):
    found["landlock"] = [outcome("a", "seen", "it is known"), outcome("b")]
    assert main(["doctor", "--sandbox"]) == 0
    out = capsys.readouterr().out
    assert "landlock, a: known gap: it is known\n    seen\n" in out
    assert out.splitlines()[-1] == "landlock 1/2 (1 known gap)"


def test_one_backend_alone(found, capsys):
    found["namespaces"] = [outcome("a", "it got out")]
    found["docker"] = [outcome("a")]
    assert main(["doctor", "--sandbox", "--backend", "docker"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "docker 1/1"


def test_no_backend_is_a_failure(found, capsys):
    assert main(["doctor", "--sandbox"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "no sandbox to check: 0 probes passed"


def test_the_process_backend_is_not_probed(found, capsys):
    with pytest.raises(SystemExit):
        main(["doctor", "--sandbox", "--backend", "process"])
    assert "--backend cannot be 'process'" in capsys.readouterr().err
