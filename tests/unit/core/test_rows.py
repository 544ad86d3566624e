"""Rows of problems: made from either seed, solved and judged."""

import gymnasium as gym
import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError, RowError, UsageError

TASK = "rlvr/Gcd-v0"


def test_a_seed_of_reset_makes_the_problem_of_reset():
    env = gym.make(TASK, difficulty=3)
    prompt, info = env.reset(seed=11)
    row = rlvr_envs.make_problem(TASK, seed=11, difficulty=3)
    assert (row["prompt"], row["problem_seed"]) == (prompt, info["problem_seed"])


def test_a_problem_seed_makes_the_same_problem_each_time():
    row = rlvr_envs.make_problem(TASK, seed=11, difficulty=3)
    again = rlvr_envs.make_problem(TASK, problem_seed=row["problem_seed"], difficulty=3)
    assert again == row
    other = rlvr_envs.make_problem(TASK, problem_seed=row["problem_seed"] + 1, difficulty=3)
    assert other["prompt"] != row["prompt"]


@pytest.mark.parametrize("seeds", [{}, {"seed": 1, "problem_seed": 2}])
def test_one_seed_is_needed(seeds):
    with pytest.raises(ConfigError, match=r"one of seed=\.\.\. and problem_seed=\.\.\."):
        rlvr_envs.make_problem(TASK, **seeds)


def test_a_row_is_solved_and_judged():
    row = rlvr_envs.make_problem(TASK, seed=0)
    assert rlvr_envs.verify(row, rlvr_envs.solve(row)).score == 1.0
    assert rlvr_envs.verify(row, r"\boxed{0}").score == 0.0
    with pytest.raises(RowError, match="problem"):
        rlvr_envs.verify({key: row[key] for key in row if key != "problem"}, "1")


def test_one_text_is_no_response_to_a_row_of_several_turns():
    row = rlvr_envs.make_problem("rlvr/GuessNumber-v0", seed=1, difficulty=0)
    actions = rlvr_envs.solve(row)
    with pytest.raises(UsageError, match=r"list of all of them.*pass \[text\]"):
        rlvr_envs.verify(row, actions[-1])
    assert rlvr_envs.verify(row, actions).score == 1.0


def altered(task_id, **fields):
    row = dict(rlvr_envs.make_problem(task_id, seed=1, difficulty=0))
    return {**row, "fingerprint": None, "problem": {**row["problem"], **fields}}


def test_no_episode_begins_with_an_altered_row():
    row = altered("rlvr/ChainSearch-v0", syntax="x")
    with pytest.raises(RowError, match="ChainSearch"):
        gym.make("rlvr/ChainSearch-v0").reset(options={"problem": row})


def test_an_oracle_that_breaks_on_an_altered_row_is_a_row_error():
    row = altered("rlvr/MazeExplorer-v0", rows=[])
    env = gym.make("rlvr/MazeExplorer-v0", max_turns=1)
    env.reset(options={"problem": row})
    with pytest.raises(RowError, match="MazeExplorer"):
        env.step("north")


def test_a_row_that_no_task_draws_is_a_row_error():
    row = rlvr_envs.make_problem("rlvr/Sudoku-v0", seed=1, difficulty=0)
    del row["fingerprint"]
    row["problem"] = {**row["problem"], "givens": [[0]], "box_height": 0}
    with pytest.raises(RowError):
        rlvr_envs.solve(row)
