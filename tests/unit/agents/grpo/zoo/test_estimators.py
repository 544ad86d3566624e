"""Estimators of the zoo against numbers worked by hand and formulas written as loops."""

import math
import random
import statistics

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo import advantages as adv  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo.zoo.asym_re import asym_re  # noqa: E402
from rlvr_envs.agents.grpo.zoo.balanced import balanced  # noqa: E402
from rlvr_envs.agents.grpo.zoo.bnpo import bnpo  # noqa: E402
from rlvr_envs.agents.grpo.zoo.grpo_lambda import grpo_lambda  # noqa: E402
from rlvr_envs.agents.grpo.zoo.mc_grpo import mc_grpo  # noqa: E402
from rlvr_envs.agents.grpo.zoo.negative_reinforcement import (  # noqa: E402
    nsr,
    psr,
    weighted_reinforce,
)
from rlvr_envs.agents.grpo.zoo.ngrpo import ngrpo  # noqa: E402
from rlvr_envs.agents.grpo.zoo.reinforce_plus_plus_baseline import (  # noqa: E402
    reinforce_plus_plus_baseline,
)
from rlvr_envs.agents.grpo.zoo.scalerl import prompt_mean, scalerl  # noqa: E402
from rlvr_envs.agents.grpo.zoo.tempo import tempo  # noqa: E402

NAN = math.nan


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(found, wanted):
    wanted = wanted if isinstance(wanted, torch.Tensor) else tensor(wanted)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


def test_bnpo_has_grpo_and_a_plain_baseline_as_limits():
    # p is 1/4 and 3/4: E = 1/2, V = 1/16, k = 3, so alpha = beta = 3/2 and the density is
    # 8 / pi * sqrt(p (1 - p)).
    rewards = tensor([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]])
    factor = math.pi / 8 / math.sqrt(3 / 16)
    close(bnpo(rewards), (adv.dr_grpo(rewards) * factor).tolist())
    # One value of p gives no distribution.
    close(bnpo(tensor([[1.0, 0.0], [0.0, 1.0]])), [[0.5, -0.5], [-0.5, 0.5]])
    # p is 0 and 1: the variance is the greatest there is, k = 0.
    close(bnpo(tensor([[0.0, 0.0], [1.0, 1.0]])), [[0.0, 0.0]] * 2)


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
    close(bnpo(tensor(rewards)), wanted)


def test_bnpo_of_a_group_beyond_full_marks_uses_the_density_at_its_edge():
    # p is 5/4, taken for 1, and 1/4; E = 5/8, V = 9/64, k = 2/3: alpha 1.138.., beta 1.083..
    found = bnpo(tensor([[1.5, 1.0], [0.5, 0.0]]))
    assert found.isfinite().all()
    close(found.sum(1), [0.0, 0.0])
    assert found[0, 0] > found[1, 0] > 0


def test_ngrpo_learns_from_a_group_that_fails():
    # Rewards 0, 0, 0 and the virtual 1: mean 1/4, sample deviation 1/2.
    close(ngrpo(tensor([[0.0] * 3]), eps=0.0), [[-0.5] * 3])
    close(ngrpo(tensor([[1.0] * 3])), [[0.0] * 3])
    # With a virtual 2 the mean is 1, the squares of the deviations 0, 1, 0 and 1.
    close(ngrpo(tensor([[1.0, 0.0, 1.0]]), best=2.0, eps=0.0), [[0.0, -math.sqrt(1.5), 0.0]])


