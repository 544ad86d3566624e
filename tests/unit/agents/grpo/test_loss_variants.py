"""Further objectives against loops over floats, exact expectations and numbers worked by hand."""

import math

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.formulas import loss as L  # noqa: E402, N812  (it needs torch)
from rlvr_envs.agents.grpo.formulas import loss_variants as V  # noqa: E402, N812

MASK = [[1, 1, 1, 0], [0, 1, 1, 1]]
OLD = [[-1.0, -2.0, -0.3, 0.0], [-9.0, -0.7, -3.0, -1.5]]
STEP = [[0.5, -0.5, 0.1, 3.0], [4.0, 3.0, -0.25, -4.0]]
ADVANTAGES = [1.5, -0.5]


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


def objectives(logp, old, advantages, mask):
    ratio = L.token_ratio(logp, old, mask)
    return {
        "one_side": V.one_side(ratio, logp, advantages, mask, clip=(0.6, 2.0)),
        "dispo": V.dispo(ratio, logp, advantages, mask),
        "dhpo": V.dhpo(ratio, L.sequence_ratio(logp, old, mask), advantages),
        "replayed_forward_kl": V.replayed_forward_kl(logp, old, mask),
        "replayed_jensen_shannon": V.replayed_jensen_shannon(logp, old, mask),
    }


NAMES = list(objectives(*(torch.zeros(1, 1) for _ in range(4))))


def same_on_tokens(losses, formula):
    for i, row in enumerate(MASK):
        for t, kept in enumerate(row):
            if kept:
                r, a = math.exp(STEP[i][t]), ADVANTAGES[i]
                wanted = formula(OLD[i][t] + STEP[i][t], r, a)
                assert losses[i, t].item() == pytest.approx(wanted, rel=1e-12, abs=1e-12)


def test_one_side_drops_what_clipping_cuts(logp, old, advantages, mask):
    def wanted(lp, r, a, low, high):
        return -a * lp * (r <= 1 + high if a > 0 else r >= 1 - low)

    ratio = L.token_ratio(logp, old, mask)
    for low, high in [(0.2, 0.2), (0.6, 2.0)]:
        found = V.one_side(ratio, logp, advantages, mask, clip=(low, high))
        same_on_tokens(found, lambda lp, r, a, e=(low, high): wanted(lp, r, a, *e))
    # With the importance weight it is the gradient of clipping.
    found = V.one_side(ratio, logp, advantages, mask) * ratio.detach()
    (gradient,) = torch.autograd.grad(L.token_mean(found, mask), logp, retain_graph=True)
    clipped = L.token_mean(L.clipped(ratio, advantages), mask)
    close(gradient, torch.autograd.grad(clipped, logp)[0])
    assert (gradient == 0).sum() > (mask == 0).sum()


def test_dispo_has_a_range_for_each_sign(logp, old, advantages, mask):
    ratio = L.token_ratio(logp, old, mask)

    def wanted(lp, r, a):
        low, high = (0.8, 1.3) if a > 0 else (0.1, 15.0)
        return -max(low, min(r, high)) * a * lp

    found = V.dispo(ratio, logp, advantages, mask, positive=(0.8, 1.3), negative=(0.1, 15.0))
    same_on_tokens(found, wanted)
    (gradient,) = torch.autograd.grad(found.sum(), logp)
    close(gradient[0], [-1.3 * 1.5, -0.8 * 1.5, -math.exp(0.1) * 1.5, 0.0])
    close(gradient[1], [0.0, 15.0 * 0.5, math.exp(-0.25) * 0.5, 0.1 * 0.5])


def test_dhpo_clips_both_ratios_before_it_mixes(logp, old, advantages, mask):
    ratio, whole = L.token_ratio(logp, old, mask), L.sequence_ratio(logp, old, mask)
    token = L.clipped(ratio, advantages, low=0.2, high=0.28)
    sequence = L.clipped(whole, advantages, low=3e-4, high=4e-4)
    close(V.dhpo(ratio, whole, advantages, weight=1.0), token.detach())
    close(V.dhpo(ratio, whole, advantages, weight=0.0), sequence.detach())
    # Token 0, ratio e^0.5, counts 1.28; its sequence has mean step 0.1 / 3, which counts 1.0004.
    mixed = V.dhpo(ratio, whole, advantages, weight=0.25)
    close(mixed[0, 0].detach(), -1.5 * (0.25 * 1.28 + 0.75 * 1.0004))
    by_token = tensor([[0.0] * 4, [1.0] * 4])
    close(V.dhpo(ratio, whole, advantages, weight=by_token)[0], sequence[0].detach())
    close(V.dhpo(ratio, whole, advantages, weight=by_token)[1], token[1].detach())
    weight = by_token.clone().requires_grad_()
    V.dhpo(ratio, whole, advantages, weight=weight).sum().backward()
    assert weight.grad is None


