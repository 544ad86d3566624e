"""Testbenches as judges: what they print is theirs alone, and those that judge nothing are refused."""

import dataclasses
from importlib.util import find_spec

import pytest

if find_spec("pyosys") is None:  # never imported here: it crashes beside torch and OR-Tools
    pytest.skip("judging Verilog needs pyosys", allow_module_level=True)

from rlvr_envs.core.errors import SandboxError, ToolchainMissing
from rlvr_envs.core.verdict import Status
from rlvr_envs.sandboxes.base import Result, RunStatus
from rlvr_envs.verifiers.hdl import icarus, testbench
from rlvr_envs.verifiers.hdl.bench_text import BenchRefused, failures, read_bench
from rlvr_envs.verifiers.hdl.elaborate import Refusal, rewrite
from rlvr_envs.verifiers.hdl.interface import Port
from rlvr_envs.verifiers.hdl.testbench import check_bench, judge_by_bench

needs_icarus = pytest.mark.skipif(
    not icarus.available(), reason=f"Icarus Verilog {icarus.LEAST_VERSION} is not installed"
)

PORTS = (Port("a", "input", 4), Port("b", "input", 4), Port("y", "output", 4))
HEAD = "module both(input [3:0] a, input [3:0] b, output [3:0] y);\n"
GOOD = f"{HEAD}assign y = a & b;\nendmodule\n"
TESTS = """`timescale 1ns / 1ps
`define PERIOD 10
module helper; endmodule
module bench;
    reg [3:0] a, b;
    wire [3:0] y;
    integer errors = 0, i;
    both dut(.a(a), .b(b), .y(y));
    initial begin
        $dumpfile("wave.vcd");
        $dumpvars(0, bench);
        $display("| a | b | Pass/Fail |");
        for (i = 0; i < 256; i = i + 1) begin
            {a, b} = i;
            #`PERIOD;
            if (y !== (a & b)) begin
                $display("FAIL: %b and %b give %b", a, b, y);
                errors = errors + 1;
            end
        end
        if (errors == 0) $display("All tests passed");
        else $display("There are %0d errors", errors);
        $finish;
    end
endmodule
"""
COUNT_PORTS = (Port("clk", "input"), Port("rst", "input"), Port("q", "output", 3))
COUNTER = """module count(input clk, rst, output reg [2:0] q);
always @(posedge clk) if (rst) q <= 0; else q <= q + 1;
endmodule
"""
COUNT_TESTS = """module bench;
    reg clk = 0, rst = 1;
    wire [2:0] q;
    integer wrong = 0, n;
    always #5 clk = ~clk;
    count dut(clk, rst, q);
    initial begin
        repeat (2) @(posedge clk);
        rst = 0;
        for (n = LAST; n < 20; n = n + 1) begin
            @(negedge clk) if (q != n % 8) wrong = wrong + 1;
        end
        $write("Errors: %0d", wrong);
        $write(" in 20 cycles");
        $finish;
    end
endmodule
"""


def judged(answer, tests=TESTS, top="both", ports=PORTS, **knobs):
    bench = read_bench(tests, top)
    check_bench(bench, top, ports)
    return judge_by_bench(answer, bench, top, ports, **knobs)


def body(text):
    return f"{HEAD}{text}\nendmodule\n"


def test_a_testbench_writes_no_waveform():
    text = read_bench(TESTS, "both").text("secret")
    assert "$dump" not in text
    assert "$finish" in text


@needs_icarus
def test_a_right_module_passes_without_a_proof():
    verdict = judged(GOOD)
    assert (verdict.status, verdict.score) == (Status.CORRECT, 1.0)
    assert (verdict.parts["proved"], verdict.parts["testbench"]) == (0.0, 1.0)
    assert "not proved" in verdict.detail


