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
        Wei et al., "BrowseComp: A Simple Yet Challenging Benchmark for Browsing Agents", 2025, for
        questions that are hard to find an answer to and easy to check. Jin et al., "Search-R1:
        Training LLMs to Reason and Leverage Search Engines with Reinforcement Learning", 2025, for
        the tags.

    Version History:
        v0: first version.
    """

    kind: ClassVar[str] = "inverse"
