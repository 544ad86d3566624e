"""From a dataset's reference to what an answer is held against: ports, clock, reset and x.

Datasets seldom say which input is the clock and which the reset. The netlist of the reference does:
the clock is what its state moves on, and an asynchronous reset is what sets or clears it without
one. A synchronous reset is a gate like any other, and goes by its name.
"""

from dataclasses import replace
from functools import lru_cache

from rlvr_envs.core.errors import RlvrEnvsError, SandboxError
from rlvr_envs.generators.published.verilog_rows import VerilogRow
from rlvr_envs.verifiers.hdl.aig import Aig, NetlistError, read_once
from rlvr_envs.verifiers.hdl.bench_text import Bench, BenchRefused, read_bench
from rlvr_envs.verifiers.hdl.elaborate import KEPT, Netlist, Refusal, elaborate_once, passing
from rlvr_envs.verifiers.hdl.equivalence import Pair, ReferenceRefused, decide, gold_of, one_clock
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.simulate import Effort, compare
from rlvr_envs.verifiers.hdl.source import silenced
from rlvr_envs.verifiers.hdl.testbench import check_bench

CLOCKS = ("clk", "clock", "i_clk", "clk_i", "clk_in", "clkin", "aclk", "sys_clk")
_HIGH = ("reset", "rst", "areset", "arst", "srst", "sreset", "i_rst", "rst_i", "rst_in", "sys_rst")
_LOW = ("resetn", "rstn", "aresetn", "arstn", "nreset", "nrst", "n_rst", "sys_rst_n", "rst_ni")
_RESETS = dict.fromkeys(_HIGH, 1) | dict.fromkeys(_LOW, 0)
RESETS = _RESETS | {f"{name}_n": 0 for name in _HIGH}

# How long an output may take to be known.
_LOOKED = Effort(512, 64)


class Unusable(RlvrEnvsError):
    """A reference cannot be compared with; the message says why."""


@lru_cache(maxsize=KEPT)
def reference_of(source: str, top: str) -> Reference:
    """Return a dataset's reference with the ports that it has.

    Args:
        source: of the dataset, in which prints and assertions may stand.
        top: its module.

    Raises:
        Unusable: it cannot be elaborated, or has no outputs.
        SandboxError: the machine could not do it.
        DependencyError: the tools are not installed.
    """
    netlist = elaborate_once(source, top, trusted=True)
    if isinstance(netlist, Refusal):
        if netlist.stage == "fault":
            raise SandboxError(netlist.detail)
        raise Unusable(f"its reference cannot be elaborated ({netlist.stage}): {netlist.detail}")
    if not any(port.direction == "output" for port in netlist.ports):
        raise Unusable(f"its module {top} has no outputs")
    reference = Reference(source, netlist.ports, clocking_of(netlist), top, trusted=True)
    try:
        if _shows_x(netlist, reference):
            reference = replace(reference, free_x=True)
            _check_itself(reference, netlist)
    except (ReferenceRefused, NetlistError) as error:
        raise Unusable(f"its reference cannot be compared with: {error}") from error
    return reference


def ports_of(header: str, top: str) -> tuple[Port, ...]:
    """Return the ports of a module of which there is a header alone.

    Raises:
        Unusable: it does not say which they are.
        SandboxError: the machine could not do it.
        DependencyError: the tools are not installed.
    """
    netlist = elaborate_once(f"{header}\nendmodule\n", top, trusted=True)
    if isinstance(netlist, Refusal):
        if netlist.stage == "fault":
            raise SandboxError(netlist.detail)
        raise Unusable(f"its header does not say which ports there are: {netlist.detail}")
    if not any(port.direction == "output" for port in netlist.ports):
        raise Unusable(f"its module {top} has no outputs")
    return netlist.ports


def judged_by(row: VerilogRow) -> VerilogRow:
    """Return a row with what its answers are judged by: its reference, or else its testbench.

    Raises:
        Unusable: no answer could be judged by either.
        SandboxError: the machine could not do it.
        DependencyError: the tools are not installed.
    """
    if not row.reference:
        bench_of(row.testbench, row.header, row.top)
        return row
    try:
        reference_of(row.reference, row.top)
    except Unusable as error:
        if not row.testbench:
            raise
        try:
            bench_of(row.testbench, row.header, row.top, row.reference)
        except Unusable as other:
            raise Unusable(f"{error}; and {other}") from other
        return replace(row, reference="")
    return replace(row, header="", testbench="")


