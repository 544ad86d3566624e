"""Worked solutions of Verilog tasks: rows of truth tables, and places of mistakes."""

import re

import pytest

import rlvr_envs
from rlvr_envs.core.instance import Instance


def worked(name, difficulty, seed):
    """Return the problem of an instance rebuilt from its row, and the steps of its solution."""
    row = rlvr_envs.make_problem(f"rlvr/{name}-v0", seed=seed, difficulty=difficulty)
    found = Instance.from_row(row)
    return found.problem, found.task.explain(found.problem)


@pytest.mark.parametrize("seed", range(6))
def test_rows_of_a_truth_table(seed):
    problem, steps = worked("TruthTable", 0, seed)
    ones = {}
    for name, rows in re.findall(r"`(\w+)` is 1 for n in \{(.*)\} and", "\n".join(steps)):
        ones[name] = {int(row) for row in rows.split(", ") if row}
    head, _, *lines = [line.strip("| ").split(" | ") for line in problem.figure.splitlines()]
    assert set(head) > set(ones) > set()
    for name, rows in ones.items():
        place = head.index(name)
        assert rows == {int(line[0]) for line in lines if line[place] == "1"}


def test_values_are_grouped_from_the_last_row_on():
    _, steps = worked("TruthTable", 6, 1)
    told = re.search(r"down to 0, `\w+` is ([01 ]+), so bit n of (\d+)'h([0-9a-f]+) is", steps[1])
    assert int(told[1].replace(" ", ""), 2) == int(told[3], 16)
    assert len(told[1].replace(" ", "")) == int(told[2])


@pytest.mark.parametrize("difficulty", [0, 4, 8])
def test_fixes_at_the_places_of_mistakes_repair_the_module(difficulty):
    problem, steps = worked("VerilogRepair", difficulty, difficulty)
    lines = problem.source.strip().split("\n")
    places = [step for step in steps if step.startswith("Look at")]
    assert places == steps[: len(steps) // 2]
    for step in steps[len(places) :]:
        match = re.fullmatch(r"In lines? (\d+)(?: to (\d+))? should stand `(.*)`", step)
        first, last = int(match[1]) - 1, int(match[2] or match[1])
        lines[first:last] = [match[3], *[""] * (last - first - 1)]
    assert " ".join(" ".join(lines).split()) == " ".join(problem.repaired.split())
