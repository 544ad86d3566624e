"""Estimators that tell turns apart, and A²TGPO's loss, against loops over floats."""

import math
import statistics

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo import advantages as adv  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo import losses as L  # noqa: E402, N812
from rlvr_envs.agents.grpo.zoo.a2tgpo import a2tgpo, turn_clipped, turn_ratio  # noqa: E402
from rlvr_envs.agents.grpo.zoo.dr_mas import dr_mas  # noqa: E402
from rlvr_envs.agents.grpo.zoo.igpo import igpo, information_gains  # noqa: E402
from rlvr_envs.agents.grpo.zoo.trloo import trloo  # noqa: E402

NAN = math.nan
TURNS = [[-1, 0, 0, -1, 1, 1, -1], [0, -1, 1, -1, 2, -1, -1]]


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(found, wanted):
    wanted = wanted if isinstance(wanted, torch.Tensor) else tensor(wanted)
    torch.testing.assert_close(found.double(), wanted.double(), rtol=0, atol=1e-6)


def test_trloo_by_hand():
    # Returns to go at 1/2: 2, 2 | 0, and over | 1.5, 1. The second trajectory has one turn.
    rewards = tensor([[[1.0, 2.0], [0.0, NAN], [1.0, 1.0]]])
    found = trloo(rewards, discount=0.5)
    close(found, [[[2 - 0.75, 2 - 1.0], [-1.75, 0.0], [1.5 - 1.0, 1.0 - 2.0]]])
    alone = tensor([[[1.0, 4.0], [2.0, NAN]]])
    close(trloo(alone), [[[3.0, 4.0], [-3.0, 0.0]]])
    one_turn = tensor([[0.3, 0.9, 0.5], [1.0, 0.0, 0.25]])
    close(trloo(one_turn[..., None])[..., 0], adv.rloo(one_turn))
    assert not trloo(torch.full((1, 7, 1), 0.1)).any()
    with pytest.raises(ConfigError, match="discount"):
        trloo(rewards, discount=1.5)


def test_dr_mas_compares_an_agents_turns_with_its_own():
    # Agent 0 acts first in all three, agent 1 twice in the first and once in the second.
    agents = torch.tensor([[[0, 1, 1], [0, 1, -1], [0, -1, -1]]])
    rewards = tensor([[1.0, 0.0, 0.5]])
    paid = torch.full((1, 3, 3), NAN)
    found = dr_mas(rewards, paid, agents, eps=0.0)
    # Agent 0: mean 1/2, deviation 1/2; agent 1 has 1, 1 and 0: mean 2/3, deviation sqrt(1/3).
    root = math.sqrt(1 / 3)
    one, other = (1 / 3) / root, (-2 / 3) / root
    close(found, [[[1.0, one, one], [-1.0, other, 0.0], [0.0, 0.0, 0.0]]])


def test_dr_mas_by_what_an_agent_was_paid_itself():
    agents = torch.tensor([[[0, 1], [0, 1]]])
    paid = torch.tensor([[[1.0, 100.0], [0.0, 300.0]]])
    rewards = paid.sum(2)
    found = dr_mas(rewards, paid, agents, own=True, eps=0.0)
    root = math.sqrt(0.5)
    close(found, [[[root, -root], [-root, root]]])
    close(dr_mas(rewards, paid[..., :1], agents, own=True, eps=0.0)[..., 1], [[0.0, 0.0]])


def test_dr_mas_of_one_agent_and_one_turn_is_grpo():
    rewards = tensor([[1.0, 0.0, NAN, 0.25]])
    found = dr_mas(rewards, rewards[..., None], torch.zeros(1, 4, 1).long())
    close(found[..., 0], adv.grpo(rewards))
    assert not dr_mas(
        torch.full((1, 7), 0.1), torch.ones(1, 7, 1), torch.zeros(1, 7, 1).long()
    ).any()


def test_information_gains_are_differences_of_probability():
    beliefs = tensor([[[0.1, 0.4, 0.3], [0.5, 0.5, NAN]]]).log()
    alive = torch.tensor([[[True, True], [True, False]]])
    found = information_gains(beliefs, alive)
    close(found[0, 0], [0.3, -0.1])
    assert found[0, 1, 0] == 0
    assert found[0, 1, 1].isnan()
    # Where nothing is believed of the solution there are no gains.
    assert information_gains(beliefs[..., :1], alive).isnan().all()


def test_igpo_by_hand():
    # Gains of the first turns 0.3 and 0, the last turns have the outcome 1 and 0; the third
    # episode has one turn, with the outcome alone.
    beliefs = tensor([[[0.1, 0.4, 0.9], [0.5, 0.5, 0.6], [0.2, 0.9, NAN]]]).log()
    agents = torch.tensor([[[0, 0], [0, 0], [0, -1]]])
    found = igpo(tensor([[1.0, 0.0, 1.0]]), agents, beliefs, discount=0.5, eps=0.0)
    paid = [0.3, 1.0, 0.0, 0.0, 1.0]
    mean, spread = statistics.fmean(paid), statistics.stdev(paid)
    a, b, c, d, e = ((value - mean) / spread for value in paid)
    close(found, [[[a + b / 2, b], [c + d / 2, d], [e, 0.0]]])


