"""UnanswerableSearch: follow a chain of relations that may break."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("UnanswerableSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class UnanswerableSearchTask(SearchTask):
    """Follow a chain of relations, and say so where a link of it was recorded nowhere.

    Description:
        Questions read like those of a chain. In about one of seven, a fact on the way or at the end
        is on no page, and the right answer is the word "unanswerable"; in the others it earns
        nothing.

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
        punctuation, articles), and numbers with the exact value; "unanswerable" has a few accepted
        forms. The expected answer is computed from the facts of the world as the stated rule
        settles contradictions. No known gaps.

    Difficulty:
        The world gets more pages, aliases, homonyms, contradictions and dead links, facts move to
        other pages, and the paths get up to five hops; tools fail more often.

    References:
        Rajpurkar, Jia and Liang, "Know What You Don't Know: Unanswerable Questions for SQuAD",
        2018. Jin et al., "Search-R1: Training LLMs to Reason and Leverage Search Engines with
        Reinforcement Learning", 2025, for the tags.

    Version History:
        v0: first version.
    """

    kind: ClassVar[str] = "unanswerable"
    asked_for: ClassVar[str] = (
        "The answer is one name as a page gives it, one number without a unit, or the word "
        '"unanswerable" where the pages do not record it.'
    )
