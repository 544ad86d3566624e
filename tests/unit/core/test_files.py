"""Files that are replaced whole, and folders that one process at a time writes to."""

import os
import subprocess
import sys

import pytest

from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.files import LOCK, locked, replaced


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
