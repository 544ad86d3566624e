"""Skyscrapers: the whole small world, one solution by another solver, forms of answers."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import integer, stream
from rlvr_envs.envs.puzzles.skyscrapers import (
    Sight,
    SkyscrapersConfig,
    SkyscrapersProblem,
    SkyscrapersTask,
)

TASK = SkyscrapersTask(SkyscrapersConfig.at(1))
# 1 2 3 / 2 3 1 / 3 1 2
SMALL = SkyscrapersProblem(
    size=3,
    top=(3, 2, 1),
    bottom=(1, 2, 0),
    left=(0, 2, 1),
    right=(1, 2, 0),
    givens=(0,) * 9,
    solution=(1, 2, 3, 2, 3, 1, 3, 1, 2),
)


def seen(line):
    return sum(all(before < height for before in line[:i]) for i, height in enumerate(line))


def right(problem, cells):
    size = problem.size
    rows = [cells[i * size : (i + 1) * size] for i in range(size)]
    columns = list(zip(*rows, strict=True))
    views = (
        (problem.left, rows),
        (problem.top, columns),
        (problem.right, [row[::-1] for row in rows]),
        (problem.bottom, [column[::-1] for column in columns]),
    )
    return (
        all(len(set(line)) == size for line in (*rows, *columns))
        and all(g in (0, c) for g, c in zip(problem.givens, cells, strict=True))
        and all(v in (0, seen(line)) for vs, ls in views for v, line in zip(vs, ls, strict=True))
    )


@pytest.mark.parametrize("seed", range(3))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Skyscrapers", seed))
    found = []
    for cells in itertools.product((1, 2, 3), repeat=9):
        expected = right(problem, cells)
        if expected:
            found.append(cells)
        answer = "{} {} {}\n{} {} {}\n{} {} {}".format(*cells)
        assert TASK.verify(problem, answer).score == expected
    assert found == [problem.solution]


@pytest.mark.parametrize(("level", "seed"), [(3, 0), (5, 1), (7, 2), (9, 3)])
def test_one_solution_by_another_solver(level, seed):
    cp_model = pytest.importorskip("ortools.sat.python.cp_model")
    problem = SkyscrapersTask(SkyscrapersConfig.at(level)).generate(stream("Skyscrapers", seed))
    size = problem.size
    model = cp_model.CpModel()
    cells = [model.new_int_var(g or 1, g or size, "") for g in problem.givens]
    rows = [cells[i * size : (i + 1) * size] for i in range(size)]
    columns = [cells[i::size] for i in range(size)]
    orders = list(itertools.permutations(range(1, size + 1)))
    for views, lines, step in (
        (problem.left, rows, 1),
        (problem.right, rows, -1),
        (problem.top, columns, 1),
        (problem.bottom, columns, -1),
    ):
        for view, line in zip(views, lines, strict=True):
            model.add_all_different(line)
            if view:
                allowed = [order for order in orders if seen(order) == view]
                model.add_allowed_assignments(line[::step], allowed)
    assert cp_model.CpSolver().solve(model) == cp_model.OPTIMAL
    model.add_forbidden_assignments(cells, [problem.solution])
    assert cp_model.CpSolver().solve(model) == cp_model.INFEASIBLE


@pytest.mark.parametrize("seed", range(20))
def test_a_sight_takes_away_what_no_line_allows(seed):
    """Beside equal heights next to the highest so far, the rule is exact on any masks."""
    rng = stream("Skyscrapers", "sight", seed)
    masks = [2 * integer(rng, 1, 31) for _ in range(5)]
    view = integer(rng, 1, 4)
    lines = [
        line
        for line in itertools.product(range(1, 6), repeat=5)
        if max(line) == 5
        and seen(line) == view
        and all(mask >> height & 1 for mask, height in zip(masks, line, strict=True))
        and all(height != max(line[:i]) for i, height in enumerate(line) if i)
    ]
    narrowed = list(masks)
    changed = Sight((0, 1, 2, 3, 4), view).narrow(narrowed)
    if lines:
        assert narrowed == [sum(1 << h for h in set(column)) for column in zip(*lines, strict=True)]
        assert sorted(changed) == [i for i in range(5) if narrowed[i] != masks[i]]
    else:
        assert changed is None


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1 2 3\n2 3 1\n3 1 2", 1.0),
        ("123\n231\n312", 1.0),
        ("1,2,3\n2,3,1\n3,1,2", 1.0),
        ("1 3 2\n2 1 3\n3 2 1", 0.0),  # another Latin square
        ("1 2 3\n2 3 1\n3 1 3", 0.0),
        ("1 2 3\n2 3 1\n3 1 .", 0.0),
        ("3 2 1\n1 2 3\n2 3 1\n3 1 2", 0.0),
        ("0 3 2 1 0\n. 1 2 3 1\n2 2 3 1 2\n1 3 1 2 .\n0 1 2 . 0", 0.0),  # with the edges
        ("1 2 3\n2 3 1\n3 1 2.0", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_the_prompt_shows_the_edges():
    prompt = TASK.prompt(SMALL)
    for words in ("to 3: 3 2 1\n", "to 3: 1 2 .\n", "to 3: . 2 1\n"):
        assert words in prompt
    assert "heights are given" not in prompt


def test_effort_grows_and_guessing_fails():
    easy, hard = (
        [SkyscrapersTask(SkyscrapersConfig.at(d)).generate(stream("Sky", s)) for s in range(10)]
        for d in (0, 7)
    )
    assert max(map(TASK.effort, easy)) < min(map(TASK.effort, hard))
    rng = stream("Skyscrapers", "guess")
    assert sum(TASK.verify(p, TASK.baseline(rng, p)).score for p in hard) == 0.0
    assert all(TASK.verify(p, TASK.baseline(rng, p)).status != "unparsable" for p in easy)


@pytest.mark.parametrize("knob", [{"size": 1}, {"n_views": 21}, {"n_givens": 25}, {"size": 10**30}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        SkyscrapersConfig(**knob)


@pytest.mark.parametrize("difficulty", [60, 100, 10**6])
def test_the_ladder_has_no_end(difficulty):
    config = SkyscrapersConfig.at(difficulty)
    assert config.n_givens < config.size**2
