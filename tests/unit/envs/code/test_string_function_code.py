"""String functions and their compositions: the sources agree with the table, cheats earn nothing."""

import dataclasses
import re

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.string_function_code import (
    StringFunctionCodeConfig,
    StringFunctionCodeTask,
)
from rlvr_envs.generators.specified_functions.definitions import definition
from rlvr_envs.generators.string_functions import FUNCTIONS, numbers_of
from rlvr_envs.verifiers.program import Call, judge_function

WORDS = ["", "a", "ab", "hello", "abcdef", "to be or", "Aa Bb", "noon", "aabbcc", "x1-y2", "«q»"]
ARGUMENTS = {"": (), "number": (3,), "letters": ("xyz",), "separator": ("-",), "string": ("pqr",)}

# Worked by hand from the words of each function.
EXPECTED = {
    0: ("abcdef", (), "afedcb"),  # stride 5
    1: ("ab", (3,), "ababab"),
    2: ("hEllo", (), "hll"),
    3: ("cab", (), "abc"),
    4: ("to be or", (), "or be to"),
    5: ("ab", ("xy",), "xyab"),
    6: ("ab", ("xy",), "abxy"),
    7: ("abcd", ("xy",), "axbycd"),
    8: ("abcd", (3,), "dabc"),
    9: ("abc", (), "abccba"),
    10: ("abCd", (), "AbCd"),
    11: ("xyZ a", (2,), "zaB c"),
    12: ("hEllo", (), "h2ll4"),
    13: ("abc", ("-",), "a-b-c"),
    14: ("abc", (), "aabbcc"),
    15: ("ab", (), "«a»«b»"),
    16: ("aabccc", (), "abc"),
    17: ("abcde", (), "edcba"),
    18: ("ab", (2,), "abab"),
    19: ("abcd", (3,), "dabc"),
    20: ("ab", ("wxyz",), "awbxyz"),
    21: ("a1 B-", (), "aB"),
    22: ("abc", (), "ab"),
    23: ("ab", (3,), "ab32"),
    24: ("ab", (2,), "aba"),
}


@pytest.mark.parametrize("number", range(25))
def test_a_function_does_what_its_words_say(number):
    text, arguments, expected = EXPECTED[number]
    assert FUNCTIONS[number].apply(text, *arguments) == expected


def test_the_split_is_thirteen_and_twelve_and_keeps_twins_together():
    train, held_out = set(numbers_of("train")), set(numbers_of("held_out"))
    assert (len(train), len(held_out), train | held_out) == (13, 12, set(range(25)))
    for one, other in ((1, 18), (7, 20), (8, 19)):
        assert (one in train) == (other in train)


def test_shown_sources_run_alone_and_agree():
    for number, function in enumerate(FUNCTIONS):
        arguments = ARGUMENTS[function.argument]
        calls = [Call((w, *arguments), function.apply(w, *arguments)) for w in WORDS]
        verdict = judge_function(
            definition(function.apply, f"func_{number}"), f"func_{number}", calls
        )
        assert verdict.score == 1.0, (number, verdict)


@pytest.mark.parametrize("side", ["train", "held_out"])
def test_only_the_chosen_side_is_used(side):
    task = StringFunctionCodeTask(StringFunctionCodeConfig(depth=6, functions=side))
    for seed in range(20):
        problem = task.generate(stream("side", seed))
        used = {int(n) for n in re.findall(r"func_(\d+)", problem.expression)}
        assert used <= set(numbers_of(side))


@pytest.mark.parametrize("definitions", ["code", "words", "examples", "none"])
def test_every_way_to_give_functions_is_solvable_and_hides_the_source(definitions):
    task = StringFunctionCodeTask(StringFunctionCodeConfig(depth=4, definitions=definitions))
    for seed in range(3):
        problem = task.generate(stream("given", seed))
        assert task.verify(problem, task.solve(problem)).score == 1.0
        assert ("def func_" in task.prompt(problem)) == (definitions == "code")
        assert not {x for x, _ in problem.tests} & {x for x, _ in problem.examples}


def test_cheats_earn_nothing():
    task = StringFunctionCodeTask(StringFunctionCodeConfig(depth=3))
    problem = task.generate(stream("cheats", 1))
    lookup = f"def main(x):\n    return dict({list(problem.examples)!r}).get(x, x)\n"
    undefined = f"def main(x):\n    return {problem.expression}\n"
    always = (
        "class Same(str):\n    def __eq__(self, other):\n        return True\n"
        "    __hash__ = str.__hash__\ndef main(x):\n    return Same(x)\n"
    )
    for source in (lookup, undefined, always, "import sys\nsys.exit(0)", problem.expression):
        assert task.verify(problem, source).score == 0.0, source


@pytest.mark.parametrize("knob", [{"depth": 0}, {"functions": "both"}, {"definitions": "shown"}])
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        StringFunctionCodeConfig(**knob)


def test_effort_and_baseline():
    task = StringFunctionCodeTask(StringFunctionCodeConfig(depth=1))
    problem = dataclasses.replace(
        task.generate(stream("s", 0)), source="def main(x):\n    return x"
    )
    assert task.effort(problem) == 8
    assert task.baseline(stream("rng"), problem) == problem.source
    assert task.verify(problem, problem.source).score == 0.0
