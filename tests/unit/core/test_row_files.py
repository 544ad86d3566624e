"""Rows of a dataset: what can be posed is kept, and an error quotes why the rest cannot be."""

import json
from pathlib import Path

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.tables import Entry, Refused, RowFile, json_entries, read_rows

PATH = Path("rows.jsonl")


def row_file(rows, refused):
    reasons = tuple(Refused(f"rows.jsonl:{n}", f"reason {n}") for n in range(1, refused + 1))
    return RowFile(PATH, tuple(range(rows)), reasons)


def squared(entry):
    if "n" in entry.data:
        return entry.data["n"] ** 2
    return Refused(entry.place, "no n")


def test_rows_are_kept_or_refused_in_order():
    records = [Entry("a:1", {"n": 3}), Entry("a:2", {}), Entry("a:3", {"n": 0}), Entry("a:4", {})]
    found = read_rows(PATH, records, squared)
    assert found == RowFile(PATH, (9, 0), (Refused("a:2", "no n"), Refused("a:4", "no n")))


def test_a_record_that_cannot_be_read_is_an_error_and_no_refused_row():
    records = [Entry("a:1", {"n": 1}), Entry("a:2", {}, "not JSON")]
    with pytest.raises(ConfigError, match=r"^a:2: not JSON$"):
        read_rows(PATH, records, squared)


def test_a_file_without_records_is_an_error():
    with pytest.raises(ConfigError, match=r"^'rows\.jsonl' holds no rows$"):
        read_rows(PATH, [], squared)


def test_a_file_of_refused_rows_alone_is_read():
    found = read_rows(PATH, [Entry("a:1", {})], squared)
    assert found == RowFile(PATH, (), (Refused("a:1", "no n"),))


def test_three_reasons_are_quoted_and_the_others_counted():
    one = "rows.jsonl:1: reason 1"
    three = f"{one}; rows.jsonl:2: reason 2; rows.jsonl:3: reason 3"
    assert row_file(1, 1).complaint() == one
    assert row_file(0, 3).complaint() == three
    assert row_file(0, 4).complaint() == f"{three}; and 1 more"
    assert row_file(0, 9).complaint() == f"{three}; and 6 more"


def test_reasons_can_be_cut():
    assert row_file(1, 2).complaint(3) == "rows.jsonl:1: rea; rows.jsonl:2: rea"
    with pytest.raises(ConfigError, match=r"posed: rows\.jsonl:1: rea$"):
        row_file(0, 1).check(lenient=True, reason_chars=3)


def test_the_error_counts_rows_and_names_the_knob():
    told = "1 of 3 rows of 'rows.jsonl' cannot be posed: rows.jsonl:1: reason 1"
    for knob in ("on_bad_row", "on_bad_gold"):
        with pytest.raises(ConfigError) as caught:
            row_file(2, 1).check(lenient=False, knob=knob)
        assert str(caught.value) == f'{told}; {knob}="skip" leaves them out'


@pytest.mark.parametrize("lenient", [True, False])
def test_where_no_row_is_left_skipping_is_no_advice(lenient):
    with pytest.raises(ConfigError) as caught:
        row_file(0, 1).check(lenient=lenient)
    told = "1 of 1 rows of 'rows.jsonl' cannot be posed: rows.jsonl:1: reason 1"
    assert str(caught.value) == told


@pytest.mark.parametrize(
    ("rows", "refused", "lenient", "raises"),
    [(2, 0, False, False), (2, 1, True, False), (2, 1, False, True), (0, 1, True, True)],
)
def test_when_refused_rows_are_an_error(rows, refused, lenient, raises):
    try:
        row_file(rows, refused).check(lenient=lenient)
    except ConfigError:
        assert raises
    else:
        assert not raises


def json_file(folder, data):
    path = folder / "a.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def test_json_rows_are_numbered_and_what_is_no_object_is_a_fault(tmp_path):
    path = json_file(tmp_path, [{"a": 1}, 7, {"a": 2}])
    assert list(json_entries(path)) == [
        Entry(f"{path} row 0", {"a": 1}),
        Entry(f"{path} row 1", {}, "expected a JSON object, got 7"),
        Entry(f"{path} row 2", {"a": 2}),
    ]


def test_lists_in_an_object_are_rows_only_where_that_is_allowed(tmp_path):
    path = json_file(tmp_path, {"x": [{"a": 1}], "told": "text", "y": [{"a": 2}]})
    assert [row.data for row in json_entries(path, grouped=True)] == [{"a": 1}, {"a": 2}]
    with pytest.raises(ConfigError, match=r"holds no list of rows; JSONL needs the suffix \.jsonl"):
        list(json_entries(path))


@pytest.mark.parametrize("text", ["", "[1,", '{"a": 1}\n{"a": 2}', "[" * 100_000])
def test_what_is_no_json(tmp_path, text):
    with pytest.raises(ConfigError, match=r"a\.json' is not JSON: "):
        list(json_entries(json_file(tmp_path, text)))


def test_json_in_another_encoding_is_an_error(tmp_path):
    path = tmp_path / "a.json"
    path.write_bytes(b'["\xff"]')
    with pytest.raises(ConfigError, match=r"a\.json' is not JSON: 'utf-8' codec"):
        list(json_entries(path))
