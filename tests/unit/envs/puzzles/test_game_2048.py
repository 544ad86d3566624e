"""Game2048: chances against a search of its own on rows of numbers, sliding, and a red team."""

from fractions import Fraction
from itertools import chain

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.game_2048 import Game2048Config, Game2048Problem, Game2048Task
from rlvr_envs.generators.games.tiles import slid

TASK = Game2048Task(Game2048Config())
# Only to slide left or right makes 16 in one move.
EASY = Game2048Problem(n_columns=3, target=16, n_moves=1, boards=((8, 8, 2, 4, 2, 0),))
WRONG = [
    "",
    "l",
    "west",
    "left or right",
    "left, right",
    "left left",
    "not left",
    "-left",
    "<-",
    "←",
    "leftmost",
    "1",
    "2 1",
    "l eft",
    "lеft",
    "ＬＥＦＴ",
    "up",
    "merge 8",
    "16",
    "pass",
    "I win",
    "NaN",
    "undo",
    "swipe",
    "left?",
    "99999999999999999999",
    "8 8 2",
]


def push(row):
    """Slide a row to the left by moving single tiles, step by step."""
    row, locked = list(row), set()
    for start in range(1, len(row)):
        at = start
        while row[at] and at > 0:
            if row[at - 1] == 0:
                row[at - 1], row[at] = row[at], 0
                at -= 1
            elif row[at - 1] == row[at] and at - 1 not in locked:
                row[at - 1], row[at] = 2 * row[at], 0
                locked.add(at - 1)
                break
            else:
                break
    return row


def turned(grid):
    return [list(row) for row in zip(*grid, strict=True)]


def moved(grid, move):
    if move in ("up", "down"):
        return turned(moved(turned(grid), {"up": "left", "down": "right"}[move]))
    if move == "right":
        return [push(row[::-1])[::-1] for row in grid]
    return [push(row) for row in grid]


def chance(grid, target, left):
    """The greatest chance of making the target."""
    if max(map(max, grid)) >= target:
        return Fraction(1)
    return max(chances(grid, target, left).values(), default=Fraction(0)) if left else Fraction(0)


def chances(grid, target, left):
    found = {}
    for move in ("left", "right", "up", "down"):
        new = moved(grid, move)
        if new == grid:
            continue
        if max(map(max, new)) >= target:
            found[move] = Fraction(1)
            continue
        empty = [(r, c) for r, row in enumerate(new) for c, tile in enumerate(row) if not tile]
        total = Fraction(0)
        for r, c in empty:
            new[r][c] = 2
            total += chance(new, target, left - 1)
            new[r][c] = 0
        found[move] = total / len(empty)
    return found


@pytest.mark.parametrize("level", [0, 1, 3, 4])
def test_values_are_those_of_a_search_of_its_own(level):
    task = Game2048Task(Game2048Config.at(level))
    compared = 0
    for seed in range(3):
        problem = task.generate(stream("2048", level, seed))
        session = task.begin(problem)
        while True:
            state = session.state.inner
            width = problem.n_columns
            grid = [list(state.cells[i : i + width]) for i in range(0, len(state.cells), width)]
            expected = chances(grid, problem.target, state.left)
            found = task.move_values(problem, session.state)
            assert {m: pytest.approx(float(v)) for m, v in expected.items()} == found
            compared += 1
            move = min(found, key=found.get) if compared % 3 == 0 else max(found, key=found.get)
            if session.reply(rf"\boxed{{{move}}}").verdict is not None:
                break
    assert compared >= 6


@pytest.mark.parametrize("seed", range(20))
def test_sliding_is_that_of_single_steps(seed):
    rng = stream("slide", seed)
    grid = [[int(rng.choice([0, 2, 2, 4, 8])) for _ in range(4)] for _ in range(3)]
    for move in ("left", "right", "up", "down"):
        before = tuple(chain.from_iterable(grid))
        cells, made = slid(before, 4, move)
        new = moved(grid, move)
        assert cells == tuple(chain.from_iterable(new))
        assert sum(cells) == sum(map(sum, grid))
        assert (made > 0) == (sorted(t for t in cells if t) != sorted(t for t in before if t))


@pytest.mark.parametrize("answer", WRONG)
def test_what_is_no_best_move_earns_nothing(answer):
    session = TASK.begin(EASY)
    for _ in range(3):
        reply = session.reply(rf"\boxed{{{answer}}}")
        if reply.verdict is not None:
            break
    assert reply.verdict.score == 0.0


@pytest.mark.parametrize("answer", ["left", "Left", "RIGHT", "`right`", r"\text{left}", "right "])
def test_the_spellings_of_best_moves(answer):
    assert TASK.begin(EASY).reply(rf"\boxed{{{answer}}}").verdict.score == 1.0


@pytest.mark.parametrize("level", [0, 2, 5, 7])
def test_the_oracle_is_right_whatever_appears(level):
    task = Game2048Task(Game2048Config.at(level))
    for seed in range(5):
        problem = task.generate(stream("oracle", level, seed))
        verdict = task.replay(problem, task.play(problem))
        assert verdict.score == 1.0
        assert verdict.parts["regret"] == 0.0


def test_one_direction_or_chance_is_seldom_right():
    task = Game2048Task(Game2048Config.at(3))
    for name in ("left", "right", "up", "down", ""):
        right = 0.0
        for seed in range(12):
            problem, rng = task.generate(stream("one", seed)), stream("moves", name, seed)

            def move(state, problem=problem, rng=rng, name=name):
                legal = task.game(problem).actions(state)
                return name if name in legal else legal[int(rng.integers(len(legal)))]

            right += task.replay(problem, task.moves(problem, move)).score
        assert right <= 1


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ConfigError, match="n_moves"):
        Game2048Config(n_moves=9)
