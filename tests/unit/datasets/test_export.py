"""Exports: the keys that each trainer reads, and a row inside from which alone to score."""

import json

import pytest

import rlvr_envs
from rlvr_envs.cli.export import PLAYERS
from rlvr_envs.cli.main import main
from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.core.tables import entries
from rlvr_envs.datasets.export import (
    DIALOGUES,
    EXPORTS,
    find_export,
    write_export,
)
from rlvr_envs.datasets.read import read_rows
from rlvr_envs.datasets.rows import pack, unpack

CARRIED_ROW = {
    "trl": lambda record: record["row"],
    "verl": lambda record: record["reward_model"]["ground_truth"],
    "openrlhf": lambda record: record["label"],
    "nemo_gym": lambda record: record["row"],
    "verifiers": lambda record: record["info"]["row"],
}


@pytest.mark.parametrize("name", CARRIED_ROW)
def test_the_row_that_an_export_carries_is_enough_to_score(name, halving_rows, secret_rows):
    for row in (halving_rows[0], secret_rows[0]):
        record = json.loads(json.dumps(EXPORTS[name](row, "train", 0)))
        carried = json.loads(CARRIED_ROW[name](record))
        assert carried == row
        assert rlvr_envs.verify(carried, rlvr_envs.solve(row)).score == 1.0


def test_keys_that_the_trainers_ask_for(halving_rows):
    row = halving_rows[4]
    chat = [{"role": "user", "content": row["prompt"]}]
    assert EXPORTS["trl"](row, "train", 0)["prompt"] == chat
    verl = EXPORTS["verl"](row, "test", 9)
    assert verl["data_source"] == row["id"]
    assert (verl["prompt"], verl["ability"]) == (chat, "math")
    assert verl["reward_model"]["style"] == "rule"
    assert (verl["extra_info"]["split"], verl["extra_info"]["index"]) == ("test", 9)
    openrlhf = EXPORTS["openrlhf"](row, "train", 0)
    assert (openrlhf["input"], openrlhf["datasource"]) == (chat, row["id"])
    gym = EXPORTS["nemo_gym"](row, "train", 0)
    assert gym["responses_create_params"] == {"input": chat}
    assert set(gym["agent_ref"]) == {"type", "name"}
    verifiers = EXPORTS["verifiers"](row, "train", 0)
    assert (verifiers["prompt"], verifiers["answer"]) == (chat, str(row["problem"]["half"]))
    assert "task" not in verifiers  # a plain string there is refused


def test_sft_is_the_dialogue_of_the_oracle(halving_rows, secret_rows):
    row = halving_rows[0]
    assert EXPORTS["sft"](row, "train", 0)["messages"] == [
        {"role": "user", "content": row["prompt"]},
        {"role": "assistant", "content": f"\\boxed{{{row['problem']['half']}}}"},
    ]
    row = max(secret_rows, key=lambda row: row["problem"]["secret"])
    messages = EXPORTS["sft"](row, "train", 0)["messages"]
    assert [m["role"] for m in messages] == ["user", "assistant"] * row["problem"]["secret"]
    assert messages[0]["content"] == row["prompt"]
    assert messages[2]["content"] == "larger"
    actions = [m["content"] for m in messages if m["role"] == "assistant"]
    assert rlvr_envs.verify(row, actions).score == 1.0


def test_sft_explained_has_the_steps_before_the_answer(halving_rows, secret_rows):
    row = rlvr_envs.make_problem("Gcd-v0", seed=3, difficulty=2)
    content = EXPORTS["sft_explained"](row, "train", 0)["messages"][-1]["content"]
    *steps, answer = content.split("\n")
    assert answer == f"\\boxed{{{row['reference']}}}"
    assert steps
    assert steps[-1].endswith(f"= {row['reference']}.")
    assert rlvr_envs.verify(row, content).score == 1.0
    for row in (halving_rows[0], secret_rows[0]):  # these have no worked solutions
        assert EXPORTS["sft_explained"](row, "train", 0) == EXPORTS["sft"](row, "train", 0)


@pytest.mark.parametrize("name", [name for name in EXPORTS if name != "nemo_gym"])
def test_parquet_holds_what_jsonl_does(name, halving_rows, tmp_path):
    pytest.importorskip("pyarrow")
    halving_rows[0]["difficulty"] = None
    for suffix in ("jsonl", "parquet"):
        path = tmp_path / f"a.{suffix}"
        assert write_export(name, halving_rows, path) == {path: 6}
    jsonl, parquet = (
        [entry.data for entry in entries(tmp_path / f"a.{suffix}")]
        for suffix in ("jsonl", "parquet")
    )
    assert jsonl == parquet


