"""verifiers: vf-eval plays our taskset against a model endpoint on this machine."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

import rlvr_envs
from rlvr_envs.integrations.rows import open_rows

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/integrations/verifiers.toml"
IDS = ["Gcd-v0", "GuessNumber-v0"]
WRONG = "I do not know: \\boxed{0}"

# A taskset of a user whose verifier breaks on wrong answers.
BROKEN = """
from rlvr_envs import Verdict, verify
from rlvr_envs.integrations import verifiers as ours
from rlvr_envs.integrations.verifiers import RlvrTaskset

__all__ = ["RlvrTaskset"]

def judge(instance, response):
    verdict = verify(instance.to_row(), response)
    return verdict if verdict.score else Verdict.verifier_error("the verifier broke")

ours.judge_apart = judge
"""


class Model:
    """An endpoint that streams, as vf-eval asks it to; `answer` gets the chat's messages."""

    def __init__(self, answer):
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                text = answer(body["messages"])
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                head = {"id": "1", "object": "chat.completion.chunk", "created": 0}
                head |= {"model": body["model"]}
                delta = {"role": "assistant", "content": text}
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                for chunk in (
                    {"choices": [{"index": 0, "delta": delta}]},
                    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
                    {"choices": [], "usage": usage},
                ):
                    self.wfile.write(f"data: {json.dumps(head | chunk)}\n\n".encode())
                self.wfile.write(b"data: [DONE]\n\n")

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


@pytest.fixture
def model():
    models = []

    def start(answer):
        models.append(Model(answer))
        return models[-1].url

    yield start
    for each in models:
        each.http.shutdown()
        each.http.server_close()


def solver(rows, wrong=()):
    """Answer as the oracle does, and wrongly to the rows whose numbers are named."""
    script = {}
    for number, row in enumerate(rows):
        solution = WRONG if number in wrong else rlvr_envs.solve(row)
        script[row["prompt"]] = [solution] if isinstance(solution, str) else solution

    def answer(messages):
        turns = [message for message in messages if message["role"] == "assistant"]
        return script[messages[0]["content"]][len(turns)]

    return answer


def rollouts(client):
    """The traces that a run has stored, by the prompt of their task."""
    (path,) = client.folder.glob("outputs/*/traces.jsonl")
    episodes = [json.loads(line) for line in path.read_text().splitlines()]
    traces = [trace for episode in episodes for trace in episode["traces"]]
    return {trace["task"]["data"]["prompt"]: trace for trace in traces}


def evaluate(client, *arguments, **variables):
    cache = client.python.parent.parent / "uv-cache"  # of what a harness installs at its start
    return client.command(
        "vf-eval", *arguments, PRIME_API_KEY="unused", UV_CACHE_DIR=str(cache), **variables
    )


def test_single_and_many_turns_are_scored_by_our_verdicts(client, model):
    rows = open_rows(IDS, count=4, difficulty="0")
    url = model(solver(rows, wrong=(0,)))
    printed = evaluate(client, "@", EXAMPLE, "-m", "stub", "--client.base-url", url)
    assert "reward 0.75" in printed
    found = rollouts(client)
    assert [row["id"] for row in rows] == ["rlvr/Gcd-v0", "rlvr/GuessNumber-v0"] * 2
    for number, row in enumerate(rows):
        trace = found[row["prompt"]]
        verdict = rlvr_envs.verify(row, WRONG if number == 0 else rlvr_envs.solve(row))
        assert trace["ok"]
        assert trace["rewards"]["rlvr_score"]["score"] == verdict.score
        assert trace["info"]["verdict"] == verdict.to_json()
        assert trace["metrics"][f"is_{verdict.status}"] == 1.0
        assert sum(trace["metrics"][f"is_{status}"] for status in rlvr_envs.Status) == 1.0
        asked = [node for node in trace["nodes"] if node["message"]["role"] == "user"]
        turns = 1 if number in (0, 2) else len(rlvr_envs.solve(row))
        assert len(asked) == turns


def test_what_the_verifier_cannot_judge_is_an_error_without_a_reward(client, model):
    (client.folder / "broken_vf.py").write_text(BROKEN)
    rows = open_rows(IDS[:1], count=2, difficulty="0")
    url = model(solver(rows, wrong=(1,)))
    printed = evaluate(
        client,
        "broken_vf",
        *("--env.taskset.ids", "Gcd-v0", "--env.taskset.count", "2"),
        *("--env.taskset.difficulty", "0", "--env.agent.harness.id", "null"),
        *("--env.agent.runtime.type", "subprocess", "--no-push"),
        *("-m", "stub", "--client.base-url", url),
        PYTHONPATH=str(client.folder),
    )
    assert "reward 1.00 (0.50)" in printed  # the mean of what was scored (with errors as 0)
    found = rollouts(client)
    scored, unscored = (found[row["prompt"]] for row in rows)
    assert scored["ok"]
    assert not unscored["ok"]
    assert unscored["rewards"] == {"rlvr_score": None}
    assert unscored["errors"][-1]["type"] == "TaskError"
    assert "the verifier broke" in unscored["errors"][-1]["message"]
    assert unscored["metrics"]["is_verifier_error"] == 1.0


def test_the_oracle_passes_its_validation(client):
    printed = client.command(
        "vf-validate",
        *("rlvr_vf", "--taskset.ids", "Gcd-v0", "--taskset.count", "2"),
        *("--runtime.type", "subprocess"),
    )
    assert json.loads(printed[printed.index("{") :])["valid_rate"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "name --env.taskset.ids or --env.taskset.dataset"),
        (["--env.taskset.ids", "Gcdd-v0"], "did you mean"),
        (["--env.taskset.ids", "Gcd-v0", "--env.taskset.count", "0"], "count is an integer from 1"),
    ],
)
def test_bad_arguments_say_what_is_wrong(client, arguments, message):
    with pytest.raises(AssertionError, match=message):
        evaluate(client, "rlvr_vf", "--no-push", "--no-rich", *arguments)
