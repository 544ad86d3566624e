"""SelfPlay: what a proposer earns by what a solver answers, and what stays as it was."""

import json
import re
from pathlib import Path

import gymnasium as gym
import pytest

import rlvr_envs
from rlvr_envs.core.errors import ConfigError, DependencyError
from rlvr_envs.core.verdict import Status
from rlvr_envs.wrappers import ToolCost
from rlvr_envs.wrappers.self_play import SelfPlay, proposer_reward

ID = "rlvr/SearchProposer-v0"


DOCS = (Path(__file__).resolve().parents[3] / "docs/search_self_play.md").read_text("utf-8")


class Scripted:
    """A solver with prepared answers, which remembers what it was asked."""

    def __init__(self, *answers):
        self.answers = answers
        self.asked = []

    def __call__(self, question, row):
        self.asked.append((question, row))
        answer = self.answers[(len(self.asked) - 1) % len(self.answers)]
        if isinstance(answer, Exception):
            raise answer
        return row["problem"]["answers"][0][-1] if answer == "right" else answer


def episode(solver, *, actions=None, seed=3, **options):
    """Play an episode, the oracle's unless other actions are given; return its last step."""
    env = SelfPlay(gym.make(ID, difficulty=4), solver, **options)
    env.reset(seed=seed)
    for action in actions or env.unwrapped.instance.solution():
        step = env.step(action)
    return step


@pytest.mark.parametrize("right", range(5))
def test_one_minus_the_share_of_right_answers(right):
    solver = Scripted(*["right"] * right, *["Vel"] * (4 - right))
    _, reward, terminated, truncated, info = episode(solver, attempts=4)
    assert (terminated, truncated, info["scored"]) == (True, False, True)
    assert reward == 1 - right / 4
    assert info["reward_parts"] == {"self_play": reward}
    assert info["proposal"]["solver_accuracy"] == right / 4
    assert len(info["proposal"]["solver_answers"]) == len(solver.asked) == 4
    assert info["verdict"].status is Status.CORRECT  # of the task's own shortcuts


@pytest.mark.parametrize(
    ("right", "left", "upper", "reward"),
    [
        (0, 0.0, 1.0, 0.0),
        (1, 0.0, 1.0, 0.75),
        (2, 0.0, 1.0, 1.0),
        (3, 0.0, 1.0, 0.75),
        (4, 0.0, 1.0, 0.0),
        (1, 0.25, 0.75, 1.0),
        (0, 0.25, 0.75, 0.0),
    ],
)
def test_intermediate_difficulty(right, left, upper, reward):
    solver = Scripted(*["right"] * right, *["Vel"] * (4 - right))
    earned = episode(solver, attempts=4, reward="intermediate", left=left, right=upper)[1]
    assert earned == pytest.approx(reward)
    assert proposer_reward(right / 4, "intermediate", left, upper) == pytest.approx(reward)


def test_every_name_of_the_gold_answer_is_right_and_nothing_around_it():
    aliased = 0
    for seed in range(12):
        first, *others = episode(Scripted("Vel"), seed=seed, attempts=1)[4]["proposal"]["answers"]
        aliased += bool(others)
        for name in (first, *others, f"**{first.upper()}.**"):
            assert episode(Scripted(name), seed=seed, attempts=1)[1] == 0.0
        for name in (f"{first} or Vel", f"It is {first}", ""):
            assert episode(Scripted(name), seed=seed, attempts=1)[1] == 1.0
    assert aliased > 0


def test_a_question_that_is_not_valid_never_reaches_the_solver():
    solver = Scripted("right")
    invalid = ["<question>Which place is the birthplace of the founder of nobody?</question>"]
    for penalty in (0.0, -1.0):
        _, reward, _, _, info = episode(solver, actions=invalid, invalid_reward=penalty)
        assert (reward, "proposal" in info, info["scored"]) == (penalty, False, True)
    assert solver.asked == []


def test_a_good_question_without_the_work_behind_it_never_reaches_the_solver():
    solver = Scripted("Vel")
    env = SelfPlay(gym.make(ID, difficulty=4), solver)
    env.reset(seed=3)
    _, reward, terminated, _, info = env.step(env.unwrapped.instance.solution()[-1])
    assert (reward, terminated, "proposal" in info) == (0.0, True, False)
    assert solver.asked == []


def test_an_episode_without_a_question_is_not_valid():
    solver = Scripted("right")
    env = SelfPlay(gym.make(ID, max_turns=2), solver, invalid_reward=-1.0)
    env.reset(seed=1)
    assert env.step("<search>vel</search>")[1:4] == (0.0, False, False)
    _, reward, terminated, truncated, info = env.step("<search>ost</search>")
    assert (reward, terminated, truncated, "proposal" in info) == (-1.0, False, True, False)
    assert episode(solver, actions=["x" * 2_000_000], invalid_reward=-1.0)[1] == -1.0
    assert solver.asked == []


