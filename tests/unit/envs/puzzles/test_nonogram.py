"""Nonogram: every small picture, one solution by an independent search, forms, configuration."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.nonogram import (
    NonogramConfig,
    NonogramProblem,
    NonogramTask,
    Search,
    narrow,
    runs_of,
)

TASK = NonogramTask(NonogramConfig(n_rows=3, n_columns=3))
RING = NonogramProblem(((3,), (1, 1), (3,)), ((3,), (1, 1), (3,)), ("###", "#.#", "###"))


def lengths(line):
    """The runs of '#' in a text, by splitting it."""
    return tuple(len(run) for run in line.split(".") if run)


def pictures(problem):
    """All pictures with the runs of a problem: rows from all texts, one after the other."""
    n_rows, width = len(problem.rows), len(problem.columns)
    texts = ["".join(cells) for cells in itertools.product("#.", repeat=width)]
    fitting = [[text for text in texts if lengths(text) == runs] for runs in problem.rows]

    def extend(rows):
        done = len(rows) == n_rows
        for column, runs in zip(zip(*rows, strict=True), problem.columns, strict=False):
            seen = lengths("".join(column))
            closed = seen if done or column[-1] == "." else seen[:-1]
            if closed != runs[: len(closed)] or sum(seen) > sum(runs) or (done and seen != runs):
                return
        if done:
            yield tuple(rows)
            return
        for text in fitting[len(rows)]:
            yield from extend([*rows, text])

    return list(extend([]))


@pytest.mark.parametrize("seed", range(6))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("Nonogram", seed))
    right = 0
    for cells in itertools.product("#.", repeat=9):
        rows = ["".join(cells[i : i + 3]) for i in (0, 3, 6)]
        fits = (
            tuple(map(lengths, rows)) == problem.rows
            and tuple(lengths("".join(column)) for column in zip(*rows, strict=True))
            == problem.columns
        )
        right += fits
        assert TASK.verify(problem, "\n".join(rows)).score == float(fits)
    assert right == 1


@pytest.mark.parametrize("seed", range(8))
def test_one_picture_by_another_search(seed):
    problem = NonogramTask(NonogramConfig.at(4)).generate(stream("Nonogram", "unique", seed))
    assert pictures(problem) == [problem.picture]


def test_the_search_finds_two_pictures_and_says_when_it_gives_up():
    diagonal = ((1,), (1,), (1,), (1,))
    found = Search(diagonal, diagonal, limit=1000)
    assert len(found.pictures) == 2
    assert not found.unique
    assert found.stuck == [15] * 4
    assert Search(diagonal, diagonal, limit=8).exhausted
    assert Search(((1,), ()), ((), ()), limit=100).pictures == []


@pytest.mark.parametrize("seed", range(4))
def test_narrowing_a_line_agrees_with_all_its_fillings(seed):
    rng = stream("Nonogram", "lines", seed)
    empty_handed = 0
    for _ in range(150):
        size = int(rng.integers(1, 8))
        line, mask, noise = (int(value) for value in rng.integers(0, 1 << size, 3))
        runs = runs_of([bool(line >> i & 1) for i in range(size)])
        filled = mask & (line if noise % 2 else noise)
        empty = noise & ~line & ~filled
        fitting = [
            x
            for x in range(1 << size)
            if runs_of([bool(x >> i & 1) for i in range(size)]) == runs
            and not x & empty
            and not filled & ~x
        ]
        expected = None
        if fitting:
            shared, covered = fitting[0], 0
            for x in fitting:
                shared, covered = shared & x, covered | x
            expected = (shared, (1 << size) - 1 & ~covered)
        empty_handed += expected is None
        assert narrow(runs, size, filled, empty) == expected
    assert empty_handed > 3


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("###\n#.#\n###", 1.0),
        ("# # #\n# . #\n# # #", 1.0),
        ("[['#','#','#'],['#','.','#'],['#','#','#']]", 1.0),
        ("###\n###\n###", 0.0),
        ("###\n#.#", 0.0),
        ("###\n#.#\n###\n###", 0.0),
        ("111\n101\n111", 0.0),
        ("The picture is\n###\n#.#\n###", 0.0),
        ("", 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(RING, answer).score == score


def test_a_line_without_filled_cells_is_called_0():
    problem = NonogramProblem(((), (2,)), ((1,), (1,)), ("..", "##"))
    assert "row 1: 0\n" in TASK.prompt(problem)
    assert TASK.verify(problem, "..\n##").score == 1.0


@pytest.mark.parametrize(
    "knob",
    [{"n_rows": 1}, {"n_columns": 0}, {"filled_percent": 5}, {"n_rows": 10**30}, {"n_columns": 65}],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        NonogramConfig(**knob)


def test_effort_counts_the_lines_looked_at():
    problem = NonogramProblem(((2,), (2,)), ((2,), (2,)), ("##", "##"))
    assert TASK.effort(problem) == 4  # each line once: nothing is left to try


def test_the_baseline_pushes_runs_to_the_left():
    problem = NonogramProblem(((1, 1), (2,), ()), ((2,), (1,), (1,)), ("#.#", "##.", "..."))
    assert TASK.baseline(stream("baseline"), problem) == "# . #\n# # .\n. . ."
