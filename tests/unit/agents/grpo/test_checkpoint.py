"""Checkpoints: exact, whole after a kill at any moment, and refused where they would not load."""

import os
import random
import resource
import shutil
import signal
import time

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("safetensors.torch")

from rlvr_envs.agents.grpo.model import checkpoint  # noqa: E402  (it needs torch)
from rlvr_envs.agents.grpo.model.checkpoint import load_state, newest, save  # noqa: E402

torch.set_num_threads(1)
forks = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")


class Model:
    """Saves one file, as a model of transformers does."""

    def __init__(self, step, size=2000):
        self.weight = torch.full((size,), float(step))

    def save_pretrained(self, folder):
        safetensors.save_file({"weight": self.weight}, folder / "model.safetensors")


class Tokenizer:
    def save_pretrained(self, folder):
        (folder / "tokenizer.json").write_text("{}")


def write(folder, step, *, keep=2, size=2000, **state):
    state = {"step": step, "moments": [torch.full((size,), step + 0.5)], **state}
    return save(folder, step, state, Model(step, size), Tokenizer(), keep=keep)


def assert_whole(path):
    state = load_state(path)
    step = state["step"]
    assert path.name.startswith(f"step-{step:08d}")
    assert (state["moments"][0] == step + 0.5).all()
    weight = safetensors.load_file(path / "model.safetensors")["weight"]
    assert (weight == step).all()
    assert (path / "tokenizer.json").read_text() == "{}"


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_what_was_saved_is_loaded_and_the_oldest_go(tmp_path):
    folder = tmp_path / "run" / "checkpoints"
    assert newest(folder) is None
    for step in (0, 5, 100_000_000, 10):  # numbers of different lengths are ordered as numbers
        path = write(folder, step, keep=3)
        assert path.parent == folder
        assert_whole(path)
    assert names(folder) == ["step-00000005", "step-00000010", "step-100000000"]
    assert newest(folder) == folder / "step-100000000"


def test_a_second_checkpoint_of_a_step_is_the_newer_one(tmp_path):
    for number in range(11):
        write(tmp_path, 7, keep=2, number=number)
    assert newest(tmp_path) == tmp_path / "step-00000007-11"
    assert load_state(newest(tmp_path))["number"] == 10
    assert names(tmp_path) == ["step-00000007-10", "step-00000007-11"]


def test_a_state_of_every_kind_comes_back_the_same(tmp_path):
    generator = np.random.default_rng(3).bit_generator.state  # numbers of 128 bits
    state = {
        "nested": {1: [True, None, "é", 0.1, -(2**200)], "tuple": (1, (2.5, "x"))},
        "tensors": {"half": torch.ones(2, dtype=torch.bfloat16), "none": torch.zeros(0, 3)},
        "generator": generator,
        "nan": float("nan"),
    }
    path = save(tmp_path, 1, state, Model(1), Tokenizer(), keep=1)
    loaded = load_state(path)
    assert loaded["nested"] == state["nested"]
    assert loaded["generator"] == generator
    assert loaded["nan"] != loaded["nan"]
    for name, tensor in state["tensors"].items():
        assert torch.equal(loaded["tensors"][name], tensor)
        assert loaded["tensors"][name].dtype == tensor.dtype


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": [np.zeros(2)]}, r"state\['a'\]\[0\] is a ndarray"),
        ({"a": np.float64(1.0)}, "is a float64"),
        ({(1, 2): 0}, "has a key"),
        ({"a": {1}}, "is a set"),
        ({"a": Model(1)}, "is a Model"),
    ],
)
def test_what_would_not_load_is_refused_before_anything_is_written(tmp_path, value, told):
    with pytest.raises(ConfigError, match=told):
        save(tmp_path, 1, value, Model(1), Tokenizer(), keep=1)
    assert names(tmp_path) == []


@pytest.mark.parametrize(("step", "keep"), [(-1, 1), (1, 0)])
def test_numbers_out_of_range(tmp_path, step, keep):
    with pytest.raises(ConfigError, match="need step >= 0 and keep >= 1"):
        write(tmp_path, step, keep=keep)


def test_the_generators_go_on_as_they_would_have(tmp_path):
    def draw():
        return (
            torch.rand(3).tolist(),
            np.random.rand(3).tolist(),  # noqa: NPY002 - what others may draw from
            random.random(),
            random.gauss(0, 1),
        )

    random.gauss(0, 1)  # leaves a second number for the next call
    np.random.randn()  # noqa: NPY002 - so does this
    path = write(tmp_path, 1, rng=checkpoint.rng_state())
    wanted = draw(), np.random.randn()  # noqa: NPY002
    torch.manual_seed(99)
    checkpoint.set_rng_state(load_state(path)["rng"])
    assert (draw(), np.random.randn()) == wanted  # noqa: NPY002


def test_training_goes_on_bit_for_bit(tmp_path):
    def start():
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 4)
        return model, torch.optim.AdamW(model.parameters(), lr=0.1)

    def train(model, optimizer):
        for _ in range(3):
            optimizer.zero_grad()
            (model(torch.randn(2, 4)) ** 2).sum().backward()
            optimizer.step()

    model, optimizer = start()
    train(model, optimizer)
    state = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "rng": checkpoint.rng_state(),
    }
    path = save(tmp_path, 3, state, Model(3), Tokenizer(), keep=1)
    train(model, optimizer)
    again, other = start()
    loaded = load_state(path)
    again.load_state_dict(loaded["model"])
    other.load_state_dict(loaded["optimizer"])
    checkpoint.set_rng_state(loaded["rng"])
    train(again, other)
    assert torch.equal(again.weight, model.weight)


