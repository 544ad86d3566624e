"""`rlvr serve` as a process: what clients see, and what a fault leaves behind."""

import json
import os
import signal
import subprocess
import sys
import threading
import urllib.error
from pathlib import Path

import gymnasium as gym
import pytest
from fakes.served import Served
from patience import eventually

import rlvr_envs
from rlvr_envs.integrations.episodes import RowEpisodes
from rlvr_envs.serving.client import Client, ServerError

websockets = pytest.importorskip("websockets.sync.client", reason="needs the serve extra")

IDS = ("Gcd-v0", "GuessNumber-v0", "Sudoku-v0", "StringFunctionCode-v0")


@pytest.fixture(scope="module")
def served():
    with Served(*IDS) as server:
        yield server


def ask(socket, kind, **data):
    socket.send(json.dumps({"type": kind, "data": data}))
    return json.loads(socket.recv())


def connect(url, **more):
    return websockets.connect(url, compression=None, **more)


@pytest.mark.parametrize("env_id", IDS)
def test_a_remote_environment_is_the_local_one(served, env_id):
    remote = gym.make("rlvr/Remote-v0", url=served.url, env=env_id, difficulty=1)
    local = gym.make(f"rlvr/{env_id}", difficulty=1, with_reference=False)
    for seed in (3, None):  # a reset without a seed goes on with the stream
        assert remote.reset(seed=seed) == local.reset(seed=seed)
        actions = rlvr_envs.solve(local.unwrapped.instance.to_row())
        for action in [actions] if isinstance(actions, str) else actions:
            ours, theirs = local.step(action), remote.step(action)
            assert theirs == ours
        assert ours[1] == 1.0
    remote.close()


def test_rows_made_and_judged_over_http_are_those_of_the_package(served):
    with Client(served.url) as client:
        for env_id in IDS:
            rows = client.problems(env_id, seed=5, count=3, difficulty=1)
            assert rows == [rlvr_envs.make_problem(env_id, seed=s, difficulty=1) for s in (5, 6, 7)]
            pairs = [(row, rlvr_envs.solve(row)) for row in rows]
            pairs += [(row, ["no idea"] if isinstance(a, list) else "no idea") for row, a in pairs]
            assert client.verify_all(pairs) == [rlvr_envs.verify(*pair) for pair in pairs]


def test_an_altered_row_is_refused_with_its_number(served):
    rows = [rlvr_envs.make_problem("Gcd-v0", seed=s) for s in range(2)]
    rows[1]["problem"]["numbers"][0] += 1
    with Client(served.url) as client, pytest.raises(ServerError, match=r"item 1: .*fingerprint"):
        client.verify_all([(row, "") for row in rows])


def test_a_killed_worker_loses_nothing():
    with Served("GuessNumber-v0", "--workers", "2") as server, Client(server.url) as client:
        local = gym.make("rlvr/GuessNumber-v0", difficulty=2)
        local.reset(seed=1)
        actions = rlvr_envs.solve(local.unwrapped.instance.to_row())
        with client.session() as session:
            session.reset(seed=1, difficulty=2)
            for action in actions:
                for pid in server.workers():
                    os.kill(pid, signal.SIGKILL)
                turn = session.step(action)
        assert turn.reward == 1.0


def test_a_killed_client_leaves_no_session():
    play = (
        "import sys, time; from rlvr_envs.serving.client import Client;"
        "s = Client(sys.argv[1]).session(); s.reset(seed=1); print('ready', flush=True);"
        "time.sleep(600)"
    )
    with Served("GuessNumber-v0") as server:
        client = subprocess.Popen(
            [sys.executable, "-c", play, server.url], stdout=subprocess.PIPE, text=True
        )
        with client.stdout:
            assert client.stdout.readline() == "ready\n"
        assert server.metric("rlvr_sessions") == 1
        client.kill()
        client.wait()
        assert eventually(lambda: server.metric("rlvr_sessions") == 0)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=["TERM", "KILL"])
