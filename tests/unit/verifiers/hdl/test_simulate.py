"""Comparing designs by running them."""

from itertools import pairwise

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.verifiers.hdl import simulate
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.miter import Schedule
from rlvr_envs.verifiers.hdl.simulate import (
    DEEP,
    LEAST_CYCLES,
    QUICK,
    WIDE,
    Effort,
    compare,
    depth,
    exhaustible,
    exhaustive,
    replay,
)
from rlvr_envs.verifiers.hdl.stepping import Stepper, stepper
from rlvr_envs.verifiers.hdl.stimuli import Stimuli

SEQUENTIAL = (Port("clk", "input"), Port("en", "input"), Port("rst", "input"))


def clocked_reference(width, reset=True, active=1):
    clocking = Clocking("clk", "rst" if reset else "", active)
    return Reference("", (*SEQUENTIAL, Port("q", "output", width)), clocking)


def counter(circuit, width, *, bug_at=None, resets=True):
    """A counter with an enable; with a bug, one output bit flips at one value."""
    made = circuit(clk=1, en=1, rst=1)
    count, enable = made.state(width), made.bit("en")
    keep = made.bit("rst") ^ 1 if resets else 1
    following = [
        made.both(keep, made.choose(enable, new, old))
        for new, old in zip(made.plus_one(count), count, strict=True)
    ]
    made.then(count, following)
    shown = list(count)
    if bug_at is not None:
        shown[0] = made.differ(shown[0], made.equals(count, bug_at))
    return made.done(q=shown)


def adder(circuit, width, *, needle=None):
    made = circuit(a=width, b=width)
    carry, total = 0, []
    for left, right in zip(made.bus("a"), made.bus("b"), strict=True):
        half = made.differ(left, right)
        total.append(made.differ(half, carry))
        carry = made.either(made.both(left, right), made.both(half, carry))
    if needle is not None:
        total[-1] = made.differ(total[-1], made.equals(made.bus("a") + made.bus("b"), needle))
    return made.done(s=total)


def adder_reference(width):
    ports = Port("a", "input", width), Port("b", "input", width), Port("s", "output", width)
    return Reference("", ports)


