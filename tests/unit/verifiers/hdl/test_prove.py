"""Proofs of equality by ABC, in the sandbox."""

import pytest

from rlvr_envs.core.errors import DependencyError, SandboxError
from rlvr_envs.sandboxes.base import Result, RunStatus
from rlvr_envs.verifiers.hdl import prove as module
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.prove import COMBINATIONAL, SEQUENTIAL, Engine, prove
from rlvr_envs.verifiers.hdl.sandbox import abc_path
from rlvr_envs.verifiers.hdl.simulate import compare, replay

CLOCKED = Reference(
    "",
    (Port("clk", "input"), Port("rst", "input"), Port("x", "input", 8), Port("z", "output")),
    Clocking("clk", "rst"),
)
WIDE = Reference("", (Port("a", "input", 20), Port("b", "input", 20), Port("y", "output")))


@pytest.fixture(scope="module", autouse=True)
def tools():
    try:
        return abc_path()
    except DependencyError as error:
        pytest.skip(str(error))


def lock(circuit, code, *, opens=True):
    """Open after the bytes of a code came in a row: a bug that chance does not meet."""
    made = circuit(clk=1, rst=1, x=8)
    stages, before = made.state(len(code)), made.bit("rst") ^ 1
    following = []
    for stage, byte in zip(stages, code, strict=True):
        following.append(made.both(before, made.equals(made.bus("x"), byte)))
        before = made.both(stage, made.bit("rst") ^ 1)
    made.then(stages, following)
    return made.done(z=[stages[-1] if opens else 0])


def toggles(circuit, *, one_hot):
    """The same: a bit that flips where x[0] is 1, and one of two bits that trade places."""
    made = circuit(clk=1, rst=1, x=8)
    flip, keep = made.bus("x")[0], made.bit("rst") ^ 1
    if one_hot:
        off, on = made.state(2)  # inverted, so that the start is the reset
        made.then([off], [made.both(keep, made.choose(flip, on ^ 1, off))])
        made.then([on], [made.both(keep, made.choose(flip, off ^ 1, on))])
        return made.done(z=[off])
    bit = made.state()
    made.then(bit, [made.both(keep, made.differ(bit[0], flip))])
    return made.done(z=bit)


def equality(circuit, *, needle=None):
    made = circuit(a=20, b=20)
    same = 1
    for left, right in zip(made.bus("a"), made.bus("b"), strict=True):
        same = made.both(same, made.differ(left, right) ^ 1)
    if needle is not None:
        same = made.differ(same, made.equals(made.bus("a") + made.bus("b"), needle))
    return made.done(y=[same])


def backwards(circuit):
    made = circuit(a=20, b=20)
    apart = 0
    for left, right in reversed(list(zip(made.bus("a"), made.bus("b"), strict=True))):
        apart = made.either(
            apart, made.either(made.both(left, right ^ 1), made.both(right, left ^ 1))
        )
    return made.done(y=[apart ^ 1])


def test_equal_by_hashing_alone(circuit):
    proof = prove(equality(circuit), equality(circuit), WIDE, clocked=True)
    assert (proof.status, proof.engine, proof.cpu_s) == ("equal", "hashing", 0.0)


def test_equal_combinational_designs(circuit):
    proof = prove(equality(circuit), backwards(circuit), WIDE, clocked=True)
    assert (proof.status, proof.engine) == ("equal", "iprove")
    assert proof.difference is None


@pytest.mark.parametrize("engine", COMBINATIONAL, ids=lambda engine: engine.name)
def test_a_needle_in_a_combinational_design(circuit, engine):
    gold, gate = equality(circuit), equality(circuit, needle=0x123456789A)
    assert compare(gold, gate, WIDE, clocked=True) is None
    proof = prove(gold, gate, WIDE, clocked=True, engines=[engine])
    assert (proof.status, proof.engine) == ("differs", engine.name)
    assert proof.difference.inputs == ((0x6789A, 0x12345),)
    assert replay(gold, gate, WIDE, proof.difference)[0].differing() == {"y": 1}


def test_equal_sequential_designs(circuit):
    gold, gate = toggles(circuit, one_hot=False), toggles(circuit, one_hot=True)
    assert gold.latches != gate.latches
    for clocked in (True, False):
        proof = prove(gold, gate, CLOCKED, clocked=clocked)
        assert proof.status == "equal"