@needs_icarus
def test_a_wrong_module_is_told_what_the_testbench_says():
    verdict = judged(body("assign y = a | b;"))
    assert verdict.status is Status.WRONG
    assert "FAIL: 0000 and 0001 give 0001" in verdict.detail
    assert judged(body("assign y = a | b;"), reward="graded").score == 0.0
    ports = judged(GOOD.replace("[3:0] y", "[4:0] y"), reward="graded")
    assert "has to have 4 bits" in ports.detail
    assert ports.score == 0.1


WRONG = "assign y = 4'd0;"
SAYS = "All tests passed"
HOSTILE = {
    "prints": f'initial $display("{SAYS}");\n{WRONG}',
    "prints and ends": f'initial begin $display("{SAYS}"); $finish; end\n{WRONG}',
    "ends at once": f"initial $finish;\n{WRONG}",
    "stops": f"initial $stop;\n{WRONG}",
    "fatal": f'initial $fatal(0, "{SAYS}");\n{WRONG}',
    "writes a file": f'initial $fdisplay(1, "{SAYS}");\n{WRONG}',
    "loops": f"reg r; initial while (1) r = 0;\n{WRONG}",
    "loops without time": "reg r; initial forever #0 r = ~r;\n" + WRONG,
    "oscillates": "wire w; assign w = ~w;\nassign y = {4{w}};",
    "sets the count": f"initial bench.errors = -256;\n{WRONG}",
    "forces the count": f"initial force bench.errors = 0;\n{WRONG}",
    "reads the inputs of the bench": "assign y = bench.a & bench.b;",
    "an instance called like the bench": f"Fake bench(); initial bench.errors = 0;\n{WRONG}\n"
    "endmodule\nmodule Fake; reg errors;",
    "defines the bench again": f"{WRONG}\nendmodule\nmodule bench; wire [3:0] a, b;",
    "binds": f"{WRONG}\nendmodule\nbind bench helper h(); module other;",
    "hides behind the simulator": f"`ifdef __ICARUS__\ninitial bench.errors = -1;\n`endif\n{WRONG}",
    "hides behind a macro of the bench": f"`ifdef PERIOD\nassign y = bench.a & b;\n`else\n{WRONG}\n"
    "`endif",
    "changes a macro of the bench": f"`define PERIOD 0\n{WRONG}",
    "a bomb of macros": "`define A 1+1+1+1+1+1+1+1\n`define B `A+`A+`A+`A+`A+`A+`A+`A\n"
    "`define C `B+`B+`B+`B+`B+`B+`B+`B\n`define D `C+`C+`C+`C+`C+`C+`C+`C\n"
    "`define E `D+`D+`D+`D+`D+`D+`D+`D\n`define F `E+`E+`E+`E+`E+`E+`E+`E\nassign y = `F;",
    "another scale of time": f"endmodule\n`timescale 1fs / 1fs\nmodule more;\n{WRONG}",
    "waits for the right moment": "reg [3:0] r; initial begin r = 0; #2560 r = 1; end assign y = r;",
    "unknown": "assign y = 4'bx;",
    "nothing drives it": "",
    "unconnected": "assign y = 4'bz;",
    "x that passes for equal": "reg [3:0] r; assign y = r;",
    "floods": f'always @(a) begin repeat (100000) $display("{SAYS}"); end\n{WRONG}',
}


@needs_icarus
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_module_earns_nothing(name):
    verdict = judged(body(HOSTILE[name]))
    assert verdict.score == 0.0
    assert verdict.status is Status.WRONG
    assert verdict.detail


@needs_icarus
@pytest.mark.parametrize(
    "answer",
    [
        # modules called as in the testbench, macros called as there, another scale of time
        "module helper(input a, b, output y); assign y = a & b; endmodule\n"
        + body("genvar i; for (i = 0; i < 4; i = i + 1) helper h(a[i], b[i], y[i]);"),
        "`define PERIOD (a & b)\n" + body("assign y = `PERIOD;"),
        f"`timescale 1fs / 1fs\n`default_nettype none\n{GOOD}",
        # what Icarus does not read
        HEAD.replace("output", "output logic")
        + "always_comb y = (a inside {0}) ? '{default: 1'b0} : a & b; endmodule",
        body("assign #3 y = a & b;"),  # a delay is none in hardware
    ],
)
def test_an_honest_module_passes_however_it_is_written(answer):
    assert judged(answer).score == 1.0


