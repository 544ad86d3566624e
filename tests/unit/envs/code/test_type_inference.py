"""Type inference: the stated types are the only ones, and the judge reads annotations exactly."""

import ast

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.code.type_inference import (
    TypeInferenceConfig,
    TypeInferenceProblem,
    TypeInferenceTask,
)
from rlvr_envs.generators.type_inference.solver import INT, STR, Solution, is_known, written

TASK = TypeInferenceTask(TypeInferenceConfig())
PROBLEM = TypeInferenceProblem(
    "def f(a, b):\n    return a[b - 1]",
    ("def f(a: dict[int, list[str]], b: int) -> list[str]: ...",),
)


def test_the_solver_waits_for_what_it_needs():
    facts = [
        ("item", "c", "k", "v"),
        ("each", "d", "k"),
        ("same", "v", ("list", "w")),
        ("same", "c", ("dict", STR, "x")),
    ]
    solution = Solution(facts)
    assert written(solution.of("c")) == "dict[str, list[?]]"
    assert written(solution.of("k")) == "str"
    assert not is_known(solution.of("d"))
    solution = Solution([*facts, ("same", "d", ("set", "y")), ("same", "w", INT)])
    assert [written(solution.of(x)) for x in "cdvy"] == [
        "dict[str, list[int]]",
        "set[str]",
        "list[int]",
        "str",
    ]


def test_facts_that_clash_are_an_error():
    with pytest.raises(ValueError, match="list"):
        Solution([("same", "a", ("list", INT)), ("same", "a", ("set", INT))])


@pytest.mark.parametrize("difficulty", [0, 2, 5, 9])
def test_code_is_python_and_signatures_are_complete(difficulty):
    task = TypeInferenceTask(TypeInferenceConfig.at(difficulty))
    for seed in range(25):
        problem = task.generate(stream("complete", seed))
        names = [node.name for node in ast.parse(problem.code).body]
        assert names == [f"f{i + 1}" for i in range(1 + difficulty // 2)]
        assert not any("?" in signature for signature in problem.signatures)
        assert ":" not in problem.code.split("\n")[0][:-1]  # no annotation is left in


# What a value does at run time must fit its stated type: an oracle that knows no solver.
MAKE = {"int": 3, "str": "a,b", "bool": True}


def _sample(node):
    if isinstance(node, ast.Name):
        return MAKE[node.id]
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    parts = [_sample(each) for each in inner]
    if node.value.id == "tuple":
        return tuple(parts)
    if node.value.id == "dict":
        more = {str: ["ab", "key", "no", "left", "x", "total", "up"], int: range(50)}
        return dict.fromkeys([parts[0], *more.get(type(parts[0]), [])], parts[1])
    return [parts[0]] * 60 if node.value.id == "list" else {parts[0]}


def _fits(value, node):
    if isinstance(node, ast.Name):
        return type(value).__name__ == node.id
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if type(value).__name__ != node.value.id:
        return False
    if node.value.id == "tuple":
        return len(value) == len(inner) and all(map(_fits, value, inner))
    if node.value.id == "dict":
        return all(_fits(k, inner[0]) and _fits(v, inner[1]) for k, v in value.items())
    return all(_fits(item, inner[0]) for item in value)


def test_running_the_code_gives_values_of_the_stated_types():
    ran = 0
    for difficulty in (0, 1, 3, 5):
        task = TypeInferenceTask(TypeInferenceConfig.at(difficulty))
        for seed in range(40):
            problem = task.generate(stream("run", seed))
            space = {}
            exec(problem.code, space)
            for line in problem.signatures:
                signature = ast.parse(line).body[0]
                args = [_sample(arg.annotation) for arg in signature.args.args]
                try:
                    value = space[signature.name](*args)
                except (LookupError, RuntimeError):  # an item that is not there; a set that grows
                    continue
                assert _fits(value, signature.returns), (problem.code, line, value)
                ran += 1
    assert ran > 200


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("def f(a: dict[int, list[str]], b: int) -> list[str]: ...", 1.0),
        ("def f(a: dict[int, list[str]], b: int) -> list[str]:\n    return a[b - 1]", 1.0),
        (
            (
                "from typing import Dict, List\n\ndef f(a: Dict[int, List[str]], b: int) -> "
                "List[str]:\n    pass"
            ),
            1.0,
        ),
        ("def f(a: typing.Dict[int, list[str]], b: int) -> list[str]: ...", 1.0),
        ("def f(a: list[list[str]], b: int) -> list[str]: ...", 0.0),
        ("def f(a: dict, b: int) -> list: ...", 0.0),
        ("def f(a, b): ...", 0.0),
        ("def f(a: dict[int, list[str]], b: int | str) -> list[str]: ...", 0.0),
        ("def f(a: Any, b: Any) -> Any: ...", 0.0),
        ("def f(b: dict[int, list[str]], a: int) -> list[str]: ...", 0.0),
        ("def f(a: dict[int, list[str]], b: int, c: int) -> list[str]: ...", 0.0),
        ("def g(a: dict[int, list[str]], b: int) -> list[str]: ...", 0.0),
        (
            (
                "def f(a: dict[int, list[str]], b: int) -> list[str]: ...\n"
                "def f(a: dict[int, list[str]], b: int) -> str: ..."
            ),
            0.0,
        ),
        ("a: dict[int, list[str]]; b: int", 0.0),
    ],
)
def test_answers(answer, score):
    assert TASK.verify(PROBLEM, answer).score == score


@pytest.mark.parametrize(
    "knob", [{"n_functions": 0}, {"n_params": 99}, {"max_depth": 0}, {"indirect": 1.5}]
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        TypeInferenceConfig(**knob)


def test_effort_and_baseline():
    task = TypeInferenceTask(TypeInferenceConfig())
    signatures = ("def f1(a: list[int], b: int) -> dict[str, set[int]]: ...",)
    problem = TypeInferenceProblem("def f1(a, b):\n    return a", signatures)
    assert task.effort(problem) == 10 * 3
    assert task.baseline(stream("rng"), problem) == "def f1(a: int, b: int) -> int: ..."
