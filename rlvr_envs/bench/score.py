"""Runs of somebody else's trainer: its checkpoints are tested here, or its responses are judged.

Both are tested as `rlvr_envs.bench.train` tests our own agent: the start first, then a checkpoint
for each share of the budget, with greedy responses at both ends. What was used of the budget is
what the trainer says.
"""

import json
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar, get_args

from pydantic import ConfigDict, TypeAdapter

import rlvr_envs
from rlvr_envs.bench.algorithm import Choice
from rlvr_envs.bench.draw import rows_of
from rlvr_envs.bench.exam import Examiner, sampling_seed
from rlvr_envs.bench.job import Job
from rlvr_envs.bench.results import (
    STRICT,
    Algorithm,
    Amount,
    Answers,
    Count,
    Marks,
    Point,
    Response,
    Run,
    Trust,
)
from rlvr_envs.bench.suite import Experiment, Suite
from rlvr_envs.bench.usage import USAGE, Used, read_usage
from rlvr_envs.core.errors import ConfigError, UsageError, did_you_mean_path
from rlvr_envs.core.instance import Row
from rlvr_envs.core.version import __version__
from rlvr_envs.evaluation.local_model import load_tokenizer, without_bars

Scored = tuple[Run, list[Answers]]

_PLUG_IN = "plug-in"  # the trust of what our own agent counted


def score_checkpoints(  # noqa: PLR0913 - what a run is of, and what is said of it by name
    suite: Suite,
    experiment_name: str,
    checkpoints: Path,
    *,
    algorithm: Algorithm,
    seed: int,
    split: str = "test",
    trust: Trust = "self-reported",
) -> Scored:
    """Test the checkpoints of a run, and return the run and the responses of each evaluation.

    Args:
        suite: what the run is part of.
        experiment_name: one of the suite's.
        checkpoints: a folder with one folder for each checkpoint, which holds the weights as
            transformers saves them, and `USAGE`. The start is the suite's own, so it is not there.
        algorithm: what was run.
        seed: of the run.
        split: what to test on: test, or validation while settings are chosen.
        trust: who counted what was used.

    Raises:
        ConfigError: what was used does not fit the budget, a checkpoint that was due is missing, or
            one cannot be loaded as the model of the experiment.
        DependencyError: torch or transformers is missing.
    """
    experiment = suite.experiment(experiment_name)
    _check_words(split, trust)
    found = _found(checkpoints)
    _check_used(suite, experiment, [used for used, _ in found])
    points: list[Point] = []
    answers: list[Answers] = []
    with ExitStack() as stack:
        ask = _examiner(suite, experiment, split, seed, stack)
        for used, folder in [(Used(0, 0, 0.0), None), *found]:
            given, marks = ask(
                folder,
                seed=sampling_seed(experiment.name, algorithm.name, seed, used.samples),
                greedy=used.samples in (0, found[-1][0].samples),
            )
            points.append(_point(marks, given, used))
            answers.append(given)
    return _run(suite, experiment, algorithm, (seed, split, trust), points), answers


def score_responses(  # noqa: PLR0913 - as above
    suite: Suite,
    experiment_name: str,
    responses: Path,
    *,
    algorithm: Algorithm,
    seed: int,
    split: str = "test",
    trust: Trust = "self-reported",
) -> Scored:
    """Judge recorded responses, and return the run and the responses of each evaluation.

    Args:
        suite: what the run is part of.
        experiment_name: one of the suite's.
        responses: a JSONL file with one line for each evaluation, the start's first: ``samples``,
            ``tokens`` and ``device_s``, which are 0 of the start; ``sampled``, with
            `Suite.responses` responses to each problem of the split, those to the first problem
            first; and ``greedy``, with the likeliest response to each in the first and last line,
            and none in others. A response is a text, or a list of actions where the task has
            several turns.
        algorithm: what was run.
        seed: of the run.
        split: what was tested on.
        trust: who counted what was used.

    Raises:
        ConfigError: the file or what was used does not fit the experiment.
    """
    experiment = suite.experiment(experiment_name)
    _check_words(split, trust)
    lines = _lines(responses)
    if not lines or lines[0].samples:
        raise ConfigError(f"the first line of {responses} is to be of the start, with 0 samples")
    used = [Used(line.samples, line.tokens, line.device_s) for line in lines]
    _check_used(suite, experiment, used[1:])
    rows = rows_of(experiment, split)
    points: list[Point] = []
    answers: list[Answers] = []
    for number, (line, spent) in enumerate(zip(lines, used, strict=True), 1):
        place = f"{responses}, line {number}"
        greedy = len(rows) if number in (1, len(lines)) else 0
        _check_count(place, "sampled", line.sampled, len(rows) * suite.responses)
        _check_count(place, "greedy", line.greedy, greedy)
        given = Answers(line.sampled, line.greedy)
        marks = Marks(
            _judged(place, rows, given.sampled, suite.responses),
            _judged(place, rows, given.greedy, 1),
        )
        points.append(_point(marks, given, spent))
        answers.append(given)
    return _run(suite, experiment, algorithm, (seed, split, trust), points), answers


