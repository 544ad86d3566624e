"""VerilogRepair: what is broken is broken, and only a right module mends it."""

import dataclasses
from itertools import pairwise

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import public_view
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog import verilog_repair
from rlvr_envs.envs.verilog.verilog_repair import VerilogRepairConfig, VerilogRepairTask


def drawn(difficulty, seed, **knobs):
    config = dataclasses.replace(VerilogRepairConfig.at(difficulty), **knobs)
    task = VerilogRepairTask(config)
    return task, task.generate(stream("repair", difficulty, seed))


@pytest.mark.parametrize("difficulty", [0, 2, 4, 7, 10])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_bugs_matter_and_can_be_mended(difficulty, seed):
    task, problem = drawn(difficulty, seed)
    verdict = task.verify(problem, f"// mended\n{problem.source}\nmodule Unused; endmodule")
    assert verdict.score == 0.0
    assert verdict.parts["ports"] == 1.0
    assert "differently" in verdict.detail
    assert task.verify(problem, problem.repaired).score == 1.0
    assert task.verify(problem, problem.golden).score == 1.0


def test_the_text_as_shown_earns_nothing_whatever_is_paid():
    task, problem = drawn(3, 5, reward="graded")
    for answer in (problem.source, f"// a try\n{problem.source.replace(' ', '  ')}"):
        verdict = task.verify(problem, answer)
        assert verdict.score == 0.0
        assert "was shown" in verdict.detail
    assert task.verify(problem, problem.repaired).score == 1.0


def test_bugs_are_put_in_one_after_another(monkeypatch):
    steps = []
    mutate = verilog_repair.mutate

    def recorded(source, rng):
        steps.append((source, mutate(source, rng)))
        return steps[-1][1]

    monkeypatch.setattr(verilog_repair, "mutate", recorded)
    task, problem = drawn(2, 3, bugs=3)
    taken = [mutant for (_, mutant), (source, _) in pairwise(steps) if source == mutant]
    assert steps[0][0] == problem.repaired
    assert len(taken) == 2
    assert steps[-1][1] == problem.source
    assert problem.bugs == 3
    assert "3 mistakes" in task.prompt(problem)


def test_where_no_mutant_can_be_told_an_output_is_inverted(monkeypatch):
    monkeypatch.setattr(verilog_repair, "mutate", lambda source, rng: source)
    task, problem = drawn(1, 0, bugs=2)
    assert problem.bugs == 1
    assert "Inner" in problem.source
    assert task.verify(problem, problem.source + " module Unused; endmodule").score == 0.0
    assert task.verify(problem, problem.repaired).score == 1.0


def test_the_run_is_shown_at_low_levels_alone():
    task, problem = drawn(3, 1)
    assert problem.trace
    assert problem.trace in task.prompt(problem)
    task, problem = drawn(4, 1)
    assert problem.trace == ""
    assert "simulation it went wrong" not in task.prompt(problem)


def test_nothing_public_holds_a_right_module():
    for seed in range(4):
        task, problem = drawn(3, seed)
        for value in public_view(problem).values():
            assert problem.golden.strip() not in str(value)
            assert problem.repaired.strip() not in str(value)
        blocks = task.prompt(problem).split("```")[1::2]
        assert [task.verify(problem, block.removeprefix("verilog")).score for block in blocks] == [
            0.0 for _ in blocks
        ]


def test_the_same_seed_breaks_the_same_way():
    assert drawn(4, 9)[1] == drawn(4, 9)[1]


def test_designs_can_be_of_one_family():
    _, problem = drawn(2, 0, families=("Lfsr-v0",))
    assert "LFSR" in problem.description


@pytest.mark.parametrize(
    ("knobs", "named"),
    [
        ({"level": -1}, "level"),
        ({"bugs": 0}, "bugs"),
        ({"bugs": 10}, "bugs"),
        ({"families": ("Lfsr-v9",)}, "Lfsr-v0"),
        ({"reward": "grade"}, "graded"),
    ],
)
def test_knobs_out_of_range_are_refused(knobs, named):
    with pytest.raises(ConfigError, match=named):
        VerilogRepairConfig(**knobs)
