"""An episode of a proposer: it explores with the tools of the other tasks, then asks a question.

The protocol is theirs with one word changed: the last call is `question` instead of `answer`.
"""

import re
from dataclasses import dataclass, replace

from rlvr_envs.core.problem import hidden
from rlvr_envs.core.task import Reply, Shorthand
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.envs.search import _task
from rlvr_envs.envs.search._browser import FAILED, Browser, Limits
from rlvr_envs.envs.search._english import phrase
from rlvr_envs.envs.search._oracle import Oracle
from rlvr_envs.envs.search._plan import Hop
from rlvr_envs.envs.search._proposal_check import (
    Explored,
    Meaning,
    evidence_fault,
    meaning,
    search_fault,
    text_fault,
)
from rlvr_envs.envs.search._proposal_solvers import SHORTCUTS, Asked
from rlvr_envs.envs.search._protocol import ANSWER, SEARCH, Call, Malformed, parse_action
from rlvr_envs.envs.search._site import site
from rlvr_envs.envs.search._spec import WorldSpec
from rlvr_envs.envs.search._usage import RESULT, shorthand, usage
from rlvr_envs.envs.search._world import World, build_world
from rlvr_envs.verifiers import retrieval

UNLIMITED = 5_000  # calls with which it is shown how many a question takes
_SWAPPED = {"answer": "question", "question": "answer"}
_LAST_CALL = {
    "tags": re.compile(r"(?<=<)(?:answer|question)(?=>)|(?<=</)(?:answer|question)(?=>)"),
    # Behind the word there are backslashes where the arguments are text with JSON in it.
    "json": re.compile(r'(?<=")(?:answer|question)(?=\\*")'),
}


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
        asked = phrase(self.plan, len(self.plan) - 1)
        return f"Which {world.kind(world.numbers[self.gold])} is {asked}?"

    def browser(self) -> Browser:
        """Return the tools of a new episode."""
        return Browser(site(self.world, self.world_seed), self.limits, self.world_seed)


def swapped(text: str, syntax: str) -> str:
    """Return a text with the words `answer` and `question` exchanged where they name a call."""
    return _LAST_CALL[syntax].sub(lambda found: _SWAPPED[found[0]], text)


def proposer_usage(syntax: str) -> str:
    """Return what calls there are and how they are written."""
    return swapped(usage(syntax), syntax).replace("your answer", "your question")


def proposer_shorthand(syntax: str) -> Shorthand:
    """Return how a person plays by short commands: those of the other tasks, and `q` to ask."""
    others = shorthand(syntax)

    def expand(text: str) -> str | None:
        asked = re.match(r"q(?:uestion)? ", text.strip())
        if asked is None:
            return None if re.match(r"a(?:nswer)? ", text.strip()) else others.expand(text)
        action = others.expand(f"a {text.strip()[asked.end() :]}")
        return action and swapped(action, syntax)

    def shorten(action: str) -> str:
        call = parse_proposal(action, syntax)
        if isinstance(call, Call) and call.tool == ANSWER:
            return f"q {call.text}"
        return others.shorten(action)

    def plain(text: str) -> str:
        told = others.plain(text.replace(proposer_usage(syntax), usage(syntax)))
        return told.replace("- a your answer:", "- q your question:")

    commands = (*others.commands[:-1], ("q your question", others.commands[-1][1]))
    return Shorthand(commands, expand, shorten, plain)


def parse_proposal(message: str, syntax: str) -> Call | Malformed:
    """Return the first call of a message, or why there is none; `ANSWER` stands for a question."""
    call = parse_action(swapped(message, syntax), syntax)
    if isinstance(call, Malformed):
        return Malformed(re.sub(r"\banswer\b", "question", call.reason))
    # A text that is one of the two words stood in quotes as well.
    whole = _SWAPPED.get(call.text) if syntax == "json" else None
    return replace(call, text=whole or swapped(call.text, syntax))


class ProposerSession:
    """One episode: calls and their results, then a question."""

    def __init__(self, problem: ProposerProblem) -> None:
        self._problem = problem
        self._browser = problem.browser()
        self._queries: list[str] = []
        self._malformed = 0
        self._trailing = 0
        self._result_chars = 0

    def reply(self, action: str) -> Reply:
        """Run the first call of a message, or judge the question that it is."""
        syntax = self._problem.syntax
        call = parse_proposal(action, syntax)
        if isinstance(call, Call):
            self._trailing += call.more
            if call.tool == ANSWER:
                explored = Explored(tuple(self._queries), tuple(self._browser.opened))
                return self._end(judge(self._problem, explored, call.text))
        if self._browser.left < 1:
            limit = self._problem.limits.max_calls
            return self._end(Verdict.unparsable(f"there was no question after {limit} calls"))
        if isinstance(call, Malformed):
            self._malformed += 1
            self._browser.spend()
            result = f"Nothing was run: {call.reason}.\n{proposer_usage(syntax)}"
        else:
            result = self._run(call)
        self._result_chars += len(result)
        left = self._browser.left
        told = f"({left} more {'call' if left == 1 else 'calls'}.)"
        if not left:
            told = "(No calls are left. Your next message must be the question.)"
        return Reply(f"<{RESULT[syntax]}>\n{result}\n</{RESULT[syntax]}>\n{told}")

    def _run(self, call: Call) -> str:
        result = self._browser.run(call)
        if call.tool == SEARCH and result != FAILED:
            self._queries.append(call.text)
        if call.more:
            result += "\nOnly the first call of a message is run; what followed was ignored."
        return result

    def _end(self, verdict: Verdict) -> Reply:
        parts = {
            "valid": 0.0,
            **verdict.parts,
            "calls": float(self._browser.calls),
            "malformed": float(self._malformed),
            "trailing": float(self._trailing),
            "result_chars": float(self._result_chars),
            "queries": float(len(self._queries)),
            "pages_opened": float(len(self._browser.opened)),
        }
        return Reply("", replace(verdict, parts=parts))


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
    told = f"a valid question, which {sum(right):.0f} of {len(right)} shortcuts answer"
    return Verdict.graded(1.0 - accuracy, told, valid=1.0, solver_accuracy=accuracy)


def understood(problem: ProposerProblem, question: str) -> Meaning:
    """Say what a question means in the world of a problem, and whether it is valid there."""
    world = problem.built
    return meaning(world, question, world.numbers[problem.gold], problem.hops)


def posed(problem: ProposerProblem, question: str, meant: Meaning) -> _task.SearchProblem | None:
    """Return a valid question as a problem of the other tasks, None if the oracle fails at it.

    It gets as many calls as the proposer had, or as the oracle needs.
    """
    asked = _task.SearchProblem(
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
    if _task.judge(asked, answer.text).status is not Status.CORRECT:
        return None
    calls = max(problem.limits.max_calls, len(oracle.calls) - 1)
    return replace(asked, limits=replace(asked.limits, max_calls=calls))
