"""Probabilities and expected values, as exact fractions."""

from dataclasses import dataclass
from fractions import Fraction

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import WorkedTask
from rlvr_envs.generators.mathematics.latex import number
from rlvr_envs.generators.mathematics.probability import KINDS
from rlvr_envs.generators.mathematics.probability_steps import STEPS
from rlvr_envs.verifiers.symbolic import judge_math

# The first level of each kind, and the one from which it is too easy.
_LEVELS = {
    **dict.fromkeys(("urn", "wheel"), range(6)),
    **dict.fromkeys(("colours", "which_bag", "transfer"), range(10**9)),
    **dict.fromkeys(("dice_sum", "test"), range(1, 10**9)),
    "wait": range(2, 6),
    **dict.fromkeys(("extreme", "turns"), range(2, 10**9)),
    "walk": range(4, 10**9),
    "pattern": range(5, 10**9),
}
_ATTEMPTS = 20  # draws with the answer 0 or 1 are rare, and accepted after so many in a row


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilityConfig(TaskConfig):
    """Which questions are asked, and how large they are."""

    kinds: tuple[str, ...] = knob(tuple(KINDS), "kinds of questions to draw from", choices=KINDS)
    size: int = knob(10, "size of a problem: numbers of dice, balls, bags, draws and stages", low=0)

    @classmethod
    def at(cls, difficulty: int) -> "ProbabilityConfig":
        """The size grows by two a level: more dice, balls and bags, more draws and stages.

        It starts with draws from bags and wheels; then come Bayes and sums, games without end, and
        from level 4 on random walks and patterns.
        """
        kinds = tuple(kind for kind, levels in _LEVELS.items() if difficulty in levels)
        return cls(kinds=kinds, size=2 * difficulty)


@dataclass(frozen=True, slots=True)
class ProbabilityProblem:
    """The kind of question, the numbers in it, and the exact answer."""

    kind: str
    numbers: tuple[int, ...]
    value: Fraction = hidden()


@register("Probability-v0", domain="math")
class ProbabilityTask(WorkedTask[ProbabilityConfig, ProbabilityProblem]):
    """Find a probability, a conditional probability or an expected value exactly.

    Description:
        Twelve kinds: the sum of dice; balls drawn with or without replacement; marbles of several
        colours; which bag a draw came from (Bayes); a medical test (Bayes); the wait for a red
        ball; the highest or lowest roll of several dice; balls moved through a chain of bags;
        players taking turns; mean and variance of a wheel of fortune; a walk between ruin and a
        goal; the wait for a pattern of rolls.

    Observation:
        One question in words.

    Action:
        One rational number: a fraction, lowest terms or not, or an exact decimal.

    Reward:
        1 for the exact value, otherwise 0.

    Verification:
        Exact, on fractions. An exact decimal is accepted. If the decimals of the value never end, a
        decimal correctly rounded to six or more significant digits is accepted too.

    Difficulty:
        The counts of dice, balls, bags, draws and stages grow, and with them the sample space.
        Kinds that take an idea, such as first steps or fair games, replace those that only count.

    References:
        Feller, An Introduction to Probability Theory and Its Applications, volume 1, chapters 2,
        5 and 9.
    """

    def generate(self, rng: Rng) -> ProbabilityProblem:
        kind = pick(rng, self.config.kinds)
        numbers: tuple[int, ...] = ()
        value = Fraction(0)
        for _ in range(_ATTEMPTS):
            numbers = KINDS[kind].draw(rng, self.config.size)
            value = KINDS[kind].value(numbers)
            if value not in (0, 1):
                break
        return ProbabilityProblem(kind, numbers, value)

    def prompt(self, problem: ProbabilityProblem) -> str:
        question = KINDS[problem.kind].ask(problem.numbers)
        return f"{question} Answer with the exact value, as an integer or a fraction."

    def verify(self, problem: ProbabilityProblem, answer: str) -> Verdict:
        return judge_math(number(problem.value), answer, answer_type="rational", exact=True)

    def solve(self, problem: ProbabilityProblem) -> str:
        return number(problem.value)

    def explain(self, problem: ProbabilityProblem) -> list[str]:
        return STEPS[problem.kind](problem.numbers)

    def baseline(self, rng: Rng, problem: ProbabilityProblem) -> str:
        """Take the first number of the question as the favourable share of the first two."""
        first, second, *_ = problem.numbers
        return f"{first}/{first + second}"
