"""Losses over whole answers against numbers worked by hand, and in micro-batches."""

import math
import statistics

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.formulas import advantage as adv  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo.formulas import loss as L  # noqa: E402, N812
from rlvr_envs.agents.grpo.formulas import sequence_loss as S  # noqa: E402, N812

NAN = math.nan
REWARDS = [[1.0, 0.0, 0.0, NAN], [1.0, 1.0, 0.0, 1.0], [0.0, 0.0, NAN, 0.0]]
SCORES = [[0.3, -0.2, 0.9, 5.0], [0.1, -0.7, 0.4, 0.0], [0.2, 0.5, 7.0, -0.1]]


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(found, wanted):
    wanted = wanted if isinstance(wanted, torch.Tensor) else tensor(wanted)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


@pytest.fixture
def rewards():
    return tensor(REWARDS)


@pytest.fixture
def scores():
    return tensor(SCORES).requires_grad_()


WEIGHTS = [[2.0, 1.0, 1.0, 1.0], [1.0, 3.0, 1.0, 4.0], [1.0] * 4]
LOSSES = {
    "pacs": lambda scores, rewards: S.pacs(scores, rewards, beta=0.5),
    "unweighted": lambda scores, rewards: S.pacs(scores, rewards, balance=False),
    "drpo": lambda scores, rewards: S.drpo(scores, rewards, tensor(WEIGHTS), temperature=0.3),
    "opmd": lambda scores, rewards: S.opmd(scores, rewards, tau=0.4),
}
every_loss = pytest.mark.parametrize("name", LOSSES)


def softplus(x):
    return math.log1p(math.exp(x))


def test_scores_of_answers():
    logp, old = (
        tensor([[-1.0, -2.0, NAN], [-5.0, NAN, NAN]]),
        tensor([[-2.0, -1.5, 0.0], [0.0] * 3]),
    )
    mask = torch.tensor([[1, 1, 0], [0, 0, 0]])
    close(S.log_likelihoods(logp, mask), [-3.0, 0.0])
    close(S.log_likelihoods(logp, mask, by_length=True), [-1.5, 0.0])
    close(S.log_ratios(logp, old, mask), [0.5, 0.0])


def test_pacs_by_hand():
    # Logits are u less the mean of the others: 0.3 - 0.35, -0.2 - 0.6, 0.9 - 0.05. Of three answers
    # one is right, so it weighs 3/2, and each of the two wrong ones 3/4.
    found = S.pacs(tensor(SCORES[:1]), tensor(REWARDS[:1]))
    terms = 1.5 * softplus(0.05) + 0.75 * softplus(-0.8) + 0.75 * softplus(0.85)
    close(found, terms / 3)
    close(S.pacs(tensor(SCORES[:1]), tensor(REWARDS[:1]), n_answers=12), terms / 12)
    plain = softplus(0.05) + softplus(-0.8) + softplus(0.85)
    close(S.pacs(tensor(SCORES[:1]), tensor(REWARDS[:1]), balance=False), plain / 3)
    doubled = S.pacs(2 * tensor(SCORES[:1]), tensor(REWARDS[:1]), beta=0.5)
    close(doubled, found)


def test_pacs_weighs_both_classes_the_same():
    # 5/6 for each of three and 5/4 for each of two; a logit of 0 costs log 2.
    rewards = tensor([[1.0, 0.0, 1.0, 1.0, 0.0]])
    start = torch.zeros_like(rewards)
    close(S.pacs(start, rewards), math.log(2))
    slopes = S.slopes(lambda scores: S.pacs(scores, rewards, n_answers=1), start)
    # On the logits 5/6 / 2 and 5/4 / 2; these add up to 0, so that the others' means add a quarter.
    close(slopes, [[-25 / 48, 25 / 32, -25 / 48, -25 / 48, 25 / 32]])


def test_pacs_weighs_a_group_of_one_class_plainly():
    found = S.pacs(tensor([[0.2, -0.4]]), tensor([[1.0, 1.0]]))
    close(found, (softplus(-0.6) + softplus(0.6)) / 2)


def test_at_the_old_policy_pacs_is_a_policy_gradient():
    # All logits are 0: the slope of a term is (1/2 - label) * weight, which the leave-one-out
    # baseline turns into a multiple of Dr. GRPO's advantages.
    rewards = tensor([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 1.0]])
    found = S.slopes(lambda scores: S.pacs(scores, rewards), torch.zeros_like(rewards))
    for row, own in zip(found, adv.dr_grpo(rewards), strict=True):
        factor = (row / own)[0].item()
        assert factor < 0
        close(row, factor * own)


def test_drpo_by_hand():
    # Group 0: the only right answer has 0.3; wrong are -0.2 and 0.9. Group 1: right answers weigh
    # 1, 3 and 4 of 8; the wrong one has 0.4. Group 2 has none that is right.
    tau = 0.3
    wrong = tau * math.log(statistics.fmean([math.exp(-0.2 / tau), math.exp(0.9 / tau)]))
    right = (0.1 - 3 * 0.7) / 8
    total = -(0.3 - wrong) - (right - 0.4)
    found = S.drpo(tensor(SCORES), tensor(REWARDS), tensor(WEIGHTS), temperature=tau)
    close(found, total / 3)


def test_drpo_pushes_wrong_answers_by_a_softmax(rewards, scores):
    S.drpo(scores, rewards, tensor(WEIGHTS), temperature=0.3, n_groups=1).backward()
    push = tensor([-0.2 / 0.3, 0.9 / 0.3]).softmax(0)
    close(scores.grad[0], [-1.0, push[0].item(), push[1].item(), 0.0])
    close(scores.grad[1], [-1 / 8, -3 / 8, 1.0, -4 / 8])
    close(scores.grad[2], [0.0] * 4)


