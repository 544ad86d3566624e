"""Curricula around others: what one decides reaches the trainer, whatever stands around it."""

import json
import math

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import (
    AdaptiveGroup,
    AdaptiveGroups,
    Dump,
    Fixed,
    GrowingHorizon,
    HardBrittlePairs,
    Linear,
    Nested,
    OnLevels,
    Oversampled,
    PromptGdro,
    Proposal,
    RisingWindow,
    RolloutGdro,
    Stage,
    StagedDomains,
    SuccessBand,
    Weakness,
)

POSED = Proposal(task="a", difficulty=0, problem_seed=1)
EVEN = Fixed([Proposal(task="a", difficulty=0)])


def ada(over=EVEN, **settings):
    return AdaptiveGroups(over, group=AdaptiveGroup(**{"keep": 2, "batch": 3, **settings}))


@pytest.mark.parametrize("around", [Nested, Oversampled, lambda over: PromptGdro(over=over)])
def test_all_that_is_asked_goes_on_to_the_inner_one(around, played):
    inner = HardBrittlePairs([POSED], amplify=4.0)
    inner.record("a", 0, [0, 0, 0, 1], 1)
    curriculum = around(Nested(inner))
    assert curriculum.propose() == POSED
    group = played(POSED, [1.0, 0.0])
    curriculum.observe(group)
    assert [each.weight for each in group.episodes] == [4.0, 1.0]
    assert (curriculum.more(group), curriculum.weight(group)) == (0, 1.0)
    assert curriculum.allot([POSED]) == [POSED]
    curriculum.record("a", 0, [0.0] * 28, 1)
    assert inner.rates() == [1 / 32]
    curriculum.end_step()
    assert inner.step == 1
    assert around(ada()).more(played(POSED, [1.0] * 3)) == 3
    assert around(RolloutGdro(EVEN, mean=4)).allot([POSED])[0].samples == 4
    assert around(Oversampled(EVEN)).ahead(5) == 5


def test_weights_of_two_multiply(played):
    curriculum = PromptGdro(over=PromptGdro(over=EVEN))
    curriculum.record("a", 0, [0, 0])
    curriculum.end_step()
    assert curriculum.weight(played(POSED, [0])) == pytest.approx(math.exp(0.65) ** 2)


def test_a_state_holds_both_and_one_that_is_refused_changes_neither():
    def made(task="a"):
        return Oversampled(GrowingHorizon((1, 2), steps_per_stage=3, over=SuccessBand({task: 9})))

    one, other = made(), made()
    one.record("a", 0, [1.0])
    one.end_step()
    other.load_state_dict(json.loads(json.dumps(one.state_dict())))
    assert other.propose() == one.propose()
    assert other.over.over.level("a") == 1.0
    stranger = made("b")
    before = stranger.state_dict()
    for wrong in (one.state_dict(), before | {"over": None}, {}):
        with pytest.raises(ConfigError):
            stranger.load_state_dict(wrong)
        assert stranger.state_dict() == before


# Levels of stored problems


def test_a_climb_goes_over_the_levels_that_there_are():
    curriculum = OnLevels(Linear(["a", "b"], end=9, steps=10), {"a": [7, 2, 4], "b": []})
    levels = {"a": [], "b": []}
    for _ in range(10):
        for _ in range(20):
            proposal = curriculum.propose()
            if proposal.difficulty not in levels[proposal.task]:
                levels[proposal.task].append(proposal.difficulty)
        curriculum.end_step()
    assert levels == {"a": [2, 4, 7], "b": [None]}


def test_scores_count_for_the_number_of_their_level():
    inner = RisingWindow(["a"], least_scores=4, promote_at=1.0)
    curriculum = OnLevels(inner, {"a": [3, 5]})
    tops = []
    for level in (5, 3, 5, 9):  # at first only level 3 is posed; there is no level 9
        curriculum.record("a", level, [1.0] * 4)
        curriculum.end_step()
        tops.append(inner.window("a")[1])
    assert tops == [0, 1, 2, 2]
    assert {curriculum.propose().difficulty for _ in range(50)} == {3, 5}
    with pytest.raises(ConfigError, match="the levels of b"):
        curriculum.record("b", 0, [1.0])
    with pytest.raises(ConfigError, match="levels are distinct"):
        OnLevels(inner, {"a": [1, 1]})


