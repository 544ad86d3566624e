"""Nurikabe: every sea of a small grid, one solution by CP-SAT, generation, forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import nurikabe
from rlvr_envs.envs.puzzles.nurikabe import (
    NurikabeConfig,
    NurikabeProblem,
    NurikabeTask,
    Search,
    draw_islands,
    shapes,
)
from rlvr_envs.generators.grids.cells import plane
from rlvr_envs.solvers import cp_sat

TASK = NurikabeTask(NurikabeConfig.at(0))
SMALL = NurikabeProblem(("2??", "??1", "???"), (".##", ".#.", "###"))
AROUND = ((1, 0), (-1, 0), (0, 1), (0, -1))


def pieces(cells):
    """The connected pieces of a set of coordinates."""
    left, found = set(cells), []
    while left:
        queue = [left.pop()]
        for r, c in queue:
            beside = {(r + i, c + j) for i, j in AROUND} & left
            left -= beside
            queue += sorted(beside)
        found.append(queue)
    return found


def fits(given, rows):
    """The rules as the prompt says them, on coordinates."""
    marks = {(r, c): mark for r, row in enumerate(rows) for c, mark in enumerate(row)}
    clue = {(r, c): mark for r, row in enumerate(given) for c, mark in enumerate(row)}
    sea = {place for place, mark in marks.items() if mark == "#"}
    if any(clue[place] == "#" and place not in sea for place in marks):
        return False
    if any({(r, c), (r + 1, c), (r, c + 1), (r + 1, c + 1)} <= sea for r, c in sea):
        return False
    if len(pieces(sea)) > 1:
        return False
    numbers = [place for place in clue if clue[place].isdigit()]
    islands = pieces(set(marks) - sea)
    inside = [[place for place in island if place in numbers] for island in islands]
    return sum(map(len, inside)) == len(numbers) and all(
        len(own) == 1 and int(clue[own[0]]) == len(island)
        for own, island in zip(inside, islands, strict=True)
    )


def grids(n_rows, n_columns, n_land):
    """All grids with so many cells of land; with any number if it is None."""
    n_cells = n_rows * n_columns
    for k in range(n_cells + 1) if n_land is None else [n_land]:
        for land in itertools.combinations(range(n_cells), k):
            marks = "".join("." if i in land else "#" for i in range(n_cells))
            yield [marks[i : i + n_columns] for i in range(0, n_cells, n_columns)]


def model_of(clue, numbers):
    """A CP-SAT model of all but connectedness, and for each cell its islands' and sea's variables."""
    model = cp_sat.new_model()
    owner = {place: [model.new_bool_var("") for _ in range(len(numbers) + 1)] for place in clue}
    for (r, c), own in owner.items():
        model.add(sum(own) == 1)
        if clue[r, c] == "#":
            model.add(own[-1] == 1)
        for other in {(r + 1, c), (r, c + 1)} & set(owner):
            for i, j in itertools.permutations(range(len(numbers)), 2):
                model.add(own[i] + owner[other][j] <= 1)
        square = [(r, c), (r + 1, c), (r, c + 1), (r + 1, c + 1)]
        if set(square) <= set(owner):
            model.add(sum(owner[place][-1] for place in square) <= 3)
    for i, place in enumerate(numbers):
        model.add(owner[place][i] == 1)
        model.add(sum(own[i] for own in owner.values()) == int(clue[place]))
    return model, owner


def cut_off(owner, values):
    """The pieces of islands and of the sea that are not the whole, with the index of each."""
    for i in range(len(values[0])):
        cells = {place for place, own in zip(owner, values, strict=True) if own[i]}
        yield from ((i, piece) for piece in pieces(cells) if len(piece) < len(cells))


def count(problem, limit=2):
    """The solutions that CP-SAT finds; pieces cut off are forbidden as they come up."""
    clue = {(r, c): mark for r, row in enumerate(problem.rows) for c, mark in enumerate(row)}
    numbers = [place for place in clue if clue[place].isdigit()]
    model, owner = model_of(clue, numbers)
    variables = [variable for own in owner.values() for variable in own]
    width, found = len(numbers) + 1, 0
    for _ in range(400):
        try:
            solved = cp_sat.solve(model, variables, budget=5.0)
        except ConfigError:  # infeasible: there are no more
            return found
        values = [solved.values[i : i + width] for i in range(0, len(solved.values), width)]
        loose = list(cut_off(owner, values))
        for i, piece in loose:
            border = {(r + a, c + b) for r, c in piece for a, b in AROUND} & set(owner)
            joined = sum(owner[place][i] for place in border - set(piece))
            model.add(joined + sum(1 - owner[place][i] for place in piece) >= 1)
        found += not loose
        if found == limit:
            return found
        model.add_forbidden_assignments(variables, [solved.values])
    raise AssertionError("too many pieces cut off")


@pytest.mark.parametrize("seed", range(3))
def test_whole_small_world(seed):
    task = NurikabeTask(NurikabeConfig(n_rows=3, n_columns=4, largest=3))
    problem = task.generate(stream("Nurikabe", seed))
    right = 0
    for rows in grids(3, 4, None):
        expected = fits(problem.rows, rows)
        right += expected
        assert task.verify(problem, "\n".join(rows)).score == float(expected)
    assert right == 1


@pytest.mark.parametrize(("level", "n_seeds"), [(0, 3), (2, 3), (4, 2), (7, 1)])
def test_one_solution_by_another_solver(level, n_seeds):
    for seed in range(n_seeds):
        problem = NurikabeTask(NurikabeConfig.at(level)).generate(stream("Nurikabe", level, seed))
        assert fits(problem.rows, problem.picture)
        assert count(problem) == 1


def test_the_search_finds_every_solution():
    compared = 0
    for seed in range(10):
        rng = stream("Nurikabe", "search", seed)
        board = plane(3, 4)
        islands = draw_islands(rng, board, (3, 4), 3)
        numbers = {island & -island: island.bit_count() for island in islands}
        search = Search(board, numbers, limit=10**6, wanted=10**6)
        seas = [
            "".join("." if bit & sum(found) else "#" for bit in board.bit) for found in search.found
        ]
        marks = "".join(str(numbers.get(bit, "?")) for bit in board.bit)
        given = [marks[i : i + 4] for i in (0, 4, 8)]
        land = sum(numbers.values())
        expected = {"".join(rows) for rows in grids(3, 4, land) if fits(given, rows)}
        assert len(seas) == len(set(seas))
        assert set(seas) == expected
        compared += len(seas)
    assert compared > 12


def test_shapes_are_the_polyominoes_around_a_cell():
    board = plane(7, 7)
    centre = board.bit[24]
    numbers = [len(shapes(board, centre, size, board.board)) for size in (1, 2, 3, 4)]
    # fixed polyominoes (1, 2, 6, 19), each with any of its cells in the centre
    assert numbers == [1, 4, 18, 76]
    assert len(set(shapes(board, centre, 4, board.board))) == 76


@pytest.mark.parametrize("shape", [(3, 3), (3, 4), (5, 5), (6, 7), (8, 8)])
def test_the_islands_of_last_resort(shape, monkeypatch):
    monkeypatch.setattr(nurikabe, "_STARTS", 0)
    for largest in (2, 3, 4):
        task = NurikabeTask(NurikabeConfig(n_rows=shape[0], n_columns=shape[1], largest=largest))
        problem = task.generate(stream("Nurikabe", "last", *shape, largest))
        assert fits(problem.rows, problem.picture)
        assert task.verify(problem, task.solve(problem)).score == 1.0


@pytest.mark.parametrize(("changes", "limit"), [(0, 6_000), (0, 1)])
def test_sea_is_told_where_the_numbers_do_not_settle_it(changes, limit, monkeypatch):
    monkeypatch.setattr(nurikabe, "_CHANGES", changes)
    monkeypatch.setattr(nurikabe, "_LIMIT", limit)
    told = 0
    for seed in range(6):
        problem = NurikabeTask(NurikabeConfig()).generate(stream("Nurikabe", "told", seed))
        known = "#" in "".join(problem.rows)
        told += known
        assert ("known to be sea" in TASK.prompt(problem)) == known
        assert count(problem) == 1
    assert told > 0


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        (".##\n.#.\n###", 1.0),
        (". # #\n. # .\n# # #", 1.0),
        ("..#\n##.\n###", 0.0),  # two by two cells of sea
        (".#.\n.##\n##.", 0.0),  # a number is under water
        (".##\n.#.\n.##", 0.0),  # an island too large
        (".##\n##.\n##.", 0.0),
        (".##\n.#.\n##.", 0.0),
        ("..#\n...\n###", 0.0),  # two numbers on an island
        (".#.\n.#.\n###", 0.0),
        ("...\n...\n...", 0.0),
        ("###\n###\n###", 0.0),
        (".##\n.#.", 0.0),
        ("2##\n.#1\n###", 0.0),
        ("the sea is\n.##\n.#.\n###", 0.0),
        ("", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(SMALL, answer).score == score


@pytest.mark.parametrize(
    ("rows", "answer", "detail"),
    [
        (("#?", "?1"), "..\n#.", "a cell that is given as sea is land"),
        (("1?", "??"), ".#\n#.", "the sea cells are not all connected"),
        (("1?", "??"), ".#\n.#", "a number 1 is not alone on an island of 1 cell"),
        (("1??", "???"), ".##\n##.", "an island has no number"),
        (("2?2", "???"), "...\n.##", "a number 2 is not alone on an island of 2 cells"),
    ],
)
def test_what_is_wrong_is_said(rows, answer, detail):
    verdict = TASK.verify(NurikabeProblem(rows, rows), answer)
    assert (verdict.score, verdict.detail) == (0.0, detail)


@pytest.mark.parametrize(
    "knob", [{"n_rows": 2}, {"n_columns": 1}, {"largest": 8}, {"n_rows": 10**30}, {"n_columns": 41}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        NurikabeConfig(**knob)


def test_effort_counts_the_shapes_compared():
    # Each number has one shape, and one pass over them finds nothing to strike out.
    problem = NurikabeProblem(("1?1", "???", "1?1"), (".#.", "###", ".#."))
    assert TASK.effort(problem) == 4
    # Neither of the two shapes of this island reaches every square: one pass shows it.
    assert TASK.effort(NurikabeProblem(("2??", "???", "???"), ("..#",) * 3)) == 2


def test_the_baseline_grows_each_island_to_its_size():
    problem = NurikabeProblem(("3#?", "?##", "?##"), (".##",) * 3)
    assert TASK.baseline(stream("baseline"), problem) == ". # #\n. # #\n. # #"
