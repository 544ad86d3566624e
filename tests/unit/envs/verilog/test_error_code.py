"""ErrorCode: both sources against each other, codes that do what codes promise, and slips."""

import random

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.error_code import KINDS, Code, ErrorCodeConfig, ErrorCodeTask
from rlvr_envs.verifiers.hdl.judge import judge

COLUMNS = (0b011, 0b101, 0b110, 0b111)
ORDER = (4, 0, 6, 3, 5, 1, 2, 7)


def code(kind):
    extended = kind in ("double", "rewrite")
    order = ORDER if extended else tuple(bit for bit in ORDER if bit < 7)
    return Code(kind, 4, COLUMNS, 3, 0b010, 1, order, 0, ("x", "y"))


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 4, 5, 7, 9, 10])
def test_both_sources_are_equivalent(difficulty):
    config = ErrorCodeConfig.at(difficulty)
    for seed in range(2):
        design = ErrorCodeTask(config).design(stream("code", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail
        assert verdict.parts["proved"] == 1.0


def word(data, *, extended):
    """Return the code word of four bits, bit by bit from the definition."""
    d = [data >> i & 1 for i in range(4)]
    checks = [d[0] ^ d[1] ^ d[3], 1 ^ d[0] ^ d[2] ^ d[3], d[1] ^ d[2] ^ d[3]]
    bits = d + checks
    if extended:
        bits.append(1 - sum(bits) % 2)
    order = ORDER if extended else [bit for bit in ORDER if bit < 7]
    return sum(bits[bit] << place for place, bit in enumerate(order))


def test_words_are_as_defined(run_design):
    rows = [{"x": data} for data in range(16)]
    seen = [{"y": word(data, extended=False)} for data in range(16)]
    assert run_design(code("encode").design(), rows) == seen


def test_every_single_error_is_corrected(run_design):
    cases = [(data, 1 << place) for data in range(16) for place in range(7)]
    cases += [(data, 0) for data in range(16)]
    rows = [{"x": word(data, extended=False) ^ error} for data, error in cases]
    outs = run_design(code("correct").design(), rows)
    assert [out["y"] for out in outs] == [data for data, _ in cases]
    assert [out["bad"] for out in outs] == [int(error > 0) for _, error in cases]


def test_one_error_is_corrected_and_two_are_told(run_design, random_rows):
    design = code("rewrite").design()
    rows, seen = random_rows(design, 200), []
    rng = random.Random(3)
    for row in rows:
        data, errors = rng.randrange(16), rng.sample(range(8), rng.randrange(3))
        sent = word(data, extended=True)
        received = sent ^ sum(1 << place for place in errors)
        row |= {"x": received ^ row["flip"], "raw": 0}
        single, double = int(len(errors) == 1), int(len(errors) == 2)
        seen.append((single, double, None if double else data, received if double else sent))
    found = [
        (out["single"], out["double"], None if out["double"] else out["y"], out["again"])
        for out in run_design(design, rows)
    ]
    assert found == seen


def test_the_tables_tell_the_same_code():
    one = code("encode").design()
    assert "| c1 | d0, d2, d3 |" in one.figure
    other = Code("encode", 4, COLUMNS, 3, 0b010, 1, code("encode").order, 1, ("x", "y")).design()
    assert "| d1 | c0, c2 |" in other.figure
    assert one.golden == other.golden


@pytest.mark.parametrize("seed", range(5))
def test_drawn_codes_correct_one_error(seed):
    config = ErrorCodeConfig(size=9, kind="correct")
    design = ErrorCodeTask(config).design(stream("drawn", seed))
    rows = [line.strip("| ").split(" | ") for line in design.figure.split("\n")[2:]]
    columns = {}
    for name, members in rows:
        for member in members.split(", "):
            data, check = (name, member) if name.startswith("d") else (member, name)
            columns.setdefault(data, set()).add(check)
    assert len(columns) == len({frozenset(checks) for checks in columns.values()}) == 9
    assert all(len(checks) > 1 for checks in columns.values())


def test_wrong_answers_are_told():
    design = code("rewrite").design()
    slips = [
        ("single && !raw", "!raw"),  # also repairs where two bits are wrong
        ("!single && syndrome != 0", "syndrome != 0"),
        ("x ^ flip", "x"),
        ("double ? v : fresh", "fresh"),
        ("single = ^v ^ 1", "single = ^v"),
    ]
    for old, new in slips:
        assert design.golden.count(old) == 1, old
        verdict = judge(design.golden.replace(old, new), design.reference)
        assert verdict.score == 0.0, new
        assert "differently" in verdict.detail


@pytest.mark.parametrize("knobs", [{"size": 2}, {"size": 17}, {"kind": "hamming"}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        ErrorCodeConfig(**knobs)


def test_every_kind_has_a_level():
    assert {ErrorCodeConfig.at(difficulty).kind for difficulty in range(11)} == set(KINDS)
