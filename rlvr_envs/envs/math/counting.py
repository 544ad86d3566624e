"""Combinatorics: how many ways there are."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.math._counting import KINDS, SURFACES
from rlvr_envs.generators.mathematics.counting_steps import STEPS
from rlvr_envs.verifiers.symbolic import judge_math

_ATTEMPTS = 20  # draws with an answer below 2 are rare, and kept after so many in a row


@dataclass(frozen=True, slots=True, kw_only=True)
class CountingConfig:
    """Which questions are asked, and how large they are."""

    kinds: tuple[str, ...] = tuple(KINDS)  # some of the kinds that the task's text lists
    size: int = 16  # about how many things, people, places or steps a question has

    def __post_init__(self) -> None:
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise ConfigError(f"kinds are some of {', '.join(KINDS)}, got {self.kinds!r}")
        if self.size < 2:
            raise ConfigError(f"need size >= 2, got {self.size}")

    @classmethod
    def at(cls, difficulty: int) -> "CountingConfig":
        """The size of the question grows by three a rung, and so the things to be counted."""
        return cls(size=3 + 3 * difficulty)


@dataclass(frozen=True, slots=True)
class CountingProblem:
    """The kind of question, its wording, the numbers in it, and the count."""

    kind: str
    surface: int
    numbers: tuple[int, ...]
    count: int = hidden()


@register("Counting-v0", domain="math")
class CountingTask(Task[CountingConfig, CountingProblem]):
    """Count the arrangements, choices or paths that a question in words describes.

    Description:
        Ten kinds, each in two settings: arrangements of a multiset; committees with a quota;
        lattice paths around blocked points; identical things shared out between bounds; round
        tables with people together or apart; multiples by inclusion and exclusion; strings
        without runs; choices that keep a distance; permutations with fixed points; partitions
        and surjections.

    Observation:
        One question in words.

    Action:
        One integer, worked out: a factorial or a binomial coefficient earns nothing.

    Reward:
        1 for the right count, otherwise 0.

    Episode End:
        After one step.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The number of things grows, and with it the number of cases a listing would have.

    References:
        Stanley, Enumerative Combinatorics, volume 1, chapters 1 and 2.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> CountingProblem:
        kind = pick(rng, self.config.kinds)
        surface = integer(rng, 0, SURFACES - 1)
        numbers: tuple[int, ...] = ()
        count = 0
        for _ in range(_ATTEMPTS):
            numbers = KINDS[kind].draw(rng, self.config.size)
            count = KINDS[kind].count(numbers)
            if count >= 2:
                break
        return CountingProblem(kind, surface, numbers, count)

    def prompt(self, problem: CountingProblem) -> str:
        return KINDS[problem.kind].ask(problem.numbers, problem.surface)

    def verify(self, problem: CountingProblem, answer: str) -> Verdict:
        return judge_math(str(problem.count), answer, answer_type="integer")

    def solve(self, problem: CountingProblem) -> str:
        return str(problem.count)

    def explain(self, problem: CountingProblem) -> list[str]:
        return STEPS[problem.kind](problem.numbers)
