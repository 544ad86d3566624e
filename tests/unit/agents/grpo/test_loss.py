"""Losses against loops over floats, numbers worked by hand and exact expectations."""

import itertools
import math

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.formulas import advantage as adv  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo.formulas import loss as L  # noqa: E402, N812

# Ratios on both sides of every clipping range, advantages of both signs, an empty sequence.
MASK = [[1, 1, 1, 0], [0, 1, 1, 1], [1, 0, 0, 0], [0, 0, 0, 0]]
OLD = [[-1.0, -2.0, -0.3, 0.0], [-9.0, -0.7, -3.0, -1.5], [-0.4, 0.0, 0.0, 0.0], [0.0] * 4]
STEP = [[0.5, -0.5, 0.1, 3.0], [4.0, 0.9, -0.25, 0.0], [-1.2, 1.0, 1.0, 1.0], [2.0] * 4]
ADVANTAGES = [1.5, -0.5, -2.0, 1.0]


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(found, wanted):
    wanted = wanted if isinstance(wanted, torch.Tensor) else tensor(wanted)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


@pytest.fixture
def mask():
    return torch.tensor(MASK)


@pytest.fixture
def old():
    return tensor(OLD)


@pytest.fixture
def logp(old):
    return (old + tensor(STEP)).requires_grad_()


@pytest.fixture
def advantages():
    return tensor(ADVANTAGES)[:, None]


def tokens():
    """Each trained token: its sequence and place, log-probability, ratio and advantage."""
    for i, row in enumerate(MASK):
        for t, kept in enumerate(row):
            if kept:
                step = STEP[i][t]
                yield i, t, OLD[i][t] + step, math.exp(step), ADVANTAGES[i]


def sequence_step(i):
    own = [step for step, kept in zip(STEP[i], MASK[i], strict=True) if kept]
    return sum(own), max(len(own), 1)


def ppo(r, a, low, high, delta=math.inf):
    return -min(min(r, delta) * a, max(min(r, 1 + high), 1 - low) * a)


def same_on_tokens(losses, formula):
    for i, t, lp, r, a in tokens():
        assert losses[i, t].item() == pytest.approx(formula(lp, r, a), rel=1e-12, abs=1e-12)


def objectives(logp, old, advantages, mask):
    ratio = L.token_ratio(logp, old, mask)
    whole = L.sequence_ratio(logp, old, mask)
    return {
        "reinforce": L.reinforce(logp, advantages, mask),
        "clipped": L.clipped(ratio, advantages),
        "dual": L.clipped(ratio, advantages, high=0.28, dual=2.0),
        "gspo": L.clipped(whole, advantages, low=3e-4, high=4e-4),
        "cispo": L.cispo(ratio, logp, advantages, mask),
        "topr": L.topr(whole, logp, advantages, mask),
        "soft": L.soft_adaptive(ratio, advantages),
        "minpro": L.clipped(L.prefix_ratio(ratio, mask), advantages),
        "k1": L.k1(logp, old, mask),
        "k2": L.k2(logp, old, mask),
        "k3": L.k3(logp, old, mask),
        "forward": L.forward_kl(logp, old, mask),
        "js": L.jensen_shannon(logp, old, mask),
        "corrected": L.reinforce(logp, advantages, mask) * L.truncated_weights(old, logp, mask),
    }


def test_token_objectives_as_loops(logp, old, advantages, mask):
    found = objectives(logp, old, advantages, mask)
    same_on_tokens(found["reinforce"], lambda lp, r, a: -a * lp)
    same_on_tokens(found["clipped"], lambda lp, r, a: ppo(r, a, 0.2, 0.2))
    same_on_tokens(found["dual"], lambda lp, r, a: ppo(r, a, 0.2, 0.28, delta=2.0))
    same_on_tokens(found["cispo"], lambda lp, r, a: -min(r, 5.0) * a * lp)
    same_on_tokens(found["k1"], lambda lp, r, a: math.log(r))
    same_on_tokens(found["k2"], lambda lp, r, a: math.log(r) ** 2 / 2)
    same_on_tokens(found["k3"], lambda lp, r, a: 1 / r + math.log(r) - 1)
    same_on_tokens(found["forward"], lambda lp, r, a: -math.log(r) / r - 1 / r + 1)

    def soft(lp, r, a):
        tau = 1.0 if a > 0 else 1.05
        return -4 / tau / (1 + math.exp(-tau * (r - 1))) * a

    same_on_tokens(found["soft"], soft)


