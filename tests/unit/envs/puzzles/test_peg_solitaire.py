"""Peg solitaire: all short answers played on a picture, solvability, forms, knobs."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.peg_solitaire import (
    PegSolitaireConfig,
    PegSolitaireProblem,
    PegSolitaireTask,
)

TASK = PegSolitaireTask(PegSolitaireConfig(side=4, n_jumps=2))
# First B2 over C2, then D2 over D3.
SMALL = PegSolitaireProblem("....\n.oo.\n...o\n....", "B2-D2, D2-D4")


def cells_of(board):
    return {
        (letter, number): sign
        for number, row in enumerate(board.split("\n"), 1)
        for letter, sign in zip("ABCDEFGHIJKL", row, strict=False)
    }


def jump(cells, source, target):
    """The cells after a jump, or None."""
    columns = ord(target[0]) - ord(source[0])
    rows = target[1] - source[1]
    if (abs(columns), abs(rows)) not in ((0, 2), (2, 0)):
        return None
    over = (chr(ord(source[0]) + columns // 2), source[1] + rows // 2)
    if (cells.get(source), cells.get(over), cells.get(target)) != ("o", "o", "."):
        return None
    return {**cells, source: ".", over: ".", target: "o"}


def written(jumps):
    return ", ".join(f"{a}{m}-{b}{n}" for (a, m), (b, n) in jumps)


@pytest.mark.parametrize("seed", range(5))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("PegSolitaire", seed))
    start = cells_of(problem.board)
    every = list(itertools.product(start, repeat=2))
    near = [p for p in every if abs(ord(p[0][0]) - ord(p[1][0])) + abs(p[0][1] - p[1][1]) <= 2]
    solutions = 0
    for jumps in [*((pair,) for pair in every), *itertools.product(near, repeat=2)]:
        cells = start
        for source, target in jumps:
            cells = cells and jump(cells, source, target)
        solved = cells is not None and list(cells.values()).count("o") == 1
        solutions += solved
        assert (TASK.verify(problem, written(jumps)).score == 1.0) == solved
    assert solutions > 0


@pytest.mark.parametrize("difficulty", [1, 5, 10, 30])
def test_solutions_take_every_peg_but_one(difficulty):
    config = PegSolitaireConfig.at(difficulty)
    for seed in range(4):
        problem = PegSolitaireTask(config).generate(stream("PegSolitaire", "long", seed))
        cells = cells_of(problem.board)
        n_jumps = list(cells.values()).count("o") - 1
        assert problem.solution.count(",") + 1 == n_jumps
        assert config.n_jumps * 3 // 4 <= n_jumps <= config.n_jumps
        for move in problem.solution.split(", "):
            source, target = [(cell[0], int(cell[1:])) for cell in move.split("-")]
            cells = jump(cells, source, target)
        assert list(cells.values()).count("o") == 1


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("B2-D2, D2-D4", 1.0),
        ("[b2->d2; d2→d4]", 1.0),
        ("B2 - D2, D2\u2013D4", 1.0),
        ("B2 -> D2, D2 \u2212 D4", 1.0),
        ("B2-D2", 0.0),
        ("D3-D1", 0.0),
        ("D2-D4, B2-D2", 0.0),
        ("C2-A2, D3-D1", 0.0),
        ("B2-D2, D2-D4, D4-D2", 0.0),
        ("B2-C2, D2-D4", 0.0),
        ("B2-D4", 0.0),
        ("B2-D2, D2-D5", 0.0),
        ("B2-D2, D2-D0", 0.0),
        ("B2-D2, E2-E4", 0.0),
        ("B02-D2, D2-D4", 0.0),
        ("B2D2, D2D4", 0.0),
        ("2-4, 4-12", 0.0),
        ("B2-D2, D2-D4, done", 0.0),
        ("", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_jumps_do_not_run_over_the_edge():
    # In the order of the cells D1, A2 and B2 follow each other.
    edge = PegSolitaireProblem("...o\no...\n....\n....", "")
    assert TASK.verify(edge, "D1-B2").score == 0.0
    assert TASK.effort(edge) == 1


def test_the_prompt_labels_the_board():
    lines = TASK.prompt(SMALL).split("\n")
    assert lines[2:5] == ["  A B C D", "1 . . . .", "2 . o o ."]
    assert "exactly 2 jumps" in lines[-1]


@pytest.mark.parametrize("knob", [{"side": 3}, {"side": 13}, {"n_jumps": 0}, {"n_jumps": 13}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        PegSolitaireConfig(**knob)


def test_effort_counts_the_positions_looked_at():
    assert TASK.effort(SMALL) == 3  # the start, a dead end, and before the last jump


def test_the_baseline_jumps_until_it_cannot():
    rng = stream("baseline")
    answers = {TASK.baseline(rng, SMALL) for _ in range(40)}
    assert "B2-D2, D2-D4" in answers
    for answer in answers:
        cells = cells_of(SMALL.board)
        for move in answer.split(", "):
            source, target = [(cell[0], int(cell[1:])) for cell in move.split("-")]
            cells = jump(cells, source, target)
        assert cells is not None
