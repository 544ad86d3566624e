"""AsyncFifo: both sources against each other and a model of edges, and wrong answers."""

import random
from dataclasses import replace

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.verilog.async_fifo import (
    FEATURES,
    AsyncFifoConfig,
    AsyncFifoSources,
    AsyncFifoTask,
)
from rlvr_envs.generators.hardware.mutations import mutate
from rlvr_envs.verifiers.hdl.aig import read
from rlvr_envs.verifiers.hdl.equivalence import ReferenceRefused, gold_of
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import judge
from rlvr_envs.verifiers.hdl.simulate import Difference, replay

QUEUE = AsyncFifoSources(
    clocking=Clocking("wclk", "rst", 1, asynchronous=True),
    reading="rclk",
    address=1,
    width=2,
    stages=2,
    idle=2,
    high=2,
    low=1,
    sticky=True,
    registered=False,
    features=FEATURES,
    names=("push", "din", "pop", "dout"),
)
FIRST = 3  # steps with reset, in which the clocks are low at the end


def steps_of(ratio, count=400, seed=0):
    """Return the inputs of each step: clocks of a ratio of frequencies, or uneven ones."""
    rng = random.Random(seed)
    rows, phase = [], [0.0, 0.0]
    for number in range(count):
        row = {"rst": int(number < FIRST), "wclk": int(number == 1), "rclk": int(number == 1)}
        if number > FIRST:  # no clock rises in the step in which the reset ends
            for side, speed in (("wclk", ratio[0]), ("rclk", ratio[1])):
                k = side == "rclk"
                phase[k] += speed if speed else rng.random()
                row[side] = int(phase[k]) % 2
        busy = number // 60 % 3  # fills, empties, both
        row["push"] = int(rng.random() < (0.9, 0.2, 0.6)[busy])
        row["pop"] = int(rng.random() < (0.2, 0.9, 0.6)[busy])
        row["din"] = rng.getrandbits(2)
        rows.append(row)
    return rows


def shown(design, rows):
    """Return what a design shows in each step after the reset."""
    graph = read(gold_of(design.reference, clocked=False))
    inputs = tuple(tuple(row[name] for name in graph.inputs) for row in rows)
    run = Difference(False, inputs, ((0, 0),) * len(rows))
    return [dict(row.expected) for row in replay(graph, graph, design.reference, run)][FIRST:]


def simulated(queue, rows):
    """Return the same by counters, lists and a queue of words that were written."""
    has, depth = queue.features.__contains__, 2**queue.address
    written, taken, read_out = [], 0, queue.idle
    behind, ahead = [0] * queue.stages, [0] * queue.stages  # counts on their way
    flags, peak, seen = [0, 0], 0, []
    for before, row in zip(rows[FIRST - 1 :], rows[FIRST:], strict=False):
        wseen, rseen = len(written) - behind[-1], ahead[-1] - taken
        rises = [row[clock] and not before[clock] for clock in ("wclk", "rclk")]
        counts = len(written), taken
        if rises[0]:
            behind = [counts[1], *behind[:-1]]
            lost = before["push"] and wseen == depth
            flags[0] = int(lost or (queue.sticky and flags[0]))
            peak = max(peak, wseen)
            if before["push"] and not lost:
                written = [*written, before["din"]]
        if rises[1]:
            ahead = [counts[0], *ahead[:-1]]
            dry = before["pop"] and rseen == 0
            flags[1] = int(dry or (queue.sticky and flags[1]))
            if before["pop"] and not dry:
                read_out = written[taken]
                taken += 1
        wseen, rseen = len(written) - behind[-1], ahead[-1] - taken
        w, r = len(written) % (2 * depth), taken % (2 * depth)
        outputs = {"full": int(wseen == depth), "empty": int(rseen == 0)}
        outputs |= {"wgray": w ^ w >> 1, "rgray": r ^ r >> 1}
        outputs["dout"] = read_out if queue.registered else written[taken] if rseen else queue.idle
        if has("counts"):
            outputs |= {"wcount": wseen, "rcount": rseen}
        if has("errors"):
            outputs |= {"overflow": flags[0], "underflow": flags[1]}
        if has("almost"):
            outputs["almost_full"] = int(wseen >= queue.high)
            outputs["almost_empty"] = int(rseen <= queue.low)
        if has("peak"):
            outputs["peak"] = peak
        seen.append(outputs)
    return seen


RATIOS = [(0.5, 0.5), (0.9, 0.2), (0.2, 0.9), (0.31, 0.47), (0, 0), (1, 1)]


