"""StringComposition: values worked out in another way, forms, near misses, configuration."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import from_json, to_json
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.string_composition import (
    StringCompositionConfig,
    StringCompositionProblem,
    StringCompositionTask,
    Term,
)
from rlvr_envs.generators.string_functions import FUNCTIONS, numbers_of

TASK = StringCompositionTask(StringCompositionConfig())
SMALL = StringCompositionProblem(Term(9, (Term(5, (Term(),), " q"),)), "ab", True, " qabbaq ")


def shown_expression(task, problem):
    return task.prompt(problem).split("```\n")[1].strip()


@pytest.mark.parametrize("split", ["all", "train", "held_out"])
@pytest.mark.parametrize("depth", [1, 4, 9])
def test_python_gives_the_same_value_for_the_shown_expression(split, depth):
    task = StringCompositionTask(StringCompositionConfig(depth=depth, split=split))
    names = {f"func_{number}": FUNCTIONS[number].apply for number in numbers_of(split)}
    for seed in range(20):
        problem = task.generate(stream("StringComposition", seed))
        value = eval(shown_expression(task, problem), {**names, "x": problem.text})
        assert value == problem.output
        assert len(value) > 0
        assert value != problem.text


def test_every_function_occurs():
    task = StringCompositionTask(StringCompositionConfig(depth=6))
    shown = "".join(task.prompt(task.generate(stream("occurs", seed))) for seed in range(200))
    assert all(f"func_{number}(" in shown for number in range(25))


def test_strings_stay_within_the_bound():
    task = StringCompositionTask(StringCompositionConfig(depth=12, max_length=30))
    problems = [task.generate(stream("bound", seed)) for seed in range(100)]
    assert max(len(problem.output) for problem in problems) <= 30


def test_definitions_stand_there_or_not():
    hidden = StringCompositionTask(StringCompositionConfig(definitions_shown=False))
    for seed in range(10):
        shown_problem = TASK.generate(stream("definitions", seed))
        hidden_problem = hidden.generate(stream("definitions", seed))
        assert shown_problem.expression == hidden_problem.expression
        words = [line for line in TASK.prompt(shown_problem).splitlines() if line.startswith("- ")]
        assert len(words) == len({line.split("(")[0] for line in words}) > 0
        assert "- `func_" not in hidden.prompt(hidden_problem)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ('" qabbaq "', 1.0),
        ("' qabbaq '", 1.0),
        ("“ qabbaq ”", 1.0),
        (' " qabbaq " \n', 1.0),
        ("qabbaq", 0.0),  # the spaces at the ends belong to the string
        ('"qabbaq"', 0.0),
        ('" qabba"', 0.0),
        ('" Qabbaq "', 0.0),
        ('" qabbaq " + ""', 0.0),
        ('x = " qabbaq "', 0.0),
        ('""', 0.0),
        ('"', 0.0),
        ('func_9(func_5(x, " q"))', 0.0),
    ],
)
def test_forms_and_near_misses(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_quotes_may_be_left_out():
    problem = StringCompositionProblem(Term(17, (Term(),)), "abc", True, "cba")
    assert TASK.verify(problem, "cba").score == 1.0
    assert TASK.verify(problem, "CBA").score == 0.0


def test_effort_and_prompt_of_a_known_problem():
    assert TASK.effort(SMALL) == len(" qab") + len(" qabbaq ")
    assert shown_expression(TASK, SMALL) == 'func_9(func_5(x, " q"))'
    assert from_json(StringCompositionProblem, to_json(SMALL)) == SMALL


@pytest.mark.parametrize(
    "knob",
    [{"depth": 0}, {"depth": 101}, {"max_length": 19}, {"max_length": 10_001}, {"split": "test"}],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        StringCompositionConfig(**knob)


def test_the_deepest_expression_can_be_stored_and_solved():
    task = StringCompositionTask(StringCompositionConfig(depth=100, max_length=200))
    problem = task.generate(stream("strings", "deep"))
    again = from_json(StringCompositionProblem, to_json(problem))
    assert task.verify(again, task.solve(again)).score == 1.0
