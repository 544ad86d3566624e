"""Advantages against numbers worked by hand and against formulas written as loops over floats."""

import math
import random
import statistics
import subprocess
import sys

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.formulas import advantage as adv  # noqa: E402  (it needs torch)

NAN = math.nan
ON_GROUPS = {
    "reinforce": adv.reinforce,
    "dr_grpo": adv.dr_grpo,
    "grpo": adv.grpo,
    "rloo": adv.rloo,
    "lite_ppo": adv.lite_ppo,
    "bnpo": adv.bnpo,
    "ngrpo": adv.ngrpo,
    "mc_grpo": lambda rewards: adv.mc_grpo(rewards)[0],
}
every_estimator = pytest.mark.parametrize("estimate", ON_GROUPS.values(), ids=ON_GROUPS)


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


@pytest.mark.parametrize("name", ["dr_grpo", "grpo", "rloo", "lite_ppo", "mc_grpo"])
def test_a_constant_added_to_every_reward_changes_nothing(name):
    rewards = tensor(some_rewards())
    torch.testing.assert_close(ON_GROUPS[name](rewards + 7), ON_GROUPS[name](rewards))


def test_scale_matters_only_without_a_deviation():
    rewards = tensor(some_rewards())
    for scaled in (adv.grpo, adv.lite_ppo):
        torch.testing.assert_close(scaled(10 * rewards, eps=0.0), scaled(rewards, eps=0.0))
    for plain in (adv.dr_grpo, adv.rloo):
        torch.testing.assert_close(plain(10 * rewards), 10 * plain(rewards))


@pytest.mark.parametrize("name", ["dr_grpo", "grpo", "rloo", "lite_ppo", "bnpo"])
def test_a_group_sums_to_zero(name):
    sums = ON_GROUPS[name](tensor(some_rewards())).sum(1)
    torch.testing.assert_close(sums, torch.zeros_like(sums), rtol=0, atol=1e-12)


@every_estimator
def test_what_could_not_be_scored_takes_no_part(estimate):
    whole = [[0.2, 0.9, 0.4], [1.0, 0.0, 0.5]]
    padded = [[NAN, *whole[0], NAN], [*whole[1], NAN, NAN]]
    found, wanted = estimate(tensor(padded)), estimate(tensor(whole))
    if estimate is ON_GROUPS["mc_grpo"]:
        wanted = wanted * 5 / 3  # its factor counts all that were sampled
    torch.testing.assert_close(found[0, 1:4], wanted[0])
    torch.testing.assert_close(found[1, :3], wanted[1])
    close(found[[0, 0, 1, 1], [0, 4, 3, 4]], [0.0] * 4)
    close(estimate(tensor([[NAN] * 3])), [[0.0] * 3])


@pytest.mark.parametrize("name", ["dr_grpo", "grpo", "rloo", "lite_ppo", "bnpo", "mc_grpo"])
def test_equal_rewards_teach_nothing(name):
    close(ON_GROUPS[name](tensor([[1.0] * 3, [0.0] * 3, [NAN, 1.0, NAN]])), [[0.0] * 3] * 3)


def test_reinforce_plus_plus_weighs_by_tokens():
    # Of four tokens three have reward 1: mean 3/4, variance (3/16 + 9/16) / 3 = 1/4.
    mask = torch.tensor([[1, 1, 1, 0], [0, 1, 0, 0]])
    found = adv.reinforce_plus_plus(tensor([1.0, 0.0]), mask, eps=0.0)
    close(found, [[0.5, 0.5, 0.5, 0.0], [0.0, -1.5, 0.0, 0.0]])
    wider = torch.nn.functional.pad(mask, (2, 3))
    torch.testing.assert_close(
        adv.reinforce_plus_plus(tensor([1.0, 0.0]), wider, eps=0.0)[:, 2:-3], found
    )
    close(adv.reinforce_plus_plus(tensor([1.0, 0.0]), torch.zeros(2, 3)), [[0.0] * 3] * 2)


def test_bnpo_has_grpo_and_a_plain_baseline_as_limits():
    # p is 1/4 and 3/4: E = 1/2, V = 1/16, k = 3, so alpha = beta = 3/2 and the density is
    # 8 / pi * sqrt(p (1 - p)).
    rewards = tensor([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]])
    factor = math.pi / 8 / math.sqrt(3 / 16)
    close(adv.bnpo(rewards), (adv.dr_grpo(rewards) * factor).tolist())
    # One value of p gives no distribution.
    same = tensor([[1.0, 0.0], [0.0, 1.0]])
    close(adv.bnpo(same), [[0.5, -0.5], [-0.5, 0.5]])
    # p is 0 and 1: the variance is the greatest there is, k = 0.
    close(adv.bnpo(tensor([[0.0, 0.0], [1.0, 1.0]])), [[0.0, 0.0]] * 2)


def test_bnpo_in_general_as_a_loop():
    rewards = [[1.0, 0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0, 0.0], [0.0] * 5]
    p = [0.2, 0.4, 0.0]
    mean, variance = statistics.fmean(p), statistics.pvariance(p)
    k = mean * (1 - mean) / variance - 1
    alpha, beta = max(1, 1 + k * mean / 3), max(1, 1 + k * (1 - mean) / 3)
    norm = math.gamma(alpha + beta) / math.gamma(alpha) / math.gamma(beta)
    density = [norm * x ** (alpha - 1) * (1 - x) ** (beta - 1) for x in p]
    assert alpha > 1  # so the density at 0 is 0, and its inverse is bounded
    wanted = [
        [(r - x) / d if d else 0.0 for r in g] for g, x, d in zip(rewards, p, density, strict=True)
    ]
    close(adv.bnpo(tensor(rewards)), wanted)


