"""HierarchicalDesign: instances against steps in Python, and texts that are more than instances."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.hierarchical_design import (
    HierarchicalDesignConfig,
    HierarchicalDesignTask,
    HierarchySources,
    Step,
    not_structural,
)
from rlvr_envs.generators.hardware.syntax import tokens
from rlvr_envs.verifiers.hdl.interface import Clocking

STEPS = (
    Step("add", "", "d0", "d1"),
    Step("subtract", "", "t1", "d1"),
    Step("select", "", "t2", "d0"),
    Step("least", "min", "t3", "d1"),
    Step("least", "max", "d0", "t4"),
    Step("logic", "xor", "t5", "t1"),
    Step("logic", "and", "t6", "t3"),
    Step("logic", "or", "t7", "d0"),
    Step("store", "", "t8", "d0"),
    Step("total", "up", "t9", "d0"),
    Step("total", "down", "t10", "d0"),
)
SOURCES = HierarchySources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    width=4,
    inputs=("d0", "d1"),
    result="res",
    steps=STEPS,
    arithmetic="adder",
    gate="nand",
    part=2,
    mux_first=0,
    enabled=0,
    names=("adder", "subtractor", "mux", "gate", "inverter", "register"),
    ports=("a", "b", "y"),
)


def problem_of(sources):
    task = HierarchicalDesignTask(HierarchicalDesignConfig.at(0))
    problem = task.generate(stream("hierarchy"))
    design = sources.design()
    return task, dataclasses.replace(
        problem,
        signals=design.signals,
        rules=design.rules,
        clocking=design.clocking,
        given=sources.given(),
        golden=design.golden,
        alternative=design.alternative,
    )


def simulated(sources, rows):
    """Return the result in each cycle."""
    top, kept, seen = 2**sources.width, dict.fromkeys(range(len(sources.steps) + 1), 0), []
    for row in rows:
        values = {name: row[name] for name in sources.inputs}
        moves = {}
        for k, step in enumerate(sources.steps, 1):
            if step.kind in ("store", "total"):
                values[f"t{k}"] = kept[k]
                moves[k] = (step, row[f"e{k}"])
                continue
            x, y = values[step.left], values[step.right]
            values[f"t{k}"] = {
                "add": lambda x, y: x + y,
                "subtract": lambda x, y: x - y,
                "select": lambda x, y, row=row, k=k: x if row[f"s{k}"] else y,
                "least": min if step.way == "min" else max,
                "logic": {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}.get(step.way),
            }[step.kind](x, y) % top
        seen.append({"res": values[f"t{len(sources.steps)}"]})
        for k, (step, enabled) in moves.items():
            if enabled:
                x = values[step.left]
                sign = 1 if step.way == "up" else -1
                kept[k] = x if step.kind == "store" else (kept[k] + sign * x) % top
    return seen


@pytest.mark.parametrize("arithmetic", ["adder", "subtractor"])
@pytest.mark.parametrize("gate", ["nand", "nor"])
@pytest.mark.parametrize("other", [0, 1])
@pytest.mark.parametrize("count", range(1, len(STEPS) + 1))
def test_golden_and_instances_follow_the_steps(
    arithmetic, gate, other, count, run_design, random_rows
):
    sources = dataclasses.replace(
        SOURCES,
        steps=STEPS[:count],
        arithmetic=arithmetic,
        gate=gate,
        part=4 - 2 * other,
        mux_first=other,
        enabled=other,
    )
    design = sources.design()
    rows = random_rows(design, 120, seed=count)
    expected = simulated(sources, rows)
    assert run_design(design, rows) == expected
    whole = dataclasses.replace(design, golden=sources.given() + design.alternative)
    assert run_design(whole, rows) == expected


@pytest.mark.parametrize("difficulty", [0, 3, 7, 10, 14])
def test_the_oracle_is_right_and_structural(difficulty):
    task = HierarchicalDesignTask(HierarchicalDesignConfig.at(difficulty))
    for seed in range(2):
        problem = task.generate(stream("hierarchy", difficulty, seed))
        assert task.verify(problem, problem.alternative).score == 1.0
        assert task.verify(problem, problem.given + problem.alternative).score == 1.0
        assert task.verify(problem, problem.golden).score == 0.0


SMALL = dataclasses.replace(SOURCES, steps=(STEPS[0], Step("subtract", "", "t1", "d0")), part=4)
HEAD = "module TopModule (input [3:0] d0, input [3:0] d1, output [3:0] res);\n"
# res = d0 + d1 - d0 = d1, which the steps say in a longer way.
RIGHT = {
    "as the oracle": SMALL.design().alternative,
    "a wire": f"{HEAD}assign res = d1;\nendmodule",
    "the given modules repeated": f"{SMALL.given()}\n{HEAD}assign res = d1;\nendmodule",
    "bit by bit": HEAD
    + "genvar i; generate for (i = 0; i < 4; i = i + 1) begin : bits assign res[i] = d1[i]; end "
    "endgenerate\nendmodule",
    "bit by bit, backwards": HEAD
    + "for (genvar i = 0; i < 4; i++) begin assign res[3 - i] = d1[3 - i]; end\nendmodule",
    "a parameter": HEAD + "localparam W = 4; assign res = d1[W - 1:0];\nendmodule",
    "two inverters": HEAD
    + "wire [3:0] n; inverter one (.a(d1), .y(n)); inverter two (n, res);\nendmodule",
    "parts": HEAD + "assign {res[3:2], res[1:0]} = {d1[3], d1[2:0]};\nendmodule",
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_answers_of_other_forms_count(name):
    task, problem = problem_of(SMALL)
    assert task.verify(problem, RIGHT[name]).score == 1.0


BODIES = [
    "assign res = d0 + d1 - d0;",
    "assign res = ~(~d1);",
    "assign res = d1 ^ 4'd0;",
    "assign res = 1 ? d1 : d0;",
    "assign res = (d1);assign res = d1 & d1;",
    "reg [3:0] q; always @(*) q = d1; assign res = q;",
    "always_comb res = d1;",
    "function [3:0] f(input [3:0] x); f = x; endfunction assign res = f(d1);",
    "buf g[3:0] (res, d1);",
    "assign res = $unsigned(d1);",
    "wire [15:0] same = 16'hfedc; assign res = {d1[3:1], same[d1]};",  # a table
    # The name of a constant of a block for a signal as an index, which is a table as well.
    (
        "if (1) begin : b localparam d1 = 0; end wire [15:0] t = 16'haaaa; "
        "assign res = {d1[3:1], t[d1]};"
    ),
    "if (1) begin : b localparam k = 0; end inverter u (.a(d0), .y(k)); assign res = d1[k];",
    "for (genvar k = 0; k < 1; k++) begin end inverter u (.a(d0), .y(k)); assign res = d1[k];",
    "`define P + \nassign res = d1 `P 4'd0;",
    "wand [3:0] w; assign w = d1; assign w = d1; assign res = w;",
    "tri [3:0] w; assign w = d1; assign res = w;",
    "assign res = d1 == d1 ? d1 : d0;",
    "assign res = d1 << 0;",
    "Other u (d1, res);",  # no such module
    "assign res = d0;",
    "inverter u (.a(d1), .y(res));",
    "adder u (.a(d0), .b(d1), .cin(1'b0), .y(res));",  # the last step is missing
    "wire [3:0] n; inverter u (.a(d1), .y(n)); adder v (.a(n), .b(4'd0), .cin(1'b1), .y(res));",
    "initial res = d1;",
    "if (d1) assign res = d1; else assign res = d0;",
    "",
]


@pytest.mark.parametrize("body", BODIES)
def test_anything_but_instances_and_anything_wrong_earns_nothing(body):
    task, problem = problem_of(SMALL)
    assert task.verify(problem, f"{HEAD}{body}\nendmodule").score == 0.0


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "module TopModule;",
        HEAD,
        f"{HEAD}assign res = d1;\nendmodule\nmodule Spare; endmodule",
        (
            f"module Pass (input [3:0] a, output [3:0] y); assign y = a + 0; endmodule\n{HEAD}"
            "Pass u (d1, res);\nendmodule"
        ),
        # A given module, changed.
        SMALL.given().replace("~a", "a") + f"{HEAD}inverter u (.a(d1), .y(res));\nendmodule",
        SMALL.given(),
        f"{HEAD}assign res = d1;\nendmodule\n`default_nettype none",
        f"{HEAD}assign res = d1;\nendmodule".replace("TopModule", "Top"),
    ],
)
def test_other_modules_earn_nothing(answer):
    task, problem = problem_of(SMALL)
    assert task.verify(problem, answer).score == 0.0


def test_every_operator_is_refused_between_signals():
    operators = [
        "+",
        "-",
        "*",
        "/",
        "%",
        "&",
        "|",
        "^",
        "~^",
        "&&",
        "||",
        "==",
        "!=",
        "<",
        ">",
        "<=",
        ">=",
        "<<",
        ">>",
        ">>>",
        "<<<",
        "===",
        "!==",
        "**",
        "~&",
        "~|",
    ]
    for operator in operators:
        text = f"{HEAD}assign res = d0 {operator} d1;\nendmodule"
        assert "operator" in not_structural(list(tokens(text))), operator
    for operator in ["!", "~", "&", "|", "^", "-", "+", "~&", "~|", "~^"]:
        text = f"{HEAD}assign res = {operator} d1;\nendmodule"
        assert "operator" in not_structural(list(tokens(text))), operator


def test_the_narrow_arithmetic_is_half_as_wide():
    task = HierarchicalDesignTask(HierarchicalDesignConfig(width=6, narrow=True))
    found = {task.generate(stream("narrow", seed)).given for seed in range(5)}
    assert all("input [2:0]" in given for given in found)


def test_each_difficulty_adds_a_kind_of_step():
    kinds = [HierarchicalDesignConfig.at(d).kinds for d in range(0, 13, 2)]
    assert all(one < other for one, other in itertools.pairwise(kinds))


@pytest.mark.parametrize("knobs", [{"steps": 0}, {"kinds": 8}, {"width": 1}, {"width": 9}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        HierarchicalDesignConfig(**knobs)
