"""The server in this process: full queues, slow and failing verifiers, what Prometheus sees."""

import asyncio
import json
import threading

import pytest
from patience import PATIENCE_S

pytest.importorskip("fastapi", reason="needs the serve extra")

import httpx
from starlette.testclient import TestClient

import rlvr_envs
from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, RegistrationError
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.serving import episodes, work
from rlvr_envs.serving.app import Server, Settings
from rlvr_envs.serving.guard import Tokens
from rlvr_envs.serving.run import is_loopback

# Answers of this task are judged in threads of the server's process, where a test can hold them.
CODE = "StringFunctionCode-v0"


@pytest.fixture
def held(monkeypatch):
    """Verifiers of code wait until the event is set; the list says which responses have begun."""
    released, begun = threading.Event(), []

    def judge(row, response):
        begun.append(response)
        assert released.wait(PATIENCE_S)
        return Verdict.correct()

    monkeypatch.setitem(episodes._FUNCTIONS, "judge", judge)
    released.begun = begun
    yield released
    released.set()


async def with_server(settings, scenario):
    """Run a coroutine with an HTTP client of a server in this event loop."""
    server = Server(settings)
    async with server.app.router.lifespan_context(server.app):
        transport = httpx.ASGITransport(app=server)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            return await asyncio.wait_for(scenario(client, server), PATIENCE_S)


async def until(check):
    while not check():
        await asyncio.sleep(0.01)


def test_a_full_queue_refuses_and_slow_verifiers_hold_up_nobody_else(held):
    code = rlvr_envs.make_problem(CODE, seed=0)
    gcd = rlvr_envs.make_problem("Gcd-v0", seed=0)

    async def scenario(client, server):
        slow = [
            asyncio.create_task(client.post("/verify", json={"row": code, "response": str(i)}))
            for i in range(3)
        ]
        await until(lambda: server._work.pending == 3)
        # Three of four places are taken by verifiers that do not come to an end.
        body = {"row": gcd, "response": rlvr_envs.solve(gcd)}
        for _ in range(5):
            assert (await client.post("/verify", json=body)).json()["score"] == 1.0
            assert (await client.post("/reset", json={"seed": 1})).status_code == 200
        slow.append(
            asyncio.create_task(client.post("/verify", json={"row": code, "response": "3"}))
        )
        await until(lambda: server._work.pending == 4)
        full = await client.post("/verify", json=body)
        assert (full.status_code, full.headers["retry-after"]) == (503, "1")
        assert "the most this server takes at once" in full.json()["detail"]
        held.set()
        replies = await asyncio.gather(*slow)
        assert [reply.json()["status"] for reply in replies] == ["correct"] * 4
        assert sorted(held.begun) == ["0", "1", "2", "3"]
        assert (await client.post("/verify", json=body)).status_code == 200

    asyncio.run(with_server(Settings(ids=["Gcd-v0", CODE], workers=2, queue=4), scenario))


def test_a_client_that_goes_away_does_not_stop_what_was_accepted(held):
    code = rlvr_envs.make_problem(CODE, seed=0)

    async def scenario(client, server):
        task = asyncio.create_task(client.post("/verify", json={"row": code, "response": "x"}))
        await until(lambda: held.begun)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert server._work.pending == 1
        held.set()
        await until(lambda: server._work.pending == 0)

    asyncio.run(with_server(Settings(ids=[CODE], workers=1), scenario))


def test_a_fault_of_ours_is_neither_right_nor_wrong(monkeypatch):
    tries = []

    def broken(row, response):
        tries.append(response)
        return Verdict.verifier_error("the machine failed")

    monkeypatch.setitem(episodes._FUNCTIONS, "judge", broken)
    row = rlvr_envs.make_problem(CODE, seed=0)

    async def scenario(client, server):
        told = (await client.post("/verify", json={"row": row, "response": "x"})).json()
        assert (told["score"], told["scored"], told["status"]) == (None, False, "verifier_error")
        number = await client.post("/verify/slime", json={"response": "x", "label": row})
        assert number.status_code == 503
        assert "the fault is ours: the machine failed" in number.json()["detail"]
        page = (await client.get("/metrics")).text
        assert 'rlvr_verdicts_total{status="verifier_error"} 2.0' in page

    asyncio.run(with_server(Settings(ids=[CODE], workers=1), scenario))


