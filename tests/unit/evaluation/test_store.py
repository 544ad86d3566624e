"""The run folder: appending, repairing, refusing."""

import json

import pytest

from rlvr_envs.core.errors import ConfigError, RowError, UsageError
from rlvr_envs.evaluation.store import CONFIG, EPISODES, RunFolder, read_records

CONFIGURATION = {"seed": 0, "policies": {"oracle": {"t": (1, 2)}}}


def opened(path, config=None):
    return RunFolder(path, config or CONFIGURATION, {"rlvr_envs": "0"})


def test_records_come_back_as_they_were(tmp_path):
    hostile = {"key": "a", "text": 'quote " newline \n \u2028 \ud800 é'}
    with opened(tmp_path / "run") as folder:
        folder.append(hostile)
    with opened(tmp_path / "run") as folder:
        folder.append({"key": "b"})
        assert list(folder.records()) == [hostile, {"key": "b"}]


@pytest.mark.parametrize("torn", [b"{", b'{"key": "b"}', b"\x00" * 200_000])
def test_a_torn_last_line_is_cut(tmp_path, torn):
    with opened(tmp_path) as folder:
        folder.append({"key": "a"})
        assert not folder.repaired
    with (tmp_path / EPISODES).open("ab") as file:
        file.write(torn)
    assert [r["key"] for r in read_records(tmp_path / EPISODES)] == ["a"]
    with opened(tmp_path) as folder:
        assert folder.repaired
        folder.append({"key": "b"})
        assert [r["key"] for r in folder.records()] == ["a", "b"]


def test_a_file_that_is_one_torn_line_becomes_empty(tmp_path):
    with opened(tmp_path):
        pass
    (tmp_path / EPISODES).write_bytes(b'{"key"')
    with opened(tmp_path) as folder:
        assert list(folder.records()) == []


def test_a_broken_line_in_the_middle_is_named(tmp_path):
    with opened(tmp_path):
        pass
    (tmp_path / EPISODES).write_text('{"key": "a"}\nnonsense\n{"key": "b"}\n')
    with opened(tmp_path) as folder, pytest.raises(RowError, match="line 2"):
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
