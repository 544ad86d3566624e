r"""Families of questions: tasks whose level says how many ideas a solution has to join.

A family has two functions. ``draw(rng, size)`` draws the numbers of a question, and
``state(*numbers)`` returns the `Question`: its text, its answer, a worked solution and what a
hurried solver would answer. A task lists its families from the easiest to the hardest, and
`window` says which of them a level asks. What the families are about belongs to the tasks.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, TypeVar

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.seeding import Rng, pick
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.mathematics.effort import written
from rlvr_envs.generators.mathematics.latex import number
from rlvr_envs.generators.mathematics.surds import Surd
from rlvr_envs.verifiers.symbolic import judge_math

Numbers = tuple[int, ...]
Value = int | Fraction | Surd

TOP_LEVEL = 10  # the first level that asks the hardest families alone
_BRANCHES = 5  # lemmas that a solver would try at each idea, for the estimate of the effort
_ATTEMPTS = 50
_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.]*\d)")


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a family.

    Attributes:
        text: what is given, and what to find.
        answer: the exact answer.
        steps: the lines of a worked solution.
        guess: what a solver answers who misses an idea; now and then it is right.
    """

    text: str
    answer: Value
    steps: list[str]
    guess: Value


@dataclass(frozen=True, slots=True)
class Family:
    """One family of questions.

    Attributes:
        ideas: how many ideas a solution joins.
        draw: returns the numbers of a question, of a size from 0.
        state: returns the question with these numbers.
        form: the sentence about the form of the answer, where it is not that of the task.
    """

    ideas: int
    draw: Callable[[Rng, int], Numbers]
    state: Callable[..., Question]
    form: str = ""


@dataclass(frozen=True, slots=True)
class FamilyProblem:
    """The family, the numbers of the question, the answer in LaTeX, and a worked solution."""

    kind: str
    numbers: Numbers
    answer: str = hidden()
    solution: tuple[str, ...] = hidden()


def window(kinds: Sequence[str], difficulty: int, width: int = 4) -> tuple[str, ...]:
    """Return the kinds that a level asks: a few neighbours, the hardest ones from level 10 on."""
    start = (len(kinds) - width) * min(difficulty, TOP_LEVEL) // TOP_LEVEL
    return tuple(kinds[start : start + width])


def shown(value: Value) -> str:
    """Return an exact value in LaTeX."""
    return value.latex() if isinstance(value, Surd) else number(value)


ConfigT = TypeVar("ConfigT", bound=TaskConfig)


class FamilyTask(Task[ConfigT, FamilyProblem]):
    """A task that asks questions of families; its configuration has `kinds` and `size`.

    Attributes:
        families: the families by name, from the easiest to the hardest.
        answer_type: how `judge_math` reads an answer.
        form: the sentence about the form of the answer.
    """

    Problem = FamilyProblem
    families: ClassVar[Mapping[str, Family]]
    answer_type: ClassVar[str] = "rational"
    form: ClassVar[str] = "Answer with the exact value, as an integer or a fraction."

    def generate(self, rng: Rng) -> FamilyProblem:
        """Draw a question whose answer is not one of the numbers in it, and not 0 or 1."""
        config: Any = self.config
        kind = pick(rng, config.kinds)
        for _ in range(_ATTEMPTS):
            numbers = self.families[kind].draw(rng, config.size)
            question = self.families[kind].state(*numbers)
            answer = shown(question.answer)
            if answer not in ("0", "1", *_NUMBER.findall(question.text)):
                return FamilyProblem(kind, numbers, answer, tuple(question.steps))
        raise ConfigError(
            f"{_ATTEMPTS} questions of the kind {kind!r} with size={config.size} had trivial "
            "answers: change size"
        )

    def prompt(self, problem: FamilyProblem) -> str:
        form = self.families[problem.kind].form or self.form
        return f"{self._question(problem).text} {form}"

    def verify(self, problem: FamilyProblem, answer: str) -> Verdict:
        return judge_math(problem.answer, answer, answer_type=self.answer_type, exact=True)

    def solve(self, problem: FamilyProblem) -> str:
        return problem.answer

    def explain(self, problem: FamilyProblem) -> list[str]:
        return list(problem.solution)

    def effort(self, problem: FamilyProblem) -> float:
        """Estimate a search for the ideas, and count the digits of the worked solution.

        A solver who tries five lemmas wherever an idea is needed makes ``5 ** ideas`` tries.
        """
        ideas = self.families[problem.kind].ideas
        return float(_BRANCHES**ideas + written(problem.solution))

    def baseline(self, rng: Rng, problem: FamilyProblem) -> str:
        """Answer as a solver does who misses an idea."""
        return shown(self._question(problem).guess)

    def _question(self, problem: FamilyProblem) -> Question:
        return self.families[problem.kind].state(*problem.numbers)
