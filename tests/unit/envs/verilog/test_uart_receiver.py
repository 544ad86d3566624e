"""UartReceiver: both sources against each other and a list of edges, and wrong answers."""

from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.uart_receiver import (
    FEATURES,
    UartReceiverConfig,
    UartReceiverSources,
    UartReceiverTask,
)
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge

UART = UartReceiverSources(
    clocking=Clocking("clk", "rst", 1, asynchronous=False),
    bits=3,
    periods=(4, 5, 6, 4),
    inverted=False,
    downwards=False,
    odd=False,
    start=5,
    replaces=False,
    features=FEATURES,
    names=("rx", "data", "valid", "take"),
)
SMALL = replace(UART, features=FEATURES[:2], periods=(2,))


def frame_of(uart, levels, at, period):
    """Return the edge that ends a frame that starts at an edge, and its bits; None: not yet."""
    vote, half = "vote" in uart.features, period // 2
    bits = []
    for n in range(uart.bits + ("parity" in uart.features) + 2):
        edge = at + half + n * period
        near = range(edge - 1, edge + 2) if vote else [edge]
        if near[-1] >= len(levels):
            return None
        bits.append(int(2 * sum(levels[e] for e in near) > len(near)))
        if n == 0 and period > 1 and bits[0]:
            return near[-1], []
    return near[-1], bits[1:]


def frames(uart, rows):
    """Return the first and last edge and the bits of each frame."""
    levels = [row["rx"] ^ uart.inverted for row in rows]
    if "sync" in uart.features:
        levels = [1, 1, *levels][: len(rows)]
    found, edge = [], 0
    while edge < len(levels):
        if levels[edge]:
            edge += 1
            continue
        frame = frame_of(uart, levels, edge, uart.periods[rows[edge].get("rate", 0)])
        if frame is None:
            return [*found, (edge, len(rows), None)]
        end, bits = frame
        found.append((edge, end, bits))
        edge = end + 1
        if bits and not bits[-1] and "resync" in uart.features:
            while edge < len(levels) and not levels[edge]:
                edge += 1
    return found


def simulated(uart, rows):
    """Return the outputs in each cycle."""
    has = uart.features.__contains__
    events = {end: bits for _, end, bits in frames(uart, rows) if bits}
    busy = {edge for first, end, _ in frames(uart, rows) for edge in range(first + 1, end + 1)}
    seen, word, held, flags = [], uart.start, 0, {}
    for edge, row in enumerate(rows):
        shown = {"data": word, "valid": held, "busy": int(edge in busy)}
        if has("errors"):
            shown |= {name: flags.get(name, 0) for name in ("frame_error", "parity_error")}
        if has("buffer"):
            shown["overrun"] = flags.get("overrun", 0)
        seen.append(shown)
        bits, flags = events.get(edge), {}
        taken = row.get("take", 0) if has("buffer") else 1
        full, held = held, int(held and not taken)
        if bits:
            wrong = has("parity") and sum(bits[:-1]) % 2 != uart.odd
            flags = {"frame_error": 1 - bits[-1], "parity_error": int(wrong)}
            if bits[-1] and not wrong:
                data = bits[: uart.bits][:: -1 if uart.downwards else 1]
                lost = has("buffer") and full and not taken
                flags["overrun"] = int(lost)
                if not lost or uart.replaces:
                    word = sum(bit << k for k, bit in enumerate(data))
                held = 1
    return seen


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8, 10])
def test_both_sources_are_equivalent(difficulty):
    for seed in range(2):
        task = UartReceiverTask(UartReceiverConfig.at(difficulty))
        design = task.design(stream("uart", difficulty, seed))
        verdict = judge(design.alternative, design.reference)
        assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("count", range(len(FEATURES) + 1))
def test_it_follows_a_list_of_edges(count, other, run_design, random_rows):
    uart = replace(
        UART,
        features=FEATURES[:count],
        periods=UART.periods if count >= 6 else (4 if count == 5 else 1 + (count + other) % 4,),
        inverted=other,
        downwards=other,
        odd=other,
        replaces=other,
    )
    design = uart.design()
    rows = random_rows(design, 600, seed=count)
    expected = simulated(uart, rows)
    assert sum(row["valid"] for row in expected) > 0
    assert run_design(design, rows) == expected
    assert run_design(replace(design, golden=design.alternative), rows) == expected


def test_mutants_earn_nothing(random_rows, judged_mutants):
    design = SMALL.design()
    rows = random_rows(design, 400)
    assert judged_mutants(design, rows, simulated(SMALL, rows), 12) == 12


@pytest.mark.parametrize(
    "slip",
    [
        {"periods": (3,)},
        {"periods": (1,)},
        {"inverted": True},
        {"downwards": True},
        {"odd": True},
        {"start": 4},
        {"bits": 4},
        {"clocking": Clocking("clk", "rst", 0, asynchronous=False)},
        {"clocking": Clocking("clk", "rst", 1, asynchronous=True)},
    ],
)
def test_another_receiver_earns_nothing(slip):
    other = replace(SMALL, **slip).design()
    assert judge(other.alternative, SMALL.design().reference).score == 0.0
    assert judge(other.golden, SMALL.design().reference).score == 0.0


FULL = replace(UART, features=FEATURES[:4], periods=(2,))


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("if (at == 0 && value) active <= 0;", ""),  # no check of the start bit
        ("if (level) waits <= 0;", "waits <= 0;"),  # no wait for the idle line
        ("!level && !waits", "!level"),
        ("odd <= 0;", ""),  # parity goes on from frame to frame
        ("parity_error <= odd;", "parity_error <= value && odd;"),
        ("if (take) valid <= 0;", ""),
        ("if (!valid || take)", "if (!valid)"),  # a word at the time of a take is lost
        ("overrun <= 0;\n            if (level)", "if (level)"),  # the flag stays
        ("else overrun <= 1;", ""),
        ("value && !odd", "value"),  # words of wrong parity are kept
        ("frame_error <= !value;", "frame_error <= value;"),
        ("tick <= 3'd1;", "tick <= 3'd0;"),
    ],
)
def test_a_slip_is_told(right, slip):
    design = FULL.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


@pytest.mark.parametrize("knobs", [{"bits": 1}, {"bits": 13}, {"divider": 0}, {"features": 8}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        UartReceiverConfig(**knobs)
