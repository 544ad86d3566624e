"""DocumentQuestion: answer a question about documents that all stand in the prompt."""

import re
from dataclasses import dataclass
from typing import Any

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.knobs import TaskConfig, knob
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import Rng, integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.generators.search_episodes.task import (
    ASKS_FOR_NUMBER,
    MEMBERS,
    NUMBER,
    PLAIN_LEVELS,
    judge,
)
from rlvr_envs.generators.worlds.articles import PLAIN, PROSE, VARIED, library
from rlvr_envs.generators.worlds.dice import Dice
from rlvr_envs.generators.worlds.english import phrase
from rlvr_envs.generators.worlds.gates import leader
from rlvr_envs.generators.worlds.plan import PATH, RANKED, Hop, Plan, evaluate, value_kind
from rlvr_envs.generators.worlds.questions import KINDS, QuestionSpec, draw_question
from rlvr_envs.generators.worlds.schema import RELATIONS
from rlvr_envs.generators.worlds.site import document
from rlvr_envs.generators.worlds.spec import WorldSpec
from rlvr_envs.generators.worlds.world import World, build_world
from rlvr_envs.generators.worlds.writing import Library

_SEEDS = 2**31 - 1
_WORLDS = 12  # drawn before it is given up that one of them has a question of the kind
_NEAR = 0.5  # of the other documents, as far as there are any: name something on the way
_HIGHEST_LEVEL = 60  # of a world, which then has more than 800 pages
_MOST_DOCUMENTS = 1_000

# Kinds by the first level that asks them. At level 0 one document after another has the facts.
_KINDS_FROM = {
    0: ("inverse", "temporal", "intersection"),
    1: ("chain", "set", "superlative"),
    3: ("comparison", "arithmetic", "count", "unanswerable"),
}
_TASK = (
    "Answer a question about a fictional world from the documents below. They are some of the "
    "pages of a collection, in a random order: not everything that they mention has a document "
    "here."
)
_ASKED_FOR = {
    "number": "Answer with one number, in digits and without a unit.",
    "set": "Answer with all their names, as the documents give them, separated by commas.",
    "name": "Answer with one name, as a document gives it, or with one number without a unit.",
}
_FORM_OF_KIND = {"count": "number", "arithmetic": "number", "set": "set"}
_NAME = re.compile(r"[A-Z][\w'-]*(?: (?:(?:of|the|by|in|and|on) )*[A-Z][\w'-]*)*")
_SENTENCE_END = re.compile(r"(?<=[.\]]) |\n")
_OPENERS = frozenset({"A", "An", "In", "Of", "The", "Which", "Who"})  # of sentences, no names
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentQuestionConfig(TaskConfig):
    """Which world the documents are from, how many stand in the prompt, and what is asked."""

    world_level: int = knob(
        2, "level of the world: second names, conflicts, wordings", low=0, high=_HIGHEST_LEVEL
    )
    hops: int = knob(2, "relations to follow from a name in the question", low=1, high=6)
    n_documents: int = knob(
        15,
        "documents in the prompt, as far as the world has so many; more where facts need them",
        low=1,
        high=_MOST_DOCUMENTS,
    )
    kinds: tuple[str, ...] = knob(tuple(KINDS), "kinds of questions", choices=KINDS)
    prose: str = knob(
        PLAIN,
        "how documents tell facts: in plain sentences, or as varied kinds of pages",
        choices=PROSE,
    )

    @classmethod
    def at(cls, difficulty: int) -> "DocumentQuestionConfig":
        """Every second level adds a hop, up to six; more kinds are asked at levels 1 and 3.

        Each level adds 5 documents, of a world that is more misleading: more second names,
        wordings, reports that contradict each other, and facts on other pages. Beyond level 10
        documents are in varied prose.
        """
        asked = [
            kind for level, kinds in _KINDS_FROM.items() if level <= difficulty for kind in kinds
        ]
        return cls(
            world_level=min(difficulty, _HIGHEST_LEVEL),
            hops=QuestionSpec.at(difficulty).hops,
            n_documents=min(_MOST_DOCUMENTS, 5 + 5 * difficulty),
            kinds=tuple(asked),
            prose=VARIED if difficulty > PLAIN_LEVELS else PLAIN,
        )


@dataclass(frozen=True, slots=True)
class DocumentQuestionProblem:
    """A question and the pages that stand in the prompt; the spec and the seed rebuild these."""

    question: str
    kind: str
    world: WorldSpec
    world_seed: int
    documents: tuple[str, ...]  # ids of pages, in the order of the prompt
    form: str = hidden()
    answers: tuple[tuple[str, ...], ...] = hidden()
    plan: tuple[Hop, ...] = hidden()

    @property
    def built(self) -> World:
        """The world; equal specs and seeds give equal worlds."""
        return build_world(self.world, self.world_seed)


