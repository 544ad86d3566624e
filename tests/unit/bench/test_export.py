"""An experiment as a folder for somebody else's trainer."""

import hashlib
import json
from dataclasses import replace

import pytest
from small_suite import PROBLEMS, small_suite

import rlvr_envs
from rlvr_envs.bench import starts
from rlvr_envs.bench.draw import rows_of
from rlvr_envs.bench.export import (
    JOB,
    LINES,
    START,
    TRAIN,
    check_training,
    export,
    read_export,
    training_rows,
)
from rlvr_envs.bench.noise import reward
from rlvr_envs.bench.suite import Noise, TaskLevels
from rlvr_envs.core.errors import ConfigError

NOISY = Noise(passes_wrong=1.0)


@pytest.fixture(scope="module")
def suite():
    return small_suite()


@pytest.fixture
def exported(suite, tmp_path):
    export(suite, "small", tmp_path / "out", seed=3)
    return tmp_path / "out"


def test_the_folder_has_rows_start_and_job_and_nothing_else(suite, exported):
    assert sorted(path.name for path in exported.iterdir()) == sorted([TRAIN, START, JOB])
    assert starts.digest(exported / START) == next(iter(suite.starts.values())).sha256


def test_the_job_says_what_the_suite_decides(suite, exported):
    job, rows = read_export(exported)
    experiment = suite.experiment("small")
    assert (job.suite, job.suite_hash, job.experiment) == ("small-v1", suite.hash, "small")
    assert (job.seed, job.samples, job.tokens, job.batch) == (3, 64, 2000, 16)
    assert (job.max_tokens, job.context, job.temperature) == (12, 128, 1.0)
    assert job.fractions == (0.5, 1.0)
    assert job.question == experiment.question
    assert job.settings == experiment.settings
    assert len(rows) == PROBLEMS["train"]


def test_no_test_or_validation_problem_is_in_any_file(suite, exported):
    experiment = suite.experiment("small")
    texts = b"".join(path.read_bytes() for path in exported.rglob("*.json*"))
    held_out = [row for name in ("validation", "test") for row in rows_of(experiment, name)]
    for row in held_out:
        assert row["fingerprint"].encode() not in texts
        assert json.dumps(row["prompt"], ensure_ascii=False).encode() not in texts
    assert rows_of(experiment, "train")[0]["fingerprint"].encode() in texts


def test_rows_lack_the_reference_and_are_judged_the_same(suite, exported):
    _, rows = read_export(exported)
    for row, whole in zip(rows, rows_of(suite.experiment("small"), "train"), strict=True):
        assert "reference" not in row
        assert rlvr_envs.verify(row, rlvr_envs.solve(whole)).score == 1
        assert rlvr_envs.verify(row, "no idea").score == 0


@pytest.mark.parametrize(
    ("to", "name"),
    [
        ("trl", "train.trl.jsonl"),
        ("verl", "train.verl.parquet"),
        ("openrlhf", "train.openrlhf.jsonl"),
        ("nemo-gym", "train.nemo_gym.jsonl"),
    ],
)
def test_rows_are_written_as_trainers_read_them(suite, tmp_path, to, name):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    export(suite, "small", tmp_path, seed=0, to=to)
    assert (tmp_path / name).stat().st_size
    if to == "trl":  # of a model without a chat template: plain texts on lines of their own
        first = json.loads((tmp_path / name).read_bytes().splitlines()[0])
        assert first["prompt"] == training_rows(suite.experiment("small"))[0]["prompt"] + "\n"
        assert "reference" not in json.loads(first["row"])


def test_rows_of_several_turns_go_into_a_file_of_their_own(tmp_path):
    several = small_suite(train=(TaskLevels(task="GuessNumber-v0", levels=(0,)),))
    export(several, "small", tmp_path, seed=0, to="openrlhf")
    assert not (tmp_path / "train.openrlhf.jsonl").exists()
    assert (tmp_path / "train.openrlhf.interactive.jsonl").stat().st_size


