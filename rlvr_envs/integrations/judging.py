"""Judging the answers of a client in worker processes that stay warm and that all callers share.

A hostile answer can hold a verifier for minutes or end its process. Here that costs the answer its
score, and the client goes on.
"""

import atexit
import json
from collections.abc import Sequence
from functools import cache, lru_cache

from rlvr_envs.core.errors import RowError, UsageError
from rlvr_envs.core.executor import Processes
from rlvr_envs.core.instance import Instance
from rlvr_envs.core.parallel import ParallelJudge
from rlvr_envs.core.verdict import Verdict


@cache
def shared_judge() -> ParallelJudge:
    """Return the judge of this process; its workers start with the first answer."""
    processes = Processes(preload=(__name__,))
    atexit.register(processes.close)
    return ParallelJudge(processes)


def judge_apart(instance: Instance, response: str | list[str]) -> Verdict:
    """Return the verdict on a response; any thread may call this.

    The first call starts the worker processes, which end with this one. What a sandbox judges is
    judged by the sandbox's own processes, and the actions of an episode are played again here.

    Raises:
        ConfigError: the task is defined where no other process can import it.
        DependencyError: the task needs a program or package that is missing here.
    """
    if isinstance(response, str) and not instance.interactive:
        return shared_judge().judge([instance], [response])[0]
    return instance.judge(response)


def judge_texts(rows: Sequence[str], responses: Sequence[str]) -> list[Verdict]:
    """Return the verdicts of full responses to rows of single-turn tasks, in order.

    Rows are JSON text, as they stand in the columns of a dataset; the answers of a group share a
    row, which is read once. Any thread may call this.

    Args:
        rows: each response's row, as JSON text.
        responses: what the model wrote, thoughts included.

    Raises:
        RowError: a row is no JSON, or it is incomplete or was altered.
        UsageError: a row is of a task of several turns, or there are more rows than responses.
        DependencyError: a task needs a program or package that is missing here.
    """
    if len(rows) != len(responses):
        raise UsageError(f"every response needs its row, got {len(rows)} and {len(responses)}")
    return shared_judge().judge([single_turn(row) for row in rows], responses)


def score_of(verdict: Verdict) -> float | None:
    """Return the score, or None where our own fault left the answer without one."""
    return float(verdict.score) if verdict.scored else None


@lru_cache(maxsize=4096)
def single_turn(row: str) -> Instance:
    """Return the instance of a row that is answered in one message.

    Raises:
        RowError: the row is no JSON, or it is incomplete or was altered.
        UsageError: the row is of a task of several turns.
    """
    try:
        data = json.loads(row)
    except (TypeError, ValueError) as error:
        raise RowError(f"a row is the JSON text of an object, got {row!r:.80}") from error
    instance = Instance.from_row(data)
    if instance.interactive:
        raise UsageError(
            f"{instance.spec.id} is played in several turns, so one answer has no score: use what "
            "the trainer offers for environments (docs/integrations)"
        )
    return instance
