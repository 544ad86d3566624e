"""IntersectionSearch: find the only thing that satisfies two constraints."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("IntersectionSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class IntersectionSearchTask(SearchTask):
    """Find the only thing that satisfies two constraints, each of which others satisfy too.

    Description:
        Two groups are each described by a path, such as the members of a society and those who took
        part in an event. They have exactly one member in common, and neither constraint can be
        dropped. With one hop the question names what both are about, and one page has both facts.

    Verification:
        The answer is compared with every name of the thing, after the normalisation of SQuAD (case,
        punctuation, articles). The expected answer is computed from the facts of the world as the
        stated rule settles contradictions. No known gaps.

    Difficulty:
        The paths get up to six hops. Facts move to other pages, into tables and notes, and are
        worded in more ways; reports contradict each other; links are dead; things have second
        names, by which questions call them, and share names. The world grows; tools fail more
        often.

    References:
        Talmor and Berant, "The Web as a Knowledge-base for Answering Complex Questions", 2018, for
        questions that join two constraints. Jin et al., "Search-R1: Training LLMs to Reason and
        Leverage Search Engines with Reinforcement Learning", 2025, for the tags.
    """

    kind: ClassVar[str] = "intersection"
    asked_for: ClassVar[str] = "Answer with one name, as it appears on a page."
