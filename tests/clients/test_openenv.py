"""OpenEnv: its stock clients play our ids, on its own server and on `rlvr serve`."""

import json
import socket
import subprocess
import urllib.request
from pathlib import Path

import pytest
from fakes.served import Served
from patience import eventually

import rlvr_envs

ROOT = Path(__file__).resolve().parents[2]
APP = ROOT / "examples/integrations/openenv_app.py"
ID = "GuessNumber-v0"
SEED = 11
SESSIONS = 2  # at once, on either server

# The stock client in synchronous code: two episodes, the second one of wrong guesses.
SYNCHRONOUS = """
import json, sys
from openenv import GenericEnvClient

url, seed, *actions = sys.argv[1:]
told = []
def see(result):
    told.append([result.observation["text"], result.reward, result.done, result.metadata])

with GenericEnvClient(base_url=url).sync() as env:
    see(env.reset(problem_seed=int(seed), difficulty=0, episode_id="mine"))
    for action in actions:
        see(env.step({"text": action}))
    told.append(env.state())
    see(env.reset(problem_seed=int(seed), difficulty=0))
    while not told[-1][2]:
        see(env.step({"text": 0, "metadata": {}}))  # a number, as clients send that parse JSON
print(json.dumps(told))
"""

# Two sessions side by side in asynchronous code, which must not meet; and reset(seed=...).
ASYNCHRONOUS = """
import asyncio, json, sys
from openenv import GenericEnvClient

url, seed, *actions = sys.argv[1:]

async def play(script):
    async with GenericEnvClient(base_url=url) as env:
        result = await env.reset(problem_seed=int(seed), difficulty=0)
        for action in script:
            if not result.done:
                result = await env.step({"text": action})
        return result.reward, result.done

async def prompts():
    async with GenericEnvClient(base_url=url) as env:
        return [(await env.reset(seed=3)).observation["text"] for _ in range(2)]

async def main():
    played = await asyncio.gather(play(actions), play(["0"] * 99))
    print(json.dumps([played, await prompts()]))

asyncio.run(main())
"""

# The client for MCP: a session over HTTP, a WebSocket attached to it, and one tool.
TOOL = """
import asyncio, json, sys
from openenv.core.mcp_client import MCPToolClient

url, seed, *actions = sys.argv[1:]

async def main():
    async with MCPToolClient(base_url=url) as env:
        tools = [tool.model_dump() for tool in await env.list_tools()]
        first = await env.reset(problem_seed=int(seed), difficulty=0)
        told = [await env.call_tool("act", text=action) for action in actions]
        try:
            await env.call_tool("act")
        except RuntimeError as error:
            failure = str(error)
        state = (await env.state()).model_dump()
    print(json.dumps([tools, first.observation.text, told, failure, state]))

asyncio.run(main())
"""

# Every error of the protocol, and whether the session goes on after it.
ERRORS = """
import asyncio, json, re, sys
from openenv import GenericEnvClient

url, broken, sessions = sys.argv[1], sys.argv[2], int(sys.argv[3])

async def code(request):
    try:
        await request
    except RuntimeError as error:
        return re.search(r"code: (\\w+)", str(error))[1]

async def raw(env, text):
    await env._send({"type": "state"})
    await env._receive()
    await env._ws.send(text)
    return json.loads(await env._ws.recv())["data"]["code"]

async def main():
    found = {}
    async with GenericEnvClient(base_url=url) as env:
        found["EXECUTION_ERROR"] = await code(env.step({"text": "1"}))
        await env.reset(seed=1)
        found["VALIDATION_ERROR"] = await code(env.step({"txt": "1"}))
        found["UNKNOWN_TYPE"] = await raw(env, json.dumps({"type": "ping"}))
        found["INVALID_JSON"] = await raw(env, "nonsense")
        found["goes on"] = (await env.step({"text": "1"})).observation["text"] != ""
    lost = GenericEnvClient(base_url=url)
    lost._ws_url += "?session_id=unknown"
    found["SESSION_ERROR"] = await code(lost.state())
    found["FACTORY_ERROR"] = await code(GenericEnvClient(base_url=broken).state())
    several = [GenericEnvClient(base_url=url) for _ in range(sessions + 1)]
    codes = [await code(env.state()) for env in several]
    assert codes[:-1] == [None] * sessions, codes
    found["CAPACITY_REACHED"] = codes[-1]
    for env in several:
        await env.close()
    print(json.dumps(found))

asyncio.run(main())
"""

