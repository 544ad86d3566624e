"""What is written of a run, and how it is cut when a run goes on."""

import json
import math

import numpy as np
import pytest

from rlvr_envs.agents.grpo.episode import Episode, Group, Segment
from rlvr_envs.agents.grpo.tracking.metrics import (
    METRICS,
    SAMPLES,
    Metrics,
    evenly,
    read,
    summarise,
    why_equal,
)
from rlvr_envs.core.errors import ConfigError, RowError
from rlvr_envs.curricula.base import Proposal

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


def group(*episodes):
    return Group(Proposal(), list(episodes))


def test_a_summary_in_numbers_worked_by_hand():
    found = summarise(
        [
            group(
                episode(0, 1.5, 4, score=1.0, status="correct"),
                episode(0, 0.5, 2, 4, score=0.5, status="partial", finished=False),
            ),
            group(
                episode(1, 0.0, 3, task="Sum-v0", difficulty=None),
                episode(1, 0.0, 1, task="Sum-v0", difficulty=None),
                episode(1, NAN, 9, task="Sum-v0", difficulty=None, status="verifier_error"),
                episode(1, 1.0, 50, demonstrated=True),
            ),
        ]
    )
    assert found == {
        "reward/mean": 0.5,  # of four; the fifth was not scored, the sixth not sampled
        "score/mean": 0.375,
        "length/mean": pytest.approx(23 / 5),
        "length/max": 9,
        "length/right": 4,
        "length/wrong": pytest.approx(10 / 3),
        "turns/mean": pytest.approx(6 / 5),
        "turn_length/mean": pytest.approx(23 / 6),
        "entropy": 0.5,
        "truncated": pytest.approx(1 / 5),
        "unscored": pytest.approx(1 / 5),
        "zero_variance": 0.5,
        "groups/solved": 0.0,
        "groups/failed": 0.5,
        "groups/equal": 0.0,
        "groups/unscored": 0.0,
        "solve/Gcd-v0/2": 0.5,
        "solve/Sum-v0/default": 0.0,
    }


def test_a_summary_of_nothing_scored_has_no_mean():
    found = summarise([group(episode(0, NAN, 1), episode(0, NAN, 1))])
    assert math.isnan(found["reward/mean"])
    assert (found["unscored"], found["zero_variance"], found["groups/unscored"]) == (1, 1, 1)
    assert math.isnan(summarise([])["length/max"])


def test_entropy_is_estimated_from_what_the_sampler_reported():
    """Of tokens drawn from (0.5, 0.25, 0.25): 1.04 nats, whatever group or turn they are of."""
    rng = np.random.default_rng(0)
    weights = np.array([0.5, 0.25, 0.25])
    exact = -float((weights * np.log(weights)).sum())
    drawn = np.log(weights)[rng.choice(3, size=(40, 100), p=weights)]
    groups = []
    for logps in drawn:
        one = episode(0, 0.0)
        one.segments += [Segment((5,) * 30, tuple(logps[:30])), Segment((1, 2))]
        one.segments += [Segment((5,) * 70, tuple(logps[30:]))]
        groups.append(group(one))
    found = summarise(groups)["entropy"]
    assert found == pytest.approx(-float(drawn.mean()))
    assert found == pytest.approx(exact, abs=4 * float(drawn.std()) / math.sqrt(drawn.size))


@pytest.mark.parametrize(
    ("why", "episodes"),
    [
        (None, [(0.0, "wrong"), (1.0, "correct")]),
        ("solved", [(1.0, "correct"), (1.0, "correct")]),
        ("failed", [(0.0, "wrong"), (0.0, "unparsable"), (NAN, "verifier_error")]),
        ("equal", [(0.7, "partial"), (0.7, "partial")]),
        ("unscored", [(NAN, "verifier_error")]),
    ],
)
def test_why_a_group_teaches_nothing(why, episodes):
    assert why_equal(group(*(episode(0, r, 1, status=status) for r, status in episodes))) == why


def test_samples_are_of_every_task_score_and_group_in_turn():
    def posed(task, *scores):
        return group(*(episode(0, score, 1, task=task) for score in scores))

    groups = [posed("A-v0", 0.0, 0.0, 1.0), posed("A-v0", 0.0, 0.0, 0.0), posed("B-v0", 0.0, NAN)]

    def drawn(count, seed=0):
        return evenly(groups, count, np.random.default_rng(seed))

    for seed in range(20):
        first, second, third, fourth = drawn(4, seed)
        assert {first.task, second.task} == {third.task, fourth.task} == {"A-v0", "B-v0"}
        scores = [str(each.score) for each in drawn(4, seed)]
        assert set(scores) == {"0.0", "1.0", "nan"}, "each once before any comes again"
    assert [id(each) for each in drawn(5, 3)] == [id(each) for each in drawn(5, 3)]
    assert len({id(each) for each in drawn(8)}) == 8
    assert len(drawn(100)) == 8
    home = {id(e): number for number, g in enumerate(groups) for e in g.episodes}
    places = {home[id(drawn(1, seed)[0])] for seed in range(40)}
    assert places == {0, 1, 2}, "not always the first group"


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
        first.samples(step, [episode(0, 0.0, 1)])
        first.log(step, {"reward/mean": step})
    first.close()
    with (tmp_path / METRICS).open("a") as file:
        file.write('{"step": 6, "rew')  # as a kill leaves it
    second = Metrics(tmp_path, quiet=True)
    assert len(read(tmp_path)) == 5, "nothing is cut before there is something new"
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
    one.heard = ["What is 2 + 2?", "Larger."]
    metrics.samples(1, [one])
    metrics.samples(2, [one])  # of a step that is sampled ahead, and not over
    metrics.log(1, {})
    metrics.close()
    (row,) = lines(tmp_path / SAMPLES)
    assert (row["step"], row["prompt"], row["observations"]) == (1, "What is 2 + 2?", ["Larger."])
    assert row["texts"] == ["\ud800 \n é", "no verdict"]
    assert (row["task"], row["problem_seed"], row["tokens"]) == ("rlvr/Gcd-v0", 7, 5)
    assert (row["reward"], row["turn_rewards"], row["info"]) == (None, [0.5, None], {"ratio": None})


def test_what_was_told_is_logged_with_the_next_step(tmp_path):
    metrics = Metrics(tmp_path, quiet=True)
    metrics.log(1, {"reward/mean": 0.5})
    metrics.tell("warning/entropy_low", "warning: it fell")
    metrics.log(2, {"reward/mean": 0.5})
    metrics.log(3, {"reward/mean": 0.5})
    metrics.close()
    assert lines(tmp_path / METRICS)[1]["told"] == {"warning/entropy_low": "warning: it fell"}
    assert [row.get("warning/entropy_low") for row in read(tmp_path).values()] == [None, 1, None]


@pytest.mark.parametrize("line", ["not JSON", "[1]", '{"reward/mean": 1}'])
def test_a_file_of_something_else_is_named(tmp_path, line):
    (tmp_path / METRICS).write_text(f'{{"step": 1}}\n{line}\n')
    with pytest.raises(RowError, match="line 2"):
        read(tmp_path)
    with pytest.raises(RowError, match="line 2"):
        Metrics(tmp_path, quiet=True).log(1, {})


def test_a_folder_without_metrics_is_no_run(tmp_path):
    with pytest.raises(ConfigError, match="is not a run"):
        read(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be made"):
        Metrics(tmp_path / "file" / "run")
