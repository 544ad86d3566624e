"""Circuit evaluation: the prompt's own netlist evaluated backwards, every answer, forms."""

import itertools
import re

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
            return inputs[name].split()[cycle]
        if name.startswith("r"):
            number = name[1:]
            return value(registers[number], cycle - 1) if cycle else starts[number]
        kind, sources = gates[name]
        row = "".join(value(source, cycle) for source in sources.split(", "))
        return "01"[row in TRUE_ROWS[kind]]

    last = len(next(iter(inputs.values())).split()) - 1
    asked = re.search(r"What are the values of ([g\d, ]+?)(?: in cycle \d+)?\?", text)[1]
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
        bits = simulate(run, COUNTER.registers, COUNTER.gates, ("g3", "g1"))
        assert int(bits, 2) == run[0].values.count("1")


def test_circuits_that_hang_in_the_air():
    loop = [Gate("g1", "AND", ("i1", "g2")), Gate("g2", "NOT", ("g1",))]
    for gates in (loop, [Gate("g1", "NOT", ("i9",))]):
        with pytest.raises(RowError, match="waits"):
            simulate([Input("i1", "1")], [], gates, ["g1"])


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
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        CircuitEvaluationConfig(**knob)
