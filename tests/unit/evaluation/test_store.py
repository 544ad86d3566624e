"""The run folder: appending, repairing, refusing."""

import json

import pytest

from rlvr_envs.core.errors import ConfigError, RowError, UsageError
from rlvr_envs.evaluation.store import (
    CONFIG,
    EPISODES,
    PROBLEMS,
    Problems,
    RunFolder,
    read_config,
    read_problems,
    read_records,
)

CONFIGURATION = {"seed": 0, "policies": {"oracle": {"t": (1, 2)}}}


def episode(key, **changes):
    """A record as the runner writes it."""
    return {
        "key": key, "policy": "oracle", "id": "rlvr/A-v0", "task": "rlvr/A-v0", "domain": "math",
        "difficulty": 0, "problem_seed": 7, "index": None, "sample": 0, "response": "1",
        "answer": "1", "verdict": {"score": 1.0, "status": "correct"}, "scored": True, "turns": 1,
        "response_chars": 1, "elapsed_s": 0.1,
    } | changes  # fmt: skip


def problem(question, **changes):
    """The line of a problem as the runner writes it."""
    return {
        "question": question, "id": "rlvr/A-v0", "config": {}, "difficulty": 0, "problem_seed": 7,
        "prompt": "What is \u2028 \ud800 é?", "answer_format": "tag", "problem": {"n": 1},
        "reference": None, "fingerprint": f"print of {question}", "version": "0",
    } | changes  # fmt: skip


def opened(path, config=None):
    return RunFolder(path, config or CONFIGURATION, {"rlvr_envs": "0"})


def test_records_come_back_as_they_were(tmp_path):
    hostile = episode("a", response='quote " newline \n \u2028 \ud800 é')
    with opened(tmp_path / "run") as folder:
        folder.append(hostile)
    with opened(tmp_path / "run") as folder:
        folder.append(episode("b"))
        assert list(folder.records()) == [hostile, episode("b")]


@pytest.mark.parametrize("torn", [b"{", b'{"key": "b"}', b"\x00" * 200_000])
def test_a_torn_last_line_is_cut(tmp_path, torn):
    with opened(tmp_path) as folder:
        folder.append(episode("a"))
        assert not folder.repaired
    with (tmp_path / EPISODES).open("ab") as file:
        file.write(torn)
    assert [r["key"] for r in read_records(tmp_path / EPISODES)] == ["a"]
    with opened(tmp_path) as folder:
        assert folder.repaired
        folder.append(episode("b"))
        assert [r["key"] for r in folder.records()] == ["a", "b"]


def test_a_file_that_is_one_torn_line_becomes_empty(tmp_path):
    with opened(tmp_path):
        pass
    (tmp_path / EPISODES).write_bytes(b'{"key"')
    with opened(tmp_path) as folder:
        assert list(folder.records()) == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no object"),
        ('{"key": "a"}', "has no 'policy'"),
        (json.dumps(episode("a", scored="yes")), "'scored' is 'yes'"),
        (json.dumps(episode("a", tokens="many")), "'tokens' is 'many'"),
        (json.dumps(episode("a", waited_s=None)), "'waited_s' is None"),
        (json.dumps(episode("a", verdict={"score": 1.0})), "no status"),
        (json.dumps(episode("a", verdict={"score": "1", "status": "wrong"})), "from 0 to 1"),
        (json.dumps(episode("a", verdict={"score": 2.0, "status": "wrong"})), "from 0 to 1"),
    ],
)
def test_a_broken_line_in_the_middle_is_named(line, message, tmp_path):
    with opened(tmp_path):
        pass
    good = json.dumps(episode("a"))
    (tmp_path / EPISODES).write_text(f"{good}\n{line}\n{good}\n")
    with opened(tmp_path) as folder, pytest.raises(RowError, match=f"line 2: .*{message}"):
        list(folder.records())


def test_another_configuration_is_refused_and_the_difference_said(tmp_path):
    with opened(tmp_path):
        pass
    other = {"seed": 1, "policies": {"oracle": {"t": (1, 2)}}}
    with pytest.raises(ConfigError, match=r"seed was 0, is 1"):
        opened(tmp_path, other)
    with opened(tmp_path):
        pass  # the right one still opens


def test_two_writers_exclude_each_other(tmp_path):
    with opened(tmp_path), pytest.raises(UsageError, match="another process"):
        opened(tmp_path)


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    (tmp_path / EPISODES).write_text('{"key": "a"}\n')
    with pytest.raises(ConfigError, match=r"no run\.json"):
        opened(tmp_path)
    (tmp_path / CONFIG).write_text(json.dumps([]))
    with pytest.raises(ConfigError, match="not the configuration"):
        opened(tmp_path)


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be made"):
        opened(tmp_path / "file")


