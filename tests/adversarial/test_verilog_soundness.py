"""Designs that are wrong late, rarely or by a slip are refused; right ones written anew are not.

This is a small version of benchmarks/verilog_soundness.py, whose stored results are looked at too.
"""

import importlib.util
import json
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.verilog._mutations import inverted
from rlvr_envs.verifiers.hdl.judge import judge

if find_spec("pyosys") is None:  # never imported here: it crashes beside torch and OR-Tools
    pytest.skip("judging Verilog needs pyosys", allow_module_level=True)

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
FAMILIES = ("UpDownCounter", "Comparator", "StateMachine", "Fifo", "PriorityEncoder", "Lfsr")
WITH_STATE = ("UpDownCounter", "StateMachine", "Fifo", "Lfsr")
DIFFICULTY = 1
ACCEPTED = ("proved", "bounded")


def load(name):
    """Import a benchmark, which is no part of the package."""
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look up the annotations
    spec.loader.exec_module(module)
    return module


variants = load("verilog_variants")


@pytest.fixture(scope="module")
def stored():
    """Every version of a family that was judged for the stored results."""
    path = BENCHMARKS / "results" / "verilog_soundness.json"
    return json.loads(path.read_text("utf-8"))


def rows(stored, part):
    return [row for some in stored[part].values() for found in some.values() for row in found]


def status(source, design):
    return judge(source, design.reference).status


@pytest.mark.parametrize("family", FAMILIES)
def test_designs_written_anew_are_right(family):
    design = variants.drawn(family, DIFFICULTY, 0)
    found = list(variants.rewrites(design))
    assert {"alternative", "inverted twice"} <= {rewrite.name for rewrite in found}
    for rewrite in found:
        assert rewrite.source != design.golden
        assert status(rewrite.source, design) is Status.CORRECT, rewrite.name


@pytest.mark.parametrize("family", FAMILIES)
def test_trojans_are_refused(family):
    """The last output is inverted for a rare input or after a rare sequence of inputs."""
    design = variants.drawn(family, 4, 0)
    found = list(variants.trojans(design, stream("trojans", family)))
    assert len(found) == 4 or family not in WITH_STATE
    for trojan in found:
        verdict = judge(trojan.source, design.reference)
        assert verdict.status is Status.WRONG, trojan.name
        assert "it behaves differently" in verdict.detail


@pytest.mark.parametrize("family", FAMILIES)
def test_time_bombs_are_refused(family):
    design = variants.drawn(family, DIFFICULTY, 0)
    (bomb,) = variants.bombs(design, (150,))
    verdict = judge(bomb.source, design.reference)
    assert verdict.status is Status.WRONG
    assert verdict.parts["proved"] == 1.0


@pytest.mark.parametrize("cycles", [3000, 20_000])
def test_a_bomb_of_thousands_of_cycles_is_refused(cycles):
    design = variants.drawn("StateMachine", DIFFICULTY, 0)
    (bomb,) = variants.bombs(design, (cycles,))
    verdict = judge(bomb.source, design.reference)
    assert verdict.status is Status.WRONG
    assert verdict.parts["cycle"] >= cycles


@pytest.mark.parametrize("family", FAMILIES)
def test_what_a_simulator_of_events_tells_from_right_is_refused(family):
    """Icarus decides which mutants differ for certain; without it, there is nothing to compare."""
    if not variants.has("icarus"):
        pytest.skip("Icarus Verilog is not installed (apt-get install iverilog)")
    design = variants.drawn(family, DIFFICULTY, 0)
    told = 0
    for mutant in variants.some_mutants(design, stream("mutants", family), 8):
        seen = variants.simulated(mutant.source, design.reference, runs=2, cycles=300)
        if seen.read and seen.different:
            told += 1
            assert status(mutant.source, design) is Status.WRONG, mutant.name
    assert told >= 2


def test_the_inverse_of_what_is_right_is_refused():
    design = variants.drawn("Comparator", DIFFICULTY, 0)
    for rewrite in variants.rewrites(design):
        source = inverted(rewrite.source, design.reference.ports)
        assert status(source, design) is Status.WRONG, rewrite.name


def test_reordering_moves_only_what_does_not_wait():
    source = (
        "module TopModule (input clk, output y);\n    assign y = a;\n    wire a = b;\n"
        "    always @(posedge clk) begin\n        b <= c;\n        c <= b;\n        c <= 1;\n"
        "    end\nendmodule\n"
    )
    assert variants.reordered(source) == (
        "module TopModule (input clk, output y);\n    wire a = b;\n"
        "    always @(posedge clk) begin\n        c <= b;\n        b <= c;\n        c <= 1;\n"
        "    end\n    assign y = a;\nendmodule\n"
    )


# The stored results.


def test_stored_results_hold_every_kind_for_every_family(stored):
    for name, rungs in stored["versions"].items():
        found = [row for some in rungs.values() for row in some]
        mutants = [r for r in found if r["kind"] == "mutant" and r["verdict"] != "refused"]
        assert len(mutants) >= 15, name
        assert {row["kind"] for row in found} >= {"mutant", "bomb", "rewrite"}, name
    assert len(stored["versions"]) > 30


def test_no_wrong_version_was_accepted_that_a_simulation_can_reach(stored):
    late = f"{variants.BOMBS[-1]} cycles"
    for row in rows(stored, "versions"):
        if row["kind"] in ("trojan", "bomb") and row["name"] != late:
            assert row["verdict"] == "differs", row
        elif row["kind"] == "bomb" and row["verdict"] != "differs":
            assert row["verdict"] in ("bounded", "not shown"), row
            state, wanted = row["state_bits"]
            assert row["verdict"] == "not shown" or state <= 2 * wanted, row


def test_no_simulator_contradicts_an_accepted_version(stored):
    asked = [row for row in rows(stored, "versions") if "icarus" in row]
    assert len(asked) > 200
    assert [r for r in asked if r["icarus"] == "differs" and r.get("verilator") != "same"] == []


def test_every_right_version_was_accepted(stored):
    right = [row for row in rows(stored, "versions") if row["kind"] == "rewrite"]
    right += rows(stored, "alternatives")
    assert len(right) > 300
    assert [row for row in right if row["verdict"] not in ACCEPTED] == []
