"""Bad settings are refused before anything is loaded."""

from dataclasses import replace

import pytest

from rlvr_envs.agents.grpo import preflight
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.presets import PRESETS, preset
from rlvr_envs.core.errors import ConfigError, DependencyError, RlvrEnvsError


@pytest.fixture
def good(tmp_path):
    return Config(tasks=("Gcd-v0",), out=str(tmp_path / "run"), device="cpu")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"tasks": ()}, "nothing to train on"),
        ({"tasks": ("Gdc-v0",)}, "did you mean"),
        ({"difficulty": "9-3"}, "empty"),
        ({"knobs": ("no_such=1",)}, "no_such"),
        ({"knobs": ("nothing",)}, "name=value"),
        ({"group_size": 1}, "group_size is from 2"),
        ({"group_size": 1, "advantage": "rloo"}, "group_size is from 2"),
        ({"group_size": 8, "advantage": "mc_grpo"}, "odd"),
        ({"group_size": 1, "advantage": "reinforce", "dynamic_sampling": True}, "differ"),
        ({"minibatches": 1000}, "episodes of a step"),
        ({"steps": 0}, "steps is from 1, got 0"),
        ({"temperature": 0.0}, "temperature is above 0"),
        ({"learning_rate": float("nan")}, "learning_rate is above 0"),
        ({"clip_low": -0.1}, "clip_low is from 0"),
        ({"clip_dual": 1.0}, "clip_dual is at least"),
        ({"mismatch_limit": 0.5}, "mismatch_limit is from 1.0"),
        ({"reference_every": 5}, "kl=none"),
        ({"overlong": "penalty", "overlong_buffer": 999}, "overlong_buffer"),
        ({"advantage": "trloo", "ratio": "sequence"}, "ratio=token"),
        ({"advantage": "trloo", "aggregation": "balanced"}, "one for an answer"),
        ({"advantage": "tempo_experimental", "ratio": "sequence"}, "ratio=token"),
        ({"advantage": "trloo", "ace_experimental": 1.0, "kl": "k3"}, "whole answers"),
        ({"ace_experimental": 1.0}, "there is none with kl=none"),
        ({"ace_experimental": -1.0}, "ace_experimental is from 0"),
        ({"advantage": "drpo", "length_temperature": 0.0}, "length_temperature is above 0"),
        ({"advantage": "drpo", "group_size": 1}, "group_size is from 2"),
        ({"advantage": "psr", "overlong": "penalty"}, "overlong=mask"),
        ({"betas": (0.9, 1.0)}, "betas are from 0"),
        ({"out": __file__ + "/run"}, "cannot be written to"),
        ({"wrappers": ("Noise",)}, "no wrapper 'Noise'"),
        ({"engine": "server"}, "engine=server needs server"),
        ({"engine": "server", "server": "http://x", "server_model": "m"}, "server_update"),
        ({"device": "cuda"}, "GPU"),
        ({"context": 2}, "raise context"),
        ({"curriculum": "none_such"}, "no curriculum"),
        ({"wrappers": ("NoSuch",)}, "no wrapper"),
        ({"model": "./no/such/folder"}, "no model folder"),
        ({"stop_after": 0}, "stop_after"),
    ],
)
def test_what_cannot_work_is_said(good, changed, told):
    with pytest.raises(RlvrEnvsError, match=told):
        preflight.check(replace(good, **changed))


def test_what_can_work_passes(good):
    preflight.check(good)
    preflight.check(replace(good, group_size=1, advantage="reinforce"))
    preflight.check(replace(good, group_size=1, advantage="ngrpo"))


def test_a_run_is_not_overwritten(good, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match="holds a run already"):
        preflight.check(good)
    preflight.check(replace(good, resume=True))
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="is a file"):
        preflight.check(replace(good, out=str(tmp_path / "file")))


def test_a_folder_without_rights_is_refused(good, tmp_path, monkeypatch):
    # by what the system says of it: whoever runs the tests may have all rights
    monkeypatch.setattr(preflight.os, "access", lambda path, _: path != tmp_path)
    with pytest.raises(ConfigError, match=f"{tmp_path} cannot be written to"):
        preflight.check(replace(good, out=str(tmp_path / "a" / "run")))


def test_missing_packages_are_named(good, monkeypatch):
    there = preflight.find_spec
    monkeypatch.setattr(
        preflight, "find_spec", lambda name: None if name in ("peft", "trackio") else there(name)
    )
    with pytest.raises(DependencyError, match="peft: pip install 'peft>="):
        preflight.check(replace(good, lora_rank=4))
    with pytest.raises(DependencyError, match="pip install trackio"):
        preflight.check(replace(good, report=("trackio",)))


def test_a_model_that_is_too_large_for_the_gpu_is_refused(good, tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    (tmp_path / "config.json").write_text(
        '{"model_type": "llama", "hidden_size": 64, "intermediate_size": 64, "vocab_size": 100, '
        '"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 2}'
    )
    # 2 layers of 4 * 64 * 64 and 3 * 64 * 64 and two norms, embeddings twice, a last norm
    n_weights = 2 * (7 * 64 * 64 + 2 * 64) + 2 * 100 * 64 + 64
    assert preflight._count_weights(str(tmp_path)) == n_weights
    monkeypatch.setattr(preflight, "pick_device", lambda _: "cuda")
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (n_weights * 18, 0))
    preflight.check(replace(good, model=str(tmp_path)))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (n_weights * 18 - 1, 0))
    with pytest.raises(ConfigError, match=r"0\.0 GiB are free on the GPU: take lora_rank"):
        preflight.check(replace(good, model=str(tmp_path)))
    preflight.check(replace(good, model=str(tmp_path), lora_rank=4))


@pytest.mark.parametrize("name", PRESETS)
def test_presets_pass_with_a_task(name, good):
    preflight.check(replace(preset(name), tasks=good.tasks, out=good.out))


def test_presets_set_what_they_say():
    assert preset("gspo").ratio == "sequence"
    assert preset("dapo").dynamic_sampling
    assert preset("default") == Config()
    with pytest.raises(ConfigError, match="no preset 'dappo'; did you mean 'dapo'"):
        preset("dappo")
