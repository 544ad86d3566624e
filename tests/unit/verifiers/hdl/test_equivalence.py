"""Which way of deciding is asked, in which order, and what each says."""

from collections import OrderedDict
from dataclasses import replace
from types import SimpleNamespace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.verifiers.hdl import equivalence
from rlvr_envs.verifiers.hdl.elaborate import Netlist
from rlvr_envs.verifiers.hdl.equivalence import (
    Outcome,
    decide,
    decide_once,
    one_clock,
    ports_differ,
)
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge
from rlvr_envs.verifiers.hdl.prove import Proof
from rlvr_envs.verifiers.hdl.simulate import DEEP, LONGEST, QUICK, Difference, Effort
from rlvr_envs.verifiers.hdl.waveform import _word

FOUND = Difference(True, ((0,),), ((0, 0),))
CLOCKED = Reference(
    "", (Port("clk", "input"), Port("rst", "input"), Port("q", "output")), Clocking("clk", "rst")
)


def netlist(**facts):
    return Netlist(**{"ports": (), "clocks": (), "latches": 0, "state_bits": 0, "cells": 0,
                      "aiger": b"", "map": "", **facts})  # fmt: skip


@pytest.fixture
def asked(monkeypatch):
    """Replace everything that decides; returns what to set and what was asked."""
    state = SimpleNamespace(
        finds=set(), exhaustible=False, exhaustive=None, proof=Proof("open"), efforts=[]
    )

    def compare(gold, gate, reference, *, clocked, effort, seed=0):
        state.efforts.append((effort, seed, clocked))
        return FOUND if effort.cycles in state.finds else None

    monkeypatch.setattr(equivalence, "compare", compare)
    monkeypatch.setattr(equivalence, "exhaustible", lambda gold, gate: state.exhaustible)
    monkeypatch.setattr(equivalence, "exhaustive", lambda gold, gate: state.exhaustive)
    monkeypatch.setattr(equivalence, "prove", lambda *designs, clocked: state.proof)
    monkeypatch.setattr(equivalence, "depth", lambda gold, gate, effort: effort.cycles)
    return state


def a_pair(*, spare=0, bits=4, clocked=True):
    return equivalence.Pair(
        None, None, CLOCKED, clocked, netlist(state_bits=bits + spare), netlist(state_bits=bits)
    )


def test_a_short_simulation_comes_first(asked):
    asked.finds = {QUICK.cycles}
    asked.exhaustible = True
    assert decide(a_pair()) == Outcome(False, True, "simulation", 0, FOUND)
    assert asked.efforts == [(QUICK, 0, True)]


@pytest.mark.parametrize("found", [None, FOUND])
def test_then_all_inputs_where_they_are_few(asked, found):
    asked.exhaustible, asked.exhaustive, asked.proof = True, found, Proof("equal", "x")
    assert decide(a_pair()) == Outcome(found is None, True, "all inputs", 0, found)


@pytest.mark.parametrize(("status", "equal"), [("equal", True), ("differs", False)])
def test_then_a_proof(asked, status, equal):
    asked.proof = Proof(status, "pdr", difference=None if equal else FOUND)
    assert decide(a_pair()) == Outcome(equal, True, "pdr", 0, None if equal else FOUND)
    assert len(asked.efforts) == 1


def test_then_a_long_simulation(asked):
    assert decide(a_pair()) == Outcome(True, False, "long simulation", DEEP.cycles)
    assert asked.efforts == [(QUICK, 0, True), (DEEP, 1, True)]
    asked.finds = {DEEP.cycles}
    assert decide(a_pair()) == Outcome(False, True, "long simulation", 0, FOUND)


def test_an_answer_that_can_count_further_is_run_for_longer(asked):
    # 12 bits count to 4095, which is less than the 5000 cycles; 13 bits count further.
    assert decide(a_pair(bits=12)).depth == DEEP.cycles
    assert decide(a_pair(bits=13)).depth == LONGEST.cycles
    assert asked.efforts[-1] == (LONGEST, 1, True)
    assert decide(a_pair(bits=9, spare=4)).depth == LONGEST.cycles
    assert decide(a_pair(bits=13, spare=-1)).depth == DEEP.cycles
    asked.finds = {LONGEST.cycles}
    assert decide(a_pair(bits=12)).equal
    assert not decide(a_pair(bits=13)).equal


