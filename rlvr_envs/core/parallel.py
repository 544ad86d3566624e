"""Judging many single-turn answers at once, wherever an executor runs, with the same verdicts."""

import pickle
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from rlvr_envs.core.errors import ConfigError, WorkerError, WorkerTimeout
from rlvr_envs.core.executor import Call, Executor
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.verdict import Verdict
from rlvr_envs.core.workers import Outcome

# CPU seconds that no honest answer takes to judge. Verifiers that meet hostile answers have lower
# limits of their own; this one ends what slips through.
CPU_S = 60.0


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
