"""VerilogCompletion: fill the gap in a module."""

from dataclasses import dataclass

from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware.design import TOP, Design, silent
from rlvr_envs.generators.hardware.families import FAMILIES, check_families, draw_design
from rlvr_envs.generators.hardware.refutation import refuted
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.syntax import Code, Part, read_code, tokens
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig
from rlvr_envs.generators.hardware.wording import LAYOUTS, wording
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge

GAP = "/* to be written */"
_DRAWS = 12  # of gaps; nearly all of them matter
_LARGEST_GAP = 16  # a level from which on the gap is all of any module

# What is left out: how the text shows it, and what it is filled with to see whether it matters.
# A statement that is missing is a statement that does nothing, so that the text as it is shown
# does what the filled one does; without an expression it does not compile.
_FORMS = {
    "value": (GAP, "~({})"),
    "condition": (GAP, "!({})"),
    "item": (GAP, ""),
    "body": (GAP, ""),
    "branch": (f"begin {GAP} end", "begin end"),
    "arm": (f"begin {GAP} end", "begin end"),
    "process": (f"begin {GAP} end", "begin end"),
    "module": (GAP, ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerilogCompletionConfig(DesignConfig):
    """The design, and how much of it is missing."""

    level: int = knob(2, "difficulty of the design within its family", low=0)
    gap: int = knob(
        12, "largest number of missing tokens, if the design has so small a part", low=1
    )
    families: tuple[str, ...] = knob((), "ids of design families to draw from; empty means all")

    def check(self) -> None:
        check_families(self.families)

    @classmethod
    def at(cls, difficulty: int) -> "VerilogCompletionConfig":
        """The design grows, and the gap by six tenths a level: from 10 on it is most of it."""
        return cls(level=difficulty, gap=int(4 * 1.6 ** min(difficulty, _LARGEST_GAP)))


@dataclass(frozen=True, slots=True)
class VerilogCompletionProblem:
    """A specification, and an incomplete module."""

    description: str
    source: str
    ports: tuple[Port, ...]
    clocking: Clocking | None
    reward: str
    golden: str = hidden()
    whole: str = hidden()  # the text without the gap
    accept_bounded: bool = hidden(True)


@register("VerilogCompletion-v0", domain="verilog", answer_format=LANGUAGE)
class VerilogCompletionTask(Task[VerilogCompletionConfig, VerilogCompletionProblem]):
    """Write what is missing in a module, given what it should do.

    Description:
        A part of a design of one of the families is cut out: an expression, a condition, a
        statement, an arm of a case, the body of a block, or all of the module. A simulation shows
        that the part matters.

    Observation:
        What the module should do, in full, and the module with the gap.

    Action:
        The whole module as one block of Verilog or SystemVerilog.

    Reward:
        1 if the module behaves as the reference for all inputs at all times, otherwise 0; with
        ``reward="graded"`` up to half for compiling, for the right ports and for outputs that
        never differed in simulation.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md), and nothing
        else: the text around the gap may be changed, which the prompt says, since what is right
        there does not depend on how the gap is filled.

    Difficulty:
        The design grows, and the gap, up to all of the module.

    References:
        Liu et al. 2023, VerilogEval, arXiv:2309.07544, for the completion of modules.
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> VerilogCompletionProblem:
        config = self.config
        layout = integer(rng, 0, LAYOUTS - 1)
        design = draw_design(rng, config.level, config.families or FAMILIES)
        whole = pick(rng, (design.golden, design.alternative))
        return VerilogCompletionProblem(
            description=wording(design, layout),
            source=_with_a_gap(rng, design, whole, config.gap),
            ports=design.reference.ports,
            clocking=design.clocking,
            reward=config.reward,
            accept_bounded=config.accept_bounded,
            golden=design.golden,
            whole=whole,
        )

    def prompt(self, problem: VerilogCompletionProblem) -> str:
        return (
            f"Here is the specification of a module:\n\n---\n\n{problem.description}\n\n---\n\n"
            f"Here is an incomplete implementation. A part is missing at `{GAP}`:\n\n"
            f"```verilog\n{problem.source.strip()}\n```\n\n"
            f"Write the missing part, and answer with the complete module `{TOP}`. Only its "
            "behaviour counts, so you may also change the given code."
        )

    def verify(self, problem: VerilogCompletionProblem, answer: str) -> Verdict:
        reference = Reference(problem.golden, problem.ports, problem.clocking, TOP)
        return judge(
            answer, reference, reward=problem.reward, accept_bounded=problem.accept_bounded
        )

    def solve(self, problem: VerilogCompletionProblem) -> str:
        return problem.whole

    def effort(self, problem: VerilogCompletionProblem) -> float:
        """Return the effort of writing the module, times the share of its tokens that is missing.

        Reading what is given counts a tenth of writing it.
        """
        given, whole = (len(list(tokens(text))) for text in (problem.source, problem.whole))
        return writing_effort(problem.whole) * (1 - 0.9 * given / whole)

    def baseline(self, rng: Rng, problem: VerilogCompletionProblem) -> str:
        """Return a module whose outputs are always 0."""
        return silent(problem.ports)


def _with_a_gap(rng: Rng, design: Design, whole: str, size: int) -> str:
    """Return a source without one of its parts, which matters and is of about some size."""
    code = read_code(whole)
    everything = _inside(code)
    parts = [*code.of(*_FORMS), everything]
    lengths = sorted({part.last - part.first for part in parts})
    most = max((length for length in lengths if length <= size), default=lengths[0])
    fitting = [part for part in parts if most <= 2 * (part.last - part.first) <= 2 * most]
    for _ in range(_DRAWS):
        part = pick(rng, fitting)
        shown, filled = _FORMS[part.kind]
        filled = filled.format(code.text(part.first, part.last))
        if refuted(code.replaced(part.first, part.last, filled), design.reference) is not None:
            return code.replaced(part.first, part.last, shown)
    # Without anything inside, nothing is known of the outputs.
    return code.replaced(everything.first, everything.last, GAP)


def _inside(code: Code) -> Part:
    """Return all of a module between its ports and its end."""
    words = [token.text for token in code.tokens]
    return Part("module", words.index(";") + 1, len(words) - words[::-1].index("endmodule") - 1)
