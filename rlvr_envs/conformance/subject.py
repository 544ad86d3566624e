"""A task under check: its problems are drawn once, and its oracle is asked once for each."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from statistics import stdev

from rlvr_envs.core import registry
from rlvr_envs.core.answer import AnswerFormat, answer_format
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import RlvrEnvsError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.task import IndexedTask
from rlvr_envs.core.verdict import Verdict


class ConformanceError(RlvrEnvsError):
    """A task breaks a promise; the message says which and what was seen.

    Examples:
        >>> from rlvr_envs.conformance import CHECKS, ConformanceError, Subject
        >>> try:
        ...     CHECKS["oracle_earns_full_marks"](Subject("rlvr/Gcd-v0"))
        ... except ConformanceError as error:
        ...     print(error)
    """


class NotApplicable(RlvrEnvsError):
    """The task has nothing that this check could look at; the message says why.

    Examples:
        >>> from rlvr_envs.conformance import CHECKS, Subject
        >>> CHECKS["explanation_holds"](Subject("rlvr/GuessNumber-v0"))
        Traceback (most recent call last):
            ...
        rlvr_envs.conformance.subject.NotApplicable: its problems have no worked solutions
    """


def require(holds: bool, message: str) -> None:
    """Raise unless it holds."""
    if not holds:
        raise ConformanceError(message)


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of a mean; 0 where there is one value."""
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0


class Drawn:
    """One problem of the task, with what its oracle says of it."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance

    @property
    def form(self) -> AnswerFormat:
        """The answer format of the problem."""
        return answer_format(self.instance.format_label)

    @cached_property
    def reference(self) -> str | list[str]:
        """The oracle's bare answer, or its actions where the task is interactive."""
        return self.instance.reference()

    @property
    def solution(self) -> str | list[str]:
        """The oracle's full response, or its actions where the task is interactive."""
        return self.instance.response(self.reference)

    @cached_property
    def verdict(self) -> Verdict:
        """What the oracle's response gets."""
        return self.instance.judge(self.solution)

    def judged(self, answer: str | list[str]) -> Verdict:
        """Return what a bare answer gets, or actions where the task is interactive."""
        return self.instance.judge(self.instance.response(answer))


class Subject:
    """What the checks look at.

    Args:
        task_id: the id of a registered task, with ``rlvr/``.
        thorough: whether to look at many more problems.

    Examples:
        >>> from rlvr_envs.conformance import Subject
        >>> subject = Subject("rlvr/Gcd-v0")
        >>> subject.make_env(difficulty=0).reset(seed=0)[0].splitlines()[0]
        'What is the greatest common divisor of 112 and 128?'
    """

    def __init__(self, task_id: str, *, thorough: bool = False) -> None:
        self.id = task_id
        self.spec = registry.find(task_id)
        self.task_type = self.spec.task_type
        self.thorough = thorough
        self._drawn: dict[tuple[int | None, int], Drawn] = {}
        self._envs: dict[int | None, TextEnv] = {}

    @property
    def indexed(self) -> bool:
        """Whether its problems are the rows of a file."""
        return issubclass(self.task_type, IndexedTask)

    def make_env(self, difficulty: int | None = None) -> TextEnv:
        """Return a new environment of the task, with the knobs of its example."""
        return TextEnv(self.id, difficulty=difficulty, **dict(self.spec.example))

    def needs_generator(self) -> None:
        """Leave out a task whose problems are the rows of a file."""
        if self.indexed:
            raise NotApplicable("its problems are the rows of a file")

    def count(self, problems: int) -> int:
        """Return how many problems to look at, given how many a thorough check looks at.

        A quick check looks at a third of them, and at a twelfth where judging starts programs.
        """
        share = 1 if self.thorough else 12 if self.task_type.judged_in_sandbox else 3
        return -(-problems // share)

    def draw(self, count: int, *, levels: tuple[int, ...]) -> Iterator[Drawn]:
        """Yield ``count`` problems of each level, or at the defaults where there are no levels."""
        for level in (None,) if self.indexed else levels:
            for seed in range(count):
                if (level, seed) not in self._drawn:
                    env = self._envs.setdefault(level, self.make_env(level))
                    env.reset(seed=seed)
                    self._drawn[level, seed] = Drawn(env.instance)
                yield self._drawn[level, seed]

    def draw_answered(self, count: int, *, levels: tuple[int, ...]) -> Iterator[Drawn]:
        """Yield what `draw` does; leave out a task that is played in several turns."""
        for drawn in self.draw(count, levels=levels):
            if drawn.instance.interactive:
                raise NotApplicable("an episode is judged by its actions")
            yield drawn


Check = Callable[[Subject], None]
"""What a check is: it raises `ConformanceError`, or `NotApplicable`.

Examples:
    >>> from rlvr_envs.conformance import CHECKS, Check
    >>> check: Check = CHECKS["oracle_earns_full_marks"]
"""