@pytest.mark.parametrize("engine", SEQUENTIAL, ids=lambda engine: engine.name)
def test_a_sequence_that_opens_a_lock(circuit, engine):
    code = (0x5A, 0xC3, 0x77)
    gold, gate = lock(circuit, code, opens=False), lock(circuit, code)
    assert compare(gold, gate, CLOCKED, clocked=True) is None
    proof = prove(gold, gate, CLOCKED, clocked=True, engines=[engine])
    assert (proof.status, proof.engine) == ("differs", engine.name)
    found = proof.difference
    assert found.inputs[0][1] == 1  # the reset, which is forced
    assert [row[2] for row in found.inputs[-4:-1]] == list(code)
    rows = replay(gold, gate, CLOCKED, found)
    assert [bool(row.differing()) for row in rows] == [False] * found.cycle + [True]


def test_what_no_engine_decides_stays_open(circuit):
    lazy = Engine("lazy", "strash; bmc3 -F 2", 2.0)
    code = (1, 2, 3, 4)
    proof = prove(
        lock(circuit, code, opens=False), lock(circuit, code), CLOCKED, clocked=True, engines=[lazy]
    )
    assert (proof.status, proof.engine) == ("open", "lazy")
    assert proof.difference is None
    assert proof.cpu_s > 0


def test_an_engine_without_an_end_is_ended(circuit):
    endless = Engine("endless", "strash; sim3 -R 100000000 -F 1000000", 0.3)
    gold, gate = lock(circuit, (9, 9, 9, 9, 9, 9), opens=False), lock(circuit, (9, 9, 9, 9, 9, 9))
    proof = prove(gold, gate, CLOCKED, clocked=True, engines=[endless])
    assert (proof.status, proof.engine) == ("open", "endless")
    assert 0.2 < proof.cpu_s < 2


def answering(monkeypatch, **result):
    class Stub:
        def run(self, job):
            assert job.files["miter.aig"].startswith(b"aig ")
            return Result(**{"status": RunStatus.OK, **result})

    monkeypatch.setattr(module, "hdl_sandbox", Stub)


FALSE_ALARM = b"0000\n" + (b"0" * 10 + b"\n") * 3 + b"# DONE\n"


@pytest.mark.parametrize("run", [b"", b"junk", FALSE_ALARM, FALSE_ALARM.replace(b"0", b"2")])
def test_a_difference_that_does_not_show_is_none(circuit, monkeypatch, run):
    told = b"Status = 0  Frames = 3   CEX: Po =   0"
    answering(monkeypatch, stdout=told, files={"run.cex": run})
    gold, gate = lock(circuit, (1, 2), opens=False), lock(circuit, (1, 2))
    assert prove(gold, gate, CLOCKED, clocked=True).status == "open"


def opening(monkeypatch):
    """An engine that found how the lock opens, which shows in the fourth of five steps."""
    steps = (0, 1, 2, 3, 4)
    lines = [f"00{byte:08b}"[:2] + f"{byte:08b}"[::-1] for byte in steps]
    text = "\n".join(["000", *lines, "# DONE", ""]).encode()
    answering(monkeypatch, stdout=b"Status = 0  Frames = 5", files={"run.cex": text})


@pytest.mark.parametrize(("longest", "status"), [(3, "open"), (4, "differs")])
def test_a_longer_run_than_is_read_proves_nothing(circuit, monkeypatch, longest, status):
    opening(monkeypatch)
    monkeypatch.setattr(module, "_LONGEST_RUN", longest)
    gold, gate = lock(circuit, (1, 2), opens=False), lock(circuit, (1, 2))
    assert prove(gold, gate, CLOCKED, clocked=True).status == status


def test_a_run_is_cut_where_it_first_shows(circuit, monkeypatch):
    opening(monkeypatch)
    gold, gate = lock(circuit, (1, 2), opens=False), lock(circuit, (1, 2))
    proof = prove(gold, gate, CLOCKED, clocked=True)
    assert proof.status == "differs"
    assert proof.difference.inputs == ((0, 1, 0), (0, 0, 1), (0, 0, 2), (0, 0, 3))


@pytest.mark.parametrize(
    "result",
    [
        {"status": RunStatus.SANDBOX_ERROR, "detail": "the slot is gone"},
        {"status": RunStatus.WALL_TIMEOUT, "detail": "it slept or waited"},
        {"status": RunStatus.NONZERO_EXIT, "exit_code": 127},
    ],
)
def test_a_fault_of_the_sandbox_is_no_verdict(circuit, monkeypatch, result):
    answering(monkeypatch, **result)
    gold, gate = lock(circuit, (1, 2), opens=False), lock(circuit, (1, 2))
    with pytest.raises(SandboxError):
        prove(gold, gate, CLOCKED, clocked=True)


def test_engines_end_by_themselves_or_at_a_limit_of_seconds():
    engines = (*COMBINATIONAL, *SEQUENTIAL)
    assert all(engine.cpu_s <= 2.5 for engine in engines)
    assert all("-T" not in engine.script for engine in engines)  # which would be wall-clock time
