"""ChainSearch: follow one relation after another to a name or a number."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("ChainSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class ChainSearchTask(SearchTask):
    """Follow a chain of relations from a named thing to a name or a number.

    Description:
        The question names one thing and describes another by what links them, such as the
        birthplace of the author of a work. There are at least two links, each on another page, and
        no page that names the start tells the end.

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
        Yang et al., "HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering",
        2018; Trivedi et al., "MuSiQue: Multihop Questions via Single-hop Question Composition",
        2022, for chains without shortcuts. Jin et al., "Search-R1: Training LLMs to Reason and
        Leverage Search Engines with Reinforcement Learning", 2025, for the tags.
    """

    kind: ClassVar[str] = "chain"
