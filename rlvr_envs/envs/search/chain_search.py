"""ChainSearch: follow one relation after another to a name or a number."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("ChainSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class ChainSearchTask(SearchTask):
    """Follow a chain of relations from a named thing to a name or a number.

    Description:
        The question names one thing and describes another by what links them, such as the
        birthplace of the author of a work. Each link of the chain stands on another page, and no
        page that names the start tells the end.

    Observation:
        The question, the rule for contradictory reports and the calls; then the result of each
        call: hits of a search, a page or a part of it, or sentences found on it.

    Action:
        A message with one call of search, open, find or answer, written as tags or, with
        `syntax="json"`, as JSON objects. Later calls of a message and thoughts are not read.

    Reward:
        1 for the right answer, otherwise 0.

    Episode End:
        With an answer, or with the first message that is none once the calls are used up. There are
        at least as many calls as the oracle makes, whatever `max_calls` says; the registered turn
        limit is only a bound that no episode reaches.

    Verification:
        The answer is compared with every name of the thing, after the normalisation of SQuAD (case,
        punctuation, articles), and numbers with the exact value. The expected answer is computed
        from the facts of the world as the stated rule settles contradictions. No known gaps.

    Difficulty:
        The world gets more pages, aliases, homonyms, contradictions and dead links, facts move to
        other pages, and the paths get up to five hops; tools fail more often.

    References:
        Yang et al., "HotpotQA: A Dataset for Diverse, Explainable Multi-hop Question Answering",
        2018; Trivedi et al., "MuSiQue: Multihop Questions via Single-hop Question Composition",
        2022, for chains without shortcuts. Jin et al., "Search-R1: Training LLMs to Reason and
        Leverage Search Engines with Reinforcement Learning", 2025, for the tags.

    Version History:
        v0: first version.
    """

    kind: ClassVar[str] = "chain"
