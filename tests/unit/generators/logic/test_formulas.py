"""Formulas: text, truth tables against plain evaluation, words, and the search."""

import itertools

import pytest

from rlvr_envs.core.errors import RowError
from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.logic.formulas import (
    BINARY,
    columns,
    draw_formula,
    in_words,
    read_formula,
    search_nodes,
    truth_table,
)

MEANING = {
    "not": lambda a: not a,
    "and": lambda *parts: all(parts),
    "or": lambda *parts: any(parts),
    "xor": lambda a, b: a != b,
    "iff": lambda a, b: a == b,
    "if": lambda a, b: b or not a,
}


def value(formula, row):
    if formula.operator == "atom":
        return row[formula.number - 1]
    parts = [value(part, row) for part in formula.parts]
    if formula.operator == "exactly":
        return sum(parts) == formula.number
    return MEANING[formula.operator](*parts)


@pytest.mark.parametrize("seed", range(30))
def test_tables_text_and_single_rows(seed):
    rng = stream("formula", seed)
    n = 1 + seed % 6
    planted = [bool(value) for value in rng.integers(0, 2, n)]
    wanted = seed % 2 == 0
    operators = (*BINARY, "exactly")
    formula = draw_formula(rng, (1, *map(int, planted)), wanted, 1 + seed % 8, operators)
    assert value(formula, planted) == wanted
    assert read_formula(str(formula)) == formula
    table = truth_table(formula, columns(n))
    for r in range(2**n):
        row = [bool(r >> i & 1) for i in range(n)]
        assert bool(table >> r & 1) == value(formula, row)
        assert truth_table(formula, (1, *map(int, row))) == value(formula, row)


@pytest.mark.parametrize(
    "text",
    ["", "(", ")", "and", "(and)", "(1 2)", "(nor 1 2)", "(not 1 2)", "1 2", "(exactly-x 1)"],
)
def test_text_that_is_no_formula(text):
    with pytest.raises(RowError, match="not a formula"):
        read_formula(text)


def test_words():
    formula = read_formula("(if (and 1 (not 2)) (not (xor 1 (exactly-1 1 2 3))))")
    text = in_words(formula, lambda n, yes: f"{'' if yes else 'non-'}p{n}", lambda f: "one of all")
    assert text == (
        "if (p1 and non-p2), then (it is not true that (either p1 or (one of all), but not both))"
    )


def test_search_visits_what_a_plain_recursion_visits():
    texts = ["(or 1 2)", "(if 3 1)", "(xor 2 4)", "(exactly-2 1 3 4)"]
    formulas = [read_formula(text) for text in texts]

    def alive(fixed):
        free = 4 - len(fixed)
        rows = [[*low, *fixed] for low in itertools.product([False, True], repeat=free)]
        return all(any(value(f, row) for row in rows) for f in formulas)

    def nodes(fixed):
        if len(fixed) == 4:
            return 1
        children = [[side, *fixed] for side in (False, True)]
        return 1 + sum(nodes(child) for child in children if alive(child))

    tables = [truth_table(formula, columns(4)) for formula in formulas]
    assert search_nodes(tables, 4) == nodes([])
    assert search_nodes([], 3) == 15
