"""ms-swift's own GRPO with our reward function and dataset."""

import json
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("swift_run.py")
BENCH = Path(__file__).with_name("bench_swift_run.py")
ROOT = RUN.parents[2]


def test_grpo_is_scored_by_rows(client):
    told = json.loads(client.run(RUN).splitlines()[-1])
    assert told["registered"]
    assert told["groups"] == [[1, 1, 1]] * 2  # the members of a group share their row
    assert told["problems"] == [3, 3]
    assert told["scores"] == [[0.0, 1.0] * 5 + [0.0, None]] * 2
    assert told["rewards"] == pytest.approx([5 / 12] * 2)  # ms-swift counts None as 0
    assert min(told["grad_norms"]) > 0


def test_the_command_line_finds_the_reward_and_the_example_trains(client):
    client.run(RUN)  # leaves a model of random weights and a dataset
    (client.folder / "plugin.py").write_text("import rlvr_envs.integrations.swift\n", "utf-8")
    said = client.command(
        "swift",
        *("rlhf", "--rlhf_type", "grpo", "--reward_funcs", "rlvr"),
        *("--external_plugins", "plugin.py", "--dataset", "train.jsonl", "--model", "start"),
        *("--model_type", "llama", "--template", "dummy", "--use_chat_template", "false"),
        *("--tuner_type", "full", "--torch_dtype", "float32", "--max_steps", "1"),
        *("--per_device_train_batch_size", "4", "--num_generations", "4"),
        *("--max_completion_length", "8", "--save_strategy", "no", "--report_to", "none"),
        *("--logging_steps", "1", "--use_hf", "true", "--output_dir", "out"),
    )
    assert "rewards/RowScore/mean" in said
    example = ROOT / "examples" / "integrations" / "swift_one_turn.py"
    assert len(example.read_text("utf-8").splitlines()) <= 60
    client.run(example, "--model", "start", "--steps", "2", "--groups", "2")
    assert (client.folder / "runs/swift/model.safetensors").is_file()


def test_the_benchmark_trains_and_counts_it_as_our_agent(client):
    path = f"{ROOT / 'benchmarks'}:{ROOT / 'tests'}"
    told = json.loads(client.run(BENCH, PYTHONPATH=path).splitlines()[-1])
    updates = told["updates"]
    assert updates.pop("another") > 1e-2
    assert updates.pop("takes") > 1e-2  # ms-swift's Adam goes on where nothing has an advantage
    assert set(updates) == {"default", "dr_grpo", "grpo", "epochs", "skips"}
    assert max(updates.values()) < 1e-3
    ended = [False, True]  # some answers are cut off
    assert told["tokens"] == {"tokens": True, "lengths": True, "texts": True, "ended": ended}
    assert told["cut"] == [False] * 4  # every token may be drawn
    sampled = told["sampled"]
    used = [(samples, tokens) for samples, tokens, _ in told["points"]]
    assert used == [(0, 0), (32, 2 * sum(sampled[:2])), (64, 2 * sum(sampled))]
    assert 0 < told["points"][1][2] < told["points"][2][2]
    assert told["learned"]
    message, checkpoints = told["spent"]
    assert "16 more episodes go beyond the budget of 64" in message
    assert checkpoints == 2  # what was due is there
