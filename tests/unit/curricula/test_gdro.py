"""Prompt-GDRO and Rollout-GDRO against their formulas."""

from itertools import product
from math import exp

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import Dump, Fixed, PassRateBins, PromptGdro, Proposal, RolloutGdro
from rlvr_envs.curricula.rollout_gdro import sizes

ARMS = [("a", 0), ("b", 0), ("c", 0)]


def even():
    return Fixed([Proposal(task=task, difficulty=level) for task, level in ARMS])


def test_bins_by_the_share_of_groups_with_a_success():
    bins = PassRateBins((0.4, 0.75), window=4)
    for scores, expected in [([0, 0], 0), ([0, 1], 1), ([1, 1], 1), ([0, 1], 2), ([1, 0], 2)]:
        bins.add("a", scores)  # rates 0, 1/2, 2/3, 3/4, and 1 once the first is forgotten
        assert (bins.of("a"), bins.of("b")) == (expected, 0)


def test_the_names_that_came_last_are_remembered():
    bins = PassRateBins((0.5,), most=2)
    for name in "abac":
        bins.add(name, [1])
    assert [bins.of(name) for name in "abc"] == [1, 0, 1]


def test_a_margin_resists():
    bins = PassRateBins((0.5,), window=10, margin=0.2)
    for _ in range(4):
        bins.add("a", [0])
    for _ in range(5):
        bins.add("a", [1])
    assert bins.of("a") == 0  # 5/9 is past the edge, but not past the margin
    for _ in range(3):
        bins.add("a", [1])
    assert bins.of("a") == 1  # 8/10, of the last ten
    for _ in range(4):
        bins.add("a", [0])  # 2 of the old zeros are gone: 6 in 10
    assert bins.of("a") == 1
    for _ in range(6):
        bins.add("a", [0])
    assert bins.of("a") == 0


def test_weights_by_hand():
    curriculum = PromptGdro(ARMS, eta=2.0, gamma=0.1, beta=0.5)
    assert curriculum.pull("a 0") == 1.0
    curriculum.record("a", 0, [1, 0, 0, 0])  # loss 3/4, in bin 0 as all are
    curriculum.record("b", 0, [0, 0])  # loss 1
    curriculum.end_step()
    assert [curriculum.bins.of(f"{task} 0") for task in "abc"] == [2, 0, 0]
    assert curriculum.pull("b 0") == pytest.approx(exp(2 * 0.875))
    assert curriculum.pull("a 0") == 1.0  # its new bin has no loss yet
    curriculum.record("a", 0, [1, 1])
    curriculum.record("c", 0, [0, 0])
    curriculum.end_step()
    assert curriculum.pull("b 0") == pytest.approx(exp(2 * (0.5 * 0.875 + 0.5)))
    high = exp(2 * 0.9375)
    expected = {0: 0.9 * high / (high + 1) + 0.05, 2: 0.9 / (high + 1) + 0.05}
    assert curriculum.shares() == pytest.approx(expected)


def test_weights_are_capped():
    curriculum = PromptGdro(ARMS, eta=50)
    curriculum.record("a", 0, [0])
    curriculum.end_step()
    assert curriculum.pull("a 0") == 15.0


def test_a_frequent_bin_weighs_no_more():
    often, once = PromptGdro(ARMS), PromptGdro(ARMS)
    once.record("a", 0, [0, 1])
    for _ in range(20):
        often.record("a", 0, [0, 1])
    for each in (often, once):
        each.end_step()
    assert often.pull("b 0") == pytest.approx(once.pull("b 0"))


def test_the_hardest_tasks_fare_better_than_under_an_even_mixture(learner):
    """Robust optimisation lifts the worst group: the paper's claim of prompt-level GDRO."""
    skills = {f"easy {i}": 3.0 for i in range(7)} | {"hard": -1.0}
    arms = [(task, 0) for task in skills]
    even = Fixed([Proposal(task=task, difficulty=level) for task, level in arms])
    for seed in range(3):
        robust = learner(skills, seed=seed, rate=0.1).train(PromptGdro(arms, eta=3), 100)
        plain = learner(skills, seed=seed, rate=0.1).train(even, 100)
        assert robust.chance("hard", 0) > plain.chance("hard", 0) + 0.05


