"""From what was found out about a design to a verdict and its words, with the tools left out."""

import json
from types import SimpleNamespace

import pytest

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.core.verdict import Status
from rlvr_envs.sandboxes.base import RunStatus
from rlvr_envs.verifiers.hdl import elaborate, judge, prove
from rlvr_envs.verifiers.hdl.elaborate import MOST_ERRORS, Netlist, Refusal
from rlvr_envs.verifiers.hdl.equivalence import Outcome, Pair
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.prove import Engine
from rlvr_envs.verifiers.hdl.source import read_source

ENABLED = Reference("", (Port("a", "input", 2), Port("y", "output")))
CLOCKED = Reference("", (Port("clk", "input"), Port("y", "output")), Clocking("clk"))


@pytest.mark.parametrize(
    ("stage", "reward", "score", "compiles"),
    [
        ("ports", "graded", 0.1, 1.0),
        ("ports", "equivalence", 0.0, 1.0),
        ("compile", "graded", 0.0, 0.0),
        ("forbidden", "graded", 0.0, 0.0),
    ],
)
def test_a_refusal_may_still_compile(stage, reward, score, compiles):
    verdict = judge.refused(Refusal(stage, "why"), reward)
    assert (verdict.score, verdict.parts) == (score, {"compiles": compiles, "ports": 0.0})
    assert verdict.detail == ("it does not compile: why" if stage == "compile" else "why")


def test_our_own_fault_is_not_scored():
    assert judge.refused(Refusal("fault", "why")).status is Status.VERIFIER_ERROR


def bounded(outcome, reference=CLOCKED):
    netlist = Netlist((), (), 0, 7, 30, b"", "")
    gold = Netlist((), (), 0, 3, 20, b"", "")
    return judge._verdict(Pair(None, None, reference, True, netlist, gold), outcome, "equivalence")


def test_verdicts_without_a_difference():
    proved = bounded(Outcome(True, True, "pdr"))
    assert (proved.score, proved.detail) == (1.0, "it is equivalent to the reference (proved)")
    assert proved.parts == {
        "compiles": 1.0,
        "ports": 1.0,
        "proved": 1.0,
        "state_bits": 7.0,
        "cells": 30.0,
    }
    likely = bounded(Outcome(True, False, "long simulation", 500))
    assert likely.score == 1.0
    assert likely.detail == "no difference was found in 500 cycles (not proved)"
    assert (likely.parts["depth"], likely.parts["proved"]) == (500.0, 0.0)
    tried = bounded(Outcome(True, False, "long simulation", 500), ENABLED)
    assert tried.detail == "no difference was found in 32000 inputs (not proved)"
    doubted = bounded(Outcome(False, False, "long simulation", 500))
    assert (doubted.status, doubted.score) == (Status.UNDECIDED, 0.0)
    assert "it holds 7 bits of state, where 3 would do" in doubted.detail


def an_engine(monkeypatch, *results):
    """Let the engines find what is told; returns the jobs they were given."""
    jobs, left = [], list(results)

    def run(job):
        jobs.append(job)
        told = {"status": RunStatus.OK, "exit_code": 0, "detail": "", "cpu_s": 1.5, "stdout": b"",
                "files": {}, **left.pop(0)}  # fmt: skip
        return SimpleNamespace(**told)

    monkeypatch.setattr(prove, "hdl_sandbox", lambda: SimpleNamespace(run=run))
    monkeypatch.setattr(prove, "abc_path", lambda: "abc")
    return jobs


def two(circuit, *, same):
    def design(flaw):
        made = circuit(a=2)
        low, high = made.bus("a")
        return made.done(y=[made.both(low, high ^ 1) if flaw else made.both(low, high)])

    return design(False), design(not same)


ENGINES = (Engine("one", "one;", 1), Engine("two", "two;", 2))


def attempt(circuit):
    gold, gate = two(circuit, same=False)
    return prove.prove(gold, gate, ENABLED, clocked=True, engines=ENGINES)


def test_an_engine_that_proves_it_is_the_last(circuit, monkeypatch):
    jobs = an_engine(monkeypatch, {"stdout": status_line(1, 4)})
    proof = attempt(circuit)
    assert (proof.status, proof.engine, proof.depth, proof.cpu_s) == ("equal", "one", 4, 1.5)
    assert len(jobs) == 1
    assert "one;" in jobs[0].argv[2]
    assert jobs[0].limits.cpu_s == 1


def status_line(status, depth):
    return f"Status = {status}  Frames = {depth}\n".encode()


@pytest.mark.parametrize(
    ("swept", "status"),
    [
        (b"aig 2 2 0 1 0\n0\n", "equal"),  # nothing is left that could differ
        (b"aig 2 2 0 1 0\n1\n", "open"),
        (b"aig 3 2 1 1 0\n6\n0\n", "open"),
        (b"", "open"),
    ],
)
def test_what_is_swept_away_is_equal(circuit, monkeypatch, swept, status):
    an_engine(monkeypatch, {"files": {prove._SWEPT: swept}}, {})
    proof = attempt(circuit)
    assert proof.status == status
    assert (proof.engine == "sweep") == (status == "equal")


