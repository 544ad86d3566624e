"""Answers with a confidence: what is read, what is paid, and the measures of calibration."""

import pickle

import gymnasium as gym
import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers import (
    CalibratedConfidence,
    auroc,
    brier_score,
    calibration,
    expected_calibration_error,
)
from rlvr_envs.wrappers.confidence import INSTRUCTION, read_confident


def reply(answer, confidence="0.8", before=""):
    return (
        f"{before}<answer>{answer}</answer>\n<analysis>It fits.</analysis>\n"
        f"<confidence>{confidence}</confidence>"
    )


def test_what_is_read():
    read = read_confident(reply(" 12 ", " 0.75 ", "<think>or <answer>13</answer>?</think> "))
    assert (read.answer, read.confidence) == ("12", 0.75)


@pytest.mark.parametrize(
    ("text", "value"), [("0", 0), ("1", 1), ("1.0", 1), (".5", 0.5), ("0.", 0)]
)
def test_numbers(text, value):
    assert read_confident(reply("x", text)).confidence == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        reply(""),
        reply("x", "80%"),
        reply("x", "1.1"),
        reply("x", "-0.1"),
        reply("x", "nan"),
        reply("x", "1e-1"),
        reply("x", "٠"),
        reply("x") + " so there",
        reply("x", before="So: "),
        reply("x") + reply("x"),
        reply("x</answer><answer>y"),
        reply("x").replace("<analysis>", ""),
        reply("x").replace("<analysis>", "<analysis><analysis>"),
        "<confidence>1</confidence><analysis>a</analysis><answer>x</answer>",
        "<think>" + reply("x"),
    ],
)
def test_what_is_not_well_formed(text):
    assert read_confident(text) is None


@pytest.mark.parametrize(
    ("answer", "confidence", "parts"),
    [
        ("6", "0.8", (0.5, 0.5, 0.5 * 0.96)),
        ("7", "0.8", (0.5, 0.0, 0.5 * 0.36)),
        ("7", "0", (0.5, 0.0, 0.5)),
        ("6", "1", (0.5, 0.5, 0.5)),
        ("6", "sure", (0.0, 0.0, 0.0)),
    ],
)
def test_the_reward(answer, confidence, parts):
    env = CalibratedConfidence(gym.make("rlvr/Gcd-v0"))
    env.reset(seed=0)
    right = env.unwrapped.instance.reference()
    answer = right if answer == "6" else str(int(right) + 1)
    _, reward, _, _, info = env.step(reply(answer, confidence))
    assert tuple(info["reward_parts"].values()) == pytest.approx(parts)
    assert tuple(info["reward_parts"]) == ("format", "accuracy", "brier")
    assert reward == pytest.approx(sum(parts))
    assert ("confidence" in info) == (confidence != "sure")
    if confidence != "sure":
        assert info["confidence"] == float(confidence)


def test_the_best_confidence_is_the_one_believed():
    """With a chance p of being right, the expected reward is largest at confidence p."""
    env = CalibratedConfidence(gym.make("rlvr/Gcd-v0"))
    rewards = {}
    for right in (True, False):
        for sure in range(11):
            env.reset(seed=0)
            answer = env.unwrapped.instance.reference() if right else "no"
            rewards[right, sure] = env.step(reply(answer, sure / 10))[1]
    for p in range(11):
        expected = [p / 10 * rewards[True, s] + (1 - p / 10) * rewards[False, s] for s in range(11)]
        assert max(range(11), key=expected.__getitem__) == p


@pytest.mark.parametrize("label", ["boxed", "tag", "raw", "fenced:python"])
@pytest.mark.parametrize("bare", [True, False])
def test_the_answer_is_judged_in_any_format(label, bare):
    env = CalibratedConfidence(gym.make("rlvr/SubsetSum-v0", answer_format=label))
    prompt, _ = env.reset(seed=1)
    instance = env.unwrapped.instance
    assert prompt == f"{instance.prompt()}\n\n{INSTRUCTION}"
    message = reply(instance.reference())
    if not bare and label != "tag":
        message = reply(instance.solution())
    assert env.step(message)[4]["verdict"].status is Status.CORRECT


