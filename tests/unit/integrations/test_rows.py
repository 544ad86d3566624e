"""The rows that clients get."""

from collections import Counter

import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError, RegistrationError
from rlvr_envs.datasets.rows import json_line
from rlvr_envs.integrations.rows import open_rows, read_options


def test_new_rows_are_distinct_shared_evenly_and_the_same_again():
    rows = open_rows(["Gcd-v0", "Totient-v0"], count=12, difficulty="0-2", seed=3)
    shares = Counter((row["id"], row["difficulty"]) for row in rows)
    assert len(shares) == 6
    assert set(shares.values()) == {2}
    assert len({row["fingerprint"] for row in rows}) == 12
    assert rows == open_rows(["Gcd-v0", "Totient-v0"], count=12, difficulty="0-2", seed=3)
    assert rows != open_rows(["Gcd-v0", "Totient-v0"], count=12, difficulty="0-2", seed=4)
    assert all(rlvr_envs.verify(row, rlvr_envs.solve(row)).score == 1.0 for row in rows)


def test_a_count_that_does_not_divide_is_met():
    assert len(open_rows(["Gcd-v0", "Totient-v0"], count=5, difficulty=0)) == 5
    assert len(open_rows("Gcd-v0")) == 100


def test_knobs_and_answer_format_reach_the_rows():
    (row,) = open_rows("Gcd-v0", count=1, answer_format="tag", knobs={"max_divisor": 50})
    assert row["answer_format"] == "tag"
    assert row["config"]["max_divisor"] == 50


def test_a_dataset_is_read_in_its_order(tmp_path):
    rows = open_rows("Gcd-v0", count=4)
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"".join(json_line(row) for row in rows))
    assert open_rows(path) == rows
    assert open_rows(str(path), count=3) == rows[:3]


@pytest.mark.parametrize("count", [0, -1, True, "3"])
def test_a_bad_count_is_refused(count):
    with pytest.raises(ConfigError, match="count is an integer from 1"):
        open_rows("Gcd-v0", count=count)


def test_what_is_neither_an_id_nor_a_dataset_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="no dataset"):
        open_rows(tmp_path / "nothing")
    with pytest.raises(RegistrationError):
        open_rows("Gdc-v0")


def test_options_of_a_command_line_are_arguments_or_knobs():
    options = {"count": 4, "difficulty": ["0", 2], "seed": 3, "max_divisor": 50}
    expected = open_rows("Gcd-v0", count=4, difficulty="0,2", seed=3, knobs={"max_divisor": 50})
    assert read_options("Gcd-v0", options) == expected


def test_a_misspelt_option_is_refused():
    with pytest.raises(ConfigError, match="did you mean 'difficulty'"):
        read_options("Gcd-v0", {"dificulty": 2})
    with pytest.raises(ConfigError, match="did you mean 'difficulty'"):
        read_options("Math-v0", {"dificulty": 2})


def test_a_dataset_takes_no_options_of_new_problems(tmp_path):
    path = tmp_path / "rows.jsonl"
    rows = open_rows("Gcd-v0", count=4)
    path.write_bytes(b"".join(json_line(row) for row in rows))
    assert read_options(path, {"count": 2}) == rows[:2]
    with pytest.raises(ConfigError, match="count and split alone, got difficulty, n_numbers"):
        read_options(path, {"count": 2, "n_numbers": 3, "difficulty": 1})