def test_problems_come_back_and_are_written_once(tmp_path):
    with opened(tmp_path) as folder:
        folder.add_problem(problem("a"))
        folder.add_problem(problem("a", prompt="another"))
    with opened(tmp_path) as folder:
        folder.add_problem(problem("a", prompt="another"))
        folder.add_problem(problem("b"))
        assert folder.fingerprints == {"a": "print of a", "b": "print of b"}
    assert list(read_problems(tmp_path / PROBLEMS)) == [problem("a"), problem("b")]


@pytest.mark.parametrize("torn", [b"{", b'{"question": "b"}', b"\x00" * 200_000])
def test_a_torn_problem_is_cut_and_can_be_written_again(tmp_path, torn):
    with opened(tmp_path) as folder:
        folder.add_problem(problem("a"))
    with (tmp_path / PROBLEMS).open("ab") as file:
        file.write(torn)
    assert [p["question"] for p in read_problems(tmp_path / PROBLEMS)] == ["a"]
    with opened(tmp_path) as folder:
        assert folder.repaired
        folder.add_problem(problem("b"))
    assert [p["question"] for p in read_problems(tmp_path / PROBLEMS)] == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "not JSON"),
        ("[]", "no object"),
        (json.dumps({"question": "a"}), "has no 'id'"),
        (json.dumps(problem("a", prompt=None)), "'prompt' is None"),
        (json.dumps(problem("a", fingerprint=None)), "'fingerprint' is None"),
    ],
)
def test_a_broken_problem_in_the_middle_is_named(line, message, tmp_path):
    good = json.dumps(problem("b"))
    (tmp_path / PROBLEMS).write_text(f"{good}\n{line}\n{good}\n")
    with pytest.raises(RowError, match=f"line 2: .*{message}.*written again"):
        Problems(tmp_path)
    with pytest.raises(RowError, match="line 2"):
        opened(tmp_path)


def test_the_problem_of_an_episode_is_found_by_its_question(tmp_path):
    with opened(tmp_path) as folder:
        for name in ("a|0|1", "a|0|2"):
            folder.add_problem(problem(name))
    found = Problems(tmp_path)
    assert len(found) == 2
    assert found.of(episode("odd|name|a|0|2|0", policy="odd|name")) == problem("a|0|2")
    assert found.of(episode("x", question="a|0|1")) == problem("a|0|1")
    assert found.of(episode("x", question="a|0|3")) is None
    other = episode("x", question="a|0|1", fingerprint="of another problem")
    assert found.of(other) is None
    assert len(Problems(tmp_path / "an older run")) == 0


SIZED = {"seed": 0, "episodes": 20, "samples": 2, "policies": {"oracle": {}}}


def test_a_run_may_grow_and_gets_further_policies(tmp_path):
    with opened(tmp_path, SIZED) as folder:
        assert folder.config == SIZED
    larger = SIZED | {"episodes": 30, "samples": 4, "policies": {"random": {"t": 1}}}
    with opened(tmp_path, larger) as folder:
        whole = larger | {"policies": {"oracle": {}, "random": {"t": 1}}}
        assert folder.config == whole
    assert read_config(tmp_path) == {"config": whole, "versions": {"rlvr_envs": "0"}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"episodes": 19}, "at least 20 episodes, or use another --out"),
        ({"samples": 1}, "at least 2 samples"),
        ({"episodes": 30, "seed": 1}, r"\(seed was 0, is 1\)"),
        ({"policies": {"oracle": {"t": 1}}}, r"policies\.oracle"),
    ],
)
def test_a_run_that_shrinks_or_differs_is_refused_and_stays(tmp_path, change, message):
    with opened(tmp_path, SIZED):
        pass
    with pytest.raises(ConfigError, match=message):
        opened(tmp_path, SIZED | change)
    assert read_config(tmp_path)["config"] == SIZED


@pytest.mark.parametrize("text", ["{", "[]", '{"config": []}', '{"config": {"policies": 1}}'])
def test_a_configuration_that_is_none_is_refused(tmp_path, text):
    (tmp_path / CONFIG).write_text(text)
    with pytest.raises(ConfigError, match="not the configuration of a run"):
        opened(tmp_path)


def test_a_folder_without_a_run_is_said(tmp_path):
    with pytest.raises(ConfigError, match="holds no run"):
        read_config(tmp_path)


def test_a_training_run_stays_alone(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match="holds a run of `rlvr train`: use another --out"):
        RunFolder(tmp_path, CONFIGURATION, {})
    assert [path.name for path in tmp_path.iterdir()] == ["config.json"]
