"""What the optimisation tasks share: the reference, the quality of an answer, the levels.

A task says how to measure an answer (`OptimisationTask.measure`); how that becomes a score is
said here once. Quality is relative to the best known objective and, where trivial answers would
otherwise earn much, to a stated trivial baseline.
"""

import itertools
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import ConfigT, ProblemT, Task
from rlvr_envs.core.verdict import Verdict

SCHEMES = ("ratio", "graph_r1", "binary")

# NP-Engine's size bands (arXiv:2510.16476): the difficulty level that matches each.
BANDS = {"easy": 2, "medium": 5, "hard": 8, "bench": 10}

# Deterministic seconds a solver may spend on a problem at difficulty 0, and what a level adds.
_BUDGET, _BUDGET_STEP = 0.02, 0.02

# Sizes and budgets stay as they are here from this difficulty on, far beyond any use.
_LAST_RUNG = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimisationConfig(TaskConfig):
    """The knobs of every optimisation task.

    The schemes: ``ratio`` is the quality itself; ``graph_r1`` is 1 at the best known and otherwise
    a quarter of the plain ratio (squared for tours), which is Graph-R1's reward halved with its
    penalty of -1 left at 0; ``binary`` is 1 at the best known and otherwise 0.
    """

    scheme: Literal["ratio", "graph_r1", "binary"] = knob(
        "ratio", "how quality becomes a score", choices=SCHEMES
    )
    budget: float = knob(0.1, "deterministic seconds of the reference solver", low=1e-9, high=1e6)


@dataclass(frozen=True, slots=True)
class Reference:
    """The best known answer to a problem.

    Attributes:
        objective: its objective.
        bound: no answer can be better than this.
        proven: whether the answer is proven to be optimal.
        baseline: the objective of the trivial answer that the task's description states, which
            earns 0; None where quality is the plain ratio.
        answer: the answer itself, as an agent would write it.
        effort: the work of finding it, in deterministic microseconds, or in the steps of an exact
            search of the task's own.
    """

    objective: int
    bound: int
    proven: bool
    baseline: int | None
    answer: str
    effort: int = 0


class Unreadable(Exception):
    """The answer is not of the form that was asked for; the message says why."""


class Infeasible(Exception):
    """The answer breaks a constraint; the message says which, without giving a solution away."""


