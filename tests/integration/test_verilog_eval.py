"""Real data: VerilogEval's own references are right answers, and broken ones are not."""

import json
import random
from pathlib import Path

import pytest

from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.verilog.verilog_dataset import VerilogDatasetConfig, VerilogDatasetTask
from rlvr_envs.generators.hardware.mutations import inverted, mutants
from rlvr_envs.generators.published.verilog_references import Unusable, reference_of
from rlvr_envs.generators.published.verilog_rows import read_row
from rlvr_envs.verifiers.hdl import icarus
from rlvr_envs.verifiers.hdl.judge import judge

FOLDER = Path(__file__).resolve().parents[3] / "shared/data/verilog"
DATA = FOLDER / "verilog_eval_v2_spec_to_rtl_even.jsonl"
pytestmark = pytest.mark.skipif(not DATA.is_file(), reason=f"needs {DATA}, which is not shipped")

# Its reference sets a signal where its state is x (``=== 1'bx``).
REFUSED = "Prob151_review2015_fsm"
# Its testbench does not compile, and its reference is sound.
NO_TESTBENCH = "Prob099_m2014_q6c"
# Its testbench passes a module whose output never changes, and its reference is sound.
LAX_TESTBENCH = "Prob053_m2014_q4d"
# A clock of twelve hours: some mutants take 41000 cycles to differ, too many for a test.
DEEP = "Prob141_count_clock"
# Its memories take seconds to follow x through.
SLOW = "Prob153_gshare"

ROWS = {}
if DATA.is_file():
    with DATA.open(encoding="utf-8") as file:
        ROWS = {row["task_id"]: row for row in map(json.loads, file)}
NAMES = [name for name in ROWS if name not in (REFUSED, SLOW)]


def posed(name):
    row = read_row(ROWS[name], {})
    return row, reference_of(row.reference, row.top)


def test_the_known_defects_are_among_the_rows():
    assert len(ROWS) == 78
    assert {REFUSED, NO_TESTBENCH, LAX_TESTBENCH, SLOW} <= set(ROWS)


@pytest.mark.parametrize("name", NAMES)
def test_a_reference_is_its_own_answer(name):
    row, reference = posed(name)
    verdict = judge(row.reference, reference)
    assert verdict.status is Status.CORRECT, verdict.detail
    assert verdict.parts["proved"] == 1.0


@pytest.mark.parametrize("name", [name for name in NAMES if name != DEEP])
def test_broken_references_are_not(name):
    row, reference = posed(name)
    assert judge(inverted(row.reference, reference.ports), reference).status is Status.WRONG
    found = list(mutants(row.reference))
    for mutant in random.Random(name).sample(found, min(2, len(found))):
        verdict = judge(mutant.source, reference)
        # Some mutants do the same as the reference, which takes a proof.
        assert verdict.status is Status.WRONG or verdict.parts["proved"] == 1.0, mutant


@pytest.mark.parametrize("name", NAMES[::6])
def test_icarus_agrees_that_a_reference_is_right(name):
    if not icarus.available():
        pytest.skip(f"Icarus Verilog {icarus.LEAST_VERSION} is not installed")
    row, reference = posed(name)
    verdict = icarus.cosimulate(row.reference, reference, judge(row.reference, reference))
    assert verdict.status is Status.CORRECT, verdict.detail


def test_a_reference_that_tells_x_from_0_and_1_is_refused():
    row = read_row(ROWS[REFUSED], {})
    with pytest.raises(Unusable, match="tells x from 0 and 1"):
        reference_of(row.reference, row.top)


def test_an_output_that_never_changes_does_not_pass_for_a_flip_flop():
    row, reference = posed(LAX_TESTBENCH)
    zero = "module TopModule(input clk, input in, output logic out); assign out = 0; endmodule"
    assert judge(zero, reference).status is Status.WRONG
    assert judge(row.reference, reference).status is Status.CORRECT


def test_rows_are_served_by_the_environment(tmp_path):
    path = tmp_path / "some.jsonl"
    chosen = [*NAMES[:3], REFUSED]
    path.write_text("".join(json.dumps(ROWS[name]) + "\n" for name in chosen), encoding="utf-8")
    task = VerilogDatasetTask(VerilogDatasetConfig(path=str(path), on_bad_row="skip"))
    assert [task.problem_at(index).name for index in range(len(task))] == chosen[:3]
    assert [row.place.rpartition(":")[2] for row in task.file().refused] == ["4"]
    problem = task.problem_at(1)
    assert ROWS[NAMES[1]]["prompt"].strip() in task.prompt(problem)
    assert task.verify(problem, task.solve(problem)).score == 1.0
