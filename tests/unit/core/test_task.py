"""Numbered problems: what is an index of one."""

import re

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.task import IndexedTask


class DigitsTask(IndexedTask[int, str]):
    """The digits below three."""

    def __len__(self):
        return 3

    def problem_at(self, index):
        return str(self.check_index(index, len(self), "digit"))

    def prompt(self, problem):
        return problem

    verify = solve = prompt


@pytest.mark.parametrize("index", [0, 2, True, np.int64(1), np.uint8(2)])
def test_an_index_becomes_an_int(index):
    number = DigitsTask(0).check_index(index, 3)
    assert type(number) is int
    assert number == index


@pytest.mark.parametrize("index", [-1, 3, 10**30, np.int64(-1), 1.0, np.float64(1), "1", None])
def test_an_error_names_task_problem_and_range(index):
    told = f"Digits has no digit {index!r}: an index is an integer from 0 to 2"
    with pytest.raises(ConfigError, match=rf"^{re.escape(told)}$"):
        DigitsTask(0).problem_at(index)


def test_the_noun_is_problem_unless_told():
    with pytest.raises(ConfigError, match=r"^Digits has no problem 9: "):
        DigitsTask(0).check_index(9, 3)


def test_every_numbered_problem_is_drawn():
    rng = np.random.default_rng(0)
    assert {DigitsTask(0).generate(rng) for _ in range(50)} == {"0", "1", "2"}
