"""Sliding puzzle: every arrangement of a small frame, all short answers, forms, knobs."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import sliding_puzzle
from rlvr_envs.envs.puzzles.sliding_puzzle import (
    SlidingPuzzleConfig,
    SlidingPuzzleProblem,
    SlidingPuzzleTask,
)

TASK = SlidingPuzzleTask(SlidingPuzzleConfig.at(0))
STRICT = SlidingPuzzleTask(SlidingPuzzleConfig(optimal_only=True))
# 1 2   from   1 2
# 3 _          _ 3, by way of tile 3 alone.
SMALL = SlidingPuzzleProblem(2, (1, 2, 0, 3), (1, 2, 3, 0), 1, (3,))


def slide(rows, tile):
    """The rows after a slide, or None, with cells addressed by row and column."""
    where = {value: (r, c) for r, row in enumerate(rows) for c, value in enumerate(row)}
    if tile not in where or tile == 0:
        return None
    (r, c), (er, ec) = where[tile], where[0]
    if abs(r - er) + abs(c - ec) != 1:
        return None
    swap = {tile: 0, 0: tile}
    return [[swap.get(value, value) for value in row] for row in rows]


@pytest.mark.parametrize("seed", range(12))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("SlidingPuzzle", seed))
    width = problem.n_columns

    def rows(tiles):
        return [list(tiles[i : i + width]) for i in range(0, len(tiles), width)]

    shortest = None
    for length in range(1, 5):
        for tiles in itertools.product(range(6), repeat=length):
            state = rows(problem.start)
            for tile in tiles:
                state = slide(state, tile) if state else None
            solved = state == rows(problem.goal)
            verdict = TASK.verify(problem, ", ".join(map(str, tiles)))
            assert (verdict.score == 1.0) == solved
            if solved and shortest is None:
                shortest = length
    assert problem.shortest == shortest


def test_shortest_lengths_of_all_arrangements_of_two_by_three():
    goal = (1, 2, 3, 4, 5, 0)
    far, layer = {goal: 0}, [goal]
    for depth in itertools.count(1):
        layer = sorted({a for s in layer for _, a in sliding_puzzle._slides(s, 3)} - far.keys())
        if not layer:
            break
        far |= dict.fromkeys(layer, depth)
    # Half of all arrangements, and the known greatest distance of the five-puzzle.
    assert (len(far), max(far.values())) == (360, 21)
    for state in sorted(far)[::15]:
        assert len(sliding_puzzle._shortest(state, goal, 3).moves) == far[state]
    odd = (2, 1, *goal[2:])
    assert sliding_puzzle._shortest(odd, goal, 3).moves is None


@pytest.mark.parametrize(
    ("answer", "score", "strict"),
    [
        ("3", 1.0, 1.0),
        ("[3]", 1.0, 1.0),
        ("3, 3, 3", 1.0, 1 / 3),
        ("1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2", 1.0, 1 / 11),  # all the way round
        ("1, 2, 3, 1, 2, 3, 1, 2, 3, 1", 0.0, 0.0),
        ("3, 3", 0.0, 0.0),
        ("0", 0.0, 0.0),
        ("2", 0.0, 0.0),
        ("4", 0.0, 0.0),
        ("-3", 0.0, 0.0),
        ("3.5", 0.0, 0.0),
        ("left", 0.0, 0.0),
        ("[]", 0.0, 0.0),
        (", ".join(["3"] * 999), 1.0, 1 / 999),
        (", ".join(["3"] * 1001), 0.0, 0.0),
    ],
)
def test_forms_and_near_misses(answer, score, strict):
    assert TASK.verify(SMALL, answer).score == score
    assert STRICT.verify(SMALL, answer).score == pytest.approx(strict)


def test_an_ordered_goal_and_large_frames():
    task = SlidingPuzzleTask(SlidingPuzzleConfig(n_rows=5, n_columns=6, n_slides=60, ordered=True))
    problem = task.generate(stream("SlidingPuzzle", "large"))
    assert [tile for tile in problem.goal if tile] == list(range(1, 30))
    assert 15 <= problem.shortest == len(problem.solution)
    assert task.verify(problem, task.solve(problem)).score == 1.0


@pytest.mark.parametrize(
    "knob", [{"n_rows": 1}, {"n_columns": 9}, {"n_slides": 0}, {"n_slides": 501}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        SlidingPuzzleConfig(**knob)


def test_effort_and_the_baseline_next_to_the_goal():
    assert TASK.effort(SMALL) == 1  # the start alone
    assert TASK.baseline(stream("baseline"), SMALL) == "3"


@pytest.mark.parametrize(("level", "shape"), [(2, (2, 3)), (3, (3, 3)), (6, (3, 4)), (9, (4, 4))])
def test_the_frame_grows(level, shape):
    config = SlidingPuzzleConfig.at(level)
    assert (config.n_rows, config.n_columns) == shape
