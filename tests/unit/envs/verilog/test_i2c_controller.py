"""I2cController: both sources against each other and a model in Python, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.i2c_controller import (
    COMMANDS,
    FEATURES,
    I2cControllerConfig,
    I2cControllerTask,
    I2cSources,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

BUS = I2cSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    bits=2,
    quarter=2,
    codes=(2, 0, 3, 1),
    downwards=True,
    first=1,
    patience=3,
    features=FEATURES,
    names=("valid", "cmd", "wdata", "busy"),
)


class Controller:
    """A controller as a coroutine that waits for the end of each cycle."""

    def __init__(self, bus):
        self.bus, self.has = bus, bus.features.__contains__
        self.scl = self.sda = self.done = 0  # what is pulled to 0
        self.late_lines = [(1, 1), (1, 1)]  # of the inputs, through two flip-flops
        self.flags = {"acked": 0, "lost": 0, "late": 0}
        self.rdata = bus.first
        self.row = {}

    def cycle(self, busy):
        """Show the outputs of a cycle, and return the levels of data and clock at its end."""
        outputs = {"scl_low": self.scl, "sda_low": self.sda, "busy": busy, "done": self.done}
        names = {"acked": "ack", "lost": "lost", "late": "timeout"}
        outputs |= {n: self.flags[n] for n, feature in names.items() if self.has(feature)}
        outputs |= {"rdata": self.rdata} if self.has("read") else {}
        self.done = 0
        self.row = row = yield outputs
        levels = (row.get("sda", 1), row.get("scl", 1))
        if self.has("sync"):
            self.late_lines = [levels, *self.late_lines]
            levels = self.late_lines.pop()
        return levels

    def run(self):
        while True:
            yield from self.cycle(0)
            row = self.row
            if row["valid"] and (self.has("read") or row["cmd"] != self.bus.codes[3]):
                yield from self.command(COMMANDS[self.bus.codes.index(row["cmd"])], row)
                self.done = 1

    def command(self, command, row):
        self.flags["late"] = 0
        self.flags["lost"] &= command != "start"
        if command == "start":
            yield from self.slot([self.scl, 0, 0, 1], [0, 0, 1, 1])
            return
        if command == "stop":
            yield from self.slot([1, 0, 0, 0], [1, 1, 0, 0])
            return
        places = list(range(self.bus.bits))
        if self.bus.downwards:
            places.reverse()
        word = 0
        for place in places:
            pulled = int(command == "write" and not row["wdata"] >> place & 1)
            level = yield from self.slot([1, 0, 0, 1], [pulled] * 4, watched=command == "write")
            if level is None:
                return
            word |= level << place
        pulled = int(command == "read" and (row["reply"] if self.has("ack") else 1))
        level = yield from self.slot([1, 0, 0, 1], [pulled] * 4, answered=command == "write")
        if level is not None and command == "read":
            self.rdata = word

    def give_up(self, flag):
        self.flags[flag] = 1
        self.scl = self.sda = 0

    def slot(self, clock, data, *, watched=False, answered=False):
        """Carry out four phases; return the level of the data, None where the command ends."""
        level = None
        for phase in range(4):
            self.scl, self.sda = clock[phase], data[phase]
            counted = waited = 0
            while counted < self.bus.quarter:
                sda, scl = yield from self.cycle(1)
                held = self.has("stretch") and phase == 1 and not scl
                counted += not held
                waited = waited + 1 if held else 0
                if self.has("timeout") and waited == self.bus.patience:
                    self.give_up("late")
                    return None
            if phase == 2:
                level = sda
                if watched and self.has("lost") and not data[2] and not sda:
                    self.give_up("lost")
                    return None
                self.flags["acked"] = 1 - level if answered else self.flags["acked"]
        return level


def simulated(bus, rows):
    run = Controller(bus).run()
    return [next(run), *(run.send(row) for row in rows[:-1])]


def drawn(random_rows, design, cycles, seed=0):
    """Return rows with many requests, in which the bus seldom holds the clock for long."""
    rows = random_rows(design, cycles, seed)
    for number, row in enumerate(rows):
        row["valid"] |= number % 3 > 0
        if "scl" in row:
            row["scl"] |= number % 4 > 0 and number // 64 % 3 > 0
    return rows


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8])
def test_both_sources_are_equivalent(difficulty):
    task = I2cControllerTask(I2cControllerConfig.at(difficulty))
    design = task.design(stream("i2c", difficulty))
    verdict = judge(design.alternative, design.reference)
    assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("count", range(len(FEATURES) + 1))
def test_it_follows_a_model(count, other, run_design, random_rows):
    bus = replace(
        BUS,
        features=FEATURES[:count],
        bits=2 + other,
        quarter=2 - other,
        downwards=not other,
        patience=3 - other,
    )
    design = bus.design()
    rows = drawn(random_rows, design, 1500, seed=count)
    expected = simulated(bus, rows)
    assert sum(row["done"] for row in expected) > 50
    assert run_design(design, rows) == expected
    assert run_design(replace(design, golden=design.alternative), rows) == expected


def test_mutants_earn_nothing(random_rows, judged_mutants):
    bus = replace(BUS, quarter=1)
    design = bus.design()
    rows = drawn(random_rows, design, 900)
    assert judged_mutants(design, rows, simulated(bus, rows), 10) == 10


@pytest.mark.parametrize(
    "slip",
    [
        {"bits": 3, "first": 1},
        {"quarter": 1},
        {"quarter": 3},
        {"codes": (0, 2, 3, 1)},
        {"codes": (2, 0, 1, 3)},
        {"downwards": False},
        {"first": 2},
        {"patience": 2},
        {"patience": 4},
        {"clocking": Clocking("clk", "rst", 1, asynchronous=True)},
    ],
)
def test_another_controller_earns_nothing(slip):
    other = replace(BUS, **slip).design()
    assert judge(other.alternative, BUS.design().reference).score == 0.0


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("phase == 1 && !scl_sync[1]", "!scl_sync[1]"),  # it is held in every phase
        ("phase == 1 && !scl_sync[1]", "phase == 1 && !scl_sync[0]"),
        ("if (!hold) tick <= tick + 1;", "tick <= tick + 1;"),
        ("2'd2: sda_low <= 0;", "2'd2: begin scl_low <= 1; sda_low <= 0; end"),
        ("acked <= !sda_sync[1];", "acked <= sda_sync[1];"),
        ("&& !sda_low && !sda_sync[1]", "&& !sda_sync[1]"),  # a 0 is never lost
        ("rdata <= got;", ""),
        ("&& reply_kept", "&& !reply_kept"),
        ("if (cmd == 2'd2) lost <= 0;", "lost <= 0;"),
        ("waited <= hold ? waited + 1 : 0;", "if (hold) waited <= waited + 1;"),
        ("late <= 0;\n                    waited", "waited"),
        ("done <= 0;\n            sda_sync", "sda_sync"),
    ],
)
def test_a_slip_is_told(right, slip):
    design = BUS.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"bits": 1}, {"bits": 9}, {"quarter": 0}, {"features": 7}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        I2cControllerConfig(**knobs)
