"""What the optimisation tasks share: the reference, the quality of an answer, the levels.

A task says how to draw a problem with an answer that is known, how to find a better one and how
to measure answers; how that becomes a score is said here once.
"""

import dataclasses
import itertools
import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.seeding import Rng
from rlvr_envs.core.task import ConfigT, ProblemT, Task
from rlvr_envs.core.verdict import Verdict

SCHEMES = ("over_greedy", "ratio", "graph_r1", "binary")

# NP-Engine's size bands (arXiv:2510.16476): the difficulty level that matches each.
BANDS = {"easy": 2, "medium": 5, "hard": 8, "bench": 10}

# Deterministic seconds a solver may spend on a problem at difficulty 0, and what a level adds.
_BUDGET, _BUDGET_STEP = 0.02, 0.02

# Sizes and budgets stay as they are here from this difficulty on, far beyond any use.
_LAST_LEVEL = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimisationConfig(TaskConfig):
    """The knobs of every optimisation task.

    The schemes, all 1 at the best known answer: ``over_greedy`` is 0 for answers no better than a
    simple greedy's and linear between (the share of the gap that an answer closes); ``ratio`` is
    the same from a trivial answer, or the plain ratio where a task states none; ``graph_r1`` is
    otherwise a quarter of the plain ratio (squared for tours), which is Graph-R1's reward halved
    with its penalty of -1 left at 0; ``binary`` is otherwise 0.
    """

    scheme: Literal["over_greedy", "ratio", "graph_r1", "binary"] = knob(
        "over_greedy", "how the objective of an answer becomes its score", choices=SCHEMES
    )
    budget: float = knob(0.1, "deterministic seconds of the reference solver", low=1e-9, high=1e6)


@dataclass(frozen=True, slots=True)
class Reference:
    """The best known answer to a problem.

    Attributes:
        objective: its objective.
        bound: no answer can be better than this.
        proven: whether the answer is proven to be optimal.
        trivial: the objective of the trivial answer that the task's description states, which
            earns 0 in the scheme ``ratio``; None where that is the plain ratio.
        answer: the answer itself, as an agent would write it.
        effort: the work of finding it, in deterministic microseconds, or in the steps of an exact
            search of the task's own.
        greedy: the objective of the task's simple greedy, which earns 0 in the scheme
            ``over_greedy``; None where that answer is not feasible.
    """

    objective: int
    bound: int
    proven: bool
    trivial: int | None
    answer: str
    effort: int = 0
    greedy: int | None = None

    @classmethod
    def known(cls, objective: int, answer: str, *, trivial: int | None = None) -> "Reference":
        """Return an answer of which it is not known how good it is."""
        return cls(objective, objective, False, trivial, answer)


class Unreadable(Exception):
    """The answer is not of the form that was asked for; the message says why."""


class Infeasible(Exception):
    """The answer breaks a constraint; the message says which, without giving a solution away."""


