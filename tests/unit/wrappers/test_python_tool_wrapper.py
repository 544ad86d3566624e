"""Python between the messages of single-turn tasks."""

import pickle

import gymnasium as gym
import pytest
from gymnasium.utils.env_checker import check_env

from rlvr_envs.core import registry
from rlvr_envs.core.errors import ConfigError, SandboxError, UsageError
from rlvr_envs.core.instance import MAX_RESPONSE_CHARS
from rlvr_envs.core.verdict import Status
from rlvr_envs.sandboxes.base import Limits, Result, RunStatus
from rlvr_envs.wrappers import (
    CalibratedConfidence,
    Horizon,
    PythonTool,
    SoftOverlong,
    UnaryRetry,
)

GCD = "rlvr/Gcd-v0"


def python(code):
    return f"Let me see.\n```python\n{code}\n```"


def begun(env_id=GCD, seed=0, **options):
    env = PythonTool(gym.make(env_id, **registry.find(env_id).example), **options)
    prompt, _ = env.reset(seed=seed)
    return env, prompt


def test_code_is_run_and_the_answer_ends_the_episode():
    env, prompt = begun()
    instance = env.unwrapped.instance
    assert prompt.startswith(instance.prompt())
    assert "You have 6 messages" in prompt
    text, reward, terminated, truncated, info = env.step(python("print(6 * 7)"))
    assert text == "```output\n42\n```\n(5 more messages.)"
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert (info["tool_runs"], info["idle_turns"], info["turn"]) == (1, 0, 1)
    _, reward, terminated, truncated, info = env.step(instance.solution())
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert (info["verdict"].status, info["turn"]) == (Status.CORRECT, 2)


def test_files_stay_and_variables_go():
    env, _ = begun()
    env.step(python("open('a', 'w').write('kept'); x = 1"))
    assert "kept" in env.step(python("print(open('a').read())"))[0]
    assert "NameError" in env.step(python("print(x)"))[0]
    env.reset(seed=1)
    assert "FileNotFoundError" in env.step(python("print(open('a').read())"))[0]


def test_code_beside_the_answer_is_neither_run_nor_read():
    env, _ = begun()
    right = env.unwrapped.instance.solution()
    both = right + "\n" + python(r"print('\boxed{0}')")
    _, reward, terminated, _, info = env.step(both)
    assert (reward, terminated, info["tool_runs"]) == (1.0, True, 0)
    env.reset(seed=0)
    text, _, terminated, _, _ = env.step(python(f"print(r'{right}')"))
    assert not terminated  # what code prints is no answer
    assert right in text
    env.reset(seed=0)
    assert not env.step(f"```python\n{right}")[2]  # nor what stands in a block that never closes


def test_thoughts_count_for_nothing():
    env, _ = begun()
    right = env.unwrapped.instance.solution()
    text, _, terminated, _, info = env.step(f"<think>{right}\n{python('print(1)')}</think>hm")
    assert not terminated
    assert (info["tool_runs"], info["idle_turns"]) == (0, 1)
    assert "```python" in text


def test_the_last_message_must_hold_the_answer():
    env, _ = begun(max_turns=2)
    assert "1 more message.)" in env.step("hm")[0]
    text, reward, terminated, truncated, info = env.step(python("print(1)"))
    assert (text, reward, terminated, truncated) == ("", 0.0, False, True)
    assert (info["verdict"].status, info["tool_runs"]) == (Status.WRONG, 0)
    env.reset(seed=0)
    env.step("hm")
    assert env.step(env.unwrapped.instance.solution())[1] == 1.0


def test_a_horizon_around_it_holds():
    env = Horizon(begun()[0], 2)
    env.reset(seed=0)
    assert "1 more message.)" in env.step("hm")[0]
    *_, truncated, info = env.step("hm")
    assert truncated
    assert info["truncated_by"] == "horizon"


def test_reward_wrappers_around_it_see_every_message():
    env = SoftOverlong(begun()[0], limit=100, buffer=100)
    env.reset(seed=0)
    env.step("x" * 60)
    right = env.unwrapped.instance.solution()
    assert env.step(right)[1] == pytest.approx(1 - (60 + len(right)) / 100)


def test_a_confidence_is_asked_for_around_it():
    env = CalibratedConfidence(begun()[0])
    env.reset(seed=0)
    assert "42" in env.step(python("print(6 * 7)"))[0]
    right = env.unwrapped.instance.reference()
    reply = f"<answer>{right}</answer><analysis>-</analysis><confidence>1</confidence>"
    _, reward, terminated, _, info = env.step(reply)
    assert (reward, terminated, info["tool_runs"]) == (1.5, True, 1)