def test_an_unscored_turn_is_played_again_and_then_has_no_reward(monkeypatch):
    played = []

    def failing(self, problem, answer):
        played.append(answer)
        raise RuntimeError("broken")

    monkeypatch.setattr(registry.find("rlvr/Gcd-v0").task_type, "verify", failing)
    episode = episodes.Episode("k/1", '{"env_id": "rlvr/Gcd-v0"}', {"problem_seed": 1})
    assert episodes.begin(episode).metadata["turn"] == 0
    turn = episodes.act(episode, ["\\boxed{1}"])
    assert (turn.reward, turn.done, turn.metadata["scored"]) == (None, True, False)
    assert played == ["1", "1"]


def test_any_process_can_go_on_with_an_episode():
    """A worker that has never seen an episode, or stopped earlier in it, plays what it lacks."""
    row = rlvr_envs.make_problem("GuessNumber-v0", problem_seed=5, difficulty=2)
    actions = rlvr_envs.solve(row)
    arguments = '{"difficulty": 2, "env_id": "rlvr/GuessNumber-v0"}'
    episode = episodes.Episode("k/2", arguments, {"problem_seed": 5})
    episodes.begin(episode)
    straight = [episodes.act(episode, actions[: i + 1]) for i in range(len(actions))]
    for skipped in range(len(actions)):
        other = episodes.Episode(f"k/{3 + skipped}", arguments, {"problem_seed": 5})
        if skipped:
            episodes.act(other, actions[:skipped])
        assert episodes.act(other, actions) == straight[-1]
    assert straight[-1].reward == 1.0


def test_a_websocket_speaks_openenv():
    server = Server(Settings(ids=["Gcd-v0"], workers=1))
    with TestClient(server) as client, client.websocket_connect("/ws") as socket:
        socket.send_json({"type": "reset", "data": {"seed": 3, "episode_id": "mine"}})
        reply = socket.receive_json()
        assert reply["type"] == "observation"
        assert set(reply["data"]) == {"observation", "reward", "done", "metadata"}
        assert (reply["data"]["reward"], reply["data"]["done"]) == (None, False)
        socket.send_json({"type": "step", "data": {"text": 49, "metadata": {}}})
        assert socket.receive_json()["data"]["done"]
        socket.send_json({"type": "state"})
        state = socket.receive_json()["data"]
        assert state == {
            "episode_id": "mine", "step_count": 1, "env_id": "rlvr/Gcd-v0", "done": True
        }  # fmt: skip
        socket.send_json({"type": "close"})
        assert socket.receive()["type"] == "websocket.close"
        assert "rlvr_sessions 0.0" in client.get("/metrics").text


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/reset", "[" * 100_000, 400),
        ("/reset", '{"knobs": ' + '{"a": ' * 900 + "1" + "}" * 901, 422),
        ("/verify", '{"response": "", "row": ' + '{"a": ' * 900 + "1" + "}" * 901, 422),
        ("/reset", '{"answer_format": "\\ud800"}', 422),
        ("/problems", '{"id": "\\ud800"}', 422),
        ("/reset", '{"seed": NaN}', 422),
        ("/reset", "", 200),
        ("/reset", "null", 200),
    ],
    ids=["no end", "deep knobs", "deep row", "half a pair", "half an id", "nan", "none", "null"],
)
def test_strange_bodies_get_a_sentence(path, body, status):
    server = Server(Settings(ids=["Gcd-v0"], workers=1))
    with TestClient(server, raise_server_exceptions=False) as client:
        headers = {"content-type": "application/json"}
        reply = client.post(path, content=body.encode(), headers=headers)
        assert reply.status_code == status, reply.text
        assert status == 200 or isinstance(reply.json()["detail"], str)


def test_half_of_a_surrogate_pair_is_judged_as_any_text():
    row = rlvr_envs.make_problem("Gcd-v0", seed=0)
    server = Server(Settings(ids=["Gcd-v0"], workers=1))
    with TestClient(server) as client:
        body = json.dumps({"row": row, "response": "\\boxed{\ud800}"})
        headers = {"content-type": "application/json"}
        reply = client.post("/verify", content=body.encode(), headers=headers)
        assert Verdict.from_json(reply.json()) == rlvr_envs.verify(row, "\\boxed{\ud800}")


