"""Scoring: judges answers to rows, from the rows alone.

An answers file is JSONL. A line names its row by ``fingerprint`` or by ``row`` (from 0), and
gives ``response``: a text, or a list of texts for several samples. For an interactive task a
response is the list of the episode's actions, and several samples are a list of such lists.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from rlvr_envs.core.errors import RowError, misspelt
from rlvr_envs.core.instance import Instance, Row, row_errors
from rlvr_envs.core.parallel import CPU_S, Response, judge_rows, require, row_reason
from rlvr_envs.core.registry import find
from rlvr_envs.core.tables import entries
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.executors import Call, Executor, Serial

_SOLVE = f"{__name__}:own_response"


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
            found = ", ".join(data) or "nothing"
            raise RowError(f"no 'response' (found: {found}){misspelt('response', data)}")
        interactive = find(row["id"]).interactive
        responses = _responses(data["response"], interactive=interactive)
        first = self._samples.get(index, 0)
        self._samples[index] = first + len(responses)
        return [Sample(index, row, first + k, text) for k, text in enumerate(responses)]

    def _fingerprint(self, number: object) -> str | None:
        if not isinstance(number, int) or not 0 <= number < len(self._rows):
            return None
        row = self._rows[number]
        return None if row is None else row.get("fingerprint")

    def _index(self, data: Mapping[str, Any]) -> int:
        fingerprint, number = data.get("fingerprint"), data.get("row")
        if fingerprint is not None:
            index = self._by_fingerprint.get(str(fingerprint))
            if index is None:
                raise RowError(f"no row has the fingerprint {fingerprint!r:.80}")
            if number is None:
                return index
            if self._fingerprint(number) != fingerprint:
                raise RowError(f"row {number!r:.20} has not the fingerprint {fingerprint!r:.80}")
        if number is None:
            hint = misspelt("row", data) or misspelt("fingerprint", data)
            raise RowError(f"neither 'fingerprint' nor 'row' says which row is answered{hint}")
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


def oracle_samples(
    rows: Iterable[Row | None], *, executor: Executor | None = None, cpu_s: float | None = None
) -> Iterator[Sample | Fault]:
    """Return the response to each row, not None, that gives the row's own answer.

    That is its ``reference``; the oracle's answer where it has none. A row of which none can be
    had is a `Fault`.

    Args:
        rows: the rows.
        executor: where oracles run, in this process by default.
        cpu_s: CPU seconds that one may take, where a process of its own runs it; 60 by default.

    Raises:
        DependencyError: an oracle needs a package that is missing here.
    """
    executor = executor or Serial()
    numbered = [(index, row) for index, row in enumerate(rows) if row is not None]
    calls = (Call((row,)) for _, row in numbered)
    outcomes = executor.map(_SOLVE, calls, cpu_s=cpu_s or CPU_S)
    for (index, row), outcome in zip(numbered, outcomes, strict=True):
        if outcome.error is None:
            yield Sample(index, row, 0, cast(Response, outcome.value))
        else:
            require(outcome.error)
            reason = row_reason(outcome.error)
            yield Fault(f"row {index} of {row['id']}", f"the oracle fails: {reason}")


def judge(
    samples: Iterable[Sample], *, executor: Executor | None = None, cpu_s: float | None = None
) -> Iterator[tuple[Sample, Verdict | Fault]]:
    r"""Yield every sample with its verdict, in order; a row that cannot be used gives a `Fault`.

    Rows of strangers need an executor of processes: an altered row may take for ever.

    Args:
        samples: what to judge.
        executor: where, in this process by default.
        cpu_s: CPU seconds that a sample may take, where a process of its own judges it; 60 by
            default.

    Raises:
        DependencyError: a task needs a program or package that is missing here.

    Examples:
        >>> import rlvr_envs
        >>> from rlvr_envs.datasets.score import Sample, judge
        >>> row = rlvr_envs.make_problem("rlvr/Gcd-v0", seed=0, difficulty=0)
        >>> samples = [Sample(0, row, 0, r"\boxed{16}"), Sample(0, row, 1, r"\boxed{8}")]
        >>> [verdict.score for sample, verdict in judge(samples)]
        [1.0, 0.0]
    """
    judged: deque[Sample] = deque()

    def answered() -> Iterator[tuple[Row, Response]]:
        for sample in samples:
            judged.append(sample)
            yield sample.row, sample.response

    found = judge_rows(answered(), executor=executor or Serial(), cpu_s=cpu_s or CPU_S)
    for verdict in found:
        sample = judged.popleft()
        if isinstance(verdict, RowError):
            yield sample, Fault(f"row {sample.index} of {sample.row['id']}", str(verdict))
        else:
            yield sample, verdict


def own_response(row: Row) -> Response:
    """Return the response that gives a row's own answer; what a worker runs.

    Raises:
        RowError: there is none.
    """
    instance = Instance.from_row(row)
    stored = row.get("reference")
    with row_errors(instance.spec.id):
        if stored is None:
            return instance.solution()
        texts = stored if isinstance(stored, list) else [stored]
        if not all(isinstance(text, str) for text in texts):
            raise RowError(f"a reference is a text or a list of texts, got {stored!r:.80}")
        return instance.response(stored)
