"""What is asked: difficulties, ids, problem seeds."""

import pytest

from rlvr_envs.core.errors import ConfigError, RegistrationError
from rlvr_envs.evaluation.plan import Plan, expand_ids, read_difficulties


def seeds(plan):
    return [q.problem_seed for cell in plan.cells() for q in cell.questions(plan)]


@pytest.mark.parametrize(
    ("text", "levels"),
    [
        (None, (None,)),
        ("3", (3,)),
        ("0,2,5", (0, 2, 5)),
        ("0-3", (0, 1, 2, 3)),
        ("1,0-2", (1, 0, 2)),
    ],
)
def test_difficulties_are_lists_and_ranges(text, levels):
    assert read_difficulties(text) == levels


@pytest.mark.parametrize(
    "text", ["", "a", "-1", "1-", "3-1", "1,,2", "1.5", "0-99999", "²", "9" * 5000]
)
def test_bad_difficulties_are_refused(text):
    with pytest.raises(ConfigError):
        read_difficulties(text)


def test_ids_are_completed_and_not_repeated():
    assert expand_ids(["EvalPlus-v0", "rlvr/EvalPlus-v0"]) == ("rlvr/EvalPlus-v0",)


def test_an_unknown_id_gets_a_suggestion():
    with pytest.raises(RegistrationError, match="did you mean 'rlvr/EvalPlus-v0'"):
        expand_ids(["EvalPlsu-v0"])


def test_a_mixture_is_expanded_on_request():
    assert expand_ids(["Math-v0"]) == ("rlvr/Math-v0",)
    assert "rlvr/Gcd-v0" in expand_ids(["Math-v0"], per_task=True)


def test_more_episodes_begin_with_the_same_problems():
    short = Plan(ids=("rlvr/EvalPlus-v0",), episodes=5)
    long = Plan(ids=("rlvr/EvalPlus-v0",), episodes=50)
    assert seeds(long)[:5] == seeds(short)


def test_neighbouring_seeds_difficulties_and_ids_share_no_problem_seed():
    found = []
    for seed in (0, 1):
        plan = Plan(
            ids=("rlvr/EvalPlus-v0", "rlvr/EvalTagPlus-v0"),
            difficulties=(0, 1),
            episodes=50,
            seed=seed,
        )
        found += seeds(plan)
    assert len(set(found)) == len(found) == 400


def test_numbered_problems_are_drawn_without_repetition():
    plan = Plan(ids=("rlvr/EvalListed-v0",), episodes=99)
    (cell,) = plan.cells()
    indices = [question.index for question in cell.questions(plan)]
    assert sorted(indices) == [0, 1, 2, 3, 4]
    assert {q.instance().problem.first for q in cell.questions(plan)} == {0, 1, 2, 3, 4}


@pytest.mark.parametrize("field", ["episodes", "samples"])
@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_bad_counts_are_refused(field, value):
    with pytest.raises(ConfigError, match=field):
        Plan(ids=("rlvr/EvalPlus-v0",), **{field: value})


def test_bad_knobs_are_refused_before_anything_runs():
    with pytest.raises(ConfigError, match="limit"):
        Plan(ids=("rlvr/EvalPlus-v0",), knobs={"limti": 3}).cells()
