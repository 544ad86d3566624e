"""Losses of the zoo against loops over floats, exact expectations and numbers worked by hand."""

import math

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo import losses as L  # noqa: E402, N812  (it needs torch)
from rlvr_envs.agents.grpo.zoo.ace import ace  # noqa: E402
from rlvr_envs.agents.grpo.zoo.dhpo import dhpo  # noqa: E402
from rlvr_envs.agents.grpo.zoo.dispo import dispo  # noqa: E402
from rlvr_envs.agents.grpo.zoo.dph_rl import dph_rl  # noqa: E402
from rlvr_envs.agents.grpo.zoo.minpro import minpro, prefix_ratio  # noqa: E402
from rlvr_envs.agents.grpo.zoo.one_side import one_side  # noqa: E402
from rlvr_envs.agents.grpo.zoo.opmd import opmd  # noqa: E402
from rlvr_envs.agents.grpo.zoo.rapo import rapo  # noqa: E402
from rlvr_envs.agents.grpo.zoo.topr import topr  # noqa: E402

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
    scores, given = tensor([0.25, 1.0])[: len(logp)], torch.tensor([False, True])[: len(logp)]
    return {
        "one_side": one_side(ratio, logp, advantages, mask, low=0.6, high=2.0),
        "dispo": dispo(ratio, logp, advantages, mask),
        "dhpo": dhpo(ratio, L.sequence_ratio(logp, old, mask), advantages),
        "minpro": minpro(ratio, advantages, mask),
        "topr": topr(logp, old, advantages, mask),
        "opmd": opmd(logp, old, advantages, mask),
        "ace": ace(ratio, logp, old, advantages, mask)[0],
        "rapo": rapo(ratio, logp, old, advantages, mask, scores)[0],
        "dph_rl": dph_rl(ratio, logp, old, mask, advantages, given),
        "dph_rl_js": dph_rl(ratio, logp, old, mask, advantages, given, divergence="jensen_shannon"),
    }


NAMES = list(objectives(*(torch.zeros(1, 1) for _ in range(4))))


def mean(losses, mask):
    return losses.masked_fill(~mask.bool(), 0.0).sum() / mask.sum()


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
        found = one_side(ratio, logp, advantages, mask, low=low, high=high)
        same_on_tokens(found, lambda lp, r, a, e=(low, high): wanted(lp, r, a, *e))
    # With the importance weight it is the gradient of clipping.
    found = one_side(ratio, logp, advantages, mask) * ratio.detach()
    (gradient,) = torch.autograd.grad(mean(found, mask), logp, retain_graph=True)
    clipped = mean(L.clipped(ratio, advantages, high=0.2), mask)
    close(gradient, torch.autograd.grad(clipped, logp)[0])
    assert (gradient == 0).sum() > (mask == 0).sum()


def test_dispo_has_a_range_for_each_sign(logp, old, advantages, mask):
    ratio = L.token_ratio(logp, old, mask)

    def wanted(lp, r, a):
        low, high = (0.8, 1.3) if a > 0 else (0.1, 15.0)
        return -max(low, min(r, high)) * a * lp

    found = dispo(ratio, logp, advantages, mask, positive=(0.8, 1.3), negative=(0.1, 15.0))
    same_on_tokens(found, wanted)
    (gradient,) = torch.autograd.grad(found.sum(), logp)
    close(gradient[0], [-1.3 * 1.5, -0.8 * 1.5, -math.exp(0.1) * 1.5, 0.0])
    close(gradient[1], [0.0, 15.0 * 0.5, math.exp(-0.25) * 0.5, 0.1 * 0.5])


def test_dhpo_clips_both_ratios_before_it_mixes(logp, old, advantages, mask):
    ratio, whole = L.token_ratio(logp, old, mask), L.sequence_ratio(logp, old, mask)
    token = L.clipped(ratio, advantages)
    sequence = L.gspo(whole, advantages)
    close(dhpo(ratio, whole, advantages, weight=1.0), token.detach())
    close(dhpo(ratio, whole, advantages, weight=0.0), sequence.detach())
    # Token 0, ratio e^0.5, counts 1.28; its sequence has mean step 0.1 / 3, which counts 1.0004.
    mixed = dhpo(ratio, whole, advantages, weight=0.25)
    close(mixed[0, 0].detach(), -1.5 * (0.25 * 1.28 + 0.75 * 1.0004))


