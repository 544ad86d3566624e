"""Conclusions: which of them take several premises together."""

import pytest

from rlvr_envs.generators.logic.conclusions import demanding

FOLLOWING = [(0,), (0, 1), (1, 2), (0, 1, 2)]  # each follows from the premises that it names


@pytest.mark.parametrize(
    ("n_needed", "enough", "expected"),
    [
        (1, 1, FOLLOWING),
        (2, 1, FOLLOWING[1:]),
        (3, 1, FOLLOWING[3:]),
        (3, 2, FOLLOWING[1:]),  # one alone is not enough, so two premises must do
        (3, 9, FOLLOWING),
    ],
)
def test_conclusions_that_take_enough_premises(n_needed, enough, expected):
    def entailing(chosen):
        return lambda conclusion: set(conclusion) <= set(chosen)

    assert demanding(FOLLOWING, entailing, 3, n_needed, enough) == expected
