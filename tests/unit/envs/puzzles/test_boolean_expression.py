"""Boolean expressions: the prompt's own text evaluated by Python, all answers, forms."""

import itertools
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.boolean_expression import (
    BooleanExpressionConfig,
    BooleanExpressionProblem,
    BooleanExpressionTask,
    Notation,
)

TASK = BooleanExpressionTask(BooleanExpressionConfig.at(0))
SMALL = BooleanExpressionProblem(
    (True, False), 0, ("(and 1 2)", "(if 2 1)", "(not (iff 1 (not 2)))"), Notation.WORDS, "FTF"
)
PYTHON = {"not ": "~", "¬": "~", "and": "&", "∧": "&", "or": "|", "∨": "|", "⊕": "^"}
PYTHON |= {"implies": ">>", "→": ">>", "iff": "==", "↔": "=="}


class Truth:
    """A truth value with operators that bind like those of the text."""

    def __init__(self, value):
        self.value = value

    __hash__ = None
    __invert__ = lambda self: Truth(not self.value)  # noqa: E731
    __and__ = lambda self, other: Truth(self.value and other.value)  # noqa: E731
    __or__ = lambda self, other: Truth(self.value or other.value)  # noqa: E731
    __xor__ = lambda self, other: Truth(self.value != other.value)  # noqa: E731
    __rshift__ = lambda self, other: Truth(other.value or not self.value)  # noqa: E731
    __eq__ = lambda self, other: Truth(self.value == other.value)  # noqa: E731


def values_by_python(prompt):
    given = {name: Truth(v == "true") for name, v in re.findall(r"(\w) is (true|false)", prompt)}
    unknown = re.search(r"The values? of (.*) (?:is|are) unknown", prompt)
    open_names = re.findall(r"\b\w\b", unknown[1]) if unknown else []
    found = []
    for line in re.findall(r"^\d+\. (.*)$", prompt, re.MULTILINE):
        text = line.replace("xor", "^")
        for sign, operator in PYTHON.items():
            text = text.replace(sign, operator)
        values = {
            eval(text, {}, given | dict(zip(open_names, map(Truth, case), strict=True))).value
            for case in itertools.product((True, False), repeat=len(open_names))
        }
        found.append("U" if len(values) == 2 else "T" if values.pop() else "F")
    return "".join(found)


@pytest.mark.parametrize("difficulty", [0, 2, 5, 8])
def test_python_reads_the_same_values_in_the_prompt(difficulty):
    task = BooleanExpressionTask(BooleanExpressionConfig.at(difficulty))
    for seed in range(20):
        problem = task.generate(stream("Boolean", seed))
        assert values_by_python(task.prompt(problem)) == task.solve(problem)


@pytest.mark.parametrize("seed", range(10))
def test_every_answer(seed):
    problem = TASK.generate(stream("Boolean", "answers", seed))
    answers = map("".join, itertools.product("TF", repeat=len(problem.expressions)))
    right = [answer for answer in answers if TASK.verify(problem, answer).score == 1.0]
    assert right == [values_by_python(TASK.prompt(problem))]


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("FTF", 1.0),
        ("F, T, F", 1.0),
        ("f t f", 1.0),
        (r"\text{FTF}", 1.0),
        ("False, True, False", 1.0),
        ("FTT", 0.0),
        ("FT", 0.0),
        ("FTFF", 0.0),
        ("0, 1, 0", 0.0),
        ("TFTFTF", 0.0),
        ("1. F\n2. T\n3. F", 0.0),
    ],
)
def test_forms(answer, score):
    assert TASK.verify(SMALL, answer).score == score


HALF_KNOWN = BooleanExpressionProblem(
    (True,), 2, ("(or 2 1)", "(and 1 3)", "(xor 3 3)", "(if 2 (not 1))"), Notation.WORDS, "TUFU"
)


def test_unknown_values():
    text = TASK.prompt(HALF_KNOWN)
    assert "Given that p is true, find" in text
    assert "The values of q and r are unknown." in text
    assert values_by_python(text) == "TUFU"
    for answer in map("".join, itertools.product("TFU", repeat=4)):
        assert TASK.verify(HALF_KNOWN, answer).score == (answer == "TUFU")
    steps = TASK.explain(HALF_KNOWN)
    assert steps[:4] == [
        "1. q or p = q or true",
        "1. = true",
        "2. p and r = true and r",
        "2. true and r depends on unknown values",
    ]
    assert "3. In every case, r xor r = false" in steps


def test_effort_counts_operators_in_all_cases():
    assert TASK.effort(SMALL) == 1 + 1 + 3
    assert TASK.effort(HALF_KNOWN) == 2 + 2 + 2 + 2 * 2


def test_the_baseline_looks_at_the_first_variable():
    assert TASK.baseline(stream("boolean"), SMALL) == "TFT"
    assert TASK.baseline(stream("boolean"), HALF_KNOWN) == "UTUU"


def test_words_of_a_prompt():
    text = TASK.prompt(SMALL)
    assert "Given that p is true and q is false" in text
    assert "1. p and q\n2. q implies p\n3. not (p iff not q)\n" in text


@pytest.mark.parametrize(
    "knob",
    [
        *({"n_expressions": 1}, {"n_expressions": 51}, {"n_literals": 1}, {"n_literals": 251}),
        *({"n_variables": 1}, {"n_variables": 20}, {"n_unknown": 4}),
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        BooleanExpressionConfig(**knob)