class OptimisationTask(Task[ConfigT, ProblemT]):
    """A task whose answers have an objective; problems hold a hidden ``reference``.

    Attributes:
        sense: whether a larger or a smaller objective is better.
        graph_r1_power: the power of the ratio in the scheme ``graph_r1``.
    """

    sense: ClassVar[Literal["max", "min"]]
    graph_r1_power: ClassVar[int] = 1

    @abstractmethod
    def measure(self, problem: ProblemT, answer: str) -> int:
        """Return the objective of an answer, in time linear in its length or nearly so.

        Raises:
            Unreadable: it is not of the form that was asked for.
            Infeasible: it breaks a constraint.
        """

    def reference(self, problem: ProblemT) -> Reference:
        """Return the problem's hidden reference."""
        found: Reference = problem.reference  # type: ignore[attr-defined]  # every problem has it
        return found

    @abstractmethod
    def baseline(self, rng: Rng, problem: ProblemT) -> str:
        """Return the answer of a simple greedy heuristic, feasible wherever that is easy."""

    @abstractmethod
    def neighbour(self, problem: ProblemT, answer: str, rng: Rng) -> str:
        """Return a feasible answer with one small random change, the move of a local search.

        The result may be infeasible, and then is not taken.
        """

    def effort(self, problem: ProblemT) -> int:
        """Return how much work the reference was; see `Reference`."""
        return self.reference(problem).effort

    def solve(self, problem: ProblemT) -> str:
        """Return the best known answer."""
        return self.reference(problem).answer

    def conclusion(self, problem: ProblemT, objective: str) -> str:
        """Return the last step of a worked solution: the objective, and whether it is optimal.

        Args:
            problem: the problem.
            objective: what is counted, as the beginning of a sentence.
        """
        found = self.reference(problem)
        better = "larger" if self.sense == "max" else "smaller"
        known = f"no {better} one is possible" if found.proven else f"no {better} one is known"
        return f"{objective} is {found.objective}, and {known}."

    def partial_credit(self, condition: str = "") -> str:
        """Return a sentence for the prompt: what a feasible but worse answer earns.

        Args:
            condition: in the scheme ``ratio``, what the answer must achieve to beat the trivial
                baseline, as a clause after "if"; empty where there is no baseline.
        """
        scheme: str = self.config.scheme  # type: ignore[attr-defined]  # every Config has it
        earned = {
            "ratio": f"partial credit if {condition}" if condition else "partial credit",
            "graph_r1": "less than a quarter of the full credit",
            "binary": "no credit",
        }[scheme]
        return f"A feasible answer that is worse than the best known one earns {earned}."

    def verify(self, problem: ProblemT, answer: str) -> Verdict:
        """Score an answer by its quality; see `OptimisationConfig.scheme`."""
        try:
            objective = self.measure(problem, answer)
        except Unreadable as error:
            return Verdict.unparsable(str(error), feasible=0.0, ratio=0.0)
        except Infeasible as error:
            return Verdict.wrong(str(error), feasible=0.0, ratio=0.0)
        return self._grade(self.reference(problem), objective)

    def _grade(self, reference: Reference, objective: int) -> Verdict:
        if self._better(objective, reference.bound):
            return Verdict.verifier_error(
                f"an answer with objective {objective} passes the bound {reference.bound}"
            )
        ratio = plain_ratio(self.sense, objective, reference.objective)
        parts = {
            "feasible": 1.0,
            "ratio": ratio,
            "quality": _quality(self.sense, objective, reference),
            "objective": float(objective),
            "best_known": float(reference.objective),
            "proven": float(reference.proven),
        }
        if self._better(objective, reference.objective):
            parts["beats_reference"] = 1.0
        if not self._better(reference.objective, objective):
            return Verdict.correct("as good as the best known answer", **parts)
        scheme = self.config.scheme  # type: ignore[attr-defined]  # every Config has it
        score = {
            "ratio": parts["quality"],
            "graph_r1": ratio**self.graph_r1_power / 4,
            "binary": 0.0,
        }[scheme]
        detail = f"feasible, with objective {objective}; better answers are known"
        return Verdict.graded(score, detail, **parts)

    def _better(self, one: int, other: int) -> bool:
        return one > other if self.sense == "max" else one < other


def plain_ratio(sense: Literal["max", "min"], objective: int, best: int) -> float:
    """Return objective/best or best/objective, whichever is at most 1, as NP-Bench's AR takes it.

    An answer beyond the best known counts as 1, and anything worse stays below 1.
    """
    worse, better = (objective, best) if sense == "max" else (best, objective)
    if worse >= better:
        return 1.0
    return _below_one(worse, better) if better > 0 and worse > 0 else 0.0


def _quality(sense: Literal["max", "min"], objective: int, reference: Reference) -> float:
    if reference.baseline is None:
        return plain_ratio(sense, objective, reference.objective)
    sign = 1 if sense == "max" else -1
    gained = sign * (objective - reference.baseline)
    possible = sign * (reference.objective - reference.baseline)
    if gained >= possible:
        return 1.0
    return _below_one(gained, possible) if gained > 0 else 0.0


def _below_one(part: int, whole: int) -> float:
    return min(part / whole, math.nextafter(1.0, 0.0))


def ramp(difficulty: int, start: int, *, easy: int, medium: int, hard: int, bench: int) -> int:
    """Return a knob's value at a level: ``start`` at 0, then linear through `BANDS` and on.

    From `_LAST_RUNG` on it grows no more, so that no difficulty makes a problem without bounds.
    """
    difficulty = min(difficulty, _LAST_RUNG)
    points = [(0, start), *zip(BANDS.values(), (easy, medium, hard, bench), strict=True)]
    for (low, before), (high, after) in itertools.pairwise(points):
        if difficulty <= high:
            return before + (after - before) * (difficulty - low) // (high - low)
    (low, before), (high, after) = points[-2:]
    return after + (after - before) * (difficulty - high) // (high - low)


def budget_at(difficulty: int) -> float:
    """Return the reference solver's budget at a level, in deterministic seconds."""
    return round(_BUDGET + _BUDGET_STEP * min(difficulty, _LAST_RUNG), 3)
