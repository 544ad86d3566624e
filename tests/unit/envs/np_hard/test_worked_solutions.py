"""Worked solutions of NP-hard tasks: their sums are right and their bounds hold."""

import math
import re
from fractions import Fraction

import pytest

import rlvr_envs
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.registry import task_ids
from rlvr_envs.envs.np_hard.integer_program import STORIES as WHOLE
from rlvr_envs.envs.np_hard.linear_program import STORIES
from rlvr_envs.generators.optimisation.linear_programs import (
    Program,
    Row,
    explained,
    explained_whole,
)


def worked(name, difficulty, seed):
    """Return the problem of an instance rebuilt from its row, and the steps of its solution."""
    row = rlvr_envs.make_problem(f"rlvr/{name}-v0", seed=seed, difficulty=difficulty)
    found = Instance.from_row(row)
    return found.problem, found.task.explain(found.problem)


def numbers(text):
    return [int(number) for number in re.findall(r"-?\d+", text)]


@pytest.mark.parametrize("task_id", task_ids("np_hard"))
@pytest.mark.parametrize("difficulty", [0, 4])
def test_the_last_step_names_the_best_objective(task_id, difficulty):
    name = task_id.removeprefix("rlvr/").removesuffix("-v0")
    problem, steps = worked(name, difficulty, difficulty)
    if name in ("LinearProgram", "IntegerProgram"):
        assert re.search(rf"\b{problem.optimum}\b", steps[-1])
        return
    reference = problem.reference
    assert f" is {reference.objective}, and no " in steps[-1]
    assert ("is possible." in steps[-1]) == reference.proven


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("Knapsack", r"value (\d+)\.$"),
        ("MaxCut", r"in all (\d+)\.$"),
        ("TravelingSalesman", r"in all (\d+)\.$"),
        ("VehicleRouting", r"in all (\d+)\.$"),
        ("SteinerTree", r"in all (\d+)\."),
        ("MinimumBisection", r"the rest is (\d+)\.$"),
        ("GraphEditDistance", r"In all (\d+)\.$"),
        ("MeetingScheduling", r": (\d+) attendees so far"),
    ],
)
def test_running_totals_end_in_the_objective(name, pattern):
    for difficulty in (0, 3, 6):
        problem, steps = worked(name, difficulty, difficulty)
        totals = [int(match[1]) for step in steps if (match := re.search(pattern, step))]
        assert totals[-1] == problem.reference.objective


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("Knapsack", "Take item"),
        ("SubsetSum", "Take "),
        ("BinPacking", "Bin "),
        ("SetCover", "Take set"),
        ("VertexCover", "Take "),
        ("MaximumClique", "Take "),
        ("MaximumIndependentSet", "Take "),
        ("MaximumCommonSubgraph", "Match "),
    ],
)
def test_there_is_a_step_for_each_part_of_the_answer(name, pattern):
    problem, steps = worked(name, 4, 1)
    count = problem.reference.objective
    if name == "Knapsack":
        count = len(numbers(problem.reference.answer))
    assert sum(pattern in step for step in steps) == count


def test_bounds_hold():
    for seed in range(5):
        problem, steps = worked("SubsetSum", 4, seed)
        most = int(re.search(r"no more than (\d+)", steps[0])[1])
        assert most >= problem.reference.objective
        assert sum(sorted(problem.numbers)[: most + 1]) > problem.target
        problem, steps = worked("Knapsack", 4, seed)
        most = int(re.search(r"no choice is worth more than (\d+)", steps[1])[1])
        assert problem.reference.objective <= most < sum(problem.values)
        problem, steps = worked("BinPacking", 4, seed)
        assert f"at least {math.ceil(sum(problem.sizes) / problem.capacity)} bins" in steps[0]
        problem, steps = worked("VertexCover", 4, seed)
        least = int(re.search(r"at least (\d+)", steps[0])[1])
        ends = numbers(steps[0].partition(" share")[0].replace("-", " "))
        assert len(set(ends)) == len(ends) == 2 * least
        problem, steps = worked("GraphColoring", 4, seed)
        together = numbers(steps[0].partition(" are joined")[0])
        edges = set(problem.edges)
        assert all((a, b) in edges or (b, a) in edges for a in together for b in together if a != b)


