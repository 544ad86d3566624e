"""Clues that go while a puzzle keeps one solution."""

import pytest

from rlvr_envs.generators.grids.clues import thin


@pytest.mark.parametrize(
    ("percent", "needed", "left"),
    [
        (0, set(), [0, 0, 0, 0]),
        (0, {2}, [0, 0, 7, 0]),
        (50, set(), [5, 0, 0, 8]),  # the first two of the order go
        (50, {1}, [5, 6, 0, 0]),  # what is needed comes back, and the next one goes
        (100, set(), [5, 6, 7, 8]),
    ],
)
def test_clues_go_in_order_unless_they_are_needed(percent, needed, left):
    clues = [5, 6, 7, 8]
    thin(clues, [1, 2, 3, 0], 0, percent, lambda: all(clues[place] for place in needed))
    assert clues == left
