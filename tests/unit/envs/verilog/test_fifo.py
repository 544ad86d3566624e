"""Fifo: both sources against each other and a deque, and wrong answers."""

import itertools
from collections import deque
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.fifo import FEATURES, FULL_RULES, FifoConfig, FifoSources, FifoTask
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

QUEUE = FifoSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    depth=3,
    width=3,
    idle=5,
    full_rule="refuse",
    registered=False,
    keeps=True,
    high=2,
    low=1,
    flush_keeps=True,
    sticky=True,
    features=FEATURES,
    names=("push", "din", "pop", "dout"),
)


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = FifoTask(FifoConfig.at(difficulty))
        design = task.design(stream("fifo", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


def simulated(fifo, rows):
    """Return the outputs in each cycle by a deque."""
    words, shown, errors, seen = deque(), 5, [0, 0], []
    for row in rows:
        push, pop, flush, n = row["push"], row["pop"], row["flush"], len(words)
        now = words[0] if words else row["din"] if push and not flush else 5
        seen.append(
            {
                "dout": shown if fifo.registered else now,
                "empty": int(n == 0),
                "full": int(n == fifo.depth),
                "count": n,
                "almost_full": int(n >= 2),
                "almost_empty": int(n <= 1),
                "overflow": errors[0],
                "underflow": errors[1],
            }
        )
        gone = shown if fifo.keeps else 5
        lost = dry = 0
        if flush:
            words.clear()
            if push and fifo.flush_keeps:
                words.append(row["din"])
        else:
            if pop and n:
                gone = words.popleft()
            elif pop and push:
                gone, push = row["din"], 0
            elif pop:
                dry = 1
            if push and n == fifo.depth and (fifo.full_rule == "refuse" or not pop):
                lost = 1
                if fifo.full_rule == "overwrite":
                    words.popleft()
                    words.append(row["din"])
            elif push:
                words.append(row["din"])
        shown = gone
        kept = [0, 0] if flush or not fifo.sticky else errors
        errors = [kept[0] | lost, kept[1] | dry]
    return seen


@pytest.mark.parametrize(
    ("rule", "registered", "keeps"),
    list(itertools.product(FULL_RULES, (False, True), (False, True))),
)
def test_it_follows_a_deque(rule, registered, keeps, run_design, random_rows):
    fifo = replace(
        QUEUE,
        full_rule=rule,
        registered=registered,
        keeps=keeps,
        flush_keeps=not keeps,
        sticky=registered == keeps,
        depth=3 if registered else 4,
    )
    design = fifo.design()
    rows = random_rows(design, 300, seed=FULL_RULES.index(rule))
    for number, row in enumerate(rows):
        row["flush"] &= number % 40 < 3
        row["push"] |= number // 25 % 3 == 0  # now and then it gets full
    expected = simulated(fifo, rows)
    assert {row["count"] for row in expected} == set(range(fifo.depth + 1))
    assert run_design(design, rows) == expected


def test_wrong_answers_are_told():
    design = QUEUE.design()
    others = [
        replace(QUEUE, full_rule="swap"),
        replace(QUEUE, full_rule="overwrite"),
        replace(QUEUE, idle=4),
        replace(QUEUE, high=3),
        replace(QUEUE, low=0),
        replace(QUEUE, flush_keeps=False),
        replace(QUEUE, sticky=False),
        replace(QUEUE, depth=2),
    ]
    for other in others:
        source = other.design().alternative
        verdict = judge(source, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("used <= 0;", ""),
        ("tail == 2'd2 ? 0 : tail + 1", "tail + 1"),
        (" && !passes", ""),
        ("dout = empty ? ", "dout = 0 ? "),
    ],
)
def test_a_slip_is_told(right, slip):
    design = QUEUE.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"depth": 0}, {"depth": 17}, {"width": 1}, {"features": 6}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        FifoConfig(**knobs)


def test_level_0_is_one_word_that_refuses():
    for seed in range(8):
        design = FifoTask(FifoConfig.at(0)).design(stream("small", seed))
        rules = " ".join(design.rules)
        assert "1 word" in design.title
        assert "is refused" in rules
        assert "registered" not in rules
        assert "Both can happen" not in rules
