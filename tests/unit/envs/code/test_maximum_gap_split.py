"""MaximumGapSplit: its solutions against every way to cut, its judge against cheats."""

import itertools

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.maximum_gap_split import MaximumGapSplitTask
from rlvr_envs.generators.program_tasks.check import check_program
from rlvr_envs.generators.program_tasks.program_task import ProgramConfig, scale_at

PROGRAM = MaximumGapSplitTask.program


def best(numbers, width, longest, cap, price, most):
    """Try every set of places to cut at."""
    totals = []
    for count in range(min(most or len(numbers), len(numbers) - 1) + 1):
        for cuts in itertools.combinations(range(1, len(numbers)), count):
            ends = (0, *cuts, len(numbers))
            if all(width <= b - a <= (longest or b) for a, b in itertools.pairwise(ends)):
                worth = [min(abs(numbers[cut] - numbers[cut - 1]), cap) - price for cut in cuts]
                totals.append(sum(worth))
    return max(totals)


def test_the_solutions_find_what_trying_everything_finds():
    found = set()
    for seed in range(60):
        rng = stream("numbers", seed)
        scale = scale_at(PROGRAM, 6) | {"rules": seed % 4}
        constants = PROGRAM.constants(rng, scale)
        numbers = PROGRAM.inputs(rng, scale, constants)["numbers"][:12]
        wanted = best(numbers, **constants)
        assert [solution(numbers, **constants) for solution in PROGRAM.solutions] == [wanted] * 2
        found.add(wanted)
    assert len(found) > 20


def test_the_parts_fit_together():
    assert check_program(PROGRAM).levels >= 5


@pytest.mark.parametrize("level", [6, 12])
def test_programs_that_leave_something_out_fail(level):
    task = MaximumGapSplitTask(ProgramConfig(level=level))
    problem = task.generate(stream("judge", level))
    right = task.solve(problem)
    assert task.verify(problem, right).score == 1.0
    constants = dict(problem.constants)
    for name in ("width", "price"):
        wrong = right.replace(
            f"    {name}={constants[name]},", f"    {name}={constants[name] + 1},"
        )
        assert wrong != right
        assert task.verify(problem, wrong).score == 0.0
    known = {example.stdin: example.stdout for example in problem.shown}
    table = f"import sys\nprint({known!r}.get(sys.stdin.read(), '0'))"
    for wrong in (table, "print(0)", "import os; os._exit(0)", "", "print(input())"):
        assert task.verify(problem, wrong).score == 0.0


def test_examples_say_something():
    for difficulty in (0, 5, 8, 10):
        task = MaximumGapSplitTask(ProgramConfig.at(difficulty))
        shown = [task.generate(stream("shown", seed)).shown for seed in range(10)]
        outputs = [{example.stdout for example in each} for each in shown]
        assert sum(len(each) == 2 for each in outputs) >= 9
        assert {"0"} not in outputs


def test_baseline_prints_what_the_last_example_prints():
    task = MaximumGapSplitTask(ProgramConfig.at(0))
    problem = task.generate(stream("baseline", 0))
    assert task.baseline(stream("rng"), problem) == f"print({problem.shown[-1].stdout!r})"
