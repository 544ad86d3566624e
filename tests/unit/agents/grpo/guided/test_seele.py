"""SEELE: hints of a length at which a problem is solved half the time, reached within a step."""

from statistics import fmean

import numpy as np
import pytest

from rlvr_envs.core.source import open_source
from rlvr_envs.wrappers.item_response import ItemResponse

SEEDS = range(4)
POSED = [open_source("WordProblem-v0", difficulty=3).draw(seed) for seed in SEEDS]
STEPS = [posed.task.explain(posed.problem) for posed in POSED]
PROPOSALS = [{"task": "WordProblem-v0", "difficulty": 3, "problem_seed": seed} for seed in SEEDS]
SIZES = {"group_size": 8, "difficulty": "3", "context": 2048}
LEAD = "Hint, how a worked solution begins:\n"


def likely(share, middle):
    """An answerer who is the likelier right the more is shown."""
    return 1 / (1 + np.exp(-14 * (share - middle)))


@pytest.mark.parametrize("steps", [8, 20])
def test_a_simulated_answerer_is_held_at_the_target(steps):
    rng = np.random.default_rng(0)
    ends, shares = [], []
    for middle in rng.uniform(0.2, 0.8, 60):
        memory = ItemResponse(rollouts=8, rounds=4, target=0.5)
        for _ in range(4):
            level = memory.level("p", steps)
            right = rng.random(8) < likely(level / steps, middle)
            for score in right:
                memory.record("p", level, steps, float(score))
        ends.append(fmean(right))
        shares.append(level / steps)
    assert fmean(ends) == pytest.approx(0.5, abs=0.1)
    assert fmean(shares) == pytest.approx(0.5, abs=0.1)


def half_way(heard, place):
    """Right in some of the episodes, by the share of the solution that is shown."""
    bare, _, hint = heard.strip().partition(f"\n\n{LEAD}")
    number = next(k for k, posed in enumerate(POSED) if posed.prompt() == bare)
    shown = len(hint.splitlines()) / len(STEPS[number])
    chance = np.random.default_rng((number, len(hint), place)).random()
    return POSED[number].solution() if chance < likely(shown, 0.5) else r"\boxed{90001}"


def rounds_of(episodes):
    """Return (share, mean score) of each round of each problem."""
    found = []
    for number in SEEDS:
        own = [e for e in episodes if e.problem_seed == number and not e.demonstrated]
        for k in range(0, len(own), 8):
            level = own[k].info.get("hint_level", 0) / len(STEPS[number])
            assert len({e.info.get("hint_level") for e in own[k : k + 8]}) == 1
            found.append((k // 8, level, fmean(e.score for e in own[k : k + 8])))
    return found


def test_training_reaches_the_target_within_a_step(learn):
    seen = learn(half_way, PROPOSALS, "seele", groups=4, steps=2, **SIZES)
    first, second = map(rounds_of, seen.batches)
    assert {len({e.group for e in batch if not e.demonstrated}) for batch in seen.batches} == {4}
    begins = [share for k, share, _ in first if k == 0]
    assert min(begins) > 0.8  # all but the last step
    last = [(share, score) for k, share, score in first if k == 3]
    assert fmean(share for share, _ in last) == pytest.approx(0.5, abs=0.12)
    assert fmean(score for _, score in last) == pytest.approx(0.5, abs=0.2)
    # When problems come back they go on from there, and never from the whole again.
    again = [share for k, share, _ in second if k == 0]
    assert fmean(again) < 0.7
    assert fmean(score for *_, score in second) == pytest.approx(0.5, abs=0.2)


def test_hints_are_imitated_a_little_as_answers_to_the_bare_prompt(learn):
    seen = learn(half_way, PROPOSALS[:1], "seele", **SIZES)
    (episodes,) = seen.batches
    given = [e for e in episodes if e.demonstrated]
    sampled = [e for e in episodes if not e.demonstrated]
    assert len(sampled) == 32
    hinted = [e for e in sampled if e.bare_prompt]
    assert sum(e.weight for e in given) == pytest.approx(0.001 * len(hinted))
    assert len(given) == len({e.heard[0] for e in hinted})
    lengths = {len(e.segments[1].tokens) for e in given}
    assert len(lengths) == len(given)  # beginnings of one solution
    assert seen.metrics[1]["score/mean"] < 1.0  # they are no episodes of the run
    assert all(e.hint_opening == e.heard[0].partition(LEAD)[2] for e in hinted)
    assert len({e.hint_opening for e in hinted}) == len(given)
