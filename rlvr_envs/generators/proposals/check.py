"""What a proposed question must pass: the filters of search self-play, and the world's facts.

The filters look at the text and at what the proposer did. The facts then say what the question
means: each of its readings is a plan, whose values, hops and shortcuts are those by which the
questions of the other search tasks are accepted.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from rlvr_envs.generators.proposals.reader import read
from rlvr_envs.generators.worlds import gates
from rlvr_envs.generators.worlds.articles import library
from rlvr_envs.generators.worlds.plan import Plan, Step, evaluate, value_kind
from rlvr_envs.generators.worlds.world import World
from rlvr_envs.verifiers.retrieval import normal

CHARACTERS = (10, 1_000)
LEAST_WORDS = 10
LEAST_QUERIES = 2
_LEAST_RANKED = 2
_PART = re.compile(r"\s*#\d{1,4}\Z", re.ASCII)
# Letters of other scripts that look like Latin ones, of those that end up in names.
_ALIKE = str.maketrans("авекмнорстухіјѕԁԛԝɡαεικνορτυχ", "abekmhopctyxijsdqwgaeikvoptux")


@dataclass(frozen=True, slots=True)
class Explored:
    """What a proposer did: its queries that the tool answered, and the pages that it opened."""

    queries: tuple[str, ...]
    opened: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a question means in a world, or in `fault` why it is not valid."""

    plan: Plan = ()
    evidence: tuple[str, ...] = ()  # the pages that tell the facts behind the answer
    fault: str = ""


def text_fault(question: str, forms: Sequence[str]) -> str:
    """Return what the text itself does wrong, empty for nothing."""
    low, high = CHARACTERS
    if not low <= len(question) <= high:
        return f"a question has {low} to {high:,} characters, this one has {len(question)}"
    count = len(question.split())
    if count < LEAST_WORDS:
        return f"a question has at least {LEAST_WORDS} words, this one has {count}"
    if _holds(question, forms):
        return "the question contains the given answer or another name of it"
    return ""


def search_fault(explored: Explored, forms: Sequence[str], *, gold_free: bool) -> str:
    """Return what the exploration lacks, empty for nothing."""
    if not explored.opened:
        return "no page was opened"
    asked = [query_key(query) for query in explored.queries]
    if len(set(asked)) < len(asked):
        return "a query was made twice: case, spaces and punctuation make no difference"
    if len({words for words, _ in asked}) < LEAST_QUERIES:
        return f"there were fewer than {LEAST_QUERIES} different queries"
    if gold_free and any(_holds(query, forms) for query in explored.queries):
        return "a query contains the given answer or another name of it"
    return ""


def query_key(query: str) -> tuple[str, str]:
    """Return what makes a query another one: its words, and the part that it asks for."""
    part = _PART.search(query)
    text = query[: part.start()] if part else query
    return normal(text), part[0].strip() if part else ""


def _holds(text: str, forms: Sequence[str]) -> bool:
    """Tell whether a text contains a name, however it is spaced, accented or imitated."""
    squeezed = _squeezed(text)
    return any(_squeezed(form) in squeezed for form in forms)


def _squeezed(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold()).translate(_ALIKE)
    return "".join(char for char in letters if char.isalnum())


def meaning(world: World, question: str, gold: int, hops: int) -> Meaning:
    """Say what a question means, and whether the facts make it a valid one for the gold answer."""
    reading = read(world, question)
    if reading.fault:
        return Meaning(fault=reading.fault)
    live = [(plan, steps) for plan in reading.plans if (steps := evaluate(world, plan))[-1].values]
    fault = _answer_fault(live, gold)
    if fault:
        return Meaning(fault=fault)
    found = [_proven(world, plan, steps, hops) for plan, steps in live]
    return min(found, key=lambda one: bool(one.fault))


def _answer_fault(live: Sequence[tuple[Plan, list[Step]]], gold: int) -> str:
    """Return why the readings do not agree on the gold answer; they must, wherever they differ."""
    if not live:
        return "nothing in the world answers the question"
    answers = {(value_kind(plan), value) for plan, steps in live for value in steps[-1].values}
    if answers == {("name", gold)}:
        return ""
    if ("name", gold) in answers:
        return "the question has other answers besides the given one"
    return "the answer to the question is not the given one"


def _proven(world: World, plan: Plan, steps: list[Step], hops: int) -> Meaning:
    count = sum(1 for hop in plan if hop.relation)
    if count != hops:
        return Meaning(fault=f"the question follows {count} relations instead of {hops}")
    if not gates.is_definite(plan, steps):
        return Meaning(fault="the question speaks of one thing where several fit")
    if not _has_choice(plan, steps) or not gates.is_tight(world, plan, steps):
        return Meaning(fault="a part of the question can be dropped without changing its answer")
    if not gates.is_told_apart(world, plan, steps):
        return Meaning(
            fault="the question leads through something with the same name as the answer"
        )
    pages = library(world)
    shown = gates.shown(world, plan, steps)
    if not gates.is_spread(pages, plan, shown):
        return Meaning(fault="one page that the question leads to states too many of the relations")
    told = sorted({pages.told[fact] for facts in shown for fact in facts})
    return Meaning(plan, tuple(pages.pages[page].id for page in told))


def _has_choice(plan: Plan, steps: list[Step]) -> bool:
    """Tell whether whatever is ranked is more than one thing."""
    ranked = [hop for hop in plan if hop.op in ("most", "least")]
    return all(len(steps[hop.inputs[0]].values) >= _LEAST_RANKED for hop in ranked)


def evidence_fault(evidence: Sequence[str], explored: Explored) -> str:
    """Return that the proposer has not read what its question rests on, empty if it has."""
    missing = [page for page in evidence if page not in explored.opened]
    if not missing:
        return ""
    told = f"{len(missing)} of the {len(evidence)} pages"
    return f"{told} that state the facts behind the answer were never opened"