def test_minpro_by_hand():
    ratio = tensor([[2.0, 0.5, 3.0, 0.25, 4.0]]).requires_grad_()
    mask = torch.tensor([[1, 1, 1, 0, 1]])
    found = prefix_ratio(ratio, mask)
    close(found[:, [0, 1, 2, 4]], [[2.0, 0.5, 1.5, 2.0]])
    (gradient,) = torch.autograd.grad(found[0, 4], ratio)
    close(gradient, [[0.0, 0.0, 0.0, 0.0, 0.5]])
    close(minpro(ratio, tensor([[1.0]]), mask)[0, :3].detach(), [-1.28, -0.5, -1.28])


def test_topr_tapers_wrong_answers_by_their_whole_ratio(logp, old, advantages, mask):
    found = topr(logp, old, advantages, mask)
    step = 3.0 - 0.25 - 4.0  # of the wrong answer's tokens
    same_on_tokens(found, lambda lp, r, a: -a * lp * (1.0 if a > 0 else math.exp(step)))
    likelier = topr(logp, old - 9.0, advantages, mask)
    close(likelier, L.reinforce(logp, advantages, mask))


def test_opmd_adds_a_square(logp, old, advantages, mask):
    same_on_tokens(
        opmd(logp, old, advantages, mask, tau=0.5),
        lambda lp, r, a: -a * lp + 0.5 * math.log(r) ** 2 / 2,
    )


def test_ace_punishes_what_has_become_likelier():
    advantages = tensor([[1.0], [-1.0], [-1.0]])
    logp = tensor([[-1.0, -1.0], [-1.0, -1.0], [-3.0, -1.0]]).requires_grad_()
    reference = tensor([[-2.0, -2.0], [-2.0, -1.0], [-1.0, -1.0]])
    mask = torch.ones(3, 2).bool()
    ratio = L.token_ratio(logp, logp.detach(), mask)
    found, measured = ace(ratio, logp, reference, advantages, mask, alpha=0.5)
    close(measured["shift"], [[1.0], [0.5], [-1.0]])
    found.sum().backward()
    # by log(policy / reference) a token: +1 (but right), +0.5, -1
    soft = [0.5 * math.log1p(math.exp(c)) for c in (0.5, -1.0)]
    close(logp.grad, [[-1.0] * 2, [1 + soft[0]] * 2, [1 + soft[1]] * 2])
    relu, _ = ace(ratio, logp, reference, advantages, mask, alpha=2.0, form="relu")
    close(relu[:, 0].detach(), [-1.0, 1 + 2 * 0.5, 1.0])


def test_rapo_has_the_gradient_of_the_divergence_from_a_flatter_reference():
    """Over all of a vocabulary: exactly, but for the reference's sum."""
    logits = tensor([0.3, -1.0, 0.8]).requires_grad_()
    reference = tensor([0.2, 0.5, 0.3]).log()
    logp = logits.log_softmax(0)
    chance = logp.exp().detach()
    for score, phi in ((1.0, 1.0), (0.0, 0.4), (0.5, 0.7), (7.0, 1.0)):
        flat = reference * phi
        whole = flat.logsumexp(0)
        wanted = whole.exp() * ((flat - whole).exp() * (flat - whole - logp)).sum()
        one = torch.ones(3, 1)
        now = logp[:, None]
        ratio = L.token_ratio(now, now.detach(), one)
        found, measured = rapo(
            ratio,
            now,
            reference[:, None],
            torch.zeros(3, 1),
            one,
            torch.full((3,), score, dtype=torch.float64),
            coef=2.0,
            least=0.4,
        )
        slope = torch.autograd.grad((chance * found[:, 0]).sum(), logits, retain_graph=True)[0]
        close(slope, 2 * torch.autograd.grad(wanted, logits, retain_graph=True)[0])
        assert (measured["forward_kl"] >= 0).all()


def divergence(p, q):
    return (p * (p / q).log()).sum()


