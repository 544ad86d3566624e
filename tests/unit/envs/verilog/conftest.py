"""Running a design cycle by cycle, for tests that hold it against a model in Python."""

import random
from dataclasses import replace

import pytest

from rlvr_envs.core.seeding import stream
from rlvr_envs.generators.hardware.mutations import mutate
from rlvr_envs.verifiers.hdl.aig import read
from rlvr_envs.verifiers.hdl.equivalence import ReferenceRefused, gold_of
from rlvr_envs.verifiers.hdl.judge import judge
from rlvr_envs.verifiers.hdl.simulate import Difference, replay


@pytest.fixture
def run_design():
    """Return a function from a design and the inputs of each cycle to the outputs of each cycle.

    The reset is active in the first cycle and otherwise off, unless the inputs say more.
    """

    def run(design, rows):
        graph = read(gold_of(design.reference))
        reset = {}
        if design.clocking is not None and design.clocking.reset:
            active = design.clocking.reset_active
            reset = {design.clocking.reset: active}
            rows = [{design.clocking.reset: 1 - active} | row for row in rows]
        rows = [(rows[0] if rows else {}) | reset, *rows]
        inputs = tuple(tuple(row.get(name, 0) for name in graph.inputs) for row in rows)
        steps = Difference(True, inputs, ((0, 0),) * len(rows))
        return [dict(row.expected) for row in replay(graph, graph, design.reference, steps)][1:]

    return run


@pytest.fixture
def random_rows():
    """Return a function that draws inputs of a design, without clock and reset, for some cycles.

    Inputs of one bit stay as they are for a while now and then.
    """

    def draw(design, cycles, seed=0):
        rng = random.Random(seed)
        skipped = (design.clocking.clock, design.clocking.reset) if design.clocking else ()
        ports = [s for s in design.signals if s.direction == "input" and s.name not in skipped]
        rows, row = [], {port.name: 0 for port in ports}
        for _ in range(cycles):
            row = {
                port.name: rng.getrandbits(port.width)
                if port.width > 1 or rng.random() < 0.4
                else row[port.name]
                for port in ports
            }
            rows.append(row)
        return rows

    return draw


@pytest.fixture
def judged_mutants(run_design):
    """Return a function that judges mutants of a design which a model in Python contradicts.

    The model says what the outputs are in each cycle of some rows, so it, and not the verifier,
    decides which mutants are wrong. Each of them must earn nothing.
    """

    def judged(design, rows, expected, count=20):
        reference, wrong, rng = design.reference, set(), stream("mutants", design.title)
        for _ in range(12 * count):
            source = mutate(design.golden, rng)
            if len(wrong) == count or source is None:
                break
            if source in wrong:
                continue
            try:
                shown = run_design(replace(design, golden=source), rows)
            except ReferenceRefused:  # it does not compile
                continue
            if shown != expected:
                wrong.add(source)
                verdict = judge(source, reference)
                assert verdict.score == 0.0, source
        return len(wrong)

    return judged
