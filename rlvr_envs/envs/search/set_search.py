"""SetSearch: name all members of a group."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("SetSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class SetSearchTask(SearchTask):
    """Name all members of a group that no page lists.

    Description:
        The group is given by one constraint or two, at the end of a path. Most members are
        recorded only on their own pages, so all pages that name the value have to be found and
        read.

    Reward:
        The share of the expected names that the answer has; each wrong name takes one right name
        away. So 1 for exactly the expected names, and 0 for as many wrong names as right ones.

    Verification:
        Names are compared with every name of the expected things, after the normalisation of SQuAD
        (case, punctuation, articles). The expected answer is computed from the facts of the world
        as the stated rule settles contradictions. No known gaps.

    Difficulty:
        The paths get up to six hops. Facts move to other pages, into tables and notes, and are
        worded in more ways; reports contradict each other; links are dead; things have second
        names, by which questions call them, and share names. The world grows; tools fail more
        often.

    References:
        Amouyal et al., "QAMPARI: A Benchmark for Open-domain Questions with Many Answers", 2022.
        Jin et al., "Search-R1: Training LLMs to Reason and Leverage Search Engines with
        Reinforcement Learning", 2025, for the tags.
    """

    kind: ClassVar[str] = "set"
    asked_for: ClassVar[str] = (
        "Answer with all their names, as they appear on pages, separated by commas. The reward is "
        "the share of the right names that you list, and each wrong name cancels one right name."
    )
