"""What unit tests of several packages share."""

import importlib
import sys
from pathlib import Path

import gymnasium as gym
import pytest

from rlvr_envs.core import registry
from rlvr_envs.core.gym_ids import register_ids


@pytest.fixture(scope="module")
def vector_tasks():
    """The tasks of core/vector_tasks.py, registered while a module of tests runs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parent / "core")
        module = importlib.import_module("vector_tasks")
        register_ids()
        yield module
        for task_id in (module.SUM, module.COUNTDOWN):
            registry._SPECS.pop(task_id)
            gym.registry.pop(task_id)
        sys.modules.pop("vector_tasks")