def test_spare_state_is_what_could_count_the_cycles_that_were_simulated(asked, monkeypatch):
    assert decide(a_pair(bits=40, spare=16)).equal  # counts to 65,535
    assert not decide(a_pair(bits=40, spare=17)).equal
    assert not decide(a_pair(bits=40, spare=17)).proved
    monkeypatch.setattr(equivalence, "depth", lambda gold, gate, effort: 9000)  # a large design
    assert decide(a_pair(bits=40, spare=13)).equal
    assert not decide(a_pair(bits=40, spare=14)).equal
    assert decide(a_pair(bits=40, spare=-9)).equal


def test_an_effort_that_is_larger_still_is_kept(asked):
    patient = Effort(2 * LONGEST.cycles, 64, 2 * LONGEST.budget)
    assert decide(a_pair(bits=30), patient).depth == patient.cycles
    assert asked.efforts[-1][0] == patient


def test_a_cycle_of_a_toggled_clock_is_two_steps(asked):
    assert decide(a_pair(clocked=False)).depth == DEEP.cycles
    assert [effort.cycles for effort, _, _ in asked.efforts] == [QUICK.cycles, 2 * DEEP.cycles]
    assert asked.efforts[-1][2] is False


A, B, Y = Port("a", "input"), Port("b", "input", 2), Port("y", "output", 4)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ((A, B, Y), ""),
        ((Y, B, A), ""),
        ((A, Y), "the port `b` is missing (it is `input [1:0] b`)"),
        ((A, Port("b", "output", 2), Y), "the port `b` is an output, it has to be an input"),
        ((A, Port("b", "input"), Y), "the port `b` has 1 bit, it has to have 2 bits"),
        ((A, B, Y, Port("z", "input")), "there is no port `z` in the description"),
        (
            (A, B, Y, *(Port(name, "input") for name in "vwxz")),
            "there is no port `v`, `w`, `x` in the description",
        ),
    ],
)
def test_other_ports_are_told(found, words):
    assert ports_differ(found, (A, B, Y)) == words


@pytest.mark.parametrize(
    ("clocks", "latches", "one"),
    [
        ((), 0, True),
        ((("clk", "posedge"),), 0, True),
        ((("clk", "negedge"),), 0, False),
        ((("rst", "posedge"),), 0, False),
        ((("clk", "level"), ("clk", "posedge")), 0, False),
        ((("clk", "posedge"),), 1, False),
    ],
)
def test_one_clock_is_a_rising_edge_and_nothing_else(clocks, latches, one):
    found = netlist(clocks=clocks, latches=latches)
    assert one_clock(found, CLOCKED) is one
    combinational = Reference("", CLOCKED.ports)
    assert one_clock(found, combinational) is (not clocks and not latches)


@pytest.mark.parametrize(
    ("value", "width", "unknown", "text"),
    [
        (5, 4, 0, "0101"),
        (5, 4, 2, "01x1"),
        (0x1F, 5, 0, "1f"),
        (0x1F, 8, 0x10, "xf"),
        (0x1F, 9, 0x100, "x1f"),
        (0x123456789ABCDEF01234, 80, 0, "123456789abcdef01234"),
        (0x123456789ABCDEF012345, 84, 0, "123456789..def012345"),
    ],
)
def test_values_are_binary_to_four_bits_and_hexadecimal_beyond(value, width, unknown, text):
    assert _word(value, width, unknown) == text