class OptimisationTask(Task[ConfigT, ProblemT]):
    """A task whose answers have an objective; problems hold a hidden ``reference``.

    Attributes:
        sense: whether a larger or a smaller objective is better.
        graph_r1_power: the power of the ratio in the scheme ``graph_r1``.
        worse: what a feasible but worse answer is called in the prompt.
        draws: how many problems are drawn at most to find one that the simple greedy does not
            solve.
    """

    sense: ClassVar[Literal["max", "min"]]
    graph_r1_power: ClassVar[int] = 1
    worse: ClassVar[str] = "A feasible answer that is worse than the best known one"
    draws: ClassVar[int] = 20

    @abstractmethod
    def draw(self, rng: Rng) -> ProblemT:
        """Draw a problem; its reference is an answer that is known without a long search."""

    def improve(self, rng: Rng, problem: ProblemT) -> Reference:
        """Return the best answer that a search finds, at least as good as the known one."""
        return self.reference(problem)

    @abstractmethod
    def measure(self, problem: ProblemT, answer: str) -> int:
        """Return the objective of an answer, in time linear in its length or nearly so.

        Raises:
            Unreadable: it is not of the form that was asked for.
            Infeasible: it breaks a constraint.
        """

    @abstractmethod
    def baseline(self, rng: Rng, problem: ProblemT) -> str:
        """Return the answer of a simple greedy heuristic, which draws nothing.

        It is feasible wherever that is easy, and earns 0 in the scheme ``over_greedy``.
        """

    @abstractmethod
    def neighbour(self, problem: ProblemT, answer: str, rng: Rng) -> str:
        """Return a feasible answer with one small random change, the move of a local search.

        The result may be infeasible, and then is not taken.
        """

    def generate(self, rng: Rng) -> ProblemT:
        """Draw problems until the known answer is better than simple ones, and solve the last."""
        problem = self.draw(rng)
        for _ in range(self.draws - 1):
            if self._is_worth_solving(rng, problem):
                break
            problem = self.draw(rng)
        best = dataclasses.replace(self.improve(rng, problem), greedy=self._greedy(rng, problem))
        return dataclasses.replace(problem, reference=best)  # type: ignore[type-var]  # it is one

    def _is_worth_solving(self, rng: Rng, problem: ProblemT) -> bool:
        """Return whether the known answer beats the simple greedy and the trivial answer."""
        known, greedy = self.reference(problem), self._greedy(rng, problem)
        trivial = greedy if known.trivial is None else known.trivial
        return all(
            simple is not None and self._better(known.objective, simple)
            for simple in (greedy, trivial)
        )

    def _greedy(self, rng: Rng, problem: ProblemT) -> int | None:
        """Return the objective of the simple greedy, None where its answer is not feasible."""
        try:
            return self.measure(problem, self.baseline(rng, problem))
        except (Infeasible, Unreadable):
            return None

    def varied(
        self, original: ProblemT, problem: ProblemT, answer: str, rng: Rng
    ) -> ProblemT | None:
        """Return a variant of a problem with its reference, None where the greedy solves it.

        Args:
            original: the problem that it is a variant of.
            problem: the variant; its reference is still that of the original.
            answer: the original's best answer, as one to the variant.
            rng: passed on to the greedy.
        """
        known = dataclasses.replace(
            self.reference(original), answer=answer, greedy=self._greedy(rng, problem)
        )
        if known.greedy is not None and not self._better(known.objective, known.greedy):
            return None
        return dataclasses.replace(problem, reference=known)  # type: ignore[type-var]  # it is one

    def reference(self, problem: ProblemT) -> Reference:
        """Return the problem's hidden reference."""
        found: Reference = problem.reference  # type: ignore[attr-defined]  # every problem has it
        return found

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

    def partial_credit(self, greedy: str, trivial: str = "") -> str:
        """Return a sentence for the prompt: what a feasible but worse answer earns.

        Args:
            greedy: in the scheme ``over_greedy``, what the answer must achieve to beat the simple
                greedy, as a clause after "if"; empty where any feasible answer does.
            trivial: the same for ``ratio`` and the trivial answer; empty where there is none.
        """
        scheme: str = self.config.scheme  # type: ignore[attr-defined]  # every Config has it
        earned = {
            "over_greedy": f"partial credit only if {greedy}" if greedy else "partial credit",
            "ratio": f"partial credit if {trivial}" if trivial else "partial credit",
            "graph_r1": "less than a quarter of the full credit",
            "binary": "no credit",
        }[scheme]
        return f"{self.worse} earns {earned}."

    def verify(self, problem: ProblemT, answer: str) -> Verdict:
        """Score an answer by its objective; see `OptimisationConfig.scheme`."""
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
            "over_greedy": _share(self.sense, objective, reference.greedy, reference.objective),
            "quality": _share(self.sense, objective, reference.trivial, reference.objective),
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
            "over_greedy": parts["over_greedy"],
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


def _share(sense: Literal["max", "min"], objective: int, start: int | None, best: int) -> float:
    """Return how far an objective lies from ``start`` (0) to the best known (1)."""
    if start is None:
        return plain_ratio(sense, objective, best)
    sign = 1 if sense == "max" else -1
    gained, possible = sign * (objective - start), sign * (best - start)
    if gained >= possible:
        return 1.0
    return _below_one(gained, possible) if gained > 0 else 0.0


def _below_one(part: int, whole: int) -> float:
    return min(part / whole, math.nextafter(1.0, 0.0))


def ramp(difficulty: int, start: int, *, easy: int, medium: int, hard: int, bench: int) -> int:
    """Return a knob's value at a level: ``start`` at 0, then linear through `BANDS` and on.

    From `_LAST_LEVEL` on it grows no more, so that no difficulty makes a problem without bounds.
    """
    difficulty = min(difficulty, _LAST_LEVEL)
    points = [(0, start), *zip(BANDS.values(), (easy, medium, hard, bench), strict=True)]
    for (low, before), (high, after) in itertools.pairwise(points):
        if difficulty <= high:
            return before + (after - before) * (difficulty - low) // (high - low)
    (low, before), (high, after) = points[-2:]
    return after + (after - before) * (difficulty - high) // (high - low)


def budget_at(difficulty: int) -> float:
    """Return the reference solver's budget at a level, in deterministic seconds."""
    return round(_BUDGET + _BUDGET_STEP * min(difficulty, _LAST_LEVEL), 3)
