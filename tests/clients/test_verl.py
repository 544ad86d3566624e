"""verl's own dataset, reward manager and agent loop worker with our rows."""

import json
from pathlib import Path

RUN = Path(__file__).with_name("verl_run.py")
GROUP = 4


def run(client, what, task, difficulty, suffix=""):
    client.command(
        "rlvr", "generate", task, "--count", 4, "--difficulty", difficulty, "--out", "d", "--quiet"
    )
    client.command("rlvr", "export", "--to", "verl", "d", "--split", "train", "--out", "d.parquet")
    return json.loads(client.run(RUN, what, f"d{suffix}.parquet").splitlines()[-1])


def test_the_reward_function_is_found_and_scores(client):
    said = run(client, "rewards", "Gcd-v0", 0)
    assert said["rows"] == 4
    right = {"score": 1.0, "acc": 1.0, "correct": 1.0, "scored": 1.0, "reward": 1.0}
    wrong = {"score": 0.0, "acc": 0.0, "correct": 0.0, "scored": 1.0, "reward": 0.0}
    assert said["told"] == [right, wrong, wrong | {"scored": 0.0}]


def test_the_agent_loop_plays_and_masks_what_the_environment_says(client):
    said = run(client, "episodes", "GuessNumber-v0", 1, ".interactive")
    assert said["faults"] == []
    rewards = sorted(reward for reward, _ in said["told"])
    assert rewards == [0.0] * GROUP + [1.0] * GROUP  # half of the episodes are given up
    assert max(turns for _, turns in said["told"]) > 4
    assert said["scored"] == [1.0] * 2 * GROUP
    assert said["asked"][0] == 1200  # data.max_response_length
    assert min(said["asked"]) < 1200  # what is left of it in later turns


def test_an_environment_that_breaks_is_not_trained_on(client):
    said = run(client, "broken", "GuessNumber-v0", 1, ".interactive")
    assert said == {"trained_on": 0, "rewards": [0.0] * 2 * GROUP, "scored": [0.0] * 2 * GROUP}


def test_the_example_scores(client):
    said = client.run(RUN.parents[2] / "examples" / "integrations" / "verl_reward.py")
    assert [line.count("'score': 1.0") for line in said.splitlines()] == [1, 0] * 3
