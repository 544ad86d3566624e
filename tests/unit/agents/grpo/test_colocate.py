"""vLLM in the trainer's process: what it is asked in which order, of an engine that takes notes."""

import os
import sys
from types import SimpleNamespace

import pytest

torch = pytest.importorskip("torch")

from rlvr_envs.agents.grpo.sampling.sampler import Completion, Request  # noqa: E402
from rlvr_envs.agents.grpo.sampling.vllm.client import ServerError  # noqa: E402
from rlvr_envs.agents.grpo.sampling.vllm.colocate import VllmColocateSampler  # noqa: E402
from rlvr_envs.core.errors import ConfigError, DependencyError  # noqa: E402

END = 1


class Engine:
    """Counts on from a prompt's last token, then ends; and takes down what it is told."""

    def __init__(self, **settings):
        torch.manual_seed(9)
        self.settings, self.notes, self.version, self.resets = settings, [], "default", True

    def sleep(self, level):
        self.notes.append(f"sleep {level}")

    def wake_up(self, tags):
        self.notes.append(f"wake {tags}")

    def collective_rpc(self, method, kwargs):
        self.notes.append((method, list(kwargs["weights_iterator"])))

    def update_weight_version(self, version):
        self.version = version

    def reset_prefix_cache(self):
        self.notes.append("reset")
        return self.resets

    def generate(self, prompts, parameters, use_tqdm):
        self.notes.append("generate")
        self.parameters = parameters
        return [self.output(prompt["prompt_token_ids"][-1]) for prompt in prompts]

    def output(self, last):
        tokens = [last + 1, END]
        return SimpleNamespace(
            outputs=[
                SimpleNamespace(
                    token_ids=tokens,
                    logprobs=[{token: SimpleNamespace(logprob=-0.5 * token)} for token in tokens],
                    finish_reason="stop",
                    weight_versions=[SimpleNamespace(start=0, end=2, version=self.version)],
                )
            ]
        )


@pytest.fixture
def engine(monkeypatch):
    """Yield a function that makes a sampler, and gives its engine."""
    monkeypatch.setitem(
        sys.modules, "vllm", SimpleNamespace(LLM=Engine, SamplingParams=lambda **given: given)
    )
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "1")

    def made(**options):
        sampler = VllmColocateSampler("folder", [END], context=64, **options)
        return sampler, sampler._engine

    return made


def test_weights_are_loaded_once_for_each_version_and_anew_after_sleep(engine):
    sampler, notes = (made := engine())[0], made[1].notes
    ask = [Request((7,), 5)]
    loaded = [("reload_weights", [("w", 3)])]
    sampler.update(lambda: [("w", 3)], 4)
    assert notes == []
    assert sampler.generate(ask) == [Completion((8, END), (-4.0, -0.5), True, ((0, 4),))]
    sampler.generate(ask)
    assert notes == [*loaded, "reset", "generate", "generate"]
    notes.clear()
    sampler.release()
    sampler.release()
    sampler.generate(ask)
    woken = ["wake ['weights']", *loaded, "wake ['kv_cache']", "reset", "generate"]
    assert notes == ["sleep 2", *woken]
    notes.clear()
    sampler.update(lambda: [("w", 5)], 5)
    assert sampler.generate(ask)[0].versions == ((0, 5),)
    assert notes == [("reload_weights", [("w", 5)]), "reset", "generate"]


def test_what_the_engine_is_made_with(engine):
    before = torch.get_rng_state()
    _, llm = engine(memory=0.4, options={"enforce_eager": True})
    assert torch.equal(torch.get_rng_state(), before)
    assert os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
    wanted = {"max_model_len": 64, "gpu_memory_utilization": 0.4, "enforce_eager": True}
    modes = {"logprobs_mode": "processed_logprobs", "enable_sleep_mode": True}
    assert (wanted | modes | {"load_format": "dummy"}).items() <= llm.settings.items()


def test_without_sleep_nothing_is_given_back(engine):
    sampler, llm = engine(sleeps=False)
    sampler.release()
    assert llm.notes == []
    assert llm.settings["enable_sleep_mode"] is False


def test_nothing_is_sampled_without_weights(engine):
    sampler, llm = engine()
    with pytest.raises(ConfigError, match="also where a run is resumed"):
        sampler.generate([Request((7,), 5)])
    assert llm.notes == []


def test_an_engine_that_is_not_in_the_state_it_should_be_in_is_noticed(engine):
    sampler, llm = engine()
    sampler.update(list, 1)
    llm.resets = False
    with pytest.raises(ServerError, match="prefix cache"):
        sampler.generate([Request((7,), 5)])
    llm.resets = True
    sampler.generate([Request((7,), 5)])
    llm.version = "0"
    with pytest.raises(ServerError, match="not 1"):
        sampler.generate([Request((7,), 5)])
    llm.version = "1"
    with pytest.raises(ServerError, match="limit of tokens"):
        sampler.generate([Request((7,), 1)])


def test_several_workers_are_refused(engine, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ConfigError, match="vLLM server"):
        engine()


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "vllm", None)
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "1")
    with pytest.raises(DependencyError, match="pip install vllm"):
        VllmColocateSampler("folder", [END], context=64)
