"""The vector environment: groups, autoreset modes, options, and judging in workers."""

import importlib
import pickle
import sys

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from rlvr_envs.core import parallel
from rlvr_envs.core.env import TextEnv
from rlvr_envs.core.errors import ConfigError, UsageError
from rlvr_envs.core.executor import Call, Processes, Serial
from rlvr_envs.core.parallel import ParallelJudge
from rlvr_envs.core.seeding import fan_out
from rlvr_envs.core.vector import TextVectorEnv
from rlvr_envs.core.verdict import Status, Verdict

SUM, COUNTDOWN = "rlvr/VectorSum-v0", "rlvr/VectorCountdown-v0"


pytestmark = pytest.mark.usefixtures("vector_tasks")


@pytest.fixture
def make():
    made = []

    def make(env_id=SUM, num_envs=4, **kwargs):
        made.append(gym.make_vec(env_id, num_envs=num_envs, **kwargs))
        return made[-1]

    yield make
    for envs in made:
        envs.close()


def prompts(envs, n, **kwargs):
    """The first n batches of observations, each after a reset of all."""
    return [envs.reset(**(kwargs if turn == 0 else {}))[0] for turn in range(n)]


def single_prompts(env_id, seed, n, **kwargs):
    env = gym.make(env_id, **kwargs)
    return [env.reset(seed=seed if turn == 0 else None)[0] for turn in range(n)]


def solutions(envs):
    return tuple(env.instance.solution() for env in envs.envs)


# ------------------------------------------------------------------ making


def test_make_vec_builds_it(make):
    envs = make(group_size=2, difficulty=3)
    assert isinstance(envs, TextVectorEnv)
    assert (envs.num_envs, envs.group_size, envs.n_groups) == (4, 2, 2)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.DISABLED
    assert "autoreset_mode" not in TextEnv.metadata
    assert envs.spec.id == SUM
    observations, _ = envs.reset(seed=0)
    assert observations in envs.observation_space
    assert all(text in envs.single_observation_space for text in observations)
    assert envs.action_space.sample() in envs.action_space


def test_steps_have_the_types_that_gymnasium_asks_for(make):
    envs = make()
    envs.reset(seed=0)
    observations, rewards, terminations, truncations, infos = envs.step(solutions(envs))
    assert observations == ("",) * 4
    assert (rewards.dtype, rewards.tolist()) == (np.float64, [1.0] * 4)
    assert (terminations.dtype, terminations.tolist()) == (np.bool_, [True] * 4)
    assert (truncations.dtype, truncations.tolist()) == (np.bool_, [False] * 4)
    assert [v.status for v in infos["verdict"]] == [Status.CORRECT] * 4
    assert infos["_verdict"].tolist() == [True] * 4
    assert infos["scored"].tolist() == [True] * 4
    assert infos["task"].tolist() == [SUM] * 4
    assert infos["reference"].tolist() == list(solutions(envs))


@pytest.mark.parametrize(
    ("kwargs", "told"),
    [
        ({"num_envs": 0}, "num_envs is an integer from 1"),
        ({"num_envs": True}, "num_envs is an integer from 1"),
        ({"num_envs": "4"}, "num_envs is an integer from 1"),
        ({"group_size": 3}, "multiple of group_size, got 4 and 3"),
        ({"group_size": 0}, "group_size is an integer from 1"),
        ({"workers": -1}, "workers is an integer from 0"),
        ({"executor": "ray"}, "an executor is what `open_executor` returns, got 'ray'"),
        ({"autoreset_mode": "Never"}, "'NextStep', 'SameStep', 'Disabled', got 'Never'"),
        ({"limt": 5}, "did you mean 'limit'"),
    ],
    ids=str,
)
def test_bad_arguments_are_refused(kwargs, told):
    with pytest.raises(ConfigError, match=told):
        gym.make_vec(SUM, **{"num_envs": 4, **kwargs})


# ------------------------------------------------------------------ seeds and groups


def test_the_first_group_meets_the_problems_of_a_single_environment(make):
    assert [batch[0] for batch in prompts(make(), 5, seed=7)] == single_prompts(SUM, 7, 5)


def test_each_group_has_the_stream_of_its_seed(make):
    batches = prompts(make(num_envs=6, group_size=2), 4, seed=7)
    for group, seed in enumerate(fan_out(7, 3)):
        expected = single_prompts(SUM, seed, 4)
        assert [batch[2 * group] for batch in batches] == expected
        assert [batch[2 * group + 1] for batch in batches] == expected


