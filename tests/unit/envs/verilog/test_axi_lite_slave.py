"""AxiLiteSlave: both sources against each other and a model of queues, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.axi_lite_slave import (
    FEATURES,
    FIRSTS,
    AxiLiteSlaveConfig,
    AxiLiteSlaveTask,
    AxiLiteSources,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

BUS = AxiLiteSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    width=4,
    address=3,
    places=(1, 6, 2, 7),
    stored=("ctrl", "mode"),
    sizes=(3, 4),
    starts=(5, 9),
    sensed="temp",
    unmapped=3,
    eager=True,
    set_wins=True,
    latency=2,
    first="alternate",
    features=FEATURES,
)


class Peripheral:
    """A peripheral as lists of what came over its channels and waits."""

    def __init__(self, bus):
        self.bus, self.has = bus, bus.features.__contains__
        self.values = dict(zip(bus.stored, bus.starts, strict=True)) | {"flags": 0}
        names = [*bus.stored, bus.sensed, *(["flags"] if self.has("clear") else [])]
        self.at = dict(zip(bus.places, names, strict=True))
        self.addresses, self.words, self.reads = [], [], []
        self.response, self.shown = None, None  # what B and R offer
        self.seen = {"rdata": 0}
        if self.has("errors"):
            self.seen |= {"bresp": 0, "rresp": 0}
        self.read_is_next = bus.first == "read"

    def cycle(self, row):
        """Return the outputs in a cycle, and carry out the edge that ends it."""
        bus, has = self.bus, self.has
        self.values[bus.sensed] = row["temp_in"]
        overlap = has("overlap")
        b_free = self.response is None or (overlap and row["bready"])
        r_free = self.shown is None or (overlap and row["rready"])
        joint = not has("independent")
        addresses, words = list(self.addresses), list(self.words)
        if joint or bus.eager:  # what comes now can be used now
            addresses += [row["awaddr"]] * row["awvalid"]
            words += [(row["wdata"], row.get("wstrb", 3))] * row["wvalid"]
        can_write = bool(addresses and words and b_free)
        if has("latency"):
            can_read = bool(self.reads) and self.reads[0][1] == 0
            arready = not self.reads and r_free
        else:
            can_read = bool(row["arvalid"] and r_free)
            arready = r_free
        writes, reads = can_write, can_read
        if has("shared") and can_write and can_read:
            writes, reads = not self.read_is_next, self.read_is_next
        leaves = overlap and writes
        awready = writes if joint else not self.addresses or leaves
        wready = writes if joint else not self.words or leaves
        outputs = {"awready": int(awready), "wready": int(wready), "arready": int(arready)}
        outputs |= {"bvalid": int(self.response is not None)}
        outputs |= {"rvalid": int(self.shown is not None), **self.seen}
        outputs |= {f"{name}_q": self.values[name] for name in bus.stored}
        if has("clear"):
            outputs["irq"] = int(self.values["flags"] > 0)
        if has("shared") and bus.first == "alternate" and can_write and can_read:
            self.read_is_next = not self.read_is_next
        self.edge(row, writes and (addresses[0], *words[0]), reads, (awready, wready, arready))
        return outputs

    def edge(self, row, write, reads, ready):
        if row["bready"]:
            self.response = None
        if row["rready"]:
            self.shown = None
        if reads:
            place = self.reads[0][0] if self.has("latency") else row["araddr"]
            self.shown = place
            self.seen["rdata"] = self.values[self.at[place]] if place in self.at else 0
            if self.has("errors"):
                self.seen["rresp"] = 0 if place in self.at else self.bus.unmapped
        self.reads = [] if reads else [(place, max(0, left - 1)) for place, left in self.reads]
        if self.has("latency") and row["arvalid"] and ready[2]:
            self.reads.append((row["araddr"], self.bus.latency - 1))
        if self.has("independent"):
            self.addresses += [row["awaddr"]] * (row["awvalid"] and ready[0])
            self.words += [(row["wdata"], row.get("wstrb", 3))] * (row["wvalid"] and ready[1])
            if write:
                del self.addresses[0], self.words[0]
        events, gone = row.get("events", 0), 0
        if write:
            gone = self.write(*write)
        flags = self.values["flags"]
        kept = flags & ~gone | events if self.bus.set_wins else (flags | events) & ~gone
        self.values["flags"] = kept

    def write(self, place, word, strobes):
        """Carry out a write, and return the flags that it clears."""
        bus, half = self.bus, self.bus.width // 2
        low = (1 << half) - 1
        mask = (low if strobes & 1 else 0) | ((2**bus.width - 1) & ~low if strobes & 2 else 0)
        name = self.at.get(place)
        self.response = place
        if self.has("errors"):
            self.seen["bresp"] = {None: bus.unmapped, bus.sensed: 2}.get(name, 0)
        if name in bus.stored:
            size = bus.sizes[bus.stored.index(name)]
            merged = self.values[name] & ~mask | word & mask
            self.values[name] = merged & (2**size - 1)
        return word & mask if name == "flags" else 0


def simulated(bus, rows):
    peripheral = Peripheral(bus)
    return [peripheral.cycle(row) for row in rows]


def drawn(random_rows, design, cycles, seed=0):
    """Return rows in which channels are busy, and addresses mostly those of registers."""
    rows = random_rows(design, cycles, seed)
    for number, row in enumerate(rows):
        for turn, name in enumerate(("awvalid", "wvalid", "bready", "arvalid", "rready")):
            row[name] |= (number + turn) % 3 == 0
        row["awaddr"] = (row["awaddr"], 1, 6, 7)[number % 4]
        row["araddr"] = (1, row["araddr"], 7, 6)[number // 3 % 4]
    return rows


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 11])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = AxiLiteSlaveTask(AxiLiteSlaveConfig.at(difficulty))
        design = task.design(stream("axi", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("count", range(len(FEATURES) + 1))
def test_it_follows_lists(count, other, run_design, random_rows):
    bus = replace(
        BUS,
        features=FEATURES[:count],
        places=BUS.places[: 3 + (count > 2)],
        eager=not other,
        set_wins=other,
        unmapped=2 + other,
        latency=3 if other else 1,
        first="read" if other else "write",
    )
    design = bus.design()
    rows = drawn(random_rows, design, 500, seed=count)
    expected = simulated(bus, rows)
    assert sum(row["bvalid"] for row in expected) > 60
    assert sum(row["rvalid"] for row in expected) > 60
    assert len({row["mode_q"] for row in expected}) > 4
    assert run_design(design, rows) == expected
    assert run_design(replace(design, golden=design.alternative), rows) == expected


@pytest.mark.parametrize("first", FIRSTS)
@pytest.mark.parametrize("latency", [1, 2, 3])
def test_it_follows_lists_with_one_port(latency, first, run_design, random_rows):
    bus = replace(BUS, first=first, latency=latency, eager=latency == 2)
    design = bus.design()
    rows = drawn(random_rows, design, 400, seed=latency)
    expected = simulated(bus, rows)
    assert run_design(design, rows) == expected
    assert run_design(replace(design, golden=design.alternative), rows) == expected


def test_mutants_earn_nothing(random_rows, judged_mutants):
    design = BUS.design()
    rows = drawn(random_rows, design, 400)
    assert judged_mutants(design, rows, simulated(BUS, rows), 12) == 12


@pytest.mark.parametrize(
    "slip",
    [
        {"eager": False},
        {"set_wins": False},
        {"latency": 1},
        {"latency": 3},
        {"first": "write"},
        {"first": "read"},
        {"unmapped": 2},
        {"starts": (4, 9)},
        {"places": (1, 6, 7, 2)},
        {"places": (6, 1, 2, 7)},
        {"clocking": Clocking("clk", "rst", 1, asynchronous=True)},
    ],
)
def test_another_peripheral_earns_nothing(slip):
    other = replace(BUS, **slip).design()
    assert judge(other.alternative, BUS.design().reference).score == 0.0


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("if (bready) bvalid <= 0;", "if (bready || !writes) bvalid <= 0;"),  # it does not wait
        ("if (rready) rvalid <= 0;", ""),
        ("a_held <= 0;", ""),  # no reset
        ("a_held == writes) a_held <= awvalid", "!a_held) a_held <= awvalid"),
        ("assign wready = !d_held || writes;", "assign wready = !d_held;"),
        ("if (awready) a_kept", "if (awvalid && !writes) a_kept"),
        ("to = a_held ? a_kept : awaddr", "to = awvalid ? awaddr : a_kept"),
        ("arready = !pending && r_free", "arready = r_free"),
        ("(d_held || wvalid) && b_free", "(d_held || wvalid)"),
        ("!(can_read && read_next)", "1"),  # both at once
        ("if (can_read && can_write) read_next", "if (writes) read_next"),
        ("rresp <= there ? 0 : 3;", "rresp <= 0;"),
        ("3'd2: bresp <= 2;", "3'd2: bresp <= 0;"),
        ("strobes = d_held ? s_kept : wstrb", "strobes = wstrb"),
        ("flags <= (flags & ~(data & lanes)) | events;", "flags <= data & lanes;"),
        ("{{2{strobes[1]}}, {2{strobes[0]}}}", "{{2{strobes[0]}}, {2{strobes[1]}}}"),
        ("rdata <= seen;", "rdata <= 0;"),
    ],
)
def test_a_slip_is_told(right, slip):
    design = BUS.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"stored": 0}, {"stored": 9}, {"width": 1}, {"features": 8}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        AxiLiteSlaveConfig(**knobs)