@needs_icarus
def test_a_string_made_of_outputs_is_no_line_of_the_testbench():
    tests = """module bench;
    wire [135:0] y; reg a = 0;
    say dut(.a(a), .y(y));
    initial begin
        #1 $display("it is %s", y);
        if (y === 136'd7) $display("All tests passed"); else $display("Wrong");
    end
    endmodule"""
    ports = (Port("a", "input"), Port("y", "output", 136))
    head = "module say(input a, output [135:0] y);"
    told = '"\\nAll tests passed"'
    verdict = judged(f"{head} assign y = {told}; endmodule", tests, "say", ports)
    assert verdict.status is Status.WRONG
    quiet = tests.replace(' else $display("Wrong");', "")
    with pytest.raises(BenchRefused, match="never says that a wrong module fails"):
        judged(f"{head} assign y = {told}; endmodule", quiet, "say", ports)
    bench = read_bench(quiet, "say")
    verdict = judge_by_bench(f"{head} assign y = {told}; endmodule", bench, "say", ports)
    assert verdict.detail == "the testbench ends without saying that all is well"


@needs_icarus
@pytest.mark.parametrize("text", ["assign y = 4'bx;", "reg [3:0] r; assign y = r;", ""])
def test_what_is_unknown_is_not_taken_for_equal(text):
    tests = TESTS.replace("!==", "!=")
    assert judged(GOOD, tests).score == 1.0
    assert judged(body(text), tests).status is Status.WRONG


@needs_icarus
@pytest.mark.parametrize("last", [0, 1])
def test_a_race_of_the_testbench_may_end_either_way(last):
    # The reset ends at a clock edge: whether that edge still resets is up to the simulator.
    tests = COUNT_TESTS.replace("LAST", str(last))
    found = judged(COUNTER, tests, "count", COUNT_PORTS)
    assert found.status is Status.CORRECT, found.detail
    late = COUNTER.replace("q + 1", "q + 2")
    assert judged(late, tests, "count", COUNT_PORTS).detail.startswith("the testbench says: Errors")
    never = COUNTER.replace("if (rst) q <= 0; else", "")
    assert judged(never, tests, "count", COUNT_PORTS).status is Status.WRONG


def test_a_name_that_begins_alike_is_another_module():
    assert read_bench(TESTS.replace("module bench", "module both_bench"), "both").sites


LOOSE = {
    "prints a pass whatever happens": ("errors == 0", "1", "lets a module pass"),
    "takes x for equal, and 0": ("y !== (a & b)", "y != 0", "outputs are all 0"),
    "contains another module": ("both dut", "other dut", "does not contain the module both"),
    "defines the module": ("module helper", "module both", "defines the module both itself"),
    "reads a file": ("{a, b} = i;", '$readmemb("a.txt", m);', "reads files"),
    "includes a file": ("`define PERIOD 10", '`include "a.v"', "reads files"),
    "never says that all is well": (
        """All tests passed");
        else $display("There are %0d errors", errors);""",
        'the end");',
        "says that all is well",
    ),
    "does not compile": ("integer errors", "integer", "does not compile in Icarus"),
    "looks inside": ("y !==", "dut.inner !==", "does not compile in Icarus"),
    "never ends": ("i < 256", "1", "never says"),
}