def test_mc_grpo_by_hand():
    # Median 2, distances 2 1 0 1 3: MAD 1. Four of five are not 0, so all are times 5/4.
    found = mc_grpo(tensor([[0.0, 1.0, 2.0, 3.0, 5.0]]), eps=0.0)
    close(found.advantages, [[-2.5, -1.25, 0.0, 1.25, 3.75]])
    assert found.kept.tolist() == [[True, True, False, True, True]]
    found = mc_grpo(tensor([[1.0, 0.0, 0.0]]), limit=1e9)  # MAD 0
    close(found.advantages, [[3000.0, 0.0, 0.0]])
    assert found.kept.tolist() == [[True, False, True]]
    close(mc_grpo(tensor([[1.0, 0.0, 0.0]])).advantages, [[12.0, 0.0, 0.0]])
    found = mc_grpo(tensor([[NAN, 1.0, 0.0, 0.5]]), eps=0.0)
    assert found.kept.tolist() == [[False, True, True, False]]
    close(found.advantages, [[0.0, 1.5, -1.5, 0.0]])  # MAD 1/2, 3 scored, 2 moved


def test_right_wrong_and_weighted():
    rewards = tensor([[1.0, 0.0, NAN, 0.25, 1.5]])
    close(psr(rewards), [[1.0, 0.0, 0.0, 0.25, 1.5]])
    close(nsr(rewards), [[0.0, -1.0, 0.0, -0.75, 0.5]])
    close(weighted_reinforce(rewards), [[0.1, -1.0, 0.0, 0.025 - 0.75, 0.15 + 0.5]])


def test_on_a_bandit_psr_and_nsr_have_the_gradient_of_the_expected_reward():
    logits = tensor([0.5, -0.2, 0.1]).requires_grad_()
    logp = logits.log_softmax(0)
    chance = logp.exp().detach()
    p, q, r = chance.tolist()
    up = tensor([-p * r, -q * r, r * (1 - r)])
    for estimate in (psr, nsr):
        mean = (chance * estimate(tensor([[0.0, 0.0, 1.0]]))[0] * logp).sum()
        close(torch.autograd.grad(mean, logits, retain_graph=True)[0], up)


def test_asym_re_shifts_the_baseline():
    close(asym_re(tensor([[1.0, 0.0, 0.5, NAN]])), [[0.6, -0.4, 0.1, 0.0]])
    close(asym_re(tensor([[1.0, 0.0]]), shift=0.0), [[0.5, -0.5]])


def test_reinforce_plus_plus_baseline_by_hand():
    # Less the means: 1/2, -1/2, 0, 0; by tokens 1, 3, 2, 2 the mean is -1/8, and the sum of squares
    # (25/64) + 3 (9/64) + 4 / 64 = 56/64, over 7 tokens: 1/8.
    rewards = tensor([[1.0, 0.0], [0.5, 0.5]])
    lengths = torch.tensor([[1.0, 3.0], [2.0, 2.0]])
    found = reinforce_plus_plus_baseline(rewards, lengths, eps=0.0)
    scale = math.sqrt(8)
    close(found, [[5 / 8 * scale, -3 / 8 * scale], [0.0, 0.0]])


