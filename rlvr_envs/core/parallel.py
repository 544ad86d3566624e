"""Judging many single-turn answers at once, in worker processes, with the same verdicts."""

import pickle
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

from rlvr_envs.core.errors import ConfigError, WorkerError, WorkerTimeout
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.core.workers import Outcome, WorkerPool

# CPU seconds that no honest answer takes to judge. Verifiers that meet hostile answers have lower
# limits of their own; this one ends what slips through.
CPU_S = 60.0

# A new worker has to import the tasks and warm their caches, which costs as much as judging
# thousands of plain answers.
RECYCLE_AFTER = 50_000


class ParallelJudge:
    """Judges answers in a pool of its own; start-up is left to the first answer.

    An answer that takes more than `CPU_S` seconds of CPU time gives ``timeout``, a worker that
    fails gives ``verifier_error``; the other answers keep their verdicts.

    Args:
        workers: the number of worker processes.
        preload: modules to import before the first worker starts, such as the tasks' own.

    Raises:
        ConfigError: ``workers`` is less than 1.
    """

    def __init__(self, workers: int, preload: tuple[str, ...] = ()) -> None:
        self._pool = WorkerPool(workers=workers, preload=preload, recycle_after=RECYCLE_AFTER)
        self._workers = workers
        self._sent: set[type] = set()

    def judge(self, instances: Sequence[Instance], responses: Sequence[str]) -> list[Verdict]:
        """Return the verdicts of responses to single-turn instances, in order.

        Raises:
            ConfigError: a task is defined where no other process can import it.
            DependencyError: a task needs a program or package that is missing here.
        """
        pairs = list(zip(instances, responses, strict=True))
        verdicts: list[Verdict | None] = [None] * len(pairs)
        for in_sandbox, judge in ((False, self._in_workers), (True, self._in_threads)):
            chosen = [
                i for i, (one, _) in enumerate(pairs) if one.task.judged_in_sandbox is in_sandbox
            ]
            if chosen:
                judged = judge([pairs[i][0] for i in chosen], [pairs[i][1] for i in chosen])
                for i, verdict in zip(chosen, judged, strict=True):
                    verdicts[i] = verdict
        return [verdict for verdict in verdicts if verdict is not None]

    def _in_threads(self, instances: Sequence[Instance], responses: Sequence[str]) -> list[Verdict]:
        """Judge where the work is done by the processes of a sandbox."""
        with ThreadPoolExecutor(self._workers, "rlvr-judge") as threads:
            return list(threads.map(Instance.judge, instances, responses))

    def _in_workers(self, instances: Sequence[Instance], responses: Sequence[str]) -> list[Verdict]:
        packed: dict[int, bytes] = {}  # a group shares its instance, and sends it once per item
        for instance in instances:
            if id(instance) not in packed:
                self._check(type(instance.task))
                packed[id(instance)] = pickle.dumps(instance)
        items = [
            (packed[id(instance)], response)
            for instance, response in zip(instances, responses, strict=True)
        ]
        try:
            outcomes = self._pool.map(f"{__name__}:judge_one", items, cpu_s=CPU_S)
        except WorkerError as error:  # no worker could be started at all
            return [_fault(error)] * len(items)
        return [verdict_of(outcome) for outcome in outcomes]

    def _check(self, task_type: type) -> None:
        if task_type in self._sent:
            return
        reason = ""
        try:
            self._pool.call(f"{__name__}:find", pickle.dumps(task_type), cpu_s=CPU_S)
        except (pickle.PicklingError, AttributeError) as error:
            reason = str(error)
        except WorkerError as error:
            # Other faults than an exception belong to the machine, and judging will meet them.
            reason = str(error) if type(error) is WorkerError else ""
        if reason:
            raise ConfigError(
                f"worker processes cannot import {task_type.__module__}.{task_type.__qualname__} "
                f"({reason}): define it in a module on sys.path, or verify with workers=0"
            )
        self._sent.add(task_type)

    def close(self) -> None:
        """End the workers."""
        self._pool.close()


def verdict_of(outcome: Outcome) -> Verdict:
    """Return the verdict that a worker gave, or the one that stands for its failure."""
    if outcome.error is not None:
        return _fault(outcome.error)
    if isinstance(outcome.value, Verdict):
        return outcome.value
    return Verdict.verifier_error(f"the verifier returned {outcome.value!r:.80}, not a verdict")


def _fault(error: WorkerError) -> Verdict:
    if isinstance(error, WorkerTimeout):
        return Verdict.timeout(f"judging this answer takes more than {CPU_S:g} s of CPU time")
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
