"""BooleanCircuit: what the prompt tells against the sources, and wrong answers."""

import re
from dataclasses import replace
from itertools import product

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.boolean_circuit import (
    BooleanCircuitConfig,
    BooleanCircuitTask,
    _Circuit,
    _network,
)
from rlvr_envs.verifiers.hdl.judge import judge

NAMES = ("a", "b", "c", "d")
SENTENCES = {
    r"1 if and only if `(\w+)` and `(\w+)` are both 1": lambda x, y: x and y,
    r"1 if and only if at least one of `(\w+)` and `(\w+)` is 1": lambda x, y: x or y,
    r"1 if and only if `(\w+)` and `(\w+)` differ": lambda x, y: x != y,
    r"0 if and only if `(\w+)` and `(\w+)` are both 1": lambda x, y: not (x and y),
    r"1 if and only if `(\w+)` and `(\w+)` are both 0": lambda x, y: not (x or y),
    r"1 if and only if `(\w+)` and `(\w+)` are equal": lambda x, y: x == y,
    r"equal to `(\w+)` if `(\w+)` is 1, and equal to `(\w+)` otherwise": lambda x, s, y: (
        x if s else y
    ),
    r"1 if and only if at least two of `(\w+)`, `(\w+)` and `(\w+)` are 1": lambda *x: sum(x) > 1,
}
GATES = {
    "AND": lambda x, y: x and y,
    "OR": lambda x, y: x or y,
    "XOR": lambda x, y: x != y,
    "NAND": lambda x, y: not (x and y),
    "NOR": lambda x, y: not (x or y),
    "XNOR": lambda x, y: x == y,
    "MUX": lambda s, x, y: x if s else y,
    "MAJ": lambda *x: sum(x) > 1,
}


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 1, 3, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = BooleanCircuitTask(BooleanCircuitConfig.at(difficulty))
        design = task.design(stream("circuit", difficulty, seed))
        assert judge(design.alternative, design.reference).score == 1.0


def circuit(style, seed=0):
    wires = [*(f"n{i}" for i in range(12)), "out0", "out1"]
    gates, values = _network(stream("network", seed), list(NAMES), wires)
    results = ("out0", "out1")
    order = tuple(range(len(wires)))[::-1]
    shown = tuple(values[net] for net in results)
    return _Circuit(NAMES, tuple(gates), shown, results, order, style)


def settled(nets, inputs):
    """Return the values of nets that are given as (function, what it reads), in any order."""
    values, left = dict(inputs), dict(nets)
    while left:
        for net in [net for net, (_, reads) in left.items() if values.keys() >= set(reads)]:
            function, reads = left.pop(net)
            values[net] = int(function(*(values[read] for read in reads)))
    return values


def told(style, design):
    """Return the network that a prompt tells, read off its text."""
    if style == "nets":
        rows = [re.findall(r"[\w]+", line) for line in design.figure.splitlines()[2:]]
        return {net: (GATES[kind], reads) for net, kind, *reads in rows}
    if style == "formulas":
        nets = {}
        for line in design.figure.splitlines()[1:-1]:
            net, *words = re.findall(r"\w+", line)
            kind = next(word for word in words if word in GATES)
            nets[net] = (GATES[kind], [word for word in words if word != kind])
        return nets
    nets = {}
    for sentence in design.rules[1:]:
        net, text = re.fullmatch(r"`(\w+)` is (.*)\.", sentence).groups()
        matches = [(re.fullmatch(pattern, text), gate) for pattern, gate in SENTENCES.items()]
        found = [(match.groups(), gate) for match, gate in matches if match]
        assert len(found) == 1
        nets[net] = (found[0][1], found[0][0])
    return nets


@pytest.mark.parametrize("style", ["nets", "words", "formulas"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_text_tells_the_network(style, seed, run_design):
    design = circuit(style, seed).design()
    nets = told(style, design)
    rows = [dict(zip(NAMES, row, strict=True)) for row in product((0, 1), repeat=4)]
    for row, seen in zip(rows, run_design(design, rows), strict=True):
        values = settled(nets, row)
        assert seen == {"out0": values["out0"], "out1": values["out1"]}


@pytest.mark.parametrize("style", ["table", "rows"])
def test_the_text_tells_the_function(style, run_design):
    design = circuit(style).design()
    rows = [dict(zip(NAMES, row, strict=True)) for row in product((0, 1), repeat=4)]
    seen = run_design(design, rows)
    if style == "table":
        lines = [re.findall(r"\d", line) for line in design.figure.splitlines()[2:]]
        expected = [[*row.values(), *outs.values()] for row, outs in zip(rows, seen, strict=True)]
        assert [[int(bit) for bit in line] for line in lines] == expected
        return
    for name, rule in zip(("out0", "out1"), design.rules[1:], strict=True):
        listed = {int(n) for n in re.search(r"rows in \{([\d, ]+)\}", rule).group(1).split(",")}
        numbers = {
            8 * r["a"] + 4 * r["b"] + 2 * r["c"] + r["d"]: s[name]
            for r, s in zip(rows, seen, strict=True)
        }
        assert listed == {number for number, value in numbers.items() if value}


def test_no_net_repeats_another():
    known = set()
    _, values = _network(stream("distinct"), list(NAMES), [f"n{i}" for i in range(16)])
    for value in values.values():
        assert not {value, 0xFFFF ^ value} & (known | {0})
        known.add(value)


def test_a_slip_is_refused():
    drawn = circuit("nets")
    design = drawn.design()
    for gate, value in enumerate(drawn.values):
        values = list(drawn.values)
        values[gate] = value ^ 1 << 9  # one row of the table
        assert (
            judge(replace(drawn, values=tuple(values)).design().alternative, design.reference).score
            == 0.0
        )


@pytest.mark.parametrize("wrong", [{"inputs": 2}, {"inputs": 3, "gates": 9}, {"outputs": 7}])
def test_numbers_out_of_range_are_errors(wrong):
    with pytest.raises(ConfigError, match=list(wrong)[-1]):
        BooleanCircuitConfig(**wrong)