def test_the_chat_template_makes_the_prompts_of_our_own_agent(suite, exported):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch")
    from rlvr_envs.agents.grpo.chat import Chat

    job, rows = read_export(exported)
    tokenizer = transformers.AutoTokenizer.from_pretrained(exported / START)
    assert job.chat_template == LINES
    for row in rows:
        ours = Chat(tokenizer).opening(row["prompt"])
        asked = [{"role": "user", "content": row["prompt"]}]
        theirs = tokenizer.apply_chat_template(
            asked, chat_template=job.chat_template, add_generation_prompt=True, return_dict=True
        )
        assert tuple(theirs["input_ids"]) == ours


def test_an_unknown_format_is_refused_with_a_suggestion(suite, tmp_path):
    with pytest.raises(ConfigError, match=r"'tlr'.*'trl'"):
        export(suite, "small", tmp_path, seed=0, to="tlr")
    with pytest.raises(ConfigError, match="sft"):  # which would hand out solutions
        export(suite, "small", tmp_path, seed=0, to="sft")


def test_a_folder_that_holds_something_is_left_alone(suite, exported):
    with pytest.raises(ConfigError, match="holds something"):
        export(suite, "small", exported, seed=0)
    with pytest.raises(ConfigError, match="holds something"):
        export(suite, "small", exported / JOB, seed=0)


def test_an_altered_start_is_refused(suite, tmp_path):
    (name, start), *_ = suite.starts.items()
    other = replace(suite, starts={name: replace(start, sha256="0" * 64)})
    with pytest.raises(ConfigError, match="SHA-256"):
        export(other, "small", tmp_path, seed=0)


def test_a_verifier_that_errs_is_paid_by_our_function_and_no_other(tmp_path):
    suite = small_suite(noise=NOISY)
    job = export(suite, "small", tmp_path / "out", seed=1)
    row = read_export(tmp_path / "out")[1][0]
    right = rlvr_envs.solve(rows_of(suite.experiment("small"), "train")[0])
    # every wrong answer passes for right
    assert reward(json.dumps(row), "no idea", job.noise) == 1
    assert reward(row, "no idea") == 0
    assert reward(row, right, job.noise) == reward(row, right) == 1
    with pytest.raises(ConfigError, match=r"the verifier of small errs.*of verl does not"):
        export(suite, "small", tmp_path / "verl", seed=1, to="verl")
    assert not (tmp_path / "verl").exists()


def test_a_reward_of_several_turns_takes_actions():
    suite = small_suite(train=(TaskLevels(task="GuessNumber-v0", levels=(0,)),))
    rows = rows_of(suite.experiment("small"), "train")
    actions = rlvr_envs.solve(rows[0])
    assert reward(rows[0], actions) == 1
    assert reward(rows[0], actions[:-1]) < 1


@pytest.mark.parametrize("split", ["validation", "test"])
def test_a_problem_of_another_split_is_found_in_training_data(suite, split):
    experiment = suite.experiment("small")
    rows = [*training_rows(experiment), *rows_of(experiment, split)[:1]]
    with pytest.raises(ConfigError, match=f"row 48 is a problem of {split} of small"):
        check_training(experiment, rows)


def test_a_problem_that_is_none_of_the_experiments_is_found(suite):
    other = rlvr_envs.make_problem("Gcd-v0", seed=1)
    with pytest.raises(ConfigError, match="row 0 is a problem of no split"):
        check_training(suite.experiment("small"), [other])


@pytest.mark.parametrize("key", ["prompt", "config", "problem", "fingerprint", "answer_format"])
def test_an_altered_row_is_found(suite, key):
    experiment = suite.experiment("small")
    rows = training_rows(experiment)
    check_training(experiment, rows)
    given = {
        "prompt": "What is 1?",
        "config": rows[5]["config"] | {"max_coefficient": 5},
        "problem": rows[5]["problem"] | {"derivative": "0"},
        "fingerprint": rows[6]["fingerprint"],
        "answer_format": "raw",
    }
    rows[5] = rows[5] | {key: given[key]}
    with pytest.raises(ConfigError, match="training row 5"):
        check_training(experiment, rows)


def test_altered_files_of_an_export_are_refused(exported):
    path = exported / TRAIN
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[1:]))
    with pytest.raises(ConfigError, match="were altered: export again"):
        read_export(exported)
    path.write_bytes(b"".join(lines))
    assert read_export(exported)[0].rows_sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    (exported / JOB).write_text("{}")
    with pytest.raises(ConfigError, match="no export"):
        read_export(exported)
