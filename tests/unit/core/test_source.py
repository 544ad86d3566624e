"""Sources: which task and which difficulty a problem seed stands for."""

import pickle
from collections import Counter

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.source import open_source, read_difficulty


@pytest.mark.parametrize(
    ("given", "read"),
    [
        (None, None),
        (0, 0),
        (7, 7),
        (np.int64(3), 3),
        ((0, 0), (0, 0)),
        ([1, 4], (1, 4)),
        ((np.int32(1), np.int64(4)), (1, 4)),
    ],
)
def test_a_difficulty_is_a_level_or_a_range(given, read):
    found = read_difficulty(given)
    assert found == read
    assert {type(part) for part in (found if isinstance(found, tuple) else (found,))} <= {
        int,
        type(None),
    }


@pytest.mark.parametrize("given", [-1, 1.0, True, "3", (1,), (1, 2, 3), (2, 1), (0, -1), (None, 1)])
def test_anything_else_is_none(given):
    with pytest.raises(ConfigError, match="difficulty"):
        read_difficulty(given)


def mixture(**arguments):
    return open_source(
        "rlvr/Puzzle-v0", tasks=["TestSum-v0", "TestProduct-v0", "TestRows-v0"], **arguments
    )


def test_a_mixture_draws_by_weight_and_leaves_out_what_weighs_nothing():
    drawn = Counter(mixture().draw(seed).spec.id for seed in range(400))
    assert set(drawn) == {"rlvr/TestSum-v0", "rlvr/TestProduct-v0"}
    assert 60 < drawn["rlvr/TestSum-v0"] < 140  # 1 to 3, as registered
    even = mixture(weights={"TestProduct-v0": 1, "TestRows-v0": 2})
    drawn = Counter(even.draw(seed).spec.id for seed in range(400))
    assert 60 < drawn["rlvr/TestSum-v0"] < 140
    assert 160 < drawn["rlvr/TestRows-v0"] < 240


def test_weights_whose_sum_is_rounded_down_leave_no_gap():
    class Highest:
        def random(self):
            return 1 - 2**-53  # the largest number that a generator gives

    source = mixture()
    source._edges = np.array([0.25, 1 - 2**-52])
    assert source._pick(Highest()) is source.specs[-1]


def test_the_problems_of_a_mixture_never_change():
    drawn = [mixture(difficulty=(0, 3)).draw(seed) for seed in range(6)]
    assert [(one.spec.id[9:12], one.difficulty, one.problem.terms[0]) for one in drawn] == GOLDEN


GOLDEN = [
    ("Sum", 0, 761),
    ("Sum", 1, 8058),
    ("Pro", 1, 1225),
    ("Pro", 1, 1627),
    ("Pro", 2, 61141),
    ("Pro", 3, 719155),
]


def test_a_pickled_source_draws_the_same():
    source = mixture(difficulty=(0, 5), weights={"TestSum-v0": 7.0})
    copy = pickle.loads(pickle.dumps(source))
    for seed in range(30):
        one, two = source.draw(seed), copy.draw(seed)
        assert (one.spec.id, one.difficulty, one.problem) == (
            two.spec.id,
            two.difficulty,
            two.problem,
        )


def test_every_level_of_a_range_is_drawn_and_no_other():
    source = open_source("TestSum-v0", difficulty=(2, 4))
    assert {source.draw(seed).difficulty for seed in range(60)} == {2, 3, 4}
    assert {source.draw(seed, (5, 6)).difficulty for seed in range(40)} == {5, 6}
    assert source.draw(1, 0).difficulty == 0
    assert open_source("TestSum-v0").draw(1).difficulty is None


@pytest.mark.parametrize("weight", [-1, float("inf"), float("nan"), "1", None])
def test_a_weight_is_a_finite_number_from_0(weight):
    with pytest.raises(ConfigError, match=r"a weight is a finite number from 0, got .* for rlvr/"):
        mixture(weights={"TestSum-v0": weight})


def test_something_must_be_left_to_draw():
    with pytest.raises(ConfigError, match="left with a weight above 0"):
        open_source("rlvr/Puzzle-v0", tasks=["TestRows-v0"])
    with pytest.raises(ConfigError, match="is no task of rlvr/Puzzle-v0; did you mean"):
        open_source("rlvr/Puzzle-v0", tasks=["TestSun-v0"])
    with pytest.raises(ConfigError, match="is no task of rlvr/Puzzle-v0"):
        open_source("rlvr/Puzzle-v0", weights={"TestGuess-v0": 1.0})


def test_only_numbered_problems_have_an_index():
    rows = open_source("TestRows-v0")
    assert [rows.at_index(index).problem.terms[0] for index in range(3)] == [0, 1, 2]
    assert rows.at_index(1).problem_seed is None
    for source in (open_source("TestSum-v0"), mixture(weights={"TestRows-v0": 1})):
        with pytest.raises(UsageError, match="use 'problem_seed', not 'index'"):
            source.at_index(0)


def test_a_row_of_another_task_is_refused():
    row = open_source("TestSum-v0").draw(1).to_row()
    assert mixture().replay(row).problem_seed == 1
    with pytest.raises(ConfigError, match=r"the row is of rlvr/TestSum-v0, which rlvr/TestProduct"):
        open_source("TestProduct-v0").replay(row)


def test_a_mixture_has_no_knobs_and_a_task_has_no_others():
    with pytest.raises(ConfigError, match="limit"):
        mixture(knobs={"limit": 3})
    with pytest.raises(ConfigError, match="did you mean 'limit'"):
        open_source("TestSum-v0", knobs={"limits": 3})
    assert open_source("TestSum-v0", knobs={"limit": 1}).draw(5).problem.terms == (1, 1)
