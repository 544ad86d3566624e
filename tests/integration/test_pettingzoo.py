"""Every game as a PettingZoo environment: its own api_test and seed_test, and whole games."""

import warnings

import pytest

pytest.importorskip("pettingzoo", reason="pettingzoo is not installed: pip install pettingzoo")

from pettingzoo.test import api_test, seed_test

from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.seeding import stream
from rlvr_envs.integrations.pettingzoo import game_ids, make_aec

GAMES = game_ids()
BOARDS = {"rlvr/TicTacToe-v0", "rlvr/Nim-v0", "rlvr/ConnectFour-v0", "rlvr/Hex-v0"}


def finished(env, choose):
    """Play a game to its end; return what each agent got in all."""
    got = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter(max_iter=500):
        _, reward, termination, truncation, info = env.last()
        got[agent] += reward
        env.step(None if termination or truncation else choose(info["legal_moves"]))
    assert not env.agents
    return got


def test_there_are_games():
    assert set(GAMES) > BOARDS
    cards = {"rlvr/KuhnPoker-v0", "rlvr/LeducPoker-v0", "rlvr/LiarsDice-v0"}
    others = {"rlvr/Pig-v0", "rlvr/Game2048-v0", "rlvr/Negotiation-v0"}
    assert cards | others <= set(GAMES)


@pytest.mark.parametrize("task_id", GAMES)
def test_pettingzoos_own_api_test(task_id):
    with warnings.catch_warnings():
        # texts are no arrays, and PettingZoo says that arrays are usual
        warnings.filterwarnings("ignore", message=r"(Observation|Action) space for each agent")
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        api_test(make_aec(task_id, difficulty=0), num_cycles=100, verbose_progress=False)


@pytest.mark.parametrize("task_id", GAMES)
def test_pettingzoos_own_seed_test(task_id):
    seed_test(lambda: make_aec(task_id, difficulty=0), num_cycles=50)


@pytest.mark.parametrize("task_id", GAMES)
def test_whole_games_by_chance(task_id):
    env = make_aec(task_id, difficulty=0)
    for seed in range(5):
        env.reset(seed=seed)
        rng = stream("pettingzoo moves", seed)
        got = finished(env, lambda legal, rng=rng: legal[int(rng.integers(len(legal)))])
        if task_id == "rlvr/Negotiation-v0":
            assert 0.0 <= sum(got.values()) <= 20.0  # all items are worth 10 to each
        elif len(got) == 2:
            assert sum(got.values()) == 0.0
        else:
            assert 0.0 <= sum(got.values()) <= 2.0
        if task_id in BOARDS:
            assert max(got.values()) <= 1.0


def test_an_illegal_move_loses():
    env = make_aec("rlvr/Nim-v0", difficulty=0)
    env.reset(seed=1)
    mover = env.agent_selection
    got = finished(env, lambda legal: "nine")
    assert got.pop(mover) == -1.0
    assert list(got.values()) == [1.0]


def test_other_spellings_are_read_and_seeds_differ():
    env = make_aec("rlvr/TicTacToe-v0", difficulty=0, render_mode="ansi")
    env.reset(seed=1)
    first = env.render()
    row, column = env.infos[env.agent_selection]["legal_moves"][0].split()
    env.step(f"(row {row}, column {column})")
    assert env.render() != first
    env.reset(seed=1)
    assert env.render() == first
    env.reset(seed=2)
    assert env.render() != first


def test_what_is_no_game_is_refused():
    with pytest.raises(ConfigError, match="is no game"):
        make_aec("rlvr/Gcd-v0")
    with pytest.raises(ConfigError, match="render_mode"):
        make_aec("rlvr/Nim-v0", render_mode="human")