def test_groups_do_not_share_problems(make):
    first, *_ = prompts(make(num_envs=6, group_size=2), 1, seed=7)
    assert len(set(first)) == 3


def test_the_same_seed_brings_the_same_problems(make):
    assert prompts(make(), 3, seed=5) == prompts(make(), 3, seed=5)
    assert prompts(make(), 3, seed=5) != prompts(make(), 3, seed=6)


def test_without_a_seed_groups_still_share_their_problems(make):
    (a, b, c, d), (e, f, *_) = prompts(make(group_size=2), 2)
    assert (a, c, e) == (b, d, f)
    assert len({a, c, e}) == 3


def test_seeds_may_be_listed_by_group_or_by_environment(make):
    envs = make(group_size=2)
    (by_group,) = prompts(envs, 1, seed=[3, 4])
    assert by_group == prompts(envs, 1, seed=[3, 3, 4, 4])[0]
    assert by_group[0] == single_prompts(SUM, 3, 1)[0]
    assert by_group[2] == single_prompts(SUM, 4, 1)[0]
    continued = envs.reset(seed=[None, 9])[0]
    assert continued[0] == single_prompts(SUM, 3, 2)[1]
    assert continued[2] == single_prompts(SUM, 9, 1)[0]


@pytest.mark.parametrize("seed", [[1, 2, 3], [], [-1, 2], ["a"] * 4, [1.5, 2], "a", 1.5, {}])
def test_bad_lists_of_seeds_are_refused(make, seed):
    with pytest.raises(ConfigError, match="seed"):
        make(group_size=2).reset(seed=seed)


def test_members_keep_their_own_pace_and_gather_at_a_reset(make):
    envs = make(num_envs=2, group_size=2)
    walk = single_prompts(SUM, 1, 6)
    assert envs.reset(seed=1)[0] == (walk[0], walk[0])
    ahead = {"reset_mask": np.array([True, False])}
    assert envs.reset(options=ahead)[0] == (walk[1], walk[0])
    assert envs.reset(options=ahead)[0] == (walk[2], walk[0])
    assert envs.reset(options={"reset_mask": np.array([False, True])})[0] == (walk[2], walk[1])
    assert envs.reset()[0] == (walk[3], walk[3])
    assert set(ahead) == {"reset_mask"}


def test_a_group_works_a_problem_out_once(make, monkeypatch):
    task = sys.modules["vector_tasks"].SumTask
    calls = []
    for name in ("generate", "solve"):
        original = getattr(task, name)

        def counted(self, argument, name=name, original=original):
            calls.append(name)
            return original(self, argument)

        monkeypatch.setattr(task, name, counted)
    envs = make(group_size=2)
    for _ in range(3):
        envs.reset()
        *_, infos = envs.step(("?",) * 4)
    assert (calls.count("generate"), calls.count("solve")) == (6, 6)
    assert infos["reference"].tolist() == [env.instance.reference() for env in envs.envs]
    assert envs.envs[0].instance.to_row() == envs.envs[1].instance.to_row()
    twin = pickle.loads(pickle.dumps(envs.envs[0].instance))
    assert twin.to_row() == envs.envs[0].instance.to_row()


def test_difficulty_is_part_of_what_a_group_shares(make):
    envs = make(num_envs=2, group_size=2)
    for difficulty in (0, 5, None):
        options = {"problem_seed": 3, "difficulty": difficulty}
        single = TextEnv(SUM).reset(options=options)[0]
        assert envs.reset(options=options)[0] == (single, single)


def test_a_group_that_starts_in_parts_is_still_a_group(make):
    envs = make(num_envs=2, group_size=2)
    envs.reset(options={"reset_mask": np.array([True, False])})
    with pytest.raises(UsageError, match="call reset"):
        envs.step(("", ""))
    first, second = envs.reset(options={"reset_mask": np.array([False, True])})[0]
    assert first == second


# ------------------------------------------------------------------ options


def test_options_reach_every_member(make):
    envs = make(group_size=2)
    _, infos = envs.reset(seed=1, options={"difficulty": 0})
    assert infos["difficulty"].tolist() == [0] * 4
    one = gym.make(SUM)
    one.reset(seed=3)
    row = one.unwrapped.instance.to_row()
    observations, infos = envs.reset(options={"problem": row})
    assert observations == (row["prompt"],) * 4
    assert infos["problem_seed"].tolist() == [row["problem_seed"]] * 4


