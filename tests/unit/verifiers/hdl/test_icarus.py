"""Icarus as a second opinion: what synthesis does not see."""

import dataclasses

import pytest

from rlvr_envs.core.errors import ToolchainMissing
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.sandboxes.base import Result, RunStatus
from rlvr_envs.verifiers.hdl import icarus
from rlvr_envs.verifiers.hdl.icarus import CYCLES, RUNS, Trace, bench, cosimulate, difference, run
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge

needs_icarus = pytest.mark.skipif(
    not icarus.available(), reason=f"Icarus Verilog {icarus.LEAST_VERSION} is not installed"
)

AND = Reference(
    "module T(input [3:0] a, b, output [3:0] y); assign y = a & b; endmodule",
    (Port("a", "input", 4), Port("b", "input", 4), Port("y", "output", 4)),
    top="T",
)
COUNTER = Reference(
    """module T(input clk, rst_n, up, output reg [2:0] q);
always @(posedge clk or negedge rst_n) if (!rst_n) q <= 0; else if (up) q <= q + 1;
endmodule""",
    (Port("clk", "input"), Port("rst_n", "input"), Port("up", "input"), Port("q", "output", 3)),
    Clocking("clk", "rst_n", 0, True),
    top="T",
)
RATIO = Reference(
    "module T(input [2:0] a, b, output [2:0] y); assign y = b == 0 ? 7 : a / b; endmodule",
    (Port("a", "input", 3), Port("b", "input", 3), Port("y", "output", 3)),
    top="T",
)
RESET = "if (!rst_n) q = 0;"
FREE = dataclasses.replace(
    AND,
    source="module T(input [3:0] a, b, output reg [3:0] y); always @(*)\n"
    "case (a) 0, 1: y = b; default: y = 4'bx; endcase endmodule",
    free_x=True,
)


def body(reference, text):
    """Return a module with the ports of a reference."""
    ports = ", ".join(port.declaration() for port in reference.ports)
    ports = ports.replace("output [", "output logic [")
    return f"module T({ports});\n{text}\nendmodule"


def second(answer, reference):
    """Return the verdict of both, after the first took the answer for equivalent."""
    verdict = judge(answer, reference)
    assert verdict.status is Status.CORRECT, verdict.detail
    return cosimulate(answer, reference, verdict)


@needs_icarus
@pytest.mark.parametrize("reference", [AND, COUNTER, RATIO, FREE], ids=lambda r: r.source[-40:])
def test_a_reference_agrees_with_itself(reference):
    verdict = second(reference.source, reference)
    assert verdict.status is Status.CORRECT
    assert verdict.parts["icarus"] == 1.0
    assert "simulation agrees" in verdict.detail


@needs_icarus
@pytest.mark.parametrize(
    ("reference", "answer"),
    [
        (AND, "always @(a) y = a & b;"),  # b is missing in the list
        (COUNTER, f"always @(posedge clk or negedge rst_n) {RESET} else if (up) #7 q = q + 1;"),
    ],
)
def test_what_only_a_simulation_sees_is_refused(reference, answer):
    verdict = second(body(reference, answer), reference)
    assert verdict.status is Status.WRONG
    assert "a simulation tells it from the reference" in verdict.detail
    assert verdict.parts["icarus"] == 1.0


@needs_icarus
def test_where_the_reference_shows_an_x_anything_is_right():
    verdict = second(body(FREE, "assign y = b;"), FREE)
    assert verdict.status is Status.CORRECT


@needs_icarus
def test_an_answer_that_icarus_cannot_read_does_not_pass():
    answer = body(AND, "always_comb y = (a inside {[0:15]}) ? a & b : 4'd0;")
    verdict = second(answer, AND)
    assert verdict.status is Status.WRONG
    assert "cannot read it" in verdict.detail


@needs_icarus
def test_a_reference_that_icarus_cannot_read_leaves_the_verdict_as_it_is():
    source = body(AND, "always_comb y = (a inside {[0:15]}) ? a & b : 4'd0;")
    reference = dataclasses.replace(AND, source=source)
    verdict = second(AND.source, reference)
    assert verdict.status is Status.CORRECT
    assert verdict.parts["icarus"] == 0.0


@needs_icarus
def test_every_step_is_written_down():
    trace = run(COUNTER.source, COUNTER)
    assert trace.fault == ""
    assert len(trace.rows) == 2 * RUNS * CYCLES  # before each edge
    assert {word for row in trace.rows for word in row} >= {format(n, "03b") for n in range(8)}


