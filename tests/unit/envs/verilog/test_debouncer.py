"""Debouncer: both sources against each other and a list of samples, and wrong answers."""

import itertools
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.debouncer import FEATURES, DebouncerConfig, DebouncerTask, _Debouncer
from rlvr_envs.verifiers.hdl.judge import judge

DEBOUNCER = _Debouncer(3, 2, 0, 2, True, True, "raw", "q", FEATURES)


def drawn(difficulty, seed):
    task = DebouncerTask(DebouncerConfig.at(difficulty))
    return task.design(stream("debouncer", difficulty, seed))


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = drawn(difficulty, seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize(
    ("level", "wraps", "clear_wins"), list(itertools.product((0, 1), (False, True), (False, True)))
)
def test_it_follows_a_list_of_samples(level, wraps, clear_wins, run_design, random_rows):
    debouncer = replace(DEBOUNCER, level=level, wraps=wraps, clear_wins=clear_wins)
    design = debouncer.design(stream("list", level, wraps, clear_wins))
    rows = random_rows(design, 300, seed=level)
    for number, row in enumerate(rows):
        row["clear"] &= number % 50 < 6
        row["tick"] |= number % 3 > 0
    clean, glitches, rose, fell, chain, seen = level, 0, 0, 0, [level] * 2, []
    samples = []  # since the output changed
    for row in rows:
        seen.append({"q": clean, "rose": rose, "fell": fell, "glitches": glitches})
        rose = fell = 0
        ended = False
        if row["tick"]:
            sample = chain[-1]
            ended = sample == clean and samples[-1:] == [1 - clean]
            samples.append(sample)
            need = 2 if clean else 3
            if samples[-need:] == [1 - clean] * need:
                clean, samples = 1 - clean, []
                rose, fell = clean, 1 - clean
        if row["clear"]:
            glitches = 0 if clear_wins else int(ended)
        elif ended:
            glitches = (glitches + 1) % 16 if wraps else min(15, glitches + 1)
        chain = [row["raw"], chain[0]]
    assert {row["q"] for row in seen} == {0, 1}
    assert run_design(design, rows) == seen


def test_wrong_answers_are_told():
    design = DEBOUNCER.design(stream("wrong"))
    others = [
        replace(DEBOUNCER, rise=4),
        replace(DEBOUNCER, fall=3),
        replace(DEBOUNCER, level=1),
        replace(DEBOUNCER, stages=1),
        replace(DEBOUNCER, wraps=False),
        replace(DEBOUNCER, clear_wins=False),
    ]
    for other in others:
        verdict = judge(other.design(stream("wrong")).alternative, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail


def test_a_count_that_does_not_start_again_is_wrong():
    design = replace(DEBOUNCER, features=()).design(stream("count"))
    slip = design.golden.replace("begin\n                run <= 0;\n            end", "begin end")
    assert slip != design.golden
    assert judge(slip, design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"samples": 1}, {"samples": 25}, {"features": 6}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        DebouncerConfig(**knobs)
