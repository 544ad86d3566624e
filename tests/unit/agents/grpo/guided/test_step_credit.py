"""Credit for steps: as a reward (Interplay), and by a critic before advantages (StepORLM)."""

import gymnasium as gym
import pytest

from rlvr_envs.agents.grpo.plugins import callback
from rlvr_envs.agents.grpo.zoo.critique import Critique
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.source import open_source
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers import StepCredit

POSED = open_source("WordProblem-v0", difficulty=1).draw(3)
PROPOSAL = {"task": "WordProblem-v0", "difficulty": 1, "problem_seed": 3}
STEPS = POSED.task.explain(POSED.problem)
WRONG = r"\boxed{90001}"
HALF = 1 / len(STEPS)
SAID = (
    "\n".join([*STEPS, POSED.solution()]),
    POSED.solution(),
    "\n".join([*STEPS, WRONG]),
    "\n".join([STEPS[0], WRONG]),
)


def four_ways(heard, place):
    return SAID[place]


@pytest.mark.parametrize(
    ("settings", "rewards"),
    [({}, [1.0, 0.5, 0.5, 0.5 * HALF]), ({"weight": 0.2}, [1.0, 0.8, 0.2, 0.2 * HALF])],
)
def test_right_steps_earn_a_part_of_the_reward(settings, rewards):
    for said, reward in zip(SAID, rewards, strict=True):
        env = StepCredit(gym.make("rlvr/WordProblem-v0", difficulty=1), **settings)
        env.reset(options={"problem_seed": 3})
        _, earned, *_, info = env.step(said)
        assert earned == pytest.approx(reward)
        assert sum(info["reward_parts"].values()) == pytest.approx(reward)
        assert (info["verdict"].status is Status.CORRECT) == (POSED.solution() in said)


def test_strictly_only_a_right_solution_earns_anything():
    earned = []
    for said in SAID:
        env = StepCredit(gym.make("rlvr/WordProblem-v0", difficulty=1), strict=True)
        env.reset(options={"problem_seed": 3})
        earned.append(env.step(said)[1])
    assert earned == [1.0, 0.0, 0.0, 0.0]


def test_what_it_refuses():
    with pytest.raises(ConfigError, match="from 0 to 1"):
        StepCredit(gym.make("rlvr/WordProblem-v0"), weight=1.5)
    env = StepCredit(gym.make("rlvr/Gcd-v0"))
    env.reset(seed=1)
    with pytest.raises(ConfigError, match="reads no steps"):
        env.step(WRONG)


def test_training_on_the_credit_of_steps(learn):
    seen = learn(four_ways, [PROPOSAL], wrappers=("StepCredit(weight=0.5)",))
    (episodes,) = seen.batches
    assert [e.reward for e in episodes] == pytest.approx([1.0, 0.5, 0.5, 0.5 * HALF])
    assert [e.score for e in episodes] == [1.0, 1.0, 0.0, 0.0]
    (inputs,) = seen.inputs
    mean = sum(e.reward for e in episodes) / 4
    worth = sorted(e.reward - mean for e in episodes)
    assert sorted(inputs.advantages[:, 0].tolist()) == pytest.approx(worth, abs=1e-6)


def wrong(heard, place):
    return SAID[2 + place % 2]


def test_equal_outcomes_teach_nothing_by_themselves(learn):
    assert learn(wrong, [PROPOSAL]).inputs == []


def test_a_critic_tells_equal_outcomes_apart(learn):
    seen = learn(wrong, [PROPOSAL], callbacks=("step_critic(weight=0.5)",))
    (episodes,) = seen.batches
    assert [e.score for e in episodes] == [0.0] * 4
    assert [e.info["critique"] for e in episodes] == pytest.approx([1.0, HALF] * 2)
    assert [e.turn_rewards for e in episodes] == [[e.reward] for e in episodes]
    worth = seen.inputs[0].advantages[:, 0].tolist()
    assert sorted(worth) == pytest.approx([-(1 - HALF) / 4] * 2 + [(1 - HALF) / 4] * 2)


@callback(name="first_turn_critic_for_tests")
class FirstTurn(Critique):
    weight = 2.0

    def __init__(self, *, short: bool = False) -> None:
        self._short = short

    def credit(self, instance, episode):
        turns = len(episode.turn_rewards) - self._short
        return [float("5" in episode.texts[0])] + [0.0] * (turns - 1) if turns else []


def test_a_critic_of_turns_reaches_estimators_of_turns(learn):
    seen = learn(
        lambda heard, place: r"\boxed{5}" if not place and "left.)" not in heard else "hm",
        [{"task": "GuessNumber-v0", "difficulty": 0, "problem_seed": 1}],
        tasks=("GuessNumber-v0",),
        difficulty="0",
        callbacks=("first_turn_critic_for_tests",),
    )
    (episodes,) = seen.batches
    assert episodes[0].turn_rewards[0] == 2.0
    assert [e.reward - e.score for e in episodes] == [2.0, 0.0, 0.0, 0.0]


def test_a_critic_answers_for_each_turn(learn):
    with pytest.raises(ConfigError, match="for each of the"):
        learn(four_ways, [PROPOSAL], callbacks=("first_turn_critic_for_tests(short=True)",))
