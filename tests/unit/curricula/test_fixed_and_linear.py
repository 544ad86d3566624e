"""Fixed and Linear against their formulas."""

from collections import Counter

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import Fixed, Linear, Proposal

A, B = Proposal(task="a", difficulty=1), Proposal(task="b", samples=4)


def test_fixed_draws_by_its_weights_whatever_happens():
    curriculum = Fixed([A, B], weights=[3, 1], seed=1)
    seen = Counter()
    for _ in range(500):
        seen[curriculum.propose()] += 1
        curriculum.record("anything", 3, [1.0])
        seen[curriculum.propose()] += 1
        curriculum.end_step()
    assert set(seen) == {A, B}
    assert 700 <= seen[A] <= 800  # 750, standard deviation 14


def test_fixed_is_a_function_of_its_seed():
    def drawn(seed):
        curriculum = Fixed([A, B], seed=seed)
        return [curriculum.propose() for _ in range(40)]

    assert drawn(3) == drawn(3)
    assert drawn(3) != drawn(4)


def test_linear_gives_every_level_as_many_steps():
    curriculum, levels = Linear(["a"], start=2, end=4, steps=9), []
    for _ in range(12):
        levels.append(curriculum.propose().difficulty)
        curriculum.record("a", levels[-1], [0.0])
        curriculum.end_step()
    assert levels == [2, 2, 2, 3, 3, 3, 4, 4, 4, 4, 4, 4]


def test_linear_draws_all_its_tasks():
    curriculum = Linear(["a", "b", "c"], end=0, steps=1)
    assert {curriculum.propose().task for _ in range(60)} == {"a", "b", "c"}


def test_linear_leaves_a_slow_learner_behind(learner):
    """A clock does not wait: the same schedule suits a quick learner and loses a slow one."""

    def left(rate):
        curriculum = Linear(["a"], end=10, steps=60)
        return learner({"a": 1.0}, rate=rate).train(curriculum, 80).skills["a"]

    assert left(rate=0.5) > 8
    assert left(rate=0.05) < 4


def test_states(check_resumes):
    assert check_resumes(lambda: Fixed([A, B], seed=2), [("a", 1)]) == {A, B}
    seen = check_resumes(lambda: Linear(["a", "b"], end=2, steps=6, seed=2), [("a", 1)])
    assert {proposal.difficulty for proposal in seen} == {0, 1, 2}


@pytest.mark.parametrize("weights", [[1], [1, 0], [1, float("nan")], [1, -1]])
def test_weights_that_cannot_work(weights):
    with pytest.raises(ConfigError):
        Fixed([A, B], weights)


@pytest.mark.parametrize(
    "options",
    [{"tasks": []}, {"tasks": ["a", "a"]}, {"end": 1}, {"steps": 0}, {"start": -1}, {"seed": 0.5}],
)
def test_climbs_that_cannot_work(options):
    with pytest.raises(ConfigError):
        Linear(**({"tasks": ["a"], "start": 2, "end": 3, "steps": 5} | options))


def test_nothing_to_propose():
    with pytest.raises(ConfigError, match="need proposals"):
        Fixed([])
