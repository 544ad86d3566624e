"""UartTransmitter: both sources against each other and a list of levels, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.uart_transmitter import (
    FEATURES,
    UartSources,
    UartTransmitterConfig,
    UartTransmitterTask,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

UART = UartSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    bits=3,
    dividers=(2, 1, 3, 2),
    inverted=False,
    downwards=True,
    modes=("odd", "none", "mark", "even"),
    stops=1,
    long_stop=0,
    chained=False,
    features=FEATURES,
    names=("send", "data", "tx"),
)


def levels(uart, row):
    """Return the line in each cycle of the frame of a word."""
    has = uart.features.__contains__
    bits = [row["data"] >> k & 1 for k in range(3)]
    sent = [0, *(bits[::-1] if uart.downwards else bits)]
    if has("parity"):
        kind = uart.modes[row.get("mode", 0)]
        ones = sum(bits) % 2
        sent += {"none": [], "mark": [1], "even": [ones], "odd": [1 - ones]}[kind]
    stops = 1 + (row["stop_bits"] == uart.long_stop) if has("stops") else uart.stops
    cycles = uart.dividers[row.get("rate", 0)]
    return [level ^ uart.inverted for level in sent + [1] * stops for _ in range(cycles)]


def simulated(uart, rows):
    """Return the outputs in each cycle."""
    has = uart.features.__contains__
    coming, waiting, seen = [], None, []
    for row in rows:
        busy = bool(coming)
        if uart.chained and not has("buffer"):
            busy = len(coming) > 1
        outputs = {"tx": coming[0] if coming else 1 ^ uart.inverted, "busy": int(busy)}
        if has("buffer"):
            outputs["full"] = int(waiting is not None)
        if has("done"):
            outputs["done"] = int(len(coming) == 1)
        seen.append(outputs)
        coming = coming[1:]
        if has("buffer"):
            if waiting is not None:
                if not coming:
                    coming, waiting = levels(uart, waiting), None
            elif row["send"]:
                waiting = row
        elif row["send"] and not busy:
            coming = levels(uart, row)
    return seen


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = UartTransmitterTask(UartTransmitterConfig.at(difficulty))
        design = task.design(stream("uart", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("chained", [False, True])
@pytest.mark.parametrize("count", range(len(FEATURES) + 1))
def test_it_follows_a_list_of_levels(count, chained, run_design, random_rows):
    uart = replace(
        UART,
        features=FEATURES[:count],
        dividers=UART.dividers if count >= 5 else (1 + count % 2,),
        modes=UART.modes if count >= 6 else ("even",),
        chained=chained,
        inverted=chained,
        downwards=not chained,
        stops=1 + chained,
    )
    design = uart.design()
    rows = random_rows(design, 300, seed=count)
    expected = simulated(uart, rows)
    assert sum(row["busy"] for row in expected) > 100
    assert run_design(design, rows) == expected


def test_wrong_answers_are_told():
    design = UART.design()
    others = [
        replace(UART, dividers=(2, 1, 3, 3)),
        replace(UART, inverted=True),
        replace(UART, downwards=False),
        replace(UART, modes=("even", "none", "mark", "odd")),
        replace(UART, modes=("odd", "mark", "none", "even")),
        replace(UART, long_stop=1),
    ]
    for other in others:
        verdict = judge(other.design().alternative, design.reference)
        assert verdict.score == 0.0, other
        assert "differently" in verdict.detail


def test_the_last_cycle_of_a_frame_matters():
    plain = replace(UART, features=FEATURES[:2], dividers=(2,), modes=("odd",))
    chained = replace(plain, chained=True)
    assert judge(chained.design().alternative, plain.design().reference).score == 0.0
    assert judge(plain.design().alternative, chained.design().reference).score == 0.0


@pytest.mark.parametrize(
    ("right", "slip"),
    [("idle <= 1;\n            waits", "waits"), ("(idle || last)", "idle"), ("waits <= 0;", "")],
)
def test_a_slip_is_told(right, slip):
    design = UART.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"bits": 1}, {"bits": 13}, {"divider": 0}, {"features": 7}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        UartTransmitterConfig(**knobs)
