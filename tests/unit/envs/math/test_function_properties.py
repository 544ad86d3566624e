"""FunctionProperties: the text read back and tried by brute force, balance, configuration."""

import re
from collections import Counter

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.math.function_properties import (
    KINDS,
    FiniteFunction,
    FunctionPropertiesConfig,
    FunctionPropertiesProblem,
    FunctionPropertiesTask,
)


def of_kind(kind, **knobs):
    return FunctionPropertiesTask(FunctionPropertiesConfig(kinds=(kind,), **knobs))


def brute_force(prompt):
    """Return the answer from the text alone, stepping through every definition literally."""
    n = int(re.search(r"\\dots, (\d+)\\\}", prompt)[1]) + 1
    tables = {}
    for name, x, y in re.findall(r"\b([a-z])\((\d+)\) = (\d+)", prompt):
        tables.setdefault(name, {})[int(x)] = int(y)
    for name, formula in re.findall(r"([a-z])\(x\) = \((.*?)\) \\bmod", prompt):
        tables[name] = {x: polynomial(formula, x) % n for x in range(n)}
    asked = prompt.splitlines()[-1]
    start = re.match(r"Let \$c\(x\) = ((?:[a-z]\()+)x", asked)
    if start:
        values = dict(zip(range(n), range(n), strict=True))
        for name in reversed(re.findall("[a-z]", start[1])):
            values = {x: tables[name][y] for x, y in values.items()}
        tables["f"] = values
    if "^k" in asked:
        k, x = re.search(r"What is \$[fc]\^\{(\d+)\}\((\d+)\)", asked).groups()
        return walk(tables["f"], int(x), int(k))[-1]
    if "cycle" in asked:
        late = walk(tables["f"], int(re.search(r"start at (\d+)", asked)[1]), 3 * n)
        return len(set(late[n:]))
    return composition(asked, tables, n)


def walk(table, x, steps):
    path = [x]
    for _ in range(steps):
        path.append(table[path[-1]])
    return path


def composition(asked, tables, n):
    values = dict(zip(range(n), range(n), strict=True))
    order = re.match(r".*?\$((?:[a-z]\()+)(?:x|\d+)\)", asked)[1]
    for name in reversed(re.findall("[a-z]", order)):
        values = {x: tables[name][y] for x, y in values.items()}
    if "For how many" in asked:
        return sum(x == y for x, y in values.items())
    if "different values" in asked:
        return len(set(values.values()))
    if "Find the set" in asked:
        goal = int(re.search(r"= (\d+)\$", asked)[1])
        return {x for x, y in values.items() if y == goal}
    return values[int(re.search(r"\((\d+)\)", asked)[1])]


def polynomial(formula, x):
    total = 0
    for sign, term in re.findall(r"([+-]?) ?([^+\- ]+)", formula):
        coefficient, _, power = term.partition("x")
        value = int(coefficient or 1) * (x ** int(power.strip("^") or 1) if "x" in term else 1)
        total += -value if sign == "-" else value
    return total


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_the_text_alone_gives_the_answer(kind, share):
    task = of_kind(kind, n_points=9, n_functions=3, formula_share=share)
    for seed in range(20):
        problem = task.generate(stream("FunctionProperties", kind, seed))
        expected = brute_force(task.prompt(problem))
        wanted = tuple(sorted(expected)) if isinstance(expected, set) else (expected,)
        assert problem.answer == wanted


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "preimage"])
def test_whole_small_world_of_numbers(kind):
    config = FunctionPropertiesConfig.at(0)
    task = of_kind(kind, n_points=config.n_points, n_functions=1, max_iterations=4)
    for seed in range(20):
        problem = task.generate(stream("FunctionProperties", "small", kind, seed))
        expected = brute_force(task.prompt(problem))
        assert [v for v in range(-3, 18) if task.verify(problem, str(v)).score == 1.0] == [expected]


def test_whole_small_world_of_sets():
    task = of_kind("preimage", n_points=4, n_functions=2)
    for seed in range(20):
        problem = task.generate(stream("FunctionProperties", "sets", seed))
        expected = brute_force(task.prompt(problem))
        for mask in range(1, 16):
            members = {x for x in range(4) if mask >> x & 1}
            text = "{" + ", ".join(map(str, sorted(members, reverse=True))) + "}"
            assert task.verify(problem, text).score == float(members == expected)


@pytest.mark.parametrize("kind", ["cycle_length", "fixed_points"])
def test_no_count_prevails(kind):
    task = of_kind(kind, n_points=8, n_functions=2)
    counts = Counter(
        task.generate(stream("FunctionProperties", "balance", seed)).answer for seed in range(400)
    )
    assert max(counts.values()) < 400 * 0.3
    assert len(counts) >= 5


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"n_points": 3}, "n_points"),
        ({"n_functions": 0}, "n_functions"),
        ({"n_functions": 12}, "n_functions"),
        ({"max_iterations": 1}, "max_iterations"),
        ({"formula_share": 1.5}, "formula_share"),
        ({"kinds": ()}, "kinds"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        FunctionPropertiesConfig(**knobs)


@pytest.mark.parametrize(
    ("kind", "iterations", "effort", "hurried"),
    [
        ("iterate", 2, 2, "0"),
        ("iterate", 90, 4, "0"),  # 3, 0, 1 and 2, and then 0 again
        ("composition", 1, 1, "0"),
        ("cycle_length", 1, 4, "0"),
        ("fixed_points", 1, 4, "0"),
        ("preimage", 1, 4, r"\{0\}"),
    ],
)
def test_effort_and_baseline_of_a_small_problem(kind, iterations, effort, hurried):
    task = of_kind(kind)
    function = FiniteFunction((1, 2, 0, 0))
    problem = FunctionPropertiesProblem(kind, 4, (function,), 3, iterations, (0,))
    assert task.effort(problem) == effort
    assert task.baseline(stream("baseline"), problem) == hurried
