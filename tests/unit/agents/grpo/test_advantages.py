"""Advantages against numbers worked by hand and against formulas written as loops over floats."""

import math
import random
import statistics
import subprocess
import sys

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo import advantages as adv  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo import plugins  # noqa: E402

NAN = math.nan
ON_GROUPS = {
    "reinforce": adv.reinforce,
    "dr_grpo": adv.dr_grpo,
    "grpo": adv.grpo,
    "rloo": adv.rloo,
    "lite_ppo": adv.lite_ppo,
}
every_estimator = pytest.mark.parametrize("estimate", ON_GROUPS.values(), ids=ON_GROUPS)
RELATIVE = ["dr_grpo", "grpo", "rloo", "lite_ppo"]


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(found, wanted):
    torch.testing.assert_close(found, tensor(wanted), rtol=0, atol=1e-12)


def some_rewards(groups=4, size=5, seed=0):
    rng = random.Random(seed)
    return [[rng.random() for _ in range(size)] for _ in range(groups)]


def test_a_group_worked_by_hand():
    rewards = tensor([[1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0]])
    close(adv.reinforce(rewards), rewards.tolist())
    close(adv.dr_grpo(rewards), [[0.5, -0.5, -0.5, 0.5], [0.75, -0.25, -0.25, -0.25]])
    close(adv.rloo(rewards), [[2 / 3, -2 / 3, -2 / 3, 2 / 3], [1.0, -1 / 3, -1 / 3, -1 / 3]])
    root = math.sqrt(1 / 3)  # the first group's s: 4 * 0.25 / 3; the second's is 0.5
    first = [0.5 / root, -0.5 / root, -0.5 / root, 0.5 / root]
    close(adv.grpo(rewards, eps=0.0), [first, [1.5, -0.5, -0.5, -0.5]])
    close(adv.grpo(rewards, eps=0.5)[1:], [[0.75, -0.25, -0.25, -0.25]])


def test_the_published_formulas_as_loops():
    rewards = some_rewards()
    flat = [reward for group in rewards for reward in group]
    means = [statistics.fmean(group) for group in rewards]
    stds = [statistics.stdev(group) for group in rewards]
    rows = list(zip(rewards, means, stds, strict=True))
    close(adv.grpo(tensor(rewards)), [[(r - m) / (s + 1e-4) for r in g] for g, m, s in rows])
    batch = statistics.stdev(flat) + 1e-4
    close(adv.lite_ppo(tensor(rewards)), [[(r - m) / batch for r in g] for g, m, _ in rows])
    others = [[r - (sum(g) - r) / (len(g) - 1) for r in g] for g in rewards]
    close(adv.rloo(tensor(rewards)), others)


@every_estimator
def test_answers_of_a_group_may_come_in_any_order(estimate):
    rewards = tensor(some_rewards())
    order = torch.tensor([3, 0, 4, 1, 2])
    torch.testing.assert_close(estimate(rewards[:, order]), estimate(rewards)[:, order])
    swap = torch.tensor([2, 3, 0, 1])
    torch.testing.assert_close(estimate(rewards[swap]), estimate(rewards)[swap])


@pytest.mark.parametrize("name", RELATIVE)
def test_a_constant_added_to_every_reward_changes_nothing(name):
    rewards = tensor(some_rewards())
    torch.testing.assert_close(ON_GROUPS[name](rewards + 7), ON_GROUPS[name](rewards))


def test_scale_matters_only_without_a_deviation():
    rewards = tensor(some_rewards())
    for scaled in (adv.grpo, adv.lite_ppo):
        torch.testing.assert_close(scaled(10 * rewards, eps=0.0), scaled(rewards, eps=0.0))
    for plain in (adv.dr_grpo, adv.rloo):
        torch.testing.assert_close(plain(10 * rewards), 10 * plain(rewards))


@pytest.mark.parametrize("name", RELATIVE)
def test_a_group_sums_to_zero(name):
    sums = ON_GROUPS[name](tensor(some_rewards())).sum(1)
    torch.testing.assert_close(sums, torch.zeros_like(sums), rtol=0, atol=1e-12)


@every_estimator
def test_what_could_not_be_scored_takes_no_part(estimate):
    whole = [[0.2, 0.9, 0.4], [1.0, 0.0, 0.5]]
    padded = [[NAN, *whole[0], NAN], [*whole[1], NAN, NAN]]
    found, wanted = estimate(tensor(padded)), estimate(tensor(whole))
    torch.testing.assert_close(found[0, 1:4], wanted[0])
    torch.testing.assert_close(found[1, :3], wanted[1])
    close(found[[0, 0, 1, 1], [0, 4, 3, 4]], [0.0] * 4)
    close(estimate(tensor([[NAN] * 3])), [[0.0] * 3])


