"""Linear programs told as business stories."""

from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.np_hard._linear_stories import STORIES
from rlvr_envs.generators.optimisation.linear_programs import Optimum, Program, explained, optimum
from rlvr_envs.generators.optimisation.stories import MAX_NUMBER, Size
from rlvr_envs.verifiers.symbolic import judge_math

_DRAWS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearProgramConfig:
    """How large the programs are, and which stories are told."""

    n_choices: int = 3  # quantities to choose, at the least
    n_limits: int = 2  # limits beside those on single quantities
    max_number: int = 12
    max_denominator: int = 12  # of the answer, where ten draws bring one forth
    story: str = "any"  # or one of plant, feed, alloy, transport, bonds, months

    def __post_init__(self) -> None:
        if not (2 <= self.n_choices <= 30 and 1 <= self.n_limits <= 30):
            raise ConfigError(f"need n_choices in 2..30 and n_limits in 1..30, got {self}")
        if not 3 <= self.max_number <= MAX_NUMBER or self.max_denominator < 1:
            raise ConfigError(
                f"need max_number in 3..{MAX_NUMBER} and max_denominator >= 1, got {self}"
            )
        if self.story not in ("any", *STORIES):
            raise ConfigError(f"story is any or one of {', '.join(STORIES)}, got {self.story!r}")

    @classmethod
    def at(cls, difficulty: int) -> "LinearProgramConfig":
        """Choices, limits, numbers and the answer's denominators grow."""
        return cls(
            n_choices=min(30, 2 + difficulty // 2),
            n_limits=min(30, 1 + difficulty // 2),
            max_number=min(MAX_NUMBER, 6 + 3 * difficulty),
            max_denominator=max(1, 6 * (difficulty - 1)),
        )


@dataclass(frozen=True, slots=True)
class LinearProgramProblem:
    """The story and its numbers, and the optimum."""

    story: str
    numbers: tuple[tuple[int, ...], ...]
    optimum: Fraction = hidden()


@register("LinearProgram-v0", domain="np_hard")
class LinearProgramTask(Task[LinearProgramConfig, LinearProgramProblem]):
    """Find the optimum of a linear program that is told as a story.

    Description:
        Six stories: a plant's product mix, feed for a herd, an alloy from scrap, freight from
        plants to shops, a fund's bonds, and production over months with a store. The program is
        to be set up and solved; amounts need not be whole. Of ten draws, the first whose answer
        has a small denominator is taken, or else the one with the smallest.

    Observation:
        The story with all its numbers, which are whole.

    Action:
        The optimal value as a whole number, a fraction or a finite decimal.

    Reward:
        1 for the exact optimum, otherwise 0.

    Episode End:
        After one step.

    Verification:
        Exact: the optimum is computed by the simplex method in whole numbers, without rounding,
        and rounded answers are wrong. No known gaps.

    Difficulty:
        More quantities and limits, larger numbers, and fractions from rung 2.

    References:
        Dantzig, "Linear Programming and Extensions", 1963. Zhou et al., "StepORLM", 2025
        (arXiv:2509.22558), and Ramamonjison et al., "NL4Opt", 2022, for programs told as stories.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> LinearProgramProblem:
        story = self.config.story
        if story == "any":
            story = pick(rng, sorted(STORIES))
        best = self._draw(rng, story)
        for _ in range(_DRAWS - 1):
            if best.optimum.denominator <= self.config.max_denominator:
                break
            problem = self._draw(rng, story)
            if problem.optimum.denominator < best.optimum.denominator:
                best = problem
        return best

    def _draw(self, rng: Rng, story: str) -> LinearProgramProblem:
        config = self.config
        size = Size(config.n_choices, config.n_limits, config.max_number)
        numbers = STORIES[story].draw(rng, size)
        return LinearProgramProblem(story, numbers, optimum(program(story, numbers)).value)

    def prompt(self, problem: LinearProgramProblem) -> str:
        return (
            f"{STORIES[problem.story].tell(problem.numbers)} Answer with the exact number, as a "
            "whole number, a fraction or a decimal; do not round."
        )

    def verify(self, problem: LinearProgramProblem, answer: str) -> Verdict:
        return judge_math(str(problem.optimum), answer, answer_type="rational", exact=True)

    def solve(self, problem: LinearProgramProblem) -> str:
        return str(problem.optimum)

    def explain(self, problem: LinearProgramProblem) -> list[str]:
        """Return the program, its best plan, and the proof that none is better."""
        return explained(program(problem.story, problem.numbers))

    def effort(self, problem: LinearProgramProblem) -> int:
        """Return how many pivots the simplex method takes."""
        return self.solution(problem).pivots

    def solution(self, problem: LinearProgramProblem) -> Optimum:
        """Return the optimum with the quantities that reach it."""
        return optimum(program(problem.story, problem.numbers))


def program(story: str, numbers: tuple[tuple[int, ...], ...]) -> Program:
    """Return the program that a story with its numbers asks to solve."""
    return STORIES[story].program(numbers)
