"""BitCount: both sources against each other and strings in Python, and wrong answers."""

import itertools
import re
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.bit_count import (
    KINDS,
    PREPARATIONS,
    STREAMED,
    BitCountConfig,
    BitCountTask,
    Counts,
    Output,
    Stream,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

WEIGHTS = (3, 1, 9, 4, 4, 2, 7)


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 4, 6, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    config = BitCountConfig.at(difficulty)
    for seed in range(2):
        design = BitCountTask(config).design(stream("count", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail
        assert verdict.parts["proved"] == 1.0


def count(kind, word, bit, number, tie):
    """Return what an output shows for a word as text, most significant bit first."""
    these = [i for i, c in enumerate(reversed(word)) if c == str(bit)]
    runs = [len(run) for run in re.findall(f"{bit}+", word)]
    n = len(word)
    return {
        "ones": len(these),
        "leading": n - 1 - max(these, default=-1),
        "trailing": min(these, default=n),
        "threshold": int(len(these) >= number),
        "majority": int(2 * len(these) > n or (tie and 2 * len(these) == n)),
        "changes": sum(a != b for a, b in itertools.pairwise(word)),
        "runs": len(runs),
        "longest": max(runs, default=0),
        "weighted": sum(WEIGHTS[i] for i in these),
        "balance": sum(1 if i % 2 == 0 else -1 for i in these),
        "multiple": int(len(these) % number == 0),
    }[kind]


@pytest.mark.parametrize(("size", "bit", "tie"), [(7, 1, 0), (6, 0, 1), (6, 1, 0)])
def test_every_kind_counts_as_in_text(size, bit, tie, run_design, random_rows):
    outputs = tuple(Output(kind, f"o_{kind}", bit, 3, tie, WEIGHTS[:size]) for kind in KINDS)
    constant = 0b0110010 & (2**size - 1)
    design = Counts(size, outputs, PREPARATIONS, 0, constant, "x").design()
    rows = random_rows(design, 250)
    seen = []
    for row in rows:
        word = f"{(row['x'] & ~row['mask']) ^ constant:0{size}b}"
        word = word[::-1] if row["turn"] else word
        shown = {f"o_{kind}": count(kind, word, bit, 3, tie) for kind in KINDS}
        width = next(s.width for s in design.signals if s.name == "o_balance")
        shown["o_balance"] %= 2**width
        seen.append(shown)
    assert run_design(design, rows) == seen


@pytest.mark.parametrize("size", [3, 4, 7])
def test_every_value_fits_its_port(size):
    for kind, bit in itertools.product(KINDS, (0, 1)):
        output = Output(kind, "o", bit, 3, 0, WEIGHTS[:size])
        words = [f"{n:0{size}b}" for n in range(2**size)]
        values = {count(kind, word, bit, 3, 0) for word in words}
        width = output.width(size)
        low, high = (-(2 ** (width - 1)), 2 ** (width - 1)) if kind == "balance" else (0, 2**width)
        assert low <= min(values)
        assert max(values) < high


def test_wrong_answers_are_told():
    outputs = (
        Output("leading", "lead", 1),
        Output("majority", "vote", 1, tie=1),
        Output("longest", "span", 0),
        Output("balance", "diff", 1),
    )
    design = Counts(6, outputs, ("mask",), 1, 0, "x").design()
    slips = [
        ("lead = 5 - i", "lead = i"),
        ("lead = 6;", "lead = 0;"),
        ("n + n >= 6", "n + n > 6"),
        ("v[i] ? n + 1 : 0", "v[i] ? n + 1 : n"),
        ("i % 2 ? n - 1 : n + 1", "i % 2 ? n + 1 : n - 1"),
        ("x & mask", "x | ~mask"),
    ]
    for old, new in slips:
        assert design.golden.count(old) == 1, old
        verdict = judge(design.golden.replace(old, new), design.reference)
        assert verdict.score == 0.0, new
        assert "differently" in verdict.detail


@pytest.mark.parametrize(
    "knobs",
    [
        {"width": 2},
        {"width": 13},
        {"counts": 12},
        {"preparations": 4},
        {"counts": 9, "stream": True},
    ],
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        BitCountConfig(**knobs)


def told(message, bit):
    """Return what the outputs show of a message as text, its first bit first."""
    these = [i for i, c in enumerate(message) if c == str(bit)]
    runs = [len(run) for run in re.findall(f"{bit}+", message)]
    return {
        "ones": len(these) % 16,
        "trailing": min(these[0] if these else len(message), 15),
        "threshold": int(len(these) >= 7),
        "changes": sum(a != b for a, b in itertools.pairwise(message)) % 16,
        "runs": len(runs) % 16,
        "longest": min(max(runs, default=0), 15),
        "balance": sum(1 - 2 * (i % 2) for i in these) % 16,
        "multiple": int(len(these) % 7 == 0),
    }


@pytest.mark.parametrize("size", [3, 4])
@pytest.mark.parametrize("bit", [0, 1])
@pytest.mark.parametrize("upwards", [False, True])
def test_messages_are_counted_across_words(size, bit, upwards, run_design, random_rows):
    outputs = tuple(Output(kind, f"o_{kind}", bit, 7) for kind in STREAMED)
    stream_of = Stream(
        Counts(size, outputs, PREPARATIONS, 1, 5, "x"),
        Clocking("clk", "rst", 1, asynchronous=False),
        upwards,
    )
    design = stream_of.design()
    rows, message, seen = random_rows(design, 600, seed=size), "", []
    for number, row in enumerate(rows):
        row["first"] &= int(number % 9 == 0)  # long messages
        # few changes, so that runs and positions become long
        row["x"], row["mask"] = (5 if number % 40 < 12 else row["x"]), row["mask"] | 7
        seen.append({f"o_{kind}": value for kind, value in told(message, bit).items()})
        word = f"{(row['x'] & row['mask']) ^ 5:0{size}b}"
        word = word[::-1] if row["turn"] else word
        if row["valid"]:
            message = ("" if row["first"] else message) + (word[::-1] if upwards else word)
    assert run_design(design, rows) == seen
    assert run_design(replace(design, golden=design.alternative), rows) == seen


def test_slips_between_words_are_told():
    outputs = tuple(Output(kind, kind, 1, 3) for kind in ("runs", "longest", "balance"))
    counts = Counts(3, outputs, (), 1, 0, "x")
    design = Stream(counts, Clocking("clk", "rst", 1, asynchronous=False), True).design()
    for name in ("next_p0", "next_p1", "next_p2"):  # a state that is forgotten
        wrong = design.golden.replace(f"{name} = first ? 0 : {name[5:]};", f"{name} = 0;")
        assert wrong != design.golden
        assert judge(wrong, design.reference).score == 0.0


def test_words_become_a_stream_at_level_5():
    assert [BitCountConfig.at(level).stream for level in (4, 5, 30)] == [False, True, True]