def test_a_checkpoint_older_than_what_is_there_is_kept(tmp_path):
    write(tmp_path, 9, keep=1)
    assert_whole(write(tmp_path, 3, keep=1))


# Whole at any moment


def in_child(work):
    """Fork, run `work` there, and return the child's id."""
    child = os.fork()
    if child:
        return child
    try:
        work()
    finally:
        os._exit(0)


@forks
def test_a_kill_at_any_moment_leaves_a_checkpoint_that_loads(tmp_path):
    write(tmp_path, 0)

    def work():
        first = load_state(newest(tmp_path))["step"] + 1
        for step in range(first, first + 10_000):
            write(tmp_path, step, size=200_000)

    rng = random.Random(0)
    unfinished, reached = 0, set()
    for _ in range(40):
        child = in_child(work)
        time.sleep(rng.uniform(0.0, 0.06))
        os.kill(child, signal.SIGKILL)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        path = newest(tmp_path)
        assert_whole(path)
        reached.add(path.name)
        unfinished += any(name.startswith(".") for name in names(tmp_path))
    assert unfinished >= 5, "no kill came while a checkpoint was written"
    assert len(reached) >= 5
    write(tmp_path, 20_000)
    assert names(tmp_path) == [path.name, "step-00020000"]  # swept up


@pytest.mark.parametrize("doing", ["rename", "fsync", "rmtree"])
@forks
def test_a_kill_just_before_each_step(tmp_path, monkeypatch, doing):
    """Where a random moment hardly hits: between two calls."""
    for step in (1, 2):
        write(tmp_path, step)
    place = {"rename": checkpoint.Path, "fsync": os, "rmtree": shutil}[doing]
    actual = getattr(place, doing)

    def killed(at):
        calls = []

        def call(*args, **kwargs):
            calls.append(1)
            if len(calls) == at:
                os.kill(os.getpid(), signal.SIGKILL)
            return actual(*args, **kwargs)

        monkeypatch.setattr(place, doing, call)
        write(tmp_path, 3 + at)

    kills = 0
    for at in range(1, 20):
        child = in_child(lambda at=at: killed(at))
        kills += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        assert_whole(newest(tmp_path))
    assert kills >= 2


@pytest.mark.parametrize("size", [20_000, 2000])
@forks
def test_a_full_disk_is_said_and_leaves_what_was_there(tmp_path, size):
    """A limit on the size of a file stands in: first the weights, then the state hit it."""
    write(tmp_path, 1)
    report = tmp_path / "report"

    def work():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
        try:
            write(tmp_path, 2, size=size, more=torch.zeros(20_000))
        except OSError as error:
            report.write_text(str(error))

    os.waitpid(in_child(work), 0)
    assert "could not be written" in report.read_text()
    assert "MB free there; those before it are whole" in report.read_text()
    report.unlink()
    assert names(tmp_path) == ["step-00000001"]
    assert_whole(newest(tmp_path))


def test_an_interrupted_save_is_swept_up(tmp_path):
    class Interrupted(Model):
        def save_pretrained(self, folder):
            raise KeyboardInterrupt

    write(tmp_path, 1)
    with pytest.raises(KeyboardInterrupt):
        save(tmp_path, 2, {}, Interrupted(2), Tokenizer(), keep=1)
    assert names(tmp_path) == ["step-00000001"]


def test_other_things_in_the_folder_are_let_be(tmp_path):
    write(tmp_path, 3)
    (tmp_path / "step-00000009").mkdir()  # without a state
    for name in ("step-9", "step-0000000x", "best", "step-00000009-"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "state.pt").write_text("")
    before = names(tmp_path)
    assert newest(tmp_path) == tmp_path / "step-00000003"
    write(tmp_path, 4, keep=1)
    assert names(tmp_path) == sorted({*before, "step-00000004"} - {"step-00000003"})


def test_a_damaged_state_and_one_that_would_run_code(tmp_path):
    path = write(tmp_path, 1)
    whole = (path / "state.pt").read_bytes()
    (path / "state.pt").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ConfigError, match="no checkpoint that can be read"):
        load_state(path)
    torch.save({"run": os.getcwd}, path / "state.pt")
    with pytest.raises(ConfigError, match="no checkpoint that can be read"):
        load_state(path)
    with pytest.raises(ConfigError, match="no checkpoint that can be read"):
        load_state(tmp_path)


# Models of transformers


@pytest.fixture
def make():
    transformers = pytest.importorskip("transformers")

    def llama(seed, rank=0):
        torch.manual_seed(seed)
        config = transformers.LlamaConfig(
            vocab_size=20,
            hidden_size=8,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            tie_word_embeddings=True,
        )
        model = transformers.LlamaForCausalLM(config)
        if not rank:
            return model
        peft = pytest.importorskip("peft")
        return peft.get_peft_model(
            model, peft.LoraConfig(r=rank, target_modules="all-linear", init_lora_weights=False)
        )

    return llama


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")
@pytest.mark.parametrize("rank", [0, 2])
def test_weights_come_back_bit_for_bit(tmp_path, make, rank):
    model, other = make(1, rank), make(1, rank)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.add_(torch.randn_like(parameter))
    path = save(tmp_path, 1, {}, model, Tokenizer(), keep=1)
    assert not all(map(torch.equal, model.parameters(), other.parameters()))
    checkpoint.load_weights(path, other)
    assert all(map(torch.equal, model.parameters(), other.parameters()))
    with pytest.raises(ConfigError, match="lora_rank does not fit"):
        checkpoint.load_weights(path, make(1, 0 if rank else 2))
    (path / ("adapter_model.safetensors" if rank else "model.safetensors")).write_bytes(b"{}")
    with pytest.raises(ConfigError, match="cannot be loaded"):
        checkpoint.load_weights(path, other)
