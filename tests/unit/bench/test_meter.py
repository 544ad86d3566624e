"""The meter counts everything that was sampled, and nothing is learned beyond the budget."""

import pytest

from rlvr_envs.agents.grpo.episode import Episode, Group, Segment
from rlvr_envs.bench.meter import Meter
from rlvr_envs.bench.usage import BudgetSpentError
from rlvr_envs.curricula.base import Proposal


def episode(tokens, *, demonstrated=False, reward=1.0):
    action = Segment(tuple(range(tokens)), (0.0,) * tokens)
    return Episode(
        group=0,
        task="Gcd-v0",
        difficulty=0,
        problem_seed=0,
        segments=[Segment((1, 2, 3)), action],
        reward=reward,
        demonstrated=demonstrated,
    )


def group(*episodes):
    return Group(Proposal(), list(episodes))


def test_a_token_counts_when_it_is_sampled_and_with_each_pass_over_it():
    meter = Meter(samples=4, epochs=3)
    played = [episode(5), episode(7)]
    meter.on_group(None, group(*played))
    assert meter.on_batch(None, played) == played
    assert (meter.samples, meter.tokens) == (2, 12 + 3 * 12)


def test_what_is_thrown_away_counts_as_sampled_and_what_is_given_does_not():
    meter = Meter(samples=4, epochs=1)
    kept, thrown, given = episode(5), episode(7), episode(50, demonstrated=True)
    meter.on_group(None, group(thrown))
    meter.on_group(None, group(kept, given))
    meter.on_batch(None, [kept])
    assert (meter.samples, meter.tokens) == (2, 12 + 5)


def test_an_unscored_episode_is_sampled_and_not_trained_on():
    meter = Meter(samples=4, epochs=1)
    broken = episode(5, reward=float("nan"))
    meter.on_group(None, group(broken))
    meter.on_batch(None, [broken])
    assert (meter.samples, meter.tokens) == (1, 5)


def test_a_step_beyond_the_budget_is_not_learned_from():
    meter = Meter(samples=3, epochs=1)
    for _ in range(2):
        meter.on_group(None, group(episode(1)))
    meter.on_batch(None, [episode(1)])
    for _ in range(2):
        meter.on_group(None, group(episode(1)))
    with pytest.raises(BudgetSpentError):
        meter.on_batch(None, [episode(1)])
    assert meter.samples == 2  # those that the weights were learned from


def test_a_meter_goes_on_from_its_state():
    meter = Meter(samples=9, epochs=1)
    meter.on_group(None, group(episode(5)))
    meter.on_batch(None, [episode(5)])
    again = Meter(samples=9, epochs=1)
    again.load_state_dict(meter.state_dict())
    assert (again.samples, again.tokens) == (meter.samples, meter.tokens)
