"""Whole runs on data sets, rows and problems that return, with splits, epochs and weights."""

import argparse
import json
import shutil
from collections import Counter
from itertools import pairwise

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")

from rlvr_envs.agents.grpo.config import Data  # noqa: E402
from rlvr_envs.agents.grpo.model import checkpoint  # noqa: E402
from rlvr_envs.agents.grpo.preflight import check  # noqa: E402
from rlvr_envs.agents.grpo.presets import preset  # noqa: E402
from rlvr_envs.agents.grpo.problems import Problems  # noqa: E402
from rlvr_envs.core.errors import ConfigError, SandboxUnavailable  # noqa: E402
from rlvr_envs.sandboxes.sandbox import strongest_backend  # noqa: E402

SPLITS = "train=0.7,test=0.3"


@pytest.fixture
def sums(tmp_path):
    """MathDataset over a file of twelve questions."""
    path = tmp_path / "sums.jsonl"
    rows = ({"question": f"What is {n} + 1?", "answer": str(n + 1)} for n in range(12))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"MathDataset-v0(path={str(path)!r})"


def test_a_data_set_and_a_generated_task_by_their_weights(tmp_path, sums, watched):
    notes = watched(
        tmp_path / "run",
        tasks=(sums, "Gcd-v0"),
        weights=(2, 1),
        groups=12,
        steps=3,
        splits=SPLITS,
        evaluate_every=3,
        evaluate_problems=3,
    )
    posed = [each for step in notes.proposals for each in step]
    counts = Counter(each.task for each in posed)
    assert 16 <= counts["rlvr/MathDataset-v0"] <= 30
    problems = Problems(Data(tasks=(sums, "Gcd-v0"), splits=SPLITS))
    indices = [each.index for each in posed if each.index is not None]
    size = len(problems.indices("rlvr/MathDataset-v0"))
    assert sorted(indices[:size]) == problems.indices("rlvr/MathDataset-v0")  # an epoch
    asked = {question.instance().fingerprint() for question in problems.questions(3)}
    trained = {problems.instance(each).fingerprint() for each in posed}
    assert not asked & trained
    assert {"held_out/MathDataset-v0/default", "held_out/Gcd-v0/0"} < notes.metrics[-1].keys()
    assert notes.metrics[-1]["held_out/unscored"] == 0


def test_a_data_set_alone_learns_from_what_it_pays(tmp_path, sums, watched):
    calls = iter(range(10_000))
    notes = watched(tmp_path / "run", lambda _: next(calls) % 2, tasks=(sums,))
    assert [row["reward/mean"] for row in notes.metrics] == [0.5, 0.5]
    assert all(row["grad_norm"] > 0 for row in notes.metrics)


def test_programs_of_a_data_set_run_in_the_sandbox(tmp_path, watched):
    try:
        strongest_backend()
    except SandboxUnavailable as error:
        pytest.skip(str(error))
    notes = watched(
        tmp_path / "run",
        tasks=('CodeDataset-v0(path="sample")',),
        groups=2,
        warm_start=1,
        warm_start_batch=4,
        steps=1,
        max_tokens=300,
        context=2000,
    )
    assert notes.metrics[-1]["unscored"] == 0
    statuses = {each.status for batch in notes.batches for each in batch}
    assert statuses <= {"correct", "wrong", "unparsable", "partial"}


@pytest.mark.parametrize("task", ["VerilogDataset-v0", "SearchCorpus-v0"])
def test_the_other_data_sets_pose_their_rows(tmp_path, task, watched):
    if task == "VerilogDataset-v0" and shutil.which("iverilog") is None:
        pytest.skip("Icarus Verilog is not here")
    notes = watched(tmp_path / "run", tasks=(task,), groups=2, steps=1, context=1900)
    posed = [each.index for step in notes.proposals for each in step]
    assert len(set(posed)) == 2
    assert notes.metrics[-1]["unscored"] == 0


def test_rows_of_generate_train_from_the_command_line(tmp_path, capsys):
    """The rows say all: no task is named. Then they go on, and are evaluated on another split."""
    from rlvr_envs.cli.main import main
    from rlvr_envs.cli.train import run

    folder, out = tmp_path / "rows", tmp_path / "run"
    told = ["generate", "NextTerm-v0", "--difficulty", "0-1", "--count", "24", "--quiet"]
    assert main([*told, "--split", "train=0.8,test=0.2", "--out", str(folder)]) == 0
    source = f'rows(path="{folder}")'
    given = ["--source", source, "--out", str(out), "--device", "cpu", "--threads", "1"]
    given += ["--steps", "2", "--groups", "3", "--group-size", "2", "--max-tokens", "4"]
    assert run(argparse.Namespace(arguments=[*given, "--evaluate-every", "2"])) == 0
    assert "newest checkpoint" in capsys.readouterr().err
    metrics = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert metrics[-1]["held_out/unscored"] == 0
    state = checkpoint.load_state(checkpoint.newest(out / "checkpoints"))
    (place,) = state["source"]["places"].values()
    problems = Problems(Data(source=source))
    assert (place["taken"], place["size"]) == (6, len(problems.rows_of()))
    held_out = {question.instance().fingerprint() for question in problems.questions(24)}
    assert len(held_out) + place["size"] == 24
    assert not held_out & {row["fingerprint"] for row in problems.rows_of()}
    assert run(argparse.Namespace(arguments=["--resume", "--out", str(out), "--steps", "3"])) == 0


