"""Circuit evaluation: the prompt's own netlist evaluated backwards, every answer, forms."""

import itertools
import re
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.puzzles.circuit_evaluation import (
    CircuitEvaluationConfig,
    CircuitEvaluationProblem,
    CircuitEvaluationTask,
    Gate,
    Input,
    Register,
    simulate,
)

TASK = CircuitEvaluationTask(CircuitEvaluationConfig())
COUNTER = CircuitEvaluationProblem(  # counts the cycles in which i1 is 1, in two bits
    (Input("i1", "1101"),),
    (Register("r1", 0, "g1"), Register("r2", 0, "g3")),
    (
        Gate("g3", "XOR", ("g2", "r2")),
        Gate("g1", "XOR", ("i1", "r1")),
        Gate("g2", "AND", ("r1", "i1")),
        Gate("g4", "NOT", ("g3",)),
    ),
    ("g3", "g1", "g4"),
    4,
    "110",
)
TRUE_ROWS = {  # the inputs, in order, for which a gate is 1
    "AND": ["11"],
    "NAND": ["00", "01", "10"],
    "OR": ["01", "10", "11"],
    "NOR": ["00"],
    "XOR": ["01", "10"],
    "XNOR": ["00", "11"],
    "NOT": ["0"],
    "MUX": ["010", "011", "101", "111"],
}


def bits_of_prompt(text):
    """Ask for each output, and from there for whatever it depends on, back to the first cycle."""
    inputs = dict(re.findall(r"^(i\d+)(?::| =) ([01 ]+)$", text, re.MULTILINE))
    registers = dict(re.findall(r"^r(\d+): [01] .* the value of (\w+) in", text, re.MULTILINE))
    starts = dict(re.findall(r"^r(\d+): ([01])", text, re.MULTILINE))
    gates = {g: (k, s) for g, k, s in re.findall(r"^(g\d+) = (\w+)\((.*)\)$", text, re.MULTILINE)}
    seen = {}

    def value(name, cycle):
        if (name, cycle) not in seen:
            seen[name, cycle] = compute(name, cycle)
        return seen[name, cycle]

    def compute(name, cycle):
        if name in inputs:
            listed = inputs[name].split()
            return listed[cycle if len(listed) > 1 else 0]
        if name.startswith("r"):
            number = name[1:]
            return value(registers[number], cycle - 1) if cycle else starts[number]
        kind, sources = gates[name]
        row = "".join(value(source, cycle) for source in sources.split(", "))
        return "01"[row in TRUE_ROWS[kind]]

    last = int(found[1]) - 1 if (found := re.search(r" in cycle (\d+)\?", text)) else 0
    asked = re.search(r"What are the values of ([g\d, ]+?)(?: in cycle \d+)?\?", text)[1]
    for cycle in range(last):  # lest the recursion be too deep
        for name in registers:
            value(f"r{name}", cycle)
    return "".join(value(name, last) for name in asked.split(", "))


@pytest.mark.parametrize("difficulty", [0, 2, 3, 5, 8])
def test_the_prompt_says_the_same(difficulty):
    task = CircuitEvaluationTask(CircuitEvaluationConfig.at(difficulty))
    for seed in range(15):
        problem = task.generate(stream("Circuit", seed))
        assert bits_of_prompt(task.prompt(problem)) == task.solve(problem)


@pytest.mark.parametrize("seed", range(6))
def test_every_answer(seed):
    problem = TASK.generate(stream("Circuit", "answers", seed))
    answers = map("".join, itertools.product("01", repeat=4))
    right = [answer for answer in answers if TASK.verify(problem, answer).score == 1.0]
    assert right == [bits_of_prompt(TASK.prompt(problem))]


def test_a_counter_counts():
    for n in range(1, 5):
        run = (Input("i1", COUNTER.inputs[0].values[:n]),)
        problem = replace(COUNTER, inputs=run, n_cycles=n, outputs=("g3", "g1"))
        assert int(simulate(problem), 2) == run[0].values.count("1")


def test_a_far_cycle_is_the_one_of_the_period():
    """With a steady 1 the counter counts cycles, modulo four: cycle n ends at n."""
    steady = replace(COUNTER, inputs=(Input("i1", "1"),), outputs=("g3", "g1"))
    for n in (2, 3, 4, 5, 6, 7, 8, 999, 10**12):
        problem = replace(steady, n_cycles=n)
        assert int(simulate(problem), 2) == n % 4
        assert TASK.effort(problem) == 4 * min(n, 4)
    steps = TASK.explain(replace(steady, n_cycles=999))
    assert steps[-3].startswith("Cycle 5 starts like cycle 1, ")
    assert steps[-3].endswith("cycle 999 is like cycle 3.")
    assert steps[-2:] == ["Cycle 999: g3 = 1", "Cycle 999: g1 = 1"]


def test_circuits_that_hang_in_the_air():
    loop = (Gate("g1", "AND", ("i1", "g2")), Gate("g2", "NOT", ("g1",)))
    for gates in (loop, (Gate("g1", "NOT", ("i9",)),)):
        with pytest.raises(RowError, match="waits"):
            simulate(CircuitEvaluationProblem((Input("i1", "1"),), (), gates, ("g1",), 1, ""))


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("110", 1.0),
        ("1 1 0", 1.0),
        ("1, 1, 0", 1.0),
        ("[1, 1, 0]", 1.0),
        ("111", 0.0),
        ("11", 0.0),
        ("1100", 0.0),
        ("0b110", 0.0),
        ("6", 0.0),
        ("110\n110", 0.0),
    ],
)
def test_forms(answer, score):
    assert TASK.verify(COUNTER, answer).score == score


@pytest.mark.parametrize(
    "knob",
    [
        *({"n_inputs": 1}, {"n_inputs": 1001}, {"n_registers": -1}, {"n_registers": 1001}),
        *({"n_outputs": 1}, {"n_gates": 3}, {"n_cycles": 2}),
        {"n_cycles": 101, "n_registers": 1},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        CircuitEvaluationConfig(**knob)
