"""VerilogDialogue: write a module in several attempts, with feedback after each."""

from dataclasses import dataclass, replace
from typing import ClassVar

from rlvr_envs.core.answer import answer_format
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import InteractiveTask, Reply
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware.design import TOP, silent
from rlvr_envs.generators.hardware.families import FAMILIES, check_families, draw_design
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.task import LANGUAGE, DesignConfig
from rlvr_envs.generators.hardware.wording import LAYOUTS, wording
from rlvr_envs.verifiers.hdl.interface import Clocking, Port, Reference
from rlvr_envs.verifiers.hdl.judge import judge

_MOST_ATTEMPTS = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class VerilogDialogueConfig(DesignConfig):
    """The design to write, and the number of attempts."""

    level: int = knob(3, "difficulty of the design within its family", low=0)
    attempts: int = knob(4, "number of modules that may be sent", low=1, high=_MOST_ATTEMPTS)
    discount: float = knob(1.0, "factor on the score for each failed attempt")
    families: tuple[str, ...] = knob((), "ids of design families to draw from; empty means all")

    def check(self) -> None:
        if not 0 < self.discount <= 1:
            raise ConfigError(f"discount is above 0 and at most 1, got {self.discount}")
        check_families(self.families)

    @classmethod
    def at(cls, difficulty: int) -> "VerilogDialogueConfig":
        """The design grows by five levels in four steps, and every fourth step adds an attempt."""
        attempts = min(3 + difficulty // 4, _MOST_ATTEMPTS)
        return cls(level=difficulty + difficulty // 4, attempts=attempts)


@dataclass(frozen=True, slots=True)
class VerilogDialogueProblem:
    """A design to write, and the number of attempts."""

    description: str
    ports: tuple[Port, ...]
    clocking: Clocking | None
    attempts: int
    discount: float
    reward: str
    golden: str = hidden()
    alternative: str = hidden()
    accept_bounded: bool = hidden(True)

    @property
    def reference(self) -> Reference:
        """What a module must be equivalent to."""
        return Reference(self.golden, self.ports, self.clocking, TOP)


class VerilogDialogueSession:
    """One episode: the model sends modules, and the session replies with what is wrong."""

    def __init__(self, problem: VerilogDialogueProblem) -> None:
        self._problem = problem
        self._failed = 0

    def reply(self, action: str) -> Reply:
        """Judge the module of a message; a message without one fails."""
        found = answer_format(LANGUAGE).extract(action)
        if found.answer is None:
            verdict = Verdict.unparsable(f"the message has no module: {found.reason}")
        else:
            problem = self._problem
            verdict = judge(
                found.answer,
                problem.reference,
                reward=problem.reward,
                accept_bounded=problem.accept_bounded,
            )
        if verdict.score == 1.0 or not verdict.scored:
            return Reply("", self._ended(verdict))
        self._failed += 1
        left = self._problem.attempts - self._failed
        void = found.answer is None
        if left <= 0:
            return Reply("", self._ended(verdict), void=void, out_of_turns=True)
        last = "1 more attempt" if left == 1 else f"{left} more attempts"
        return Reply(
            f"The module is not correct yet: {verdict.detail}\n\nYou have {last}.", void=void
        )

    def _ended(self, verdict: Verdict) -> Verdict:
        """Return the verdict on the last module as that on the episode."""
        parts = {**verdict.parts, "failed": float(self._failed)}
        if verdict.score < 1.0 or self._problem.discount == 1.0:
            return replace(verdict, parts=parts)
        score = self._problem.discount**self._failed
        return Verdict.graded(score, verdict.detail, **parts)


@register("VerilogDialogue-v0", domain="verilog", answer_format=LANGUAGE, max_turns=_MOST_ATTEMPTS)
class VerilogDialogueTask(InteractiveTask[VerilogDialogueConfig, VerilogDialogueProblem]):
    """Write a module in several attempts, with feedback on each wrong one.

    Description:
        A design of one of the families is described. Each module that is sent is compared with a
        reference. If it is wrong, the reply has the compiler's errors or a run in which it goes
        wrong, and another module may be sent.

    Observation:
        What the module does, in full, and the number of attempts; after each attempt the errors,
        the port that is missing, or the last cycles of a run with inputs, expected outputs and
        those of the module.

    Action:
        A message with the whole module in a code block of Verilog or SystemVerilog. The last block
        of a message counts, a message without one is an attempt that failed.

    Reward:
        1 if one of the attempts is correct, however many it takes; with a discount below 1, times
        that discount for each attempt that failed before it. Otherwise 0; with
        ``reward="graded"`` the last attempt earns up to half for compiling, for the right ports
        and for outputs that never differed in simulation.

    Episode End:
        With the first correct module, or when there are no more attempts.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). What comes back
        shows the reference in one run of a few cycles and nothing else of it; the description
        settles every case, so that it is a help and never the specification. What a run shows can
        be put into a module as a special case, and that does not pay: the next run is another one.

    Difficulty:
        The design grows a little faster than in its family, the number of attempts slowly.

    References:
        Thakur et al., "AutoChip: Automating HDL Generation Using LLM Feedback", 2023, for tools
        that answer; Gehring et al., "RLEF", 2024, for training on such dialogues.
    """

    judged_in_sandbox: ClassVar[bool] = True

    def generate(self, rng: Rng) -> VerilogDialogueProblem:
        config = self.config
        layout = integer(rng, 0, LAYOUTS - 1)
        design = draw_design(rng, config.level, config.families or FAMILIES)
        return VerilogDialogueProblem(
            description=wording(design, layout),
            ports=design.reference.ports,
            clocking=design.clocking,
            attempts=config.attempts,
            discount=config.discount,
            reward=config.reward,
            golden=design.golden,
            alternative=design.alternative,
            accept_bounded=config.accept_bounded,
        )

    def prompt(self, problem: VerilogDialogueProblem) -> str:
        attempts = "1 attempt" if problem.attempts == 1 else f"{problem.attempts} attempts"
        pays = ""
        if problem.discount < 1:
            pays = f" Each failed attempt multiplies your final score by {problem.discount:g}."
        return (
            f"{problem.description}\n\nSend the complete module as one ```verilog code block. If "
            "it is not correct, the reply says why (compiler errors, or a simulation run in which "
            f"it goes wrong), and you may send another module. You have {attempts}.{pays}"
        )

    def begin(self, problem: VerilogDialogueProblem) -> VerilogDialogueSession:
        return VerilogDialogueSession(problem)

    def play(self, problem: VerilogDialogueProblem) -> list[str]:
        return [answer_format(LANGUAGE).wrap(problem.alternative)]

    def effort(self, problem: VerilogDialogueProblem) -> float:
        """Return the effort of the easier of the two known writings."""
        return min(writing_effort(problem.golden), writing_effort(problem.alternative))

    def baseline(self, rng: Rng, problem: VerilogDialogueProblem) -> list[str]:
        """Send a module whose outputs are always 0 at every attempt."""
        return [answer_format(LANGUAGE).wrap(silent(problem.ports))] * problem.attempts
