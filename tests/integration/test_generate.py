"""Generation through the command line: the same bytes whatever happens on the way."""

import hashlib
import json
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

import rlvr_envs
from rlvr_envs.cli.main import main
from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.problem import hidden
from rlvr_envs.core.registry import register
from rlvr_envs.core.seeding import integer
from rlvr_envs.core.task import Task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.datasets import generate as generation
from rlvr_envs.datasets.draw import OracleError
from rlvr_envs.datasets.generate import generate
from rlvr_envs.datasets.plan import Plan
from rlvr_envs.datasets.read import read_rows, split_files


@dataclass(frozen=True, slots=True, kw_only=True)
class DoublingConfig:
    largest: int = 10**6

    @classmethod
    def at(cls, difficulty):
        return cls(largest=1000 * 10**difficulty)


@dataclass(frozen=True, slots=True)
class DoublingProblem:
    number: int
    double: int = hidden()


class DoublingTask(Task[DoublingConfig, DoublingProblem]):
    """A task of our own, so that these tests need no other."""

    def generate(self, rng):
        number = integer(rng, 1, self.config.largest)
        return DoublingProblem(number, 2 * number)

    def prompt(self, problem):
        return f"What is twice {problem.number}?"

    def verify(self, problem, answer):
        right = answer.strip() == str(problem.double)
        return Verdict.correct() if right else Verdict.wrong("that is not twice the number")

    def solve(self, problem):
        return str(problem.double)


class BrokenTask(DoublingTask):
    """Its oracle is wrong for one number in three."""

    Config, Problem = DoublingConfig, DoublingProblem

    def solve(self, problem):
        return str(problem.double + (problem.number % 3 == 0))


def register_tasks():
    register("TestDoubling-v0", domain="test")(DoublingTask)
    register("TestBroken-v0", domain="test")(BrokenTask)


@pytest.fixture(autouse=True)
def small_tasks():
    register_tasks()
    yield
    for name in ("TestDoubling", "TestBroken"):
        registry._SPECS.pop(f"rlvr/{name}-v0")


def tree(folder):
    """The content of every file of a folder."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def make(out, *extra):
    arguments = ["generate", "TestDoubling-v0=60", "--difficulty", "0:0.5,1:0.3,2:0.2"]
    return main([*arguments, "--shard-rows", "25", "--quiet", "--out", str(out), *extra])


def test_same_command_gives_same_bytes_and_another_seed_gives_others(tmp_path):
    assert make(tmp_path / "a") == make(tmp_path / "b") == make(tmp_path / "c", "--seed", "1") == 0
    assert tree(tmp_path / "a") == tree(tmp_path / "b")
    prompts = [{row["prompt"] for row in read_rows(tmp_path / name)} for name in "ac"]
    assert len(prompts[0] & prompts[1]) < 10


def test_counts_are_exact_and_questions_distinct(tmp_path):
    make(tmp_path / "a")
    rows = list(read_rows(tmp_path / "a"))
    assert Counter(row["difficulty"] for row in rows) == {0: 30, 1: 18, 2: 12}
    assert len({row["fingerprint"] for row in rows}) == 60
    assert [row["difficulty"] for row in rows] != sorted(row["difficulty"] for row in rows)


def test_rows_stand_alone(tmp_path):
    make(tmp_path / "a")
    for row in read_rows(tmp_path / "a"):
        assert rlvr_envs.verify(row, rlvr_envs.solve(row)).score == 1.0
        again = rlvr_envs.make_problem(
            row["id"], problem_seed=row["problem_seed"], difficulty=row["difficulty"]
        )
        assert again == row


def test_parquet_and_jsonl_hold_the_same_rows(tmp_path):
    pytest.importorskip("pyarrow")
    make(tmp_path / "a")
    make(tmp_path / "b", "--format", "parquet")
    assert list(read_rows(tmp_path / "a")) == list(read_rows(tmp_path / "b"))


def test_splits_share_nothing_and_hold_the_same_questions_whatever_the_seed(tmp_path):
    split_by_question = {}
    for seed in ("0", "1", "2"):
        out = tmp_path / seed
        # 300 rows of 1000 possible questions: the three datasets overlap a lot.
        main(["generate", "TestDoubling-v0=300", "--difficulty", "0", "--seed", seed, "--quiet",
              "--split", "train=0.8,test=0.2", "--out", str(out)])  # fmt: skip
        for split in split_files(out):
            for row in read_rows(out, split):
                assert split_by_question.setdefault(row["fingerprint"], split) == split
    sizes = Counter(split_by_question.values())
    assert 0.1 < sizes["test"] / sizes.total() < 0.3


STOPPED = {
    "wide": {"sources": (("TestDoubling-v0", 60),), "difficulty": "0-2"},
    # Helpings drawn for a row that was hard to find last into the next shard.
    "crowded": {"sources": (("TestDoubling-v0", 75),), "knobs": {"largest": 100}},
    # 20 questions a task for 70 rows: repeats, and cells that run out in different shards.
    "narrow": {
        "sources": (("TestDoubling-v0", 30), ("TestBroken-v0", 40)),
        "knobs": {"largest": 20},
        "allow_fewer": True,
        "check": False,
    },
}


@pytest.mark.parametrize("name", STOPPED)
def test_stopped_runs_go_on_to_the_same_bytes(tmp_path, name):
    class Stop(Exception):
        pass

    plan = Plan(shard_rows=7, **STOPPED[name])
    calls = []
    generate(plan, tmp_path / "whole", progress=lambda *_: calls.append(None))
    for stop_at in range(1, len(calls), len(calls) // 6):
        left = iter(range(stop_at))

        def stop(rows, total, left=left):
            if next(left, None) is None:
                raise Stop

        out = tmp_path / f"stopped-{stop_at}"
        with pytest.raises(Stop):
            generate(plan, out, progress=stop)
        assert tree(out) != tree(tmp_path / "whole")
        generate(plan, out)
        assert tree(out) == tree(tmp_path / "whole")


HERE = str(Path(__file__).parent)
KILLED = """
    import os, signal, sys
    from pathlib import Path
    sys.path.insert(0, sys.argv[1])
    import test_generate
    from rlvr_envs.core import files

    steps = int(sys.argv[3])
    def count_down(function):
        def wrapped(*args):
            global steps
            steps -= 1
            if steps == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*args)
        return wrapped

    files._sync, Path.replace = count_down(files._sync), count_down(Path.replace)
    test_generate.register_tasks()
    raise SystemExit(test_generate.make(Path(sys.argv[2])))
