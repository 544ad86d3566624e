"""Worked solutions of the code tasks that have one."""

import dataclasses

import pytest

from rlvr_envs.core.env import TextEnv
from rlvr_envs.envs.code.program_repair import ProgramRepairProblem
from rlvr_envs.envs.code.sql_query import SqlQueryTask, _clauses


def drawn(name, level, seed=0, **knobs):
    env = TextEnv(f"rlvr/{name}-v0", difficulty=level, **knobs)
    env.reset(seed=seed)
    return env.instance.task, env.instance.problem


@pytest.mark.parametrize("language", ["python", "perl", "fortran"])
def test_a_run_ends_in_the_output(language):
    for seed in range(6):
        task, problem = drawn("OutputPrediction", 2, seed, language=language)
        last = problem.output.splitlines()[-1]
        assert task.explain(problem)[-1] == f"print {last}."


def test_a_problem_without_its_program_has_no_run():
    task, problem = drawn("OutputPrediction", 1)
    assert task.explain(dataclasses.replace(problem, program="")) == []


def test_a_run_that_is_too_long_is_not_told():
    runs = [drawn("OutputPrediction", 12, seed) for seed in range(8)]
    assert [] in [task.explain(problem) for task, problem in runs]


def test_an_input_is_found_after_simple_ones():
    task, problem = drawn("InputPrediction", 0, 1)
    steps = task.explain(problem)
    assert steps[0] == "See what simple inputs give."
    assert [step.split(":")[0] for step in steps[1:3]] == ["Input 0 0", "Input 1 1"]
    first, second = problem.witness.split()
    assert steps[4:6] == [f"Read a = {first}.", f"Read b = {second}."]
    assert steps[-1] == f"print {problem.output.strip()}."


def test_changes_of_a_program_are_told_from_top_to_bottom():
    task, problem = drawn("ProgramRepair", 0)
    old = "a\n\nb\nc\nd\ne\n"
    new = "a\n\nB\nc\nx\nd\n"
    changed = ProgramRepairProblem("", old, "python", 3, (), (), new)
    assert task.explain(changed)[1:] == [
        *("Line 3 is wrong:", "b", "It should be:", "B"),
        *("Something is missing after line 4.", "It should be:", "x"),
        *("Line 6 is wrong:", "e", "It should not be there."),
    ]
    both = ProgramRepairProblem("", "a\nb\nc\n", "python", 2, (), (), "x\ny\nc\n")
    assert task.explain(both)[1] == "Lines 1 to 2 are wrong:"
    assert task.explain(problem)[1].endswith("wrong:")


def test_clauses_are_told_in_the_order_of_their_effect():
    sql = (
        "SELECT name, (SELECT COUNT(*) FROM b WHERE b.a = a.id) FROM a "
        "WHERE role = 'FROM here (' GROUP BY name ORDER BY 2 LIMIT 3"
    )
    assert _clauses(sql) == {
        "SELECT": "name, (SELECT COUNT(*) FROM b WHERE b.a = a.id)",
        "FROM": "a",
        "WHERE": "role = 'FROM here ('",
        "GROUP BY": "name",
        "ORDER BY": "2",
        "LIMIT": "3",
    }
    for level in range(11):
        task, problem = drawn("SqlQuery", level)
        assert isinstance(task, SqlQueryTask)
        steps = task.explain(problem)
        assert steps[0].startswith("Where the rows come from: FROM ")
        told = {word for step in steps for word in step.split(": ", 1)[1].split()}
        assert told == set(problem.sql.split())
