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
from rlvr_envs.generators.hardware.mutations import inverted
from rlvr_envs.verifiers.hdl.judge import judge

if find_spec("pyosys") is None:  # never imported here: it crashes beside torch and OR-Tools
    pytest.skip("judging Verilog needs pyosys", allow_module_level=True)

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
FAMILIES = ("UpDownCounter", "Comparator", "StateMachine", "Fifo", "PriorityEncoder", "Lfsr")
WITH_STATE = ("UpDownCounter", "StateMachine", "Fifo", "Lfsr")
DIFFICULTY = 1


def load(name):
    """Import a benchmark, which is no part of the package."""
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses look up the annotations
    spec.loader.exec_module(module)
    return module


variants = load("verilog_variants")


@pytest.fixture(scope="module")
def figures():
    """The stored counts of the versions that were judged."""
    path = BENCHMARKS / "results" / "verilog_soundness.json"
    return json.loads(path.read_text("utf-8"))["figures"]


def table(found):
    """Return the rows of a stored table by name."""
    columns = found["columns"]
    return {name: dict(zip(columns, row, strict=True)) for name, row in found["rows"].items()}


@pytest.fixture
def families(figures):
    return table(figures["by family"])


@pytest.fixture
def kinds(figures):
    return table(figures["by kind"])


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


@pytest.mark.parametrize("family", ["RegisterFile", "StateMachine"])
def test_a_bomb_beyond_what_a_large_design_is_simulated_for_does_not_pay(family):
    design = variants.drawn(family, 10, 0)
    (bomb,) = variants.bombs(design, (40_000,))  # with 16 bits of state
    verdict = judge(bomb.source, design.reference)
    assert verdict.parts["depth"] < 40_000
    assert (verdict.status, verdict.score) == (Status.UNDECIDED, 0.0)


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


def test_stored_results_hold_every_kind_for_every_family(families):
    del families["**all**"]
    assert len(families) > 30
    for name, row in families.items():
        assert row["mutants"] - row["do not compile"] >= 15, name
        assert min(row["bombs"], row["rewrites"], row["alternatives"]) > 0, name


def test_no_wrong_version_was_accepted_that_a_simulation_can_reach(figures, kinds):
    late = f"bomb: {variants.BOMBS[-1]} cycles"
    assert {"mutant", late} < kinds.keys()
    shown = ("simulation", "all inputs", "proof", "long simulation")
    for name, row in kinds.items():
        differing = sum(row[stage] for stage in shown)
        if name == late:
            assert differing + row["equal, bounded"] + row["not shown"] == row["judged"], row
        elif name != "mutant":  # which may be equivalent by chance
            assert differing == row["judged"], name
    assert figures["passed with more than twice the state"] == 0
    assert figures["faults"] == 0


def test_no_simulator_contradicts_an_accepted_version(figures, families):
    asked = table(figures["Icarus"])
    assert sum(row["taken for equivalent"] for row in asked.values()) > 200
    assert all(row["contradictions"] == 0 for row in [*asked.values(), *families.values()])


def test_every_right_version_was_accepted(families):
    whole = families.pop("**all**")
    assert whole["rewrites"] + whole["alternatives"] > 300
    for name, row in families.items():
        assert row["rewrites accepted"] == row["rewrites"], name
        assert row["alternatives, anything else"] == 0, name
