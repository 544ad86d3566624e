"""ShiftRegister: both sources against each other and a list of bits, and wrong answers."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.shift_register import (
    FEATURES,
    Operation,
    Register,
    ShiftRegisterConfig,
    ShiftRegisterTask,
    operation_names,
)
from rlvr_envs.verifiers.hdl.judge import judge


def drawn(difficulty, seed):
    config = ShiftRegisterConfig.at(difficulty)
    return ShiftRegisterTask(config).design(stream("shift", difficulty, seed))


def register(names, width=6, amount=2, features=()):
    operations = tuple(Operation(n, width, amount, code) for code, n in enumerate(names))
    return Register(width, operations, 0b10011, "q", "si", features)


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = drawn(difficulty, seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail
        assert verdict.parts["proved"] == 1.0


@pytest.mark.parametrize("amount", [1, 2, 3])
def test_operations_move_a_list_of_bits(amount, run_design, random_rows):
    names = operation_names(6)
    design = register(names, amount=amount, features=FEATURES).design(stream("list", amount))
    rows = random_rows(design, 400, seed=amount)
    for number, row in enumerate(rows):
        row["keep"] *= number % 4 == 0
        row["mode"] %= 2 if number % 60 > 30 else 16  # enough serial shifts in a row for `done`
    bits, out, shifts, seen = [1, 1, 0, 0, 1, 0], 0, 0, []
    for row in rows:
        seen.append({"q": number_of(bits), "out": out, "done": int(shifts >= 6)})
        if not row["enable"] or row["mode"] >= len(names):
            continue
        name = names[row["mode"]]
        moved, left = operated(name, amount, bits, row)
        out = out if left is None else left
        shifts = 0 if name == "load" else shifts + (name in ("left", "right"))
        keep = [row["keep"] >> i & 1 for i in range(6)]
        bits = [old if k else new for old, new, k in zip(bits, moved, keep, strict=True)]
    assert any(row["done"] for row in seen)
    assert run_design(design, rows) == seen


def number_of(bits):
    return sum(bit << i for i, bit in enumerate(bits))


def operated(name, amount, bits, row):
    """Return the bits after an operation, and the bit that left last, if any did."""
    moved, left = list(bits), None
    if "left" in name or "right" in name:
        for _ in range(1 if name in ("left", "right") else amount):
            left = moved.pop() if "left" in name else moved.pop(0)
            new = row["si"] if name in ("left", "right") else 0
            new = left if name.startswith("rotate") else new
            if name.startswith("arithmetic"):
                new = moved[-1]
            moved.insert(0 if "left" in name else 5, new)
    elif name == "pairs":
        moved = [bits[1], bits[0], bits[3], bits[2], bits[5], bits[4]]
    else:
        moved = {
            "load": [row["data"] >> i & 1 for i in range(6)],
            "hold": bits,
            "clear": [0] * 6,
            "invert": [1 - bit for bit in bits],
            "reverse": bits[::-1],
            "halves": bits[3:] + bits[:3],
        }[name]
    return moved, left


def test_wrong_answers_are_told():
    names = ("left", "rotate right", "load", "arithmetic right")
    design = register(names, features=FEATURES[:2]).design(stream("wrong"))
    others = [
        register(("right", *names[1:]), features=FEATURES[:2]),
        register(("left", "rotate right", "arithmetic right", "load"), features=FEATURES[:2]),
        register(names, amount=1, features=FEATURES[:2]),
        register((*names[:3], "zeros right"), features=FEATURES[:2]),
    ]
    for other in others:
        verdict = judge(other.design(stream("wrong")).golden, design.reference)
        assert verdict.score == 0.0
        assert "differently" in verdict.detail
    early = design.golden.replace("out <= q[5];", "out <= q[4];")
    assert early != design.golden
    assert judge(early, design.reference).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"width": 3}, {"width": 19}, {"operations": 0}, {"operations": 13}, {"features": 5}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        ShiftRegisterConfig(**knobs)
