"""Inspect: its command against a model of ours, and its Python interface."""

import json
import math
from pathlib import Path

import pytest
from fakes.openai_chat import ChatServer, oracle

from rlvr_envs.integrations.rows import open_rows

SCRIPTS = Path(__file__).with_name("scripts")
EXAMPLE = Path(__file__).parents[2] / "examples/integrations/evaluate_with_inspect.py"


def log_of(client):
    (path,) = (client.folder / "logs").glob("*.json")
    return json.loads(path.read_text("utf-8"))


def evaluate(client, server, task, *arguments):
    printed = client.command(
        "inspect", "eval", task, *arguments,
        "--model=openai-api/stub/any", "--model-base-url", server.url,
        "--log-dir=logs", "--log-format=json", "--display=plain",
        STUB_API_KEY="none",
    )  # fmt: skip
    return printed, log_of(client)


def test_the_command_scores_one_turn_and_many(client):
    rows = open_rows(["Gcd-v0", "GuessNumber-v0"], count=10, difficulty="0-1", seed=5)
    with ChatServer(oracle(rows, fails=(0, 3, 7))) as server:
        printed, log = evaluate(
            client, server, "rlvr_envs/rlvr", "-T", "ids=Gcd-v0,GuessNumber-v0",
            "-T", "difficulty=0-1", "-T", "count=10", "-T", "seed=5",
        )  # fmt: skip
    (result,) = log["results"]["scores"]
    assert result["metrics"]["mean"]["value"] == pytest.approx(0.7)
    assert result["scored_samples"] == 10
    assert "0.7" in printed
    assert [sample["metadata"]["row"] for sample in log["samples"]] == rows
    statuses = [sample["scores"]["verdict"]["metadata"]["status"] for sample in log["samples"]]
    assert statuses.count("correct") == 7


def test_a_task_by_its_name(client):
    rows = open_rows("Gcd-v0", count=4, difficulty=2, knobs={"max_divisor": 50})
    with ChatServer(oracle(rows)) as server:
        _, log = evaluate(
            client, server, "rlvr_envs/Gcd-v0",
            "-T", "difficulty=2", "-T", "count=4", "-T", "max_divisor=50",
        )  # fmt: skip
    assert log["eval"]["task"] == "rlvr_envs/Gcd-v0"
    assert log["results"]["scores"][0]["metrics"]["mean"]["value"] == 1.0


def test_a_domain_by_its_name(client):
    rows = open_rows("Math-v0", count=4, difficulty="0,2")
    with ChatServer(oracle(rows)) as server:
        _, log = evaluate(client, server, "rlvr_envs/math", "-T", "difficulty=0,2", "-T", "count=4")
    assert [sample["metadata"]["difficulty"] for sample in log["samples"]] == [0, 2, 0, 2]
    assert log["results"]["scores"][0]["metrics"]["mean"]["value"] == 1.0


def test_a_dataset(client):
    from rlvr_envs.datasets.rows import json_line

    rows = open_rows("Gcd-v0", count=5, difficulty=0)
    (client.folder / "rows.jsonl").write_bytes(b"".join(map(json_line, rows)))
    with ChatServer(oracle(rows, fails=(1,))) as server:
        _, log = evaluate(
            client, server, "rlvr_envs/rlvr", "-T", "dataset=rows.jsonl", "-T", "count=4"
        )
    assert log["results"]["scores"][0]["metrics"]["mean"]["value"] == 0.75


def test_python(client):
    found = json.loads(
        client.run(
            "-c",
            "import broken_task, inspect_in_python as checks, json, sys\n"
            "print(json.dumps({name: getattr(checks, name)() for name in sys.argv[1:]}))",
            *("hostile", "unscored", "epochs", "limited", "turns", "loop_is_free"),
            PYTHONPATH=str(SCRIPTS),
        ).splitlines()[-1]
    )
    hostile = found["hostile"]
    assert hostile["elsewhere"]
    assert hostile["ended"] == ["nan", "verifier_error"]
    assert hostile["busy"][0] == 0.0
    assert hostile["busy"][1] in ("wrong", "unparsable", "undecided", "timeout")
    unscored = found["unscored"]
    assert unscored["values"] == ["1.0", "nan"]
    assert unscored["status"] == "verifier_error"
    assert "this verifier is broken" in unscored["explanation"]
    assert (unscored["mean"], unscored["counts"]) == (1.0, [1, 1])
    # Scores 1, 1, 0, 0 of four problems, each twice: the deviation .5 by the root of 4 - 1.
    mean, *errors = found["epochs"]
    assert mean == 0.5
    assert errors == pytest.approx([0.5 / math.sqrt(3)] * 2)
    assert found["limited"][:2] == [0.0, "wrong"]
    assert "not over" in found["limited"][2]
    assert found["limited"][3] == "message"
    turns = found["turns"]
    assert turns["value"] == 1.0
    assert turns["roles"] == turns["expected"]
    assert len(turns["roles"]) > 2
    assert turns["parts"]
    assert found["loop_is_free"] == 1.0


def test_the_example(client):
    *verdicts, mean, stderr = client.run(EXAMPLE).splitlines()
    assert len(verdicts) == 10
    assert mean.startswith("mean: ")
    assert stderr.startswith("stderr: ")
