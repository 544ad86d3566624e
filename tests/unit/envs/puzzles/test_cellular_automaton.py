"""Cellular automaton: against a plain simulation, known patterns, every answer, forms."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.cellular_automaton import (
    CellularAutomatonConfig,
    CellularAutomatonProblem,
    CellularAutomatonTask,
    patterns,
)

TASK = CellularAutomatonTask(CellularAutomatonConfig())
BLINKER = ("00000", "00100", "00100", "00100", "00000")
RULE_30 = CellularAutomatonProblem("30", False, ("0000100",), 2, ("0011001",))


def simulated(rule, start, wraps, n_steps):
    """The definition, cell by cell, on a dictionary of cells."""
    n_rows, n_columns = len(start), len(start[0])
    cells = {(i, j): int(start[i][j]) for i in range(n_rows) for j in range(n_columns)}

    def at(i, j):
        return cells[i % n_rows, j % n_columns] if wraps else cells.get((i, j), 0)

    def following(i, j):
        if "B" not in rule:
            return int(rule) // 2 ** (4 * at(i, j - 1) + 2 * at(i, j) + at(i, j + 1)) % 2
        around = [at(i + a, j + b) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b]
        birth, survival = rule[1:].split("/S")
        return int(str(sum(around)) in (survival if at(i, j) else birth))

    for _ in range(n_steps):
        cells = {place: following(*place) for place in cells}
    return tuple("".join(str(cells[i, j]) for j in range(n_columns)) for i in range(n_rows))


@pytest.mark.parametrize("difficulty", [0, 3, 7])
def test_a_plain_simulation_agrees(difficulty):
    task = CellularAutomatonTask(CellularAutomatonConfig.at(difficulty))
    seen = set()
    for seed in range(20):
        problem = task.generate(stream("Automaton", seed))
        assert problem.final == simulated(
            problem.rule, problem.start, problem.wraps, problem.n_steps
        )
        seen.add(("B" in problem.rule, problem.wraps))
    assert len(seen) == 4


def test_known_patterns():
    blinked = ("00000", "00000", "01110", "00000", "00000")
    assert patterns("B3/S23", BLINKER, False, 3) == [BLINKER, blinked, BLINKER, blinked]
    assert patterns("90", ("0001000",), False, 2) == [("0001000",), ("0010100",), ("0100010",)]
    glider = ("010000", "001000", "111000", "000000", "000000", "000000")
    moved = ("000000", "001000", "000100", "011100", "000000", "000000")
    assert patterns("B3/S23", glider, True, 4)[-1] == moved


@pytest.mark.parametrize("seed", range(4))
def test_every_answer(seed):
    config = CellularAutomatonConfig(kind="elementary", width=7, row_steps=3)
    task = CellularAutomatonTask(config)
    problem = task.generate(stream("Automaton", "answers", seed))
    answers = map("".join, itertools.product("01", repeat=7))
    right = [answer for answer in answers if task.verify(problem, answer).score == 1.0]
    assert right == list(simulated(problem.rule, problem.start, problem.wraps, 3))


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("0 0 1 1 0 0 1", 1.0),
        ("0011001", 1.0),
        ("[0, 0, 1, 1, 0, 0, 1]", 1.0),
        ("001100", 0.0),
        ("00110010", 0.0),
        ("0011001\n0011001", 0.0),
        ("0 0 1 1 0 0 0", 0.0),
        ("0 0 1 1 0 0 2", 0.0),
        ("11001", 0.0),
    ],
)
def test_forms(answer, score):
    assert TASK.verify(RULE_30, answer).score == score


def test_words_of_the_rules():
    assert "111 -> 0\n110 -> 0\n101 -> 0\n100 -> 1\n011 -> 1\n" in TASK.prompt(RULE_30)
    life = CellularAutomatonProblem("B1/S", True, BLINKER, 1, BLINKER)
    text = TASK.prompt(life)
    assert "A 0 becomes 1 if 1 of them is 1; otherwise it stays 0." in text
    assert "A 1 always becomes 0." in text


@pytest.mark.parametrize("rule", ["256", "-1", "B9/S1", "B3", "", "²"])
def test_rules_that_do_not_exist(rule):
    with pytest.raises(RowError, match="no cellular automaton"):
        patterns(rule, BLINKER, False, 1)


@pytest.mark.parametrize(
    "knob", [{"kind": "grid"}, {"width": 4}, {"side": 3}, {"row_steps": 0}, {"grid_steps": 101}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        CellularAutomatonConfig(**knob)


def test_effort_counts_the_cells_looked_at():
    assert TASK.effort(RULE_30) == 2 * 7 * 3
    life = CellularAutomatonProblem("B3/S23", False, BLINKER, 1, ())
    assert TASK.effort(life) == 25 * 9


def test_the_baseline_tosses_coins():
    answers = {TASK.baseline(stream("automaton", seed), RULE_30) for seed in range(40)}
    assert len(answers) > 20
    assert all(TASK.verify(RULE_30, answer).status != "unparsable" for answer in answers)


@pytest.mark.parametrize("kind", ["elementary", "life_like"])
def test_each_kind_grows_with_the_level(kind):
    efforts = []
    for level in range(11):
        config = dataclasses.replace(CellularAutomatonConfig.at(level), kind=kind)
        task = CellularAutomatonTask(config)
        efforts.append(task.effort(task.generate(stream("automaton", "levels"))))
    assert all(one < other for one, other in itertools.pairwise(efforts))
