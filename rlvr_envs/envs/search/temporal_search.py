"""TemporalSearch: find out who held an office in a year."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("TemporalSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class TemporalSearchTask(SearchTask):
    """Say who held an office in a given year.

    Description:
        Mayors of a place and heads of an organisation follow each other, and pages give the years
        of each. The question asks for a year within a term; whose office it is, a path describes.

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
        Chen, Wang and Wang, "A Dataset for Answering Time-Sensitive Questions", 2021. Jin et al.,
        "Search-R1: Training LLMs to Reason and Leverage Search Engines with Reinforcement
        Learning", 2025, for the tags.
    """

    kind: ClassVar[str] = "temporal"
    asked_for: ClassVar[str] = "Answer with one name, as it appears on a page."
