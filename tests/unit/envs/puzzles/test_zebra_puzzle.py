"""Zebra puzzle: every table of small worlds, uniqueness by CP-SAT, forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.zebra_puzzle import (
    Category,
    Clue,
    Search,
    ZebraPuzzleConfig,
    ZebraPuzzleProblem,
    ZebraPuzzleTask,
)
from rlvr_envs.solvers import cp_sat

TASK = ZebraPuzzleTask(ZebraPuzzleConfig())
SMALL = ZebraPuzzleProblem(
    (Category("name", ("Ada", "Ben", "Cleo")), Category("city", ("Rome", "Oslo", "Lima"))),
    (
        Clue("directly left", 0, 1),
        Clue("apart", 2, 0, 1),
        Clue("same", 1, 3),
        Clue("not at", 4, number=3),
    ),
    (),
)
KINDS = {  # how CP-SAT is told: houses are numbered from 1
    "same": lambda m, a, b, k, n: m.add(a == b),
    "different": lambda m, a, b, k, n: m.add(a != b),
    "directly left": lambda m, a, b, k, n: m.add(b == a + 1),
    "left": lambda m, a, b, k, n: m.add(a < b),
    "next": lambda m, a, b, k, n: distance(m, a, b, 1, n),
    "apart": lambda m, a, b, k, n: distance(m, a, b, k + 1, n),
    "at": lambda m, a, b, k, n: m.add(a == k),
    "not at": lambda m, a, b, k, n: m.add(a != k),
    "at an end": lambda m, a, b, k, n: m.add_allowed_assignments([a], [(1,), (n,)]),
}


def distance(model, a, b, k, n):
    gap = model.new_int_var(0, n, "")
    model.add_abs_equality(gap, a - b)
    model.add(gap == k)


def model_of(problem):
    pytest.importorskip("ortools")
    model = cp_sat.new_model()
    n = len(problem.categories[0].values)
    houses = []
    for _ in problem.categories:
        column = [model.new_int_var(1, n, "") for _ in range(n)]
        model.add_all_different(column)
        houses += column
    for clue in problem.clues:
        KINDS[clue.kind](model, houses[clue.first], houses[clue.second], clue.number, n)
    return model, houses


@pytest.mark.parametrize("difficulty", [0, 2, 4, 6])
def test_another_solver_finds_one_table(difficulty):
    task = ZebraPuzzleTask(ZebraPuzzleConfig.at(difficulty))
    for seed in range(3):
        problem = task.generate(stream("Zebra", seed))
        model, houses = model_of(problem)
        assert cp_sat.count_solutions(model, houses, limit=2, budget=2) == 1


@pytest.mark.parametrize("seed", range(6))
def test_every_table_but_one_is_wrong(seed):
    task = ZebraPuzzleTask(ZebraPuzzleConfig(n_houses=3, n_categories=3))
    problem = task.generate(stream("Zebra", "tables", seed))
    columns = [itertools.permutations(category.values) for category in problem.categories]
    right = [
        table
        for table in (tuple(zip(*c, strict=True)) for c in itertools.product(*columns))
        if task.verify(problem, "\n".join(map(", ".join, table))).score == 1.0
    ]
    assert right == [problem.table]


def test_search_counts_the_tables_that_fit():
    clues = [Clue("left", 0, 1), Clue("at an end", 5), Clue("apart", 2, 4, 0)]
    fitting = 0
    for first, second in itertools.product(itertools.permutations(range(3)), repeat=2):
        houses = (*first, *second)
        fitting += houses[0] < houses[1] and houses[5] != 1 and abs(houses[2] - houses[4]) == 1
    assert len(Search(3, 2, clues).tables(1000, 10_000)) == fitting
    assert Search(5, 5, [Clue("left", 0, 6)]).tables(10**9, 200) is None


@pytest.mark.parametrize("seed", range(4))
def test_no_clue_is_needless_where_all_are_tried(seed):
    config = ZebraPuzzleConfig(n_houses=4, n_categories=3, n_removals=1000)
    problem = ZebraPuzzleTask(config).generate(stream("Zebra", "thin", seed))
    for clue in problem.clues:
        others = [other for other in problem.clues if other != clue]
        assert len(Search(4, 3, others).tables(2, 10**6)) == 2


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("Cleo, Oslo\nAda, Lima\nBen, Rome", 0.0),  # Cleo and Ada must have a house in between
        ("Ada, Oslo\nBen, Rome\nCleo, Lima", 1.0),
        ("ada oslo\nben rome\ncleo lima", 1.0),
        ("| Ada | Oslo |\n|---|---|\n| Ben | Rome |\n| Cleo | Lima |", 1.0),
        ("Ada, Lima\nBen, Rome\nCleo, Oslo", 0.0),
        ("Ada, Oslo\nBen, Rome", 0.0),
        ("Ada, Oslo\nAda, Oslo\nAda, Oslo", 0.0),
        ("Oslo, Ada\nRome, Ben\nLima, Cleo", 0.0),
        ("1, Ada, Oslo\n2, Ben, Rome\n3, Cleo, Lima", 0.0),
        ("Ada, Oslo\nBen, Rome\nCleo, Lima\nAda, Oslo", 0.0),
        ("Ada, Oslo\nBen, Rome\nCleo, Paris", 0.0),
    ],
)
def test_forms(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_words_of_clues():
    text = TASK.prompt(SMALL)
    assert "1. Ada lives directly to the left of Ben." in text
    assert "2. There is exactly one house between Cleo and Ada." in text
    assert "3. Ben is the person from Rome." in text
    assert "4. The person from Oslo does not live in house 3." in text


@pytest.mark.parametrize(
    "knob",
    [
        {"n_houses": 1},
        {"n_houses": 11},
        {"n_categories": 1},
        {"direct_percent": 101},
        {"n_removals": -1},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        ZebraPuzzleConfig(**knob)