def test_problem_seeds_may_be_listed(make):
    envs = make(group_size=2)
    _, infos = envs.reset(options={"problem_seed": [11, 12]})
    assert infos["problem_seed"].tolist() == [11, 11, 12, 12]
    _, infos = envs.reset(options={"problem_seed": np.array([1, 2, 3, 4])})
    assert infos["problem_seed"].tolist() == [1, 2, 3, 4]
    with pytest.raises(ConfigError, match="a list for 'problem_seed' has 4 items"):
        envs.reset(options={"problem_seed": [1, 2, 3]})


def test_problems_may_be_listed(make):
    rows = []
    for seed in (1, 2):
        env = TextEnv(SUM)
        env.reset(seed=seed)
        rows.append(env.instance.to_row())
    observations, _ = make(group_size=2).reset(options={"problem": rows})
    assert observations == tuple(rows[i]["prompt"] for i in (0, 0, 1, 1))


def test_infos_that_some_environments_lack_are_none(make):
    one = TextEnv(SUM)
    one.reset(seed=3)
    row = {**one.instance.to_row(), "problem_seed": None, "difficulty": None}
    envs = make(num_envs=2, difficulty=2)
    _, infos = envs.reset(seed=1, options={"problem": [None, row]})
    assert infos["difficulty"].tolist() == [2, None]
    assert infos["problem_seed"].tolist()[1] is None
    assert infos["_difficulty"].tolist() == [True, True]


def test_an_option_does_not_use_up_the_stream(make):
    envs = make(num_envs=1)
    walk = single_prompts(SUM, 2, 2)
    envs.reset(seed=2)
    envs.reset(options={"problem_seed": 5})
    assert envs.reset()[0][0] == walk[1]


@pytest.mark.parametrize("options", [5, "seed", [1]])
def test_options_that_are_no_dict_are_refused(make, options):
    with pytest.raises(ConfigError, match="reset options are a dict"):
        make().reset(options=options)


def test_an_unknown_option_is_refused(make):
    with pytest.raises(ConfigError, match="did you mean 'difficulty'"):
        make().reset(options={"dificulty": 1})


@pytest.mark.parametrize(
    "mask", [[True] * 4, np.ones(3, dtype=bool), np.ones(4), np.zeros(4, dtype=bool)], ids=repr
)
def test_a_bad_mask_is_refused(make, mask):
    with pytest.raises(ConfigError, match="reset_mask is a bool array"):
        make().reset(options={"reset_mask": mask})


# ------------------------------------------------------------------ autoreset

LENGTHS = [2, 3, 2]  # turns of the first episode of each member


def countdown(make, mode, num_envs=3):
    """Environments whose first episodes take LENGTHS turns, and how their problems continue."""
    envs = make(COUNTDOWN, num_envs=num_envs, autoreset_mode=mode)
    seeds = []
    for length in LENGTHS[:num_envs]:
        candidates = (
            s for s in range(99) if single_prompts(COUNTDOWN, s, 1) == [f"left: {length}"]
        )
        seeds.append(next(candidates))
    observations, _ = envs.reset(seed=seeds)
    assert observations == tuple(f"left: {n}" for n in LENGTHS[:num_envs])
    return envs, [single_prompts(COUNTDOWN, seed, 3) for seed in seeds]


def go(envs):
    return envs.step(("go",) * envs.num_envs)


def test_disabled_members_wait_for_a_reset(make):
    envs, walks = countdown(make, AutoresetMode.DISABLED)
    assert go(envs)[0] == ("left: 1", "left: 2", "left: 1")
    observations, rewards, terminations, _, infos = go(envs)
    assert observations == ("left: 0", "left: 1", "left: 0")
    assert (rewards.tolist(), terminations.tolist()) == ([1, 0, 1], [True, False, True])
    assert infos["_verdict"].tolist() == [True, False, True]
    observations, rewards, terminations, _, infos = go(envs)
    assert observations == ("", "left: 0", "")
    assert (rewards.tolist(), terminations.tolist()) == ([0, 1, 0], [True] * 3)
    assert infos["_turn"].tolist() == [False, True, False]
    mask = np.array([True, False, False])
    assert envs.reset(options={"reset_mask": mask})[0] == (walks[0][1], "left: 0", "")
    observations, _, terminations, *_ = go(envs)
    assert terminations.tolist() == [False, True, True]
    assert observations[1:] == ("", "")


