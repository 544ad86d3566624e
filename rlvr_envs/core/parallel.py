"""Judging many answers at once, wherever an executor runs, with the same verdicts."""

import pickle
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from rlvr_envs.core.errors import (
    ConfigError,
    DependencyError,
    RowError,
    SandboxUnavailable,
    ToolchainMissing,
    WorkerError,
    WorkerTimeout,
)
from rlvr_envs.core.executor import Call, Executor
from rlvr_envs.core.instance import Instance, Row
from rlvr_envs.core.registry import find as find_task
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.core.workers import Outcome

# CPU seconds that no honest answer takes to judge. Verifiers that meet hostile answers have lower
# limits of their own; this one ends what slips through.
CPU_S = 60.0

# A full response, or the actions of an interactive episode.
Response = str | list[str]
_JUDGE = f"{__name__}:judge_row"
# As the text of a `WorkerError` begins, which is all that comes out of a worker.
_ROW = f"{RowError.__name__}: "
_MISSING = [each.__name__ for each in (DependencyError, SandboxUnavailable, ToolchainMissing)]


class ParallelJudge:
    """Judges answers on an executor.

    An answer that takes more than `CPU_S` seconds of CPU time gives ``timeout``, a worker that
    fails gives ``verifier_error``; the other answers keep their verdicts.

    Args:
        executor: where; who opened it closes it.
    """

    def __init__(self, executor: Executor) -> None:
        self._executor = executor
        self._sent: set[type] = set()

    def judge(self, instances: Sequence[Instance], responses: Sequence[str]) -> list[Verdict]:
        """Return the verdicts of responses to single-turn instances, in order.

        Raises:
            ConfigError: a task is defined where no other process can import it.
            DependencyError: a task needs a program or package that is missing here.
        """
        packed: dict[int, bytes] = {}  # a group shares its instance, and sends it once per item
        for instance in instances:
            if id(instance) not in packed:
                self._check(type(instance.task))
                packed[id(instance)] = pickle.dumps(instance)
        calls = [
            Call((packed[id(instance)], response), instance.task.judged_in_sandbox)
            for instance, response in zip(instances, responses, strict=True)
        ]
        outcomes = self._executor.map(f"{__name__}:judge_one", calls, cpu_s=CPU_S)
        return [verdict_of(outcome) for outcome in outcomes]

    def _check(self, task_type: type) -> None:
        if task_type in self._sent:
            return
        reason = ""
        try:
            call = Call((pickle.dumps(task_type),))
        except (pickle.PicklingError, AttributeError) as error:
            reason = str(error)
        else:
            (found,) = self._executor.map(f"{__name__}:find", [call], cpu_s=CPU_S)
            # Other faults than an exception belong to the machine, and judging will meet them.
            reason = str(found.error) if type(found.error) is WorkerError else ""
        if reason:
            raise ConfigError(
                f"worker processes cannot import {task_type.__module__}.{task_type.__qualname__} "
                f"({reason}): define it in a module on sys.path, or verify with workers=0"
            )
        self._sent.add(task_type)


def verdict_of(outcome: Outcome) -> Verdict:
    """Return the verdict that a worker gave, or the one that stands for its failure."""
    if outcome.error is not None:
        return _fault(outcome.error)
    if isinstance(outcome.value, Verdict):
        return outcome.value
    return Verdict.verifier_error(f"the verifier returned {outcome.value!r:.80}, not a verdict")


def _fault(error: WorkerError) -> Verdict:
    if isinstance(error, WorkerTimeout):
        return Verdict.timeout(f"judging this answer: {error}")
    return Verdict.verifier_error(f"{type(error).__name__}: {error}")


def find(task_type: bytes) -> bool:
    """Runs in a worker: whether the class of a task can be found there."""
    return isinstance(pickle.loads(task_type), type)  # noqa: S301 - sent by our own parent


@lru_cache(maxsize=16)
def _unpack(instance: bytes) -> Any:
    return pickle.loads(instance)  # noqa: S301 - sent by our own parent


def judge_one(instance: bytes, response: str) -> Verdict:
    """Runs in a worker: judge one response."""
    verdict: Verdict = _unpack(instance).judge(response)
    return verdict


def judge_rows(
    answered: Iterable[tuple[Row, Response]], *, executor: Executor, cpu_s: float = CPU_S
) -> Iterator[Verdict | RowError]:
    """Yield the verdict of each response to a row, in order, or why the row cannot be used.

    Rows of strangers need an executor of processes: an altered row may take for ever.

    Args:
        answered: rows, each of a registered task, and responses.
        executor: where they are judged.
        cpu_s: CPU seconds that a response may take, where a process of its own judges it.

    Raises:
        DependencyError: a task needs a program or package that is missing here.
    """
    calls = (
        Call((row, response), find_task(row["id"]).task_type.judged_in_sandbox)
        for row, response in answered
    )
    for outcome in executor.map(_JUDGE, calls, cpu_s=cpu_s):
        if outcome.error is not None:
            require(outcome.error)
            if str(outcome.error).startswith(_ROW):
                yield RowError(row_reason(outcome.error))
                continue
        yield verdict_of(outcome)


def judge_row(row: Row, response: Response) -> Verdict:
    """Return the verdict on a response to a row; what a worker runs."""
    return Instance.from_row(row).judge(response)


def require(error: WorkerError) -> None:
    """Raise a worker's error again if something is to be installed here.

    Raises:
        DependencyError: it is.
    """
    name, _, told = str(error).partition(": ")
    if name in _MISSING:
        raise DependencyError(told) from error


def row_reason(error: WorkerError) -> str:
    """Return what a worker said of a row, without the name of the exception."""
    return str(error).removeprefix(_ROW)
