"""ClockDivider: both sources against each other and a count, and wrong answers."""

import itertools
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.clock_divider import (
    FEATURES,
    ClockDividerConfig,
    ClockDividerTask,
    DividerSources,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

DIVIDER = DividerSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    width=3,
    period=5,
    first=False,
    high_first=True,
    rounds_up=True,
    zero=8,
    gated=True,
    second=3,
    parts=5,
    longer=2,
    features=FEATURES,
    tick="tick",
    wave="wave",
    enable="enable",
)


def simulated(divider, rows):
    """Return the outputs in each cycle by fractions and counts of cycles."""
    has = divider.features.__contains__
    place, length, periods, seen = 0, 5, 0, []
    for row in rows:
        enable = row.get("enable", 1)
        at = 0 if divider.first else length - 1
        outputs = {"tick": int(place == at and (enable or not divider.gated))}
        if has("square"):
            half = length / 2 + (0.5 if length % 2 and divider.rounds_up else 0)
            low = place < int(half)
            outputs["wave"] = int(low == divider.high_first)
        if has("cascade"):
            outputs["slow"] = int(outputs["tick"] and periods % 3 == 2)
        seen.append(outputs)
        new = (row["ratio"] or divider.zero) if has("ratio") else 5
        if row.get("restart"):
            place, length, periods = 0, new, 0
        elif enable and place == length - 1:
            place, length = 0, new
            if has("fraction"):  # the period is longer where the sum of all parts passes a whole
                length += (periods + 1) * 2 // 5 - periods * 2 // 5
            periods += 1
        elif enable:
            place += 1
    return seen


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = ClockDividerTask(ClockDividerConfig.at(difficulty))
        design = task.design(stream("divider", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize(
    ("count", "first", "high"),
    list(itertools.product(range(len(FEATURES) + 1), (False, True), (False, True))),
)
def test_it_follows_a_count(count, first, high, run_design, random_rows):
    divider = replace(
        DIVIDER,
        features=FEATURES[:count],
        first=first,
        high_first=high,
        rounds_up=first,
        zero=1 if high else 8,
        gated=first == high,
    )
    design = divider.design()
    rows = random_rows(design, 500, seed=count)
    for number, row in enumerate(rows):
        if "enable" in row:
            row["enable"] |= number % 3 > 0
        if "restart" in row:
            row["restart"] &= number % 100 < 4
    expected = simulated(divider, rows)
    assert all(len({row[name] for row in expected}) == 2 for name in expected[0])
    assert run_design(design, rows) == expected


def test_wrong_answers_are_told():
    design = DIVIDER.design()
    others = [
        replace(DIVIDER, period=6),
        replace(DIVIDER, first=True),
        replace(DIVIDER, high_first=False),
        replace(DIVIDER, rounds_up=False),
        replace(DIVIDER, zero=1),
        replace(DIVIDER, gated=False),
        replace(DIVIDER, second=4),
        replace(DIVIDER, parts=6),
        replace(DIVIDER, longer=3),
    ]
    for other in others:
        verdict = judge(other.design().alternative, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("length <= 4'd5;", "length <= 4'd0;"),
        ("wire ends = at + 1 == length", "wire ends = at == length"),
        ("rest <= 0;", ""),
        ("if (restart) begin", "if (restart && enable) begin"),
        (" && enable", ""),
    ],
)
def test_a_slip_is_told(right, slip):
    design = DIVIDER.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"width": 1}, {"width": 11}, {"features": 7}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        ClockDividerConfig(**knobs)