@pytest.mark.parametrize("name", ["forward_kl", "jensen_shannon"])
def test_stored_answers_hold_by_the_divergence_they_name(name):
    logits = tensor([0.3, -1.0, 0.8]).requires_grad_()
    initial = tensor([0.2, 0.5, 0.3])
    logp = logits.log_softmax(0)
    middle = (logp.exp() + initial) / 2
    wanted = {
        "forward_kl": divergence(initial, logp.exp()),
        "jensen_shannon": (divergence(logp.exp(), middle) + divergence(initial, middle)) / 2,
    }[name]
    one = torch.ones(3, 1)
    found = dph_rl(
        one, logp[:, None], initial.log()[:, None], one, one, one[:, 0].bool(),
        divergence=name, coef=1.0,
    )  # fmt: skip
    whole = (initial * found[:, 0]).sum()
    close(whole.detach(), wanted.detach())
    slope = torch.autograd.grad(wanted, logits, retain_graph=True)[0]
    close(torch.autograd.grad(whole, logits)[0], slope)


def test_what_was_sampled_is_clipped_beside_stored_answers(logp, old, advantages, mask):
    ratio = L.token_ratio(logp, old, mask)
    found = dph_rl(ratio, logp, old, mask, advantages, torch.tensor([False, True]), coef=0.1)
    close(found[0], L.clipped(ratio, advantages)[0])
    close(found[1][1:], -0.1 * tensor(STEP)[1][1:])


@pytest.mark.parametrize("name", ["one_side", "dispo", "dhpo", "minpro", "topr", "opmd"])
def test_on_policy_they_are_reinforce(name, old, advantages, mask):
    values = old.clone().requires_grad_()
    found = objectives(values, old, advantages, mask)[name]
    wanted = L.reinforce(values, advantages, mask)
    gradient = torch.autograd.grad(mean(found, mask), values)[0]
    close(gradient, torch.autograd.grad(mean(wanted, mask), values)[0])


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("junk", [0.0, 5e3, math.nan, math.inf, -math.inf])
def test_outside_the_mask_nothing_counts(name, junk, logp, old, advantages, mask):
    def step(values):
        found = mean(objectives(values, old, advantages, mask)[name], mask)
        return found.detach(), torch.autograd.grad(found, values)[0]

    spoilt = torch.where(mask.bool(), logp, junk).detach().requires_grad_()
    clean, wanted = step(logp)
    value, gradient = step(spoilt)
    assert torch.equal(value, clean)
    assert torch.equal(gradient, wanted)
    assert not gradient[~mask.bool()].any()
    assert gradient[mask.bool()].any()


@pytest.mark.parametrize("name", ["dhpo", "opmd", "rapo", "dph_rl", "dph_rl_js"])
def test_gradients_are_those_of_the_values(name, logp, old, advantages, mask):
    assert torch.autograd.gradcheck(
        lambda values: mean(objectives(values, old, advantages, mask)[name], mask), logp
    )


@pytest.mark.parametrize("formula", [one_side, dispo])
def test_gradients_are_those_with_the_weight_fixed(formula, logp, old, advantages, mask):
    ratio = L.token_ratio(logp, old, mask).detach()
    assert torch.autograd.gradcheck(lambda x: formula(ratio, x, advantages, mask).sum(), logp)
    free = formula(L.token_ratio(logp, old, mask), logp, advantages, mask).sum()
    fixed = formula(ratio, logp, advantages, mask).sum()
    close(torch.autograd.grad(free, logp)[0], torch.autograd.grad(fixed, logp)[0])


@pytest.mark.parametrize(
    "call",
    [
        lambda x: one_side(x, x, x, x, low=1.2),
        lambda x: dispo(x, x, x, x, positive=(2.0, 1.0)),
        lambda x: dhpo(x, x, x, weight=1.5),
        lambda x: opmd(x, x, x, x, tau=-1.0),
        lambda x: ace(x, x, x, x, x, alpha=-1.0),
        lambda x: rapo(x, x, x, x, x, x[:, 0], least=1.5),
        lambda x: dph_rl(x, x, x, x, x, x[:, 0].bool(), coef=-1.0),
    ],
)
def test_what_cannot_be_meant_is_refused(call):
    with pytest.raises(ConfigError):
        call(torch.ones(2, 3))
