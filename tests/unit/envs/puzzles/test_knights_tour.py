"""Knight's tour: all orders of the squares of small boards, forms, knobs."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.knights_tour import (
    KnightsTourConfig,
    KnightsTourProblem,
    KnightsTourTask,
)

TASK = KnightsTourTask(KnightsTourConfig.at(0))
# Around the centre of a board of three by three, in a corner of one of four by four.
RING = KnightsTourProblem("...#\n.#.#\n...#\n####", "A1", "")


def free_squares(board):
    rows = board.split("\n")
    return {
        f"{'ABCDEFGHIJKL'[c]}{r + 1}"
        for r, row in enumerate(rows)
        for c, sign in enumerate(row)
        if sign == "."
    }


def is_tour(problem, squares):
    """Whether the squares are a tour, by the words of the prompt."""
    places = [(ord(square[0]), int(square[1:])) for square in squares]
    leaps = [{abs(a - c), abs(b - d)} for (a, b), (c, d) in itertools.pairwise(places)]
    return (
        squares[0] == problem.start
        and sorted(squares) == sorted(free_squares(problem.board))
        and all(leap == {1, 2} for leap in leaps)
    )


@pytest.mark.parametrize("seed", range(4))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("KnightsTour", seed))
    free = sorted(free_squares(problem.board))
    assert len(free) == 6
    tours = 0
    for length in range(1, 7):
        for squares in itertools.product(free, repeat=length):
            expected = is_tour(problem, squares)
            tours += expected
            assert (TASK.verify(problem, ", ".join(squares)).score == 1.0) == expected
    assert tours > 0


@pytest.mark.parametrize("difficulty", [3, 7, 10, 30])
def test_problems_have_a_tour(difficulty):
    config = KnightsTourConfig.at(difficulty)
    for seed in range(2):
        problem = KnightsTourTask(config).generate(stream("KnightsTour", "long", seed))
        assert is_tour(problem, problem.solution.split(", "))
        assert config.n_squares * 9 // 10 <= problem.board.count(".") <= config.n_squares


def test_a_tour_that_no_walk_finds_is_shorter():
    # No tour of the full board of four by four exists.
    problem = KnightsTourTask(KnightsTourConfig(side=4, n_squares=16)).generate(stream("full"))
    assert 8 <= problem.board.count(".") < 16
    assert is_tour(problem, problem.solution.split(", "))


TOUR = "A1, C2, A3, B1, C3, A2, C1, B3"


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (TOUR, 1.0),
        ("[a1 b3 c1 a2 c3 b1 a3 c2]", 1.0),
        (TOUR + ", A1", 0.0),  # back on the first square
        ("C2, A3, B1, C3, A2, C1, B3, A1", 0.0),
        (TOUR.removesuffix(", B3"), 0.0),
        ("A1, A1", 0.0),
        ("A1, B3, D2, C4", 0.0),  # a hole
        ("A1, C3, A2, C1, B3", 0.0),
        ("A1, B1, C1, C2, C3, B3, A3, A2", 0.0),
        ("A1, C2, A3, B1, C3, A2, C1, E2", 0.0),
        ("A1-C2-A3-B1-C3-A2-C1-B3", 0.0),
        ("A01, C2, A3, B1, C3, A2, C1, B3", 0.0),
        (TOUR + " done", 0.0),
        ("[]", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(RING, answer).score == score


def test_effort_is_what_a_search_steps():
    assert TASK.effort(RING) == 8  # from a square of a ring every way is right
    # From an inner square of a line of four there is no tour: both ends could only be the last.
    line = KnightsTourProblem(".###\n##.#\n.###\n##.#", "C2", "")
    assert TASK.effort(line) == 1
    # From its end every step is forced.
    assert TASK.effort(KnightsTourProblem(line.board, "A1", "")) == 4


def test_the_baseline_follows_the_fewest_ways_on():
    line = KnightsTourProblem(".###\n##.#\n.###\n##.#", "A1", "")
    assert TASK.baseline(stream("tour"), line) == "A1, C2, A3, C4"
    assert TASK.verify(line, "A1, C2, A3, C4").score == 1.0


@pytest.mark.parametrize(
    "knob", [{"side": 3}, {"side": 13}, {"n_squares": 2}, {"n_squares": 26}, {"n_boards": 0}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        KnightsTourConfig(**knob)
