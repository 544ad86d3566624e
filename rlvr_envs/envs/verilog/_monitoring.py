"""A design with a monitor beside it that reads all its ports and says whether they are as allowed.

Each is elaborated alone; here their graphs are joined. The monitor cannot reach into the design,
only see what everybody sees of it.
"""

from dataclasses import dataclass, replace

from rlvr_envs.verifiers.hdl.aig import Aig, NetlistTooLarge, read
from rlvr_envs.verifiers.hdl.elaborate import Netlist, elaborate
from rlvr_envs.verifiers.hdl.equivalence import Outcome, Pair, decide, one_clock, ports_differ
from rlvr_envs.verifiers.hdl.interface import Port, Reference
from rlvr_envs.verifiers.hdl.simulate import QUICK, Difference, Effort, compare
from rlvr_envs.verifiers.hdl.source import Refusal
from rlvr_envs.verifiers.hdl.waveform import waveform

MONITOR = "Monitor"
OK = "ok"

# Some cycles longer than the runs that tell faulty designs: a monitor may need a while.
_WATCHED = Effort(QUICK.cycles + 32, QUICK.lanes)


def monitor_ports(reference: Reference) -> tuple[Port, ...]:
    """Return the ports of a monitor: those of the design, all as inputs, and its verdict."""
    seen = tuple(Port(port.name, "input", port.width) for port in reference.ports)
    return (*seen, Port(OK, "output"))


@dataclass(frozen=True, slots=True)
class Monitor:
    """A monitor as a graph, and what it takes."""

    graph: Aig
    netlist: Netlist


def read_monitor(source: str, reference: Reference) -> Monitor | Refusal:
    """Elaborate a monitor of a design, from anybody."""
    netlist = elaborate(source, MONITOR)
    if isinstance(netlist, Refusal):
        return netlist
    if wrong := ports_differ(netlist.ports, monitor_ports(reference)):
        return Refusal("ports", wrong)
    if not one_clock(netlist, reference):
        clock = "" if reference.clocking is None else reference.clocking.clock
        edge = f"at the rising edge of `{clock}` alone" if clock else "(the design has no clock)"
        return Refusal("unsupported", f"a monitor may hold state that moves {edge}, and no latch")
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
    found = compare(allowed, seen, reference, clocked=True, effort=_WATCHED)
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
    return compare(_content(design), watching, reference, clocked=True, effort=_WATCHED) is not None


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
