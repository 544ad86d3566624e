"""Guide (arXiv 2506.13923): a hint after a failure, learned as if there had been none.

The environments are in a wrapper that gives hints: `HintOnRequest`, for a hint in the same step,
or `HintOnFailure`, for one when the problem comes back.
"""

from dataclasses import replace

from torch import Tensor

from rlvr_envs.agents.grpo.episode import Episode, Group, Segment
from rlvr_envs.agents.grpo.losses import clipped, token_ratio
from rlvr_envs.agents.grpo.plugins import callback, loss
from rlvr_envs.agents.grpo.presets import recipe
from rlvr_envs.agents.grpo.run import Callback, Run
from rlvr_envs.curricula.base import Proposal


@loss
def guide(
    logp: Tensor,
    sampled: Tensor,
    mask: Tensor,
    advantages: Tensor,
    *,
    low: float = 0.2,
    high: float = 0.2,
) -> Tensor:
    """Return `clipped` of pi(y | x) / pi_old(y | x, h), h the hint that it was sampled with.

    Belongs with the callback `bare_prompts` and without a correction, which is the same ratio.
    """
    return clipped(token_ratio(logp, sampled, mask), advantages, low=low, high=high)


@callback(name="hint_after_failure", hints=True)
class HintAfterFailure(Callback):
    """Plays a group that failed as a whole again with a hint, which joins the group."""

    def __init__(
        self, *, levels: tuple[int, ...] = (1,), samples: int = 0, solved: float = 1.0
    ) -> None:
        """Take the hints' levels, one after another until an episode reaches the score ``solved``.

        Each is tried by ``samples`` episodes, 0 for as many as the group had.
        """
        self._levels, self._samples, self._solved = levels, samples, solved

    def more(self, run: Run, group: Group) -> Proposal | None:
        """Return the problem with the next hint, as long as nobody has solved it."""
        size = group.proposal.samples or run.config.sampling.group_size
        samples = self._samples or size
        tried = (len(group.episodes) - size) // samples
        failed = bool(group.scores) and max(group.scores) < self._solved
        if not failed or tried >= len(self._levels):
            return None
        return replace(group.proposal, samples=samples, hint=self._levels[tried])


@callback(name="bare_prompts")
class BarePrompts(Callback):
    """Learns from episodes with a hint as answers to the prompt without it."""

    def on_batch(self, run: Run, episodes: list[Episode]) -> list[Episode]:
        """Take the hints out; how likely the tokens were with them stays."""
        for episode in episodes:
            if episode.bare_prompt:
                episode.segments[0] = Segment(run.chat.opening(episode.bare_prompt))
        return episodes


recipe(
    "guide",
    "Guide, arXiv 2506.13923",
    differs="hints are first steps of the worked solution, where the paper has a model write them",
    estimator="grpo",
    loss="guide(low=0.2, high=0.2)",
    correction="none",
    aggregation="token_mean",
    wrappers=("HintOnRequest",),
    callbacks=("hint_after_failure", "bare_prompts"),
)
