"""ComparisonSearch: find out which of two things has the greater or the smaller number."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("ComparisonSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class ComparisonSearchTask(SearchTask):
    """Say which of two described things is older, larger, longer or higher.

    Description:
        Neither of the two is named: each is the end of a path. Their numbers stand on pages of
        their own, and two sources may disagree about them.

    Reward:
        1 for the right answer, otherwise 0. A guess among the two is right half of the time once
        both are found, which takes most of the way.

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
        Yang et al., "HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering",
        2018, for comparisons. Jin et al., "Search-R1: Training LLMs to Reason and Leverage Search
        Engines with Reinforcement Learning", 2025, for the tags.
    """

    kind: ClassVar[str] = "comparison"
    asked_for: ClassVar[str] = "Answer with the name of one of the two, as it appears on a page."
