"""Turn-level advantages, ratios and masks against loops over floats and numbers worked by hand."""

import math
import statistics

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.formulas import loss as L  # noqa: E402, N812  (it needs torch)
from rlvr_envs.agents.grpo.formulas import turns as T  # noqa: E402, N812

NAN = math.nan
TURNS = [[-1, 0, 0, -1, 1, 1, -1], [0, -1, 1, -1, 2, -1, -1]]
GAINS = [[[0.4, -0.1, 0.3], [0.0, 0.2, NAN], [0.1, NAN, NAN]]]


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(found, wanted):
    wanted = wanted if isinstance(wanted, torch.Tensor) else tensor(wanted)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


def test_values_of_turns_go_to_their_tokens():
    found = T.spread_turns(tensor([[5.0, 6.0, NAN], [7.0, 8.0, 9.0]]), torch.tensor(TURNS))
    close(found, [[0, 5, 5, 0, 6, 6, 0], [7, 0, 8, 0, 9, 0, 0]])


def test_turn_ratio_by_hand():
    step = tensor([[9.0, 0.3, -0.1, NAN, 0.5, 0.2, 9.0], [0.7, 9.0, -0.4, 9.0, NAN, 9.0, 9.0]])
    turns = torch.tensor(TURNS)
    mask = turns >= 0
    mask[0, 5] = mask[1, 4] = False
    old = torch.full_like(step, -1.0)
    found = T.turn_ratio((old + step).requires_grad_(), old, mask, turns)
    a, b, c = math.exp(0.1), math.exp(0.5), math.exp(0.7)
    close(found.detach(), [[1, a, a, 1, b, 1, 1], [c, 1, math.exp(-0.4), 1, 1, 1, 1]])


def test_turn_ratio_of_one_turn_is_the_sequence_ratio():
    old = -torch.rand(3, 5, dtype=torch.float64)
    mask = torch.tensor([[1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]).bool()
    logp = (old + 0.3 * torch.rand(3, 5)).requires_grad_()
    found = T.turn_ratio(logp, old, mask, mask.long() - 1)
    close(found.detach(), L.sequence_ratio(logp, old, mask).masked_fill(~mask, 1.0).detach())
    assert torch.autograd.gradcheck(
        lambda x: T.turn_ratio(x, old, mask, mask.long() - 1).square().sum(), logp
    )


def test_information_gains_are_differences_of_probability():
    beliefs = tensor([[0.1, 0.4, 0.3], [0.5, 0.5, NAN]]).log().requires_grad_()
    found = T.information_gains(beliefs)
    close(found[0], [0.3, -0.1])
    assert found[1, 0] == 0
    assert found[1, 1].isnan()
    assert not found.requires_grad


def test_a2tgpo_as_loops():
    outcome = tensor([[1.0, -0.5, -0.5]])
    group = GAINS[0]
    z = {}
    for k in range(3):
        alive = [i for i in range(3) if not math.isnan(group[i][k])]
        values = [group[i][k] for i in alive]
        for i in alive:
            spread = statistics.stdev(values) if len(values) > 1 else math.inf
            z[i, k] = (group[i][k] - statistics.fmean(values)) / spread
    advantages, scales = T.a2tgpo(tensor(GAINS), outcome, discount=0.5, weight=0.3, eps=1e-300)
    for i, length in enumerate((3, 2, 1)):
        for k in range(3):
            if k >= length:
                assert advantages[0, i, k] == 0
                assert scales[0, i, k] == 1
                continue
            total = sum(0.5 ** (j - k) * z[i, j] for j in range(k, length))
            wanted = outcome[0, i].item() + 0.3 * total / math.sqrt(length - k)
            close(advantages[0, i, k], wanted)
            close(scales[0, i, k], 1 + 0.3 * (2 / (1 + math.exp(-z[i, k])) - 1))


def test_a2tgpo_without_gains_is_the_outcome():
    outcome = tensor([[1.0, -1.0]])
    advantages, scales = T.a2tgpo(tensor([[[0.2, 0.0], [0.2, 0.0]]]), outcome)
    close(advantages, [[[1.0, 1.0], [-1.0, -1.0]]])
    close(scales, [[[1.0] * 2] * 2])


def test_turn_clipped_has_a_range_for_each_token():
    ratio = tensor([[1.5, 1.5, 0.5, 0.5]]).requires_grad_()
    advantages, scales = tensor([[2.0, 2.0, -1.0, -1.0]]), tensor([[1.0, 3.0, 1.0, 2.0]])
    found = T.turn_clipped(ratio, advantages, scales, low=0.3, high=0.2)
    close(found.detach(), [[-2.4, -3.0, 0.7, 0.5]])
    found.sum().backward()
    close(ratio.grad, [[0.0, -2.0, 0.0, 1.0]])
    same = T.turn_clipped(ratio, advantages, torch.ones_like(scales), low=0.3, high=0.2)
    close(same.detach(), L.clipped(ratio, advantages, low=0.3, high=0.2).detach())


def test_which_episodes_count():
    turns, finished = torch.tensor([6, 6, 2, 5]), torch.tensor([True, False, False, False])
    assert T.over_turn(turns, finished, most=6).tolist() == [True, False, True, True]
    complete = torch.tensor([[1, 1, 0], [1, 0, 1], [0, 0, 0], [1, 1, 1]])
    alive = torch.tensor([[1, 1, 0], [1, 1, 1], [1, 0, 0], [1, 1, 1]])
    assert T.void_turn(complete, alive).tolist() == [True, False, False, True]


@pytest.mark.parametrize(
    "call",
    [
        lambda x: T.a2tgpo(x, x),
        lambda x: T.a2tgpo(x, x[..., 0], discount=2.0),
        lambda x: T.a2tgpo(x, x[..., 0], widening=1.0),
        lambda x: T.turn_clipped(x, x, x, low=1.5),
    ],
)
def test_what_cannot_be_meant_is_refused(call):
    with pytest.raises(ConfigError):
        call(torch.ones(1, 2, 3))
