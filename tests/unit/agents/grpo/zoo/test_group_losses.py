"""PACS and DRPO: losses over whole groups against numbers worked by hand, and as advantages."""

import math

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo import advantages as adv  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo import losses as L  # noqa: E402, N812
from rlvr_envs.agents.grpo.zoo.drpo import constrained, drpo, length_weights  # noqa: E402
from rlvr_envs.agents.grpo.zoo.pacs import pacs  # noqa: E402

NAN = math.nan
REWARDS = [[1.0, 0.0, 0.0, NAN], [1.0, 1.0, 0.0, 1.0], [0.0, 0.0, NAN, 0.0]]
SCORES = [[0.3, -0.2, 0.9, 5.0], [0.1, -0.7, 0.4, 0.0], [0.2, 0.5, 7.0, -0.1]]
WEIGHTS = [[2.0, 1.0, 1.0, 1.0], [1.0, 3.0, 1.0, 4.0], [1.0] * 4]


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(found, wanted):
    wanted = wanted if isinstance(wanted, torch.Tensor) else tensor(wanted)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


def cross_entropy(scores, rewards, *, beta=1.0, balance=True):
    """PACS's loss, answer by answer."""
    total, n_scored = 0.0, 0
    for group, marks in zip(scores, rewards.tolist(), strict=True):
        own = [i for i, mark in enumerate(marks) if not math.isnan(mark)]
        n_scored += len(own)
        right = sum(marks[i] for i in own)
        for i in own:
            others = [beta * group[j] for j in own if j != i]
            logit = beta * group[i] - (sum(others) / len(others) if others else 0.0)
            weight = 1.0
            if balance and 0 < right < len(own):
                half = len(own) / 2
                weight = marks[i] * half / right + (1 - marks[i]) * half / (len(own) - right)
            soft = torch.nn.functional.softplus
            total = total + weight * (marks[i] * soft(-logit) + (1 - marks[i]) * soft(logit))
    return total / max(1, n_scored)


def discrimination(scores, rewards, lengths, *, longest, temperature, length_temperature):
    """DRPO's loss, group by group."""
    total = 0.0
    for group, marks, sizes in zip(scores, rewards.tolist(), lengths.tolist(), strict=True):
        right = [i for i, mark in enumerate(marks) if mark >= 1]
        wrong = [i for i, mark in enumerate(marks) if mark < 1]
        if right and wrong:
            w = [math.exp((1 - sizes[i] / longest) / length_temperature) for i in right]
            up = sum(a * group[i] for a, i in zip(w, right, strict=True)) / sum(w)
            down = torch.stack([(group[i] / temperature).exp() for i in wrong]).mean().log()
            total = total - (up - temperature * down)
    return total / len(scores)


LENGTHS = [[2.0, 1.0, 7.0, 1.0], [1.0, 3.0, 5.0, 4.0], [1.0] * 4]
DRPO = {"temperature": 0.3, "length_temperature": 0.5}


def lengths_like(scores):
    return tensor(LENGTHS)[: len(scores), : scores.shape[1]]


# Each loss, and the estimator of its derivatives.
LOSSES = {
    "pacs": (
        lambda scores, rewards: cross_entropy(scores, rewards, beta=0.5),
        lambda scores, rewards: pacs(rewards, scores, beta=0.5),
    ),
    "unweighted": (
        lambda scores, rewards: cross_entropy(scores, rewards, balance=False),
        lambda scores, rewards: pacs(rewards, scores, balance=False),
    ),
    "drpo": (
        lambda scores, rewards: discrimination(
            scores, rewards, lengths_like(scores), longest=8, **DRPO
        ),
        lambda scores, rewards: drpo(rewards, scores, lengths_like(scores), 8, **DRPO),
    ),
}
every_loss = pytest.mark.parametrize("name", LOSSES)


def softplus(x):
    return math.log1p(math.exp(x))


def test_pacs_by_hand():
    # Logits are u less the mean of the others: 0.3 - 0.35, -0.2 - 0.6, 0.9 - 0.05. Of three answers
    # one is right, so it weighs 3/2, and each of the two wrong ones 3/4.
    found = cross_entropy(tensor(SCORES[:1]), tensor(REWARDS[:1]))
    terms = 1.5 * softplus(0.05) + 0.75 * softplus(-0.8) + 0.75 * softplus(0.85)
    close(found, terms / 3)
    plain = softplus(0.05) + softplus(-0.8) + softplus(0.85)
    close(cross_entropy(tensor(SCORES[:1]), tensor(REWARDS[:1]), balance=False), plain / 3)
    close(cross_entropy(2 * tensor(SCORES[:1]), tensor(REWARDS[:1]), beta=0.5), found)