@register("DocumentQuestion-v0", domain="search", answer_format="tag", weight=0.0)
class DocumentQuestionTask(Task[DocumentQuestionConfig, DocumentQuestionProblem]):
    """Answer a question about documents that all stand in the prompt, in one turn.

    Description:
        The long-context side of the search tasks. The documents are pages of a fictional world,
        and the question is one of their ten kinds: a chain, an inverse, an intersection, a
        comparison, a superlative, a count, a sum or a distance, a set, an office in a year, and
        a chain in which a fact may be missing. Every page that the answer needs is among the
        documents: those that tell the facts, those of the things on the way, and those with the
        false reports. Up to half of the others name something on the way too. All stand in a random
        order. The task has no weight in ``rlvr/Search-v0``, whose episodes have tools.

    Observation:
        The documents, numbered; how they record facts; and the question at the end.

    Action:
        One name, one number, several names with commas, or the word "unanswerable".

    Reward:
        1 for the right answer, otherwise 0; for a set, only all its names and no other are right.

    Verification:
        Names are compared with every name of the thing, after the normalisation of SQuAD (case,
        punctuation, articles), and numbers with the exact value. The expected answer is computed
        from the facts of the world, as the stated rule settles contradictions. The documents hold
        every fact behind it; pages that are left out hold nothing that would change it. No known
        gaps.

    Difficulty:
        `effort` counts the characters that a reader reads who goes through all documents once for
        each relation of the question. Paths get up to six hops; there are more documents, and they
        are longer; facts stand on other pages, in tables and notes, in more wordings; sources
        contradict each other; things have second names, by which questions call them, and share
        names. `baseline` answers with the first name, or number, of the sentence that shares most
        words with the question.

    References:
        Trivedi et al., "MuSiQue: Multihop Questions via Single-hop Question Composition", 2022,
        for chains without shortcuts. Hsieh et al., "RULER: What's the Real Context Size of Your
        Long-Context Language Models?", 2024, and Kuratov et al., "BABILong: Testing the Limits of
        LLMs with Long Context Reasoning-in-a-Haystack", 2024, for facts spread over a long text.
    """

    def generate(self, rng: Rng) -> DocumentQuestionProblem:
        """Draw a world, a question and the documents; a world without one is drawn again.

        Raises:
            ConfigError: no world of several had a question of the kind.
        """
        config, dice = self.config, Dice(rng)
        spec = WorldSpec.at(config.world_level)
        kind = dice.pick(config.kinds)
        for _ in range(_WORLDS):
            seed = integer(rng, 0, _SEEDS)
            world = build_world(spec, seed)
            try:
                asked = QuestionSpec(hops=config.hops)
                question = draw_question(world, kind, asked, rng, config.prose)
            except ConfigError:
                continue
            return DocumentQuestionProblem(
                question=question.text,
                kind=kind,
                world=spec,
                world_seed=seed,
                documents=_documents(
                    library(world, config.prose), question.plan, config.n_documents, dice
                ),
                form=question.form,
                answers=question.answers,
                plan=question.plan,
            )
        raise ConfigError(
            f"{_WORLDS} worlds of level {config.world_level} had no question of the kind "
            f"{kind!r}: set another world_level, or leave the kind out of kinds"
        )

    def prompt(self, problem: DocumentQuestionProblem) -> str:
        world = problem.built
        texts = "\n\n".join(
            f"Document {number}: {title}\n{text}"
            for number, (title, text) in enumerate(self._shown(problem), 1)
        )
        parts = [
            _TASK,
            texts,
            _about(problem.world, world.rule, self.config.prose),
        ]
        if "member" in problem.question:
            parts.append(MEMBERS)
        asked = _ASKED_FOR[_FORM_OF_KIND.get(problem.kind, "name")]
        if problem.kind == "unanswerable":
            asked += (
                " If the documents do not record a fact that the question needs, answer with the "
                'word "unanswerable".'
            )
        return "\n\n".join([*parts, f"Question: {problem.question}\n{asked}"])

    def verify(self, problem: DocumentQuestionProblem, answer: str) -> Verdict:
        verdict = judge(problem, answer)
        if 0.0 < verdict.score < 1.0:
            return Verdict.wrong(verdict.detail, **verdict.parts)
        return verdict

    def solve(self, problem: DocumentQuestionProblem) -> str:
        return ", ".join(forms[0] for forms in problem.answers)

    def effort(self, problem: DocumentQuestionProblem) -> float:
        """Count the characters of all documents, once for each relation of the question.

        Those of varied prose count twice: for what is said, and for what pronouns and nouns mean.
        """
        size = sum(len(title) + len(text) for title, text in self._shown(problem))
        times = 2 if self.config.prose == VARIED else 1
        return float(times * size * sum(1 for hop in problem.plan if hop.relation))

    def baseline(self, rng: Rng, problem: DocumentQuestionProblem) -> str:
        """Answer with the first name, or number, of the sentence most like the question."""
        asked = set(_WORD.findall(problem.question.lower()))
        known = set(_NAME.findall(problem.question))

        def like(sentence: str) -> int:
            return len(asked & set(_WORD.findall(sentence.lower())))

        sentences = [
            sentence
            for title, text in self._shown(problem)
            for sentence in _SENTENCE_END.split(f"{title}\n{text}")
        ]
        counts = problem.question.startswith(ASKS_FOR_NUMBER)
        for sentence in sorted(sentences, key=like, reverse=True):
            found = NUMBER.findall(sentence) if counts else _NAME.findall(sentence)
            for each in found:
                if each not in known and each not in _OPENERS:
                    return str(each)
        return "unanswerable"

    def explain(self, problem: DocumentQuestionProblem) -> list[str]:
        """Say what each part of the question comes to, and which documents tell it."""
        world, plan = problem.built, problem.plan
        books, told = library(world, self.config.prose), _places(problem)
        steps = evaluate(world, plan)
        lines = []
        for at, (hop, step) in enumerate(zip(plan, steps, strict=True)):
            if hop.op == "name":
                continue
            where = sorted({told[page] for page in _pages_of_facts(books, step.facts)})
            named = f" (document{'s' if len(where) > 1 else ''} {', '.join(map(str, where))})"
            number = value_kind(plan[: at + 1]) == "number"
            values = [str(v) if number else world.entities[v].label for v in step.values]
            shown = ", ".join(values) or "no document records it"
            lines.append(f"{_what(plan, at)}: {shown}{named if where else ''}.")
        return lines

    def _shown(self, problem: DocumentQuestionProblem) -> list[tuple[str, str]]:
        """Return the title and the text of each document, in the order of the prompt."""
        pages = {page.id: page for page in library(problem.built, self.config.prose).pages}
        return [(pages[each].title, document(pages[each])) for each in problem.documents]


