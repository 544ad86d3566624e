"""`rlvr bench` from the command line: every subcommand, and what it says when something is wrong."""

import json
import shutil
from dataclasses import replace

import pytest

from rlvr_envs.bench import suite as suites
from rlvr_envs.bench.freeze import freeze
from rlvr_envs.bench.results import RUNS, read_runs
from rlvr_envs.bench.suite import Split, load, write
from rlvr_envs.cli.main import main
from rlvr_envs.executors import open_executor


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with a suite of two steps, and two algorithms that ran on it."""
    folder = tmp_path_factory.mktemp("bench")
    whole = load("tiny-v1")
    splits = {"train": Split(problems=24), "validation": Split(problems=4)}
    small = replace(
        whole.experiments[0], splits=splits | {"test": Split(problems=4)}, samples=64, batch=32
    )
    start = {small.start: whole.starts[small.start]}
    mini = replace(whole, name="mini-v1", seeds=(0, 1, 2), starts=start, experiments=(small,))
    (folder / "mini-v1.json").write_text(write(freeze(replace(mini, fractions=(0.0, 1.0)))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(suites, "SUITES", folder)
        algorithms = ["default", "high=default(learning_rate=0.01)"]
        out = ["--out", str(folder / "runs"), "--no-progress"]
        assert main(["bench", "run", "mini-v1", *algorithms, *out]) == 0
        yield folder


@pytest.fixture(autouse=True)
def entries(home, monkeypatch):
    monkeypatch.setattr(suites, "SUITES", home)
    return [str(home / "runs" / name) for name in ("default", "high")]


def test_suites_and_experiments_are_listed(capsys):
    assert main(["bench", "list"]) == 0
    assert "mini-v1" in capsys.readouterr().out
    assert main(["bench", "list", "mini-v1"]) == 0
    assert load("mini-v1").experiments[0].question in capsys.readouterr().out


def test_algorithms_are_compared(entries, capsys):
    assert main(["bench", "compare", *entries]) == 0
    said = capsys.readouterr().out
    assert "equal samples" in said
    assert "equal tokens" in said
    assert main(["bench", "compare", "--json", *entries]) == 0
    assert set(json.loads(capsys.readouterr().out)["accounts"]) == {"default", "high"}


def test_a_page_and_a_table_are_written(entries, tmp_path):
    page, table = tmp_path / "page.html", tmp_path / "table.md"
    assert main(["bench", "report", *entries, "--out", str(page), "--table", str(table)]) == 0
    assert "mini-v1" in page.read_text()
    assert "default" in table.read_text()


def test_an_entry_is_verified_published_and_rejected(home, entries, tmp_path, capsys):
    assert main(["bench", "verify", *entries]) == 0
    assert capsys.readouterr().out.count("passed, 3 runs") == 2
    assert main(["bench", "submit", *entries, "--to", str(tmp_path)]) == 0
    assert capsys.readouterr().out.count("passed, 3 runs") == 2
    published = tmp_path / "mini-v1" / "default"
    assert main(["bench", "verify", str(published)]) == 0
    text = (published / RUNS).read_text()
    score = read_runs(published)[0].points[-1].score
    (published / RUNS).write_text(text.replace(f'"score":{score}', '"score":0.99'))
    capsys.readouterr()
    assert main(["bench", "verify", str(published)]) == 1
    said = capsys.readouterr()
    assert "REJECTED" in said.out
    assert "is 0.99, and the responses earn" in said.err
    assert main(["bench", "verify", str(published), "--json"]) == 1
    (found,) = json.loads(capsys.readouterr().out)
    assert list(found) == ["entry", "passed", "runs", "rescored", "unseen", "faults"]
    assert (found["passed"], found["runs"]) == (False, 3)
    assert "is 0.99" in found["faults"][0]


def test_another_trainer_takes_part_with_checkpoints(home, tmp_path, capsys):
    job, out = tmp_path / "job", tmp_path / "entry"
    name = load("mini-v1").experiments[0].name
    assert main(["bench", "export", "mini-v1", name, "--out", str(job), "--seed", "1"]) == 0
    last = tmp_path / "checkpoints" / "64"  # a trainer that learned nothing
    shutil.copytree(job / "start", last)
    (last / "usage.json").write_text('{"samples": 64, "tokens": 900, "device_s": 1.5}')
    score = ["bench", "score", str(job), str(last.parent), "--name", "idle", "--out", str(out)]
    assert main([*score, "--settings", '{"rate": 0}', "--source", "this test"]) == 0
    (run,) = read_runs(out)
    assert (run.seed, run.trust, run.algorithm.settings) == (1, "self-reported", {"rate": 0})
    assert main(["bench", "verify", "--partial", str(out)]) == 0
    assert main(score) == 2  # the run is there already
    assert "seed 1 is there twice" in capsys.readouterr().err


def test_a_draft_is_frozen_again(home, capsys):
    before = (home / "mini-v1.json").read_text()
    assert main(["bench", "freeze", "mini-v1"]) == 0
    assert (home / "mini-v1.json").read_text() == before  # nothing has changed


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "mini", "default"], "did you mean 'mini-v1'"),
        (["run", "mini-v1", "defaul"], "did you mean 'default'"),
        (["run", "mini-v1", "baselines:cores"], "core, ablations, curricula, wrappers"),
        (["run", "mini-v1", "default", "--experiments", "gdc"], "did you mean 'gcd'"),
        (["run", "mini-v1", "default", "--plugin", "none.py"], "cannot be read"),
        (["compare", "nowhere"], "no entry of a benchmark"),
        (["export", "mini-v1", "gcd", "--out", "x", "--to", "trll"], "did you mean 'trl'"),
        (["score", "nowhere", "nothing", "--name", "a", "--out", "b"], "nowhere"),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(words, told, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["bench", *words]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("text", ["a", "3-1", "1,1", "-1"])
def test_seeds_are_numbers_each_once(text, capsys):
    with pytest.raises(SystemExit):
        main(["bench", "run", "mini-v1", "default", f"--seeds={text}"])
    assert "--seeds" in capsys.readouterr().err


def test_workers_that_train_have_no_limit_of_memory(home, entries, monkeypatch):
    # torch for a GPU maps more than other work may
    opened = []

    def spy(name, **options):
        opened.append((name, options["memory_mib"]))
        return open_executor(name, **options)

    monkeypatch.setattr("rlvr_envs.cli._text.open_executor", spy)
    run = ["bench", "run", "mini-v1", "default", "--no-progress", "--out", str(home / "runs")]
    assert main([*run, "--executor", "processes", "--workers", "1"]) == 0  # all runs are there
    assert opened == [("processes", None)]
