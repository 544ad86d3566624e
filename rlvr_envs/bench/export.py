"""An experiment as a folder for somebody else's trainer: rows, start and limits, and nothing else.

`TRAIN` has the training problems alone, as rows that `rlvr_envs.verify` judges by, `START` the
checkpoint to begin with, and `JOB` all that the suite decides.
"""

import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from pydantic import ConfigDict, TypeAdapter

from rlvr_envs.bench import starts
from rlvr_envs.bench.draw import rows_of
from rlvr_envs.bench.results import STRICT, Sha256
from rlvr_envs.bench.suite import SPLITS, Experiment, Noise, Suite
from rlvr_envs.core.errors import ConfigError, RowError, did_you_mean, did_you_mean_path
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.version import __version__
from rlvr_envs.datasets.export import write_export
from rlvr_envs.datasets.rows import json_line

TRAIN = "train.jsonl"
START = "start"
JOB = "job.json"

# The formats of other trainers, as `rlvr_envs.datasets.export` calls them, and what they read.
FORMATS = {"trl": "jsonl", "verl": "parquet", "openrlhf": "jsonl", "nemo_gym": "jsonl"}

# For a tokenizer without a chat template: our agent asks such a model on lines of their own.
LINES = "{% for message in messages %}{{ message['content'] + '\\n' }}{% endfor %}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What `JOB` says: all that a trainer has to keep to.

    Attributes:
        suite: its name.
        suite_hash: the hash of its file.
        experiment: its name in the suite.
        question: what the experiment finds out.
        seed: of the run.
        start: the folder of the checkpoint to begin with, or the name of a model.
        samples: the budget of training episodes.
        tokens: of tokens, sampled and trained, in comparisons at equal tokens.
        fractions: of the budget of samples, at which checkpoints are due, without the start.
        batch: episodes of a training step of our own agent; you may take others.
        max_tokens: the most tokens of an action.
        context: the most tokens of an episode.
        temperature: of sampling.
        chat_template: to be given to a tokenizer that has none, so that prompts are ours.
        settings: defaults of our own agent for this experiment; you may take others.
        fixed: settings of our agent that belong to the experiment, and that you have to match.
        noise: of the verifier in training, see `rlvr_envs.bench.noise.reward`; or None.
        rows_sha256: of `TRAIN`.
        version: of the package that wrote it.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    suite: str
    suite_hash: Sha256
    experiment: str
    question: str
    seed: int
    start: str
    samples: int
    tokens: int
    fractions: tuple[float, ...]
    batch: int
    max_tokens: int
    context: int
    temperature: float
    chat_template: str
    settings: dict[str, Any] = field(default_factory=dict)
    fixed: dict[str, Any] = field(default_factory=dict)
    noise: Noise | None = None
    rows_sha256: Sha256
    version: str


_ASSIGNMENT = TypeAdapter(Assignment)


def export(
    suite: Suite, experiment_name: str, out: Path, *, seed: int, to: str | None = None
) -> Assignment:
    """Write what a trainer needs for an experiment, and return what `JOB` says.

    Args:
        suite: what the run will be part of.
        experiment_name: one of the suite's.
        out: a folder, new or empty.
        seed: of the run.
        to: also write the rows as a trainer reads them, in one of `FORMATS`; those of tasks of
            several turns go into a file of their own.

    Raises:
        ConfigError: there is no such experiment or format, the folder holds something, the suite is
            of another version, or rows cannot say what the experiment does in training.
        DependencyError: a format needs a package that is missing.
    """
    experiment = suite.experiment(experiment_name)
    name = _format(to)
    _check_rewards(experiment, name)
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ConfigError(f"{out} holds something: export to a new folder, or an empty one")
    start = starts.folder_of(suite, experiment)
    rows = training_rows(experiment)
    check_training(experiment, rows)
    out.mkdir(parents=True, exist_ok=True)
    (out / TRAIN).write_bytes(b"".join(map(json_line, rows)))
    if isinstance(start, Path):
        shutil.copytree(start, out / START)
    lines = isinstance(start, Path) and not _has_template(start)
    if name:
        _write_format(name, rows, out, lines=lines)
    job = Assignment(
        suite=suite.name,
        suite_hash=suite.hash,
        experiment=experiment.name,
        question=experiment.question,
        seed=seed,
        start=START if isinstance(start, Path) else start,
        samples=experiment.samples,
        tokens=experiment.tokens,
        fractions=suite.fractions[1:],
        batch=experiment.batch,
        max_tokens=experiment.max_tokens,
        context=experiment.context,
        temperature=suite.temperature,
        chat_template=LINES if lines else "",
        settings=experiment.settings,
        fixed=experiment.fixed,
        noise=experiment.noise,
        rows_sha256=_sha256(out / TRAIN),
        version=__version__,
    )
    (out / JOB).write_text(json.dumps(asdict(job), indent=1, ensure_ascii=False) + "\n", "utf-8")
    return job


