"""Object transformation: answers right and wrong, what is held out, configuration."""

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.object_transformation import (
    HELD_OUT,
    Example,
    ObjectTransformationConfig,
    ObjectTransformationProblem,
    ObjectTransformationTask,
)

TASK = ObjectTransformationTask(ObjectTransformationConfig.at(4))

RECOLOURED = ObjectTransformationProblem(
    1,
    ("largest", "outer"),
    ("recolour 3", "remove"),
    (
        Example(("1100", "1000", "0002"), ("3300", "3000", "0002")),
        Example(("1000", "0220", "0000"), ("1000", "0330", "0000")),
    ),
    ("0110", "0110", "2000"),
    (("largest", "recolour 3"),),
)
RIGHT = "0 3 3 0\n0 3 3 0\n2 0 0 0"


@pytest.mark.parametrize(
    "answer",
    [
        RIGHT,
        "0330\n0330\n2000",
        "[[0,3,3,0],[0,3,3,0],[2,0,0,0]]",
        "| 0 | 3 | 3 | 0 |\n| 0 | 3 | 3 | 0 |\n| 2 | 0 | 0 | 0 |",
        "0, 3, 3, 0\n0, 3, 3, 0\n2, 0, 0, 0",
        f"\n{RIGHT}\n\n",
    ],
)
def test_right_answers_in_any_form(answer):
    assert (
        ObjectTransformationTask(ObjectTransformationConfig.at(0)).verify(RECOLOURED, answer).score
        == 1.0
    )


@pytest.mark.parametrize(
    "answer",
    [
        "0 1 1 0\n0 1 1 0\n2 0 0 0",  # the input
        "0 3 3 0\n0 3 3 0\n3 0 0 0",  # every object
        "0 1 1 0\n0 1 1 0\n3 0 0 0",  # the smallest object
        "0 0 0 0\n0 0 0 0\n2 0 0 0",  # removed
        "0 3 3 0\n0 3 1 0\n2 0 0 0",  # one cell off
        "0 3 3 0\n0 3 3 0\n2 0 0 1",
        "3 3 0 0\n3 0 0 0\n0 0 0 2",  # the output of an example
        "0 3 3 0\n0 3 3 0",  # a row short
        f"{RIGHT}\n0 0 0 0",  # a row long
        "0 3 3\n0 3 3\n2 0 0",  # a column short
        "0 3 3 0 0\n0 3 3 0 0\n2 0 0 0 0",
        "0 0 2\n3 3 0\n3 3 0\n0 0 0",  # turned
        "2 0 0 0\n0 3 3 0\n0 3 3 0",  # upside down
        "033003302000",  # one line
        "0 3 3 0 / 0 3 3 0 / 2 0 0 0",
        f"{RIGHT}\n\nor\n\n0 3 3 0\n0 3 3 0\n3 0 0 0",
        f"{RIGHT}\n{RIGHT}",
        "x 3 3 0\n0 3 3 0\n2 0 0 0",
        "0 3 3 0\n0 3 ? 0\n2 0 0 0",
        "recolour the largest object to 3",
        "0 ٣ ٣ 0\n0 ٣ ٣ 0\n2 0 0 0 0",
        "-0 3 3 0\n0 3 3 0\n2 0 0 0 0",
        "9" * 5000,
        "",
        "I cannot tell.",
        "[[[0,3,3,0]]]",
    ],
)
def test_wrong_answers_earn_nothing(answer):
    task = ObjectTransformationTask(ObjectTransformationConfig.at(0))
    assert task.verify(RECOLOURED, answer).score == 0.0


def test_held_out_words_are_used_on_one_side_alone():
    for held_out in (False, True):
        task = ObjectTransformationTask(
            ObjectTransformationConfig(n_steps=1, n_selections=8, n_actions=8, held_out=held_out)
        )
        for seed in range(12):
            problem = task.generate(stream("held", int(held_out), seed))
            words = {word.partition(" ")[0] for step in problem.rule for word in step}
            listed = {w.partition(" ")[0] for w in (*problem.selections, *problem.actions)}
            assert bool(words & HELD_OUT) == held_out
            assert held_out or not listed & HELD_OUT


def test_the_prompt_fills_in_colours_and_directions():
    assert "{" not in TASK.prompt(TASK.generate(stream("prompt", 0)))


def test_a_worked_solution_ends_in_the_answer():
    problem = TASK.generate(stream("explained", 1))
    steps = TASK.explain(problem)
    assert len(steps) == 2 * problem.n_steps
    assert steps[-1].endswith(TASK.solve(problem))
    assert steps[problem.n_steps - 1].endswith(
        "\n".join(" ".join(row) for row in problem.examples[0].made)
    )


def test_effort_counts_the_steps_that_a_search_tries():
    task = ObjectTransformationTask(ObjectTransformationConfig.at(0))
    assert task.effort(RECOLOURED) == 4  # two selections, two actions


@pytest.mark.parametrize(
    ("knobs", "says"),
    [
        ({"n_steps": 3, "n_selections": 8, "n_actions": 8}, "100,000"),
        ({"n_steps": 4}, "n_steps"),
        ({"held_out": "yes"}, "held_out"),
        ({"side": 4}, "side"),
    ],
)
def test_config_is_checked(knobs, says):
    with pytest.raises(ConfigError, match=says):
        ObjectTransformationConfig(**knobs)
