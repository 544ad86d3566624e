"""What all design tasks share: the problem, its prompt, and how an answer is judged."""

import typing
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.hardware.design import Design, Signal, silent
from rlvr_envs.generators.hardware.sizes import writing_effort
from rlvr_envs.generators.hardware.waves import perhaps_waved
from rlvr_envs.generators.hardware.wording import LAYOUTS, wording
from rlvr_envs.verifiers.hdl.interface import Clocking
from rlvr_envs.verifiers.hdl.judge import REWARDS, judge

LANGUAGE = "fenced:verilog"


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignConfig(TaskConfig):
    """The knobs that all design tasks share; each family adds its own."""

    reward: str = knob(
        "equivalence",
        '"graded" gives a little for compiling and for the right ports',
        choices=REWARDS,
    )
    accept_bounded: bool = knob(
        True, "False does not score an answer that simulation and no proof takes for right"
    )


def feature_knob(default: int, names: Sequence[str]) -> Any:
    """Declare the knob that says how many of the features a design has: the first ones."""
    told = f"number of features, added in the order {', '.join(names)}"
    return knob(default, told, low=0, high=len(names))


ConfigT = TypeVar("ConfigT", bound=DesignConfig)


@dataclass(frozen=True, slots=True)
class VerilogProblem:
    """A design to write; the two sources of it are hidden."""

    title: str
    signals: tuple[Signal, ...]
    rules: tuple[str, ...]
    clocking: Clocking | None
    figure: str
    layout: int  # of the prompt, see `wording`
    reward: str
    golden: str = hidden()
    alternative: str = hidden()
    accept_bounded: bool = hidden(True)

    @property
    def design(self) -> Design:
        """The design that was drawn."""
        return Design(
            self.title,
            self.signals,
            self.rules,
            self.golden,
            self.alternative,
            self.clocking,
            self.figure,
        )


class DesignTask(Task[ConfigT, VerilogProblem], Generic[ConfigT]):
    """A family of designs; subclass as ``DesignTask[MyConfig]`` and write `design`.

    Observation:
        What the module does in numbered rules or prose, its ports, and the kind of its reset.

    Action:
        The module as one block of Verilog or SystemVerilog.

    Reward:
        1 if the module behaves as the reference for all inputs at all times, otherwise 0; with
        ``reward="graded"`` up to half for compiling, for the right ports and for outputs that
        never differed in simulation.

    Verification:
        Equivalence with a reference by simulation and proof (see docs/verilog.md). A value that
        is not determined counts as wrong.
    """

    judged_in_sandbox = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Read `Config` off the type argument, as `Task` does with two."""
        super().__init_subclass__(**kwargs)
        for base in getattr(cls, "__orig_bases__", ()):
            if typing.get_origin(base) is DesignTask and isinstance(typing.get_args(base)[0], type):
                cls.Config, cls.Problem = typing.get_args(base)[0], VerilogProblem

    @abstractmethod
    def design(self, rng: Rng) -> Design:
        """Draw a design of the family, using no randomness but ``rng``."""

    def generate(self, rng: Rng) -> VerilogProblem:
        layout = integer(rng, 0, LAYOUTS - 1)
        design = perhaps_waved(self.design(rng), rng)
        return VerilogProblem(
            title=design.title,
            signals=design.signals,
            rules=design.rules,
            clocking=design.clocking,
            figure=design.figure,
            layout=layout,
            reward=self.config.reward,
            golden=design.golden,
            alternative=design.alternative,
            accept_bounded=self.config.accept_bounded,
        )

    def prompt(self, problem: VerilogProblem) -> str:
        return wording(problem.design, problem.layout)

    def verify(self, problem: VerilogProblem, answer: str) -> Verdict:
        return judge(
            answer,
            problem.design.reference,
            reward=problem.reward,
            accept_bounded=problem.accept_bounded,
        )

    def solve(self, problem: VerilogProblem) -> str:
        return problem.alternative

    def effort(self, problem: VerilogProblem) -> float:
        """Return Halstead's effort of the easier of the two known writings."""
        return min(writing_effort(problem.golden), writing_effort(problem.alternative))

    def baseline(self, rng: Rng, problem: VerilogProblem) -> str:
        """Return a module whose outputs are always 0."""
        return silent(problem.design.reference.ports)
