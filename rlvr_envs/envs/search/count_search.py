"""CountSearch: count the members of a group."""

from typing import ClassVar

from rlvr_envs.core.registry import register
from rlvr_envs.generators.search_episodes.task import TURNS_AT_MOST, SearchTask


@register("CountSearch-v0", domain="search", answer_format="tag", max_turns=TURNS_AT_MOST)
class CountSearchTask(SearchTask):
    """Count the members of a group that no page lists.

    Description:
        The group is given by one constraint or two. Most members are told on their own pages only,
        so that all pages that name the value have to be found and read. The number is between one
        and nine: up to three where there are two constraints, two to six where the members share
        a value, four and more where a list tells them.

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
        The number is compared exactly; commas between thousands are read. The expected answer is
        computed from the facts of the world as the stated rule settles contradictions. No known
        gaps.

    Difficulty:
        The world gets more pages, aliases, homonyms, contradictions and dead links, facts move to
        other pages, and the paths get up to five hops; tools fail more often.

    References:
        Dua et al., "DROP: A Reading Comprehension Benchmark Requiring Discrete Reasoning Over
        Paragraphs", 2019, for counts. Jin et al., "Search-R1: Training LLMs to Reason and Leverage
        Search Engines with Reinforcement Learning", 2025, for the tags.

    Version History:
        v0: first version.
    """

    kind: ClassVar[str] = "count"
    asked_for: ClassVar[str] = "The answer is one number, in digits."
