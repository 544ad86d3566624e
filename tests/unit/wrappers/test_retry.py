"""Retries: what is shown, what is earned, and what stays as it was."""

import json

import gymnasium as gym
import pytest

from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.verdict import Status, Verdict
from rlvr_envs.wrappers import Horizon, ShapedReward, ToolCost, UnaryRetry, VerbalRetry
from rlvr_envs.wrappers.retry import INCORRECT, criticism, repeated_share

ID = "rlvr/Gcd-v0"
MALFORMED = "I do not know"
OVERLONG = r"\boxed{1}" + "x" * 1_000_001


def boxed(answer):
    return rf"\boxed{{{answer}}}"


def play(env, *answers, seed=3):
    """Play an episode; "right" stands for the oracle's answer. Return its steps."""
    env.reset(seed=seed)
    steps = []
    for answer in answers:
        right = env.unwrapped.instance.solution()
        steps.append(env.step(right if answer == "right" else answer))
    return steps


def unary(*answers, **options):
    return play(UnaryRetry(gym.make(ID), **options), *answers)


def total(steps):
    return sum(step[1] for step in steps)


W1, W2, W3, W4, W5 = (boxed(number) for number in (90001, 90002, 90003, 90004, 90005))


@pytest.mark.parametrize(
    ("answers", "earned"),
    [
        (["right"], 1.0),
        ([W1, "right"], 0.5),
        ([W1, W2, "right"], 0.25),
        ([W1, W2, W3, W4, "right"], 0.0625),
        ([W1, W2, W3, W4, W5], 0.0),
        ([W1, W1, "right"], 0.25 - 0.5 * (1 - 2 / 3)),
        ([W1, W1, W1, W1, W1], -0.5 * (1 - 1 / 5)),
        ([W1, W2, W1, W2, "right"], 0.0625 - 0.5 * (1 - 3 / 5)),
        ([MALFORMED, "right"], 0.5 - 0.1),
        ([MALFORMED, W1, W1, "right"], 0.125 - 0.5 * (1 - 2 / 3) - 0.1),
        ([MALFORMED] * 5, -0.5),
        ([OVERLONG, "right"], 0.5 - 0.1),
    ],
)
def test_the_rewards_of_ufo(answers, earned):
    steps = unary(*answers)
    assert total(steps) == pytest.approx(earned)
    assert [step[2] for step in steps] == [False] * (len(steps) - 1) + [True]
    for _, reward, _, _, info in steps:
        assert sum(info.get("reward_parts", {}).values()) == pytest.approx(reward)


def test_other_constants():
    options = {"attempts": 3, "decay": 0.9, "repetition": 0.2, "malformed": 0.3}
    assert total(unary(W1, W1, "right", **options)) == pytest.approx(0.81 - 0.2 / 3)
    assert total(unary(MALFORMED, "right", **options)) == pytest.approx(0.9 - 0.3)
    steps = unary(W1, W1, W1, **options)
    assert steps[-1][2]
    assert steps[-1][4]["reward_parts"] == {
        "answer": 0.0,
        "repetition": pytest.approx(-0.2 * (1 - 1 / 3)),
    }


def test_only_that_it_was_incorrect_is_shown():
    steps = unary(W1, MALFORMED, "", OVERLONG, W2)
    assert [step[0] for step in steps[:-1]] == [INCORRECT] * 4
    assert "ncorrect" in INCORRECT
    for _, _, _, _, info in steps[:-1]:
        assert not {"verdict", "scored", "reference", "attempt_scores"} & set(info)


def test_the_infos_count_attempts_and_turns():
    env = UnaryRetry(gym.make(ID))
    assert env.reset(seed=1)[1]["attempt"] == 1
    steps = play(env, W1, W2, "right")
    assert [step[4]["attempt"] for step in steps] == [2, 3, 3]
    assert [step[4]["turn"] for step in steps] == [1, 2, 3]
    info = steps[-1][4]
    assert info["attempt_scores"] == (0.0, 0.0, 1.0)
    assert (info["scored"], info["verdict"].status) == (True, Status.CORRECT)
    with pytest.raises(UsageError):
        env.step("more")


def test_all_attempts_are_at_the_same_problem_and_the_next_episode_at_another():
    env = UnaryRetry(gym.make(ID, difficulty=(0, 3)))
    bare = gym.make(ID, difficulty=(0, 3))
    for seed in (4, None, None):
        prompt, info = env.reset(seed=seed)
        assert prompt == bare.reset(seed=seed)[0]
        posed = env.unwrapped.instance
        for answer in (W1, W2):
            told = env.step(answer)[4]
            again = env.unwrapped.instance
            assert (again.problem, again.task.config) == (posed.problem, posed.task.config)
            assert {name: told[name] for name in ("problem_seed", "difficulty", "task")} == {
                name: info[name] for name in ("problem_seed", "difficulty", "task")
            }


