"""Rewards that depend on length, against hand-worked numbers."""

import math
import pickle

import gymnasium as gym
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.wrappers import (
    RedundancyPenalty,
    SoftOverlong,
    best_groups,
    group_length_rewards,
)
from rlvr_envs.wrappers.length import external_redundancy, internal_redundancy


@pytest.mark.parametrize(
    ("length", "penalty"),
    [(1, 0.0), (60, 0.0), (61, -0.025), (80, -0.5), (100, -1.0), (101, -1.0), (900, -1.0)],
)
def test_the_soft_punishment(length, penalty):
    env = SoftOverlong(gym.make("rlvr/Gcd-v0"), limit=100, buffer=40)
    env.reset(seed=0)
    right = env.unwrapped.instance.solution()
    _, reward, _, _, info = env.step("x" * (length - len(right)) + right)
    if length < len(right):
        length = len(right)
    assert reward == pytest.approx(1.0 + penalty)
    assert info["reward_parts"] == {"environment": 1.0, "overlong": pytest.approx(penalty)}
    assert info["verdict"].score == 1.0


def test_all_messages_count_in_the_unit_that_is_asked_for(scripted, ending):
    env = SoftOverlong(
        gym.make(scripted), limit=10, buffer=5, factor=0.5, length=lambda text: len(text.split())
    )
    env.reset(seed=0)
    env.step("one two three four five six")
    action = ending(0.0)
    words = 6 + len(action.split())
    assert env.step(action)[1] == pytest.approx(-0.5 * min(1.0, (words - 5) / 5))
    env.reset(seed=0)
    env.step("six words are six words too")
    _, reward, _, _, info = env.step("fault")
    assert (reward, info["scored"]) == (0.0, False)


def test_where_the_turns_run_out_length_is_paid_too(scripted):
    env = SoftOverlong(gym.make(scripted, max_turns=2), limit=4, buffer=4)
    env.reset(seed=0)
    env.step("ab")
    assert env.step("cd")[1] == pytest.approx(-1.0)


def test_a_group_that_is_mostly_right():
    paid = group_length_rewards([1, 0, 1, 1], [10, 99, 20, 30], strength=0.3)
    z = 10 / math.sqrt(200 / 3)
    assert paid == pytest.approx(
        [1 - 0.3 / (1 + math.exp(z)), 0.0, 0.85, 1 - 0.3 / (1 + math.exp(-z))]
    )


def test_a_group_that_is_mostly_wrong_is_paid_by_outcome():
    assert group_length_rewards([1, 0, 0, 1, 0], [9, 1, 1, 5, 1]) == [1, 0, 0, 1, 0]
    assert group_length_rewards([0, 0], [1, 2], threshold=0.0) == [0, 0]
    paid = group_length_rewards([1, 0, 0, 1, 0], [9, 1, 1, 5, 1], threshold=0.4)
    assert paid[0] < paid[3] < 1.0


def test_answers_that_were_not_scored_do_not_count():
    paid = group_length_rewards([1.0, math.nan, 0.0, math.nan], [5, 5, 5, 5])
    assert paid[0] == pytest.approx(0.9)
    assert math.isnan(paid[1])
    assert paid[2] == 0.0


@pytest.mark.parametrize(
    ("share", "chosen"), [(0.0, ""), (0.5, "bd"), (0.7, "bd"), (0.75, "abd"), (1.0, "abcd")]
)
def test_the_best_groups(share, chosen):
    best = best_groups([0.5, 1.0, 0.5, 0.75], share)
    assert "".join(name for name, is_best in zip("abcd", best, strict=True) if is_best) == chosen


@pytest.mark.parametrize(
    "options", [{"threshold": 1.1}, {"strength": 1.0}, {"strength": -0.1}, {"lengths": [1]}]
)
def test_groups_refuse_what_makes_no_sense(options):
    with pytest.raises(ConfigError):
        group_length_rewards([1, 0], **({"lengths": [1, 2]} | options))


@pytest.mark.parametrize(
    ("text", "answer", "expected"),
    [
        ("x = 12. And so", "12", 8 / 14),
        ("112 or 12.5 or 3 12", "12", 0.0),
        ("no number", "12", 0.0),
        ("12", "", 0.0),
        ("(a+b) and more", "(a+b)", 9 / 14),
        ("<answer>12</answer>\n", "12", 0.0),
        ("so \\boxed{12}$.", "12", 0.0),
    ],
)
def test_what_follows_the_answer(text, answer, expected):
    assert external_redundancy(text, answer) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b c d A B C D e f g h", 0.5),
        ("a b c d e f g h i j k l", 0.0),
        ("a b c d d c b a b c a d", 1.0),
        ("a b c x a b c y", 1.0),
        ("a b x y a b v w", 0.0),
        ("a b c d a b", 0.0),
        ("", 0.0),
    ],
)
def test_what_is_said_again(text, expected):
    assert internal_redundancy(text, window=4) == pytest.approx(expected)


def test_the_redundancy_penalty():
    env = RedundancyPenalty(gym.make("rlvr/Gcd-v0", answer_format="tag"), external=0.5, internal=0)
    env.reset(seed=0)
    instance = env.unwrapped.instance
    tail = " Let me check that again."
    said = f"It is {instance.reference()}."
    text = f"{said}{tail} {instance.solution()}"
    counted = len(text) - len("</answer>")
    after = (counted - len(said) + 1) / counted
    _, reward, _, _, info = env.step(text)
    assert reward == pytest.approx(1 - 0.5 * after)
    assert sum(info["reward_parts"].values()) == pytest.approx(reward)
    env.reset(seed=0)
    wrong = f"It is 0. {tail * 5} <answer>0</answer>"
    assert env.step(wrong)[1] == 0.0


def test_repetition_before_the_answer():
    env = RedundancyPenalty(gym.make("rlvr/Gcd-v0"), external=0.0, internal=0.4)
    env.reset(seed=0)
    solution = env.unwrapped.instance.solution()
    assert env.step("so we divide " * 16 + solution)[1] == pytest.approx(0.6)
    env.reset(seed=0)
    assert env.step(solution + " so we divide " * 16)[1] == pytest.approx(1.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda env: SoftOverlong(env, 10, 11),
        lambda env: SoftOverlong(env, 10, 0),
        lambda env: SoftOverlong(env, 10.5, 5),
        lambda env: SoftOverlong(env, 10, 5, factor=0.0),
        lambda env: RedundancyPenalty(env, external=0.9, internal=0.2),
        lambda env: RedundancyPenalty(env, internal=-0.1),
    ],
)
def test_arguments_out_of_range(make):
    with pytest.raises(ConfigError):
        make(gym.make("rlvr/Gcd-v0"))


@pytest.mark.parametrize("make", [lambda env: SoftOverlong(env, 10, 5), RedundancyPenalty])
def test_a_spec_and_a_pickle_make_the_same(make):
    env = make(gym.make("rlvr/Gcd-v0"))
    for copy in (gym.make(env.spec), pickle.loads(pickle.dumps(env))):
        assert copy.get_wrapper_attr("scheme") == env.scheme
