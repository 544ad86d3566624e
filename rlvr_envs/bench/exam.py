"""How a model is tested: sampled and likeliest responses to a suite's test problems.

The responses are kept, so that anybody can compute the scores again from them.
"""

import math
from collections.abc import Sequence

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.episode import Episode
from rlvr_envs.agents.grpo.parts import EnvMaker
from rlvr_envs.agents.grpo.rollout import Rollout
from rlvr_envs.agents.grpo.sampling.sampler import Sampler
from rlvr_envs.bench.results import Answers, Marks, Response
from rlvr_envs.bench.suite import Experiment, Suite
from rlvr_envs.core.instance import Row
from rlvr_envs.core.seeding import draw_seed, stream
from rlvr_envs.curricula.base import Proposal


class Examiner:
    """Tests a model with environments that it makes once.

    Args:
        suite: says how many responses, and at which temperature.
        experiment: says how long they may be.
        rows: the problems.
        sampler: of the model.
        chat: of the model.
    """

    def __init__(
        self,
        suite: Suite,
        experiment: Experiment,
        rows: Sequence[Row],
        sampler: Sampler,
        chat: Chat,
    ) -> None:
        self._suite = suite
        self._proposals = [
            Proposal(task=row["id"], difficulty=row["difficulty"], row=row) for row in rows
        ]
        self._rollouts = {
            temperature: Rollout(
                EnvMaker((), (), {}),
                sampler,
                chat,
                max_tokens=experiment.max_tokens,
                context=experiment.context,
                temperature=temperature,
            )
            for temperature in (suite.temperature, 0.0)
        }

    def ask(self, *, seed: int, greedy: bool) -> tuple[Answers, Marks]:
        """Return responses and what they are worth.

        Args:
            seed: of the samples.
            greedy: whether to ask for the likeliest responses too.
        """
        sampled = self._play(self._suite.temperature, self._suite.responses, seed)
        likeliest = self._play(0.0, 1, seed) if greedy else []
        answers = Answers(
            tuple(_response(each) for each in sampled), tuple(_response(each) for each in likeliest)
        )
        return answers, Marks(tuple(map(_mark, sampled)), tuple(map(_mark, likeliest)))

    def _play(self, temperature: float, samples: int, seed: int) -> list[Episode]:
        groups = self._rollouts[temperature].play(
            self._proposals, samples, seed=draw_seed(stream("bench test", seed, samples))
        )
        return [episode for group in groups for episode in group.episodes]

    def close(self) -> None:
        """Close the environments."""
        for rollout in self._rollouts.values():
            rollout.close()


def sampling_seed(experiment: str, algorithm: str, seed: int, samples: int) -> int:
    """Return the seed of an evaluation's samples; the start's is the same in all runs."""
    return draw_seed(stream("bench", experiment, algorithm, seed, samples)) if samples else 0


def _response(episode: Episode) -> Response:
    """Return what the model said: a text, or its actions where it had several turns."""
    actions = tuple(episode.texts[: len(episode.actions)])
    return actions[0] if len(actions) == 1 else actions


def _mark(episode: Episode) -> float | None:
    return None if math.isnan(episode.score) else episode.score
