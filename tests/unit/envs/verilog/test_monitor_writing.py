from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.verilog.monitor_writing import (
    MonitorWritingConfig,
    MonitorWritingProblem,
    MonitorWritingTask,
    comparing,
)
from rlvr_envs.generators.hardware.families import draw_design
from rlvr_envs.generators.hardware.monitors import monitor_ports, watched
from rlvr_envs.verifiers.hdl.aig import Aig
from rlvr_envs.verifiers.hdl.interface import Clocking, Port

TASK = MonitorWritingTask(MonitorWritingConfig())

ADDER = """module TopModule(input a, input b, output s, output c);
assign s = a ^ b;
assign c = a & b;
endmodule
"""
ADDER_PORTS = (Port("a", "input"), Port("b", "input"), Port("s", "output"), Port("c", "output"))
ADDER_HEAD = "module Monitor(input a, input b, input s, input c, output ok);"

WIDE = "module TopModule(input [39:0] a, output [39:0] y); assign y = ~a; endmodule"
WIDE_PORTS = (Port("a", "input", 40), Port("y", "output", 40))
WIDE_HEAD = "module Monitor(input [39:0] a, input [39:0] y, output ok);"

COUNTER = """module TopModule(input clk, input rst, input go, output reg [11:0] n);
always @(posedge clk) if (rst) n <= 0; else if (go) n <= n + 12'd1;
endmodule
"""
COUNTER_PORTS = (
    *(Port(name, "input") for name in ("clk", "rst", "go")),
    Port("n", "output", 12),
)
COUNTER_HEAD = "module Monitor(input clk, input rst, input go, input [11:0] n, output ok);"
# What the next count has to be, kept from one cycle to the next.
COUNTER_MONITOR = f"""{COUNTER_HEAD}
reg [11:0] next;
always @(posedge clk) next <= rst ? 12'd0 : go ? n + 12'd1 : n;
assign ok = n == next;
endmodule
"""


def problem(golden, ports, *changes, clocking=None, budget=0, reward="share"):
    faulty = tuple(golden.replace(*change) for change in changes)
    return MonitorWritingProblem("it", ports, clocking, budget, reward, golden, faulty, "")


def adder(**knobs):
    changes = (("a ^ b", "a | b"), ("a & b", "a | b"), ("a & b", "a"))
    return problem(ADDER, ADDER_PORTS, *changes, **knobs)


def counter(**knobs):
    changes = (("n + 12'd1", "n + 12'd2"), ("if (rst) n <= 0; else ", ""), ("else if (go)", "else"))
    return problem(COUNTER, COUNTER_PORTS, *changes, clocking=Clocking("clk", "rst"), **knobs)


@pytest.mark.parametrize(
    ("verdict", "score"),
    [
        ("{s, c} == {a ^ b, a & b}", 1.0),
        ("s == (a ^ b)", 1 / 3),
        ("c == (a & b)", 2 / 3),
        ("!(c && !a)", 1 / 3),  # implied by the description, though not all of it
        ("1'b1", 0.0),
        ("a | ~a", 0.0),
    ],
)
def test_a_sound_monitor_earns_the_share_of_faulty_modules_that_it_finds(verdict, score):
    found = TASK.verify(adder(), f"{ADDER_HEAD} assign ok = {verdict}; endmodule")
    assert found.score == pytest.approx(score)
    assert found.parts["sound"] == 1.0
    assert found.parts["found"] == pytest.approx(3 * score)


@pytest.mark.parametrize(
    "verdict", ["1'b0", "s == (a | b)", "1'bx", "s == (a ^ b) & c", "a", "s === 1'bx"]
)
def test_a_false_alarm_earns_nothing(verdict):
    found = TASK.verify(adder(), f"{ADDER_HEAD} assign ok = {verdict}; endmodule")
    assert (found.score, found.parts["sound"]) == (0.0, 0.0)
    assert "`ok` is 0 for the correct module" in found.detail


def test_a_verdict_that_nothing_drives_earns_nothing():
    assert TASK.verify(adder(), f"{ADDER_HEAD} endmodule").score == 0.0


def test_a_false_alarm_is_shown_with_the_ports_of_the_design():
    monitor = f"{ADDER_HEAD} assign ok = !(a && b); endmodule"
    lines = TASK.verify(adder(), monitor).detail.splitlines()
    at = next(number for number, line in enumerate(lines) if "expected" in line)
    assert lines[at].split() == ["a", "b", "s", "c", "ok", "expected", "ok", "got"]
    assert lines[at + 1].split() == ["1", "1", "0", "1", "1", "0*"]


def test_a_false_alarm_for_one_input_of_2_to_the_40_is_found():
    wide = problem(WIDE, WIDE_PORTS, ("~a", "a"))
    right = "y == ~a"
    magic = "40'h123456789a"
    monitors = {
        right: 1.0,
        f"{right} && a != {magic}": 0.0,
        f"{right} || a == {magic}": 1.0,  # blind there, and never wrong about the right module
    }
    for verdict, score in monitors.items():
        found = TASK.verify(wide, f"{WIDE_HEAD} assign ok = {verdict}; endmodule")
        assert found.score == score, verdict


def test_monitors_may_hold_state():
    assert TASK.verify(counter(), COUNTER_MONITOR).score == 1.0
    found = TASK.verify(counter(), COUNTER_MONITOR.replace("n == next", "n == next || go"))
    assert 0.0 < found.score <= 1.0


