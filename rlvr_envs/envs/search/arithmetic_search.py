"""ArithmeticSearch: add two amounts, or give the years between two dates."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("ArithmeticSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class ArithmeticSearchTask(SearchTask):
    """Add two amounts, or give the number of years between two dates.

    Description:
        Both numbers belong to things at the ends of paths and stand on different pages. Sums are of
        two amounts of the same kind, such as inhabitants.

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
        Paragraphs", 2019, for arithmetic on what was read. Jin et al., "Search-R1: Training LLMs to
        Reason and Leverage Search Engines with Reinforcement Learning", 2025, for the tags.
    """

    kind: ClassVar[str] = "arithmetic"
    asked_for: ClassVar[str] = "Answer with one number, in digits."
