"""Tables in files: every line is a record or a fault with its place."""

import json
import sys

import pytest

from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.tables import Refused, RowFile, RowFiles, entries


def test_bad_lines_are_faults_and_the_rest_is_read(tmp_path):
    path = tmp_path / "a.jsonl"
    deep = b"[" * 100_000
    path.write_bytes(
        b"\n".join([b'{"a": 1}', b"", b"{", b"\xff\xfe", b"[1]", deep, b"  ", b'{"a": 2}'])
    )
    found = list(entries(path))
    assert [entry.data for entry in found if not entry.fault] == [{"a": 1}, {"a": 2}]
    faults = {entry.place.rpartition(":")[2]: entry.fault for entry in found if entry.fault}
    assert list(faults) == ["3", "4", "5", "6"]
    assert faults["4"].startswith("not UTF-8")
    assert faults["5"] == "expected a JSON object, got [1]"
    assert found[-1].place == f"{path}:8"


def test_line_separators_inside_strings_break_no_line(tmp_path):
    path = tmp_path / "a.jsonl"
    record = {"a": "x\u2028y\x85z\x0c\r"}
    path.write_text(json.dumps(record, ensure_ascii=False) + "\r\n", encoding="utf-8", newline="")
    assert [entry.data for entry in entries(path)] == [record]


def test_a_byte_order_mark_is_no_fault(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"a": 1}\n')
    assert [entry.data for entry in entries(path)] == [{"a": 1}]


def test_parquet_rows_are_numbered_and_columns_chosen(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"a": [1, 2], "b": ["x", None]}), path)
    assert [(entry.place, entry.data) for entry in entries(path, ["b"])] == [
        (f"{path} row 0", {"b": "x"}),
        (f"{path} row 1", {"b": None}),
    ]


def test_damaged_parquet_is_said(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"a": [str(n) * 50 for n in range(3000)]}), path)
    whole = path.read_bytes()
    for damaged in (b"", b"PAR1", whole[:100], whole[:50] + bytes(2000) + whole[2050:]):
        path.write_bytes(damaged)
        with pytest.raises(ConfigError, match=r"a\.parquet"):
            list(entries(path))


def test_what_is_no_table(tmp_path):
    with pytest.raises(ConfigError, match="there is no file"):
        entries(tmp_path / "a.jsonl")
    (tmp_path / "a.csv").write_text("a,b\n")
    with pytest.raises(ConfigError, match=r"should end in one of \.jsonl"):
        entries(tmp_path / "a.csv")


def test_parquet_without_pyarrow_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    with pytest.raises(DependencyError, match="need pyarrow: pip install 'pyarrow>="):
        list(entries(tmp_path / "a.parquet"))


class Asker:
    """Stands for a task."""


def reader(tmp_path, *refused):
    """Return what reads a file of one row, and the list that counts how often it did."""
    calls = []

    def read():
        calls.append(None)
        return RowFile(tmp_path, ("row",), refused)

    return read, calls


def test_a_file_is_remembered_for_its_key_and_only_so_many_are(tmp_path):
    files, (read, calls) = RowFiles(most=2), reader(tmp_path, Refused("a:1", "it is no row"))
    for key, count in (("a", 1), ("a", 1), ("b", 2), ("c", 3), ("c", 3), ("a", 4)):
        files.find(Asker(), key, read, lenient=True)
        assert len(calls) == count
    with pytest.raises(ConfigError, match="it is no row"):
        files.find(Asker(), "a", read, lenient=False)
    assert len(calls) == 4


def test_what_the_machine_failed_on_is_remembered_only_while_in_use(tmp_path):
    files, (read, calls) = RowFiles(), reader(tmp_path, Refused("a:1", "too slow", passing=True))
    first, second = Asker(), Asker()
    assert files.find(first, "a", read, lenient=True) is files.find(second, "a", read, lenient=True)
    del first
    files.find(second, "a", read, lenient=True)
    assert len(calls) == 1
    with pytest.raises(ConfigError, match="too slow"):
        files.find(second, "a", read, lenient=False)
    assert len(calls) == 2
    del second
    files.find(Asker(), "a", read, lenient=True)
    assert len(calls) == 3
