"""lm-eval: its command against a model of ours, which answers a known share of problems."""

import json
from pathlib import Path

import pytest
from fakes.openai_chat import ChatServer, oracle

from rlvr_envs.core import registry
from rlvr_envs.datasets.rows import json_line
from rlvr_envs.integrations.rows import open_rows

SCRIPTS = Path(__file__).with_name("scripts")
EXAMPLE = Path(__file__).parents[2] / "examples/integrations/evaluate_with_lm_eval.py"


def evaluate(client, server, task, **options):
    path = f"{SCRIPTS}:{client.folder}"
    folder = client.run("-m", "rlvr_envs.integrations.lm_eval", PYTHONPATH=path).strip()
    client.command(
        "lm_eval", "run", "--model=local-chat-completions",
        "--model_args", f"model=any,base_url={server.url}/chat/completions,max_retries=1",
        "--tasks", task, "--include_path", folder, "--apply_chat_template",
        "--metadata", json.dumps({"rlvr": options}),
        "--output_path=out", "--log_samples",
        PYTHONPATH=path, OPENAI_API_KEY="none",
    )  # fmt: skip
    (path,) = (client.folder / "out").rglob("results_*.json")
    return json.loads(path.read_text("utf-8"))


def test_the_score_of_a_domain_is_the_share_that_the_model_solves(client):
    ids = [i for i in registry.task_ids("math") if registry.find(i).weight > 0]
    rows = open_rows(ids, count=10, difficulty="0-1", seed=4)
    with ChatServer(oracle(rows, fails=(1, 4, 8))) as server:
        found = evaluate(client, server, "rlvr_math", count=10, difficulty="0-1", seed=4)
    results = found["results"]["rlvr_math"]
    assert results["score,none"] == pytest.approx(0.7)
    assert results["solved,none"] == pytest.approx(0.7)
    assert results["unscored,none"] == 0.0
    assert results["score_stderr,none"] == pytest.approx((0.7 * 0.3 / 9) ** 0.5)
    assert found["versions"]["rlvr_math"] == 0
    asked = [request["messages"] for request in server.requests]
    assert sorted(messages[0]["content"] for messages in asked) == sorted(r["prompt"] for r in rows)
    assert {len(messages) for messages in asked} == {1}


def test_a_verifier_that_fails_is_left_out_of_the_mean(client):
    """The third answer breaks the verifier; of the other three, two are right."""
    plugin = client.folder / "broken-1.dist-info"
    plugin.mkdir()
    (plugin / "entry_points.txt").write_text("[rlvr_envs.tasks]\nbroken = broken_task\n")
    rows = json.loads(
        client.run(
            "-c",
            "import rlvr_envs, json\n"
            "make = rlvr_envs.make_problem\n"
            "print(json.dumps([make('TestBroken-v0', seed=s) for s in range(4)]))",
            PYTHONPATH=f"{SCRIPTS}:{client.folder}",
        )
    )
    answers = {row["prompt"]: f"\\boxed{{{row['reference']}}}" for row in rows}
    answers[rows[2]["prompt"]] = "\\boxed{break}"
    answers[rows[3]["prompt"]] = "\\boxed{-1}"
    (client.folder / "rows.jsonl").write_bytes(b"".join(map(json_line, rows)))
    with ChatServer(lambda messages: answers[messages[0]["content"]]) as server:
        found = evaluate(client, server, "rlvr_custom", dataset="rows.jsonl")
    results = found["results"]["rlvr_custom"]
    assert results["score,none"] == pytest.approx(2 / 3)
    assert results["unscored,none"] == 0.25


def test_ids_with_a_knob(client):
    rows = open_rows("Gcd-v0", count=4, difficulty=1, knobs={"max_divisor": 50})
    with ChatServer(oracle(rows, fails=(2,))) as server:
        found = evaluate(
            client, server, "rlvr_custom", ids=["Gcd-v0"], count=4, difficulty=1, max_divisor=50
        )
    assert found["results"]["rlvr_custom"]["score,none"] == 0.75


def test_the_group_is_the_mean_of_every_domain_with_tasks_of_one_turn(client):
    domains = {}
    for spec in map(registry.find, registry.task_ids()):
        if spec.weight > 0 and not spec.interactive:
            domains.setdefault(spec.domain, []).append(spec.id)
    rows = [row for each in domains.values() for row in open_rows(each, count=2, difficulty=0)]
    with ChatServer(oracle(rows, fails=(0,))) as server:
        found = evaluate(client, server, "rlvr", count=2, difficulty=0)
    scores = {name: result["score,none"] for name, result in found["results"].items()}
    first, *others = (f"rlvr_{domain}" for domain in domains)
    expected = {first: 0.5, "rlvr": 1 - 0.5 / len(domains)} | dict.fromkeys(others, 1.0)
    assert scores == pytest.approx(expected)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"ids": ["Gcd-v0", "Mastermind-v0"], "count": 2}, "cannot play rlvr/Mastermind-v0"),
        ({}, "needs one of 'ids' and 'dataset'"),
        ({"ids": ["Gcd-v0"], "dificulty": 2}, "no knob 'dificulty'; did you mean 'difficulty'"),
    ],
)
def test_what_cannot_be_asked_is_said(client, options, reason):
    printed = client.run(
        "-c",
        "import sys, json\n"
        "from rlvr_envs.core.errors import ConfigError\n"
        "from rlvr_envs.integrations.lm_eval import load_rows\n"
        "try:\n"
        "    load_rows(rlvr=json.loads(sys.argv[1]), model='any')\n"
        "except ConfigError as error:\n"
        "    print(error)",
        json.dumps(options),
    )
    assert reason in printed


def test_the_example(client):
    printed = client.run(EXAMPLE).splitlines()[-2:]
    assert printed == ["rlvr_math: 0.000 ± 0.000", "rlvr_puzzles: 0.000 ± 0.000"]
