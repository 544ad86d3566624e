"""Worked solutions of puzzles: what their steps say is true, and they lead to the whole answer."""

import itertools
import re
from functools import reduce
from operator import and_

import pytest

import rlvr_envs
from rlvr_envs.core.instance import Instance
from rlvr_envs.envs.puzzles.rule_induction import Attribute, fitting_rule
from rlvr_envs.generators.arithmetic import worked_backwards
from rlvr_envs.generators.grids.candidates import Network, RowSet, Table
from rlvr_envs.generators.grids.deductions import (
    Alone,
    AtMostOne,
    Connected,
    Count,
    Words,
    contradiction,
    worked,
)
from rlvr_envs.generators.logic.formulas import FormulaRule, columns, read_formula, truth_table

CELL = r"(?:row \d+, column \d+|r\d+c\d+|\(\d+, \d+\))"
LETTER = r"(?:\b[A-Z]|the carry into column \d+)"
MARKS = {"empty": 0, "a star": 1, "clear": 0, "shaded": 1, "outside": 0, "inside": 1}
MARKS |= {"sea": 0, "land": 1}


def instance(name, difficulty, seed):
    """Return an instance that was rebuilt from its row."""
    return Instance.from_row(
        rlvr_envs.make_problem(f"rlvr/{name}-v0", seed=seed, difficulty=difficulty)
    )


def explained(name, difficulty, seed):
    """Return the problem of an instance, and the steps of its solution."""
    found = instance(name, difficulty, seed)
    return found.problem, found.task.explain(found.problem)


def claims(step, cell=CELL):
    """Yield each cell of which a step concludes something, with the values that it leaves."""
    text = step.rpartition(" So ")[2] if step.startswith("Suppose") else step
    text = text.partition(", so ")[2] or text
    text = text if cell == LETTER else text[0].lower() + text[1:]
    value = rf"(?:\d+|{'|'.join(MARKS)})"
    clause = rf"({cell}(?:(?:, | and ){cell})*) (?:is|are) ({value}(?:(?:, | or ){value})*)\b"
    for names, values in re.findall(clause, text):
        left = {MARKS.get(found, found) for found in re.findall(value, values)}
        for name in re.findall(cell, names):
            yield name, {int(found) for found in left}


GRIDS = {
    "Sudoku": lambda p: (p.givens, p.solution, p.box_height * p.box_width),
    "Futoshiki": lambda p: (p.givens, p.solution, p.size),
    "KenKen": lambda p: ((0,) * p.size**2, p.solution, p.size),
    "Skyscrapers": lambda p: (p.givens, p.solution, p.size),
    "Binairo": lambda p: (
        [0 if mark == "." else 1 for mark in "".join(p.rows)],
        [int(mark) for mark in "".join(p.solution)],
        len(p.rows),
    ),
    "Kakuro": lambda p: (
        [0 if mark == "." else 1 for mark in "".join(p.rows)],
        [-1 if mark == "#" else int(mark) for mark in "".join(p.solution)],
        len(p.rows),
    ),
    "StarBattle": lambda p: (
        [int(cell in p.given) for cell in range(len(p.regions) ** 2)],
        [int(cell in p.stars) for cell in range(len(p.regions) ** 2)],
        len(p.regions),
    ),
    "Hitori": lambda p: (
        [int(cell in p.told) for cell in range(len("".join(p.picture)))],
        [int(mark == "#") for mark in "".join(p.picture)],
        len(p.picture[0]),
    ),
    "Slitherlink": lambda p: (
        [0] * len("".join(p.rows)),
        [int(mark == "#") for mark in "".join(p.inside)],
        len(p.rows[0]),
    ),
    "Nurikabe": lambda p: (
        [int(mark != "?") for mark in "".join(p.rows)],
        [int(mark == ".") for mark in "".join(p.picture)],
        len(p.rows[0]),
    ),
}


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("difficulty", [0, 2, 4, 6])
def test_cells_are_filled_rightly_and_all_of_them(name, difficulty):
    for seed in range(3):
        problem, steps = explained(name, difficulty, seed)
        given, solution, width = GRIDS[name](problem)
        found = set()
        for step in steps:
            for place, values in claims(step):
                row, column = map(int, re.findall(r"\d+", place))
                cell = (row - 1) * width + column - 1
                assert solution[cell] in values, step
                if len(values) == 1:
                    found.add(cell)
        is_open = [not known and wanted >= 0 for known, wanted in zip(given, solution, strict=True)]
        assert {cell for cell, known in enumerate(is_open) if known} <= found


