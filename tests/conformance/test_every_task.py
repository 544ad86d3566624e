"""Every check of the package on every registered task."""

from functools import lru_cache

import pytest

from rlvr_envs.conformance import CHECKS, NotApplicable, Subject
from rlvr_envs.conformance.digests import digests_in_child
from rlvr_envs.core import registry

TASKS = registry.task_ids()
# One child process computes the digests of all tasks at once (below).
IN_PROCESS = [name for name in CHECKS if name != "same_problem_in_a_fresh_process"]

# The checks of a task follow each other, so that they share its problems.
subject_of = lru_cache(maxsize=1)(Subject)


@pytest.mark.parametrize("check", IN_PROCESS)
@pytest.mark.parametrize("task_id", TASKS)
def test_task(task_id, check, thorough):
    try:
        CHECKS[check](subject_of(task_id, thorough=thorough))
    except NotApplicable as reason:
        pytest.skip(str(reason))


def test_fresh_processes_make_the_same_problems():
    one, other = (digests_in_child(TASKS, hash_seed) for hash_seed in ("0", "4242"))
    assert set(one) == set(TASKS)
    assert one == other
