"""Decoder: both sources against each other and a model in Python, and wrong answers."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.decoder import FEATURES, DecoderConfig, DecoderTask, _Decoder
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.judge import judge


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 1, 3, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = DecoderTask(DecoderConfig.at(difficulty)).design(stream("dec", difficulty, seed))
        assert judge(design.alternative, design.reference).score == 1.0
        turned = Reference(design.alternative, design.reference.ports)
        assert judge(design.golden, turned).score == 1.0


BOUNDS = ((3, 9), (7, 12), (0, 4), (14, 15))
ACCESS = ("read", "write", "both", "read")


def decoder(level=1, highest=False):
    return _Decoder(4, BOUNDS, ACCESS, level, 1, highest, FEATURES, "addr", "cs").design()


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("highest", [False, True])
def test_addresses_are_decoded_as_the_rules_say(level, highest, run_design, random_rows):
    design = decoder(level, highest)
    rows = random_rows(design, 300)
    for row, seen in zip(rows, run_design(design, rows), strict=True):
        found = [i for i, (low, high) in enumerate(BOUNDS) if row["addr"] in range(low, high + 1)]
        region = (found[-1] if highest else found[0]) if found else None
        fits = region is not None and ACCESS[region] in ("both", ("read", "write")[row["write"]])
        selects = row["enable"] << region if fits else 0
        assert seen == {
            "cs": selects if level else 15 ^ selects,
            "miss": int(row["enable"] and region is None),
            "offset": row["addr"] - BOUNDS[region][0] if selects else 0,
            "fault": int(row["enable"] and region is not None and not fits),
        }


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("addr <= 4'd9", "addr < 4'd9"),  # the last address is left out
        ("assign miss = enable && ", "assign miss = "),  # a miss without enable
        ("if (!taken) offset", "if (0) offset"),  # an offset where nothing is selected
        ("wire taken = enable && allowed", "wire taken = enable"),  # rights are forgotten
    ],
)
def test_a_slip_is_refused(right, wrong):
    design = decoder()
    assert right in design.golden
    assert judge(design.golden.replace(right, wrong), design.reference).score == 0.0


def test_the_other_priority_is_refused():
    assert judge(decoder(highest=True).alternative, decoder().reference).score == 0.0


@pytest.mark.parametrize(
    "wrong", [{"width": 1}, {"width": 2, "selects": 3}, {"selects": 17}, {"features": 7}]
)
def test_numbers_out_of_range_are_errors(wrong):
    with pytest.raises(ConfigError, match=list(wrong)[-1]):
        DecoderConfig(**wrong)
