"""What a step samples: one group for each proposal, or more until enough of them hold a signal."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo.episode import Episode, Group, Segment  # noqa: E402
from rlvr_envs.agents.grpo.model.distributed import Workers  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402
from rlvr_envs.agents.grpo.problems import Problems  # noqa: E402
from rlvr_envs.agents.grpo.run import Callback  # noqa: E402
from rlvr_envs.agents.grpo.sources import make_source  # noqa: E402
from rlvr_envs.agents.grpo.train import sample  # noqa: E402
from rlvr_envs.curricula import Fixed, Nested, Oversampled, Proposal  # noqa: E402

CONFIG = preset(
    tasks=("Gcd-v0",), groups=2, group_size=2, max_tokens=4, overlong_buffer=4, max_rounds=3
)
SAME, DIFFERENT = (1.0, 1.0), (1.0, 0.0)


class Scripted:
    """Plays groups with the rewards that it was given, one group after another."""

    def __init__(self, groups):
        self.groups, self.seeds, self.rounds = iter(groups), [], []

    def play(self, proposals, group_size, *, seed):
        self.seeds += [proposal.problem_seed for proposal in proposals]
        self.rounds.append([proposal.samples or group_size for proposal in proposals])
        return [
            Group(
                proposal,
                [
                    self.episode(number, reward, length)
                    for length, reward in enumerate(next(self.groups), 1)
                ],
            )
            for number, proposal in enumerate(proposals)
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
        self.scores, self.steps, self.problems = [], 0, []

    def record(self, task, difficulty, scores, problem=None):
        self.scores.append(scores)
        self.problems.append(problem)

    def end_step(self):
        self.steps += 1


class Noted(Callback):
    def __init__(self):
        self.groups = []

    def on_group(self, run, group):
        self.groups.append(group)


def sampled(config, *groups, around=lambda inner: inner, run=None):
    inner = Recording()
    run = run or SimpleNamespace(
        config=config,
        workers=Workers("cpu"),
        curriculum=around(inner),
        recording=inner,
        source=make_source("stream", Problems(config.data), 0),
        rollout=Scripted(groups),
        callbacks=[Noted()],
        metrics=SimpleNamespace(samples=lambda step, groups: None),
    )
    found, numbers = sample(run, 0)
    rewards = [tuple(episode.reward for episode in group.episodes) for group in found]
    assert run.recording.steps == 1
    return rewards, numbers, run


def test_every_proposal_is_played_once():
    rewards, numbers, run = sampled(CONFIG, SAME, DIFFERENT)
    assert rewards == [SAME, DIFFERENT]
    assert numbers["groups/drawn"] == numbers["groups/kept"] == 2
    assert numbers["reward/mean"] == 0.75  # of all that were drawn
    assert run.curriculum.scores == [list(SAME), list(DIFFERENT)]
    assert run.curriculum.problems == run.rollout.seeds
    assert len(set(run.rollout.seeds)) == 2
    assert [group.scores for group in run.callbacks[0].groups] == run.curriculum.scores


def test_dynamic_sampling_draws_on_for_what_holds_no_signal():
    config = CONFIG.replace(dynamic_sampling=True)
    rewards, numbers, run = sampled(config, SAME, DIFFERENT, SAME, DIFFERENT)
    assert rewards == [DIFFERENT, DIFFERENT]
    assert (numbers["groups/drawn"], numbers["groups/kept"]) == (4.0, 2.0)
    assert len(run.curriculum.scores) == 4  # it hears of those left out too
    assert len(set(run.rollout.seeds)) == 4


def test_dynamic_sampling_gives_up_after_its_rounds():
    config = CONFIG.replace(dynamic_sampling=True)
    rewards, numbers, _ = sampled(config, SAME, SAME, SAME, DIFFERENT, SAME)
    assert rewards == [DIFFERENT]
    assert (numbers["groups/drawn"], numbers["groups/kept"]) == (5.0, 1.0)


def test_lengths_alone_are_no_signal():
    config = CONFIG.replace(dynamic_sampling=True, overlong="penalty", max_rounds=1)
    rewards, _, _ = sampled(config, SAME, DIFFERENT)
    assert rewards == [DIFFERENT]


def test_what_a_curriculum_says_of_groups_is_done():
    """Its hooks, in the order in which a step has them."""

    class Hooked(Nested):
        def __init__(self, inner):
            super().__init__(inner)
            self.asked, self.seen = [], []

        def allot(self, proposals):
            assert all(proposal.problem_seed is not None for proposal in proposals)
            return [replace(each, samples=2 + k) for k, each in enumerate(proposals)]

        def more(self, group):
            self.asked.append(len(group.episodes))
            return 2 if len(group.episodes) < 4 else 0

        def observe(self, group):
            self.seen.append(group.scores)

        def weight(self, group):
            return float(len(group.episodes))

    rounds = [(1.0, 0.0), (0.0, 0.0, 0.0), (1.0, 1.0), (0.5, 0.5)]
    rewards, numbers, run = sampled(CONFIG, *rounds, around=Hooked)
    assert run.rollout.rounds == [[2, 3], [2, 2]]
    assert run.rollout.seeds[:2] == run.rollout.seeds[2:]  # the same problems
    assert rewards == [(1.0, 0.0, 1.0, 1.0), (0.0, 0.0, 0.0, 0.5, 0.5)]
    assert run.curriculum.asked == [2, 3, 4, 5]
    assert run.recording.scores == run.curriculum.seen == [list(each) for each in rewards]
    weights = [{e.weight for e in group.episodes} for group in run.callbacks[0].groups]
    assert weights == [{4.0}, {5.0}]
    assert numbers["groups/drawn"] == numbers["groups/kept"] == 2


def test_more_groups_than_are_missing_are_drawn_where_few_hold_a_signal():
    """CodeV-R1: what is too much is thrown away."""
    config = CONFIG.replace(dynamic_sampling=True)
    groups = [SAME, DIFFERENT, SAME, SAME, SAME, DIFFERENT, DIFFERENT]

    def around(inner):
        curriculum = Oversampled(inner, most=4.0)
        curriculum.rate = 0.5
        return curriculum

    rewards, numbers, run = sampled(config, *groups, around=around)
    assert list(map(len, run.rollout.rounds)) == [4, 2]
    assert rewards == [DIFFERENT, DIFFERENT]
    assert (numbers["groups/drawn"], numbers["groups/kept"]) == (6.0, 2.0)
    assert run.curriculum.rate == 0.5 + 0.3 * (2 / 6 - 0.5)
    config = config.replace(groups=1)
    rewards, numbers, run = sampled(config, DIFFERENT, DIFFERENT, around=around)
    assert (rewards, numbers["groups/kept"]) == ([DIFFERENT], 1.0)
    fixed_size = CONFIG.replace(dynamic_sampling=False)
    _, numbers, _ = sampled(fixed_size, SAME, SAME, around=around)
    assert numbers["groups/drawn"] == 2.0