def test_sequence_ratios_as_loops(logp, old, advantages, mask):
    whole = L.sequence_ratio(logp, old, mask)
    product = L.sequence_ratio(logp, old, mask, by_length=False)
    gspo = objectives(logp, old, advantages, mask)["gspo"]
    topr = L.topr(product, logp, advantages, mask)
    for i, t, lp, _, a in tokens():
        total, length = sequence_step(i)
        close(whole[i, t], math.exp(total / length))
        close(product[i, t], math.exp(total))
        close(gspo[i, t], ppo(math.exp(total / length), a, 3e-4, 4e-4))
        close(topr[i, t], -a * lp if a > 0 else -min(math.exp(total), 1.0) * a * lp)
    close(whole[3], [1.0] * 4)


def test_cispo_keeps_the_gradient_that_clipping_loses(logp, old, mask):
    ratio = L.token_ratio(logp, old, mask)
    ones = torch.ones(4, 1, dtype=torch.float64)
    (lost,) = torch.autograd.grad(L.clipped(ratio, ones)[1, 1], logp, retain_graph=True)
    (kept,) = torch.autograd.grad(L.cispo(ratio, logp, ones, mask, high=1.2)[1, 1], logp)
    assert not lost.any()
    close(kept[1], [0.0, -1.2, 0.0, 0.0])


def test_minpro_by_hand():
    ratio = tensor([[2.0, 0.5, 3.0, 0.25, 4.0]]).requires_grad_()
    mask = torch.tensor([[1, 1, 1, 0, 1]])
    found = L.prefix_ratio(ratio, mask)
    close(found[:, [0, 1, 2, 4]], [[2.0, 0.5, 1.5, 2.0]])
    (gradient,) = torch.autograd.grad(found[0, 4], ratio)
    close(gradient, [[0.0, 0.0, 0.0, 0.0, 0.5]])


NAMES = list(objectives(*(torch.zeros(1, 1) for _ in range(4))))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("junk", [0.0, 5e3, math.nan, math.inf, -math.inf])
def test_outside_the_mask_nothing_counts(name, junk, logp, old, advantages, mask):
    def step(values):
        losses = objectives(values, old, advantages, mask)[name]
        total = L.token_mean(losses, mask) + L.sequence_mean(losses, mask)
        total = total + L.constant_length(losses, mask, 9) + L.sequence_sum(losses, mask)
        groups = losses.reshape(2, 2, 4), mask.reshape(2, 2, 4), advantages.reshape(2, 2)
        (gradient,) = torch.autograd.grad(total + L.balanced(*groups), values)
        return total.detach(), gradient

    spoilt = torch.where(mask.bool(), logp, junk).detach().requires_grad_()
    clean, wanted = step(logp)
    value, gradient = step(spoilt)
    assert torch.equal(value, clean)
    assert torch.equal(gradient, wanted)
    assert not gradient[~mask.bool()].any()
    assert gradient[mask.bool()].any()


WITHOUT_A_PART = {"cispo", "topr", "minpro", "corrected"}  # of the gradient, on purpose


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_A_PART])
def test_gradients_are_those_of_the_values(name, logp, old, advantages, mask):
    assert torch.autograd.gradcheck(
        lambda values: L.token_mean(objectives(values, old, advantages, mask)[name], mask), logp
    )


def test_stopped_gradients_are_those_with_the_stopped_part_fixed(logp, old, advantages, mask):
    ratio = L.token_ratio(logp, old, mask).detach()
    whole = L.sequence_ratio(logp, old, mask).detach()
    prefix = L.prefix_ratio(ratio, mask) / ratio
    weights = L.truncated_weights(old, logp, mask)
    fixed = {
        "cispo": lambda x: L.cispo(ratio, x, advantages, mask),
        "topr": lambda x: L.topr(whole, x, advantages, mask),
        "minpro": lambda x: L.clipped(L.token_ratio(x, old, mask) * prefix, advantages),
        "corrected": lambda x: L.reinforce(x, advantages, mask) * weights,
    }
    assert fixed.keys() == WITHOUT_A_PART
    for name, formula in fixed.items():
        assert torch.autograd.gradcheck(lambda x, f=formula: L.token_mean(f(x), mask), logp)
        own = L.token_mean(objectives(logp, old, advantages, mask)[name], mask)
        wanted = torch.autograd.grad(L.token_mean(formula(logp), mask), logp)
        close(torch.autograd.grad(own, logp)[0], wanted[0])


