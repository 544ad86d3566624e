"""WeightedIntervalScheduling: its solutions against every set of jobs, its judge against cheats."""

import itertools

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.weighted_interval_scheduling import WeightedIntervalSchedulingTask
from rlvr_envs.generators.program_tasks.check import check_program
from rlvr_envs.generators.program_tasks.program_task import ProgramConfig, scale_at

PROGRAM = WeightedIntervalSchedulingTask.program


def best(jobs, rest, fee, every):
    """Try every set of jobs, in the order of days."""
    totals = [0]
    for size in range(1, len(jobs) + 1):
        for chosen in itertools.combinations(sorted(jobs), size):
            if all(b[0] >= a[1] + 1 + rest for a, b in itertools.pairwise(chosen)):
                pays = [pay * (1 + (n % every == 0)) for n, (_, _, pay) in enumerate(chosen, 1)]
                totals.append(sum(pays) - fee * size)
    return max(totals)


def test_the_solutions_find_what_trying_everything_finds():
    found = set()
    for seed in range(60):
        rng = stream("jobs", seed)
        scale = scale_at(PROGRAM, 6)
        constants = PROGRAM.constants(rng, scale)
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
    for name in constants:
        wrong = right.replace(
            f"    {name}={constants[name]},", f"    {name}={constants[name] + 1},"
        )
        assert wrong != right
        assert task.verify(problem, wrong).score == 0.0
    known = {example.stdin: example.stdout for example in problem.shown}
    table = f"import sys\nprint({known!r}.get(sys.stdin.read(), '0'))"
    for wrong in (table, "print(0)", "import os; os._exit(0)", "", "print(input())"):
        assert task.verify(problem, wrong).score == 0.0
