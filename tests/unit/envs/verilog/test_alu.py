"""Alu: both sources against each other and a model in Python, and wrong answers."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.alu import FEATURES, OPERATIONS, AluConfig, AluTask, _Alu
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.judge import judge

N = 4


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 1, 3, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    task = AluTask(AluConfig.at(difficulty))
    design = task.design(stream("alu", difficulty))
    assert judge(design.alternative, design.reference).score == 1.0
    turned = Reference(design.alternative, design.reference.ports)
    assert judge(design.golden, turned).score == 1.0


def as_signed(word):
    return word - 16 if word & 8 else word


def bits(word):
    return f"{word:04b}"


MODELS = {
    "`a` + `b`": lambda a, b: a + b,
    "`a` - `b`": lambda a, b: a - b,
    "`a` AND `b`": lambda a, b: a & b,
    "`a` OR `b`": lambda a, b: a | b,
    "`a` XOR `b`": lambda a, b: a ^ b,
    "NOT (`a` AND `b`)": lambda a, b: 15 - (a & b),
    "NOT (`a` OR `b`)": lambda a, b: 15 - (a | b),
    "`a` AND NOT `b`": lambda a, b: a & (15 - b),
    "NOT `a`": lambda a, b: 15 - a,
    "`a` is smaller than `b`": lambda a, b: a < b,
    "`a` is smaller than `b`, both signed": lambda a, b: as_signed(a) < as_signed(b),
    "the larger of `a` and `b`": max,
    "the smaller of `a` and `b`, both signed": lambda a, b: min(a, b, key=as_signed),
    "`a` rotated left by one bit": lambda a, b: int(bits(a)[1:] + bits(a)[0], 2),
    "`a` shifted right arithmetically by one bit (the most significant bit is copied)": (
        lambda a, b: as_signed(a) // 2
    ),
    "`a` shifted left by `b` bits, filled with zeros (0 if `b` is 4 or more)": lambda a, b: (
        a * 2**b
    ),
    "the bits of `a` in reverse order": lambda a, b: int(bits(a)[::-1], 2),
    "the number of ones in `a`": lambda a, b: bits(a).count("1"),
    "the number of leading zeros of `a` (4 if `a` is 0)": (
        lambda a, b: 4 - len(bits(a).lstrip("0"))
    ),
    "`a` with its least significant 1 cleared (0 if `a` is 0)": (
        lambda a, b: a - max((p for p in (1, 2, 4, 8) if a % (2 * p) == p), default=0)
    ),
    "the absolute difference of `a` and `b`": lambda a, b: abs(a - b),
    "`a` + `b` with saturation: all ones if the exact sum does not fit": lambda a, b: min(
        a + b, 15
    ),
    "half of the exact sum of `a` and `b`, rounded down": lambda a, b: (a + b) // 2,
    "`a` XOR (`a` shifted right logically by one bit)": lambda a, b: a ^ a // 2,
}


def unit(operations, even=False, swap_level=1):
    table = dict(zip((5, 3, 0, 6, 9, 12, 15, 2, 1, 8), operations, strict=False))
    return table, _Alu(N, 4, table, 11, even, swap_level, FEATURES, ("op", "y")).design()


def test_every_operation_has_a_model():
    assert {operation.words(N) for operation in OPERATIONS} == set(MODELS)


@pytest.mark.parametrize("part", [0, 1, 2])
def test_results_and_flags_are_those_of_numbers(part, run_design, random_rows):
    operations = [*OPERATIONS[:2], *OPERATIONS[2 + 8 * part : 10 + 8 * part]]
    table, design = unit(operations, even=bool(part), swap_level=part & 1)
    rows = random_rows(design, 1500)
    for row, seen in zip(rows, run_design(design, rows), strict=True):
        a, b = row["a"], row["b"]
        if row["swap"] == part & 1:
            a, b = b, a
        words = table[row["op"]].words(N) if row["op"] in table else ""
        y = int(MODELS[words](a, b)) % 16 if words else 11
        sign = {"`a` + `b`": 1, "`a` - `b`": -1}.get(words)
        exact, twos = (0, 0) if sign is None else (a + sign * b, as_signed(a) + sign * as_signed(b))
        assert seen == {
            "y": y,
            "zero": int(y == 0),
            "negative": int(y > 7),
            "carry": int(exact not in range(16)),
            "overflow": int(twos not in range(-8, 8)),
            "parity": int(bits(y).count("1") % 2 == (0 if part else 1)),
        }


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("y = p + q", "y = p - q"),
        ("default: y = 4'd11", "default: y = 4'd0"),  # codes that are not in the table
        ("carry = difference[4]", "carry = !difference[4]"),  # no borrow
        ("else carry = 0", "else carry = sum[4]"),  # a carry of an operation that has none
        ("assign negative = y[3]", "assign negative = y[2]"),
    ],
)
def test_a_slip_is_refused(right, wrong):
    design = unit(OPERATIONS[:6])[1]
    assert right in design.golden
    assert judge(design.golden.replace(right, wrong), design.reference).score == 0.0


@pytest.mark.parametrize("wrong", [{"width": 1}, {"operations": 17}, {"features": 7}])
def test_numbers_out_of_range_are_errors(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        AluConfig(**wrong)
