"""Demonstrations: the oracle's episodes as tokens to imitate."""

import gymnasium
import pytest

pytest.importorskip("tokenizers")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.model.tiny import tiny_tokenizer
from rlvr_envs.agents.grpo.parts import EnvMaker
from rlvr_envs.agents.grpo.warm_start import demonstrate, texts
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError

TASKS = ("Gcd-v0", "GuessNumber-v0")


@pytest.fixture(scope="module")
def chat():
    return Chat(tiny_tokenizer(texts(EnvMaker(TASKS, (), {}), TASKS, (0,))))


def said(chat, episode):
    return [chat.text(action.tokens) for action in episode.actions]


def test_a_solution_is_imitated_with_its_end(chat):
    env = TextEnv("Gcd-v0", difficulty=0)
    episode = demonstrate(env, chat, 7, group=3)
    prompt, _ = env.reset(options={"problem_seed": 7})
    assert [segment.logps is None for segment in episode.segments] == [True, False]
    assert episode.segments[0].tokens == chat.opening(prompt)
    assert said(chat, episode) == [env.instance.solution()]
    assert episode.actions[0].tokens[-1] in chat.end_tokens
    assert (episode.group, episode.task, episode.problem_seed) == (3, "rlvr/Gcd-v0", 7)
    assert env.step(said(chat, episode)[0])[1] == 1


def test_a_game_is_imitated_turn_by_turn(chat):
    env = TextEnv("GuessNumber-v0", difficulty=0)
    seed = next(s for s in range(99) if len(demonstrate(env, chat, s).actions) > 1)
    episode = demonstrate(env, chat, seed)
    heard, _ = env.reset(options={"problem_seed": seed})
    tokens = chat.opening(heard)
    for action in said(chat, episode):
        heard, reward, over, _, _ = env.step(action)
        tokens += chat.action(action)
        tokens += () if over else chat.observation(heard, finished=True)
    assert reward == 1
    assert sum((segment.tokens for segment in episode.segments), ()) == tokens


def test_a_mistake_is_another_problems_solution(chat):
    env = TextEnv("Gcd-v0", difficulty=0)
    right, other = (said(chat, demonstrate(env, chat, seed)) for seed in (7, 8))
    mistaken = demonstrate(env, chat, 7, mistaken=8)
    assert right != other == said(chat, mistaken)
    assert mistaken.segments[0] == demonstrate(env, chat, 7).segments[0]
    assert mistaken.problem_seed == 7


def test_texts_are_of_every_task_and_the_same_each_time():
    make = EnvMaker(TASKS, (), {})
    found = texts(make, TASKS, (0, 1))
    assert found == texts(make, TASKS, (0, 1))
    assert len(found) >= 2 * 2 * 64 * 2
    assert any("greatest common divisor" in text for text in found)
    assert any("larger than" in text for text in found)


def test_environments_of_others_have_no_oracle(chat):
    class Other(gymnasium.Env):
        def reset(self, *, seed=None, options=None):
            return "", {}

    with pytest.raises(ConfigError, match="environments of this package"):
        demonstrate(Other(), chat, 0)
