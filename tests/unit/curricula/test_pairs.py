"""HardBrittlePairs: what makes a pair."""

import math

import numpy as np
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.curricula import HardBrittlePairs, Proposal

PROBLEMS = [Proposal(task="a", difficulty=0, problem_seed=number) for number in range(6)]
RATES = [0.0, 0.25, 0.5, 0.75, 1.0]


def filled(**options):
    curriculum = HardBrittlePairs(PROBLEMS[:5], **options)
    for number, rate in enumerate(RATES):
        curriculum.record("a", 0, [1] * int(4 * rate) + [0] * int(4 - 4 * rate), number)
    return curriculum


def test_kinds_by_their_rates():
    curriculum = filled()
    assert curriculum.rates() == RATES
    assert curriculum.hard() == [1]
    assert curriculum.brittle() == [3]
    wide = filled(hard=0.5, brittle=0.6)
    assert wide.hard() == [1, 2]  # never solved is not hard but solvable
    assert wide.brittle() == [3]  # never failed is not brittle


def test_pairs_alternate():
    curriculum = filled()
    assert [curriculum.propose().problem_seed for _ in range(6)] == [1, 3, 1, 3, 1, 3]
    curriculum.propose()
    curriculum.end_step()
    assert curriculum.propose().problem_seed == 3  # also across steps


def test_rates_forget():
    curriculum = filled(window=4)
    curriculum.record("a", 0, [1, 1], 1)
    assert curriculum.rates()[1] == 0.5  # the last four of 1, 0, 0, 0, 1, 1
    assert curriculum.hard() == []


def test_where_a_kind_is_empty_the_unknown_comes_first_and_then_any():
    curriculum = HardBrittlePairs(PROBLEMS)
    for number in range(5):
        curriculum.record("a", 0, [0.5], number)
    assert [curriculum.propose().problem_seed for _ in range(4)] == [5] * 4
    curriculum.record("a", 0, [0.5], 5)
    assert {curriculum.propose().problem_seed for _ in range(80)} == set(range(6))


def test_what_is_rare_weighs_more(played):
    """W-GRPO: a success on the hard problem, a failure on the brittle one, and nothing else."""
    curriculum = filled(amplify=3.0)
    scores = [1.0, 0.0, 0.0, math.nan]
    for number, weights in [(1, [3, 1, 1, 1]), (3, [1, 3, 3, 1]), (2, [1] * 4), (4, [1] * 4)]:
        group = played(PROBLEMS[number], scores)
        curriculum.observe(group)
        assert [each.weight for each in group.episodes] == weights


def test_pairs_keep_rare_events_in_every_step():
    """The paper's pairing: each step has a rare success to copy and a rare failure to avoid."""
    chances = [0.0, 0.0, 0.15, 0.5, 0.85, 1.0]
    rng = np.random.default_rng(1)
    curriculum = HardBrittlePairs(PROBLEMS)
    late = []
    for step in range(120):
        for _ in range(2):
            proposal = curriculum.propose()
            scores = (rng.random(16) < chances[proposal.problem_seed]).astype(float)
            curriculum.record("a", 0, scores.tolist(), proposal.problem_seed)
            if step >= 60:
                late.append(chances[proposal.problem_seed])
        curriculum.end_step()
    assert 0.1 < np.mean(late[0::2]) < 0.3
    assert 0.7 < np.mean(late[1::2]) < 0.95
    assert late.count(0.15) > 40
    assert late.count(0.85) > 40


def test_states(check_resumes):
    seen = check_resumes(lambda: HardBrittlePairs(PROBLEMS, seed=2), [("a", 0)])
    assert len(seen) > 3


def test_a_group_must_name_its_problem():
    with pytest.raises(ConfigError, match="record the problem"):
        filled().record("a", 0, [1.0])


@pytest.mark.parametrize(
    "options",
    [
        {"problems": []},
        {"hard": 0.7},
        {"hard": -0.1},
        {"brittle": 1.5},
        {"window": 0},
        {"amplify": 0.5},
    ],
)
def test_settings_that_cannot_work(options):
    with pytest.raises(ConfigError):
        HardBrittlePairs(**({"problems": PROBLEMS} | options))
