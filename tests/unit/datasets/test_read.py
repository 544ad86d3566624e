"""Reading a dataset's folder: what its manifest lists, and nothing else."""

import json

import pytest

from rlvr_envs.cli.main import main
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.datasets.read import read_rows


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "dataset"
    command = ["generate", "Gcd-v0", "--count", "4", "--quiet", "--out", str(made)]
    assert main(command) == 0
    return made


def listed(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    return manifest, folder / manifest["files"][0]["name"]


def test_an_altered_file_is_refused_and_read_by_its_own_name(folder, capsys):
    assert main(["verify", str(folder), "--oracle"]) == 0
    _, path = listed(folder)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[1:]))
    assert main(["verify", str(folder), "--oracle"]) == 2
    told = capsys.readouterr().err
    assert "sha256" in told
    assert "name the file itself" in told
    assert main(["export", "--to", "trl", str(folder), "--out", str(folder / "x.jsonl")]) == 2
    assert main(["verify", str(path), "--oracle"]) == 0


def test_a_lost_file_is_refused(folder):
    listed(folder)[1].unlink()
    with pytest.raises(ConfigError, match="altered or lost"):
        list(read_rows(folder))


@pytest.mark.parametrize("name", ["../rows.jsonl", "data/../../rows.jsonl", "{outside}"])
def test_a_manifest_names_nothing_outside_of_its_folder(folder, tmp_path, name):
    manifest, path = listed(folder)
    outside = tmp_path / "rows.jsonl"
    path.rename(outside)
    manifest["files"][0]["name"] = name.format(outside=outside)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ConfigError, match="which is not in"):
        list(read_rows(folder))


@pytest.mark.parametrize(
    "files",
    [None, 5, [5], [{}], [{"name": "a", "split": "b"}], [{"name": 1, "split": 2, "sha256": 3}]],
)
def test_a_malformed_manifest_is_an_error(folder, files):
    manifest, _ = listed(folder)
    (folder / "manifest.json").write_text(json.dumps({**manifest, "files": files}))
    with pytest.raises(ConfigError, match="manifest"):
        list(read_rows(folder))
