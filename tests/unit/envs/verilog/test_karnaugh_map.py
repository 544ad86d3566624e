"""KarnaughMap: both sources against each other, the printed maps against the design, and slips."""

import itertools
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.karnaugh_map import KarnaughMapConfig, KarnaughMapTask, cover
from rlvr_envs.verifiers.hdl.judge import judge


def drawn(config, seed):
    return KarnaughMapTask(config).design(stream("map", seed))


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 3, 6, 10, 14])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        design = drawn(KarnaughMapConfig.at(difficulty), seed)
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail
        assert verdict.parts["proved"] == 1.0


def read(figure):
    """Return for every output the cells with what the variables are there."""
    maps = {}
    for part in re.split(r"\n\n(?=`)", figure):
        head, rows = part.split(":\n\n")
        name = re.match(r"`(\w+)`", head)[1]
        layer = {n: int(v) for n, v in re.findall(r"(\w) = ([01])", head)}
        top, _, *lines = ([c.strip() for c in r.strip("|").split("|")] for r in rows.split("\n"))
        down, across = top[0].split(" \\ ")
        for line, (column, mark) in itertools.product(lines, enumerate(top[1:], 1)):
            place = dict(zip(down + across, map(int, line[0] + mark), strict=True)) | layer
            maps.setdefault(name, []).append((place, line[column]))
    return maps


def value(cell, row, before):
    text = cell.replace("~same", str(1 - before)).replace("same", str(before)).replace("+", "|")
    for name, bit in row.items():
        text = re.sub(rf"~{name}\b", str(1 - bit), text)
        text = re.sub(rf"\b{name}\b", str(bit), text)
    return eval(text, {"__builtins__": {}})


@pytest.mark.parametrize(("variables", "maps", "entered"), [(3, 1, 0), (4, 3, 2), (5, 2, 2)])
def test_the_maps_tell_the_design(variables, maps, entered, run_design):
    design = drawn(KarnaughMapConfig(variables=variables, maps=maps, entered=entered), 5)
    names = [s.name for s in design.signals if s.direction == "input"]
    rows = [
        dict(zip(names, bits, strict=True))
        for bits in itertools.product((0, 1), repeat=variables + entered)
    ]
    shown, printed = [], read(design.figure)
    for row in rows:
        before, outs = 0, {}
        for name, cells in printed.items():
            (cell,) = (cell for place, cell in cells if place.items() <= row.items())
            outs[name] = before = value(cell, row, before)
        shown.append(outs)
    assert run_design(design, rows) == shown


def test_rows_and_columns_are_in_gray_order():
    design = drawn(KarnaughMapConfig(variables=4), 3)
    top, _, *lines = design.figure.split("\n\n")[1].split("\n")
    for marks in (top.split(" | ")[1:], [line.split(" | ")[0] for line in lines]):
        numbers = [int(re.search(r"[01]{2}", mark)[0], 2) for mark in marks]
        assert sorted(numbers) == [0, 1, 2, 3]
        for a, b in itertools.pairwise([*numbers, numbers[0]]):
            assert (a ^ b).bit_count() == 1


def test_a_cover_is_made_of_prime_implicants():
    where = frozenset({0, 1, 2, 3, 5, 7, 8, 10})
    found = cover(where, 4)
    covered = {n for n in range(16) for v, care in found if n & care == v}
    assert covered == where
    for v, care in found:
        for bit in (b for b in (1, 2, 4, 8) if care & b):
            wider = {n for n in range(16) if n & (care & ~bit) == v & ~bit}
            assert not wider <= where


def test_columns_read_in_binary_order_are_wrong():
    design = drawn(KarnaughMapConfig(variables=4), 3)
    cells = re.findall(r"4'd(\d+): \w+ = ([01]);", design.golden)
    values = {int(n): v for n, v in cells}
    swapped = design.golden.replace("4'd2:", "4'dX:").replace("4'd3:", "4'd2:")
    swapped = swapped.replace("4'dX:", "4'd3:")
    assert judge(swapped, design.reference).score == float(values[2] == values[3])
    flipped = re.sub(r"(4'd5: \w+ = )([01])", lambda m: m[1] + str(1 - int(m[2])), design.golden)
    verdict = judge(flipped, design.reference)
    assert verdict.score == 0.0
    assert "differently" in verdict.detail


@pytest.mark.parametrize("knobs", [{"variables": 2}, {"variables": 7}, {"maps": 0}, {"entered": 5}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        KarnaughMapConfig(**knobs)
