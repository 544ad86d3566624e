"""What is wrong with an entry is found: in its scores, its responses, its budget, its suite."""

import json
from dataclasses import replace

import pytest

from rlvr_envs.bench.algorithm import Choice
from rlvr_envs.bench.plan import Plan, run_plan
from rlvr_envs.bench.results import RUNS, read_runs, write_runs
from rlvr_envs.bench.store import PACKED, RESPONSES, pack
from rlvr_envs.bench.verify import verify
from rlvr_envs.core.errors import ConfigError


@pytest.fixture(scope="module")
def made(suite, tmp_path_factory):
    plan = Plan(suite=suite, choices=(Choice.read("default"),))
    (folder,) = run_plan(plan, tmp_path_factory.mktemp("entry"))
    return folder


@pytest.fixture
def entry(made, tmp_path):
    for name in (RUNS, RESPONSES):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    return tmp_path


def change_runs(entry, change):
    """Change each run of an entry."""
    write_runs(entry, [change(run) for run in read_runs(entry)])


def change_answers(entry, change):
    """Change the line of each evaluation, where `change` gives anything."""
    path = entry / RESPONSES
    lines = [change(json.loads(line)) for line in path.read_text().splitlines()]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines if line is not None))


def with_last(run, **changes):
    return replace(run, points=(*run.points[:-1], replace(run.points[-1], **changes)))


def test_an_honest_entry_passes(suite, entry):
    report = verify(suite, entry)
    assert (report.faults, report.runs, report.rescored, report.unseen) == ([], 2, 6, 0)


def test_a_published_entry_has_the_last_responses_and_passes(suite, entry, tmp_path):
    out = tmp_path / "published"
    pack(entry, out)
    assert sorted(path.name for path in out.iterdir()) == sorted([RUNS, PACKED])
    report = verify(suite, out)
    assert (report.faults, report.rescored, report.unseen) == ([], 2, 4)
    pack(entry, out, all_points=True)
    assert verify(suite, out).rescored == 6


def test_runs_are_added_to_a_published_entry(suite, entry, tmp_path):
    out = tmp_path / "published"
    write_runs(entry, [run for run in read_runs(entry) if run.seed == 0])
    pack(entry, out)
    again = out.rename(tmp_path / "default")
    run_plan(Plan(suite=suite, choices=(Choice.read("default"),)), tmp_path)
    assert (again / RESPONSES).exists()
    report = verify(suite, again)
    assert (report.faults, report.runs, report.rescored) == ([], 2, 4)


def test_altered_responses_are_rejected(suite, entry):
    def change(line):
        line["sampled"][0] += " "
        return line

    change_answers(entry, change)
    assert all("altered" in fault for fault in verify(suite, entry).faults)
    assert len(verify(suite, entry).faults) == 6


@pytest.mark.parametrize("name", ["score", "solved", "greedy", "unscored"])
def test_a_number_that_the_responses_do_not_earn_is_rejected(suite, entry, name):
    change_runs(entry, lambda run: with_last(run, **{name: 0.987}))
    faults = verify(suite, entry).faults
    assert len(faults) == 2
    assert all(f"{name} after 64 samples is 0.987" in fault for fault in faults)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"samples": 65}, "the budget is 64 samples, and the run used 65"),
        ({"samples": 31}, "do not fall from one evaluation to the next"),
        ({"tokens": 0}, "do not fall from one evaluation to the next"),
        ({"greedy": None}, "lacks the likeliest responses"),
    ],
)
def test_a_broken_rule_is_named(suite, entry, changes, words):
    change_runs(entry, lambda run: with_last(run, **changes))
    assert any(words in fault for fault in verify(suite, entry).faults)


def test_another_suite_is_rejected(suite, entry):
    other = replace(suite, temperature=0.9)
    (fault,) = verify(other, entry).faults
    assert "run them again on this suite" in fault


def test_missing_runs_are_named_unless_they_may_be_missing(suite, entry):
    write_runs(entry, read_runs(entry)[:1])
    assert verify(suite, entry).faults == [f"{suite.experiments[0].name}: no run with the seeds 1"]
    assert not verify(suite, entry, partial=True).faults


def test_missing_last_responses_are_a_fault(suite, entry):
    change_answers(entry, lambda line: None if line["point"] == 2 else line)
    assert all("its last ones, are missing" in fault for fault in verify(suite, entry).faults)
    with pytest.raises(ConfigError, match="lacks the responses"):
        pack(entry, entry / "out")


def test_too_few_responses_are_a_fault(suite, entry):
    def change(line):
        line["sampled"] = line["sampled"][1:]
        return line

    change_answers(entry, change)
    assert all("responses to 6 problems" in fault for fault in verify(suite, entry).faults)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[]", "schema"),
        ('{"schema": 1}', "not a run"),
        ("{", "not a run"),
    ],
)
def test_what_is_no_run_is_named_with_its_line(entry, line, words):
    path = entry / RUNS
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ConfigError, match=f"line 3: .*{words}"):
        read_runs(entry)


def test_runs_of_two_algorithms_or_twice_are_no_entry(entry):
    path = entry / RUNS
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join([*lines, lines[0]]))
    with pytest.raises(ConfigError, match="seed 0 is there twice"):
        read_runs(entry)
    path.write_text(lines[0] + lines[1].replace('"name":"default"', '"name":"other"'))
    with pytest.raises(ConfigError, match="one algorithm on one suite"):
        read_runs(entry)


def test_responses_that_are_none_are_refused(suite, entry):
    change_answers(entry, lambda line: line | {"sampled": [1]})
    with pytest.raises(ConfigError, match="responses, line 1"):
        verify(suite, entry)
