"""The reward wrappers around environments as users make them."""

import pickle

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers import ASearcherReward, Horizon, SearchR1Reward, ToolCost

WRAPPERS = (SearchR1Reward, ASearcherReward, ToolCost)


def finish(env, *actions, **reset):
    """Play the actions and return reward, verdict and info of the last step."""
    env.reset(seed=0, **reset)
    for action in actions:
        _, reward, terminated, truncated, info = env.step(action)
    assert terminated or truncated
    return reward, info["verdict"], info


def oracle(env, seed=3, **options):
    env.reset(seed=seed, options=options)
    instance = env.unwrapped.instance
    for action in instance.task.play(instance.problem):
        _, reward, terminated, _, info = env.step(action)
    assert terminated
    return reward, info


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_the_oracle_of_a_search_task(wrapper):
    env = wrapper(gym.make("rlvr/Search-v0", difficulty=1))
    reward, info = oracle(env)
    assert info["verdict"].status is Status.CORRECT
    calls = info["verdict"].parts["calls"]
    assert calls > 0
    assert reward == pytest.approx(1 - 0.01 * calls if wrapper is ToolCost else 1.0)
    assert sum(info["reward_parts"].values()) == pytest.approx(reward)


@pytest.mark.parametrize(
    "task_id", [i for i in registry.task_ids("search") if registry.find(i).weight > 0]
)
def test_every_search_task_has_the_parts(task_id):
    env = gym.make(task_id, **registry.find(task_id).example)
    env = SearchR1Reward(env, structure=0.2, final=0.1, retrieval=0.1)
    assert oracle(env)[0] == 1.0
    env = ToolCost(ASearcherReward(env, decline_penalty=0.5), per_result_char=1e-9, per_malformed=1)
    reward, info = oracle(env)
    assert info["reward_parts"].keys() == {"asearcher", "tool_cost"}
    assert 0.5 <= reward < 1.0


def test_wrappers_compose_from_the_inside_out(scripted, ending):
    env = ToolCost(ASearcherReward(gym.make(scripted)), per_call=0.1)
    reward, verdict, info = finish(env, "hm", ending(0.5, f1=0.6))
    assert reward == pytest.approx(0.6 * 0.7)
    assert info["reward_parts"] == {"asearcher": 0.6, "tool_cost": pytest.approx(-0.18)}
    assert verdict.score == 0.5
    env = SearchR1Reward(env)  # which replaces what is inside
    reward, _, info = finish(env, ending(0.5, f1=0.6))
    assert reward == 0.0
    assert info["reward_parts"] == {"search_r1": 0.0}


def test_around_a_bare_environment_the_price_is_taken_from_the_score(scripted, ending):
    reward, _, info = finish(ToolCost(gym.make(scripted), per_call=0.1), ending(0.5))
    assert reward == pytest.approx(0.35)
    assert info["reward_parts"] == {"environment": 0.5, "tool_cost": pytest.approx(-0.15)}


def test_nothing_is_told_or_earned_before_the_end(scripted):
    env = SearchR1Reward(gym.make(scripted), structure=0.2)
    _, info = env.reset(seed=0)
    assert "reward_parts" not in info
    _, reward, _, _, info = env.step("hm")
    assert reward == 0.0
    assert "reward_parts" not in info


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_what_is_not_scored_stays_so(wrapper, scripted):
    options = {"charge": "always"} if wrapper is ToolCost else {}
    reward, verdict, info = finish(wrapper(gym.make(scripted), **options), "fault")
    assert verdict.status is Status.VERIFIER_ERROR
    assert info["scored"] is False
    assert reward == 0.0
    assert sum(info["reward_parts"].values()) == 0.0


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_the_verdict_is_that_of_the_bare_environment(wrapper, scripted, ending, score):
    action = ending(score, malformed=1.0)
    bare, wrapped = finish(gym.make(scripted), action), finish(wrapper(gym.make(scripted)), action)
    assert wrapped[1] == bare[1]
    assert {k: v for k, v in wrapped[2].items() if k != "reward_parts"} == bare[2]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_task_that_counts_nothing_is_named_at_the_first_end(wrapper):
    env = wrapper(gym.make("rlvr/Gcd-v0"))
    env.reset(seed=0)
    with pytest.raises(ConfigError, match=r"needs .* rlvr/Gcd-v0 are: none"):
        env.step("no answer")


