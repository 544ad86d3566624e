"""StarBattle: every small placement, one solution by CP-SAT, generation, forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import star_battle
from rlvr_envs.envs.puzzles.star_battle import (
    Search,
    StarBattleConfig,
    StarBattleProblem,
    StarBattleTask,
    _stars,
    draw_stars,
)
from rlvr_envs.solvers import cp_sat

TASK = StarBattleTask(StarBattleConfig(size=4))
SMALL = StarBattleProblem(("AABB", "AABB", "CCDD", "CCDD"), 1, (), (1, 7, 8, 14))


def fits(problem, cells):
    """Whether the rules hold, cell by cell and pair by pair."""
    size = len(problem.regions)
    places = [divmod(cell, size) for cell in cells]
    groups = [
        [r for r, _ in places],
        [c for _, c in places],
        [problem.regions[r][c] for r, c in places],
    ]
    apart = all(
        max(abs(r - s), abs(c - d)) > 1 for (r, c), (s, d) in itertools.combinations(places, 2)
    )
    full = all(
        len(set(group)) == size and all(group.count(x) == problem.n_stars for x in group)
        for group in groups
    )
    return apart and full and set(problem.given) <= set(cells)


def text(cells, size):
    return ", ".join(f"({cell // size + 1}, {cell % size + 1})" for cell in cells)


def count(problem, limit=3):
    """The number of placements that CP-SAT finds."""
    size = len(problem.regions)
    model = cp_sat.new_model()
    star = [[model.new_bool_var("") for _ in range(size)] for _ in range(size)]
    for i in range(size):
        model.add(sum(star[i]) == problem.n_stars)
        model.add(sum(row[i] for row in star) == problem.n_stars)
    for letter in sorted(set("".join(problem.regions))):
        region = [
            star[r][c] for r in range(size) for c in range(size) if problem.regions[r][c] == letter
        ]
        model.add(sum(region) == problem.n_stars)
    for r, c in itertools.product(range(size - 1), repeat=2):
        model.add(star[r][c] + star[r + 1][c] + star[r][c + 1] + star[r + 1][c + 1] <= 1)
    for cell in problem.given:
        model.add(star[cell // size][cell % size] == 1)
    cells = [x for row in star for x in row]
    return cp_sat.count_solutions(model, cells, limit=limit, budget=5.0)


@pytest.mark.parametrize("seed", range(6))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("StarBattle", seed))
    right = 0
    for cells in itertools.combinations(range(16), 4):
        right += fits(problem, cells)
        assert TASK.verify(problem, text(cells, 4)).score == float(fits(problem, cells))
    assert right == 1


@pytest.mark.parametrize(("size", "n_stars"), [(5, 1), (8, 1), (9, 2), (10, 2)])
def test_one_placement_by_another_solver(size, n_stars):
    task = StarBattleTask(StarBattleConfig(size=size, n_stars=n_stars))
    for seed in range(2):
        problem = task.generate(stream("StarBattle", "unique", seed))
        assert fits(problem, problem.stars)
        assert count(problem) == 1


@pytest.mark.parametrize("repairs", [0, 5])
def test_given_stars_make_it_unique_where_regions_do_not(repairs, monkeypatch):
    monkeypatch.setattr(star_battle, "_REPAIRS", repairs)
    monkeypatch.setattr(star_battle, "_LIMIT", 40)
    task = StarBattleTask(StarBattleConfig(size=9, n_stars=2))
    problem = task.generate(stream("StarBattle", "given", repairs))
    assert problem.given
    assert " already placed at (" in task.prompt(problem)
    assert count(problem) == 1
    others = [cell for cell in range(81) if cell not in problem.stars]
    swapped = [*problem.stars[1:], others[0]]
    assert task.verify(problem, text(swapped, 9)).score == 0.0


@pytest.mark.parametrize("n_stars", [1, 2])
def test_the_search_for_stars_ends_in_plain_order_too(n_stars):
    for size in range({1: 4, 2: 9}[n_stars], 21):
        stars = _stars(None, size, n_stars, None)
        problem = StarBattleProblem(
            tuple(chr(65 + r) * size for r in range(size)), n_stars, (), tuple(stars)
        )
        assert fits(problem, stars)


def test_random_stars_differ():
    drawn = {tuple(draw_stars(stream("StarBattle", "stars", seed), 9, 2)) for seed in range(12)}
    assert len(drawn) > 6


def test_the_search_counts_to_two_and_says_when_it_gives_up():
    rows = [15 << (4 * r) for r in range(4)]
    both = Search(rows, 1, 0, limit=100)
    assert len(both.found) == 2
    assert not both.unique
    assert Search(rows, 1, 0, limit=1).exhausted
    assert Search(rows, 1, 1, limit=100).found == []  # no star can be in a corner


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("(1, 2), (2, 4), (3, 1), (4, 3)", 1.0),
        ("[(4,3);(1,2);(3,1);(2,4)]", 1.0),
        ("(1, 3), (2, 1), (3, 4), (4, 2)", 1.0),  # these regions have two placements
        ("(1, 2), (2, 4), (3, 1)", 0.0),
        ("(1, 2), (2, 4), (3, 1), (4, 3), (4, 3)", 0.0),
        ("(1, 1), (2, 2), (3, 3), (4, 4)", 0.0),
        ("(1, 2), (1, 2), (1, 2), (1, 2)", 0.0),
        ("(0, 1), (1, 3), (2, 0), (3, 2)", 0.0),
        ("(1, 2), (2, 4), (3, 1), (4, 5)", 0.0),
        ("1, 2, 2, 4, 3, 1, 4, 3", 0.0),
        ("the stars: (1, 2), (2, 4), (3, 1), (4, 3)", 0.0),
        ("(1, 2)," * 20_000, 0.0),
        ("", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


@pytest.mark.parametrize(
    "knob",
    [{"size": 3}, {"n_stars": 0}, {"n_stars": 3}, {"size": 27}, {"n_stars": 2}, {"n_given": 7}],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        StarBattleConfig(**knob)


GIVEN = StarBattleProblem(SMALL.regions, 1, SMALL.stars, SMALL.stars)


def test_effort_counts_the_looks_at_a_group():
    assert TASK.effort(GIVEN) == 12  # nothing is open in any row, column or region


def test_the_baseline_keeps_given_stars_and_the_rules_where_it_can():
    assert TASK.baseline(stream("baseline"), GIVEN) == text(SMALL.stars, 4)


@pytest.mark.parametrize(("level", "n_given"), [(0, 3), (1, 2), (7, 4)])
def test_low_levels_give_stars(level, n_given):
    problem = StarBattleTask(StarBattleConfig.at(level)).generate(stream("StarBattle", level))
    assert set(problem.given) <= set(problem.stars)
    assert len(problem.given) >= n_given
