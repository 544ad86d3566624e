"""Small random graphs: running, joining and proving agree with a slow reading of what they mean.

The interpreter, the reader of joined graphs and the search through all states are written here
again, from the definitions, and share no code with what they check.
"""

import itertools
import os

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from rlvr_envs.core.errors import DependencyError
from rlvr_envs.verifiers.hdl.aig import Aig
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.miter import miter
from rlvr_envs.verifiers.hdl.prove import prove
from rlvr_envs.verifiers.hdl.sandbox import abc_path
from rlvr_envs.verifiers.hdl.simulate import Effort, compare, exhaustive, replay

EXAMPLES = int(os.environ.get("RLVR_HDL_EXAMPLES", "120"))
PORTS = (Port("a", "input", 2), Port("clk", "input"), Port("rst", "input"))
OUTPUTS = (Port("y", "output", 2), Port("z", "output"))
WIDTHS = {"a": 2, "clk": 1, "rst": 1}


def settled(count):
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
    return settings(max_examples=count, deadline=None, suppress_health_check=checks)


# --- what a graph means, slowly ---------------------------------------------------------------


def value(literal, gates, known):
    number = literal // 2
    if number not in known:
        left, right = gates[number]
        known[number] = value(left, gates, known) and value(right, gates, known)
    return known[number] != (literal % 2 == 1)


def interpret(aig, inputs, free, state):
    """Return outputs, which bits are x, and the next state; everything is a list of booleans."""
    gates = {number: (left, right) for number, left, right in aig.gates}
    known = {0: False}
    for name, numbers in aig.inputs.items():
        known.update({number: inputs[name] >> bit & 1 == 1 for bit, number in enumerate(numbers)})
    known.update(zip(aig.free, free, strict=True))
    known.update(zip((number for number, _ in aig.latches), state, strict=True))
    shown = [value(bit, gates, known) for row in aig.outputs.values() for bit in row]
    unknown = [value(bit, gates, known) for row in aig.unknown.values() for bit in row]
    after = tuple(value(bit, gates, known) for _, bit in aig.latches)
    return shown, unknown or [False] * len(shown), after


def allowed(step, reference, clocked):
    """Yield the inputs that a step may have, and say whether it is compared."""
    clocking = reference.clocking
    resetting = clocking is not None and clocking.reset != ""
    held = resetting and step < (1 if clocked else 2)
    for a, clk, rst in itertools.product(range(4), range(2), range(2)):
        if held and rst != clocking.reset_active:
            continue
        toggled = clocking is not None and not clocked
        if toggled and step == 0 and clk != 0:
            continue
        if toggled and step == 1 and resetting and clk != 1:
            continue
        yield {"a": a, "clk": clk, "rst": rst}, not held


def shortest(gold, gate, reference, clocked):
    """Return the first step in which two designs can differ, or None, by trying everything."""
    front = {((False,) * len(gold.latches), (False,) * len(gate.latches))}
    seen = set()
    for step in itertools.count():
        phase = min(step, 2)
        front = {pair for pair in front if (phase, pair) not in seen}
        if not front:
            return None
        seen |= {(phase, pair) for pair in front}
        after = set()
        for ours, theirs in front:
            for inputs, compared in allowed(step, reference, clocked):
                for bits in itertools.product((False, True), repeat=len(gold.free)):
                    right, unknown, one = interpret(gold, inputs, bits, ours)
                    for others in itertools.product((False, True), repeat=len(gate.free)):
                        found, _, two = interpret(gate, inputs, others, theirs)
                        rows = zip(right, found, unknown, strict=True)
                        if compared and any(r != f and not x for r, f, x in rows):
                            return step
                        after.add((one, two))
        front = after
    return None


def read_binary(data):
    """Return a binary AIGER file as number of inputs, next states, output and gates."""
    head, _, rest = data.partition(b"\n")
    magic, most, inputs, latches, outputs, gates = head.split()
    assert magic == b"aig"
    assert int(most) == int(inputs) + int(latches) + int(gates)
    assert outputs == b"1"
    nexts = []
    for _ in range(int(latches)):
        line, _, rest = rest.partition(b"\n")
        nexts.append(int(line))
    line, _, rest = rest.partition(b"\n")
    stream = iter(rest)
    found = {}
    for number in range(int(inputs) + int(latches) + 1, int(most) + 1):
        deltas = []
        for _ in range(2):
            place, total = 0, 0
            for byte in stream:
                total |= (byte & 127) << place
                place += 7
                if byte < 128:
                    break
            deltas.append(total)
        left = 2 * number - deltas[0]
        found[number] = left, left - deltas[1]
    assert next(stream, None) is None
    return int(inputs), nexts, int(line), found


def joined_shortest(data):
    """Return the first step in which the output of a joined graph can be 1, or None."""
    inputs, nexts, bad, gates = read_binary(data)
    front, seen = {(False,) * len(nexts)}, set()
    for step in itertools.count():
        front -= seen
        if not front:
            return None
        seen |= front
        after = set()
        for state in front:
            for bits in itertools.product((False, True), repeat=inputs):
                known = dict(enumerate((False, *bits, *state)))
                if value(bad, gates, known):
                    return step
                after.add(tuple(value(bit, gates, known) for bit in nexts))
        front = after
    return None


