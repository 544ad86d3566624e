"""Syllogism: what follows by looking at all worlds, and by z3; forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.syllogism import (
    Statement,
    SyllogismConfig,
    SyllogismProblem,
    SyllogismTask,
    World,
)

BARBARA = SyllogismProblem(
    ("borps", "dufts", "lunds"),
    (Statement("all", (1,), 2), Statement("all", (2,), 3), Statement("some", (2,), -1)),
    (
        Statement("all", (1,), 3),
        Statement("all", (3,), 1),
        Statement("some", (1,), 3),  # there may be no borps
        Statement("some", (3,), -1),
        Statement("no", (1, -3), 2),
    ),
    (1, 4, 5),
)


def concerns(statement, things):
    """The combinations of kinds, as tuples of booleans, that the subject describes."""
    return [t for t in things if all(t[abs(k) - 1] == (k > 0) for k in statement.subject)]


def holds(statement, world):
    of = [t[abs(statement.predicate) - 1] for t in concerns(statement, world)]
    if statement.quantifier == "some":
        return (statement.predicate > 0) in of
    return all(of) if statement.quantifier == "all" else not any(of)


THINGS = list(itertools.product([False, True], repeat=3))
WORLDS = [[t for i, t in enumerate(THINGS) if w >> i & 1] for w in range(256)]


@pytest.mark.parametrize("seed", range(25))
def test_all_worlds_of_three_kinds(seed):
    config = SyllogismConfig(n_terms=3, n_premises=2 + seed % 4, compound_percent=40)
    problem = SyllogismTask(config).generate(stream("Syllogism", seed))
    fitting = [w for w in WORLDS if all(holds(p, w) for p in problem.premises)]
    assert fitting
    following = [
        i for i, c in enumerate(problem.conclusions, 1) if all(holds(c, w) for w in fitting)
    ]
    assert tuple(following) == problem.following
    assert 0 < len(following) < len(problem.conclusions)


@pytest.mark.parametrize("difficulty", [1, 3, 4])
def test_another_solver_agrees(difficulty):
    z3 = pytest.importorskip("z3")
    task = SyllogismTask(SyllogismConfig.at(difficulty))
    for seed in range(3):
        problem = task.generate(stream("Syllogism", "z3", seed))
        things = list(itertools.product([False, True], repeat=len(problem.terms)))
        exists = {thing: z3.Bool(f"t{i}") for i, thing in enumerate(things)}

        def claim(statement, things=things, exists=exists):
            of = concerns(statement, things)
            wanted = (statement.predicate > 0) == (statement.quantifier != "all")
            of = [exists[t] for t in of if t[abs(statement.predicate) - 1] == wanted]
            return z3.Or(of) if statement.quantifier == "some" else z3.Not(z3.Or(of))

        solver = z3.Solver()
        solver.add([claim(premise) for premise in problem.premises])
        assert solver.check() == z3.sat
        following = [
            i
            for i, conclusion in enumerate(problem.conclusions, 1)
            if solver.check(z3.Not(claim(conclusion))) == z3.unsat
        ]
        assert tuple(following) == problem.following


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 4, 5", 1.0),
        ("5 1 4", 1.0),
        ("[1, 4, 5]", 1.0),
        ("1, 4", 0.0),
        ("1, 2, 3, 4, 5", 0.0),
        ("1, 1, 4, 5", 0.0),
        ("1, 4, 5, 6", 0.0),
        ("0, 1, 4, 5", 0.0),
        ("1.5, 4, 5", 0.0),
        ("none", 0.0),
        ("", 0.0),
    ],
)
def test_forms(answer, score):
    assert SyllogismTask(SyllogismConfig()).verify(BARBARA, answer).score == score


def test_words_of_a_prompt():
    text = SyllogismTask(SyllogismConfig()).prompt(BARBARA)
    assert "- All borps are dufts.\n- All dufts are lunds.\n- Some dufts are not borps.\n" in text
    assert "5. No borps that are not lunds are dufts.\n" in text


@pytest.mark.parametrize(
    "knob",
    [
        {"n_terms": 2},
        {"n_terms": 17},
        {"n_premises": 1},
        {"n_conclusions": 1},
        {"compound_percent": -1},
        {"n_premises": 10**30},
        {"n_needed": 5},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        SyllogismConfig(**knob)


def test_effort_counts_the_nodes_of_a_search():
    # Lunds or not; without, neither dufts nor borps; with, dufts or not, and no borps without.
    assert SyllogismTask(SyllogismConfig()).effort(BARBARA) == 10


def test_the_baseline_lists_some_of_the_conclusions():
    task = SyllogismTask(SyllogismConfig())
    answers = {task.baseline(stream("baseline", seed), BARBARA) for seed in range(40)}
    assert {number for answer in answers for number in answer.split(", ")} == set("12345")


def test_what_follows_takes_premises_together():
    config = SyllogismConfig.at(5)
    assert config.n_needed == 3
    problem = SyllogismTask(config).generate(stream("Syllogism", "needed"))
    for number in problem.following:
        conclusion = problem.conclusions[number - 1]
        for pair in itertools.combinations(problem.premises, 2):
            assert not World(len(problem.terms), pair).entails(conclusion)
