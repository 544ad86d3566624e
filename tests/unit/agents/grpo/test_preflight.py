"""Bad settings are refused before anything is loaded."""

import pytest

from rlvr_envs.agents.grpo import plugins, preflight
from rlvr_envs.agents.grpo.config import Config
from rlvr_envs.agents.grpo.presets import preset, recipes
from rlvr_envs.core.errors import ConfigError, DependencyError, RlvrEnvsError
from rlvr_envs.curricula import Proposal


@pytest.fixture
def good(tmp_path):
    return preset(tasks=("Gcd-v0",), out=str(tmp_path / "run"), device="cpu")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"tasks": ()}, "nothing to train on"),
        ({"tasks": ("Gdc-v0",)}, "did you mean"),
        ({"difficulty": "9-3"}, "empty"),
        ({"knobs": ("no_such=1",)}, "no_such"),
        ({"knobs": ("nothing",)}, "name=value"),
        ({"group_size": 1}, "group_size is from 2"),
        ({"group_size": 1, "estimator": "rloo"}, "group_size is from 2"),
        ({"group_size": 8, "estimator": "mc_grpo"}, "odd"),
        ({"group_size": 1, "estimator": "reinforce", "dynamic_sampling": True}, "differ"),
        ({"minibatches": 1000}, "episodes of a step"),
        ({"steps": 0}, "steps is from 1, got 0"),
        ({"temperature": 0.0}, "temperature is above 0"),
        ({"learning_rate": float("nan")}, "learning_rate is above 0"),
        ({"loss": "clipped(low=-0.1)"}, "low from 0 to 1"),
        ({"loss": "clipped(dual=1.0)"}, "dual is at least"),
        ({"correction": "truncate(most=0.5)"}, "most is from 1"),
        ({"reference_every": 5}, "kl=none"),
        ({"overlong": "penalty", "overlong_buffer": 999}, "overlong_buffer"),
        ({"estimator": "trloo", "loss": "gspo"}, "more than one advantage"),
        ({"estimator": "trloo", "aggregation": "balanced"}, "more than one advantage"),
        ({"estimator": "tempo", "loss": "gspo"}, "more than one advantage"),
        ({"estimator": "drpo", "group_size": 1}, "group_size is from 2"),
        ({"callbacks": ("hint_after_failure",)}, "HintOnRequest"),
        ({"weights": (1.0, 2.0)}, "one for each of the 1 tasks"),
        ({"tasks": ("Gcd-v0", "rlvr/Gcd-v0")}, "once"),
        ({"betas": (0.9, 1.0)}, "betas are from 0"),
        ({"out": __file__ + "/run"}, "cannot be written to"),
        ({"wrappers": ("Noise",)}, "no wrapper 'Noise'"),
        ({"device": "cuda"}, "GPU"),
        ({"context": 2}, "raise context"),
        ({"wrappers": ("NoSuch",)}, "no wrapper"),
        ({"model": "./no/such/folder"}, "no model folder"),
        ({"stop_after": 0}, "stop_after"),
    ],
)
def test_what_cannot_work_is_said(good, changed, told, monkeypatch):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(RlvrEnvsError, match=told):
        preflight.check(good.replace(**changed))


def test_what_can_work_passes(good):
    preflight.check(good)
    preflight.check(good.replace(group_size=1, estimator="reinforce"))
    preflight.check(good.replace(group_size=1, estimator="ngrpo"))


def test_a_run_of_an_evaluation_stays_alone(good, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    with pytest.raises(ConfigError, match="holds a run of `rlvr eval`"):
        preflight.check(good)


def test_a_run_is_not_overwritten(good, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match="holds a run already"):
        preflight.check(good)
    preflight.check(good.replace(resume=True))
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="is a file"):
        preflight.check(good.replace(out=str(tmp_path / "file")))


def test_a_folder_without_rights_is_refused(good, tmp_path, monkeypatch):
    # by what the system says of it: whoever runs the tests may have all rights
    monkeypatch.setattr(preflight.os, "access", lambda path, _: path != tmp_path)
    with pytest.raises(ConfigError, match=f"{tmp_path} cannot be written to"):
        preflight.check(good.replace(out=str(tmp_path / "a" / "run")))


