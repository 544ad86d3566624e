"""Sample groups of answers to the same problem, as GRPO does, and normalise the rewards."""

import re

import gymnasium as gym
import numpy as np

import rlvr_envs  # noqa: F401 - registers the ids

GROUPS, MEMBERS = 4, 8
rng = np.random.default_rng(0)


def policy(prompt: str) -> str:
    """A stand-in for a model: it guesses a divisor of the smallest number."""
    smallest = min(int(number) for number in re.findall(r"\d+", prompt))
    divisors = [d for d in range(1, smallest + 1) if smallest % d == 0]
    return f"I think it is \\boxed{{{rng.choice(divisors)}}}."


envs = gym.make_vec("rlvr/Gcd-v0", num_envs=GROUPS * MEMBERS, group_size=MEMBERS, difficulty=0)
prompts, info = envs.reset(seed=0)
_, rewards, _, _, _ = envs.step(tuple(policy(prompt) for prompt in prompts))

groups = rewards.reshape(GROUPS, MEMBERS)
advantages = groups - groups.mean(axis=1, keepdims=True)
for question, rewards_of_group in zip(prompts[::MEMBERS], groups, strict=True):
    print(f"{question.splitlines()[0]}  mean reward {rewards_of_group.mean():.2f}")
print(f"largest advantage {advantages.max():.2f}")
