"""A server that poses certain problems, and so many episodes of them."""

import asyncio
import json

import pytest
from patience import PATIENCE_S

pytest.importorskip("fastapi", reason="needs the serve extra")

from starlette.testclient import TestClient

import rlvr_envs
from rlvr_envs.cli import serve
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.serving.app import Server, Settings
from rlvr_envs.serving.quota import Quota
from rlvr_envs.serving.sessions import WireError

TASKS = ("rlvr/Gcd-v0", "rlvr/GuessNumber-v0")
EPISODES = 6


@pytest.fixture(scope="module")
def rows():
    found = [rlvr_envs.make_problem(task, seed=seed) for task in TASKS for seed in range(3)]
    for row in found:
        del row["reference"]
    return found


@pytest.fixture
def client(rows):
    settings = Settings(quota=Quota(rows, EPISODES), rows=False, workers=1)
    with TestClient(Server(settings)) as client:
        yield client


def shown(client, what):
    lines = client.get("/metrics").text.splitlines()
    (line,) = [line for line in lines if line.startswith(f"rlvr_episodes_{what} ")]
    return float(line.split()[1])


def reset(client, env="Gcd-v0", **data):
    return client.post(f"/e/{env}/reset", json=data)


def prompts(rows, task):
    return [row["prompt"] for row in rows if row["id"] == task]


def test_only_the_problems_are_posed_and_their_tasks_served(client, rows):
    assert client.get("/list_environments").json() == ["Gcd-v0", "GuessNumber-v0"]
    posed = {reset(client).json()["observation"]["text"] for _ in range(EPISODES)}
    assert posed <= set(prompts(rows, TASKS[0]))
    assert client.post("/e/Sudoku-v0/reset", json={}).status_code == 404


def test_a_problem_is_named_by_its_number_or_its_seed(client, rows):
    for index, prompt in enumerate(prompts(rows, TASKS[0])):
        assert reset(client, index=index).json()["observation"]["text"] == prompt
    seed, level = rows[2]["problem_seed"], rows[2]["difficulty"]
    again = reset(client, problem_seed=seed, difficulty=level)
    assert again.json()["observation"]["text"] == rows[2]["prompt"]


def test_a_seed_draws_the_same_problem_again(client):
    first = [reset(client, seed=seed).json()["observation"]["text"] for seed in (1, 1, 1)]
    assert len(set(first)) == 1


@pytest.mark.parametrize(
    "data",
    [
        {"split": "test", "index": 0},
        {"split": "train", "index": 0},
        {"problem": rlvr_envs.make_problem("Gcd-v0", seed=99)},
        {"problem_seed": 12345},
        {"index": 3},
        {"difficulty": 7},
        {"knobs": {"max_value": 9}},
        {"answer_format": "raw"},
        {"max_turns": 3},
    ],
)
def test_no_other_problem_can_be_had(client, data):
    refused = reset(client, **data)
    assert refused.status_code == 422
    assert "problems of rlvr/Gcd-v0" in refused.json()["detail"]
    assert shown(client, "begun") == 0


@pytest.mark.parametrize("path", ["/problems", "/verify", "/verify/openrlhf"])
def test_there_are_no_uncounted_rows_and_verdicts(client, path):
    assert client.post(path, json={}).status_code in (404, 405)


def test_finished_and_abandoned_episodes_count_until_none_is_left(client, rows):
    solution = rlvr_envs.solve(rows[0])
    key = reset(client, index=0).json()["observation"]["metadata"]["session_id"]
    step = {"session_id": key, "action": {"text": solution}}
    assert client.post("/e/Gcd-v0/step", json=step).json()["reward"] == 1
    for _ in range(EPISODES - 1):  # which nobody finishes
        assert reset(client, "GuessNumber-v0").status_code == 200
    assert (shown(client, "begun"), shown(client, "left")) == (EPISODES, 0)
    spent = reset(client)
    assert spent.status_code == 403  # 503 would be tried again
    assert "all 6 episodes of this server's budget have begun" in spent.json()["detail"]
    assert shown(client, "begun") == EPISODES


def test_resets_over_a_websocket_count_too(client):
    with client.websocket_connect("/e/Gcd-v0/ws") as socket:
        for _ in range(EPISODES):
            socket.send_text(json.dumps({"type": "reset", "data": {}}))
            assert json.loads(socket.receive_text())["type"] == "observation"
        socket.send_text(json.dumps({"type": "reset", "data": {}}))
        error = json.loads(socket.receive_text())
    assert error["type"] == "error"
    assert error["data"]["code"] == "EXECUTION_ERROR"


def test_resets_at_once_never_begin_more_than_there_are(rows):
    quota = Quota(rows, 2)

    async def begin():
        with quota.one():
            await asyncio.sleep(0)

    async def all_of_them():
        return await asyncio.gather(*(begin() for _ in range(5)), return_exceptions=True)

    found = asyncio.run(asyncio.wait_for(all_of_them(), PATIENCE_S))
    assert [type(each) for each in found] == [type(None)] * 2 + [WireError] * 3
    assert quota.begun == 2


def test_an_episode_that_could_not_begin_is_given_back(rows):
    quota = Quota(rows, 1)
    with pytest.raises(OSError, match="broken"), quota.one():
        raise OSError("broken")
    assert quota.begun == 0
    with quota.one():
        pass


def test_a_quota_needs_problems_and_goes_without_uncounted_routes(rows):
    with pytest.raises(ConfigError, match="need problems and episodes"):
        Quota([], 5)
    with pytest.raises(ConfigError, match="need problems and episodes"):
        Quota(rows, 0)
    with pytest.raises(ConfigError, match="no /problems, no /verify"):
        Settings(quota=Quota(rows, 1))
    with pytest.raises(ConfigError, match="no other wire"):
        Settings(quota=Quota(rows, 1), rows=False, routers=(lambda sessions, metrics: None,))


def arguments(*given):
    import argparse

    parser = argparse.ArgumentParser()
    serve.add_arguments(parser)
    return parser.parse_args(given)


def test_the_command_line_limits_a_server_to_an_experiment(tmp_path):
    from small_suite import PROBLEMS, small_suite

    from rlvr_envs.bench.draw import rows_of
    from rlvr_envs.bench.suite import Noise, write

    path = tmp_path / "small.json"
    suite = small_suite()
    path.write_text(write(suite))
    quota = serve._quota(arguments("--bench", f"{path}/small"))
    assert (quota.ids, quota.episodes) == (["rlvr/Derivative-v0"], 64)
    rng = stream("a test", 0)
    posed = {quota.choose(*quota.ids, {}, rng)["fingerprint"] for _ in range(500)}
    train = {row["fingerprint"] for row in rows_of(suite.experiment("small"), "train")}
    assert posed == train
    assert len(train) == PROBLEMS["train"]
    with pytest.raises(ConfigError, match="leave out Gcd-v0"):
        serve._quota(arguments("Gcd-v0", "--bench", f"{path}/small"))
    noisy = small_suite(noise=Noise(passes_wrong=0.5))
    path.write_text(write(noisy))
    with pytest.raises(ConfigError, match=r"the verifier of small errs.*export it"):
        serve._quota(arguments("--bench", f"{path}/small"))
    assert serve._quota(arguments("Gcd-v0")) is None