def test_grpo_lambda_pays_for_brevity_in_the_best_group_alone():
    rewards = tensor([[1.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    lengths = torch.tensor([[2.0, 4.0, 1.0], [9.0, 1.0, 1.0]])
    found = grpo_lambda(rewards, lengths, share=0.5, strength=0.2)
    # Lengths 2 and 4 have mean 3 and deviation 1, so z is -1 and 1.
    paid = [1 - 0.2 / (1 + math.e), 1 - 0.2 / (1 + math.exp(-1)), 0.0]
    torch.testing.assert_close(found[:1], adv.grpo(torch.tensor([paid])))
    torch.testing.assert_close(found[1:], adv.grpo(rewards[1:]).float())
    nobody = grpo_lambda(rewards, lengths, share=0.0)
    torch.testing.assert_close(nobody, adv.grpo(rewards).float())
    with pytest.raises(ConfigError):
        grpo_lambda(rewards, lengths, share=1.0, strength=1.5)


def test_scalerl_leaves_groups_without_a_signal_out():
    rewards = tensor([[1.0, 0.0], [1.0, 1.0], [NAN, 0.5]])
    found = scalerl(rewards)
    close(found.advantages, adv.lite_ppo(rewards))
    assert found.kept.tolist() == [[True, True], [False, False], [False, False]]


def test_every_problem_weighs_the_same_in_prompt_mean():
    found = prompt_mean(torch.tensor([1.0, 3.0, 8.0]), torch.tensor([5, 5, 2]))
    assert found.tolist() == [1 / 8, 1 / 8, 1 / 16]


def test_balanced_by_hand():
    # Group 1: two right answers share 3 tokens, one wrong has 3: 2/3 / 3 and 1/3 / 3 a token;
    # group 2: one wrong answer of three has 2 tokens. An advantage of 0 counts in the size alone.
    advantages = tensor([1.0, 1.0, -2.0, -1.0, 0.0, 0.0])
    lengths = tensor([2.0, 1.0, 3.0, 2.0, 3.0, 1.0])
    groups = torch.tensor([0, 0, 0, 7, 7, 7])
    wanted = [2 / 9 / 2, 2 / 9 / 2, 1 / 9 / 2, 1 / 6 / 2, 0.0, 0.0]
    close(balanced(lengths, groups, advantages), wanted)
    order = torch.tensor([3, 0, 5, 2, 4, 1])
    close(
        balanced(lengths[order], groups[order], advantages[order]),
        [wanted[place] for place in order.tolist()],
    )


def padded(answers):
    longest = max(map(len, answers))
    return torch.tensor([[[*answer, *[-1] * (longest - len(answer))] for answer in answers]])


def test_tempo_by_hand():
    # The first two part at their third token, the third at its second.
    answers = [[5, 6, 7, 8], [5, 6, 0], [5, 9, 7]]
    rewards = [1.0, 0.0, 0.0]
    found = tempo(tensor([rewards]), padded(answers), eps=0.0)
    spread = statistics.stdev(rewards)
    # V is 1/3 before and after 5, then 1/2 or 0, then 1 or 0.
    values = [[1 / 3, 1 / 2, 1, 1], [1 / 3, 1 / 2, 0], [1 / 3, 0, 0]]
    for i, (reward, row) in enumerate(zip(rewards, values, strict=True)):
        before = [1 / 3, *row[:-1]]
        wanted = [(reward - 1 / 3 + b - a) / spread for a, b in zip(before, row, strict=True)]
        close(found[0, i], wanted + [0.0] * (4 - len(row)))


def test_tempo_as_a_walk_along_prefixes():
    rng = random.Random(2)
    answers = [[rng.randrange(2) for _ in range(rng.randint(1, 6))] for _ in range(9)]
    rewards = [rng.random() for _ in answers]
    mean, spread = statistics.fmean(rewards), statistics.stdev(rewards)

    def value(prefix):
        below = [
            reward
            for answer, reward in zip(answers, rewards, strict=True)
            if answer[: len(prefix)] == prefix
        ]
        return statistics.fmean(below)

    found = tempo(tensor([rewards]), padded(answers))
    for i, (answer, reward) in enumerate(zip(answers, rewards, strict=True)):
        for t in range(len(answer)):
            step = value(answer[: t + 1]) - value(answer[:t])
            close(found[0, i, t], (reward - mean + step) / (spread + 1e-4))
        assert not found[0, i, len(answer) :].any()


def test_tempo_of_equal_answers_is_grpo():
    rewards = tensor([[1.0, 0.0, 0.5]])
    found = tempo(rewards, torch.ones(1, 3, 4).long())
    close(found, adv.grpo(rewards)[..., None].expand(1, 3, 4))


def test_tempo_of_equal_rewards_is_exactly_0():
    answers = [[5, 6, 7], [5, 6], [5, 9, 7], [4]]
    assert not tempo(torch.full((1, 4), 0.1), padded(answers)).any()


def test_tempo_leaves_out_what_could_not_be_scored():
    answers = [[5, 6], [5, 7], [5, 6]]
    whole = tempo(tensor([[1.0, 0.0]]), padded(answers[:2]))
    found = tempo(tensor([[1.0, 0.0, NAN]]), padded(answers))
    close(found[:, :2], whole)
    assert not found[:, 2].any()
    assert not tempo(tensor([[NAN] * 3]), padded(answers)).any()