def _format(to: str | None) -> str:
    name = (to or "").replace("-", "_")
    if name and name not in FORMATS:
        hint = did_you_mean(name, FORMATS)
        raise ConfigError(f"no trainer's format {to!r}{hint} (known: {', '.join(FORMATS)})")
    return name


def _check_rewards(experiment: Experiment, name: str) -> None:
    """Refuse a format whose reward function knows nothing of the experiment's noise."""
    if experiment.noise is not None and name:
        raise ConfigError(
            f"the verifier of {experiment.name} errs, and the reward function of {name} does not: "
            "export without a format, and pay by rlvr_envs.bench.noise.reward"
        )


def training_rows(experiment: Experiment) -> list[Row]:
    """Return the training problems as a trainer gets them: without the oracle's answers.

    What a problem hides stays, since it is judged by that.
    """
    rows = rows_of(experiment, "train")
    return [{key: value for key, value in row.items() if key != "reference"} for row in rows]


def check_training(experiment: Experiment, rows: Sequence[Mapping[str, Any]]) -> None:
    """Check that rows are an experiment's training problems, as they were exported.

    Raises:
        ConfigError: one is a problem of another split, or of none, or was altered.
    """
    split_of = {row["fingerprint"]: split for split in SPLITS for row in rows_of(experiment, split)}
    wanted = {row["fingerprint"]: row for row in training_rows(experiment)}
    for place, row in enumerate(rows):
        try:
            fingerprint = Instance.from_row(row).fingerprint()
        except RowError as error:
            raise ConfigError(f"training row {place} was altered: {error}") from error
        split = split_of.get(fingerprint, "no split")
        if split != "train":
            raise ConfigError(
                f"training row {place} is a problem of {split} of {experiment.name}: train on the "
                "rows of the export alone"
            )
        expected = wanted[fingerprint]
        changed = [key for key in expected if row.get(key) != expected[key]]
        if changed:
            raise ConfigError(
                f"training row {place} was altered in {', '.join(changed)}: export again"
            )


def _has_template(start: Path) -> bool:
    config = json.loads((start / "tokenizer_config.json").read_text("utf-8"))
    return bool(config.get("chat_template")) or (start / "chat_template.jinja").exists()


def _write_format(name: str, rows: Sequence[Row], out: Path, *, lines: bool) -> None:
    path = out / f"train.{name}.{FORMATS[name]}"
    write_export(name, rows, path)
    if name == "trl" and lines and path.exists():  # its prompts may be plain texts
        records = [json.loads(line) for line in path.read_bytes().splitlines()]
        for record in records:
            record["prompt"] = prompt_lines(record["prompt"][0]["content"])
        path.write_bytes(b"".join(map(json_line, records)))


def prompt_lines(prompt: str) -> str:
    """Return a prompt as a model without a chat template is asked."""
    return f"{prompt}\n"


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_export(folder: Path) -> tuple[Assignment, list[Row]]:
    """Return what was exported to a folder: the assignment and the training problems.

    Raises:
        ConfigError: it is no export, or its rows were altered.
    """
    try:
        job = _ASSIGNMENT.validate_json((folder / JOB).read_bytes())
        rows = [json.loads(line) for line in (folder / TRAIN).read_bytes().splitlines()]
    except (OSError, ValueError) as error:
        hint = did_you_mean_path(folder)
        raise ConfigError(f"{folder} is no export of an experiment: {error}{hint}") from error
    if _sha256(folder / TRAIN) != job.rows_sha256:
        raise ConfigError(f"the rows in {folder / TRAIN} were altered: export again")
    return job, rows
