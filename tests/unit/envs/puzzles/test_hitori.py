"""Hitori: every shading of small grids, one pattern by CP-SAT, forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import hitori
from rlvr_envs.envs.puzzles.hitori import (
    HitoriConfig,
    HitoriProblem,
    HitoriTask,
    Search,
    draw_numbers,
    draw_shading,
)
from rlvr_envs.generators.grids.cells import plane
from rlvr_envs.solvers import cp_sat

TASK = HitoriTask(HitoriConfig(n_rows=3, n_columns=3))
CORNERS = HitoriProblem(((3, 1, 1), (3, 2, 1), (3, 3, 3)), (), ("#.#", "...", "#.#"))


def pieces(clear):
    """The connected pieces of a set of coordinates, largest first."""
    left, found = set(clear), []
    while left:
        queue = [left.pop()]
        for r, c in queue:
            beside = {(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)} & left
            left -= beside
            queue += sorted(beside)
        found.append(queue)
    return sorted(found, key=len, reverse=True)


def fits(numbers, rows):
    """The three rules, on coordinates."""
    clear = {(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "."}
    for line in (lambda place: ("row", place[0])), (lambda place: ("column", place[1])):
        seen = [(line(place), numbers[place[0]][place[1]]) for place in clear]
        if len(set(seen)) < len(seen):
            return False
    shaded = {(r, c) for r, row in enumerate(rows) for c in range(len(row))} - clear
    if any((r + 1, c) in shaded or (r, c + 1) in shaded for r, c in shaded):
        return False
    return len(pieces(clear)) == 1


def grids(n_rows, n_columns):
    for cells in itertools.product("#.", repeat=n_rows * n_columns):
        yield ["".join(cells[i * n_columns : (i + 1) * n_columns]) for i in range(n_rows)]


def count(problem, limit=2):
    """The patterns that CP-SAT finds; cells shaded all around a piece are forbidden on the way."""
    n_rows, n_columns = len(problem.numbers), len(problem.numbers[0])
    model, found = cp_sat.new_model(), 0
    shaded = {(r, c): model.new_bool_var("") for r in range(n_rows) for c in range(n_columns)}
    for (r, c), (s, d) in itertools.combinations(shaded, 2):
        if (r == s or c == d) and problem.numbers[r][c] == problem.numbers[s][d]:
            model.add(shaded[r, c] + shaded[s, d] >= 1)
        if abs(r - s) + abs(c - d) == 1:
            model.add(shaded[r, c] + shaded[s, d] <= 1)
    for cell in problem.told:
        model.add(shaded[divmod(cell, n_columns)] == 1)
    for _ in range(200):
        try:
            solved = cp_sat.solve(model, list(shaded.values()), budget=5.0)
        except ConfigError:  # infeasible: there are no more
            return found
        value = dict(zip(shaded, solved.values, strict=True))
        _, *others = pieces({place for place in shaded if not value[place]})
        for piece in others:
            border = {
                (r + i, c + j) for r, c in piece for i, j in ((0, 1), (0, -1), (1, 0), (-1, 0))
            }
            border = sorted(border & set(shaded) - set(piece))
            model.add(sum(shaded[place] for place in border) < len(border))
        if not others:
            found += 1
            if found == limit:
                return found
            model.add_forbidden_assignments(list(shaded.values()), [solved.values])
    raise AssertionError("too many patterns that are not connected")


@pytest.mark.parametrize("seed", range(6))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Hitori", seed))
    right = 0
    for rows in grids(3, 3):
        expected = fits(problem.numbers, rows)
        right += expected
        assert TASK.verify(problem, "\n".join(rows)).score == float(expected)
    assert right == 1


@pytest.mark.parametrize(("level", "n_seeds"), [(1, 3), (3, 2), (6, 1)])
def test_one_pattern_by_another_solver(level, n_seeds):
    for seed in range(n_seeds):
        problem = HitoriTask(HitoriConfig.at(level)).generate(stream("Hitori", level, seed))
        assert fits(problem.numbers, problem.picture)
        assert count(problem) == 1


def test_the_search_finds_every_pattern():
    compared = 0
    for seed in range(12):
        rng = stream("Hitori", "search", seed)
        numbers = [
            [1 + number % (2 + seed % 3) for number in row] for row in draw_numbers(rng, 3, 4)
        ]
        search = Search(numbers, limit=10**6, wanted=10**6)
        found = {
            "".join("#" if bit & shaded else "." for bit in plane(3, 4).bit)
            for shaded in search.found
        }
        assert len(found) == len(search.found)
        assert found == {"".join(rows) for rows in grids(3, 4) if fits(numbers, rows)}
        compared += len(found)
    assert compared > 10
    assert Search(numbers, limit=1, wanted=5).exhausted


def test_no_cell_can_be_added_to_a_drawn_pattern():
    for seed in range(20):
        shaded = draw_shading(stream("Hitori", "pattern", seed), 4, 5)
        board = plane(4, 5)
        for extra in (0, *board.bit):
            both = shaded | extra
            rest = board.board & ~both
            fine = not board.around(both) & both and board.connected(rest)
            assert fine == (both == shaded)


def test_cells_are_told_where_numbers_do_not_settle_it(monkeypatch):
    monkeypatch.setattr(hitori, "_CHANGES", 0)
    told = 0
    for seed in range(6):
        problem = HitoriTask(HitoriConfig()).generate(stream("Hitori", "told", seed))
        told += bool(problem.told)
        assert ("Known to be shaded" in TASK.prompt(problem)) == bool(problem.told)
        assert all(problem.picture[cell // 6][cell % 6] == "#" for cell in problem.told)
        assert count(problem) == 1
    assert told > 1


def test_all_cells_are_told_where_the_search_cannot_prove_anything(monkeypatch):
    monkeypatch.setattr(hitori, "_LIMIT", 1)
    problem = HitoriTask(HitoriConfig.at(4)).generate(stream("Hitori", "all"))
    assert len(problem.told) == "".join(problem.picture).count("#")
    assert count(problem) == 1


def test_a_told_cell_must_be_shaded():
    told = HitoriProblem(((1, 1, 2), (2, 3, 1), (3, 2, 3)), (0,), ("#..", "...", "..."))
    assert TASK.verify(told, ".#.\n...\n...").detail == "a cell known to be shaded is not shaded"


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("#.#\n...\n#.#", 1.0),
        ("# . #\n. . .\n# . #", 1.0),
        ("...\n...\n...", 0.0),
        ("###\n###\n###", 0.0),
        ("##.\n...\n#.#", 0.0),
        ("#.#\n.#.\n#.#", 0.0),
        ("#.#\n...", 0.0),
        ("101\n000\n101", 0.0),
        ("3 1 1\n3 2 1\n3 3 3", 0.0),
        ("#.#\n...\n#.#\nor so", 0.0),
        ("", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(CORNERS, answer).score == score


@pytest.mark.parametrize("knob", [{"n_rows": 2}, {"n_columns": 1}, {"n_columns": 61}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        HitoriConfig(**knob)


def test_a_guess_is_readable():
    for seed in range(5):
        problem = HitoriTask(HitoriConfig.at(4)).generate(stream("Hitori", seed))
        guess = TASK.baseline(stream("guess", seed), problem)
        assert TASK.verify(problem, guess).status != "unparsable"


def test_effort_counts_positions():
    known = HitoriProblem(CORNERS.numbers, (0, 2, 6, 8), CORNERS.picture)
    # The start, and the centre tried both ways: shaded, it cuts the sides from each other.
    assert TASK.effort(known) == 1 + 2
    assert TASK.effort(known) < TASK.effort(CORNERS)


def test_the_baseline_shades_what_it_has_seen():
    assert TASK.baseline(stream("hitori"), CORNERS) == ". . #\n# . .\n# . #"