def test_around_another_it_weighs_groups_and_draws_nothing(played):
    """As the paper has it; drawing as well would count the loss twice."""
    curriculum = PromptGdro(over=even(), by="problem", beta=1.0)
    easy, hard = (Proposal(task="a", difficulty=0, problem_seed=number) for number in (1, 2))
    for _ in range(3):
        for proposal, scores in [(easy, [1, 1]), (hard, [0, 0])]:
            curriculum.record("a", 0, scores, proposal.problem)
        assert curriculum.propose().task in {"a", "b", "c"}
        curriculum.end_step()
    assert curriculum.weight(played(hard, [0])) == pytest.approx(exp(0.65))
    assert curriculum.weight(played(easy, [0])) == 1.0  # the loss of its bin is 0
    drawing = PromptGdro(ARMS)
    drawing.record("a", 0, [0])
    drawing.end_step()
    assert drawing.weight(played(Proposal(task="a", difficulty=0), [0])) == 1.0


def test_weights_of_arms_hold_within_a_bin():
    curriculum = PromptGdro(ARMS, weights=(6, 3, 1))
    drawn = [curriculum.propose().task for _ in range(2000)]
    assert [drawn.count(task) / 2000 for task in "abc"] == pytest.approx([0.6, 0.3, 0.1], abs=0.04)


@pytest.mark.parametrize("seed", range(10))
def test_sizes_are_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    counts = {number: int(rng.integers(1, 5)) for number in range(3)}
    variances = {number: float(rng.random()) for number in range(3)}
    budget, allowed = 4 * sum(counts.values()), range(2, 9)
    chosen = sizes(counts, variances, budget, allowed)

    def judged(each):
        total = sum(counts[number] * size for number, size in enumerate(each))
        cost = sum(counts[n] * variances[n] / size for n, size in enumerate(each))
        return abs(total - budget), cost

    best = min(judged(each) for each in product(allowed, repeat=3))
    assert judged([chosen[number] for number in range(3)]) == pytest.approx(best)


def test_sizes_go_by_the_root_of_the_variance():
    assert sizes({0: 1, 1: 1}, {0: 0.04, 1: 0.36}, 40, range(1, 61)) == {0: 10, 1: 30}


def test_a_step_spends_its_budget_and_more_of_it_where_scores_vary(learner):
    """The paper: the mean size holds, and bins of high variance get more than those of none."""
    skills = {"mastered": 50.0, "rare": -1.0}
    posed = [Proposal(task=task, difficulty=0) for task in skills for _ in range(8)]
    curriculum = RolloutGdro(Fixed(posed), beta=0.3)
    pupil = learner(skills, rate=0.0)
    sampled = {task: [] for task in skills}
    for step in range(40):
        proposals = curriculum.allot(posed)
        if step >= 20:
            for each in proposals:
                sampled[each.task].append(each.samples)
        assert sum(each.samples for each in proposals) == 64
        for each in proposals:
            curriculum.record(each.task, 0, pupil.play(each))
        curriculum.end_step()
    assert np.mean(sampled["rare"]) > 5.5
    assert np.mean(sampled["mastered"]) < 2.5


def test_states(check_resumes):
    check_resumes(lambda: PromptGdro(ARMS, seed=3), ARMS)
    check_resumes(lambda: PromptGdro(over=even(), by="problem"), ARMS)
    seen = check_resumes(lambda: RolloutGdro(Dump(ARMS), beta=0.9), ARMS)
    assert {proposal.task for proposal in seen} == {"a", "b", "c"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: PassRateBins(()),
        lambda: PassRateBins((0.5, 0.5)),
        lambda: PassRateBins((0.5, 1.0)),
        lambda: PassRateBins((0.5,), margin=0.5),
        lambda: PromptGdro([]),
        lambda: PromptGdro(ARMS, by="problem"),
        lambda: PromptGdro(ARMS, gamma=1.5),
        lambda: RolloutGdro(even(), mean=0),
        lambda: RolloutGdro(even(), mean=2, least=3),
    ],
)
def test_settings_that_cannot_work(make):
    with pytest.raises(ConfigError):
        make()
