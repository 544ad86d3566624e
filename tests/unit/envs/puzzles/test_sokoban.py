"""Sokoban: all short answers played by other rules, exact lengths, forms, knobs."""

import itertools
from collections import deque

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.sokoban import SokobanConfig, SokobanProblem, SokobanTask
from rlvr_envs.generators.grids import sokoban

TASK = SokobanTask(SokobanConfig.at(0))
STRICT = SokobanTask(SokobanConfig(optimal_only=True))
STEPS = {"U": (-1, 0), "D": (1, 0), "L": (0, -1), "R": (0, 1)}
CORRIDOR = SokobanProblem("######\n#@$_.#\n#____#\n######", 2, "RR")


def parse(board):
    """Sets of cells read off the picture, by the legend of the prompt."""
    cells = {(r, c): sign for r, row in enumerate(board.split("\n")) for c, sign in enumerate(row)}
    walls = {cell for cell, sign in cells.items() if sign == "#"}
    goals = {cell for cell, sign in cells.items() if sign in ".*+"}
    boxes = frozenset(cell for cell, sign in cells.items() if sign in "$*")
    (player,) = [cell for cell, sign in cells.items() if sign in "@+"]
    return walls, goals, boxes, player


def step(walls, boxes, player, letter):
    """The boxes and the player after a move, or None."""
    down, right = STEPS[letter]
    to, behind = [(player[0] + k * down, player[1] + k * right) for k in (1, 2)]
    if to in walls or (to in boxes and (behind in walls or behind in boxes)):
        return None
    return (boxes - {to} | {behind} if to in boxes else boxes), to


def fewest_moves(board):
    walls, goals, boxes, player = parse(board)
    far, queue = {(boxes, player): 0}, deque([(boxes, player)])
    while queue:
        state = queue.popleft()
        if state[0] == goals:
            return far[state]
        for letter in STEPS:
            after = step(walls, *state, letter)
            if after and after not in far:
                far[after] = far[state] + 1
                queue.append(after)
    return None


@pytest.mark.parametrize("seed", range(10))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Sokoban", seed))
    walls, goals, boxes, player = parse(problem.board)
    for length in range(1, 6):
        for letters in itertools.product("UDLR", repeat=length):
            state = boxes, player
            for letter in letters:
                state = step(walls, *state, letter) if state else None
            solved = state is not None and state[0] == goals
            assert (TASK.verify(problem, "".join(letters)).score == 1.0) == solved


@pytest.mark.parametrize(("difficulty", "n_seeds"), [(0, 20), (4, 8), (7, 2)])
def test_shortest_lengths_are_exact(difficulty, n_seeds):
    task = SokobanTask(SokobanConfig.at(difficulty))
    for seed in range(n_seeds):
        problem = task.generate(stream("Sokoban", "exact", seed))
        assert problem.shortest == len(problem.solution) == fewest_moves(problem.board)


@pytest.mark.parametrize("seed", range(6))
def test_the_picture_says_everything(seed):
    config = SokobanConfig.at(3 * seed)
    size = sokoban.RoomSize(config.side, config.n_floor, config.n_boxes)
    position = sokoban.draw_position(
        stream("Sokoban", seed), size, n_rooms=2, max_states=500, max_length=1000
    )
    board = position.room.show(position.state)
    room, state = sokoban.read_board(board)
    assert room.show(state) == board
    assert (room, state) == (position.room, position.state)
    walls, goals, boxes, _ = parse(board)
    assert len(goals) == len(boxes) == config.n_boxes
    assert board.count("#") == len(walls) == len(board.replace("\n", "")) - config.n_floor


@pytest.mark.parametrize("n_boxes", [1, 3])
def test_what_stands_in_where_no_position_was_found(n_boxes):
    position = sokoban._easy(sokoban.RoomSize(3, 9, n_boxes))
    board = position.room.show(position.state)
    assert fewest_moves(board) == 1
    assert TASK.verify(SokobanProblem(board, 1, "U"), "U").score == 1.0


@pytest.mark.parametrize(
    ("answer", "score", "strict"),
    [
        ("RR", 1.0, 1.0),
        ("r, r", 1.0, 1.0),
        ("[R R]", 1.0, 1.0),
        ("DURR", 1.0, 0.5),
        ("RRD", 1.0, 2 / 3),  # stepping away from a solved room
        ("RRR", 0.0, 0.0),  # the box is pushed against the wall
        ("R", 0.0, 0.0),
        ("URR", 0.0, 0.0),
        ("RR!", 0.0, 0.0),
        ("Right Right", 0.0, 0.0),
        ("2R", 0.0, 0.0),
        ("", 0.0, 0.0),
        ("DU" * 499 + "RR", 1.0, 2 / 1000),
        ("DU" * 500 + "RR", 0.0, 0.0),
    ],
)
def test_forms_and_near_misses(answer, score, strict):
    assert TASK.verify(CORRIDOR, answer).score == score
    assert STRICT.verify(CORRIDOR, answer).score == pytest.approx(strict)


@pytest.mark.parametrize(
    "knob",
    [
        {"side": 2},
        {"side": 11},
        {"n_boxes": 0},
        {"n_boxes": 6},
        {"n_floor": 3},
        {"n_floor": 26},
        {"n_rooms": 0},
        {"max_states": 10},
        {"least_moves": 0},
        {"least_moves": 31},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        SokobanConfig(**knob)
