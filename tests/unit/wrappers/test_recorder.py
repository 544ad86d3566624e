"""Recorded episodes: whole lines, from many writers, that can be played again."""

import copy
import json
import multiprocessing
import os
import pickle
import signal

import gymnasium as gym
import pytest

from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.wrappers import NoisyVerifier, PythonTool, Recorder, ToolCost, read_records, replay
from rlvr_envs.wrappers.recorder import Lines

GCD = "rlvr/Gcd-v0"


def play(env, *actions, **reset):
    env.reset(**reset)
    for action in actions:
        result = env.step(action)
    return result


def test_what_a_line_holds(tmp_path, scripted, ending):
    env = Recorder(ToolCost(gym.make(scripted), per_call=0.1), tmp_path / "new" / "folder")
    action = ending(0.5)
    parts = json.loads(action)
    del parts["score"]
    play(env, "hm", action, seed=7)
    row = env.unwrapped.instance.to_row()
    prompt = row["prompt"]
    play(env, "hm", "hm", "hm", "hm", "hm", "hm")
    first, second = read_records(tmp_path / "new" / "folder")
    assert first.pop("time") <= second["time"]
    assert first == {
        "row": row,
        "prompt": prompt,
        "actions": ["hm", action],
        "observations": ["go on", ""],
        "rewards": [0.0, 0.35],
        "reward": 0.35,
        "reward_parts": {"environment": 0.5, "tool_cost": pytest.approx(-0.15)},
        "verdict": {"score": 0.5, "status": "partial", "detail": "", "parts": parts},
        "scored": True,
        "terminated": True,
        "truncated": False,
        "seed": 7,
        "episode": 0,
        "info": {},
    }
    assert (second["episode"], second["seed"], second["truncated"]) == (1, 7, True)
    assert len(second["actions"]) == 6


def test_episodes_that_are_left_are_not_written(tmp_path, scripted):
    env = Recorder(gym.make(scripted), tmp_path)
    env.reset(seed=0)
    env.step("hm")
    env.reset()
    env.close()
    assert list(tmp_path.iterdir()) == []


def test_a_record_is_played_again(tmp_path):
    env = Recorder(PythonTool(gym.make(GCD)), tmp_path)
    env.reset(seed=3)
    right = env.unwrapped.instance.solution()
    play(env, "```python\nprint(6 * 7)\n```", right, seed=3)
    (record,) = read_records(tmp_path)
    assert record["info"] == {"tool_runs": 1, "idle_turns": 0}
    assert "42" in record["observations"][0]
    info = replay(PythonTool(gym.make(GCD)), record)
    assert info["verdict"].to_json() == record["verdict"]
    assert info["replayed_reward"] == record["reward"] == 1.0
    other = NoisyVerifier(PythonTool(gym.make(GCD)), rho1=1.0)
    assert replay(other, record)["replayed_reward"] == 0.0


def test_records_that_cannot_be_played(tmp_path, scripted):
    env = Recorder(gym.make(scripted, max_turns=2), tmp_path)
    play(env, "hm", "hm", seed=0)
    (record,) = read_records(tmp_path)
    assert replay(env, record)["verdict"].score == 0.0
    with pytest.raises(RowError, match="not over after 2"):
        replay(gym.make(scripted), record)
    with pytest.raises(RowError, match="lacks actions"):
        replay(env, {"row": record["row"]})
    with pytest.raises(RowError):
        replay(env, record | {"row": record["row"] | {"problem": {"number": -1}}})
    with pytest.raises(ConfigError):
        replay(gym.make("CartPole-v1"), record)


def test_text_of_any_kind(tmp_path, scripted):
    env = Recorder(gym.make(scripted, max_turns=1), tmp_path)
    texts = ["a\nb\r\n\u2028c", "é\x00\x1b", '"\\', "\ud800"]
    for text in texts:
        play(env, text, seed=0)
    assert [r["actions"][0] for r in read_records(tmp_path)] == texts


def test_numbers_that_json_has_not(tmp_path):
    Lines(tmp_path).write({"a": float("nan"), "b": [float("inf"), 1.5], "c": {"d": -0.0}, "e": {3}})
    (record,) = read_records(tmp_path)
    assert record == {"a": None, "b": [None, 1.5], "c": {"d": 0.0}, "e": "{3}"}


def test_each_environment_and_copy_has_a_file_of_its_own(tmp_path):
    env = Recorder(gym.make(GCD), tmp_path)
    play(env, "hm", seed=0)
    for twin in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env), gym.make(env.spec), env):
        play(twin, "hm", seed=1)
    files = list(tmp_path.iterdir())
    assert len(files) == 4
    assert len(list(read_records(tmp_path))) == 5


def _write(env, count):
    for _ in range(count):
        env.reset()
        env.step("x" * 5000)


def test_forked_writers_do_not_meet(tmp_path):
    env = Recorder(gym.make(GCD), tmp_path)
    play(env, "hm", seed=0)
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_write, args=(env, 20)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    assert len(list(tmp_path.iterdir())) == 4
    records = list(read_records(tmp_path))
    assert len(records) == 61
    assert sum(r["actions"] == ["x" * 5000] for r in records) == 60


def _write_until_killed(folder, ready):
    lines = Lines(folder)
    for number in range(10**6):
        lines.write({"number": number, "text": "x" * 200_000})
        if number == 3:
            ready.set()


def test_a_killed_writer_leaves_whole_lines(tmp_path):
    context = multiprocessing.get_context("fork")
    ready = context.Event()
    worker = context.Process(target=_write_until_killed, args=(tmp_path, ready))
    worker.start()
    assert ready.wait(30)
    os.kill(worker.pid, signal.SIGKILL)
    worker.join()
    numbers = [record["number"] for record in read_records(tmp_path)]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= 4


def test_an_unfinished_line_is_left_out_and_a_broken_one_is_not(tmp_path):
    (tmp_path / "1-a.jsonl").write_bytes(b'{"a": 1}\n{"a": 2')
    assert list(read_records(tmp_path)) == [{"a": 1}]
    (tmp_path / "2-b.jsonl").write_bytes(b'{"a": 1\n')
    with pytest.raises(RowError, match=r"2-b.jsonl, line 1 is no JSON"):
        list(read_records(tmp_path))
    (tmp_path / "2-b.jsonl").write_bytes(b"3\n")
    with pytest.raises(RowError, match="no object"):
        list(read_records(tmp_path))
    with pytest.raises(ConfigError, match="no folder"):
        list(read_records(tmp_path / "none"))


def test_a_line_without_room_is_taken_back(tmp_path, monkeypatch):
    lines = Lines(tmp_path)
    lines.write({"a": 1})
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:4]))
    with pytest.raises(OSError, match="no room"):
        lines.write({"a": 2})
    monkeypatch.undo()
    lines.write({"a": 3})
    assert list(read_records(tmp_path)) == [{"a": 1}, {"a": 3}]


def test_a_seed_begins_a_new_count(tmp_path):
    env = Recorder(gym.make(GCD), tmp_path)
    for seed in (5, None, 6, None):
        play(env, "hm", seed=seed)
    counted = [(record["seed"], record["episode"]) for record in read_records(tmp_path)]
    assert counted == [(5, 0), (5, 1), (6, 0), (6, 1)]


def test_the_row_is_that_of_the_dataset(tmp_path):
    env = Recorder(gym.make(GCD, difficulty=2), tmp_path)
    play(env, "hm", seed=5)
    (record,) = read_records(tmp_path)
    assert record["row"] == json.loads(json.dumps(env.unwrapped.instance.to_row()))
