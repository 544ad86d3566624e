"""`rlvr view`."""

import re
import signal
import subprocess
import sys
import urllib.request

import pytest
from fakes.run_folders import record, write_run

from rlvr_envs.cli.main import main


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path / "run", [record(), record(seed=2)])


def test_it_writes_the_page(run, tmp_path, capsys):
    assert main(["view", str(run), "--out", f"{tmp_path}/page"]) == 0
    assert capsys.readouterr().out == f"{tmp_path}/page/index.html: 2 episodes\n"
    assert (tmp_path / "page" / "index.html").read_text("utf-8").startswith("<!DOCTYPE html>")


def test_a_page_of_the_same_run_is_written_anew(run, tmp_path, capsys):
    given = ["view", str(run), "--out", f"{tmp_path}/page"]
    assert main(given) == 0
    write_run(run, [record(), record(seed=2), record(seed=3)])
    assert main(given) == 0
    assert "index.html: 3 episodes" in capsys.readouterr().out


def test_a_page_of_another_run_is_replaced_by_force_only(run, tmp_path, capsys):
    other = write_run(tmp_path / "other", [record()])
    assert main(["view", str(run), "--out", f"{tmp_path}/page"]) == 0
    main_piece = tmp_path / "page" / "data" / "main.js"
    before = main_piece.read_bytes()
    given = ["view", str(other), "--out", f"{tmp_path}/page"]
    assert main(given) == 2
    told = capsys.readouterr().err
    assert "was not made of these runs" in told
    assert "--force" in told
    assert main_piece.read_bytes() == before
    assert main([*given, "--force"]) == 0
    assert "index.html: 1 episode\n" in capsys.readouterr().out


def test_it_serves_the_page_until_it_is_interrupted(run, tmp_path):
    command = [sys.executable, "-m", "rlvr_envs", "view", str(run), "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=_env(tmp_path)
    ) as process:
        address = re.search(r"^2 episodes at (http://127\.0\.0\.1:\d+/)", process.stdout.readline())
        with urllib.request.urlopen(address[1]) as page:
            assert b"viewer.js" in page.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert process.stderr.read() == ""
    assert list((tmp_path / "temporary").iterdir()) == []


def _env(tmp_path):
    import os

    (tmp_path / "temporary").mkdir()
    return {**os.environ, "TMPDIR": str(tmp_path / "temporary")}


def test_what_is_no_run_is_an_error(tmp_path, capsys):
    assert main(["view", str(tmp_path), "--out", f"{tmp_path}/page"]) == 2
    assert "holds no run" in capsys.readouterr().err
