"""A design with a monitor beside it that reads all its ports and says whether they are as allowed.

Each is elaborated alone; here their graphs are joined. The monitor cannot reach into the design,
only see what everybody sees of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware.faults import graph_of
from rlvr_envs.verifiers.hdl.aig import Aig, NetlistTooLarge, read
from rlvr_envs.verifiers.hdl.elaborate import Netlist, elaborate
from rlvr_envs.verifiers.hdl.equivalence import (
    Outcome,
    Pair,
    ReferenceRefused,
    decide,
    gold_of,
    one_clock,
    ports_differ,
)
from rlvr_envs.verifiers.hdl.interface import Port, Reference
from rlvr_envs.verifiers.hdl.simulate import QUICK, Difference, Effort, compare
from rlvr_envs.verifiers.hdl.source import Refusal
from rlvr_envs.verifiers.hdl.waveform import waveform

MONITOR = "Monitor"
OK = "ok"
# Some cycles longer than the runs that tell faulty designs: a monitor may need a while.
WATCHED = Effort(QUICK.cycles + 32, QUICK.lanes)


@dataclass(frozen=True, slots=True)
class Monitor:
    """A monitor as a graph, and what it takes."""

    graph: Aig
    netlist: Netlist


def monitor_ports(reference: Reference) -> tuple[Port, ...]:
    """Return the ports of a monitor: those of the design, all as inputs, and its verdict."""
    seen = tuple(Port(port.name, "input", port.width) for port in reference.ports)
    return (*seen, Port(OK, "output"))


def read_monitor(source: str, reference: Reference) -> Monitor | Refusal:
    """Elaborate a monitor of a design, from anybody."""
    netlist = elaborate(source, MONITOR)
    if isinstance(netlist, Refusal):
        return netlist
    if wrong := ports_differ(netlist.ports, monitor_ports(reference)):
        return Refusal("ports", wrong)
    if not one_clock(netlist, reference):
        clock = "" if reference.clocking is None else reference.clocking.clock
        edge = f"the rising edge of `{clock}` only" if clock else "no clock: the design has none"
        return Refusal("unsupported", f"a monitor may have no latches, and registers with {edge}")
    try:
        return Monitor(read(netlist), netlist)
    except NetlistTooLarge as error:
        return Refusal("resource", str(error))


def watched(design: Aig, monitor: Aig) -> Aig:
    """Return a graph with the inputs of a design and the output of a monitor that sees its ports.

    What is free in the design comes before what is free in the monitor.
    """
    most = max([0, *(gate for gate, _, _ in design.gates), *_variables(design)])
    moved = {0: 0}
    for name, bits in monitor.inputs.items():
        wires = design.outputs.get(name) or tuple(2 * bit for bit in design.inputs[name])
        moved |= dict(zip(bits, wires, strict=True))
    own = [*monitor.free, *(state for state, _ in monitor.latches)]
    own += [gate for gate, _, _ in monitor.gates]
    moved |= {variable: 2 * (most + number) for number, variable in enumerate(own, 1)}

    def literal(old: int) -> int:
        return moved[old >> 1] ^ (old & 1)

    return Aig(
        inputs=design.inputs,
        outputs={OK: tuple(map(literal, monitor.outputs[OK]))},
        free=(*design.free, *(moved[variable] >> 1 for variable in monitor.free)),
        latches=(
            *design.latches,
            *((moved[state] >> 1, literal(after)) for state, after in monitor.latches),
        ),
        gates=(
            *design.gates,
            *((moved[gate] >> 1, literal(one), literal(two)) for gate, one, two in monitor.gates),
        ),
    )


def _variables(design: Aig) -> list[int]:
    inputs = [bit for bits in design.inputs.values() for bit in bits]
    return [*inputs, *design.free, *(state for state, _ in design.latches)]


def soundness(design: Aig, netlist: Netlist, monitor: Monitor, reference: Reference) -> Outcome:
    """Return whether a monitor never finds fault with a design; equal means that it does not.

    Args:
        design: the right one.
        netlist: of the design, which says how much state a monitor may need.
        monitor: judged.
        reference: says which input is the clock and which resets.
    """
    allowed, seen = _content(design), watched(design, monitor.graph)
    # The very runs in which faulty designs are tried: an alarm there says nothing of them.
    found = compare(allowed, seen, reference, clocked=True, effort=WATCHED)
    if found is not None:
        return Outcome(equal=False, proved=True, engine="simulation", difference=found)
    return decide(
        Pair(
            gold=allowed,
            gate=seen,
            reference=reference,
            clocked=True,
            netlist=monitor.netlist,
            gold_netlist=netlist,
        )
    )


def finds_fault(design: Aig, monitor: Monitor, reference: Reference) -> bool:
    """Return whether a monitor finds fault with a design in a short simulation."""
    watching = watched(design, monitor.graph)
    return compare(_content(design), watching, reference, clocked=True, effort=WATCHED) is not None


def _content(design: Aig) -> Aig:
    """Return what is never wrong: the inputs of a design, and a verdict that is always 1."""
    return Aig(inputs=design.inputs, outputs={OK: (1,)})


def false_alarm(design: Aig, monitor: Monitor, reference: Reference, difference: Difference) -> str:
    """Return as text a run in which a monitor finds fault with the right design."""
    both = watched(design, monitor.graph)
    ports = dict(sorted({**design.outputs, **both.outputs}.items()))
    allowed = replace(design, outputs={**ports, OK: (1,)})
    ours = (1 << len(design.free)) - 1
    shown = replace(difference, free=tuple((value & ours, value) for _, value in difference.free))
    told = Reference(reference.source, (*reference.ports, Port(OK, "output")), reference.clocking)
    return waveform(allowed, replace(both, outputs=ports), told, shown)


def judged(
    monitor: Monitor, reference: Reference, faulty: Sequence[str], *, everything: bool
) -> Verdict:
    """Return the verdict on a monitor: the share of faulty designs with which it finds fault.

    Args:
        monitor: what was answered.
        reference: the right design; a monitor that finds fault with it earns nothing.
        faulty: sources of the others.
        everything: whether less than all of them is worth nothing.

    Raises:
        ReferenceRefused, SandboxError: one of our own sources cannot be elaborated.
    """
    design = graph_of(reference.source, reference)
    if design is None:
        raise ReferenceRefused("the right module cannot be elaborated")
    outcome = soundness(design, gold_of(reference), monitor, reference)
    parts = {
        "sound": float(outcome.equal),
        "proved": float(outcome.proved),
        "cells": float(monitor.netlist.cells),
    }
    if outcome.difference is not None:
        run = false_alarm(design, monitor, reference, outcome.difference)
        return Verdict.wrong(f"`{OK}` is 0 for the correct module:\n{run}", **parts)
    if not outcome.equal:
        detail = f"it could not be shown that `{OK}` is always 1 for the correct module"
        return Verdict.wrong(
            f"{detail}: the monitor has too much state for a long simulation", **parts
        )
    graphs = [graph_of(source, reference) for source in faulty]
    if None in graphs:
        raise SandboxError("a faulty module cannot be elaborated")
    found = sum(finds_fault(graph, monitor, reference) for graph in graphs if graph is not None)
    parts |= {"found": float(found), "faulty": float(len(faulty))}
    detail = (
        f"`{OK}` is 1 for the correct module, and the monitor detects {found} of {len(faulty)} "
        "faulty ones"
    )
    if everything and found < len(faulty):
        return Verdict.wrong(detail, **parts)
    return Verdict.graded(found / len(faulty), detail, **parts)
