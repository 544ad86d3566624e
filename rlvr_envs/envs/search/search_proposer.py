"""SearchProposer: explore a world and write a question with a given answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import InteractiveTask, Shorthand
from rlvr_envs.core.tools import Tool
from rlvr_envs.generators.proposals.check import CHARACTERS, LEAST_QUERIES, LEAST_WORDS
from rlvr_envs.generators.proposals.episode import (
    UNLIMITED,
    ProposerProblem,
    ProposerSession,
    judge,
    posed,
    understood,
)
from rlvr_envs.generators.proposals.wordings import guide
from rlvr_envs.generators.search_episodes.browser import FAILED
from rlvr_envs.generators.search_episodes.protocol import (
    ANSWER,
    OPEN,
    QUESTION,
    SEARCH,
    SYNTAXES,
    Call,
    Malformed,
    call_text,
    parse_action,
)
from rlvr_envs.generators.search_episodes.task import (
    FIRST_HIT,
    FIRST_LINK,
    TURNS_AT_MOST,
    SearchConfig,
    about_pages,
    calls_for,
)
from rlvr_envs.generators.search_episodes.usage import rules, shorthand, tools, usage
from rlvr_envs.generators.worlds.articles import library
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.paths import Source, path_to
from rlvr_envs.generators.worlds.site import site
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world

_SEEDS = 2**31 - 1
_WORLDS = 8  # drawn before one hop fewer is asked for
_DRAWS = 60  # of a question, in one world
_LEAST_HOPS = 2  # a question of one hop is answered by the page that it names
# The task that asks a question, by the op that its plan ends with.
_SOLVED_BY = {
    "follow": "ChainSearch-v0",
    "back": "InverseSearch-v0",
    "at": "TemporalSearch-v0",
    "both": "IntersectionSearch-v0",
    "most": "SuperlativeSearch-v0",
    "least": "SuperlativeSearch-v0",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchProposerConfig(TaskConfig):
    """How large and misleading the world is, how many relations to follow, and how tools behave."""

    world_level: int = knob(
        2, "level of the world: more pages, second names, conflicts, dead links"
    )
    hops: int = knob(2, "relations that the question has to follow", low=_LEAST_HOPS)
    syntax: str = knob(
        "tags",
        'of calls: "tags", or "json" for objects with a name and arguments',
        choices=SYNTAXES,
    )
    max_calls: int = knob(10, "at least; about twice what the oracle needs, where that is more")
    hits: int = knob(10, "of a search in one result")
    part_chars: int = knob(3_000, "of a page in one result")
    failure_rate: float = knob(0.0, "calls that fail and have to be made again")
    gold_free: bool = knob(False, "whether queries may not contain the gold answer")

    def check(self) -> None:
        self.solving()

    @classmethod
    def at(cls, difficulty: int) -> "SearchProposerConfig":
        """The world grows as in the other search tasks; every second level adds a hop, to six."""
        same = SearchConfig.at(difficulty)
        return cls(
            world_level=difficulty,
            hops=min(6, _LEAST_HOPS + difficulty // 2),
            max_calls=same.max_calls,
            failure_rate=same.failure_rate,
        )

    def solving(self) -> SearchConfig:
        """Return the configuration of the tasks that ask the questions."""
        return SearchConfig(
            world_level=self.world_level,
            hops=self.hops,
            syntax=self.syntax,
            max_calls=self.max_calls,
            hits=self.hits,
            part_chars=self.part_chars,
            failure_rate=self.failure_rate,
        )


@register(
    "SearchProposer-v0", domain="search", answer_format="tag", weight=0.0, max_turns=TURNS_AT_MOST
)
class SearchProposerTask(InteractiveTask[SearchProposerConfig, ProposerProblem]):
    """Write a question that has a given answer and is hard to answer.

    Description:
        The proposer's half of search self-play: given a gold answer and a number of hops, explore a
        fictional world with the tools and write a question that follows so many relations and has
        the gold answer and no other. Questions use a small set of wordings, so that a program can
        work out what they mean.

    Observation:
        The gold answer, the number of hops, the rules, the wordings of questions and the calls;
        then the result of each call: hits of a search, a page or a part of it, or sentences.

    Action:
        A message with one call: search, open, find or question, written as tags or, with
        `syntax="json"`, as JSON objects. Later calls of a message and thoughts are not read.

    Reward:
        For a valid question the share of four deterministic shortcuts that fail to answer it; 0 for
        any other. The wrapper `SelfPlay` replaces them by the accuracy of your own solver.

    Episode End:
        With a question, or, once the calls are used up, with the first message that is not one.

    Verification:
        The filters of search self-play: length, gold answer not in the question, queries, pages.
        Then the question is parsed to every plan that its words allow, and the facts of the world
        decide: the gold answer alone, the asked number of relations, none to spare, no shortcut
        through one page, the evidence opened, and answered by the oracle through the tools. Known
        gap: a good question in other words than the stated wordings is refused.

    Difficulty:
        The world grows and gets more misleading as in the other search tasks, and the questions
        have to follow two to six relations.

    References:
        Lu et al., "Search Self-play: Pushing the Frontier of Agent Capability without Supervision",
        2025 (arXiv 2510.18821).
    """

    def generate(self, rng: Rng) -> ProposerProblem:
        spec = WorldSpec.at(self.config.world_level)
        for hops in range(self.config.hops, _LEAST_HOPS - 1, -1):
            for _ in range(_WORLDS):
                seed = integer(rng, 0, _SEEDS)
                problem = self._drawn(spec, seed, hops, Dice(rng))
                if problem is not None:
                    return problem
        raise ConfigError(f"worlds of {spec.n_articles} articles have no question of two relations")

    def _drawn(self, spec: WorldSpec, seed: int, hops: int, dice: Dice) -> ProposerProblem | None:
        """Draw a gold answer with a question that earns full marks, None where none is found."""
        world = build_world(spec, seed)
        source = Source(library(world), dice, 0.0)
        for _ in range(_DRAWS):
            gold = dice.below(len(world.entities))
            plan = path_to(source, gold, hops)
            if plan is None:
                continue
            problem = ProposerProblem(
                gold=world.entities[gold].label,
                noun=world.entities[gold].noun,
                hops=hops,
                gold_free=self.config.gold_free,
                rule=world.rule,
                syntax=self.config.syntax,
                limits=self.config.solving().limits(UNLIMITED),
                world=spec,
                world_seed=seed,
                plan=plan,
            )
            found = self._tried(problem)
            if found is not None:
                return found
        return None

    def _tried(self, problem: ProposerProblem) -> ProposerProblem | None:
        """Return the problem with the pages that its question rests on, None if it is no good."""
        meant = understood(problem, problem.question)
        if meant.fault:
            return None
        world = problem.built
        starts = [
            world.entities[world.numbers[hop.entity]].id for hop in problem.plan if hop.entity
        ]
        problem = replace(problem, pages=tuple(dict.fromkeys((*starts, *meant.evidence))))
        actions = self.play(problem)
        if self.replay(problem, actions).score < 1.0:
            return None
        calls = calls_for(len(actions) - 1, self.config.max_calls)
        return replace(problem, limits=self.config.solving().limits(calls))

    def prompt(self, problem: ProposerProblem) -> str:
        low, high = CHARACTERS
        gold_free = " No query contains a name of the answer." if problem.gold_free else ""
        shared = apart = ""
        if problem.world.homonym_rate:
            shared = " If two things share a name, write the title of the page instead."
            apart = "- leads through nothing that has the same name as the answer;\n"
        return (
            "Write a question about a fictional world. Everything known about it is in a "
            "collection of linked pages. Solvers will try to answer your question. If it is valid, "
            "your reward is the share of solvers that fail; otherwise it is 0.\n\n"
            f"Answer that the question must have: {problem.gold} (kind: {problem.noun})\n"
            f"Relations that the question must follow: exactly {problem.hops}\n\n"
            "A valid question\n"
            f"- has {low} to {high:,} characters and at least {LEAST_WORDS} words, and contains no "
            "name of the answer;\n"
            "- has this answer and no other, however it is read;\n"
            "- has no part that can be left out without changing the answer;\n"
            '- says "the ..." only where exactly one thing fits, and ranks at least two things;\n'
            f"{apart}"
            "- starts from things that it names. No page that mentions one of them states two of "
            "the relations. If there is only one such thing, the page that states the last "
            "relation does not mention it.\n\n"
            "You must also have opened every page that states a fact behind the answer, and have "
            f"made at least {LEAST_QUERIES} different queries. Never make the same query twice; "
            "upper and lower case, spaces and punctuation make no difference, but another part of "
            f"the same result is another query.{gold_free}\n\n"
            f"{about_pages(problem.world, problem.rule)}\n\n"
            "A program reads the question, so use only the wordings below. Each X stands for a "
            f"name or for another wording, and Y for a year.{shared} Examples, with the number of "
            "relations that they follow if every X is a name:\n"
            "- Which place is the birthplace of the person who was taught by X? (2)\n"
            "- Which person was taught by X and was a member of X? (2)\n"
            "- Of all the people who were born in X, which one was born last? (2)\n"
            "- In Y, who was the mayor of X? (1)\n\n"
            f"Wordings:\n{guide()}\n\n"
            f"{usage(problem.syntax, QUESTION)}\n\n{rules(problem.limits, QUESTION)}"
        )

    def begin(self, problem: ProposerProblem) -> ProposerSession:
        return ProposerSession(problem.browser(), problem.syntax, partial(judge, problem))

    def play(self, problem: ProposerProblem) -> list[str]:
        """Search for the pages of the hidden question one after another, open them, and ask it."""
        browser, pages = problem.browser(), site(problem.world, problem.world_seed).pages
        calls: list[Call] = []
        for page in problem.pages:
            title = pages[page].title
            wanted = [Call(SEARCH, f'"{title}"'), Call(OPEN, page)]
            for call in wanted[problem.gold_free and title == problem.gold :]:
                calls.append(call)
                while browser.run(call) == FAILED:
                    calls.append(call)
        calls.append(Call(ANSWER, problem.question))
        return [call_text(call, problem.syntax, QUESTION) for call in calls]

    def effort(self, problem: ProposerProblem) -> float:
        """Count the characters of all results that the oracle reads."""
        return self.replay(problem, self.play(problem)).parts["result_chars"]

    def baseline(self, rng: Rng, problem: ProposerProblem) -> list[str]:
        """Search for the answer, open the first hit, and ask by the first thing that it links."""

        def policy(text: str) -> str:
            if text == start:
                return call_text(Call(SEARCH, problem.gold), problem.syntax, QUESTION)
            if hit := FIRST_HIT.search(text):
                return call_text(Call(OPEN, hit[1]), problem.syntax, QUESTION)
            link = FIRST_LINK.search(text)
            known = link[1] if link else "nothing"
            asked = f"What is the name of the {problem.noun} that has to do with {known}?"
            return call_text(Call(ANSWER, asked), problem.syntax, QUESTION)

        start = self.prompt(problem)
        return self.played(problem, policy, turns=3)

    def shorthand(self, problem: ProposerProblem) -> Shorthand:
        return shorthand(problem.syntax, QUESTION)

    def tools(self, problem: ProposerProblem) -> tuple[Tool, ...]:
        return tools(problem.syntax, QUESTION)

    def proposal(
        self, problem: ProposerProblem, action: str, before: Sequence[str] = ()
    ) -> dict[str, Any] | None:
        """Return what a solver needs for the question of a message, None without a valid one.

        It has `question`, `answers` (the accepted names), `hops`, `evidence` (the pages that tell
        the facts behind the answer, each with `id`, `title` and `text`) and `row`, a row of the
        search task that asks the question in the same world. What the proposer did `before` is not
        looked at: the verdict of the episode says whether the proposal counts.
        """
        call = parse_action(action, problem.syntax, QUESTION)
        if isinstance(call, Malformed) or call.tool != ANSWER:
            return None
        meant = understood(problem, call.text)
        asked = None if meant.fault else posed(problem, call.text, meant)
        if asked is None:
            return None
        spec = registry.find(_SOLVED_BY[meant.plan[-1].op])
        task = spec.task_type(self.config.solving())
        row = Instance(spec, task, asked, None, None, spec.answer_format).to_row()
        told = site(problem.world, problem.world_seed)
        evidence = [
            {"id": page, "title": told.pages[page].title, "text": told.plain[page]}
            for page in meant.evidence
        ]
        return {
            "question": call.text,
            "answers": list(problem.forms),
            "hops": problem.hops,
            "evidence": evidence,
            "row": row,
        }
