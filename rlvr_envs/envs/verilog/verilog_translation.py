"""VerilogTranslation: rewrite a module in another style."""

from dataclasses import dataclass, replace

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware.design import TOP, Design
from rlvr_envs.generators.hardware.families import FAMILIES, check_families, draw_design
from rlvr_envs.generators.hardware.netlist_text import rewritten
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.styles import FLIP_FLOP, NAMES, flip_flop, style_of
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig
from rlvr_envs.generators.hardware.wording import timing
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge
from rlvr_envs.verifiers.hdl.source import MOST_CHARACTERS

_DRAWS = 8  # of designs
_TALLEST = {"two_blocks": 16, "dataflow": 16, "structural": 8}  # levels of designs
_WORK = {"systemverilog": 1, "verilog2001": 1, "two_blocks": 2, "dataflow": 3, "structural": 6}
_LONGEST = MOST_CHARACTERS - 1024  # with room for the flip-flop


@dataclass(frozen=True, slots=True, kw_only=True)
class VerilogTranslationConfig(DesignConfig):
    """The design, and the styles to choose from."""

    level: int = knob(2, "difficulty of the design within its family", low=0)
    styles: tuple[str, ...] = knob(
        ("systemverilog", "verilog2001"), "styles, of which one is drawn"
    )
    families: tuple[str, ...] = knob((), "ids of design families to draw from; empty means all")

    def check(self) -> None:
        wrong = next((name for name in self.styles if name not in NAMES), None)
        if wrong is not None or not self.styles:
            hint = did_you_mean(wrong or "", NAMES)
            raise ConfigError(f"styles are among {', '.join(NAMES)}, got {wrong!r}{hint}")
        check_families(self.families)

    @classmethod
    def at(cls, difficulty: int) -> "VerilogTranslationConfig":
        """The design grows, and the styles differ more from the given module.

        Two blocks are asked for from 2 on, continuous assignments from 4, gates from 6, where a
        mere change of language ends.
        """
        return cls(
            level=difficulty,
            styles=NAMES[: min(2 + difficulty // 2, 5)] if difficulty < 6 else NAMES[2:],
        )


@dataclass(frozen=True, slots=True)
class VerilogTranslationProblem:
    """A module, and the required style."""

    source: str
    style: str
    ports: tuple[Port, ...]
    clocking: Clocking | None
    reward: str
    other: str = hidden()  # the same design by another idea; in the style, as it may be
    accept_bounded: bool = hidden(True)


@register("VerilogTranslation-v0", domain="verilog", answer_format=LANGUAGE)
class VerilogTranslationTask(Task[VerilogTranslationConfig, VerilogTranslationProblem]):
    """Rewrite a module in another style so that it behaves exactly as before.

    Description:
        A design of one of the families is given as a source alone. It has to become pure
        SystemVerilog, Verilog-2001, one combinational and one clocked block, continuous
        assignments without any procedure, or a netlist of gates and given flip-flops.

    Observation:
        The module, the rules of the style, and the flip-flop where the style asks for one.

    Action:
        The module in the new style as one block of Verilog or SystemVerilog.

    Reward:
        1 if the text obeys all rules of the style and the module behaves as the given one for all
        inputs at all times, otherwise 0; with ``reward="graded"`` a text in the style gets up to
        half for compiling, for the right ports and for outputs that never differed in simulation.

    Verification:
        The rules are about words and symbols, and are checked exactly; comments do not count, and
        what is forbidden is forbidden in every module of the answer. The given module breaks
        them. Then equivalence with it by simulation and proof (see docs/verilog.md). How good the
        text is within the rules is not judged: a netlist of gates also counts as SystemVerilog.

    Difficulty:
        The design grows, and the styles differ more from the given module. Netlists of gates are
        used for designs half as difficult as the others, and of level 8 at most; two blocks and
        continuous assignments of level 16 at most. A design whose netlist would be longer than an
        answer may be is left for a smaller one.

    References:
        IEEE 1364-2001 and IEEE 1800-2017 for what each language has.
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> VerilogTranslationProblem:
        name, design, source = self._drawn(rng)
        return VerilogTranslationProblem(
            source=source,
            style=name,
            ports=design.reference.ports,
            clocking=design.clocking,
            reward=self.config.reward,
            accept_bounded=self.config.accept_bounded,
            other=design.alternative if source == design.golden else design.golden,
        )

    def _drawn(self, rng: Rng) -> tuple[str, Design, str]:
        """Draw a style, a design, and a source of it that is not in the style but can be."""
        config = self.config
        families = config.families or FAMILIES
        for smaller in range(_DRAWS):
            name = pick(rng, config.styles)
            level = max(0, level_for(name, config.level) - smaller)
            design = draw_design(rng, level, families)
            sources = [design.golden, design.alternative]
            for source in sources if integer(rng, 0, 1) else sources[::-1]:
                if _can_be_written(design, source, name):
                    return name, design, source
        # Golden sources are in Verilog-2001.
        design = draw_design(rng, 0, families)
        return "systemverilog", design, design.golden

    def prompt(self, problem: VerilogTranslationProblem) -> str:
        style, clocking = style_of(problem.style), problem.clocking
        rules = "\n".join(
            f"- {rule}"
            for rule in style.rules.splitlines()
            if clocking is not None or FLIP_FLOP not in rule
        )
        parts = [
            "Here is a module:",
            f"```verilog\n{problem.source.strip()}\n```",
            (
                f"Rewrite it {style.title}: write a module `{TOP}` with the same ports and exactly "
                "the same behaviour."
            ),
            f"Your answer must obey these style rules (comments are ignored):\n\n{rules}",
        ]
        if style.given and clocking is not None:
            parts.append(f"This module is given:\n\n```verilog\n{flip_flop(clocking).strip()}\n```")
        elif style.given:
            parts.append("The module is combinational, so no flip-flop is given.")
        if clocking is not None:
            parts.append(timing(clocking))
        parts.append(
            "Your answer is correct if it obeys these rules and behaves exactly like the module "
            "above for every sequence of inputs. Do not use delays, initial values, system tasks, "
            "`include` or assertions."
        )
        return "\n\n".join(parts)

    def verify(self, problem: VerilogTranslationProblem, answer: str) -> Verdict:
        style = style_of(problem.style)
        broken = style.broken_by(answer, problem.clocking)
        if broken:
            return Verdict.wrong(f"it is not written {style.title}: {broken}", style=0.0)
        text = answer
        if style.given and problem.clocking is not None:
            text = f"{answer}\n{flip_flop(problem.clocking)}"
        return judge(
            text,
            self._reference(problem),
            reward=problem.reward,
            accept_bounded=problem.accept_bounded,
        )

    def solve(self, problem: VerilogTranslationProblem) -> str:
        if not style_of(problem.style).broken_by(problem.other, problem.clocking):
            return problem.other
        return rewritten(self._reference(problem), problem.style)

    def effort(self, problem: VerilogTranslationProblem) -> float:
        """Return the effort of the module, weighted by how far the style is from how it is written.

        A change of language weighs 1, and a netlist of gates 6.
        """
        return writing_effort(problem.source) * _WORK[problem.style]

    def baseline(self, rng: Rng, problem: VerilogTranslationProblem) -> str:
        """Return the module as it is given."""
        return problem.source

    def _reference(self, problem: VerilogTranslationProblem) -> Reference:
        return Reference(problem.source, problem.ports, problem.clocking, TOP)


def level_for(style: str, level: int) -> int:
    """Return the level of the designs that are drawn for a style."""
    wanted = level // 2 if style == "structural" else level
    return min(wanted, _TALLEST.get(style, wanted))


def _can_be_written(design: Design, source: str, name: str) -> bool:
    """Return whether a source is not in a style, and an answer that is in it is known."""
    style = style_of(name)
    if not style.broken_by(source, design.clocking):
        return False
    other = design.alternative if source == design.golden else design.golden
    if not style.broken_by(other, design.clocking):
        return True
    reference = replace(design.reference, source=source)
    return len(rewritten(reference, name)) <= _LONGEST