# A verifier that fails: the reward is absent, and nobody can take it for a 0.
UNSCORED = """
import json
from rlvr_envs.core.instance import Instance
from rlvr_envs import Verdict
from rlvr_envs.integrations.openenv import RlvrAction, RlvrEnvironment

Instance.judge = lambda *_: Verdict.verifier_error("the verifier broke")
env = RlvrEnvironment("Gcd-v0", difficulty=0)
env.reset(seed=1)
print(env.step(RlvrAction(text="1")).model_dump_json())
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def healthy(url):
    try:
        with urllib.request.urlopen(f"{url}/health") as reply:
            return json.load(reply)["status"] == "healthy"
    except OSError:
        return False


@pytest.fixture
def start(tmp_path):
    """Start an app of openenv's own server; return its address."""
    running = []

    def run(python, app):
        port = free_port()
        process = subprocess.Popen([python, app, str(port)], cwd=tmp_path)
        running.append(process)
        url = f"http://127.0.0.1:{port}"
        assert eventually(lambda: process.poll() is not None or healthy(url))
        return url

    yield run
    for process in running:
        process.terminate()
        process.wait()


@pytest.fixture(params=["openenv's own server", "rlvr serve"])
def servers(request, client, start, tmp_path):
    """The addresses of our id, and of one that no environment can be made for."""
    if request.param == "rlvr serve":
        with Served(ID, "--sessions", str(SESSIONS)) as served:
            yield served.url, f"{served.url}/e/Nothing-v0"
        return
    broken = tmp_path / "broken.py"
    broken.write_text(APP.read_text().replace(ID, "Nothing-v0"))
    yield start(client.python, APP), start(client.python, broken)


@pytest.fixture(scope="module")
def row():
    return rlvr_envs.make_problem(ID, problem_seed=SEED, difficulty=0)


def play(client, script, url, row):
    return json.loads(client.run("-c", script, url, SEED, *rlvr_envs.solve(row)))


def test_the_synchronous_client_plays_episodes(client, servers, row):
    told = play(client, SYNCHRONOUS, servers[0], row)
    turns = len(rlvr_envs.solve(row))
    (prompt, reward, done, metadata), *steps = told[: turns + 1]
    assert (prompt, reward, done) == (row["prompt"], None, False)
    assert metadata["task"] == row["id"]
    assert metadata["problem_seed"] == SEED
    assert [step[2] for step in steps] == [False] * (turns - 1) + [True]
    final = steps[-1]
    assert final[1] == 1.0
    assert final[3]["status"] == "correct"
    assert final[3]["scored"] is True
    assert "reference" not in final[3]
    state = told[turns + 1]
    assert state["episode_id"] == "mine"
    assert state["step_count"] == turns
    assert state["done"] is True
    lost = told[-1]
    assert (lost[1], lost[2]) == (0.0, True)
    assert lost[3]["status"] == "wrong"


def test_sessions_of_the_asynchronous_client_do_not_meet(client, servers, row):
    played, prompts = play(client, ASYNCHRONOUS, servers[0], row)
    assert played == [[1.0, True], [0.0, True]]
    assert prompts[0] == prompts[1]


def test_the_mcp_client_calls_the_tool(client, servers, row):
    tools, prompt, told, failure, state = play(client, TOOL, servers[0], row)
    (tool,) = tools
    assert tool["name"] == "act"
    assert tool["input_schema"]["required"] == ["text"]
    assert prompt == row["prompt"]
    assert [each["done"] for each in told] == [False] * (len(told) - 1) + [True]
    assert told[-1]["reward"] == 1.0
    assert told[-1]["metadata"]["status"] == "correct"
    assert "Tool 'act' failed" in failure
    assert state["step_count"] == len(told)


def test_every_error_has_its_code(client, servers):
    found = json.loads(client.run("-c", ERRORS, *servers, SESSIONS))
    assert found.pop("goes on") is True
    assert found == {code: code for code in found}
    assert len(found) == 7


def test_the_schema_is_what_adapters_need(client, servers):
    with urllib.request.urlopen(f"{servers[0]}/schema") as reply:
        action = json.load(reply)["action"]
    assert action["required"] == ["text"]
    # verifiers takes these titles for environments that only have tools.
    assert action["title"] not in {"Action", "CallToolAction", "ListToolsAction"}
    with urllib.request.urlopen(f"{servers[0]}/list_environments") as reply:
        assert json.load(reply) == [ID]
    with urllib.request.urlopen(f"{servers[0]}/metadata") as reply:
        assert json.load(reply)["name"] == ID


def test_an_answer_that_was_not_judged_has_no_reward(client):
    observation = json.loads(client.run("-c", UNSCORED))
    assert observation["reward"] is None
    assert observation["done"] is True
    assert observation["metadata"]["scored"] is False
    assert observation["metadata"]["status"] == "verifier_error"
