"""Formulas of the zoo against numbers worked by hand."""

import math

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo import advantages as adv  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo import losses as L  # noqa: E402, N812
from rlvr_envs.agents.grpo.zoo.apo import apo, suboptimal  # noqa: E402
from rlvr_envs.agents.grpo.zoo.epo import epo  # noqa: E402
from rlvr_envs.agents.grpo.zoo.mapo import mapo  # noqa: E402
from rlvr_envs.agents.grpo.zoo.mssr import entropy_shaped  # noqa: E402
from rlvr_envs.agents.grpo.zoo.oblr_po import oblr_po  # noqa: E402
from rlvr_envs.agents.grpo.zoo.rl_plus import rl_plus  # noqa: E402
from rlvr_envs.agents.grpo.zoo.rlpr import rlpr  # noqa: E402
from rlvr_envs.agents.grpo.zoo.siren import siren  # noqa: E402
from rlvr_envs.agents.grpo.zoo.stable_reinforce import (  # noqa: E402
    stable_reinforce,
    within_deviations,
)
from rlvr_envs.agents.grpo.zoo.ulorl import ulorl  # noqa: E402

NAN = math.nan
EVERYWHERE = torch.ones(1, 3, dtype=torch.bool)


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(found, wanted):
    torch.testing.assert_close(found.detach(), tensor(wanted), rtol=0, atol=1e-9)


def slope(losses, logp):
    return torch.autograd.grad(losses.sum(), logp)[0]


def test_oblr_po_weighs_the_baseline_by_length():
    # The baseline is 30 of 40 tokens.
    close(oblr_po(tensor([[1.0, 0.0]]), tensor([[30.0, 10.0]])), [[0.25, -0.75]])
    close(oblr_po(tensor([[1.0, 0.0]]), tensor([[7.0, 7.0]])), [[0.5, -0.5]])
    close(oblr_po(tensor([[0.3] * 3]), tensor([[1.0, 2.0, 3.0]])), [[0.0] * 3])
    close(oblr_po(tensor([[1.0, NAN, 0.0]]), tensor([[3.0, 90.0, 1.0]])), [[0.25, 0.0, -0.75]])


def test_what_is_beyond_three_deviations_is_left_out():
    rewards = tensor([[1.0] + [0.0] * 7, [0.0] * 8])
    found = within_deviations(rewards, eps=0.0)
    # Mean 1/16 and deviation 1/4: the one right answer is 3.75 deviations away.
    assert found.kept.flatten().tolist() == [False] + [True] * 15
    close(found.advantages, [[0.0] + [-0.25] * 7, [-0.25] * 8])
    assert within_deviations(rewards, most=4.0).kept.all()
    assert (within_deviations(tensor([[0.5, 0.5]])).advantages == 0).all()


def test_stable_reinforce_bounds_the_ratio_of_wrong_answers():
    old = tensor([[-1.0, -15.0, -1.0]])
    logp = tensor([[-1.0, -1.0, -1.5]]).requires_grad_()
    found = stable_reinforce(logp, old, tensor([[-1.0]]), EVERYWHERE, bound=1e3, high=0.2)
    close(found, [[1.0, 1e3, 0.8]])
    close(slope(found, logp), [[1.0, 0.0, 0.0]])
    plain = L.clipped(L.token_ratio(logp, old, EVERYWHERE), tensor([[-1.0]]), high=0.2)
    assert plain[0, 1] > 1e6
    with pytest.raises(ConfigError, match="bound is above"):
        stable_reinforce(logp, old, tensor([[-1.0]]), EVERYWHERE, bound=1.1)