def test_oracles_of_many_tasks():
    tried = 0
    for task_id in registry.task_ids("math")[:12]:
        env = CalibratedConfidence(gym.make(task_id, **registry.find(task_id).example))
        env.reset(seed=2)
        instance = env.unwrapped.instance
        if instance.interactive:
            continue
        _, reward, _, _, info = env.step(reply(instance.reference(), "1"))
        assert info["verdict"].status is Status.CORRECT, task_id
        assert reward == pytest.approx(1.5)
        tried += 1
    assert tried >= 6


def test_a_message_that_is_not_well_formed_is_judged_as_it_is():
    env = CalibratedConfidence(gym.make("rlvr/Gcd-v0"))
    env.reset(seed=0)
    _, reward, _, _, info = env.step(env.unwrapped.instance.solution())
    assert info["verdict"].status is Status.CORRECT
    assert reward == 0.0


def test_interactive_tasks_are_refused(scripted):
    with pytest.raises(ConfigError, match="one message"):
        CalibratedConfidence(gym.make(scripted)).reset(seed=0)


@pytest.mark.parametrize("options", [{"format": -1}, {"accuracy": 0.2}, {"brier": float("nan")}])
def test_weights_out_of_range(options):
    with pytest.raises(ConfigError):
        CalibratedConfidence(gym.make("rlvr/Gcd-v0"), **options)


def test_a_spec_and_a_pickle_make_the_same():
    env = CalibratedConfidence(gym.make("rlvr/Gcd-v0"), brier=0.25)
    for copy in (gym.make(env.spec), pickle.loads(pickle.dumps(env))):
        assert copy.get_wrapper_attr("scheme") == env.scheme


def test_hand_worked_measures():
    sure, right = [0.9, 0.8, 0.35, 0.3], [1, 0, 1, 0]
    assert brier_score(sure, right) == pytest.approx((0.01 + 0.64 + 0.4225 + 0.09) / 4)
    # bins of 0.1: 0.9 | 0.8 | 0.35 and 0.3 together, whose sums are 0.65 and 1
    assert expected_calibration_error(sure, right) == pytest.approx((0.1 + 0.8 + 0.35) / 4)
    assert expected_calibration_error(sure, right, bins=1) == pytest.approx(0.35 / 4)
    assert auroc(sure, right) == pytest.approx(3 / 4)
    assert calibration(sure, right) == {
        "accuracy": 0.5,
        "brier": pytest.approx(0.290625),
        "ece": pytest.approx(0.3125),
        "auroc": 0.75,
    }


def test_edges_of_bins():
    assert expected_calibration_error([0.5, 0.5], [1, 0], bins=2) == pytest.approx(0.0)
    assert expected_calibration_error([0.0, 0.5, 1.0], [0, 1, 1], bins=2) == pytest.approx(0.5 / 3)


@pytest.mark.parametrize(
    ("sure", "right", "expected"),
    [
        ([0.5, 0.5, 0.5], [1, 0, 1], 0.5),
        ([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0], 3.5 / 4),
        ([0.2, 0.2, 0.8], [1, 0, 0], 0.25),
        ([0.1, 0.9], [1, 0], 0.0),
    ],
)
def test_auroc_with_ties(sure, right, expected):
    assert auroc(sure, right) == pytest.approx(expected)


def test_auroc_without_two_classes():
    assert auroc([0.1, 0.9], [1, 1]) != auroc([0.1, 0.9], [1, 1])  # NaN
    assert auroc([0.1, 0.9], [0, 0]) != auroc([0.1, 0.9], [0, 0])


def test_auroc_against_another_implementation():
    metrics = pytest.importorskip("sklearn.metrics")
    sure = [(7 * i % 11) / 10 for i in range(60)]
    right = [i * i % 3 % 2 for i in range(60)]
    assert auroc(sure, right) == pytest.approx(metrics.roc_auc_score(right, sure))


@pytest.mark.parametrize(
    ("sure", "right"),
    [([], []), ([0.5], [1, 0]), ([1.5], [1]), ([0.5], [0.5]), ([float("nan")], [1])],
)
def test_measures_refuse_what_makes_no_sense(sure, right):
    with pytest.raises(ConfigError):
        calibration(sure, right)
