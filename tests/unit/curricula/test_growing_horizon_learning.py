"""A learner to try the growing horizon on: a policy of six numbers, trained by REINFORCE.

A task of depth d asks for d useful calls and then an answer. Each turn the policy makes a useful
call, makes an idle one, or answers; it knows only whether it has made the calls that are needed.
An early answer is wrong, and so is none. Nothing here is tuned to a curriculum: the horizon alone
differs between runs.
"""

import numpy as np
import pytest

from rlvr_envs.curricula import GrowingHorizon

USEFUL, IDLE, ANSWER = range(3)
DEPTHS = range(1, 9)
GROUP = 16


class Learner:
    """Softmax over three actions in two situations: not ready and ready."""

    def __init__(self, seed, rate=0.5):
        self.rng = np.random.default_rng(seed)
        self.logits = np.zeros((2, 3))
        self.rate = rate
        self.turns = 0

    def policy(self):
        e = np.exp(self.logits - self.logits.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def play(self, depth, horizon):
        """Return the score of one episode and how often it took each action where."""
        policy, done, taken = self.policy(), 0, np.zeros((2, 3))
        for _ in range(horizon):
            ready = int(done >= depth)
            action = self.rng.choice(3, p=policy[ready])
            taken[ready, action] += 1
            if action == ANSWER:
                return float(ready), taken
            done += action == USEFUL
        return 0.0, taken

    def train_step(self, curriculum):
        """Play a group for each of two depths, learn from it, and tell the curriculum."""
        horizon = curriculum.propose().horizon
        for depth in self.rng.choice(DEPTHS, size=2):
            played = [self.play(int(depth), horizon) for _ in range(GROUP)]
            scores = np.array([score for score, _ in played])
            policy, gradient = self.policy(), np.zeros((2, 3))
            for score, taken in played:
                self.turns += int(taken.sum())
                expected = taken.sum(axis=1, keepdims=True) * policy
                gradient += (score - scores.mean()) * (taken - expected)
            self.logits += self.rate * gradient / GROUP
            curriculum.record("simulated", int(depth), scores.tolist())
        curriculum.end_step()

    def solves(self, depth, horizon, episodes=100):
        """Return the share of episodes that it solves."""
        return float(np.mean([self.play(depth, horizon)[0] for _ in range(episodes)]))


def trained(stages, seed, **options):
    curriculum, learner = GrowingHorizon(stages, **options), Learner(seed)
    for _ in range(100):
        learner.train_step(curriculum)
    return curriculum, learner


@pytest.mark.parametrize("seed", range(3))
def test_growing_learns_what_a_short_horizon_cannot_for_less_than_a_long_one_costs(seed):
    """What the paper reports: short stays shallow, long from the start is wasteful."""
    short = trained((4,), seed)[1]
    long = trained((30,), seed)[1]
    curriculum, growing = trained((4, 12, 30), seed, steps_per_stage=30)
    assert curriculum.horizon() == 30
    assert short.solves(1, horizon=4) > 0.9
    assert short.solves(8, horizon=4) == 0.0
    assert growing.solves(8, horizon=30) > 0.9
    assert growing.turns < 0.8 * long.turns
    ready = 1  # to answer at once when the calls are made is learnt where turns are scarce
    assert growing.policy()[ready, ANSWER] > 1.5 * long.policy()[ready, ANSWER]


def test_success_driven_stages_follow_the_learner():
    curriculum, learner = trained((4, 12, 30), 0, steps_per_stage=None, promote_at=0.3, window=5)
    assert curriculum.horizon() == 30
    assert learner.solves(8, horizon=30) > 0.9
    assert trained((4, 12, 30), 0, steps_per_stage=None, promote_at=1.0)[0].horizon() == 4