def test_mapo_mixes_the_turn_and_the_batch():
    # Returns: 1 1 | 0, and 2 | 2: an episode of two turns and one of one, and again.
    turns = tensor([[[0.0, 1.0], [0.0, NAN]], [[2.0, NAN], [2.0, NAN]]])
    rewards = tensor([[1.0, 0.0], [2.0, 2.0]])
    root = math.sqrt(0.5)
    by_turn = [[[root, 0.0], [-root, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]
    close(mapo(rewards, turns, mix=1.0, eps=1e-15).nan_to_num(), by_turn)
    s = math.sqrt((2 * 0.2**2 + 1.2**2 + 2 * 0.8**2) / 4)
    by_batch = [[[-0.2 / s, -0.2 / s], [-1.2 / s, 0.0]], [[0.8 / s, 0.0], [0.8 / s, 0.0]]]
    close(mapo(rewards, turns, mix=0.0, eps=1e-15), by_batch)
    half = mapo(rewards, turns, mix=0.5, eps=1e-15)
    close(half[0, 0], [(root - 0.2 / s) / 2, -0.1 / s])
    close(mapo(rewards, turns, mix=1.0, discount=0.5, eps=1e-12)[0, 0], [root, 0.0])
    with pytest.raises(ConfigError, match="from 0 to 1"):
        mapo(rewards, turns, mix=1.5)


def test_apo_makes_long_wrong_answers_pay_where_one_is_right():
    rewards = tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    lengths = tensor([[90.0, 10.0, 100.0], [10.0, 50.0, 100.0]])
    found = suboptimal(rewards, lengths, 100, coef=0.5, eps=1e-15)
    paid = tensor([[1.0, -0.05, -0.5]])
    close(found.advantages[0], ((paid - paid.mean()) / paid.std())[0].tolist())
    close(found.advantages[1], [0.0] * 3)
    close(found.scales[..., 0], [[1 / 3] * 3, [0.0] * 3])


def test_apo_holds_right_answers_by_how_easy_the_problem_is():
    logp = tensor([[-1.0, -1.0, -1.0]]).requires_grad_()
    reference, ease = tensor([[-2.0, -1.0, -2.0]]), tensor([[0.5]])
    ratio = L.token_ratio(logp, logp.detach(), EVERYWHERE)
    penalty = math.exp(-1) + 1 - 1
    found = apo(ratio, logp, reference, tensor([[1.0]]), EVERYWHERE, ease, coef=0.1)
    close(found, [[-1 + 0.05 * penalty, -1.0, -1 + 0.05 * penalty]])
    close(apo(ratio, logp, reference, tensor([[-1.0]]), EVERYWHERE, ease, coef=0.1), [[1.0] * 3])


def test_ulorl_lets_mastered_tokens_rest_while_entropy_is_low():
    old = tensor([[math.log(0.995), math.log(0.5), math.log(0.995)]])
    ratio = torch.ones(1, 3, dtype=torch.float64)
    sharp, vague = torch.full((1, 3), 0.1), torch.full((1, 3), 0.3)
    found = [
        ulorl(ratio, old, tensor([[sign]]), entropy, EVERYWHERE)
        for sign in (1.0, -1.0)
        for entropy in (sharp, vague)
    ]
    close(torch.cat(found), [[0.0, -1.0, 0.0], [-1.0] * 3, [1.0] * 3, [1.0] * 3])
    with pytest.raises(ConfigError, match="mastered"):
        ulorl(ratio, old, tensor([[1.0]]), sharp, EVERYWHERE, mastered=1.5)


def test_entropy_shapes_advantages_without_turning_them():
    ratio = torch.ones(1, 3, dtype=torch.float64)
    entropy = tensor([[0.0, 0.5, 9.0]])
    found = entropy_shaped(ratio, tensor([[1.0]]), entropy, EVERYWHERE, share=0.4, divisor=2.0)
    close(found, [[-1.0, -1.2, -1.5]])
    found = entropy_shaped(ratio, tensor([[-1.0]]), entropy, EVERYWHERE, share=0.4, divisor=2.0)
    close(found, [[1.0, 0.8, 0.5]])
    with pytest.raises(ConfigError, match="divisor"):
        entropy_shaped(ratio, tensor([[1.0]]), entropy, EVERYWHERE, divisor=1.0)


def test_siren_pulls_the_top_tokens_entropy_to_its_anchor():
    entropy = tensor([[0.2, 0.8, 0.5], [0.1, 0.3, 9.0]]).requires_grad_()
    mask = torch.tensor([[True, True, True], [True, True, False]])
    ratio = torch.ones(2, 3, dtype=torch.float64)
    found, measured = siren(
        ratio, tensor([[0.0], [0.0]]), entropy, mask, coef=2.0, share=0.5, anchor=1.0
    )
    # Of three tokens two are top, of two one.
    close(measured["top_entropy"], [[0.65], [0.3]])
    close(found[:, 0], [2 * 0.35**2, 2 * 0.7**2])
    (pull,) = torch.autograd.grad(found[:, 0].sum(), entropy)
    close(pull, [[0.0, -2 * 0.35, -2 * 0.35], [0.0, -4 * 0.7, 0.0]])


def test_epo_keeps_entropy_in_a_band_around_its_past():
    entropy = tensor([[0.5, 1.0, 2.0]]).requires_grad_()
    ratio = torch.ones(1, 3, dtype=torch.float64)

    def losses(past, step=0):
        return epo(
            ratio, tensor([[0.0]]), entropy, step, lambda name: tensor([past]),
            bonus=1.0, smooth=0.5, least=0.8, most=1.2, decay=10,
        )  # fmt: skip

    # At the first step the band weighs twice 0.5: 0.3 below it, inside, and 0.8 above.
    close(losses(1.0), [[-0.5 + 0.3, -1.0, -2.0 + 0.8]])
    close(torch.autograd.grad(losses(1.0).sum(), entropy)[0], [[-2.0, -1.0, 0.0]])
    late = 1 + math.exp(-2)
    close(losses(1.0, step=20)[:, 0], [-0.5 + late * 0.5 * 0.3])
    close(losses(NAN), [[-0.5, -1.0, -2.0]])


def test_rl_plus_weighs_what_was_given_by_the_mixture():
    p, before = tensor([[0.5, 0.01, 0.9]]), tensor([[0.5, 0.02, 0.9]])
    logp, advantages = p.log().requires_grad_(), tensor([[2.0]])
    ratio = L.token_ratio(logp, before.log(), EVERYWHERE)
    given = rl_plus(
        logp, before.log(), ratio, EVERYWHERE, advantages, torch.tensor([True]), uniform=0.1
    )
    wanted = [
        -2 * (2 * now / ((was + 0.1) / 2 + was)) * (1 - now)
        for now, was in [(0.5, 0.5), (0.01, 0.02), (0.9, 0.9)]
    ]
    close(given, [wanted])
    close(slope(given, logp), [wanted])  # of p, whose slope in log p is p
    sampled = rl_plus(
        logp, before.log(), ratio, EVERYWHERE, advantages, torch.tensor([False]), uniform=0.1
    )
    close(sampled, L.clipped(ratio, advantages).tolist())


def test_rlpr_pays_what_the_reasoning_did_for_the_reference():
    third, half = math.log(1 / 3), math.log(0.5)
    beliefs = tensor([[[third, half, NAN], [third, third, 0.0], [half, third, NAN]]])
    rewards = tensor([[0.0, 0.0, 1.0]])
    gained = tensor([[1 / 6, 2 / 3, 0.0]])  # what made it less likely counts 0
    close(rlpr(rewards, beliefs), adv.grpo(gained).tolist())
    close(rlpr(rewards, beliefs, least=0.5), [[0.0] * 3])
    close(rlpr(tensor([[0.0, 0.0, NAN]]), beliefs)[:, 2], [0.0])
