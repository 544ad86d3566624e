"""Hugging Face datasets reads our folders by their cards, and our exports; verifiers its rows."""

import json
from pathlib import Path

import pytest

from rlvr_envs.cli.main import main
from rlvr_envs.datasets.export import DIALOGUES, EXPORTS
from rlvr_envs.datasets.read import read_rows

EXAMPLE = Path(__file__).parents[2] / "examples/integrations/load_with_datasets.py"
IDS = ("Gcd-v0=20", "GuessNumber-v0=10", "Sudoku-v0=10")

FOLDER = """
import json, sys
from datasets import load_dataset
import rlvr_envs
from rlvr_envs.datasets.rows import unpack

data = load_dataset(sys.argv[1])
rows = {split: [unpack(row) for row in data[split]] for split in data}
every = [row for split in rows.values() for row in split]
scores = [rlvr_envs.verify(row, rlvr_envs.solve(row)).score for row in every]
print(json.dumps({"rows": rows, "scores": scores}))
"""

EXPORT = """
import json, sys
from datasets import load_dataset
data = load_dataset(sys.argv[1], data_files={"train": sys.argv[2]}, split="train")
print(json.dumps(list(data)))
"""

# The class that docs/datasets.md describes; its fields take every key of an exported row.
TASK_DATA = """
import json, sys
from typing import Any
import verifiers.v1 as vf
import rlvr_envs

class RlvrData(vf.TaskData):
    answer: str
    info: dict[str, Any]

for line in open(sys.argv[1], encoding="utf-8"):
    record = json.loads(line)
    data = RlvrData(**record)
    assert set(record) <= set(RlvrData.model_fields)
    row = json.loads(data.info["row"])
    assert [message.content for message in data.prompt] == [row["prompt"]]
    print(data.name, rlvr_envs.verify(row, rlvr_envs.solve(row)).score)
"""


def generate(folder, file_format, *more):
    arguments = ["--difficulty", "0-2", "--seed", "1", "--format", file_format, "--quiet"]
    assert main(["generate", *IDS, *arguments, *more, "--out", str(folder)]) == 0
    return folder


def printed(client, code, *arguments):
    return json.loads(client.run("-c", code, *arguments).splitlines()[-1])


@pytest.mark.parametrize("file_format", ["jsonl", "parquet"])
def test_a_dataset_folder_loads_by_its_card(client, tmp_path, file_format):
    folder = generate(tmp_path / "data", file_format, "--split", "train=0.7,test=0.3")
    found = printed(client, FOLDER, folder)
    assert found["scores"] == [1.0] * 40
    assert set(found["rows"]) == {"train", "test"}
    for split, rows in found["rows"].items():
        expected = list(read_rows(folder, split))
        if file_format == "jsonl":  # where a column mixes texts and lists, "5" comes back as 5
            for row in (*rows, *expected):
                del row["reference"]
        assert rows == expected


@pytest.mark.parametrize("name", EXPORTS)
def test_both_files_of_an_export_load(client, tmp_path, name):
    folder = generate(tmp_path / "data", "parquet")
    kinds = ["json"] if name == "nemo_gym" else ["json", "parquet"]
    for kind in kinds:
        suffix = "jsonl" if kind == "json" else kind
        out = tmp_path / kind
        main(["export", "--to", name, str(folder), "--out", str(out / f"train.{suffix}")])
        found = [len(printed(client, EXPORT, kind, path)) for path in sorted(out.iterdir())]
        assert found == ([40] if name in DIALOGUES else [10, 30])  # train.interactive, train


def test_rows_for_verifiers_are_task_data(client, tmp_path):
    folder = generate(tmp_path / "data", "jsonl")
    main(["export", "--to", "verifiers", str(folder), "--out", str(tmp_path / "out")])
    for file, count in (("train", 30), ("train.interactive", 10)):
        lines = client.run("-c", TASK_DATA, tmp_path / "out" / f"{file}.jsonl").splitlines()
        assert len(lines) == count
        assert all(line.endswith(" 1.0") for line in lines)


def test_the_example(client):
    printed = client.run(EXAMPLE).splitlines()
    assert printed[-1].startswith("always answering 1 scores ")
