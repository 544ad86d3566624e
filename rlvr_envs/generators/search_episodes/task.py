"""What all search tasks share: configuration, problem, episode, and the oracle's play."""

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Protocol

from rlvr_envs.core.errors import ConfigError, did_you_mean
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import InteractiveTask, Shorthand
from rlvr_envs.core.tools import Tool
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.search_episodes.browser import FAILED, Browser, Limits
from rlvr_envs.generators.search_episodes.oracle import Oracle
from rlvr_envs.generators.search_episodes.protocol import (
    ANSWER,
    OPEN,
    SEARCH,
    SEARCH_R1,
    SOLVER_SYNTAXES,
    Call,
    call_text,
)
from rlvr_envs.generators.search_episodes.session import NOTHING, ToolSession
from rlvr_envs.generators.search_episodes.usage import rules, shorthand, tools, usage
from rlvr_envs.generators.worlds.articles import PROSE, VARIED
from rlvr_envs.generators.worlds.forms import FORMS, MIXED, PLAIN
from rlvr_envs.generators.worlds.plan import Hop
from rlvr_envs.generators.worlds.questions import (
    UNANSWERABLE,
    Question,
    QuestionSpec,
    draw_question,
)
from rlvr_envs.generators.worlds.site import site
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import build_world
from rlvr_envs.verifiers import retrieval

# The registered turn limit: an episode ends by its own number of calls, which is far below.
TURNS_AT_MOST = 10_000
_SEEDS = 2**31 - 1
_LEAST_PAGES, _MOST_PAGES = 44, 20_000  # of a world whose size is set
_WORLDS = 8  # drawn before it is given up that one of them has a question of the kind
PLAIN_LEVELS = 10  # questions of higher levels are paraphrased and underspecified
_CALLS_FOR_OTHERS = (
    4  # for each thing that a short name could mean as well: twice a search and a page
)
_UNLIMITED = 5_000  # calls with which the oracle shows how many it takes

MEMBERS = (
    "The members of an organisation are the people whom a page records as members. Being its head "
    "or an employee does not make a person a member."
)

SHORT_NAMES = (
    "The question may use only a part of a name, such as a family name, that several things share. "
    "It means the one of them for which the pages lead to an answer."
)

MIXED_FORMS = (
    "Tables write numbers and dates in the forms of several languages: a date tells its year, and "
    "an elevation of 1.2 km is 1,200 metres."
)

VARIED_PROSE = (
    "Pages are of many kinds, such as letters, minutes and index cards. Where one says only a last "
    'name, "she", "he", "it", or a noun such as "the guild", it means what the page is about.'
)

