"""What problems about designs cost, and what simple answers to them are."""

from dataclasses import replace

import pytest

import rlvr_envs
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.hardware.sizes import writing_effort


def drawn(name, difficulty=1, **knobs):
    row = rlvr_envs.make_problem(f"rlvr/{name}-v0", seed=1, difficulty=difficulty, **knobs)
    found = Instance.from_row(row)
    return found.task, found.problem


def test_a_design_costs_its_easier_writing_and_zeros_are_wrong():
    task, problem = drawn("Fifo")
    efforts = [writing_effort(problem.golden), writing_effort(problem.alternative)]
    assert task.effort(problem) == min(efforts) < max(efforts)
    verdict = task.verify(problem, task.baseline(stream("b"), problem))
    assert (verdict.score, verdict.parts["ports"]) == (0.0, 1.0)


@pytest.mark.parametrize("name", ["TruthTable", "BooleanCircuit"])
def test_a_function_costs_its_rows_or_gates(name):
    task, problem = drawn(name, 4)
    assert task.effort(problem) == writing_effort(problem.golden)


def test_each_parameter_and_instance_counts():
    task, problem = drawn("ParameterisedModule", parameters=3, instances=2)
    efforts = [writing_effort(problem.golden), writing_effort(problem.alternative)]
    assert task.effort(problem) == 5 * min(efforts)


def test_a_gap_costs_more_the_more_is_missing():
    task, problem = drawn("VerilogCompletion", 6)
    everything = replace(problem, source="")
    nothing = replace(problem, source=problem.whole)
    whole = writing_effort(problem.whole)
    assert task.effort(nothing) < task.effort(problem) < task.effort(everything) == whole
    assert task.effort(nothing) == pytest.approx(whole / 10)
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0


def test_a_repair_costs_the_module_for_each_mistake_and_for_no_run():
    task, problem = drawn("VerilogRepair", 2)
    assert problem.trace
    assert task.effort(problem) == problem.bugs * writing_effort(problem.source)
    without = replace(problem, trace="")
    assert task.effort(without) == task.effort(problem) + writing_effort(problem.source)
    assert task.baseline(stream("b"), problem) == problem.source
    assert task.verify(problem, problem.source).score == 0.0


def test_an_optimisation_costs_the_share_of_what_can_be_saved():
    task, problem = drawn("VerilogOptimisation")
    half = replace(problem, cells=30, budget=20, best_cells=10)
    assert task.effort(half) == writing_effort(problem.best) / 2
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0


def test_a_translation_costs_more_for_a_style_further_away():
    task, problem = drawn("VerilogTranslation")
    gates = replace(problem, style="structural")
    assert task.effort(gates) == 6 * writing_effort(problem.source)
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0


def test_a_test_costs_its_faults_and_the_rows_that_are_scarce():
    task, problem = drawn("TestbenchWriting")
    known = problem.table.count("\n")
    tight, loose = replace(problem, rows=known), replace(problem, rows=2 * known)
    assert task.effort(tight) == len(problem.faulty) * writing_effort(problem.golden)
    assert task.effort(loose) == task.effort(tight) / 2
    verdict = task.verify(problem, task.baseline(stream("b"), problem))
    assert verdict.parts["rows"] == 1


def test_a_monitor_costs_double_where_cells_are_limited_and_silence_finds_nothing():
    task, problem = drawn("MonitorWriting")
    assert problem.budget == 0
    assert task.effort(replace(problem, budget=9)) == 2 * task.effort(problem)
    verdict = task.verify(problem, task.baseline(stream("b"), problem))
    assert (verdict.score, verdict.parts["sound"]) == (0.0, 1.0)


def test_a_dialogue_of_silent_modules_uses_all_attempts():
    task, problem = drawn("VerilogDialogue")
    actions = task.baseline(stream("b"), problem)
    assert len(actions) == problem.attempts
    assert task.replay(problem, actions).score == 0.0


def test_a_row_of_a_file_costs_its_reference():
    found = rlvr_envs.make_problem("rlvr/VerilogDataset-v0", seed=1)
    instance = Instance.from_row(found)
    task, problem = instance.task, instance.problem
    assert task.effort(problem) == writing_effort(problem.golden) > 0
    assert task.verify(problem, task.baseline(stream("b"), problem)).score == 0.0
