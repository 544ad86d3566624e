"""SetOperations: the whole small world by membership, forms of the answer, configuration."""

from itertools import combinations

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.math.set_operations import (
    KINDS,
    SetOperationsConfig,
    SetOperationsProblem,
    SetOperationsTask,
)

PROBLEM = SetOperationsProblem("members", 8, ((1, 2, 5), (2, 7)), ("A", "B", "cup"), (1, 2, 5, 7))
TASK = SetOperationsTask(SetOperationsConfig())

CONNECTIVES = {
    "cup": lambda p, q: p or q,
    "cap": lambda p, q: p and q,
    "setminus": lambda p, q: p and not q,
    "triangle": lambda p, q: p is not q,
}


def belongs(element, problem):
    """Whether an element is in the value, by logic on this element alone."""
    stack = []
    for item in problem.expression:
        if item == "complement":
            stack.append(not stack.pop())
        elif item in CONNECTIVES:
            q, p = stack.pop(), stack.pop()
            stack.append(CONNECTIVES[item](p, q))
        else:
            stack.append(element in problem.sets["ABCDEFGH".index(item)])
    return stack.pop()


def enumerated(problem):
    return [e for e in range(1, problem.universe + 1) if belongs(e, problem)]


def of_kind(kind, **knobs):
    return SetOperationsTask(SetOperationsConfig(kinds=(kind,), **knobs))


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world_of_sets(seed):
    task = of_kind("members", universe=6, n_sets=2, n_operations=2)
    problem = task.generate(stream("SetOperations", seed))
    elements = range(1, problem.universe + 1)
    subsets = [c for size in range(1, 7) for c in combinations(elements, size)]
    right = [c for c in subsets if task.verify(problem, str(c)[1:-1].rstrip(",")).score == 1.0]
    assert right == [tuple(enumerated(problem))]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("kind", "measure"), [("size", len), ("total", sum)])
def test_whole_small_world_of_numbers(kind, measure, seed):
    task = of_kind(kind, universe=8, n_sets=2, n_operations=2)
    problem = task.generate(stream("SetOperations", kind, seed))
    right = [n for n in range(40) if task.verify(problem, str(n)).score == 1.0]
    assert right == [measure(enumerated(problem))]


@pytest.mark.parametrize("difficulty", [2, 7])
def test_larger_expressions_agree_with_logic(difficulty):
    task = SetOperationsTask(SetOperationsConfig.at(difficulty))
    for seed in range(50):
        problem = task.generate(stream("SetOperations", "larger", seed))
        assert list(problem.members) == enumerated(problem)
        assert 0 < len(problem.members) < problem.universe


@pytest.mark.parametrize("kind", KINDS)
def test_wording(kind):
    expression = ("A", "B", "setminus", "complement", "C", "A", "triangle", "cap")
    problem = SetOperationsProblem(kind, 9, ((1, 2), (2, 3), (4,)), expression, ())
    text = of_kind(kind).prompt(problem)
    assert r"\overline{A \setminus B} \cap (C \triangle A)" in text
    assert r"$U = \{1, 2, \ldots, 9\}$" in text
    assert r"$C = \{4\}$" in text


@pytest.mark.parametrize(
    "answer",
    [
        r"\{1, 2, 5, 7\}",
        "{7, 5, 2, 1}",
        "1,2,5,7",
        r"$\left\{1,\,2,\,5,\,7\right\}$",
        "{1,1,2,5,7}",
    ],
)
def test_forms_of_the_right_set_pass(answer):
    assert TASK.verify(PROBLEM, answer).score == 1.0


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("{1, 2, 5}", Status.WRONG),
        ("{1, 2, 5, 7, 8}", Status.WRONG),
        ("4", Status.WRONG),
        ("", Status.UNPARSABLE),
        (r"\emptyset", Status.UNPARSABLE),
        (r"A \cup B", Status.UNPARSABLE),
        (r"\{1, 2, 5\} \cup \{2, 7\}", Status.UNPARSABLE),
        ("{1, 2, 5, 7", Status.UNPARSABLE),
        ("{1, 2, 5, 2 + 5}", Status.UNPARSABLE),
        ("{1, 2, 5, 7,}", Status.UNPARSABLE),
        ("{1 2 5 7}", Status.UNPARSABLE),
        ("{1, 2}, {5, 7}", Status.UNPARSABLE),
        ("{" + "1," * 4_000 + "1}", Status.UNPARSABLE),
        ("{¹, 2, 5, 7}", Status.UNPARSABLE),
    ],
)
def test_other_texts_earn_nothing(answer, status):
    assert TASK.verify(PROBLEM, answer).status is status


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"kinds": ()}, "kinds are"),
        ({"kinds": ("power",)}, "kinds are"),
        ({"universe": 3}, "universe"),
        ({"n_sets": 1}, "n_sets"),
        ({"n_sets": 21}, "n_sets"),
        ({"n_operations": 0}, "n_operations"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        SetOperationsConfig(**knobs)


def test_effort_and_baseline_of_a_small_expression():
    task = of_kind("size", universe=6, n_sets=2, n_operations=1)
    problem = SetOperationsProblem("size", 6, ((1, 2), (2, 5)), ("A", "B", "cap"), (2,))
    assert task.explain(problem) == [r"A \cap B = {2}", "Count them: 1 elements."]
    assert task.effort(problem) == 2
    assert task.baseline(stream("b"), problem) == "3"
