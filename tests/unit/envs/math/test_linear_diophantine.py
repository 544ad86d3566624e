"""LinearDiophantine: the whole small world, forms of the answer, configuration."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.math.linear_diophantine import (
    LinearDiophantineConfig,
    LinearDiophantineProblem,
    LinearDiophantineTask,
)

TASK = LinearDiophantineTask(LinearDiophantineConfig.at(0))
PROBLEM = LinearDiophantineProblem(3, -5, 14, False, (3, -1))


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("LinearDiophantine", seed))
    solutions = 0
    for x in range(-20, 21):
        for y in range(-20, 21):
            holds = problem.a * x + problem.b * y == problem.c
            assert TASK.verify(problem, f"({x}, {y})").score == float(holds)
            solutions += holds
    assert solutions >= 2


@pytest.mark.parametrize(
    "answer",
    [
        "(3, -1)",
        "3, -1",
        "(8,2)",
        "$(-2, -4)$",
        r"\left(3,\, -1\right)",
        "x = 3, y = -1",
        r"x=3 \text{ and } y=-1",
        "$x = 3$ and $y = -1$",
        "(x, y) = (3, \u22121)",
        "(+3, -01)",
    ],
)
def test_any_solution_in_any_usual_form_passes(answer):
    assert TASK.verify(PROBLEM, answer).score == 1.0


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "3",
        "(3, -1, 0)",
        "(3, -1",
        "3, -1)",
        "(3.0, -1)",
        "(6/2, -1)",
        "(1 3, 5)",
        "x = 3",
        "(3, -1) or (8, 2)",
        "(3, -1) (8, 2)",
        "y = -1, x = 3, x = 8",
        "(" + "9" * 5_000 + ", 1)",
        "(²3, -1)",
        "(٣, -1)",
    ],
)
def test_other_texts_are_not_read(answer):
    assert TASK.verify(PROBLEM, answer).status is Status.UNPARSABLE


def test_near_misses_are_wrong():
    for answer in ("(-1, 3)", "(3, 1)", "(0, 0)", "(3, -2)"):
        assert TASK.verify(PROBLEM, answer).status is Status.WRONG


def test_only_the_least_solution_passes_where_it_is_asked_for():
    task = LinearDiophantineTask(LinearDiophantineConfig(max_coefficient=9, least=True))
    for seed in range(20):
        problem = task.generate(stream("LinearDiophantine", "least", seed))
        x = next(x for x in range(1, 10) if (problem.c - problem.a * x) % problem.b == 0)
        for k in range(-12, 40):
            y, rest = divmod(problem.c - problem.a * k, problem.b)
            passed = task.verify(problem, f"({k}, {y})").score == 1.0
            assert passed == (k == x and not rest)
        assert "smallest positive $x$" in task.prompt(problem)


def test_effort_and_baseline_of_a_small_problem():
    # Euclid: 5 = 1 * 3 + 2, 3 = 1 * 2 + 1, 2 = 2 * 1, after one division that swaps the two.
    assert TASK.effort(PROBLEM) == 3 * 4 + 2 + 2
    assert TASK.baseline(stream("baseline"), PROBLEM) == "(1, -3)"


def test_no_solution_is_free():
    for seed in range(100):
        problem = TASK.generate(stream("LinearDiophantine", "free", seed))
        assert min(abs(problem.a), abs(problem.b)) >= 2
        assert problem.c != 0


@pytest.mark.parametrize("knobs", [{"max_coefficient": 2}, {"max_solution": 1}])
def test_config_is_checked(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        LinearDiophantineConfig(**knobs)
