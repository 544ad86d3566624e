"""verifiers: vf-eval plays our taskset against a model endpoint on this machine."""

import json
from pathlib import Path

import pytest
from fakes.openai_chat import WRONG, ChatServer, oracle

import rlvr_envs
from rlvr_envs.integrations.rows import open_rows

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples/integrations/verifiers.toml"
IDS = ["Gcd-v0", "GuessNumber-v0"]

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


def test_single_and_many_turns_are_scored_by_our_verdicts(client):
    rows = open_rows(IDS, count=4, difficulty="0")
    with ChatServer(oracle(rows, fails=(0,))) as server:
        printed = evaluate(client, "@", EXAMPLE, "-m", "stub", "--client.base-url", server.url)
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


def test_what_the_verifier_cannot_judge_is_an_error_without_a_reward(client):
    (client.folder / "broken_vf.py").write_text(BROKEN)
    rows = open_rows(IDS[:1], count=2, difficulty="0")
    with ChatServer(oracle(rows, fails=(1,))) as server:
        printed = evaluate(
            client,
            "broken_vf",
            *("--env.taskset.ids", "Gcd-v0", "--env.taskset.count", "2"),
            *("--env.taskset.difficulty", "0", "--env.agent.harness.id", "null"),
            *("--env.agent.runtime.type", "subprocess", "--no-push"),
            *("-m", "stub", "--client.base-url", server.url),
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
