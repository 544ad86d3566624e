"""What a benchmark stores of a run, and the files that hold it.

An entry is a folder with one algorithm's results on one suite: `RUNS` has a JSON object for each
run. The responses by which its scores can be computed again lie beside it, see `store`.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from rlvr_envs.core.errors import ConfigError, WorkerError, did_you_mean_path
from rlvr_envs.core.files import replaced
from rlvr_envs.core.problem import canonical
from rlvr_envs.datasets.rows import json_line

SCHEMA = 1
RUNS = "runs.jsonl"

# How far a result can be trusted: our own agent counted what it used, a server counted it, or only
# the authors did.
Trust = Literal["plug-in", "metered", "self-reported"]

Response = str | Sequence[str]  # or the actions of an episode of several turns

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]*$")]

# What is not there, or of another type, is an error; nothing is converted.
STRICT = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One evaluation of a run on the test problems.

    Attributes:
        samples: training episodes that had been sampled.
        tokens: tokens that had been sampled or trained on.
        score: mean score of sampled responses, from 0 to 1; NaN is not allowed.
        solved: the share of them with full marks.
        greedy: mean score of the likeliest responses, or None if it was not measured.
        unscored: the share of responses that no verdict could be had for.
        device_s: seconds of training on the device that had passed, evaluations not counted.
        responses_sha256: of the responses, see `Answers.digest`.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    samples: Count
    tokens: Count
    score: Share
    solved: Share
    greedy: Share | None
    unscored: Share
    device_s: Amount
    responses_sha256: Sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Algorithm:
    """What was run.

    Attributes:
        name: under which it is compared.
        spec: how our agent is told it, such as ``dapo(learning_rate=0.001)``; empty for others.
        source: where it comes from: a paper, an address.
        version: of what implements it.
        settings: everything that was set, by name.
        tuned_runs: how many runs on validation problems its settings were chosen with.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: Name
    spec: str = ""
    source: str = ""
    version: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    tuned_runs: Count = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One training run on one experiment.

    Attributes:
        suite: its name.
        suite_hash: the hash of its file.
        split: what was evaluated on: test, or validation while settings are chosen.
        experiment: its name in the suite.
        seed: of the run.
        algorithm: what was run.
        trust: how far the result can be trusted.
        points: evaluations in the order of samples; the first one is of the start.
        failed: why the run ended before its budget was used, or empty.
        cpu_s: CPU seconds of the whole run.
        memory_mib: the most memory of its process.
        machine: processor, cores, device.
        versions: of packages.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    suite: str
    suite_hash: Sha256
    split: Literal["test", "validation"]
    experiment: str
    seed: Count
    algorithm: Algorithm
    trust: Trust
    points: Annotated[tuple[Point, ...], Field(min_length=1)]
    failed: str = ""
    cpu_s: Amount
    memory_mib: Amount
    machine: Mapping[str, Any] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int]:
        """What names the run in its entry."""
        return self.experiment, self.seed

    def to_json(self) -> dict[str, Any]:
        """Return the run as JSON can hold it."""
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_json(cls, text: str) -> "Run":
        """Return the run of a line of `RUNS`.

        Raises:
            ConfigError: it does not fit `schema`.
        """
        try:
            data = json.loads(text)
            if not isinstance(data, dict) or data.pop("schema", None) != SCHEMA:
                raise ConfigError(f"a run is an object with schema {SCHEMA}, got {text:.80}")
            return _RUN.validate_json(json.dumps(data))
        except ValueError as error:  # pydantic's is one too
            raise ConfigError(f"not a run: {error}") from error


_RUN = TypeAdapter(Run)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a line of `RUNS`."""
    found = _RUN.json_schema()
    found["properties"] = {"schema": {"const": SCHEMA}, **found["properties"]}
    found["required"] = ["schema", *found["required"]]
    return found


@dataclass(frozen=True, slots=True)
class Answers:
    """The responses of one evaluation: those to the first problem come first.

    Attributes:
        sampled: the same number to each problem.
        greedy: the likeliest one to each problem, or none.
    """

    sampled: tuple[Response, ...]
    greedy: tuple[Response, ...] = ()

    def digest(self) -> str:
        """Return the SHA-256 of their canonical JSON."""
        text = canonical([list(self.sampled), list(self.greedy)])
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class Marks:
    """The scores of responses, in their order; None where there was no verdict."""

    sampled: tuple[float | None, ...]
    greedy: tuple[float | None, ...] = ()

    def point(self, answers: Answers, *, samples: int, tokens: int, device_s: float) -> Point:
        """Return the evaluation that they make up.

        Raises:
            WorkerError: no response could be scored.
        """
        scored = [mark for mark in self.sampled if mark is not None]
        likeliest = [mark for mark in self.greedy if mark is not None]
        if not scored or (self.greedy and not likeliest):
            raise WorkerError("no response could be scored")
        marks = (*self.sampled, *self.greedy)
        return Point(
            samples=samples,
            tokens=tokens,
            score=fmean(scored),
            solved=fmean(mark == 1 for mark in scored),
            greedy=fmean(likeliest) if likeliest else None,
            unscored=marks.count(None) / len(marks),
            device_s=device_s,
            responses_sha256=answers.digest(),
        )


def read_runs(folder: Path) -> list[Run]:
    """Return the runs of an entry, by experiment and seed.

    Raises:
        ConfigError: there is no such file, a line does not fit the schema, a run is there twice, or
            the runs are of several suites or algorithms.
    """
    path = folder / RUNS
    found: list[Run] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        hint = did_you_mean_path(folder)
        raise ConfigError(f"{folder} is no entry of a benchmark: {error}{hint}") from error
    for number, line in enumerate(lines, 1):
        try:
            found.append(Run.from_json(line))
        except ConfigError as error:
            raise ConfigError(f"{path}, line {number}: {error}") from error
    check_alike(found)
    return sorted(found, key=lambda run: run.key)


def check_alike(runs: Sequence[Run]) -> None:
    """Check that runs can stand in one entry.

    Raises:
        ConfigError: one is there twice, or they are of several suites or algorithms.
    """
    twice = [key for key, count in Counter(run.key for run in runs).items() if count > 1]
    if twice:
        raise ConfigError(f"the run of {twice[0][0]} with seed {twice[0][1]} is there twice")
    kinds = {(run.suite, run.suite_hash, run.split, run.algorithm.name) for run in runs}
    if len(kinds) > 1:
        told = sorted(
            f"{name} on {suite} ({digest:.8}, {split})" for suite, digest, split, name in kinds
        )
        raise ConfigError(f"an entry has one algorithm on one suite, got {' and '.join(told)}")


def write_runs(folder: Path, runs: Iterable[Run]) -> None:
    """Write the runs of an entry, by experiment and seed."""
    folder.mkdir(parents=True, exist_ok=True)
    with replaced(folder / RUNS) as file:
        for run in sorted(runs, key=lambda run: run.key):
            file.write(json_line(run.to_json()))
