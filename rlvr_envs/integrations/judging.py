"""Judging where a hostile answer does no harm: in worker processes that all callers share."""

import atexit
import os
from functools import cache

from rlvr_envs.core.instance import Instance
from rlvr_envs.core.parallel import ParallelJudge
from rlvr_envs.core.verdict import Verdict


def judge_apart(instance: Instance, response: str | list[str]) -> Verdict:
    """Return the verdict on a response; any thread may call this.

    The first call starts the worker processes, which end with this one. What a sandbox judges is
    judged by the sandbox's own processes, and the actions of an episode are played again here.

    Raises:
        ConfigError: the task is defined where no other process can import it.
        DependencyError: the task needs a program or package that is missing here.
    """
    if isinstance(response, str) and not instance.interactive:
        return _judge().judge([instance], [response])[0]
    return instance.judge(response)


@cache
def _judge() -> ParallelJudge:
    judge = ParallelJudge(os.cpu_count() or 1)
    atexit.register(judge.close)
    return judge
