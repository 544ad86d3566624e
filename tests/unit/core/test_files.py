"""Files that are replaced whole, and folders that one process at a time writes to."""

import json
import os
import subprocess
import sys

import pytest

import rlvr_envs
from rlvr_envs.cli.main import main
from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.files import (
    LOCK,
    appended,
    is_draft,
    locked,
    remove_drafts,
    replaced,
    replaced_path,
)


def test_a_file_is_the_old_one_until_the_new_one_is_whole(tmp_path):
    path = tmp_path / "numbers"
    path.write_text("old")
    with replaced(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_leaves_nothing_behind(tmp_path):
    path = tmp_path / "numbers"
    path.write_text("old")

    def fail():
        with replaced(path) as file:
            file.write(b"half")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_in_the_place_of_the_new_file_is_not_followed(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    monkeypatch.setattr("rlvr_envs.core.files.secrets.token_hex", lambda _: "guessed")
    (tmp_path / ".numbers.guessed").symlink_to(victim)
    with pytest.raises(FileExistsError), replaced(tmp_path / "numbers") as file:
        file.write(b"stolen")
    assert victim.read_text() == "mine"


def test_a_second_process_is_told_who_has_the_folder(tmp_path):
    program = (
        "import sys\n"
        "from pathlib import Path\n"
        "from rlvr_envs.core.errors import UsageError\n"
        "from rlvr_envs.core.files import locked\n"
        "try:\n"
        "    with locked(Path(sys.argv[1])):\n"
        "        print('got it')\n"
        "except UsageError as error:\n"
        "    print(error)\n"
    )

    def attempt():
        command = [sys.executable, "-c", program, str(tmp_path / "run")]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    with locked(tmp_path / "run"):
        told = attempt()
        assert f"another process ({os.getpid()}) is writing to {tmp_path / 'run'}" in told
        with pytest.raises(UsageError), locked(tmp_path / "run"):
            pass
    assert attempt() == "got it\n"


def test_a_lock_is_not_made_through_a_link(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / LOCK).symlink_to(victim)
    with pytest.raises(ConfigError, match="cannot be written to"), locked(tmp_path / "run"):
        pass
    assert victim.read_text() == "mine"


def test_a_path_for_a_library_is_replaced_whole_too(tmp_path):
    path = tmp_path / "weights"
    path.write_text("old")
    with replaced_path(path) as beside:
        beside.write_text("new")
        assert (path.read_text(), is_draft(beside), is_draft(path)) == ("old", True, False)
    assert path.read_text() == "new"
    with pytest.raises(FileExistsError), replaced_path(path) as beside:
        beside.open("x")
    assert [each.name for each in tmp_path.iterdir()] == ["weights"]


def test_what_a_killed_process_left_is_removed_and_nothing_else(tmp_path):
    spared = [".hidden", "name", ".name.0123", ".name.0123456789abcdeg"]
    for name in [*spared, ".name.0123456789abcdef"]:
        (tmp_path / name).touch()
    remove_drafts(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(spared)


def test_a_file_that_grows_is_never_opened_through_a_link(tmp_path):
    path, victim = tmp_path / "lines", tmp_path / "victim"
    for text in (b"one\n", b"two\n"):
        with appended(path) as file:
            file.write(text)
    assert path.read_bytes() == b"one\ntwo\n"
    for target in (path, victim):  # one that is there, and one that would be made
        (tmp_path / "link").symlink_to(target)
        with pytest.raises(OSError, match="symbolic links"):
            appended(tmp_path / "link")
        (tmp_path / "link").unlink()
    assert not victim.exists()


def test_a_run_does_not_grow_a_file_behind_a_link(tmp_path):
    folder, victim = tmp_path / "run", tmp_path / "victim"
    folder.mkdir()
    (folder / "episodes.jsonl").symlink_to(victim)
    command = ["eval", "Gcd-v0", "--policy", "oracle", "--episodes", "1", "--out", str(folder)]
    assert main(command) == 1
    assert not victim.exists()


LINKED = {
    "an export": ("train.jsonl.part", "export --to trl {rows} --out {folder}/train.jsonl"),
    "verdicts": ("v.jsonl.part", "verify {rows} --oracle --out {folder}/v.jsonl"),
    "a run's settings": (
        "run.json.new",
        "eval Gcd-v0 --policy oracle --episodes 1 --out {folder}",
    ),
}


@pytest.mark.parametrize("what", LINKED)
def test_no_command_writes_through_a_name_that_others_foresee(what, tmp_path):
    name, command = LINKED[what]
    folder = tmp_path / "folder"
    folder.mkdir()
    victim, rows = tmp_path / "victim", tmp_path / "rows.jsonl"
    victim.write_text("mine")
    rows.write_text(json.dumps(rlvr_envs.make_problem("Gcd-v0", seed=1)) + "\n")
    (folder / name).symlink_to(victim)
    assert main(command.format(rows=rows, folder=folder).split()) == 0
    assert victim.read_text() == "mine"
    assert {path.name for path in folder.iterdir()} > {name}
