"""The learning impact of problems against numbers worked by hand, and the callback."""

import json
from types import SimpleNamespace

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.episode import Episode, Group, Segment  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo.zoo import limr  # noqa: E402
from rlvr_envs.curricula import Proposal  # noqa: E402


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(found, wanted):
    torch.testing.assert_close(found, tensor(wanted), rtol=0, atol=1e-12)


def test_learning_impact_by_hand():
    # The means are 0.2, 0.5 and 0.9; the squares of their distances to 1 add up to 0.9.
    solved = tensor([[0.2, 0.5, 0.9], [0.4, 1.0, 1.0], [0.0, 0.0, 0.8]])
    apart = 1 - (0.04 + 0.25 + 0.01) / 0.9
    close(limr.learning_impact(solved), [1.0, apart, apart])


def test_problems_that_are_always_solved_cannot_be_told_apart():
    close(limr.learning_impact(torch.ones(2, 3, dtype=torch.float64)), [1.0, 1.0])


def test_what_cannot_be_meant_is_refused():
    with pytest.raises(ConfigError):
        limr.learning_impact(torch.ones(3))


def group(seed, score):
    episode = Episode(
        group=0,
        task="T",
        difficulty=1,
        problem_seed=seed,
        segments=[Segment((1,)), Segment((2,), (-1.0,))],
        reward=score,
        score=score,
    )
    return Group(Proposal(task="T", difficulty=1, problem_seed=seed), [episode])


def test_the_callback_writes_what_it_saw_of_problems_that_came_back(tmp_path):
    run = SimpleNamespace(folder=tmp_path, workers=SimpleNamespace(is_main=True))
    first, epochs = limr.LearningImpact(), [{1: 0.0, 2: 1.0, 3: 0.5}, {1: 0.5, 2: 1.0, 4: 0.5}]
    for seed, score in epochs[0].items():
        first.on_group(run, group(seed, score))
    again = limr.LearningImpact()
    again.load_state_dict(json.loads(json.dumps(first.state_dict())))
    for seed, score in epochs[1].items():
        again.on_group(run, group(seed, score))
    again.on_end(run)
    rows = json.loads((tmp_path / limr.LEARNING_IMPACT).read_text())
    # Means 1/2 and 3/4: both problems that came back are as far from them, 1/4 + 1/16 of 5/16.
    assert rows == [["T", 1, 1, 0.0, [0.0, 0.5]], ["T", 1, 2, 0.0, [1.0, 1.0]]]
    first.on_end(SimpleNamespace(folder=tmp_path / "none", workers=run.workers))
    assert not (tmp_path / "none").exists()
