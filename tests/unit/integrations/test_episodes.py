"""Episodes of rows: the right problem, polite ends, and faults that are no scores."""

import json

import gymnasium
import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError, DependencyError, RowError
from rlvr_envs.core.spaces import UnicodeText
from rlvr_envs.integrations.episodes import OVER, RowEpisodes
from rlvr_envs.integrations.rows import open_rows

ROWS = open_rows("GuessNumber-v0", count=3, difficulty=1)


class Elsewhere(gymnasium.Env):
    """Stands for an environment on a server: it takes seeds, and knows no rows."""

    observation_space = action_space = UnicodeText(1000)

    def __init__(self, fault=None, **settings):
        self.inner = gymnasium.make("rlvr/GuessNumber-v0", **settings)
        self.fault = fault

    def reset(self, *, seed=None, options=None):
        assert "problem" not in options
        return self.inner.reset(seed=seed, options=options)

    def step(self, action):
        if self.fault is not None:
            raise self.fault
        return self.inner.step(action)


@pytest.mark.parametrize("env", [None, "rlvr/GuessNumber-v0", "rlvr/Puzzle-v0", Elsewhere])
def test_the_rows_own_problem_is_played(env):
    player = RowEpisodes(env)
    for row in ROWS:
        assert player.begin(json.dumps(row)) == row["prompt"]
        assert not player.over
        for action in rlvr_envs.solve(row):
            reply = player.act(action)
        assert player.over
        assert player.reward == 1.0
        assert player.act("again") == OVER
        assert reply != OVER
        assert player.reward == 1.0
    player.close()


def test_an_episode_that_was_left_has_earned_nothing():
    player = RowEpisodes()
    player.begin(ROWS[0])
    player.act("hm")
    assert not player.over
    assert player.reward == 0.0


def test_a_task_of_one_turn_is_played_too():
    (row,) = open_rows("Gcd-v0", count=1)
    player = RowEpisodes()
    assert player.begin(row) == row["prompt"]
    player.act(rlvr_envs.solve(row))
    assert player.over
    assert player.reward == 1.0


def test_a_broken_environment_gives_no_score_and_is_replaced(caplog):
    made = []

    def make():
        made.append(Elsewhere(fault=OSError("gone") if not made else None))
        return made[-1]

    player = RowEpisodes(make)
    player.begin(ROWS[0])
    assert player.act("hm") == OVER
    assert player.over
    assert player.reward is None
    assert "OSError: gone" in caplog.text
    player.begin(ROWS[0])
    player.act(rlvr_envs.solve(ROWS[0])[0])
    assert player.reward is not None
    assert len(made) == 2


def test_a_server_that_does_not_answer_gives_no_score():
    def away():
        raise ConnectionError("refused")

    player = RowEpisodes(away)
    player.begin(ROWS[0])
    assert player.over
    assert player.reward is None


def test_what_the_verifier_could_not_judge_has_no_score():
    class Unscored(gymnasium.Wrapper):
        def step(self, action):
            return "", 0.0, True, False, {"scored": False}

    player = RowEpisodes(lambda: Unscored(gymnasium.make("rlvr/GuessNumber-v0")))
    player.begin(ROWS[0])
    player.act("hm")
    assert player.reward is None


def test_what_the_user_has_to_mend_is_raised():
    player = RowEpisodes(lambda: Elsewhere(fault=DependencyError("pip install it")))
    player.begin(ROWS[0])
    with pytest.raises(DependencyError, match="pip install it"):
        player.act("hm")
    with pytest.raises(ConfigError, match="need the id"):
        RowEpisodes(None, url="http://host")
    with pytest.raises(RowError, match="JSON text"):
        RowEpisodes().begin("{")
    with pytest.raises(RowError, match="an object with an id"):
        RowEpisodes().begin("[]")


def test_another_problem_than_the_rows_is_refused():
    player = RowEpisodes(lambda: Elsewhere(n_numbers=50, difficulty=None))
    with pytest.raises(ConfigError, match="has no problem_seed"):
        player.begin({**ROWS[0], "problem_seed": None})
    with pytest.raises(ConfigError, match="poses another problem"):
        player.begin({**ROWS[0], "difficulty": 3})


def test_trl_meets_errors_after_the_episode_where_it_does_not_swallow_them():
    trl = pytest.importorskip("rlvr_envs.integrations.trl", reason="needs datasets")
    data = trl.episodes("GuessNumber-v0", count=2, difficulty=0)
    episode = trl.environments(lambda: Elsewhere(fault=DependencyError("pip install it")))()
    assert "secret whole number" in episode.reset(**data[0])
    assert episode.act("hm") == OVER
    with pytest.raises(DependencyError, match="pip install it"):
        episode.get_reward()
    broken = trl.environments(lambda: Elsewhere(fault=OSError("gone")))()
    broken.reset(**data[1])
    broken.act(426)
    assert broken.get_reward() is None


def test_trl_gets_prompts_that_fit_what_is_played():
    trl = pytest.importorskip("rlvr_envs.integrations.trl", reason="needs datasets")
    with pytest.raises(ConfigError, match=r"trl\.episodes"):
        trl.dataset("GuessNumber-v0", count=2)
    chat = trl.dataset("Gcd-v0", count=2)
    assert chat[0]["prompt"][0]["content"] == json.loads(chat[0]["row"])["prompt"]
    solved = rlvr_envs.solve(json.loads(chat[0]["row"]))
    parts = [{"role": "assistant", "content": [{"type": "text", "text": solved}]}]
    thought = [{"role": "assistant", "content": None}]
    assert trl.reward([parts, thought], [chat[0]["row"]] * 2) == [1.0, 0.0]
    with pytest.raises(rlvr_envs.RlvrEnvsError, match="holds its row"):
        trl.environments()().reset(prompt=[{"role": "user", "content": "play"}])
