"""What is written of a run, and how it is cut when a run goes on."""

import json
import math

import pytest

from rlvr_envs.agents.grpo.episode import Episode, Segment
from rlvr_envs.agents.grpo.tracking.metrics import METRICS, SAMPLES, Metrics, read, summarise
from rlvr_envs.core.errors import ConfigError

NAN = float("nan")


def episode(group, reward, *lengths, status="wrong", finished=True, **changes):
    segments = [Segment((1, 2, 3))]
    for length in lengths:
        segments += [Segment((5,) * length, (-0.5,) * length), Segment((1,))]
    fields = {"task": "rlvr/Gcd-v0", "difficulty": 2, "problem_seed": 7, "score": reward} | changes
    return Episode(
        group=group, segments=segments, reward=reward, status=status, finished=finished, **fields
    )


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_summary_in_numbers_worked_by_hand():
    found = summarise(
        [
            episode(0, 1.5, 4, score=1.0, status="correct"),
            episode(0, 0.5, 2, 4, score=0.5, status="partial", finished=False),
            episode(1, 0.0, 3, task="Sum-v0", difficulty=None),
            episode(1, 0.0, 1, task="Sum-v0", difficulty=None),
            episode(1, NAN, 9, task="Sum-v0", difficulty=None, status="verifier_error"),
        ]
    )
    assert found == {
        "reward/mean": 0.5,  # of four; the fifth was not scored
        "score/mean": 0.375,
        "length/mean": pytest.approx(23 / 5),
        "length/max": 9,
        "turns/mean": pytest.approx(6 / 5),
        "truncated": pytest.approx(1 / 5),
        "unscored": pytest.approx(1 / 5),
        "zero_variance": 0.5,
        "solve/Gcd-v0/2": 0.5,
        "solve/Sum-v0/default": 0.0,
    }


def test_a_summary_of_nothing_scored_has_no_mean():
    found = summarise([episode(0, NAN, 1), episode(0, NAN, 1)])
    assert math.isnan(found["reward/mean"])
    assert (found["unscored"], found["zero_variance"]) == (1.0, 1.0)
    assert math.isnan(summarise([])["length/max"])


def test_each_step_is_a_line_that_is_on_disk_at_once(tmp_path):
    metrics = Metrics(tmp_path / "new" / "run", quiet=True)
    metrics.log(1, {"reward/mean": 0.25, "kl": NAN, "ratio/max": math.inf, "tokens": 12})
    path = tmp_path / "new" / "run" / METRICS
    row = {"step": 1, "reward/mean": 0.25, "kl": None, "ratio/max": None, "tokens": 12}
    assert lines(path) == [row]
    metrics.log(2, {"reward/mean": 0.5})
    metrics.close()
    assert read(path.parent) == {1: {"reward/mean": 0.25, "tokens": 12}, 2: {"reward/mean": 0.5}}
    assert read(path) == read(path.parent)


def test_a_run_that_goes_on_cuts_what_is_done_again(tmp_path):
    first = Metrics(tmp_path, quiet=True)
    for step in range(1, 6):
        first.log(step, {"reward/mean": step})
        first.samples(step, [episode(0, 0.0, 1)])
    first.close()
    with (tmp_path / METRICS).open("a") as file:
        file.write('{"step": 6, "rew')  # as a kill leaves it
    second = Metrics(tmp_path, quiet=True)
    assert len(read(tmp_path)) == 5, "nothing is cut before there is something new"
    second.samples(4, [])
    second.log(4, {"reward/mean": 40.0})
    second.close()
    assert {step: row["reward/mean"] for step, row in read(tmp_path).items()} == {
        1: 1,
        2: 2,
        3: 3,
        4: 40.0,
    }
    assert [row["step"] for row in lines(tmp_path / SAMPLES)] == [1, 2, 3]
    assert sorted(p.name for p in tmp_path.iterdir()) == [METRICS, SAMPLES]


def test_two_lines_of_a_step_are_one(tmp_path):
    metrics = Metrics(tmp_path, quiet=True)
    metrics.log(3, {"reward/mean": 0.5})
    metrics.log(3, {"held_out/score": 0.25})
    metrics.close()
    assert read(tmp_path) == {3: {"reward/mean": 0.5, "held_out/score": 0.25}}


def test_samples_are_whole_whatever_a_model_wrote(tmp_path):
    metrics = Metrics(tmp_path, quiet=True)
    one = episode(0, NAN, 2, 3, status="verifier_error", texts=["\ud800 \n é", "no verdict"])
    one.turn_rewards, one.info = [0.5, NAN], {"ratio": NAN}
    metrics.samples(1, [one])
    metrics.close()
    (row,) = lines(tmp_path / SAMPLES)
    assert row["texts"] == ["\ud800 \n é", "no verdict"]
    assert (row["task"], row["problem_seed"], row["tokens"]) == ("rlvr/Gcd-v0", 7, 5)
    assert (row["reward"], row["turn_rewards"], row["info"]) == (None, [0.5, None], {"ratio": None})


@pytest.mark.parametrize("line", ["not JSON", "[1]", '{"reward/mean": 1}'])
def test_a_file_of_something_else_is_named(tmp_path, line):
    (tmp_path / METRICS).write_text(f'{{"step": 1}}\n{line}\n')
    with pytest.raises(ConfigError, match="line 2"):
        read(tmp_path)
    with pytest.raises(ConfigError, match="line 2"):
        Metrics(tmp_path, quiet=True).log(1, {})


def test_a_folder_without_metrics_is_no_run(tmp_path):
    with pytest.raises(ConfigError, match="is not a run"):
        read(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be made"):
        Metrics(tmp_path / "file" / "run")
