"""Prompts of the optimisation tasks: what a feasible but worse answer earns."""

import pytest

import rlvr_envs
from rlvr_envs.core.registry import task_ids

EARNED = {
    "over_greedy": "earns partial credit only if",
    "ratio": "earns partial credit",
    "graph_r1": "earns less than a quarter of the full credit.",
    "binary": "earns no credit.",
}
EXACT = ("rlvr/IntegerProgram-v0", "rlvr/LinearProgram-v0")
NAMES = [name for name in task_ids("np_hard") if name not in EXACT]


@pytest.mark.parametrize("scheme", sorted(EARNED))
@pytest.mark.parametrize("name", NAMES)
def test_prompts_say_what_a_worse_answer_earns(name, scheme):
    prompt = rlvr_envs.make_problem(name, seed=0, difficulty=0, scheme=scheme)["prompt"]
    assert prompt.count(EARNED[scheme]) == 1
    assert prompt.count("best known") == 1


@pytest.mark.parametrize("name", EXACT)
def test_prompts_say_that_only_the_optimum_counts(name):
    prompt = rlvr_envs.make_problem(name, seed=0, difficulty=0)["prompt"]
    assert "Only the exact optimum earns credit." in prompt
