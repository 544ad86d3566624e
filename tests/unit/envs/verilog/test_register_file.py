"""RegisterFile: both sources against each other and a list of words, and wrong answers."""

import itertools
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.register_file import (
    FEATURES,
    RegisterFileConfig,
    RegisterFileSources,
    RegisterFileTask,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

FILE = RegisterFileSources(
    clocking=Clocking("clk", "rst_n", 0, asynchronous=True),
    words=5,
    width=5,
    reads=2,
    size=2,
    start=9,
    fixed=3,
    constant=21,
    beyond=6,
    stronger=1,
    features=FEATURES,
    write=("we", "wa", "wd"),
    read=("ra", "rd"),
)


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = RegisterFileTask(RegisterFileConfig.at(difficulty))
        design = task.design(stream("register file", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize(
    ("count", "stronger"), list(itertools.product(range(len(FEATURES) + 1), (0, 1)))
)
def test_it_follows_a_list_of_words(count, stronger, run_design, random_rows):
    file = replace(FILE, features=FEATURES[:count], stronger=stronger)
    has = file.features.__contains__
    design = file.design()
    rows = random_rows(design, 200, seed=count)
    if has("clear"):
        for number, row in enumerate(rows):
            row["clear"] &= number % 20 == 7
    words = [9] * 5
    if has("fixed"):
        words[3] = 21
    held, seen = [0, 0], []
    ports = (["_b", "_a"] if stronger == 0 else ["_a", "_b"]) if has("second") else [""]
    for row in rows:
        after = list(words)
        for end in ports:
            where = row[f"wa{end}"]
            writable = where < 5 and not (has("fixed") and where == 3)
            if row[f"we{end}"] and writable and not row.get("clear"):
                lanes = row[f"lanes{end}"] if has("lanes") else 7
                mask = sum(3 << 2 * k for k in range(3) if lanes >> k & 1) & 31
                after[where] = after[where] & ~mask | row[f"wd{end}"] & mask
        view = after if has("bypass") else words
        reads = [view[row[f"ra{k}"]] if row[f"ra{k}"] < 5 else 6 for k in range(2)]
        seen.append(held if has("registered") else reads)
        held = reads
        words = after
        if row.get("clear"):
            words = [21 if k == 3 else 9 for k in range(5)]
    assert [[row["rd0"], row["rd1"]] for row in run_design(design, rows)] == seen


def test_wrong_answers_are_told():
    design = FILE.design()
    others = [
        replace(FILE, stronger=0),
        replace(FILE, size=3, width=5),
        replace(FILE, start=8),
        replace(FILE, beyond=7),
        replace(FILE, constant=20),
    ]
    for other in others:
        source = other.design().alternative
        if other.size == 3:  # the same ports, other lanes
            source = source.replace("logic [1:0] lanes", "logic [2:0] lanes")
        verdict = judge(source, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("hit_b && wa_b == ra0 && lanes_b[0]", "hit_b && wa_b == ra0"),
        ("ra0 == 3 ? 5'd21 : ", ""),
        ("rd0 <= 0;", ""),
        ("if (clear) begin", "if (0) begin"),
    ],
)
def test_a_forgotten_rule_is_told(right, slip):
    design = FILE.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"words": 1}, {"words": 17}, {"width": 1}, {"reads": 4}, {"features": 7}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        RegisterFileConfig(**knobs)