def _what(plan: Plan, at: int) -> str:
    """Say what a hop of a plan stands for."""
    hop = plan[at]
    if hop.op in PATH:
        said = phrase(plan, at)
        return f"In {hop.year}, {said}" if hop.op == "at" else said[0].upper() + said[1:]
    if hop.op in RANKED:
        measure = RELATIONS[hop.relation]
        told: dict[str, Any] = {
            "most": measure.most,
            "least": measure.least,
            "more": measure.more,
            "less": measure.less,
        }
        return f"The one that {told[hop.op]}"
    return {
        "both": "In both groups",
        "count": "How many these are",
        "all": "All of them",
        "sum": "The sum of the two numbers",
        "gap": "The difference of the two years",
    }[hop.op]


def _documents(books: Library, plan: Plan, wanted: int, dice: Dice) -> tuple[str, ...]:
    """Choose the documents of a prompt, and put them into a random order.

    Half as many as the question needs are always added, so that not all have a part in it.
    """
    world = books.world
    steps = evaluate(world, plan)
    on_way: set[int] = set()
    for at, step in enumerate(steps):
        if value_kind(plan[: at + 1]) == "name":
            on_way.update(step.values)
    needed = set(on_way)
    for step in steps:
        needed |= _pages_of_facts(books, step.facts)
    if plan[-1].op in ("most", "least"):  # who would be the answer if the group were not read
        for entity in leader(world, plan):
            needed.add(entity)
            needed |= _pages_of_facts(books, tuple(world.of[entity, plan[-1].relation]))
    more = max(wanted - len(needed), -(-len(needed) // 2))
    others = [page for page in range(len(books.pages)) if page not in needed]
    near = [page for page in others if not on_way.isdisjoint(books.named[page])]
    chosen = _some(near, round(more * _NEAR), dice)
    rest = [page for page in others if page not in chosen]
    chosen |= _some(rest, more - len(chosen), dice)
    pages = sorted(needed | chosen)
    return tuple(books.pages[pages[i]].id for i in dice.sample(len(pages), len(pages)))


def _some(pages: list[int], count: int, dice: Dice) -> set[int]:
    return {pages[i] for i in dice.sample(len(pages), min(count, len(pages)))}


def _pages_of_facts(books: Library, facts: tuple[int, ...]) -> set[int]:
    """Return the pages that tell some facts, the false reports about them included."""
    told = {books.told[fact] for fact in facts}
    return told | {books.denied[fact] for fact in facts if fact in books.denied}


def _places(problem: DocumentQuestionProblem) -> dict[int, int]:
    """Return the number of the document that is the page of an entity."""
    numbers = {entity.id: number for number, entity in enumerate(problem.built.entities)}
    return {numbers[each]: place for place, each in enumerate(problem.documents, 1)}


def _about(world: WorldSpec, rule: str, prose: str) -> str:
    """Return how the documents record facts, with the difficulties that this world has."""
    where = ', or in a document listed under "See also" there' if world.elsewhere else ""
    own = (
        "A fact is in the document about the thing that it describes, as a person's birthplace is "
        f"in the one about that person{where}. Use only what the documents say."
    )
    told = [own]
    if world.alias_rate:
        told.append(
            "Some things have a second name, which a question may use; their document gives it."
        )
    if world.homonym_rate:
        told.append(
            "Some things share a name. The title of each document then adds a word in brackets: "
            "Name (town)."
        )
    if world.conflict_rate:
        told.append(rule)
    if prose == VARIED:
        told.append(
            "Documents are of many kinds, such as letters, minutes and index cards. Where one says "
            'only a last name, "she", "he", "it", or a noun such as "the guild", it means what the '
            "document is about."
        )
    return "\n- ".join(told)