def test_a_waiting_member_keeps_how_it_ended(make):
    envs = make(COUNTDOWN, num_envs=2, max_turns=1, autoreset_mode="Disabled")
    envs.reset(seed=0)
    for _ in range(2):
        _, rewards, terminations, truncations, _ = envs.step(("go", "stop"))
        assert rewards.tolist() == [0, 0]
        assert terminations.tolist() == [False, True]
        assert truncations.tolist() == [True, False]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_autoreset_is_that_of_gymnasium(make, mode):
    envs, _ = countdown(make, mode)
    theirs = make(
        COUNTDOWN, num_envs=3, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}
    )
    assert isinstance(theirs, SyncVectorEnv)
    for both in (envs, theirs):
        both.reset(seed=[1, 2, 3])
    for _ in range(25):
        (o1, r1, t1, u1, i1), (o2, r2, t2, u2, i2) = go(envs), go(theirs)
        assert o1 == o2
        assert data_equivalence((r1, t1, u1), (r2, t2, u2), exact=True)
        assert told(i1) == told(i2)


def told(infos):
    """What the infos say of each environment: the dtype of an array and its filling may differ."""
    values = {}
    for name in infos.keys() & {key[1:] for key in infos}:
        value, mask = infos[name], infos[f"_{name}"].tolist()
        if isinstance(value, dict):
            values[name] = mask, told(value)
        else:
            values[name] = [v if m else ... for v, m in zip(value.tolist(), mask, strict=True)]
    return values


def test_next_step(make):
    envs, walks = countdown(make, "NextStep")
    go(envs)
    assert go(envs)[2].tolist() == [True, False, True]
    observations, rewards, terminations, _, infos = go(envs)
    assert observations == (walks[0][1], "left: 0", walks[2][1])
    assert (rewards.tolist(), terminations.tolist()) == ([0, 1, 0], [False, True, False])
    assert infos["turn"].tolist() == [0, 3, 0]


def test_same_step(make):
    envs, walks = countdown(make, "SameStep")
    go(envs)
    observations, rewards, terminations, _, infos = go(envs)
    assert observations == (walks[0][1], "left: 1", walks[2][1])
    assert (rewards.tolist(), terminations.tolist()) == ([1, 0, 1], [True, False, True])
    assert infos["final_obs"].tolist() == ["left: 0", None, "left: 0"]
    assert infos["final_info"]["_verdict"].tolist() == [True, False, True]
    assert infos["final_info"]["turn"].tolist() == [2, 0, 2]
    assert infos["turn"].tolist() == [0, 2, 0]
    assert "verdict" not in infos


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_gymnasium_s_own_vector_environments_work(make, mode):
    envs = make(SUM, num_envs=2, vectorization_mode=mode, difficulty=1)
    observations, infos = envs.reset(seed=4)
    assert observations[0] == single_prompts(SUM, 4, 1, difficulty=1)[0]
    answers = [str(sum(map(int, text.split("\n")[0].split(" + ")))) for text in observations]
    _, rewards, terminations, _, infos = envs.step((answers[0], "no"))
    assert rewards.tolist() == [1.0, 0.0]
    assert terminations.all()
    assert [v.status for v in infos["verdict"]] == [Status.CORRECT, Status.WRONG]


# ------------------------------------------------------------------ misuse


def test_steps_need_a_reset_and_one_text_each(make):
    envs = make()
    with pytest.raises(UsageError, match="call reset"):
        envs.step(("",) * 4)
    envs.reset(seed=0)
    for bad in (
        ("",) * 3,
        "four",
        [b""] * 4,
        ("", "", "", None),
        None,
        4,
        {"a", "b", "c", "d"},
        iter("four"),
    ):
        with pytest.raises(UsageError):
            envs.step(bad)
    assert envs.step(solutions(envs))[1].tolist() == [1.0] * 4


def test_closing(make):
    envs = make(workers=1)
    envs.reset(seed=0)
    envs.step(("",) * 4)
    envs.close()
    envs.close()
    with pytest.raises(UsageError, match="closed"):
        envs.reset()


def test_attributes_and_rendering(make):
    envs = make(num_envs=2, render_mode="ansi")
    observations, _ = envs.reset(seed=0)
    assert envs.render() == observations
    assert envs.call("render") == observations
    assert envs.get_attr("render_mode") == ("ansi", "ansi")


