"""WeightedIntervalScheduling: its solutions against every set of jobs, its judge against cheats."""

import itertools

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.weighted_interval_scheduling import WeightedIntervalSchedulingTask
from rlvr_envs.generators.code_length import code_length
from rlvr_envs.generators.program_tasks.check import check_program
from rlvr_envs.generators.program_tasks.program_task import ProgramConfig, scale_at, stated

PROGRAM = WeightedIntervalSchedulingTask.program


def best(jobs, rest, fee, every, most):
    """Try every set of jobs, in the order of days."""
    totals = [0]
    for size in range(1, (most or len(jobs)) + 1):
        for chosen in itertools.combinations(sorted(jobs), size):
            if all(b[0] >= a[1] + 1 + rest for a, b in itertools.pairwise(chosen)):
                double = [every and n % every == 0 for n in range(1, size + 1)]
                pays = [job[2] * (2 if two else 1) for job, two in zip(chosen, double, strict=True)]
                totals.append(sum(pays) - fee * size)
    return max(totals)


def test_the_solutions_find_what_trying_everything_finds():
    found = set()
    for seed in range(60):
        rng = stream("jobs", seed)
        scale = scale_at(PROGRAM, 6) | {"rules": seed % 4}
        constants = PROGRAM.constants(rng, scale)
        if constants["most"]:
            constants |= {"most": seed % 3 + 1}  # a limit that matters for nine jobs
        jobs = PROGRAM.inputs(rng, scale, constants)["jobs"][:9]
        wanted = best(jobs, **constants)
        assert [solution(jobs, **constants) for solution in PROGRAM.solutions] == [wanted] * 2
        found.add(wanted)
    assert len(found) > 30


def test_the_parts_fit_together():
    assert check_program(PROGRAM).levels >= 5


@pytest.mark.parametrize("level", [4, 10])
def test_programs_that_leave_something_out_fail(level):
    task = WeightedIntervalSchedulingTask(ProgramConfig(level=level))
    problem = task.generate(stream("judge", level))
    right = task.solve(problem)
    assert task.verify(problem, right).score == 1.0
    constants = dict(problem.constants)
    for name in filter(constants.get, constants):
        wrong = right.replace(
            f"    {name}={constants[name]},", f"    {name}={constants[name] + 1},"
        )
        assert wrong != right
        assert task.verify(problem, wrong).score == 0.0
    known = {example.stdin: example.stdout for example in problem.shown}
    table = f"import sys\nprint({known!r}.get(sys.stdin.read(), '0'))"
    for wrong in (table, "print(0)", "import os; os._exit(0)", "", "print(input())"):
        assert task.verify(problem, wrong).score == 0.0


@pytest.mark.parametrize("difficulty", [4, 8])
def test_two_more_is_not_double(difficulty):
    task = WeightedIntervalSchedulingTask(ProgramConfig.at(difficulty))
    for seed in range(4):
        problem = task.generate(stream("double", seed))
        wrong = task.solve(problem).replace("2 * pay if", "2 + pay if")
        assert "2 + pay if" in wrong
        assert task.verify(problem, wrong).score == 0.0


def test_rules_come_in_level_by_level():
    seen = []
    for difficulty in (0, 4, 7):
        task = WeightedIntervalSchedulingTask(ProgramConfig.at(difficulty))
        prompt = task.prompt(task.generate(stream("rules", 0)))
        seen.append(("pays double" in prompt, "at most" in prompt.split("The program reads")[0]))
    assert seen == [(False, False), (True, False), (True, True)]


def test_effort_and_baseline():
    task = WeightedIntervalSchedulingTask(ProgramConfig.at(0))
    problem = task.generate(stream("effort", 0))
    last = problem.shown[-1].stdout
    assert task.baseline(stream("baseline"), problem) == f"print({last!r})"
    words = code_length(stated(PROGRAM, dict(problem.constants)))
    lengths = [len(test.stdin.split()) for test in problem.tests]
    assert task.effort(problem) == words * len(f"{max(lengths):b}")
