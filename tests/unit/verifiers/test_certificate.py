r"""The spellings of certificates: what means the same is read alike, and nothing else is."""

import time

import pytest

from rlvr_envs.verifiers import parse
from rlvr_envs.verifiers.certificate import lines, separated, unlabelled, whole
from rlvr_envs.verifiers.grids import read_grid

ONE_TO_FOUR = [
    "1, 2, 3, 4",
    "1 2 3 4",
    "1; 2; 3; 4",
    "[1, 2, 3, 4].",
    "1, 2, 3 and 4",
    "1, 2, 3, and 4.",
    "1, 2, 3 & 4",
    "1 → 2 → 3 → 4",
    "1 -> 2 -> 3 -> 4",
    "1->2->3->4",
    "1 => 2 => 3 => 4",
    r"1 \to 2 \to 3 \to 4",
    r"$1 \rightarrow 2 \rightarrow 3 \rightarrow 4$",
    "1\n2\n3\n4",
    "1. 1\n2. 2\n3. 3\n4. 4",
    "- 1\n- 2\n- 3\n- 4",
    "Step 1: 1\nStep 2: 2\nStep 3: 3\nStep 4: 4",
    "Answer: 1, 2, 3, 4",
    "2/2, 4/2, 6/2, 8/2",
    r"\frac{2}{2}, \frac{4}{2}, 3.0, 4",
    "```text\n1, 2, 3, 4\n```",
]


@pytest.mark.parametrize("text", ONE_TO_FOUR)
def test_a_list_is_read_in_every_spelling(text):
    assert parse.integers(text) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "text",
    [
        "1, 2 or 3",
        "1, 2, 3, x",
        "1/2, 2, 3",
        "1.5, 2",
        "Knaves: 1, 2, 3",
        "2. 1\n1. 2\n3. 3",
        "Step 2: 1\nStep 1: 2",
        "1, and, 3",
        "about 1 and 2 and 3",
    ],
)
def test_other_texts_are_no_list_of_numbers(text):
    assert parse.integers(text) is None


def test_two_items_joined_by_and():
    assert parse.words("Tim and Tess") == ["Tim", "Tess"]
    assert parse.words("cat, and") == ["cat", "and"]
    assert parse.words("ant, and, add") == ["ant", "and", "add"]


GRID = (("1", "2"), ("3", "4"))


@pytest.mark.parametrize(
    "text",
    [
        "1 2\n3 4",
        "12\n34",
        "1, 2\n3, 4",
        "| 1 | 2 |\n| 3 | 4 |",
        "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
        "a | b\n--- | ---\n1 | 2\n3 | 4",
        "| 9 | 9 |\n|:--|--:|\n| 1 | 2 |\n| 3 | 4 |",
        r"\begin{bmatrix} 1 & 2 \\ 3 & 4 \end{bmatrix}",
        r"$$\begin{array}{cc}1&2\\3&4\end{array}$$",
        "[[1, 2], [3, 4]]",
        "Row 1: 1 2\nRow 2: 3 4",
        "row_1 = 1 2\nrow_2 = 3 4",
        "1. 1 2\n2. 3 4",
    ],
)
def test_a_grid_is_read_in_every_spelling(text):
    assert read_grid(text, 2, 2, "1234") == GRID


def test_a_grid_of_dots_keeps_its_last_one():
    assert read_grid("# .\n. .", 2, 2, "#.") == (("#", "."), (".", "."))
    assert read_grid("- x\n- x", 2, 2, "-x") == (("-", "x"), ("-", "x"))


def test_labels_go_only_where_they_count_up():
    assert unlabelled(["Bin 1: 2", "Bin 2: 3"]) == ["2", "3"]
    assert unlabelled(["Bin 0: 2", "Bin 1: 3"]) == ["2", "3"]
    assert unlabelled(["Bin 2: 2", "Bin 1: 3"]) == ["Bin 2: 2", "Bin 1: 3"]
    assert unlabelled(["1. 2", "3"]) == ["1. 2", "3"]
    assert unlabelled(["Knights: Tim"]) == ["Knights: Tim"]
    assert lines("- a\n\n- b") == ["a", "b"]


def test_arrows_inside_of_moves_stay():
    assert separated("3->1") == "3->1"
    assert separated("3->1, 2->1") == "3->1, 2->1"
    assert separated("a -> b") == "a, b"


def test_whole_numbers_are_bounded():
    assert whole("9" * 1000) == int("9" * 1000)
    assert whole("9" * 1001) is None
    assert whole("0/5") == 0
    assert whole("5/0") is None


@pytest.mark.parametrize(
    "text",
    [
        *("|" * 90_000, "-" * 90_000, "|---" * 20_000, "1." * 40_000, "a" * 90_000),
        *("and " * 20_000, "x -> " * 18_000, "\\begin{" * 10_000, " and" * 20_000, " " * 90_000),
        "Bin " * 20_000 + "\nBin 1:",
    ],
)
def test_time_is_linear(text):
    # Quadratic reading would need minutes here: the bound is about the order, not the speed.
    begin = time.process_time()
    parse.words(text)
    assert time.process_time() - begin < 5


def test_a_first_row_above_a_rule_counts_where_it_is_needed():
    table = "| 1 | 2 |\n|---|---|\n| 3 | 4 |"
    assert lines(table) == ["3, 4"]
    assert lines(table, rows=2) == ["1, 2", "3, 4"]
    assert read_grid(table, 2, 2, "1234") == GRID


def test_a_long_line_of_hyphens_takes_linear_time():
    begin = time.process_time()
    lines("|" + "-" * 90_000 + "x\n|---|")
    assert time.process_time() - begin < 5
