"""UnanswerableSearch: follow a chain of relations, one of which may be missing."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("UnanswerableSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class UnanswerableSearchTask(SearchTask):
    """Follow a chain of relations, and say so where no page records one of them.

    Description:
        Questions read like those of a chain. In about one of seven, a fact on the way or at the end
        is on no page, and the right answer is the word "unanswerable"; in the others it earns
        nothing.

    Verification:
        The answer is compared with every name of the thing, after the normalisation of SQuAD (case,
        punctuation, articles), and numbers with the exact value; "unanswerable" has a few accepted
        forms. The expected answer is computed from the facts of the world as the stated rule
        settles contradictions. No known gaps.

    Difficulty:
        The paths get up to six hops. Facts move to other pages, into tables and notes, and are
        worded in more ways; reports contradict each other; links are dead; things have second
        names, by which questions call them, and share names. The world grows; tools fail more
        often.

    References:
        Rajpurkar, Jia and Liang, "Know What You Don't Know: Unanswerable Questions for SQuAD",
        2018. Jin et al., "Search-R1: Training LLMs to Reason and Leverage Search Engines with
        Reinforcement Learning", 2025, for the tags.
    """

    kind: ClassVar[str] = "unanswerable"
    asked_for: ClassVar[str] = (
        "Answer with one name, as it appears on a page, or with one number without a unit. If the "
        "pages do not record a fact that the question needs, answer with the word "
        '"unanswerable".'
    )
