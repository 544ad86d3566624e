"""The same problem through every door: the same prompt, and the same verdict."""

import json

import gymnasium as gym
import pytest

import rlvr_envs
from rlvr_envs.cli.main import main

RESPONSES = ("\\boxed{3}", "no idea", "")


def judged(env, prompt_of, responses):
    """Return the statuses of responses, each in an episode of its own."""
    statuses = []
    for response in responses:
        prompt_of()
        statuses.append(env.step(response)[4]["verdict"].status)
    return statuses


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    """Rows of the whole math mixture, written by the command line."""
    out = tmp_path_factory.mktemp("doors") / "rows"
    options = ["--count", "80", "--difficulty", "2", "--seed", "5", "--out", str(out)]
    assert main(["generate", "rlvr/Math-v0", *options]) == 0
    files = sorted(out.rglob("*.jsonl"))
    rows = [json.loads(line) for path in files for line in path.read_text("utf-8").splitlines()]
    assert len(rows) == 80
    return out, rows


def test_rows_of_the_command_line_are_those_of_the_api(dataset):
    for row in dataset[1]:
        again = rlvr_envs.make_problem(
            row["id"], problem_seed=row["problem_seed"], difficulty=row["difficulty"]
        )
        assert {key: row[key] for key in again} == again


def test_gym_make_poses_and_judges_as_rows_do(dataset):
    for row in dataset[1]:
        env = gym.make(row["id"], difficulty=row["difficulty"])
        responses = (rlvr_envs.solve(row), *RESPONSES)
        by_seed = {"problem_seed": row["problem_seed"]}
        for options in ({"problem": row}, by_seed):
            assert env.reset(options=options)[0] == row["prompt"]
            statuses = judged(env, lambda o=options, e=env: e.reset(options=o), responses)
            assert statuses == [rlvr_envs.verify(row, r).status for r in responses]


@pytest.mark.parametrize("mode", ["vector_entry_point", "sync", "async"])
def test_vector_environments_pose_and_judge_as_rows_do(dataset, mode):
    rows = dataset[1][:4]
    for row in rows:
        envs = gym.make_vec(
            row["id"], num_envs=3, vectorization_mode=mode, difficulty=row["difficulty"]
        )
        try:
            prompts, _ = envs.reset(options={"problem_seed": row["problem_seed"]})
            assert tuple(prompts) == (row["prompt"],) * 3
            responses = (rlvr_envs.solve(row), *RESPONSES[:2])
            rewards = envs.step(responses)[1]
            assert rewards.tolist() == [rlvr_envs.verify(row, r).score for r in responses]
        finally:
            envs.close()


def test_the_mixture_names_the_task_and_its_row_alone_is_enough():
    env = gym.make("rlvr/Math-v0", difficulty=(0, 4))
    for seed in range(20):
        prompt, info = env.reset(seed=seed)
        row = rlvr_envs.make_problem("rlvr/Math-v0", seed=seed, difficulty=(0, 4))
        assert row["prompt"] == prompt
        assert row["id"] == info["task"]
        assert env.step(rlvr_envs.solve(row))[1] == 1.0


def test_show_and_verify_agree_with_the_api(dataset, capsys):
    row = rlvr_envs.make_problem("rlvr/Gcd-v0", seed=3, difficulty=2)
    assert main(["show", "Gcd-v0", "--difficulty", "2", "--seed", "3"]) == 0
    shown = capsys.readouterr().out
    assert row["prompt"].splitlines()[0] in shown
    assert rlvr_envs.solve(row) in shown
    assert main(["verify", str(dataset[0]), "--oracle"]) == 0
