"""Scoring: judges answers to rows, from the rows alone.

An answers file is JSONL. A line names its row by ``fingerprint`` or by ``row`` (from 0), and
gives ``response``: a text, or a list of texts for several samples. For an interactive task a
response is the list of the episode's actions, and several samples are a list of such lists.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rlvr_envs.core.errors import ConfigError, RlvrEnvsError, RowError
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.registry import find
from rlvr_envs.core.tables import entries
from rlvr_envs.core.task import InteractiveTask
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.core.workers import WorkerPool

Response = str | list[str]

DEADLINE_S = 600.0  # verifiers keep their own, much shorter limits; this one catches a bug
_ROUND = 512  # answers that are under way at once


@dataclass(frozen=True, slots=True)
class Sample:
    """One response to one row.

    Attributes:
        index: of the row, from 0.
        row: the row.
        sample: which response to this row it is, from 0.
        response: the full response, or the actions of an episode.
    """

    index: int
    row: Row
    sample: int
    response: Response


@dataclass(frozen=True, slots=True)
class Fault:
    """A line that cannot be used, and why."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


class Answers:
    """The answers of a file, matched with rows.

    Args:
        rows: the rows; None stands for one that cannot be read, so that numbers hold.
    """

    def __init__(self, rows: Sequence[Row | None]) -> None:
        self._rows = rows
        self._by_fingerprint: dict[str, int] = {}
        for index, row in enumerate(rows):
            if row is not None and "fingerprint" in row:
                self._by_fingerprint.setdefault(row["fingerprint"], index)
        self._samples: dict[int, int] = {}

    def read(self, path: Path) -> Iterator[Sample | Fault]:
        """Return the samples of an answers file; a bad line is a `Fault`."""
        for entry in entries(path):
            if entry.fault:
                yield Fault(entry.place, entry.fault)
                continue
            try:
                yield from self._match(entry.data)
            except RowError as error:
                yield Fault(entry.place, str(error))

    def _match(self, data: Mapping[str, Any]) -> list[Sample]:
        index = self._index(data)
        row = self._rows[index]
        if row is None:
            raise RowError(f"row {index} cannot be read")
        if "response" not in data:
            raise RowError(f"no 'response' (found: {', '.join(data) or 'nothing'})")
        interactive = issubclass(find(row["id"]).task_type, InteractiveTask)
        responses = _responses(data["response"], interactive=interactive)
        first = self._samples.get(index, 0)
        self._samples[index] = first + len(responses)
        return [Sample(index, row, first + k, text) for k, text in enumerate(responses)]

    def _index(self, data: Mapping[str, Any]) -> int:
        if "fingerprint" in data:
            index = self._by_fingerprint.get(str(data["fingerprint"]))
            if index is None:
                raise RowError(f"no row has the fingerprint {data['fingerprint']!r}")
            return index
        number = data.get("row")
        if number is None:
            raise RowError("neither 'fingerprint' nor 'row' says which row is answered")
        if isinstance(number, bool) or not isinstance(number, int):
            raise RowError(f"'row' is an integer from 0, got {number!r}")
        if not 0 <= number < len(self._rows):
            raise RowError(f"there is no row {number}: rows go from 0 to {len(self._rows) - 1}")
        return number


def _responses(value: object, *, interactive: bool) -> list[Response]:
    if isinstance(value, str):
        return [[value] if interactive else value]
    if not isinstance(value, list) or not value:
        raise RowError(f"'response' is a text or a list of texts, got {value!r:.80}")
    if not interactive:
        return [_text(item) for item in value]
    if all(isinstance(item, list) for item in value):
        return [[_text(action) for action in episode] for episode in value]
    return [[_text(action) for action in value]]


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise RowError(f"a response is made of texts, got {value!r:.80}")
    return value


def oracle_samples(rows: Iterable[Row | None]) -> Iterator[Sample]:
    """Return the oracle's own response to each row that is not None.

    Raises:
        ConfigError: an oracle fails.
    """
    for index, row in enumerate(rows):
        if row is None:
            continue
        try:
            response = Instance.from_row(row).solution()
        except RlvrEnvsError:
            raise
        except Exception as error:
            raise ConfigError(f"the oracle fails on row {index} of {row['id']}: {error}") from error
        yield Sample(index, row, 0, response)


def judge(samples: Iterable[Sample], *, workers: int = 1) -> Iterator[tuple[Sample, Verdict]]:
    """Return every sample with its verdict, in order.

    Args:
        samples: what to judge.
        workers: processes; with 1, verifiers run in this one.

    Raises:
        ConfigError: workers is below 1.
    """
    if workers < 1:
        raise ConfigError(f"workers must be at least 1, got {workers}")
    if workers == 1:
        for sample in samples:
            yield sample, Instance.from_row(sample.row).judge(sample.response)
        return
    with ExitStack() as stack:
        pool = stack.enter_context(
            WorkerPool(workers=workers, memory_mib=4096, preload=(__name__,))
        )
        for part in _rounds(samples):
            jobs = [(sample.row, sample.response) for sample in part]
            outcomes = pool.map(f"{__name__}:judge_row", jobs, deadline_s=DEADLINE_S)
            for sample, outcome in zip(part, outcomes, strict=True):
                if isinstance(outcome.value, Verdict):
                    yield sample, outcome.value
                else:
                    yield sample, Verdict.verifier_error(f"the worker failed: {outcome.error}")


def _rounds(samples: Iterable[Sample]) -> Iterator[list[Sample]]:
    part: list[Sample] = []
    for sample in samples:
        part.append(sample)
        if len(part) == _ROUND:
            yield part
            part = []
    if part:
        yield part


def judge_row(row: Row, response: Response) -> Verdict:
    """Return the verdict on a response; what a worker runs."""
    return Instance.from_row(row).judge(response)
