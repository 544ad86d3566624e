"""Maze: every short walk on small mazes, the knobs of the way, forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.maze import MazeConfig, MazeProblem, MazeTask
from rlvr_envs.generators.grids import mazes

TASK = MazeTask(MazeConfig(n_rows=4, n_columns=4, path_length=3, n_turns=1, n_loops=0))
RING = MazeProblem(("S..", ".#.", "..G", "###"), "RRDD")  # two ways of the same length
HOOK = MazeProblem(("S.", "#.", "G."), "RDDL")


def walk(rows, moves):
    """The cell where the moves end, or None: the rules on a dictionary of coordinates."""
    floor = {(r, c): mark for r, row in enumerate(rows) for c, mark in enumerate(row)}
    r, c = next(place for place, mark in floor.items() if mark == "S")
    for move in moves:
        r, c = r + (move == "D") - (move == "U"), c + (move == "R") - (move == "L")
        if floor.get((r, c), "#") == "#":
            return None
    return floor[r, c]


@pytest.mark.parametrize("seed", range(5))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Maze", seed))
    right = []
    for n_moves in range(1, 6):
        for moves in map("".join, itertools.product("UDLR", repeat=n_moves)):
            fits = walk(problem.rows, moves) == "G"
            right += [moves] * fits
            assert TASK.verify(problem, moves).score == float(fits)
    assert right[0] == problem.moves
    assert sum(len(moves) == 3 for moves in right) == 1


def ways(rows, n_moves):
    """How many walks of 0, 1, ... n_moves moves lead from start to goal, by stepwise counting."""
    cells = {(r, c): m for r, row in enumerate(rows) for c, m in enumerate(row) if m != "#"}
    goal = next(place for place, mark in cells.items() if mark == "G")
    count = {place: int(mark == "S") for place, mark in cells.items()}
    at_goal = [0]
    for _ in range(n_moves):
        count = {
            (r, c): sum(
                count.get(place, 0) for place in [(r - 1, c), (r + 1, c), (r, c - 1), (r, c + 1)]
            )
            for r, c in cells
        }
        at_goal.append(count[goal])
    return at_goal


def turns_of(moves):
    """How often the direction changes."""
    return sum(one != other for one, other in itertools.pairwise(moves))


@pytest.mark.parametrize("level", [1, 4, 7, 10])
def test_the_way_has_the_length_and_turns_of_the_knobs_and_is_the_only_shortest(level):
    config = MazeConfig.at(level)
    for seed in range(3):
        problem = MazeTask(config).generate(stream("Maze", "knobs", level, seed))
        assert (len(problem.moves), turns_of(problem.moves)) == (config.path_length, config.n_turns)
        assert walk(problem.rows, problem.moves) == "G"
        assert ways(problem.rows, config.path_length) == [0] * config.path_length + [1]


@pytest.mark.parametrize(("length", "turns"), [(9, 1), (9, 8), (16, 3), (25, 12)])
def test_length_and_turns_are_independent(length, turns):
    config = MazeConfig(path_length=length, n_turns=turns, n_loops=0)
    problem = MazeTask(config).generate(stream("Maze", length, turns))
    assert (len(problem.moves), turns_of(problem.moves)) == (length, turns)


def test_loops_open_cells():
    trees, loops = (
        MazeTask(MazeConfig(n_loops=n)).generate(stream("Maze", "loops")) for n in (0, 4)
    )
    assert "".join(loops.rows).count("#") == "".join(trees.rows).count("#") - 4
    assert loops.moves == trees.moves


def test_a_shorter_way_is_taken_where_none_is_found(monkeypatch):
    monkeypatch.setattr(mazes, "_STEPS", 1)
    monkeypatch.setattr(mazes, "_STARTS", 2)
    config = MazeConfig(path_length=25, n_turns=12)
    for seed in range(10):
        problem = MazeTask(config).generate(stream("Maze", "short", seed))
        assert 1 <= len(problem.moves) <= 25
        assert walk(problem.rows, problem.moves) == "G"
        assert ways(problem.rows, len(problem.moves))[-1] == 1


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("RRDD", 1.0),
        ("r, r, d, d", 1.0),
        ("[R R D D]", 1.0),
        ("DDRR", 1.0),
        ("RLRRDD", 1.0),
        ("RRDDLR", 1.0),
        ("RRD", 0.0),
        ("RRDDL", 0.0),
        ("RDRD", 0.0),
        ("URRDD", 0.0),
        ("RRRDD", 0.0),
        ("RRDDD", 0.0),
        ("E E S S", 0.0),
        ("RRDD or DDRR", 0.0),
        ("RL" * 30 + "RRDD", 0.0),  # more moves than are read
        ("", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(RING, answer).score == score


def test_a_longer_way_earns_less_where_the_shortest_is_wanted():
    task = MazeTask(MazeConfig(optimal_only=True))
    assert "as few moves as possible" in task.prompt(HOOK)
    assert task.verify(HOOK, "RDDL").score == 1.0
    assert task.verify(HOOK, "RLRDDL").score == pytest.approx(4 / 6)
    assert TASK.verify(HOOK, "RLRDDL").score == 1.0


@pytest.mark.parametrize(
    "knob",
    [
        {"n_rows": 2},
        {"n_columns": 0},
        {"path_length": 1},
        {"path_length": 26},
        {"n_turns": 0},
        {"n_turns": 15},
        {"n_loops": -1},
        {"n_rows": 10**30},
        {"n_columns": 201},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        MazeConfig(**knob)


def test_a_guess_is_readable():
    for seed in range(10):
        problem = MazeTask(MazeConfig.at(4)).generate(stream("Maze", seed))
        guess = TASK.baseline(stream("guess", seed), problem)
        assert TASK.verify(problem, guess).status in ("correct", "wrong")


def test_effort_counts_the_cells_before_the_goal():
    assert TASK.effort(HOOK) == 4  # one way, its cells in order
    assert TASK.effort(RING) == 7  # both halves of the ring


def test_the_baseline_walks_towards_the_goal_without_turning_back():
    assert TASK.baseline(stream("maze"), HOOK) == "RDDL"
    trap = MazeProblem(("S.#", "..#", "#..", "..G"), "DRDDR")
    assert TASK.baseline(stream("maze"), trap)[:2] in ("RD", "DR")
    pocket = MazeProblem(("..#G", "S.#.", ".##.", "...."), "DDRRRUUU")
    assert TASK.verify(pocket, TASK.baseline(stream("maze"), pocket)).score == 0.0