def test_missing_packages_are_named(good, monkeypatch):
    there = preflight.find_spec
    monkeypatch.setattr(
        preflight, "find_spec", lambda name: None if name in ("peft", "trackio") else there(name)
    )
    with pytest.raises(DependencyError, match="peft: pip install 'peft>="):
        preflight.check(good.replace(lora_rank=4))
    with pytest.raises(DependencyError, match="pip install trackio"):
        preflight.check(good.replace(report=("trackio",)))


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
    monkeypatch.setattr(preflight, "_check_chat", lambda *_: None)  # there is no tokenizer
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (n_weights * 18, 0))
    preflight.check(good.replace(model=str(tmp_path)))
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda: (n_weights * 18 - 1, 0))
    with pytest.raises(ConfigError, match=r"0\.0 GiB are free on the GPU: take lora_rank"):
        preflight.check(good.replace(model=str(tmp_path)))
    preflight.check(good.replace(model=str(tmp_path), lora_rank=4))


def test_no_hub_is_asked_for_the_size_of_a_file(tmp_path, monkeypatch):
    transformers = pytest.importorskip("transformers")

    def asked(name):
        raise AssertionError(f"{name} was looked up")

    monkeypatch.setattr(transformers.AutoConfig, "from_pretrained", asked)
    file = tmp_path / "model.gguf"
    file.touch()
    assert preflight._count_weights(str(file)) is None
    assert preflight._count_weights("tiny") is None
    with pytest.raises(AssertionError, match="some/model was looked up"):
        preflight._count_weights("some/model")


@pytest.mark.parametrize("name", [each.name for each in recipes()])
def test_presets_pass_with_a_task(name, good):
    games = preset(name).sampling.self_play
    tasks = ("Nim-v0",) if games else good.data.tasks
    preflight.check(preset(name, tasks=tasks, out=good.output.out))


def test_presets_set_what_they_say():
    assert preset("gspo").loss.name == "gspo"
    assert preset("dapo").sampling.dynamic_sampling
    assert preset("default") == Config()
    with pytest.raises(ConfigError, match="no preset 'dappo'; did you mean 'dapo'"):
        preset("dappo")


ONE_QUESTION = (
    "{% if messages|length > 2 %}{{ raise_exception('one question only') }}{% endif %}"
    "{% for m in messages %}{{ m.content }}</s>{% endfor %}"
)


def test_a_template_that_cannot_frame_the_tasks_is_refused_by_the_tokenizer_alone(good, tmp_path):
    pytest.importorskip("transformers")
    from rlvr_envs.agents.grpo.model.tiny import tiny_model

    model, tokenizer = tiny_model(["one question", "and 1 answer"], seed=0)
    folder = tmp_path / "model"
    model.config.save_pretrained(folder)  # and no weights
    tokenizer.save_pretrained(folder)
    template = tmp_path / "template.jinja"
    template.write_text(ONE_QUESTION)
    plain = good.replace(model=str(folder))
    preflight.check(plain)
    preflight.check(plain.replace(template=str(template)))
    with pytest.raises(ConfigError, match="template"):
        preflight.check(plain.replace(template=str(template), tasks=("GuessNumber-v0",)))
    with pytest.raises(ConfigError, match="template_args"):
        preflight.check(plain.replace(template_args=("enable_thinking=false",)))


def test_a_callback_is_a_subclass_of_callback(good, monkeypatch):
    monkeypatch.setattr(plugins.callback, "_plugins", dict(plugins.callback._plugins))

    @plugins.callback
    def no_callback():
        return 3

    with pytest.raises(ConfigError, match="no_callback makes a int: it is to be a subclass"):
        preflight.check(good.replace(callbacks=("no_callback",)))


class Proposes:
    """The least that is a curriculum."""

    def propose(self):
        return Proposal()

    def record(self, task, difficulty, scores, problem=None):
        pass

    def end_step(self):
        pass

    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass


BAD_CURRICULA = [
    ({"propose": lambda self: None}, "is to propose a Proposal, got None"),
    ({"end_step": None}, "which has no end_step"),
    (
        {"record": lambda self, task, scores: None},
        r"called as record\(task, difficulty, scores, problem\)",
    ),
    ({"state_dict": lambda self: {"seen": {1}}}, "keep its state as JSON"),
]


@pytest.mark.parametrize(("changed", "told"), [({}, ""), *BAD_CURRICULA])
def test_a_curriculum_does_what_a_trainer_asks(good, monkeypatch, changed, told):
    monkeypatch.setattr(plugins.curriculum, "_plugins", dict(plugins.curriculum._plugins))
    kind = type("Changed", (Proposes,), changed)

    @plugins.curriculum
    def mine():
        return kind()

    config = good.replace(curriculum="mine")
    if told:
        with pytest.raises(ConfigError, match=told):
            preflight.check(config)
    else:
        preflight.check(config)