@pytest.mark.parametrize(
    "aggregate",
    [
        L.token_mean,
        L.sequence_mean,
        L.sequence_sum,
        lambda x, m: L.constant_length(x, m, 9),
        lambda x, m: L.balanced(x[None], m[None], tensor([ADVANTAGES])),
    ],
)
def test_gradients_of_aggregations(aggregate, logp, mask):
    assert torch.autograd.gradcheck(lambda x: aggregate(x.square(), mask), logp)


@pytest.mark.parametrize("name", ["clipped", "dual", "cispo", "soft", "minpro", "topr", "gspo"])
def test_on_policy_every_objective_is_reinforce(name, old, advantages, mask):
    values = old.clone().requires_grad_()
    found = objectives(values, old, advantages, mask)
    wanted = torch.autograd.grad(L.sequence_mean(found["reinforce"], mask), values)[0]
    gradient = torch.autograd.grad(L.sequence_mean(found[name], mask), values)[0]
    close(gradient, wanted)


def test_aggregations_as_loops(logp, old, advantages, mask):
    losses = L.clipped(L.token_ratio(logp, old, mask), advantages).detach()
    own = [[], [], [], []]
    for i, _, _, r, a in tokens():
        own[i].append(ppo(r, a, 0.2, 0.2))
    total = sum(map(sum, own))
    close(L.token_mean(losses, mask), total / 7)
    close(L.sequence_mean(losses, mask), sum(sum(row) / len(row) for row in own if row) / 4)
    close(L.sequence_sum(losses, mask), total / 4)
    close(L.constant_length(losses, mask, 100), total / 400)


def test_balanced_by_hand():
    # Group 1: right 2 tokens of 1 and 1 of 4, wrong 3 of -2: 2/3 * 2 + 1/3 * -2. Group 2: 1/3 * 5;
    # what has advantage 0 counts in G alone.
    losses = tensor([[[1, 1, 9], [4, 9, 9], [-2, -2, -2]], [[5, 5, 9], [7, 7, 7], [7, 7, 7]]])
    mask = torch.tensor([[[1, 1, 0], [1, 0, 0], [1, 1, 1]], [[1, 1, 0], [1, 1, 1], [0, 0, 0]]])
    advantages = tensor([[1.0, 1.0, -2.0], [-1.0, 0.0, 0.0]])
    close(L.balanced(losses, mask, advantages), (2 / 3 + 5 / 3) / 2)
    close(L.balanced(losses, mask, advantages, n_groups=10), (2 / 3 + 5 / 3) / 10)


def test_balanced_in_micro_batches_of_one():
    generator = torch.Generator().manual_seed(0)
    losses = torch.randn(3, 4, 5, generator=generator, dtype=torch.float64).requires_grad_()
    mask = torch.rand(3, 4, 5, generator=generator) < 0.7
    advantages = torch.randn(3, 4, generator=generator, dtype=torch.float64)
    advantages[1, 2], advantages[2] = 0.0, advantages[2].abs()
    whole = L.balanced(losses, mask, advantages)
    (wanted,) = torch.autograd.grad(whole, losses)

    order = torch.randperm(12, generator=generator)  # groups lie apart, as after sorting by length
    groups = torch.tensor([7, -1, 30]).repeat_interleave(4)[order]
    tokens = mask.flatten(0, 1)[order]
    weights = L.balanced_weights(advantages.flatten()[order], tokens.sum(1), groups)
    rows = losses.flatten(0, 1)[order]
    total = 0.0
    for part in range(12):
        share = weights[part] * L.sequence_sum(rows[part, None], tokens[part, None], 1)
        total += share.item()
        share.backward(retain_graph=True)
    close(tensor(total), whole.detach())
    close(losses.grad, wanted)


def test_balanced_over_workers_needs_only_the_number_of_groups():
    advantages, lengths = tensor([1.0, -1.0, 2.0, -1.0]), torch.tensor([3, 1, 2, 5])
    whole = L.balanced_weights(advantages, lengths, torch.tensor([0, 0, 1, 1]))
    parts = [
        L.balanced_weights(advantages[part], lengths[part], torch.tensor([0, 0]), n_groups=2)
        for part in (slice(2), slice(2, 4))
    ]
    close(torch.cat(parts), whole)
    close(whole, [1 / 12, 1 / 4, 1 / 8, 1 / 20])