def test_clauses_are_satisfied_once():
    problem, steps = worked("MaxSat", 4, 2)
    satisfied = [
        i
        for step in steps
        if " satisfies " in step
        for i in numbers(step.partition("satisfies")[2])
    ]
    assert len(satisfied) == len(set(satisfied)) == problem.reference.objective


def test_a_shop_works_without_clashes():
    problem, steps = worked("JobShop", 4, 0)
    busy = {}
    for step in steps[:-1]:
        job, machine, start, end = numbers(step)
        assert end - start == dict(problem.jobs[job - 1])[machine]
        for place in (("job", job), ("machine", machine)):
            assert all(end <= a or b <= start for a, b in busy.setdefault(place, []))
            busy[place].append((start, end))
    assert max(end for spans in busy.values() for _, end in spans) == problem.reference.objective


def multipliers(step, count):
    found = [Fraction(0)] * count
    for value, number in re.findall(r"(-?\d+(?:/\d+)?) times \((\d+)\)", step):
        found[int(number) - 1] = Fraction(value)
    return found


@pytest.mark.parametrize("story", STORIES)
@pytest.mark.parametrize("difficulty", [0, 4, 8])
def test_multipliers_prove_the_optimum_of_a_linear_program(story, difficulty):
    row = rlvr_envs.make_problem(
        "rlvr/LinearProgram-v0", seed=difficulty, difficulty=difficulty, story=story
    )
    problem = Instance.from_row(row).problem
    program = STORIES[story].program(problem.numbers)
    steps = explained(program)
    sign = 1 if program.sense == "max" else -1
    values = multipliers(steps[-1], len(program.rows))
    for row, value in zip(program.rows, values, strict=True):
        assert row.sense == "=" or sign * value * (1 if row.sense == "<=" else -1) >= 0
    for j, cost in enumerate(program.objective):
        total = sum(value * row.weights[j] for row, value in zip(program.rows, values, strict=True))
        assert sign * (total - cost) >= 0
    bound = sum(value * row.bound for row, value in zip(program.rows, values, strict=True))
    assert bound == problem.optimum


def test_a_program_in_symbols():
    program = Program("max", (3, 1, 0), (Row((1, -2, 0), "<=", 4), Row((0, 1, 0), "<=", 1)))
    assert explained(program) == [
        "Call the amounts to choose x1 to x3. Make as large as possible: 3 x1 + x2",
        "(1) x1 - 2 x2 <= 4",
        "(2) x2 <= 1",
        "Take x1 = 6, x2 = 1, and 0 of the rest. This keeps every constraint and gives 19.",
        (
            "Add 3 times (1) and 7 times (2): as no amount is negative, the objective is at most "
            "19, so no plan is better."
        ),
    ]


def test_whole_amounts_are_found_case_by_case():
    program = Program("max", (2, 3), (Row((4, 6), "<=", 9),))
    told = "\n".join(explained_whole(program, 4)[2:])
    assert told == (
        "With any amounts: the optimum is 9/2, with x1 = 9/4, and 0 of the rest. x1 is not whole.\n"
        "Case x1 <= 2: the optimum is 9/2, with x1 = 2, x2 = 1/6, and 0 of the rest. x2 is not "
        "whole.\n"
        "Case x1 <= 2, x2 <= 0: the optimum is 4, with x1 = 2, and 0 of the rest. All are whole: "
        "4 is the best so far.\n"
        "Case x1 <= 2, x2 >= 1: the optimum is 9/2, so whole amounts give nothing better than 4.\n"
        "Case x1 >= 3: no plan keeps every constraint.\n"
        "No case is left, so the best with whole amounts is 4."
    )


@pytest.mark.parametrize("story", WHOLE)
def test_the_best_so_far_ends_at_the_optimum(story):
    row = rlvr_envs.make_problem("rlvr/IntegerProgram-v0", seed=1, difficulty=3, story=story)
    problem = Instance.from_row(row).problem
    steps = explained_whole(WHOLE[story].program(problem.numbers), problem.optimum)
    records = [int(m[1]) for step in steps if (m := re.search(r"(-?\d+) is the best so far", step))]
    if steps[-1].startswith("No case is left"):
        assert records[-1] == problem.optimum
    better = max if WHOLE[story].program(problem.numbers).sense == "max" else min
    assert better([*records, problem.optimum]) == problem.optimum
