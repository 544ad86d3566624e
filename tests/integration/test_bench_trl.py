"""TRL takes part in the benchmark: it is asked, trained and counted as our own agent is.

Its updates are compared with ours on what it sampled itself, so nothing here is left to chance.
"""

import importlib
import importlib.metadata
import importlib.util
import sys
from pathlib import Path

import pytest
from small_suite import small_suite

torch = pytest.importorskip("torch")
for name in ("trl", "datasets"):
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"needs {name}", allow_module_level=True)
if not importlib.metadata.version("trl").startswith("1.16."):
    pytest.skip("reads internals of TRL 1.16, here is another", allow_module_level=True)

from bench_replay import SameParts, Watched, distance  # noqa: E402

from rlvr_envs.agents.grpo import train as training  # noqa: E402
from rlvr_envs.agents.grpo.chat import Chat  # noqa: E402
from rlvr_envs.bench.export import export, read_export  # noqa: E402
from rlvr_envs.bench.results import Algorithm  # noqa: E402
from rlvr_envs.bench.score import score_checkpoints  # noqa: E402
from rlvr_envs.bench.usage import BudgetSpentError  # noqa: E402

# TRL and transformers warn of each other's settings.
pytestmark = pytest.mark.filterwarnings("ignore")

BENCHMARKS = str(Path(__file__).resolve().parents[2] / "benchmarks")
MODULES = ("bench_setup", "bench_trl")
# Of samples in which every step has something to learn, a minibatch nothing, and some are cut off.
SEED = 4


@pytest.fixture(scope="module")
def bench():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCHMARKS)
        yield tuple(map(importlib.import_module, MODULES))
        for name in MODULES:
            sys.modules.pop(name)


@pytest.fixture(scope="module")
def suite():
    return small_suite()


@pytest.fixture(scope="module")
def exported(suite, tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported") / "small"
    export(suite, "small", folder, seed=SEED)
    return folder


class WatchedTrl(Watched):
    def __init__(self, bench, exported, out, **settings):
        super().__init__()
        bench_setup, bench_trl = bench
        self.out = out
        setup = bench_setup.Setup(exported, out, None, bench_setup.Settings(**settings))
        self.trainer = bench_trl.make_trainer(setup)
        self.watch_weights(self.trainer)
        (pay,) = self.trainer.reward_funcs

        def paid(prompts, completion_ids, **named):
            rewards = pay(prompts=prompts, completion_ids=completion_ids, **named)
            self.batches.append(list(zip(prompts, completion_ids, rewards, strict=True)))
            return rewards

        self.trainer.reward_funcs[0] = paid
        loss = self.trainer._compute_loss

        def lost(model, inputs):
            kinds = ("prompt", "completion")
            ids, mask = (
                torch.cat([inputs[f"{kind}_{name}"] for kind in kinds], 1)
                for name in ("ids", "mask")
            )
            pairs = zip(ids, mask.bool(), strict=True)
            self.parts.append([tuple(tokens[here].tolist()) for tokens, here in pairs])
            return loss(model, inputs)

        self.trainer._compute_loss = lost


@pytest.fixture(scope="module")
def trained(bench, exported, tmp_path_factory):
    watched = WatchedTrl(bench, exported, tmp_path_factory.mktemp("checkpoints"))
    watched.trainer.train()
    return watched


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


def test_trl_moves_the_weights_as_our_agent_does(trained, suite, exported, tmp_path):
    assert distance(suite, exported, tmp_path / "run", trained) < 1e-3


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
def test_other_settings_are_equal_too(bench, suite, exported, tmp_path, theirs, ours):
    watched = WatchedTrl(bench, exported, tmp_path / "checkpoints", **theirs)
    watched.trainer.train()
    assert distance(suite, exported, tmp_path / "run", watched, **ours) < 1e-3


@pytest.mark.parametrize(("skips", "equal"), [(True, True), (False, False)])
def test_minibatches_are_equal_where_those_without_an_advantage_are_left_out(
    bench, suite, exported, tmp_path, monkeypatch, skips, equal
):
    theirs = {"minibatches": 4, "scale_rewards": "group", "skips_empty": skips}
    watched = WatchedTrl(bench, exported, tmp_path / "checkpoints", **theirs)
    watched.trainer.train()
    words = watched.trainer.processing_class
    monkeypatch.setattr(training, "stream", SameParts(watched, words, 4))
    ours = {"minibatches": 4, "estimator": "grpo"}
    found = distance(suite, exported, tmp_path / "run", watched, **ours)
    assert found < 1e-3 if equal else found > 1e-2


def test_settings_that_differ_move_the_weights_elsewhere(trained, suite, exported, tmp_path):
    settings = {"aggregation": "sequence_mean"}
    assert distance(suite, exported, tmp_path / "run", trained, **settings) > 1e-2


def test_a_run_of_trl_is_scored(trained, suite):
    algorithm = Algorithm(name="trl", version=importlib.metadata.version("trl"))
    run, answers = score_checkpoints(suite, "small", trained.out, algorithm=algorithm, seed=SEED)
    sampled = [sum(len(tokens) for _, tokens, _ in batch) for batch in trained.batches]
    assert [point.samples for point in run.points] == [0, 32, 64]
    assert [point.tokens for point in run.points] == [0, 2 * sum(sampled[:2]), 2 * sum(sampled)]
    assert 0 < run.points[1].device_s < run.points[2].device_s
    assert answers[0] != answers[2]


def test_a_run_that_would_use_too_much_is_ended(bench, exported, tmp_path):
    watched = WatchedTrl(bench, exported, tmp_path / "checkpoints")
    watched.trainer.args.max_steps += 1
    with pytest.raises(BudgetSpentError, match="16 more episodes go beyond the budget of 64"):
        watched.trainer.train()
    assert len(list((tmp_path / "checkpoints").glob("*/usage.json"))) == 2  # what was due is there