@needs_icarus
@pytest.mark.parametrize("text", ["initial #50 $finish;", "initial #50 forever #0;"])
def test_a_run_that_does_not_come_to_its_end_is_a_difference(text, monkeypatch):
    monkeypatch.setattr(icarus, "_LIMITS", dataclasses.replace(icarus._LIMITS, cpu_s=0.5))
    gold, gate = run(AND.source, AND), run(body(AND, f"assign y = a & b; {text}"), AND)
    assert gate.compiled
    assert "does not end" in difference(gold, gate, AND)


RIGHT = Verdict.correct("it is equivalent", proved=1.0)
SLEPT = Result(status=RunStatus.WALL_TIMEOUT, cpu_s=0.1, detail="it slept or waited")
SLOW = Result(status=RunStatus.CPU_TIMEOUT, cpu_s=5.1, detail="it used more than 5 s")
SLOW_COMPILER = Result(status=RunStatus.COMPILE_ERROR, cpu_s=10.1, detail="it does not compile")


@needs_icarus
@pytest.mark.parametrize("result", [SLEPT, SLOW, SLOW_COMPILER])
def test_a_reference_that_takes_too_long_is_no_verdict_and_is_tried_again(result, monkeypatch):
    class Slow:
        def run(self, job):
            return result

    icarus.require()
    icarus._reference_trace.cache_clear()
    with monkeypatch.context() as slow:
        slow.setattr(icarus, "shared_sandbox", Slow)
        assert cosimulate(AND.source, AND, RIGHT).status is Status.VERIFIER_ERROR
    assert cosimulate(AND.source, AND, RIGHT).status is Status.CORRECT


@needs_icarus
@pytest.mark.parametrize(
    ("result", "status"),
    [(SLEPT, Status.VERIFIER_ERROR), (SLOW, Status.WRONG), (SLOW_COMPILER, Status.WRONG)],
)
def test_an_answer_that_takes_too_long_is_wrong(result, status, monkeypatch):
    class Slow:
        def run(self, job):
            return result

    assert cosimulate(AND.source, AND, RIGHT).status is Status.CORRECT  # keeps the reference's
    monkeypatch.setattr(icarus, "shared_sandbox", Slow)
    assert cosimulate(AND.source, AND, RIGHT).status is status


def test_a_difference_names_the_step_and_the_port():
    gold = Trace((("0000",), ("01x0",), ("0001",)))
    assert difference(gold, Trace((("0000",), ("0110",), ("0001",))), AND) == ""
    found = difference(gold, Trace((("0000",), ("x110",), ("0001",))), AND)
    assert found == "in step 1, `y` has to be 01x0, and is x110"


def test_nothing_is_compared_while_the_reset_is_held():
    gold = Trace((("000",), ("000",), ("000",)))
    assert difference(gold, Trace((("111",), ("111",), ("000",))), COUNTER) == ""
    assert "in step 1" in difference(gold, Trace((("111",), ("111",), ("001",))), COUNTER)


def test_inputs_change_while_the_clock_is_low():
    lines = [line.strip() for line in bench(COUNTER).splitlines()]
    first = lines.index("port_clk = 0;")
    assert lines[first + 1] == "#5;"
    assert lines[first + 2] == "{port_rst_n, port_up} = rows[step];"
    assert lines[first + 3].startswith("#5 $fdisplay(")
    assert lines[first + 4] == "port_clk = 1;"


def test_without_icarus_the_error_says_how_to_get_it(monkeypatch):
    icarus.require.cache_clear()
    monkeypatch.setattr(icarus, "find_tool", lambda tool: None)
    with pytest.raises(ToolchainMissing, match="apt-get install iverilog"):
        icarus.require()
    assert not icarus.available()


def test_an_old_icarus_is_not_enough(monkeypatch):
    class Old:
        stdout = b""
        stderr = b"Icarus Verilog runtime version 10.3 (stable)"

        def run(self, job):
            return self

    icarus.require.cache_clear()
    monkeypatch.setattr(icarus, "find_tool", lambda tool: f"/usr/bin/{tool}")
    monkeypatch.setattr(icarus, "shared_sandbox", Old)
    with pytest.raises(ToolchainMissing, match="11 or later, this is 10"):
        icarus.require()


def test_an_icarus_that_is_new_enough_is_available(monkeypatch):
    # Without this, an Icarus that is never available would only skip the other tests.
    monkeypatch.setattr(icarus, "require", lambda: None)
    assert icarus.available()


def test_a_trace_is_neither_faulty_nor_slow_unless_that_is_said():
    trace = icarus.Trace(())
    assert (trace.fault, trace.compiled, trace.slow) == ("", True, False)