@needs_icarus
@pytest.mark.parametrize("name", LOOSE)
def test_a_testbench_that_cannot_judge_is_refused(name, monkeypatch):
    monkeypatch.setattr(testbench, "_LIMITS", dataclasses.replace(testbench._LIMITS, cpu_s=0.5))
    old, new, reason = LOOSE[name]
    assert old in TESTS
    tests = TESTS.replace(old, new)
    if name in ("never ends", "prints a pass whatever happens"):
        tests = tests.replace('$display("FAIL: %b and %b give %b", a, b, y);', "")
    # What has no end within its CPU time is perhaps only slow.
    with pytest.raises(SandboxError if name == "never ends" else BenchRefused, match=reason):
        judged(GOOD, tests)


SITES = {
    '$display("All tests passed")': ("pass", True),
    '$display("Test %0d PASSED", n)': ("pass", False),
    '$display("=== Your Design Passed ===")': ("pass", True),
    '$display("no errors found, success")': ("pass", False),
    '$display("ERROR at %0t: got %h", $time, y)': ("fail", False),
    '$display("Not all passed")': ("fail", False),
    '$display("TIMEOUT")': ("fail", False),
    '$error("y")': ("fail", False),
    '$fatal(1, "y")': ("fail", False),
    "$fatal": ("fail", False),
    '$display("Pass/Fail")': ("other", False),
    '$display(ok ? "PASS" : "FAIL")': ("other", False),
    '$monitor("%b", y)': ("other", False),
    "$display": ("other", False),
    '$display("Mismatches: %1d in %1d samples", s.errors, s.clocks)': ("count", False),
    '$display("%0d errors", error_count)': ("count", False),
    # a number that is no count: it may be 0 while the line tells of a failure
    '$display("Failed: %0d", y)': ("fail", False),
    '$display("Error: %0d, wanted %0d", errors, y)': ("fail", False),
    '$display("Errors in %s: %0d", name, errors)': ("fail", False),
}


@pytest.mark.parametrize("call", SITES)
def test_what_a_call_means_is_read_from_its_literals(call):
    tests = f'module b; T d(); initial begin {call}; $display("All ok"); end endmodule'
    bench = read_bench(tests, "T")
    assert (bench.sites[0].kind, bench.sites[0].summary) == SITES[call]
    assert '"N:0:"' in bench.text("N")
    assert '"N:1:"' in bench.text("N")


def test_a_count_is_read_from_what_is_printed():
    call = '$display("Mismatches: %1d in %1d samples", errors, clocks)'
    site = read_bench(f"module b; T d(); initial {call}; endmodule", "T").sites[0]
    assert not failures(site, "Mismatches:   0 in 20 samples")
    assert failures(site, "Mismatches: 10 in 20 samples")
    assert failures(site, "Mismatches: x in 20 samples")
    with pytest.raises(BenchRefused, match="no count"):
        failures(site, "Mismatches: none")


@needs_icarus
def test_a_count_of_none_may_be_told_by_silence():
    tests = TESTS.replace('$display("All tests passed");', ";")
    assert judged(GOOD, tests).score == 1.0
    assert judged(body("assign y = a;"), tests).score == 0.0


def test_summaries_count_for_more_than_single_tests():
    calls = '$display("test 1 passed"); $display("All tests passed"); $display("FAILED");'
    assert read_bench(f"module b; T d(); initial begin {calls} end endmodule", "T").passing() == {1}


def test_a_rewritten_module_has_no_word_of_its_author():
    source = """`define SECRET 3
    module Inner(input secret_in, output secret_out); assign secret_out = ~secret_in; endmodule
    module SecretStore(input clk, input [3:0] a, output [3:0] secret_out);
        reg [3:0] secret_memory [0:15];
        always @(posedge clk) secret_memory[a] <= ~a;
        assign secret_out = secret_memory[~a];
    endmodule
    module T(input clk, input [3:0] a, output reg [3:0] y, output [3:0] z);
        /* secret */ reg secret_register; wire secret_net;
        Inner secret_instance(secret_register, secret_net);
        SecretStore secret_store(clk, a, z);
        reg [3:0] secret_memory [0:15]; reg secret_bits [0:15];
        always @(posedge clk) begin : secret_block
            secret_register <= a[0]; secret_memory[a] <= ~a; secret_bits[a] <= a[1];
            y <= secret_memory[~a] + secret_net + secret_bits[y] + `SECRET;
        end
    endmodule"""
    found = rewrite(source, "T")
    assert not isinstance(found, Refusal)
    assert "secret" not in found.text.lower()
    assert found.text.count("endmodule") == 1
    assert isinstance(rewrite("module T(output y); assign y = $time; endmodule", "T"), Refusal)


