"""Cells: pairs in answers, neighbours, and sets of cells as bits, against plain coordinates."""

import itertools

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.grids.cells import (
    bits,
    neighbours,
    plane,
    read_cells,
    show_cell,
    show_cells,
)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("(1, 1)", [0]),
        ("(1,2),(3,4)", [1, 11]),
        (" [ (1, 2) ; (3, 4) ] ", [1, 11]),
        ("{(3, 4) (1, 2)}", [11, 1]),
        ("(2, 2)\n(2, 2)", [5, 5]),
        ("( 03 , 04 )", [11]),
        (r"$\{(1,\ 2), (3, 4)\}$", [1, 11]),
        (r"\text{(1, 2), (3, 4)}.", [1, 11]),
        ("(1, 2)..", None),
        ("", None),
        ("[]", None),
        ("[(1, 2)", None),
        ("(1, 2)]", None),
        ("{(1, 2)]", None),
        ("[[(1, 2)]]", None),
        ("((1, 2), (3, 4))", [1, 11]),
        ("(1, 2)(3, 4)", None),
        ("(1, 2),", None),
        ("(0, 1)", None),
        ("(4, 1)", None),
        ("(1, 5)", None),
        ("(-1, 2)", None),
        ("(1.0, 2)", None),
        ("(1, 2) or (3, 4)", None),
        ("P", None),
        ("P, (1, 2)", None),
        ("(１, 2)", None),
        ("(1, 2), " * 20_000, None),
        ("(" * 50_000, None),
        ("(1," * 30_000, None),
        (r"\left(1,2\right), \left( 3, 4 \right)", [1, 11]),
        (r"\leftarrow(1, 2)", None),
        (r"\left[(1, 2)\right]", [1]),
        ("[1, 2], [3, 4]", [1, 11]),
        ("[[1, 2], [3, 4]]", [1, 11]),
        ("r1c2, R3C4", [1, 11]),
        ("row 1, column 2; Row 3, Col 4", [1, 11]),
        ("(1, 2) and (3, 4)", [1, 11]),
        ("(1, 2) → (3, 4)", [1, 11]),
        ("1. (1, 2)\n2. (3, 4)", [1, 11]),
        ("- r1c2\n- r3c4", [1, 11]),
        ("r1c2r3c4", None),
        ("r12", None),
        ("ar1c2", None),
        ("r1c2)", None),
        ("r1c5", None),
        ("[1, 2)", None),
        ("r1c2 or r3c4", None),
    ],
)
def test_reading_cells(text, cells):
    assert read_cells(text, 3, 4) == cells


def test_what_is_shown_is_read():
    cells = [5, 0, 11, 5]
    assert read_cells(show_cells(cells, 4), 3, 4) == cells
    assert show_cell(11, 4) == "(3, 4)"


def test_neighbours_are_those_at_distance_1():
    for diagonal in (False, True):
        found = neighbours(3, 4, diagonal=diagonal)
        for a, b in itertools.product(range(12), repeat=2):
            rows, columns = abs(a // 4 - b // 4), abs(a % 4 - b % 4)
            near = max(rows, columns) == 1 if diagonal else rows + columns == 1
            assert (b in found[a]) == near


def test_a_plane_agrees_with_a_walk_from_cell_to_cell():
    board, beside = plane(4, 5), neighbours(4, 5)
    one_piece = 0
    for seed in range(60):
        chosen = {c for c in range(20) if stream("cells", seed, c).random() < 0.7}
        mask = sum(board.bit[c] for c in chosen)
        start = min(chosen)
        reached, queue = {start}, [start]
        for cell in queue:
            fresh = [c for c in beside[cell] if c in chosen and c not in reached]
            reached.update(fresh)
            queue += fresh
        assert board.reach(board.bit[start], mask) == sum(board.bit[c] for c in reached)
        assert board.connected(mask) == (reached == chosen)
        around = {c for cell in chosen for c in beside[cell]}
        assert board.around(mask) == sum(board.bit[c] for c in around)
        one_piece += reached == chosen
    assert 0 < one_piece < 60
    assert board.connected(0)
    assert board.edge.bit_count() == 14


def test_bits():
    assert bits(0) == []
    assert bits(0b101001) == [0, 3, 5]
