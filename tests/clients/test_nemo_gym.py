"""NeMo Gym: its own agents play our rows on `rlvr serve --wire nemo-gym`."""

import json
import os
from pathlib import Path

import pytest
from fakes.served import Served

import rlvr_envs
from rlvr_envs.datasets.export import to_nemo_gym
from rlvr_envs.integrations.rows import open_rows

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/integrations/nemo_gym"

# Prints which servers NeMo Gym finds in a configuration.
SERVERS = """
import sys
from omegaconf import OmegaConf
from nemo_gym.global_config import GlobalConfigDictParser

config = OmegaConf.load(sys.argv[1])
for each in GlobalConfigDictParser().filter_for_server_instance_configs(config):
    print(each.name, each.SERVER_TYPE)
"""

# Runs the agents of the package, each on a port of its own as `gym env start` does, and a model
# that answers by a script: prompt → its replies in turn. Prints what /run replied.
AGENTS = """
import asyncio, json, os, socket, sys, threading, time, urllib.request
import uvicorn
from fastapi import FastAPI, Request
from omegaconf import OmegaConf
from nemo_gym.config_types import BaseServerConfig
from nemo_gym.global_config import NEMO_GYM_CONFIG_DICT_ENV_VAR_NAME
from nemo_gym.server_utils import ServerClient
from responses_api_agents.gymnasium_agent.app import GymnasiumAgent, GymnasiumAgentConfig
from responses_api_agents.simple_agent.app import SimpleAgent, SimpleAgentConfig

port, work = int(sys.argv[1]), json.load(open(sys.argv[2]))
model = FastAPI()

@model.post("/v1/responses")
async def responses(request: Request):
    said = [each["content"] for each in (await request.json())["input"] if each.get("role") == "user"]
    text = work["script"][said[0]][len(said) - 1]
    part = {"type": "output_text", "text": text, "annotations": []}
    message = {"id": "m", "type": "message", "role": "assistant", "status": "completed"}
    return {
        "id": "r", "created_at": 0, "model": "scripted", "object": "response",
        "output": [
            {"id": "t", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]},
            message | {"content": [part]},
        ],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
    }

def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]

places = {
    "rlvr_envs": ("resources_servers", port),
    "policy_model": ("responses_api_models", free_port()),
    "simple": ("responses_api_agents", free_port()),
    "gymnasium": ("responses_api_agents", free_port()),
}
known = {
    name: {kind: {name: {"host": "127.0.0.1", "port": number}}}
    for name, (kind, number) in places.items()
}
os.environ[NEMO_GYM_CONFIG_DICT_ENV_VAR_NAME] = OmegaConf.to_yaml(OmegaConf.create(known))
client = ServerClient(
    head_server_config=BaseServerConfig(host="127.0.0.1", port=1),
    global_config_dict=OmegaConf.create(known),
)

def agent(kind, config, name):
    made = kind(
        config=config(
            name=name, host="127.0.0.1", port=places[name][1], entrypoint="app.py",
            resources_server={"type": "resources_servers", "name": "rlvr_envs"},
            model_server={"type": "responses_api_models", "name": "policy_model"},
        ),
        server_client=client,
    )
    app = made.setup_webserver()
    made.setup_exception_middleware(app)
    return app

def server(app, name):
    config = uvicorn.Config(app, host="127.0.0.1", port=places[name][1], log_level="error")
    return uvicorn.Server(config)

# On one event loop, because a process of NeMo Gym has one HTTP client.
servers = [
    server(model, "policy_model"),
    server(agent(SimpleAgent, SimpleAgentConfig, "simple"), "simple"),
    server(agent(GymnasiumAgent, GymnasiumAgentConfig, "gymnasium"), "gymnasium"),
]

async def serve():
    await asyncio.gather(*(each.serve() for each in servers))

threading.Thread(target=asyncio.run, args=(serve(),), daemon=True).start()
while not all(each.started for each in servers):
    time.sleep(0.05)

def post(name, path, body):
    url = f"http://127.0.0.1:{places[name][1]}{path}"
    data = json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=120) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as error:
        return {"failed": error.code, "reason": error.read().decode()}

replies = [post(name, "/run", line) for name, line in work["runs"]]
judged = [
    {"_ng_task_index": i, **{k: v for k, v in each.items() if k not in ("response", "row")}}
    for i, each in enumerate(replies) if "failed" not in each
]
metrics = post("simple", "/aggregate_metrics", {"verify_responses": judged})
print("RESULT", json.dumps([replies, metrics]), flush=True)
os._exit(0)  # its HTTP client cannot be closed from here
"""


