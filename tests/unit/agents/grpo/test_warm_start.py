"""Demonstrations: the oracle's episodes as tokens to imitate."""

import gymnasium
import pytest

pytest.importorskip("tokenizers")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo.chat import Chat
from rlvr_envs.agents.grpo.config import Data
from rlvr_envs.agents.grpo.demonstration import demonstrate, texts
from rlvr_envs.agents.grpo.model.tiny import tiny_tokenizer
from rlvr_envs.agents.grpo.parts import EnvMaker
from rlvr_envs.agents.grpo.problems import Problems
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.source import open_source
from rlvr_envs.curricula import Proposal

TASKS = ("Gcd-v0", "GuessNumber-v0")
SEVEN, EIGHT = Proposal(problem_seed=7), Proposal(problem_seed=8)


@pytest.fixture(scope="module")
def chat():
    return Chat(tiny_tokenizer(texts(EnvMaker(TASKS, (), {}), Problems(Data(tasks=TASKS)))))


def said(chat, episode):
    return [chat.text(action.tokens) for action in episode.actions]


def test_a_solution_is_imitated_with_its_end(chat):
    env = TextEnv("Gcd-v0", difficulty=0)
    episode = demonstrate(env, chat, SEVEN, group=3)
    prompt, _ = env.reset(options={"problem_seed": 7})
    assert [segment.logps is None for segment in episode.segments] == [True, False]
    assert episode.segments[0].tokens == chat.opening(prompt)
    assert said(chat, episode) == [env.instance.solution()]
    assert episode.actions[0].tokens[-1] in chat.end_tokens
    assert (episode.group, episode.task, episode.problem_seed) == (3, "rlvr/Gcd-v0", 7)
    assert env.step(said(chat, episode)[0])[1] == 1


def test_a_game_is_imitated_turn_by_turn(chat):
    env = TextEnv("GuessNumber-v0", difficulty=0)
    seed = next(
        s for s in range(99) if len(demonstrate(env, chat, Proposal(problem_seed=s)).actions) > 1
    )
    episode = demonstrate(env, chat, Proposal(problem_seed=seed))
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
    right, other = (said(chat, demonstrate(env, chat, each)) for each in (SEVEN, EIGHT))
    mistaken = demonstrate(env, chat, SEVEN, mistaken=EIGHT)
    assert right != other == said(chat, mistaken)
    assert mistaken.segments[0] == demonstrate(env, chat, SEVEN).segments[0]
    assert mistaken.problem_seed == 7


def test_rows_and_numbers_are_imitated_too(chat):
    row = open_source("Gcd-v0", difficulty=3).draw(5).to_row()
    episode = demonstrate(TextEnv("Gcd-v0", difficulty=0), chat, Proposal(row=row))
    assert episode.segments[0].tokens == chat.opening(row["prompt"])
    assert episode.difficulty == 3
    question = open_source("MathDataset-v0").at_index(2)
    episode = demonstrate(TextEnv("MathDataset-v0"), chat, Proposal(index=2))
    assert said(chat, episode) == [question.solution()]


def test_texts_are_of_every_task_and_the_same_each_time():
    make, problems = EnvMaker(TASKS, (), {}), Problems(Data(tasks=TASKS, difficulty="0-1"))
    found = texts(make, problems)
    assert found == texts(make, problems)
    assert len(found) >= 2 * 2 * 64 * 2
    assert any("greatest common divisor" in text for text in found)
    assert any("larger than" in text for text in found)


def test_environments_of_others_have_no_oracle(chat):
    class Other(gymnasium.Env):
        def reset(self, *, seed=None, options=None):
            return "", {}

    with pytest.raises(ConfigError, match="environments of this package"):
        demonstrate(Other(), chat, SEVEN)
