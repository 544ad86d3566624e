"""Whether two designs are equivalent: the cheapest way to decide it first.

Simulation of a few cycles finds most differences. What it does not find is settled by trying all
inputs, where they are few, or by a proof; and where no proof comes to an end, by a long simulation,
whose verdict is bounded and says so.
"""

import hashlib
import threading
from collections import OrderedDict
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

KEPT = 1024  # decisions that are remembered; each takes less than 1 KiB


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
    """What is known about two designs."""

    equal: bool  # whether they are taken for equivalent
    proved: bool  # whether that is certain for all inputs at all times; a difference always is
    engine: str  # what decided
    depth: int = 0  # without a proof, for how many cycles no difference was found
    difference: Difference | None = None  # a run that shows one


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


_decided: OrderedDict[bytes, Outcome] = OrderedDict()
_lock = threading.Lock()


def decide_once(pair: Pair, deep: Effort = DEEP) -> Outcome:
    """Return what `decide` returns, from memory where the same designs were compared before.

    What costs seconds is that no difference is found, and no proof. So that is remembered, and a
    difference, which may be a long run, is not.
    """
    key = _digest(pair, deep)
    with _lock:
        if key in _decided:
            _decided.move_to_end(key)
            return _decided[key]
    outcome = decide(pair, deep)
    if outcome.difference is None:
        with _lock:
            _decided[key] = outcome
            while len(_decided) > KEPT:
                _decided.popitem(last=False)
    return outcome


def _digest(pair: Pair, deep: Effort) -> bytes:
    """Return a digest of all that a decision depends on: both netlists, not the texts."""
    sha = hashlib.sha256()
    reference = pair.reference
    facts = pair.clocked, deep, reference.clocking, reference.ports, reference.free_x
    parts = [repr(facts).encode()]
    for netlist in (pair.gold_netlist, pair.netlist):
        parts += [netlist.aiger, netlist.map.encode(), str(netlist.state_bits).encode()]
    for part in parts:
        sha.update(len(part).to_bytes(8, "big") + part)
    return sha.digest()


def decide(pair: Pair, deep: Effort = DEEP) -> Outcome:
    """Return whether the two designs are equivalent; without a proof, after a long simulation.

    A proof that does not come to an end within its limits, which a slow machine may cause, leaves
    a bounded verdict instead of a proven one. It counts only where the answer holds no more state
    beyond the reference's than could count the cycles that were simulated.
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
    effort = _effort(pair, deep)
    found = compare(gold, gate, reference, clocked=pair.clocked, effort=effort, seed=1)
    if found is not None:
        return Outcome(equal=False, proved=True, engine="long simulation", difference=found)
    cycles = depth(gold, gate, effort) // (1 if pair.clocked else 2)
    spare = pair.netlist.state_bits - pair.gold_netlist.state_bits
    enough = not _counts_beyond(spare, cycles)
    return Outcome(enough, proved=False, engine="long simulation", depth=cycles)


def _effort(pair: Pair, deep: Effort) -> Effort:
    """Return how long a long simulation is.

    A late difference takes state to wait for it, so an answer with much is run for longer. Where
    the clock is toggled, a cycle is two steps.
    """
    if _counts_beyond(pair.netlist.state_bits, deep.cycles):
        cycles, budget = max(deep.cycles, LONGEST.cycles), max(deep.budget, LONGEST.budget)
        deep = replace(deep, cycles=cycles, budget=budget)
    return deep if pair.clocked else replace(deep, cycles=2 * deep.cycles)


def _counts_beyond(bits: int, cycles: int) -> bool:
    """Return whether so many bits of state can count further than so many cycles."""
    return bits > 0 and 1 << min(bits, 64) > cycles