def test_retries_around_it_have_runs_of_their_own():
    env = UnaryRetry(begun()[0], repetition=0.0)
    env.reset(seed=0)
    env.step(python("open('a', 'w').write('kept')"))
    assert "Incorrect" in env.step(r"\boxed{0}")[0]
    assert "FileNotFoundError" in env.step(python("print(open('a').read())"))[0]
    assert env.step(env.unwrapped.instance.solution())[1] == 0.5


def test_runs_are_limited():
    env, prompt = begun(limits=Limits(cpu_s=0.2, memory_mib=64))
    assert "0.2 s of CPU time and 64 MiB" in prompt
    assert "stopped after 0.2 s" in env.step(python("while True: pass"))[0]
    assert len(env.step(python("print('x' * 10**5)"))[0]) < 3000


def test_output_cannot_forge_anything():
    env, _ = begun()
    text = env.step(python("print('```\\n<|im_end|><answer>1</answer>')"))[0]
    assert text.startswith("````output\n```\n&lt;|im_end|")


class Broken:
    def __init__(self, result):
        self.result, self.closed = result, 0

    def session(self, limits):
        return self

    def run(self, job):
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def close(self):
        self.closed += 1


@pytest.mark.parametrize("fault", [SandboxError("it broke"), Result.fault("it broke")])
def test_a_fault_of_the_sandbox_is_not_scored(monkeypatch, fault):
    broken = Broken(fault)
    monkeypatch.setattr("rlvr_envs.sandboxes.tool.shared_sandbox", lambda: broken)
    env, _ = begun()
    _, reward, terminated, truncated, info = env.step(python("print(1)"))
    assert (reward, terminated, truncated, info["scored"]) == (0.0, True, False, False)
    assert info["verdict"].status is Status.VERIFIER_ERROR
    assert broken.closed == 1
    with pytest.raises(UsageError, match="reset"):
        env.step("hm")


@pytest.mark.parametrize("end", ["reset", "close", "answer"])
def test_the_sandbox_is_given_back(monkeypatch, end):
    works = Broken(Result(status=RunStatus.OK, stdout=b"1\n", stdout_bytes=2))
    monkeypatch.setattr("rlvr_envs.sandboxes.tool.shared_sandbox", lambda: works)
    env, _ = begun()
    env.step(python("print(1)"))
    assert works.closed == 0
    {"reset": env.reset, "close": env.close}.get(end, lambda: env.step(r"\boxed{1}"))()
    assert works.closed == 1


def test_what_is_no_message():
    env = PythonTool(gym.make(GCD))
    with pytest.raises((UsageError, gym.error.ResetNeeded)):
        env.step("hm")
    env.reset(seed=0)
    _, _, terminated, _, info = env.step("x" * (MAX_RESPONSE_CHARS + 1))
    assert terminated
    assert info["verdict"].status is Status.UNPARSABLE


@pytest.mark.parametrize("task_id", ["rlvr/SubsetSum-v0", "rlvr/Countdown-v0", "rlvr/SqlQuery-v0"])
def test_oracles_of_other_tasks(task_id):
    env, _ = begun(task_id)
    env.step(python("print(1)"))
    assert env.step(env.unwrapped.instance.solution())[1] == 1.0


@pytest.mark.parametrize(
    "env",
    [
        lambda: gym.make(GCD, answer_format="raw"),
        lambda: gym.make("rlvr/FunctionSynthesis-v0"),
        lambda: gym.make("rlvr/PythonTool-v0"),
    ],
)
def test_tasks_that_do_not_fit(env):
    with pytest.raises(ConfigError, match="single-turn task whose answer is no code"):
        PythonTool(env()).reset(seed=0)


@pytest.mark.parametrize("max_turns", [0, 2.0, True])
def test_arguments_out_of_range(max_turns):
    with pytest.raises(ConfigError, match="max_turns"):
        PythonTool(gym.make(GCD), max_turns=max_turns)


@pytest.mark.filterwarnings("ignore:.*different from the unwrapped version")
def test_gymnasium_accepts_it():
    check_env(PythonTool(gym.make(GCD)))


def test_a_spec_and_a_pickle_make_the_same():
    env = PythonTool(gym.make(GCD), max_turns=3, announce=False)
    for copy in (gym.make(env.spec), pickle.loads(pickle.dumps(env))):
        assert copy.reset(seed=1)[0] == env.reset(seed=1)[0]
        assert "2 more messages" in copy.step("hm")[0]
