"""A run: tested at the shares of its budget, the same wherever it is made, and never lost."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from rlvr_envs.bench.algorithm import Choice
from rlvr_envs.bench.plan import UNFINISHED, Plan, run_plan
from rlvr_envs.bench.results import RUNS, Run, read_runs
from rlvr_envs.bench.store import RESPONSES, read_answers
from rlvr_envs.bench.suite import write
from rlvr_envs.bench.train import train
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.executors import Processes, Serial

BREAKS = """
from rlvr_envs.agents.grpo.callbacks import Callback
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.presets import recipe

@callback
class Breaks(Callback):
    def on_batch(self, run, episodes):
        if run.step == 1:
            raise ZeroDivisionError("on purpose")
        return episodes

recipe("breaks", "this test", callbacks=("Breaks",))
"""

DIES_ONCE = """
import os, signal
from pathlib import Path
from rlvr_envs.agents.grpo.callbacks import Callback
from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.presets import recipe

STEPS = Path(__file__).with_suffix(".steps")

@callback
class DiesOnce(Callback):
    def on_batch(self, run, episodes):
        with STEPS.open("a") as file:
            file.write(f"{run.step} ")
        if STEPS.read_text() == "0 1 ":
            os.kill(os.getpid(), signal.SIGKILL)
        return episodes

