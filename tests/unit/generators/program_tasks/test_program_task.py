"""Scale, input formats and the oracle's text of tasks made of programs."""

import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import integer, integers, stream
from rlvr_envs.generators.program_tasks.check import check_program
from rlvr_envs.generators.program_tasks.program_task import (
    Program,
    ProgramConfig,
    ProgramTask,
    output_text,
    scale_at,
    stdin_text,
)


def constants(rng, scale):
    return {"shift": integer(rng, 1, 900), "word": "ab"[integer(rng, 0, 1)] * integer(rng, 1, 9)}


def inputs(rng, scale, constants):
    size = integer(rng, 1, scale["n"])
    return {
        "k": integer(rng, -5, 5),
        "name": "xyz"[integer(rng, 0, 2)] * integer(rng, 1, 4),
        "xs": integers(rng, -9, 9, integer(rng, 0, size)),
        "pairs": [integers(rng, 0, 99, 2) for _ in range(size)],
    }


def solve(k, name, xs, pairs, shift, word):
    totals = [k + shift, sum(xs), sum(a * b for a, b in pairs)]
    return [name + word, *sorted(totals)]


def solve_again(k, name, xs, pairs, shift, word):
    total = 0
    for a, b in pairs:
        total += a * b
    return [f"{name}{word}", *sorted([sum(xs), total, shift + k])]


PROGRAM = Program(
    "Print `name` followed by {word}, then in rising order {shift} + k and the two sums. {{}}",
    {"n": (3, 300)},
    constants,
    {"k": "int", "name": "str", "xs": "list", "pairs": "rows"},
    inputs,
    (solve, solve_again),
)


class EveryKindTask(ProgramTask):
    program = PROGRAM


def test_every_kind_of_input_reaches_the_program():
    task = EveryKindTask(ProgramConfig(level=10))
    problem = task.generate(stream("kinds"))
    assert task.verify(problem, task.solve(problem)).score == 1.0
    assert "{}" in task.prompt(problem)
    report = check_program(PROGRAM)
    assert (report.compared, report.levels) == (84, 28)


def test_the_format_of_inputs_and_outputs():
    text = stdin_text(PROGRAM, {"k": -2, "name": "x", "xs": (), "pairs": [(1, 2), (3, 4)]})
    assert text == "-2\nx\n0\n\n2\n1 2\n3 4\n"
    assert [output_text(value) for value in (3, "ab", [1, "b"], ())] == ["3", "ab", "1 b", ""]


def test_scale_grows_without_end_and_as_fast_as_its_range():
    spans = {"short": (2, 62), "middle": (5, 900), "wide": (10, 10**6)}
    program = Program("", spans, constants, {}, inputs, ())
    assert scale_at(program, 0) == {"short": 2, "middle": 5, "wide": 10}
    assert scale_at(program, 15)["short"] == 32
    assert scale_at(program, 10)["middle"] == 5 + int(1.3**10) - 1
    assert scale_at(program, 10)["wide"] == 10 + int(1.6**10) - 1
    sizes = [tuple(scale_at(program, level).values()) for level in range(0, 100, 4)]
    for smaller, larger in itertools.pairwise(sizes):
        assert all(a < b for a, b in zip(smaller, larger, strict=True))


def test_bad_knobs_are_errors():
    for knobs in ({"level": -1}, {"n_hidden": 3}, {"n_shown": 0}):
        with pytest.raises(ConfigError):
            ProgramConfig(**knobs)
