"""Training with a vLLM server, for which a small server with its routes and a real model stands in."""

import json

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("httpx")

from fakes.vllm import serving  # noqa: E402

from rlvr_envs.agents.grpo import plugins  # noqa: E402
from rlvr_envs.agents.grpo.model.tiny import tiny_model  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402
from rlvr_envs.agents.grpo.run import Callback  # noqa: E402
from rlvr_envs.agents.grpo.train import train  # noqa: E402
from rlvr_envs.core.env import TextEnv  # noqa: E402
from rlvr_envs.core.errors import ConfigError  # noqa: E402

torch.set_num_threads(1)
SEEN = []


@plugins.callback
class NotedVersions(Callback):
    """Takes down the version of the weights that each group was sampled from, and the trainer's."""

    def on_group(self, run, group):
        SEEN.append((group.version, run.learner.version))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Return the folder of a small model, and the model."""
    folder = tmp_path_factory.mktemp("model")
    env = TextEnv("Gcd-v0", difficulty=0)
    texts = [env.reset(options={"problem_seed": seed})[0] for seed in range(40)]
    made, tokenizer = tiny_model([*texts, r"\boxed{1234567890}"], seed=0)
    made.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder, made


@pytest.fixture
def config(model, tmp_path):
    SEEN.clear()
    return preset(
        tasks=("Gcd-v0",),
        wrappers=("NoisyVerifier(rho0=0.5, rho1=0.2)",),
        model=str(model[0]),
        device="cpu",
        threads=1,
        groups=2,
        group_size=6,
        max_tokens=6,
        context=200,
        steps=3,
        warm_start=1,
        warm_start_batch=4,
        learning_rate=1e-2,
        warmup=0,
        save_every=1,
        callbacks=("NotedVersions",),
        out=str(tmp_path / "run"),
    )


def served(config, fake):
    return config.replace(sampler=f'vllm(url="{fake.url}")')


def rows(config):
    text = (config_folder(config) / "metrics.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()][1:]  # the first is of imitation


def config_folder(config):
    from pathlib import Path

    return Path(config.output.out)


def test_each_step_samples_from_the_weights_of_the_step_before(config, model):
    with serving(model[1]) as fake:
        train(served(config, fake), quiet=True)
    assert [(version, version) for version in (1, 1, 2, 2, 3, 3)] == SEEN
    found = rows(config)
    assert all(row["mismatch/max"] < 1e-4 for row in found)
    assert any(row["grad_norm"] for row in found)
    assert [row["staleness"] for row in found] == [0, 0, 0]


def test_a_resumed_run_hands_its_weights_to_a_new_server(config, model):
    with serving(model[1]) as fake:
        train(served(config, fake).replace(stop_after=2), quiet=True)
    with serving(model[1]) as fake:  # with weights that nobody trained
        train(served(config, fake).replace(resume=True), quiet=True)
    assert [(version, version) for version in (1, 1, 2, 2, 3, 3)] == SEEN
    assert all(row["mismatch/max"] < 1e-4 for row in rows(config))


def test_groups_sampled_ahead_are_as_old_as_allowed_and_corrected_for(config, model):
    ahead = config.replace(max_staleness=1, steps=5, correction="drop_stale(oldest=1)")
    with serving(model[1]) as fake:
        train(served(ahead, fake), quiet=True)
    found = rows(ahead)
    assert [row["step"] for row in found] == [2, 3, 4, 5, 6]
    assert all(0 <= row["staleness"] <= 1 for row in found)
    assert any(row["staleness"] > 0 for row in found)
    assert max(row["mismatch/max"] for row in found) > 1e-3
    assert found[-1]["groups/dropped"] == 0


def test_a_server_that_forgets_an_update_ends_the_run(config, model):
    with serving(model[1]) as fake:
        fake.faults = {"error"}
        with pytest.raises(Exception, match="500"):
            train(served(config, fake), quiet=True)


def test_what_the_server_lacks_is_said_before_the_model_is_loaded(config, model):
    with (
        serving(model[1], scale_out=False) as fake,
        pytest.raises(ConfigError, match="--enable-scale-out"),
    ):
        train(served(config, fake), quiet=True)
    with pytest.raises(ConfigError, match="weights of its own"):
        train(config.replace(max_staleness=1), quiet=True)
