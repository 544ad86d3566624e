"""GrayCode: both sources against each other and a list of codes, and wrong answers."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.gray_code import (
    FEATURES,
    Converter,
    Counter,
    GrayCodeConfig,
    GrayCodeTask,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

CODES = ["0", "1"]
for _ in range(3):  # reflect and put a bit in front
    CODES = ["0" + c for c in CODES] + ["1" + c for c in reversed(CODES)]
CODES = [int(code, 2) for code in CODES]
CLOCKING = Clocking("clk", "rst")


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 3, 4, 5, 7, 10])
def test_both_sources_are_equivalent(difficulty):
    config = GrayCodeConfig.at(difficulty)
    for seed in range(2):
        design = GrayCodeTask(config).design(stream("gray", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail
        assert verdict.parts["proved"] == 1.0


@pytest.mark.parametrize(("to_gray", "features"), [(True, 1), (False, 1), (True, 2), (True, 3)])
def test_converters_follow_the_list(to_gray, features, run_design, random_rows):
    converter = Converter(4, 5, to_gray, 1, FEATURES[:features], ("x", "y"))
    design = converter.design()
    rows = random_rows(design, 120)
    seen = []
    for row in rows:
        x, mode = row["x"], row.get("mode", int(to_gray))
        if features == 3:
            other = CODES.index(row["b"])
            y = CODES[(CODES.index(x) + (-other if mode else other) + 5) % 16]
        else:
            y = CODES[(x + 5) % 16] if mode else (CODES.index(x) + 5) % 16
        seen.append({"y": y})
    assert run_design(design, rows) == seen


@pytest.mark.parametrize(("low", "high"), [(0, 15), (3, 12), (6, 9)])
def test_counters_walk_along_the_list(low, high, run_design, random_rows):
    features = FEATURES if low else tuple(f for f in FEATURES if f != "range")
    design = Counter(4, low, high, 7, features, "q").design(CLOCKING)
    rows = random_rows(design, 300)
    for number, row in enumerate(rows):
        row["load"] &= number % 9 == 0
    walk, count, seen = CODES[low : high + 1], 7, []
    for row in rows:
        shown, after = CODES[count], CODES[count]
        if row["load"]:
            after = row["value"] if row["value"] in walk else walk[0]
        elif row["enable"]:
            step = -1 if row["down"] else 1
            after = walk[(walk.index(shown) + step) % len(walk)]
            assert (shown ^ after).bit_count() == 1
        seen.append({"q": shown, "toggle": shown ^ after})
        count = CODES.index(after)
    assert run_design(design, rows) == seen


def test_wrong_answers_are_told():
    design = Counter(4, 3, 12, 7, FEATURES, "q").design(CLOCKING)
    slips = [
        ("b == 4'd12 ? 4'd3", "b == 4'd12 ? 4'd0"),  # wraps to 0
        ("p < 4'd3 || ", ""),  # small numbers are taken
        ("b <= 4'd7;", "b <= 4'd3;"),  # another start
        ("b ^ (b >> 1)", "b"),  # binary
        ("load ? ", "load && enable ? "),
    ]
    for old, new in slips:
        assert design.golden.count(old) == 1, old
        verdict = judge(design.golden.replace(old, new), design.reference)
        assert verdict.score == 0.0, new
        assert "differently" in verdict.detail


@pytest.mark.parametrize("knobs", [{"width": 2}, {"width": 13}, {"features": 9}, {"features": -1}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        GrayCodeConfig(**knobs)
