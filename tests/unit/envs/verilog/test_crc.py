"""Crc: both sources against each other, known checks and a model in Python, and wrong answers."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.crc import FEATURES, Crc, CrcConfig, CrcTask
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

CLOCKING = Clocking("clk", "rst")


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 4, 6, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    config = CrcConfig.at(difficulty)
    for seed in range(2):
        design = CrcTask(config).design(stream("crc", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail
        assert verdict.parts["proved"] == 1.0


# The checks of the text "123456789" are in catalogues of such codes.
KNOWN = [
    (8, 0x07, False, 0, 0, False, 0xF4),  # CRC-8/SMBUS
    (8, 0x31, True, 0, 0, False, 0xA1),  # CRC-8/MAXIM-DOW
    (16, 0x1021, False, 0xFFFF, 0, False, 0x29B1),  # CRC-16/IBM-3740
    (16, 0x8005, True, 0xFFFF, 0xFFFF, False, 0xB4C8),  # CRC-16/USB
    (16, 0x1021, True, 0, 0, True, 0x9184),  # bits of CRC-16/KERMIT, 0x2189, in reverse
]


@pytest.mark.parametrize(("degree", "poly", "mirrored", "start", "final", "turned", "check"), KNOWN)
def test_known_checks(degree, poly, mirrored, start, final, turned, check, run_design):
    crc = Crc(
        degree, 8, poly, mirrored, mirrored, False, start, final, turned, FEATURES[:3], ("d", "crc")
    )
    rows = [{"valid": 1, "d": byte} for byte in b"123456789"] + [{"valid": 0, "d": 255}]
    assert run_design(crc.design(CLOCKING), rows)[-1] == {"crc": check}


@pytest.mark.parametrize(
    ("low_first", "mirrored"), list(itertools.product((False, True), repeat=2))
)
def test_registers_divide_bit_by_bit(low_first, mirrored, run_design, random_rows):
    crc = Crc(
        5, 6, 0b01011, low_first, mirrored, True, 0b10010, 0b00110, True, FEATURES, ("d", "c")
    )
    design = crc.design(CLOCKING)
    rows = random_rows(design, 200)
    state, words, seen = "10010", 0, []
    for row in rows:
        seen.append({"c": int(state[::-1], 2) ^ 0b00110, "words": words})
        if row["valid"]:
            state = "10010" if row["restart"] else state
            words = 1 if row["restart"] else (words + 1) % 16
            bits = f"{row['d']:06b}"
            for bit in (bits[::-1] if low_first else bits)[: row["length"]]:
                state = taken(state, bit, mirrored)
    assert run_design(design, rows) == seen


def taken(state, bit, mirrored):
    """Divide by x^5 + x^3 + x + 1, written from the highest power on."""
    text = state[::-1] if mirrored else state
    rest = [int(c) for c in text] + [0]
    rest[0] ^= int(bit)
    if rest[0]:
        rest = [a ^ b for a, b in zip(rest, (1, 0, 1, 0, 1, 1), strict=True)]
    text = "".join(map(str, rest[1:]))
    return text[::-1] if mirrored else text


def test_both_ways_of_telling_are_of_the_same_design():
    told = [
        Crc(5, 3, 0b01011, False, True, way, 1, 0, False, FEATURES[:1], ("d", "c")).design(None)
        for way in (False, True)
    ]
    assert told[0].golden == told[1].golden
    assert "shift s to the right" in told[0].rules[0]
    assert "XOR s with 5'd26" in told[0].rules[0]  # the coefficients in reverse order
    assert "x^5 + x^3 + x + 1" in told[1].rules[0]
    assert "bit 4 - i" in told[1].rules[0]


def test_wrong_answers_are_told():
    crc = Crc(5, 6, 0b01011, True, False, True, 0b10010, 0b00110, True, FEATURES, ("d", "c"))
    design = crc.design(CLOCKING)
    slips = [
        ("d[i]", "d[5 - i]"),
        ("& 5'd11", "& 5'd27"),
        ("restart ? 5'd18 : s", "s"),
        ("if (i < length)", "if (i <= length)"),
        (" ^ 5'd6", ""),
        ("s <= 5'd18;", "s <= 5'd31;"),
        ("words <= restart ? 1", "words <= restart ? 0"),
    ]
    for old, new in slips:
        assert design.golden.count(old) == 1, old
        verdict = judge(design.golden.replace(old, new), design.reference)
        assert verdict.score == 0.0, new
        assert "differently" in verdict.detail


@pytest.mark.parametrize("knobs", [{"degree": 2}, {"degree": 17}, {"size": 0}, {"features": 7}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        CrcConfig(**knobs)


def test_remainders_of_polynomials_come_later():
    def told(difficulty):
        task = CrcTask(CrcConfig.at(difficulty))
        return {"GF(2)" in task.design(stream("form", s)).rules[0] for s in range(16)}

    assert told(0) == told(1) == {False}
    assert told(3) == {False, True}
