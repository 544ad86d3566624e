"""How the weights move: the same however the work is split, and by what the model wrote alone."""

from math import nan
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo import plugins  # noqa: E402
from rlvr_envs.agents.grpo.credit import Groups, credit  # noqa: E402
from rlvr_envs.agents.grpo.episode import Episode, Segment  # noqa: E402
from rlvr_envs.agents.grpo.learner import (  # noqa: E402
    Learner,
    imitate,
    make_optimizer,
    reset_reference,
)
from rlvr_envs.agents.grpo.model import policy  # noqa: E402
from rlvr_envs.agents.grpo.model.distributed import Workers  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402
from rlvr_envs.agents.grpo.train import update  # noqa: E402

torch.set_num_threads(1)

CONFIG = preset(
    estimator="dr_grpo", correction="none", learning_rate=0.01, max_grad_norm=1e9, max_tokens=8
)
VOCAB = 12


class Causal(torch.nn.Module):
    """A language model that hears a running mean of what was said; it counts rows."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.embedding = torch.nn.Embedding(VOCAB, 6, dtype=torch.float64)
        self.head = torch.nn.Linear(6, VOCAB, bias=False, dtype=torch.float64)
        self.rows = 0

    def get_output_embeddings(self):
        return self.head

    def forward(self, input_ids, use_cache=False, **_):
        self.rows += len(input_ids)
        places = torch.arange(1, input_ids.shape[1] + 1)[:, None]
        heard = self.embedding(input_ids).tanh().cumsum(1) / places
        return SimpleNamespace(logits=self.head(heard))


class Collect(torch.optim.SGD):
    """Keeps gradients and leaves the weights as they are."""

    def __init__(self, model):
        super().__init__(model.parameters(), lr=0.0)
        self.found = []

    def step(self, closure=None):
        weights = self.param_groups[0]["params"]
        self.found.append(torch.cat([w.grad.flatten().clone() for w in weights]))


def learner(config, **more):
    model = Causal()
    return Learner(
        config=config,
        workers=more.get("workers") or Workers("cpu"),
        model=model,
        reference=policy.Reference(model) if config.needs_reference else None,
        optimizer=more["optimizer"](model)
        if "optimizer" in more
        else make_optimizer(model, config),
        pad_token=0,
    )


def episode(group, reward, actions, *, heard=3, turn_rewards=None, finished=True):
    """Return an episode that was sampled with some other log-probabilities."""
    segments = []
    for action in actions:
        segments.append(Segment(tuple(range(1, 1 + heard))))
        segments.append(Segment(tuple(action), tuple(-1.0 - 0.1 * t for t in action)))
    return Episode(
        group=group,
        task="a",
        difficulty=0,
        problem_seed=0,
        segments=segments,
        reward=reward,
        score=reward,
        turn_rewards=turn_rewards or [reward],
        finished=finished,
    )


def some():
    """Return two groups of unequal size and lengths, one episode of which was not scored."""
    return [
        episode(0, nan, [[5]]),
        episode(0, 1.0, [[5, 6, 7, 1]]),
        episode(0, 0.0, [[8, 1]], heard=5),
        episode(0, 0.5, [[9, 9, 1], [4, 1]]),
        episode(1, 1.0, [[10, 11, 1]]),
        episode(1, 0.0, [[4, 5, 6, 7, 8, 1]], finished=False),
    ]


def weights(made):
    return torch.cat([w.detach().flatten() for w in made.model.parameters()])


SETTINGS = [
    {},
    {"kl": "k3", "kl_coef": 0.1, "entropy_coef": 0.05},
    {"aggregation": "sequence_mean", "loss": "gspo(low=0.2, high=0.28)"},
    {"aggregation": "constant_length", "correction": "truncate"},
    {"aggregation": "balanced"},
    {"overlong": "mask", "aggregation": "sequence_sum"},
    {"estimator": "trloo"},
    {"estimator": "tempo"},
    {"estimator": "drpo", "loss": "reinforce", "aggregation": "sequence_mean"},
    {"loss": "ace"},
    {"estimator": "reinforce_plus_plus", "loss": "cispo"},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("passes", [(1, 1), (2, 3)])
def test_micro_batches_of_any_size_move_the_weights_alike(settings, passes):
    config = CONFIG.replace(epochs=passes[0], minibatches=passes[1], **settings)
    found = []
    for micro_tokens in (1, 20, 1000):
        made = learner(config.replace(micro_tokens=micro_tokens))
        before = weights(made)
        numbers = update(made, some(), step=3)
        assert numbers["grad_norm"] > 0
        found.append(weights(made))
    assert (found[0] - before).abs().max() > 1e-3
    assert torch.allclose(found[0], found[1], rtol=0, atol=1e-10)
    assert torch.allclose(found[0], found[2], rtol=0, atol=1e-10)


def by_hand(episodes, config):
    """Return the gradient of the mean of -A log p over tokens that the model wrote and are kept."""
    model = Causal()
    advantages, kept, _ = credit(Groups(episodes, config))
    total, n_tokens = 0.0, 0
    for e, worth, keep in zip(episodes, advantages, kept.tolist(), strict=True):
        if not keep:
            continue
        tokens = [token for segment in e.segments for token in segment.tokens]
        logps = model(torch.tensor([tokens])).logits[0].log_softmax(-1)
        place = turn = 0
        for segment in e.segments:
            for token in segment.tokens:
                if segment.logps is not None:
                    total = total - worth[min(turn, len(worth) - 1)] * logps[place - 1, token]
                    n_tokens += 1
                place += 1
            turn += segment.logps is not None
    (total / n_tokens).backward()
    return torch.cat([w.grad.flatten() for w in model.parameters()])


@pytest.mark.parametrize("estimator", ["dr_grpo", "trloo", "reinforce"])
def test_the_gradient_is_that_of_what_the_model_wrote_alone(estimator):
    config = CONFIG.replace(estimator=estimator)
    episodes = [
        episode(0, 1.0, [[5, 1], [6, 7, 1], [8, 1]], turn_rewards=[0.0, 0.25, 0.75]),
        episode(0, 0.5, [[9, 1], [4, 4, 1]], turn_rewards=[0.5, 0.0]),
        episode(0, nan, [[9, 1]]),
    ]
    made = learner(config, optimizer=Collect)
    update(made, episodes, step=0)
    expected = by_hand(episodes, config)
    assert expected.abs().max() > 1e-3
    assert torch.allclose(made.optimizer.found[0], expected, rtol=0, atol=1e-12)


def test_a_step_makes_what_paid_more_likely():
    episodes = [episode(0, 1.0, [[5, 6, 1]]), episode(0, 0.0, [[7, 8, 1]])]
    made = learner(CONFIG)
    given = made.batch(episodes)
    before = made.scores(given)[0].sum(1)
    update(made, episodes, step=0)
    after = made.scores(given)[0].sum(1)
    assert after[0] > before[0]
    assert after[1] < before[1]


def test_what_has_no_advantage_is_not_computed_but_counts():
    told = [episode(0, 1.0, [[5, 6, 1]]), episode(0, 0.0, [[7, 8, 1]])]
    silent = [episode(1, 1.0, [[9, 9, 9, 1]]), episode(1, 1.0, [[4, 4, 1]])]
    made = learner(CONFIG, optimizer=Collect)
    update(made, told + silent, step=0)
    assert made.model.rows == 2 + 1  # and one to find out what the head does
    alone = learner(CONFIG, optimizer=Collect)
    update(alone, told, step=0)
    # 6 tokens of 13
    expected = alone.optimizer.found[0] * 6 / 13
    assert torch.allclose(made.optimizer.found[0], expected, rtol=0, atol=1e-12)
    assert torch.allclose(expected, by_hand(told + silent, CONFIG), rtol=0, atol=1e-12)


# AsymRE shifts its baseline, which also learns from groups of equal rewards.
COMPARING = [
    each.name
    for each in plugins.estimator
    if each.traits.get("compares") and each.name != "asym_re"
]


@pytest.mark.parametrize("estimator", COMPARING)
@pytest.mark.parametrize("reward", [0.7, 1 / 3, -0.1])
def test_equal_rewards_move_nothing_at_all(estimator, reward):
    size = 3 if plugins.estimator.choose(estimator).plugin.traits.get("odd") else 6
    same = [episode(g, reward, [[5, 6 + g, 1]]) for g in (0, 1) for _ in range(size)]
    made = learner(CONFIG.replace(estimator=estimator))
    before = weights(made)
    numbers = update(made, same, step=0)
    assert numbers["updates/skipped"] == 1
    assert torch.equal(weights(made), before)


def test_what_has_no_advantage_is_still_held_to_the_reference():
    silent = [episode(1, 1.0, [[9, 9, 9, 1]]), episode(1, 1.0, [[4, 4, 1]])]
    made = learner(CONFIG.replace(kl="k3"), optimizer=Collect)
    numbers = update(made, silent, step=0)
    assert numbers["tokens"] == 7
    assert numbers["kl"] == 0


def test_later_passes_are_held_to_where_the_first_began():
    made = learner(CONFIG.replace(epochs=2, learning_rate=0.5, loss="clipped(high=0.2)"))
    numbers = update(made, some(), step=0)
    assert numbers["ratio/max"] > 1.2
    assert numbers["clip_fraction"] > 0


@pytest.mark.parametrize("passes", [1, 2])
def test_a_gradient_that_is_no_number_moves_nothing_and_is_counted(passes):
    broken = some()
    action = broken[1].segments[1]
    broken[1].segments[1] = Segment(action.tokens, (nan,) * len(action.tokens))
    made = learner(CONFIG.replace(correction="truncate", epochs=passes))
    before = weights(made)
    numbers = update(made, broken, step=0)
    assert numbers["updates/skipped"] == passes
    assert torch.equal(weights(made), before)
    assert all(weight.grad is None for weight in made.model.parameters())
    assert update(made, some(), step=1)["updates/skipped"] == 0
    assert weights(made).isfinite().all()


EMPTY = [
    [Episode(group=0, task="a", difficulty=0, problem_seed=0)],
    [episode(0, nan, [[5, 1]]), episode(0, nan, [[6, 1]])],
    [episode(0, 1.0, [[]]), episode(0, 0.0, [[]])],
]


@pytest.mark.parametrize("episodes", EMPTY, ids=["broken", "unscored", "nothing written"])
@pytest.mark.parametrize(
    "estimator",
    [
        "dr_grpo",
        "rloo",
        "lite_ppo",
        "bnpo",
        "ngrpo",
        "reinforce_plus_plus",
        "dr_mas",
        "pacs",
        "drpo",
        "tempo",
        "trloo",
    ],
)
@pytest.mark.parametrize("aggregation", ["token_mean", "sequence_mean", "balanced"])
def test_a_step_without_anything_to_learn_moves_nothing(episodes, estimator, aggregation):
    config = CONFIG.replace(estimator=estimator, aggregation=aggregation, epochs=2, minibatches=2)
    made = learner(config)
    before = weights(made)
    numbers = update(made, episodes, step=0)
    assert torch.equal(weights(made), before)
    assert numbers["updates/skipped"] == 4
    assert numbers["tokens"] == 0


class Second(Workers):
    """The second of two workers, of which the first says what it has done."""

    def __init__(self):
        super().__init__("cpu")
        self.rank, self.size, self.told = 1, 1, []

    def gather_objects(self, value):
        return [1, value] if isinstance(value, int) else [value]

    def backward(self, loss):
        self.told.append(loss.detach().item())
        super().backward(loss)


def test_a_worker_without_a_share_waits_for_the_others_and_measures_nothing():
    # the first episode, of which nothing is known, must not be what it passes the time with
    episodes = [
        Episode(group=0, task="a", difficulty=0, problem_seed=0),
        episode(0, 1.0, [[5, 6, 1]]),
        episode(1, 1.0, [[]]),
    ]
    workers = Second()
    made = learner(CONFIG.replace(estimator="reinforce", epochs=2), workers=workers)
    workers.size = 2
    workers.accumulating = lambda model, last: torch.enable_grad()
    before = weights(made)
    numbers = update(made, episodes, step=0)
    assert workers.told == [0.0, 0.0]
    assert numbers["tokens"] == 0
    assert torch.equal(weights(made), before)


def test_imitation_makes_what_is_shown_more_likely():
    made = learner(CONFIG.replace(learning_rate=0.05))
    shown = [episode(0, nan, [[5, 6, 1]]), episode(1, nan, [[7, 1], [8, 1]])]
    losses = [imitate(made, shown)["imitation/loss"] for _ in range(30)]
    logps = made.scores(made.batch(shown))[0]
    assert losses[-1] == pytest.approx(-float(logps.detach().sum()) / 7, rel=0.1)
    assert losses[-1] < losses[0] / 2


def test_the_reference_becomes_the_model():
    made = learner(CONFIG.replace(kl="k3", learning_rate=0.1))
    given = made.batch(some())
    first = made.reference_scores(given)
    update(made, some(), step=0)
    assert torch.equal(made.reference_scores(given), first)
    reset_reference(made)
    assert torch.equal(made.reference_scores(given), made.scores(given)[0].detach())
    assert not torch.equal(made.reference_scores(given), first)