# What the baseline looks for: the first hit of a search, a link on a page, or a number there.
FIRST_HIT = re.compile(r"found[^\n]*:\n[^\n]*? \(([a-z-]+)\): ")
FIRST_DOCUMENT = re.compile(r'Doc 1\(Title: "([^"\n]*)"\) (.*)', re.DOTALL)  # of Search-R1
FIRST_LINK = re.compile(r"\[([^\]\n]+)\]\([a-z-]+\)")
NUMBER = re.compile(r"(?<!\w)([0-9]+(?:,[0-9]{3})*)(?!\w)")
ASKS_FOR_NUMBER = ("How many", "In which year", "What is", "In what year")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchConfig:
    """How large and misleading the world is, how many relations to follow, and how tools behave."""

    world_level: int = 2  # level of the world: more pages, second names, conflicts, dead links
    n_pages: int | None = None  # of the world, up to 20,000; None for as many as its level has
    hops: int = 2  # relations to follow from a name in the question; in a chain at least two
    # Of calls: "tags", "json" for objects with a name and arguments, or "search_r1" for a search
    # that shows whole documents, which are not opened.
    syntax: str = "tags"
    max_calls: int = 10  # at least; about twice what the oracle needs, where that is more
    hits: int = 10  # of a search in one result
    part_chars: int = 3_000  # of a page in one result
    failure_rate: float = 0.0  # calls that fail and have to be made again
    paraphrased: bool = False  # whether questions use more wordings for each relation
    # Whether a question may call a thing by a part of its name that others share, where only one
    # of them has what the question asks for.
    underspecified: bool = False

    # How tables write numbers and years: "plain", or "mixed" for dates, separators and units of
    # several languages.
    forms: str = "plain"

    # How pages tell facts: "plain", or "varied" for pages of several kinds, such as letters and
    # minutes, with pronouns and with sentences of several facts.
    prose: str = "plain"

    def __post_init__(self) -> None:
        if self.world_level < 0:
            raise ConfigError(f"world_level is at least 0, got {self.world_level}")
        if self.syntax not in SOLVER_SYNTAXES:
            hint = did_you_mean(self.syntax, SOLVER_SYNTAXES)
            known = ", ".join(SOLVER_SYNTAXES)
            raise ConfigError(f"syntax is one of {known}, got {self.syntax!r}{hint}")
        if self.n_pages is not None and not _LEAST_PAGES <= self.n_pages <= _MOST_PAGES:
            raise ConfigError(
                f"n_pages is from {_LEAST_PAGES} to {_MOST_PAGES:,}, or None, got {self.n_pages}"
            )
        QuestionSpec(hops=self.hops)
        if self.forms not in FORMS:
            hint = did_you_mean(str(self.forms), FORMS)
            raise ConfigError(f"forms is one of {', '.join(FORMS)}, got {self.forms!r}{hint}")
        if self.prose not in PROSE:
            hint = did_you_mean(str(self.prose), PROSE)
            raise ConfigError(f"prose is one of {', '.join(PROSE)}, got {self.prose!r}{hint}")
        self.limits(self.max_calls)

    @classmethod
    def at(cls, difficulty: int) -> "SearchConfig":
        """Every second level adds a hop, up to six; each level makes the world more misleading.

        It grows by 13 pages a level, with more wordings, second names, conflicts and dead links;
        calls fail more often, up to one in ten. Beyond level 10 questions are paraphrased and
        underspecified, tables write numbers and dates in the forms of several languages, and pages
        are in varied prose.
        """
        return cls(
            world_level=difficulty,
            hops=QuestionSpec.at(difficulty).hops,
            max_calls=10 + difficulty,
            failure_rate=min(difficulty, 10) / 100,
            paraphrased=difficulty > PLAIN_LEVELS,
            underspecified=difficulty > PLAIN_LEVELS,
            forms=MIXED if difficulty > PLAIN_LEVELS else PLAIN,
            prose=VARIED if difficulty > PLAIN_LEVELS else PLAIN,
        )

    def spec(self) -> WorldSpec:
        """Return what the worlds are like."""
        spec = WorldSpec.at(self.world_level)
        return spec if self.n_pages is None else spec.sized(self.n_pages)

    def limits(self, max_calls: int) -> Limits:
        """Return the limits of an episode with so many calls."""
        return Limits(
            max_calls=max_calls,
            hits=self.hits,
            part_chars=self.part_chars,
            failure_rate=self.failure_rate,
        )


@dataclass(frozen=True, slots=True)
class SearchProblem:
    """A question about a world, which its spec and its seed rebuild."""

    question: str
    rule: str
    syntax: str
    limits: Limits
    world: WorldSpec
    world_seed: int
    form: str = hidden()
    answers: tuple[tuple[str, ...], ...] = hidden()
    evidence: tuple[str, ...] = hidden()
    plan: tuple[Hop, ...] = hidden()

    def browser(self, forms: str = PLAIN, prose: str = PLAIN) -> Browser:
        """Return the tools of a new episode, over pages with these forms of numbers and prose."""
        pages = site(self.world, self.world_seed, forms, prose)
        return Browser(pages, self.limits, self.world_seed, whole=self.syntax == SEARCH_R1)


class Asked(Protocol):
    """What an answer is judged by: the form that the question asks for, and what is right."""

    @property
    def form(self) -> str:
        """Return "name", "number", "set" or "unanswerable"."""

    @property
    def answers(self) -> tuple[tuple[str, ...], ...]:
        """Return the names of each thing that the answer names, or the number alone."""


class SearchSession(ToolSession):
    """One episode: calls and their results, then an answer."""

    def __init__(self, problem: SearchProblem, forms: str = PLAIN, prose: str = PLAIN) -> None:
        super().__init__(problem.browser(forms, prose), problem.syntax)
        self._problem = problem

    def judged(self, text: str) -> Verdict:
        return judge(self._problem, text)

    def own_parts(self, *, answered: bool) -> dict[str, float]:
        opened, evidence = self.browser.opened, self._problem.evidence
        seen = sum(page in opened for page in evidence)
        found = seen / len(evidence) if evidence else 1.0
        return {**NOTHING, "answered": float(answered), "evidence_opened": found}


def judge(problem: Asked, answer: str) -> Verdict:
    """Judge an answer by the form that the question asks for.

    The parts say what reward schemes ask of an answer, beside what its verifier counted: ``em``
    (exactly the expected one), ``f1`` (of its words, or of a set of names) and ``declined`` (it
    says that there is no answer).
    """
    verdict = _judged(problem, answer)
    named = problem.form not in ("number", "set", UNANSWERABLE)
    parts = {
        **verdict.parts,
        "em": float(verdict.score == 1.0),
        "f1": retrieval.f1(answer, problem.answers[0]).score if named else verdict.score,
        "declined": float(retrieval.unanswerable(answer)),
    }
    return Verdict(verdict.score, verdict.status, verdict.detail, parts)


