"""TRL's own trainer with our dataset, reward function, rollouts and environments."""

import json
from pathlib import Path

import pytest

RUN = Path(__file__).with_name("trl_run.py")


def run(client, what):
    said = client.run(RUN, what, TRL_EXPERIMENTAL_SILENCE="1")
    return json.loads(said.splitlines()[-1])


def test_one_turn_is_scored_and_what_cannot_be_scored_is_left_out(client):
    told = run(client, "one_turn")
    assert told["groups_share_their_row"]
    assert told["groups_differ"]
    assert told["scores"] == [[0.0, 1.0] * 5 + [0.0, None]] * 2
    assert told["rewards"] == pytest.approx([5 / 11] * 2)
    for advantages in told["advantages"]:
        assert [value > 0 for value in advantages] == [False, True] * 5 + [False, False]
        assert advantages[-1] == 0  # the unscored one; the other three of its group are used
        assert all(advantages[:-1])
    assert min(told["grad_norms"]) > 0


@pytest.mark.parametrize("what", ["rollout", "rollout_in_chat"])
def test_a_rollout_of_several_turns_masks_what_the_environment_says(client, what):
    told = run(client, what)
    assert told["faults"] == []
    assert told["groups_share_their_row"]
    assert told["groups_differ"]
    assert max(map(max, told["turns"])) > 1
    assert all(0 < reward < 1 for reward in told["rewards"])
    assert min(told["grad_norms"]) > 0


def test_environments_are_played_by_a_tool(client):
    told = run(client, "environments")
    assert told["groups_share_their_row"]
    assert told["groups_differ"]
    assert told["metrics"]["tools/failure_frequency"] == 0
    assert told["metrics"]["tools/call_frequency"] > 1
    assert told["metrics"]["rewards/TextEpisode/mean"] == 0.5  # half of a group gives up
    assert told["masked"] == [True, True]
    assert min(told["grad_norms"]) > 0


@pytest.mark.parametrize("example", ["trl_one_turn", "trl_several_turns"])
def test_the_example_trains_and_stores_the_model(client, example):
    client.run(RUN, "start")  # a model of random weights
    path = RUN.parents[2] / "examples" / "integrations" / f"{example}.py"
    assert len(path.read_text("utf-8").splitlines()) <= 60
    said = client.run(path, "--model", "start", "--steps", "2", "--groups", "2")
    assert "'reward'" in said
    assert (client.folder / "runs/trl/model.safetensors").is_file()
