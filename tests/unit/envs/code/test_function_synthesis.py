"""Function synthesis: oracle and table agree, every step counts, and cheats earn nothing."""

import dataclasses
import json

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.function_synthesis import (
    FunctionSynthesisConfig,
    FunctionSynthesisProblem,
    FunctionSynthesisTask,
)
from rlvr_envs.generators.specified_functions.definitions import definition
from rlvr_envs.generators.specified_functions.hidden_rules import RULES
from rlvr_envs.generators.specified_functions.specifications import OPERATIONS, draw_value
from rlvr_envs.verifiers.program import Call, judge_function

EMPTY = {"ints": [], "words": [], "text": "", "counts": {}}
KIND_TYPES = {"ints": list, "words": list, "text": str, "counts": dict, "int": int}

# Worked by hand from the words of the operations.
WORKED = {
    ("by_digit_sum", (31, 4, -22, 100), ()): [100, -22, 4, 31],
    ("by_remainder", (5, 3, 4, 1), (2,)): [4, 5, 3, 1],
    ("block_sums", (1, 2, 3, 4, 5), (2,)): [3, 7, 5],
    ("reverse_blocks", (1, 2, 3, 4, 5), (3,)): [3, 2, 1, 5, 4],
    ("carry", (1, 2, 3), (7,)): [1, 4, 4],
    ("fold_ends", (1, 2, 3, 4, 5), ()): [1, 5, 2, 4, 3],
    ("peaks", (3, 1, 2, 2, 5), ()): [3, 5],
    ("run_lengths", (7, 7, 2), ()): [7, 2, 2, 1],
    ("smaller_before", (2, 1, 3), ()): [0, 0, 2],
    ("window_maxima", (1, 5, 2), (2,)): [5, 5],
    ("best_block", (1, -5, 3, 4), ()): 7,
    ("alternating_sum", (5, 2, 1), ()): 4,
    ("products_of_neighbours", (2, 3, 4), ()): 18,
    ("last_digits", (-12, 7), ()): "27",
    ("last_occurrences", (1, 2, 1), ()): [2, 1],
}


def test_operations_do_what_their_words_say():
    by_name = {operation.apply.__name__: operation for operation in OPERATIONS}
    assert len(by_name) == len(OPERATIONS) > 65
    for (name, value, parameters), expected in WORKED.items():
        assert by_name[name].apply(list(value), *parameters) == expected, name
    assert by_name["deal"].apply("abcdefg", 3) == "adgbecf"
    assert by_name["write_runs"].apply("aab") == "a2b1"
    assert by_name["swap_pairs"].apply("abcde") == "badce"


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.apply.__name__)
def test_operations_are_total_and_give_their_kind(operation):
    rng = stream("total", operation.apply.__name__)
    for size in range(12):
        value = draw_value(rng, operation.takes, size) if size else EMPTY[operation.takes]
        before = json.dumps(value)
        result = operation.apply(value, *operation.draw(rng))
        assert type(result) is KIND_TYPES[operation.gives]
        assert json.dumps(value) == before, "the argument was changed"


def test_rules_are_total():
    for rule in RULES:
        assert all(type(rule(x, 2, 1)) is int for x in range(-300, 300))


def test_sources_run_alone_and_agree():
    rng = stream("sources")
    for operation in OPERATIONS:
        parameters = operation.draw(rng)
        values = [draw_value(rng, operation.takes, 6), EMPTY[operation.takes]]
        calls = [Call((v, *parameters), operation.apply(v, *parameters)) for v in values]
        verdict = judge_function(definition(operation.apply, "f"), "f", calls)
        assert verdict.score == 1.0, (operation.words, verdict)


@pytest.mark.parametrize("difficulty", [0, 2, 5, 9, 13])
def test_the_oracle_agrees_with_the_expected_values(difficulty):
    task = FunctionSynthesisTask(FunctionSynthesisConfig.at(difficulty))
    for seed in range(4):
        problem = task.generate(stream("oracle", seed))
        assert len(problem.steps) == difficulty + 1
        assert task.verify(problem, task.solve(problem)).score == 1.0


@pytest.mark.parametrize("seed", range(4))
def test_leaving_out_any_plain_step_fails(seed):
    task = FunctionSynthesisTask(FunctionSynthesisConfig(n_steps=1))
    problem = task.generate(stream("short", seed))
    assert task.verify(problem, "def transform(value):\n    return value\n").score == 0.0


def test_cheats_earn_nothing():
    problem = FunctionSynthesisProblem(
        "ints",
        "int",
        ("take the sum of the numbers",),
        (("[1, 2]", "3"),),
        (("[4, 5]", "9"), ("[]", "0")),
        "",
    )
    task = FunctionSynthesisTask(FunctionSynthesisConfig())
    good = "def transform(value: list[int]) -> int:\n    return sum(value)\n"
    assert task.verify(problem, good).score == 1.0
    cheats = [
        "def transform(value):\n    return 3\n",
        "def transform(value):\n    return float(sum(value))\n",
        "def transform(value):\n    return sum(value) or False\n",
        "def transform(value):\n    return str(sum(value))\n",
        (
            "class Any(int):\n    def __eq__(self, other):\n        return True\n"
            "def transform(value):\n    return Any(0)\n"
        ),
        "print(9)\nprint(0)\n",
        "def transform(value):\n    raise SystemExit(0)\n",
        "def other(value):\n    return sum(value)\n",
    ]
    for source in cheats:
        assert task.verify(problem, source).score == 0.0, source


@pytest.mark.parametrize(
    "knob", [{"n_steps": 0}, {"input_size": 1}, {"n_branches": -1}, {"n_rules": 4}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        FunctionSynthesisConfig(**knob)


def test_effort_and_baseline():
    task = FunctionSynthesisTask(FunctionSynthesisConfig())
    problem = task.generate(stream("f", 0))
    same = task.baseline(stream("rng"), problem)
    assert task.verify(problem, same).score == 0.0
    assert task.effort(dataclasses.replace(problem, source=same)) == 8
