"""CP-SAT under a budget of work: optima, bounds, counts, and a missing package."""

import itertools
import sys

import pytest

from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.instance import Instance
from rlvr_envs.solvers import cp_sat

WEIGHTS = tuple((i * 37) % 41 + 5 for i in range(12))
VALUES = tuple((i * 53) % 47 + 3 for i in range(12))


def subset(sense, limit):
    """A model of choosing items: the most valuable within a limit, or the cheapest beyond it."""
    model = cp_sat.new_model()
    taken = [model.new_bool_var("") for _ in WEIGHTS]
    weight = sum(w * x for w, x in zip(WEIGHTS, taken, strict=True))
    value = sum(v * x for v, x in zip(VALUES, taken, strict=True))
    if sense == "max":
        model.add(weight <= limit)
        model.maximize(value)
    else:
        model.add(weight >= limit)
        model.minimize(value)
    return model, taken


@pytest.mark.parametrize(("sense", "best"), [("max", max), ("min", min)])
@pytest.mark.parametrize("limit", [20, 77, 140])
def test_the_optimum_is_that_of_all_subsets(sense, best, limit):
    model, taken = subset(sense, limit)
    solved = cp_sat.solve(model, taken, budget=1)
    worths = []
    for chosen in itertools.product((0, 1), repeat=len(WEIGHTS)):
        weight = sum(w * x for w, x in zip(WEIGHTS, chosen, strict=True))
        if (weight <= limit) if sense == "max" else (weight >= limit):
            worths.append(sum(v * x for v, x in zip(VALUES, chosen, strict=True)))
    assert (solved.objective, solved.bound, solved.proven) == (best(worths), best(worths), True)
    assert sum(v * x for v, x in zip(VALUES, solved.values, strict=True)) == solved.objective


def hard_model(sense):
    """Too much for a short budget: many loads on two machines, the longer or shorter one counts."""
    model = cp_sat.new_model()
    sizes = [1_000_003 + (i * 7_919) % 999_983 for i in range(60)]
    sides = [[model.new_bool_var("") for _ in sizes] for _ in range(4)]
    for row in zip(*sides, strict=True):
        model.add_exactly_one(row)
    top = model.new_int_var(0, sum(sizes), "")
    for side in sides:
        load = sum(s * x for s, x in zip(sizes, side, strict=True))
        if sense == "min":
            model.add(load <= top)
        else:
            model.add(load >= top)
    if sense == "min":
        model.minimize(top)
    else:
        model.maximize(top)
    for size_index, row in enumerate(zip(*sides, strict=True)):
        for side_index, variable in enumerate(row):
            model.add_hint(variable, size_index % 4 == side_index)
    return model, top


@pytest.mark.parametrize("sense", ["min", "max"])
def test_a_bound_lies_beyond_an_unproven_objective(sense):
    found = [cp_sat.solve(*hard(sense), budget=0.02) for hard in (_hard, _hard)]
    assert found[0] == found[1]  # the same work, the same result
    (solved, _) = found
    assert not solved.proven
    assert solved.bound < solved.objective if sense == "min" else solved.bound > solved.objective
    assert solved.effort > 0


def _hard(sense):
    model, top = hard_model(sense)
    return model, [top]


def test_solutions_are_counted_up_to_a_limit():
    def model():
        found = cp_sat.new_model()
        variables = [found.new_int_var(0, 2, "") for _ in range(3)]
        found.add(sum(variables) == 3)
        return found, variables

    expected = sum(sum(row) == 3 for row in itertools.product(range(3), repeat=3))
    assert cp_sat.count_solutions(*model(), limit=100, budget=1) == expected
    assert cp_sat.count_solutions(*model(), limit=2, budget=1) == 2


def test_a_model_without_objective_is_solved():
    model = cp_sat.new_model()
    number = model.new_int_var(3, 3, "")
    solved = cp_sat.solve(model, [number], budget=1)
    assert (solved.values, solved.proven, solved.objective) == ((3,), True, 0)


def test_an_infeasible_model_is_an_error():
    model = cp_sat.new_model()
    number = model.new_int_var(0, 3, "")
    model.add(number > 5)
    with pytest.raises(ConfigError, match="infeasible"):
        cp_sat.solve(model, [number], budget=1)


@pytest.mark.parametrize("budget", [0, -1, float("inf"), float("nan")])
def test_a_budget_is_positive(budget):
    with pytest.raises(ConfigError, match="budget"):
        cp_sat.solve(*subset("max", 20), budget=budget)


@pytest.mark.parametrize(
    ("task_id", "module", "package"),
    [
        ("rlvr/Knapsack-v0", "ortools.sat.python.cp_model", "ortools"),
        ("rlvr/PuzzleSpec-v0", "z3", "z3-solver"),
        ("rlvr/PuzzleSpec-v0", "yaml", "PyYAML"),
    ],
)
def test_a_missing_package_is_named_and_rows_are_judged_without_it(
    task_id, module, package, monkeypatch
):
    from rlvr_envs.generators.puzzle_specs import spec

    env = TextEnv(task_id, difficulty=1)
    env.reset(seed=0)
    row = env.instance.to_row()
    spec._load.cache_clear()  # where nothing was loaded before
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(DependencyError, match=rf"{package}.*pip install 'ortools>="):
        env.reset(seed=1)
    instance = Instance.from_row(row)
    assert instance.judge(instance.solution()).score == 1.0
    assert instance.judge("no answer").score == 0.0
