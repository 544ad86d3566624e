"""OpenRLHF's own executors with our reward function and agent."""

import json
from pathlib import Path

RUN = Path(__file__).with_name("openrlhf_run.py")


def run(client, what, task, difficulty, suffix=""):
    client.command(
        "rlvr", "generate", task, "--count", 4, "--difficulty", difficulty, "--out", "d", "--quiet"
    )
    client.command(
        "rlvr", "export", "--to", "openrlhf", "d", "--split", "train", "--out", "d.jsonl"
    )
    return json.loads(client.run(RUN, what, f"d{suffix}.jsonl").splitlines()[-1])


def test_the_reward_function_judges_what_stands_behind_the_prompt(client):
    said = run(client, "one_turn", "Gcd-v0", 0)
    # Right, wrong, right behind a prompt that was cut, and not scored.
    assert said["told"] == [[1.0, 1.0], [0.0, 1.0], [1.0, 1.0], [0.0, 0.0]]


def test_the_agent_plays_and_marks_what_the_model_wrote(client):
    said = run(client, "episodes", "GuessNumber-v0", 1, ".interactive")
    assert said["faults"] == []
    assert [reward for reward, _ in said["told"]] == [1.0, 0.0, 1.0, 0.0]
    assert max(turns for _, turns in said["told"]) > 1
    assert said["unscored"] == [0.0, [], 0.0]  # no token is trained on


def test_the_example_scores(client):
    said = client.run(RUN.parents[2] / "examples" / "integrations" / "openrlhf_reward.py")
    assert [line.split()[-1] for line in said.splitlines()] == ["1.0", "0.0"] * 3
