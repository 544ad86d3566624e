"""VerilogOptimisation: rewrite a module with fewer gates."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from rlvr_envs.core.errors import SandboxError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware.design import TOP, Design, Signal, module
from rlvr_envs.generators.hardware.families import FAMILIES, check_families, draw_design
from rlvr_envs.generators.hardware.sizes import smaller_first, writing_effort
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig
from rlvr_envs.generators.hardware.wording import LAYOUTS, wording
from rlvr_envs.verifiers.hdl.elaborate import elaborate_once
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge
from rlvr_envs.verifiers.hdl.source import Refusal

# In percent of the best known writing: one so much larger is wasteful as it is.
_MOST_DESIGNS = 16  # drawn until one can be written wastefully
_WASTEFUL = 125
_MOST_DRAWS = 16

_COUNTED = (
    "The size of a module is its number of cells after synthesis. Each 1-bit gate (AND, OR, XOR, "
    "2-to-1 multiplexer, inverter) and each bit of state counts as 1 cell. Synthesis propagates "
    "constants, removes logic that no output needs, and merges equal gates with equal inputs. It "
    "never merges registers, and it does not minimise the logic further: additions, comparisons "
    "and selections are built as you write them, and the reset and the enable of a register are "
    "built from multiplexers in front of it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerilogOptimisationConfig(DesignConfig):
    """The design that is too large, and how much smaller it has to become."""

    level: int = knob(2, "difficulty of the design within its family", low=0)
    demand: int = knob(
        60, "cells to save, in percent of what the best known implementation saves", low=1, high=100
    )
    draws: int = knob(
        4,
        "tries to draw a design with one wasteful implementation; else parts are added to one",
        low=1,
        high=_MOST_DRAWS,
    )
    families: tuple[str, ...] = knob((), "ids of design families to draw from; empty means all")

    def check(self) -> None:
        check_families(self.families)

    @classmethod
    def at(cls, difficulty: int) -> "VerilogOptimisationConfig":
        """The design grows, and so does what has to be saved, up to all of it from 10 on.

        Below 3, more modules are wasteful in that they do everything twice, which is easily seen.
        """
        demand = min(40 + 6 * difficulty, 100)
        return cls(level=difficulty, demand=demand, draws=1 if difficulty < 3 else 4)


@dataclass(frozen=True, slots=True)
class VerilogOptimisationProblem:
    """What the module does, an implementation that is too large, and the allowed size."""

    description: str
    source: str
    cells: int  # of the source
    budget: int
    ports: tuple[Port, ...]
    clocking: Clocking | None
    reward: str
    best: str = hidden()  # the smallest writing that is known
    best_cells: int = hidden()
    accept_bounded: bool = hidden(True)

    @property
    def reference(self) -> Reference:
        """What an answer must be equivalent to; small designs are elaborated sooner."""
        return Reference(self.best, self.ports, self.clocking, TOP)


@register("VerilogOptimisation-v0", domain="verilog", answer_format=LANGUAGE)
class VerilogOptimisationTask(Task[VerilogOptimisationConfig, VerilogOptimisationProblem]):
    """Rewrite a module so that it does the same with fewer gates and registers.

    Description:
        The given module is correct and wasteful: it uses an idea that takes more gates than
        another one, it does everything twice, or it has redundant logic. The allowed number of
        cells lies between its own number and that of the best known implementation.

    Observation:
        What the module does, in full; the module and its number of cells; how cells are counted,
        and how many are allowed.

    Action:
        The whole module as one block of Verilog or SystemVerilog.

    Reward:
        1 if the module behaves as the given one for all inputs at all times and has no more cells
        than allowed, otherwise 0. With ``reward="graded"`` an equivalent module that is too large
        earns the share of the demanded savings that it makes. The unchanged text earns 0.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md), then the count
        of cells after synthesis, of answer and reference by the same tool. Values that nothing
        determines count as wrong, so that leaving a reset out saves nothing. The budget is stored
        with the problem; another version of the tool may count a little differently.

    Difficulty:
        The design grows, and the budget comes ever closer to the best known size, which it is
        from level 10 on.

    References:
        Brayton, Hachtel and Sangiovanni-Vincentelli, "Multilevel Logic Synthesis", 1990, for what
        synthesis can take over and what remains to the writer.
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> VerilogOptimisationProblem:
        layout = integer(rng, 0, LAYOUTS - 1)
        for _ in range(_MOST_DESIGNS):
            design, best, other = self._drawn(rng)
            source, cells = _wasteful(design, best, other)
            if cells > best:
                break
        else:
            raise SandboxError(f"no wasteful writing was found of {_MOST_DESIGNS} designs")
        saved = -(-self.config.demand * (cells - best) // 100)
        return VerilogOptimisationProblem(
            description=wording(design, layout),
            source=source,
            cells=cells,
            budget=cells - saved,
            ports=design.reference.ports,
            clocking=design.clocking,
            reward=self.config.reward,
            accept_bounded=self.config.accept_bounded,
            best=design.golden,
            best_cells=best,
        )

    def _drawn(self, rng: Rng) -> tuple[Design, int, int]:
        """Return a design with its smaller writing as the golden one, and both sizes."""
        found = self._one(rng)
        for _ in range(self.config.draws - 1):
            if found[2] >= _large(found[1]):
                break
            found = self._one(rng)
        return found

    def _one(self, rng: Rng) -> tuple[Design, int, int]:
        families = self.config.families or FAMILIES
        return smaller_first(draw_design(rng, self.config.level, families))

    def prompt(self, problem: VerilogOptimisationProblem) -> str:
        return "\n\n".join(
            [
                "Here is the specification of a module:",
                f"---\n\n{problem.description}\n\n---",
                f"This module is a correct implementation, and takes {_said(problem.cells)}:",
                f"```verilog\n{problem.source.strip()}\n```",
                _COUNTED,
                _asked(problem.budget, problem.reward),
            ]
        )

    def verify(self, problem: VerilogOptimisationProblem, answer: str) -> Verdict:
        verdict = judge(answer, problem.reference, accept_bounded=problem.accept_bounded)
        if verdict.score < 1.0:
            return verdict
        # Of a module with another clock, judging counts in a way of its own that is no smaller.
        cells = int(verdict.parts["cells"])
        if cells <= problem.budget:
            return verdict
        detail = (
            f"it is equivalent, but it takes {_said(cells)}, and at most {_said(problem.budget)} "
            f"{'is' if problem.budget == 1 else 'are'} allowed"
        )
        if problem.reward != "graded":
            return Verdict.wrong(detail, **verdict.parts)
        share = max(0, problem.cells - cells) / (problem.cells - problem.budget)
        return Verdict.graded(share, detail, **verdict.parts)

    def solve(self, problem: VerilogOptimisationProblem) -> str:
        return problem.best

    def effort(self, problem: VerilogOptimisationProblem) -> float:
        """Return the effort of the best known writing, times the share of its savings to make."""
        share = (problem.cells - problem.budget) / (problem.cells - problem.best_cells)
        return writing_effort(problem.best) * share

    def baseline(self, rng: Rng, problem: VerilogOptimisationProblem) -> str:
        """Return the module as it is given."""
        return problem.source


def _asked(budget: int, reward: str) -> str:
    larger = "A correct module that is larger scores 0."
    if reward == "graded":
        larger = (
            "A correct module that is larger scores the share of these savings that it reaches."
        )
    return (
        f"Rewrite the module `{TOP}` so that it behaves exactly the same and takes at most "
        f"{_said(budget)}. {larger}"
    )


def _said(cells: int) -> str:
    return "1 cell" if cells == 1 else f"{cells} cells"


def _large(best: int) -> int:
    """Return how large a wasteful writing is at least."""
    return max(best + 1, best * _WASTEFUL // 100)


def _wasteful(design: Design, best: int, other: int) -> tuple[str, int]:
    """Return a source that is larger than the golden one if one was found, and its size.

    Args:
        design: whose golden source is the smaller one.
        best: its size.
        other: the size of the alternative.
    """
    found = [(other, design.alternative)]
    for source in _enlarged(design):
        if found[-1][0] >= _large(best):
            break
        netlist = elaborate_once(source, TOP)
        if not isinstance(netlist, Refusal):
            found.append((netlist.cells, source))
        elif netlist.stage == "fault":
            raise SandboxError(netlist.detail)
    cells, source = max(found)
    return source, cells


def _enlarged(design: Design) -> Iterator[str]:
    """Yield sources that do the same: by both writings at once, and by a detour."""
    outputs = [signal for signal in design.signals if signal.direction == "output"]
    wires = "\n".join(
        _wire(signal, f"{n}_{signal.name}") for signal in outputs for n in ("part_a", "part_b")
    )
    body = "\n".join(
        [
            wires,
            f"FirstPart first_part ({_connected(design, 'part_a_')});",
            f"SecondPart second_part ({_connected(design, 'part_b_')});",
            *(f"assign {s.name} = part_a_{s.name} & part_b_{s.name};" for s in outputs),
        ]
    )
    yield _joined(
        design,
        body,
        _renamed(design.golden, "FirstPart"),
        _renamed(design.alternative, "SecondPart"),
    )
    bit = _control(design)
    body = "\n".join(
        [
            *(_wire(signal, f"part_a_{signal.name}") for signal in outputs),
            f"FirstPart first_part ({_connected(design, 'part_a_')});",
            *(
                f"assign {s.name} = (part_a_{s.name} & {{{s.width}{{{bit}}}}}) | "
                f"(part_a_{s.name} & ~{{{s.width}{{{bit}}}}});"
                for s in outputs
            ),
        ]
    )
    yield _joined(design, body, _renamed(design.golden, "FirstPart"))


def _control(design: Design) -> str:
    """Return a bit that a detour may depend on: of an input, of the reset at need."""
    clock = "" if design.clocking is None else design.clocking.clock
    ports = [s for s in design.signals if s.direction == "input" and s.name != clock]
    if not ports:
        return "1'b1"
    last = ports[-1]  # clock and reset come first
    return last.name if last.width == 1 else f"{last.name}[0]"


def _wire(signal: Signal, name: str) -> str:
    bits = "" if signal.width == 1 else f"[{signal.width - 1}:0] "
    return f"wire {bits}{name};"


def _connected(design: Design, prefix: str) -> str:
    return ", ".join(
        f".{s.name}({prefix if s.direction == 'output' else ''}{s.name})" for s in design.signals
    )


def _renamed(source: str, name: str) -> str:
    return re.sub(rf"\b{TOP}\b", name, source)


def _joined(design: Design, body: str, *parts: str) -> str:
    top = module(design.signals, body)
    return "\n".join([top.rstrip(), "", *(part.strip() + "\n" for part in parts)])