def test_every_supposition_is_refuted():
    """A value that a step rules out is not the cell's."""
    seen = 0
    for seed in range(6):
        problem, steps = explained("Hitori", 4, seed)
        for step in steps:
            match = re.match(r"Suppose \((\d+), (\d+)\) is (clear|shaded): then", step)
            if match:
                mark = problem.picture[int(match[1]) - 1][int(match[2]) - 1]
                assert mark == {"clear": "#", "shaded": "."}[match[3]]
                seen += 1
    assert seen


def words(n_rules):
    return Words(
        lambda cell: f"c{cell}", "the rules", {}, [f"rule {k} holds" for k in range(n_rules)]
    )


@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        (Count((0, 1, 2, 3), 2), lambda v: sum(v) == 2),
        (Alone((0, 1, 2, 3)), lambda v: not v[0] or not any(v[1:])),
        (AtMostOne((0, 1, 2, 3)), lambda v: v.count(0) <= 1),
        (Connected(2, 2, 1), lambda v: v not in ((1, 0, 0, 1), (0, 1, 1, 0))),
        (
            FormulaRule(read_formula("(or (and 1 2) (xor 3 4))")),
            lambda v: v[0] & v[1] | v[2] ^ v[3],
        ),
        (FormulaRule(read_formula("(exactly-2 1 2 3 4)")), lambda v: sum(v) == 2),
    ],
)
def test_rules_take_away_only_what_no_case_has(rule, holds):
    for masks in itertools.product((0b01, 0b10, 0b11), repeat=4):
        cases = [
            values
            for values in itertools.product((0, 1), repeat=4)
            if holds(values) and all(mask >> v & 1 for mask, v in zip(masks, values, strict=True))
        ]
        left = list(masks)
        changed = rule.narrow(left)
        if changed is None:
            assert not cases
        else:
            assert sorted(changed) == [k for k in range(4) if left[k] != masks[k]]
            for values in cases:
                assert all(mask >> v & 1 for mask, v in zip(left, values, strict=True))
        if all(mask != 0b11 for mask in masks):
            assert (changed is None) == (not cases)


def test_contradictions():
    unlike = RowSet([(0, 1), (1, 0)])
    ring = [Table(pair, unlike) for pair in ((0, 1), (1, 2), (0, 2))]
    steps = contradiction(Network(3, rules=ring), [0b11] * 3, words(3))
    assert steps is not None
    assert steps[0].startswith("Suppose c0 is 0: then")
    assert steps[-1].startswith("But ")
    assert contradiction(Network(3, rules=ring[:2]), [0b11] * 3, words(2)) is None


def test_a_cell_that_nothing_settles_is_stated():
    network = Network(2, rules=[])
    assert worked(network, [0b11, 0b10], (1, 1), words(0)) == [
        "c0 is 1: any other choice there fails in the end."
    ]


@pytest.mark.parametrize("difficulty", [0, 3, 6, 9])
def test_knights_and_houses(difficulty):
    for seed in range(4):
        problem, steps = explained("KnightsAndKnaves", difficulty, seed)
        for name in problem.names:
            kind = "a knight" if name in problem.knights else "a knave"
            said = [re.split(r"”, so | So ", step)[-1] for step in steps]
            assert any(re.search(rf"\b{name}\b.* {kind}", text) for text in said)
        problem, steps = explained("ZebraPuzzle", min(difficulty, 6), seed)
        for house, row in enumerate(problem.table, 1):
            assert any(f"{row[0]} lives in house {house}" in step for step in steps)