def test_a_step_computes_every_lane(circuit):
    stepping = Stepper(adder(circuit, 4))
    lanes = 256  # lane n adds the low and the high digit of n
    bits = [sum((n >> place & 1) << n for n in range(lanes)) for place in range(8)]
    total, after = stepping.step(bits, [], stepping.start, (1 << lanes) - 1)
    assert after == ()
    for n in range(lanes):
        found = sum((bit >> n & 1) << place for place, bit in enumerate(total))
        assert found == (n % 16 + n // 16) % 16


def test_equal_designs_do_not_differ(circuit):
    gold = counter(circuit, 4)
    reference = clocked_reference(4)
    assert compare(gold, counter(circuit, 4), reference, clocked=True) is None
    assert compare(gold, counter(circuit, 4), reference, clocked=True, effort=DEEP) is None


def test_a_bug_is_found_with_a_run_that_shows_it(circuit):
    gold, gate = counter(circuit, 4), counter(circuit, 4, bug_at=9)
    reference = clocked_reference(4)
    found = compare(gold, gate, reference, clocked=True)
    assert found.cycle >= 10  # a cycle of reset, and nine to count
    rows = replay(gold, gate, reference, found)
    assert [bool(row.differing()) for row in rows] == [False] * found.cycle + [True]
    assert rows[-1].expected == {"q": 9}
    assert rows[-1].got == {"q": 8}
    assert rows[-1].differing() == {"q": 1}
    assert rows[0].inputs["rst"] == 1
    assert not rows[0].compared
    assert compare(gold, gate, reference, clocked=True) == found


def test_a_bug_that_takes_long_needs_the_deep_comparison(circuit):
    gold, gate = counter(circuit, 11), counter(circuit, 11, bug_at=2000)
    reference = clocked_reference(11)
    assert compare(gold, gate, reference, clocked=True) is None
    found = compare(gold, gate, reference, clocked=True, effort=DEEP)
    assert found.cycle > 2000
    assert replay(gold, gate, reference, found)[-1].expected["q"] == 2000


def test_a_reset_that_is_not_there_is_found(circuit):
    gold, gate = counter(circuit, 3), counter(circuit, 3, resets=False)
    assert compare(gold, gate, clocked_reference(3), clocked=True) is not None


def test_without_a_reset_the_first_cycle_counts(circuit):
    made = circuit(clk=1, en=1, rst=1)
    once = made.state()
    made.then(once, [1])
    late = made.done(q=once)  # 0 in the first cycle, then 1
    made = circuit(clk=1, en=1, rst=1)
    always = made.done(q=[1])
    without, with_reset = clocked_reference(1, reset=False), clocked_reference(1)
    found = compare(always, late, without, clocked=True)
    assert found.cycle == 0
    assert compare(always, late, with_reset, clocked=True) is None


def test_a_low_reset_is_held_low(circuit):
    made = circuit(clk=1, en=1, rst=1)
    state = made.state()
    made.then(state, [made.either(state[0], made.bit("rst") ^ 1)])  # set by a reset at 0
    gold = made.done(q=state)
    made = circuit(clk=1, en=1, rst=1)
    gate = made.done(q=[1])
    assert compare(gold, gate, clocked_reference(1, active=0), clocked=True) is None
    assert compare(gold, gate, clocked_reference(1, active=1), clocked=True) is not None


def test_a_toggled_clock_rises_under_reset_before_anything_counts(circuit):
    def design(flaw):
        """Shows in how far two steps are over: a clock seen low, then high, with reset on."""
        made = circuit(clk=1, en=1, rst=1)
        low, both = made.state(), made.state()
        quiet = made.both(made.bit("rst"), made.bit("clk") ^ 1)
        loud = made.both(made.bit("rst"), made.bit("clk"))
        made.then(low, [made.either(low[0], quiet)])
        made.then(both, [made.either(both[0], made.both(low[0], loud))])
        return made.done(q=[1] if flaw else both)

    reference = clocked_reference(1)
    assert compare(design(False), design(True), reference, clocked=False) is None
    found = compare(design(False), design(True), reference, clocked=True)
    assert found.cycle == 1


def test_a_toggled_clock_has_even_and_uneven_phases():
    schedule = Schedule("clk", "rst", 1, 2)
    stimuli = Stimuli({"clk": 1, "rst": 1}, schedule, 64, 0)
    clocks = [bits[0] for bits in (stimuli.next() for _ in range(40))]
    for lane in range(64):
        levels = [clock >> lane & 1 for clock in clocks]
        assert levels[:2] == [0, 1]
        assert (levels == [0, 1] * 20) == (not stimuli.uneven >> lane & 1)
    assert stimuli.uneven.bit_count() == 16


def test_what_is_free_must_not_matter(circuit):
    made = circuit(a=1)
    loose = made.unknown()
    shown = made.done(y=[made.either(made.bit("a"), loose)])
    made = circuit(a=1)
    loose = made.unknown()
    hidden = made.done(y=[made.either(made.bit("a"), made.both(loose, loose ^ 1))])
    made = circuit(a=1)
    plain = made.done(y=[made.bit("a")])
    reference = Reference("", (Port("a", "input"), Port("y", "output")))
    assert compare(plain, hidden, reference, clocked=True) is None
    assert exhaustive(plain, hidden) is None
    assert compare(plain, shown, reference, clocked=True).free[0][1] == 1
    assert exhaustive(plain, shown).free == ((0, 1),)
    assert exhaustive(shown, shown) is not None  # each has a free input of its own


def test_where_the_reference_is_x_anything_goes(circuit):
    made = circuit(a=2)
    low, high = made.bus("a")
    gold = made.done(y=[low, high], x={"y": [0, low]})
    made = circuit(a=2)
    low, high = made.bus("a")
    gate = made.done(y=[low, made.both(high, low ^ 1)])
    reference = Reference("", (Port("a", "input", 2), Port("y", "output", 2)))
    assert compare(gold, gate, reference, clocked=True) is None
    assert exhaustive(gold, gate) is None
    made = circuit(a=2)
    wrong = made.done(y=[made.bus("a")[0], 0])
    found = exhaustive(gold, wrong)
    assert found.inputs == ((2,),)
    (row,) = replay(gold, wrong, reference, found)
    assert row.unknown == {"y": 0}
    assert row.differing() == {"y": 2}


def test_all_inputs_are_tried(circuit):
    gold = adder(circuit, 9)  # 18 bits: more than vary in one step
    for needle in (0, 1, 0x15555, 0x2AAAA, 0x3FFFE, 0x3FFFF):
        gate = adder(circuit, 9, needle=needle)
        assert exhaustible(gold, gate)
        found = exhaustive(gold, gate)
        assert found.inputs == ((needle & 511, needle >> 9),)
    assert exhaustive(gold, adder(circuit, 9)) is None


def test_too_much_is_not_tried_in_full(circuit):
    wide = adder(circuit, 13)
    assert not exhaustible(wide, wide)
    with pytest.raises(ConfigError, match="24 input bits"):
        exhaustive(wide, wide)
    stateful = counter(circuit, 2)
    assert not exhaustible(stateful, stateful)
    small = adder(circuit, 9)
    assert not exhaustible(small, small, budget=100)


def test_inputs_that_do_not_matter_do_not_count(circuit):
    made = circuit(a=30)
    gold = made.done(y=[made.bus("a")[7]])
    assert exhaustible(gold, gold)
    made = circuit(a=30)
    gate = made.done(y=[made.bus("a")[29]])
    assert exhaustive(gold, gate).inputs in {((1 << 7,),), ((1 << 29,),)}


def test_designs_with_other_ports_are_not_compared(circuit):
    with pytest.raises(ConfigError, match="same ports"):
        compare(adder(circuit, 3), adder(circuit, 4), adder_reference(3), clocked=True)


def test_a_budget_cuts_the_cycles(circuit):
    gold = counter(circuit, 8)
    cost = 2 * stepper(gold).cost
    assert depth(gold, gold, QUICK) == QUICK.cycles
    assert depth(gold, gold, Effort(5000, 64, budget=100 * cost)) == 100
    assert depth(gold, gold, Effort(5000, 64, budget=1)) == LEAST_CYCLES
    late = counter(circuit, 8, bug_at=60)
    reference = clocked_reference(8)
    effort = Effort(5000, 64, budget=50 * (stepper(gold).cost + stepper(late).cost))
    assert compare(gold, late, reference, clocked=True, effort=effort) is None
    assert compare(gold, late, reference, clocked=True, effort=DEEP).cycle > 60


def test_a_stepper_is_made_once(circuit):
    gold = counter(circuit, 3)
    assert stepper(gold) is stepper(gold)
    assert stepper(gold) is not stepper(counter(circuit, 3))


def test_stimuli_repeat_and_vary():
    def run(seed):
        stimuli = Stimuli({"a": 8, "b": 8, "en": 1}, Schedule(), 64, seed)
        return [stimuli.next() for _ in range(200)]

    assert run(1) == run(1)
    assert run(1) != run(2)


@pytest.fixture(scope="module")
def tried():
    """What 4000 steps tried, as a function of port and lane that gives the values."""
    stimuli = Stimuli({"a": 8, "b": 8, "en": 1, "rst": 1}, Schedule("", "rst", 1, 1), 64, 7)
    rows = [stimuli.next() for _ in range(4000)]
    places = {"a": range(8), "b": range(8, 16), "en": range(16, 17), "rst": range(17, 18)}

    def values(name, lane):
        return [sum((row[p] >> lane & 1) << n for n, p in enumerate(places[name])) for row in rows]

    return values


def test_many_free_inputs_are_renewed_in_turn():
    stimuli = Stimuli({"en": 1}, Schedule(), 64, 0)
    first = values = stimuli.bits(150)
    changed = []
    for _ in range(3):
        after = stimuli.renewed(values)
        changed.append({n for n in range(150) if after[n] != values[n]})
        values = after
        stimuli.next()
    assert [len(places) for places in changed] == [64, 64, 22]
    assert set().union(*changed) == set(range(150))
    assert len(first) == len(values) == 150
    few = stimuli.bits(5)
    assert all(x != y for x, y in zip(few, stimuli.renewed(few), strict=True))


def test_resets_are_rare_and_in_some_lanes_never_come_again(tried):
    counts = {lane: sum(tried("rst", lane)) for lane in (0, 15, 16, 31, 32, 47, 48, 63)}
    assert counts[0] == counts[15] == 1  # the one that is forced
    assert all(150 < counts[lane] < 350 for lane in (16, 31))  # of 4000: 250 are expected
    assert all(12 < counts[lane] < 60 for lane in (32, 47))  # 31
    assert all(1 <= counts[lane] < 12 for lane in (48, 63))  # 2


def test_buses_see_corners_and_one_another(tried):
    values = [tried("b", lane) for lane in range(8)]
    flat = [value for row in values for value in row]
    assert flat.count(0) > len(flat) / 20
    assert flat.count(255) > len(flat) / 20
    held = sum(x == y for row in values for x, y in pairwise(row))
    assert held > len(flat) / 8
    others = [value for lane in range(8) for value in tried("a", lane)]
    assert sum(x == y for x, y in zip(flat, others, strict=True)) > len(flat) / 20
    assert len(set(flat)) == 256


def test_controls_have_habits(tried):
    shares = [sum(tried("en", lane)[:64]) / 64 for lane in range(32)]
    assert min(shares) < 0.25 < 0.75 < max(shares)


@pytest.mark.parametrize(("width", "blocks"), [(2, 0), (7, 0), (8, 2), (12, 10)])
def test_all_inputs_are_tried_up_to_the_exact_budget(circuit, width, blocks):
    design = adder(circuit, width)  # two ports, so 2 ** (2 * width) inputs, 2 ** 14 at a time
    cost = WIDE * 2 * stepper(design).cost * 2**blocks
    assert exhaustible(design, design, budget=cost)
    assert not exhaustible(design, design, budget=cost - 1)


def test_fewer_inputs_of_large_designs_are_tried_at_a_time(circuit, monkeypatch):
    design = adder(circuit, 6)
    cost = 2 * stepper(design).cost
    for small, blocks in ((cost + 1, 0), (cost, 2)):  # 2 ** 14 at a time, or 2 ** 10
        monkeypatch.setattr(simulate, "SMALL", small)
        assert exhaustible(design, design, budget=WIDE * cost * 2**blocks)
        assert not exhaustible(design, design, budget=WIDE * cost * 2**blocks - 1)
        found = exhaustive(design, adder(circuit, 6, needle=0xABC))
        assert found.inputs == ((0xABC & 63, 0xABC >> 6),)


def test_a_design_without_gates_costs_one(circuit):
    made = circuit(a=24)
    wires = made.done(y=made.bus("a"))
    assert exhaustible(wires, wires, budget=WIDE << 10)
    assert not exhaustible(wires, wires, budget=(WIDE << 10) - 1)
    assert depth(wires, wires, Effort(5000, 64, budget=100)) == 100
    made = circuit(a=25)
    wires = made.done(y=made.bus("a"))
    assert not exhaustible(wires, wires, budget=10**18)
    with pytest.raises(ConfigError, match="24 input bits"):
        exhaustive(wires, wires)


def test_free_inputs_of_both_designs_are_tried_in_full(circuit):
    def design(count, *, free=0):
        made = circuit(a=count)
        bits = made.bus("a") + [made.unknown() for _ in range(free)]
        total = 0
        for bit in bits:
            total = made.either(total, bit)
        return made.done(y=[total])

    found = exhaustive(design(2), design(2, free=2))
    assert found.inputs == ((0,),)
    assert found.free[0][0] == 0
    assert found.free[0][1] != 0
    found = exhaustive(design(2, free=2), design(2))
    assert found.free[0][0] != 0
    assert not exhaustible(design(23), design(23, free=2), budget=10**18)
    assert exhaustible(design(22), design(22, free=2), budget=10**18)


@pytest.mark.parametrize(
    ("expected", "got", "unknown", "compared", "wrong"),
    [
        ({"y": 5}, {"y": 5}, {}, True, {}),
        ({"y": 5}, {"y": 3}, {}, True, {"y": 6}),
        ({"y": 5}, {"y": 3}, {"y": 2}, True, {"y": 4}),
        ({"y": 5}, {"y": 3}, {"y": 6}, True, {}),
        ({"y": 5}, {"y": 3}, {}, False, {}),
        ({"y": 5, "z": 1}, {"y": 5, "z": 0}, {"y": 7}, True, {"z": 1}),
    ],
)
def test_the_wrong_bits_of_a_row(expected, got, unknown, compared, wrong):
    assert simulate.Row({}, expected, unknown, got, compared).differing() == wrong


def test_bits_and_words():
    assert simulate._bits(0b0110, 5) == [0, 1, 1, 0, 0]
    assert simulate._word([0, 1, 1, 0]) == 6
    assert simulate._word([0b10, 0b01, 0b11], lane=1) == 0b101
    assert simulate._words([1, 0, 1, 1, 0], [(0,) * 2, (0,), (0,) * 2]) == [1, 1, 1]
    assert [simulate._lowest(lanes) for lanes in (1, 0b110, 1 << 40 | 1 << 50)] == [0, 1, 40]


def test_a_run_with_an_even_clock_is_preferred(circuit):
    made = circuit(clk=1, en=1, rst=1)
    gold = made.done(q=[made.bit("en")])
    made = circuit(clk=1, en=1, rst=1)
    gate = made.done(q=[made.bit("en") ^ 1])  # wrong in every lane
    found = compare(gold, gate, clocked_reference(1), clocked=False)
    assert found.cycle == 2  # nothing is compared before the clock could fall
    assert [row[0] for row in found.inputs] == [0, 1, 0]


def test_a_single_run_is_reset_now_and_then():
    stimuli = Stimuli({"rst": 1}, Schedule("", "rst", 1, 1), 1, 0)
    levels = [stimuli.next()[0] for _ in range(4000)]
    assert levels[0] == 1
    assert 150 < sum(levels) < 350  # one in sixteen
