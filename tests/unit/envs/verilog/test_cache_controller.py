"""CacheController: both sources against each other and a model in Python, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.cache_controller import (
    FEATURES,
    CacheControllerConfig,
    CacheControllerTask,
    CacheSources,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

CACHE = CacheSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    index=1,
    tag=2,
    offset=1,
    width=2,
    start=2,
    region=1,
    downwards=False,
    features=FEATURES,
    names=("req", "addr", "ready", "done"),
)
THROUGH = replace(CACHE, features=FEATURES[:3])


class Cache:
    """A cache as a dictionary of lines and a coroutine that waits for the end of each cycle."""

    def __init__(self, cache):
        self.cache, self.has = cache, cache.features.__contains__
        self.lines = {}  # number → [tag, dirty, words]
        self.done, self.rdata = 0, cache.start
        self.words = 2**cache.offset

    def show(self, ready=0, write=None, address=0, word=0):
        """Return the outputs of a cycle; ``write`` is None where there is no access."""
        outputs = {"ready": ready, "done": self.done, "rdata": self.rdata}
        outputs |= {"mem_req": int(write is not None), "mem_addr": address}
        if self.has("write"):
            outputs |= {"mem_we": int(bool(write)), "mem_wdata": word if write else 0}
        self.done = 0
        return outputs

    def access(self, write, address, word=0):
        while True:
            row = yield self.show(0, write, address, word)
            if row["mem_ack"]:
                return row["mem_rdata"]

    def run(self):
        while True:
            row = yield self.show(1)
            if row.get("flush"):
                yield from self.flush()
            elif row["req"]:
                yield self.show()  # the lookup cycle
                yield from self.request(row["addr"], row.get("we", 0), row.get("wdata", 0))

    def flush(self):
        for number in range(2**self.cache.index):
            line = self.lines.get(number)
            if line and line[1]:
                yield from self.write_back(number)
            else:
                yield self.show()
            self.lines.pop(number, None)
        self.done = 1

    def order(self, first=None):
        places = list(range(self.words))
        if self.cache.downwards:
            places.reverse()
        if first is None:
            return places
        at = places.index(first)
        return places[at:] + places[:at]

    def write_back(self, number):
        tag, _, words = self.lines[number]
        for place in self.order():
            address = (tag << self.cache.index | number) * self.words + place
            yield from self.access(1, address, words[place])

    def request(self, address, write, word):
        block, place = divmod(address, self.words)
        tag, number = divmod(block, 2**self.cache.index)
        top = address >> (self.cache.tag + self.cache.index + self.cache.offset - 1)
        if self.has("uncached") and top == self.cache.region:
            found = yield from self.access(write, address, word)
            self.rdata = self.rdata if write else found
            self.done = 1
            return
        line = self.lines.get(number)
        hit = bool(line and line[0] == tag)
        if write and not self.has("allocate") and not hit:
            yield from self.access(1, address, word)
            self.done = 1
            return
        told = False
        if not hit:
            if line and line[1]:
                yield from self.write_back(number)
            words = {}
            for turn in self.order(place if self.has("early") else None):
                words[turn] = yield from self.access(0, block * self.words + turn)
                if self.has("early") and not told:
                    told = self.done = 1
                    self.rdata = self.rdata if write else words[turn]
            line = self.lines[number] = [tag, False, words]
        if write:
            line[2][place] = word
            line[1] = self.has("back")
            if not self.has("back"):
                yield from self.access(1, address, word)
        elif not told:
            self.rdata = line[2][place]
        self.done = self.done if told else 1


def simulated(cache, rows):
    run = Cache(cache).run()
    shown = [next(run)]
    shown += [run.send(row) for row in rows[:-1]]
    return shown


def drawn(random_rows, design, cycles, seed=0):
    """Return rows with many requests, and with few flushes."""
    rows = random_rows(design, cycles, seed)
    for number, row in enumerate(rows):
        row["req"] |= number % 3 > 0
        row["mem_ack"] |= number % 4 == 0
        if "flush" in row:
            row["flush"] &= number % 11 == 0
        if number // 50 % 2:
            row["addr"] &= ~16 if row["addr"] % 3 else 7
    return rows


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 3, 5, 8])
def test_both_sources_are_equivalent(difficulty):
    task = CacheControllerTask(CacheControllerConfig.at(difficulty))
    design = task.design(stream("cache", difficulty))
    verdict = judge(design.alternative, design.reference)
    assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("count", range(len(FEATURES) + 1))
def test_it_follows_a_dictionary(count, other, run_design, random_rows):
    cache = replace(
        CACHE,
        features=FEATURES[:count],
        offset=(1 + other) * (count > 2),
        downwards=other,
        region=int(not other),
        index=1 + other,
    )
    design = cache.design()
    rows = drawn(random_rows, design, 1200, seed=count)
    expected = simulated(cache, rows)
    assert sum(row["done"] for row in expected) > 80
    assert sum(row["mem_req"] for row in expected) > 80
    assert run_design(design, rows) == expected
    assert run_design(replace(design, golden=design.alternative), rows) == expected


@pytest.mark.parametrize("cache", [CACHE, THROUGH])
def test_mutants_earn_nothing(cache, random_rows, judged_mutants):
    design = cache.design()
    rows = drawn(random_rows, design, 900)
    assert judged_mutants(design, rows, simulated(cache, rows), 8) == 8


@pytest.mark.parametrize(
    "slip",
    [
        {"region": 0},
        {"downwards": True},
        {"start": 1},
        {"index": 2, "tag": 1},
        {"offset": 2, "tag": 1},
        {"features": FEATURES[:6]},
        {"clocking": Clocking("clk", "rst", 1, asynchronous=True)},
    ],
)
def test_another_cache_earns_nothing(slip):
    other = replace(CACHE, **slip).design()
    verdict = judge(other.alternative, CACHE.design().reference)
    assert (verdict.score, verdict.parts["ports"]) == (0.0, 1.0)


@pytest.mark.parametrize(
    ("cache", "right", "slip"),
    [
        (CACHE, "valid[line] && tags[line] == tag", "tags[line] == tag"),
        (CACHE, "valid[line] && tags[line] == tag", "valid[line]"),
        (CACHE, "valid[line] && dirty[line] ? SPILL : FILL", "FILL"),  # a dirty line is lost
        (CACHE, "valid[line] && dirty[line] ? SPILL : FILL", "valid[line] ? SPILL : FILL"),
        (CACHE, "dirty[line] <= 1;", ""),
        (CACHE, "dirty[line] <= we_kept;", "dirty[line] <= 0;"),
        (CACHE, "valid[turn] <= 0;", ""),
        (CACHE, "tags[old], old, write_spot", "tag, old, write_spot"),
        (CACHE, "we_kept && k == 0 ? word : mem_rdata", "mem_rdata"),
        (CACHE, "read_spot = place + k", "read_spot = k"),
        (CACHE, "if (want[3] == 1) state <= PUT;\n                    else if", "if"),
        (CACHE, "if (flush) state <= SWEEP;\n                    else if (req)", "if (req)"),
        (CACHE, "if (!we_kept) rdata <= mem_rdata;", "rdata <= mem_rdata;"),
        (CACHE, "valid <= 0;", ""),  # no reset
        (THROUGH, "if (we_kept) state <= PUT;", "if (0) state <= PUT;"),
        (THROUGH, "store[want[1:0]] <= word;", ""),
        (THROUGH, "we_kept && read_spot == place ? word : mem_rdata", "mem_rdata"),
        (THROUGH, "read_spot == place ? mem_rdata : store[{line, place}]", "mem_rdata"),
        (CACHE, "if (we_kept) mem_wdata = word;", "mem_wdata = word;"),
    ],
)
def test_a_slip_is_told(cache, right, slip):
    design = cache.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize(
    "knobs", [{"index": 0}, {"tag": 0}, {"offset": 3}, {"width": 1}, {"features": 8}]
)
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        CacheControllerConfig(**knobs)
