"""ApbSlave: both sources against each other and a dictionary of registers, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.apb_slave import FEATURES, ApbSlaveConfig, ApbSlaveTask, ApbSources
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

BUS = ApbSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    width=4,
    address=3,
    places=(1, 6, 2, 7, 0, 4),
    stored=("ctrl", "mode"),
    sizes=(3, 4),
    starts=(5, 9),
    sensed="temp",
    set_wins=True,
    waits=(1, 2),
    saturates=True,
    key=11,
    locked=0,
    features=FEATURES,
)


class Registers:
    """A peripheral as a dictionary of registers by address."""

    def __init__(self, bus):
        self.bus, self.has = bus, bus.features.__contains__
        self.stored = dict(zip(bus.stored, bus.starts, strict=True))
        self.flags = self.hits = self.unlocked = self.waited = 0
        names = [*bus.stored, bus.sensed]
        names += ["flags"] * self.has("clear") + ["hits"] * self.has("count")
        names += ["key"] * self.has("lock")
        self.at = dict(zip(bus.places, names, strict=False))

    def cycle(self, row):
        """Return the outputs in a cycle, and carry out the edge that ends it."""
        bus, has = self.bus, self.has
        wait = bus.waits[row["pwrite"]] if has("wait") else 0
        access = row["psel"] and row["penable"]
        ends = int(access and self.waited >= wait)
        name = self.at.get(row["paddr"])
        value = {"flags": self.flags, "hits": self.hits, "key": self.unlocked, None: 0}
        value |= self.stored | {bus.sensed: row["temp_in"]}
        seen = {f"{n}_q": v for n, v in self.stored.items()}
        seen |= {"pready": ends, "prdata": value[name] if ends and not row["pwrite"] else 0}
        shut = has("lock") and name == bus.stored[bus.locked] and not self.unlocked
        if has("error"):
            denied = row["pwrite"] and (name in ("temp", "hits") or shut)
            seen["pslverr"] = int(ends and (name is None or denied))
        if has("clear"):
            seen["irq"] = int(self.flags > 0)
        self.waited = self.waited + 1 if access and not ends else 0
        written = name if ends and row["pwrite"] and not shut else None
        self.edge(row, written, ends and not row["pwrite"] and name == "hits")
        return seen

    def edge(self, row, written, counted):
        bus, has = self.bus, self.has
        top, half = 2**bus.width - 1, bus.width // 2
        strobes = row.get("pstrb", 3)
        low = (1 << half) - 1
        mask = (low if strobes & 1 else 0) | (top & ~low if strobes & 2 else 0)
        gone = row["pwdata"] & mask if written == "flags" else 0
        events = row.get("events", 0)
        if bus.set_wins:
            self.flags = self.flags & ~gone | events
        else:
            self.flags = (self.flags | events) & ~gone
        if has("count"):
            tick = row["tick"]
            more = self.hits + tick
            if more > top:
                more = top if bus.saturates else 0
            self.hits = tick if counted else more
        if written == "key" and strobes == 3:
            self.unlocked = int(row["pwdata"] == bus.key)
        if written in self.stored:
            size = bus.sizes[bus.stored.index(written)]
            merged = self.stored[written] & ~mask | row["pwdata"] & mask
            self.stored[written] = merged & (2**size - 1)


def simulated(bus, rows):
    registers = Registers(bus)
    return [registers.cycle(row) for row in rows]


def drawn(random_rows, design, cycles, seed=0):
    """Return rows in which most cycles are accesses, some of them with the key."""
    rows = random_rows(design, cycles, seed)
    for number, row in enumerate(rows):
        row["psel"] |= number % 7 > 1
        row["penable"] |= number % 5 > 0
        if number % 9 == 0:
            row |= {"pwdata": 11, "paddr": 4}
    return rows


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = ApbSlaveTask(ApbSlaveConfig.at(difficulty))
        design = task.design(stream("apb", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("count", range(len(FEATURES) + 1))
def test_it_follows_a_dictionary(count, other, run_design, random_rows):
    bus = replace(
        BUS,
        features=FEATURES[:count],
        set_wins=other,
        saturates=not other,
        waits=(3, 1) if other else (0, 2),
        locked=int(other),
    )
    design = bus.design()
    rows = drawn(random_rows, design, 500, seed=count)
    expected = simulated(bus, rows)
    assert sum(row["pready"] for row in expected) > 60
    assert len({row["mode_q"] for row in expected}) > 1
    assert run_design(design, rows) == expected
    assert run_design(replace(design, golden=design.alternative), rows) == expected


def test_mutants_earn_nothing(random_rows, judged_mutants):
    design = BUS.design()
    rows = drawn(random_rows, design, 400)
    assert judged_mutants(design, rows, simulated(BUS, rows), 12) == 12


@pytest.mark.parametrize(
    "slip",
    [
        {"set_wins": False},
        {"saturates": False},
        {"waits": (2, 2)},
        {"waits": (1, 1)},
        {"waits": (0, 2)},
        {"key": 3},
        {"locked": 1},
        {"starts": (4, 9)},
        {"places": (1, 6, 2, 7, 4, 0)},
        {"places": (6, 1, 2, 7, 0, 4)},
        {"clocking": Clocking("clk", "rst", 1, asynchronous=True)},
    ],
)
def test_another_peripheral_earns_nothing(slip):
    other = replace(BUS, **slip).design()
    assert judge(other.alternative, BUS.design().reference).score == 0.0


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("psel && penable && waited", "psel && waited"),
        ("unlocked <= 0;", ""),  # no reset
        ("waited <= psel && penable && !pready ? waited + 1 : 0;", "waited <= waited + 1;"),
        ("pready && !pwrite && paddr == 3'd0", "pready && paddr == 3'd0"),  # a write clears
        ("hits <= tick;", "hits <= 0;"),  # a tick at the time of a read is lost
        ("if (pstrb == 2'd3) unlocked", "unlocked"),
        ("if (unlocked) ctrl_q", "ctrl_q"),
        ("assign pslverr = pready && bad", "assign pslverr = bad"),
        ("default: bad = 1;", "default: bad = 0;"),
        ("pwrite && !unlocked", "0"),
        ("~(pwdata & lanes)", "~pwdata"),
        ("if (pready && !pwrite) case", "if (!pwrite) case"),
        ("{{2{pstrb[1]}}, {2{pstrb[0]}}}", "{{2{pstrb[0]}}, {2{pstrb[1]}}}"),
    ],
)
def test_a_slip_is_told(right, slip):
    design = BUS.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"stored": 0}, {"stored": 9}, {"width": 1}, {"features": 7}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        ApbSlaveConfig(**knobs)