def test_ports_are_checked():
    assert (A.size, B.size) == ("1 bit", "2 bits")
    assert (A.declaration(), B.declaration()) == ("input a", "input [1:0] b")
    assert Port("a" * 64, "input")
    for bad in (("a" * 65, "input"), ("1a", "input"), ("a", "inout"), ("a", "input", 0)):
        with pytest.raises(ConfigError):
            Port(*bad)
    for level in (-1, 2):
        with pytest.raises(ConfigError, match="reset_active is 0 or 1"):
            Clocking("clk", "rst", level)


@pytest.mark.parametrize(
    ("ports", "clocking"),
    [
        ((A, A, Y), None),
        ((A, B), None),
        ((A, B, Y), Clocking("b")),
        ((A, B, Y), Clocking("y")),
        ((A, B, Y), Clocking("a", "b")),
        ((A, B, Y), Clocking("a", "nowhere")),
    ],
)
def test_a_reference_has_ports_that_fit(ports, clocking):
    with pytest.raises(ConfigError):
        Reference("", ports, clocking)
    assert Reference("", (A, B, Y), Clocking("a"))


def test_the_same_designs_are_compared_once(monkeypatch):
    asked = []

    def counted(pair, deep):
        asked.append(deep)
        return Outcome(True, False, "long simulation", deep.cycles)

    monkeypatch.setattr(equivalence, "decide", counted)
    monkeypatch.setattr(equivalence, "_decided", OrderedDict())
    pairs = [
        equivalence.Pair(None, None, reference, clocked, netlist(**gate), netlist(**gold))
        for gate, gold, reference, clocked in (
            ({"aiger": b"a"}, {"aiger": b"b"}, CLOCKED, True),
            ({"aiger": b"b"}, {"aiger": b"b"}, CLOCKED, True),
            ({"aiger": b"a"}, {"aiger": b"a"}, CLOCKED, True),
            ({"aiger": b"a", "map": "b"}, {"aiger": b""}, CLOCKED, True),
            ({"aiger": b"a", "state_bits": 1}, {"aiger": b"b"}, CLOCKED, True),
            ({"aiger": b"a"}, {"aiger": b"b"}, CLOCKED, False),
            ({"aiger": b"a"}, {"aiger": b"b"}, replace(CLOCKED, clocking=None), True),
            ({"aiger": b"a"}, {"aiger": b"b"}, replace(CLOCKED, free_x=True), True),
        )
    ]
    for _ in range(2):
        for each in pairs:
            assert decide_once(each, QUICK).depth == QUICK.cycles
            assert decide_once(each).depth == DEEP.cycles
    assert asked == [QUICK, DEEP] * len(pairs)


def test_neither_differences_nor_too_many_decisions_are_remembered(monkeypatch):
    outcomes = iter([Outcome(False, True, "x", difference=FOUND)] + [Outcome(True, True, "x")] * 9)
    monkeypatch.setattr(equivalence, "decide", lambda pair, deep: next(outcomes))
    monkeypatch.setattr(equivalence, "_decided", OrderedDict())
    monkeypatch.setattr(equivalence, "KEPT", 2)
    assert decide_once(a_pair()).difference is FOUND
    assert decide_once(a_pair()).equal
    for bits in (5, 4, 6, 4, 5):  # 4 is asked for again and again, so it stays
        decide_once(a_pair(bits=bits))
    assert len(list(outcomes)) == 9 - 4
    assert len(equivalence._decided) == 2


def test_an_answer_that_is_written_otherwise_is_the_same_design(monkeypatch):
    proofs, prove = [], equivalence.prove

    def counted(*designs, **kind):
        proofs.append(prove(*designs, **kind))
        return proofs[-1]

    monkeypatch.setattr(equivalence, "prove", counted)
    monkeypatch.setattr(equivalence, "_decided", OrderedDict())
    text = (
        "module TopModule(input clk, rst, output reg q);"
        "always @(posedge clk) if (rst) q <= 0; else q <= {}q; endmodule"
    )
    golden = replace(CLOCKED, source=text.format(""))
    found = [judge(text.format(sign), golden).score for sign in ("", " ", "~", "1 & ", "+")]
    assert found == [1.0, 1.0, 0.0, 1.0, 1.0]
    assert len(proofs) < 3