def _check_words(split: str, trust: str) -> None:
    if split not in ("test", "validation"):
        raise ConfigError(f"a run is tested on test or validation, got {split!r}")
    known = [each for each in get_args(Trust) if each != _PLUG_IN]
    if trust not in known:
        raise ConfigError(f"the trust of another's run is {' or '.join(known)}, got {trust!r}")


def _found(checkpoints: Path) -> list[tuple[Used, Path]]:
    """Return the checkpoints of a folder, by the samples that they had used."""
    if not checkpoints.is_dir():
        hint = did_you_mean_path(checkpoints)
        raise ConfigError(
            f"there is no folder {checkpoints}: give the one of all checkpoints{hint}"
        )
    folders = [path for path in checkpoints.iterdir() if path.is_dir() and path.name[0] != "."]
    if not folders:
        raise ConfigError(f"{checkpoints} holds no checkpoints: one folder each, with {USAGE}")
    found = [(read_usage(folder), folder) for folder in sorted(folders)]
    return sorted(found, key=lambda each: each[0].samples)


def _check_used(suite: Suite, experiment: Experiment, used: Sequence[Used]) -> None:
    """Check that evaluations are within the budget, rise, and are those that are due."""
    for before, after in pairwise([Used(0, 0, 0.0), *used]):
        if after.samples > experiment.samples:
            raise ConfigError(
                f"a checkpoint was saved after {after.samples} samples, and the budget of "
                f"{experiment.name} is {experiment.samples}: leave it out, and end the run earlier"
            )
        rises = before.samples < after.samples and before.tokens < after.tokens
        if not rises or before.device_s > after.device_s:
            raise ConfigError(
                f"what was used is to rise from one checkpoint to the next, got {before} and then "
                f"{after}: count all that was sampled since the start"
            )
    _check_due(suite, experiment, [each.samples for each in used])


def _check_due(suite: Suite, experiment: Experiment, found: Sequence[int]) -> None:
    """Check that there is one evaluation for each share of the budget.

    It may come later than it was due, as long as the next one is not due: a step ends where it
    ends. The last one may come before the budget is used, where one more step would exceed it.
    """
    due = [share * experiment.samples for share in suite.fractions[1:]]
    told = f"one after each of {', '.join(f'{each:g}' for each in due)} samples, at the end of the "
    told += "first step that reaches it; the last one where no further step is within the budget"
    for place, (low, high) in enumerate(pairwise(due)):
        if place >= len(found) or not low <= found[place] < high:
            got = f"number {place + 1} is at {found[place]}" if place < len(found) else "is missing"
            raise ConfigError(f"the checkpoint that was due at {low:g} samples: {got}. Save {told}")
    if len(found) != len(due):
        got = "the last one is missing" if len(found) < len(due) else f"there are {len(found)}"
        raise ConfigError(f"{len(due)} checkpoints were due, and {got}. Save {told}")


def _point(marks: Marks, answers: Answers, used: Used) -> Point:
    return marks.point(
        answers, samples=used.samples, tokens=used.tokens, device_s=round(used.device_s, 3)
    )


def _run(
    suite: Suite,
    experiment: Experiment,
    algorithm: Algorithm,
    told: tuple[int, str, Trust],
    points: Sequence[Point],
) -> Run:
    """Return the run; of another's trainer, CPU seconds are those that it says, and memory is 0."""
    seed, split, trust = told
    run = Run(
        suite=suite.name,
        suite_hash=suite.hash,
        split=split,  # type: ignore[arg-type]  # checked
        experiment=experiment.name,
        seed=seed,
        algorithm=algorithm,
        trust=trust,
        points=tuple(points),
        cpu_s=points[-1].device_s,
        memory_mib=0.0,
        versions={"rlvr_envs": __version__},
    )
    return Run.from_json(json.dumps(run.to_json()))  # which checks what was given


