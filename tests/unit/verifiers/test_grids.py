"""Readers of grids and moves: forms that are read, and all else that is not."""

import pytest

from rlvr_envs.verifiers.grids import read_grid, read_moves, show_grid

GRID = (("1", "2", "3"), ("3", "1", "2"))
DIGITS = "123"


@pytest.mark.parametrize(
    "text",
    [
        "1 2 3\n3 1 2",
        "123\n312",
        "12 3\n3 12",
        "1,2,3\n3,1,2",
        "1, 2, 3\n\n3, 1, 2\n",
        "| 1 | 2 | 3 |\n| 3 | 1 | 2 |",
        "+---+\n|1 2 3|\n+---+\n|3 1 2|\n+---+",
        "[[1, 2, 3], [3, 1, 2]]",
        "[[1,2,3],\n [3,1,2]]",
        "  1 2 3  \r\n  3 1 2  ",
        "```\n1 2 3\n3 1 2\n```",
        "```text\n1 2 3\n3 1 2\n  ```\n",
        r"\text{123}" + "\n" + r"\text{312}",
        show_grid(GRID),
    ],
)
def test_forms_of_a_grid(text):
    assert read_grid(text, 2, 3, DIGITS) == GRID


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1 2 3",
        "1 2 3\n3 1 2\n1 2 3",
        "1 2 3\n3 1",
        "1 2 3\n3 1 2 1",
        "1 2 3\n3 1 4",
        "1 2 3\n3 1 .",
        "so: 1 2 3\n3 1 2",
        "1 2 3\n3 1 2 or so",
        "1 2 3\n3 1 ２",
        "1 2 3 3 1 2",
        "1 2 3\n" * 50_000,
        "[" * 90_000,
    ],
)
def test_what_is_no_grid(text):
    assert read_grid(text, 2, 3, DIGITS) is None


def test_cells_of_several_characters():
    wide = (("10", "2"), ("1", "16"))
    symbols = [str(number) for number in range(1, 17)]
    assert read_grid("10 2\n1 16", 2, 2, symbols) == wide
    assert read_grid("[10, 2]\n[1, 16]", 2, 2, symbols) == wide
    assert read_grid("102\n116", 2, 2, symbols) is None


def test_symbols_that_look_like_frames():
    drawn = (("#", "-"), ("-", "#"))
    assert read_grid("# -\n- #", 2, 2, "#-") == drawn
    assert read_grid("#-\n-#", 2, 2, "#-") == drawn
    blank = (("-", "-"), ("-", "-"))
    assert read_grid("--\n--", 2, 2, "#-") == blank


MOVES = {"U": "up", "D": "down", "up": "up"}


@pytest.mark.parametrize(
    ("text", "moves"),
    [
        ("U, D", ["up", "down"]),
        ("u d U", ["up", "down", "up"]),
        ("[U, D]", ["up", "down"]),
        ("up, D", ["up", "down"]),
        ("U, X", None),
        ("", None),
        ("U" * 9, None),
        ("U, U, U, U, U, U", None),
        ("U,,D", None),
    ],
)
def test_moves(text, moves):
    assert read_moves(text, MOVES, limit=5) == moves


def test_letters_may_be_written_together():
    assert read_moves("udU", {"U": "up", "D": "down"}, limit=5) == ["up", "down", "up"]
    assert read_moves("u" * 6, {"U": "up"}, limit=5) is None
