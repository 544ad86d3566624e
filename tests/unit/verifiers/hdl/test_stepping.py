"""A step, plain and compiled, against the graph it was made of, gate by gate."""

import gc
import random
import weakref

import pytest

from rlvr_envs.verifiers.hdl.aig import Aig, NetlistError, read
from rlvr_envs.verifiers.hdl.interface import Port
from rlvr_envs.verifiers.hdl.stepping import PLAIN_STEPS, Stepper, stepper


def valued(graph, values):
    """Return the value of every variable, worked out gate by gate."""
    known = {0: 0, **values}

    def literal(number):
        return known[number >> 1] ^ (number & 1)

    for gate, left, right in graph.gates:
        known[gate] = literal(left) & literal(right)
    return literal


def made_at_random(seed):
    """Return a graph of few inputs and many gates, so that gates of every kind meet."""
    rng = random.Random(seed)
    inputs, latches, free = (1, 2), (3, 4), (5,)
    gates = []
    for number in range(6, 30):
        left, right = (2 * rng.randrange(1, number) + rng.randrange(2) for _ in range(2))
        if (
            rng.random() < 0.3 and number > 8
        ):  # as an exclusive or is made, now and then a wrong one
            left, right = 2 * (number - 1) + 1, 2 * (number - 2) + 1
        elif gates and rng.random() < 0.4:
            left, right = gates[-1][1] ^ 1, gates[-1][2] ^ rng.randrange(2)
        gates.append((number, left, right))
    outputs = tuple(2 * rng.randrange(0, 30) + rng.randrange(2) for _ in range(6))
    nexts = tuple((latch, 2 * rng.randrange(0, 30) + rng.randrange(2)) for latch in latches)
    return Aig({"a": inputs}, {"y": outputs}, free, nexts, tuple(gates))


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_a_step_is_what_the_gates_say(first):
    lanes = 32
    full = (1 << lanes) - 1
    for seed in range(first, first + 50):
        graph = made_at_random(seed)
        used = graph.used()
        kept = [row for row in graph.latches if row[0] in used]
        stepping = Stepper(graph)
        # Lane n holds the n-th of all values of the five variables that are no gates.
        bits = {v: sum((n >> v - 1 & 1) << n for n in range(lanes)) for v in range(1, 6)}
        state = tuple(bits[number] for number, _ in kept)
        given = [bits[1], bits[2]], [bits[5]], state, full
        outputs, after = stepping.step(*given)
        compiled = [stepping.step(*given) for _ in range(PLAIN_STEPS)][-1]
        assert compiled == (outputs, after)
        for lane in range(lanes):
            literal = valued(graph, {v: bits[v] >> lane & 1 for v in bits})
            assert [bit >> lane & 1 for bit in outputs] == [literal(n) for n in graph.outputs["y"]]
            assert [bit >> lane & 1 for bit in after] == [literal(n) for _, n in kept]
        assert stepping.cost == sum(gate in used for gate, _, _ in graph.gates) + len(kept) + 1
        assert stepping.start == (0,) * len(kept)


def test_an_exclusive_or_is_one_operation():
    # Variables 1 and 2, their conjunction, that of their complements, and neither of the two.
    graph = Aig({"a": (1, 2)}, {"y": (10,)}, gates=((3, 2, 4), (4, 3, 5), (5, 7, 9)))
    plain = Aig({"a": (1, 2)}, {"y": (10,)}, gates=((3, 2, 4), (4, 3, 4), (5, 7, 9)))
    code, longer = (compiled(each).__code__.co_code for each in (graph, plain))
    assert len(code) < len(longer)
    assert compiled(graph)([0b0011, 0b0101], [], (), 0b1111)[0] == (0b0110,)


def compiled(graph):
    """Return the function that a design's later steps are."""
    stepping = Stepper(graph)
    for _ in range(PLAIN_STEPS + 1):
        stepping.step([0, 0], [], (), 1)
    return stepping._compiled


def test_a_design_of_few_steps_is_not_compiled():
    stepping = Stepper(made_at_random(1))
    for _ in range(PLAIN_STEPS):
        stepping.step([0, 0], [0], stepping.start, 1)
    assert stepping._compiled is None


def test_a_stepper_goes_with_its_design():
    graph = made_at_random(1)
    kept = weakref.ref(stepper(graph))
    assert stepper(graph) is kept()
    del graph
    gc.collect()
    assert kept() is None


@pytest.mark.parametrize("steps_before", [0, PLAIN_STEPS])
def test_too_few_inputs_are_an_error(steps_before):
    stepping = Stepper(made_at_random(1))
    for _ in range(steps_before):
        stepping.step([0, 0], [0], stepping.start, 1)
    with pytest.raises(ValueError, match=r"shorter|not enough values"):
        stepping.step([0], [0], stepping.start, 1)


class Written:
    """A netlist of two inputs and their conjunction."""

    ports = (Port("a", "input", 2), Port("y", "output"))
    map = "input 0 0 a\ninput 1 1 a\noutput 0 0 y"

    def __init__(self, text):
        self.aiger = text.encode()


GOOD = "aag 3 2 0 1 1\n2\n4\n6\n6 2 4\n"


def test_a_netlist_is_read():
    graph = read(Written(GOOD))
    assert (dict(graph.inputs), dict(graph.outputs)) == ({"a": (1, 2)}, {"y": (6,)})
    assert graph.gates == ((3, 2, 4),)
    assert read(Written(GOOD), most_gates=2).gates == graph.gates


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("aag 3", "aag 4", "does not hold what its head says"),
        ("aag 3 2 0 1 1", "aag 4 2 0 1 2", "not 3 numbers"),
        ("6 2 4\n", "6 2 4", ""),
        ("\n6 2 4\n", "", "does not hold what its head says"),
        ("aag", "aig", "not the head of an AIGER file"),
        ("6 2 4", "6 2 8", "a variable that it does not have"),
        ("6 2 4", "6 2 7", "reads what comes after it"),
        ("6 2 4", "6 6 4", "reads what comes after it"),
        ("6 2 4", "6 2", "not 3 numbers"),
        ("6 2 4", "6 2 x", "not 3 numbers"),
        ("\n2\n4\n", "\n4\n2\n", "do not count up"),
    ],
)
def test_a_malformed_netlist_is_refused(old, new, words):
    text = GOOD.replace(old, new)
    assert text != GOOD
    if not words:
        assert read(Written(text)).gates
        return
    with pytest.raises(NetlistError, match=words):
        read(Written(text))


def test_names_outside_of_a_netlist_are_refused():
    for line in ("input 2 0 b", "output 1 0 z", "input 0 1 a"):
        netlist = Written(GOOD)
        netlist.map += f"\n{line}"
        with pytest.raises(NetlistError, match="which cannot be"):
            read(netlist)
    with pytest.raises(NetlistError, match="at most 0 are checked"):
        read(Written(GOOD), most_gates=0)
    with pytest.raises(NetlistError, match="at most 1 are checked"):
        read(Written(GOOD), most_gates=1)  # three variables for one gate