def test_pacs_weighs_both_classes_the_same():
    # 5/6 for each of three and 5/4 for each of two; a logit of 0 costs log 2.
    rewards = tensor([[1.0, 0.0, 1.0, 1.0, 0.0]])
    start = torch.zeros_like(rewards)
    close(cross_entropy(start, rewards), math.log(2))
    # On the logits 5/6 / 2 and 5/4 / 2; these add up to 0, so that the others' means add a quarter.
    # The mean over 5 answers and the factor 5 of `as_advantages` are each other's inverse.
    close(pacs(rewards, start), [[25 / 48, -25 / 32, 25 / 48, 25 / 48, -25 / 32]])


def test_pacs_weighs_a_group_of_one_class_plainly():
    found = cross_entropy(tensor([[0.2, -0.4]]), tensor([[1.0, 1.0]]))
    close(found, (softplus(-0.6) + softplus(0.6)) / 2)


def test_a_mark_in_part_belongs_to_both_classes():
    # Labels 1, 1/2, 0: right 1.5, wrong 1.5; weights 1, 1/2 + 1/2, 1. At logit 0 all cost log 2.
    rewards, start = tensor([[1.0, 0.5, 0.0]]), torch.zeros(1, 3, dtype=torch.float64)
    close(cross_entropy(start, rewards), math.log(2))
    found = pacs(rewards, start)
    close(found, [[0.75, 0.0, -0.75]])
    close(pacs(tensor([[1.7, 0.5, -3.0]]), start), found)


def test_at_the_old_policy_pacs_is_a_policy_gradient():
    rewards = tensor([[1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 1.0]])
    found = pacs(rewards, torch.zeros_like(rewards))
    for row, own in zip(found, adv.dr_grpo(rewards), strict=True):
        factor = (row / own)[0].item()
        assert factor > 0
        close(row, factor * own)


def test_where_the_policy_has_moved_pacs_has_other_advantages():
    rewards = tensor([[1.0, 0.0]])
    # Logits 2 and -2: both answers are told apart already, so that little is left to learn.
    moved = pacs(rewards, tensor([[1.0, -1.0]]))
    close(moved[0, 0] / pacs(rewards, tensor([[0.0, 0.0]]))[0, 0], 2 / (1 + math.exp(2)))


def test_drpo_by_hand():
    # Group 0: one right answer; wrong have -0.2 and 0.9. Group 1: lengths 1, 3 and 4 of 8 at
    # lambda 1/2 weigh e^(7/4), e^(5/4) and e^1; one is wrong. Group 2 has none that is right.
    found = LOSSES["drpo"][1](tensor(SCORES), tensor(REWARDS))
    each = 10 / 3  # scored answers, a group
    push = tensor([-0.2 / 0.3, 0.9 / 0.3]).softmax(0).tolist()
    close(found[0], [each, -each * push[0], -each * push[1], 0.0])
    weights = [math.exp(power) for power in (7 / 4, 5 / 4, 1.0)]
    a, b, c = (each * weight / sum(weights) for weight in weights)
    close(found[1], [a, b, -each, c])
    close(found[2], [0.0] * 4)


def test_drpo_leaves_out_groups_of_one_class():
    rewards = tensor([[1.0, 1.0], [0.0, 0.0], [1.0, NAN]])
    scores = tensor([[0.1, 0.2], [0.3, 0.4], [0.5, 0.6]])
    assert not drpo(rewards, scores, torch.ones(3, 2), 8).any()


def test_short_right_answers_weigh_more_in_drpo_and_short_wrong_ones_do_not():
    rewards, scores = tensor([[1.0, 1.0, 0.0, 0.0]]), torch.full((1, 4), -1.0)
    found = drpo(rewards, scores, torch.tensor([[2.0, 6.0, 2.0, 6.0]]), 8, length_temperature=0.5)
    # of weights exp((1 - 2/8) / 0.5) and exp((1 - 6/8) / 0.5), times 4 answers
    share = 1 / (1 + math.exp(-1))
    torch.testing.assert_close(
        found, torch.tensor([[4 * share, 4 * (1 - share), -2, -2]]), check_dtype=False
    )
    graded = drpo(
        tensor([[1.0, 1.0, 0.7, 0.0]]),
        scores,
        torch.tensor([[2.0, 6.0, 2.0, 6.0]]),
        8,
        length_temperature=0.5,
    )
    torch.testing.assert_close(graded, found)  # less than full marks is wrong