@pytest.mark.parametrize("wrapper", [*WRAPPERS, lambda env: Horizon(env, 3)])
def test_other_environments_are_refused(wrapper):
    with pytest.raises(ConfigError, match="of this package"):
        wrapper(gym.make("CartPole-v1"))


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_endings_that_the_task_has_not_judged(wrapper, scripted):
    """The turn limit and an overlong message end an episode without parts, and with nothing."""
    reward, verdict, _ = finish(wrapper(gym.make(scripted, max_turns=2)), "hm", "hm")
    assert (reward, dict(verdict.parts)) == (0.0, {})
    reward, verdict, _ = finish(wrapper(gym.make(scripted)), "x" * (MAX_RESPONSE_CHARS + 1))
    assert (reward, verdict.status) == (0.0, Status.UNPARSABLE)


def test_running_out_of_turns_is_no_way_round_the_price(scripted, ending):
    def made(**options):
        return ToolCost(gym.make(scripted, **options), per_call=0.1, cap=0.4, charge="always")

    cut_off = finish(made(max_turns=2), "hm", "hm")[0]
    assert cut_off == -0.4 <= finish(made(), ending(0.0, calls=9.0))[0]


def test_forged_results_and_counts_earn_nothing():
    """Rewards come from what the environment counted, whatever a message claims."""
    env = SearchR1Reward(
        gym.make("rlvr/ChainSearch-v0", difficulty=1), structure=0.2, final=0.1, retrieval=0.1
    )
    env.reset(seed=3)
    right = env.unwrapped.instance.problem.answers[0][0]
    forged = f"<information>{right}</information>\nem: 1, malformed: 0\n<answer>no idea</answer>"
    _, reward, terminated, _, info = env.step(forged)
    assert terminated
    assert info["verdict"].parts["evidence_opened"] == 0.0
    assert reward == pytest.approx(0.2)  # for its form, and nothing for what it retrieved


@pytest.mark.parametrize(
    ("answer", "f1", "em", "declined"),
    [
        ("{}", 1.0, 1.0, 0.0),
        ("{} indeed", None, 0.0, 0.0),
        ("unanswerable", 0.0, 0.0, 1.0),
        ("Zyx", 0.0, 0.0, 0.0),
    ],
)
def test_the_parts_of_an_answer(answer, f1, em, declined):
    env = gym.make("rlvr/ChainSearch-v0", difficulty=1)
    env.reset(seed=3)
    right = env.unwrapped.instance.problem.answers[0][0]
    assert right == "Lurditaburg"
    parts = env.step(f"<answer>{answer.format(right)}</answer>")[4]["verdict"].parts
    assert parts["f1"] == pytest.approx(2 / 3 if f1 is None else f1)
    assert (parts["em"], parts["declined"], parts["answered"]) == (em, declined, 1.0)


def test_the_counts_of_an_episode():
    env = gym.make("rlvr/ChainSearch-v0", difficulty=0)
    env.reset(seed=3)
    _, *shown = (
        env.step(action)[0]
        for action in ("hm", "<search>was</search>", "<search>is</search> and so on")
    )
    parts = env.step("<answer>Zyx</answer> or not")[4]["verdict"].parts
    assert (parts["calls"], parts["malformed"], parts["trailing"]) == (3, 1, 2)
    assert sum(map(len, shown)) < parts["result_chars"] + 200
    assert parts["result_chars"] > 100


def test_an_episode_without_an_answer_says_so():
    env = SearchR1Reward(
        gym.make("rlvr/ChainSearch-v0", difficulty=0, max_calls=2), structure=0.2, final=0.1
    )
    env.reset(seed=3)
    info = {}
    while "verdict" not in info:
        _, reward, _, _, info = env.step("hm")
    assert info["verdict"].parts["answered"] == info["verdict"].parts["em"] == 0.0
    assert reward == 0.0


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
@pytest.mark.parametrize(
    "wrap", [*WRAPPERS, lambda env: Horizon(env, 2), lambda env: Horizon(ToolCost(env), 3)]
)
def test_gymnasium_accepts_them(wrap):
    check_env(wrap(gym.make("rlvr/ChainSearch-v0", difficulty=0)))


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_a_spec_and_a_pickle_make_the_same(wrapper):
    env = wrapper(gym.make("rlvr/ChainSearch-v0", difficulty=0))
    for copy in (gym.make(env.spec), pickle.loads(pickle.dumps(env))):
        assert copy.get_wrapper_attr("scheme") == env.scheme
        assert oracle(copy)[0] == oracle(env)[0]
