"""HardFocus: which problems stay."""

import math

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import HardFocus, Proposal

PROBLEMS = [
    Proposal(task=task, difficulty=level, problem_seed=number)
    for task, level, number in [("a", 1, 10), ("a", 1, 11), ("a", None, 12), ("b", 0, 13)]
]


def made(**options):
    settings = {"problems": PROBLEMS, "broad_steps": 2, "phases": [(1, 3), (1, 1)]}
    return HardFocus(**(settings | options))


def test_the_pool_shrinks_to_the_lowest_means_of_the_stage_before():
    curriculum = made()
    assert {curriculum.propose().samples for _ in range(9)} == {8}
    curriculum.record("a", 1, [1, 1], 10)
    curriculum.record("a", 1, [1, 0], 11)
    curriculum.end_step()
    curriculum.record("a", 1, [0, 0, 0, 0], 10)  # 2/6 in all
    curriculum.record("a", 7, [1, 0, 0, 0], 12)
    curriculum.record("b", 0, [1, 1], 13)
    assert len(curriculum.pool) == 4
    curriculum.end_step()
    assert curriculum.pool == (PROBLEMS[0], PROBLEMS[1], PROBLEMS[2])
    assert {curriculum.propose().samples for _ in range(9)} == {64}
    curriculum.record("a", 1, [0, 0], 11)  # now the hardest; the others keep their means
    curriculum.end_step()
    assert curriculum.pool == (PROBLEMS[1],)
    for _ in range(3):
        curriculum.end_step()
    assert curriculum.pool == (PROBLEMS[1],)


def test_what_was_never_posed_counts_as_hardest():
    curriculum = made(broad_steps=1)
    curriculum.record("a", 1, [0, 1], 10)
    curriculum.end_step()
    assert curriculum.pool == tuple(PROBLEMS[1:])


def test_many_episodes_of_the_hardest_solve_what_an_even_mixture_does_not():
    """The paper's point: a large budget on retained hard problems finds the rare success."""

    def solved(phases):
        problems = [Proposal(task="a", difficulty=0, problem_seed=number) for number in range(40)]
        skills = {number: -2.5 if number < 4 else 1.0 for number in range(40)}
        rng = np.random.default_rng(0)
        curriculum, spent = HardFocus(problems, broad_steps=60, phases=phases), 0
        while spent < 16000:
            proposal = curriculum.propose()
            chance = 1 / (1 + math.exp(-2 * skills[proposal.problem_seed]))
            scores = (rng.random(proposal.samples) < chance).astype(float).tolist()
            skills[proposal.problem_seed] += float(np.var(scores)) * (len(scores) / 8)
            curriculum.record("a", 0, scores, proposal.problem_seed)
            spent += len(scores)
            curriculum.end_step()
        return sum(skills[number] > 0 for number in range(4))

    assert solved([(100, 8), (1, 4)]) == 4
    assert solved([(1, 40)]) < 4


def test_states(check_resumes):
    seen = check_resumes(made, [("a", 1)], steps=6)
    assert {proposal.samples for proposal in seen} == {8, 64}


def test_a_group_must_name_its_problem():
    with pytest.raises(ConfigError, match="record the problem"):
        made().record("a", 1, [1.0])


@pytest.mark.parametrize(
    "options",
    [
        {"problems": []},
        {"problems": [PROBLEMS[0]] * 2},
        {"problems": [Proposal(task="a", difficulty=0)] * 3},
        {"broad_steps": 0},
        {"phases": []},
        {"phases": [(1, 5)]},
        {"phases": [(1, 2), (1, 3)]},
        {"phases": [(0, 2)]},
        {"focus_samples": 0},
    ],
)
def test_settings_that_cannot_work(options):
    with pytest.raises(ConfigError):
        made(**options)
