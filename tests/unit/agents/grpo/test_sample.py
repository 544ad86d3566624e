"""What a step samples: one group for each proposal, or more until enough of them hold a signal."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo.config import Config  # noqa: E402
from rlvr_envs.agents.grpo.episode import Episode, Segment  # noqa: E402
from rlvr_envs.agents.grpo.model.distributed import Workers  # noqa: E402
from rlvr_envs.agents.grpo.train import sample  # noqa: E402
from rlvr_envs.curricula import Fixed, Proposal  # noqa: E402

CONFIG = Config(groups=2, group_size=2, max_tokens=4, overlong_buffer=4, max_rounds=3)
SAME, DIFFERENT = (1.0, 1.0), (1.0, 0.0)


class Scripted:
    """Plays groups with the rewards that it was given, one group after another."""

    def __init__(self, groups):
        self.groups, self.seeds = iter(groups), []

    def play(self, proposals, problem_seeds, group_size, *, seed):
        self.seeds += problem_seeds
        return [
            self.episode(number, reward, length)
            for number in range(len(proposals))
            for length, reward in enumerate(next(self.groups), 1)
        ]

    @staticmethod
    def episode(group, reward, length):
        return Episode(
            group=group,
            task="rlvr/Gcd-v0",
            difficulty=0,
            problem_seed=0,
            segments=[Segment((1,)), Segment((5,) * length, (-1.0,) * length)],
            reward=reward,
            score=reward,
        )


class Recording(Fixed):
    def __init__(self):
        super().__init__(proposals=[Proposal()], seed=0)
        self.scores, self.steps = [], 0

    def record(self, task, difficulty, scores, problem_seed=None):
        self.scores.append(scores)

    def end_step(self):
        self.steps += 1


def sampled(config, *groups):
    run = SimpleNamespace(
        config=config, workers=Workers("cpu"), curriculum=Recording(), rollout=Scripted(groups)
    )
    found, numbers = sample(run, 0)
    rewards = [tuple(episode.reward for episode in group) for group in found]
    assert [episode.group for group in found for episode in group] == [
        number for number, group in enumerate(found) for _ in group
    ]
    assert run.curriculum.steps == 1
    return rewards, numbers, run


def test_every_proposal_is_played_once():
    rewards, numbers, run = sampled(CONFIG, SAME, DIFFERENT)
    assert rewards == [SAME, DIFFERENT]
    assert numbers == {"groups/drawn": 2.0, "groups/kept": 2.0}
    assert run.curriculum.scores == [list(SAME), list(DIFFERENT)]
    assert len(set(run.rollout.seeds)) == 2


def test_dynamic_sampling_draws_on_for_what_holds_no_signal():
    config = replace(CONFIG, dynamic_sampling=True)
    rewards, numbers, run = sampled(config, SAME, DIFFERENT, SAME, DIFFERENT)
    assert rewards == [DIFFERENT, DIFFERENT]
    assert numbers == {"groups/drawn": 4.0, "groups/kept": 2.0}
    assert len(run.curriculum.scores) == 4  # it hears of those left out too
    assert len(set(run.rollout.seeds)) == 4


def test_dynamic_sampling_gives_up_after_its_rounds():
    config = replace(CONFIG, dynamic_sampling=True)
    rewards, numbers, _ = sampled(config, SAME, SAME, SAME, DIFFERENT, SAME)
    assert rewards == [DIFFERENT]
    assert numbers == {"groups/drawn": 5.0, "groups/kept": 1.0}


def test_lengths_alone_are_no_signal():
    config = replace(CONFIG, dynamic_sampling=True, overlong="penalty", max_rounds=1)
    rewards, _, _ = sampled(config, SAME, DIFFERENT)
    assert rewards == [DIFFERENT]