GAINS = [[0.4, -0.1, 0.3], [0.0, 0.2, NAN], [0.1, NAN, NAN]]


def believed(gains):
    """Log-probabilities whose differences these gains are."""
    rows = []
    for row in gains:
        steps = [0.2]
        for gain in row:
            steps.append(steps[-1] + gain)
        rows.append(steps)
    return tensor([rows]).log()


def test_a2tgpo_as_loops():
    z = {}
    for k in range(3):
        alive = [i for i in range(3) if not math.isnan(GAINS[i][k])]
        values = [GAINS[i][k] for i in alive]
        for i in alive:
            spread = statistics.stdev(values) if len(values) > 1 else math.inf
            z[i, k] = (GAINS[i][k] - statistics.fmean(values)) / spread
    rewards = tensor([[1.0, 0.0, 0.0]])
    outcome = adv.grpo(rewards)
    agents = torch.tensor([[[0, 0, 0], [0, 0, -1], [0, -1, -1]]])
    found = a2tgpo(rewards, agents, believed(GAINS), discount=0.5, weight=0.3, eps=1e-300)
    for i, length in enumerate((3, 2, 1)):
        for k in range(3):
            if k >= length:
                assert found.advantages[0, i, k] == 0
                assert found.scales[0, i, k] == 1
                continue
            total = sum(0.5 ** (j - k) * z[i, j] for j in range(k, length))
            wanted = outcome[0, i].item() + 0.3 * total / math.sqrt(length - k)
            close(found.advantages[0, i, k], wanted)
            close(found.scales[0, i, k], 1 + 0.3 * (2 / (1 + math.exp(-z[i, k])) - 1))


def test_a2tgpo_without_gains_is_the_outcome():
    rewards, agents = tensor([[1.0, 0.0]]), torch.zeros(1, 2, 2).long()
    for beliefs in (believed([[0.2, 0.0]] * 2), torch.full((1, 2, 1), NAN)):
        found = a2tgpo(rewards, agents, beliefs)
        close(found.advantages, adv.grpo(rewards)[..., None].expand(1, 2, 2))
        close(found.scales, [[[1.0] * 2] * 2])
    with pytest.raises(ConfigError, match="widening"):
        a2tgpo(rewards, agents, beliefs, widening=1.0)


def test_turn_ratio_by_hand():
    step = tensor([[9.0, 0.3, -0.1, NAN, 0.5, 0.2, 9.0], [0.7, 9.0, -0.4, 9.0, NAN, 9.0, 9.0]])
    turns = torch.tensor(TURNS)
    mask = turns >= 0
    mask[0, 5] = mask[1, 4] = False
    old = torch.full_like(step, -1.0)
    found = turn_ratio((old + step).requires_grad_(), old, mask, turns)
    a, b, c = math.exp(0.1), math.exp(0.5), math.exp(0.7)
    close(found.detach(), [[1, a, a, 1, b, 1, 1], [c, 1, math.exp(-0.4), 1, 1, 1, 1]])


def test_turn_ratio_of_one_turn_is_the_sequence_ratio():
    old = -torch.rand(3, 5, dtype=torch.float64)
    mask = torch.tensor([[1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]).bool()
    logp = (old + 0.3 * torch.rand(3, 5)).requires_grad_()
    found = turn_ratio(logp, old, mask, mask.long() - 1)
    close(found.detach(), L.sequence_ratio(logp, old, mask).masked_fill(~mask, 1.0).detach())
    assert torch.autograd.gradcheck(
        lambda x: turn_ratio(x, old, mask, mask.long() - 1).square().sum(), logp
    )


def test_turn_clipped_has_a_range_for_each_turn():
    logp = tensor([[1.5, 1.5, 0.5, 0.5]]).log().requires_grad_()
    turns = torch.tensor([[0, 1, 2, 3]])
    mask = turns >= 0
    advantages, scales = tensor([[2.0, 2.0, -1.0, -1.0]]), tensor([[1.0, 3.0, 1.0, 2.0]])
    old = torch.zeros(1, 4, dtype=torch.float64)
    given = (logp, old, mask, turns, advantages)
    found = turn_clipped(*given, scales, low=0.3, high=0.2)
    close(found.detach(), [[-2.4, -3.0, 0.7, 0.5]])
    found.sum().backward()
    close(logp.grad, [[0.0, -2.0 * 1.5, 0.0, 0.5]])
    same = turn_clipped(*given, torch.ones_like(scales), low=0.3, high=0.2)
    close(same.detach(), L.clipped(logp.exp(), advantages, low=0.3, high=0.2).detach())
    with pytest.raises(ConfigError, match="low"):
        turn_clipped(*given, scales, low=1.5)
