"""TRL takes part in the benchmark: it is asked, trained and counted as our own agent is.

Its updates are compared with ours on what it sampled itself, so nothing here is left to chance.
"""

import importlib
import importlib.metadata
import importlib.util
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small_suite import small_suite

torch = pytest.importorskip("torch")
for name in ("trl", "datasets"):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"needs {name}", allow_module_level=True)
if not importlib.metadata.version("trl").startswith("1.16."):
    pytest.skip("reads internals of TRL 1.16, here is another", allow_module_level=True)

from rlvr_envs.agents.grpo import run as running  # noqa: E402
from rlvr_envs.agents.grpo import train as training  # noqa: E402
from rlvr_envs.agents.grpo.chat import Chat  # noqa: E402
from rlvr_envs.agents.grpo.episode import Episode, Segment  # noqa: E402
from rlvr_envs.agents.grpo.learner import set_learning_rate  # noqa: E402
from rlvr_envs.bench import starts  # noqa: E402
from rlvr_envs.bench.algorithm import Choice, make_config  # noqa: E402
from rlvr_envs.bench.export import TRAIN, export, read_export  # noqa: E402
from rlvr_envs.bench.meter import BudgetSpentError  # noqa: E402
from rlvr_envs.bench.results import Algorithm  # noqa: E402
from rlvr_envs.bench.score import score_checkpoints  # noqa: E402

# TRL and transformers warn of each other's settings.
pytestmark = pytest.mark.filterwarnings("ignore")

BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")
STEPS = 4
SEED = 3  # of samples in which every step has something to learn, and some are cut off


@pytest.fixture(scope="module")
def bench_trl():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield importlib.import_module("bench_trl")
        sys.modules.pop("bench_trl")


@pytest.fixture(scope="module")
def suite():
    return small_suite()


@pytest.fixture(scope="module")
def exported(suite, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported") / "small"
    export(suite, "small", folder, seed=SEED)
    return folder


class Watched:
    """A trainer of TRL that notes what it sampled in each step, and its weights after it."""

    def __init__(self, bench_trl, exported, out, **settings):
        self.out = out
        self.trainer = bench_trl.make_trainer(exported, out, None, bench_trl.Settings(**settings))
        self.batches, self.weights = [], []
        self.parts = []  # the episodes of each update, as tokens of prompt and answer
        (pay,) = self.trainer.reward_funcs

        def paid(prompts, completion_ids, **named):
            rewards = pay(prompts=prompts, completion_ids=completion_ids, **named)
            self.batches.append(list(zip(prompts, completion_ids, rewards, strict=True)))
            return rewards

        self.trainer.reward_funcs[0] = paid
        loss = self.trainer._compute_loss

        def lost(model, inputs):
            kinds = ("prompt", "completion")
            pairs = [zip(inputs[f"{k}_ids"], inputs[f"{k}_mask"], strict=True) for k in kinds]
            texts = [[tuple(ids[mask.bool()].tolist()) for ids, mask in pair] for pair in pairs]
            self.parts.append(list(zip(*texts, strict=True)))
            return loss(model, inputs)

        self.trainer._compute_loss = lost
        step = self.trainer.optimizer.step

        def stepped(*given, **named):
            found = step(*given, **named)
            self.weights.append(flattened(self.trainer.model))
            return found

        self.trainer.optimizer.step = stepped


def flattened(model):
    return torch.cat([weight.detach().flatten().clone() for weight in model.parameters()])


@pytest.fixture(scope="module")
def trained(bench_trl, exported, tmp_path_factory):
    watched = Watched(bench_trl, exported, tmp_path_factory.mktemp("checkpoints"))
    watched.trainer.train()
    return watched


def replayed(suite, exported, tmp_path, batches, **settings):
    """Return our weights, first those of the start, after updates on what TRL sampled."""
    experiment = suite.experiment("small")
    given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    choice = Choice.read(f"ours=default({given})" if given else "default")
    places = {"start": starts.folder_of(suite, experiment), "rows": exported / TRAIN}
    config = make_config(choice, suite, experiment, SEED, {**places, "out": tmp_path / "run"})
    run = running.begin(
        config.replace(correction="none"), curriculum=None, make_env=None, quiet=True
    )
    weights = [flattened(run.learner.model)]
    for step, batch in enumerate(batches):
        episodes = [
            Episode(
                group=place // 4,
                task="Derivative-v0",
                difficulty=0,
                problem_seed=None,
                segments=[
                    Segment(run.chat.opening(prompt.removesuffix("\n"))),
                    Segment(tuple(tokens), (0.0,) * len(tokens)),
                ],
                reward=reward,
                score=reward,
                finished=True,
            )
            for place, (prompt, tokens, reward) in enumerate(batch)
        ]
        set_learning_rate(run.learner, step)
        training.update(run.learner, episodes, step)
        weights.append(flattened(run.learner.model))
    run.close()
    return weights


def test_trl_asks_with_the_tokens_of_our_agent(trained, exported):
    _, rows = read_export(exported)
    chat = Chat(trained.trainer.processing_class)
    asked = [problem["prompt"] for problem in trained.trainer.train_dataset]
    prompts, *_ = trained.trainer._tokenize_prompts(asked)
    for row, tokens in zip(rows, prompts, strict=True):
        assert tuple(tokens) == chat.opening(row["prompt"])


def test_trl_reads_answers_as_our_agent_does(trained):
    words = trained.trainer.processing_class
    chat = Chat(words)
    said = [tokens for batch in trained.batches for _, tokens, _ in batch]
    assert {tokens[-1] in chat.end_tokens for tokens in said} == {True, False}  # some are cut off
    for tokens, text in zip(said, words.batch_decode(said, skip_special_tokens=True), strict=True):
        assert text == chat.text(tokens)


def distance(suite, exported, tmp_path, watched, **settings):
    """Return how far TRL's weights end from ours, as a share of how far ours have moved."""
    start, *ours = replayed(suite, exported, tmp_path, watched.batches, **settings)
    assert len(ours) == STEPS
    assert all(len({reward for _, _, reward in batch}) > 1 for batch in watched.batches)
    updates = len(watched.weights) // STEPS
    theirs = watched.weights[updates - 1 :: updates]
    moves = zip(ours, theirs, strict=True)
    return max(float((own - other).norm() / (own - start).norm()) for own, other in moves)


def test_trl_moves_the_weights_as_our_agent_does(trained, suite, exported, tmp_path):
    assert distance(suite, exported, tmp_path, trained) < 1e-3


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"loss_type": "dr_grpo"}, {"aggregation": "constant_length"}),
        (
            {"loss_type": "grpo", "scale_rewards": "group", "beta": 0.04},
            {"aggregation": "sequence_mean", "estimator": "grpo", "kl": "k3", "kl_coef": 0.04},
        ),
        (
            {"epochs": 3, "epsilon_high": 0.2, "learning_rate": 2e-3},
            {"epochs": 3, "loss": "clipped(high=0.2)", "learning_rate": 2e-3},
        ),
    ],
)
def test_other_settings_are_equal_too(bench_trl, suite, exported, tmp_path, theirs, ours):
    watched = Watched(bench_trl, exported, tmp_path / "checkpoints", **theirs)
    watched.trainer.train()
    assert distance(suite, exported, tmp_path, watched, **ours) < 1e-3


