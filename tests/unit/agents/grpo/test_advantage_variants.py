"""Further advantages against numbers worked by hand and against a walk along the prefix tree."""

import math
import random
import statistics

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.formulas import advantage as adv  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo.formulas import advantage_variants as V  # noqa: E402, N812

NAN = math.nan
PAD = 0


def tensor(values):
    return torch.tensor(values, dtype=torch.float64)


def close(found, wanted):
    wanted = wanted if isinstance(wanted, torch.Tensor) else tensor(wanted)
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)


def test_asym_re_shifts_the_baseline():
    close(V.asym_re(tensor([[1.0, 0.0, 0.5, NAN]])), [[0.6, -0.4, 0.1, 0.0]])
    close(V.asym_re(tensor([[1.0, 0.0]]), shift=0.0), [[0.5, -0.5]])


def test_ace_punishes_what_has_become_likelier():
    advantages, shifts = tensor([[1.0, -1.0, -2.0, 0.0]]), tensor([[3.0, 0.5, -0.5, 1.0]])
    close(V.ace(advantages, shifts, alpha=2.0, form="relu"), [[1.0, -2.0, -2.0, 0.0]])
    soft = [-1 - math.log1p(math.exp(0.5)), -2 * (1 + math.log1p(math.exp(-0.5)))]
    close(V.ace(advantages, shifts), [[1.0, *soft, 0.0]])
    close(V.ace(advantages, shifts, alpha=0.0), advantages)
    assert not V.ace(advantages, shifts.requires_grad_()).requires_grad


def padded(answers):
    longest = max(map(len, answers))
    tokens = [[*answer, *[PAD] * (longest - len(answer))] for answer in answers]
    attention = [[1] * len(answer) + [0] * (longest - len(answer)) for answer in answers]
    return torch.tensor([tokens]), torch.tensor([attention])


def test_tempo_by_hand():
    # The first two part at their third token, the third at its second; padding is a token's id.
    answers = [[5, 6, 7, 8], [5, 6, PAD], [5, 9, 7]]
    rewards = [1.0, 0.0, 0.0]
    found = V.tempo(tensor([rewards]), *padded(answers), eps=0.0)
    spread = statistics.stdev(rewards)
    # V is 1/3 before and after 5, then 1/2 or 0, then 1 or 0.
    values = [[1 / 3, 1 / 2, 1, 1], [1 / 3, 1 / 2, 0], [1 / 3, 0, 0]]
    for i, (reward, row) in enumerate(zip(rewards, values, strict=True)):
        before = [1 / 3, *row[:-1]]
        wanted = [(reward - 1 / 3 + b - a) / spread for a, b in zip(before, row, strict=True)]
        close(found[0, i], wanted + [0.0] * (4 - len(row)))


def test_tempo_as_a_walk_along_prefixes():
    rng = random.Random(2)
    answers = [[rng.randrange(2) for _ in range(rng.randint(1, 6))] for _ in range(9)]
    rewards = [rng.random() for _ in answers]
    mean, spread = statistics.fmean(rewards), statistics.stdev(rewards)

    def value(prefix):
        below = [
            reward
            for answer, reward in zip(answers, rewards, strict=True)
            if answer[: len(prefix)] == prefix
        ]
        return statistics.fmean(below)

    found = V.tempo(tensor([rewards]), *padded(answers))
    for i, (answer, reward) in enumerate(zip(answers, rewards, strict=True)):
        for t in range(len(answer)):
            step = value(answer[: t + 1]) - value(answer[:t])
            close(found[0, i, t], (reward - mean + step) / (spread + 1e-4))
        assert not found[0, i, len(answer) :].any()


def test_tempo_of_equal_answers_is_grpo():
    rewards = tensor([[1.0, 0.0, 0.5]])
    found = V.tempo(rewards, torch.ones(1, 3, 4), torch.ones(1, 3, 4))
    close(found, adv.grpo(rewards)[..., None].expand(1, 3, 4))


def test_tempo_leaves_out_what_could_not_be_scored():
    answers = [[5, 6], [5, 7], [5, 6]]
    whole = V.tempo(tensor([[1.0, 0.0]]), *padded(answers[:2]))
    found = V.tempo(tensor([[1.0, 0.0, NAN]]), *padded(answers))
    close(found[:, :2], whole)
    assert not found[:, 2].any()
    assert not V.tempo(tensor([[NAN] * 3]), *padded(answers)).any()


@pytest.mark.parametrize(
    "call",
    [
        lambda x: V.ace(x, x[:1]),
        lambda x: V.ace(x, x, alpha=-1.0),
        lambda x: V.ace(x, x, form="square"),
        lambda x: V.tempo(x, x, x),
    ],
)
def test_what_cannot_be_meant_is_refused(call):
    with pytest.raises(ConfigError):
        call(torch.ones(2, 3))
