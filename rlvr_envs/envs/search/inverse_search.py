"""InverseSearch: find what has a given value, against the direction of the links."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("InverseSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class InverseSearchTask(SearchTask):
    """Find the only thing that has a value, which its own page does not have to name.

    Description:
        Pages link from a work to its author; the question goes from the author to the work. Whoever
        answers it searches for the pages that name the value, on the way or at the end of a path.
        Exactly one thing fits.

    Verification:
        The answer is compared with every name of the thing, after the normalisation of SQuAD (case,
        punctuation, articles), and numbers with the exact value. The expected answer is computed
        from the facts of the world as the stated rule settles contradictions. No known gaps.

    Difficulty:
        The paths get up to six hops. Facts move to other pages, into tables and notes, and are
        worded in more ways; reports contradict each other; links are dead; things have second
        names, by which questions call them, and share names. The world grows; tools fail more
        often.

    References:
        Wei et al., "BrowseComp: A Simple Yet Challenging Benchmark for Browsing Agents", 2025, for
        questions that are hard to find an answer to and easy to check. Jin et al., "Search-R1:
        Training LLMs to Reason and Leverage Search Engines with Reinforcement Learning", 2025, for
        the tags.
    """

    kind: ClassVar[str] = "inverse"
