"""Binairo: the whole small world, one solution by another solver, forms of answers."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import binairo
from rlvr_envs.envs.puzzles.binairo import BinairoConfig, BinairoProblem, BinairoTask

TASK = BinairoTask(BinairoConfig.at(0))
RIGHT = "0 1 1 0\n1 0 0 1\n1 1 0 0\n0 0 1 1"
SMALL = BinairoProblem(("0.10", "....", "..0.", ".0.."), ("0110", "1001", "1100", "0011"))


def obeys_the_rules(rows):
    size = len(rows)
    columns = list(zip(*rows, strict=True))
    lines = [list(line) for line in (*rows, *columns)]
    balanced = all(line.count(0) == line.count(1) == size // 2 for line in lines)
    triples = any(line[i] == line[i + 1] == line[i + 2] for line in lines for i in range(size - 2))
    return balanced and not triples and len(set(rows)) == len(set(columns)) == size


@pytest.mark.parametrize("seed", range(2))
def test_whole_small_world(seed):
    """All 65,536 grids of side 4; only those that keep the givens are worth a verdict each."""
    problem = TASK.generate(stream("Binairo", seed))
    given = "".join(problem.rows)
    right = []
    for cells in itertools.product((0, 1), repeat=16):
        kept = all(g in (".", str(c)) for g, c in zip(given, cells, strict=True))
        rows = tuple(cells[i : i + 4] for i in range(0, 16, 4))
        expected = kept and obeys_the_rules(rows)
        if expected:
            right.append(tuple("".join(map(str, row)) for row in rows))
        if kept or obeys_the_rules(rows):
            answer = "\n".join(" ".join(map(str, row)) for row in rows)
            assert TASK.verify(problem, answer).score == expected
    assert right == [problem.solution]


@pytest.mark.parametrize(("level", "seed"), [(3, 0), (5, 1), (7, 2)])
def test_one_solution_by_another_solver(level, seed):
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    problem = BinairoTask(BinairoConfig.at(level)).generate(stream("Binairo", "cp", seed))
    size = len(problem.rows)
    model = cp_model.CpModel()
    grid = [[model.new_bool_var("") for _ in range(size)] for _ in range(size)]
    columns = [list(column) for column in zip(*grid, strict=True)]
    for line in (*grid, *columns):
        model.add(sum(line) == size // 2)
        for i in range(size - 2):
            model.add_linear_constraint(sum(line[i : i + 3]), 1, 2)
    for group in (grid, columns):
        model.add_all_different([sum(2**i * v for i, v in enumerate(line)) for line in group])
    for cells, row in zip(grid, problem.rows, strict=True):
        for cell, given in zip(cells, row, strict=True):
            if given != ".":
                model.add(cell == int(given))
    assert cp_model.CpSolver().solve(model) == cp_model.OPTIMAL
    everything = [cell for row in grid for cell in row]
    model.add_forbidden_assignments(everything, [[int(v) for v in "".join(problem.solution)]])
    assert cp_model.CpSolver().solve(model) == cp_model.INFEASIBLE


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (RIGHT, 1.0),
        (RIGHT.replace(" ", ""), 1.0),
        ("[[0,1,1,0],[1,0,0,1],[1,1,0,0],[0,0,1,1]]", 1.0),
        ("1 0 0 1\n0 1 1 0\n1 1 0 0\n0 0 1 1", 0.0),  # givens changed
        ("0 1 1 0\n1 0 0 1\n0 1 0 1\n1 0 1 0", 1.0),  # as it has another solution
        ("0 1 1 0\n1 0 0 1\n0 1 0 1\n0 0 1 1", 0.0),
        ("0 1 1 0\n1 0 0 1\n0 1 0 1\n1 0 1 .", 0.0),
        (RIGHT + "\n0 1 1 0", 0.0),
        ("0110100111000011", 0.0),
        ("0b0110\n0b1001\n0b1100\n0b0011", 0.0),
        (RIGHT.replace("1", "True"), 0.0),
        ("", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(SMALL, answer).score == score


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (("0110", "1001", "0110", "1001"), "two rows are the same"),
        (("0011", "1100", "0011", "1100"), "two rows are the same"),
        (("0101", "1010", "0110", "1011"), "row 4 does not hold as many"),
        (("0111", "1000", "0110", "1001"), "row 1 does not hold as many"),
    ],
)
def test_what_a_verdict_says(rows, words):
    empty = BinairoProblem(("....",) * 4, SMALL.solution)
    assert words in TASK.verify(empty, "\n".join(rows)).detail


@pytest.mark.parametrize("size", [4, 8, 14, 20])
def test_the_fixed_grid_exists(size, monkeypatch):
    """Where every random search went astray, the fixed one must not."""
    real = binairo.search
    calls = []

    def astray(*args, **kwargs):
        calls.append(1)
        return real(*args, **{**kwargs, "max_nodes": 0 if len(calls) < 4 else kwargs["max_nodes"]})

    monkeypatch.setattr(binairo, "search", astray)
    grid = binairo._filled_grid(stream("Binairo", "any"), size)
    assert len(calls) == 4
    assert obeys_the_rules(tuple(grid[i : i + size] for i in range(0, size * size, size)))


def test_effort_grows_and_guessing_fails():
    easy, hard = (
        [BinairoTask(BinairoConfig.at(level)).generate(stream("Binairo", s)) for s in range(10)]
        for level in (0, 7)
    )
    assert max(map(TASK.effort, easy)) < min(map(TASK.effort, hard))
    rng = stream("Binairo", "guess")
    assert sum(TASK.verify(p, TASK.baseline(rng, p)).score for p in hard) == 0.0
    assert all(TASK.verify(p, TASK.baseline(rng, p)).status != "unparsable" for p in easy)


@pytest.mark.parametrize("knob", [{"size": 5}, {"size": 2}, {"size": 26}, {"n_givens": 64}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        BinairoConfig(**knob)


def test_effort_counts_the_cells_settled():
    full = BinairoProblem(SMALL.solution, SMALL.solution)
    but_one = BinairoProblem((".110", *SMALL.solution[1:]), SMALL.solution)
    assert TASK.effort(full) == 1  # the position that is left
    assert TASK.effort(but_one) == 2


def test_the_baseline_fills_row_after_row():
    for seed in range(10):
        answer = TASK.baseline(stream("binairo", seed), SMALL)
        rows = ["".join(row.split()) for row in answer.split("\n")]
        for row, given in zip(rows, SMALL.rows, strict=True):
            assert row.count("0") == row.count("1") == 2
            assert all(g in (".", cell) for g, cell in zip(given, row, strict=True))
