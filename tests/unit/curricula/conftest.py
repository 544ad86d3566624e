"""A learner to try curricula on, and checks that hold for each of them."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest


class Learner:
    """Has one skill per task and learns most where it sometimes succeeds.

    It solves level d of a task with probability 1 / (1 + exp(2 * (d - skill))), and a group moves
    the skill by ``rate`` times the variance of its scores: groups that all fail or all succeed
    teach nothing, as under group-relative advantages. Nothing here knows of any curriculum.
    """

    def __init__(self, skills, *, seed=0, rate=0.4, group=8):
        self.skills = dict(skills)
        self.rng = np.random.default_rng(seed)
        self.rate, self.group = rate, group
        self.posed = []

    def chance(self, task, difficulty):
        return 1 / (1 + math.exp(min(2 * (difficulty - self.skills[task]), 500)))

    def play(self, proposal):
        size = proposal.samples or self.group
        chance = self.chance(proposal.task, proposal.difficulty)
        scores = (self.rng.random(size) < chance).astype(float).tolist()
        self.skills[proposal.task] += self.rate * float(np.var(scores))
        self.posed.append((proposal.task, proposal.difficulty))
        return scores

    def train(self, curriculum, steps, groups=4):
        for _ in range(steps):
            for _ in range(groups):
                proposal = curriculum.propose()
                scores = self.play(proposal)
                curriculum.record(proposal.task, proposal.difficulty, scores, proposal.problem)
            curriculum.end_step()
        return self


@pytest.fixture
def learner():
    return Learner


class Group:
    """A group as a trainer hands it over."""

    def __init__(self, proposal, scores, arm=None):
        self.proposal = proposal
        self.arm = arm or (proposal.task, proposal.difficulty)
        self.episodes = [
            SimpleNamespace(score=score, weight=1.0, left_out=False) for score in scores
        ]

    @property
    def scores(self):
        return [each.score for each in self.episodes if not math.isnan(each.score)]

    @property
    def informative(self):
        return len(set(self.scores)) > 1


@pytest.fixture
def played():
    return Group


@pytest.fixture
def check_resumes():
    """Resume a copy again and again and see that it goes on alike; a wrong state is refused."""

    def check(make, arms, steps=12, groups=3):
        from rlvr_envs.core.errors import ConfigError

        rng = np.random.default_rng(5)
        one, seen = make(), set()
        for step in range(steps):
            for number in range(groups):
                other = make()
                other.load_state_dict(json.loads(json.dumps(one.state_dict())))
                assert other.state_dict() == one.state_dict()
                proposal = one.propose()
                assert other.propose() == proposal
                seen.add(proposal)
                task, difficulty = arms[(step + number) % len(arms)]
                task, difficulty = proposal.task or task, proposal.difficulty
                if difficulty is None:
                    difficulty = arms[(step + number) % len(arms)][1]
                scores = rng.integers(0, 2, 4).tolist()
                for each in (one, other):
                    each.record(task, difficulty, scores, proposal.problem)
                assert other.state_dict() == one.state_dict()
            one.end_step()
            other.end_step()
            assert other.state_dict() == one.state_dict()
        state = one.state_dict()
        bad = [{}, state | {"step": -1}, state | {"draws": "1"}, state | {"settings": {}}]
        bad += [state | {"learnt": [[float("nan")]]}, state | {"learnt": {"x": 1}}, None]
        for wrong in bad:
            with pytest.raises(ConfigError):
                one.load_state_dict(wrong)
            assert one.state_dict() == state
        before = one.state_dict()
        for score in (-0.1, 1.5, float("nan")):
            with pytest.raises(ConfigError, match="shaped"):
                one.record(arms[0][0], arms[0][1], [0.0, score])
        one.record(arms[0][0], arms[0][1], [])
        assert one.state_dict() == before
        return seen

    return check
