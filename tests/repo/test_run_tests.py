"""The suite in pieces, where the machine limits the CPU time of a process."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "run_tests.py"
BUSY = """
import time, pytest
@pytest.mark.parametrize("number", range(4))
def test_busy(number):
    begin = time.process_time()
    while time.process_time() < begin + 0.6:
        pass
"""
MIXED = """
import os, pathlib, signal, pytest
def test_right(): pass
def test_wrong(): assert False, "as planned"
def test_left_out(): pytest.skip("no reason")
@pytest.mark.xfail
def test_expected(): assert False
def test_killed(): os.kill(os.getpid(), signal.SIGKILL)
def test_killed_once():
    mark = pathlib.Path(__file__).with_name("mark")
    if not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
def test_after(): pass
"""


def run(folder, *options):
    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (4, 4))  # a piece ends after one second

    return subprocess.run(
        [sys.executable, str(SCRIPT), *options, str(folder)],
        capture_output=True,
        text=True,
        preexec_fn=limit,
        check=False,
    )


def test_every_test_runs_once(tmp_path):
    (tmp_path / "test_busy.py").write_text(BUSY)
    done = run(tmp_path, "-n", "2")
    assert done.stdout.splitlines()[-1] == "4 passed, 0 failed, 0 skipped"
    assert done.returncode == 0


def test_a_killed_test_is_a_failed_one_and_the_rest_goes_on(tmp_path):
    (tmp_path / "test_mixed.py").write_text(MIXED)
    done = run(tmp_path)
    last, expected = done.stdout.splitlines()[-2:]
    assert last == "3 passed, 2 failed, 1 skipped"
    assert expected == "and 1 failed as expected"
    assert "as planned" in done.stdout
    assert "test 4 of 7 ended by signal 9" in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize("content", ["def broken(:\n", "import nothing_of_the_kind\n"])
def test_a_file_that_cannot_be_read_fails(tmp_path, content):
    (tmp_path / "test_good.py").write_text("def test_right(): pass\n")
    (tmp_path / "test_broken.py").write_text(content)
    done = run(tmp_path)
    assert done.stdout.splitlines()[-1] == "1 passed, 1 failed, 0 skipped"
    assert done.returncode == 1


def test_nothing_to_run_is_no_success(tmp_path):
    (tmp_path / "test_good.py").write_text("def test_right(): pass\n")
    done = run(tmp_path, "-m", "slow", "-W", "ignore")
    assert done.returncode == 1
