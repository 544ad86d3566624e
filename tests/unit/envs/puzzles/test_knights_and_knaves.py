"""Knights and knaves: every cast by plain evaluation, uniqueness by z3, forms, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.knights_and_knaves import (
    KnightsAndKnavesConfig,
    KnightsAndKnavesProblem,
    KnightsAndKnavesTask,
    Statement,
    _pinned,
)
from rlvr_envs.generators.logic.formulas import read_formula, truth_table

BOTH_KNAVES = KnightsAndKnavesProblem(
    ("Ada", "Ben", "Cleo"),
    (
        Statement(1, "(and (not 1) (not 2))"),
        Statement(2, "(exactly-1 1 2 3)"),
        Statement(3, "(if 2 1)"),
    ),
    ("Ben",),
)


def as_z3(formula, people):
    z3 = pytest.importorskip("z3")
    if formula.operator == "atom":
        return people[formula.number - 1]
    parts = [as_z3(part, people) for part in formula.parts]
    if formula.operator == "exactly":
        return z3.PbEq([(part, 1) for part in parts], formula.number)
    build = {
        "not": z3.Not,
        "and": z3.And,
        "or": z3.Or,
        "xor": z3.Xor,
        "if": z3.Implies,
        "iff": lambda a, b: a == b,
    }
    return build[formula.operator](*parts)


@pytest.mark.parametrize("difficulty", [0, 2, 4, 6])
def test_another_solver_finds_the_one_cast(difficulty):
    z3 = pytest.importorskip("z3")
    task = KnightsAndKnavesTask(KnightsAndKnavesConfig.at(difficulty))
    for seed in range(4):
        problem = task.generate(stream("Knights", seed))
        people = z3.Bools(" ".join(problem.names))
        solver = z3.Solver()
        for said in problem.statements:
            solver.add(people[said.speaker - 1] == as_z3(read_formula(said.claim), people))
        assert solver.check() == z3.sat
        model = solver.model()
        cast = [bool(model.eval(person, model_completion=True)) for person in people]
        names = [name for name, knight in zip(problem.names, cast, strict=True) if knight]
        assert tuple(names) == problem.knights
        solver.add(z3.Or([p != k for p, k in zip(people, cast, strict=True)]))
        assert solver.check() == z3.unsat


@pytest.mark.parametrize("seed", range(12))
def test_every_cast_but_one_is_wrong(seed):
    task = KnightsAndKnavesTask(KnightsAndKnavesConfig.at(1 + seed % 3))
    problem = task.generate(stream("Knights", "casts", seed))
    right = [
        cast
        for k in range(1, len(problem.names) + 1)
        for cast in itertools.combinations(problem.names, k)
        if task.verify(problem, ", ".join(cast)).score == 1.0
    ]
    assert right == [problem.knights]


def fitting_casts(problem, statements):
    """The casts under which each statement is true just if its speaker is a knight."""
    people = range(1, len(problem.names) + 1)
    for cast in itertools.product((0, 1), repeat=len(problem.names)):
        row = (1, *cast)
        if all(truth_table(read_formula(s.claim), row) == row[s.speaker] for s in statements):
            yield {i for i in people if row[i]}


@pytest.mark.parametrize("seed", range(4))
def test_no_statement_settles_anybody_and_none_is_spare(seed):
    problem = KnightsAndKnavesTask(KnightsAndKnavesConfig.at(3)).generate(stream("Knights", seed))
    everyone = set(range(1, len(problem.names) + 1))
    for statement in problem.statements:
        casts = list(fitting_casts(problem, [statement]))
        assert set.union(*casts) == everyone
        assert not set.intersection(*casts)
        others = [other for other in problem.statements if other != statement]
        assert len(list(fitting_casts(problem, others))) > 1
    assert len(list(fitting_casts(problem, problem.statements))) == 1


def test_effort_is_the_positions_of_a_search():
    # "We are both knaves" is a lie, so Ben is a knight: the root, Ben a knight, Ada a knave.
    problem = KnightsAndKnavesProblem(
        ("Ada", "Ben"), (Statement(1, "(and (not 1) (not 2))"),), ("Ben",)
    )
    assert KnightsAndKnavesTask(KnightsAndKnavesConfig()).effort(problem) == 3


def test_the_baseline_names_people():
    task = KnightsAndKnavesTask(KnightsAndKnavesConfig())
    answers = {task.baseline(stream("knights", seed), BOTH_KNAVES) for seed in range(100)}
    assert len(answers) == 7  # all choices but nobody
    assert all(task.verify(BOTH_KNAVES, answer).status != "unparsable" for answer in answers)


def test_statements_of_last_resort_settle_everyone():
    cast = [True, False, False, True]
    pinned = [_pinned(i, 4, cast) for i in range(1, 5)]
    problem = KnightsAndKnavesProblem(("Ada", "Ben", "Cleo", "Dan"), tuple(pinned), ("Ada", "Dan"))
    task = KnightsAndKnavesTask(KnightsAndKnavesConfig())
    right = [
        cast
        for k in range(1, 5)
        for cast in itertools.combinations(problem.names, k)
        if task.verify(problem, " ".join(cast)).score == 1.0
    ]
    assert right == [("Ada", "Dan")]


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("Ben", 1.0),
        ("ben", 1.0),
        ("[Ben]", 1.0),
        ("Ada", 0.0),
        ("Ben, Ben", 0.0),
        ("Ben, Cleo", 0.0),
        ("Ben and Cleo", 0.0),
        ("Ada, Ben and Cleo", 0.0),
        ("Ben is a knight", 0.0),
        ("Ben, Zoe", 0.0),
        ("2", 0.0),
        ("none", 0.0),
        ("Ben," * 5000, 0.0),
    ],
)
def test_forms(answer, score):
    assert KnightsAndKnavesTask(KnightsAndKnavesConfig()).verify(BOTH_KNAVES, answer).score == score


def test_words_of_a_prompt():
    text = KnightsAndKnavesTask(KnightsAndKnavesConfig()).prompt(BOTH_KNAVES)
    assert "You meet Ada, Ben and Cleo." in text
    assert "Ada says: “I am a knave and Ben is a knave.”" in text
    assert "Ben says: “Exactly 1 of Ada, Cleo and me is a knight.”" in text
    counted = dataclasses.replace(
        BOTH_KNAVES,
        statements=(Statement(1, "(exactly-0 1 2 3)"), Statement(3, "(not (exactly-3 2 1 3))")),
    )
    text_of_counts = KnightsAndKnavesTask(KnightsAndKnavesConfig()).prompt(counted)
    assert "Ada says: “None of Ben, Cleo and me is a knight.”" in text_of_counts
    assert "“It is not true that (all of Ben, Ada and me are knights).”" in text_of_counts
    assert "Cleo says: “If Ben is a knight, then Ada is a knight.”" in text


@pytest.mark.parametrize(
    ("claim", "explained"),
    [
        ("(and 1 2)", []),
        ("(xor 1 2)", []),
        ("(or 1 2)", ["“X or Y” is"]),
        ("(if 1 (or 2 3))", ["“X or Y” is", "“If X, then Y” is", "Parentheses"]),
        ("(not (iff 1 2))", ["“X if and only if Y” is", "Parentheses"]),
    ],
)
def test_only_the_connectives_that_occur_are_explained(claim, explained):
    problem = dataclasses.replace(BOTH_KNAVES, statements=(Statement(1, claim),))
    text = KnightsAndKnavesTask(KnightsAndKnavesConfig()).prompt(problem)
    notes = ("“X or Y” is", "“If X, then Y” is", "“X if and only if Y” is", "Parentheses")
    assert [note for note in notes if note in text] == explained


@pytest.mark.parametrize("knob", [{"n_people": 1}, {"n_people": 23}, {"n_parts": 1}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        KnightsAndKnavesConfig(**knob)