@pytest.mark.parametrize("name", ["PropositionalEntailment", "Syllogism"])
@pytest.mark.parametrize("difficulty", [0, 3, 6])
def test_each_conclusion_is_proven_or_not(name, difficulty):
    for seed in range(4):
        problem, steps = explained(name, difficulty, seed)
        text = "\n".join(steps)
        proven = [int(n) for n in re.findall(r"conclusion (\d+) must be true", text)]
        others = [int(n) for n in re.findall(r"Conclusion (\d+) need not be true", text)]
        assert tuple(proven) == problem.following
        assert sorted(proven + others) == list(range(1, len(problem.conclusions) + 1))


def test_cases_against_conclusions_hold():
    for seed in range(6):
        problem, steps = explained("PropositionalEntailment", 4, seed)
        n = len(problem.facts)
        for step in steps:
            match = re.match(r"Conclusion (\d+) need not be true: .* false if (.*)\.", step)
            if match is None:
                continue
            row = [1]
            for fact in problem.facts:
                thing, state = fact.split(":")
                row.append(int(f"the {thing} is {state}" in match[2]))
                assert row[-1] != (f"the {thing} is not {state}" in match[2])
            assert all(truth_table(read_formula(text), row) for text in problem.premises)
            assert not truth_table(read_formula(problem.conclusions[int(match[1]) - 1]), row)
        assert reduce(and_, columns(n))  # the formulas are about all of these facts


def test_mines_and_safe_cells():
    for seed in range(5):
        problem, steps = explained("Minesweeper", 4, seed)
        width = len(problem.rows[0])
        found = set()
        for step in steps:
            told = step.partition("Safe: ")[2] or (step if step.endswith("is safe.") else "")
            told = told.rpartition(" So ")[2]
            found |= {
                (int(r) - 1) * width + int(c) - 1 for r, c in re.findall(r"\((\d+), (\d+)\)", told)
            }
        assert found == set(problem.safe)


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("WaterJugs", lambda p: p.shortest),
        ("RiverCrossing", lambda p: p.shortest),
        ("SlidingPuzzle", lambda p: p.shortest),
        ("PegSolitaire", lambda p: p.board.count("o") - 1),
        ("RushHour", lambda p: p.shortest),
        ("TowerOfHanoi", lambda p: p.shortest + 1),
        ("KnightsTour", lambda p: p.board.count(".") - 1),
        ("LightsOut", lambda p: len(p.lights)),
        ("Anagram", lambda p: p.n_chosen),
        ("WordLadder", lambda p: len(p.ladder)),
        ("Maze", lambda p: len(p.moves) + 1),
        ("NQueens", lambda p: p.given.count(0)),
    ],
)
def test_there_is_a_step_for_each_move(name, count):
    for difficulty in (0, 3, 6):
        problem, steps = explained(name, difficulty, difficulty)
        assert len(steps) == count(problem)


def test_moves_end_where_they_should():
    problem, steps = explained("WaterJugs", 4, 0)
    for jug, amount in problem.goal:
        assert re.search(rf"jug {jug + 1} holds {amount}\b", steps[-1])
    problem, steps = explained("SlidingPuzzle", 4, 0)
    tiles = [0 if tile == "_" else int(tile) for tile in steps[-1].partition("\n")[2].split()]
    assert tuple(tiles) == problem.goal
    _, steps = explained("RiverCrossing", 4, 0)
    assert "On the left: nobody." in steps[-1]
    _, steps = explained("PegSolitaire", 4, 0)
    assert steps[-1].partition("\n")[2].count("o") == 1
    _, steps = explained("LightsOut", 4, 0)
    assert "1" not in steps[-1].partition("\n")[2]


