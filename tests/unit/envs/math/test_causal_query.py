"""CausalQuery: exact answers against enumeration, the tolerance, the text, configuration."""

import dataclasses
import itertools
import re
from fractions import Fraction

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.core.verdict import Status
from rlvr_envs.envs.math.causal_query import (
    LEVELS,
    CausalQueryConfig,
    CausalQueryProblem,
    CausalQueryTask,
)
from rlvr_envs.generators.mathematics.causal_model import Mechanism


def task_of(level, difficulty):
    config = CausalQueryConfig.at(difficulty)
    return CausalQueryTask(dataclasses.replace(config, levels=(level,)))


def worlds(problem, forced):
    """Yield the weight, the value of every variable, for every joint state of the model.

    Structural models are run forwards from their noises, in the real world and in the forced one.
    """
    by_variable = {m.variable: m for m in problem.mechanisms}
    order = []
    while len(order) < len(by_variable):
        order += [
            v for v, m in by_variable.items() if v not in order and set(m.parents) <= set(order)
        ]
    structural = problem.level == "counterfactual"
    spaces = [range(len(by_variable[v].noise) if structural else problem.sizes[v]) for v in order]
    for states in itertools.product(*spaces):
        weight, real, other = 1, {}, {}
        for v, state in zip(order, states, strict=True):
            mechanism = by_variable[v]
            if structural:
                weight *= mechanism.noise[state]
                real[v] = row(problem, mechanism, real)[state]
                other[v] = forced.get(v, row(problem, mechanism, other)[state])
            elif v in forced:
                weight *= state == forced[v]
                real[v] = state
            else:
                weight *= row(problem, mechanism, real)[state]
                real[v] = state
        if weight:
            yield weight, real, other


def row(problem, mechanism, values):
    index = 0
    for parent in mechanism.parents:
        index = index * problem.sizes[parent] + values[parent]
    return mechanism.rows[index]


def enumerated(problem):
    """Return the answer by summing over every joint state."""
    x, y = problem.variable, problem.target
    weights = [Fraction(0)] * problem.sizes[y]
    forced = {} if problem.level == "association" else {x: problem.value}
    for weight, real, other in worlds(problem, forced):
        if problem.level == "counterfactual":
            if (real[x], real[y]) == problem.seen:
                weights[other[y]] += weight
        elif real[x] == problem.value:
            weights[real[y]] += weight
    return tuple(weight / sum(weights) for weight in weights)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("difficulty", [0, 1, 2, 3])
def test_answer_agrees_with_enumeration(level, difficulty):
    task = task_of(level, difficulty)
    for seed in range(12):
        problem = task.generate(stream("CausalQuery", level, difficulty, seed))
        assert problem.answer == enumerated(problem)


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    problem = CausalQueryTask(CausalQueryConfig.at(0)).generate(stream("CausalQuery", seed))
    task = CausalQueryTask(CausalQueryConfig.at(0))
    exact = enumerated(problem)
    passed = 0
    near_the_sum = [(p, 100 - p + off) for p in range(101) for off in range(-3, 4)]
    for p, q in (pair for pair in near_the_sum if 0 <= pair[1] <= 100):
        given = (Fraction(p, 100), Fraction(q, 100))
        off = sum(abs(a - b) for a, b in zip(given, exact, strict=True)) / 2
        right = off <= Fraction(1, 100) and abs(p + q - 100) <= 1
        verdict = task.verify(problem, f"[{p / 100:.2f}, {q / 100:.2f}]")
        assert verdict.score == float(right)
        passed += right
    assert 1 <= passed <= 10


THIRDS = CausalQueryProblem(
    (3, 2), (), 10, "association", 0, 1, 0, (), (Fraction(1, 3), Fraction(1, 3), Fraction(1, 3))
)
TASK = CausalQueryTask(CausalQueryConfig())


@pytest.mark.parametrize(
    "answer",
    [
        "[0.33, 0.33, 0.33]",
        "0.33,0.33,0.34",
        "[1/3, 1/3, 1/3]",
        "$(.33, .33, .33)$",
        r"\{0.34,0.33,0.33\}",
    ],
)
def test_rounded_lists_pass(answer):
    assert TASK.verify(THIRDS, answer).score == 1.0