def test_what_cannot_be_exported_is_said(halving_rows, tmp_path):
    with pytest.raises(ConfigError, match="did you mean 'verl'"):
        find_export("verll")
    with pytest.raises(ConfigError, match=r"a nemo_gym file ends in \.jsonl"):
        write_export("nemo_gym", halving_rows, tmp_path / "a.parquet")
    for suffix in ("jsonl", "parquet"):
        with pytest.raises(ConfigError, match="no rows"):
            write_export("trl", [], tmp_path / f"a.{suffix}")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        (name, suffix)
        for name in CARRIED_ROW
        for suffix in ("jsonl", "parquet")
        if (name, suffix) != ("nemo_gym", "parquet")  # which it does not read
    ],
)
def test_interactive_rows_get_a_file_of_their_own(
    name, suffix, halving_rows, secret_rows, tmp_path
):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    path, beside = tmp_path / f"train.{suffix}", tmp_path / f"train.interactive.{suffix}"
    mixed = [secret_rows[0], *halving_rows, *secret_rows[1:]]
    counts = write_export(name, mixed, path)
    assert list(counts.items()) == [(path, len(halving_rows)), (beside, len(secret_rows))]
    for file, rows in ((path, halving_rows), (beside, secret_rows)):
        records = [entry.data for entry in entries(file)]
        assert [json.loads(CARRIED_ROW[name](record)) for record in records] == rows
    assert write_export(name, secret_rows, path) == {beside: len(secret_rows)}
    assert [each.name for each in tmp_path.iterdir()] == [beside.name]
    assert write_export(name, halving_rows, path) == {path: len(halving_rows)}
    assert [each.name for each in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", DIALOGUES)
def test_dialogues_stay_in_one_file(name, halving_rows, secret_rows, tmp_path):
    path = tmp_path / "train.jsonl"
    rows = [*secret_rows, *halving_rows]
    assert write_export(name, rows, path) == {path: len(rows)}


def test_rows_name_the_agent_that_answers_or_plays(halving_rows, secret_rows):
    single, several = halving_rows[0], secret_rows[0]
    verl = [EXPORTS["verl"](row, "train", 0)["agent_name"] for row in (single, several)]
    assert verl == ["single_turn_agent", "rlvr_envs"]
    nemo = [EXPORTS["nemo_gym"](row, "train", 0)["agent_ref"]["name"] for row in (single, several)]
    assert nemo == ["rlvr_envs_agent", "rlvr_envs_gymnasium_agent"]


def test_a_file_that_fails_halfway_leaves_the_old_one(halving_rows, tmp_path):
    path = tmp_path / "train.jsonl"
    write_export("trl", halving_rows, path)
    before = path.read_bytes()
    with pytest.raises(RowError, match="prompt"):
        write_export("trl", [*halving_rows, {"id": halving_rows[0]["id"]}], path)
    assert path.read_bytes() == before


def test_the_command_keeps_splits_apart(tmp_path, capsys):
    data = tmp_path / "data"
    main(["generate", "TestHalving-v0=40", "--split", "train=0.5,test=0.5", "--quiet",
          "--out", str(data)])  # fmt: skip
    assert main(["export", "--to", "verl", str(data), "--out", str(tmp_path / "verl")]) == 0
    for split in ("train", "test"):
        records = [entry.data for entry in entries(tmp_path / "verl" / f"{split}.jsonl")]
        assert [json.loads(r["reward_model"]["ground_truth"]) for r in records] == list(
            read_rows(data, split)
        )
    single = str(tmp_path / "all.jsonl")
    assert main(["export", "--to", "trl", str(data), "--out", single]) == 2
    assert "name one with --split" in capsys.readouterr().err
    assert main(["export", "--to", "trl", str(data), "--out", single, "--split", "test"]) == 0
    assert main(["export", "--to", "trl", str(data), "--out", single, "--split", "tets"]) == 2
    assert "did you mean 'test'" in capsys.readouterr().err


def test_the_command_says_what_plays_interactive_rows(tmp_path, capsys):
    data, out = tmp_path / "data", tmp_path / "out"
    ids = ["TestHalving-v0=4", "TestSecret-v0=1"]
    assert main(["generate", *ids, "--quiet", "--out", str(data)]) == 0
    capsys.readouterr()
    assert main(["export", "--to", "verl", str(data), "--out", str(out)]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first == f"{out / 'train.jsonl'}: 4 rows"
    assert second.startswith(f"{out / 'train.interactive.jsonl'}: 1 row of interactive tasks: ")
    assert "'rlvr_envs'" in second
    assert main(["export", "--to", "sft", str(data), "--out", str(tmp_path / "sft.jsonl")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'sft.jsonl'}: 5 rows\n"


def test_every_export_of_rows_says_what_plays_them():
    assert set(PLAYERS) == set(EXPORTS) - set(DIALOGUES)


def test_both_forms_of_a_row_are_read(halving_rows, secret_rows):
    for row in (*halving_rows, *secret_rows):
        assert unpack(pack(row)) == unpack(row) == row
