"""Subset sum: the whole small world, exploits of other suites, bands, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.subset_sum import SubsetSumConfig, SubsetSumProblem, SubsetSumTask
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = SubsetSumTask(dataclasses.replace(SubsetSumConfig.at(0), scheme="ratio"))
# 1 + 2 + 4 + 5 = 12 is the fullest sum; 5 + 7 = 12 and 1 + 4 + 7 = 12 are shorter.
SMALL = SubsetSumProblem((1, 2, 4, 5, 7), 12, Reference(4, 4, True, None, "1, 2, 3, 4"))


def subsets(numbers):
    """Every choice of positions, from 1."""
    places = range(1, len(numbers) + 1)
    return [c for k in range(1, len(numbers) + 1) for c in itertools.combinations(places, k)]


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("SubsetSum", seed))
    sums = {c: sum(problem.numbers[i - 1] for i in c) for c in subsets(problem.numbers)}
    best = max(len(c) for c, total in sums.items() if total == problem.target)
    assert (problem.reference.objective, problem.reference.bound) == (best, best)
    for choice, total in sums.items():
        verdict = TASK.verify(problem, ", ".join(map(str, choice)))
        assert verdict.score == (len(choice) / best if total == problem.target else 0.0)
        assert verdict.parts["feasible"] == (total == problem.target)


@pytest.mark.parametrize("seed", range(6))
def test_the_reference_is_the_best_also_for_larger_numbers(seed):
    problem = SubsetSumTask(SubsetSumConfig.at(5)).generate(stream("SubsetSum", "five", seed))
    exact = [
        len(c)
        for c in subsets(problem.numbers)
        if sum(problem.numbers[i - 1] for i in c) == problem.target
    ]
    assert problem.reference.objective == max(exact)
    assert problem.reference.effort > len(problem.numbers)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("1, 2, 3, 4", 1.0),
        ("[4 3 2 1]", 1.0),
        ("4, 5", 0.5),
        ("1, 3, 5", 0.75),
        ("1, 2, 4, 5", 0.0),  # the numbers themselves, where 7 stands at position 5
        ("2, 2, 2, 2, 2, 2", 0.0),  # one position again and again reaches 12 too
        ("1, 1, 2, 3, 4", 0.0),
        ("1, 2, 3", 0.0),
        ("0, 1, 2, 3", 0.0),
        ("1, 2, 3, 4, 6", 0.0),
        ("-1, 5", 0.0),
        ("4.0, 5.0", 0.5),
        ("[]", 0.0),
        ("4, NaN", 0.0),
        ("range(1, 5)", 0.0),
        ("1, 2, 3, 4 or 4, 5", 0.0),
        ("4," * 4000 + "5", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_bands_of_np_engine():
    planted = {"easy": (4, 8), "medium": (4, 8), "hard": (8, 12), "bench": (10, 15)}
    count = {"easy": (5, 11), "medium": (8, 13), "hard": (12, 16), "bench": (15, 20)}
    for band, level in BANDS.items():
        config = SubsetSumConfig.at(level)
        in_all = config.n_planted + config.n_decoys + config.n_fillers
        assert planted[band][0] <= config.n_planted <= planted[band][1]
        assert count[band][0] <= in_all <= count[band][1]


@pytest.mark.parametrize(
    "knobs",
    [
        {"n_planted": 2},
        {"max_value": 1},
        {"max_value": 10_001},
        {"n_planted": 155},
        {"n_decoys": 155},
        {"n_fillers": 155},
        {"n_decoys": -1},
        {"n_decoys": 0, "n_fillers": 0},
        {"scheme": "best"},
    ],
)
def test_config_is_checked(knobs):
    with pytest.raises(ConfigError, match=next(iter(knobs))):
        SubsetSumConfig(**knobs)


@pytest.mark.parametrize("seed", range(8))
def test_neighbours_keep_the_sum_and_can_improve(seed):
    rng = stream("SubsetSum", "moves", seed)
    task = SubsetSumTask(SubsetSumConfig(max_value=4))
    problem = task.generate(rng)
    answer = problem.reference.answer
    moved = {task.neighbour(problem, answer, rng) for _ in range(40)}
    assert {task.verify(problem, other).parts["feasible"] for other in moved} == {1.0}
    assert len(moved) > 1


def test_the_greedy_takes_the_largest_numbers_that_fit():
    # of 8, it takes 5 and 2, then 1; of 6, it takes 5 and misses the target
    reference = SMALL.reference
    for target, answer, hit in ((8, "1, 2, 4", True), (6, "4", False)):
        problem = SubsetSumProblem((1, 2, 4, 5), target, reference)
        if target == 6:
            problem = SubsetSumProblem((2, 2, 2, 5), target, reference)
        assert TASK.baseline(stream("baseline"), problem) == answer
        assert TASK.verify(problem, answer).parts["feasible"] == hit
        prompt = SubsetSumTask(SubsetSumConfig()).prompt(problem)
        assert ("from the largest down" in prompt) == hit
