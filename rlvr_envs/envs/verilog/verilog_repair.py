"""VerilogRepair: a module with mistakes, to be corrected."""

import difflib
from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware.design import TOP, Design
from rlvr_envs.generators.hardware.families import FAMILIES, check_families, draw_design
from rlvr_envs.generators.hardware.mutations import inverted, mutate
from rlvr_envs.generators.hardware.refutation import Refutation, refuted
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.syntax import tokens
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig
from rlvr_envs.generators.hardware.wording import LAYOUTS, wording
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge

MOST_BUGS = 9
_DRAWS = 30  # of mutants for one bug; two in three are refuted


@dataclass(frozen=True, slots=True, kw_only=True)
class VerilogRepairConfig(DesignConfig):
    """The design to break, the number of mistakes, and what the prompt shows."""

    level: int = knob(2, "difficulty of the design within its family", low=0)
    bugs: int = knob(1, "number of mistakes in the module", low=1, high=MOST_BUGS)
    trace: bool = knob(True, "show a simulation run that goes wrong")
    families: tuple[str, ...] = knob((), "ids of design families to draw from; empty means all")

    def check(self) -> None:
        check_families(self.families)

    @classmethod
    def at(cls, difficulty: int) -> "VerilogRepairConfig":
        """The design grows; bugs come at 2, 5, 8 and 11, up to 5; from 4 on no run is shown."""
        bugs = min(1 + (difficulty + 1) // 3, 5)
        return cls(level=difficulty, bugs=bugs, trace=difficulty < 4)


@dataclass(frozen=True, slots=True)
class VerilogRepairProblem:
    """A specification, and a module with mistakes."""

    description: str
    source: str
    bugs: int
    trace: str
    ports: tuple[Port, ...]
    clocking: Clocking | None
    reward: str
    golden: str = hidden()
    repaired: str = hidden()  # the text before the bugs were put in
    accept_bounded: bool = hidden(True)


@register("VerilogRepair-v0", domain="verilog", answer_format=LANGUAGE)
class VerilogRepairTask(Task[VerilogRepairConfig, VerilogRepairProblem]):
    """Find and correct the mistakes in a module, given what it should do.

    Description:
        A design of one of the families is broken by small changes such as designers make: a wrong
        operator, constant, bit, signal, edge or reset level, a term or a statement that is
        missing, branches or operands that are swapped. After each change a simulation
        distinguishes the module from the correct one and from the module before the change.

    Observation:
        What the module should do, in full; the module with its number of mistakes; and, at
        lower levels, a run in which it goes wrong, with what was expected.

    Action:
        The whole module, corrected, or another one that does the same, as one block of Verilog or
        SystemVerilog.

    Reward:
        1 if the module behaves as the reference for all inputs at all times, otherwise 0; with
        ``reward="graded"`` up to half for compiling, for the right ports and for outputs that
        never differed in simulation. The unchanged text earns 0 in any case.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). The description
        settles every case, so the example run is only a help, never the specification.

    Difficulty:
        The design grows, so does the number of mistakes, and the example run is left out.

    References:
        DeMillo, Lipton and Sayward, "Hints on Test Data Selection", 1978, for mistakes as small
        changes of a program.
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> VerilogRepairProblem:
        config = self.config
        layout = integer(rng, 0, LAYOUTS - 1)
        design = draw_design(rng, config.level, config.families or FAMILIES)
        right = pick(rng, (design.golden, design.alternative))
        source, bugs, last = _broken(rng, design, right, config.bugs)
        return VerilogRepairProblem(
            description=wording(design, layout),
            source=source,
            bugs=bugs,
            trace=last.trace() if config.trace else "",
            ports=design.reference.ports,
            clocking=design.clocking,
            reward=config.reward,
            accept_bounded=config.accept_bounded,
            golden=design.golden,
            repaired=right,
        )

    def prompt(self, problem: VerilogRepairProblem) -> str:
        them = "the mistake" if problem.bugs == 1 else "the mistakes"
        found = "one mistake" if problem.bugs == 1 else f"{problem.bugs} mistakes"
        parts = [
            "Here is the specification of a module:",
            f"---\n\n{problem.description}\n\n---",
            f"This implementation has {found}:",
            f"```verilog\n{problem.source.strip()}\n```",
        ]
        if problem.trace:
            parts.append(f"In a simulation it went wrong:\n\n```\n{problem.trace}\n```")
        parts.append(f"Correct {them}, and answer with the complete module `{TOP}`.")
        return "\n\n".join(parts)

    def verify(self, problem: VerilogRepairProblem, answer: str) -> Verdict:
        if _texts(answer) == _texts(problem.source):
            return Verdict.wrong("it is the module that was shown, with all its mistakes")
        reference = Reference(problem.golden, problem.ports, problem.clocking, TOP)
        return judge(
            answer, reference, reward=problem.reward, accept_bounded=problem.accept_bounded
        )

    def solve(self, problem: VerilogRepairProblem) -> str:
        return problem.repaired

    def effort(self, problem: VerilogRepairProblem) -> float:
        """Return the effort of understanding the module, once for each mistake and for no run."""
        return writing_effort(problem.source) * (problem.bugs + (not problem.trace))

    def baseline(self, rng: Rng, problem: VerilogRepairProblem) -> str:
        """Return the module as it is given."""
        return problem.source

    def explain(self, problem: VerilogRepairProblem) -> list[str]:
        """Return where the mistakes are, and then what should stand there."""
        wrong, right = (text.strip().split("\n") for text in (problem.source, problem.repaired))
        changes = difflib.SequenceMatcher(a=wrong, b=right, autojunk=False).get_opcodes()
        places, fixes = [], []
        for kind, first, last, start, end in changes:
            if kind == "equal":
                continue
            where = f"line {first + 1}" if last - first < 2 else f"lines {first + 1} to {last}"
            shown = " ".join(line.strip() for line in wrong[first:last])
            meant = " ".join(line.strip() for line in right[start:end])
            if kind == "insert":
                places.append(f"Something is missing before {where}.")
                fixes.append(f"Before {where} should stand `{meant}`")
                continue
            places.append(f"Look at {where}: `{shown}`")
            fixes.append(f"In {where} should stand `{meant}`" if meant else f"Leave out {where}.")
        return [*places, *fixes]


def _texts(source: str) -> list[str]:
    return [token.text for token in tokens(source)]


def _broken(rng: Rng, design: Design, right: str, bugs: int) -> tuple[str, int, Refutation]:
    """Return a source with bugs, how many they are, and how it goes wrong.

    There are fewer than asked for where no other change can be told by simulation.
    """
    source, done = right, 0
    last: Refutation | None = None
    while done < bugs:
        found = _one_more(rng, design, source, last)
        if found is None:
            break
        source, last = found
        done += 1
    if last is None:  # a design whose mutants all do the same: one output is inverted
        source, done = inverted(right, design.reference.ports), 1
        last = refuted(source, design.reference)
    if last is None:
        raise ConfigError(f"the outputs of {design.title} mean nothing: no change of them is seen")
    return source, done, last


def _one_more(
    rng: Rng, design: Design, source: str, last: Refutation | None
) -> tuple[str, Refutation] | None:
    """Return a mutant that differs from the design, and from the source that it was made of."""
    for _ in range(_DRAWS):
        mutant = mutate(source, rng)
        if mutant is None:
            return None
        found = refuted(mutant, design.reference)
        if found is not None and (last is None or found.differs_from(last)):
            return mutant, found
    return None
