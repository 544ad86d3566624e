"""MonitorWriting: a module that observes another one and reports when it goes wrong."""

import re
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError, SandboxError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware.design import TOP, Design
from rlvr_envs.generators.hardware.families import FAMILIES, check_families, draw_design
from rlvr_envs.generators.hardware.faults import Fault, draw_faults
from rlvr_envs.generators.hardware.monitors import (
    MONITOR,
    OK,
    WATCHED,
    finds_fault,
    judged,
    monitor_ports,
    read_monitor,
)
from rlvr_envs.generators.hardware.sizes import smaller_first, writing_effort
from rlvr_envs.generators.hardware.task import LANGUAGE
from rlvr_envs.generators.hardware.wording import ALLOWED, LAYOUTS, wording
from rlvr_envs.verifiers.hdl.aig import NetlistError
from rlvr_envs.verifiers.hdl.equivalence import (
    ReferenceRefused,
)
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import refused
from rlvr_envs.verifiers.hdl.simulate import QUICK
from rlvr_envs.verifiers.hdl.source import Refusal

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
            return judged(
                monitor, problem.reference, problem.faulty, everything=problem.reward == "all"
            )
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
        late = f", in the same cycle or at most {WATCHED.cycles - QUICK.cycles} cycles later"
    return (
        f"As long as the observed module follows the specification, `{OK}` must be 1{after}. When "
        f"the module breaks the specification, `{OK}` must become 0{late}. It need not stay 0. The "
        "monitor is tested with a correct module, for all inputs, and with hidden faulty versions, "
        "each of which has one mistake."
    )


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