@pytest.fixture(scope="module")
def rows():
    """A row of one turn and one of several."""
    return open_rows(["Gcd-v0", "GuessNumber-v0"], count=2, difficulty="0")


@pytest.fixture(scope="module")
def served():
    with Served("Gcd-v0", "--wire", "nemo-gym") as server:
        yield server


def run(client, served, runs, script):
    """Return what the agents replied to runs, which are pairs of an agent and a row."""
    lines = [(agent, to_nemo_gym(row, "train", 0)) for agent, row in runs]
    path = client.folder / "work.json"
    path.write_text(json.dumps({"runs": lines, "script": script}))
    printed = client.run("-c", AGENTS, served.port, path)
    return json.loads(printed.rpartition("RESULT ")[2])


def solution(row):
    found = rlvr_envs.solve(row)
    return [found] if isinstance(found, str) else found


def test_its_agents_get_our_rewards(client, served, rows):
    single, several = rows
    script = {row["prompt"]: solution(row) for row in rows}
    runs = [("simple", single), ("gymnasium", single), ("gymnasium", several)]
    replies, metrics = run(client, served, runs, script)
    assert [reply["reward"] for reply in replies] == [1.0, 1.0, 1.0]
    verified, once, played = replies
    assert verified["mask_sample"] is False
    assert verified["verdict"]["status"] == "correct"
    assert json.loads(verified["row"]) == single
    assert once["info"]["status"] == "correct"
    assert once["terminated"] is True
    messages = [item for item in played["response"]["output"] if item["type"] == "message"]
    said = [item for item in messages if item["role"] == "assistant"]
    assert len(said) == len(solution(several))
    assert metrics["key_metrics"] == {"mean/reward": 1.0}
    assert metrics["agent_metrics"]["mean/is_correct"] == 1.0
    assert [group["_ng_task_index"] for group in metrics["group_level_metrics"]] == [0, 1, 2]


def test_a_wrong_answer_is_a_zero_and_no_mask(client, served, rows):
    single, several = rows
    script = {single["prompt"]: ["\\boxed{0}"], several["prompt"]: ["0"] * 50}
    replies, metrics = run(client, served, [("simple", single), ("gymnasium", several)], script)
    assert [reply["reward"] for reply in replies] == [0.0, 0.0]
    assert replies[0]["mask_sample"] is False
    assert replies[0]["verdict"]["status"] == "wrong"
    assert metrics["key_metrics"] == {"mean/reward": 0.0}


def test_the_single_turn_agent_may_not_play_several_turns(client, served, rows):
    _, several = rows
    script = {several["prompt"]: solution(several)}
    (reply,), _ = run(client, served, [("simple", several)], script)
    assert reply["failed"] == 500
    assert "gymnasium_agent" in reply["reason"]


def test_the_example_starts_our_server_where_gym_wants_it(client):
    found = client.run("-c", SERVERS, EXAMPLE / "rlvr_envs.yaml").split()
    assert found == [
        *("rlvr_envs", "resources_servers"),
        *("rlvr_envs_agent", "responses_api_agents"),
        *("rlvr_envs_gymnasium_agent", "responses_api_agents"),
    ]
    fake = client.folder / "rlvr"
    fake.write_text('#!/bin/sh\necho "$@"\n')
    fake.chmod(0o755)
    place = {"rlvr_envs": {"resources_servers": {"rlvr_envs": {"host": "127.0.0.1", "port": 7}}}}
    printed = client.run(
        EXAMPLE / "app.py",
        NEMO_GYM_CONFIG_DICT=json.dumps(place),
        NEMO_GYM_CONFIG_PATH="rlvr_envs",
        PATH=f"{client.folder}:{os.environ['PATH']}",
    )
    assert printed.split() == ["serve", "--wire", "nemo-gym", "--host", "127.0.0.1", "--port", "7"]