def bench_of(
    testbench: str, header: str, top: str, reference: str = ""
) -> tuple[Bench, tuple[Port, ...]]:
    """Return a testbench that tells wrong modules from right ones, and the ports under test.

    Args:
        testbench: of the dataset.
        header: of the module under test.
        top: its name.
        reference: a right module, if there is one; it need not be synthesizable.

    Raises:
        Unusable: it does not.
        SandboxError: the machine could not do it.
        DependencyError: Icarus or the tools for synthesis are not installed.
    """
    ports = ports_of(header, top)
    try:
        bench = read_bench(testbench, top)
        check_bench(bench, top, ports, silenced(reference))
    except BenchRefused as error:
        raise Unusable(str(error)) from error
    return bench, ports


def clocking_of(netlist: Netlist) -> Clocking | None:
    """Return the clock of a design and its reset, as far as they can be told.

    Of several clocks it is one with a rising edge; the others are inputs that change at any time.
    Without a clock at a port, a port that is called like one is taken, if there is state at all.
    """
    single = [port.name for port in netlist.ports if port == Port(port.name, "input")]
    if not netlist.clocks and not netlist.latches:
        return None
    edges = [edge for edge in ("posedge", "negedge") if any(e == edge for _, e in netlist.clocks)]
    found = [name for edge in edges for name, e in netlist.clocks if e == edge and name]
    clocks = found or [name for name in single if name.lower() in CLOCKS]
    if not clocks:
        return None
    reset, level, asynchronous = _reset(netlist, [n for n in single if n != clocks[0]])
    return Clocking(clocks[0], reset, level, asynchronous)


def _reset(netlist: Netlist, names: list[str]) -> tuple[str, int, bool]:
    """Return the reset, its active level, and whether it needs no clock; no name if none is."""
    named = [name for name in names if name.lower() in RESETS]
    levels = {name: level for name, level in netlist.resets if name in names}
    for name in (*named, *levels):
        if name in levels:
            return name, levels[name], True
    for name in named:
        return name, RESETS[name.lower()], False
    return "", 1, False


def _shows_x(netlist: Netlist, reference: Reference) -> bool:
    """Return whether an output may depend on what nothing determines.

    If it may, or if that takes long to settle, x is followed through the design, which makes it
    larger; where the reference shows an x, any answer is right.
    """
    graph = read_once(netlist)
    if graph.used().isdisjoint(graph.free):
        return False
    if not one_clock(netlist, reference):
        return True
    if compare(graph, graph, reference, clocked=True) is not None:
        return True
    outcome = decide(Pair(graph, graph, reference, True, netlist, netlist))
    return not (outcome.equal and outcome.proved)


def _check_itself(reference: Reference, netlist: Netlist) -> None:
    """Raise `Unusable` for a reference that, as an answer, would be wrong.

    One that asks whether a signal is x (``=== 1'bx``) is: no circuit can.
    """
    clocked = one_clock(netlist, reference)
    if not clocked:
        found = elaborate_once(reference.source, reference.top, clocked=False, trusted=True)
        if isinstance(found, Refusal):
            kind = SandboxError if passing(found) else Unusable
            raise kind(f"its reference cannot be elaborated ({found.stage}): {found.detail}")
        netlist = found
    gold = read_once(gold_of(reference, clocked=clocked), True)
    if compare(gold, read_once(netlist), reference, clocked=clocked) is not None:
        raise Unusable(
            "its reference tells x from 0 and 1, which no circuit does, or has an x that cannot be "
            "followed"
        )
    for name in gold.outputs:
        if not _ever_known(gold, name, reference, clocked=clocked):
            raise Unusable(
                f"its output {name} is never known: nothing resets or sets what it depends on, so "
                "that any answer would be right"
            )


def _ever_known(gold: Aig, name: str, reference: Reference, *, clocked: bool) -> bool:
    """Return whether some run shows an output that is not x: its opposite then differs."""
    row = gold.outputs[name]
    right = replace(gold, outputs={name: row}, unknown={name: gold.unknown[name]})
    wrong = replace(gold, outputs={name: tuple(bit ^ 1 for bit in row)}, unknown={})
    found = compare(right, wrong, reference, clocked=clocked, effort=_LOOKED)
    return found is not None
