"""Assertions: monitors of them against the definition of a match on drawn runs, and bad texts."""

import random

import pytest

from rlvr_envs.verifiers.hdl.aig import read
from rlvr_envs.verifiers.hdl.assertions import AssertionRefused, monitor_of
from rlvr_envs.verifiers.hdl.equivalence import gold_of
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.simulate import Difference, replay

PORTS = tuple(
    Port(name, "input", width)
    for name, width in (("clk", 1), ("rst", 1), ("a", 1), ("b", 1), ("v", 3), ("w", 3))
)
CLOCKING = Clocking("clk", "rst", 1, asynchronous=False)
HEADER = (
    "module Monitor(input clk, input rst, input a, input b, input [2:0] v, input [2:0] w, "
    "output ok);"
)


def monitored(text, rows):
    """Return `ok` in each cycle after the first."""
    source = monitor_of(text, HEADER, PORTS, CLOCKING)
    reference = Reference(source, (*PORTS, Port("ok", "output")), CLOCKING, "Monitor")
    graph = read(gold_of(reference))
    inputs = tuple(tuple(row.get(name, 0) for name in graph.inputs) for row in rows)
    run = Difference(True, inputs, ((0, 0),) * len(rows))
    return [dict(row.expected)["ok"] for row in replay(graph, graph, reference, run)][1:]


def drawn(count, seed):
    rng = random.Random(seed)
    rows = []
    for number in range(count):
        row = {name: int(rng.random() < 0.6) for name in "ab"}
        row |= {"v": rng.randrange(8), "w": rng.randrange(8), "clk": 0}
        if number and rng.random() < 0.4:
            row["v"] = rows[-1]["v"]
        row["rst"] = int(number < 4 or rng.random() < 0.07)
        rows.append(row)
    return rows


def defined(before, after, rows):
    """Return `ok` by the definition: no attempt without reset fails in a cycle."""
    shown = []
    for now in range(1, len(rows)):
        fine = True
        for at, holds in after:
            start = now - at
            if start < 0 or any(rows[k]["rst"] for k in range(start, now + 1)):
                continue
            matched = all(test(rows, start + k) for k, test in before)
            fine &= not matched or bool(holds(rows, now))
        shown.append(int(fine))
    return shown


def a(rows, t):
    return rows[t]["a"]


def b(rows, t):
    return rows[t]["b"]


def not_b(rows, t):
    return not rows[t]["b"]


def rose(rows, t):
    return rows[t]["a"] and not rows[t - 1]["a"]


def fell(rows, t):
    return rows[t - 1]["a"] and not rows[t]["a"]


def same(rows, t):
    return rows[t]["v"] == rows[t - 1]["v"]


def next_one(rows, t):
    return rows[t]["v"] == (rows[t - 1]["v"] + 1) % 8


CASES = {
    "b": ([], [(0, b)]),
    "a |-> b": ([(0, a)], [(0, b)]),
    "a |=> b": ([(0, a)], [(1, b)]),
    "(a |=> b)": ([(0, a)], [(1, b)]),
    "a ##2 b |-> v == w": ([(0, a), (2, b)], [(2, lambda r, t: r[t]["v"] == r[t]["w"])]),
    "a |-> ##3 b": ([(0, a)], [(3, b)]),
    "a |=> ##2 b ##1 a": ([(0, a)], [(3, b), (4, a)]),
    "a[*3] |=> b": ([(0, a), (1, a), (2, a)], [(3, b)]),
    "(a ##1 b)[*2] |-> !b": ([(0, a), (1, b), (2, a), (3, b)], [(3, not_b)]),
    "a |=> b[*2] ##1 !b": ([(0, a)], [(1, b), (2, b), (3, not_b)]),
    "a |-> (b |=> a)": ([(0, a), (0, b)], [(1, a)]),
    "a ##0 b |=> a": ([(0, a), (0, b)], [(1, a)]),
    "$rose(a) |-> b": ([(0, rose)], [(0, b)]),
    "b |=> $fell(a)": ([(0, b)], [(1, fell)]),
    "a |=> $stable(v)": ([(0, a)], [(1, same)]),
    "a |=> $changed(v)": ([(0, a)], [(1, lambda r, t: not same(r, t))]),
    "a |=> v == $past(v) + 1": (
        [(0, a)],
        [(1, lambda r, t: r[t]["v"] == r[t - 1]["v"] + 1)],  # a sum with 1 has 32 bits
    ),
    "a |=> v == $past(v) + 3'd1": ([(0, a)], [(1, next_one)]),
    "a |-> v == $past(w, 3)": ([(0, a)], [(0, lambda r, t: r[t]["v"] == r[t - 3]["w"])]),
    "a |-> $past($rose(a), 2)": ([(0, a)], [(0, lambda r, t: rose(r, t - 2))]),
    "v |-> b": ([(0, lambda r, t: r[t]["v"])], [(0, b)]),  # any bit
    "$rose(v) |-> b": ([(0, lambda r, t: r[t]["v"] & 1 and not r[t - 1]["v"] & 1)], [(0, b)]),
    "$onehot0(v) |-> v[0] == b": (
        [(0, lambda r, t: r[t]["v"] in (0, 1, 2, 4))],
        [(0, lambda r, t: r[t]["v"] & 1 == r[t]["b"])],
    ),
    "$countones({v, w}) > 3 |-> (a ? b : !b)": (
        [(0, lambda r, t: (r[t]["v"] << 3 | r[t]["w"]).bit_count() > 3)],
        [(0, lambda r, t: r[t]["a"] == r[t]["b"])],
    ),
}


