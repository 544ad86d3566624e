"""The game of 24: the whole small world, exploits, configuration."""

import itertools
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles import game24
from rlvr_envs.envs.puzzles.game24 import Game24Config, Game24Problem, Game24Task

TASK = Game24Task(Game24Config())
SMALL = Game24Problem((3, 3, 8, 8), 24, "8 / (3 - 8 / 3)")

SHAPES = (
    "(({0}{4}{1}){5}{2}){6}{3}",
    "({0}{4}({1}{5}{2})){6}{3}",
    "({0}{4}{1}){5}({2}{6}{3})",
    "{0}{4}(({1}{5}{2}){6}{3})",
    "{0}{4}({1}{5}({2}{6}{3}))",
)


def by_python(text):
    """The value by Python's own evaluator, on text that this test wrote."""
    try:
        return eval(text, {"F": Fraction})
    except ZeroDivisionError:
        return None


@pytest.mark.parametrize("numbers", [(3, 3, 8, 8), (1, 5, 5, 5)])
def test_every_expression_of_four_numbers(numbers):
    """All five shapes of all orders and operations: the known puzzles with fractions included."""
    problem = Game24Problem(numbers, 24, "")
    right = 0
    for order in sorted(set(itertools.permutations(numbers))):
        wrapped = [f"F({number})" for number in order]
        for shape in SHAPES:
            for names in itertools.product("+-*/", repeat=3):
                expected = by_python(shape.format(*wrapped, *names)) == 24
                right += expected
                verdict = TASK.verify(problem, shape.format(*order, *names))
                assert verdict.score == expected
    assert right > 0


@pytest.mark.parametrize("seed", range(10))
def test_whole_small_world(seed):
    problem = Game24Task(Game24Config.at(0)).generate(stream("Game24", seed))
    a, b = problem.numbers
    values = {
        f"{x} {name} {y}": by_python(f"F({x}) {name} F({y})")
        for x, y in ((a, b), (b, a))
        for name in "+-*/"
    }
    assert problem.target in values.values()
    for text, value in values.items():
        assert TASK.verify(problem, text).score == (value == problem.target)
    for text in (str(a), str(b), str(problem.target), f"{a} + {b} + {a}", f"{a} - {a}"):
        assert TASK.verify(problem, text).score == 0.0


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("8 / (3 - 8 / 3)", 1.0),
        ("8/(3-8/3) = 24", 1.0),
        (r"\frac{8}{3 - \frac{8}{3}}", 1.0),
        ("3 * 8", 0.0),  # not all numbers
        ("3 * 8 * (8 - 3) / (8 - 3)", 0.0),
        ("24", 0.0),
        ("13 + 11", 0.0),
        ("4 * 6 * 1 * 1", 0.0),  # another problem's answer
        ("8 / (3 - 8 / 3) or 24", 0.0),
        ("(3 + 3) * 8 / (8 / 4)", 0.0),
        ("8 / 3 - 8 / 3", 0.0),
        ("83 - 38", 0.0),
        ("no solution", 0.0),
        ("None", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


@pytest.mark.parametrize(
    "config",
    [
        Game24Config(),
        Game24Config(n_numbers=9),
        Game24Config(n_numbers=3, max_number=9, min_target=27, max_target=27),
        Game24Config(n_numbers=12, max_number=2),
        Game24Config.at(12),
    ],
)
def test_problems_are_solvable_within_the_configuration(config):
    task = Game24Task(config)
    for seed in range(15):
        problem = task.generate(stream("Game24", "configured", seed))
        assert len(problem.numbers) == config.n_numbers
        assert all(1 <= number <= config.max_number for number in problem.numbers)
        assert config.min_target <= problem.target <= config.max_target
        assert task.verify(problem, problem.expression).score == 1.0


def test_the_fallback_is_a_sum(monkeypatch):
    monkeypatch.setattr(game24, "_reach", lambda *args: None)
    monkeypatch.setattr(game24, "_close", lambda *args: None)
    for seed in range(10):
        problem = TASK.generate(stream("Game24", "fallback", seed))
        assert sum(problem.numbers) == 24
        assert max(problem.numbers) <= 13
        assert TASK.verify(problem, problem.expression).score == 1.0


def test_effort_grows_and_guesses_are_readable():
    efforts = []
    rng = stream("Game24", "guess")
    for level in (0, 3, 7):
        task = Game24Task(Game24Config.at(level))
        problems = [task.generate(stream("Game24", "effort", seed)) for seed in range(15)]
        efforts.append(sum(map(task.effort, problems)))
        assert all(task.verify(p, task.baseline(rng, p)).status != "unparsable" for p in problems)
    assert 5 * efforts[0] < efforts[1] < efforts[2] / 5


@pytest.mark.parametrize(
    "knob",
    [
        {"n_numbers": 1},
        {"min_target": 3},
        {"max_target": 23},
        {"max_number": 5},
        {"max_number": 10**12 + 1},
        {"n_numbers": 61},
        {"min_target": 100, "max_target": 100},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        Game24Config(**knob)


def test_the_longest_expressions_are_read():
    config = Game24Config(n_numbers=60, max_number=10**12, min_target=10**9, max_target=10**12)
    problem = Game24Task(config).generate(stream("game24", "longest"))
    assert Game24Task(config).verify(problem, problem.expression).score == 1.0


def test_effort_counts_the_results_computed():
    # Of 3 and 4: 7, 1, 12.
    for target, effort in ((7, 1), (1, 2), (12, 3)):
        assert TASK.effort(Game24Problem((3, 4), target, "")) == effort


def test_the_hardest_of_the_problems_compared_is_taken():
    one, several = (Game24Task(Game24Config(n_compared=n_compared)) for n_compared in (1, 8))
    efforts = [
        sum(task.effort(task.generate(stream("Game24", "compared", seed))) for seed in range(10))
        for task in (one, several)
    ]
    assert efforts[1] > 1.5 * efforts[0]


def test_targets_of_a_wide_range_lie_in_it():
    config = Game24Config(n_numbers=5, max_number=40, min_target=150, max_target=5000)
    task = Game24Task(config)
    targets = [task.generate(stream("Game24", "wide", seed)).target for seed in range(30)]
    assert all(150 <= target <= 5000 for target in targets)
    assert len(set(targets)) > 20