@pytest.mark.parametrize(
    ("answers", "share"),
    [
        ([], 0.0),
        (["1"], 0.0),
        (["1", "1"], 0.5),
        (["a  b", " A b\n", "\uff21 b"], 2 / 3),
        (["1", "2", "3"], 0.0),
        (["12", "1 2"], 0.0),
    ],
)
def test_what_counts_as_repeated(answers, share):
    assert repeated_share(answers) == pytest.approx(share)


def test_thoughts_do_not_make_an_answer_another():
    steps = unary(*(f"attempt {i}: {W1}" for i in range(5)))
    assert total(steps) == pytest.approx(-0.4)


def verbal(*answers, **options):
    return play(VerbalRetry(gym.make(ID), **options), *answers)


@pytest.mark.parametrize(
    ("answers", "earned", "scores"),
    [
        (["right"], 1.0, (1.0,)),
        ([W1, "right"], 1.0, (0.0, 1.0)),
        ([W1, W2], 0.0, (0.0, 0.0)),
        ([MALFORMED, "right"], 1.0, (0.0, 1.0)),
    ],
)
def test_verbal_feedback(answers, earned, scores):
    steps = verbal(*answers)
    assert total(steps) == steps[-1][1] == earned
    info = steps[-1][4]
    assert (steps[-1][2], info["attempt_scores"]) == (True, scores)
    assert len(info["feedback"]) == len(scores) - 1
    assert info["reward_parts"] == {"environment": earned}


def test_the_feedback_is_what_the_verdict_says():
    env = gym.make(ID)
    env.reset(seed=3)
    detail = env.step(W1)[4]["verdict"].detail
    steps = verbal(W1, MALFORMED)
    assert detail
    assert steps[0][0] == f"That is not right: {detail}. Try again."
    assert steps[1][4]["feedback"] == (steps[0][0],)


def test_how_a_verdict_is_told():
    assert criticism(Verdict.wrong("too big!")) == "That is not right: too big! Try again."
    assert criticism(Verdict.wrong("")) == "That is not right. Try again."
    assert "not fully right: short. Try" in criticism(Verdict.graded(0.5, "short"))


def test_a_feedback_of_ones_own():
    seen = []

    def feedback(instance, verdict, action):
        seen.append((instance.spec.id, verdict.status, action))
        return "warmer"

    steps = verbal(W1, W2, "right", attempts=3, feedback=feedback)
    assert [step[0] for step in steps] == ["warmer", "warmer", ""]
    assert seen == [(ID, Status.WRONG, W1), (ID, Status.WRONG, W2)]
    assert steps[-1][4]["feedback"] == ("warmer", "warmer")
    assert total(steps) == 1.0


def test_each_episode_has_its_own_feedback():
    env = VerbalRetry(gym.make(ID), feedback=lambda posed, verdict, action: action)
    play(env, W1, W2)
    assert play(env, W3, W4)[1][4]["feedback"] == (W3,)


@pytest.mark.parametrize("returned", [None, 3, "x" * 300_000])
def test_a_feedback_that_cannot_be_shown(returned):
    with pytest.raises(ConfigError, match="shown after an attempt"):
        verbal(W1, feedback=lambda *_: returned)


@pytest.mark.parametrize(
    "wrap", [UnaryRetry, VerbalRetry, lambda env: ShapedReward(UnaryRetry(env), Half())]
)
def test_the_verdict_is_that_of_the_last_answer(wrap):
    for answers in ([W1, "right"], [MALFORMED, W2], [W1, W1, W1, W1, W1], ["right"]):
        env = wrap(gym.make(ID))
        env.reset(seed=8)
        for answer in answers:
            instance = env.unwrapped.instance
            action = instance.solution() if answer == "right" else answer
            _, _, terminated, _, info = env.step(action)
            if terminated:
                break
        if terminated:
            assert info["verdict"] == instance.judge(action)


class Half:
    """A scheme that halves what was earned."""

    name, adds, needs = "half", False, ()

    def reward(self, verdict, earned):
        return earned / 2

    def cut_off(self, earned):
        return 0.0


def test_rewards_of_the_wrapper_inside_are_what_is_decayed():
    steps = play(UnaryRetry(ShapedReward(gym.make(ID), Half())), W1, "right")
    assert steps[-1][1] == 0.25
    steps = play(VerbalRetry(ShapedReward(gym.make(ID), Half())), W1, "right")
    assert steps[-1][4]["reward_parts"] == {"half": 0.5}