# ------------------------------------------------------------------ workers


def test_workers_give_the_same_verdicts_in_order(make):
    answers = ["half", "raise", "", "wrong", "\ud800", "\0", "<think>"]
    results = []
    for workers in (0, 2):
        envs = make(num_envs=80, group_size=8, workers=workers)
        envs.reset(seed=3)
        actions = [
            env.instance.solution() if i % 3 == 0 else f"{answers[i % 7]}"
            for i, env in enumerate(envs.envs)
        ]
        for i in range(5, 80, 10):
            actions[i] = f"distinct {i}"
        results.append(envs.step(actions)[1:])
    (rewards, *_, infos), (rewards_2, *_, infos_2) = results
    assert rewards.tolist() == rewards_2.tolist()
    assert {0.0, 0.5, 1.0} == set(rewards.tolist())
    assert infos["verdict"].tolist() == infos_2["verdict"].tolist()
    assert infos["scored"].tolist() == infos_2["scored"].tolist()


def test_a_hostile_answer_costs_its_own_verdict_only(make, monkeypatch):
    monkeypatch.setattr(parallel, "CPU_S", 1.0)
    envs = make(num_envs=8, group_size=8, workers=2)
    envs.reset(seed=3)
    actions = list(solutions(envs))
    actions[1], actions[2], actions[6] = "hang", "die", "none"
    _, rewards, terminations, _, infos = envs.step(actions)
    statuses = [verdict.status for verdict in infos["verdict"]]
    assert statuses[1] is Status.TIMEOUT
    assert statuses[2] is statuses[6] is Status.VERIFIER_ERROR
    assert "exit code 7" in infos["verdict"][2].detail
    others = [0, 3, 4, 5, 7]
    assert [statuses[i] for i in others] == [Status.CORRECT] * 5
    assert rewards.tolist() == [float(i in others) for i in range(8)]
    assert infos["scored"].tolist() == [i not in (2, 6) for i in range(8)]
    assert terminations.all()


def test_interactive_tasks_stay_in_process(make):
    envs = make(COUNTDOWN, num_envs=2, workers=1, max_turns=2)
    envs.reset(seed=0)
    assert envs.step(("go", "stop"))[2].tolist() == [False, True]


def test_a_task_that_workers_cannot_import_is_told_apart():
    class LocalTask(importlib.import_module("vector_tasks").SumTask):
        pass

    env = TextEnv(SUM)
    env.reset(seed=0)
    instance = env.instance
    local = type(instance)(
        instance.spec, LocalTask(instance.task.config), instance.problem, None, None, "raw"
    )
    with Processes(1) as executor:
        judge = ParallelJudge(executor)
        with pytest.raises(ConfigError, match=r"LocalTask.*workers=0"):
            judge.judge([local], ["1"])
        assert judge.judge([instance], [instance.solution()]) == [Verdict.correct()]


def test_workers_and_an_executor_exclude_each_other():
    with pytest.raises(ConfigError, match=r"'workers' and 'executor'.*give one"):
        gym.make_vec(SUM, num_envs=4, workers=1, executor=Serial())


class Counting(Serial):
    """Counts its calls."""

    def __init__(self):
        self.functions = []

    def map(self, function, calls, **options):
        self.functions.append(function)
        return super().map(function, calls, **options)


def test_an_executor_judges_and_is_not_closed():
    executor = Counting()
    envs = gym.make_vec(SUM, num_envs=4, group_size=2, executor=executor)
    envs.reset(seed=0)
    solutions = [env.instance.solution() for env in envs.unwrapped.envs]
    rewards = envs.step((solutions[0], "?", solutions[2], solutions[3]))[1]
    assert rewards.tolist() == [1.0, 0.0, 1.0, 1.0]
    assert executor.functions.count("rlvr_envs.core.parallel:judge_one") == 1
    envs.close()
    (outcome,) = executor.map("builtins:len", [Call(("ab",))], cpu_s=1)
    assert outcome.value == 2


def test_verdicts_survive_pickling():
    for verdict in (
        Verdict.correct("x", quality=1.0),
        Verdict.timeout("slow"),
        Verdict.graded(0.25, "part", a=0.25),
    ):
        assert pickle.loads(pickle.dumps(verdict)) == verdict
