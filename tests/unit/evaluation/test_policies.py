"""Each policy, asked directly."""

import asyncio
import json

import pytest

from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.source import open_source
from rlvr_envs.evaluation.policies import make_policy
from rlvr_envs.evaluation.policy import PolicyError, PolicyOptions, Request


def ask(policy, task="EvalPlus-v0", *, seed=7, sample=0, actions=(), difficulty=0):
    instance = open_source(task, difficulty=difficulty).draw(seed)
    messages = [{"role": "user", "content": instance.prompt()}]
    for action in actions:
        messages += [
            {"role": "assistant", "content": action},
            {"role": "user", "content": "go on"},
        ]
    response = asyncio.run(policy.act(Request(instance, tuple(messages), sample, 0, len(actions))))
    return instance, response.text


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return make_policy(f"recorded:{path}")


def test_the_oracle_earns_full_marks():
    instance, text = ask(make_policy("oracle"))
    assert instance.judge(text).score == 1.0


def test_the_oracle_plays_turn_by_turn_and_says_when_it_is_out_of_moves():
    instance, first = ask(make_policy("oracle"), "EvalHotCold-v0")
    _, second = ask(make_policy("oracle"), "EvalHotCold-v0", actions=[first])
    assert [first, second] == instance.solution()
    with pytest.raises(PolicyError, match="ends after 2 actions"):
        ask(make_policy("oracle"), "EvalHotCold-v0", actions=[first, second])


def test_random_is_seeded_differs_by_sample_and_keeps_the_format():
    policy = make_policy("random")
    texts = [ask(policy, sample=sample)[1] for sample in range(30)]
    assert texts == [ask(policy, sample=sample)[1] for sample in range(30)]
    assert len(set(texts)) > 5
    assert all(text.startswith("\\boxed{") and text.endswith("}") for text in texts)


def test_random_json_is_json():
    instance = open_source("EvalPlus-v0", answer_format="json").draw(1)
    messages = ({"role": "user", "content": instance.prompt()},)
    for sample in range(40):
        request = Request(instance, messages, sample, 0)
        text = asyncio.run(make_policy("random").act(request)).text
        assert instance.judge(text).detail != "no complete JSON answer was found"


@pytest.mark.parametrize(
    ("task", "text"), [("EvalPlus-v0", "\\boxed{4}"), ("EvalTagPlus-v0", "<answer>4</answer>")]
)
def test_a_constant_is_wrapped_in_the_tasks_format(task, text):
    assert ask(make_policy("constant:4"), task)[1] == text


def test_a_constant_may_hold_colons_or_nothing():
    assert ask(make_policy("constant:a:b"))[1] == "\\boxed{a:b}"
    assert ask(make_policy("constant:"))[1] == "\\boxed{}"


@pytest.mark.parametrize("spec", ["orcale", "", "x:y"])
def test_bad_policies_are_refused_and_the_known_ones_named(spec):
    with pytest.raises(ConfigError, match="known: oracle, random"):
        make_policy(spec)


@pytest.mark.parametrize("spec", ["openai", "openai:", "local:", "recorded", "constant"])
def test_a_policy_without_its_value_is_told_the_form(spec):
    with pytest.raises(ConfigError, match=f"lacks its value: {spec.strip(':')}:<"):
        make_policy(spec)


def test_a_misspelt_policy_gets_a_suggestion():
    with pytest.raises(ConfigError, match="did you mean 'oracle'"):
        make_policy("orcale")


@pytest.mark.parametrize(
    "option",
    [{"retries": -1}, {"concurrency": 0}, {"timeout_s": 0.0}, {"temperature": float("nan")}],
)
def test_bad_options_are_refused(option):
    with pytest.raises(ConfigError, match=next(iter(option))):
        PolicyOptions(**option)


def test_recorded_rows_are_found_by_each_name(tmp_path):
    instance = open_source("EvalPlus-v0", difficulty=0).draw(7)
    for name in (
        {"problem_seed": 7},
        {"problem_seed": 7, "id": "EvalPlus-v0"},
        {"problem_seed": 7, "task": "rlvr/EvalPlus-v0", "id": "rlvr/Math-v0", "difficulty": 0},
        {"fingerprint": instance.fingerprint()},
    ):
        policy = write_rows(tmp_path / "r.jsonl", [name | {"response": "mine\u2028too"}])
        assert ask(policy)[1] == "mine\u2028too"


def test_recorded_rows_of_another_problem_are_not_taken(tmp_path):
    for name in (
        {"problem_seed": 8},
        {"problem_seed": 7, "id": "rlvr/EvalTagPlus-v0"},
        {"problem_seed": 7, "difficulty": 1},
        {"fingerprint": "0" * 32},
    ):
        policy = write_rows(tmp_path / "r.jsonl", [name | {"response": "mine"}])
        with pytest.raises(PolicyError, match="no response is recorded"):
            ask(policy)


def test_rows_of_one_problem_are_its_samples(tmp_path):
    rows = [{"problem_seed": 7, "response": text} for text in ("a", "b")]
    policy = write_rows(tmp_path / "r.jsonl", [*rows, {"problem_seed": 7, "response": None}])
    assert [ask(policy, sample=i)[1] for i in range(2)] == ["a", "b"]
    with pytest.raises(PolicyError, match="only 2 responses"):
        ask(policy, sample=2)


def test_recorded_actions_are_played_in_turn(tmp_path):
    policy = write_rows(tmp_path / "r.jsonl", [{"problem_seed": 7, "response": ["x", "y"]}])
    assert ask(policy, "EvalHotCold-v0", actions=["x"])[1] == "y"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "a row is an object"),
        ('{"problem_seed": 1}', "a row is an object"),
        ('{"problem_seed": 1, "response": 3}', "a text or a list"),
        ('{"problem_seed": 1, "response": []}', "a text or a list"),
        ('{"response": "x"}', "needs 'problem_seed'"),
    ],
)
def test_bad_recorded_rows_are_named_by_line(tmp_path, line, message):
    path = tmp_path / "r.jsonl"
    path.write_text(f'{{"index": 1, "response": "x"}}\n{line}\n', encoding="utf-8")
    with pytest.raises(RowError, match=f"line 2: .*{message}"):
        make_policy(f"recorded:{path}")


def test_a_recording_that_is_missing_or_mixed_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="there is no file"):
        make_policy(f"recorded:{tmp_path / 'none.jsonl'}")
    (tmp_path / "garbage.jsonl").write_bytes(bytes(range(256)))
    with pytest.raises(ConfigError, match="cannot be read"):
        make_policy(f"recorded:{tmp_path / 'garbage.jsonl'}")
    rows = [{"index": 1, "response": "x", "policy": name} for name in ("a", "b")]
    with pytest.raises(ConfigError, match="several policies"):
        write_rows(tmp_path / "r.jsonl", rows)


@pytest.mark.parametrize(
    "row",
    [
        {"index": 1, "sample": "first"},
        {"index": 1, "sample": None},
        {"index": [1]},
        {"problem_seed": "7"},
        {"index": 1, "difficulty": [0]},
        {"fingerprint": ["a"]},
        {"fingerprint": "a", "policy": {"name": "b"}},
    ],
)
def test_a_recorded_row_of_wrong_types_is_named(row, tmp_path):
    with pytest.raises(RowError, match="line 2"):
        write_rows(tmp_path / "r.jsonl", [{"index": 0, "response": "x"}, row | {"response": "y"}])


def test_a_recording_may_begin_with_a_byte_order_mark(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps({"index": 0, "response": "x"}).encode() + b"\r\n")
    assert make_policy(f"recorded:{path}").name == f"recorded:{path}"
