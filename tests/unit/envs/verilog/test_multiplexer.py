"""Multiplexer: both sources against each other and a model in Python, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.multiplexer import (
    FEATURES,
    MultiplexerConfig,
    MultiplexerTask,
    _Multiplexer,
)
from rlvr_envs.verifiers.hdl.interface import Clocking, Reference
from rlvr_envs.verifiers.hdl.judge import judge

CLOCKING = Clocking("clk", "rst", 1, asynchronous=False)


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 1, 3, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = MultiplexerTask(MultiplexerConfig.at(difficulty))
        design = task.design(stream("mux", difficulty, seed))
        assert judge(design.alternative, design.reference).score == 1.0
        turned = Reference(design.alternative, design.reference.ports, design.clocking)
        assert judge(design.golden, turned).score == 1.0


def multiplexer(kind="table", several="none", downwards=0, features=FEATURES[:5]):
    codes, bits = (tuple(range(5)), 3) if kind == "binary" else ((6, 1, 7, 2, 4), 3)
    return _Multiplexer(
        count=5,
        width=4,
        kind=kind,
        codes=codes,
        bits=5 if kind == "onehot" else bits,
        several=several,
        fallbacks=(9, 6),
        enable_level=0,
        downwards=downwards,
        features=features,
        clocking=CLOCKING if "hold" in features else None,
        names=("d", "sel", "y"),
    )


def chosen(circuit, row, select):
    if row["enable"]:
        return None
    if circuit.kind != "onehot":
        return circuit.codes.index(select) if select in circuit.codes else None
    bits = [i for i in range(5) if select >> i & 1]
    if circuit.several == "none":
        return bits[0] if len(bits) == 1 else None
    return bits[0 if circuit.several == "lowest" else -1] if bits else None


@pytest.mark.parametrize(
    ("kind", "several"),
    [
        ("binary", "none"),
        ("table", "none"),
        *[("onehot", s) for s in ("lowest", "highest", "none")],
    ],
)
@pytest.mark.parametrize("downwards", [0, 1])
def test_words_are_chosen_as_the_rules_say(kind, several, downwards, run_design, random_rows):
    circuit = multiplexer(kind, several, downwards)
    design = circuit.design()
    rows = random_rows(design, 300)
    for row, seen in zip(rows, run_design(design, rows), strict=True):
        words = [row["d"] >> 4 * i & 15 for i in range(5)]
        words = words[::-1] if downwards else words
        picks = [chosen(circuit, row, row[name]) for name in ("sel0", "sel1")]
        if picks[0] == picks[1]:
            picks[1] = None
        assert seen["y0"] == (9 if picks[0] is None else words[picks[0]])
        assert seen["y1"] == (6 if picks[1] is None else words[picks[1]])
        assert seen["miss"] == sum((pick is None) << k for k, pick in enumerate(picks))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("index0 = 3'd5;\n    end", "index0 = 3'd0;\n    end"),  # something is chosen when disabled
        ("(index0 == index1) ?", "(1'b0) ?"),  # a word is shown twice
        ("default: y1 = 4'd6", "default: y1 = 4'd9"),  # the fallback of the other output
        ("y0 = d[3:0]", "y0 = d[7:4]"),  # a word off by one
    ],
)
def test_a_slip_is_refused(right, wrong):
    design = multiplexer().design()
    assert right in design.golden
    verdict = judge(design.golden.replace(right, wrong), design.reference)
    assert verdict.score == 0.0
    assert verdict.parts["ports"] == 1.0


@pytest.mark.parametrize("wrong", [{"inputs": 1}, {"width": 0}, {"outputs": 5}, {"features": 9}])
def test_numbers_out_of_range_are_errors(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        MultiplexerConfig(**wrong)


@pytest.mark.parametrize("kind", ["table", "onehot"])
def test_outputs_search_for_free_words_and_remember(kind, run_design, random_rows):
    circuit = multiplexer(kind, "highest", features=FEATURES)
    design = circuit.design()
    rows = random_rows(design, 500)
    kept, wanted = [None, None], []
    for row in rows:
        words = [row["d"] >> 4 * i & 15 for i in range(5)]
        picks = []
        for name in ("sel0", "sel1"):
            first = chosen(circuit, row, row[name])
            ring = [] if first is None else [(first + step) % 5 for step in range(5)]
            free = [i for i in ring if row["ready"] >> i & 1 and i not in picks]
            picks.append(free[0] if free else None)
        shown = [k if pick is None else pick for pick, k in zip(picks, kept, strict=True)]
        values = [f if i is None else words[i] for i, f in zip(shown, (9, 6), strict=True)]
        missed = sum((pick is None) << k for k, pick in enumerate(picks))
        wanted.append({"y0": values[0], "y1": values[1], "miss": missed})
        kept = shown
    assert run_design(design, rows) == wanted
    assert run_design(replace(design, golden=design.alternative), rows) == wanted
    assert len({row["miss"] for row in wanted}) == 4