def _judged(problem: Asked, answer: str) -> Verdict:
    if problem.form == "number":
        return retrieval.number(answer, int(problem.answers[0][0]))
    if problem.form == "set":
        return _set_verdict(answer, problem.answers)
    if problem.form == UNANSWERABLE:
        if retrieval.unanswerable(answer):
            return Verdict.correct()
        return Verdict.wrong("the answer is not the expected one")
    return retrieval.exact(answer, problem.answers[0])


def _set_verdict(answer: str, expected: tuple[tuple[str, ...], ...]) -> Verdict:
    """Give the share of the expected names that were found, less one name for each wrong one."""
    verdict = retrieval.names(answer, expected)
    found, named = verdict.parts.get("found", 0.0), verdict.parts.get("named", 0.0)
    if not 0.0 < verdict.score < 1.0:
        return verdict
    share = max(0.0, 2 * found - named) / len(expected)
    return Verdict.graded(share, verdict.detail, **verdict.parts)


class SearchTask(InteractiveTask[SearchConfig, SearchProblem]):
    """The base of the search tasks; a subclass names the kind of its questions.

    Attributes:
        kind: of the questions, one of `rlvr_envs.generators.worlds.questions.KINDS`.
        asked_for: what to answer with, in words.

    Observation:
        The question, how the pages record facts, and the calls; then the result of each call: hits
        of a search, a page or a part of it, or sentences found on it.

    Action:
        A message with one call: search, open, find or answer, written as tags or, with
        `syntax="json"`, as JSON objects. Later calls of a message and thoughts are not read.

    Reward:
        1 for the right answer, otherwise 0.

    Episode End:
        With an answer, or, once the calls are used up, with the first message that is not an
        answer. There are about twice as many calls as the oracle makes, or `max_calls`; no
        episode reaches the registered turn limit.
    """

    kind: ClassVar[str]
    asked_for: ClassVar[str] = (
        "Answer with one name, as it appears on a page, or with one number without a unit."
    )

    def generate(self, rng: Rng) -> SearchProblem:
        spec = self.config.spec()
        seed, question = self._drawn(spec, rng)
        problem = SearchProblem(
            question=question.text,
            rule=build_world(spec, seed).rule,
            syntax=self.config.syntax,
            limits=self.config.limits(_UNLIMITED),
            world=spec,
            world_seed=seed,
            form=question.form,
            answers=question.answers,
            evidence=question.evidence,
            plan=question.plan,
        )
        needed = len(_played(problem, self.config.forms, self.config.prose)) - 1
        calls = calls_for(needed, self.config.max_calls) + _CALLS_FOR_OTHERS * question.others
        return replace(problem, limits=self.config.limits(calls))

    def _drawn(self, spec: WorldSpec, rng: Rng) -> tuple[int, Question]:
        """Draw a world and a question about it; a world without one is drawn again."""
        config = self.config
        question_spec = QuestionSpec(
            hops=config.hops,
            paraphrased=config.paraphrased,
            underspecified=config.underspecified,
        )
        kind, prose = self.kind, config.prose
        for _ in range(_WORLDS - 1):
            seed = integer(rng, 0, _SEEDS)
            try:
                return seed, draw_question(build_world(spec, seed), kind, question_spec, rng, prose)
            except ConfigError:
                continue
        seed = integer(rng, 0, _SEEDS)
        return seed, draw_question(build_world(spec, seed), kind, question_spec, rng, prose)

    def prompt(self, problem: SearchProblem) -> str:
        members = f"\n\n{MEMBERS}" if "member" in problem.question else ""
        linked = problem.syntax != SEARCH_R1
        shortened = self.config.underspecified and self.kind != UNANSWERABLE
        more = f"\n- {SHORT_NAMES}" if shortened else ""
        more += f"\n- {MIXED_FORMS}" if self.config.forms == MIXED else ""
        more += f"\n- {VARIED_PROSE}" if self.config.prose == VARIED else ""
        return (
            "Answer a question about a fictional world. Everything known about it is in a "
            f"collection of {'linked ' if linked else ''}pages.\n\n"
            f"Question: {problem.question}\n\n"
            f"{about_pages(problem.world, problem.rule, linked=linked)}{more}{members}\n\n"
            f"{usage(problem.syntax)}\n\n{rules(problem.limits, syntax=problem.syntax)}\n\n"
            f"{self.asked_for}"
        )

    def begin(self, problem: SearchProblem) -> SearchSession:
        return SearchSession(problem, self.config.forms, self.config.prose)

    def play(self, problem: SearchProblem) -> list[str]:
        return list(_played(problem, self.config.forms, self.config.prose))

    def effort(self, problem: SearchProblem) -> float:
        """Count the characters of all results that the oracle reads.

        Those of varied prose count twice: for what is said, and for what pronouns and nouns mean.
        """
        times = 2 if self.config.prose == VARIED else 1
        return times * self.replay(problem, self.play(problem)).parts["result_chars"]

    def baseline(self, rng: Rng, problem: SearchProblem) -> list[str]:
        """Search for the question, open the first hit, and answer with what it first mentions.

        That is the first number where the question asks for one, and the first link elsewhere.
        """
        counts = problem.question.startswith(ASKS_FOR_NUMBER)
        wanted, nothing = (NUMBER, "0") if counts else (FIRST_LINK, UNANSWERABLE)

        def policy(text: str) -> str:
            if text == start:
                return call_text(Call(SEARCH, problem.question), problem.syntax)
            if hit := FIRST_HIT.search(text):
                return call_text(Call(OPEN, hit[1]), problem.syntax)
            if problem.syntax == SEARCH_R1:
                first = FIRST_DOCUMENT.search(text)
                text = f"[{first[1]}](page) {first[2]}" if first else ""
            found = wanted.search(text)
            return call_text(Call(ANSWER, found[1] if found else nothing), problem.syntax)

        start = self.prompt(problem)
        return self.played(problem, policy, turns=3)

    def shorthand(self, problem: SearchProblem) -> Shorthand:
        return shorthand(problem.syntax)

    def tools(self, problem: SearchProblem) -> tuple[Tool, ...]:
        return tools(problem.syntax)


