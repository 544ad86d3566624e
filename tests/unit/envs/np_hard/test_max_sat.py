"""Maximum satisfiability: the whole small world, exploits of other suites, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.max_sat import MaxSatConfig, MaxSatProblem, MaxSatTask
from rlvr_envs.generators.optimisation.task import Reference

TASK = MaxSatTask(dataclasses.replace(MaxSatConfig.at(0), scheme="ratio"))
# 1 and 2 true and 3 false satisfies all; all true and all false each miss two clauses.
SMALL = MaxSatProblem(
    3, ((1, 2), (-1, 2), (1, -3), (-2, -3), (-1, -3), (1, 3)), Reference(6, 6, True, 4, "1, 2, -3")
)


def assignments(n):
    """All truth values of n variables, as literals."""
    return [
        [v if true else -v for v, true in enumerate(values, start=1)]
        for values in itertools.product((False, True), repeat=n)
    ]


def count(problem, values):
    """The number of satisfied clauses, by the definition."""
    truth = {abs(literal): literal > 0 for literal in values}
    return sum(any(truth[abs(x)] == (x > 0) for x in clause) for clause in problem.clauses)


def test_the_example_by_hand():
    counts = {tuple(values): count(SMALL, values) for values in assignments(3)}
    assert max(counts.values()) == counts[1, 2, -3] == 6
    assert counts[1, 2, 3] == counts[-1, -2, -3] == 4


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("MaxSat", seed))
    n = problem.n_variables
    counts = {tuple(values): count(problem, values) for values in assignments(n)}
    best = max(counts.values())
    constant = max(counts[tuple(range(1, n + 1))], counts[tuple(range(-1, -n - 1, -1))])
    assert constant < best
    assert (problem.reference.objective, problem.reference.bound) == (best, best)
    assert problem.reference.trivial == constant
    for values, satisfied in counts.items():
        verdict = TASK.verify(problem, ", ".join(map(str, values)))
        assert verdict.score == pytest.approx(max(0, satisfied - constant) / (best - constant))
        assert (verdict.score == 1.0) == (satisfied == best)


@pytest.mark.parametrize("seed", range(4))
def test_the_reference_is_the_best_of_a_thousand_assignments(seed):
    task = MaxSatTask(MaxSatConfig(n_variables=9, n_clauses=60))
    problem = task.generate(stream("MaxSat", "nine", seed))
    assert len(set(problem.clauses)) == 60
    assert all(len({abs(literal) for literal in clause}) == 3 for clause in problem.clauses)
    assert problem.reference.objective == max(count(problem, v) for v in assignments(9))
    assert problem.reference.proven


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 2, -3", 1.0),
        ("[-3 1 2]", 1.0),
        ("+1, +2, -3", 1.0),
        ("1, 2, \u22123", 1.0),
        ("1 \u20132 \u20133", 0.5),
        ("1, -2, -3", 0.5),
        ("1, 2, 3", 0.0),  # the baseline
        ("-1, -2, -3", 0.0),
        ("1, 2", 0.0),
        ("1, 2, -3, 3", 0.0),  # both values of a variable
        ("1, -1, 2, -2, 3, -3", 0.0),
        ("1, 1, 2, -3", 0.0),
        ("1, 2, -3, 4", 0.0),
        ("0, 1, 2, -3", 0.0),
        ("1, 2, -0", 0.0),
        ("1.0, 2.0, -3.0", 1.0),
        ("true, true, false", 0.0),
        ("1, 2, --3", 0.0),
        ("[]", 0.0),
        ("1, 2, NaN", 0.0),
        ("1, 2, 1-4", 0.0),
        ("1, 2, -3 or 1, 2, 3", 0.0),
        ("1," * 4000 + "2", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_clauses_for_a_variable_rise_to_five():
    configs = [MaxSatConfig.at(level) for level in (0, 2, 5, 8, 10, 20)]
    share = [round(config.n_clauses / config.n_variables, 1) for config in configs]
    assert share == sorted(share)
    assert share[-1] == 5.0


@pytest.mark.parametrize(
    "knobs",
    [
        {"clause_size": 1},
        {"clause_size": 6},
        {"clause_size": 4, "n_variables": 3},
        {"n_clauses": 3},
        {"n_clauses": 2001, "n_variables": 400},
        {"n_variables": 401},
        {"n_clauses": 17, "n_variables": 4},
    ],
)
def test_config_is_checked(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        MaxSatConfig(**knobs)


@pytest.mark.parametrize("seed", range(3))
def test_greedy_keeps_its_promise_and_its_neighbours_are_answers(seed):
    rng = stream("MaxSat", "moves", seed)
    problem = MaxSatTask(MaxSatConfig.at(4)).generate(rng)
    answer = TASK.baseline(stream("baseline"), problem)
    assert TASK.measure(problem, answer) >= 7 / 8 * len(problem.clauses)
    moved = {TASK.neighbour(problem, answer, rng) for _ in range(40)}
    assert len(moved) > 5
    for other in moved:
        assert TASK.verify(problem, other).parts["feasible"] == 1.0


def test_the_baseline_of_the_small_problem():
    # 3 clauses to 2, then 1 to 1, then 0 to 2
    assert TASK.baseline(stream("baseline"), SMALL) == "1, 2, -3"
