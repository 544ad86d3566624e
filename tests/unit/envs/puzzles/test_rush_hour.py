"""Rush Hour: all short answers played on pictures, exact lengths, forms, knobs."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.rush_hour import (
    Lot,
    RushHourConfig,
    RushHourProblem,
    RushHourTask,
    read_lot,
)

TASK = RushHourTask(RushHourConfig(side=4, n_vehicles=5, least_moves=2))
STRICT = RushHourTask(RushHourConfig(optimal_only=True))
#  A has to go down by two before X can leave; B is in nobody's way.
GATE = RushHourProblem("..A.\nXXA.\nBB..\n....", 2, "A+2, X+2")


def nudge(rows, letter, sign):
    """The picture after a vehicle moved by one cell, or None."""
    cells = [(r, c) for r, row in enumerate(rows) for c, found in enumerate(row) if found == letter]
    if not cells:
        return None
    across = len({r for r, _ in cells}) == 1
    moved = {(r, c + sign) if across else (r + sign, c) for r, c in cells}
    size = len(rows)
    for r, c in moved:
        if not (0 <= r < size and 0 <= c < size) or rows[r][c] not in (".", letter):
            return None
    grid = [["." if found == letter else found for found in row] for row in rows]
    for r, c in moved:
        grid[r][c] = letter
    return tuple("".join(row) for row in grid)


def slide(rows, letter, cells):
    for _ in range(abs(cells)):
        rows = rows and nudge(rows, letter, 1 if cells > 0 else -1)
    return rows


def options(rows):
    letters = sorted(set("".join(rows)) - {"."})
    distances = [d for d in range(-len(rows), len(rows) + 1) if d]
    return list(itertools.product(letters, distances))


def is_out(rows):
    return any(row.endswith("X") for row in rows)


def fewest(rows):
    known, layer, depth = {rows}, [rows], 0
    while not any(map(is_out, layer)):
        after = {slide(rows, *move) for rows in layer for move in options(rows)}
        layer = sorted(after - known - {None})
        known.update(layer)
        depth += 1
    return depth


@pytest.mark.parametrize("seed", range(8))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("RushHour", seed))
    start = tuple(problem.board.split("\n"))
    for length in (1, 2):
        for moves in itertools.product(options(start), repeat=length):
            state = start
            for move in moves:
                state = state and slide(state, *move)
            solved = state is not None and is_out(state)
            text = ", ".join(f"{letter}{cells:+}" for letter, cells in moves)
            assert (TASK.verify(problem, text).score == 1.0) == solved
            assert not solved or length >= problem.shortest


@pytest.mark.parametrize(("difficulty", "n_seeds"), [(0, 10), (3, 4), (5, 2)])
def test_shortest_lengths_are_exact(difficulty, n_seeds):
    task = RushHourTask(RushHourConfig.at(difficulty))
    for seed in range(n_seeds):
        problem = task.generate(stream("RushHour", "exact", seed))
        assert problem.shortest == fewest(tuple(problem.board.split("\n"))) >= 1


@pytest.mark.parametrize("difficulty", [0, 5, 9])
def test_lots_are_sound(difficulty):
    config = RushHourConfig.at(difficulty)
    for seed in range(3):
        problem = RushHourTask(config).generate(stream("RushHour", "lots", seed))
        lot, state = read_lot(problem.board)
        assert lot.show(state) == problem.board
        assert 2 <= len(lot.vehicles) <= config.n_vehicles
        assert [v.letter for v in lot.vehicles if v.across and v.line == lot.vehicles[0].line] == [
            "X"
        ]
        far = lot.distances(state, config.max_states)
        assert far[state] == problem.shortest <= config.least_moves
        assert problem.shortest == min(config.least_moves, max(far.values()))


def test_lots_without_an_end_or_with_too_many_positions():
    walled, state = read_lot("..A.\nXXA.\n..B.\n..B.")
    assert walled.distances(state, 100) == {}
    open_lot, state = read_lot("....\nXX..\n....\nAA..")
    assert list(open_lot.distances(state, 9).values()) == [0] * 3 + [1] * 6
    assert open_lot.distances(state, 8) == {}


@pytest.mark.parametrize(
    ("board", "clears"),
    [
        ("..A.\nXXA.\nBB..\n....", True),
        ("..A.\nXXA.\n..B.\n..B.", False),  # two vehicles need four cells of three
        ("..A.\nXXA.\n..A.\n....", False),  # neither above the row nor below it are three cells
        ("...A\n.XXA\n...A\n....", False),
        ("A...\nAXX.\nA...\n....", True),  # behind X
        ("..A..\n..A..\nXXB..\n..B..\n.....", True),
        ("..A..\n..A..\nXXB..\n..B..\n..B..", False),
        (".....\n..A..\nXXA..\n..A..\n.....", False),
        (".....\n..A..\nXXA..\n..B..\n..B..", True),
        ("......\n..A...\nXXA...\n..A...\n......\n......", True),
    ],
)
def test_columns_that_cannot_leave_the_row(board, clears):
    lot, state = read_lot(board)
    assert lot.can_clear(state) == clears
    assert bool(lot.distances(state, 10**5)) == clears


def test_x_alone_where_no_lot_is_looked_at():
    task = RushHourTask(RushHourConfig(n_proposals=0))
    problem = task.generate(stream("RushHour", "alone"))
    assert set(problem.board) == {".", "X", "\n"}
    assert problem.shortest == 1


def test_effort_counts_the_positions_looked_at():
    # X can go on to no column before A has gone down by two; B can move at any time.
    assert TASK.effort(RushHourProblem("....\nXX..\n....\n....", 1, "X+2")) == 2
    assert TASK.effort(GATE) > 4


def test_the_baseline_leaves_as_soon_as_it_can():
    problem = RushHourProblem("....\nXX..\n....\n....", 1, "X+2")
    assert TASK.baseline(stream("baseline"), problem) == "X+2"


@pytest.mark.parametrize(
    ("answer", "score", "strict"),
    [
        ("A+2, X+2", 1.0, 1.0),
        ("[a+2; x+2]", 1.0, 1.0),
        ("A+1, A+1, X+2", 1.0, 2 / 3),
        ("A+2, X+2, X-1", 0.0, 0.0),
        ("X+2, A+2", 0.0, 0.0),
        ("A+3, X+2", 0.0, 0.0),
        ("A-1, X+2", 0.0, 0.0),
        ("A+0, A+2, X+2", 0.0, 0.0),
        ("A+2, X+3", 0.0, 0.0),
        ("A2, X2", 0.0, 0.0),
        ("C+1, A+2, X+2", 0.0, 0.0),
        ("A + 2, X +2", 1.0, 1.0),
        ("A+2, A\u22121, A+1, X+1, X\u20131, X + 2", 1.0, 2 / 6),
        ("A+2, A - 1, A + 1, X + 2", 1.0, 2 / 4),
        ("A+1 - X", 0.0, 0.0),
        ("", 0.0, 0.0),
        ("B+1, B-1, " * 249 + "A+2, X+2", 1.0, 2 / 500),
        ("B+1, B-1, " * 250 + "A+2, X+2", 0.0, 0.0),
    ],
)
def test_forms_and_near_misses(answer, score, strict):
    assert TASK.verify(GATE, answer).score == score
    assert STRICT.verify(GATE, answer).score == pytest.approx(strict)


def test_slides_pass_no_other_vehicle():
    lot, state = read_lot("XX.A\n...A\nB.CC\nB...")
    assert isinstance(lot, Lot)
    assert {(lot.vehicles[i].letter, cells) for (i, cells), _ in lot.slides(state)} == {
        ("X", 1),
        ("B", -1),
        ("C", -1),
    }


@pytest.mark.parametrize(
    "knob",
    [
        {"side": 3},
        {"n_vehicles": 1},
        {"n_vehicles": 27},
        {"n_proposals": -1},
        {"max_states": 1},
        {"least_moves": 0},
        {"least_moves": 31},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        RushHourConfig(**knob)
