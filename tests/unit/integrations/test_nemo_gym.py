"""The calls of NeMo Gym's resources servers: what its agents do not meet every day."""

import json

import pytest

pytest.importorskip("fastapi", reason="needs the serve extra")

from fastapi.testclient import TestClient

from rlvr_envs import Verdict, make_problem, solve
from rlvr_envs.integrations import nemo_gym
from rlvr_envs.serving.app import Server, Settings
from rlvr_envs.serving.episodes import unjudged
from rlvr_envs.serving.rows import Judge

ROW = make_problem("Gcd-v0", seed=1, difficulty=0)
GAME = make_problem("GuessNumber-v0", seed=1, difficulty=0)


@pytest.fixture(scope="module")
def server():
    return Server(Settings(ids=("Gcd-v0",), routers=(nemo_gym.nemo_gym_router,), workers=1))


@pytest.fixture(scope="module")
def http(server):
    with TestClient(server) as client:
        yield client


def line(row, text=None):
    asked = {"input": [{"role": "user", "content": row["prompt"]}]}
    found = {"responses_create_params": asked, "row": json.dumps(row), "id": row["id"]}
    if text is not None:
        part = {"type": "output_text", "text": text}
        found["response"] = {"output": [{"type": "message", "content": [part]}]}
    return found


def test_what_could_not_be_judged_is_masked(http, monkeypatch):
    async def broken(*_):
        return Verdict.verifier_error("the verifier broke")

    monkeypatch.setattr(Judge, "one", broken)
    reply = http.post("/verify", json=line(ROW, "anything")).json()
    assert reply["mask_sample"] is True
    assert reply["failure_kind"] == "verifier_error"
    assert reply["failure_reason"] == "the verifier broke"
    assert reply["_ng_failure_class"] == "verifier_error"
    judged = {"reward": 1.0, "mask_sample": False, "_ng_task_index": 3}
    body = {"verify_responses": [reply, judged]}
    metrics = http.post("/aggregate_metrics", json=body).json()
    assert metrics["key_metrics"] == {"mean/reward": 1.0}
    assert metrics["group_level_metrics"] == [{"_ng_task_index": 3, "mean/reward": 1.0}]


def test_an_episode_that_could_not_be_judged_is_an_error(http, server, monkeypatch):
    async def broken(*_):
        return unjudged("the verifier broke")

    assert http.post("/reset", json=line(ROW)).status_code == 200
    monkeypatch.setattr(server.sessions, "step", broken)
    reply = http.post("/step", json=line(ROW, "anything"))
    assert reply.status_code == 503
    assert "the verifier broke" in reply.json()["detail"]
    assert len(server.sessions) == 0


def test_messages_count_and_reasoning_does_not(http):
    body = line(ROW, "so it is ")
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": solve(ROW)}]}
    body["response"]["output"].insert(0, thought)
    assert http.post("/verify", json=body).json()["reward"] == 0.0
    body["response"]["output"].append({"type": "message", "content": solve(ROW)})
    assert http.post("/verify", json=body).json()["reward"] == 1.0


def test_an_episode_keeps_its_session_and_ends_it(http, server):
    first = http.post("/reset", json=line(GAME)).json()
    assert first["observation"] is None  # the line holds the prompt
    assert first["info"]["supports_explicit_close"] is True
    assert len(server.sessions) == 1
    second = http.post("/step", json=line(GAME, "nothing")).json()
    assert second["observation"]
    assert (second["terminated"], second["truncated"]) == (False, False)
    for _ in range(2):  # again, as agents close what has ended
        assert http.post("/close", json={}).json() == {}
        assert len(server.sessions) == 0
    assert http.post("/step", json=line(GAME, "nothing")).status_code == 404


def test_a_line_without_a_prompt_gets_it_from_reset(http):
    body = line(GAME) | {"responses_create_params": {"input": []}}
    assert http.post("/reset", json=body).json()["observation"] == GAME["prompt"]
    http.post("/close", json={})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"row": "nonsense"}, "'row' is a row as JSON text"),
        ({"row": None}, "'row' is a row as JSON text"),
        ({"row": json.dumps({**ROW, "id": "Gcdd-v0"})}, "did you mean"),
        ({"row": json.dumps({**ROW, "problem": GAME["problem"]})}, "missing fields"),
        ({"row": json.dumps(GAME)}, "gymnasium_agent"),
    ],
)
def test_a_line_that_cannot_be_judged_says_why(http, change, message):
    reply = http.post("/verify", json=line(ROW, "1") | change)
    assert reply.status_code == 422
    assert message in reply.json()["detail"]
