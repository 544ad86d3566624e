"""Runs of somebody else's trainer: its checkpoints and its responses."""

import json
import shutil

import pytest
from small_suite import PROBLEMS, small_suite

import rlvr_envs
from rlvr_envs.bench.draw import rows_of
from rlvr_envs.bench.results import Algorithm
from rlvr_envs.bench.score import score_checkpoints, score_responses
from rlvr_envs.bench.store import Entry, read_answers, read_runs
from rlvr_envs.bench.suite import TaskLevels
from rlvr_envs.bench.usage import USAGE
from rlvr_envs.core.errors import ConfigError

NAME = "default"
OTHERS = Algorithm(name=NAME, source="a paper", version="1.0")


def told(samples, tokens=None, device_s=None):
    """What a trainer says that it used."""
    seconds = samples / 10 if device_s is None else device_s
    return {"samples": samples, "tokens": 10 * samples if tokens is None else tokens} | {
        "device_s": seconds
    }


@pytest.fixture(scope="module")
def suite():
    return small_suite()


@pytest.fixture(scope="module")
def ours(suite, tmp_path_factory):
    """A run of our own agent, and the checkpoints that it was tested at."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    from rlvr_envs.bench import train as training
    from rlvr_envs.bench.algorithm import Choice

    out = tmp_path_factory.mktemp("checkpoints")
    runs = []
    begin, asked = training.lifecycle.begin, training._asked

    def watched(*given, **named):
        runs.append(begin(*given, **named))
        return runs[-1]

    def saving(job, examiner, samples, last):
        if samples:
            folder = out / str(samples)
            runs[-1].learner.model.save_pretrained(folder)
            runs[-1].tokenizer.save_pretrained(folder)
            meter = runs[-1].callbacks[0]
            (folder / USAGE).write_text(json.dumps(told(samples, meter.tokens)))
        return asked(job, examiner, samples, last)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training.lifecycle, "begin", watched)
        patch.setattr(training, "_asked", saving)
        job = training.Job(suite=suite, experiment="small", choice=Choice(NAME, NAME), seed=1)
        run, answers = training.train(job)
    return run, answers, out


@pytest.fixture
def checkpoints(ours, tmp_path):
    """A copy of our run's checkpoints, to be altered."""
    return shutil.copytree(ours[2], tmp_path / "checkpoints")


def usage_of(folder, **changes):
    path = folder / USAGE
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def test_our_own_checkpoints_have_the_scores_of_our_own_run(suite, ours, tmp_path):
    run, answers, out = ours
    scored, given = score_checkpoints(suite, "small", out, algorithm=OTHERS, seed=1)
    assert given == answers
    points = zip(scored.points, run.points, strict=True)
    for theirs, own in points:
        assert (theirs.samples, theirs.tokens) == (own.samples, own.tokens)
        assert theirs.score == own.score
        assert theirs.greedy == own.greedy
        assert theirs.responses_sha256 == own.responses_sha256
    assert [point.greedy is None for point in scored.points] == [False, True, False]
    assert (scored.suite_hash, scored.split, scored.seed) == (run.suite_hash, "test", 1)
    assert (scored.trust, scored.algorithm) == ("self-reported", OTHERS)
    Entry(tmp_path).add(scored, given)
    assert read_runs(tmp_path) == [scored]
    assert read_answers(tmp_path)["small", 1, 2] == answers[2]


def test_validation_problems_are_tested_on_where_asked(suite, ours):
    scored, given = score_checkpoints(
        suite, "small", ours[2], algorithm=OTHERS, seed=1, split="validation", trust="metered"
    )
    assert (scored.split, scored.trust) == ("validation", "metered")
    assert len(given[0].sampled) == 2 * PROBLEMS["validation"]


def refused(suite, folder, match, **changes):
    given = {"algorithm": OTHERS, "seed": 1, **changes}
    with pytest.raises(ConfigError, match=match):
        score_checkpoints(suite, "small", folder, **given)


def test_a_checkpoint_beyond_the_budget_is_refused(suite, checkpoints):
    usage_of(checkpoints / "64", samples=65)
    refused(suite, checkpoints, "after 65 samples, and the budget of small is 64")


