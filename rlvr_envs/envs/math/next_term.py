"""Sequences whose rule is stated: find a term far ahead."""

from dataclasses import dataclass

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.envs.math._sequences import RULES
from rlvr_envs.verifiers.symbolic import judge_math


@dataclass(frozen=True, slots=True, kw_only=True)
class NextTermConfig:
    """Which rules are used, how far the term is, and how large the numbers are."""

    kinds: tuple[str, ...] = tuple(RULES)  # some of the kinds that the task's text lists
    n_steps: int = 12  # how far ahead the term may lie; further where a formula leaps there
    max_value: int = 100  # of the first terms and constants, in absolute value
    max_order: int = 2  # how many earlier terms a recurrence looks back on

    def __post_init__(self) -> None:
        if not self.kinds or not set(self.kinds) <= set(RULES):
            raise ConfigError(f"kinds are some of {', '.join(RULES)}, got {self.kinds!r}")
        if self.n_steps < 3 or self.max_value < 4 or self.max_order < 1:
            raise ConfigError(f"need n_steps >= 3, max_value >= 4 and max_order >= 1, got {self}")

    @classmethod
    def at(cls, difficulty: int) -> "NextTermConfig":
        """Three more steps a rung, twice the values, and a longer look back every third rung."""
        return cls(
            n_steps=4 + 3 * difficulty,
            max_value=6 * 2**difficulty,
            max_order=1 + difficulty // 3,
        )


@dataclass(frozen=True, slots=True)
class NextTermProblem:
    """The kind of rule, the index of the term, the numbers in the rule, and the term."""

    kind: str
    index: int
    numbers: tuple[int, ...]
    term: int = hidden()


@register("NextTerm-v0", domain="math")
class NextTermTask(Task[NextTermConfig, NextTermProblem]):
    """Find a term of a sequence whose rule is given in full.

    Description:
        Ten kinds of rule: arithmetic and geometric sequences; increments that depend on the
        index; constant higher differences; linear recurrences, plain and modulo a number; sums
        of digits; a rule for even and another for odd terms; two interleaved sequences; numbers
        that skip multiples. The rule is always stated, so that exactly one answer is right.

    Observation:
        The rule, the first terms it needs, and the index of the term asked for.

    Action:
        One integer.

    Reward:
        1 for the term, otherwise 0.

    Episode End:
        After one step.

    Verification:
        Exact, on integers. No known gaps.

    Difficulty:
        The index, the size of the numbers and the order of recurrences grow.

    References:
        Graham, Knuth and Patashnik, Concrete Mathematics, chapters 1 and 2.

    Version History:
        v0: first version.
    """

    def generate(self, rng: Rng) -> NextTermProblem:
        config = self.config
        kind = pick(rng, config.kinds)
        rule = RULES[kind]
        numbers = rule.draw(rng, config.max_value, config.max_order)
        steps = config.n_steps * (config.max_value if rule.far else 1)
        index = max(len(numbers), integer(rng, (steps + 1) // 2, steps)) + 1
        return NextTermProblem(kind, index, numbers, rule.term(numbers, index))

    def prompt(self, problem: NextTermProblem) -> str:
        return f"{RULES[problem.kind].ask(problem.numbers)} Find $a_{{{problem.index}}}$."

    def verify(self, problem: NextTermProblem, answer: str) -> Verdict:
        return judge_math(str(problem.term), answer, answer_type="integer")

    def solve(self, problem: NextTermProblem) -> str:
        return str(problem.term)

    def explain(self, problem: NextTermProblem) -> list[str]:
        return RULES[problem.kind].explain(problem.numbers, problem.index)
