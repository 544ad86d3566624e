"""Our agent's updates on what another trainer sampled, to compare the weights."""

from collections import defaultdict
from types import SimpleNamespace

import numpy as np
import torch

from rlvr_envs.agents.grpo import lifecycle
from rlvr_envs.agents.grpo import train as training
from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.episode import Episode, Segment
from rlvr_envs.agents.grpo.learner import set_learning_rate
from rlvr_envs.bench import starts
from rlvr_envs.bench.algorithm import Choice, make_config
from rlvr_envs.bench.export import TRAIN, read_export

STEPS = 4  # of the small suite


class Watched:
    """What a trainer did.

    Attributes:
        batches: the prompt, tokens and reward of each episode that was sampled, by step.
        parts: the episodes of each update, as tokens of prompt and answer.
        weights: after each update.
    """

    def __init__(self):
        self.batches, self.parts, self.weights = [], [], []

    def watch_weights(self, trainer):
        step = trainer.optimizer.step

        def stepped(*given, **named):
            found = step(*given, **named)
            self.weights.append(flattened(trainer.model))
            return found

        trainer.optimizer.step = stepped


def flattened(model):
    return torch.cat([weight.detach().flatten().clone() for weight in model.parameters()])


def replayed(suite, exported, out, batches, **settings):
    """Return our weights, first those of the start, after updates on what another sampled."""
    experiment = suite.experiment("small")
    given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    choice = Choice.read(f"ours=default({given})" if given else "default")
    places = {"start": starts.folder_of(suite, experiment), "rows": exported / TRAIN, "out": out}
    config = make_config(choice, suite, experiment, read_export(exported)[0].seed, places)
    run = lifecycle.begin(
        config.replace(correction="none"), curriculum=None, make_env=None, quiet=True
    )
    weights = [flattened(run.learner.model)]
    for step, batch in enumerate(batches):
        episodes = [
            Episode(
                group=place // 4,
                task="Derivative-v0",
                difficulty=0,
                problem_seed=None,
                segments=[
                    Segment(run.chat.opening(prompt.removesuffix("\n"))),
                    Segment(tuple(tokens), (0.0,) * len(tokens)),
                ],
                reward=reward,
                score=reward,
                finished=True,
            )
            for place, (prompt, tokens, reward) in enumerate(batch)
        ]
        set_learning_rate(run.learner, step)
        training.update(run.learner, episodes, step)
        weights.append(flattened(run.learner.model))
    run.close()
    return weights


def distance(suite, exported, out, watched, **settings):
    """Return how far another's weights end from ours, as a share of how far ours have moved."""
    start, *ours = replayed(suite, exported, out, watched.batches, **settings)
    assert len(ours) == STEPS
    assert all(len({reward for _, _, reward in batch}) > 1 for batch in watched.batches)
    updates = len(watched.weights) // STEPS
    theirs = watched.weights[updates - 1 :: updates]
    moves = zip(ours, theirs, strict=True)
    return max(float((own - other).norm() / (own - start).norm()) for own, other in moves)


class SameParts:
    """Draws the minibatches of our agent as another trainer drew its own."""

    def __init__(self, watched, words, count):
        chat = Chat(words)
        self.orders = []
        for step, batch in enumerate(watched.batches):
            places = defaultdict(list)
            for place, (prompt, tokens, _) in enumerate(batch):
                places[*chat.opening(prompt.removesuffix("\n")), *tokens].append(place)
            parts = watched.parts[step * count :][:count]
            order = np.empty(len(batch), dtype=int)
            for k, part in enumerate(parts):
                order[k::count] = [places[tokens].pop() for tokens in part]
            self.orders.append(order)

    def __call__(self, name, *key):
        assert name == "minibatches"
        return SimpleNamespace(permutation=lambda _: self.orders[key[1]])
