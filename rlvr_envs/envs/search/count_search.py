"""CountSearch: count the members of a group."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("CountSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class CountSearchTask(SearchTask):
    """Count the members of a group that no page lists.

    Description:
        The group is given by one constraint or two. Most members are recorded only on
        their own pages, so all pages that name the value have to be found and read. The number is
        between one and nine: up to three where there are two constraints, two to six where the
        members share a value, four and more where they are members of an organisation or took part
        in an event.

    Verification:
        The number is compared exactly; commas between thousands are read. The expected answer is
        computed from the facts of the world as the stated rule settles contradictions. No known
        gaps.

    Difficulty:
        The paths get up to six hops. Facts move to other pages, into tables and notes, and are
        worded in more ways; reports contradict each other; links are dead; things have second
        names, by which questions call them, and share names. The world grows; tools fail more
        often.

    References:
        Dua et al., "DROP: A Reading Comprehension Benchmark Requiring Discrete Reasoning Over
        Paragraphs", 2019, for counts. Jin et al., "Search-R1: Training LLMs to Reason and Leverage
        Search Engines with Reinforcement Learning", 2025, for the tags.
    """

    kind: ClassVar[str] = "count"
    asked_for: ClassVar[str] = "Answer with one number, in digits."
