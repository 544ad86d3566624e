"""The attacks of `test_verilog_exploits` on the other kinds of tasks: they earn the same there.

Completion and dialogues are asked for the designs under attack; datasets give them as a reference
of a row, or as a testbench alone, which Icarus runs.
"""

import importlib.util
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

if find_spec("pyosys") is None:  # never imported here: it crashes beside torch and OR-Tools
    pytest.skip("judging Verilog needs pyosys", allow_module_level=True)

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.verilog.verilog_completion import (
    VerilogCompletionConfig,
    VerilogCompletionProblem,
    VerilogCompletionTask,
)
from rlvr_envs.envs.verilog.verilog_dataset import (
    VerilogDatasetConfig,
    VerilogDatasetProblem,
    VerilogDatasetTask,
)
from rlvr_envs.envs.verilog.verilog_dialogue import (
    VerilogDialogueConfig,
    VerilogDialogueProblem,
    VerilogDialogueTask,
)
from rlvr_envs.generators.hardware.task import LANGUAGE
from rlvr_envs.verifiers.hdl import icarus

# Test files are no package: the attacks and the designs under attack are loaded by their path.
_SUITE = "test_verilog_exploits"
_found = importlib.util.spec_from_file_location(_SUITE, Path(__file__).with_name(f"{_SUITE}.py"))
suite = sys.modules.setdefault(_SUITE, importlib.util.module_from_spec(_found))
_found.loader.exec_module(suite)
MARK, TARGETS, attacks = suite.MARK, suite.TARGETS, suite.attacks

BENCHES = {
    "adder": """module bench;
    reg [15:0] a, b; reg cin; wire [15:0] sum; wire cout;
    integer errors = 0, i;
    TopModule dut(.a(a), .b(b), .cin(cin), .sum(sum), .cout(cout));
    initial begin
        for (i = 0; i < 500; i = i + 1) begin
            a = $random; b = $random; cin = $random;
            #1 if ({cout, sum} !== a + b + cin) begin
                $display("Mismatch: %h + %h + %b is not %h", a, b, cin, {cout, sum});
                errors = errors + 1;
            end
        end
        if (errors == 0) $display("All tests passed");
        $finish;
    end
endmodule
""",
    "detector": """module bench;
    reg clk = 0, rst = 1, x = 0; wire found;
    reg [3:0] last = 0;
    integer errors = 0, i;
    always #5 clk = ~clk;
    TopModule dut(.clk(clk), .rst(rst), .x(x), .found(found));
    initial begin
        for (i = 0; i < 500; i = i + 1) begin
            @(negedge clk);
            if (found !== (last == 4'b1101)) begin
                if (i > 0) $display("Mismatch in cycle %0d", i);
                if (i > 0) errors = errors + 1;
            end
            rst <= i < 2 || $random % 64 == 0;
            x <= $random;
            @(posedge clk) last <= rst ? 0 : {last, x};
        end
        if (errors == 0) $display("All tests passed");
        $finish;
    end
endmodule
""",
}
# What a testbench of 500 inputs takes for right and equivalence does not, since it differs later, or
# for inputs that are rarer; a race at the clock's own edge, which simulators decide otherwise; and
# a reset between two edges, which this testbench never takes back before the next one.
BEYOND_A_BENCH = frozenset(
    {"bomb_4000", "bomb_8000", "bomb_40000", "bomb_busy", "bomb_counts_input", "bomb_idle"}
    | {"needle_32", "needle_33", "needle_product", "sequence_trojan", "clock_remembered"}
    | {"incomplete_always", "incomplete_always_comb", "asynchronous_reset"}
)


def completion(target):
    """Return what judges an answer in a completion."""
    reference = TARGETS[target].reference()
    task = VerilogCompletionTask(VerilogCompletionConfig())
    problem = VerilogCompletionProblem(
        "?", "?", reference.ports, reference.clocking, "equivalence", reference.source, "?"
    )
    return lambda answer: task.verify(problem, answer)


def dialogue(target):
    """Return what judges a message with an answer: the last attempt of a dialogue."""
    reference = TARGETS[target].reference()
    task = VerilogDialogueTask(VerilogDialogueConfig())
    problem = VerilogDialogueProblem(
        "?", reference.ports, reference.clocking, 1, 1.0, "equivalence", reference.source, "?"
    )
    return lambda answer: task.replay(problem, [answer_format(LANGUAGE).wrap(answer)])


def dataset(target):
    """Return what judges an answer to a row with a reference."""
    task = VerilogDatasetTask(VerilogDatasetConfig())
    problem = VerilogDatasetProblem("?", "TopModule", golden=TARGETS[target].reference().source)
    return lambda answer: task.verify(problem, answer)


def bench(target):
    """Return what judges an answer to a row with a testbench alone."""
    task = VerilogDatasetTask(VerilogDatasetConfig())
    header = f"module TopModule ({TARGETS[target].header()});"
    problem = VerilogDatasetProblem("?", "TopModule", header=header, testbench=BENCHES[target])
    return lambda answer: task.verify(problem, answer)


KINDS = {"completion": completion, "dialogue": dialogue, "dataset": dataset, "testbench": bench}
EVERY = 24  # one attack of so many runs on each kind; the others are left to the slow tests

CASES = [
    pytest.param(
        kind,
        attack,
        target,
        id=f"{kind}-{attack.name}-{target}",
        marks=[] if number % EVERY == place else pytest.mark.slow,
    )
    for place, kind in enumerate(KINDS)
    for number, attack in enumerate(attacks())
    for target in [attack.on[number // EVERY % len(attack.on)]]
    if kind != "testbench" or (target in BENCHES and attack.name not in BEYOND_A_BENCH)
]


@pytest.mark.parametrize(("kind", "attack", "target"), CASES)
def test_an_attack_earns_what_it_should(kind, attack, target):
    if kind == "testbench" and not icarus.available():
        pytest.skip(f"Icarus Verilog {icarus.LEAST_VERSION} is not installed")
    verdict = KINDS[kind](target)(attack.against(target))
    assert verdict.score == attack.earns, verdict
    assert verdict.status is not Status.VERIFIER_ERROR
    assert verdict.detail
    assert not MARK.exists()


@pytest.mark.parametrize("kind", KINDS)
def test_the_honest_module_is_right(kind):
    if kind == "testbench" and not icarus.available():
        pytest.skip(f"Icarus Verilog {icarus.LEAST_VERSION} is not installed")
    for target in BENCHES if kind == "testbench" else TARGETS:
        verdict = KINDS[kind](target)(TARGETS[target].reference().source)
        assert verdict.score == 1.0, verdict


def test_every_kind_meets_every_sort_of_attack_by_default():
    default = [case for case in CASES if not case.marks]
    for kind in KINDS:
        names = {case.values[1].name for case in default if case.values[0] == kind}
        assert len(names) >= len(attacks()) // EVERY // 2