@pytest.mark.parametrize("broken", [ValueError("no server"), None, 7])
def test_a_solver_that_breaks_leaves_the_episode_unscored(broken):
    _, reward, terminated, _, info = episode(Scripted("right", broken))
    assert (reward, terminated, info["scored"]) == (0.0, True, False)
    assert info["verdict"].status is Status.VERIFIER_ERROR
    assert "attempt 2" in info["verdict"].detail
    assert "no server" in info["verdict"].detail or "not text" in info["verdict"].detail
    assert info["proposal"]["row"]["id"].startswith("rlvr/")
    assert "solver_accuracy" not in info["proposal"]


def test_a_solver_that_lacks_a_package_says_so():
    with pytest.raises(DependencyError, match="pip install"):
        episode(Scripted(DependencyError("pip install something")))


def test_the_row_is_played_by_a_second_agent():
    """A solver that plays the row through the tools, as the oracle would, leaves nothing."""

    def solver(question, row):
        env = gym.make(row["id"])
        prompt, _ = env.reset(options={"problem": row})
        assert question in prompt
        actions = rlvr_envs.solve(row)
        for action in actions:
            _, reward, *_ = env.step(action)
        assert reward == 1.0
        return actions[-1].removeprefix("<answer>").removesuffix("</answer>")

    _, reward, _, _, info = episode(solver, attempts=2)
    assert reward == 0.0
    assert info["proposal"]["solver_accuracy"] == 1.0
    assert json.loads(json.dumps(info["proposal"])) == info["proposal"]
    text = " ".join(page["text"] for page in info["proposal"]["evidence"])
    assert any(name in text for name in info["proposal"]["answers"])


def test_a_price_for_calls_around_it():
    env = ToolCost(SelfPlay(gym.make(ID, difficulty=4), Scripted("Vel")), per_call=0.01, cap=None)
    env.reset(seed=3)
    for action in env.unwrapped.instance.solution():
        _, reward, _, _, info = env.step(action)
    calls = info["verdict"].parts["calls"]
    assert reward == pytest.approx(1 - 0.01 * calls)
    assert info["reward_parts"] == {"self_play": 1.0, "tool_cost": pytest.approx(-0.01 * calls)}


class Connected(Scripted):
    def __deepcopy__(self, memo):
        raise TypeError("a connection cannot be copied")


def test_it_is_made_again_from_its_spec_with_the_same_solver():
    solver = Connected("Vel")
    env = SelfPlay(gym.make(ID, difficulty=1), solver, attempts=2)
    again = gym.make(env.spec)
    prompt, _ = again.reset(seed=5)
    assert prompt == env.reset(seed=5)[0]
    for action in again.unwrapped.instance.solution():
        again.step(action)
    assert len(solver.asked) == 2


def test_beside_others_in_a_vector_environment():
    solver = Scripted("Vel")
    envs = gym.vector.SyncVectorEnv([lambda: SelfPlay(gym.make(ID), solver, attempts=1)] * 3)
    envs.reset(seed=[1, 1, 2])
    actions = [env.unwrapped.instance.solution() for env in envs.envs[:2]]
    for first, second in zip(*actions, strict=True):
        _, rewards, *_, infos = envs.step((first, second, "<question>Who?</question>"))
    assert rewards.tolist()[:2] == [1.0, 1.0]
    assert infos["_proposal"].tolist() == [True, True, False]
    assert infos["proposal"]["question"][0] == infos["proposal"]["question"][1]


def test_it_needs_a_task_with_proposals():
    env = SelfPlay(gym.make("rlvr/ChainSearch-v0"), Scripted("x"))
    with pytest.raises(ConfigError, match="ChainSearch-v0 has none"):
        env.reset(seed=0)
    with pytest.raises(ConfigError, match="environment of this package"):
        SelfPlay(gym.make("CartPole-v1"), Scripted("x"))


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "me"},
        {"attempts": 0},
        {"attempts": True},
        {"attempts": 2.0},
        {"reward": "one-minus"},
    ],
)
def test_arguments_out_of_range(options):
    with pytest.raises(ConfigError):
        SelfPlay(gym.make(ID), **{"solver": Scripted("x"), **options})


@pytest.mark.parametrize(("number", "reward"), [(0, 0.0), (1, 1.0)])
def test_the_code_in_the_documentation_runs(number, reward):
    block = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)[number]
    scope = {}
    exec(compile(block, "search_self_play.md", "exec"), scope)
    assert (scope["reward"], scope["terminated"]) == (reward, True)
    assert scope["info"]["proposal"]["solver_answers"] != []


def test_the_episode_in_the_documentation_is_played_as_it_says():
    (episode,) = re.findall(r"```text\n(.*?)```", DOCS, re.DOTALL)
    env = gym.make(ID, difficulty=0)
    prompt, _ = env.reset(seed=3)
    *turns, last = re.split(r"\n> ", episode)
    assert all(line in prompt for line in turns[0].strip().split("\n"))
    for turn in turns[1:]:
        action, *shown = turn.strip().split("\n")
        text, *_ = env.step(action)
        assert all(piece in text for line in shown for piece in re.split(r"…|\.\.\.", line))
    action, told = last.strip().split("\n")
    _, reward, _, _, info = env.step(action)
    assert reward == 1.0
    assert told == f"{info['verdict'].status}: {info['verdict'].detail}"