def test_evaluation_of_rows_needs_rows_that_are_not_trained_on(tmp_path, sums):
    with pytest.raises(ConfigError, match=r"MathDataset-v0 that are not trained on.*splits"):
        check(preset(tasks=(sums,), evaluate_every=5, out=str(tmp_path / "run")))


def test_a_row_that_cannot_be_posed_is_said_before_the_run(tmp_path):
    from rlvr_envs.core.source import open_source

    path = tmp_path / "rows.jsonl"
    row = open_source("Gcd-v0", difficulty=0).draw(1).to_row()
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | {"problem": {}}) + "\n")
    with pytest.raises(ConfigError, match="row 1 cannot be posed"):
        check(preset(source=f'rows(path="{path}")', out=str(tmp_path / "run")))


def test_hints_come_where_problems_return(tmp_path, watched):
    """None ever came from a stream: each problem was new."""
    settings = {"tasks": ("SubsetSum-v0",), "wrappers": ("HintOnFailure",)}
    settings |= {"groups": 3, "group_size": 8, "steps": 4, "context": 1024}

    def hinted(source):
        notes = watched(tmp_path / source[:4], source=source, **settings)
        plain = {}
        for step in notes.groups:
            for group in step:
                plain.setdefault(group.proposal.problem, []).append(group.posed.heard[0])
        return sum(prompt != prompts[0] for prompts in plain.values() for prompt in prompts)

    assert hinted("stream") == 0
    assert hinted("pool(fresh=0.0)") >= 6


def test_prompts_differ_over_epochs_and_agree_within_a_group(tmp_path, sums, watched):
    """Prompt augmentation: the same question in another template each time it comes."""
    notes = watched(
        tmp_path / "run",
        tasks=(sums,),
        wrappers=('PromptAugmentation(by="reset")',),
        groups=12,
        steps=4,
    )
    prompts = {}
    for step in notes.groups:
        assert len({group.proposal.index for group in step}) == 12
        for group in step:
            (prompt,) = {episode.heard[0] for episode in group.episodes}
            prompts.setdefault(group.proposal.index, []).append(prompt)
    changed = sum(a != b for each in prompts.values() for a, b in pairwise(each))
    assert changed > 24  # of 36


def test_problems_that_became_too_easy_leave_the_next_epoch(tmp_path, sums, watched):
    """AceReason's online filter, inside the loop: even questions are always solved."""
    notes = watched(
        tmp_path / "run",
        lambda instance: instance.problem.index % 2 == 0,
        tasks=(sums,),
        source="epochs(most=0.99)",
        groups=6,
        steps=4,
    )
    indices = [each.index for step in notes.proposals for each in step]
    assert sorted(indices[:12]) == list(range(12))
    assert sorted(indices[12:18]) == sorted(indices[18:]) == [1, 3, 5, 7, 9, 11]


@pytest.mark.parametrize("source", ["pool(fresh=0.4, over=epochs)", "epochs(most=0.6)", "auto"])
def test_a_run_in_two_pieces_poses_what_one_would_have(tmp_path, sums, source, watched):
    settings = {"tasks": (sums, "Gcd-v0"), "difficulty": "0-1", "source": source, "steps": 4}
    settings |= {"curriculum": "prompt_gdro(by='problem', over=success_band)", "save_every": 2}
    settings |= {"wrappers": ('PromptAugmentation(by="reset")',)}

    def judge(instance):
        return len(instance.prompt()) % 3 / 2

    whole = watched(tmp_path / "whole", judge, **settings)
    first = watched(tmp_path / "parts", judge, **settings, stop_after=2)
    second = watched(tmp_path / "parts", judge, **settings, resume=True)
    assert first.proposals + second.proposals == whole.proposals
    assert second.metrics == whole.metrics
    newest = [checkpoint.newest(tmp_path / name / "checkpoints") for name in ("whole", "parts")]
    states = [checkpoint.load_state(each) for each in newest]
    assert states[0]["source"] == states[1]["source"]
    assert states[0]["curriculum"] == states[1]["curriculum"]
