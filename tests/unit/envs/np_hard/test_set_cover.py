"""Set cover: the whole small world, exploits of other suites, bands, configuration."""

import dataclasses
import itertools

import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.envs.np_hard.set_cover import SetCoverConfig, SetCoverProblem, SetCoverTask
from rlvr_envs.generators.optimisation.task import BANDS, Reference

TASK = SetCoverTask(dataclasses.replace(SetCoverConfig.at(0), scheme="ratio"))
# In the order given, sets 1 to 4 each hold something new; sets 3 and 4 cover all.
SMALL = SetCoverProblem(
    6, ((1, 2), (2, 3), (1, 2, 4), (3, 5, 6), (4, 6)), Reference(2, 2, True, 4, "3, 4")
)


def in_order(problem):
    """The baseline, by the words of the task's description."""
    covered, count = set(), 0
    for held in problem.sets:
        if set(held) - covered:
            covered |= set(held)
            count += 1
    return count


@pytest.mark.parametrize("seed", range(20))
def test_whole_small_world(seed):
    problem = TASK.generate(stream("SetCover", seed))
    n, everything = len(problem.sets), set(range(1, problem.n_elements + 1))
    choices = [c for k in range(1, n + 1) for c in itertools.combinations(range(n), k)]
    covers = {c for c in choices if set().union(*(problem.sets[i] for i in c)) == everything}
    best, trivial = min(map(len, covers)), in_order(problem)
    assert (problem.reference.objective, problem.reference.proven) == (best, True)
    assert problem.reference.trivial == (trivial if trivial > best else None)
    for choice in choices:
        verdict = TASK.verify(problem, ", ".join(str(i + 1) for i in choice))
        expected = 0.0
        if choice in covers and len(choice) == best:
            expected = 1.0
        elif choice in covers and trivial > best:
            expected = max(0.0, (trivial - len(choice)) / (trivial - best))
        elif choice in covers:
            expected = best / len(choice)
        assert verdict.score == pytest.approx(expected)
        assert verdict.parts["feasible"] == (choice in covers)


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("3, 4", 1.0),
        ("{4; 3}", 1.0),
        ("1, 3, 4", 0.5),
        ("1, 2, 4, 5", 0.0),  # a cover no better than the baseline
        ("1, 2, 3, 4, 5", 0.0),  # every set
        ("1, 2", 0.0),
        ("3, 3", 0.0),
        ("3, 4, 4", 0.0),
        ("0, 3, 4", 0.0),
        ("3, 4, 6", 0.0),
        ("3.0, 4.0", 1.0),
        ("{}", 0.0),
        ("3, NaN", 0.0),
        ("list(range(1, 6))", 0.0),
        ("3, 4 or all", 0.0),
        ("3," * 4000 + "4", 0.0),
    ],
)
def test_forms_and_exploits(answer, score):
    assert TASK.verify(SMALL, answer).score == score


def test_bands_of_np_engine():
    elements = {"easy": (10, 20), "medium": (20, 25), "hard": (25, 30), "bench": (30, 40)}
    sets = {"easy": (5, 10), "medium": (10, 15), "hard": (15, 25), "bench": (20, 30)}
    for band, level in BANDS.items():
        config = SetCoverConfig.at(level)
        assert elements[band][0] <= config.n_elements <= elements[band][1]
        assert sets[band][0] <= config.n_sets <= sets[band][1]


@pytest.mark.parametrize(
    "knob",
    [
        {"n_elements": 3},
        {"n_elements": 401},
        {"n_sets": 2},
        {"n_sets": 401},
        {"largest_percent": 0},
        {"largest_percent": 101},
    ],
)
def test_config_is_checked(knob):
    with pytest.raises(ConfigError, match=next(iter(knob))):
        SetCoverConfig(**knob)


def test_greedy_and_its_neighbours_are_covers():
    task, n_moves = SetCoverTask(SetCoverConfig.at(5)), 0
    for seed in range(8):
        rng = stream("SetCover", "moves", seed)
        problem = task.generate(rng)
        answer = task.baseline(stream("baseline"), problem)
        for other in (answer, *(task.neighbour(problem, answer, rng) for _ in range(20))):
            assert task.verify(problem, other).parts["feasible"] == 1.0
            n_moves += other != answer
    assert n_moves > 40


def test_nearly_every_problem_has_a_baseline_to_beat():
    problems = [SetCoverTask(SetCoverConfig.at(3)).generate(stream("b", s)) for s in range(30)]
    assert all(p.reference.trivial > p.reference.objective for p in problems)


def test_the_baseline_of_the_small_problem():
    # set 3 has the most numbers, and set 4 all others
    assert TASK.baseline(stream("baseline"), SMALL) == "3, 4"


def test_effort_counts_the_numbers_in_the_sets():
    assert TASK.effort(SMALL) == 2 + 2 + 3 + 3 + 2 + SMALL.reference.effort