def test_micro_batches_add_up_and_padding_is_free(logp, old, advantages, mask):
    losses = L.clipped(L.token_ratio(logp, old, mask), advantages).detach()
    pad = torch.nn.functional.pad
    for whole, part in [
        (L.token_mean(losses, mask), lambda x, m: L.token_mean(x, m, 7)),
        (L.sequence_mean(losses, mask), lambda x, m: L.sequence_mean(x, m, 4)),
        (L.constant_length(losses, mask, 6), lambda x, m: L.constant_length(x, m, 6, 4)),
    ]:
        close(part(losses[:1], mask[:1]) + part(losses[1:], mask[1:]), whole)
        close(part(pad(losses, (3, 1), value=math.nan), pad(mask, (3, 1))), whole)
        close(part(losses.flip(0), mask.flip(0)), whole)


def test_a_batch_given_twice_has_the_same_mean(logp, old, advantages, mask):
    losses = L.clipped(L.token_ratio(logp, old, mask), advantages)
    aggregations = (
        L.token_mean,
        L.sequence_mean,
        L.sequence_sum,
        lambda x, m: L.constant_length(x, m, 6),
    )
    for aggregate in aggregations:
        once = torch.autograd.grad(aggregate(losses, mask), logp, retain_graph=True)[0]
        twice = aggregate(torch.cat([losses, losses]), torch.cat([mask, mask]))
        close(torch.autograd.grad(twice, logp, retain_graph=True)[0], once)


def test_a_batch_without_tokens_is_zero():
    nothing = torch.zeros(2, 3), torch.zeros(2, 3)
    for found in (L.token_mean(*nothing), L.sequence_mean(*nothing), L.sequence_sum(*nothing)):
        assert found.item() == 0


def test_mismatch_weights_by_hand():
    old = tensor([[math.log(0.9), math.log(0.5), 1.0], [math.log(0.1), math.log(0.4), 1.0]])
    sampled = tensor([[math.log(0.3), math.log(0.4), 0.0], [math.log(0.4), math.log(0.2), 0.0]])
    mask = torch.tensor([[1, 1, 0], [1, 1, 0]])
    close(L.truncated_weights(old, sampled, mask), [[2.0, 1.25, 1.0], [0.25, 2.0, 1.0]])
    close(L.masked_weights(old, sampled, mask, least=0.5), [[0.0, 1.25, 1.0], [0.0, 2.0, 1.0]])
    for weigh, wanted in [(L.truncated_weights, 3.0), (L.masked_weights, 0.0)]:
        close(weigh(old, sampled, mask, most=3.0, level="sequence"), [[wanted] * 3, [0.5] * 3])
    for level in ("token", "sequence"):
        assert not L.truncated_weights(
            old.requires_grad_(), sampled, mask, level=level
        ).requires_grad


def divergence(p, q):
    return (p * (p / q).log()).sum()


def test_penalties_in_expectation_over_all_outcomes():
    logits = tensor([0.3, -1.0, 0.8]).requires_grad_()
    reference = tensor([0.2, 0.5, 0.3])
    logp = logits.log_softmax(0)
    policy = logp.exp()
    middle = (policy + reference) / 2
    reverse, forward = divergence(policy, reference), divergence(reference, policy)
    js = (divergence(policy, middle) + divergence(reference, middle)) / 2
    slopes = {
        name: torch.autograd.grad(value, logits, retain_graph=True)[0]
        for name, value in (("reverse", reverse), ("forward", forward), ("js", js))
    }
    chances, everything = policy.detach(), torch.ones(1, 3)
    ratio = L.token_ratio(logp[None], logp.detach()[None], everything)[0]

    def expected(penalty, weight=1.0):
        values = penalty(logp[None], reference.log()[None], everything)[0] * weight
        mean = (chances * values).sum()
        return mean.detach(), torch.autograd.grad(mean, logits, retain_graph=True)[0]

    for penalty in (L.k1, L.k3):
        close(expected(penalty)[0], reverse.detach())
    close(expected(L.forward_kl)[0], forward.detach())
    close(expected(L.jensen_shannon)[0], js.detach())
    close(expected(L.k1)[1], [0.0] * 3)
    close(expected(L.k2)[1], slopes["reverse"])
    close(expected(L.k3)[1], slopes["forward"])
    close(expected(L.k3, ratio)[1], slopes["reverse"])
    close(expected(L.forward_kl, ratio)[1], slopes["forward"])
    close(expected(L.jensen_shannon, ratio)[1], slopes["js"])


