"""`rlvr view`."""

import re
import signal
import subprocess
import sys
import threading
import urllib.request

import pytest
from fakes.run_folders import record, write_run

from rlvr_envs.cli.main import main
from rlvr_envs.cli.view import _Pages
from rlvr_envs.core.errors import RowError
from rlvr_envs.evaluation.viewer.serve import server


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


def test_a_run_that_goes_on_is_shown_as_it_is_when_the_page_is_loaded(run, tmp_path):
    pages = _Pages([str(run)], tmp_path / "pages")
    assert pages.newest() == "1"
    assert pages.newest() == "1"  # nothing has come
    write_run(run, [record(), record(seed=2), record(seed=3)])
    with server(pages.folder, newest=pages.newest) as serving:
        thread = threading.Thread(target=serving.serve_forever)
        thread.start()
        address = f"http://127.0.0.1:{serving.server_address[1]}"
        with urllib.request.urlopen(f"{address}/") as page:
            assert page.url == f"{address}/2/"
        with urllib.request.urlopen(f"{address}/1/index.html") as page:
            assert page.url == f"{address}/2/"
        with urllib.request.urlopen(f"{address}/1/data/main.js") as old:
            assert b'"rows":2' in old.read()
        with urllib.request.urlopen(f"{address}/2/data/main.js") as new:
            assert b'"rows":3' in new.read()
        serving.shutdown()
        thread.join()
    write_run(run, [record(seed=seed) for seed in range(5)])
    assert pages.newest() == "3"
    assert sorted(path.name for path in pages.folder.iterdir()) == ["2", "3"]
    assert pages.count == 5
    (run / "episodes.jsonl").write_text("nothing\n")
    with pytest.raises(RowError, match="line 1"):
        pages.newest()


def _env(tmp_path):
    import os

    (tmp_path / "temporary").mkdir()
    return {**os.environ, "TMPDIR": str(tmp_path / "temporary")}


def test_what_is_no_run_is_an_error(tmp_path, capsys):
    assert main(["view", str(tmp_path), "--out", f"{tmp_path}/page"]) == 2
    assert "holds no run" in capsys.readouterr().err
