"""FixedPoint: both sources against each other and fractions in Python, and wrong answers."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.fixed_point import (
    FEATURES,
    ROUNDINGS,
    FixedPointConfig,
    FixedPointSources,
    FixedPointTask,
)
from rlvr_envs.verifiers.hdl.judge import judge

ROUNDER = FixedPointSources(
    widths=(5, 4),
    points=(3, 2),
    drop=3,
    out=5,
    ways=("half even", "up", "half outwards", "inwards"),
    features=FEATURES,
    names=("x", "y", "c", "z"),
)
SINGLE = replace(ROUNDER, out=4, features=FEATURES[:5], ways=("half even",))


def value(word, width, point, signed):
    if signed and word >= 2 ** (width - 1):
        word -= 2**width
    return Fraction(word, 2**point)


def rounded(way, exact):
    """Return a fraction rounded to a whole number."""
    low, high = math.floor(exact), math.ceil(exact)
    if low == high:
        return low
    inner, outer = (low, high) if exact > 0 else (high, low)
    even, odd = (low, high) if low % 2 == 0 else (high, low)
    simple = {"down": low, "up": high, "inwards": inner, "outwards": outer}
    if way in simple:
        return simple[way]
    if exact - low != Fraction(1, 2):
        return low if exact - low < Fraction(1, 2) else high
    ties = {"up": high, "down": low, "even": even, "odd": odd, "inwards": inner}
    return (ties | {"outwards": outer})[way.removeprefix("half ")]


def simulated(rounder, rows):
    has = rounder.features.__contains__
    signed, seen = has("signed"), []
    point = (sum(rounder.points) if has("multiply") else rounder.points[0]) - rounder.drop
    for row in rows:
        exact = value(row["x"], rounder.widths[0], rounder.points[0], signed)
        if has("multiply"):
            exact *= value(row["y"], rounder.widths[1], rounder.points[1], signed)
        if has("add"):
            exact += value(row["c"], rounder.out, point, signed)
        exact *= 2**point
        got = rounded(rounder.ways[row.get("mode", 0)], exact)
        bottom = -(2 ** (rounder.out - 1)) if signed else 0
        top = bottom + 2**rounder.out - 1
        shown = min(max(got, bottom), top) if has("saturate") else got
        outputs = {"z": shown % 2**rounder.out}
        if has("flags"):
            outputs |= {"overflow": int(not bottom <= got <= top), "inexact": int(got != exact)}
        seen.append(outputs)
    return seen


def every(rounder):
    """Return every input where there are no more than two operands."""
    ys = range(2 ** rounder.widths[1]) if "multiply" in rounder.features else [0]
    return [{"x": x, "y": y} for x in range(2 ** rounder.widths[0]) for y in ys]


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = FixedPointTask(FixedPointConfig.at(difficulty))
        design = task.design(stream("fixed", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("way", ROUNDINGS)
@pytest.mark.parametrize("count", range(6))
def test_every_input_is_rounded_as_fractions_are(way, count, run_design):
    rounder = replace(ROUNDER, features=FEATURES[:count], ways=(way,))
    design = rounder.design()
    rows = every(rounder)
    expected = simulated(rounder, rows)
    assert run_design(design, rows) == expected
    assert run_design(replace(design, golden=design.alternative), rows) == expected


@pytest.mark.parametrize("count", [6, 7])
@pytest.mark.parametrize("wide", [False, True])
def test_modes_and_sums_follow_fractions(count, wide, run_design, random_rows):
    rounder = replace(ROUNDER, features=FEATURES[:count])
    if wide:
        rounder = replace(rounder, widths=(9, 8), points=(6, 5), drop=6, out=9)
    design = rounder.design()
    rows = random_rows(design, 800)
    expected = simulated(rounder, rows)
    assert {row["overflow"] for row in expected} == {0, 1}
    assert run_design(design, rows) == expected
    assert run_design(replace(design, golden=design.alternative), rows) == expected


def test_mutants_earn_nothing(judged_mutants):
    design = SINGLE.design()
    rows = every(SINGLE)
    expected = simulated(SINGLE, rows)
    assert judged_mutants(design, rows, expected, 12) == 12


@pytest.mark.parametrize("way", [way for way in ROUNDINGS if way != "half even"])
def test_another_way_earns_nothing(way):
    other = replace(SINGLE, ways=(way,)).design()
    assert judge(other.alternative, SINGLE.design().reference).score == 0.0


@pytest.mark.parametrize(
    "slip",
    [
        {"features": ("ties", "signed", "multiply", "flags")},
        {"features": ("saturate", "ties", "multiply", "flags")},
        {"points": (2, 3), "drop": 2},
        {"drop": 4},
    ],
)
def test_another_rounder_earns_nothing(slip):
    other = replace(SINGLE, **slip).design()
    assert judge(other.alternative, SINGLE.design().reference).score == 0.0


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        (">>>", ">>"),
        ("part > 3'd4", "part > 3'd3"),
        ("&& kept[0]", ""),
        ("&& kept[0]", "&& !kept[0]"),
        ("rounded > MOST", "kept > MOST"),  # an overflow by rounding is missed
        ("rounded > MOST", "rounded >= MOST"),
        ("rounded < LEAST", "0"),
        ("inexact = part != 0", "inexact = bump"),
        ("overflow = high || low", "overflow = high"),
        ("exact = first * second", "exact = first * $signed({1'b0, y})"),
        ("high ? MOST[3:0]", "high ? LEAST[3:0]"),
        ("LEAST = -8", "LEAST = -7"),
    ],
)
def test_a_slip_is_told(right, slip):
    design = SINGLE.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"width": 4}, {"width": 13}, {"features": 8}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        FixedPointConfig(**knobs)