@pytest.mark.slow  # the conformance checks judge other designs of the family in this way
@pytest.mark.parametrize("difficulty", [0, 2, 5, 8])
def test_both_sources_are_equivalent(difficulty):
    task = AsyncFifoTask(AsyncFifoConfig.at(difficulty))
    design = task.design(stream("async", difficulty))
    verdict = judge(design.alternative, design.reference)
    assert verdict.score == 1.0, verdict.detail


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("stages", [1, 2, 3])
def test_it_follows_edges_at_every_ratio(ratio, stages):
    queue = replace(
        QUEUE,
        stages=stages,
        address=1 + stages % 2,
        sticky=stages == 2,
        registered=stages == 3,
        high=1 + stages % 2,
        low=stages % 2,
    )
    design = queue.design()
    rows = steps_of(ratio, seed=stages)
    expected = simulated(queue, rows)
    assert {row["full"] for row in expected} == {row["empty"] for row in expected} == {0, 1}
    assert shown(design, rows) == expected
    assert shown(replace(design, golden=design.alternative), rows) == expected


@pytest.mark.parametrize("count", range(len(FEATURES)))
def test_it_follows_edges_with_fewer_outputs(count):
    queue = replace(QUEUE, features=FEATURES[:count])
    rows = steps_of((0, 0), seed=count)
    assert shown(queue.design(), rows) == simulated(queue, rows)


@pytest.mark.parametrize("active", [0, 1])
@pytest.mark.parametrize(("rises", "words"), [(3, 0), (4, 1)])
def test_an_edge_at_the_end_of_the_reset_changes_nothing(rises, words, active):
    queue = replace(QUEUE, clocking=Clocking("wclk", "rst", active, asynchronous=True))
    design = queue.design()
    rows = [
        {"rst": active if k < 3 else 1 - active, "wclk": int(k == 1 or k >= rises), "rclk": 0}
        | {"push": 1, "pop": 0, "din": 1}
        for k in range(6)
    ]
    for source in (design.golden, design.alternative):
        assert shown(replace(design, golden=source), rows)[-1]["wgray"] == words


def test_mutants_earn_nothing():
    queue = replace(QUEUE, features=FEATURES[:2])
    design, wrong, rng = queue.design(), set(), stream("async mutants")
    runs = [(rows, simulated(queue, rows)) for rows in map(steps_of, RATIOS[:5])]
    for _ in range(60):
        source = mutate(design.golden, rng)
        if len(wrong) == 10 or source in wrong:
            continue
        try:
            told = any(shown(replace(design, golden=source), rows) != seen for rows, seen in runs)
        except ReferenceRefused:  # it does not compile
            continue
        if told:
            wrong.add(source)
            assert judge(source, design.reference).score == 0.0, source
    assert len(wrong) == 10


@pytest.mark.parametrize(
    "slip",
    [
        {"stages": 1},
        {"stages": 3},
        {"idle": 1},
        {"high": 1},
        {"low": 0},
        {"sticky": False},
        {"registered": True},
        {"address": 2, "high": 2},
        {"clocking": Clocking("wclk", "rst", 0, asynchronous=True)},
    ],
)
def test_another_queue_earns_nothing(slip):
    other = replace(QUEUE, **slip).design()
    assert judge(other.alternative, QUEUE.design().reference).score == 0.0


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("r1 <= rgray;", "r1 <= rbin;"),  # no Gray code on the way
        ("r2 <= r1;", "r2 <= rgray;"),  # a flip-flop less
        ("w1 <= wgray;", "w1 <= rgray;"),
        ("^(r2 >> 1), ^(r2 >> 0)", "r2[1], r2[0]"),
        ("wgray = wbin ^ (wbin >> 1)", "wgray = wbin"),
        ("push && !full) wbin", "push) wbin"),
        ("pop && !empty) rbin", "pop) rbin"),
        ("wseen == 2", "wseen >= 1"),
        ("push && !full) store", "push) store"),  # a word is overwritten
        ("if (wseen > peak) peak <= wseen;", "peak <= wseen;"),
        ("peak <= 0;", ""),
        ("rseen = here - rbin", "rseen = wbin - rbin"),  # no synchroniser
        ("posedge rclk", "posedge wclk"),
        ("overflow || push", "push"),
    ],
)
def test_a_slip_is_told(right, slip):
    design = QUEUE.design()
    assert right in design.golden
    assert judge(design.golden.replace(right, slip), design.reference).score == 0.0


def test_the_prompt_tells_of_two_clocks():
    for seed in range(6):
        task = AsyncFifoTask(AsyncFifoConfig.at(3))
        problem = task.generate(stream("async", seed))
        prompt = task.prompt(problem)
        assert f"There are two clocks: `{problem.clocking.clock}` of the write side" in prompt
        assert "State changes only at" not in prompt


@pytest.mark.parametrize("knobs", [{"address": 0}, {"address": 5}, {"width": 1}, {"features": 5}])
def test_knobs_out_of_range_are_refused(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        AsyncFifoConfig(**knobs)