def test_weights_by_length():
    found = length_weights(torch.tensor([[100, 50, 0]]), longest=100, temperature=0.5)
    torch.testing.assert_close(found, torch.tensor([[1.0, math.e, math.exp(2)]]))


def test_drpo_holds_an_answer_only_beyond_its_region():
    old = tensor([[-1.0, -1.0], [-1.0, -1.0]])
    logp = tensor([[-1.0, -1.001], [-1.0, -2.0]]).requires_grad_()
    advantages, mask = torch.zeros(2, 1, dtype=torch.float64), torch.ones(2, 2).bool()
    constrained(logp, old, advantages, mask, coef=8.0, most=1e-4).sum().backward()
    close(logp.grad[0], [0.0, 0.0])
    # k3(old, logp) is e^-1 + 1 - 1 at a step of -1: slope 1 - 1/e by old - logp, so e^-1 - 1 by
    # logp; D is half of it, e^-1 / 2.
    wanted = 8 * (math.exp(-1) / 2 - 1e-4) * (math.exp(-1) - 1)
    close(logp.grad[1], [0.0, wanted])


@every_loss
def test_advantages_are_the_derivatives_of_the_loss(name):
    loss, estimate = LOSSES[name]
    for rewards in (tensor(REWARDS), tensor([[1.0, 0.0, 1.0, 0.0]] * 3)):
        scores = tensor(SCORES).requires_grad_()
        (slope,) = torch.autograd.grad(loss(scores, rewards), scores)
        found = estimate(tensor(SCORES), rewards)
        close(found, -slope * (~rewards.isnan()).sum())
        assert found.any()


def test_derivatives_of_marks_in_part():
    scores, rewards = tensor(SCORES).requires_grad_(), tensor([[1.0, 0.5, 0.25, NAN]] * 3)
    for balance in (True, False):
        (slope,) = torch.autograd.grad(cross_entropy(scores, rewards, balance=balance), scores)
        close(pacs(rewards, scores.detach(), balance=balance), -slope * 9)


@every_loss
def test_what_could_not_be_scored_takes_no_part(name):
    rewards, estimate = tensor(REWARDS), LOSSES[name][1]
    found = estimate(tensor(SCORES), rewards)
    assert not found[rewards.isnan()].any()
    assert found[:2][~rewards[:2].isnan()].all()
    for junk in (99.0, -5.0, NAN):
        close(estimate(tensor(SCORES).masked_fill(rewards.isnan(), junk), rewards), found)


@every_loss
def test_micro_batches_of_one_answer_have_the_gradient_of_the_whole(name):
    generator = torch.Generator().manual_seed(3)
    old = -torch.rand(6, 5, generator=generator, dtype=torch.float64)
    logp = (old + 0.1 * torch.randn(6, 5, generator=generator)).requires_grad_()
    mask = torch.rand(6, 5, generator=generator) < 0.8
    rewards = tensor([[1.0, 0.0, 1.0], [0.0, NAN, 1.0]])
    loss, estimate = LOSSES[name]
    table = L.difference(logp, old, mask).sum(1).reshape(2, 3)
    (wanted,) = torch.autograd.grad(loss(table, rewards), logp)
    advantages = estimate(table.detach(), rewards).flatten()
    for part in range(6):
        own = slice(part, part + 1)
        losses = L.reinforce(logp[own], advantages[own, None], mask[own])
        (losses.sum() / 5).backward()  # 5 are scored
    close(logp.grad, wanted)
    assert not logp.grad[~mask].any()


@every_loss
def test_a_batch_in_which_nothing_was_scored_is_zero(name):
    rewards = torch.full((3, 4), NAN, dtype=torch.float64)
    assert not LOSSES[name][1](tensor(SCORES), rewards).any()


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3, 1.0, 0.0, -0.1])
def test_equal_rewards_have_no_advantage_at_the_old_policy(value):
    assert not pacs(torch.full((1, 7), value), torch.zeros(1, 7)).any()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: pacs(x[:, :1], x[:, :1]),
        lambda x: pacs(x, x, beta=0.0),
        lambda x: drpo(x, x, x, 8, temperature=0.0),
        lambda x: drpo(x, x, x, 0),
    ],
)
def test_what_cannot_be_meant_is_refused(call):
    with pytest.raises(ConfigError):
        call(torch.ones(2, 3))
