"""ElementaryAutomaton: both sources against each other and a model in Python, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.elementary_automaton import (
    BORDERS,
    FEATURES,
    ElementaryAutomatonConfig,
    ElementaryAutomatonTask,
    Row,
)
from rlvr_envs.verifiers.hdl.judge import judge

ROW = Row(7, (110, 45), "ring", 0b0010110, 0, "q", ())


def drawn(difficulty, seed):
    config = ElementaryAutomatonConfig.at(difficulty)
    return ElementaryAutomatonTask(config).design(stream("cells", difficulty, seed))


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = drawn(difficulty, seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail
        assert verdict.parts["proved"] == 1.0


@pytest.mark.parametrize("border", BORDERS)
@pytest.mark.parametrize("features", [(), FEATURES])
def test_cells_move_as_in_a_list(border, features, run_design, random_rows):
    design = replace(ROW, border=border, features=features).design(stream("list", border))
    rows = random_rows(design, 200)
    for number, row in enumerate(rows):
        row["load"] &= number % 4 == 0
    cells, past, seen = [0, 1, 1, 0, 1, 0, 0], [0] * 7, []
    for row in rows:
        shown = {"q": sum(cell << i for i, cell in enumerate(cells))}
        if features:
            shown["stable"] = int(step(cells, past, border, row, memory=True) == cells)
        seen.append(shown)
        if row["load"]:
            cells, past = [row["data"] >> i & 1 for i in range(7)], [0] * 7
        elif row.get("enable", 1):
            for _ in range(1 + row.get("fast", 0)):
                cells, past = step(cells, past, border, row, memory=bool(features)), cells
    assert run_design(design, rows) == seen


def step(cells, past, border, row, *, memory):
    outside = {"zeros": (0, 0), "ones": (1, 1), "mirror": (cells[-1], cells[0])}
    left_end, right_end = outside.get(border, (cells[0], cells[-1]))
    line = [right_end, *cells, left_end]  # cell i is line[i + 1]
    rule = f"{(110, 45)[row.get('alternate', 0)]:08b}"[::-1]
    moved = []
    for i, cell in enumerate(cells):
        new = int(rule[4 * line[i + 2] + 2 * cell + line[i]]) ^ (past[i] if memory else 0)
        moved.append(cell if row.get("frozen", 0) >> i & 1 else new)
    return moved


def test_rules_are_told_alike_in_three_ways():
    told = [replace(ROW, telling=n, features=FEATURES).design(stream("told")) for n in range(3)]
    assert len({design.golden for design in told}) == 1
    assert "bit 4a+2b+c of 110" in " ".join(told[0].rules)
    # 110 is 01101110 in binary, 45 is 00101101.
    assert "| 1 | 1 | 0 | 1 | 0 |" in told[1].figure
    assert "| 1 | 0 | 1 | 1 | 1 |" in told[1].figure
    assert "one of 110, 101, 011, 010, 001. " in " ".join(told[2].rules)


def test_wrong_answers_are_told():
    design = ROW.design(stream("wrong"))
    others = [
        replace(ROW, border="zeros"),
        replace(ROW, start=1),
        replace(ROW, rules=(124, 45)),  # left and right the other way round
        replace(ROW, rules=(110 ^ 128, 45)),
    ]
    for other in others:
        verdict = judge(other.design(stream("wrong")).golden, design.reference)
        assert verdict.score == 0.0
        assert "differently" in verdict.detail


def test_two_steps_are_more_than_one():
    design = replace(ROW, features=FEATURES).design(stream("fast"))
    once = design.golden.replace("fast ? second : first", "first")
    assert once != design.golden
    assert judge(once, design.reference).score == 0.0
    forgetful = design.golden.replace("fast ? first : q", "q")
    assert forgetful != design.golden
    assert judge(forgetful, design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"width": 2}, {"width": 49}, {"features": 7}, {"features": -1}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        ElementaryAutomatonConfig(**knobs)
