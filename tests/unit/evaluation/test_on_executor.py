"""Episodes that other processes play: the same records, and nothing lost with a process."""

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from fakes.openai_chat import ChatServer
from fakes.policies import Faulty, Lacking, Mortal

from rlvr_envs.core.errors import ConfigError, DependencyError, WorkerError
from rlvr_envs.evaluation import FunctionPolicy, PolicyOptions, evaluate, make_policy
from rlvr_envs.evaluation.store import read_problems, read_records
from rlvr_envs.executors import Processes, Serial


@pytest.fixture(scope="module")
def processes():
    with Processes(2) as executor:
        yield executor


@pytest.fixture(params=["serial", "processes"])
def executor(request, processes):
    return processes if request.param == "processes" else Serial()


def plain(records):
    return [{k: v for k, v in record.items() if k != "elapsed_s"} for record in records]


def stored(folder):
    return list(read_records(folder / "episodes.jsonl"))


def problems(folder):
    return list(read_problems(folder / "problems.jsonl"))


@pytest.mark.parametrize("env_id", ["Gcd-v0", "GuessNumber-v0"])
def test_the_records_are_those_of_this_process_in_the_order_of_the_questions(
    executor, env_id, tmp_path
):
    asked = {"difficulty": [0, 1], "episodes": 6, "samples": 2}
    policies = ["oracle", "random", "constant:7"]
    evaluate(env_id, policies, **asked, out=tmp_path / "here", workers=1)
    run = evaluate(env_id, policies, **asked, out=tmp_path / "there", executor=executor)
    here, there = plain(stored(tmp_path / "here")), plain(stored(tmp_path / "there"))
    keys = [record["key"] for record in there]
    assert there == sorted(here, key=lambda record: keys.index(record["key"]))
    assert [record["key"] for record in run.records] == keys
    order = [(policies.index(r["policy"]), r["difficulty"]) for r in there]
    assert order == sorted(order)
    rows = problems(tmp_path / "there")
    assert len(rows) == 12
    assert sorted(map(repr, rows)) == sorted(map(repr, problems(tmp_path / "here")))


def test_a_notebook_and_a_thread_may_evaluate(executor):
    def score():
        run = evaluate("Gcd-v0", "oracle", episodes=3, executor=executor)
        return run.summary["overall"][0].score.mean

    async def notebook():
        return score()

    assert asyncio.run(notebook()) == 1.0
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(score).result() == 1.0


