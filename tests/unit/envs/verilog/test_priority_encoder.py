"""PriorityEncoder: both sources against each other and a model in Python, and wrong answers."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.priority_encoder import (
    FEATURES,
    PriorityEncoderConfig,
    PriorityEncoderTask,
    _Encoder,
)
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.judge import judge


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 1, 3, 5, 7])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = PriorityEncoderTask(PriorityEncoderConfig.at(difficulty))
        design = task.design(stream("encoder", difficulty, seed))
        assert judge(design.alternative, design.reference).score == 1.0
        turned = Reference(design.alternative, design.reference.ports)
        assert judge(design.golden, turned).score == 1.0


@pytest.mark.slow
def test_both_sources_of_a_hard_one_are_equivalent():
    task = PriorityEncoderTask(PriorityEncoderConfig.at(10))
    design = task.design(stream("encoder", 10, 0))
    assert judge(design.alternative, design.reference).score == 1.0


def encoder(beyond=0, mask_level=1, features=FEATURES, downwards=False):
    return _Encoder(5, 2, 3, 6, downwards, mask_level, beyond, features, "req", "index").design()


@pytest.mark.parametrize("beyond", [0, 4])
@pytest.mark.parametrize("mask_level", [0, 1])
def test_requests_are_served_in_the_order_of_the_rules(beyond, mask_level, run_design, random_rows):
    design = encoder(beyond, mask_level)
    rows = random_rows(design, 400)
    for row, seen in zip(rows, run_design(design, rows), strict=True):
        first = row["start"] if row["start"] < 5 else beyond
        ring = [(first - step if row["down"] else first + step) % 5 for step in range(5)]
        live = [i for i in ring if row["req"] >> i & 1 and row["mask"] >> i & 1 == mask_level]
        served = sorted(live, key=lambda i: not row["urgent"] >> i & 1)
        assert [seen["index0"], seen["index1"]] == ([*served, 6, 6])[:2]
        assert seen["valid"] == (0, 1, 3)[min(len(served), 2)]
        assert seen["count"] == len(served)


@pytest.mark.parametrize("downwards", [False, True])
def test_without_a_start_the_search_begins_at_an_end(downwards, run_design, random_rows):
    design = encoder(features=FEATURES[:1], downwards=downwards)
    rows = random_rows(design, 32)
    for row, seen in zip(rows, run_design(design, rows), strict=True):
        found = sorted((i for i in range(5) if row["req"] >> i & 1), reverse=downwards)
        assert [seen["index0"], seen["index1"]] == ([*found, 6, 6])[:2]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("start > 3'd4 ? 3'd0", "start > 3'd4 ? 3'd4"),  # a start beyond the last request
        ("index1 = 3'd6;", "index1 = 3'd0;"),  # what is shown without a second request
        ("(k < 5)", "(k >= 5)"),  # urgent requests come last
        ("valid[1] = found > 1", "valid[1] = found > 0"),
    ],
)
def test_a_slip_is_refused(right, wrong):
    design = encoder()
    assert right in design.golden
    assert judge(design.golden.replace(right, wrong), design.reference).score == 0.0


@pytest.mark.parametrize(
    "wrong", [{"width": 2}, {"grants": 0}, {"width": 3, "grants": 4}, {"features": 7}]
)
def test_numbers_out_of_range_are_errors(wrong):
    with pytest.raises(ConfigError, match=list(wrong)[-1]):
        PriorityEncoderConfig(**wrong)
