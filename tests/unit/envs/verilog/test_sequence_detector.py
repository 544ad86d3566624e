"""SequenceDetector: both sources against each other and a list of bits, and wrong answers."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.sequence_detector import (
    FEATURES,
    Detector,
    SequenceDetectorConfig,
    SequenceDetectorTask,
)
from rlvr_envs.verifiers.hdl.judge import judge


def drawn(difficulty, seed):
    config = SequenceDetectorConfig.at(difficulty)
    return SequenceDetectorTask(config).design(stream("detector", difficulty, seed))


def detector(*patterns, mealy=True, overlap=True, reverse=False, wraps=True, features=()):
    return Detector(patterns, mealy, overlap, reverse, wraps, "x", "y", features)


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = drawn(difficulty, seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize(
    ("mealy", "overlap", "wraps"), list(itertools.product((False, True), repeat=3))
)
def test_it_finds_what_a_search_in_all_bits_finds(mealy, overlap, wraps, run_design, random_rows):
    patterns = ("10-1", "11", "0--10")
    found = detector(*patterns, mealy=mealy, overlap=overlap, wraps=wraps, features=FEATURES)
    design = found.design(stream("model", mealy, overlap))
    rows = random_rows(design, 300, seed=7)
    # Restarts and gaps are rare enough for matches to happen.
    for number, row in enumerate(rows):
        row["restart"] &= number % 5 == 0
        row["valid"] |= number % 3 != 0
    bits, count, last, before, seen = "", 0, 0, 0, []
    for row in rows:
        now = 0
        if row["valid"] and not row["restart"]:
            bits += str(row["x"])
            now = sum(1 << i for i, p in enumerate(patterns) if ends_with(bits, p))
        seen.append({"y": now if mealy else before, "count": count, "last": last})
        before = now
        if now:
            count = (count + 1) % 16 if wraps else min(count + 1, 15)
            last = next(i for i in range(3) if now >> i & 1)
        if row["restart"] or (now and not overlap):
            bits = ""
    assert count != 0 or wraps
    assert run_design(design, rows) == seen


def ends_with(bits, pattern):
    tail = bits[-len(pattern) :]
    pairs = zip(tail, pattern, strict=False)
    return len(tail) == len(pattern) and all(want in ("-", bit) for bit, want in pairs)


def test_a_pattern_told_backwards_is_the_same_machine():
    plain = detector("1101").design(stream("told"))
    backwards = detector("1101", reverse=True).design(stream("told"))
    assert "`1101`" in plain.title
    assert "`1011`" in backwards.title
    assert plain.golden == backwards.golden
    assert "leftmost" in " ".join(plain.rules)
    assert "rightmost" in " ".join(backwards.rules)


def test_overlap_and_kind_of_machine_are_told_apart():
    reference = detector("101").design(stream("kinds"))
    for change in ({"overlap": False}, {"mealy": False}):
        other = detector("101", **change).design(stream("kinds"))
        assert judge(other.golden, reference.reference).score == 0.0
    for pattern in ("100", "001", "1010"):
        other = detector(pattern).design(stream("kinds"))
        assert judge(other.alternative, reference.reference).score == 0.0


def test_bits_before_the_reset_do_not_count():
    design = detector("001").design(stream("before"))
    start = "seen <= 1;"  # the mark says that no bit is known
    assert start in design.alternative
    answer = design.alternative.replace(start, "seen <= 4;")  # two bits, both 0
    verdict = judge(answer, design.reference)
    assert verdict.score == 0.0
    assert "differently" in verdict.detail


@pytest.mark.parametrize(
    "knobs",
    [{"length": 1}, {"patterns": 4}, {"patterns": 0}, {"wildcards": 3}, {"features": 4}],
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        SequenceDetectorConfig(**knobs)
