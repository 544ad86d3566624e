"""BarrelShifter: both sources against each other and a model in Python, and wrong answers."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.barrel_shifter import (
    FEATURES,
    BarrelShifterConfig,
    BarrelShifterTask,
    _Shifter,
)
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.judge import judge


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 1, 3, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    task = BarrelShifterTask(BarrelShifterConfig.at(difficulty))
    design = task.design(stream("shifter", difficulty))
    assert judge(design.alternative, design.reference).score == 1.0
    turned = Reference(design.alternative, design.reference.ports)
    assert judge(design.golden, turned).score == 1.0


TABLES = [
    {
        0: (True, "zero"),
        1: (False, "copy"),
        3: (True, "wrap"),
        4: (False, "fill"),
        6: (True, "one"),
    },
    {
        1: (False, "zero"),
        2: (True, "copy"),
        4: (False, "wrap"),
        5: (True, "fill"),
        7: (False, "one"),
    },
]


def shifter(table, reverse_level=1, keep_level=0):
    return _Shifter(5, 4, table, 3, reverse_level, keep_level, FEATURES, "d", "y").design()


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("level", [0, 1])
def test_words_move_as_lists_of_bits_do(table, level, run_design, random_rows):
    design = shifter(table, level, level)
    rows = random_rows(design, 500)
    for row, seen in zip(rows, run_design(design, rows), strict=True):
        bits = [row["d"] >> i & 1 for i in range(5)]
        start, out, lost = list(bits), 0, 0
        if row["op"] in table:
            left, fill = table[row["op"]]
            end, freed = (-1, 0) if left != (row["reverse"] == level) else (0, 5)
            for _ in range(row["amount"]):
                old = bits[freed and -1]
                out = bits.pop(end)
                new = {"zero": 0, "one": 1, "wrap": out, "copy": old, "fill": row["fill"]}[fill]
                bits.insert(freed and 4, new)
                lost |= out and fill != "wrap"
        kept = [
            old if row["keep"] >> i & 1 == level else new
            for i, (old, new) in enumerate(zip(start, bits, strict=True))
        ]
        assert seen["y"] == sum(bit << i for i, bit in enumerate(kept))
        assert (seen["carry"], seen["lost"]) == (out, int(lost))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("k < 15", "k < 7"),  # amounts that go around after the width
        ("(left ? at[0] : at[4])", "at[4]"),  # the bit copied, after a reversal
        ("(out & ~wrap)", "out"),  # a rotation loses nothing
        ("(d & ~keep) | (at & keep)", "at"),
        ("left = reverse ^ 1'b1", "left = 1'b1"),
    ],
)
def test_a_slip_is_refused(right, wrong):
    design = shifter(TABLES[0])
    assert right in design.golden
    assert judge(design.golden.replace(right, wrong), design.reference).score == 0.0


@pytest.mark.parametrize("wrong", [{"width": 2}, {"operations": 11}, {"features": 6}])
def test_numbers_out_of_range_are_errors(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        BarrelShifterConfig(**wrong)