@pytest.mark.parametrize("text", CASES)
def test_a_monitor_fails_where_the_definition_does(text):
    before, after = CASES[text]
    rows = drawn(600, len(text))
    expected = defined(before, after, rows)
    assert {0, 1} == set(expected)
    assert monitored(f"assert property ({text});", rows) == expected


@pytest.mark.parametrize(
    ("text", "first"),
    [
        # In cycle 1, two cycles back there is nothing: unknown, and so is its opposite.
        ("$past(a, 2) |-> 0", [1, 0, 0, 0]),
        ("!$past(a, 2) |-> 0", [1, 1, 1, 1]),
        ("1 |-> $past(a, 2)", [0, 1, 1, 1]),
        ("$past($rose(a), 2) |-> 0", [1, 1, 1, 1]),
        ("$past($stable(a), 2) |-> 0", [1, 1, 0, 0]),
        ("$past(a) && $past(a, 3) |-> 0", [1, 1, 0, 0]),
        ("$past(a) |-> 0", [0, 0, 0, 0]),
    ],
)
def test_what_looks_back_beyond_the_first_cycle_is_false(text, first):
    rows = [{"a": 1, "b": 0, "v": 0, "w": 0, "clk": 0, "rst": int(t == 0)} for t in range(5)]
    assert monitored(f"assert property ({text});", rows) == first


@pytest.mark.parametrize(
    "form",
    [
        "assert property (@(posedge clk) a |=> b);",
        "assert property(@(posedge clk)disable iff(rst)a|=>b);",
        'check: assert property (disable iff (rst == 1\'b1) (a) |=> (b)) else $error("b");',
        (
            "property p;\n  @(posedge clk) disable iff (rst) a |=> b;\nendproperty\n"
            "assert property (p);"
        ),
        "/* a */ assert property (a |=> b); // and b",
        "assert property (a |=> b);\nassert property (1 |-> 1);",
    ],
)
def test_a_property_is_written_in_several_forms(form):
    rows = drawn(300, 1)
    assert monitored(form, rows) == defined(*CASES["a |=> b"], rows)


def test_all_assertions_count():
    rows = drawn(300, 2)
    both = [
        one & two
        for one, two in zip(
            defined(*CASES["a |=> b"], rows), defined(*CASES["$rose(a) |-> b"], rows), strict=True
        )
    ]
    text = "assert property (a |=> b); assert property ($rose(a) |-> b);"
    assert monitored(text, rows) == both


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a |=> b",
        "assert property (a |=> c);",
        "assert property (ok);",
        "assert property (a |=> b)",
        "assert property (a |=> );",
        "assert property (|=> b);",
        "assert property ((a |=> b);",
        "assert property (a |=> b));",
        "assert property (a ##[1:3] b);",
        "assert property (a ##33 b);",
        "assert property (a[*0] |-> b);",
        "assert property (a[*32] ##32 b ##1 a);",
        "assert property (a throughout b);",
        "assert property (not a);",
        "assert property (@(negedge clk) a |-> b);",
        "assert property (@(posedge rst) a |-> b);",
        "assert property (disable iff (a) a |-> b);",
        "assert property (disable iff (!rst) a |-> b);",
        "assert property ($past(a, 0));",
        "assert property ($past(a, b));",
        "assert property ($display(a));",
        "assert property ($sampled(a));",
        "assert property (a / b);",
        "assert property (v[* a]);",
        "assert property (v == 65'd1);",
        "assert property (a); endmodule module Other;",
        "assume property (a);",
        "cover property (a);",
        "assert (a);",
        "assert property (Monitor.a);",
        "assert property (`a);",
        'assert property (a == "a");',
        "assert property (a é b);",
        "module M; assert property (a); endmodule",
        "property a; b; endproperty assert property (a);",
        "property p; b; assert property (p);",
        "assert property (" + "a |-> " * 3000 + "b);",
        "assert property (a |-> " * 100,
        "assert property (a);" * 65,
        "/* " * 4000,
        "assert property (a" + " & a" * 9000 + ");",
    ],
)
def test_other_texts_are_refused(text):
    with pytest.raises(AssertionRefused):
        monitor_of(text, HEADER, PORTS, CLOCKING)


def test_what_is_refused_is_named_with_its_line():
    with pytest.raises(AssertionRefused, match="line 3: 'c' is no port"):
        monitor_of("assert property (a\n|=>\nc);", HEADER, PORTS, CLOCKING)


def test_brackets_that_nest_deeply_are_read_or_refused():
    shallow = "assert property (" + "(" * 40 + "a |-> b" + ")" * 40 + ");"
    rows = drawn(100, 3)
    assert monitored(shallow, rows) == defined(*CASES["a |-> b"], rows)
    with pytest.raises(AssertionRefused, match="nested too deeply"):
        monitor_of(shallow.replace("(a", "(" * 60 + "a"), HEADER, PORTS, CLOCKING)


def test_an_active_low_reset_drops_attempts():
    clocking = Clocking("clk", "rst", 0, asynchronous=True)
    source = monitor_of("assert property (disable iff (!rst) a |=> b);", HEADER, PORTS, clocking)
    assert "assign ok = (~rst) |" in source
