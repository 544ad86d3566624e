"""What holds of every wrapper with second attempts or hints, whatever the agent writes."""

import gymnasium as gym
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlvr_envs.core.source import open_source
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers import (
    Failures,
    GuidanceAfterFailure,
    HintOnFailure,
    ItemResponseHints,
    SelfCorrection,
    UnaryRetry,
    VerbalRetry,
)

WRAPPERS = {
    "unary": UnaryRetry,
    "verbal": lambda env: VerbalRetry(env, attempts=3),
    "correction": SelfCorrection,
    "guidance": lambda env: GuidanceAfterFailure(env, attempts=3),
    "failures": lambda env: HintOnFailure(env, Failures(patience=1)),
    "item response": ItemResponseHints,
    "hints around retries": lambda env: ItemResponseHints(UnaryRetry(env)),
}
TASKS = ("rlvr/Gcd-v0", "rlvr/SubsetSum-v0", "rlvr/Sudoku-v0")
MESSAGES = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["right", "", "I give up", "\\boxed{", "\\boxed{1, 2}", "\\boxed{\ud800}"]),
    st.integers(-9, 99).map(lambda number: f"\\boxed{{{number}}}"),
)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", WRAPPERS)
@settings(max_examples=15, deadline=None)
@given(messages=st.lists(MESSAGES, min_size=5, max_size=5), seed=st.integers(0, 50))
def test_verdicts_are_those_of_the_last_message_and_parts_add_up(name, task, messages, seed):
    env = WRAPPERS[name](gym.make(task, difficulty=0))
    env.reset(seed=seed)
    posed = env.unwrapped.instance
    for message in messages:
        action = posed.solution() if message == "right" else message
        text, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(text)
        assert isinstance(reward, float)
        if "reward_parts" in info:
            assert sum(info["reward_parts"].values()) == pytest.approx(reward)
        assert posed.solution() not in text
        if terminated:
            break
        assert not {"verdict", "scored", "reference"} & set(info)
    assert (terminated, truncated) == (True, False)
    assert info["verdict"] == posed.judge(action)
    assert info["scored"] is True
    assert info["reference"] == posed.reference()
    assert info["task"] == task


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", WRAPPERS)
def test_the_oracle_earns_full_marks_at_once(name, task):
    env = WRAPPERS[name](gym.make(task, difficulty=0))
    for seed in range(3):
        env.reset(seed=seed)
        steps = [env.step(env.unwrapped.instance.solution())]
        if name == "correction":
            steps.append(env.step(env.unwrapped.instance.solution()))
        assert (sum(step[1] for step in steps), steps[-1][2]) == (1.0, True)
        assert steps[-1][4]["verdict"].status is Status.CORRECT


@pytest.mark.parametrize("name", WRAPPERS)
def test_the_problems_are_those_of_the_bare_environment(name):
    env, bare = WRAPPERS[name](gym.make(TASKS[0])), gym.make(TASKS[0])
    for seed in (7, None, None, None):
        info = env.reset(seed=seed)[1]
        assert info["problem_seed"] == bare.reset(seed=seed)[1]["problem_seed"]
        for _ in range(2):
            if env.step("I give up")[2]:
                break


# Tasks whose answers are long enough that a detail could hold one by mistake only.
@pytest.mark.parametrize(
    "task",
    [
        "Sudoku-v0",
        "SubsetSum-v0",
        "GraphColoring-v0",
        "JobShop-v0",
        "PrimeFactorization-v0",
        "LinearSystem-v0",
        "MatrixProduct-v0",
    ],
)
def test_what_is_shown_of_a_verdict_never_holds_the_answer(task):
    source = open_source(f"rlvr/{task}", difficulty=2)
    instances = [source.draw(seed) for seed in range(4)]
    for posed, other in zip(instances, instances[1:] + instances[:1], strict=True):
        answer = posed.reference()
        for response in (other.solution(), posed.solution().replace(answer, answer[:-1]), "0"):
            detail = posed.judge(response).detail
            assert answer not in detail
