"""Slitherlink: every set of cells on a small grid, one loop by CP-SAT, forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import slitherlink
from rlvr_envs.envs.puzzles.slitherlink import (
    Search,
    SlitherlinkConfig,
    SlitherlinkProblem,
    SlitherlinkTask,
    count_sides,
    draw_inside,
    is_single,
)
from rlvr_envs.solvers import cp_sat

TASK = SlitherlinkTask(SlitherlinkConfig(n_rows=3, n_columns=3))
HOOK = SlitherlinkProblem(("?3?", "???", "3?0"), ("##.", "#..", "#.."))


def edges_around(rows):
    """The sides between a cell with '#' and one without, as pairs of corners of cells."""
    inside = {(r, c) for r, row in enumerate(rows) for c, mark in enumerate(row) if mark == "#"}
    edges = set()
    for r, c in inside:
        for (dr, dc), (a, b) in {
            (-1, 0): ((r, c), (r, c + 1)),
            (1, 0): ((r + 1, c), (r + 1, c + 1)),
            (0, -1): ((r, c), (r + 1, c)),
            (0, 1): ((r, c + 1), (r + 1, c + 1)),
        }.items():
            if (r + dr, c + dc) not in inside:
                edges.add((a, b))
    return edges


def fits(problem_rows, rows):
    """The rules as they are said, on edges: numbers, every corner on two sides or none, one loop."""
    edges = edges_around(rows)
    for r, row in enumerate(problem_rows):
        for c, mark in enumerate(row):
            own = {
                ((r, c), (r, c + 1)),
                ((r + 1, c), (r + 1, c + 1)),
                ((r, c), (r + 1, c)),
                ((r, c + 1), (r + 1, c + 1)),
            }
            if mark != "?" and len(own & edges) != int(mark):
                return False
    corners = [corner for edge in edges for corner in edge]
    if not edges or any(corners.count(corner) != 2 for corner in corners):
        return False
    reached, queue = {corners[0]}, [corners[0]]
    for corner in queue:
        for edge in edges:
            if corner in edge:
                other = edge[1] if edge[0] == corner else edge[0]
                if other not in reached:
                    reached.add(other)
                    queue.append(other)
    return reached == set(corners)


def count(problem, limit=2):
    """The number of loops that CP-SAT finds with a circuit over the corners of cells."""
    n_rows, n_columns = len(problem.rows), len(problem.rows[0])
    model = cp_sat.new_model()
    node = {
        (r, c): r * (n_columns + 1) + c for r in range(n_rows + 1) for c in range(n_columns + 1)
    }
    arcs = [(i, i, model.new_bool_var("")) for i in node.values()]
    edge = {}
    for (r, c), i in node.items():
        for other in ((r + 1, c), (r, c + 1)):
            if other in node:
                there, back, used = (model.new_bool_var("") for _ in range(3))
                arcs += [(i, node[other], there), (node[other], i, back)]
                model.add(there + back == used)
                edge[(r, c), other] = used
    model.add_circuit(arcs)
    model.add(sum(edge.values()) > 0)
    for r, row in enumerate(problem.rows):
        for c, mark in enumerate(row):
            if mark != "?":
                a, b, d, e = (r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1)
                model.add(edge[a, b] + edge[d, e] + edge[a, d] + edge[b, e] == int(mark))
    return cp_sat.count_solutions(model, list(edge.values()), limit=limit, budget=5.0)


def grids(n_rows, n_columns):
    for cells in itertools.product("#.", repeat=n_rows * n_columns):
        yield ["".join(cells[i * n_columns : (i + 1) * n_columns]) for i in range(n_rows)]


@pytest.mark.parametrize("seed", range(4))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Slitherlink", seed))
    right = 0
    for rows in grids(3, 3):
        expected = fits(problem.rows, rows)
        right += expected
        assert TASK.verify(problem, "\n".join(rows)).score == float(expected)
    assert right == 1


def test_single_loops_are_those_of_the_edges():
    blank = ["????"] * 3
    for rows in grids(3, 4):
        colours = [int(mark == "#") for row in rows for mark in row]
        assert is_single(colours, (3, 4)) == fits(blank, rows)


@pytest.mark.parametrize(("level", "seed"), [(2, 0), (2, 1), (5, 0), (5, 1), (8, 0)])
def test_one_loop_by_another_solver(level, seed):
    problem = SlitherlinkTask(SlitherlinkConfig.at(level)).generate(
        stream("Slitherlink", "unique", seed)
    )
    assert fits(problem.rows, problem.inside)
    assert count(problem) == 1


def test_the_search_agrees_with_all_grids():
    """With few numbers there are many loops; the search must find each of them."""
    compared = 0
    for seed in range(12):
        rng = stream("Slitherlink", "search", seed)
        counts = count_sides(draw_inside(rng, (3, 4)), (3, 4))
        clues = {cell: counts[cell] for cell in sorted(rng.permutation(12).tolist()[: seed // 2])}
        marks = "".join(str(clues.get(cell, "?")) for cell in range(12))
        expected = {
            tuple("".join(rows))
            for rows in grids(3, 4)
            if fits([marks[0:4], marks[4:8], marks[8:12]], rows)
        }
        search = Search((3, 4), clues, limit=10**6, wanted=10**6)
        found = {tuple("#" if colour else "." for colour in loop) for loop in search.found}
        assert len(found) == len(search.found)
        assert found == expected
        compared += len(found)
    assert compared > 100


def test_the_search_says_when_it_gives_up():
    assert Search((4, 4), {}, limit=5, wanted=10**6).exhausted


@pytest.mark.parametrize("side", [3, 4, 6])
def test_the_loop_of_last_resort(side, monkeypatch):
    monkeypatch.setattr(slitherlink, "_DRAWS", 0)
    task = SlitherlinkTask(SlitherlinkConfig(n_rows=side, n_columns=side + 1))
    problem = task.generate(stream("Slitherlink", "last"))
    assert "?" not in "".join(problem.rows)
    assert count(problem) == 1


def test_more_numbers_are_given_where_the_search_gives_up(monkeypatch):
    config = SlitherlinkConfig(n_rows=6, n_columns=6, clue_percent=30)
    sparse = SlitherlinkTask(config).generate(stream("Slitherlink", "more"))
    monkeypatch.setattr(slitherlink, "_LIMIT", 0)
    monkeypatch.setattr(slitherlink, "_FEWEST", 1)
    dense = SlitherlinkTask(config).generate(stream("Slitherlink", "more"))
    assert "".join(dense.rows).count("?") < "".join(sparse.rows).count("?")
    assert count(dense) == count(sparse) == 1


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("##.\n#..\n#..", 1.0),
        ("# # .\n# . .\n# . .", 1.0),
        ("##.\n#.#\n#..", 0.0),  # touches itself at a corner
        ("##.\n...\n#..", 0.0),
        ("...\n...\n...", 0.0),
        ("###\n#.#\n###", 0.0),  # a ring has two borders
        ("###\n###\n###", 0.0),
        ("##.\n#..", 0.0),
        ("##.\n#..\n#..\n...", 0.0),
        ("110\n100\n100", 0.0),
        ("so it is\n##.\n#..\n#..", 0.0),
        ("", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(HOOK, answer).score == score


@pytest.mark.parametrize(
    "knob",
    [{"n_rows": 2}, {"n_columns": 0}, {"clue_percent": 0}, {"n_rows": 10**30}, {"n_columns": 41}],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        SlitherlinkConfig(**knob)


def test_effort_counts_the_looks_at_a_cell():
    task = SlitherlinkTask(SlitherlinkConfig(n_rows=4, n_columns=4, clue_percent=100))
    problem = task.generate(stream("Slitherlink", "effort"))
    assert task.effort(problem) == 32  # once for each of 16 numbers and for each of 16 colours


def test_the_baseline_believes_0_and_3():
    problem = SlitherlinkProblem(("030", "303"), (".#.", "#.#"))
    assert TASK.baseline(stream("baseline"), problem) == ". # .\n# . #"