def test_ngrpo_learns_from_a_group_that_fails():
    # Rewards 0, 0, 0 and the virtual 1: mean 1/4, sample deviation 1/2.
    close(adv.ngrpo(tensor([[0.0] * 3]), eps=0.0), [[-0.5] * 3])
    close(adv.ngrpo(tensor([[1.0] * 3])), [[0.0] * 3])
    # With a virtual 2 the mean is 1, the squares of the deviations 0, 1, 0 and 1.
    close(adv.ngrpo(tensor([[1.0, 0.0, 1.0]]), best=2.0, eps=0.0), [[0.0, -math.sqrt(1.5), 0.0]])


def test_mc_grpo_by_hand():
    # Median 2, distances 2 1 0 1 3: MAD 1. Four of five are not 0, so all are times 5/4.
    found, kept = adv.mc_grpo(tensor([[0.0, 1.0, 2.0, 3.0, 5.0]]), eps=0.0)
    close(found, [[-2.5, -1.25, 0.0, 1.25, 3.75]])
    assert kept.tolist() == [[True, True, False, True, True]]
    found, kept = adv.mc_grpo(tensor([[1.0, 0.0, 0.0]]))  # MAD 0
    close(found, [[3000.0, 0.0, 0.0]])
    assert kept.tolist() == [[True, False, True]]
    close(adv.mc_grpo(tensor([[1.0, 0.0, 0.0]]), limit=2.0)[0], [[6.0, 0.0, 0.0]])
    assert adv.mc_grpo(tensor([[NAN, 1.0, 0.0]]))[1].tolist() == [[False, True, False]]


def test_right_wrong_and_weighted():
    rewards = tensor([[1.0, 0.0, NAN]])
    close(adv.psr(rewards), [[1.0, 0.0, 0.0]])
    close(adv.nsr(rewards), [[0.0, -1.0, 0.0]])
    close(adv.weighted_reinforce(rewards), [[0.1, -1.0, 0.0]])


def test_dr_mas_normalises_each_label_by_itself():
    groups = [[1.0, 0.0, 0.0], [90.0, 10.0], [5.0], [3.0, NAN, 4.0, 4.0]]
    rewards = tensor([reward for group in groups for reward in group])
    labels = torch.tensor([9] * 3 + [-2] * 2 + [4] + [0] * 4)
    alone = [adv.grpo(tensor([group]))[0] for group in groups]
    torch.testing.assert_close(adv.dr_mas(rewards, labels), torch.cat(alone))
    order = torch.tensor([9, 3, 0, 6, 5, 1, 8, 2, 7, 4])
    torch.testing.assert_close(
        adv.dr_mas(rewards[order], labels[order]), adv.dr_mas(rewards, labels)[order]
    )


def test_trloo_by_hand():
    # Returns to go at 1/2: 2, 2 | 0, and over | 1.5, 1. The second trajectory has one turn.
    rewards = tensor([[[1.0, 2.0], [0.0, NAN], [1.0, 1.0]]])
    found = adv.trloo(rewards, discount=0.5)
    close(found, [[[2 - 0.75, 2 - 1.0], [-1.75, 0.0], [1.5 - 1.0, 1.0 - 2.0]]])
    alone = tensor([[[1.0, 4.0], [2.0, NAN]]])
    close(adv.trloo(alone), [[[3.0, 4.0], [-3.0, 0.0]]])
    one_turn = tensor(some_rewards())
    torch.testing.assert_close(adv.trloo(one_turn[..., None])[..., 0], adv.rloo(one_turn))


def test_which_groups_count():
    rewards = tensor(
        [
            *([1.0, 0.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, NAN], [NAN, NAN, NAN]),
            *([0.5, NAN, 1.0], [1.0, 1.0, NAN], [NAN, -1.0, -1.0]),
        ]
    )
    assert adv.informative(rewards).tolist() == [True, False, False, False, True, False, False]
    assert adv.unsolved(rewards).tolist() == [True, False, True, False, True, False, True]


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
        (adv.mc_grpo, [[1.0, 0.0]]),
        (adv.bnpo, [[1.5, 0.0]]),
        (adv.psr, [[0.5, 0.0]]),
        (adv.trloo, [[0.5, 0.0]]),
        (lambda rewards: adv.trloo(rewards, discount=1.5), [[[0.5]]]),
        (lambda rewards: adv.dr_mas(rewards, torch.tensor([0])), [0.5, 0.0]),
        (lambda rewards: adv.reinforce_plus_plus(rewards, torch.ones(3, 2)), [0.5, 0.0]),
    ],
)
def test_what_cannot_be_meant_is_refused(estimate, rewards):
    with pytest.raises(ConfigError):
        estimate(tensor(rewards))


def test_the_package_of_the_agent_is_light():
    code = "import sys, rlvr_envs.agents.grpo; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_whole_numbers_are_refused():
    with pytest.raises(ConfigError, match="floats"):
        adv.grpo(torch.tensor([[1, 0]]))
