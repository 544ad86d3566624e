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
        The F1 score of the names against the expected ones: 1 for exactly these, less where names
        are missing or wrong, and 0 for more than three times as many names as expected.

    Verification:
        Names are compared with every name of the expected things, after the normalisation of SQuAD
        (case, punctuation, articles). The expected answer is computed from the facts of the world
        as the stated rule settles contradictions. No known gaps.

    Difficulty:
        The world gets more pages, aliases, homonyms, contradictions and dead links, facts move to
        other pages, and the paths get up to five hops; tools fail more often.

    References:
        Amouyal et al., "QAMPARI: A Benchmark for Open-domain Questions with Many Answers", 2022.
        Jin et al., "Search-R1: Training LLMs to Reason and Leverage Search Engines with
        Reinforcement Learning", 2025, for the tags.
    """

    kind: ClassVar[str] = "set"
    asked_for: ClassVar[str] = (
        "Answer with all their names, as they appear on pages, separated by commas. The reward is "
        "the F1 score of your list: missing and wrong names lower it. A list with more than three "
        "times as many names as the right one earns nothing."
    )
