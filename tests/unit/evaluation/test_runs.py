"""Runs are read in one shape, whichever command wrote them and when."""

import json

import pytest
from fakes.run_folders import old, problem, record, trained, write_run, write_training

from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.evaluation.runs import Run, labels, open_runs
from rlvr_envs.evaluation.store import question_of


def test_the_question_of_an_old_record_is_a_part_of_its_key():
    found = record("a|b", level=None, seed=7)
    assert question_of(found) == question_of(old(found)) == "rlvr/Gcd-v0|None|7"


def test_an_evaluation_is_read_in_full(tmp_path):
    written = record(
        response=["first", "second"],
        replies=["warmer", ""],
        reasoning=["hm", None],
        tool_calls=[[], [{"id": "1", "function": {"name": "act", "arguments": '{"text": "x"}'}}]],
        beside_calls=["", "So:"],
        tokens=12,
        verdict={"score": 0.5, "status": "partial", "detail": "half", "parts": {"q": 0.5}},
    )
    (found,) = Run(write_run(tmp_path, [written])).episodes()
    assert (found.actions, found.replies) == (["first", "second"], ["warmer", ""])
    assert found.reasoning == ["hm", ""]
    assert found.calls == ["", 'So:\nact({"text": "x"})']
    assert (found.score, found.status, found.detail) == (0.5, "partial", "half")
    assert found.facts == {"tokens": 12, "elapsed_s": 0.5}
    assert (found.step, found.reward) == (None, None)


def test_an_episode_without_response_or_score_is_read_too(tmp_path):
    (found,) = Run(write_run(tmp_path, [record(score=None, response=None)])).episodes()
    assert (found.actions, found.score, found.status) == ([], None, "policy_error")


def test_a_training_run_is_read_in_full(tmp_path):
    rows = [
        trained(3, seed=8),
        trained(
            4, seed=8, score=0.0, observations=["colder"], turn_rewards=[0, 0], texts=["a", "b"]
        ),
    ]
    first, second = Run(write_training(tmp_path / "grpo", rows)).episodes()
    assert (first.policy, first.question, first.domain) == ("grpo", "rlvr/Gcd-v0|2|8", "math")
    assert (first.step, first.score, first.reward) == (3, 1.0, 0.9)
    assert (first.actions, first.detail, first.prompt) == (
        ["try 3"],
        "said the verifier",
        "Prompt 8",
    )
    assert [first.sample, second.sample] == [0, 1]
    assert (second.actions, second.replies) == (
        ["a", "b"],
        ["colder"],
    )  # it ended without a verdict
    assert second.facts["turn_rewards"] == [0, 0]


def test_a_torn_last_line_is_passed_over_and_another_fault_is_named(tmp_path):
    run = write_run(tmp_path, [record()], [problem(record())])
    with (run / "problems.jsonl").open("a") as file:
        file.write('{"question": "to')
    assert len(list(Run(run).problems())) == 1
    for fault in ('{"prompt": "whose?"}\n', "[]\n", "{\n"):
        (run / "problems.jsonl").write_text(fault)
        with pytest.raises(RowError, match=r"problems\.jsonl, line 1"):
            list(Run(run).problems())
    training = write_training(tmp_path / "grpo", [trained(1)])
    for fault, told in (("[]\n", "line 2: no object"), ("{\n", "line 2: not JSON")):
        write_training(training, [trained(1)])
        with (training / "samples.jsonl").open("a") as file:
            file.write(fault)
        with pytest.raises(RowError, match=told):
            list(Run(training).episodes())


@pytest.mark.parametrize("change", [{"score": "high"}, {"step": None}, {"texts": 5, "status": 5}])
def test_a_faulty_sample_of_training_is_named(tmp_path, change):
    rows = [trained(1), {**trained(2), **change}]
    del rows[0]["info"]  # which is not needed
    path = write_training(tmp_path, rows)
    if "texts" in change:
        assert [each.actions for each in Run(path).episodes()][1] == ["5"]
        return
    with pytest.raises(RowError, match=r"samples.jsonl, line 2: no sample"):
        list(Run(path).episodes())


def test_a_policy_of_a_run_is_named_after_a_colon(tmp_path):
    run = write_run(tmp_path / "a:b", [record("constant:4"), record("oracle")])
    (found,) = open_runs([f"{run}:constant:4"])
    assert (found.path, found.policy) == (run, "constant:4")
    assert [each.policy for each in found.episodes()] == ["constant:4"]
    with pytest.raises(ConfigError, match=r"no policy 'orcale'; did you mean 'oracle'\?; it has"):
        open_runs([f"{run}:orcale"])


def test_a_folder_may_hold_several_runs(tmp_path):
    write_run(tmp_path / "b", [record()])
    write_training(tmp_path / "a", [trained(1)])
    (tmp_path / "other").mkdir()
    assert [run.name for run in open_runs([str(tmp_path)])] == ["a", "b"]


def test_what_is_no_run_is_refused(tmp_path):
    with pytest.raises(ConfigError, match=r"holds no run: neither episodes.jsonl"):
        open_runs([str(tmp_path)])
    with pytest.raises(ConfigError, match="there is no folder '/none/such'"):
        open_runs(["/none/such"])
    run = str(write_run(tmp_path / "a", [record()]))
    with pytest.raises(ConfigError, match="given twice"):
        open_runs([run, f"{run}/"])


def test_the_seed_of_a_run_is_known_where_it_is_stored(tmp_path):
    run = write_run(tmp_path, [record()], seed=4)
    assert Run(run).seed() == 4
    (run / "run.json").write_text(json.dumps([]))
    assert Run(run).seed() is None


def test_labels_are_as_short_as_they_can_be(tmp_path):
    a, b = (Run(write_run(tmp_path / name, [record()])) for name in "ab")
    assert labels([(a, "x"), (a, "y")]) == ["x", "y"]
    assert labels([(a, "x"), (b, "x")]) == ["a", "b"]
    assert labels([(a, "x"), (a, "y"), (b, "x")]) == ["a: x", "a: y", "b: x"]
    other = Run(write_run(tmp_path / "c" / "a", [record()]))
    assert labels([(a, "x"), (other, "x")]) == [f"{tmp_path}/a: x", f"{tmp_path}/c/a: x"]
    training = Run(write_training(tmp_path / "grpo", [trained(1)]))
    assert labels([(a, "x"), (a, "y"), (training, "y")]) == ["a: x", "a: y", "grpo"]


def test_halves_of_surrogate_pairs_are_left_out_of_names(tmp_path):
    (found,) = Run(write_run(tmp_path, [record("bad \ud800")])).episodes()
    assert (found.policy, found.question) == ("bad ?", "rlvr/Gcd-v0|0|1")