def test_missing_usage_is_refused(suite, checkpoints):
    (checkpoints / "32" / USAGE).unlink()
    refused(suite, checkpoints, r"usage.json is to say what was used")


@pytest.mark.parametrize("changes", [{"samples": 32}, {"tokens": 1}, {"device_s": 0.5}])
def test_usage_that_does_not_rise_is_refused(suite, checkpoints, changes):
    usage_of(checkpoints / "64", **changes)
    refused(suite, checkpoints, "is to rise")


def test_a_missing_last_checkpoint_is_refused(suite, checkpoints):
    shutil.rmtree(checkpoints / "64")
    refused(suite, checkpoints, "2 checkpoints were due, and the last one is missing")


def test_a_missing_checkpoint_on_the_way_is_refused(suite, checkpoints):
    shutil.rmtree(checkpoints / "32")
    refused(suite, checkpoints, r"due at 32 samples: number 1 is at 64. Save one after each of 32")


def test_a_checkpoint_that_was_not_due_is_refused(suite, checkpoints):
    shutil.copytree(checkpoints / "32", checkpoints / "48")
    usage_of(checkpoints / "48", samples=48, tokens=720, device_s=5.0)
    refused(suite, checkpoints, "2 checkpoints were due, and there are 3")


def test_checkpoints_may_come_at_the_end_of_a_step(suite, checkpoints):
    usage_of(checkpoints / "32", samples=40)
    usage_of(checkpoints / "64", samples=60)
    scored, _ = score_checkpoints(suite, "small", checkpoints, algorithm=OTHERS, seed=1)
    assert [point.samples for point in scored.points] == [0, 40, 60]


def test_no_checkpoints_at_all_are_refused(suite, tmp_path):
    refused(suite, tmp_path, "holds no checkpoints")
    refused(suite, tmp_path / "nowhere", "there is no folder")


def test_our_own_trust_and_other_splits_are_refused(suite, checkpoints):
    refused(suite, checkpoints, "metered or self-reported, got 'plug-in'", trust="plug-in")
    refused(suite, checkpoints, "test or validation, got 'train'", split="train")


def test_a_name_that_results_cannot_have_is_refused(suite, checkpoints):
    refused(suite, checkpoints, "not a run", algorithm=Algorithm(name="no name"))


def test_another_vocabulary_is_refused(suite, checkpoints):
    path = checkpoints / "32" / "tokenizer.json"
    words = json.loads(path.read_text())
    vocab = words["model"]["vocab"]
    first, second = sorted(vocab)[:2]
    vocab[first], vocab[second] = vocab[second], vocab[first]
    path.write_text(json.dumps(words))
    refused(suite, checkpoints, "another vocabulary than the start")


def test_another_model_is_refused(suite, checkpoints):
    import torch
    from transformers import AutoModelForCausalLM

    folder = checkpoints / "64"
    model = AutoModelForCausalLM.from_pretrained(folder)
    size = model.config.vocab_size
    with torch.random.fork_rng():
        model.resize_token_embeddings(size + 8)
    model.save_pretrained(folder)
    refused(suite, checkpoints, "cannot be tested: a checkpoint has all weights of the start's")


def test_weights_that_are_missing_are_refused(suite, checkpoints):
    from safetensors.torch import load_file, save_file

    path = checkpoints / "64" / "model.safetensors"
    weights = load_file(path)
    del weights["lm_head.weight"]
    save_file(weights, path, {"format": "pt"})
    refused(suite, checkpoints, "lacks lm_head.weight")


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_checkpoint_that_cannot_be_read_is_refused(suite, checkpoints, name):
    (checkpoints / "32" / name).write_bytes(b"{")
    refused(suite, checkpoints, "cannot be (tested|loaded)")


def test_adapters_are_refused(suite, checkpoints):
    (checkpoints / "32" / "adapter_config.json").write_text("{}")
    refused(suite, checkpoints, "with adapters merged")


# -- recorded responses


