"""Decontamination: what counts as the same question, and what does not."""

import json

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.datasets.decontaminate import Benchmarks

WORDS = [f"word{n}" for n in range(13)]


def test_equal_after_normalisation():
    benchmarks = Benchmarks(["What is  2 + 3?", "Straße №5"])
    assert benchmarks.overlap("what IS 2+3")
    assert benchmarks.overlap("strasse no5")
    assert not benchmarks.overlap("what is 2 + 4?")
    assert not benchmarks.overlap("tell me what is 2 + 3")


def test_thirteen_words_in_a_row_and_not_twelve():
    benchmarks = Benchmarks([" ".join(["before", *WORDS, "after"])])
    assert benchmarks.overlap(f"So: {', '.join(WORDS).upper()}. And then?")
    assert not benchmarks.overlap(f"So: {' '.join(WORDS[:12])} other")
    assert not benchmarks.overlap(" ".join(reversed(WORDS)))


def test_short_texts_do_not_match_inside_others_and_blank_ones_not_at_all():
    benchmarks = Benchmarks(["x", "", "?!"])
    assert not benchmarks.overlap("solve for x")
    assert not benchmarks.overlap("...")


def test_files_of_three_kinds(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    (tmp_path / "a.txt").write_text("first question\nsecond question\n")
    (tmp_path / "b.jsonl").write_text(json.dumps({"id": 1, "problem": "third question"}) + "\n")
    parquet.write_table(arrow.table({"question": ["fourth question"]}), tmp_path / "c.parquet")
    benchmarks = Benchmarks.from_files(
        tmp_path / name for name in ("a.txt", "b.jsonl", "c.parquet")
    )
    for word in ("first", "second", "third", "fourth"):
        assert benchmarks.overlap(f"{word} question")
    assert not benchmarks.overlap("fifth question")


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("a.jsonl", '{"frage": "x"}', "no text in any of the columns"),
        ("a.jsonl", '{"question": 5}', "no text in any of the columns"),
        ("a.jsonl", "{", "a.jsonl:1: not JSON"),
        ("a.csv", "x", "is no table"),
    ],
)
def test_files_that_cannot_be_used(tmp_path, name, content, reason):
    (tmp_path / name).write_text(content)
    with pytest.raises(ConfigError, match=reason):
        Benchmarks.from_files([tmp_path / name])
    with pytest.raises(ConfigError, match="no file"):
        Benchmarks.from_files([tmp_path / "missing.txt"])
