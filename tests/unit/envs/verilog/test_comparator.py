"""Comparator: both sources against each other and a model in Python, and wrong answers."""

import operator

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.comparator import (
    ENCODINGS,
    FEATURES,
    ComparatorConfig,
    ComparatorTask,
    _Comparator,
)
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.judge import judge


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 1, 3, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    task = ComparatorTask(ComparatorConfig.at(difficulty))
    design = task.design(stream("comparator", difficulty))
    assert judge(design.alternative, design.reference).score == 1.0
    turned = Reference(design.alternative, design.reference.ports)
    assert judge(design.golden, turned).score == 1.0


RELATIONS = (("a", "lt", "b"), ("b", "le", "c"), ("c", "gt", "a"), ("c", "ge", "b"))
EQUALITIES = (("a", "eq", "c"), ("b", "ne", "a"))


def comparator(
    encoding="ones' complement", largest=True, last=True, ends=(True, False), wraps=True
):
    return _Comparator(
        width=3,
        names=("a", "b", "c"),
        relations=RELATIONS + EQUALITIES,
        encoding=encoding,
        largest=largest,
        last=last,
        ends=ends,
        watched="b",
        wraps=wraps,
        mask_level=1,
        features=FEATURES,
    ).design()


def number(encoding, word):
    if encoding == "unsigned" or word < 4:
        return word
    return {
        "two's complement": word - 8,
        "sign and magnitude": 4 - word,
        "ones' complement": word - 7,
    }[encoding]


@pytest.mark.parametrize("encoding", list(ENCODINGS))
@pytest.mark.parametrize("way", [False, True])
@pytest.mark.parametrize("wraps", [False, True])
def test_numbers_are_compared_as_the_rules_say(encoding, way, wraps, run_design, random_rows):
    design = comparator(encoding, largest=way, last=way != wraps, ends=(way, not way), wraps=wraps)
    rows = random_rows(design, 500)
    for row, seen in zip(rows, run_design(design, rows), strict=True):
        kind = encoding if row["mode"] else "unsigned"
        values = {k: number(kind, row[k] & row["mask"]) for k in ("a", "b", "c", "lo", "hi")}
        for x, relation, y in RELATIONS + EQUALITIES:
            holds = getattr(operator, relation)(values[x], values[y])
            assert seen[f"{x}_{relation}_{y}"] == int(holds)
        places = range(3) if way == wraps else (2, 1, 0)
        best = (max if way else min)(places, key=lambda i: values["abc"[i]])
        assert (seen["who"], seen["value"]) == (best, row["abc"[best]])
        above = values["b"] >= values["lo"] if way else values["b"] > values["lo"]
        below = values["b"] < values["hi"] if way else values["b"] <= values["hi"]
        around = wraps and values["lo"] > values["hi"]
        assert seen["in_window"] == int(above or below if around else above and below)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("c_k >= best", "c_k > best"),  # the first of equal numbers
        ("value = c;", "value = c_m;"),  # what is left by the mask instead of the word
        ("b_k < hi_k", "b_k <= hi_k"),  # an end that is not in the window
        ("a_m[2] ? ~a_m[1:0] : a_m[1:0]", "a_m[1:0]"),  # two zeros that differ
        ("assign a_lt_b = a_k", "assign a_lt_b = a_m"),  # numbers with signs taken for unsigned
    ],
)
def test_a_slip_is_refused(right, wrong):
    design = comparator()
    assert right in design.golden
    assert judge(design.golden.replace(right, wrong), design.reference).score == 0.0


@pytest.mark.parametrize(
    "wrong", [{"width": 1}, {"operands": 7}, {"relations": 0}, {"features": 6}]
)
def test_numbers_out_of_range_are_errors(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        ComparatorConfig(**wrong)
