"""VerilogTranslation: a module, to be written in another style."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.verilog._design import TOP, Design
from rlvr_envs.envs.verilog._families import FAMILIES, check_families, draw_design
from rlvr_envs.envs.verilog._netlist_text import rewritten
from rlvr_envs.envs.verilog._styles import NAMES, flip_flop, style_of
from rlvr_envs.envs.verilog._task import LANGUAGE, DesignConfig
from rlvr_envs.envs.verilog._wording import timing
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge

_DRAWS = 8  # of designs; only those of pure assignments are in a style already
_MOST_GATED = 8  # level of a design of which a netlist of gates is asked for


@dataclass(frozen=True, slots=True, kw_only=True)
class VerilogTranslationConfig(DesignConfig):
    """Which design is shown, and how it is to be written."""

    level: int = 2  # difficulty of the design within its family
    styles: tuple[str, ...] = ("systemverilog", "verilog2001")  # of which one is drawn
    families: tuple[str, ...] = ()  # ids of families of designs; none means all

    def __post_init__(self) -> None:
        DesignConfig.__post_init__(self)
        if self.level < 0:
            raise ConfigError(f"level is at least 0, got {self.level}")
        wrong = next((name for name in self.styles if name not in NAMES), None)
        if wrong is not None or not self.styles:
            hint = did_you_mean(wrong or "", NAMES)
            raise ConfigError(f"styles are among {', '.join(NAMES)}, got {wrong!r}{hint}")
        check_families(self.families)

    @classmethod
    def at(cls, difficulty: int) -> "VerilogTranslationConfig":
        """The design grows, and the styles get further from what is shown.

        Two blocks are asked for from 2 on, continuous assignments from 4, gates from 6, where a
        mere change of language ends.
        """
        return cls(
            level=difficulty,
            styles=NAMES[: min(2 + difficulty // 2, 5)] if difficulty < 6 else NAMES[2:],
        )


@dataclass(frozen=True, slots=True)
class VerilogTranslationProblem:
    """A module, and the style that it has to be in."""

    source: str
    style: str
    ports: tuple[Port, ...]
    clocking: Clocking | None
    reward: str
    other: str = hidden()  # the same design by another idea; in the style, as it may be


@register("VerilogTranslation-v0", domain="verilog", answer_format=LANGUAGE)
class VerilogTranslationTask(Task[VerilogTranslationConfig, VerilogTranslationProblem]):
    """Write a module again, in another style, so that it behaves exactly as before.

    Description:
        A design of one of the families is given as a source alone. It has to become pure
        SystemVerilog, Verilog-2001, one combinational and one clocked block, continuous
        assignments without any procedure, or a netlist of gates and given flip-flops.

    Observation:
        The module, the rules of the style, and the flip-flop where the style asks for one.

    Action:
        The module in the new style as one block of Verilog or SystemVerilog.

    Reward:
        1 if the text keeps all rules of the style and the module behaves as the one shown for all
        inputs at all times, otherwise 0; with ``reward="graded"`` a text in the style gets up to
        half for compiling, for the right ports and for outputs that never differed in simulation.

    Episode End:
        After one step.

    Verification:
        The rules are about words and symbols, and are checked exactly; comments do not count, and
        what is forbidden is forbidden in every module of the answer. The module shown breaks
        them. Then equivalence with it by simulation and proof (see docs/verilog.md). How good the
        text is within the rules is not judged: a netlist of gates also counts as SystemVerilog.

    Difficulty:
        The design grows, and the styles get further from what is shown. Netlists of gates are
        asked of designs half as difficult as the others, and of level 8 at most.

    References:
        IEEE 1364-2001 and IEEE 1800-2017 for what each language has.

    Version History:
        v0: first version.
    """

    judged_in_sandbox = True

    def generate(self, rng: Rng) -> VerilogTranslationProblem:
        name, design = self._drawn(rng)
        broken = style_of(name).broken_by
        pairs = [(design.golden, design.alternative), (design.alternative, design.golden)]
        pairs = [pair for pair in pairs if broken(pair[0], design.clocking)]
        source, other = pick(rng, pairs)
        return VerilogTranslationProblem(
            source=source,
            style=name,
            ports=design.reference.ports,
            clocking=design.clocking,
            reward=self.config.reward,
            other=other,
        )

    def _drawn(self, rng: Rng) -> tuple[str, Design]:
        """Draw a style and a design with a source that is not in it."""
        config = self.config
        for _ in range(_DRAWS):
            name = pick(rng, config.styles)
            level = min(config.level // 2, _MOST_GATED) if name == "structural" else config.level
            design = draw_design(rng, level, config.families or FAMILIES)
            broken = style_of(name).broken_by
            if any(broken(text, design.clocking) for text in (design.golden, design.alternative)):
                return name, design
        # Golden sources are in Verilog-2001.
        return "systemverilog", draw_design(rng, config.level, config.families or FAMILIES)

    def prompt(self, problem: VerilogTranslationProblem) -> str:
        style, clocking = style_of(problem.style), problem.clocking
        rules = "\n".join(f"- {rule}" for rule in style.rules.splitlines())
        parts = [
            "Here is a module:",
            f"```verilog\n{problem.source.strip()}\n```",
            f"Write a module `{TOP}` with the same ports that does exactly the same, {style.title}.",
            f"The text keeps these rules, comments aside:\n\n{rules}",
        ]
        if style.given and clocking is not None:
            parts.append(f"This is given:\n\n```verilog\n{flip_flop(clocking).strip()}\n```")
        elif style.given:
            parts.append("There is no state here, and no flip-flop.")
        if clocking is not None:
            parts.append(timing(clocking))
        parts.append("Delays, initial values, system tasks and assertions are not allowed.")
        return "\n\n".join(parts)

    def verify(self, problem: VerilogTranslationProblem, answer: str) -> Verdict:
        style = style_of(problem.style)
        broken = style.broken_by(answer, problem.clocking)
        if broken:
            return Verdict.wrong(f"it is not written {style.title}: {broken}", style=0.0)
        text = answer
        if style.given and problem.clocking is not None:
            text = f"{answer}\n{flip_flop(problem.clocking)}"
        return judge(text, self._reference(problem), reward=problem.reward)

    def solve(self, problem: VerilogTranslationProblem) -> str:
        if not style_of(problem.style).broken_by(problem.other, problem.clocking):
            return problem.other
        return rewritten(self._reference(problem), problem.style)

    def _reference(self, problem: VerilogTranslationProblem) -> Reference:
        return Reference(problem.source, problem.ports, problem.clocking, TOP)
