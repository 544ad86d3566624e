"""Sampling ahead of training: order, bounds, what is dropped, and what goes wrong."""

import threading

import pytest

from rlvr_envs.agents.grpo.sampling.asynchronous import Ahead
from rlvr_envs.agents.grpo.sampling.sampler import Request, staleness, version_of_each
from rlvr_envs.core.errors import ConfigError


@pytest.mark.parametrize(
    ("versions", "now", "wanted"),
    [((), 5, 0), (((0, 5),), 5, 0), (((0, 3),), 5, 2), (((0, 2), (7, 4), (9, 5)), 5, 3)],
)
def test_staleness_is_that_of_the_oldest_token(versions, now, wanted):
    assert staleness(versions, now) == wanted


def test_every_token_has_its_version():
    assert version_of_each(((0, 2), (3, 4)), 5) == [2, 2, 2, 4, 4]
    assert version_of_each((), 0) == []


@pytest.mark.parametrize(
    ("versions", "length"),
    [((), 2), (((1, 0),), 2), (((0, 1), (2, 2)), 2), (((0, 1), (0, 2)), 2), (((0, 1),), 0)],
)
def test_versions_that_do_not_cover_the_tokens_are_an_error(versions, length):
    with pytest.raises(ValueError, match="start"):
        version_of_each(versions, length)


class Trainer:
    """Plays batches of one group, (number, version when it was played), and counts versions."""

    def __init__(self, max_staleness, first=0, jump=1):
        self.version, self.jump = first, jump
        self.played = []
        self.waiting = threading.Condition()
        self.ahead = Ahead(
            self.play, lambda group: group[1], max_staleness=max_staleness, first=first
        )

    def play(self, number):
        with self.waiting:
            self.played.append(number)
            self.waiting.notify_all()
            return [(number, self.version)]

    def wait_until_played(self, number):
        with self.waiting:
            assert self.waiting.wait_for(lambda: number in self.played, 10)

    def step(self):
        found = self.ahead.take(self.version)
        with self.waiting:
            self.version += self.jump
        return found


def test_without_a_bound_each_batch_is_played_when_it_is_taken():
    trainer = Trainer(0, first=3)
    for number in (3, 4, 5):
        assert trainer.played == list(range(3, number))
        assert trainer.step() == [(number, number)]
    assert trainer.ahead._thread is None
    trainer.ahead.close()


@pytest.mark.parametrize("bound", [1, 2, 4])
def test_batches_come_in_order_and_are_played_as_far_ahead_as_the_bound_says(bound):
    trainer = Trainer(bound)
    for number in range(8):
        version = trainer.version
        (group,) = trainer.ahead.take(version)
        assert group[0] == number
        assert 0 <= version - group[1] <= bound
        trainer.wait_until_played(number + bound)  # before the step's update, but no further
        assert max(trainer.played) == number + bound
        trainer.version += 1
    trainer.ahead.close()
    assert trainer.played == list(range(8 + bound))
    assert trainer.ahead.dropped == 0


def test_the_batches_played_ahead_are_as_old_as_the_bound():
    trainer = Trainer(2)
    ages = []
    for number in range(6):
        version = trainer.version
        ages += [version - played for _, played in trainer.ahead.take(version)]
        trainer.wait_until_played(number + 2)
        trainer.version += 1
    trainer.ahead.close()
    assert ages == [0, 1, 2, 2, 2, 2]


def test_what_is_too_old_is_dropped_and_counted():
    trainer = Trainer(1, jump=3)
    assert trainer.step() == [(0, 0)]
    trainer.wait_until_played(1)
    # Batch 1 was played with version 0 or 3, and the weights are of version 3 by now.
    found = trainer.step()
    trainer.ahead.close()
    assert all(trainer.version - 3 - version <= 1 for _, version in found)
    assert trainer.ahead.dropped == len([number for number in (1,) if (1, 3) not in found])


