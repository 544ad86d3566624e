"""VerilogCompletion: the gap matters, and any right module fills it."""

import dataclasses

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import public_view
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog import verilog_completion
from rlvr_envs.envs.verilog.verilog_completion import (
    GAP,
    VerilogCompletionConfig,
    VerilogCompletionTask,
)
from rlvr_envs.generators.hardware.syntax import tokens


def drawn(difficulty, seed, **knobs):
    config = dataclasses.replace(VerilogCompletionConfig.at(difficulty), **knobs)
    task = VerilogCompletionTask(config)
    return task, task.generate(stream("completion", difficulty, seed))


def missing(problem):
    """Return the words that the gap takes away; "begin" and "end" may stand in their place."""
    before, after = problem.source.split(GAP)
    rest = len(list(tokens(before))) + len(list(tokens(after)))
    return len(list(tokens(problem.whole))) - rest


@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_gap_matters_and_can_be_filled(difficulty, seed):
    task, problem = drawn(difficulty, seed)
    assert problem.source.count(GAP) == 1
    assert task.verify(problem, problem.source).score == 0.0
    assert task.verify(problem, problem.source.replace(GAP, "")).score == 0.0
    assert task.verify(problem, problem.whole).score == 1.0
    assert task.verify(problem, problem.golden).score == 1.0


def test_the_text_around_the_gap_is_that_of_the_module():
    for seed in range(6):
        _, problem = drawn(4, seed)
        before, after = problem.source.split(GAP)
        before = before.removesuffix("begin ")
        after = after.removeprefix(" end")
        assert problem.whole.startswith(before)
        assert problem.whole.endswith(after)


def test_the_gap_grows():
    sizes = [sum(missing(drawn(5, seed, gap=gap)[1]) for seed in range(6)) for gap in (4, 30, 300)]
    assert sizes[0] < sizes[1] < sizes[2]
    assert all(missing(drawn(5, seed, gap=12)[1]) <= 12 for seed in range(6))


def test_where_no_part_matters_all_of_the_module_is_missing(monkeypatch):
    monkeypatch.setattr(verilog_completion, "refuted", lambda source, reference: None)
    task, problem = drawn(2, 0)
    assert problem.source.split(GAP)[1].strip() == "endmodule"
    assert problem.source.split(GAP)[0].rstrip().endswith(");")
    assert task.verify(problem, problem.source).score == 0.0
    assert task.verify(problem, problem.whole).score == 1.0


def test_nothing_public_holds_what_is_missing():
    for seed in range(4):
        task, problem = drawn(6, seed)
        for value in public_view(problem).values():
            assert problem.golden.strip() not in str(value)
            assert problem.whole.strip() not in str(value)
        blocks = task.prompt(problem).split("```")[1::2]
        assert all(
            task.verify(problem, block.removeprefix("verilog")).score == 0.0 for block in blocks
        )


def test_the_same_seed_leaves_the_same_gap():
    assert drawn(4, 9)[1] == drawn(4, 9)[1]


@pytest.mark.parametrize(
    ("knobs", "named"),
    [({"level": -1}, "level"), ({"gap": 0}, "gap"), ({"families": ("Lfsr",)}, "Lfsr-v0")],
)
def test_knobs_out_of_range_are_refused(knobs, named):
    with pytest.raises(ConfigError, match=named):
        VerilogCompletionConfig(**knobs)
