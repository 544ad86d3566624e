"""Worths of problems and hints against numbers worked by hand."""

import math

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.formulas import selection  # noqa: E402  (it needs torch)


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(found, wanted):
    torch.testing.assert_close(found, tensor(wanted), rtol=0, atol=1e-12)


def test_learning_impact_by_hand():
    # The means are 0.2, 0.5 and 0.9; the squares of their distances to 1 add up to 0.9.
    solved = tensor([[0.2, 0.5, 0.9], [0.4, 1.0, 1.0], [0.0, 0.0, 0.8]])
    apart = 1 - (0.04 + 0.25 + 0.01) / 0.9
    close(selection.learning_impact(solved), [1.0, apart, apart])


def test_problems_that_are_always_solved_cannot_be_told_apart():
    close(selection.learning_impact(torch.ones(2, 3, dtype=torch.float64)), [1.0, 1.0])


def test_what_relies_on_a_hint_transfers_less():
    hinted, plain = tensor([-0.2, -1.0, -0.5]), tensor([-0.5, -0.4, -0.5])
    close(selection.hint_transfer(hinted, plain), [math.exp(-1), 1.0, 1.0])
    close(selection.hint_transfer(hinted, plain, scale=0.15), [math.exp(-2), 1.0, 1.0])


def test_what_cannot_be_meant_is_refused():
    with pytest.raises(ConfigError):
        selection.learning_impact(torch.ones(3))
    with pytest.raises(ConfigError):
        selection.hint_transfer(torch.ones(1), torch.ones(1), scale=0.0)
