"""The table of docs/curricula.md on a simulated learner is what the curricula do."""

from pathlib import Path

import pytest

from rlvr_envs.curricula import (
    Dump,
    Fixed,
    Linear,
    PromptGdro,
    Proposal,
    RisingWindow,
    SuccessBand,
    Weakness,
)

TEXT = (Path(__file__).resolve().parents[3] / "docs/curricula.md").read_text("utf-8")
ARMS = [("a", level) for level in range(13)]
PROPOSALS = [Proposal(task=task, difficulty=level) for task, level in ARMS]
ROWS = {
    "`Fixed`, levels 0 to 2": lambda seed: Fixed(PROPOSALS[:3], seed=seed),
    "`Fixed`, levels 0 to 12": lambda seed: Fixed(PROPOSALS, seed=seed),
    "`Linear` to 12 in 100 steps": lambda seed: Linear(["a"], end=12, steps=100, seed=seed),
    "`RisingWindow`, 16 scores, 0.8": lambda seed: RisingWindow(
        ["a"], least_scores=16, promote_at=0.8, seed=seed
    ),
    "`SuccessBand` to 12": lambda seed: SuccessBand({"a": 12}, seed=seed),
    "`Dump`, levels 0 to 12, window 64": lambda seed: Dump(ARMS, window=64, seed=seed),
    "`PromptGdro`, levels 0 to 12": lambda seed: PromptGdro(ARMS, seed=seed),
    "`Weakness`, levels 0 to 12, 10 steps of survey": lambda seed: Weakness(
        ARMS, survey_steps=10, seed=seed
    ),
}


@pytest.mark.parametrize("row", ROWS)
def test_the_table(row, learner):
    skills = [
        learner({"a": 1.0}, seed=seed, rate=0.3).train(ROWS[row](seed), 100).skills["a"]
        for seed in range(3)
    ]
    (line,) = [line for line in TEXT.splitlines() if line.startswith(f"| {row} |")]
    low, high = map(float, line.split("|")[2].split("–"))
    assert (low, high) == pytest.approx((min(skills), max(skills)), abs=0.051)
