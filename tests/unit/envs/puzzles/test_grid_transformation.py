"""Grid transformation: operations by numpy, the search by brute force, forms, configuration."""

import itertools

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.grid_transformation import (
    Example,
    GridTransformationConfig,
    GridTransformationProblem,
    GridTransformationTask,
    fits,
    language,
    run_program,
)

TASK = GridTransformationTask(GridTransformationConfig())
TURNED = GridTransformationProblem(
    1,
    2,
    ("rotate right", "transpose", "swap", "frame"),
    (Example(("120", "002"), ("01", "02", "20")), Example(("11", "12"), ("11", "21"))),
    ("210", "000"),
    ("rotate right",),
)


def fallen(cells, towards_end):
    rows = [[c for c in row if c] for row in cells]
    width = cells.shape[1]
    pad = [[0] * (width - len(row)) for row in rows]
    pairs = zip(rows, pad, strict=True)
    return np.array([p + r if towards_end else r + p for r, p in pairs])


def cropped(cells):
    if not cells.any():
        return cells
    rows, columns = np.nonzero(cells.any(1))[0], np.nonzero(cells.any(0))[0]
    return cells[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


BY_NUMPY = {
    "rotate right": lambda g: np.rot90(g, -1),
    "rotate left": np.rot90,
    "rotate twice": lambda g: np.rot90(g, 2),
    "flip sideways": np.fliplr,
    "flip upright": np.flipud,
    "transpose": np.transpose,
    "shift right": lambda g: np.roll(g, 1, axis=1),
    "shift left": lambda g: np.roll(g, -1, axis=1),
    "shift down": lambda g: np.roll(g, 1, axis=0),
    "shift up": lambda g: np.roll(g, -1, axis=0),
    "fall right": lambda g: fallen(g, True),
    "fall left": lambda g: fallen(g, False),
    "fall down": lambda g: fallen(g.T, True).T,
    "fall up": lambda g: fallen(g.T, False).T,
    "crop": cropped,
    "double right": lambda g: np.hstack([g, np.fliplr(g)]),
    "double down": lambda g: np.vstack([g, np.flipud(g)]),
    "enlarge": lambda g: np.kron(g, np.ones((2, 2), dtype=int)),
    "left half": lambda g: g[:, : -(-g.shape[1] // 2)],
    "top half": lambda g: g[: -(-g.shape[0] // 2)],
    "swap 1 2": lambda g: np.select([g == 1, g == 2], [2, 1], g),
    "recolour 1 0": lambda g: np.where(g == 1, 0, g),
    "recolour 1 2": lambda g: np.where(g == 1, 2, g),
    "recolour 2 0": lambda g: np.where(g == 2, 0, g),
    "recolour 2 1": lambda g: np.where(g == 2, 1, g),
    "frame 1": lambda g: np.pad(g, 1, constant_values=1),
    "frame 2": lambda g: np.pad(g, 1, constant_values=2),
}


def as_text(cells):
    return tuple("".join(map(str, row)) for row in cells.tolist())


def test_operations_do_what_numpy_does():
    assert sorted(language(2)) == sorted(BY_NUMPY)
    for seed in range(25):
        rng = stream("grids", seed)
        cells = rng.integers(0, 3, rng.integers(1, 6, 2)) * (seed > 0)  # the first one is empty
        for name, change in BY_NUMPY.items():
            assert run_program((name,), as_text(cells)) == as_text(change(cells)), name


@pytest.mark.parametrize("seed", range(6))
def test_the_search_finds_what_brute_force_finds(seed):
    length = 2 + seed % 2
    n_colours = 3 if length == 2 else 1
    config = GridTransformationConfig(
        length=length, n_examples=2, n_colours=n_colours, n_kinds=15 + seed, max_side=3 + seed
    )
    problem = GridTransformationTask(config).generate(stream("Grid", "search", seed))
    pairs = [(example.given, example.made) for example in problem.examples]
    operations = language(n_colours, problem.kinds)
    for examples in (pairs, pairs[:1]):  # a single example may leave a doubt
        expected = {}
        for n in range(length + 1):
            for program in itertools.product(operations, repeat=n):
                if all(run_program(program, given) == made for given, made in examples):
                    expected.setdefault(run_program(program, problem.test), n)
        expected.pop(None, None)
        assert fits(examples, problem.test, operations, length).outputs == expected
    assert expected
    assert list(fits(pairs, problem.test, operations, length).outputs.values()) == [length]


def test_grids_do_not_grow_without_end():
    assert run_program(("enlarge",) * 3, ("111",) * 3) == ("1" * 24,) * 24
    assert run_program(("enlarge",) * 4, ("111",) * 3) is None
    assert run_program(("enlarge",) * 4 + ("left half",) * 4, ("111",) * 3) is None


@pytest.mark.parametrize("name", ["", "swap", "swap 1", "spin", "frame 1 2"])
def test_operations_that_do_not_exist(name):
    with pytest.raises(RowError, match="no operation"):
        run_program((name,), ("1",))


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("0 2\n0 1\n0 0", 1.0),
        ("02\n01\n00", 1.0),
        ("[[0, 2], [0, 1], [0, 0]]", 1.0),
        ("2 1 0\n0 0 0", 0.0),
        ("0 2\n0 1", 0.0),
        ("0 2\n0 1\n0 0\n0 0", 0.0),
        ("0 2\n0 1\n0 x", 0.0),
        ("020100", 0.0),
        ("rotate right", 0.0),
    ],
)
def test_forms(answer, score):
    assert TASK.verify(TURNED, answer).score == score


def test_only_the_kinds_of_the_problem_are_listed():
    text = TASK.prompt(TURNED)
    listed = [line for line in text.splitlines() if line.startswith("- ")]
    assert [line.split()[1] for line in listed] == ["rotate", "transpose", "swap", "add"]
    assert language(2, TURNED.kinds) == (
        "rotate right",
        "transpose",
        "swap 1 2",
        "frame 1",
        "frame 2",
    )


def test_effort_counts_the_operations_tried():
    assert TASK.effort(TURNED) == 5  # one operation of five


def test_the_baseline_applies_an_operation():
    made = {run_program((name,), TURNED.test) for name in language(2, TURNED.kinds)}
    answers = {TASK.baseline(stream("grid", seed), TURNED) for seed in range(60)}
    assert answers == {"\n".join(" ".join(row) for row in grid) for grid in made}
    assert all(TASK.verify(TURNED, answer).status != "unparsable" for answer in answers)


def test_every_cell_counts():
    right = "020100"
    for digits in itertools.product("012", repeat=6):
        answer = "\n".join("".join(digits[i : i + 2]) for i in (0, 2, 4))
        assert TASK.verify(TURNED, answer).score == ("".join(digits) == right)


@pytest.mark.parametrize(
    "knob",
    [
        {"length": 0},
        {"length": 4},
        {"n_colours": 6},
        {"n_examples": 1},
        {"min_side": 2},
        {"max_side": 16},
        {"n_kinds": 3},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        GridTransformationConfig(**knob)