@pytest.mark.parametrize(
    "answer", ["[0.30, 0.33, 0.37]", "[0.33, 0.67]", "[0.35, 0.33, 0.35]", "1, 0, 0"]
)
def test_near_misses_are_wrong(answer):
    assert TASK.verify(THIRDS, answer).status is Status.WRONG


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "[]",
        "one third",
        "[0.33 0.33 0.33]",
        "[-0.1, 0.5, 0.6]",
        "[1.2, 0, 0]",
        "nan, 0, 1",
        "[0.33, 0.33, 0.33",
    ],
)
def test_other_texts_are_not_read(answer):
    assert TASK.verify(THIRDS, answer).status is Status.UNPARSABLE


def test_the_tolerance_includes_its_end():
    half = CausalQueryProblem((2, 2), (), 10, "association", 0, 1, 0, (), (Fraction(1, 2),) * 2)
    assert TASK.verify(half, "[0.51, 0.49]").score == 1.0
    assert TASK.verify(half, "[0.511, 0.489]").score == 0.0


def test_rounding_passes_however_many_values_there_are():
    task = CausalQueryTask(CausalQueryConfig(max_values=4, denominator=100))
    for seed in range(60):
        problem = task.generate(stream("CausalQuery", "rounding", seed))
        assert task.verify(problem, task.solve(problem)).score == 1.0


@pytest.mark.parametrize("level", ["association", "intervention"])
def test_ignoring_the_other_variable_earns_nothing(level):
    task = task_of(level, 3)
    for seed in range(30):
        problem = task.generate(stream("CausalQuery", "naive", level, seed))
        weights = [0] * problem.sizes[problem.target]
        for weight, real, _ in worlds(problem, {}):
            weights[real[problem.target]] += weight
        naive = ", ".join(f"{weight / sum(weights):.6f}" for weight in weights)
        assert task.verify(problem, naive).score == 0.0


@pytest.mark.parametrize("level", LEVELS)
def test_the_text_tells_every_row_of_every_mechanism(level):
    task = task_of(level, 4)
    problem = task.generate(stream("CausalQuery", "text", level))
    text = task.prompt(problem)
    n_rows = sum(len(mechanism.rows) for mechanism in problem.mechanisms)
    rows = re.findall(r"^If |^[A-Z] = |^P\([A-Z]=", text, re.MULTILINE)
    assert len(rows) == n_rows
    for part in re.findall(r"^(?:If .*: )?(P\(.*)$", text, re.MULTILINE):
        assert sum(map(Fraction, re.findall(r"= ([0-9.]+)", part))) == 1


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ({"n_variables": 1}, "n_variables"),
        ({"n_bystanders": -1}, "n_bystanders"),
        ({"max_values": 5}, "max_values"),
        ({"max_parents": 0}, "max_parents"),
        ({"denominator": 7}, "denominator"),
        ({"levels": ("belief",)}, "levels"),
    ],
)
def test_config_is_checked(knobs, message):
    with pytest.raises(ConfigError, match=message):
        CausalQueryConfig(**knobs)


@pytest.mark.parametrize("level", LEVELS)
def test_listed_cases_lead_to_the_answer(level):
    task, explained = task_of(level, 2), 0
    for seed in range(15):
        problem = task.generate(stream("CausalQuery", "steps", level, seed))
        steps = task.explain(problem)
        if not steps:
            continue
        explained += 1
        shares = [step for step in steps if step.startswith("The share of")]
        shares = shares or [step for step in steps if step.startswith("All with")]
        found = [Fraction(re.split(" = |: ", step)[-1]) for step in shares]
        assert tuple(found) == problem.answer
    assert explained > 5


def test_too_many_cases_are_not_listed():
    for level in LEVELS:
        task = task_of(level, 8)
        assert task.explain(task.generate(stream("CausalQuery", "many", level))) == []


def test_effort_and_baseline_of_a_small_problem():
    mechanisms = (Mechanism(0, (), ((3, 7),)), Mechanism(1, (0,), ((5, 5), (1, 9))))
    right = (Fraction(1, 10), Fraction(9, 10))
    problem = CausalQueryProblem((2, 2), mechanisms, 10, "intervention", 1, 0, 1, (), right)
    assert TASK.effort(problem) == 2 + 4  # the entries of both tables
    assert TASK.baseline(stream("baseline"), problem) == "[0.30, 0.70]"
