"""A difference as text."""

import pytest

from rlvr_envs.verifiers.hdl.aig import Aig
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.simulate import Difference, exhaustive
from rlvr_envs.verifiers.hdl.waveform import (
    MOST_CHARACTERS,
    _Column,
    _cut,
    _fitting,
    _listed,
    _wrong,
    waveform,
)

CLOCKED = Reference(
    "",
    (
        Port("clk", "input"),
        Port("rst_n", "input"),
        Port("d", "input", 8),
        Port("q", "output", 8),
        Port("odd", "output"),
    ),
    Clocking("clk", "rst_n", 0),
)


def register(circuit, *, stuck):
    """A register whose bit 2 never becomes 1."""
    made = circuit(clk=1, rst_n=1, d=8)
    state, keep = made.state(8), made.bit("rst_n")
    made.then(state, [made.both(keep, bit) for bit in made.bus("d")])
    shown = list(state)
    if stuck:
        shown[2] = 0
    return made.done(q=shown, odd=[state[0]])


def run(*bytes_, clocked=True):
    inputs = tuple((0, byte, int(step > 0)) for step, byte in enumerate(bytes_))
    return Difference(clocked, inputs, ((0, 0),) * len(inputs))


def test_a_run_of_cycles(circuit):
    gold, gate = register(circuit, stuck=False), register(circuit, stuck=True)
    assert waveform(gold, gate, CLOCKED, run(0x10, 0xF3, 0x05, 0x00)) == (
        """\
The outputs differ in cycle 3, counted from 0.
cycle  rst_n  d   q expected  q got  odd
0      0      10  -           -      -
1      1      f3  00          00     0
2      1      05  f3          f3     1
3      1      00  05          01*    1
A row shows the values just before the clock edge that ends its cycle.
Ports wider than 4 bits are in hexadecimal, the others in binary.
Wrong (*): q (bit 2)."""
    )


def test_a_toggled_clock_is_shown(circuit):
    gold, gate = register(circuit, stuck=False), register(circuit, stuck=True)
    steps = (0, 0x10, 0), (1, 0x04, 0), (0, 0x04, 1), (1, 0x00, 1)
    text = waveform(gold, gate, CLOCKED, Difference(False, steps, ((0, 0),) * 4))
    assert "differ in step 3," in text
    assert "step  clk  rst_n  d   q expected  q got  odd" in text
    assert "3     1    1      00  04          00*    0" in text


def test_only_the_end_of_a_long_run(circuit):
    gold, gate = register(circuit, stuck=False), register(circuit, stuck=True)
    text = waveform(gold, gate, CLOCKED, run(*[8] * 98, 4, 8))
    assert text.startswith("The outputs differ in cycle 99, counted from 0.")
    assert "Only the last 12 cycles are shown." in text
    rows = [line.split()[0] for line in text.splitlines()[2:14]]
    assert rows == [str(number) for number in range(88, 100)]


def test_one_row_for_a_combinational_design(circuit):
    def design(flaw):
        made = circuit(a=4, b=1)
        total = made.plus_one(made.bus("a"))
        return made.done(y=[*total[:3], made.differ(total[3], made.bit("b")) if flaw else total[3]])

    reference = Reference("", (Port("b", "input"), Port("a", "input", 4), Port("y", "output", 4)))
    gold, gate = design(False), design(True)
    text = waveform(gold, gate, reference, exhaustive(gold, gate))
    assert text == (
        """\
The outputs differ for these inputs:
b  a     y expected  y got
1  0000  0001        1001*
Wrong (*): y (bit 3)."""
    )


def test_digits_that_are_x(circuit):
    made = circuit(a=8)
    bits = made.bus("a")
    gold = made.done(y=bits, z=bits[:3], x={"y": [1] + [0] * 7, "z": [0, 1, 0]})
    made = circuit(a=8)
    bits = made.bus("a")
    gate = made.done(y=[*bits[:7], 0], z=[*bits[:2], 0])
    reference = Reference(
        "", (Port("a", "input", 8), Port("y", "output", 8), Port("z", "output", 3))
    )
    text = waveform(gold, gate, reference, Difference(True, ((0xA4,),), ((0, 0),)))
    assert "a   y expected  y got  z expected  z got" in text
    assert "a4  ax          24*    1x0         000*" in text


def wide(ports, width):
    """Designs with many ports, of which the last output is wrong."""
    names = [f"in_{n:03}" for n in range(ports)]
    inputs = {
        name: tuple(range(1 + n * width, 1 + n * width + width)) for n, name in enumerate(names)
    }
    right = {
        f"out_{n:03}": tuple(2 * bit for bit in bits) for n, bits in enumerate(inputs.values())
    }
    last = f"out_{ports - 1:03}"
    gold = Aig(inputs, right)
    gate = Aig(inputs, {**right, last: tuple(bit ^ 1 for bit in right[last])})
    listed = [Port(name, "input", width) for name in inputs]
    return gold, gate, (*listed, *(Port(name, "output", width) for name in right)), last