# Reinforce-Ada


@pytest.mark.parametrize(
    ("mode", "rounds", "more"),
    [
        ("positive", [[0, 0, 0]], 3),
        ("positive", [[0, 0, 1]], 0),
        ("balanced", [[1, 1, 1]], 3),
        ("balanced", [[1, 1, 1], [1, 0, 1]], 0),
        ("balanced", [[0, 0, 0]] * 4, 0),  # four rounds are the most
        ("balanced", [[math.nan] * 3, [0, math.nan, 1]], 0),
    ],
)
def test_rounds_go_on_until_the_group_holds_a_signal(mode, rounds, more, played):
    group = played(POSED, [score for each in rounds for score in each])
    assert ada(mode=mode).more(group) == more


def test_what_is_not_chosen_only_counts_in_the_baseline(played):
    curriculum = ada(keep=2)
    assert curriculum.propose().samples == 3
    group = played(POSED, [0.0, math.nan, 0.0, 1.0, 1.0, 0.0])
    curriculum.observe(group)
    assert [each.left_out for each in group.episodes] == [False, False, True, False, True, True]


# CodeV-R1


def test_as_many_are_drawn_as_the_share_with_a_signal_suggests(played):
    curriculum = Oversampled(EVEN, most=4.0, beta=0.5)
    assert curriculum.ahead(6) == 6
    for scores in ([1, 0], [0, 0], [1, 1], [0, 0]):
        curriculum.observe(played(POSED, scores))
    curriculum.end_step()
    assert curriculum.rate == 1 + 0.5 * (0.25 - 1)
    assert curriculum.ahead(6) == math.ceil(6 / 0.625)
    for _ in range(9):
        curriculum.observe(played(POSED, [0, 0]))
        curriculum.end_step()
    assert curriculum.ahead(6) == 24  # four times as many are the most
    curriculum.end_step()  # a step without groups, such as a supervised one
    assert curriculum.rate == pytest.approx(0.625 / 2**9)


# Weights of tasks


@pytest.mark.parametrize(
    "made",
    [
        lambda shares: Linear(["a", "b"], end=0, steps=1, weights=shares),
        lambda shares: RisingWindow(["a", "b"], weights=shares),
        lambda shares: SuccessBand({"a": 1, "b": 1}, weights=shares),
        lambda shares: Dump([("a", 0), ("b", 0)], weights=shares),
        lambda shares: Weakness([("a", 0), ("b", 0)], survey_steps=9, weights=shares),
        lambda shares: StagedDomains([Stage(tasks=("a", "b"), weights=shares)]),
    ],
)
def test_weights_of_tasks_hold(made):
    curriculum = made((4, 1))
    drawn = [curriculum.propose().task for _ in range(1000)]
    assert drawn.count("a") / 1000 == pytest.approx(0.8, abs=0.05)
    for wrong in ((1,), (1, -1), (1, math.nan)):
        with pytest.raises(ConfigError):
            made(wrong)


def test_what_fails_is_weighed_by_its_share():
    curriculum = Weakness([("a", 0), ("b", 0)], survey_steps=0, floor=0.0, weights=(3, 1))
    curriculum.record("a", 0, [0])
    curriculum.record("b", 0, [0])
    assert curriculum.chances() == [0.75, 0.25]
    curriculum = Dump([("a", 0), ("b", 0)], weights=(3, 1))
    curriculum.record("a", 0, [1, 0])
    curriculum.record("b", 0, [1, 0])
    curriculum.end_step()
    assert curriculum.chances() == pytest.approx([0.75, 0.25])


def test_a_stage_may_have_several_levels():
    curriculum = StagedDomains([Stage(tasks=("a",), difficulty=(0, 3))])
    assert {curriculum.propose().difficulty for _ in range(40)} == {0, 3}