recipe("dies_once", "this test", callbacks=("DiesOnce",))
"""


def same(run):
    """Return what does not depend on time or machine."""
    points = tuple(replace(point, device_s=0.0) for point in run.points)
    return replace(run, points=points, cpu_s=0.0, memory_mib=0.0)


@pytest.fixture(scope="module")
def made(job):
    return train(job())


def test_a_run_is_tested_at_the_shares_of_its_budget(made, suite):
    run, answers = made
    experiment = suite.experiments[0]
    assert [point.samples for point in run.points] == [0, 32, 64]
    assert run.points[0].tokens == 0 < run.points[1].tokens < run.points[2].tokens
    assert [point.greedy is None for point in run.points] == [False, True, False]
    tests = experiment.splits["test"].problems
    assert [len(each.sampled) for each in answers] == [suite.responses * tests] * 3
    assert [len(each.greedy) for each in answers] == [tests, 0, tests]
    assert [each.digest() for each in answers] == [p.responses_sha256 for p in run.points]
    assert (run.suite_hash, run.failed, run.trust) == (suite.hash, "", "plug-in")


def test_the_same_run_gives_the_same_result_and_another_seed_another(made, job):
    again, answers = train(job())
    assert (same(again), answers) == (same(made[0]), made[1])
    other, answers_of_other = train(job(seed=1))
    assert answers_of_other[0] == answers[0]  # the start has not learned anything yet
    assert other.points[-1].responses_sha256 != again.points[-1].responses_sha256


def test_validation_asks_other_problems(made, job, suite):
    run, answers = train(job(split="validation"))
    assert run.split == "validation"
    tests = suite.experiments[0].splits["validation"].problems
    assert len(answers[0].sampled) == suite.responses * tests


def test_samples_that_are_thrown_away_count(job):
    run, _ = train(job("a=default(dynamic_sampling=True, max_rounds=2)"))
    assert run.points[-1].samples <= 64
    assert not run.failed


def test_an_algorithm_that_breaks_keeps_what_was_tested_before(job, tmp_path):
    file = tmp_path / "breaks.py"
    file.write_text(BREAKS)
    broken = replace(job(), choice=Choice.read("breaks", [str(file)]))
    run, answers = train(broken)
    assert run.failed == "ZeroDivisionError: on purpose"
    assert len(run.points) == len(answers) == 2
    assert Run.from_json(__import__("json").dumps(run.to_json())) == run


def test_an_algorithm_that_does_not_fit_is_an_error(job):
    with pytest.raises(ConfigError, match="group"):
        train(job("a=grpo(group_size=1)"))


@pytest.fixture(scope="module")
def plan(suite):
    return Plan(suite=suite, choices=(Choice.read("default"), Choice.read("a=reinforce")))


@pytest.fixture(scope="module")
def results(plan, tmp_path_factory):
    """Two algorithms with two seeds, made one after the other."""
    out = tmp_path_factory.mktemp("results")
    told = []
    folders = run_plan(plan, out, executor=Serial(), progress=told.append)
    assert [(each.done, each.total) for each in told] == [(k, 4) for k in range(5)]
    return folders


def test_two_executors_give_the_same_results(plan, results, tmp_path):
    with Processes(2) as executor:
        folders = run_plan(plan, tmp_path, executor=executor)
    for here, there in zip(results, folders, strict=True):
        assert [same(run) for run in read_runs(here)] == [same(run) for run in read_runs(there)]
        assert read_answers(here) == read_answers(there)


def test_what_is_there_is_not_made_again(plan, results):
    before = [(folder / RUNS).read_bytes() for folder in results]
    told = []
    run_plan(plan, results[0].parent, progress=told.append)
    assert [(each.done, each.run) for each in told] == [(4, None)]
    assert [(folder / RUNS).read_bytes() for folder in results] == before


def test_a_killed_benchmark_goes_on(plan, results, suite, tmp_path):
    """Killed between two runs, with a line half written."""
    (tmp_path / "mini.json").write_text(write(suite))
    names = ["default", "a=reinforce"]
    command = [sys.executable, "-m", "rlvr_envs", "bench", "run", str(tmp_path / "mini.json")]
    command = [*command, *names, "--out", str(tmp_path / "out"), "--no-progress"]
    first = tmp_path / "out" / "default" / RUNS
    process = subprocess.Popen(command)
    while process.poll() is None and not first.exists():
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert len(read_runs(first.parent)) < 2
    with (first.parent / RESPONSES).open("ab") as file:
        file.write(b'{"experiment": "gc')
    with first.open("ab") as file:
        file.write(b'{"schema": 1, "suite"')
    assert subprocess.run(command, check=False).returncode == 0
    for folder in results:
        there = tmp_path / "out" / folder.name
        assert [same(run) for run in read_runs(there)] == [same(run) for run in read_runs(folder)]
        assert read_answers(there) == read_answers(folder)


def test_an_entry_takes_no_runs_of_something_else(plan, results):
    folder = results[0].parent
    other = replace(plan, choices=(Choice.read("default=grpo"),))
    with pytest.raises(ConfigError, match="not of 'grpo'"):
        run_plan(other, folder)
    with pytest.raises(ConfigError, match="not of 'default' on mini-v1"):
        run_plan(replace(plan, split="validation"), folder)
    with pytest.raises(ConfigError, match="different labels"):
        run_plan(replace(plan, choices=plan.choices * 2), folder)


def test_an_algorithm_that_does_not_fit_ends_the_plan(plan, tmp_path):
    wrong = replace(plan, choices=(Choice.read("a=grpo(group_size=1)"),))
    with Processes(2) as executor, pytest.raises(ConfigError, match="a on gcd: "):
        run_plan(wrong, tmp_path, executor=executor)


def test_a_run_that_was_killed_goes_on_from_its_last_evaluation(suite, made, tmp_path):
    (tmp_path / "mini.json").write_text(write(suite))
    plugin, out = tmp_path / "dies.py", tmp_path / "out"
    plugin.write_text(DIES_ONCE)
    command = [sys.executable, "-m", "rlvr_envs", "bench", "run", str(tmp_path / "mini.json")]
    command += ["default=dies_once", "--plugin", str(plugin), "--seeds", "0", "--out", str(out)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    assert [path.name for path in (out / "default").iterdir()] == [UNFINISHED]
    assert subprocess.run(command, check=False).returncode == 0
    assert plugin.with_suffix(".steps").read_text() == "0 1 1 "
    (run,) = read_runs(out / "default")
    assert same(run).points == same(made[0]).points
    assert list(read_answers(out / "default").values()) == made[1]
    assert not (out / "default" / UNFINISHED).exists()
