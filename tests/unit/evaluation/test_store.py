"""The run folder: appending, repairing, refusing."""

import json

import pytest

from rlvr_envs.core.errors import ConfigError, RowError, UsageError
from rlvr_envs.evaluation.store import CONFIG, EPISODES, RunFolder, read_records

CONFIGURATION = {"seed": 0, "policies": {"oracle": {"t": (1, 2)}}}


def episode(key, **changes):
    """A record as the runner writes it."""
    return {
        "key": key, "policy": "oracle", "id": "rlvr/A-v0", "task": "rlvr/A-v0", "domain": "math",
        "difficulty": 0, "problem_seed": 7, "index": None, "sample": 0, "response": "1",
        "answer": "1", "verdict": {"score": 1.0, "status": "correct"}, "scored": True, "turns": 1,
        "response_chars": 1, "elapsed_s": 0.1,
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
        ("[]", "an episode is an object"),
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
