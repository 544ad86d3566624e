"""EdgeDetector: both sources against each other and a model in Python, and wrong answers."""

import itertools
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.edge_detector import (
    FEATURES,
    KINDS,
    Detector,
    EdgeDetectorConfig,
    EdgeDetectorTask,
)
from rlvr_envs.verifiers.hdl.judge import judge

ALL = Detector(KINDS, 0, False, 2, 2, True, True, "d", "y", FEATURES)
ONE = replace(ALL, kinds=("rising",), features=())
CHANGES = {"rising": [(0, 1)], "falling": [(1, 0)], "any": [(0, 1), (1, 0)]}


def drawn(difficulty, seed):
    task = EdgeDetectorTask(EdgeDetectorConfig.at(difficulty))
    return task.design(stream("edges", difficulty, seed))


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = drawn(difficulty, seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize(
    ("level", "registered", "wins", "features"),
    list(itertools.product((0, 1), (False, True), (False, True), (FEATURES[:1], FEATURES))),
)
def test_edges_are_those_of_a_list_of_levels(
    level, registered, wins, features, run_design, random_rows
):
    made = replace(
        ALL, level=level, registered=registered, set_wins=wins, saturates=wins, features=features
    )
    design = made.design(stream("list", level, registered))
    rows = random_rows(design, 200, seed=level)
    stages = 2 if "sync" in features else 0
    lines = [[level] * (stages + 1) for _ in KINDS]  # the last levels of each input
    found_before, waiting, kept, count, seen = 0, [0, 0, 0], [0, 0, 0], 0, []
    for number, row in enumerate(rows):
        row["mask"] = row.get("mask", 7) | 7 * (number % 3 > 0)
        row["clear"] = row.get("clear", 0) * (number % 5 == 0)
        for i, line in enumerate(lines):
            line.append(row["d"] >> i & 1)
        found = [
            int((line[0], line[1]) in CHANGES[kind] and row["mask"] >> i & 1 and not waiting[i])
            for i, (kind, line) in enumerate(zip(KINDS, lines, strict=True))
        ]
        for line in lines:
            line.pop(0)
        word = sum(bit << i for i, bit in enumerate(found))
        shown = {"y": found_before if registered else word}
        if features == FEATURES:
            shown |= {"seen": sum(bit << i for i, bit in enumerate(kept)), "count": count}
            waiting = [2 if f else max(0, w - 1) for f, w in zip(found, waiting, strict=True)]
        seen.append(shown)
        found_before = word
        for i, bit in enumerate(found):
            if row["clear"] >> i & 1:
                kept[i] = 0
            if bit and (wins or not row["clear"] >> i & 1):
                kept[i] = 1
        count = min(63, count + sum(found)) if wins else (count + sum(found)) % 64
    assert run_design(design, rows) == seen


def test_wrong_answers_are_told():
    design = ALL.design(stream("wrong"))
    others = [
        replace(ALL, kinds=("rising", "any", "falling")),
        replace(ALL, level=1),
        replace(ALL, registered=True),
        replace(ALL, stages=3),
        replace(ALL, gap=1),
        replace(ALL, set_wins=False),
        replace(ALL, saturates=False),
    ]
    for other in others:
        verdict = judge(other.design(stream("wrong")).alternative, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail


@pytest.mark.parametrize("kind", ["falling", "any"])
def test_the_other_edge_is_wrong(kind):
    design = ONE.design(stream("one"))
    assert judge(design.alternative, design.reference).score == 1.0
    other = replace(ONE, kinds=(kind,)).design(stream("one"))
    assert judge(other.golden, design.reference).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"width": 0}, {"width": 9}, {"features": 7}, {"gap": 0}, {"gap": 5}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        EdgeDetectorConfig(**knobs)
