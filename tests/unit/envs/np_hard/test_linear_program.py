"""Linear programs: the optimum by enumeration of corners and by duality, forms, configuration."""

import itertools
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.linear_program import (
    STORIES,
    LinearProgramConfig,
    LinearProgramProblem,
    LinearProgramTask,
    program,
)
from rlvr_envs.generators.optimisation.linear_programs import Program, Row, holds, hurried, optimum
from rlvr_envs.generators.optimisation.stories import Size

TASK = LinearProgramTask(LinearProgramConfig())


def solve_system(rows):
    """Solve n equations (weights, bound) in n unknowns by elimination; None if singular."""
    lines = [[Fraction(w) for w in (*weights, bound)] for weights, bound in rows]
    n = len(lines)
    for column in range(n):
        found = next((i for i in range(column, n) if lines[i][column]), None)
        if found is None:
            return None
        lines[column], lines[found] = lines[found], lines[column]
        lines[column] = [a / lines[column][column] for a in lines[column]]
        for i in range(n):
            if i != column:
                factor = lines[i][column]
                lines[i] = [a - factor * b for a, b in zip(lines[i], lines[column], strict=True)]
    return [line[-1] for line in lines]


def best_corner(linear):
    """The best of all corners, which is the optimum wherever there is one."""
    n = len(linear.objective)
    borders = [(row.weights, row.bound) for row in linear.rows]
    borders += [(tuple(int(i == j) for i in range(n)), 0) for j in range(n)]
    values = []
    for chosen in itertools.combinations(borders, n):
        corner = solve_system(chosen)
        if corner is not None and holds(linear, corner):
            values.append(sum(c * x for c, x in zip(linear.objective, corner, strict=True)))
    return max(values) if linear.sense == "max" else min(values)


def dual(linear):
    """The dual, whose optimum is the same and bounds the program's from the other side."""
    sign = 1 if linear.sense == "max" else -1
    rows = []
    for weights, sense, bound in linear.rows:
        if sense in ("<=", "="):
            rows.append((weights, bound))
        if sense in (">=", "="):
            rows.append((tuple(-w for w in weights), -bound))
    columns = [
        Row(tuple(weights[j] for weights, _ in rows), ">=", sign * cost)
        for j, cost in enumerate(linear.objective)
    ]
    return sign, Program("min", tuple(bound for _, bound in rows), tuple(columns))


@pytest.mark.parametrize("story", sorted(STORIES))
@pytest.mark.parametrize("seed", range(4))
def test_optimum_is_the_best_corner(story, seed):
    config = LinearProgramConfig(n_choices=2, n_limits=1, max_number=6, story=story)
    task = LinearProgramTask(config)
    problem = task.generate(stream("LinearProgram", story, seed))
    gold = best_corner(program(problem.story, problem.numbers))
    assert problem.optimum == gold
    for numerator in range(-3, 12 * gold.numerator // gold.denominator):
        for bottom in (1, 2, 3):
            answer = Fraction(numerator, bottom)
            assert task.verify(problem, str(answer)).score == (answer == gold)


@pytest.mark.parametrize("story", sorted(STORIES))
@pytest.mark.parametrize("level", [1, 6, 12])
def test_optimum_is_reached_and_bounded_by_the_dual(story, level):
    size = Size(2 + level // 2, 1 + level // 2, 6 + 3 * level)
    for seed in range(8):
        numbers = STORIES[story].draw(stream("LinearProgram", "dual", story, level, seed), size)
        linear = program(story, numbers)
        found = optimum(linear)
        assert holds(linear, found.variables)
        sign, other = dual(linear)
        bound = optimum(other)
        assert holds(other, bound.variables)
        assert sign * bound.value == found.value > 0


def test_programs_without_an_optimum_are_refused():
    with pytest.raises(ConfigError, match="unbounded"):
        optimum(Program("max", (1, 1), (Row((1, -1), "<=", 2),)))
    with pytest.raises(ConfigError, match="no solution"):
        optimum(Program("max", (1,), (Row((1,), "<=", 2), Row((1,), ">=", 3))))


def test_degenerate_and_redundant_rows():
    rows = (Row((1, 1), "=", 4), Row((2, 2), "=", 8), Row((1, -1), ">=", 0), Row((-1, 0), ">=", -4))
    assert optimum(Program("min", (1, 3), rows)).value == 4
    assert optimum(Program("max", (1, 3), rows)).value == 8


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("27/2", True),
        ("13.5", True),
        ("13.50", True),
        (r"\frac{27}{2}", True),
        ("54/4", True),
        ("14", False),
        ("13", False),
        ("13.49", False),
        ("27", False),
        ("-27/2", False),
        ("13 or 14", False),
        ("x = 1, y = 2", False),
        ("NaN", False),
    ],
)
def test_forms(answer, right):
    problem = LinearProgramProblem("feed", ((1, 1), (1,), (1, 1)), Fraction(27, 2))
    assert TASK.verify(problem, answer).score == right


def test_rounded_answers_are_wrong():
    problem = LinearProgramProblem("feed", ((1, 1), (1,), (1, 1)), Fraction(100, 3))
    assert TASK.verify(problem, "100/3").score == 1
    for rounded in ("33.3", "33.33", "33.333333333333"):
        assert TASK.verify(problem, rounded).score == 0


@pytest.mark.parametrize("story", sorted(STORIES))
def test_prompts_tell_every_number(story):
    task = LinearProgramTask(LinearProgramConfig(story=story))
    problem = task.generate(stream("LinearProgram", "told", story))
    told = task.prompt(problem)
    assert problem.story == story
    for number in {number for row in problem.numbers for number in row}:
        assert str(number) in told


@pytest.mark.parametrize(
    "knob",
    [
        {"n_choices": 1},
        {"n_limits": 0},
        {"max_number": 2},
        {"max_number": 10_001},
        {"max_denominator": 0},
        {"story": "fairy tale"},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        LinearProgramConfig(**knob)


def test_the_simplex_method_counts_its_work_and_the_limits_that_matter():
    # x enters at 2 and y at 2; a pivot changes two rows and the costs, of five numbers each
    found = optimum(Program("max", (3, 2), (Row((1, 1), "<=", 4), Row((1, 0), "<=", 2))))
    assert (found.value, found.changed, found.binding) == (10, 2 * 3 * 5, (0, 1))
    found = optimum(Program("max", (3, 2), (Row((1, 1), "<=", 4), Row((1, 0), "<=", 9))))
    assert (found.value, found.changed, found.binding) == (12, 3 * 5, (0,))


def test_the_hurried_answer_looks_at_one_thing_at_a_time():
    gain = Program("max", (3, 2), (Row((1, 1), "<=", 4), Row((1, 0), "<=", 2)))
    assert hurried(gain, whole=False) == 8  # of y alone
    cost = Program("min", (5, 3), (Row((2, 1), ">=", 7), Row((0, 1), ">=", 2)))
    assert hurried(cost, whole=False) == Fraction(35, 2) + 6  # of x for the first, y for the second
    assert hurried(cost, whole=True) == 20 + 6


@pytest.mark.parametrize("story", sorted(STORIES))
def test_the_hurried_answer_is_never_good_for_nothing_but_seldom_right(story):
    task = LinearProgramTask(LinearProgramConfig(n_choices=4, n_limits=3, story=story))
    problems = [task.generate(stream("LinearProgram", story, seed)) for seed in range(12)]
    answers = [Fraction(task.baseline(stream("baseline"), problem)) for problem in problems]
    assert all(answer > 0 for answer in answers)
    assert sum(a == p.optimum for a, p in zip(answers, problems, strict=True)) <= 4