def test_a_recording_is_played(executor, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = evaluate("Gcd-v0", "random", episodes=5, samples=2, out="first")
    again = evaluate(
        "Gcd-v0", "recorded:first/episodes.jsonl", episodes=5, samples=2, executor=executor
    )
    verdicts = {r["key"].partition("|")[2]: r["verdict"]["status"] for r in first.records}
    assert {r["key"].partition("|")[2]: r["verdict"]["status"] for r in again.records} == verdicts


def test_an_endpoint_is_asked_from_there(processes, tmp_path):
    with ChatServer(lambda messages: r"\boxed{1}") as server:
        options = PolicyOptions(base_url=server.url)
        run = evaluate(
            "Gcd-v0", "openai:m", episodes=6, options=options, executor=processes, out=tmp_path
        )
        assert len(server.requests) == 6
    assert run.summary["overall"][0].unscored == 0
    assert {record["response"] for record in stored(tmp_path)} == {r"\boxed{1}"}


def test_an_episode_whose_process_ends_is_lost_alone_and_played_when_resumed(processes, tmp_path):
    first = evaluate("Gcd-v0", "oracle", episodes=12)
    seeds = [record["problem_seed"] for record in first.records[3:5]]
    policy = Mortal(seeds, tmp_path / "healed")
    run = evaluate("Gcd-v0", policy, episodes=12, executor=processes, out=tmp_path / "run")
    lost = [record for record in run.records if not record["scored"]]
    assert sorted(record["problem_seed"] for record in lost) == sorted(seeds)
    assert "the episode was lost: WorkerKilled" in lost[0]["verdict"]["detail"]
    (tmp_path / "healed").touch()
    run = evaluate("Gcd-v0", policy, episodes=12, executor=processes, out=tmp_path / "run")
    assert all(record["scored"] for record in run.records)
    assert len(stored(tmp_path / "run")) == 14


def test_a_response_whose_verifier_failed_is_only_judged_again(executor, tmp_path):
    evaluate("Gcd-v0", "oracle", episodes=3, out=tmp_path)
    path = tmp_path / "episodes.jsonl"
    records = stored(tmp_path)
    records[1]["verdict"] = {"score": 0.0, "status": "verifier_error", "detail": "", "parts": {}}
    records[1]["scored"] = False
    records[1]["response"] = kept = "Kept: " + records[1]["response"]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    run = evaluate("Gcd-v0", "oracle", episodes=3, out=tmp_path, executor=executor)
    assert [record["verdict"]["score"] for record in run.records] == [1.0] * 3
    assert stored(tmp_path)[-1]["response"] == kept


def test_what_is_missing_there_is_raised(executor):
    with pytest.raises(DependencyError, match="abacus"):
        evaluate("Gcd-v0", Lacking("lacking"), episodes=3, executor=executor)


def test_a_bug_of_the_policy_ends_the_run_as_it_does_here(executor, tmp_path):
    with pytest.raises(AttributeError, match="nonsense"):
        evaluate("Gcd-v0", Faulty("faulty"), episodes=3)
    with pytest.raises(WorkerError, match=r"'faulty' failed on rlvr/Gcd-v0.*nonsense"):
        evaluate("Gcd-v0", Faulty("faulty"), episodes=3, executor=executor, out=tmp_path)
    assert stored(tmp_path) == []


def test_a_task_that_only_this_process_knows_is_refused(processes):
    with pytest.raises(ConfigError, match=r"no environment 'rlvr/EvalPlus-v0'.*Another process"):
        evaluate("EvalPlus-v0", "oracle", episodes=3, executor=processes)


def test_a_policy_that_cannot_travel_is_refused(processes):
    policy = FunctionPolicy("mine", lambda messages: "7")
    with pytest.raises(ConfigError, match=r"'mine' cannot be sent.*without an executor"):
        evaluate("Gcd-v0", policy, episodes=3, executor=processes)
    paced = make_policy(
        "openai:m", PolicyOptions(base_url="http://127.0.0.1:9/v1", requests_per_minute=60)
    )
    with pytest.raises(ConfigError, match="requests_per_minute=60 holds in one process"):
        evaluate("Gcd-v0", paced, episodes=3, executor=processes)


def test_threads_and_an_executor_exclude_each_other(processes):
    with pytest.raises(ConfigError, match="give one"):
        evaluate("Gcd-v0", "oracle", workers=2, executor=processes)
    with pytest.raises(ConfigError, match="`open_executor` returns, got 'ray'"):
        evaluate("Gcd-v0", "oracle", executor="ray")


def test_the_problems_of_a_finished_run_that_has_none_are_made_there(executor, tmp_path):
    evaluate("Gcd-v0", "oracle", episodes=5, shots=1, out=tmp_path)
    before = problems(tmp_path)
    (tmp_path / "problems.jsonl").unlink()
    evaluate("Gcd-v0", "oracle", episodes=5, shots=1, out=tmp_path, executor=executor)
    assert {row["question"]: row for row in problems(tmp_path)} == {
        row["question"]: row for row in before
    }
    assert len(stored(tmp_path)) == 5


def test_no_folder_stores_nothing_and_runs_no_oracle(monkeypatch):
    from rlvr_envs.evaluation import on_executor

    def never(question, plan):
        raise AssertionError("the problem is made for nothing")

    monkeypatch.setattr(on_executor, "stored_problem", never)
    run = evaluate("Gcd-v0", "constant:1", episodes=3, executor=Serial())
    assert run.summary["overall"][0].episodes == 3
