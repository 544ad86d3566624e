"""TemporalSearch: find out who held an office in a year."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("TemporalSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class TemporalSearchTask(SearchTask):
    """Say who held an office in a given year.

    Description:
        Mayors of a place and heads of an organisation follow each other, and pages give the years
        of each. The question asks for a year within a term; whose office it is, a path describes.

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
        punctuation, articles). The expected answer is computed from the facts of the world as the
        stated rule settles contradictions. No known gaps.

    Difficulty:
        The world gets more pages, aliases, homonyms, contradictions and dead links, facts move to
        other pages, and the paths get up to five hops; tools fail more often.

    References:
        Chen, Wang and Wang, "A Dataset for Answering Time-Sensitive Questions", 2021. Jin et al.,
        "Search-R1: Training LLMs to Reason and Leverage Search Engines with Reinforcement
        Learning", 2025, for the tags.

    Version History:
        v0: first version.
    """

    kind: ClassVar[str] = "temporal"
    asked_for: ClassVar[str] = "The answer is one name, as a page gives it."