def test_a_late_false_alarm_is_found():
    # The right counter comes to 3000 only after so many cycles.
    late = COUNTER_MONITOR.replace("n == next", "n == next && n != 12'd3000")
    found = TASK.verify(counter(), late)
    assert found.score == 0.0
    assert found.parts["sound"] == 0.0


def test_a_fault_of_the_first_cycle_does_not_count():
    # In the cycle of reset anything may be: neither an alarm there nor silence there matters.
    always = f"{COUNTER_HEAD} assign ok = !(rst && !rst); endmodule"
    assert TASK.verify(counter(), always).score == 0.0
    assert TASK.verify(counter(), always).parts["sound"] == 1.0


@pytest.mark.parametrize(
    "monitor",
    [
        COUNTER_MONITOR.replace("posedge", "negedge"),
        COUNTER_MONITOR.replace("always @(posedge clk) next <=", "always @* if (go) next ="),
        COUNTER_MONITOR.replace("module Monitor", "module Watcher"),
        COUNTER_MONITOR.replace("input go, ", "").replace("go ?", "n[0] ?"),
        COUNTER_MONITOR.replace("output ok", "output [1:0] ok"),
        COUNTER_MONITOR.replace("input [11:0] n", "output [11:0] n"),
        COUNTER_MONITOR.replace("n == next", "n == TopModule.n"),
        COUNTER_MONITOR.replace("assign ok", "initial $finish; assign ok"),
        COUNTER_MONITOR.replace("endmodule", ""),
        COUNTER,
        "",
    ],
)
def test_what_is_no_monitor_earns_nothing(monitor):
    found = TASK.verify(counter(), monitor)
    assert (found.score, found.status) == (0.0, Status.WRONG)


def test_the_budget_counts_cells():
    cells = TASK.verify(counter(), COUNTER_MONITOR).parts["cells"]
    assert TASK.verify(counter(budget=int(cells)), COUNTER_MONITOR).score == 1.0
    found = TASK.verify(counter(budget=int(cells) - 1), COUNTER_MONITOR)
    assert found.score == 0.0
    assert f"{int(cells)} cells" in found.detail


def test_all_gives_nothing_for_less():
    half = f"{ADDER_HEAD} assign ok = s == (a ^ b); endmodule"
    assert TASK.verify(adder(reward="all"), half).score == 0.0
    whole = f"{ADDER_HEAD} assign ok = {{s, c}} == {{a ^ b, a & b}}; endmodule"
    assert TASK.verify(adder(reward="all"), whole).score == 1.0


@pytest.mark.parametrize("difficulty", [0, 3, pytest.param(7, marks=pytest.mark.slow)])
def test_a_copy_of_the_design_finds_all_faulty_ones(difficulty):
    made = MonitorWritingTask(MonitorWritingConfig.at(difficulty))
    for seed in range(3):
        found = made.generate(stream("monitor", difficulty, seed))
        assert 1 <= len(set(found.faulty)) == len(found.faulty) <= 3 + difficulty // 2
        assert made.verify(found, made.solve(found)).score == 1.0
        names = [f"input {port.name}" for port in found.ports if port.width == 1]
        assert all(name in made.prompt(found) for name in names)
        lazy = found.monitor.replace("assign ok = ", "assign ok = 1'b1 || ")
        assert made.verify(found, lazy).score == 0.0
        assert made.generate(stream("monitor", difficulty, seed)) == found


@pytest.mark.parametrize("name", ["UpDownCounter-v0", "SequenceDetector-v0", "PriorityEncoder-v0"])
def test_either_writing_may_stand_in_the_monitor(name):
    made = MonitorWritingTask(MonitorWritingConfig(families=(name,)))
    found = made.generate(stream("either", name))
    rng = stream("either", name)
    rng.random()  # the layout
    design = draw_design(rng, 2, (name,))
    assert found.golden in (design.golden, design.alternative)
    for writing in (design.golden, design.alternative):
        assert made.verify(found, comparing(design, writing)).score == 1.0


def test_free_inputs_of_the_design_come_before_those_of_the_monitor():
    design = Aig({"a": (1,)}, {"y": (4,)}, free=(2,))
    monitor = Aig({"a": (1,), "y": (2,)}, {"ok": (9,)}, (3,), (), ((4, 5, 6),))
    both = watched(design, monitor)
    assert both.inputs == {"a": (1,)}
    assert both.free[0] == 2
    assert len(set(both.free)) == 2
    ((gate, left, right),) = both.gates
    assert (left, right) == (5, 2 * both.free[1])  # the inverted port y, and what is free
    assert both.outputs == {"ok": (2 * gate + 1,)}


def test_all_ports_of_the_design_are_inputs_of_the_monitor():
    ports = monitor_ports(counter().reference)
    assert [(p.name, p.direction, p.width) for p in ports[-2:]] == [
        ("n", "input", 12),
        ("ok", "output", 1),
    ]


def test_the_faulty_modules_are_not_shown():
    found = TASK.generate(stream("hidden", 0))
    assert TASK.prompt(found) == TASK.prompt(replace(found, faulty=(), golden="", monitor=""))


def test_knobs_out_of_range_are_errors():
    for knobs in (
        {"level": -1},
        {"faults": 0},
        {"faults": 33},
        {"budget": 99},
        {"budget": -1},
        {"reward": "graded"},
        {"families": ("x",)},
    ):
        with pytest.raises(ConfigError):
            MonitorWritingConfig(**knobs)