@pytest.mark.parametrize("retry", [UnaryRetry, VerbalRetry])
def test_an_attempt_that_is_not_scored_ends_the_episode(scripted, retry):
    options = {"repetition": 0.0} if retry is UnaryRetry else {}
    for before in ([], ['{"score": 0.0}']):
        steps = play(retry(gym.make(scripted), **options), *before, "fault")
        _, reward, terminated, _, info = steps[-1]
        assert (reward, terminated, info["scored"], info["reward_parts"]) == (0.0, True, False, {})
        assert info["verdict"].status is Status.VERIFIER_ERROR


def ended(score, **parts):
    return json.dumps({"score": score, **parts})


def test_tasks_of_several_turns_start_over(scripted):
    env = VerbalRetry(gym.make(scripted), attempts=3)
    steps = play(env, "hm", "hm", ended(0.0), "hm", ended(0.5), "hm", ended(1.0))
    assert [step[0] for step in steps[:2]] == ["go on", "go on"]
    assert "starts over" in steps[2][0]
    assert "not fully right" in steps[4][0]
    assert [step[4]["turn"] for step in steps] == [1, 2, 3, 4, 5, 6, 7]
    assert [step[4]["attempt"] for step in steps] == [1, 1, 2, 2, 3, 3, 3]
    assert steps[-1][4]["attempt_scores"] == (0.0, 0.5, 1.0)
    assert total(steps) == 1.0


class Thinks(gym.Wrapper):
    """Stands for a tool: a message "tool" takes a turn."""

    def step(self, action):
        return ("result", 0.0, False, False, {}) if action == "tool" else self.env.step(action)


def test_that_a_tool_starts_over_is_said_where_it_was_used():
    steps = play(VerbalRetry(Thinks(gym.make(ID)), attempts=4), "tool", W1, W2, "tool", "right")
    assert ["starts over" in step[0] for step in steps] == [False, True, False, False, False]
    assert [step[4]["turn"] for step in steps] == [1, 2, 3, 4, 5]
    assert total(steps) == 1.0


def test_running_out_of_turns_is_a_failed_attempt(scripted):
    for wrap in (
        lambda env: Horizon(VerbalRetry(env), 2),
        lambda env: VerbalRetry(Horizon(env, 2)),
    ):
        steps = play(wrap(gym.make(scripted)), "hm", "hm", "hm", "hm")
        assert "limit of 2 turns" in steps[1][0]
        assert [step[2:4] for step in steps] == [(False, False)] * 3 + [(False, True)]
        assert steps[-1][4]["truncated_by"] == "horizon"


def test_unary_retry_compares_answers_only_where_there_are_some(scripted):
    with pytest.raises(ConfigError, match="repetition=0"):
        UnaryRetry(gym.make(scripted)).reset(seed=0)
    env = UnaryRetry(gym.make(scripted), repetition=0.0)
    steps = play(env, ended(0.0), "hm", ended(1.0))
    assert steps[0][0].startswith(INCORRECT)
    assert steps[-1][4]["reward_parts"] == {"answer": 0.5}


def test_a_price_around_it():
    env = ToolCost(UnaryRetry(gym.make(ID)), per_call=0.0)
    assert play(env, W1, "right")[-1][4]["reward_parts"] == {
        "answer": 0.5,
        "repetition": 0.0,
        "tool_cost": 0.0,
    }


def test_retries_do_not_nest():
    with pytest.raises(ConfigError, match="inside of VerbalRetry"):
        UnaryRetry(ToolCost(VerbalRetry(gym.make(ID))))
    with pytest.raises(ConfigError, match="environment of this package"):
        UnaryRetry(gym.make("CartPole-v1"))


@pytest.mark.parametrize(
    "options",
    [
        {"attempts": 0},
        {"attempts": True},
        {"attempts": 2.0},
        {"decay": 1.5},
        {"decay": -0.1},
        {"decay": "half"},
        {"repetition": float("nan")},
        {"repetition": float("inf")},
        {"malformed": -0.1},
        {"malformed": True},
    ],
)
def test_arguments_out_of_range(options):
    with pytest.raises(ConfigError):
        UnaryRetry(gym.make(ID), **options)


def test_a_feedback_has_to_be_callable():
    with pytest.raises(ConfigError, match="is called with"):
        VerbalRetry(gym.make(ID), feedback="wrong")


def test_beside_others_in_a_vector_environment():
    envs = gym.vector.SyncVectorEnv([lambda: UnaryRetry(gym.make(ID))] * 2)
    envs.reset(seed=[1, 1])
    right = envs.envs[0].unwrapped.instance.solution()
    texts, rewards, terminated, _, infos = envs.step((right, W1))
    assert (texts, rewards.tolist(), terminated.tolist()) == (
        ("", INCORRECT),
        [1.0, 0.0],
        [True, False],
    )
    assert infos["_verdict"].tolist() == [True, False]


def test_it_is_made_again_from_its_spec():
    env = UnaryRetry(gym.make(ID), decay=0.25)
    assert total(play(gym.make(env.spec), W1, "right")) == 0.25
