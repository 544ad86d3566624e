"""Faulty versions of a design, each of which a simulation tells from it."""

from collections.abc import Callable
from dataclasses import dataclass

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.core.seeding import Rng
from rlvr_envs.generators.hardware.design import Design
from rlvr_envs.generators.hardware.mutations import inverted, mutate
from rlvr_envs.verifiers.hdl.aig import Aig, read_once
from rlvr_envs.verifiers.hdl.elaborate import elaborate_once
from rlvr_envs.verifiers.hdl.equivalence import one_clock
from rlvr_envs.verifiers.hdl.interface import Reference
from rlvr_envs.verifiers.hdl.simulate import QUICK, Difference, compare
from rlvr_envs.verifiers.hdl.source import Refusal

_DRAWS = 4  # of mutants for each that is wanted
_SPARE = 8


@dataclass(frozen=True, slots=True)
class Fault:
    """A faulty version."""

    source: str  # its text
    graph: Aig  # its gates; a step is a cycle of the design's clock
    difference: Difference  # a run in which it differs from the design


def graph_of(source: str, reference: Reference) -> Aig | None:
    """Return the graph of one of our own texts, None where it does not compile.

    A design whose state moves at anything but the rising edge of the reference's clock has none
    either: its steps are not cycles.

    Raises:
        SandboxError: the machine could not elaborate it.
    """
    found = elaborate_once(source, reference.top)
    if isinstance(found, Refusal):
        if found.stage == "fault":
            raise SandboxError(found.detail)
        return None
    return read_once(found) if one_clock(found, reference) else None


def draw_faults(
    rng: Rng, design: Design, count: int, accepts: Callable[[Fault], bool]
) -> tuple[Fault, ...]:
    """Draw faulty versions of a design's golden source, no text twice.

    Args:
        rng: what they are drawn from.
        design: what is right.
        count: how many are wanted; there are fewer where that many are not found soon.
        accepts: which of them will do; it has to take the design with an output inverted, which
            is the one version where there is no other.
    """
    reference = design.reference
    gold = graph_of(design.golden, reference)
    if gold is None:
        raise SandboxError(f"{design.title} cannot be elaborated, or has another clock")
    found: dict[str, Fault] = {}
    for _ in range(_DRAWS * count + _SPARE):
        source = mutate(design.golden, rng)
        if source is None or len(found) == count:
            break
        if source not in found:
            fault = _fault(source, gold, reference)
            if fault is not None and accepts(fault):
                found[source] = fault
    if not found:
        source = inverted(design.golden, reference.ports)
        fault = _fault(source, gold, reference)
        if fault is None or not accepts(fault):
            raise SandboxError(f"{design.title}: an inverted output makes no difference")
        found[source] = fault
    return tuple(found.values())


def _fault(source: str, gold: Aig, reference: Reference) -> Fault | None:
    """Return a source as a faulty version, None where no short simulation tells it from right."""
    graph = graph_of(source, reference)
    if graph is None or _widths(graph) != _widths(gold):
        return None
    difference = compare(gold, graph, reference, clocked=True, effort=QUICK)
    return None if difference is None else Fault(source, graph, difference)


def _widths(graph: Aig) -> list[dict[str, int]]:
    return [{n: len(bits) for n, bits in side.items()} for side in (graph.inputs, graph.outputs)]
