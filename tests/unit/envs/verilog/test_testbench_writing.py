from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.verilog.testbench_writing import (
    TestbenchWritingConfig,
    TestbenchWritingProblem,
    TestbenchWritingTask,
    Unreadable,
    columns,
    read_table,
)
from rlvr_envs.verifiers.hdl.interface import Clocking, Port

TASK = TestbenchWritingTask(TestbenchWritingConfig())
GATE = "module TopModule(input a, input b, output y); assign y = a & b; endmodule"
GATE_PORTS = (Port("a", "input"), Port("b", "input"), Port("y", "output"))
BUS = (Port("en", "input"), Port("d", "input", 4))

REGISTER = """module TopModule(input clk, input rst, input en, input [3:0] d, output reg [3:0] q);
always @(posedge clk) if (rst) q <= 0; else if (en) q <= d;
endmodule
"""
REGISTER_PORTS = (Port("clk", "input"), Port("rst", "input"), *BUS, Port("q", "output", 4))


def gate_problem(*expressions, rows=4, reward="share"):
    faulty = tuple(GATE.replace("a & b", expression) for expression in expressions)
    return TestbenchWritingProblem("an and", GATE, GATE_PORTS, None, rows, reward, faulty, "")


def register_problem(*changes, rows=8):
    faulty = tuple(REGISTER.replace(*change) for change in changes)
    clocking = Clocking("clk", "rst")
    return TestbenchWritingProblem(
        "a register", REGISTER, REGISTER_PORTS, clocking, rows, "share", faulty, ""
    )


@pytest.mark.parametrize(
    ("table", "score"),
    [
        ("a,b\n0,0", 0.0),
        ("a,b\n1,1", 0.0),
        ("a,b\n1,0", 2 / 3),  # tells "or" and "a"
        ("b,a\n1,0", 2 / 3),  # tells "or" and "b"
        ("a,b\n1,0\n0,1", 1.0),
        ("a b\n0x1 0b0\r\n\n 0\t1 \n", 1.0),
    ],
)
def test_the_score_is_the_share_of_faulty_gates_told(table, score):
    problem = gate_problem("a | b", "a", "b")
    verdict = TASK.verify(problem, table)
    assert verdict.score == pytest.approx(score)
    assert verdict.parts["told"] == pytest.approx(3 * score)


def test_all_gives_nothing_for_less():
    problem = gate_problem("a | b", "a", "b", reward="all")
    assert TASK.verify(problem, "a,b\n1,0").score == 0.0
    assert TASK.verify(problem, "a,b\n1,0\n0,1").score == 1.0


def test_rows_beyond_the_limit_earn_nothing():
    problem = gate_problem("a | b", "a", "b", rows=2)
    assert TASK.verify(problem, "a,b\n1,0\n0,1").score == 1.0
    verdict = TASK.verify(problem, "a,b\n1,0\n0,1\n0,0")
    assert (verdict.score, verdict.status) == (0.0, Status.UNPARSABLE)
    assert TASK.verify(problem, "a,b\n" + "1,0\n0,1\n" * 200_000).score == 0.0


@pytest.mark.parametrize(
    "table",
    [
        "",
        "en,d",
        "1,2\n1,2",
        "en\n1",
        "en,d,d\n1,2,2",
        "en,d,clk\n1,2,0",
        "en,d\n1",
        "en,d\n1,2,3",
        "en,d\n1,16",
        "en,d\n2,0",
        "en,d\n1,-1",
        "en,d\n1,1.5",
        "en,d\n1,NaN",
        "en,d\n1,inf",
        "en,d\n1,x",
        "en,d\n1,1e1",
        "en,d\n1,4'd3",
        "en,d\n1,٣",
        "en,d\n1,²",
        "en,d\n1,",
        "en,d\n1,,2",
        "en,d\n1,0x",
        "en,d\n1,0b2",
        "en,d\n1,1_0",
        "en,d\n1," + "0" * 5000,
        "en,d\n1," + "9" * 5000,
        "en,d\n1,2\nand 0,0",
        "en," * 50_000,
        "," * 100_000,
        "\x00",
    ],
)
def test_what_is_no_table_of_the_ports_is_refused(table):
    with pytest.raises(Unreadable):
        read_table(table, BUS, 8)


def test_values_are_read_in_the_order_of_the_ports():
    assert read_table("d, en\n0xF,1\n0b101 0\n007,1", BUS, 3) == ((1, 15), (0, 5), (1, 7))


def test_the_clock_has_no_column_and_the_reset_has_one():
    problem = register_problem(("q <= d", "q <= ~d"))
    assert [port.name for port in columns(problem.reference)] == ["rst", "en", "d"]


def test_a_run_begins_after_a_cycle_of_reset():
    # Both show at once what they start with, one where nothing determines it.
    problem = register_problem(("q <= 0", "q <= 1"), ("if (rst) q <= 0; else ", ""))
    assert TASK.verify(problem, "rst,en,d\n0,0,0").score == 1.0


def test_a_reset_in_the_middle_is_told_by_a_table_that_has_one():
    # The fault: reset works only before anything was loaded.
    problem = register_problem(("if (rst)", "if (rst && q == 0 || rst && !en)"))
    assert TASK.verify(problem, "rst,en,d\n0,1,5\n0,0,0\n0,0,0").score == 0.0
    assert TASK.verify(problem, "rst,en,d\n0,1,5\n1,1,7\n0,0,0").score == 1.0


def test_outputs_are_looked_at_before_the_edge():
    problem = register_problem(("q <= d", "q <= ~d"))
    assert TASK.verify(problem, "rst,en,d\n0,1,5").score == 0.0
    assert TASK.verify(problem, "rst,en,d\n0,1,5\n0,0,0").score == 1.0


@pytest.mark.parametrize("difficulty", [0, 3, pytest.param(7, marks=pytest.mark.slow)])
def test_the_known_table_tells_all_within_the_rows(difficulty):
    made = TestbenchWritingTask(TestbenchWritingConfig.at(difficulty))
    for seed in range(4):
        problem = made.generate(stream("testbench", difficulty, seed))
        assert 1 <= len(problem.faulty) <= 3 + difficulty // 2
        assert len(set(problem.faulty)) == len(problem.faulty)
        assert len(problem.table.splitlines()) - 1 <= problem.rows
        assert made.verify(problem, made.solve(problem)).score == 1.0
        assert f"at most {problem.rows} row" in made.prompt(problem)
        assert made.generate(stream("testbench", difficulty, seed)) == problem


def test_dull_tables_earn_little():
    made = TestbenchWritingTask(TestbenchWritingConfig.at(5))
    scores = []
    for seed in range(8):
        problem = made.generate(stream("dull", seed))
        names = [port.name for port in columns(problem.reference)]
        row = ",".join("0" for _ in names)
        table = "\n".join([",".join(names)] + [row] * problem.rows)
        scores.append(made.verify(problem, table).score)
    assert sum(scores) / len(scores) <= 0.25, scores


def test_the_faulty_modules_are_not_shown():
    problem = TASK.generate(stream("hidden", 0))
    other = replace(problem, faulty=(), table="")
    assert TASK.prompt(problem) == TASK.prompt(other)


def test_knobs_out_of_range_are_errors():
    for knobs in (
        {"level": -1},
        {"faults": 0},
        {"faults": 33},
        {"slack": 99},
        {"reward": "graded"},
        {"families": ("x",)},
    ):
        with pytest.raises(ConfigError):
            TestbenchWritingConfig(**knobs)
