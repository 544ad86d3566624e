"""Arbiter: both sources against each other and a search in a list, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.arbiter import FEATURES, ArbiterConfig, ArbiterSources, ArbiterTask
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

ARBITER = ArbiterSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    line=(2, 0, 3, 1),
    weights=(1, 3, 2, 2),
    limit=4,
    idle=3,
    features=FEATURES,
    request="req",
    grant="grant",
)


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = ArbiterTask(ArbiterConfig.at(difficulty))
        design = task.design(stream("arbiter", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("count", range(len(FEATURES) + 1))
def test_it_follows_a_search_in_a_list(count, run_design, random_rows):
    features = FEATURES[:count]
    weights = ARBITER.weights if "weights" in features else (1, 1, 1, 1)
    design = replace(ARBITER, features=features, weights=weights).design()
    rows = random_rows(design, 400, seed=count)
    holder, ring, cycles, seen = None, [2, 0, 3, 1], 0, []
    for row in rows:
        expected = {"grant": 0 if holder is None else 1 << holder}
        if "index" in features:
            expected["index"] = 3 if holder is None else holder
        seen.append(expected)
        asking = {i for i in range(4) if row["req"] >> i & 1}
        pressing = {i for i in asking if "urgent" in features and row["urgent"] >> i & 1}
        stays = False
        if holder in asking:
            stays = bool(row.get("lock")) and ("limit" not in features or cycles < 4)
            if "weights" in features:
                stays |= cycles < weights[holder] and (not pressing or holder in pressing)
        if stays:
            cycles += 1
            continue
        choice = [i for i in ring if i in (pressing or asking)]
        holder, cycles = (choice[0], 1) if choice else (None, 0)
        if choice and "rotate" in features:
            place = ring.index(holder) + 1
            ring = ring[place:] + ring[:place]
    assert len({row["grant"] for row in seen}) == 5
    assert run_design(design, rows) == seen


def test_wrong_answers_are_told():
    design = ARBITER.design()
    others = [
        replace(ARBITER, line=(2, 0, 1, 3)),
        replace(ARBITER, weights=(1, 3, 2, 1)),
        replace(ARBITER, limit=5),
        replace(ARBITER, idle=0),
    ]
    for other in others:
        verdict = judge(other.design().alternative, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("last <= 2'd3;", "last <= 2'd0;"),
        ("granted && asks[last] &&", "granted &&"),
        (" && pool[last]", ""),
        ("run <= run + 1;", ""),
        ("granted <= 0;", ""),
    ],
)
def test_a_slip_is_told(right, slip):
    design = ARBITER.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"requests": 1}, {"requests": 13}, {"weight": 1}, {"features": 7}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        ArbiterConfig(**knobs)