@pytest.mark.parametrize("name", RELATIVE)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_equal_rewards_have_no_advantage_to_the_last_bit(name, dtype):
    # Sums of 0.1 and 1/3 are rounded, so a plain mean is not the value itself.
    rows = [[value] * 7 for value in (0.1, 1 / 3, 0.7, 1.0, 0.0)] + [[NAN] * 3 + [0.1] * 4]
    mixed = [[0.3, 0.9, 0.1, 0.5, 0.7, 0.2, 0.6]]  # so that the batch has a deviation
    found = ON_GROUPS[name](torch.tensor(rows + mixed, dtype=dtype))
    assert not found[:-1].any()
    assert found[-1].any()


def test_reinforce_plus_plus_weighs_by_tokens():
    # Of four tokens three have reward 1: mean 3/4, variance (3/16 + 9/16) / 3 = 1/4.
    lengths = torch.tensor([[3.0, 1.0]])
    close(adv.reinforce_plus_plus(tensor([[1.0, 0.0]]), lengths, eps=0.0), [[0.5, -1.5]])
    padded = adv.reinforce_plus_plus(
        tensor([[1.0, 0.0, NAN]]), torch.tensor([[3.0, 1.0, 9.0]]), eps=0.0
    )
    close(padded, [[0.5, -1.5, 0.0]])
    close(adv.reinforce_plus_plus(tensor([[0.1] * 3]), torch.ones(1, 3)), [[0.0] * 3])


def test_which_groups_count():
    rewards = tensor(
        [
            *([1.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, NAN], [NAN, NAN, NAN]),
            *([0.5, NAN, 1.0], [1.0, 1.0, NAN], [NAN, -1.0, -1.0]),
        ]
    )
    assert adv.informative(rewards).tolist() == [True, False, False, False, True, False, False]


def test_overlong_penalty_of_dapo():
    lengths = torch.tensor([[0, 16384, 18432], [20480, 20481, 99999]])
    found = adv.overlong_penalty(lengths, longest=20480, buffer=4096)
    assert found.tolist() == [[0.0, 0.0, -0.5], [-1.0, -1.0, -1.0]]
    with pytest.raises(ConfigError, match="buffer"):
        adv.overlong_penalty(lengths, longest=10, buffer=11)


@pytest.mark.parametrize(
    ("estimate", "rewards"),
    [
        (adv.grpo, [1.0, 0.0]),
        (adv.grpo, [[math.inf, 0.0]]),
        (adv.rloo, [[1.0]]),
        (lambda rewards: adv.reinforce_plus_plus(rewards, torch.ones(3, 2)), [0.5, 0.0]),
    ],
)
def test_what_cannot_be_meant_is_refused(estimate, rewards):
    with pytest.raises(ConfigError):
        estimate(tensor(rewards))


@pytest.mark.parametrize("plugin", list(plugins.estimator), ids=lambda plugin: plugin.name)
def test_every_estimator_takes_partial_and_unusual_rewards(plugin):
    """Marks in part, penalties and bonuses, whole groups at one value, and answers not scored."""
    from rlvr_envs.agents.grpo import trial
    from rlvr_envs.agents.grpo.credit import Groups, credit
    from rlvr_envs.agents.grpo.presets import preset

    config = preset(estimator=plugin.name)
    size = 3 if plugin.traits.get("odd") else 4
    for values in ([0.0, 0.3, 0.75, 1.0], [-0.5, 0.0, 1.0, 1.25], [0.1] * 4, [1.0, NAN, 0.0, 0.5]):
        episodes = [trial.made_up(group, 0.5) for group in (0, 1) for _ in range(size)]
        for place, episode in enumerate(episodes):
            value = values[place % size]
            episode.reward = episode.score = value
            episode.turn_rewards = [0.0, value]
        advantages, kept, _ = credit(Groups(episodes, config))
        assert advantages.isfinite().all()
        unscored = torch.tensor([math.isnan(episode.reward) for episode in episodes])
        assert not kept[unscored].any()
        assert not advantages[unscored].any()


def test_the_package_of_the_agent_is_light():
    code = "import sys, rlvr_envs.agents.grpo; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_whole_numbers_are_refused():
    with pytest.raises(ConfigError, match="floats"):
        adv.grpo(torch.tensor([[1, 0]]))