@pytest.mark.parametrize("name", ["one_side", "dispo", "dhpo"])
def test_on_policy_they_are_reinforce(name, old, advantages, mask):
    values = old.clone().requires_grad_()
    found = objectives(values, old, advantages, mask)[name]
    wanted = L.sequence_mean(L.reinforce(values, advantages, mask), mask)
    gradient = torch.autograd.grad(L.sequence_mean(found, mask), values)[0]
    close(gradient, torch.autograd.grad(wanted, values)[0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("junk", [0.0, 5e3, math.nan, math.inf, -math.inf])
def test_outside_the_mask_nothing_counts(name, junk, logp, old, advantages, mask):
    def step(values):
        losses = objectives(values, old, advantages, mask)[name]
        total = L.token_mean(losses, mask) + L.sequence_mean(losses, mask)
        return total.detach(), torch.autograd.grad(total, values)[0]

    spoilt = torch.where(mask.bool(), logp, junk).detach().requires_grad_()
    clean, wanted = step(logp)
    value, gradient = step(spoilt)
    assert torch.equal(value, clean)
    assert torch.equal(gradient, wanted)
    assert not gradient[~mask.bool()].any()
    assert gradient[mask.bool()].any()


@pytest.mark.parametrize("name", ["dhpo", "replayed_forward_kl", "replayed_jensen_shannon"])
def test_gradients_are_those_of_the_values(name, logp, old, advantages, mask):
    assert torch.autograd.gradcheck(
        lambda values: L.token_mean(objectives(values, old, advantages, mask)[name], mask), logp
    )


@pytest.mark.parametrize("name", ["one_side", "dispo"])
def test_gradients_are_those_with_the_weight_fixed(name, logp, old, advantages, mask):
    ratio = L.token_ratio(logp, old, mask).detach()
    formula = getattr(V, name)
    assert torch.autograd.gradcheck(lambda x: formula(ratio, x, advantages, mask).sum(), logp)
    free = formula(L.token_ratio(logp, old, mask), logp, advantages, mask).sum()
    fixed = formula(ratio, logp, advantages, mask).sum()
    close(torch.autograd.grad(free, logp)[0], torch.autograd.grad(fixed, logp)[0])


def divergence(p, q):
    return (p * (p / q).log()).sum()


def test_penalties_on_stored_answers_in_expectation():
    logits = tensor([0.3, -1.0, 0.8]).requires_grad_()
    initial, everything = tensor([0.2, 0.5, 0.3]), torch.ones(1, 3)
    logp = logits.log_softmax(0)
    middle = (logp.exp() + initial) / 2
    forward = divergence(initial, logp.exp())
    js = (divergence(logp.exp(), middle) + divergence(initial, middle)) / 2
    for penalty, wanted in [(V.replayed_forward_kl, forward), (V.replayed_jensen_shannon, js)]:
        found = (initial * penalty(logp[None], initial.log()[None], everything)[0]).sum()
        close(found.detach(), wanted.detach())
        slope = torch.autograd.grad(wanted, logits, retain_graph=True)[0]
        close(torch.autograd.grad(found, logits, retain_graph=True)[0], slope)
    close(V.full_forward_kl(logp[None, None], initial.log()[None, None], torch.ones(1, 1)).sum(),
          forward)  # fmt: skip


def test_the_reference_is_flatter_where_the_exponent_is_low():
    reference = tensor([[[0.5, 0.3, 0.2]], [[0.5, 0.3, 0.2]], [[0.8, 0.1, 0.1]]]).log()
    found = V.reweighted_reference(reference, tensor([1.0, 0.0, 2.0])).exp()
    close(found, [[[0.5, 0.3, 0.2]], [[1 / 3] * 3], [[64 / 66, 1 / 66, 1 / 66]]])


def test_full_forward_kl_outside_the_mask_is_zero():
    logits = torch.randn(1, 2, 3, dtype=torch.float64).requires_grad_()
    logps = logits.log_softmax(-1)
    reference = torch.full((1, 2, 3), -math.log(3), dtype=torch.float64)
    reference[0, 1] = math.nan
    found = V.full_forward_kl(logps, reference, torch.tensor([[1, 0]]))
    (gradient,) = torch.autograd.grad(found.sum(), logits)
    assert found[0, 1] == 0
    assert not gradient[0, 1].any()
    close(gradient[0, 0], logps[0, 0].detach().exp() - 1 / 3)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: V.one_side(x, x, x, x, clip=(1.2, 0.2)),
        lambda x: V.dispo(x, x, x, x, positive=(2.0, 1.0)),
        lambda x: V.dhpo(x, x, x, weight=1.5),
        lambda x: V.reweighted_reference(x[None], -x[:, 0]),
    ],
)
def test_what_cannot_be_meant_is_refused(call):
    with pytest.raises(ConfigError):
        call(torch.ones(2, 3))
