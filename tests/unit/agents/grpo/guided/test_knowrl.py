"""KnowRL: the knowledge points that a problem cannot do without."""

import json

import gymnasium as gym
import pytest

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.source import open_source
from rlvr_envs.wrappers import KnowledgePoints, MinimalSubset

POSED = open_source("WordProblem-v0", difficulty=2).draw(3)
PROPOSAL = {"task": "WordProblem-v0", "difficulty": 2, "problem_seed": 3}
POINTS = POSED.task.explain(POSED.problem)[:-1]
NEEDED = 2  # the one point that matters
WRONG = r"\boxed{90001}"


@pytest.mark.parametrize("needed", [0, 0b1, 0b100, 0b1010, 0b1111])
def test_it_finds_the_points_that_matter(needed):
    memory = MinimalSubset(rollouts=2, tolerance=0.25)
    for _ in range(5 * 2):
        assert not memory.settled("p")
        level = memory.level("p", 4)
        memory.record("p", level, 4, float(level & needed == needed))
    assert memory.settled("p")
    assert memory.level("p", 4) == needed
    memory.record("p", needed, 4, 0.0)  # it stays
    again = MinimalSubset(rollouts=2)
    again.load_state_dict(json.loads(json.dumps(memory.state_dict())))
    assert again.level("p", 4) == needed


def test_where_nothing_helps_nothing_is_shown():
    memory = MinimalSubset(rollouts=1)
    for _ in range(4):
        memory.record("p", memory.level("p", 3), 3, 0.0)
    assert memory.level("p", 3) == 0


def test_what_the_prompt_shows():
    env = KnowledgePoints(gym.make("rlvr/WordProblem-v0", difficulty=2))
    options = {"problem_seed": 3}
    prompt, info = env.reset(options=options)
    assert info["hint_level"] == (1 << len(POINTS)) - 1
    assert prompt == info["bare_prompt"] + "\n\nHint, what is of use:\n- " + "\n- ".join(POINTS)
    prompt, info = env.reset(options={**options, "hint_level": 0b101})
    assert prompt.endswith(f"of use:\n- {POINTS[0]}\n- {POINTS[2]}")
    assert env.reset(options={**options, "hint_level": 0})[0] == info["bare_prompt"]


def test_a_point_that_is_the_answer_is_not_shown():
    told = KnowledgePoints(
        gym.make("rlvr/Gcd-v0"), points=lambda posed: ["Euclid", f"It is {posed.reference()}."]
    )
    prompt, info = told.reset(seed=1)
    assert (info["hint_level"], prompt.endswith("of use:\n- Euclid")) == (1, True)


@pytest.mark.parametrize("settings", [{"rollouts": 0}, {"tolerance": 1.0}])
def test_arguments_out_of_range(settings):
    with pytest.raises(ConfigError):
        KnowledgePoints(gym.make("rlvr/Gcd-v0"), **settings)


def test_training_comes_to_the_minimal_points(learn):
    seen = learn(
        lambda heard, place: POSED.solution() if POINTS[NEEDED] in heard else WRONG,
        [PROPOSAL],
        "knowrl",
        difficulty="2",
        group_size=4,
        steps=5,
        wrappers=("KnowledgePoints(rollouts=4)",),
        callbacks=("rounds(rounds=2)",),
    )
    rounds = [e.info.get("hint_level") for batch in seen.batches for e in batch][::4]
    assert rounds[0] == (1 << len(POINTS)) - 1
    assert rounds[len(POINTS) + 1] == 1 << NEEDED
    scores = [e.score for batch in seen.batches for e in batch][::4]
    assert scores.count(0.0) == 1  # when it was left out itself
