"""An episode of a proposer: it explores with the tools of the other tasks, then asks a question.

The protocol is theirs with one word changed: the last call is `question` instead of `answer`.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from rlvr_envs.core.problem import hidden
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.generators.proposals.check import (
    Explored,
    Meaning,
    evidence_fault,
    meaning,
    search_fault,
    text_fault,
)
from rlvr_envs.generators.proposals.solvers import SHORTCUTS, Asked
from rlvr_envs.generators.search_episodes import task
from rlvr_envs.generators.search_episodes.browser import FAILED, Browser, Limits
from rlvr_envs.generators.search_episodes.oracle import Oracle
from rlvr_envs.generators.search_episodes.protocol import QUESTION, SEARCH, Call
from rlvr_envs.generators.search_episodes.session import ToolSession
from rlvr_envs.generators.worlds.english import phrase
from rlvr_envs.generators.worlds.plan import Hop
from rlvr_envs.generators.worlds.site import site
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import World, build_world
from rlvr_envs.verifiers import retrieval

UNLIMITED = 5_000  # calls with which it is shown how many a question takes


@dataclass(frozen=True, slots=True)
class ProposerProblem:
    """What to ask for in a world, which its spec and its seed rebuild."""

    gold: str  # the title of its page
    noun: str
    hops: int
    gold_free: bool  # no query may contain a name of the gold answer
    rule: str
    syntax: str
    limits: Limits
    world: WorldSpec
    world_seed: int
    plan: tuple[Hop, ...] = hidden(())  # of the oracle's question
    pages: tuple[str, ...] = hidden(())  # which the oracle opens

    @property
    def built(self) -> World:
        """The world."""
        return build_world(self.world, self.world_seed)

    @property
    def forms(self) -> tuple[str, ...]:
        """The names of the gold answer."""
        return self.built.entities[self.built.numbers[self.gold]].forms

    @property
    def question(self) -> str:
        """The oracle's question."""
        world = self.built
        asked = phrase(self.plan, len(self.plan) - 1, short=True)
        return f"Which {world.kind(world.numbers[self.gold])} is {asked}?"

    def browser(self) -> Browser:
        """Return the tools of a new episode."""
        return Browser(site(self.world, self.world_seed), self.limits, self.world_seed)


class ProposerSession(ToolSession):
    """One episode: calls and their results, then a question.

    Args:
        browser: the tools.
        syntax: of the calls.
        judge: gives the verdict on a question after what was explored.
    """

    last = QUESTION

    def __init__(
        self, browser: Browser, syntax: str, judge: Callable[[Explored, str], Verdict]
    ) -> None:
        super().__init__(browser, syntax)
        self._judge = judge
        self._queries: list[str] = []

    def judged(self, text: str) -> Verdict:
        return self._judge(Explored(tuple(self._queries), tuple(self.browser.opened)), text)

    def unfinished(self) -> Verdict:
        return Verdict.unparsable(f"there was no question after {self.browser.calls} calls")

    def run(self, call: Call) -> str:
        result = super().run(call)
        if call.tool == SEARCH and result != FAILED:
            self._queries.append(call.text)
        return result

    def own_parts(self, *, answered: bool) -> dict[str, float]:
        return {"valid": 0.0, "answered": float(answered), "queries": float(len(self._queries))}


def judge(problem: ProposerProblem, explored: Explored, question: str) -> Verdict:
    """Judge a question: valid or not, and how few of the shortcuts answer it."""
    fault = text_fault(question, problem.forms) or search_fault(
        explored, problem.forms, gold_free=problem.gold_free
    )
    if fault:
        return Verdict.wrong(f"not a valid question: {fault}")
    meant = understood(problem, question)
    fault = meant.fault or evidence_fault(meant.evidence, explored)
    if not fault and posed(problem, question, meant) is None:
        fault = "the tools do not lead to its answer"
    if fault:
        return Verdict.wrong(f"not a valid question: {fault}")
    asked = Asked(question, meant.plan, problem.built, site(problem.world, problem.world_seed))
    right = [retrieval.exact(solver(asked), problem.forms).score for solver in SHORTCUTS]
    accuracy = sum(right) / len(right)
    told = f"a valid question, which {sum(right):.0f} of {len(right)} simple solvers answer"
    return Verdict.graded(1.0 - accuracy, told, valid=1.0, solver_accuracy=accuracy)


def understood(problem: ProposerProblem, question: str) -> Meaning:
    """Say what a question means in the world of a problem, and whether it is valid there."""
    world = problem.built
    return meaning(world, question, world.numbers[problem.gold], problem.hops)


def posed(problem: ProposerProblem, question: str, meant: Meaning) -> task.SearchProblem | None:
    """Return a valid question as a problem of the other tasks, None if the oracle fails at it.

    It gets as many calls as the proposer had, or as the oracle needs.
    """
    asked = task.SearchProblem(
        question=question,
        rule=problem.rule,
        syntax=problem.syntax,
        limits=replace(problem.limits, max_calls=UNLIMITED),
        world=problem.world,
        world_seed=problem.world_seed,
        form="name",
        answers=(problem.forms,),
        evidence=meant.evidence,
        plan=meant.plan,
    )
    oracle = Oracle(asked.browser(), problem.world.rule)
    answer = oracle.answer(meant.plan)
    if task.judge(asked, answer.text).status is not Status.CORRECT:
        return None
    calls = max(problem.limits.max_calls, len(oracle.calls) - 1)
    return replace(asked, limits=replace(asked.limits, max_calls=calls))
