"""What every move puzzle promises of shortest solutions, and the words that lists are made of."""

import dataclasses

import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.problem import public_view
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.moves.scoring import listing, long_enough, plural

ONE_STEP = ["TowerOfHanoi", "SlidingPuzzle", "Sokoban", "RushHour", "WaterJugs", "RiverCrossing"]
GAMES = ["TowerOfHanoiGame", "SokobanGame"]


def task_of(name, *, difficulty=3, **knobs):
    task_type = registry.find(f"{name}-v0").task_type
    return task_type(dataclasses.replace(task_type.Config.at(difficulty), **knobs))


@pytest.mark.parametrize("name", ONE_STEP + GAMES)
def test_only_shortest_solutions_where_that_is_asked_for(name):
    plain, strict = task_of(name), task_of(name, optimal_only=True)
    for seed in range(5):
        problem = strict.generate(stream(name, "moves", seed))
        assert problem == plain.generate(stream(name, "moves", seed))
        assert "as few" in strict.prompt(problem)
        assert "as few" not in plain.prompt(problem)
        assert "shortest" not in public_view(problem)
        assert "solution" not in public_view(problem)
        assert problem.shortest >= 1


@pytest.mark.parametrize("name", ONE_STEP)
def test_detours_cost_their_share(name):
    # On a low level, where even a player who does not plan gets there now and then.
    plain, strict = [task_of(name, difficulty=2, optimal_only=only) for only in (False, True)]
    detours = 0
    for seed in range(60):
        problem = plain.generate(stream(name, "detours", seed))
        assert strict.verify(problem, strict.solve(problem)).score == 1.0
        verdict = plain.verify(problem, plain.baseline(stream(name, "stray", seed), problem))
        if verdict.score == 1.0 and verdict.parts["moves"] > problem.shortest:
            answer = plain.baseline(stream(name, "stray", seed), problem)
            share = problem.shortest / verdict.parts["moves"]
            assert strict.verify(problem, answer).score == share
            detours += 1
    assert detours > 0


@pytest.mark.parametrize("name", GAMES)
def test_games_count_turns(name):
    plain, strict = task_of(name), task_of(name, optimal_only=True)
    problem = plain.generate(stream(name, "turns"))
    wasted = ["I am not sure yet.", *plain.play(problem)]
    assert plain.replay(problem, wasted).score == 1.0
    assert strict.replay(problem, wasted).score == problem.shortest / (problem.shortest + 1)
    assert strict.replay(problem, wasted[1:]).score == 1.0


def test_words():
    assert (plural(1, "move"), plural(0, "move"), plural(3, "turn")) == (
        "1 move",
        "0 moves",
        "3 turns",
    )
    assert [listing(names) for names in (["a"], ["a", "b"], ["a", "b", "c"])] == [
        "a",
        "a and b",
        "a, b and c",
    ]


@pytest.mark.parametrize("difficulty", [0, 2, 4])
@pytest.mark.parametrize("name", ["RushHour", "WaterJugs", "Sokoban", "SokobanGame"])
def test_no_solution_is_shorter_than_its_level_asks(name, difficulty):
    task = task_of(name, difficulty=difficulty)
    assert task.config.least_moves >= 2 + difficulty // 2
    lengths = [task.generate(stream(name, "least", seed)).shortest for seed in range(25)]
    assert min(lengths) >= task.config.least_moves


def test_the_first_that_is_long_enough_is_taken():
    drawn = iter([3, 1, 5, 7])
    assert long_enough(lambda: next(drawn), int, 4) == 5


def test_the_longest_is_taken_where_none_is_long_enough():
    drawn = iter([2, 9] + [3] * 1000)
    assert long_enough(lambda: next(drawn), int, 10) == 9
