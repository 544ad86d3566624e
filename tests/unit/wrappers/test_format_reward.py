"""A share of the reward for the form of a message."""

import pickle

import gymnasium as gym
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers import FormatReward
from rlvr_envs.wrappers.format_reward import in_tags


def play(text, share=0.2, **options):
    env = FormatReward(gym.make("rlvr/Gcd-v0", answer_format="tag"), share, **options)
    env.reset(seed=0)
    text = text.replace("RIGHT", str(env.unwrapped.instance.reference()))
    _, reward, _, _, info = env.step(text)
    assert sum(info["reward_parts"].values()) == pytest.approx(reward)
    return reward, info


@pytest.mark.parametrize(
    ("text", "reward"),
    [("so <answer>RIGHT</answer>", 1.0), ("<answer>-3</answer>", 0.2), ("RIGHT", 0.0), ("", 0.0)],
)
def test_an_answer_that_can_be_read(text, reward):
    assert play(text)[0] == pytest.approx(reward)


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ("<think>x</think> <answer>RIGHT</answer>\n", 1.0),
        ("<think>x</think><answer>-3</answer>", 0.2),
        ("<answer>RIGHT</answer>", 0.8),
        ("<think>x</think> so <answer>RIGHT</answer>", 0.8),
        ("<think>x</think><answer>RIGHT</answer>.", 0.8),
        ("<think>x</think><think>y</think><answer>RIGHT</answer>", 0.8),
        ("<think>x</think><answer>RIGHT", 0.0),
    ],
)
def test_tags(text, reward):
    got, info = play(text, tags=("think", "answer"))
    assert got == pytest.approx(reward)
    assert info["verdict"].score == (1.0 if reward >= 0.8 else 0.0)


@pytest.mark.parametrize(
    ("text", "tags", "kept"),
    [
        ("<a></a><b></b>", ("a", "b"), True),
        ("<b></b><a></a>", ("a", "b"), False),
        ("<a><b></a></b>", ("a", "b"), False),
        ("<a><b></b></a>", ("a", "b"), False),
        ("</a><a>", ("a",), False),
        ("<a>x<a>y</a>", ("a",), False),
        ("x", (), True),
    ],
)
def test_the_order_of_tags(text, tags, kept):
    assert in_tags(text, tags) is kept


def test_a_pattern():
    pattern = r"Answer:.*<answer>\d+</answer>"
    assert play("Answer:\nit is <answer>RIGHT</answer>", pattern=pattern)[0] == pytest.approx(1.0)
    assert play("So: <answer>RIGHT</answer>", pattern=pattern)[0] == pytest.approx(0.8)
    for text in ("So. Answer: <answer>RIGHT</answer>", "Answer: <answer>RIGHT</answer>."):
        assert play(text, pattern=pattern)[0] == pytest.approx(0.8)


def test_endings_that_the_task_has_not_judged(scripted):
    env = FormatReward(gym.make(scripted), 0.2)
    env.reset(seed=0)
    _, reward, _, _, info = env.step("x" * (MAX_RESPONSE_CHARS + 1))
    assert (reward, info["verdict"].status) == (0.0, Status.UNPARSABLE)
    env = FormatReward(gym.make(scripted, max_turns=1), 0.2)
    env.reset(seed=0)
    assert env.step("hm")[1] == 0.0
    env.reset(seed=0)
    _, reward, _, _, info = env.step("fault")
    assert (reward, info["scored"]) == (0.0, False)


@pytest.mark.parametrize(
    "options",
    [
        {"share": 0.0},
        {"share": 1.0},
        {"share": 1},
        {"tags": "think"},
        {"tags": ("a", "a")},
        {"tags": ("a b",)},
        {"pattern": "("},
    ],
)
def test_arguments_out_of_range(options):
    with pytest.raises(ConfigError):
        FormatReward(gym.make("rlvr/Gcd-v0"), **options)


def test_a_spec_and_a_pickle_make_the_same():
    env = FormatReward(gym.make("rlvr/Gcd-v0"), tags=("think",))
    for copy in (gym.make(env.spec), pickle.loads(pickle.dumps(env))):
        assert copy.get_wrapper_attr("scheme") == env.scheme