# --- random graphs ------------------------------------------------------------------------------


@st.composite
def graphs(draw, latches=2, unknown=False):
    free = draw(st.integers(0, 1))
    states = draw(st.integers(0, latches))
    count = draw(st.integers(0, 10))
    first = 1 + 4 + free + states
    last = 2 * (first + count) - 1
    gates = []
    for number in range(first, first + count):
        below = st.integers(0, 2 * number - 1)
        gates.append((number, draw(below), draw(below)))
    literals = st.integers(0, last)
    rows = st.tuples(literals, literals)
    numbers = range(5 + free, first)
    x = {"y": draw(rows), "z": (draw(literals),)} if unknown and draw(st.booleans()) else {}
    return Aig(
        {"a": (1, 2), "clk": (3,), "rst": (4,)},
        {"y": draw(rows), "z": (draw(literals),)},
        tuple(range(5, 5 + free)),
        tuple((number, draw(literals)) for number in numbers),
        tuple(gates),
        x,
    )


@st.composite
def pairs(draw, latches=2, unknown=True):
    """Two graphs: strangers, or one and itself with a gate changed, which often is no change."""
    gold = draw(graphs(latches, unknown))
    if draw(st.booleans()) or not gold.gates:
        return gold, draw(graphs(latches))
    gates = list(gold.gates)
    place = draw(st.integers(0, len(gates) - 1))
    number, left, _ = gates[place]
    gates[place] = number, left ^ draw(st.integers(0, 1)), draw(st.integers(0, 2 * number - 1))
    return gold, Aig(gold.inputs, gold.outputs, gold.free, gold.latches, tuple(gates))


CLOCKINGS = st.sampled_from(
    [Clocking("clk"), Clocking("clk", "rst"), Clocking("clk", "rst", 0), None]
)


def reference(clocking):
    return Reference("", (*PORTS, *OUTPUTS), clocking)


# --- the laws -----------------------------------------------------------------------------------


@settled(EXAMPLES)
@given(pairs(), CLOCKINGS, st.booleans())
def test_a_joined_graph_tells_the_first_possible_difference(pair, clocking, clocked):
    ref = reference(clocking)
    joined = miter(*pair, ref, clocked)
    assert joined_shortest(joined.aiger) == shortest(*pair, ref, clocked)


@settled(EXAMPLES)
@given(pairs(), CLOCKINGS, st.booleans(), st.integers(0, 5))
def test_a_difference_found_by_running_is_one(pair, clocking, clocked, seed):
    ref = reference(clocking)
    found = compare(*pair, ref, clocked=clocked, effort=Effort(32, 64), seed=seed)
    if found is None:
        # So many runs of so few inputs miss nothing that takes one or two steps.
        first = shortest(*pair, ref, clocked)
        assert first is None or first > (0 if clocked else 1)
        return
    check(*pair, ref, found)


def check(gold, gate, ref, found):
    """Run a difference by the slow interpreter: allowed inputs, equal until the last step."""
    gates = gold, gate
    states = [(False,) * len(design.latches) for design in gates]
    for step, (row, free) in enumerate(zip(found.inputs, found.free, strict=True)):
        inputs = dict(zip(WIDTHS, row, strict=True))
        options = {tuple(way.values()): held for way, held in allowed(step, ref, found.clocked)}
        assert row in options
        bits = [
            [word >> n & 1 == 1 for n in range(len(design.free))]
            for word, design in zip(free, gates, strict=True)
        ]
        right, unknown, states[0] = interpret(gold, inputs, bits[0], states[0])
        got, _, states[1] = interpret(gate, inputs, bits[1], states[1])
        rows = zip(right, got, unknown, strict=True)
        wrong = options[row] and any(r != g and not x for r, g, x in rows)
        assert wrong == (step == found.cycle)
    shown = replay(gold, gate, ref, found)
    assert [bool(row.differing()) for row in shown] == [False] * found.cycle + [True]
    assert [row.inputs["a"] for row in shown] == [row[0] for row in found.inputs]


@settled(EXAMPLES)
@given(pairs(latches=0))
def test_trying_everything_decides(pair):
    ref = reference(None)
    found = exhaustive(*pair)
    assert (found is None) == (shortest(*pair, ref, True) is None)
    if found is not None:
        check(*pair, ref, found)


@settled(max(10, EXAMPLES // 6))
@given(pairs(), CLOCKINGS, st.booleans())
def test_a_proof_says_what_is_so(pair, clocking, clocked):
    try:
        abc_path()
    except DependencyError as error:
        pytest.skip(str(error))
    ref = reference(clocking)
    first = shortest(*pair, ref, clocked)
    proof = prove(*pair, ref, clocked=clocked)
    assert proof.status == ("equal" if first is None else "differs")
    if proof.difference is not None:
        assert proof.difference.cycle >= first
        check(*pair, ref, proof.difference)