def calls_for(needed: int, least: int) -> int:
    """Return how many calls an episode has: twice as many as the oracle makes.

    They are rounded up, so that they do not tell how many pages there are to read.
    """
    return max(least, 10 * -(-needed // 5))


def about_pages(world: WorldSpec, rule: str, *, linked: bool = True) -> str:
    """Return how the pages of a world record facts, with the difficulties that this world has."""
    where = ', or on a page listed under "See also" there' if world.elsewhere else ""
    own = (
        "Every person, place, organisation, work and event has its own page. A fact is on the page "
        "of the thing that it describes, as a person's birthplace is on the page of that person"
        f"{where}. Use only what the pages say."
    )
    told = [own]
    if world.alias_rate:
        told.append(
            "Some things have a second name, which a question may use; their page gives it."
        )
    if world.homonym_rate:
        told.append(
            "Some things share a name. The title of each page then adds a word in brackets: "
            "Name (town)."
        )
    if world.dead_link_rate and linked:
        told.append(
            "Some links are dead: no page has the id that they give. The page that they mean has "
            "another id: search for its name."
        )
    if world.conflict_rate:
        told.append(rule)
    return "\n- ".join(told)


# Every member of a group asks for the same play at the end of its episode.
@lru_cache(maxsize=64)
def _played(problem: SearchProblem, forms: str, prose: str) -> tuple[str, ...]:
    if problem.syntax == SEARCH_R1:
        return tuple(call_text(call, problem.syntax) for call in _searches(problem, forms, prose))
    oracle = Oracle(problem.browser(forms, prose), problem.world.rule, prose)
    oracle.answer(problem.plan)
    return tuple(call_text(call, problem.syntax) for call in oracle.calls)


def _searches(problem: SearchProblem, forms: str, prose: str) -> list[Call]:
    """Return the calls of the oracle where nothing is opened: it searches for titles instead.

    It finds its way with links and pages, and then shows each page that it has read by a search.
    """
    place = site(problem.world, problem.world_seed, forms, prose)
    free = replace(problem.limits, failure_rate=0.0, max_calls=_UNLIMITED)
    guide = Browser(place, free, problem.world_seed)
    oracle = Oracle(guide, problem.world.rule, prose)
    answer = oracle.answer(problem.plan)
    browser, calls = problem.browser(forms, prose), list[Call]()
    for page in guide.opened:
        for number in range(1, _UNLIMITED):
            if page in browser.opened:
                break
            title = place.pages[page].title
            calls.append(Call(SEARCH, f'"{title}"' if number == 1 else f'"{title}"#{number}'))
            while browser.run(calls[-1]) == FAILED:
                calls.append(calls[-1])
    return [*calls, answer]
