"""The benchmark of the agent at toy size on the CPU: what it stores, and that like meets like."""

import importlib.util
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
GROUPS, SIZE, LIMIT = 4, 4, 16
TOY = (
    f"--size toy --device cpu --fork --groups {GROUPS} --group-size {SIZE} --prompt 16 "
    f"--tokens {LIMIT} --slots 8 --micro-tokens 128 --steps 1 --rounds 2"
).split()


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """The summary of all parts; TRL's continuous batching is left out, being slow on a CPU."""
    out = tmp_path_factory.mktemp("benchmark") / "grpo.json"
    ways = ["--ways", "ours*", "generate", "trl", "trl default"]
    command = [sys.executable, str(BENCHMARKS / "grpo.py"), *TOY, *ways, "--out", str(out)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    rates = json.loads(out.with_suffix(".raw.json").read_text("utf-8"))["samples"]
    return json.loads(out.read_text("utf-8")) | {"samples": rates}


def test_device_versions_and_command_are_stored(result):
    assert result["device"]["cores"] > 0
    assert "gpu" not in result["device"]
    assert result["versions"]["torch"] == torch.__version__
    assert result["command"].startswith("python benchmarks/grpo.py --size toy --device cpu")
    assert result["figures"]["parameters"] > 10_000


@pytest.mark.parametrize(
    ("part", "ways"),
    [
        ("rollout", {"ours eager", "generate"}),
        ("train", {"ours", "ours checkpointing"}),
        ("step", {"ours", "ours with generate"}),
    ],
)
def test_every_way_is_timed_in_every_round(result, part, ways):
    rows, samples = result["figures"][part]["ways"], result["samples"][part]["ways"]
    assert ways <= rows.keys()
    for name, row in rows.items():
        assert len(samples[name]["all_tokens_per_s"]) == 2
        low, high = row["spread"]
        assert 0 < low <= row["tokens_per_s"] <= high
        assert row["seconds"] > 0
        assert row["peak_gib"] is None  # of a GPU's memory


def test_all_samplers_sample_the_same_lengths(result):
    rows = result["figures"]["rollout"]["ways"]
    assert len({row["tokens"] for row in rows.values()}) == 1
    assert GROUPS * SIZE < rows["ours eager"]["tokens"] < GROUPS * SIZE * LIMIT
    assert 0.5 < rows["ours eager"]["utilisation"] <= 1


def test_what_needs_a_gpu_is_left_out_with_a_reason(result):
    assert "GPU" in result["figures"]["rollout"]["skipped"]["ours graph"]
    assert "GPU" in result["figures"]["rollout"]["skipped"]["generate static compiled"]


def test_our_gradient_is_trls_on_the_same_batch(result):
    rows, skipped = result["figures"]["train"]["ways"], result["figures"]["train"]["skipped"]
    assert rows["ours"]["grad_norm"] == pytest.approx(rows["ours checkpointing"]["grad_norm"])
    if skipped:
        assert skipped["trl"].startswith(("trl is not installed", "internals", "datasets"))
        pytest.skip(skipped["trl"])
    assert rows["trl"]["grad_norm"] == pytest.approx(rows["ours"]["grad_norm"], rel=1e-5)
    assert rows["trl"]["tokens"] == rows["ours"]["tokens"]
    assert result["figures"]["train"]["ratios"]["ours / trl"] > 0


def test_whole_steps_sample_ragged_lengths_and_train_on_them(result):
    row = result["figures"]["step"]["ways"]["ours"]
    assert 1 < row["mean_length"] < LIMIT
    assert row["tokens"] > GROUPS * SIZE * row["mean_length"]  # prompts count too
    assert min(row["sample_s"], row["seconds"]) > 0
    assert row["mismatch"] < 1e-5


# The modules


@pytest.fixture
def clock(monkeypatch):
    return module("grpo_clock", monkeypatch)


def module(name, monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, name, found)  # where a dataclass looks for its module
    spec.loader.exec_module(found)
    return found


class Way:
    """Says when it was called, and fails if it is told to."""

    def __init__(self, name, calls, *, fails_at=None):
        self.name, self.calls, self.fails_at, self.notes = name, calls, fails_at, {}

    def __call__(self, clock, seed):
        self.calls.append((self.name, seed))
        clock.mark()
        if seed == self.fails_at:
            raise RuntimeError("out of memory")
        clock.mark()
        return [5]


def test_ways_take_turns_and_each_begins_a_round(clock):
    calls = []
    makers = {name: lambda name=name: Way(name, calls) for name in "abc"}
    rows = clock.measure(makers, "cpu", 3, warm_ups=1, alone=False)
    assert [name for name, _ in calls] == list("abc" + "abc" + "bca" + "cab")
    assert [seed for name, seed in calls if name == "b"] == [0, 1, 2, 3]
    assert [len(row["all_tokens_per_s"]) for row in rows.values()] == [3, 3, 3]


def test_alone_every_round_makes_and_warms_up_anew(clock):
    calls, made = [], []

    def make(name):
        made.append(name)
        return Way(name, calls)

    makers = {name: lambda name=name: make(name) for name in "ab"}
    clock.measure(makers, "cpu", 2, warm_ups=1, alone=True)
    assert made == list("abba")
    assert calls == [("a", 0), ("a", 1), ("b", 0), ("b", 1), ("b", 0), ("b", 2), ("a", 0), ("a", 2)]


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("fails_at", [0, 2])  # the warm-up, and the second round
def test_what_fails_says_why_and_costs_no_other_result(clock, alone, fails_at):
    makers = {
        "bad": lambda: Way("bad", [], fails_at=fails_at),
        "good": lambda: Way("good", []),
    }
    rows = clock.measure(makers, "cpu", 2, warm_ups=1, alone=alone)
    assert rows["bad"] == {"failed": "RuntimeError: out of memory"}
    assert len(rows["good"]["all_tokens_per_s"]) == 2


def test_the_share_of_the_peak(clock):
    # 6 x 1e9 x 1e4 = 6e13 FLOP/s of 989e12.
    assert clock.mfu(1e4, 10**9, "NVIDIA H100 80GB HBM3") == pytest.approx(0.06067)
    assert clock.mfu(1e4, 10**9, "NVIDIA H100 PCIe") == pytest.approx(0.07937)
    assert clock.mfu(1e4, 10**9, "cpu") is None


def test_the_end_token_is_as_likely_as_it_should_be(monkeypatch):
    models = module("grpo_models", monkeypatch)
    work = models.Workload("toy", "cpu", GROUPS, SIZE, 16, LIMIT, 8, 128, 1)
    ids = torch.randint(2, 64, (8, 16), generator=torch.Generator().manual_seed(1))
    for end in (0.2, models.NEVER):
        with torch.no_grad():
            shares = work.model(torch.float32, end=end)(ids).logits.softmax(-1)
        assert shares[..., models.END].mean() == pytest.approx(end, rel=0.3)
        others = shares[..., models.END + 1 :]
        assert others.max() < 2 * others.min()
    assert max(work.limits) == LIMIT
    assert all(a.prompt != b.prompt for a, b in pairwise(work.requests[::SIZE]))