def test_only_the_groups_that_are_too_old_are_dropped():
    batches = [["new", "old"], ["old", "old"], [], ["new"]]
    ages = {"new": 6, "old": 3}
    ahead = Ahead(batches.__getitem__, ages.__getitem__, max_staleness=2)
    assert ahead.take(8) == ["new"]
    assert ahead.take(8) == []  # the batch of old groups was passed over, the empty one was not
    assert ahead.take(8) == ["new"]
    assert ahead.dropped == 3
    ahead.close()


@pytest.mark.parametrize("bound", [0, 2])
def test_what_goes_wrong_is_raised_where_its_batch_is_taken(bound):
    def play(number):
        if number == 2:
            raise OSError("away")
        return [number]

    ahead = Ahead(play, lambda _: 0, max_staleness=bound)
    assert ahead.take(0) == [0]
    assert ahead.take(0) == [1]
    for _ in range(2):
        with pytest.raises(OSError, match="away"):
            ahead.take(0)
    ahead.close()


def test_closing_waits_for_the_batch_under_way_and_ends_the_thread():
    begun, go_on = threading.Event(), threading.Event()

    def play(number):
        if number == 1:
            begun.set()
            assert go_on.wait(10)
        return [number]

    ahead = Ahead(play, lambda _: 0, max_staleness=1)
    ahead.take(0)
    assert begun.wait(10)
    threading.Timer(0.05, go_on.set).start()
    ahead.close()
    assert go_on.is_set()
    assert not ahead._thread.is_alive()
    with pytest.raises(RuntimeError, match="close"):
        ahead.take(0)


def test_a_bound_below_0_is_refused():
    with pytest.raises(ConfigError, match="max_staleness"):
        Ahead(list, int, max_staleness=-1)


# With models.

END, PAD = 1, 0


def trained(bound, sampler_of, update, *, ahead=True, steps=4):
    """Train a tiny model on its own samples; return its weights, and the versions at each step."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=32,
        hidden_size=16,
        intermediate_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=64,
        initializer_range=0.3,
    )
    model = transformers.LlamaForCausalLM(config)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    with sampler_of(model) as sampler:

        def play(number):
            return sampler.generate([Request((3, 4, number % 30), 8)] * 4, seed=number)

        batches = Ahead(play, lambda each: min(v for _, v in each.versions), max_staleness=bound)
        ages = []
        for step in range(steps):
            update(sampler, model, step)
            found = batches.take(step) if ahead else play(step)
            ages.append([staleness(each.versions, step) for each in found])
            for each in found:
                ids = torch.tensor([(3, 4, step % 30, *each.tokens)])
                loss = model(input_ids=ids, labels=ids).loss * sum(each.logps)
                loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        batches.close()
    return [weight.detach() for weight in model.parameters()], ages


def test_a_bound_of_0_trains_bit_by_bit_as_a_loop_without_it():
    torch = pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from contextlib import nullcontext

    from rlvr_envs.agents.grpo.sampling.slots import SlotSampler

    def sampler_of(model):
        return nullcontext(SlotSampler(model, {END}, PAD, slots=4, context=32))

    def update(sampler, model, step):
        sampler.update(version=step)

    wanted, _ = trained(0, sampler_of, update, ahead=False)
    found, ages = trained(0, sampler_of, update)
    assert ages == [[0] * 4] * 4
    assert all(torch.equal(a, b) for a, b in zip(wanted, found, strict=True))


def test_training_beside_a_server_uses_no_sample_older_than_the_bound(tmp_path):
    pytest.importorskip("httpx")
    from contextlib import contextmanager

    from contract.vllm_gates import sampling
    from fakes.vllm import serving

    from rlvr_envs.agents.grpo.sampling.weights import weights_of

    @contextmanager
    def sampler_of(model):
        with serving(model) as fake, sampling(fake.url, tmp_path, "file") as sampler:
            yield sampler

    def update(sampler, model, step):
        sampler.update(lambda: weights_of(model), step)

    _, ages = trained(2, sampler_of, update, steps=8)
    assert [len(each) for each in ages] == [4] * 8
    assert max(max(each) for each in ages) <= 2
