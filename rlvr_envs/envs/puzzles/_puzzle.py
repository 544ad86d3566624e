"""What every single-turn puzzle offers beyond the contract of a task."""

from abc import abstractmethod

from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import ConfigT, ProblemT, Task


class PuzzleTask(Task[ConfigT, ProblemT]):
    """A puzzle whose levels can be measured: what solving costs, and what guessing earns."""

    @abstractmethod
    def effort(self, problem: ProblemT) -> int:
        """Return how much work an exact search does on the problem: nodes, states or steps.

        The search starts from the public data alone and uses no randomness, so the number is a
        property of the problem.
        """

    @abstractmethod
    def guess(self, problem: ProblemT, rng: Rng) -> str:
        """Return a readable answer of a simple baseline that does not search.

        It may use the rules as a hurried player would; it never looks at a hidden field.
        """