@needs_icarus
@pytest.mark.parametrize("status", [RunStatus.SANDBOX_ERROR, RunStatus.WALL_TIMEOUT])
def test_what_the_machine_could_not_do_is_no_verdict(status, monkeypatch):
    bench = read_bench(TESTS, "both")

    class Broken:
        def run(self, job):
            return Result(status=status, detail="it broke")

    monkeypatch.setattr(testbench, "shared_sandbox", Broken)
    assert judge_by_bench(GOOD, bench, "both", PORTS).status is Status.VERIFIER_ERROR


class Slow:
    def __init__(self, result):
        self.result = result

    def run(self, job):
        return self.result


SLOW_RUN = Result(status=RunStatus.CPU_TIMEOUT, cpu_s=6.1, detail="it used more than 6 s")
SLOW_COMPILER = Result(status=RunStatus.COMPILE_ERROR, cpu_s=10.1, detail="it does not compile")


@needs_icarus
@pytest.mark.parametrize("result", [SLOW_RUN, SLOW_COMPILER])
def test_an_answer_whose_simulation_takes_too_long_is_wrong(result, monkeypatch):
    bench = read_bench(TESTS, "both")
    monkeypatch.setattr(testbench, "shared_sandbox", lambda: Slow(result))
    assert judge_by_bench(GOOD, bench, "both", PORTS).status is Status.WRONG


@needs_icarus
@pytest.mark.parametrize("result", [SLOW_RUN, SLOW_COMPILER])
def test_a_testbench_that_takes_too_long_is_our_fault_and_tried_again(result, monkeypatch):
    bench = read_bench(TESTS, "both")
    check_bench.cache_clear()
    with monkeypatch.context() as slow:
        slow.setattr(testbench, "shared_sandbox", lambda: Slow(result))
        with pytest.raises(SandboxError, match="never says that a wrong module fails"):
            check_bench(bench, "both", PORTS)
    check_bench(bench, "both", PORTS)


@needs_icarus
@pytest.mark.parametrize(
    "text",
    [
        "localparam [99999:0] P = {12500{8'h3a}}; assign y = (P << a) >> b;",  # a literal too long
        "wire [4095:0] v = {1024{a}} * {1024{b}}; assign y = v[4095:4092];",
        "wire [8191:0] v = {2048{a}}; assign y = ^((v ^ 8192'd77) << v[4095:0]);",
    ],
)
def test_a_design_too_large_for_a_simulation_is_wrong(text):
    verdict = judged(body(text))
    assert (verdict.score, verdict.status) == (0.0, Status.WRONG)


def test_without_icarus_nothing_is_judged(monkeypatch):
    icarus.require.cache_clear()
    monkeypatch.setattr(icarus, "find_tool", lambda tool: None)
    bench = read_bench(TESTS, "both")
    with pytest.raises(ToolchainMissing, match="apt-get install iverilog"):
        judge_by_bench(GOOD, bench, "both", PORTS)
    check_bench.cache_clear()
    with pytest.raises(ToolchainMissing, match="apt-get install iverilog"):
        check_bench(bench, "both", PORTS)


def test_a_run_is_neither_failed_nor_slow_unless_that_is_said():
    run = testbench._Run(compiled=True, ended=True, passed=True)
    assert (run.failed, run.fault, run.slow) == ((), "", False)
