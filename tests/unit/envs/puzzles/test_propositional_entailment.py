"""Propositional entailment: what follows by plain evaluation and by z3; forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.propositional_entailment import (
    PropositionalEntailmentConfig,
    PropositionalEntailmentProblem,
    PropositionalEntailmentTask,
)
from rlvr_envs.generators.logic.formulas import read_formula

TASK = PropositionalEntailmentTask(PropositionalEntailmentConfig())
SMALL = PropositionalEntailmentProblem(
    ("lamp:on", "door:open", "bell:silent"),
    ("(if 1 2)", "(or 1 (not 3))", "(xor 2 3)"),
    ("2", "3", "(not 3)", "(if 3 1)", "(and 1 2)", "(iff 1 2)"),
    (1, 3, 4),
)
MEANING = {
    "not": lambda a: not a,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "xor": lambda a, b: a != b,
    "iff": lambda a, b: a == b,
    "if": lambda a, b: b or not a,
}


def value(formula, row):
    if formula.operator == "atom":
        return row[formula.number - 1]
    return MEANING[formula.operator](*(value(part, row) for part in formula.parts))


@pytest.mark.parametrize("seed", range(12))
def test_every_answer(seed):
    task = PropositionalEntailmentTask(PropositionalEntailmentConfig.at(seed % 4))
    problem = task.generate(stream("Entailment", seed))
    premises = [read_formula(text) for text in problem.premises]
    conclusions = [read_formula(text) for text in problem.conclusions]
    rows = [
        row
        for row in itertools.product([False, True], repeat=len(problem.facts))
        if all(value(premise, row) for premise in premises)
    ]
    assert rows
    following = {i for i, c in enumerate(conclusions, 1) if all(value(c, row) for row in rows)}
    numbers = range(1, len(conclusions) + 1)
    for k in numbers:
        for chosen in itertools.combinations(numbers, k):
            score = task.verify(problem, ", ".join(map(str, chosen))).score
            assert score == (set(chosen) == following)


@pytest.mark.parametrize("difficulty", [5, 10])
def test_another_solver_agrees(difficulty):
    z3 = pytest.importorskip("z3")
    build = {
        "not": z3.Not,
        "and": z3.And,
        "or": z3.Or,
        "xor": z3.Xor,
        "if": z3.Implies,
        "iff": lambda a, b: a == b,
    }

    def claim(formula):
        if formula.operator == "atom":
            return z3.Bool(f"fact{formula.number}")
        return build[formula.operator](*map(claim, formula.parts))

    task = PropositionalEntailmentTask(PropositionalEntailmentConfig.at(difficulty))
    for seed in range(4):
        problem = task.generate(stream("Entailment", "z3", seed))
        solver = z3.Solver()
        premises = [claim(read_formula(text)) for text in problem.premises]
        solver.add(premises)
        assert solver.check() == z3.sat
        conclusions = [claim(read_formula(text)) for text in problem.conclusions]
        following = [i for i, c in enumerate(conclusions, 1) if solver.check(z3.Not(c)) == z3.unsat]
        assert tuple(following) == problem.following
        assert 0 < len(following) < len(conclusions)
        for i in following:  # no single premise is enough
            alone = z3.Solver()
            for premise in premises:
                assert alone.check(premise, z3.Not(conclusions[i - 1])) == z3.sat


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 3, 4", 1.0),
        ("4 3 1", 1.0),
        ("{1, 3, 4}", 1.0),
        ("1, 3", 0.0),
        ("1, 2, 3, 4, 5, 6", 0.0),
        ("1, 3, 3, 4", 0.0),
        ("1, 3, 4, 7", 0.0),
        ("the door is open", 0.0),
        ("none", 0.0),
        ("1," * 9000 + "3", 0.0),
    ],
)
def test_forms(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_words_of_a_prompt():
    text = TASK.prompt(SMALL)
    assert "- If the lamp is on, then the door is open.\n" in text
    assert "- The lamp is on or the bell is not silent.\n" in text
    assert "- Either the door is open or the bell is silent, but not both.\n" in text
    assert "6. The lamp is on if and only if the door is open.\n" in text


@pytest.mark.parametrize(
    "knob",
    [
        {"n_facts": 2},
        {"n_parts": 21},
        {"n_premises": 1},
        {"n_conclusions": 101},
        {"n_premises": 10**30},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        PropositionalEntailmentConfig(**knob)


def test_effort_counts_the_nodes_of_a_search_for_each_conclusion():
    one = PropositionalEntailmentProblem(("lamp:on",), ("1",), ("1", "(not 1)"), (1,))
    assert TASK.effort(one) == 3  # no case against the first; the lamp on, against the second


def test_the_baseline_lists_some_of_the_conclusions():
    answers = {TASK.baseline(stream("baseline", seed), SMALL) for seed in range(40)}
    assert {number for answer in answers for number in answer.split(", ")} == set("123456")


@pytest.mark.parametrize("difficulty", [0, 4])
def test_premises_are_no_conclusions_and_what_follows_takes_enough(difficulty):
    config = PropositionalEntailmentConfig.at(difficulty)
    problem = PropositionalEntailmentTask(config).generate(stream("Entailment", "needed"))
    assert not set(problem.premises) & set(problem.conclusions)
    rows = list(itertools.product([False, True], repeat=len(problem.facts)))
    for number in problem.following:
        conclusion = read_formula(problem.conclusions[number - 1])
        for chosen in itertools.combinations(problem.premises, config.n_needed - 1):
            premises = [read_formula(text) for text in chosen]
            cases = (row for row in rows if all(value(premise, row) for premise in premises))
            assert not all(value(conclusion, row) for row in cases)
