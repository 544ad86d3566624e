"""Divider: both sources against each other and whole numbers in Python, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.divider import (
    FEATURES,
    KINDS,
    DividerConfig,
    DividerSources,
    DividerTask,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

DIVIDER = DividerSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    width=3,
    step=1,
    kinds=("floored", "unsigned", "euclidean", "truncated"),
    zero_rule="ones",
    start=5,
    abort_wins=True,
    features=FEATURES,
    names=("start", "dividend", "divisor", "quotient"),
)
SIGNED = replace(DIVIDER, features=FEATURES[:3], kinds=("floored",))


def signed(value, width):
    return value - (1 << width) if value >> (width - 1) else value


def divided(divider, kind, a, b):
    """Return quotient and remainder as words, by whole numbers."""
    w = divider.width
    if b == 0:
        return {"ones": 2**w - 1, "zero": 0, "dividend": a}[divider.zero_rule], a
    if kind != "unsigned":
        a, b = signed(a, w), signed(b, w)
    quotient, rest = divmod(a, b)  # floored
    if kind == "truncated" and rest and (a < 0) != (b < 0):
        quotient, rest = quotient + 1, rest - b
    if kind == "euclidean" and rest < 0:
        quotient, rest = quotient + 1, rest - b
    return quotient % 2**w, rest % 2**w


def duration(divider, kind, a, b):
    """Return the cycles that a division takes."""
    if "zero" in divider.features and b == 0:
        return 1
    size = divider.width
    if "early" in divider.features:
        size = abs(a if kind == "unsigned" else signed(a, divider.width)).bit_length()
    return max(1, -(-size // divider.step))


def simulated(divider, rows):
    """Return the outputs in each cycle."""
    has = divider.features.__contains__
    result, done, left, coming, seen = (divider.start, 0, 0), 0, 0, None, []
    for row in rows:
        shown = {"quotient": result[0], "busy": int(left > 0), "done": done}
        if has("remainder"):
            shown["remainder"] = result[1]
        if has("zero"):
            shown["by_zero"] = result[2]
        seen.append(shown)
        done, abort = 0, row.get("abort", 0)
        if left:
            left -= 1
            if abort:
                left = 0
            elif not left:
                result, done = coming, 1
        elif row["start"] and not (abort and divider.abort_wins):
            a, b = row["dividend"], row["divisor"]
            kind = divider.kinds[row.get("mode", 0)]
            coming = (*divided(divider, kind, a, b), int(b == 0))
            left = duration(divider, kind, a, b)
    return seen


def drawn(random_rows, design, cycles, seed=0):
    """Return rows with few aborts."""
    rows = random_rows(design, cycles, seed)
    for number, row in enumerate(rows):
        if "abort" in row:
            row["abort"] &= number % 6 == 0
    return rows


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = DividerTask(DividerConfig.at(difficulty))
        design = task.design(stream("divider", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("count", range(len(FEATURES) + 1))
def test_it_follows_whole_numbers(count, step, run_design, random_rows):
    kinds = ("unsigned",) if count < 3 else (list(KINDS)[1 + (count + step) % 3],)
    divider = replace(
        DIVIDER,
        width=3 + count % 3,
        features=FEATURES[:count],
        kinds=DIVIDER.kinds if count == 6 else kinds,
        step=step,
        abort_wins=step == 1,
        zero_rule=("ones", "zero", "dividend")[(count + step) % 3],
    )
    design = divider.design()
    rows = drawn(random_rows, design, 800, seed=count)
    expected = simulated(divider, rows)
    assert sum(row["done"] for row in expected) > 40
    assert run_design(design, rows) == expected
    assert run_design(replace(design, golden=design.alternative), rows) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_every_pair_of_operands_divides_right(kind, run_design):
    divider = replace(DIVIDER, features=FEATURES[:3], kinds=(kind,))
    rows = [
        {"start": 1, "dividend": a, "divisor": b}
        for a in range(8)
        for b in range(8)
        for _ in range(4)
    ]
    assert run_design(divider.design(), rows) == simulated(divider, rows)


def test_mutants_earn_nothing(random_rows, judged_mutants):
    design = SIGNED.design()
    rows = drawn(random_rows, design, 500)
    assert judged_mutants(design, rows, simulated(SIGNED, rows), 12) == 12


@pytest.mark.parametrize(
    "slip",
    [
        {"kinds": ("truncated",)},
        {"kinds": ("euclidean",)},
        {"kinds": ("unsigned",)},
        {"zero_rule": "zero"},
        {"zero_rule": "dividend"},
        {"step": 2},
        {"start": 4},
        {"features": ("remainder", "signed")},
        {"features": ("remainder", "zero", "signed", "early")},
        {"clocking": Clocking("clk", "rst", 1, asynchronous=True)},
    ],
)
def test_another_divider_earns_nothing(slip):
    other = replace(SIGNED, **slip).design()
    assert judge(other.alternative, SIGNED.design().reference).score == 0.0


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("q1 = q1 - 1;", ""),
        ("&& r0 != 0 ", ""),
        ("if (nothing)", "if (0)"),
        ("abort) active <= 0;", "abort && left != 0) active <= 0;"),  # the end wins
        ("start && !abort", "start"),
        ("done <= 0;\n            if", "if"),  # it stays
        ("if (divisor == 0) cycles = 0;", ""),
        ("minus_d ? r1 - by : r1 + by", "r1 + by"),
        ("by_zero <= nothing;", "by_zero <= by == 1;"),
        ("cycles = 2'd1;", "cycles = 2'd2;"),
        ("kind <= mode;", "kind <= 0;"),
        ("whole <= 0;", ""),
    ],
)
def test_a_slip_is_told(right, slip):
    design = DIVIDER.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize(
    "extra",
    ["wire x = 4 / 2;", "wire x = 4 % 3;", "`define D(a, b) a / b", "localparam W = 6 / 2;"],
)
def test_the_operators_are_refused_wherever_they_stand(extra):
    task = DividerTask(DividerConfig.at(0))
    problem = task.generate(stream("divider", 0))
    answer = problem.alternative.replace(");\n", f");\n{extra}\n", 1)
    verdict = task.verify(problem, answer)
    assert verdict.score == 0.0
    assert "not allowed" in verdict.detail


@pytest.mark.parametrize("comment", ["// n / d and n % d\n", "/* n / d */\n"])
def test_a_comment_may_hold_them(comment):
    task = DividerTask(DividerConfig.at(0))
    problem = task.generate(stream("divider", 0))
    assert task.verify(problem, comment + problem.alternative).score == 1.0


@pytest.mark.parametrize("knobs", [{"width": 1}, {"width": 17}, {"features": 7}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        DividerConfig(**knobs)
