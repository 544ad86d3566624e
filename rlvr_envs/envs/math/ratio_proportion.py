"""Ratios, proportions, mixtures, scales and rates of work, told in words."""

from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.math._proportions import PROPORTIONS
from rlvr_envs.generators.mathematics.latex import number
from rlvr_envs.verifiers.symbolic import judge_math

KINDS = tuple(PROPORTIONS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatioProportionConfig:
    """The kinds of questions, how many terms or steps they have, and the size of the numbers."""

    kinds: tuple[str, ...] = KINDS  # one is drawn for each problem
    n_terms: int = 3  # parts of a ratio, links of a chain, pipes, copies, dilutions or alloys
    max_number: int = 20  # the numbers told are of about this size

    def __post_init__(self) -> None:
        if not self.kinds or not set(self.kinds) <= set(KINDS):
            raise ConfigError(f"kinds are some of {', '.join(KINDS)}, got {self.kinds!r}")
        if not 2 <= self.n_terms <= 200 or self.max_number < 4:
            raise ConfigError(f"need n_terms in 2..200 and max_number >= 4, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "RatioProportionConfig":
        """A term more each rung, up to 200 of them; the numbers grow by six."""
        return cls(n_terms=min(200, 2 + difficulty), max_number=6 + 6 * difficulty)


@dataclass(frozen=True, slots=True)
class RatioProportionProblem:
    """The kind of question and the numbers that it tells, in the order of its text."""

    kind: str
    numbers: tuple[int, ...]
    answer: Fraction = hidden()


@register("RatioProportion-v0", domain="math")
class RatioProportionTask(Task[RatioProportionConfig, RatioProportionProblem]):
    """Solve a word problem on ratios and proportions.

    Description:
        Seven kinds: sharing in a ratio of several parts; a chain of ratios; compound proportion
        of workers, days and hours; pipes that fill and drain; distances on a map copied several
        times; repeated dilution; alloys melted together.

    Observation:
        The question in words.

    Action:
        One exact number, an integer or a fraction.

    Reward:
        1 for the right number, otherwise 0.

    Episode End:
        After one step.

    Verification:
        Exact rational arithmetic on any way of writing the number.

    Difficulty:
        The parts, links, pipes, copies, dilutions or alloys and the numbers grow; for workers,
        where the quantities are fixed, only the numbers.

    References:
        Euclid, Elements, books V and VII.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> RatioProportionProblem:
        kind = pick(rng, self.config.kinds)
        numbers = PROPORTIONS[kind].draw(rng, self.config.n_terms, self.config.max_number)
        return RatioProportionProblem(kind, numbers, PROPORTIONS[kind].value(numbers))

    def prompt(self, problem: RatioProportionProblem) -> str:
        text = PROPORTIONS[problem.kind].text(problem.numbers)
        return f"{text} Give the exact number, as an integer or a fraction."

    def verify(self, problem: RatioProportionProblem, answer: str) -> Verdict:
        return judge_math(number(problem.answer), answer, answer_type="rational", exact=True)

    def solve(self, problem: RatioProportionProblem) -> str:
        return number(problem.answer)

    def explain(self, problem: RatioProportionProblem) -> list[str]:
        return PROPORTIONS[problem.kind].explain(problem.numbers)