def test_the_next_engine_is_asked_while_it_is_open(circuit, monkeypatch):
    an_engine(monkeypatch, {"stdout": status_line(-1, 9)}, {})
    proof = attempt(circuit)
    assert (proof.status, proof.engine, proof.depth, proof.cpu_s) == ("open", "two", 0, 3.0)


@pytest.mark.parametrize(
    ("run", "status"),
    [
        ("\n10\n", "differs"),  # a[0] alone: the right output is 0, the other is 1
        ("\n11\n", "differs"),
        ("\n00\n", "open"),  # both are 0
        ("\n1\n", "open"),
        ("\n12\n", "open"),
        ("", "open"),
    ],
)
def test_a_run_counts_only_if_it_shows_a_difference(circuit, monkeypatch, run, status):
    files = {prove._RUN: run.encode()}
    an_engine(monkeypatch, {"stdout": status_line(0, 1), "files": files}, {})
    proof = attempt(circuit)
    assert proof.status == status
    if status == "differs":
        (value,) = proof.difference.inputs
        assert value == (int(run.strip()[::-1], 2),)


@pytest.mark.parametrize("told", [{"status": RunStatus.SANDBOX_ERROR}, {"exit_code": 127}])
def test_an_engine_that_did_not_run_proves_nothing(circuit, monkeypatch, told):
    an_engine(monkeypatch, told)
    with pytest.raises(SandboxError, match="the proof did not run"):
        attempt(circuit)


def test_designs_that_are_the_same_need_no_engine(circuit):
    gold, gate = two(circuit, same=True)
    proof = prove.prove(gold, gate, ENABLED, clocked=True, engines=())
    assert (proof.status, proof.engine) == ("equal", "hashing")


def error(line, message, code="Other"):
    place = {"location": f"design.sv:{line}:3"} if line else {}
    return {"severity": "error", "code": code, "message": message, **place}


SOURCE = read_source("module TopModule;\n  wire a;\n  wire b;\nendmodule", "TopModule")


def test_errors_are_told_with_their_lines_once():
    errors = [error(2, "first"), error(2, "second"), error(3, "third"), error(0, "fourth")]
    assert elaborate._message(SOURCE, errors[:3]).splitlines() == [
        "design.sv:2:3: first",
        "    wire a;",
        "design.sv:2:3: second",
        "design.sv:3:3: third",
        "    wire b;",
    ]
    assert elaborate._message(SOURCE, errors[3:]) == "fourth"
    assert elaborate._message(SOURCE, []) == ""
    many = [error(0, f"error {n}") for n in range(MOST_ERRORS + 5)]
    assert len(elaborate._message(SOURCE, many).splitlines()) == MOST_ERRORS
    missing = [error(0, "no top", "InvalidTopModule")]
    assert elaborate._message(SOURCE, missing) == SOURCE.without_top()


def test_long_messages_are_cut():
    most = elaborate.MOST_DETAIL
    assert len(elaborate._message(SOURCE, [error(0, "x" * (2 * most))])) == most
    two_of = elaborate._message(SOURCE, [error(0, "x" * (most - 10)), error(0, "y" * 20)])
    assert two_of == "x" * (most - 10)
    assert elaborate._last_error("a\nERROR: one\nERROR: two\nb") == "two"
    assert elaborate._last_error("a") == "an error without a message"
    assert len(elaborate._last_error("ERROR: " + "x" * (2 * most))) == most


@pytest.mark.parametrize(
    ("diagnostics", "stderr", "stage", "words"),
    [
        ([], "ERROR: found logic loop in T", "compile", "the design has a combinational loop"),
        ([], "ERROR: no such cell", "unsupported", "cannot be synthesised here: no such cell"),
        ([error(2, "odd")], "", "unsupported", "cannot be synthesised here: design.sv:2:3: odd"),
        (
            [error(3, "unroll limit of 4000 exhausted")],
            "",
            "resource",
            "design.sv:3:3: the loop runs too often to be unrolled",
        ),
        ([], "Traceback (most recent call last)\nValueError: x", "fault", "failed: ValueError: x"),
    ],
)
def test_errors_of_the_tools_become_refusals(monkeypatch, diagnostics, stderr, stage, words):
    monkeypatch.setattr(elaborate, "_stage", lambda result: "synthesis")
    files = {"diagnostics.json": json.dumps(diagnostics).encode()}
    found = elaborate._error(SOURCE, SimpleNamespace(stderr=stderr.encode(), files=files))
    assert found.stage == stage
    assert words in found.detail
