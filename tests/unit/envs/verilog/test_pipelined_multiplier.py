"""PipelinedMultiplier: both sources against each other and a list of results; wrong answers."""

import itertools
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.pipelined_multiplier import (
    FEATURES,
    MultiplierSources,
    PipelinedMultiplierConfig,
    PipelinedMultiplierTask,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

MULTIPLIER = MultiplierSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    widths=(3, 4),
    size=5,
    latency=3,
    signed=(True, False),
    idle=19,
    moving=0,
    hard_flush=True,
    features=FEATURES,
    names=("a", "b", "p"),
    addend="c",
)


def number(value, width, signed):
    return value - (1 << width) if signed and value >> (width - 1) else value


def result(multiplier, row):
    """Return the result and whether it was cut."""
    has = multiplier.features.__contains__
    one, other = multiplier.signed
    if has("modes"):
        one, other = row["a_signed"], row["b_signed"]
    value = number(row["a"], 3, one) * number(row["b"], 4, other)
    if has("add"):
        value += number(row["c"], 7, one or other)
    if not has("narrow"):
        return value % 128, 0
    low, high = (-16, 15) if one or other else (0, 31)
    cut = min(max(value, low), high)
    return cut % 32, int(cut != value)


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = PipelinedMultiplierTask(PipelinedMultiplierConfig.at(difficulty))
        design = task.design(stream("multiplier", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize(
    ("count", "hard", "latency"),
    list(itertools.product(range(len(FEATURES) + 1), (False, True), (1, 3))),
)
def test_it_follows_a_list_of_results(count, hard, latency, run_design, random_rows):
    features = FEATURES[:count]
    multiplier = replace(
        MULTIPLIER,
        features=features,
        hard_flush=hard,
        latency=latency,
        moving=int(hard),
        signed=(hard, latency == 1),
        size=5 if "narrow" in features else 7,
    )
    design = multiplier.design()
    rows = random_rows(design, 250, seed=count)
    blank = (19, 0) if "valid" in features else (0, 0)
    line, seen = [None] * latency, []
    for row in rows:
        shown = blank if line[-1] is None else line[-1]
        expected = {"p": shown[0]}
        if "valid" in features:
            expected["out_valid"] = int(line[-1] is not None)
        if "narrow" in features:
            expected["overflow"] = shown[1]
        seen.append(expected)
        moves = "stall" not in features or row["enable" if hard else "stall"] == int(hard)
        if moves:
            line = [result(multiplier, row) if row.get("in_valid", 1) else None, *line[:-1]]
        if row.get("flush") and (hard or moves):
            line = [None] * latency
    assert run_design(design, rows) == seen


def test_wrong_answers_are_told():
    design = MULTIPLIER.design()
    others = [
        replace(MULTIPLIER, latency=2),
        replace(MULTIPLIER, idle=0),
        replace(MULTIPLIER, hard_flush=False),
    ]
    for other in others:
        verdict = judge(other.design().alternative, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail


@pytest.mark.parametrize("signed", list(itertools.product((False, True), (False, True))))
def test_signs_matter(signed):
    plain = replace(MULTIPLIER, features=(), size=7, signed=(True, False))
    other = replace(plain, signed=signed)
    same = signed == plain.signed
    assert judge(other.design().alternative, plain.design().reference).score == float(same)


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("alive <= 0;\n        end else", "end else"),
        ("if (!stall) begin", "if (1) begin"),
        ("{either & c[6], c}", "{1'b0, c}"),
        ("cut != exact", "exact > high"),
        ("if (flush) alive <= 0;", "if (flush) alive <= 1;"),
    ],
)
def test_a_slip_is_told(right, slip):
    design = MULTIPLIER.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"width": 1}, {"width": 11}, {"latency": 0}, {"features": 7}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        PipelinedMultiplierConfig(**knobs)