def test_a_batch_larger_than_the_queue_is_judged():
    row = rlvr_envs.make_problem("Gcd-v0", seed=0)
    server = Server(Settings(ids=["Gcd-v0"], workers=1, queue=70))
    with TestClient(server) as client:
        items = [{"row": row, "response": rlvr_envs.solve(row)}] * 300
        reply = client.post("/verify", json={"items": items})
        assert [each["score"] for each in reply.json()["verdicts"]] == [1.0] * 300


def test_an_environment_that_is_not_served_is_refused():
    server = Server(Settings(ids=["Gcd-v0"], workers=1, rows=False))
    with TestClient(server) as client:
        assert client.get("/list_environments").json() == ["Gcd-v0"]
        refused = client.post("/e/Sudoku-v0/reset")
        assert (refused.status_code, refused.json()["code"]) == (404, "FACTORY_ERROR")
        with client.websocket_connect("/e/Sudoku-v0/ws") as socket:
            assert socket.receive_json()["data"]["code"] == "FACTORY_ERROR"
        assert client.post("/problems", json={"id": "Gcd-v0"}).status_code == 404
        assert client.post("/e/gcd-V0/reset").status_code == 200


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"workers": 0}, "workers is an integer from 1"),
        ({"sessions": 0}, "sessions is an integer from 1"),
        ({"queue": True}, "queue is an integer from 1"),
        ({"max_bytes": 1.5}, "max_bytes is an integer from 1"),
        ({"idle_s": 0}, "idle_s is a number above 0"),
        ({"life_s": float("nan")}, "life_s is a number above 0"),
    ],
)
def test_settings_out_of_range_are_refused(wrong, told):
    with pytest.raises(ConfigError, match=told):
        Settings(**wrong)


def test_unknown_ids_are_refused_at_once():
    with pytest.raises(RegistrationError, match="did you mean"):
        Server(Settings(ids=["Gdc-v0"]))


def test_tokens_are_checked(tmp_path):
    with pytest.raises(ConfigError, match="token 2 has 5 characters"):
        Tokens(["x" * 16, "short"])
    with pytest.raises(ConfigError, match="cannot be read"):
        Tokens.from_file(tmp_path / "none")
    path = tmp_path / "tokens"
    path.write_text("# nothing\n")
    with pytest.raises(ConfigError, match="holds no token"):
        Tokens.from_file(path)
    tokens = Tokens(["a" * 16, "b" * 16])
    assert tokens.client("b" * 16) == "token 2"
    assert tokens.client("c" * 16) is tokens.client(None) is None
    assert "a" * 16 not in repr(vars(tokens))
    assert Tokens([]).client(None) == "anybody"


@pytest.mark.parametrize(
    ("host", "inside"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("127.9.9.9", True),
     ("0.0.0.0", False), ("::", False), ("192.168.0.1", False), ("example.org", False)],
)  # fmt: skip
def test_what_other_machines_can_reach(host, inside):
    assert is_loopback(host) is inside


@pytest.mark.parametrize(
    ("answer", "status", "score"),
    [("hang", "timeout", 0.0), ("die", "verifier_error", None), ("raise", "verifier_error", None)],
)
def test_a_hostile_answer_costs_its_own_verdict_only(
    vector_tasks, monkeypatch, answer, status, score
):
    monkeypatch.setattr(work, "CPU_S", 0.5)
    row = rlvr_envs.make_problem(vector_tasks.SUM, seed=1)
    honest = {"row": row, "response": rlvr_envs.solve(row)}
    server = Server(Settings(ids=[vector_tasks.SUM], workers=2))
    with TestClient(server) as client, client.websocket_connect("/ws") as socket:
        items = [honest] * 20 + [{"row": row, "response": answer}] + [honest] * 20
        verdicts = client.post("/verify", json={"items": items}).json()["verdicts"]
        assert (verdicts[20]["status"], verdicts[20]["score"]) == (status, score)
        assert [each["score"] for each in verdicts[:20] + verdicts[21:]] == [1.0] * 40
        socket.send_json({"type": "reset", "data": {"seed": 1}})
        socket.receive_json()
        socket.send_json({"type": "step", "data": {"text": answer}})
        data = socket.receive_json()["data"]
        assert (data["metadata"]["status"], data["reward"], data["done"]) == (status, score, True)
        assert data["metadata"]["scored"] is (score is not None)