@pytest.mark.parametrize("steps", [1, 40])
@pytest.mark.parametrize(("ports", "width"), [(2, 1), (8, 400), (40, 32), (300, 1)])
def test_the_text_is_short_and_shows_what_is_wrong(ports, width, steps):
    gold, gate, listed, last = wide(ports, width)
    clock = Port("clk", "input")
    gold, gate = (
        Aig({"clk": (ports * width + 1,), **design.inputs}, design.outputs)
        for design in (gold, gate)
    )
    reference = Reference("", (clock, *listed), Clocking("clk"))
    inputs = tuple((0, *[(1 << width) - 1] * ports) for _ in range(steps))
    text = waveform(gold, gate, reference, Difference(True, inputs, ((0, 0),) * steps))
    assert len(text) <= MOST_CHARACTERS
    assert f"{last} expected" in text
    assert f"{last} got" in text
    rows = [line for line in text.splitlines() if line[0].isdigit()]
    assert len(rows) == min(steps, 12)
    assert all("*" in row for row in rows)
    assert f"Wrong (*): {last}" in text
    assert ("Not shown: " in text) == (ports > 2)


def test_long_names_stay_different():
    gold, gate, _, _ = wide(2, 1)
    names = [f"{'a_rather_long_name_of_a_port' * 2}_{n}" for n in range(2)]
    gold, gate = (
        Aig(dict(zip(names, design.inputs.values(), strict=True)), design.outputs)
        for design in (gold, gate)
    )
    outs = [Port(f"out_{n:03}", "output") for n in range(2)]
    reference = Reference("", (*(Port(name, "input") for name in names), *outs))
    text = waveform(gold, gate, reference, Difference(True, ((1, 0),), ((0, 0),)))
    titles = text.splitlines()[1].split()
    assert len(set(titles[:2])) == 2
    assert all(len(title) <= 24 for title in titles)


def test_a_run_that_just_fits_is_shown_whole(circuit):
    gold, gate = register(circuit, stuck=False), register(circuit, stuck=True)
    twelve = waveform(gold, gate, CLOCKED, run(*[8] * 10, 4, 8))
    assert "Only the last" not in twelve
    assert [line.split()[0] for line in twelve.splitlines()[2:14]] == [str(n) for n in range(12)]
    thirteen = waveform(gold, gate, CLOCKED, run(*[8] * 11, 4, 8))
    assert "Only the last 12 cycles are shown." in thirteen
    assert thirteen.splitlines()[2].split()[0] == "1"


def test_several_wrong_bits_and_ports_are_listed():
    bits = tuple(range(1, 9))
    right = {"y": tuple(2 * bit for bit in bits), "z": (2,)}
    wrong = {"y": tuple(2 * bit + 1 for bit in bits), "z": (3,)}
    ports = (Port("a", "input", 8), Port("y", "output", 8), Port("z", "output"))
    found = Difference(True, ((0,),), ((0, 0),))
    text = waveform(Aig({"a": bits}, right), Aig({"a": bits}, wrong), Reference("", ports), found)
    assert text.splitlines()[1:3] == [
        "a   y expected  y got  z expected  z got",
        "00  00          ff*    0           1*",
    ]
    assert text.splitlines()[-1] == "Wrong (*): y (bits 0, 1, 2, 3, 4, 5 and 2 more), z."
    assert "edge" not in text


@pytest.mark.parametrize(
    ("text", "most", "cut"),
    [("abcdef", 6, "abcdef"), ("abcdefg", 6, "ab..fg"), ("abcdefgh", 7, "ab..gh"), ("", 6, "")],
)
def test_long_words_lose_their_middle(text, most, cut):
    assert _cut(text, most) == cut


def test_the_telling_columns_are_shown_first():
    def column(title, width, rank):
        return _Column(title, ["x" * (width - 2)], rank)

    wide, telling, small = column("i", 200, 2), column("y", 100, 0), column("j", 140, 2)
    assert telling.width == 100
    assert _fitting([wide, telling, small], 1) == ([telling, small], [wide])
    assert _fitting([column("i", 137, 2), telling, column("j", 3, 2)], 1)[1] == []
    shown, hidden = _fitting([wide, telling], 10)  # ten rows leave a hundred characters
    assert (shown, hidden) == ([telling], [wide])


def test_lists_are_cut_after_six_words():
    words = list("abcdefgh")
    assert _listed(words[:1]) == "a"
    assert _listed(words[:6]) == "a, b, c, d, e, f"
    assert _listed(words[:7]) == "a, b, c, d, e, f and 1 more"
    assert _listed(words) == "a, b, c, d, e, f and 2 more"


@pytest.mark.parametrize(
    ("bits", "width", "text"),
    [(1, 1, "y"), (1, 2, "y (bit 0)"), (2, 2, "y (bit 1)"), (5, 3, "y (bits 0, 2)")],
)
def test_wrong_bits_are_named_where_there_are_several(bits, width, text):
    assert _wrong("y", bits, width) == text


def test_the_text_has_at_most_1500_characters():
    gold, gate, listed, _ = wide(60, 1)
    names = {port.name: f"{port.name}_{'n' * 50}" for port in listed}
    gold, gate = (
        Aig(*({names[name]: row for name, row in rows.items()} for rows in (d.inputs, d.outputs)))
        for d in (gold, gate)
    )
    ports = tuple(Port(names[port.name], port.direction) for port in listed)
    text = waveform(gold, gate, Reference("", ports), Difference(True, ((1,) * 60,), ((0, 0),)))
    assert len(text) <= 1500 == MOST_CHARACTERS
