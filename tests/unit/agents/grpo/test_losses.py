"""Losses against loops over floats, numbers worked by hand and exact expectations."""

import itertools
import math

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo import advantages as adv  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo import aggregations as agg  # noqa: E402
from rlvr_envs.agents.grpo import corrections  # noqa: E402
from rlvr_envs.agents.grpo import losses as L  # noqa: E402, N812

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
        "clipped": L.clipped(ratio, advantages, high=0.2),
        "dual": L.clipped(ratio, advantages, dual=2.0),
        "gspo": L.gspo(whole, advantages),
        "cispo": L.cispo(ratio, logp, advantages, mask),
        "soft": L.soft_adaptive(ratio, advantages),
        "k1": L.k1(logp, old, mask),
        "k2": L.k2(logp, old, mask),
        "k3": L.k3(logp, old, mask),
        "forward": L.forward_kl(logp, old, mask),
        "js": L.jensen_shannon(logp, old, mask),
        "corrected": L.reinforce(logp, advantages, mask) * corrections.truncate(old, logp, mask),
    }


def lengths_of(mask):
    return mask.bool().sum(1).clamp(min=1).double()


AGGREGATIONS = {
    "token_mean": lambda mask: agg.token_mean(mask.bool().sum(1).double()),
    "sequence_mean": lambda mask: agg.sequence_mean(lengths_of(mask)),
    "sequence_sum": lambda mask: agg.sequence_sum(lengths_of(mask)),
    "constant_length": lambda mask: agg.constant_length(lengths_of(mask), 100),
}


def total(losses, mask, name="token_mean"):
    """The number that is minimised: each sequence's sum over its tokens, times its weight."""
    return (AGGREGATIONS[name](mask) * losses.masked_fill(~mask.bool(), 0.0).sum(1)).sum()


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
    for i, t, _, _, a in tokens():
        step, length = sequence_step(i)
        close(whole[i, t], math.exp(step / length))
        close(product[i, t], math.exp(step))
        close(gspo[i, t], ppo(math.exp(step / length), a, 3e-4, 4e-4))
    close(whole[3], [1.0] * 4)


def test_cispo_keeps_the_gradient_that_clipping_loses(logp, old, mask):
    ratio = L.token_ratio(logp, old, mask)
    ones = torch.ones(4, 1, dtype=torch.float64)
    (lost,) = torch.autograd.grad(L.clipped(ratio, ones)[1, 1], logp, retain_graph=True)
    (kept,) = torch.autograd.grad(L.cispo(ratio, logp, ones, mask, high=1.2)[1, 1], logp)
    assert not lost.any()
    close(kept[1], [0.0, -1.2, 0.0, 0.0])


NAMES = list(objectives(*(torch.zeros(1, 1) for _ in range(4))))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("junk", [0.0, 5e3, math.nan, math.inf, -math.inf])
def test_outside_the_mask_nothing_counts(name, junk, logp, old, advantages, mask):
    def step(values):
        losses = objectives(values, old, advantages, mask)[name]
        found = sum(total(losses, mask, each) for each in AGGREGATIONS)
        (gradient,) = torch.autograd.grad(found, values)
        return found.detach(), gradient

    spoilt = torch.where(mask.bool(), logp, junk).detach().requires_grad_()
    clean, wanted = step(logp)
    value, gradient = step(spoilt)
    assert torch.equal(value, clean)
    assert torch.equal(gradient, wanted)
    assert not gradient[~mask.bool()].any()
    assert gradient[mask.bool()].any()


WITHOUT_A_PART = {"cispo", "corrected"}  # of the gradient, on purpose


@pytest.mark.parametrize("name", [name for name in NAMES if name not in WITHOUT_A_PART])
def test_gradients_are_those_of_the_values(name, logp, old, advantages, mask):
    assert torch.autograd.gradcheck(
        lambda values: total(objectives(values, old, advantages, mask)[name], mask), logp
    )