def test_drpo_leaves_out_groups_of_one_class():
    scores = tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]]).requires_grad_()
    rewards = tensor([[1.0, 1.0], [0.0, 0.0], [1.0, NAN]])
    found = S.drpo(scores, rewards, torch.ones_like(scores), temperature=1.0)
    found.backward()
    assert found.item() == 0
    assert not scores.grad.any()


def test_short_answers_weigh_more():
    lengths = torch.tensor([[100, 50, 0]])
    found = S.length_weights(lengths.double(), longest=100, temperature=0.5)
    close(found, [[1.0, math.e, math.exp(2)]])
    assert S.length_weights(lengths, longest=100, temperature=0.5).is_floating_point()


def test_trust_region_has_a_slope_only_outside():
    for value, slope in [(0.5, 0.0), (1.0, 0.0), (1.25, 2.0)]:
        distance = tensor(value).requires_grad_()
        S.trust_region(distance, coef=8.0, most=1.0).backward()
        close(distance.grad, slope)


def test_opmd_by_hand(rewards, scores):
    # Group 1's mean is 3/4; a solved answer's gap is 1/4 - 0.4 u.
    gaps = [0.25 - 0.4 * 0.1, 0.25 + 0.4 * 0.7, -0.75 - 0.4 * 0.4, 0.25]
    found = S.opmd(tensor(SCORES[1:2]), rewards[1:2], tau=0.4)
    close(found, sum(gap**2 for gap in gaps) / 0.8 / 4)
    start = torch.zeros_like(rewards)
    slope = S.slopes(lambda ratios: S.opmd(ratios, rewards, tau=0.4, n_answers=1), start)
    close(slope, -adv.dr_grpo(rewards))


@every_loss
def test_what_could_not_be_scored_takes_no_part(name, rewards, scores):
    found = LOSSES[name](scores, rewards)
    (gradient,) = torch.autograd.grad(found, scores)
    assert not gradient[rewards.isnan()].any()
    assert gradient[:2][~rewards[:2].isnan()].all()
    for junk in (99.0, NAN, math.inf):
        spoilt = tensor(SCORES).masked_fill(rewards.isnan(), junk).requires_grad_()
        again = LOSSES[name](spoilt, rewards)
        close(again, found.detach())
        close(torch.autograd.grad(again, spoilt)[0], gradient)


@every_loss
def test_gradients_are_those_of_the_values(name, rewards, scores):
    assert torch.autograd.gradcheck(lambda values: LOSSES[name](values, rewards), scores)


@every_loss
def test_groups_and_answers_may_come_in_any_order(name, rewards, scores):
    if name == "drpo":
        weigh = S.length_weights(tensor(SCORES), longest=10, temperature=1.0)
        loss = lambda s, r, w: S.drpo(s, r, w, temperature=0.3)  # noqa: E731
    else:
        weigh = rewards
        loss = lambda s, r, _: LOSSES[name](s, r)  # noqa: E731
    order = torch.tensor([2, 0, 3, 1])
    wanted = loss(scores, rewards, weigh)
    close(loss(scores[:, order], rewards[:, order], weigh[:, order]), wanted.detach())
    close(loss(scores.flip(0), rewards.flip(0), weigh.flip(0)), wanted.detach())


@every_loss
def test_micro_batches_of_one_answer_have_the_gradient_of_the_whole(name):
    generator = torch.Generator().manual_seed(3)
    old = -torch.rand(6, 5, generator=generator, dtype=torch.float64)
    logp = (old + 0.1 * torch.randn(6, 5, generator=generator)).requires_grad_()
    mask = torch.rand(6, 5, generator=generator) < 0.8
    rewards = tensor([[1.0, 0.0, 1.0], [0.0, NAN, 1.0]])
    weights = torch.ones(2, 3, dtype=torch.float64)

    def whole(scores):
        if name == "drpo":
            return S.drpo(scores, rewards, weights, temperature=0.3)
        return LOSSES[name](scores, rewards)

    table = S.log_ratios(logp, old, mask).reshape(2, 3)
    (wanted,) = torch.autograd.grad(whole(table), logp)
    slopes = S.slopes(whole, table).flatten()
    assert not slopes.requires_grad
    for part in range(6):
        own = slice(part, part + 1)
        (slopes[own] * S.log_ratios(logp[own], old[own], mask[own])).sum().backward()
    close(logp.grad, wanted)
    assert not logp.grad[~mask].any()


@every_loss
def test_a_batch_in_which_nothing_was_scored_is_zero(name):
    scores = tensor(SCORES).requires_grad_()
    found = LOSSES[name](scores, torch.full_like(scores, NAN))
    found.backward()
    assert found.item() == 0
    assert not scores.grad.any()


def test_log_ratios_agree_with_the_ratio_of_whole_sequences():
    logp, old = tensor([[-1.0, -2.0, -0.5]]), tensor([[-1.5, -1.0, -9.0]])
    mask = torch.tensor([[1, 1, 0]])
    ratio = L.sequence_ratio(logp, old, mask, by_length=False)[0, 0]
    close(S.log_ratios(logp, old, mask).exp()[0], ratio)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: S.pacs(x, x[:1]),
        lambda x: S.pacs(x, 0.5 * x),
        lambda x: S.pacs(x[:, :1], x[:, :1]),
        lambda x: S.pacs(x, x, n_answers=0),
        lambda x: S.drpo(x, x, x, temperature=0.0),
        lambda x: S.opmd(x, x, tau=0.0),
        lambda x: S.length_weights(x, longest=0, temperature=1.0),
    ],
)
def test_what_cannot_be_meant_is_refused(call):
    with pytest.raises(ConfigError):
        call(torch.ones(2, 3))
