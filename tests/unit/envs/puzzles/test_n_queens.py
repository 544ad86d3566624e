"""NQueens: every placement on small boards, other completions, forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import n_queens
from rlvr_envs.envs.puzzles.n_queens import NQueensConfig, NQueensProblem, NQueensTask

TASK = NQueensTask(NQueensConfig(size=5, n_given=2))
OPEN = NQueensProblem((0, 0, 0, 0, 0, 0), (2, 4, 6, 1, 3, 5))


def peaceful(columns):
    queens = list(enumerate(columns))
    return all(
        c != d and abs(c - d) != s - r for (r, c), (s, d) in itertools.combinations(queens, 2)
    )


@pytest.mark.parametrize("seed", range(5))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("NQueens", seed))
    right = 0
    for columns in itertools.product(range(1, 6), repeat=5):
        kept = all(g in (0, c) for g, c in zip(problem.given, columns, strict=True))
        fits = kept and peaceful(columns)
        right += fits
        assert TASK.verify(problem, ", ".join(map(str, columns))).score == float(fits)
    assert right > 0


def test_every_placement_passes_where_nothing_is_given():
    passed = [
        columns
        for columns in itertools.permutations(range(1, 7))
        if TASK.verify(OPEN, " ".join(map(str, columns))).score
    ]
    assert len(passed) == 4  # as is well known for six queens
    assert all(map(peaceful, passed))


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("2, 4, 6, 1, 3, 5", 1.0),
        ("[2,4,6,1,3,5]", 1.0),
        ("1, 2, 3, 4, 5, 6", 0.0),
        ("2, 4, 6, 1, 3", 0.0),
        ("2, 4, 6, 1, 3, 5, 5", 0.0),
        ("1, 3, 5, 0, 2, 4", 0.0),
        ("2.5, 4, 6, 1, 3, 5", 0.0),
        ("246135", 0.0),
        ("[i for i in (2, 4, 6, 1, 3, 5)]", 0.0),
        ("2, 4, 6, 1, 3, -5", 0.0),
        ("0, 20, 40, 60, 80, 100", 0.0),
        ("1," * 20_000, 0.0),
        ("", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(OPEN, answer).score == score


def test_a_given_queen_stays():
    problem = NQueensProblem((3, 0, 0, 0, 0, 0), (3, 6, 2, 5, 1, 4))
    assert TASK.verify(problem, "3, 6, 2, 5, 1, 4").score == 1.0
    moved = TASK.verify(problem, "2, 4, 6, 1, 3, 5")
    assert moved.score == 0.0
    assert "moved" in moved.detail


@pytest.mark.parametrize("size", range(4, 40))
def test_the_placement_of_last_resort(size, monkeypatch):
    monkeypatch.setattr(n_queens, "_STARTS", 0)
    task = NQueensTask(NQueensConfig(size=size, n_given=size // 2))
    problem = task.generate(stream("NQueens", "last", size))
    assert sorted(problem.columns) == list(range(1, size + 1))
    assert peaceful(problem.columns)


@pytest.mark.parametrize("seed", range(10))
def test_the_search_for_a_completion_ends_with_one(seed):
    problem = NQueensTask(NQueensConfig.at(3)).generate(stream("NQueens", "effort", seed))
    n_open = problem.given.count(0)
    assert TASK.effort(problem) >= n_open


@pytest.mark.parametrize("knob", [{"size": 3}, {"n_given": -1}, {"n_given": 10}, {"size": 10**30}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        NQueensConfig(**knob)


@pytest.mark.parametrize(("given", "effort"), [((2, 4, 1, 0), 1), ((0, 0, 0, 0), 8)])
def test_effort_counts_the_queens_placed(given, effort):
    # From nothing: 1, 3, back, 4, 2, back to the first row, then 2, 4, 1, 3.
    assert TASK.effort(NQueensProblem(given, (2, 4, 1, 3))) == effort


def test_the_baseline_takes_the_first_safe_column():
    problem = NQueensProblem((2, 0, 0, 0), (2, 4, 1, 3))
    assert TASK.baseline(stream("baseline"), problem) == "2, 4, 1, 3"


@pytest.mark.parametrize("difficulty", [0, 4, 10])
def test_each_level_leaves_one_more_queen_to_place(difficulty):
    problem = NQueensTask(NQueensConfig.at(difficulty)).generate(stream("NQueens", difficulty))
    assert problem.given.count(0) == 2 + difficulty