def recorded(suite, tmp_path, *, right=(0, 1, 2), samples=(0, 32, 64)):
    """A file of responses, and its lines: of the sampled ones so many a problem are right."""
    rows = rows_of(suite.experiment("small"), "test")
    lines = []
    for number, count in enumerate(samples):
        sampled = []
        for row in rows:
            solution = rlvr_envs.solve(row)
            wrong = solution[:-1] if isinstance(solution, list) else "no idea"
            sampled += [solution if k < right[number] else wrong for k in range(suite.responses)]
        ends = number in (0, len(samples) - 1)
        greedy = [rlvr_envs.solve(row) for row in rows] if ends else []
        lines.append({**told(count), "sampled": sampled, "greedy": greedy})
    return write(tmp_path, lines), lines


def write(tmp_path, lines):
    path = tmp_path / "responses.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def judged(suite, path, **changes):
    return score_responses(suite, "small", path, **{"algorithm": OTHERS, "seed": 0, **changes})


def test_responses_are_judged_row_by_row(suite, tmp_path):
    path, lines = recorded(suite, tmp_path)
    run, answers = judged(suite, path)
    assert [point.score for point in run.points] == [0, 0.5, 1]
    assert [point.solved for point in run.points] == [0, 0.5, 1]
    assert [point.greedy for point in run.points] == [1, None, 1]
    assert [point.samples for point in run.points] == [0, 32, 64]
    assert [point.tokens for point in run.points] == [0, 320, 640]
    assert run.cpu_s == 6.4
    assert [list(each.sampled) for each in answers] == [line["sampled"] for line in lines]
    assert run.points[1].responses_sha256 == answers[1].digest()
    Entry(tmp_path / "entry").add(run, answers)
    assert read_runs(tmp_path / "entry") == [run]


def test_responses_of_several_turns_are_actions(tmp_path):
    several = small_suite(train=(TaskLevels(task="GuessNumber-v0", levels=(0,)),))
    path, _ = recorded(several, tmp_path)
    run, _ = judged(several, path)
    assert run.points[2].score == run.points[0].greedy == 1
    assert run.points[0].score < 1


def test_actions_for_a_task_of_one_turn_are_refused(suite, tmp_path):
    _, lines = recorded(suite, tmp_path)
    lines[0]["sampled"][3] = ["5", "6"]
    with pytest.raises(ConfigError, match=r"line 1, response 3: .* is a string"):
        judged(suite, write(tmp_path, lines))


def test_the_first_line_is_of_the_start(suite, tmp_path):
    path, _ = recorded(suite, tmp_path, right=(1, 1), samples=(32, 64))
    with pytest.raises(ConfigError, match=r"the first line .* start, with 0 samples"):
        judged(suite, path)
    path.write_text("")
    with pytest.raises(ConfigError, match=r"the first line .* start, with 0 samples"):
        judged(suite, path)


@pytest.mark.parametrize(
    ("samples", "match"),
    [
        ((0, 32, 65), "budget of small is 64"),
        ((0, 32), "the last one is missing"),
        ((0, 64), "due at 32 samples: number 1 is at 64"),
        ((0, 32, 32), "is to rise"),
    ],
)
def test_responses_keep_to_the_budget_as_checkpoints_do(suite, tmp_path, samples, match):
    path, _ = recorded(suite, tmp_path, samples=samples)
    with pytest.raises(ConfigError, match=match):
        judged(suite, path)


@pytest.mark.parametrize(("line", "name", "change"), [(1, "sampled", -1), (2, "greedy", -1)])
def test_a_wrong_number_of_responses_is_refused(suite, tmp_path, line, name, change):
    _, lines = recorded(suite, tmp_path)
    del lines[line][name][change:]
    with pytest.raises(ConfigError, match=rf"line {line + 1}: {name} has . responses"):
        judged(suite, write(tmp_path, lines))


def test_greedy_responses_belong_to_the_ends_alone(suite, tmp_path):
    _, lines = recorded(suite, tmp_path)
    lines[1]["greedy"] = lines[0]["greedy"]
    with pytest.raises(ConfigError, match="line 2: greedy has 4 responses, and 0"):
        judged(suite, write(tmp_path, lines))


@pytest.mark.parametrize("change", [{"score": 1.0}, {"sampled": [1]}, {"tokens": -1}])
def test_a_line_that_is_no_evaluation_is_refused(suite, tmp_path, change):
    _, lines = recorded(suite, tmp_path)
    lines[1] |= change
    with pytest.raises(ConfigError, match="line 2, is no evaluation"):
        judged(suite, write(tmp_path, lines))