"""


def test_kill_9_at_any_write_leaves_a_folder_that_finishes_to_the_same_bytes(tmp_path):
    make(tmp_path / "whole")
    script = textwrap.dedent(KILLED)
    for steps in (1, 2, 3, 5, 6, 9, 13):
        out = tmp_path / f"killed-{steps}"
        command = [sys.executable, "-c", script, HERE, str(out), str(steps)]
        done = subprocess.run(command, capture_output=True, check=False, timeout=120)
        assert done.returncode == -signal.SIGKILL, done.stderr.decode()
        assert make(out) == 0
        assert tree(out) == tree(tmp_path / "whole")


def test_another_plan_in_the_same_folder_is_refused(tmp_path, capsys):
    make(tmp_path / "a")
    before = tree(tmp_path / "a")
    assert make(tmp_path / "a", "--seed", "5") == 2
    assert "another plan (seed was 0, now 5)" in capsys.readouterr().err
    assert make(tmp_path / "a") == 0
    assert tree(tmp_path / "a") == before


def test_foreign_folders_and_altered_files_are_refused(tmp_path, capsys):
    (tmp_path / "notes.txt").write_text("mine")
    assert make(tmp_path) == 2
    assert "holds other files" in capsys.readouterr().err
    make(tmp_path / "a")
    shard = next((tmp_path / "a" / "data").iterdir())
    shard.write_bytes(shard.read_bytes() + b"\n")
    assert make(tmp_path / "a") == 2
    assert "altered or lost" in capsys.readouterr().err


def test_running_out_of_problems_says_how_many_there_are(tmp_path, capsys):
    wanted = ["generate", "TestDoubling-v0=20", "--knob", "largest=7", "--quiet", "--out"]
    assert main([*wanted, str(tmp_path / "a")]) == 2
    assert "7 of the 20 wanted" in capsys.readouterr().err
    assert main([*wanted, str(tmp_path / "b"), "--allow-fewer"]) == 0
    rows = list(read_rows(tmp_path / "b"))
    assert sorted(row["problem"]["number"] for row in rows) == list(range(1, 8))
    assert "ran out of distinct problems: 7 of 20" in (tmp_path / "b" / "README.md").read_text()


def test_repeats_now_and_then_are_no_exhaustion(tmp_path, monkeypatch):
    monkeypatch.setattr(generation, "PATIENCE", 15)
    monkeypatch.setattr(generation, "PATIENCE_PER_ROW", 0)
    plan = Plan(sources=(("TestDoubling-v0", 35),), knobs={"largest": 50})
    manifest = generate(plan, tmp_path / "a")
    assert manifest["cells"][0]["repeated"] > 15


def test_a_wrong_oracle_is_loud(tmp_path):
    plan = Plan(sources=(("TestBroken-v0", 50),))
    with pytest.raises(OracleError, match=r"problem_seed=\d+.*judges its own answer wrong"):
        generate(plan, tmp_path / "a")
    assert list(read_rows_or_none(tmp_path / "a")) == []
    generate(Plan(sources=(("TestBroken-v0", 50),), check=False), tmp_path / "b")
    assert len(list(read_rows(tmp_path / "b"))) == 50


def read_rows_or_none(folder):
    manifest = json.loads((folder / "manifest.json").read_text())
    return manifest["files"]


def test_benchmark_questions_stay_out(tmp_path):
    benchmark = tmp_path / "bench.jsonl"
    lines = [json.dumps({"question": f"what is TWICE {n} ?!"}) for n in range(1, 901)]
    benchmark.write_text("\n".join(lines))
    out = tmp_path / "a"
    main(["generate", "TestDoubling-v0=60", "--difficulty", "0", "--quiet", "--out", str(out),
          "--decontaminate", str(benchmark)])  # fmt: skip
    numbers = [row["problem"]["number"] for row in read_rows(out)]
    assert len(numbers) == 60
    assert min(numbers) > 900
    manifest = json.loads((out / "manifest.json").read_text())
    contaminated = manifest["cells"][0]["contaminated"]
    assert contaminated > 100
    assert f"{contaminated} draws were left out" in (out / "README.md").read_text()


def test_the_card_counts_what_the_files_hold(tmp_path):
    make(tmp_path / "a", "--split", "train=0.7,test=0.3")
    card = (tmp_path / "a" / "README.md").read_text()
    for split in ("train", "test"):
        counts = Counter(row["difficulty"] for row in read_rows(tmp_path / "a", split))
        cells = [counts[0], counts[1], counts[2], counts.total()]
        assert f"| rlvr/TestDoubling-v0 | {' | '.join(map(str, cells))} |" in card
    assert f"rlvr-envs {rlvr_envs.__version__}" in card
    assert str(tmp_path) not in card


def test_rows_of_a_file_are_made_and_their_licence_is_left_open(tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps({"question": f"q{n}", "gold": n}) + "\n" for n in range(40)))
    arguments = ["generate", "MathDataset-v0=40", "--knob", f"path={path}", "--quiet", "--out"]
    assert main([*arguments, str(tmp_path / "a")]) == 0
    path.unlink()
    rows = list(read_rows(tmp_path / "a"))
    assert sorted(row["problem"]["index"] for row in rows) == list(range(40))
    assert all(rlvr_envs.verify(row, rlvr_envs.solve(row)).score == 1.0 for row in rows)
    assert "license: other\n" in (tmp_path / "a" / "README.md").read_text()


def test_two_runs_cannot_write_to_one_folder(tmp_path):
    plan = Plan(sources=(("TestDoubling-v0", 30),), shard_rows=10)

    refused = []

    def intrude(rows, total):
        with pytest.raises(ConfigError, match="another run") as caught:
            generate(plan, tmp_path / "a")
        refused.append(caught.value)

    generate(plan, tmp_path / "a", progress=intrude)
    assert refused
    assert len(list(read_rows(tmp_path / "a"))) == 30


def test_worker_processes_do_not_change_the_bytes(tmp_path):
    pytest.importorskip("rlvr_envs.verifiers.symbolic")
    arguments = ["generate", "Gcd-v0=90", "--difficulty", "0-2", "--shard-rows", "40", "--quiet"]
    for workers in "12":
        out = tmp_path / workers
        assert main([*arguments, "--workers", workers, "--out", str(out)]) == 0
    assert tree(tmp_path / "1") == tree(tmp_path / "2")


def test_a_real_run_with_workers_is_killed_and_goes_on(tmp_path):
    arguments = ["generate", "Gcd-v0=400", "--difficulty", "2-5", "--shard-rows", "20", "--quiet"]
    assert main([*arguments, "--out", str(tmp_path / "whole")]) == 0
    out = tmp_path / "killed"
    command = [sys.executable, "-m", "rlvr_envs", *arguments]
    command += ["--workers", "2", "--out", str(out)]
    for wanted in (1, 8):
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and len(list(out.glob("data/*.jsonl"))) < wanted:
                time.sleep(0.005)
            process.kill()
        assert process.returncode == -signal.SIGKILL
    assert not json.loads((out / "manifest.json").read_text())["complete"]
    assert main([*arguments, "--out", str(out)]) == 0
    assert tree(out) == tree(tmp_path / "whole")