class SameParts:
    """Draws the minibatches of our agent as TRL drew its own."""

    def __init__(self, watched, count):
        chat = Chat(watched.trainer.processing_class)
        self.orders = []
        for step, batch in enumerate(watched.batches):
            places = defaultdict(list)
            for place, (prompt, tokens, _) in enumerate(batch):
                places[chat.opening(prompt.removesuffix("\n")), tuple(tokens)].append(place)
            parts = watched.parts[step * count :][:count]
            order = np.empty(len(batch), dtype=int)
            for k, part in enumerate(parts):
                order[k::count] = [places[pair].pop() for pair in part]
            self.orders.append(order)

    def __call__(self, name, *key):
        assert name == "minibatches"
        return SimpleNamespace(permutation=lambda _: self.orders[key[1]])


@pytest.mark.parametrize(("skips", "equal"), [(True, True), (False, False)])
def test_minibatches_are_equal_where_those_without_an_advantage_are_left_out(
    bench_trl, suite, exported, tmp_path, monkeypatch, skips, equal
):
    theirs = {"minibatches": 4, "scale_rewards": "group", "skips_empty": skips}
    watched = Watched(bench_trl, exported, tmp_path / "checkpoints", **theirs)
    watched.trainer.train()
    monkeypatch.setattr(training, "stream", SameParts(watched, 4))
    ours = {"minibatches": 4, "estimator": "grpo"}
    found = distance(suite, exported, tmp_path, watched, **ours)
    assert found < 1e-3 if equal else found > 1e-2


def test_settings_that_differ_move_the_weights_elsewhere(trained, suite, exported, tmp_path):
    settings = {"aggregation": "sequence_mean"}
    assert distance(suite, exported, tmp_path, trained, **settings) > 1e-2


def test_a_run_of_trl_is_scored(trained, suite):
    algorithm = Algorithm(name="trl", version=importlib.metadata.version("trl"))
    run, answers = score_checkpoints(suite, "small", trained.out, algorithm=algorithm, seed=SEED)
    sampled = [sum(len(tokens) for _, tokens, _ in batch) for batch in trained.batches]
    assert [point.samples for point in run.points] == [0, 32, 64]
    assert [point.tokens for point in run.points] == [0, 2 * sum(sampled[:2]), 2 * sum(sampled)]
    assert 0 < run.points[1].device_s < run.points[2].device_s
    assert answers[0] != answers[2]


def test_a_run_that_would_use_too_much_is_ended(bench_trl, exported, tmp_path):
    watched = Watched(bench_trl, exported, tmp_path / "checkpoints")
    watched.trainer.args.max_steps += 1
    with pytest.raises(BudgetSpentError, match="16 more episodes go beyond the budget of 64"):
        watched.trainer.train()
    assert len(list((tmp_path / "checkpoints").glob("*/usage.json"))) == 2  # what was due is there