def _examiner(
    suite: Suite, experiment: Experiment, split: str, seed: int, stack: ExitStack
) -> Callable[..., tuple[Answers, Marks]]:
    """Return what tests a checkpoint: in the start's own model, with its tokenizer.

    So a model is asked as our agent asks it, whatever else a checkpoint's folder holds.
    """
    from rlvr_envs.agents.grpo import lifecycle
    from rlvr_envs.bench.train import config_of

    work = Path(stack.enter_context(TemporaryDirectory(prefix="rlvr-bench-")))
    choice = Choice("default", "default")
    job = Job(suite=suite, experiment=experiment.name, choice=choice, seed=seed)
    config = config_of(job, experiment, work)
    run = lifecycle.begin(config, curriculum=None, make_env=None, quiet=True)
    stack.callback(run.close)
    examiner = Examiner(suite, experiment, rows_of(experiment, split), run.sampler, run.chat)
    stack.callback(examiner.close)

    def ask(folder: Path | None, *, seed: int, greedy: bool) -> tuple[Answers, Marks]:
        if folder is not None:
            _check_tokenizer(folder, run.tokenizer)
            _load(folder, run.workers.sampling_model(run.learner.model))
            lifecycle.refresh(run)
        return examiner.ask(seed=seed, greedy=greedy)

    return ask


def _load(folder: Path, model: Any) -> None:
    """Set a model's weights to those of a checkpoint.

    Raises:
        ConfigError: they are another model's, or not all of them are there.
    """
    import torch
    from safetensors import SafetensorError

    wanted = "a checkpoint has all weights of the start's architecture and vocabulary, as "
    wanted += "save_pretrained of transformers writes them, with adapters merged"
    if (folder / "adapter_config.json").exists():
        raise ConfigError(f"{folder} holds adapters: {wanted}")
    try:
        with without_bars():
            saved, told = type(model).from_pretrained(
                folder, dtype=torch.float32, local_files_only=True, output_loading_info=True
            )
        missing = sorted(told["missing_keys"])
        if not missing:
            model.load_state_dict(saved.state_dict())
    except (OSError, RuntimeError, ValueError, SafetensorError) as error:
        reason = " ".join(str(error).split())
        raise ConfigError(f"{folder} cannot be tested: {wanted} ({reason})") from error
    if missing:
        raise ConfigError(f"{folder} lacks {', '.join(missing[:3])}: {wanted}")


def _check_tokenizer(folder: Path, tokenizer: Any) -> None:
    """Check that a checkpoint was trained with the start's tokenizer, if it says with which."""
    if not (folder / "tokenizer_config.json").exists():
        return
    theirs, ours = load_tokenizer(str(folder)).get_vocab(), tokenizer.get_vocab()
    if theirs != ours:
        differing = sorted(set(theirs.items()) ^ set(ours.items()))[:3]
        raise ConfigError(
            f"{folder} has another vocabulary than the start, such as {differing}: train with the "
            "tokenizer of the start"
        )


@dataclass(frozen=True, slots=True)
class _Line:
    """An evaluation in a file of responses."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    samples: Count
    tokens: Count
    device_s: Amount
    sampled: tuple[str | tuple[str, ...], ...]
    greedy: tuple[str | tuple[str, ...], ...] = ()


_LINE = TypeAdapter(_Line)


def _lines(path: Path) -> list[_Line]:
    found = []
    try:
        for line in path.read_bytes().splitlines():
            found.append(_LINE.validate_json(line))
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}, line {len(found) + 1}, is no evaluation: {error}") from error
    return found


def _check_count(place: str, name: str, given: Sequence[Response], wanted: int) -> None:
    if len(given) != wanted:
        raise ConfigError(f"{place}: {name} has {len(given)} responses, and {wanted} are wanted")


def _judged(
    place: str, rows: Sequence[Row], responses: Sequence[Response], each: int
) -> tuple[float | None, ...]:
    """Return the scores of responses, so many to each row; None where there is no verdict."""
    marks = []
    for number, response in enumerate(responses):
        try:
            verdict = rlvr_envs.verify(rows[number // each], response)
        except UsageError as error:
            raise ConfigError(f"{place}, response {number}: {error}") from error
        marks.append(float(verdict.score) if verdict.scored else None)
    return tuple(marks)
