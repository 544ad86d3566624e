"""Tensors of episodes, token by token."""

import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.batch import batch, micro_batches  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo.episode import Episode, Segment  # noqa: E402

END = 9


def episode(*segments):
    return Episode(
        group=0,
        task="Gcd-v0",
        difficulty=0,
        problem_seed=0,
        segments=[Segment(tuple(tokens), logps and tuple(logps)) for tokens, logps in segments],
    )


TALK = episode(([1, 2], None), ([3, END], [-0.5, -0.25]), ([4], None), ([5, 6, END], [-1, -2, -3]))
SHORT = episode(([1, END], None), ([END], [-0.125]))


@pytest.mark.parametrize("pad", [0, END])
def test_each_token_stands_with_its_own_log_probability(pad):
    made = batch([TALK, SHORT], pad)
    assert made.ids.tolist() == [[1, 2, 3, END, 4, 5, 6, END], [1, END, END, *[pad] * 5]]
    assert made.attention.int().tolist() == [[1] * 8, [1, 1, 1, 0, 0, 0, 0, 0]]
    assert made.mask.int().tolist() == [[0, 0, 1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 0, 0, 0, 0]]
    assert made.sampled.tolist() == [[0, 0, -0.5, -0.25, 0, -1, -2, -3], [0, 0, -0.125, *[0] * 5]]
    assert made.turns.tolist() == [[-1, -1, 0, 0, -1, 1, 1, 1], [-1, -1, 0, -1, -1, -1, -1, -1]]
    assert made.episodes == [TALK, SHORT]


def test_kinds_of_the_tensors():
    made = batch([SHORT], 0)
    kinds = [t.dtype for t in (made.ids, made.attention, made.mask, made.sampled, made.turns)]
    assert kinds == [torch.int64, torch.bool, torch.bool, torch.float32, torch.int64]


def test_an_empty_action_trains_nothing_but_counts_as_a_turn():
    made = batch([episode(([1], None), ([], []), ([2], None), ([3], [-1.0]))], 0)
    assert made.ids.tolist() == [[1, 2, 3]]
    assert made.mask.tolist() == [[False, False, True]]
    assert made.turns.tolist() == [[-1, -1, 1]]


def test_an_episode_that_never_began_has_nothing_to_train_and_no_nan():
    made = batch([episode(), SHORT], END)
    assert not made.mask[0].any()
    assert made.attention[0].tolist() == [True, False, False]
    scores = torch.zeros(2, 3).masked_fill(~made.attention, -torch.inf)
    assert scores.softmax(-1).isfinite().all()
    assert batch([episode()], 0).ids.shape == (1, 1)


def test_what_is_no_batch_is_refused():
    with pytest.raises(ConfigError, match="at least one"):
        batch([], 0)
    with pytest.raises(ConfigError, match="2 tokens but 1 log-prob"):
        batch([episode(([1], None), ([2, 3], [-1.0]))], 0)


def of_lengths(*lengths):
    return [episode((range(length), None)) for length in lengths]


def test_micro_batches_hold_everything_once_within_their_size():
    lengths = [3, 10, 1, 7, 7, 2, 30, 4, 1, 9]
    found = micro_batches(of_lengths(*lengths), 20)
    assert sorted(index for part in found for index in part) == list(range(10))
    sizes = [len(part) * max(lengths[index] for index in part) for part in found]
    assert all(size <= 20 or len(part) == 1 for size, part in zip(sizes, found, strict=True))
    assert found == [[6], [1, 9], [3, 4], [7, 0, 5, 2, 8]]


def test_micro_batches_begin_with_the_longest_and_ties_keep_their_order():
    assert micro_batches(of_lengths(5, 5, 8, 5), 15) == [[2], [0, 1, 3]]
    assert micro_batches(of_lengths(5, 5), 10) == [[0, 1]]
    assert micro_batches(of_lengths(5, 5), 9) == [[0], [1]]
    assert micro_batches([], 5) == []
    assert micro_batches(of_lengths(0, 0), 1) == [[0, 1]]
    with pytest.raises(ConfigError, match="at least 1 token"):
        micro_batches(of_lengths(1), 0)
