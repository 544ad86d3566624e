"""Whether two designs are equivalent: the cheapest way to decide it first.

Simulation of a few cycles finds most differences. What it does not find is settled by trying all
inputs, where they are few, or by a proof; and where no proof comes to an end, by a long simulation,
whose verdict is bounded and says so.
"""

from dataclasses import dataclass, replace

from rlvr_envs.core.errors import RlvrEnvsError, SandboxError
from rlvr_envs.verifiers.hdl.aig import Aig, NetlistTooLarge, read, read_once
from rlvr_envs.verifiers.hdl.elaborate import Netlist, Refusal, elaborate, elaborate_once, passing
from rlvr_envs.verifiers.hdl.interface import Port, Reference
from rlvr_envs.verifiers.hdl.prove import prove
from rlvr_envs.verifiers.hdl.simulate import (
    DEEP,
    LONGEST,
    QUICK,
    Difference,
    Effort,
    compare,
    depth,
    exhaustible,
    exhaustive,
)

# Bits of state that any answer may hold beyond those of its reference without being proved right:
# as many as count the cycles of the longest simulation.
MOST_SPARE = 16


class ReferenceRefused(RlvrEnvsError):
    """The reference itself cannot be read: a fault of ours, or of a dataset."""


@dataclass(frozen=True, slots=True)
class Pair:
    """An answer beside its reference, both as graphs with the same ports.

    Attributes:
        gold: the reference.
        gate: the answer.
        reference: where gold came from.
        clocked: whether a step is a cycle of the clock; otherwise the clock is an input that
            changes like any other.
        netlist: of the answer.
        gold_netlist: of the reference.
    """

    gold: Aig
    gate: Aig
    reference: Reference
    clocked: bool
    netlist: Netlist
    gold_netlist: Netlist


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known about two designs.

    Attributes:
        equal: whether they are taken for equivalent.
        proved: whether that is certain for all inputs at all times; a difference always is.
        engine: what decided.
        depth: without a proof, for how many cycles no difference was found.
        difference: a run that shows one.
    """

    equal: bool
    proved: bool
    engine: str
    depth: int = 0
    difference: Difference | None = None


def pair(answer: str, reference: Reference) -> Pair | Refusal:
    """Elaborate an answer and its reference, each alone, and bring their ports together.

    Raises:
        ReferenceRefused: the reference cannot be elaborated.
        SandboxError: the machine could not do that, or not in time.
        DependencyError: the tools are missing.
    """
    netlist = elaborate(answer, reference.top)
    if isinstance(netlist, Refusal):
        return netlist
    if wrong := ports_differ(netlist.ports, reference.ports):
        return Refusal("ports", wrong)
    gold_netlist = gold_of(reference)
    clocked = one_clock(netlist, reference) and one_clock(gold_netlist, reference)
    if not clocked:
        again = elaborate(answer, reference.top, clocked=False)
        if isinstance(again, Refusal):
            return again
        netlist, gold_netlist = again, gold_of(reference, clocked=False)
    try:
        gate = read(netlist)
    except NetlistTooLarge as error:
        return Refusal("resource", str(error))
    gold = read_once(gold_netlist, reference.free_x)
    return Pair(gold, gate, reference, clocked, netlist, gold_netlist)


def gold_of(reference: Reference, *, clocked: bool = True) -> Netlist:
    """Return the netlist of a reference, which is kept for the next answer.

    Raises:
        ReferenceRefused: there is none, or its ports are others than it says.
        SandboxError: the machine could not do it, or not in time.
    """
    found = elaborate_once(
        reference.source,
        reference.top,
        clocked=clocked,
        split_x=reference.free_x,
        trusted=reference.trusted,
    )
    if isinstance(found, Refusal):
        kind = SandboxError if passing(found) else ReferenceRefused
        raise kind(f"the reference cannot be elaborated ({found.stage}): {found.detail}")
    if wrong := ports_differ(found.ports, reference.ports):
        raise ReferenceRefused(f"the reference has other ports than it says: {wrong}")
    return found


def ports_differ(found: tuple[Port, ...], wanted: tuple[Port, ...]) -> str:
    """Return what is wrong with the ports of an answer, the empty string if nothing is."""
    have = {port.name: port for port in found}
    for port in wanted:
        other = have.pop(port.name, None)
        if other is None:
            return f"the port `{port.name}` is missing (it is `{port.declaration()}`)"
        if other.direction != port.direction:
            told = f"an {other.direction}, it has to be an {port.direction}"
            return f"the port `{port.name}` is {told}"
        if other.width != port.width:
            return f"the port `{port.name}` has {other.size}, it has to have {port.size}"
    if have:
        extra = ", ".join(f"`{name}`" for name in list(have)[:3])
        return f"there is no port {extra} in the description"
    return ""


def one_clock(netlist: Netlist, reference: Reference) -> bool:
    """Return whether all state moves at the rising edge of the reference's clock."""
    allowed = set() if reference.clocking is None else {(reference.clocking.clock, "posedge")}
    return not netlist.latches and set(netlist.clocks) <= allowed


def decide(pair: Pair, deep: Effort = DEEP) -> Outcome:
    """Return whether the two designs are equivalent; without a proof, after a long simulation.

    A proof that does not come to an end within its limits, which a slow machine may cause, leaves
    a bounded verdict instead of a proven one; it never turns right into wrong, unless the answer
    holds so much more state than the reference that simulation could not reach a difference.
    """
    gold, gate, reference = pair.gold, pair.gate, pair.reference
    found = compare(gold, gate, reference, clocked=pair.clocked, effort=QUICK)
    if found is not None:
        return Outcome(equal=False, proved=True, engine="simulation", difference=found)
    if exhaustible(gold, gate):
        found = exhaustive(gold, gate)
        return Outcome(found is None, proved=True, engine="all inputs", difference=found)
    proof = prove(gold, gate, reference, clocked=pair.clocked)
    if proof.status != "open":
        return Outcome(proof.status == "equal", True, proof.engine, difference=proof.difference)
    found = _long(pair, deep)
    if found is None and _could_wait(pair, deep):
        deep = LONGEST
        found = _long(pair, deep)
    if found is not None:
        return Outcome(equal=False, proved=True, engine="long simulation", difference=found)
    cycles = depth(gold, gate, _effort(pair, deep)) // (1 if pair.clocked else 2)
    return Outcome(_bounded_enough(pair), proved=False, engine="long simulation", depth=cycles)


def _long(pair: Pair, deep: Effort) -> Difference | None:
    """Return a difference that a long simulation finds."""
    effort = _effort(pair, deep)
    return compare(
        pair.gold, pair.gate, pair.reference, clocked=pair.clocked, effort=effort, seed=1
    )


def _effort(pair: Pair, deep: Effort) -> Effort:
    """Return how long a long simulation is: where the clock is toggled, a cycle is two steps."""
    return deep if pair.clocked else replace(deep, cycles=2 * deep.cycles)


def _spare(pair: Pair) -> int:
    """Return how many bits of state an answer holds beyond those of the reference."""
    return pair.netlist.state_bits - pair.gold_netlist.state_bits


def _could_wait(pair: Pair, deep: Effort) -> bool:
    """Return whether an answer has the state to count further than a long simulation goes."""
    return 1 << min(max(_spare(pair), 0), 64) > deep.cycles


def _bounded_enough(pair: Pair) -> bool:
    """Return whether a bounded verdict counts: a late difference takes state to wait for it."""
    return _spare(pair) <= max(pair.gold_netlist.state_bits, MOST_SPARE)