def test_stopped_gradients_are_those_with_the_stopped_part_fixed(logp, old, advantages, mask):
    ratio = L.token_ratio(logp, old, mask).detach()
    weights = corrections.truncate(old, logp, mask)
    fixed = {
        "cispo": lambda x: L.cispo(ratio, x, advantages, mask),
        "corrected": lambda x: L.reinforce(x, advantages, mask) * weights,
    }
    assert fixed.keys() == WITHOUT_A_PART
    for name, formula in fixed.items():
        assert torch.autograd.gradcheck(lambda x, f=formula: total(f(x), mask), logp)
        own = total(objectives(logp, old, advantages, mask)[name], mask)
        wanted = torch.autograd.grad(total(formula(logp), mask), logp)
        close(torch.autograd.grad(own, logp)[0], wanted[0])


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_gradients_of_aggregations(name, logp, mask):
    assert torch.autograd.gradcheck(lambda x: total(x.square(), mask, name), logp)


@pytest.mark.parametrize("name", ["clipped", "dual", "cispo", "soft", "gspo"])
def test_on_policy_every_objective_is_reinforce(name, old, advantages, mask):
    values = old.clone().requires_grad_()
    found = objectives(values, old, advantages, mask)
    wanted = torch.autograd.grad(total(found["reinforce"], mask, "sequence_mean"), values)[0]
    gradient = torch.autograd.grad(total(found[name], mask, "sequence_mean"), values)[0]
    close(gradient, wanted)


def test_aggregations_as_loops(logp, old, advantages, mask):
    losses = L.clipped(L.token_ratio(logp, old, mask), advantages, high=0.2).detach()
    own = [[], [], [], []]
    for i, _, _, r, a in tokens():
        own[i].append(ppo(r, a, 0.2, 0.2))
    whole = sum(map(sum, own))
    close(total(losses, mask, "token_mean"), whole / 7)
    means = sum(sum(row) / len(row) for row in own if row) / 4
    close(total(losses, mask, "sequence_mean"), means)
    close(total(losses, mask, "sequence_sum"), whole / 4)
    close(total(losses, mask, "constant_length"), whole / 400)


@pytest.mark.parametrize("name", AGGREGATIONS)
def test_a_batch_given_twice_has_the_same_gradient(name, logp, old, advantages, mask):
    losses = L.clipped(L.token_ratio(logp, old, mask), advantages)
    once = torch.autograd.grad(total(losses, mask, name), logp, retain_graph=True)[0]
    twice = total(torch.cat([losses, losses]), torch.cat([mask, mask]), name)
    close(torch.autograd.grad(twice, logp, retain_graph=True)[0], once)


def test_mismatch_weights_by_hand():
    old = tensor([[math.log(0.9), math.log(0.5), 1.0], [math.log(0.1), math.log(0.4), 1.0]])
    sampled = tensor([[math.log(0.3), math.log(0.4), 0.0], [math.log(0.4), math.log(0.2), 0.0]])
    mask = torch.tensor([[1, 1, 0], [1, 1, 0]])
    close(corrections.truncate(old, sampled, mask), [[2.0, 1.25, 1.0], [0.25, 2.0, 1.0]])
    close(corrections.leave_out(old, sampled, mask, least=0.5), [[0.0, 1.25, 1.0], [0.0, 2.0, 1.0]])
    for weigh, wanted in [(corrections.truncate, 3.0), (corrections.leave_out, 0.0)]:
        close(weigh(old, sampled, mask, most=3.0, level="sequence"), [[wanted] * 3, [0.5] * 3])
    for level in ("token", "sequence"):
        assert not corrections.truncate(
            old.requires_grad_(), sampled, mask, level=level
        ).requires_grad
    assert (corrections.none(mask) == 1).all()


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
    found = torch.zeros(())
    for arms in itertools.product(range(len(rewards)), repeat=size):
        drawn = torch.tensor(arms)
        advantages = estimate(tensor(rewards)[drawn][None])[0][:, None]
        own, mask = logp[drawn][:, None], torch.ones(size, 1)
        losses = L.clipped(L.token_ratio(own, own.detach(), mask), advantages)
        chance = logp.detach()[drawn].sum().exp()
        found = found + chance * total(losses, mask, "sequence_mean")
    return -torch.autograd.grad(found, logits)[0]


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
    (gradient,) = torch.autograd.grad(total(losses, mask), logits)
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
        lambda x: corrections.truncate(x, x, x, most=0.5),
        lambda x: L.clipped(x, x, high=-0.1),
    ],
)
def test_what_cannot_be_meant_is_refused(call):
    with pytest.raises(ConfigError):
        call(torch.ones(2, 3))