def expected_gradient(estimate, rewards, logits, size):
    """The gradient of the loss, averaged over all groups that a bandit's policy may draw."""
    logp = logits.log_softmax(0)
    total = torch.zeros(())
    for arms in itertools.product(range(len(rewards)), repeat=size):
        drawn = torch.tensor(arms)
        advantages = estimate(tensor(rewards)[drawn][None])[0][:, None]
        own, mask = logp[drawn][:, None], torch.ones(size, 1)
        losses = L.clipped(L.token_ratio(own, own.detach(), mask), advantages)
        chance = logp.detach()[drawn].sum().exp()
        total = total + chance * L.sequence_mean(losses, mask)
    return -torch.autograd.grad(total, logits)[0]


def test_expected_gradients_on_a_bandit_with_three_arms():
    rewards, size = [0.0, 0.3, 1.0], 3
    logits = tensor([0.5, -0.2, 0.1]).requires_grad_()
    policy = logits.detach().softmax(0)
    mean = (policy * tensor(rewards)).sum()
    true = policy * (tensor(rewards) - mean)  # the gradient of the expected reward
    close(expected_gradient(adv.reinforce, rewards, logits, size), true)
    close(expected_gradient(adv.rloo, rewards, logits, size), true)
    close(expected_gradient(adv.dr_grpo, rewards, logits, size), true * (size - 1) / size)
    # In pairs GRPO sees only which is better: A is 1 / sqrt 2, or its negative.
    p, q, r = policy.tolist()
    order = tensor([-p * (q + r), q * (p - r), r * (p + q)]) / math.sqrt(2)
    estimate = lambda rewards: adv.grpo(rewards, eps=1e-30)  # noqa: E731
    close(expected_gradient(estimate, rewards, logits, 2), order)
    # Rewards 0 and 1: what is right is pulled up by psr, what is wrong pushed down by nsr.
    solved = [0.0, 0.0, 1.0]
    up = tensor([-p * r, -q * r, r * (1 - r)])
    close(expected_gradient(adv.psr, solved, logits, 2), up)
    close(expected_gradient(adv.nsr, solved, logits, 2), up)


END = 3


@pytest.mark.parametrize("name", NAMES)
def test_the_end_is_trained_once_and_what_was_not_written_never(name):
    # Prompt 1 2, action 0 END, observation 2 1, action 1 END, and padding that is END as well.
    ids = torch.tensor([[1, 2, 0, END, 2, 1, 1, END, END, END], [2, END, 1, 0, END] + [END] * 5])
    mask = torch.tensor([[0, 0, 1, 1, 0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 1, 0, 0, 0, 0, 0]])
    generator = torch.Generator().manual_seed(1)
    logits = torch.randn(2, 10, 4, generator=generator, dtype=torch.float64).requires_grad_()
    logp = logits.log_softmax(-1).gather(-1, ids[..., None])[..., 0]
    old = logp.detach() + 1e-4  # within every clipping range
    losses = objectives(logp, old, tensor([[1.0], [-1.0]]), mask)[name]
    (gradient,) = torch.autograd.grad(L.token_mean(losses, mask), logits)
    touched = gradient.abs().sum(-1) > 0
    assert torch.equal(touched, mask.bool())
    assert touched[ids == END].sum() == 3  # once an action


def test_extreme_ratios_stay_finite():
    logp, old, mask = torch.tensor([[500.0]]), torch.tensor([[-500.0]]), torch.ones(1, 1)
    for first, second in ((logp, old), (old, logp)):
        for sign in (torch.ones(1, 1), -torch.ones(1, 1)):
            found = objectives(first, second, sign, mask)
            assert all(value.isfinite().all() for value in found.values())


@pytest.mark.parametrize(
    "call",
    [
        lambda x: L.clipped(x, x, low=1.5),
        lambda x: L.clipped(x, x, high=0.2, dual=1.1),
        lambda x: L.soft_adaptive(x, x, positive=0.0),
        lambda x: L.token_ratio(x, x[:, :1], x),
        lambda x: L.truncated_weights(x, x, x, level="turn"),
        lambda x: L.constant_length(x, x, 0),
        lambda x: L.token_mean(x, x, 0),
        lambda x: L.balanced(x, x, x),
    ],
)
def test_what_cannot_be_meant_is_refused(call):
    with pytest.raises(ConfigError):
        call(torch.ones(2, 3))
