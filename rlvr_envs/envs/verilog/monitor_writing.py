"""MonitorWriting: a module that observes another one and reports when it goes wrong."""

import re
from dataclasses import dataclass, replace

from rlvr_envs.core.errors import ConfigError, SandboxError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware.design import TOP, Design
from rlvr_envs.generators.hardware.families import FAMILIES, check_families, draw_design
from rlvr_envs.generators.hardware.faults import Fault, draw_faults, graph_of
from rlvr_envs.generators.hardware.sizes import smaller_first, writing_effort
from rlvr_envs.generators.hardware.task import LANGUAGE
from rlvr_envs.generators.hardware.wording import ALLOWED, LAYOUTS, wording
from rlvr_envs.verifiers.hdl.aig import Aig, NetlistError, NetlistTooLarge, read
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
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import refused
from rlvr_envs.verifiers.hdl.simulate import QUICK, Difference, Effort, compare
from rlvr_envs.verifiers.hdl.source import Refusal
from rlvr_envs.verifiers.hdl.waveform import waveform


@dataclass(frozen=True, slots=True)
class Monitor:
    """A monitor as a graph, and what it takes."""

    graph: Aig
    netlist: Netlist


MOST_FAULTS = 32

_SCORES = {
    "share": "If `ok` is ever 0 for the correct module, your score is 0. Otherwise it is the "
    "share of the faulty versions for which `ok` becomes 0.",
    "all": "Your score is 1 if `ok` is never 0 for the correct module and becomes 0 for every "
    "faulty version. Otherwise it is 0.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class MonitorWritingConfig(TaskConfig):
    """The design to observe, the number of faulty versions, and the allowed monitor size."""

    level: int = knob(2, "difficulty of the design within its family", low=0)
    faults: int = knob(6, "number of faulty versions", low=1, high=MOST_FAULTS)
    budget: int = knob(0, "allowed cells, in percent of the smallest known monitor; 0: no limit")
    reward: str = knob(
        "share",
        '"share" scores the share of faulty versions detected; "all" scores 1 for all, else 0',
        choices=_SCORES,
    )
    families: tuple[str, ...] = knob((), "ids of design families to draw from; empty means all")

    def check(self) -> None:
        if self.budget and self.budget < 100:
            raise ConfigError(f"budget is 0 or at least 100 percent, got {self.budget}")
        check_families(self.families)

    @classmethod
    def at(cls, difficulty: int) -> "MonitorWritingConfig":
        """The design grows; two levels add a faulty version, up to 10; from 6 on, size counts.

        From 10 on the design grows by a level every 4 levels.
        """
        budget = 0 if difficulty < 6 else max(200 - 20 * (difficulty - 6), 110)
        level = min(difficulty, (30 + difficulty) // 4)
        return cls(level=level, faults=min(3 + difficulty // 2, 10), budget=budget)


@dataclass(frozen=True, slots=True)
class MonitorWritingProblem:
    """What a correct module does, and the faulty ones that a monitor should detect."""

    description: str
    ports: tuple[Port, ...]
    clocking: Clocking | None
    budget: int  # cells; 0 for no limit
    reward: str
    golden: str = hidden()
    faulty: tuple[str, ...] = hidden()
    monitor: str = hidden()

    @property
    def reference(self) -> Reference:
        """The right module."""
        return Reference(self.golden, self.ports, self.clocking, TOP)


@register("MonitorWriting-v0", domain="verilog", answer_format=LANGUAGE)
class MonitorWritingTask(Task[MonitorWritingConfig, MonitorWritingProblem]):
    """Write a monitor that observes all ports of a module and reports when it goes wrong.

    Description:
        A design of one of the families is described. The answer is a monitor: a synthesizable
        module that has all ports of the design as inputs and one output, which stays 1 as long as
        the design does what the description says, and becomes 0 when it does not.

    Observation:
        What the design does, the ports of the monitor and, at higher levels, how many cells it may
        have.

    Action:
        The monitor as one block of Verilog or SystemVerilog.

    Reward:
        0 if the monitor ever raises an alarm for the correct design, or has more cells than
        allowed. Otherwise the share of the hidden faulty versions that it detects; with
        ``reward="all"`` 1 for all of them and 0 for less. A monitor without alarms detects none.

    Verification:
        Design and monitor are elaborated alone and joined as graphs of gates, so that the monitor
        sees ports and nothing else. That it never raises a false alarm is decided like
        equivalence (see docs/verilog.md): by simulation, then by proof. The faulty versions, one
        small mistake each, are simulated with it. The first cycle, in which the reset is active,
        does not count. A monitor that contains the whole design and compares is a correct answer:
        the description says all that is needed to write one. The budget, where there is one,
        leaves room for it if it is written with care.

    Difficulty:
        The design grows, so does the number of faulty versions, and from level 6 on the number of
        cells is limited, ever closer to the smallest known monitor.

    References:
        DeMillo, Lipton and Sayward, "Hints on Test Data Selection", 1978, for faulty versions;
        Boule and Zilic, "Generating Hardware Assertion Checkers", 2008, for monitors in hardware.
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> MonitorWritingProblem:
        config = self.config
        layout = integer(rng, 0, LAYOUTS - 1)
        drawn = draw_design(rng, config.level, config.families or FAMILIES)
        design, _, _ = smaller_first(drawn)
        source = comparing(design, design.golden)
        monitor = read_monitor(source, design.reference)
        if isinstance(monitor, Refusal):
            raise SandboxError(f"a monitor of {design.title} cannot be elaborated: {monitor}")

        def found(fault: Fault) -> bool:
            return finds_fault(fault.graph, monitor, design.reference)

        faults = draw_faults(rng, design, config.faults, found)
        return MonitorWritingProblem(
            description=wording(design, layout, terms=False),
            ports=design.reference.ports,
            clocking=design.clocking,
            budget=-(-monitor.netlist.cells * config.budget // 100),
            reward=config.reward,
            golden=design.golden,
            faulty=tuple(fault.source for fault in faults),
            monitor=source,
        )

    def prompt(self, problem: MonitorWritingProblem) -> str:
        parts = [
            "Here is the specification of a module:",
            f"---\n\n{problem.description}\n\n---",
            _wanted(problem.reference),
            _meaning(problem.clocking),
            _SCORES[problem.reward],
        ]
        if problem.clocking is not None:
            parts.append(
                "In each clock cycle, the monitor sees the values that the ports have just before "
                f"the rising edge of `{problem.clocking.clock}` that ends the cycle. The monitor "
                "may have registers, clocked by that edge only; latches and other edges are not "
                "allowed."
            )
        if problem.budget:
            parts.append(
                f"The monitor may have at most {problem.budget} cells after synthesis. Each simple "
                "gate and each bit of state is one cell. A larger monitor scores 0."
            )
        parts.append(ALLOWED)
        return "\n\n".join(parts)

    def verify(self, problem: MonitorWritingProblem, answer: str) -> Verdict:
        try:
            monitor = read_monitor(answer, problem.reference)
            if isinstance(monitor, Refusal):
                return refused(monitor)
            cells = float(monitor.netlist.cells)
            if problem.budget and cells > problem.budget:
                detail = (
                    f"the monitor has {cells:.0f} cells, but at most {problem.budget} are allowed"
                )
                return Verdict.wrong(detail, cells=cells)
            return _judged(problem, monitor)
        except (ReferenceRefused, NetlistError, SandboxError) as error:
            return Verdict.verifier_error(str(error))

    def solve(self, problem: MonitorWritingProblem) -> str:
        return problem.monitor

    def effort(self, problem: MonitorWritingProblem) -> float:
        """Return the effort of writing the observed module, twice where cells are limited."""
        return writing_effort(problem.golden) * (2 if problem.budget else 1)

    def baseline(self, rng: Rng, problem: MonitorWritingProblem) -> str:
        """Return a monitor that never raises an alarm."""
        return f"{_header(problem.reference)}\n    assign {OK} = 1;\nendmodule\n"


def _header(reference: Reference) -> str:
    ports = ",\n".join(f"    {port.declaration()}" for port in monitor_ports(reference))
    return f"module {MONITOR} (\n{ports}\n);"


def _wanted(reference: Reference) -> str:
    return (
        "Do not write this module. Write a monitor for it: a synthesizable Verilog module named "
        f"`{MONITOR}`. Its inputs are all ports of the specified module, and it has one output "
        f"`{OK}`:\n\n"
        f"```\n{_header(reference)}\n```"
    )


def _meaning(clocking: Clocking | None) -> str:
    after = ""
    if clocking is not None and clocking.reset:
        after = f", except in the first cycle (in which `{clocking.reset}` is active)"
    late = ""
    if clocking is not None:
        late = f", in the same cycle or at most {_WATCHED.cycles - QUICK.cycles} cycles later"
    return (
        f"As long as the observed module follows the specification, `{OK}` must be 1{after}. When "
        f"the module breaks the specification, `{OK}` must become 0{late}. It need not stay 0. The "
        "monitor is tested with a correct module, for all inputs, and with hidden faulty versions, "
        "each of which has one mistake."
    )


def _judged(problem: MonitorWritingProblem, monitor: Monitor) -> Verdict:
    """Return the verdict on a monitor that fits.

    Raises:
        ReferenceRefused, SandboxError: a module of the problem cannot be elaborated.
    """
    reference = problem.reference
    design = graph_of(problem.golden, reference)
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
    faulty = [graph_of(source, reference) for source in problem.faulty]
    if None in faulty:
        raise SandboxError("a faulty module cannot be elaborated")
    found = sum(finds_fault(graph, monitor, reference) for graph in faulty if graph is not None)
    parts |= {"found": float(found), "faulty": float(len(faulty))}
    detail = (
        f"`{OK}` is 1 for the correct module, and the monitor detects {found} of {len(faulty)} "
        "faulty ones"
    )
    if problem.reward == "all" and found < len(faulty):
        return Verdict.wrong(detail, **parts)
    return Verdict.graded(found / len(faulty), detail, **parts)


def comparing(design: Design, writing: str) -> str:
    """Return a monitor that holds a design and compares all outputs."""
    outputs = [signal for signal in design.signals if signal.direction == "output"]
    lines = []
    for signal in outputs:
        bits = "" if signal.width == 1 else f"[{signal.width - 1}:0] "
        lines.append(f"    wire {bits}right_{signal.name};")
    wires = ", ".join(
        f".{s.name}({'right_' if s.direction == 'output' else ''}{s.name})" for s in design.signals
    )
    same = " && ".join(f"{s.name} == right_{s.name}" for s in outputs)
    body = "\n".join(
        [*lines, f"    RightModule right_module ({wires});", f"    assign {OK} = {same};"]
    )
    inner = re.sub(rf"\b{TOP}\b", "RightModule", writing).strip()
    return f"{_header(design.reference)}\n{body}\nendmodule\n\n{inner}\n"


# A design with a monitor beside it that reads all its ports and says whether they are as allowed.
#
# Each is elaborated alone; here their graphs are joined. The monitor cannot reach into the design,
# only see what everybody sees of it.


MONITOR = "Monitor"
OK = "ok"
# Some cycles longer than the runs that tell faulty designs: a monitor may need a while.
_WATCHED = Effort(QUICK.cycles + 32, QUICK.lanes)


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
