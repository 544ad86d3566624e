"""The text environment: what a caller sees, turn by turn, and what is refused."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest

from rlvr_envs import make_problem
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, RegistrationError, RowError, UsageError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS


def sum_env(**kwargs):
    return gym.make("rlvr/TestSum-v0", **kwargs)


def solution(env):
    return env.unwrapped.instance.solution()


def test_an_episode():
    env = sum_env(difficulty=1)
    prompt, info = env.reset(seed=3)
    assert prompt.startswith("What is ")
    assert prompt.endswith("between <answer> and </answer>.")
    assert set(info) == {"task", "domain", "difficulty", "problem_seed", "turn"}
    observation, reward, terminated, truncated, info = env.step(solution(env))
    assert (observation, reward, terminated, truncated) == ("", 1.0, True, False)
    assert info["scored"]
    assert info["verdict"].status == "correct"
    assert info["reference"] in solution(env)
    assert info["turn"] == 1


def test_the_namespace_is_optional_and_the_module_form_works():
    assert gym.make("rlvr_envs:rlvr/TestSum-v0").reset(seed=1)[0] == sum_env().reset(seed=1)[0]
    assert TextEnv("TestSum-v0").reset(seed=1)[0] == sum_env().reset(seed=1)[0]


def test_the_same_seed_poses_the_same_series_and_another_does_not():
    def series(seed):
        env = sum_env()
        return [env.reset(seed=seed)[0], *(env.reset()[0] for _ in range(5))]

    assert series(0) == series(0)
    assert not set(series(0)) & set(series(1))


def test_a_problem_seed_brings_the_problem_back_at_its_difficulty():
    env = sum_env(difficulty=(0, 6))
    for _ in range(10):
        prompt, info = env.reset()
        assert sum_env(difficulty=(0, 6)).reset(options={"problem_seed": info["problem_seed"]}) == (
            prompt,
            info,
        )


def test_difficulty_ranges_are_inclusive_and_reset_overrides_them():
    env = sum_env(difficulty=(1, 3))
    assert {env.reset()[1]["difficulty"] for _ in range(60)} == {1, 2, 3}
    assert env.reset(options={"difficulty": 9})[1]["difficulty"] == 9
    assert env.reset(options={"difficulty": (5, 5)})[1]["difficulty"] == 5
    assert env.reset()[1]["difficulty"] in (1, 2, 3)


def test_numpy_integers_are_integers():
    env = sum_env(difficulty=np.int64(2))
    assert env.reset(options={"problem_seed": np.int32(5)})[1]["problem_seed"] == 5


def test_knobs_change_the_defaults_or_a_level():
    assert len(sum_env(n_terms=5).reset(seed=0)[0].split("+")) == 5
    env = sum_env(n_terms=4, difficulty=2)
    env.reset(seed=0)
    assert env.unwrapped.instance.task.config.limit == 10**5
    assert env.unwrapped.instance.task.config.n_terms == 4


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"n_term": 3}, "did you mean 'n_terms'"),
        ({"dificulty": 3}, "did you mean 'difficulty'"),
        ({"n_terms": 1}, "n_terms >= 2"),
        ({"n_terms": "many"}, "cannot use n_terms='many'"),
        ({"n_terms": None, "difficulty": 2}, "cannot use n_terms=None"),
        ({"difficulty": -1}, "from 0"),
        ({"difficulty": 1.5}, "from 0"),
        ({"difficulty": True}, "from 0"),
        ({"difficulty": (3, 1)}, "empty"),
        ({"difficulty": (1, 2, 3)}, "lowest, highest"),
        ({"answer_format": "boxd"}, "did you mean 'boxed'"),
        ({"max_turns": 0}, "max_turns"),
        ({"tasks": ["Gcd-v0"]}, "for mixtures"),
    ],
)
def test_bad_arguments_say_what_is_wrong(kwargs, message):
    with pytest.raises(ConfigError, match=message):
        sum_env(**kwargs)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dificulty": 1}, "did you mean 'difficulty'"),
        ({"problem_seed": -1}, "problem_seed"),
        ({"problem_seed": 2**53}, "problem_seed"),
        ({"problem_seed": "x"}, "problem_seed"),
        ({"problem_seed": 1, "index": 1}, "exclude each other"),
        ({3: 1}, "no reset option 3"),
        ([("difficulty", 1)], "are a dict"),
    ],
)
def test_bad_options_say_what_is_wrong(options, message):
    with pytest.raises(ConfigError, match=message):
        sum_env().reset(options=options)


def test_unknown_ids_are_suggested():
    with pytest.raises(RegistrationError, match="did you mean 'rlvr/TestSum-v0'"):
        TextEnv("rlvr/TestSom-v0")


def test_calls_out_of_order():
    env = TextEnv("TestSum-v0")
    with pytest.raises(UsageError, match="reset"):
        env.step("x")
    with pytest.raises(UsageError, match="reset"):
        _ = env.instance
    env.reset(seed=0)
    with pytest.raises(UsageError, match="string"):
        env.step(7)
    env.step("x")
    with pytest.raises(UsageError, match="reset"):
        env.step("x")


def test_answer_formats_change_the_instruction_and_the_extraction():
    env = sum_env(answer_format="boxed")
    assert r"\boxed{}" in env.reset(seed=0)[0]
    assert solution(env).startswith(r"\boxed{")
    assert env.step(solution(env))[1] == 1.0


def test_an_over_long_action_gets_a_verdict():
    env = sum_env()
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step("x" * (MAX_RESPONSE_CHARS + 1))
    assert (reward, terminated, info["verdict"].status) == (0.0, True, "unparsable")
    assert str(MAX_RESPONSE_CHARS) in info["verdict"].detail


def test_a_broken_verifier_is_not_a_wrong_answer():
    env = sum_env()
    env.reset(seed=0)
    _, reward, terminated, _, info = env.step("<answer>break the verifier</answer>")
    assert (reward, terminated, info["scored"]) == (0.0, True, False)
    assert info["verdict"].status == "verifier_error"


def test_a_verifier_without_a_verdict_is_broken_too(monkeypatch):
    env = TextEnv("TestSum-v0")
    env.reset(seed=0)
    monkeypatch.setattr(type(env.instance.task), "verify", lambda *_: None)
    _, _, terminated, truncated, info = env.step("<answer>1</answer>")
    assert (terminated, truncated, info["scored"]) == (True, False, False)


def test_rows_replay_and_foreign_rows_are_refused():
    row = make_problem("rlvr/TestSum-v0", seed=5)
    env = sum_env()
    assert env.reset(options={"problem": row})[0] == row["prompt"]
    with pytest.raises(ConfigError, match="does not serve"):
        gym.make("rlvr/TestProduct-v0").reset(options={"problem": row})
    with pytest.raises(RowError, match="fingerprint"):
        env.reset(options={"problem": {**row, "problem": {"terms": [1, 2], "total": 3}}})
    with pytest.raises(RowError, match="a row is an object"):
        env.reset(options={"problem": 5})
    with pytest.raises(RowError, match="lacks"):
        env.reset(options={"problem": {"id": "rlvr/TestSum-v0"}})


def test_numbered_problems_are_picked_by_index():
    env = gym.make("rlvr/TestRows-v0")
    prompt, info = env.reset(options={"index": 2})
    assert prompt.startswith("What is 2 + 1?")
    assert info["problem_seed"] is None
    assert {env.reset()[0] for _ in range(50)} > {prompt}
    with pytest.raises(ConfigError, match="0 to 2"):
        env.reset(options={"index": 3})
    with pytest.raises(UsageError, match="problem_seed"):
        sum_env().reset(options={"index": 0})


def test_an_interactive_episode():
    env = gym.make("rlvr/TestGuess-v0", difficulty=0)
    prompt, _ = env.reset(seed=1)
    assert prompt == "Guess my number between 1 and 1000."
    actions = solution(env)
    for action in actions[:-1]:
        observation, reward, terminated, truncated, info = env.step(action)
        assert observation in ("Higher.", "Lower.")
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert "reference" not in info
    observation, reward, terminated, truncated, info = env.step(actions[-1])
    assert (observation, reward, terminated, truncated) == ("Yes!", 1.0, True, False)
    assert info["reference"] == actions


def test_turn_limits_truncate():
    env = gym.make("rlvr/TestGuess-v0", max_turns=2)
    env.reset(seed=1)
    assert env.step("what?")[2:4] == (False, False)
    _, reward, terminated, truncated, info = env.step("what?")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert "limit of 2 turns" in info["verdict"].detail


def test_the_turn_limit_of_one_episode_can_be_set():
    env = gym.make("rlvr/TestGuess-v0", max_turns=2).unwrapped
    assert env.turn_limit == 0
    env.reset(seed=1)
    env.turn_limit = 1
    assert env.step("what?")[3]
    env.reset(seed=1)
    assert env.turn_limit == 2
    with pytest.raises(ConfigError, match="turn_limit"):
        env.turn_limit = 0


def test_a_broken_session_is_not_a_wrong_answer():
    env = gym.make("rlvr/TestGuess-v0")
    env.reset(seed=1)
    assert not env.step("break the task")[4]["scored"]


def test_rendering(capsys):
    env = sum_env(render_mode="ansi")
    env.reset(seed=0)
    env.step("no idea")
    assert "What is" in env.render()
    assert "no idea" in env.render()
    assert "[unparsable: 0]" in env.render()
    human = sum_env(render_mode="human")
    human.reset(seed=0)
    assert "What is" in capsys.readouterr().out
    with pytest.raises(ConfigError, match="render_mode"):
        TextEnv("TestSum-v0", render_mode="rgb_array")


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_alike(clone):
    env = TextEnv("TestSum-v0", difficulty=(0, 3))
    env.reset(seed=0)
    other = clone(env)
    assert [env.reset()[0] for _ in range(3)] == [other.reset()[0] for _ in range(3)]


def test_numbers_that_python_does_not_write_are_an_error_of_the_difficulty():
    env = TextEnv("rlvr/Gcd-v0", difficulty=10_000)
    with pytest.raises(ConfigError, match=r"rlvr/Gcd-v0: .* digits .* lower the difficulty"):
        env.reset(seed=0)


@pytest.mark.parametrize("value", [1.5, True, float("nan"), "3", None, [3]])
def test_a_knob_of_another_type_is_an_error_at_once(value):
    with pytest.raises(ConfigError, match=r"GcdTask cannot use n_numbers=.* of type int"):
        TextEnv("rlvr/Gcd-v0", n_numbers=value)


def test_a_knob_may_be_of_numpy():
    env = TextEnv("rlvr/Gcd-v0", n_numbers=np.int64(3))
    env.reset(seed=0)
    assert env.instance.to_row()["config"]["n_numbers"] == 3
