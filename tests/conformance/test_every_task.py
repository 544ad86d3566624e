"""Every check of the package on every registered task."""

import pytest

from rlvr_envs.conformance import CHECKS, NotApplicable
from rlvr_envs.conformance.digests import digest, digests_in_child
from rlvr_envs.core import registry

TASKS = registry.task_ids()
# One child process computes the digests of many tasks at once (below).
SHARES = 6
IN_PROCESS = [name for name in CHECKS if name != "same_problem_in_a_fresh_process"]


@pytest.mark.parametrize("check", IN_PROCESS)
@pytest.mark.parametrize("task_id", TASKS)
def test_task(task_id, check):
    try:
        CHECKS[check](task_id)
    except NotApplicable as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("share", range(SHARES))
@pytest.mark.parametrize("hash_seed", ["0", "4242"])
def test_fresh_processes_make_the_same_problems(hash_seed, share):
    tasks = TASKS[share::SHARES]
    assert tasks
    assert digests_in_child(tasks, hash_seed) == {task_id: digest(task_id) for task_id in tasks}