@pytest.mark.parametrize("name", ["Countdown", "Game24"])
def test_operations_are_right(name):
    for difficulty in (0, 4, 8):
        problem, steps = explained(name, difficulty, difficulty)
        for step in steps:
            total, a, sign, b = re.match(r"(\d+) = (\d+) (.) (\d+): ", step).groups()
            assert (
                int(total) * (int(b) if sign == "/" else 1)
                == {
                    "+": int(a) + int(b),
                    "-": int(a) - int(b),
                    "*": int(a) * int(b),
                    "/": int(a),
                }[sign]
            )
        assert steps[0].startswith(f"{problem.target} = ")


def test_a_target_is_made_of_parts_that_are_made():
    assert worked_backwards("(1 + 2) * (8 - 3)", 15) == [
        "15 = 3 * 5: both are made of other numbers.",
        "3 = 1 + 2: both are given.",
        "5 = 8 - 3: both are given.",
    ]


def test_calculations_end_in_the_answer():
    for difficulty in (0, 3, 6):
        problem, steps = explained("BooleanExpression", difficulty, difficulty)
        for number, letter in enumerate(problem.answer, 1):
            last = [step for step in steps if step.startswith(f"{number}. ")][-1]
            assert last.endswith(
                {"T": "= true", "F": "= false", "U": "depends on unknown values"}[letter]
            )
        problem, steps = explained("StringComposition", difficulty, difficulty)
        assert steps[-1].endswith(f'= "{problem.output}"')
        problem, steps = explained("CellularAutomaton", difficulty, difficulty)
        assert "".join(steps[-1].partition(":")[2].split()) == "".join(problem.final)
        problem, steps = explained("CircuitEvaluation", difficulty, difficulty)
        for name, bit in zip(problem.outputs, problem.bits, strict=True):
            assert [
                s
                for s in steps
                if f"{name} = " in s.partition(": ")[2] or s.startswith(f"{name} = ")
            ][-1].endswith(f" = {bit}")


def test_letters_of_an_addition():
    for difficulty in (0, 3, 6):
        problem, steps = explained("Cryptarithm", difficulty, difficulty)
        found = set()
        for step in steps[1:]:
            for letter, values in claims(step, LETTER):
                assert letter not in dict(problem.digits) or dict(problem.digits)[letter] in values
                found |= {letter} if len(values) == 1 else set()
        assert dict(problem.digits).keys() <= found | dict(problem.told).keys()


def test_rules_that_fit():
    attributes = (Attribute("colour", ("red", "blue")), Attribute("size", ("small", "large")))
    things = list(itertools.product(("red", "blue"), ("small", "large")))
    assert fitting_rule(attributes, things, 1, 0b0011).text == "is red"
    assert fitting_rule(attributes, things, 1, 0b0001) is None
    assert fitting_rule(attributes, things, 2, 0b0001).accepts == 0b0001
    problem, steps = explained("RuleInduction", 5, 1)
    letters = ["N" if "not accepted" in s else "Y" for s in steps[-len(problem.questions) :]]
    assert "".join(letters) == problem.answer


def test_lines_of_a_nonogram_agree_with_the_picture():
    for difficulty in (0, 4, 8):
        problem, steps = explained("Nonogram", difficulty, difficulty)
        for step in steps:
            match = re.match(r"(Row|Column) (\d+) .*: ([#._ ]+)$", step)
            if match is None:
                assert step.startswith("Suppose")
                continue
            number = int(match[2]) - 1
            line = (
                problem.picture[number]
                if match[1] == "Row"
                else [r[number] for r in problem.picture]
            )
            assert all(a in ("_", b) for a, b in zip(match[3].split(), line, strict=True))


def test_a_text_grows_until_it_meets_every_condition():
    for difficulty in (0, 4, 8, 12, 16, 20):
        problem, steps = explained("InstructionConstraints", difficulty, 4)
        met = [re.findall(r"\d+", step.rpartition("Met so far: ")[2]) for step in steps]
        assert list(map(int, met[-1])) == list(range(1, len(problem.conditions) + 1))
        written = [step.partition(": ")[2].rpartition("\n")[0] for step in steps]
        assert " ".join(written).split() == problem.text.split()
