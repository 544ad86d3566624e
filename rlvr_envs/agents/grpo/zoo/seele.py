"""SEELE (arXiv 2509.06923): as much of the solution as a problem needs to be solved half the time.

The environments are in the wrapper `ItemResponseHints`, which fits the curves. A group is played in
rounds, so that even a problem that is new ends near the target.
"""

from collections import Counter
from dataclasses import replace

from rlvr_envs.agents.grpo.episode import Episode, Group, Segment
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.curricula.base import Proposal


@callback(name="rounds")
class Rounds(Callback):
    """Plays every group in rounds of its size, one after another; all rounds are one group."""

    def __init__(self, *, rounds: int = 4) -> None:
        self._rounds = rounds

    def more(self, run: Run, group: Group) -> Proposal | None:
        """Return the same problem again, until all rounds are played."""
        size = group.proposal.samples or run.config.sampling.group_size
        played = len(group.episodes) // size
        return None if played >= self._rounds else replace(group.proposal, samples=size)


@callback(name="imitate_hints")
class ImitateHints(Callback):
    """Learns to begin as the hints do, in an answer to the prompt without them."""

    def __init__(self, *, weight: float = 0.001) -> None:
        """Take the weight of a hint's tokens beside those of an episode."""
        self._weight = weight

    def on_batch(self, run: Run, episodes: list[Episode]) -> list[Episode]:
        """Add each hint once, as the beginning of a response, with the weight of its episodes."""
        hinted = {
            (episode.bare_prompt, episode.hint_opening): episode
            for episode in episodes
            if episode.hint_opening
        }
        counts = Counter((episode.bare_prompt, episode.hint_opening) for episode in episodes)
        given = []
        for number, (key, episode) in enumerate(hinted.items(), 1 + _last_group(episodes)):
            tokens = run.chat.action(episode.hint_opening)[:-1]
            opening = Segment(run.chat.opening(episode.bare_prompt))
            demonstration = Episode(
                group=number,
                task=episode.task,
                difficulty=episode.difficulty,
                problem_seed=episode.problem_seed,
                segments=[opening, Segment(tokens, (0.0,) * len(tokens))],
                demonstrated=True,
                finished=True,
                weight=self._weight * counts[key],
            )
            given.append(demonstration)
        return episodes + given


def _last_group(episodes: list[Episode]) -> int:
    return max((episode.group for episode in episodes), default=-1)


recipe(
    "seele",
    "SEELE, arXiv 2509.06923",
    estimator="grpo",
    loss="clipped(low=0.2, high=0.2)",
    aggregation="token_mean",
    kl="k3",
    kl_coef=0.001,
    group_size=8,
    wrappers=("ItemResponseHints(rollouts=8, rounds=4, target=0.5)",),
    callbacks=("rounds(rounds=4)", "imitate_hints(weight=0.001)"),
)
