from dataclasses import replace

import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, SandboxError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog import verilog_optimisation
from rlvr_envs.envs.verilog.verilog_optimisation import (
    VerilogOptimisationConfig,
    VerilogOptimisationProblem,
    VerilogOptimisationTask,
    _enlarged,
    _wasteful,
)
from rlvr_envs.generators.hardware.design import Design, inputs, module, outputs
from rlvr_envs.generators.hardware.families import draw_design
from rlvr_envs.verifiers.hdl.elaborate import elaborate
from rlvr_envs.verifiers.hdl.interface import Clocking, Port
from rlvr_envs.verifiers.hdl.judge import judge

HEADER = "module TopModule(input clk, input rst, input go, output [3:0] n);"
COUNTER = f"""{HEADER.replace("output", "output reg")}
always @(posedge clk) if (rst) n <= 0; else if (go) n <= n + 4'd1;
endmodule
"""


def task(**knobs):
    return VerilogOptimisationTask(VerilogOptimisationConfig(**knobs))


def counter_problem(**changes):
    source = f"""{HEADER}
reg [3:0] one, two;
always @(posedge clk) if (rst) one <= 0; else if (go) one <= one + 4'd1;
always @(posedge clk) if (rst) two <= 0; else if (go) two <= two + 4'd1;
assign n = one & two;
endmodule
"""
    small = elaborate(COUNTER, "TopModule").cells
    large = elaborate(source, "TopModule").cells
    problem = VerilogOptimisationProblem(
        description="a counter",
        source=source,
        cells=large,
        budget=small + (large - small) // 2,
        ports=(
            Port("clk", "input"),
            Port("rst", "input"),
            Port("go", "input"),
            Port("n", "output", 4),
        ),
        clocking=Clocking("clk", "rst"),
        reward="equivalence",
        best=COUNTER,
        best_cells=small,
    )
    return replace(problem, **changes)


@pytest.mark.parametrize(
    "difficulty", [0, 5, *(pytest.param(d, marks=pytest.mark.slow) for d in (2, 8, 12))]
)
def test_the_best_writing_fits_and_the_one_shown_does_not(difficulty):
    made = VerilogOptimisationTask(VerilogOptimisationConfig.at(difficulty))
    for seed in range(4):
        problem = made.generate(stream("optimisation", difficulty, seed))
        assert problem.best_cells <= problem.budget < problem.cells
        assert elaborate(problem.source, "TopModule").cells == problem.cells
        assert made.verify(problem, made.solve(problem)).score == 1.0
        shown = made.verify(problem, problem.source)
        assert shown.score == 0.0
        assert shown.detail.startswith("it is equivalent, but it takes"), shown


def test_at_full_demand_the_budget_is_the_best_known_size():
    problem = task(demand=100).generate(stream("demand", 0))
    assert problem.budget == problem.best_cells
    less = task(demand=1).generate(stream("demand", 0))
    assert less.budget == problem.cells - -(-(problem.cells - problem.best_cells) // 100)


def test_another_design_is_drawn_where_none_is_larger(monkeypatch):
    seen = []

    def stubborn(design, best, other):
        seen.append(design.golden)
        return (design.golden, best) if len(seen) < 3 else _wasteful(design, best, other)

    monkeypatch.setattr(verilog_optimisation, "_wasteful", stubborn)
    problem = task(level=0).generate(stream("optimisation", 0))
    assert len(seen) == 3
    assert problem.best == seen[-1]
    assert problem.cells > problem.best_cells
    monkeypatch.setattr(verilog_optimisation, "_wasteful", lambda design, best, _: ("", best))
    with pytest.raises(SandboxError, match="of 16 designs"):
        task(level=0).generate(stream("optimisation", 0))


def test_more_draws_find_designs_that_are_wasteful_by_their_idea():
    def doubled(draws):
        made = task(draws=draws, level=5)
        problems = [made.generate(stream("draws", seed)) for seed in range(12)]
        return sum("SecondPart" in problem.source for problem in problems)

    assert doubled(6) < doubled(1)


def test_the_prompt_says_both_sizes():
    problem = task().generate(stream("prompt", 1))
    prompt = task().prompt(problem)
    assert f"takes {problem.cells} cells" in prompt
    assert f"at most {problem.budget} cells" in prompt
    assert problem.source.strip() in prompt


def test_graded_gives_the_share_of_the_demanded_savings():
    problem = counter_problem()
    tight = replace(problem, budget=problem.best_cells - 4)
    assert task().verify(tight, COUNTER).score == 0.0
    saved, demanded = problem.cells - problem.best_cells, problem.cells - tight.budget
    graded = task().verify(replace(tight, reward="graded"), COUNTER)
    assert graded.score == pytest.approx(saved / demanded)
    assert task().verify(replace(tight, reward="graded"), tight.source).score == 0.0


def test_small_and_wrong_earns_nothing():
    problem = counter_problem(reward="graded")
    assert task().verify(problem, COUNTER).score == 1.0
    for wrong in (
        f"{HEADER} assign n = 0; endmodule",
        COUNTER.replace("if (rst) n <= 0; else ", ""),  # no reset: fewer cells
        COUNTER.replace("n + 4'd1", "n | 4'd1"),
        f"{HEADER} endmodule",
    ):
        assert task().verify(problem, wrong).score == 0.0, wrong


def test_a_clock_of_another_edge_saves_nothing():
    assert task().verify(counter_problem(), COUNTER.replace("posedge", "negedge")).score == 0.0


@pytest.mark.parametrize(
    "name", ["UpDownCounter-v0", "Lfsr-v0", "AdderSubtractor-v0", "PriorityEncoder-v0"]
)
def test_enlarged_writings_do_the_same(name):
    design = draw_design(stream("enlarged", name), 2, (name,))
    cells = elaborate(design.golden, "TopModule").cells
    both, detour = _enlarged(design)
    for source in (both, detour):
        assert judge(source, design.reference).score == 1.0
        assert elaborate(source, "TopModule").cells > cells


def test_a_small_gain_is_taken_where_there_is_no_larger_one():
    # One output bit of many gates, the same in both writings: all but the last gate is shared.
    signals = (*inputs(("a", 24, "")), *outputs(("y", 1, "")))
    source = module(signals, "assign y = ^a;")
    design = Design("a parity", signals, (), source, source)
    found, cells = _wasteful(design, 23, 23)
    assert 23 < cells < 23 * 1.25
    assert judge(found, design.reference).score == 1.0


def test_knobs_out_of_range_are_errors():
    for knobs in (
        {"level": -1},
        {"demand": 0},
        {"demand": 101},
        {"draws": 0},
        {"reward": "cells"},
        {"families": ("Fifo",)},
    ):
        with pytest.raises(ConfigError):
            VerilogOptimisationConfig(**knobs)


def test_it_is_registered_as_a_task_of_verilog():
    spec = registry.find("VerilogOptimisation-v0")
    assert (spec.domain, spec.answer_format) == ("verilog", "fenced:verilog")