def test_episodes_go_on_when_the_server_is_started_again(number):
    """Clients play while their server is ended twice; each episode ends as it does at home."""
    server = Served("GuessNumber-v0")
    port, results, stop = server.port, {}, threading.Event()

    def play(seed):
        local = gym.make("rlvr/GuessNumber-v0", difficulty=2, with_reference=False)
        remote = gym.make("rlvr/Remote-v0", url=server.url, env="GuessNumber-v0", difficulty=2)
        played = 0
        while not (stop.is_set() and played > 2):
            local.reset(seed=seed + played)
            remote.reset(seed=seed + played)
            for action in rlvr_envs.solve(local.unwrapped.instance.to_row()):
                assert remote.step(action) == local.step(action)
            played += 1
        remote.close()
        results[seed] = played

    threads = [threading.Thread(target=play, args=(1000 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(2):
        before = server.metric("rlvr_steps_total")
        assert eventually(lambda: server.metric("rlvr_steps_total") > before + 50)  # noqa: B023
        server.signal(number)
        server.wait()
        server = Served("GuessNumber-v0", port=port)
    stop.set()
    for thread in threads:
        thread.join(120)
    with server:
        assert len(results) == 4
        assert all(played > 2 for played in results.values())
        assert eventually(lambda: server.metric("rlvr_sessions") == 0)


def test_what_was_accepted_is_answered_before_the_end():
    """A program runs while the server is told to end: its verdict comes, new work is refused."""
    with Served("StringFunctionCode-v0", "--workers", "1") as server:
        row = rlvr_envs.make_problem("StringFunctionCode-v0", seed=0)
        slow = "import time\ntime.sleep(0.2)\n"
        response = rlvr_envs.solve(row).replace("\n", f"\n{slow}", 1)
        answer = {}

        def judge():
            answer.update(server.post("/verify", {"row": row, "response": response}))

        with connect(server.socket()) as socket:
            assert ask(socket, "reset", seed=1)["type"] == "observation"
            thread = threading.Thread(target=judge)
            thread.start()
            assert eventually(lambda: server.metric("rlvr_queue") >= 1)
            server.signal(signal.SIGTERM)
            assert eventually(lambda: "draining" in server.log)
            refused = ask(socket, "step", text="x")
            assert refused["data"]["code"] == "SESSION_ERROR"
            assert "going down" in refused["data"]["message"]
            thread.join(60)
        assert answer["scored"]
        assert server.wait() == 0


def test_a_server_waits_no_longer_than_it_was_told():
    with Served("StringFunctionCode-v0", "--workers", "1", "--drain", "0.5") as server:
        row = rlvr_envs.make_problem("StringFunctionCode-v0", seed=0)
        endless = rlvr_envs.solve(row).replace("\n", "\nimport time\ntime.sleep(600)\n", 1)
        told = []

        def judge():
            try:
                server.post("/verify", {"row": row, "response": endless})
            except urllib.error.HTTPError as error:
                told.append((error.code, json.load(error)["detail"]))

        thread = threading.Thread(target=judge)
        thread.start()
        assert eventually(lambda: server.metric("rlvr_queue") >= 1)
        server.signal(signal.SIGTERM)
        assert server.wait() == 0
        thread.join(60)
    assert told == [(503, "the server ended before the answer came: send it again")]


def test_a_server_that_ends_leaves_no_process():
    with Served("StringFunctionCode-v0") as server, Client(server.url) as client:
        row = client.problems("StringFunctionCode-v0")[0]
        assert client.verify(row, rlvr_envs.solve(row)).score == 1.0
        family = [server.process.pid, *server.workers()]
    assert eventually(lambda: not [pid for pid in family if Path(f"/proc/{pid}").exists()])


def test_an_unused_session_ends():
    with Served("Gcd-v0", "--idle", "3") as server, connect(server.socket()) as socket:
        key = server.post("/reset", {"seed": 1})["metadata"]["session_id"]
        ask(socket, "reset", seed=1)
        assert eventually(lambda: server.metric("rlvr_sessions_expired_total") == 2)
        with pytest.raises(urllib.error.HTTPError) as refused:
            server.post("/step", {"session_id": key, "action": {"text": "1"}})
        assert refused.value.code == 404
        assert "no such session" in json.load(refused.value)["detail"]
        with pytest.raises(Exception, match="1001"):
            ask(socket, "step", text="1")


def test_tokens(tmp_path):
    secret = "s3cret-" + "x" * 20
    tokens = tmp_path / "tokens"
    tokens.write_text(f"# mine\n{secret}\n\n{secret[::-1]}\n")
    with Served("Gcd-v0", "--tokens", str(tokens), "--host", "0.0.0.0") as server:
        server.url = server.url.replace("0.0.0.0", "127.0.0.1")
        assert json.loads(server.get("/health")) == {"status": "healthy"}
        for token in (None, "wrong" + secret, secret[:-1]):
            with pytest.raises(urllib.error.HTTPError) as refused:
                server.get("/list_environments", token=token)
            assert refused.value.code == 401
            assert "Authorization: Bearer" in json.load(refused.value)["detail"]
        with pytest.raises(Exception, match="403"), connect(server.socket()):
            pass
        with pytest.raises(Exception, match="403"), connect(server.socket(token="wrong")):
            pass
        assert json.loads(server.get("/list_environments", token=secret)) == ["Gcd-v0"]
        assert json.loads(server.get(f"/k/{secret}/list_environments")) == ["Gcd-v0"]
        with connect(server.socket("Gcd-v0", token=secret)) as socket:
            assert ask(socket, "reset", seed=1)["type"] == "observation"
        with Client(server.url, token=secret) as client, client.session() as session:
            assert session.reset(seed=1).text
        with Client(server.url, token="wrong") as client:
            with pytest.raises(ServerError, match="token is needed"):
                client.problems("Gcd-v0")
            with pytest.raises(ServerError, match="refuses the connection"):
                client.session().reset()
        # A session belongs to the token that made it.
        path = f"/k/{secret}"
        key = server.post(f"{path}/reset", {})["metadata"]["session_id"]
        with pytest.raises(urllib.error.HTTPError, match="404"):
            server.get(f"/k/{secret[::-1]}/state?session_id={key}")
        assert json.loads(server.get(f"{path}/state?session_id={key}"))["step_count"] == 0
    assert secret not in server.log
    assert secret[::-1] not in server.log
    assert key not in server.log


def test_other_machines_need_tokens(capfd):
    done = subprocess.run(
        [sys.executable, "-m", "rlvr_envs", "serve", "--host", "0.0.0.0"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "give a file of tokens with --tokens" in done.stderr


def test_messages_that_are_refused_change_nothing(served):
    with connect(served.socket("GuessNumber-v0")) as socket:
        first = ask(socket, "reset", seed=1, difficulty=0)
        for raw, code in [
            ("{", "INVALID_JSON"),
            ("", "INVALID_JSON"),
            (b"\x00\xff", "INVALID_JSON"),
            ("[" * 100_000, "INVALID_JSON"),
            ("[1]", "VALIDATION_ERROR"),
            ("null", "VALIDATION_ERROR"),
            ('{"type": "ping"}', "UNKNOWN_TYPE"),
            ('{"type": ["step"]}', "UNKNOWN_TYPE"),
            ('{"data": {}}', "UNKNOWN_TYPE"),
            ('{"type": "step"}', "VALIDATION_ERROR"),
            ('{"type": "step", "data": [1]}', "VALIDATION_ERROR"),
            ('{"type": "step", "data": {"answer": "1"}}', "VALIDATION_ERROR"),
            ('{"type": "step", "data": {"text": "1", "reward": 1}}', "VALIDATION_ERROR"),
            ('{"type": "reset", "data": {"dificulty": 1}}', "VALIDATION_ERROR"),
            ('{"type": "reset", "data": {"seed": -1}}', "VALIDATION_ERROR"),
            ('{"type": "reset", "data": {"seed": 1, "problem_seed": 2}}', "VALIDATION_ERROR"),
            ('{"type": "reset", "data": {"knobs": {"env_id": "x"}}}', "VALIDATION_ERROR"),
            ('{"type": "reset", "data": {"split": "tests", "index": 1}}', "VALIDATION_ERROR"),
            ('{"type": "reset", "data": {"split": "test", "index": 1e9}}', "VALIDATION_ERROR"),
            ('{"type": "reset", "data": {"difficulty": "hard"}}', "EXECUTION_ERROR"),
            ('{"type": "reset", "data": {"knobs": {"size": 1}}}', "EXECUTION_ERROR"),
            ('{"type": "reset", "data": {"problem": {"id": "rlvr/Gcd-v0"}}}', "EXECUTION_ERROR"),
        ]:
            socket.send(raw)
            reply = json.loads(socket.recv())
            assert (reply["type"], reply["data"].get("code")) == ("error", code), raw[:80]
            assert reply["data"]["message"]
        assert ask(socket, "state")["data"]["step_count"] == 0
        # The episode that was under way still is.
        actions = rlvr_envs.solve(rlvr_envs.make_problem("GuessNumber-v0", seed=1, difficulty=0))
        replies = [ask(socket, "step", text=action) for action in actions]
        assert replies[-1]["data"]["reward"] == 1.0
        assert ask(socket, "step", text="1")["data"]["code"] == "EXECUTION_ERROR"
        assert first["data"]["metadata"]["turn"] == 0


def test_what_is_too_large_is_refused_and_leaves_nothing():
    from websockets.exceptions import ConnectionClosedError

    with Served("Gcd-v0", "--max-mib", "1") as server:
        for chunked in (False, True):
            status = subprocess.run(
                [
                    *("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-d", "@-"),
                    *(["-H", "Transfer-Encoding: chunked"] if chunked else []),
                    f"{server.url}/verify",
                ],
                input=b'{"row": "' + b"x" * (2 << 20) + b'"}',
                capture_output=True,
                check=True,
            ).stdout
            assert status == b"413"
        with connect(server.socket()) as socket, pytest.raises(ConnectionClosedError) as refused:
            ask(socket, "step", text="x" * (2 << 20))
        # The reason is lost where the connection ends while the client is still sending.
        assert refused.value.rcvd is None or refused.value.rcvd.code == 1009
        assert eventually(lambda: server.metric("rlvr_sessions") == 0)


def test_more_sessions_than_allowed_are_refused():
    with Served("Gcd-v0", "--sessions", "2") as server:
        with connect(server.socket()) as one, connect(server.socket()) as two:
            assert ask(one, "state")["type"] == ask(two, "state")["type"] == "state"
            with connect(server.socket()) as three:
                assert json.loads(three.recv())["data"]["code"] == "CAPACITY_REACHED"
            with pytest.raises(urllib.error.HTTPError, match="503"):
                server.post("/reset", {})
        assert eventually(lambda: server.metric("rlvr_sessions") == 0)
        assert server.post("/reset", {"seed": 1})["observation"]["text"]


def test_plain_http_plays_an_episode(served):
    began = served.post("/e/GuessNumber-v0/reset", {"seed": 2, "difficulty": 0})
    key = began["metadata"]["session_id"]
    actions = rlvr_envs.solve(rlvr_envs.make_problem("GuessNumber-v0", seed=2, difficulty=0))
    for action in actions:
        body = {"session_id": key, "action": {"text": action}}
        reply = served.post("/e/GuessNumber-v0/step", body)
    assert (reply["reward"], reply["done"]) == (1.0, True)
    assert reply["metadata"]["status"] == "correct"
    assert "reference" not in json.dumps(reply)
    assert served.post("/e/GuessNumber-v0/close", {"session_id": key}) == {"closed": True}


def test_splits_share_no_problem(served):
    seen = {}
    with Client(served.url) as client, client.session("Gcd-v0") as session:
        for split in ("train", "validation", "test"):
            for index in range(40):
                prompt = session.reset(split=split, index=index, difficulty=0).text
                assert seen.setdefault(prompt, split) == split
        assert session.reset(split="test", index=3, difficulty=0).text == prompt_of(session, 3)


def prompt_of(session, index):
    return session.reset(split="test", index=index, difficulty=0).text


def test_the_tool_by_json_rpc(served):
    def rpc(method, **params):
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params}
        return served.post("/e/Gcd-v0/mcp", body)

    key = rpc("openenv/session/create")["result"]["session_id"]
    (tool,) = rpc("tools/list", session_id=key)["result"]["tools"]
    assert tool["name"] == "act"
    early = rpc("tools/call", session_id=key, name="act", arguments={"text": "1"})
    assert "send reset first" in early["error"]["message"]
    with connect(f"{served.socket('Gcd-v0')}?session_id={key}") as socket:
        ask(socket, "reset", seed=3)
        answer = rlvr_envs.solve(rlvr_envs.make_problem("Gcd-v0", seed=3))
        done = rpc("tools/call", session_id=key, name="act", arguments={"text": answer})
        assert done["result"]["reward"] == 1.0
        with connect(f"{served.socket('Gcd-v0')}?session_id={key}") as other:
            assert json.loads(other.recv())["data"]["code"] == "SESSION_ERROR"
    assert rpc("openenv/session/close", session_id=key)["result"]["closed"]
    assert rpc("tools/call", session_id=key)["error"]["code"] == -32602
    assert rpc("tools/fly")["error"]["code"] == -32601


def test_remote_reward_models(served):
    row = rlvr_envs.make_problem("Gcd-v0", seed=4)
    label, right = json.dumps(row), rlvr_envs.solve(row)
    prompt = row["prompt"]
    told = served.post(
        "/verify/openrlhf",
        {"query": [prompt + right, prompt + "?"], "prompts": [prompt] * 2, "labels": [label] * 2},
    )
    assert told == {"rewards": [1.0, 0.0], "scores": [1.0, 0.0], "extra_logs": {}}
    body = {"prompt": prompt, "response": right, "label": row}
    assert served.post("/verify/slime", body) == 1.0
    with pytest.raises(urllib.error.HTTPError, match="422"):
        served.post("/verify/slime", body | {"label": "not JSON"})


def test_a_trainer_plays_rows_on_a_server(served):
    """What the integrations of trainers play episodes with takes a remote environment by its id."""
    player = RowEpisodes("rlvr/Remote-v0", url=served.url, env="GuessNumber-v0")
    for seed in (1, 2):
        row = rlvr_envs.make_problem("GuessNumber-v0", seed=seed, difficulty=1)
        assert player.begin(row) == row["prompt"]
        for action in rlvr_envs.solve(row):
            player.act(action)
        assert player.over
        assert player.reward == 1.0
    player.close()


def test_the_agent_plays_its_episodes_on_a_server(served):
    """The environments of a rollout may be elsewhere: the same episodes, token by token."""
    from fakes.letters import Letters, Scripted

    from rlvr_envs.agents.grpo.rollout import Rollout
    from rlvr_envs.curricula import Proposal

    def remote(task, level):
        return gym.make("rlvr/Remote-v0", url=served.url, env=task, difficulty=level)

    def local(task, level):
        return gym.make(f"rlvr/{task}", difficulty=level)

    proposals = [
        Proposal(task=task, difficulty=1, problem_seed=seed)
        for seed, task in enumerate(["Gcd-v0", "GuessNumber-v0"] * 2)
    ]
    played = {}
    for make_env in (local, remote):
        sampler = Scripted(lambda prompt: f"\\boxed{{{len(prompt) % 9 + 1}}}")
        rollout = Rollout(
            make_env, sampler, Letters(), max_tokens=64, context=4000, temperature=1.0
        )
        groups = rollout.play(proposals, 3, seed=0)
        played[make_env] = [episode for group in groups for episode in group.episodes]
        rollout.close()
    assert played[remote] == played[local]
    assert {episode.status for episode in played[remote]} <= {"correct", "wrong"}
