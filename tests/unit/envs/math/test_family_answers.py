"""What is right and wrong of one number, in the tasks of families whose answer is one."""

import re
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import pytest
from number_answers import RIGHT, WRONG

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.registry import find
from rlvr_envs.core.seeding import stream


class Asked(NamedTuple):
    """A task, and the problem whose answer is spelt in all ways.

    Of 40 problems of each kind at ``drawn`` at least ``fewest`` answers differ, and no answer
    comes more than ``most`` times.
    """

    task: str
    kind: str
    size: int
    drawn: int = 6
    fewest: int = 1
    most: int = 40


ASKED = [
    Asked("CombinatorialGame", "nim", 2, fewest=11),
    Asked("DiophantineFamily", "reciprocals", 1, fewest=16),
    Asked("ExtremalProblem", "turan", 1, fewest=16),
    Asked("FunctionalEquation", "additive", 2, fewest=21),
    Asked("InvariantProblem", "shifted_row", 2, drawn=5, most=6),
    Asked("RecurrenceDiscovery", "tiles", 3, drawn=4, most=4),
    Asked("SymmetryCounting", "bracelets", 1, most=10),
]
KINDS = [
    pytest.param(asked, kind, id=f"{asked.task}-{kind}")
    for asked in ASKED
    for kind in find(f"{asked.task}-v0").task_type.families
]


def task_of(asked, kind, size):
    task_type = find(f"{asked.task}-v0").task_type
    return task_type(task_type.Config(kinds=(kind,), size=size))


def value_of(task, problem):
    return Fraction(task.families[problem.kind].state(*problem.numbers).answer)


@pytest.fixture(params=ASKED, ids=lambda asked: asked.task)
def posed(request):
    asked = request.param
    task = task_of(asked, asked.kind, asked.size)
    return task, task.generate(stream(asked.task, asked.kind))


@pytest.mark.parametrize("name", WRONG)
def test_wrong_answers_earn_nothing(posed, name):
    task, problem = posed
    assert abs(value_of(task, problem)) > 20
    assert task.verify(problem, WRONG[name](value_of(task, problem))).score == 0.0


@pytest.mark.parametrize("name", RIGHT)
def test_spellings_of_the_right_answer(posed, name):
    task, problem = posed
    assert task.verify(problem, RIGHT[name](value_of(task, problem))).score == 1.0


def test_the_prompt_and_its_numbers_earn_nothing(posed):
    task, problem = posed
    prompt = task.prompt(problem)
    for wrong in (prompt, *re.findall(r"\d+", prompt)):
        assert task.verify(problem, wrong).score == 0.0


@pytest.mark.parametrize(("asked", "kind"), KINDS)
def test_answers_of_other_problems_are_wrong(asked, kind):
    task = task_of(asked, kind, asked.drawn)
    drawn = [task.generate(stream(asked.task, kind, seed)) for seed in range(40)]
    answers = Counter(problem.answer for problem in drawn)
    assert len(answers) >= asked.fewest
    assert answers.most_common(1)[0][1] <= asked.most
    for one, other in pairwise(drawn):
        assert task.verify(one, other.answer).score == float(one.answer == other.answer)
        assert task.verify(one, task.solve(one)).score == 1.0
        assert str(value_of(task, one)) in " ".join(task.explain(one))


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: asked.task)
@pytest.mark.parametrize(
    ("knobs", "message"),
    [({"kinds": ()}, "kinds are"), ({"kinds": ("chess",)}, "kinds are"), ({"size": -1}, "size")],
)
def test_config_is_checked(asked, knobs, message):
    with pytest.raises(ConfigError, match=message):
        find(f"{asked.task}-v0").task_type.Config(**knobs)
