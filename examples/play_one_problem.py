"""Pose one problem, answer it twice, and read the verdicts."""

import gymnasium as gym

import rlvr_envs

env = gym.make("rlvr/Math-v0", difficulty=2)
prompt, info = env.reset(seed=7)
print(f"{info['task']} at difficulty {info['difficulty']}:\n\n{prompt}\n")

_, reward, _, _, after = env.step("I would guess \\boxed{1000000007}.")
print(f"reward {reward}: {after['verdict'].status} ({after['verdict'].detail})")

# The problem seed brings exactly this problem back; a row is a problem that can be stored.
again, _ = env.reset(options={"problem_seed": info["problem_seed"]})
row = rlvr_envs.make_problem(info["task"], problem_seed=info["problem_seed"], difficulty=2)
print(f"the same problem again: {again == prompt == row['prompt']}")
print(
    f"the oracle says {rlvr_envs.solve(row)}: {rlvr_envs.verify(row, rlvr_envs.solve(row)).status}"
)
