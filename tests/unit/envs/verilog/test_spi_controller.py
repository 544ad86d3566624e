"""SpiController: both sources against each other and a list of cycles, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.spi_controller import (
    FEATURES,
    SpiControllerConfig,
    SpiControllerTask,
    SpiSources,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

SPI = SpiSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    bits=3,
    half=2,
    polarity=0,
    phase=0,
    downwards=True,
    idle=1,
    lead=1,
    trail=2,
    start=5,
    features=FEATURES,
    names=("start", "data", "mosi", "miso"),
)
SHORT = replace(SPI, features=FEATURES[:2], half=1)


def cycles_of(spi, row, opened, setting):
    """Return the levels of each cycle in which a word is sent, and where bits are sampled."""
    polarity, phase = setting
    gaps, order = "gaps" in spi.features, range(spi.bits)
    bits = [row["data"] >> k & 1 for k in (reversed(order) if spi.downwards else order)]
    idle = {"sclk": polarity, "sample": False}
    steps = [idle | {"mosi": bits[0]}] * (spi.lead if gaps and not opened else 0)
    for bit in bits:
        for odd in (0, 1):
            for cycle in range(spi.half):
                level = polarity ^ phase ^ odd
                sample = odd == 0 and cycle == spi.half - 1
                steps.append({"sclk": level, "mosi": bit, "sample": sample})
    ends = not row.get("more", 0) or "burst" not in spi.features
    return steps + [idle | {"mosi": bits[-1]}] * (spi.trail if gaps and ends else 0)


def simulated(spi, rows):
    """Return the outputs in each cycle."""
    has, seen = spi.features.__contains__, []
    setting = (0, 0) if has("mode") else (spi.polarity, spi.phase)
    coming, got, word, done, opened, more, line = [], [], spi.start, 0, False, 0, 0
    for row in rows:
        now = coming[0] if coming else {"sclk": setting[0], "mosi": spi.idle, "sample": False}
        active = bool(coming) or opened
        low = 1 << line if has("select") else 1
        shown = {"sclk": now["sclk"], "mosi": now["mosi"], "busy": int(bool(coming)), "done": done}
        shown["cs_n"] = (15 if has("select") else 1) & ~(low if active else 0)
        if has("receive"):
            shown["rx_data"] = word
        seen.append(shown)
        done = 0
        if coming:
            if now["sample"]:
                got.append(row.get("miso", 0))
            coming = coming[1:]
            if not coming:
                done, opened = 1, bool(more and has("burst"))
                word = sum(b << k for k, b in enumerate(got[::-1] if spi.downwards else got))
        elif row["start"]:
            if not opened:
                if has("mode"):
                    setting = (row["mode"] >> 1, row["mode"] & 1)
                line = row.get("which", 0)
            more, got = row.get("more", 0), []
            coming, opened = cycles_of(spi, row, opened, setting), True
    return seen


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = SpiControllerTask(SpiControllerConfig.at(difficulty))
        design = task.design(stream("spi", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("count", range(len(FEATURES) + 1))
def test_it_follows_a_list_of_cycles(count, other, run_design, random_rows):
    spi = replace(
        SPI,
        features=FEATURES[:count],
        half=1 + (count + other) % 3,
        polarity=int(other),
        phase=int(other) ^ count % 2,
        downwards=other,
        idle=count % 2,
        lead=1 + 2 * other,
        trail=1 + count % 3,
    )
    design = spi.design()
    rows = random_rows(design, 800, seed=count)
    expected = simulated(spi, rows)
    assert sum(row["done"] for row in expected) > 8
    assert run_design(design, rows) == expected
    assert run_design(replace(design, golden=design.alternative), rows) == expected


def test_mutants_earn_nothing(random_rows, judged_mutants):
    design = SHORT.design()
    rows = random_rows(design, 400)
    assert judged_mutants(design, rows, simulated(SHORT, rows), 12) == 12


@pytest.mark.parametrize(
    "slip",
    [
        {"polarity": 1},
        {"phase": 1},
        {"polarity": 1, "phase": 1},
        {"downwards": False},
        {"idle": 0},
        {"lead": 2},
        {"trail": 1},
        {"half": 2},
        {"start": 4},
        {"bits": 4},
        {"clocking": Clocking("clk", "rst", 1, asynchronous=True)},
    ],
)
def test_another_controller_earns_nothing(slip):
    other = replace(SHORT, **slip).design()
    assert judge(other.alternative, SHORT.design().reference).score == 0.0


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("if (half[0]) shift", "shift"),  # a bit lasts half a period
        ("if (!half[0]) got", "if (half[0]) got"),  # the other edge samples
        ("stage == 0 ? 1'b1", "stage == 0 ? 1'b0"),
        ("polar <= 0;", ""),
        ("open <= 0;", ""),
        ("follows <= more;", "follows <= 0;"),
        ("open <= follows;", "open <= 0;"),
        ("half <= 0;", ""),
        ("target <= which;", "target <= 2'd1;"),
        ("done <= 1;", ""),
        ("cs_n = open ?", "cs_n = stage != 0 ?"),
        ("4'd1 << target", "4'd8 >> target"),
    ],
)
def test_a_slip_is_told(right, slip):
    design = SPI.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"bits": 1}, {"bits": 13}, {"divider": 0}, {"features": 6}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        SpiControllerConfig(**knobs)
