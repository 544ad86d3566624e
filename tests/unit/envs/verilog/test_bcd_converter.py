"""BcdConverter: both sources against each other and decimal numbers in Python, and slips."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.bcd_converter import (
    FEATURES,
    BcdConverterConfig,
    BcdConverterTask,
    Converter,
    Display,
)
from rlvr_envs.verifiers.hdl.judge import judge

SHAPES = ["abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "cdefg", "abc", "abcdefg", "abcdfg"]
SHOWN = Display(tuple(SHAPES), "abcdefg", 0)
ADDER = Converter(3, 9, 0, 9, 1, SHOWN, False, FEATURES[:7], "x")


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 4, 6, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    config = BcdConverterConfig.at(difficulty)
    for seed in range(2):
        design = BcdConverterTask(config).design(stream("decimal", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail
        assert verdict.parts["proved"] == 1.0


@pytest.mark.parametrize("apart", [False, True])
def test_converters_show_decimal_digits(apart, run_design):
    converter = Converter(3, 9, 400, 0, 0, Display(), apart, FEATURES[:1], "x")
    rows = [{"x": x} for x in range(0, 512, 7)]
    texts = [f"{row['x'] + 400:03d}" for row in rows]
    if apart:
        seen = [{"hundreds": int(t[0]), "tens": int(t[1]), "ones": int(t[2])} for t in texts]
    else:
        seen = [{"digits": int(t, 16)} for t in texts]
    assert run_design(converter.design(), rows) == seen


@pytest.mark.parametrize("features", [5, 6, 7, 8, 9])
def test_sums_are_shown_as_in_text(features, run_design, random_rows):
    design = replace(ADDER, features=FEATURES[:features]).design()
    rows = random_rows(design, 300)
    for number, row in enumerate(rows):
        if number % 3:
            row |= {name: int(str(row[name] % 1000).zfill(3), 16) for name in ("x", "y")}
        if number % 5 == 0:
            row["y"] = row["x"]
    assert run_design(design, rows) == [shown(row, features) for row in rows]


def shown(row, features):
    digits = [list(f"{row[name]:03x}") for name in ("x", "y")]
    wrong = any(digit in "abcdef" for word in digits for digit in word) and features > 6
    x, y = (int("".join("9" if d in "abcdef" else d for d in word)) for word in digits)
    x, y = (-n if row.get(f"{name}_minus") else n for n, name in ((x, "x"), (y, "y")))
    carry = row.get("c", 0)
    result = x - y - carry if row.get("mode") else x + y + carry
    text = str(abs(result)).rjust(4)
    if features > 8:
        text = str(result).rjust(4)[-4:]
    if wrong:
        text = "----"
    words = []
    for sign in text:
        lit = {" ": "", "-": "g"}.get(sign) if sign in " -" else SHAPES[int(sign)]
        lit = "abcdefg" if row.get("lamp") else lit
        words.append("".join("0" if segment in lit else "1" for segment in "abcdefg"))
    outs = {"digits": int("".join(words), 2)}
    if features > 5:
        outs["minus"] = int(result < 0 and not wrong)
    if features > 6:
        outs["error"] = int(wrong)
    return outs


def test_wrong_answers_are_told():
    design = replace(ADDER, digits=2).design()
    slips = [
        ("wire c1 = s0 > 9;", "wire c1 = s0 > 10;"),
        ("negative & ~error", "negative"),
        ("lamp ? 7'd0 : show(error ? 4'd10 : r0)", "show(error ? 4'd10 : r0)"),
        ("wire c0 = c ^ minus_mode;", "wire c0 = c;"),
        ("r1 == 0 && r2 == 0 ? 4'd11", "r1 == 0 ? 4'd11"),  # an inner zero is blank
    ]
    for old, new in slips:
        assert design.golden.count(old) == 1, old
        verdict = judge(design.golden.replace(old, new), design.reference)
        assert verdict.score == 0.0, new
        assert "differently" in verdict.detail


@pytest.mark.parametrize(
    "knobs", [{"digits": 1}, {"digits": 6}, {"features": 10}, {"features": -1}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        BcdConverterConfig(**knobs)
