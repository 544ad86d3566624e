"""SuperlativeSearch: find out which of a group has the greatest or the smallest number."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("SuperlativeSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class SuperlativeSearchTask(SearchTask):
    """Say which of a group is last, largest, longest or highest, or the opposite.

    Description:
        A group of three to nine things has the same relation to something that a path describes.
        All its members have to be found, and a number for each of them. In the whole world, another
        thing would be the answer.

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
        Wolfson et al., "Break It Down: A Question Understanding Benchmark", 2020, for superlatives
        as steps of a plan. Jin et al., "Search-R1: Training LLMs to Reason and Leverage Search
        Engines with Reinforcement Learning", 2025, for the tags.
    """

    kind: ClassVar[str] = "superlative"
    asked_for: ClassVar[str] = "Answer with one name, as it appears on a page."
